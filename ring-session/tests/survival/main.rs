//! What a session survives: any sequence of commands, a kill at any call to the file system, any failing call, any race.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../harness/mod.rs"]
mod harness;

mod alike;
mod crash;
mod faults;
mod model;
mod order;
mod place;
mod races;
mod scene;
mod trace;
