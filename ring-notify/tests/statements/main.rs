//! What ring-notify(1) says, statement by statement, of the program as users run it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod digest;
mod harness;
mod inbox;
mod stats;
