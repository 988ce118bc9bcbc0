//! Deciding and delivering, as processes: what rings, when, where, and what is left behind.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(dead_code, reason = "the tracing is shared, and each program uses its own part")]

mod agents;
mod harness;
mod server;
#[path = "../../../ring-session/tests/survival/trace.rs"]
mod trace;

mod answered;
mod commands;
mod crash;
mod debounce;
mod detach;
mod ledger;
mod looking;
mod messages;
mod outlets;
mod place;
mod quiet;
mod recorded;
mod rings;
mod sources;
mod started;
mod storm;
mod watch;
mod work;
