//! Reading new lines of `events.jsonl` as they come, across its rotation.

use crate::regular;
use crate::state_dir::StateDir;
use crate::time::Ms;
use serde::Deserialize;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A line without an end is given up beyond this, in bytes.
const LONGEST: usize = 1024 * 1024;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its kind.
    pub kind: String,
    /// When the change was made; 0 if the line does not say.
    pub at_ms: Ms,
    /// The id of the record, in lines about one; else empty.
    pub session: String,
    /// The whole line, an object.
    pub text: String,
}

#[derive(Deserialize)]
struct Head {
    kind: String,
    #[serde(default)]
    at_ms: Ms,
    #[serde(default)]
    session: String,
}

/// Reads what has been appended since it last looked. It takes no lock and keeps its place when the file is renamed; it
/// misses lines only if the file was renamed twice between two looks and more than one old file would have been needed.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    open: Option<Open>,
    skipped: u64,
}

#[derive(Debug)]
struct Open {
    file: File,
    at: u64,
    half: Vec<u8>,
}

impl Follower {
    /// From the end of the file as it is now. A file that is made later is read from its start.
    ///
    /// # Errors
    /// Those of the system; a missing file is none.
    pub fn from_now(state: &StateDir) -> io::Result<Follower> {
        let mut follower = Follower::from_start(state);
        let newest = match Open::new(&follower.path)? {
            None => Open::new(&follower.old())?,
            newest => newest,
        };
        if let Some(mut open) = newest {
            open.at = open.file.metadata()?.len();
            follower.open = Some(open);
        }
        Ok(follower)
    }

    /// From the oldest line that is kept, that of the old file if there is one.
    pub fn from_start(state: &StateDir) -> Follower {
        Follower {
            path: state.events(),
            open: None,
            skipped: 0,
        }
    }

    fn old(&self) -> PathBuf {
        self.path.with_extension("jsonl.1")
    }

    /// How many lines were no event objects and were passed over.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The lines since the last look, in order.
    ///
    /// # Errors
    /// Those of the system; a missing file is none. Lines of a look that failed may be lost.
    pub fn look(&mut self) -> io::Result<Vec<Event>> {
        let mut events = Vec::new();
        let current = stat(&self.path)?;
        if let Some(open) = &mut self.open {
            open.read(&mut events, &mut self.skipped)?;
            let same = open.file.metadata()?;
            if current.as_ref().is_none_or(|c| is_same(c, &same)) {
                return Ok(events);
            }
            // renamed: nobody appends to it any more, and this is the rest of it
            open.read(&mut events, &mut self.skipped)?;
            self.skipped += u64::from(!open.half.is_empty());
        }
        let before = self.open.take().map(|o| o.file.metadata()).transpose()?;
        let old = Open::new(&self.old())?;
        if let Some(mut old) = old {
            let found = old.file.metadata()?;
            if !before.as_ref().is_some_and(|b| is_same(b, &found)) {
                old.read(&mut events, &mut self.skipped)?;
            }
        }
        self.open = Open::new(&self.path)?;
        if let Some(open) = &mut self.open {
            open.read(&mut events, &mut self.skipped)?;
        }
        Ok(events)
    }
}

fn is_same(a: &Metadata, b: &Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

fn stat(path: &Path) -> io::Result<Option<Metadata>> {
    present(fs::metadata(path))
}

fn present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

impl Open {
    fn new(path: &Path) -> io::Result<Option<Open>> {
        let file = present(regular::open(path))?;
        Ok(file.map(|file| Open {
            file,
            at: 0,
            half: Vec::new(),
        }))
    }

    fn read(&mut self, events: &mut Vec<Event>, skipped: &mut u64) -> io::Result<()> {
        if self.file.metadata()?.len() < self.at {
            // somebody emptied it
            self.at = 0;
            self.half.clear();
        }
        self.file.seek(SeekFrom::Start(self.at))?;
        let mut chunk = vec![0; 64 * 1024];
        loop {
            let n = match self.file.read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            self.at += n as u64;
            for piece in chunk[..n].split_inclusive(|b| *b == b'\n') {
                self.take(piece, events, skipped);
            }
        }
    }

    fn take(&mut self, piece: &[u8], events: &mut Vec<Event>, skipped: &mut u64) {
        let room = LONGEST.saturating_sub(self.half.len());
        self.half.extend_from_slice(&piece[..piece.len().min(room + 1)]);
        if piece.last() != Some(&b'\n') {
            return;
        }
        let line = std::mem::take(&mut self.half);
        match event(&line) {
            Some(event) if line.len() <= LONGEST => events.push(event),
            _ => *skipped += u64::from(line.iter().any(|b| !b.is_ascii_whitespace())),
        }
    }
}

fn event(line: &[u8]) -> Option<Event> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let head: Head = serde_json::from_str(text).ok().filter(|_| text.starts_with('{'))?;
    Some(Event {
        kind: head.kind,
        at_ms: head.at_ms,
        session: head.session,
        text: text.to_owned(),
    })
}
