//! What agents' payloads and records mean: names and processes of agents, the normalised event, the decision, the
//! status row and how it advances, the tails of transcripts, and the view that readers show.
//!
//! Everything that decides is a function of values and a `now`. Nothing here prints, exits or reads `argv`.

#![warn(clippy::exit, clippy::print_stderr, clippy::print_stdout)]

pub mod advance;
pub mod agent;
mod children;
pub mod decide;
pub mod dialect;
pub mod emit;
pub mod ended;
pub mod event;
pub mod facts;
pub mod fold;
pub mod intake;
pub mod json;
pub use ring_session::key;
pub mod live;
pub mod normalise;
pub mod payload;
mod pending;
pub mod question;
pub mod row;
mod status_line;
pub mod store;
pub mod summary;
pub mod tail;
pub mod view;
pub mod waits;
