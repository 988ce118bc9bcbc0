//! What ring-plan(1) says, statement by statement, of the program as users run it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::disallowed_methods, reason = "a test moves things away as a person would")]

mod deciding;
mod ending;
mod executing;
mod guarding;
mod harness;
mod hook;
mod policy;
mod proposing;
mod refusing;
mod replay;
mod reporting;
mod running;
mod screen;
mod waiting;
