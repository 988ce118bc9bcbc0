//! Deciding and delivering, as processes: what rings, when, where, and what is left behind.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod harness;

mod quiet;
mod rings;
mod sources;
