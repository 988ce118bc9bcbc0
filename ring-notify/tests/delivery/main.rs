//! Deciding and delivering, as processes: what rings, when, where, and what is left behind.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod commands;
mod harness;
mod server;

mod outlets;
mod quiet;
mod rings;
mod sources;
