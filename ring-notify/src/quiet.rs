//! Manual quiet, `notify/quiet.json` (ring(5), QUIET).

use crate::ledger;
use ring_session::members;
use ring_session::regular;
use ring_session::replace::{self, Durability};
use ring_session::time::Ms;
use ring_session::{Code, Refusal, StateDir};
use std::io::ErrorKind;
use std::path::Path;
use std::path::PathBuf;

/// The schema that this program writes.
pub const SCHEMA: u64 = 1;
/// The shortest and the longest quiet, in milliseconds.
pub const SPANS: std::ops::RangeInclusive<Ms> = 1_000..=30 * 86_400_000;

members! {
    /// When it is quiet.
    pub struct Quiet {
        /// [`SCHEMA`], or newer.
        schema: u64,
        /// When it was switched on.
        since_ms: Ms,
        /// Until when; none: until it is switched off.
        until_ms: Option<Ms>,
    }
}

impl Default for Quiet {
    /// Off.
    fn default() -> Self {
        Quiet {
            schema: SCHEMA,
            since_ms: 0,
            until_ms: Some(0),
            unknown: members::Unknown::default(),
        }
    }
}

/// Clocks of two programs may differ by so much, in milliseconds.
const AHEAD_MS: Ms = 2_000;

impl Quiet {
    /// Whether it is quiet at `now`. One that begins later than now is of another clock, and counts as off: no step of a
    /// clock may silence anything.
    pub fn is_on(&self, now: Ms) -> bool {
        let has_begun = self.since_ms <= now.saturating_add(AHEAD_MS);
        has_begun && self.until_ms.is_none_or(|until| now < until)
    }
}

fn path(state: &StateDir) -> PathBuf {
    state.notify().join("quiet.json")
}

/// Reads it; no file is off. A file that cannot be read counts as off too: a ring too many is better than one that never
/// comes; the text says what is wrong with it.
///
/// # Errors
/// `SCHEMA_NEWER`, `IO`.
pub fn read(state: &StateDir) -> Result<(Quiet, Option<String>), Refusal> {
    let path = path(state);
    let bytes = match regular::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok((Quiet::default(), None)),
        Err(e) if regular::is_unfit(&e) => return Ok((Quiet::default(), Some(counts_as_off(&path, &e)))),
        Err(e) => return Err(Refusal::io("read", &path, &e)),
    };
    match serde_json::from_slice::<Quiet>(&bytes) {
        Ok(quiet) if quiet.schema > SCHEMA => Err(Refusal::new(
            Code::SchemaNewer,
            format!("{} was written by a later program; update ring-notify", path.display()),
        )
        .with("path", path.to_string_lossy().into_owned())),
        Ok(quiet) => Ok((quiet, None)),
        Err(e) => Ok((Quiet::default(), Some(counts_as_off(&path, &e)))),
    }
}

fn counts_as_off(path: &Path, why: &dyn std::fmt::Display) -> String {
    format!(
        "{} counts as off: {why}; `ring-notify quiet off` writes it anew",
        path.display()
    )
}

/// Replaces it, under the lock of `notify/`, from `now` until then (none: until it is switched off). An `until` that is
/// not later than now switches it off.
///
/// # Errors
/// `LOCK_TIMEOUT`, `SCHEMA_NEWER`, `IO`.
pub fn set(state: &StateDir, now: Ms, until_ms: Option<Ms>) -> Result<Quiet, Refusal> {
    let _held = ledger::lock(state)?;
    let (mut quiet, broken) = read(state)?;
    let path = path(state);
    if broken.is_some() {
        ledger::set_aside(&path)?;
    }
    quiet.schema = SCHEMA;
    quiet.since_ms = now;
    quiet.until_ms = until_ms;
    let mut bytes = serde_json::to_vec(&quiet).map_err(std::io::Error::from)?;
    bytes.push(b'\n');
    replace::replace(&path, &bytes, Durability::Synced).map_err(|e| Refusal::io("write", &path, &e))?;
    Ok(quiet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n46_quiet_ends_by_itself_and_none_never_does() {
        let on = |since_ms, until_ms| Quiet {
            since_ms,
            until_ms,
            ..Quiet::default()
        };
        assert!(!Quiet::default().is_on(5));
        assert!(on(1_000, Some(2_000)).is_on(1_999) && !on(1_000, Some(2_000)).is_on(2_000));
        assert!(on(1_000, None).is_on(9_000_000_000));
    }

    #[test]
    fn n39_quiet_of_a_clock_that_was_set_back_is_off() {
        let day = 86_400_000;
        let quiet = Quiet {
            since_ms: 10 * day,
            until_ms: Some(10 * day + 3_600_000),
            ..Quiet::default()
        };
        assert!(quiet.is_on(10 * day) && !quiet.is_on(9 * day));
    }
}
