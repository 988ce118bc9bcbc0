//! The lines of `events.jsonl` and of the file before it, as `digest` and `stats` read them (ring(5), EVENTS).

use ring_session::regular;
use ring_session::time::Ms;
use ring_session::{Refusal, StateDir};
use serde::Deserialize;
use std::borrow::Cow;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How often the files are opened anew because they were rotated between the two.
const TRIES: usize = 8;

/// The members of a line that are looked at. What a line does not have is empty.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "each is the member of the same name")]
pub struct Line<'a> {
    pub at_ms: Ms,
    #[serde(borrow)]
    pub kind: Cow<'a, str>,
    #[serde(borrow)]
    pub session: Cow<'a, str>,
    pub project: Option<Cow<'a, str>>,
    // status
    #[serde(borrow)]
    pub key: Cow<'a, str>,
    #[serde(borrow)]
    pub agent: Cow<'a, str>,
    #[serde(borrow)]
    pub to: Cow<'a, str>,
    pub waits: Vec<Left<'a>>,
    // turns, requests, proposals
    pub turn_id: Option<Cow<'a, str>>,
    pub reason: Option<Cow<'a, str>>,
    pub error_code: Option<Cow<'a, str>>,
    pub request: Option<Cow<'a, str>>,
    pub origin: Option<Cow<'a, str>>,
    pub decision: Option<Cow<'a, str>>,
    pub cause: Option<Cow<'a, str>>,
    pub proposal: Option<Cow<'a, str>>,
    pub via: Option<Cow<'a, str>>,
    // notify
    pub outlet: Option<Cow<'a, str>>,
    pub lag_ms: Option<Ms>,
}

/// A wait that is left.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Left<'a> {
    /// Its id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
}

impl Line<'_> {
    /// The project, if it has one.
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref().filter(|p| !p.is_empty())
    }
}

/// A member that may be null.
pub fn text<'a>(member: &'a Option<Cow<'_, str>>) -> &'a str {
    member.as_deref().unwrap_or_default()
}

/// What both files hold, the older one first.
#[derive(Clone, Debug, Default)]
pub struct Log(Vec<u8>);

impl Log {
    /// Reads them. No lock is taken; a file that is missing holds no lines.
    ///
    /// # Errors
    /// `IO`.
    pub fn read(state: &StateDir) -> Result<Log, Refusal> {
        let newest = state.events();
        let old = newest.with_extension("jsonl.1");
        for _ in 0..TRIES {
            let (new_file, old_file) = (open(&newest)?, open(&old)?);
            let id = |f: &File| f.metadata().map(|m| (m.dev(), m.ino())).ok();
            let rotated = new_file.is_some() && new_file.as_ref().and_then(id) == old_file.as_ref().and_then(id);
            if rotated {
                continue;
            }
            let mut bytes = Vec::new();
            read_to(&mut bytes, old_file, &old)?;
            if bytes.last().is_some_and(|b| *b != b'\n') {
                // nobody appends to it any more: a line that is cut there is no beginning of the next file's
                bytes.push(b'\n');
            }
            read_to(&mut bytes, new_file, &newest)?;
            return Ok(Log(bytes));
        }
        Err(Refusal::io(
            "read",
            &newest,
            &std::io::Error::other("it is being rotated all the time"),
        ))
    }

    /// The lines in their order, and how many were none: no JSON object, no UTF-8, a member of a wrong type, or cut.
    pub fn lines(&self) -> (Vec<Line<'_>>, u64) {
        let mut bad = 0;
        let mut lines = Vec::new();
        for line in self.0.split(|b| *b == b'\n') {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let line = std::str::from_utf8(line)
                .ok()
                .and_then(|t| serde_json::from_str::<Line<'_>>(t).ok());
            match line.filter(|l| !l.kind.is_empty()) {
                Some(line) => lines.push(line),
                None => bad += 1,
            }
        }
        (lines, bad)
    }
}

#[cfg(test)]
impl From<&str> for Log {
    fn from(text: &str) -> Log {
        Log(text.as_bytes().to_vec())
    }
}

fn open(path: &Path) -> Result<Option<File>, Refusal> {
    match regular::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Refusal::io("read", path, &e)),
    }
}

fn read_to(bytes: &mut Vec<u8>, file: Option<File>, path: &Path) -> Result<(), Refusal> {
    if let Some(file) = file {
        bytes.append(&mut regular::rest(&file).map_err(|e| Refusal::io("read", path, &e))?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    #[test]
    fn n75_lines_that_are_none_are_counted_and_hide_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path());
        assert_eq!(Log::read(&state).unwrap().lines(), (Vec::new(), 0));
        let old = b"{\"at_ms\":1,\"kind\":\"a\"}\n{\"at_ms\":2,\"ki";
        let new = b"{\"at_ms\":3,\"kind\":\"b\",\"project\":null,\"new\":[1]}\n\n{\"kind\":\"\xff\"}\n7\n{}\n{\"kind\":\"c\",\"at_ms\":\"x\"}\n{\"kind\":\"d\"}";
        fs::write(dir.path().join("events.jsonl.1"), old).unwrap();
        fs::write(dir.path().join("events.jsonl"), new).unwrap();
        let log = Log::read(&state).unwrap();
        let (lines, bad) = log.lines();
        let kinds: Vec<_> = lines.iter().map(|l| (&*l.kind, l.at_ms)).collect();
        assert_eq!((kinds, bad), (vec![("a", 1), ("b", 3), ("d", 0)], 5));
    }

    #[test]
    fn a_file_that_was_just_renamed_is_not_read_twice() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path());
        fs::write(dir.path().join("events.jsonl"), "{\"kind\":\"a\"}\n").unwrap();
        fs::hard_link(dir.path().join("events.jsonl"), dir.path().join("events.jsonl.1")).unwrap();
        assert_eq!(Log::read(&state).unwrap_err().code, ring_session::Code::Io);
        fs::remove_file(dir.path().join("events.jsonl")).unwrap();
        assert_eq!(Log::read(&state).unwrap().lines().0.len(), 1);
    }

    proptest! {
        #[test]
        fn any_bytes_are_lines_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let log = Log(bytes);
            log.lines();
        }
    }
}
