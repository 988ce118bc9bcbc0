//! `events.jsonl`: one line for each committed change (ring(5), EVENTS). Lines are hints, records are the truth.

mod follow;

pub use follow::{Event, Follower};

use crate::append;
use crate::lock::Lock;
use crate::refusal::Refusal;
use crate::state_dir::StateDir;
use crate::time::Ms;
use serde::Serialize;
use std::time::Duration;

/// The file is renamed to `events.jsonl.1` when it reaches this size, in bytes. One old file is kept.
pub const ROTATE_BYTES: u64 = 8 * 1024 * 1024;

/// The schema of a line.
pub const SCHEMA: u64 = 1;

/// A line while it is put together. Ids, paths, names and codes belong in it; never prompts, details, titles, notes.
///
/// ```
/// use ring_session::events::Line;
/// let line = Line::new("status", 1796040006200).with("key", "codex:0199").with("waits", &["a", "b"][..]);
/// assert_eq!(
///     line.as_str(),
///     r#"{"schema":1,"at_ms":1796040006200,"kind":"status","key":"codex:0199","waits":["a","b"]}"#
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// With the closing brace.
    text: String,
}

impl Line {
    /// What every line has.
    pub fn new(kind: &str, at_ms: Ms) -> Line {
        let text = format!("{{\"schema\":{SCHEMA},\"at_ms\":{at_ms}}}");
        Line { text }.with("kind", kind)
    }

    /// What lines about a durable record have too.
    #[must_use]
    pub fn of_record(self, session: &str, revision: u64) -> Line {
        self.with("session", session).with("revision", &revision)
    }

    /// One more member, in this order. A value that JSON cannot hold is null.
    #[must_use]
    pub fn with<T: Serialize + ?Sized>(mut self, name: &str, value: &T) -> Line {
        let json = |v: serde_json::Result<String>| v.unwrap_or_else(|_| "null".into());
        self.text.pop();
        self.text.push(',');
        self.text.push_str(&json(serde_json::to_string(name)));
        self.text.push(':');
        self.text.push_str(&json(serde_json::to_string(value)));
        self.text.push('}');
        self
    }

    /// The line, without its newline.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Appends one line (a JSON object without its newline) under `events.lock`, in one write, and rotates first if it is
/// time.
///
/// # Errors
/// `LOCK_TIMEOUT`, `IO`. A caller's command has succeeded all the same: the change it tells of is committed.
pub fn append(state: &StateDir, line: &str, wait: Duration) -> Result<(), Refusal> {
    let _held = Lock::acquire(&state.events_lock(), wait)?;
    let path = state.events();
    append::append(&path, line, ROTATE_BYTES).map_err(|e| Refusal::io("append to", &path, &e))
}

#[cfg(test)]
#[path = "events/tests.rs"]
mod tests;
