//! What ring-session(1) says, statement by statement, of the program as users run it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../harness/mod.rs"]
mod harness;

mod fork;
mod general;
mod hook;
mod machine;
mod notifications;
mod permissions;
mod queue;
mod run;
mod transcript;
mod turns;
