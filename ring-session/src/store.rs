//! The session store: how a record is found, read, and replaced.
//!
//! # How a commit works
//!
//! [`Store::update`] is the one way to change a record. Under the session's own lock it reads the record, finishes a
//! cut that a killed writer left, applies recovery and expiry, and lets the caller's closure decide on a [`Work`], a
//! value. Then it writes, in this order:
//!
//! 1. rows to `transcript.jsonl` and leavings to `history.jsonl`: whole lines in one write, synced;
//! 2. `session.json`: temporary file, write, sync, rename, sync of the directory. **This is the commit.**
//! 3. the cut of the transcript, if there is one: the prefix to a temporary file, sync, rename, sync;
//! 4. lines to `events.jsonl`.
//!
//! Killed in 1, there are rows that readers see and the next commit counts, and history of things that the record still
//! holds, which readers ignore. Killed between 2 and 3, readers stop where the record says, and the next writer cuts
//! first; the mark of the cut goes before new rows come, so that a cut never takes those. Killed between 3 and 4, a line
//! is missing; a turn's end is in `unannounced`, and the next writer, whether or not it changes anything, looks for its
//! line and adds it. A failure in 1 or 2 leaves the old record, takes the rows back, and the same command may be
//! repeated. After a refusal nothing of the caller's is written, only what recovery and expiry found.
//!
//! No command holds two sessions' locks. Readers take none: they apply recovery and expiry to their copy.

use crate::events;
use crate::lock::{self, Lock};
use crate::record::{ClosedTurn, Record};
use crate::refusal::{Code, Refusal};
use crate::regular;
use crate::replace::{self, Durability};
use crate::row::Row;
use crate::state_dir::{StateDir, make_private};
use crate::time::Ms;
use crate::transcript;
use crate::work::{Announcement, Here, Work};
use std::borrow::Cow;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How old an unfinished directory of `new` or `fork` must be to be swept, in milliseconds.
pub const SWEEP_MS: Ms = 3_600_000;

/// The files of one session.
#[derive(Clone, Debug)]
pub struct Files {
    /// `sessions/ID`.
    pub dir: PathBuf,
}

impl Files {
    /// The record.
    pub fn record(&self) -> PathBuf {
        self.dir.join("session.json")
    }
    /// The messages.
    pub fn transcript(&self) -> PathBuf {
        self.dir.join("transcript.jsonl")
    }
    /// What has left the record.
    pub fn history(&self) -> PathBuf {
        self.dir.join("history.jsonl")
    }
    /// The reply that is not finished yet.
    pub fn checkpoint(&self) -> PathBuf {
        self.dir.join("inflight.json")
    }
    /// The side file.
    pub fn lock(&self) -> PathBuf {
        self.dir.join("lock")
    }

    /// Removes temporary files that killed writers left. Only for the holder of the lock: nobody else writes here. What
    /// cannot be removed stays for the next one.
    pub fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.dir) else {
            return;
        };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(replace::TEMP_PREFIX) {
                remove(&entry.path()).unwrap_or_default();
            }
        }
    }
}

/// A record as a reader sees it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// With recovery and expiry applied.
    pub record: Record,
    /// They changed something that is not stored yet.
    pub recovered: bool,
}

/// All sessions of a state directory.
#[derive(Clone, Debug)]
pub struct Store {
    state: StateDir,
    here: Here,
    wait: Duration,
    /// When the last wait is over, whatever is waited for; none: each wait has its own time.
    until: Option<Instant>,
}

impl Store {
    /// For a command.
    pub fn new(state: StateDir, here: Here) -> Store {
        Store {
            state,
            here,
            wait: lock::wait(lock::COMMAND_WAIT),
            until: None,
        }
    }

    /// For a hook entry, which waits for locks only a second, from now, for all of them together.
    pub fn for_hook(state: StateDir, here: Here) -> Store {
        let wait = lock::wait(lock::HOOK_WAIT);
        Store {
            state,
            here,
            wait,
            until: Instant::now().checked_add(wait),
        }
    }

    /// How long the next lock is waited for.
    fn patience(&self) -> Duration {
        let left = |until: Instant| until.saturating_duration_since(Instant::now());
        self.until.map_or(self.wait, left)
    }

    /// The clock and the machine.
    pub fn here(&self) -> &Here {
        &self.here
    }

    /// The state directory.
    pub fn state(&self) -> &StateDir {
        &self.state
    }

    /// The same store at another time: a command that waits looks again.
    #[must_use]
    pub fn at(&self, now: Ms) -> Store {
        Store {
            here: Here {
                now,
                ..self.here.clone()
            },
            ..self.clone()
        }
    }

    /// The files of a session, which may not exist.
    pub fn files(&self, id: &str) -> Files {
        Files {
            dir: self.state.sessions().join(id),
        }
    }

    /// Ids of all sessions, sorted. Names that begin with a dot are none.
    ///
    /// # Errors
    /// `IO`.
    pub fn ids(&self) -> Result<Vec<String>, Refusal> {
        let dir = self.state.sessions();
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Refusal::io("read", &dir, &e)),
        };
        let mut ids: Vec<String> = entries
            .filter_map(|e| e.ok()?.file_name().into_string().ok())
            .filter(|name| is_id(name))
            .collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// The session that a person means: an id, or the only one that begins so.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`, `AMBIGUOUS`, `IO`.
    pub fn resolve(&self, given: &str) -> Result<String, Refusal> {
        if !is_id(given) {
            return Err(session_not_found(given));
        }
        if self.files(given).dir.is_dir() {
            return Ok(given.to_owned());
        }
        let ids = self.ids()?;
        match crate::id::meant(given, ids.iter().map(String::as_str)) {
            crate::id::Meant::One(id) => Ok(id.to_owned()),
            crate::id::Meant::Nobody => Err(session_not_found(given)),
            crate::id::Meant::Several(candidates) => Err(ambiguous(given, &candidates)),
        }
    }

    /// The record as it is stored.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND`; with the reason `unreadable` if there is a directory and no record that can be read.
    pub fn stored(&self, id: &str) -> Result<Record, Refusal> {
        let files = self.files(id);
        match regular::read(&files.record()) {
            Ok(bytes) => parse(&bytes).map_err(|e| match schema_of(&bytes) {
                // to be kept for the program that can read it, not to be rebuilt
                Some(schema) if schema > crate::record::SCHEMA => newer(id, schema),
                _ => unreadable(id, &e),
            }),
            Err(e) if e.kind() == io::ErrorKind::NotFound && files.dir.is_dir() => {
                Err(unreadable(id, "session.json is missing"))
            }
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Err(session_not_found(id))
            }
            Err(e) => Err(Refusal::io("read", &files.record(), &e)),
        }
    }

    /// The record as it is now, for a reader: nothing is locked and nothing written.
    ///
    /// # Errors
    /// Those of [`Store::stored`].
    pub fn see(&self, id: &str) -> Result<Seen, Refusal> {
        let record = self.stored(id)?;
        let mut work = Work::new(record, self.here.clone());
        let recovered = work.refresh();
        Ok(Seen {
            record: work.record,
            recovered,
        })
    }

    /// The rows of a session.
    ///
    /// # Errors
    /// Those of [`Store::stored`], `IO`.
    pub fn rows(&self, id: &str) -> Result<Vec<Row>, Refusal> {
        let record = self.stored(id)?;
        let path = self.files(id).transcript();
        transcript::read(&path, &record).map_err(|e| Refusal::io("read", &path, &e))
    }

    /// Changes a record: see the head of this file.
    ///
    /// # Errors
    /// What the closure refuses; `SESSION_NOT_FOUND`, `SCHEMA_NEWER`, `LOCK_TIMEOUT`, `IO`.
    pub fn update<T>(
        &self,
        id: &str,
        decide: impl FnOnce(&mut Work, &Files) -> Result<T, Refusal>,
    ) -> Result<(T, Record), Refusal> {
        let files = self.files(id);
        let _held = self.lock(id)?;
        let stored = self.stored(id)?;
        self.update_held(&files, stored, decide)
    }

    /// As [`Store::update`], in the hands of somebody who holds the lock and has read (or rebuilt) the record.
    ///
    /// # Errors
    /// Those of [`Store::update`].
    pub fn update_held<T>(
        &self,
        files: &Files,
        stored: Record,
        decide: impl FnOnce(&mut Work, &Files) -> Result<T, Refusal>,
    ) -> Result<(T, Record), Refusal> {
        if stored.schema > crate::record::SCHEMA {
            return Err(newer(&stored.id, stored.schema));
        }
        let path = files.transcript();
        let io = |e: &io::Error| Refusal::io("read", &path, e);
        let mut record = stored.clone();
        if record.transcript.cut {
            finish_cut(&path, record.transcript.bytes).map_err(|e| Refusal::io("cut", &path, &e))?;
            record.transcript.cut = false;
        }
        let size = transcript::size(&path).map_err(|e| io(&e))?;
        if size > record.transcript.bytes {
            let extra = transcript::part(&path, record.transcript.bytes, size).map_err(|e| io(&e))?;
            record.transcript.rows += transcript::count(&extra);
        }
        record.transcript.bytes = size;
        let mut work = Work::new(record, self.here.clone());
        self.load_checkpoint(files, &mut work);
        let found = work.refresh();
        if stored.revision == 0 {
            // rebuilt from its transcript
            work.announce("session_recovered", serde_json::json!({}));
        }
        if found {
            // somebody died here: what he was writing goes
            files.sweep();
        }
        let before = found.then(|| work.clone());
        match decide(&mut work, files) {
            Ok(value) => {
                work.aside &= !found;
                let record = self.commit(files, &stored, work)?;
                Ok((value, record))
            }
            Err(refusal) => {
                if let Some(before) = before {
                    self.commit(files, &stored, before)?;
                }
                Err(refusal)
            }
        }
    }

    /// Takes a session's lock.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` also if it was deleted meanwhile; `LOCK_TIMEOUT`, `IO`.
    pub fn lock(&self, id: &str) -> Result<Lock, Refusal> {
        let files = self.files(id);
        if !files.dir.is_dir() {
            return Err(session_not_found(id));
        }
        Lock::acquire_within(&files.lock(), self.patience())?.ok_or_else(|| session_not_found(id))
    }

    /// The live turn's unfinished reply. One of a turn that is over was left by a killed writer, and goes.
    fn load_checkpoint(&self, files: &Files, work: &mut Work) {
        let Some((turn, row)) = read_checkpoint(&files.checkpoint()) else {
            return;
        };
        if work.record.turn.as_ref().is_some_and(|t| t.id == turn) {
            work.checkpoint = Some(row);
        } else {
            work.drop_checkpoint = true;
        }
    }

    /// A checkpoint whose final row is in the transcript already is no row any more: the final one wins, in whatever
    /// order they came.
    fn forget_outdated_checkpoint(&self, path: &Path, size: u64, work: &mut Work) -> io::Result<()> {
        let promoted: Vec<&str> = work
            .rows
            .iter()
            .filter(|r| r.is_promoted())
            .map(|r| r.id.as_str())
            .collect();
        if !promoted.is_empty() {
            let known = transcript::recent(path, size, &promoted)?;
            work.rows
                .retain(|r| !r.is_promoted() || known.get(&r.id) != Some(&false));
        }
        Ok(())
    }

    fn commit(&self, files: &Files, stored: &Record, mut work: Work) -> Result<Record, Refusal> {
        // what a killed writer did not tell is told first: it is committed, and this commit takes it off the list
        let missing = self.missing_announcements(stored);
        let all_told = missing.is_some_and(|lines| lines.is_empty() || self.tell(&lines));
        let uncut = match stored.transcript.cut {
            true => Cow::Owned(without_cut(stored)),
            false => Cow::Borrowed(stored),
        };
        let is_stored = stored.revision > 0;
        if is_stored && work.record == *uncut && work.rows.is_empty() && work.history.is_empty() && work.cut.is_none() {
            if work.drop_checkpoint {
                remove(&files.checkpoint()).unwrap_or_default();
            }
            return Ok(work.record);
        }
        if all_told && !work.aside {
            work.record.unannounced.retain(|t| !stored.unannounced.contains(t));
        }
        // 1 and 2. After a failure the repeated command would add its rows a second time: they are taken back. Should
        // that fail too, they count with the next commit, as those of a killed writer do
        let logs = [files.transcript(), files.history()];
        let sizes = logs.each_ref().map(|path| transcript::size(path).unwrap_or(u64::MAX));
        self.write(files, &uncut, stored.transcript.cut, &mut work)
            .inspect_err(|_| {
                for (path, size) in logs.iter().zip(sizes) {
                    transcript::shorten(path, size).unwrap_or_default();
                }
            })?;
        // 3: what follows from it; the next writer makes up for a failure here
        if let Some(cut) = work.cut {
            finish_cut(&files.transcript(), cut.bytes).unwrap_or_default();
        }
        if work.drop_checkpoint {
            remove(&files.checkpoint()).unwrap_or_default();
        }
        // 4: hints
        self.tell(&lines(&work.record, self.here.now, &work.events));
        Ok(work.record)
    }

    /// Rows and history, and then the record that counts them. `was_cut`: the stored record, `stored` but for that mark,
    /// still says that the transcript is to be cut, which it is.
    fn write(&self, files: &Files, stored: &Record, was_cut: bool, work: &mut Work) -> Result<(), Refusal> {
        let failed = |what: &'static str, path: PathBuf| move |e: io::Error| Refusal::io(what, &path, &e);
        let path = files.transcript();
        self.forget_outdated_checkpoint(&path, work.record.transcript.bytes, work)
            .map_err(failed("read", path.clone()))?;
        if !work.rows.is_empty() {
            if was_cut {
                // no later writer may take the new rows for what is still to be cut
                replace::replace(&files.record(), &serialise(stored)?, Durability::Synced)
                    .map_err(failed("write", files.record()))?;
            }
            let lines: Vec<String> = work.rows.iter().map(Row::line).collect();
            let first = transcript::header(&work.record);
            work.record.transcript.bytes =
                transcript::append(&path, Some(&first), &lines).map_err(failed("append to", path))?;
            work.record.transcript.rows += work.rows.iter().filter(|r| !self.replaces(work, r)).count() as u64;
        }
        if !work.history.is_empty() {
            transcript::append(&files.history(), None, &work.history).map_err(failed("append to", files.history()))?;
        }
        if let Some(cut) = work.cut {
            work.record.transcript.bytes = cut.bytes;
            work.record.transcript.rows = cut.rows;
            work.record.transcript.cut = true;
        }
        work.record.revision = stored.revision.saturating_add(1);
        if (stored.revision > 0 || !work.rows.is_empty()) && !work.aside {
            work.record.updated_ms = self.here.now;
        }
        let bytes = serialise(&work.record)?;
        replace::replace(&files.record(), &bytes, Durability::Synced).map_err(failed("write", files.record()))
    }

    /// Appends event lines; whether it could. A line that cannot be written is missing, and the command has succeeded
    /// all the same.
    fn tell(&self, lines: &[String]) -> bool {
        if lines.is_empty() {
            return true;
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        events::append_all(&self.state, &lines, self.patience()).is_ok()
    }

    /// Whether a row takes the place of one that is there.
    fn replaces(&self, work: &Work, row: &Row) -> bool {
        work.replacing.contains(&row.id)
    }

    /// Lines of closed turns that a killed writer did not append: looked for from the end of `events.jsonl` back to
    /// the turn's end, under the lock of the lines.
    ///
    /// None: nobody can tell without the lock; the next writer looks again.
    fn missing_announcements(&self, stored: &Record) -> Option<Vec<String>> {
        let turns: Vec<_> = stored
            .turns
            .iter()
            .filter(|t| stored.unannounced.contains(&t.id))
            .collect();
        let Some(oldest) = turns.iter().map(|t| t.ended_ms).min() else {
            return Some(Vec::new());
        };
        let ids: Vec<&str> = turns.iter().map(|t| t.id.as_str()).collect();
        let told = events::ends_told(&self.state, self.patience(), oldest, &stored.id, &ids).ok()?;
        let line = |t: &&ClosedTurn| {
            events::Line::new("turn_ended", t.ended_ms)
                .of_record(&stored.id, stored.revision)
                .with("turn_id", &t.id)
                .with("origin", &t.origin)
                .with("project", &stored.project)
                .with("reason", &t.status)
                .with("error_code", &t.error_code)
                .with("usage", &t.usage)
                .as_str()
                .to_owned()
        };
        Some(
            turns
                .iter()
                .filter(|t| !told.contains(t.id.as_str()))
                .map(line)
                .collect(),
        )
    }

    /// Stores the newest state of the live turn's unfinished reply. The record is not changed.
    ///
    /// # Errors
    /// `TURN_NOT_FOUND`, also if the turn's owner is found dead, and those of [`Store::update`].
    pub fn keep_checkpoint(&self, id: &str, turn: &str, row: &Row) -> Result<(), Refusal> {
        let text = format!(
            "{{\"schema\":{},\"turn_id\":{},\"saved_ms\":{},\"row\":{}}}\n",
            crate::record::SCHEMA,
            serde_json::Value::from(turn),
            self.here.now,
            row.line()
        );
        self.update(id, |work, files| {
            if work.record.turn.as_ref().is_none_or(|t| t.id != turn) {
                return Err(crate::lifecycle::turn_not_found(turn));
            }
            let path = files.checkpoint();
            replace::replace(&path, text.as_bytes(), Durability::Whole).map_err(|e| Refusal::io("write", &path, &e))
        })?;
        Ok(())
    }

    /// Makes a session: a directory under a temporary name with all that is in it, synced, then renamed. `rows` are
    /// lines of its transcript.
    ///
    /// # Errors
    /// `CONFLICT` if the id is taken; `IO`, after which nothing is left.
    pub fn create(&self, mut record: Record, rows: &[Row]) -> Result<Record, Refusal> {
        let sessions = self.state.sessions();
        make_private(&sessions).map_err(|e| Refusal::io("make", &sessions, &e))?;
        self.sweep();
        if self.files(&record.id).dir.exists() {
            return Err(taken(&record.id));
        }
        let temp = tempfile::Builder::new()
            .prefix(&format!(".tmp-{}-", record.id))
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .tempdir_in(&sessions)
            .map_err(|e| Refusal::io("make a directory in", &sessions, &e))?;
        let files = Files {
            dir: temp.path().to_owned(),
        };
        record.revision = 1;
        record.updated_ms = self.here.now;
        record.transcript.rows = rows.len() as u64;
        let lines: Vec<String> = rows.iter().map(Row::line).collect();
        let mut make = || {
            // here already, so that a refused command leaves every file as it was
            File::create_new(files.lock())?.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
            if !lines.is_empty() {
                let first = transcript::header(&record);
                record.transcript.bytes = transcript::append(&files.transcript(), Some(&first), &lines)?;
            }
            let text = serialise(&record).map_err(|e| io::Error::other(e.message))?;
            replace::replace(&files.record(), &text, Durability::Synced)?;
            replace::rename_directory(temp.path(), &self.files(&record.id).dir)
        };
        let made = make();
        match made {
            Ok(()) => {
                // it has its real name now: nothing to remove
                let _kept: PathBuf = temp.keep();
            }
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty
                ) =>
            {
                return Err(taken(&record.id));
            }
            Err(e) => return Err(Refusal::io("make", &self.files(&record.id).dir, &e)),
        }
        let line = events::Line::new("session_created", self.here.now).of_record(&record.id, record.revision);
        events::append(&self.state, line.as_str(), self.patience()).unwrap_or_default();
        Ok(record)
    }

    /// Removes a session. `allowed` decides on its record; a record that cannot be read is removed.
    ///
    /// # Errors
    /// What `allowed` refuses; `SESSION_NOT_FOUND`, `IO`, and those of the lock.
    pub fn delete(
        &self,
        id: &str,
        allowed: impl FnOnce(&mut Work, &Files) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let files = self.files(id);
        let held = self.lock(id)?;
        let mut revision = 0;
        if let Ok(stored) = self.stored(id) {
            let ((), record) = self.update_held(&files, stored, allowed)?;
            revision = record.revision;
        }
        let mut trash = tempfile::Builder::new();
        let prefix = format!(".trash-{id}-");
        let place = trash
            .prefix(&prefix)
            .tempdir_in(self.state.sessions())
            .map_err(|e| Refusal::io("remove", &files.dir, &e))?
            .keep();
        // an empty directory is replaced by the rename
        replace::rename_directory(&files.dir, &place).map_err(|e| {
            fs::remove_dir(&place).unwrap_or_default();
            Refusal::io("remove", &files.dir, &e)
        })?;
        drop(held);
        fs::remove_dir_all(&place).unwrap_or_default();
        let line = events::Line::new("session_deleted", self.here.now).of_record(id, revision);
        events::append(&self.state, line.as_str(), self.patience()).unwrap_or_default();
        self.sweep();
        Ok(())
    }

    /// Removes what killed commands left: `.trash-…` at once, `.tmp-…` after [`SWEEP_MS`]. What cannot be removed stays
    /// for the next one.
    pub fn sweep(&self) {
        let Ok(entries) = fs::read_dir(self.state.sessions()) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let goes =
                name.starts_with(".trash-") || (name.starts_with(replace::TEMP_PREFIX) && self.is_old(&entry.path()));
            if goes {
                fs::remove_dir_all(entry.path()).unwrap_or_default();
            }
        }
    }

    fn is_old(&self, path: &Path) -> bool {
        let changed = fs::metadata(path).and_then(|m| m.modified()).ok();
        let ms = changed
            .and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok())
            .map(|d| d.as_millis() as Ms);
        ms.is_some_and(|ms| self.here.now.saturating_sub(ms) > SWEEP_MS)
    }
}

/// Whether a text can be a session's id: 1 to 128 of `A-Za-z0-9_-`.
pub fn is_id(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// A record from its bytes.
///
/// # Errors
/// What is wrong, in words.
pub fn parse(bytes: &[u8]) -> Result<Record, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
    let record: Record = serde_json::from_str(text).map_err(|e| e.to_string())?;
    if record.schema == 0 || record.id.is_empty() {
        return Err("it has no schema or no id".into());
    }
    Ok(record)
}

/// The schema of a record that this program cannot read in full.
fn schema_of(bytes: &[u8]) -> Option<u64> {
    let object: crate::members::Object = serde_json::from_slice(bytes).ok()?;
    object.get("schema")
}

fn newer(id: &str, schema: u64) -> Refusal {
    Refusal::new(
        Code::SchemaNewer,
        format!("session {id} was written by a newer version (schema {schema}); update this program"),
    )
    .with("session", id)
}

/// A record whose transcript has been cut.
fn without_cut(record: &Record) -> Record {
    let mut record = record.clone();
    record.transcript.cut = false;
    record
}

fn serialise(record: &Record) -> Result<Vec<u8>, Refusal> {
    let mut bytes = serde_json::to_vec(record)
        .map_err(|e| Refusal::new(Code::Internal, format!("a record that is no JSON: {e}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn lines(record: &Record, now: Ms, events: &[Announcement]) -> Vec<String> {
    events
        .iter()
        .map(|e| {
            let mut line = events::Line::new(e.kind, now).of_record(&record.id, record.revision);
            for (name, value) in &e.members {
                line = line.with(name, value);
            }
            line.as_str().to_owned()
        })
        .collect()
}

/// Shortens a transcript to the committed size, whole lines, by way of a temporary file.
fn finish_cut(path: &Path, bytes: u64) -> io::Result<()> {
    if transcript::size(path)? <= bytes {
        return Ok(());
    }
    let prefix = transcript::part(path, 0, bytes)?;
    replace::replace(path, &prefix, Durability::Synced)
}

/// Turn and row of a checkpoint file.
pub fn read_checkpoint(path: &Path) -> Option<(String, Row)> {
    let bytes = regular::read(path).ok()?;
    let object: crate::members::Object = serde_json::from_slice(&bytes).ok()?;
    let turn = object.get("turn_id")?;
    let row = Row::read(object.raw("row")?.0.get().as_bytes())?;
    Some((turn, row))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The refusal of an unknown session.
pub fn session_not_found(given: &str) -> Refusal {
    Refusal::new(
        Code::SessionNotFound,
        format!(
            "no such session: {}; see `ring-session list`",
            crate::text::clean(given, 128)
        ),
    )
}

fn unreadable(id: &str, why: &str) -> Refusal {
    Refusal::new(
        Code::SessionNotFound,
        format!("the record of session {id} cannot be read ({why}); try `ring-session recover {id}`"),
    )
    .with("reason", "unreadable")
    .with("session", id)
}

fn taken(id: &str) -> Refusal {
    Refusal::new(
        Code::Conflict,
        format!("the session id {id} is taken; give another one"),
    )
}

/// The refusal of a beginning that several ids share.
pub fn ambiguous(given: &str, candidates: &[&str]) -> Refusal {
    Refusal::new(
        Code::Ambiguous,
        format!("{given} is the beginning of several: {}", candidates.join(", ")),
    )
    .with(
        "candidates",
        candidates.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>(),
    )
}
