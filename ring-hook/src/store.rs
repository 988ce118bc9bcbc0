//! The rows' files, `status/KEY.json`: the one writer's step, and what readers list.
//!
//! A step locks a stripe, reads, decides, replaces (ring(5), WRITING). 64 side files guard any number of rows, so that
//! none is ever left over; two sessions that share one wait for each other no longer than a write. Rows are not synced
//! to the disk: they are observations, and the next event repairs them.

use crate::advance::{Effect, Fate, Outcome};
use crate::row::{Row, SCHEMA};
use ring_session::lock::Lock;
use ring_session::regular;
use ring_session::replace::{Durability, replace};
use ring_session::{Code, Refusal, StateDir, events};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a step waits for `events.lock`. The row's lock is held meanwhile; a line is only a hint.
const EVENTS_WAIT: Duration = Duration::from_millis(200);

/// What a step did.
#[derive(Debug)]
pub struct Stored {
    /// The outcome, as it was decided.
    pub outcome: Outcome,
    /// Why the line is missing in events.jsonl, if it is. The row is written all the same.
    pub line_lost: Option<Refusal>,
}

/// The file of a row.
pub fn path(state: &StateDir, key: &str) -> PathBuf {
    state.status().join(format!("{key}.json"))
}

/// Which of the 64 locks guards this row: FNV-1a of the key, so that every program and version agrees.
pub fn stripe(key: &str) -> u8 {
    let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    // The low bits of the product depend on few of the last bytes; the high ones on all.
    ((hash ^ (hash >> 32)) & 0x3f) as u8
}

/// One step of a row: under its lock `decide` gets the row that is there (none: no file, or one that is no row) and says
/// what becomes of it. The line for events.jsonl is written before the lock is freed; rings are for afterwards.
///
/// # Errors
/// `LOCK_TIMEOUT`, `IO`; `SCHEMA_NEWER` if a later program wrote the row. Nothing is changed then.
pub fn update(
    state: &StateDir,
    key: &str,
    wait: Duration,
    decide: impl FnOnce(Option<Row>) -> Outcome,
) -> Result<Stored, Refusal> {
    let path = path(state, key);
    let _lock = Lock::acquire(&state.status_lock(stripe(key)), wait)?;
    let row = match regular::read(&path) {
        Ok(bytes) => Row::parse(&bytes),
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        Err(e) => return Err(Refusal::io("read", &path, &e)),
    };
    let outcome = decide(row);
    if outcome.effect == Effect::Newer {
        return Err(Refusal::new(
            Code::SchemaNewer,
            format!(
                "{} was written by a later program than this one, which knows schema {SCHEMA}; update ring-hook",
                path.display()
            ),
        )
        .with("path", path.to_string_lossy().into_owned()));
    }
    match (outcome.fate, &outcome.row) {
        (Fate::Replaced, Some(row)) => {
            // one whole line, so that tools for lines can read many rows at once
            let text = row.to_json() + "\n";
            replace(&path, text.as_bytes(), Durability::Whole).map_err(|e| Refusal::io("write", &path, &e))?
        }
        (Fate::Deleted, _) => match fs::remove_file(&path) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(Refusal::io("remove", &path, &e)),
            _ => {}
        },
        _ => {}
    }
    let line_lost = outcome
        .line
        .as_ref()
        .and_then(|line| events::append(state, line.as_str(), wait.min(EVENTS_WAIT)).err());
    Ok(Stored { outcome, line_lost })
}

/// A file in `status/` that is no row.
#[derive(Debug)]
pub struct Bad {
    /// It.
    pub path: PathBuf,
    /// What is wrong, for people.
    pub why: String,
}

/// What readers find in `status/`: rows by key, and the files that are none.
#[derive(Debug, Default)]
pub struct Listing {
    /// In the order of their keys.
    pub rows: Vec<Row>,
    /// Counted and named; none hides another.
    pub bad: Vec<Bad>,
}

/// All rows. No lock is taken; a folder that is missing holds none. Names that begin with a dot are skipped: locks, and
/// replacements that are not finished.
///
/// # Errors
/// Those of the system, if the folder cannot be listed: then nothing is known, which is not the same as no rows.
pub fn list(state: &StateDir) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let folder = match fs::read_dir(state.status()) {
        Ok(folder) => folder,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(listing),
        Err(e) => return Err(e),
    };
    for entry in folder {
        let name = entry?.file_name();
        let path = state.status().join(&name);
        let is_row = |n: &str| !n.starts_with('.') && n.ends_with(".json");
        match name.to_str() {
            Some(n) if !is_row(n) => continue,
            Some(_) => {}
            None => {
                listing.bad.push(bad(path, "its name is no UTF-8"));
                continue;
            }
        }
        match read(&path) {
            Ok(Some(row)) => listing.rows.push(row),
            Ok(None) => {}
            Err(why) => listing.bad.push(bad(path, &why)),
        }
    }
    listing.rows.sort_by(|a, b| a.key.cmp(&b.key));
    listing.bad.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(listing)
}

fn bad(path: PathBuf, why: &str) -> Bad {
    Bad {
        path,
        why: why.to_owned(),
    }
}

/// One file; none if it went meanwhile. A row without its own names takes them from the file's.
///
/// # Errors
/// A text for people.
pub fn read(path: &Path) -> Result<Option<Row>, String> {
    let bytes = match regular::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e.to_string()),
    };
    let mut row = Row::parse(&bytes).ok_or("it holds no JSON object")?;
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
    if row.key.is_empty() {
        stem.clone_into(&mut row.key);
    }
    if let Some((agent, id)) = row.key.split_once(':') {
        if row.agent.is_empty() {
            row.agent = agent.to_owned();
        }
        if row.session_id.is_empty() {
            row.session_id = id.to_owned();
        }
    }
    Ok(Some(row))
}

/// The shortest beginning of a key or id that is looked for.
const SHORTEST: usize = 4;

/// The row that `text` names: a whole key, a whole session id, or the unique beginning of one of 4 characters or more.
///
/// # Errors
/// `SESSION_NOT_FOUND`; `AMBIGUOUS` naming the candidates; `IO` if the rows cannot be listed.
pub fn find(state: &StateDir, text: &str) -> Result<Row, Refusal> {
    let listing = list(state).map_err(|e| Refusal::io("list", &state.status(), &e))?;
    let mut fitting: Vec<&Row> = listing.rows.iter().filter(|r| r.key == text).collect();
    if fitting.is_empty() {
        fitting = listing.rows.iter().filter(|r| r.session_id == text).collect();
    }
    if fitting.is_empty() && text.chars().count() >= SHORTEST {
        let begins = |r: &&Row| r.key.starts_with(text) || r.session_id.starts_with(text);
        fitting = listing.rows.iter().filter(begins).collect();
    }
    match fitting[..] {
        [row] => Ok(row.clone()),
        [] => Err(Refusal::new(
            Code::SessionNotFound,
            format!(
                "no session {text:?}; give a key, a session id, or a beginning of at least {SHORTEST} characters of one"
            ),
        )),
        _ => {
            let keys: Vec<&str> = fitting.iter().map(|r| r.key.as_str()).collect();
            Err(Refusal::new(
                Code::Ambiguous,
                format!("{text:?} means several sessions: {}", keys.join(", ")),
            )
            .with("candidates", keys))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> (tempfile::TempDir, StateDir) {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::at(root.path());
        fs::create_dir_all(state.status().join(".locks")).unwrap();
        (root, state)
    }

    #[test]
    fn one_bad_file_hides_no_other() {
        let (_root, state) = state();
        for (name, bytes) in [
            ("codex:b.json", &br#"{"schema":1,"key":"codex:b"}"#[..]),
            ("acme:a.json", b"{}"),
            ("broken.json", b"{"),
            ("array.json", b"[]"),
            (".tmp-x.json", b"{"),
            ("notes.txt", b"?"),
        ] {
            fs::write(state.status().join(name), bytes).unwrap();
        }
        fs::create_dir(state.status().join("folder.json")).unwrap();
        let listing = list(&state).unwrap();
        let keys: Vec<_> = listing
            .rows
            .iter()
            .map(|r| (r.key.as_str(), r.agent.as_str()))
            .collect();
        assert_eq!(keys, [("acme:a", "acme"), ("codex:b", "codex")]);
        let bad: Vec<_> = listing
            .bad
            .iter()
            .map(|b| b.path.file_name().unwrap().to_owned())
            .collect();
        assert_eq!(bad, ["array.json", "broken.json", "folder.json"]);
    }

    #[test]
    fn a_folder_that_is_missing_holds_no_rows_and_one_that_cannot_be_listed_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        assert!(list(&StateDir::at(root.path())).unwrap().rows.is_empty());
        fs::write(root.path().join("status"), b"").unwrap();
        assert!(list(&StateDir::at(root.path())).is_err());
    }

    #[test]
    fn stripes_spread_keys_that_differ_in_one_digit() {
        let used: std::collections::BTreeSet<u8> = (0..1000).map(|n| stripe(&format!("claude-code:{n:08}"))).collect();
        assert_eq!(used.len(), 64);
        assert!(used.iter().all(|s| *s < 64));
    }
}
