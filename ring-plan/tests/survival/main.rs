//! What a proposal survives: a kill at any call to the file system, any failing call.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(
    dead_code,
    reason = "harness and tracing are shared, and each program uses its own part"
)]

#[path = "../../../ring-session/tests/survival/alike.rs"]
mod alike;
#[path = "../statements/harness.rs"]
mod harness;
#[path = "../../../ring-session/tests/survival/trace.rs"]
mod trace;

mod crash;
mod faults;
mod order;
mod place;
mod races;
mod scene;
