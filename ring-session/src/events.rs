//! `events.jsonl`: one line for each committed change (ring(5), EVENTS). Lines are hints, records are the truth.

mod follow;

pub use follow::{Event, Follower};

use crate::append;
use crate::backward::{Stretch, quoted};
use crate::lock::Lock;
use crate::refusal::Refusal;
use crate::state_dir::StateDir;
use crate::time::Ms;
use crate::transcript;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::HashSet;
use std::ops::ControlFlow;
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
        self.text
            .push_str(&crate::members::one_line(json(serde_json::to_string(value))));
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
    append_all(state, std::slice::from_ref(&line), wait)
}

/// As [`append`], of several lines, each in a write of its own.
///
/// # Errors
/// Those of [`append`].
pub fn append_all(state: &StateDir, lines: &[&str], wait: Duration) -> Result<(), Refusal> {
    let _held = Lock::acquire(&state.events_lock(), wait)?;
    let path = state.events();
    for line in lines {
        append::append(&path, line, ROTATE_BYTES).map_err(|e| Refusal::io("append to", &path, &e))?;
    }
    Ok(())
}

/// Which of `turns` of a session have their `turn_ended` line in the file, looked for from its end back to `since`, under
/// the lock of the lines.
///
/// # Errors
/// `LOCK_TIMEOUT`, `IO`.
pub fn ends_told<'a>(
    state: &StateDir,
    wait: Duration,
    since: Ms,
    session: &str,
    turns: &[&'a str],
) -> Result<HashSet<&'a str>, Refusal> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Told {
        at_ms: Ms,
        kind: String,
        session: String,
        turn_id: String,
    }
    let read = |line: &[u8]| serde_json::from_slice::<Told>(line).unwrap_or_default();
    under_lock(state, wait, |newest| {
        let mut told = HashSet::new();
        for turn in turns {
            let reached = Cell::new(false);
            // a clock that was set back makes later lines look older: a window further is cheap
            let enough = |first: &[u8]| {
                let at = read(first).at_ms;
                reached.set(at > 0 && at < since);
                reached.get()
            };
            let is_end = |line: &[u8]| {
                let line = read(line);
                match line.kind == "turn_ended" && line.session == session && line.turn_id == *turn {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            for path in [newest.to_owned(), newest.with_extension("jsonl.1")] {
                let io = |e: std::io::Error| Refusal::io("read", &path, &e);
                let to = transcript::size(&path).map_err(io)?;
                let all = Stretch {
                    path: &path,
                    // a longer file is none of ours, and the lock is not to be held for all of it
                    from: to.saturating_sub(2 * ROTATE_BYTES),
                    to,
                };
                if all.lines_with(&quoted(turn), is_end, enough).map_err(io)?.is_some() {
                    told.insert(*turn);
                    break;
                }
                if reached.get() {
                    break;
                }
            }
        }
        Ok(told)
    })
}

/// Runs `f` while `events.lock` is held: for a writer that must look before it appends.
///
/// # Errors
/// `LOCK_TIMEOUT`, `IO` of the lock, and what `f` refuses.
pub fn under_lock<T>(
    state: &StateDir,
    wait: Duration,
    f: impl FnOnce(&std::path::Path) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let _held = Lock::acquire(&state.events_lock(), wait)?;
    f(&state.events())
}

#[cfg(test)]
#[path = "events/tests.rs"]
mod tests;
