//! What ring-plan(1) says, statement by statement, of the program as users run it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod deciding;
mod harness;
mod hook;
mod proposing;
