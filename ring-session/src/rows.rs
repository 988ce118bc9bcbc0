//! Appending rows to a session (ring-session(1), TRANSCRIPT).
//!
//! Up to 1000 rows, all or none, one lock and one sync. An id that is there is skipped, unless its copy was not final
//! (a reply still streaming, or a checkpoint that was promoted): then the new row takes its place.

use crate::history;
use crate::record::{Mode, RECOVERED_TITLE, Record, Source};
use crate::refusal::{Code, Refusal};
use crate::replace;
use crate::row::{Role, Row};
use crate::store::{Files, Store};
use crate::text;
use crate::time::Ms;
use crate::transcript;
use crate::work::Work;
use std::cell::Cell;
use std::collections::HashMap;
use std::fs;
use std::io;

/// Rows of one append.
pub const ROWS: usize = 1000;

/// What an append did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appended {
    /// Rows that were stored.
    pub appended: usize,
    /// Rows that were there already, or that show nothing.
    pub skipped: usize,
    /// For people: turns that do not exist.
    pub warnings: Vec<String>,
}

/// Lines of a caller as rows, each with whether it brought its own id.
///
/// # Errors
/// `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`, naming the line.
pub fn parse(input: &[u8], mint: impl Fn() -> String, now: Ms) -> Result<Vec<(Row, bool)>, Refusal> {
    let mut rows = Vec::new();
    for (number, line) in input.split(|b| *b == b'\n').enumerate() {
        let number = number + 1;
        let named = |r: Refusal| {
            let message = format!("line {number}: {}", r.message);
            Refusal { message, ..r }.with("line", number)
        };
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if line.len() > crate::row::LINE_BYTES {
            let limit = crate::row::LINE_BYTES;
            return Err(named(Refusal::new(
                Code::LimitExceeded,
                format!("a row of {} bytes; at most {limit}", line.len()),
            )));
        }
        if rows.len() == ROWS {
            return Err(named(Refusal::new(
                Code::LimitExceeded,
                format!("more than {ROWS} rows; append them in parts"),
            )));
        }
        let minted = Cell::new(false);
        let mint = || {
            minted.set(true);
            mint()
        };
        let row = Row::given(&String::from_utf8_lossy(line), mint, now).map_err(named)?;
        rows.push((row, !minted.get()));
    }
    if rows.is_empty() {
        return Err(Refusal::new(
            Code::InvalidArgument,
            "no rows; give one JSON object a line",
        ));
    }
    Ok(rows)
}

/// Stores rows of a session. `turn` is that of rows that name none. A session whose record is lost gets a new one first.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `SCHEMA_NEWER`, `LOCK_TIMEOUT`, `IO`.
pub fn append(store: &Store, id: &str, rows: Vec<(Row, bool)>, turn: Option<&str>) -> Result<Appended, Refusal> {
    let files = store.files(id);
    let _held = store.lock(id)?;
    let stored = match store.stored(id) {
        Err(e) if is_unreadable(&e) => rebuild(store, id)?,
        other => other?,
    };
    let (appended, _) = store.update_held(&files, stored, |work, files| add(work, files, rows, turn))?;
    Ok(appended)
}

/// Adds rows to a work.
fn add(work: &mut Work, files: &Files, rows: Vec<(Row, bool)>, turn: Option<&str>) -> Result<Appended, Refusal> {
    let mut done = Appended::default();
    let path = files.transcript();
    let io = |e: io::Error| Refusal::io("read", &path, &e);
    let ids: Vec<&str> = rows
        .iter()
        .filter(|(_, given)| *given)
        .map(|(r, _)| r.id.as_str())
        .collect();
    let mut known = transcript::recent(&path, work.record.transcript.bytes, &ids).map_err(io)?;
    // closed turns, and those that never were: each is looked for once
    let mut turns: HashMap<String, bool> = HashMap::new();
    for (row, given) in rows {
        let mut row = if row.turn_id.is_empty() {
            row.of_turn(turn.unwrap_or_default())
        } else {
            row
        };
        if given {
            match known.get(&row.id) {
                Some(false) => {
                    done.skipped += 1;
                    continue;
                }
                Some(true) => work.replacing.push(row.id.clone()),
                None => {}
            }
        }
        if row.is_worthless() {
            done.skipped += 1;
            continue;
        }
        if !row.turn_id.is_empty() && work.record.turn.as_ref().is_none_or(|t| t.id != row.turn_id) {
            let is_closed = match turns.get(&row.turn_id) {
                Some(known) => *known,
                None => {
                    let found = history::find_turn(&files.history(), &work.record, &row.turn_id).map_err(io)?;
                    if found.is_none() {
                        done.warnings.push(format!(
                            "no such turn: {}; its rows are stored without one",
                            text::clean(&row.turn_id, 128)
                        ));
                    }
                    turns.insert(row.turn_id.clone(), found.is_some());
                    found.is_some()
                }
            };
            row = if is_closed { row.late() } else { row.of_turn("") };
        }
        known.insert(row.id.clone(), row.is_provisional());
        if work.checkpoint.as_ref().is_some_and(|c| c.id == row.id) {
            work.checkpoint = None;
            work.drop_checkpoint = true;
        }
        work.name_by(&row);
        work.rows.push(row);
        done.appended += 1;
    }
    if done.appended > 0 {
        work.announce("rows_appended", serde_json::json!({}));
    }
    Ok(done)
}

/// Whether a session is there and its record cannot be read.
pub fn is_unreadable(refusal: &Refusal) -> bool {
    refusal.details.get("reason").and_then(|r| r.as_str()) == Some("unreadable")
}

/// A record from what the transcript tells, in place of one that is missing or cannot be read. The bad file is kept as
/// `session.json.bad-MS`. The caller holds the lock.
///
/// # Errors
/// `IO`.
pub fn rebuild(store: &Store, id: &str) -> Result<Record, Refusal> {
    let files = store.files(id);
    let path = files.transcript();
    let bytes = transcript::part(&path, 0, u64::MAX).map_err(|e| Refusal::io("read", &path, &e))?;
    let bad = files.record();
    if fs::symlink_metadata(&bad).is_ok() {
        let aside = files.dir.join(format!("session.json.bad-{}", store.here().now));
        replace::set_aside_as(&bad, &aside).map_err(|e| Refusal::io("set aside", &bad, &e))?;
    }
    let header = bytes
        .split(|b| *b == b'\n')
        .next()
        .and_then(|l| serde_json::from_slice::<crate::members::Object>(l).ok())
        .unwrap_or_default();
    let header_says = |name: &str| header.get::<String>(name).unwrap_or_default();
    let rows = transcript::collapse(transcript::rows(&bytes));
    let time = |row: Option<&Row>| row.and_then(|r| r.members.get::<Ms>("created_ms"));
    let now = store.here().now;
    let mut record = Record {
        id: id.to_owned(),
        source: Source::Recovered,
        agent: header_says("agent"),
        title: RECOVERED_TITLE.to_owned(),
        project: header.get::<String>("project"),
        mode: Mode::from_word(&header_says("mode")).unwrap_or_default(),
        created_ms: time(rows.first()).or_else(|| header.get("created_ms")).unwrap_or(now),
        updated_ms: time(rows.last()).unwrap_or(now),
        ..Record::default()
    };
    record.queue.held = true;
    record.transcript.bytes = bytes.len() as u64;
    record.transcript.rows = rows.len() as u64;
    let first = rows
        .iter()
        .find(|r| r.role == Role::User)
        .map(|r| text::clean(&r.text(), crate::lifecycle::AUTO_TITLE));
    if let Some(title) = first.filter(|t| !t.is_empty()) {
        record.title = title;
        record.title_auto = false;
    }
    Ok(record)
}
