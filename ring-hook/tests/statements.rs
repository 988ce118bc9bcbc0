//! What a row says after a sequence of events, in the notation of one line a case: payloads through the normaliser, the
//! decision and the table, without a file.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "statements/notation.rs"]
mod notation;

#[path = "statements/children.rs"]
mod children;
#[path = "statements/foreground.rs"]
mod foreground;
#[path = "statements/invariants.rs"]
mod invariants;
#[path = "statements/pending.rs"]
mod pending;
#[path = "statements/place.rs"]
mod place;
#[path = "statements/silence.rs"]
mod silence;
#[path = "statements/turns.rs"]
mod turns;
