//! `sessions/ID/transcript.jsonl`: messages, append-only (ring(5), TRANSCRIPT).
//!
//! First a header line, then rows. Readers skip blank, unknown and unparseable lines and a torn last one; copies of an
//! id count once, with the last content in the first place. A file that an abort has cut in the record and not yet on
//! disk is read as if it were cut.

use crate::backward::{Stretch, quoted};
use crate::record::Record;
use crate::regular;
use crate::row::Row;
use crate::state_dir::make_private;
use crate::work::{Behind, Cut};
use serde_json::json;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// How far back a given id is looked for, in bytes. Older copies are left to the readers.
pub const LOOK_BACK: u64 = 1024 * 1024;
/// So many ids are looked for one by one.
const SEARCHED: usize = 8;

/// The first line.
pub fn header(record: &Record) -> String {
    json!({"type": "session", "schema": crate::record::SCHEMA, "session_id": record.id, "created_ms": record.created_ms,
        "agent": record.agent, "project": record.project, "mode": record.mode})
    .to_string()
}

/// Appends whole lines in one write and syncs them; a torn tail is ended first. Gives the new size.
///
/// # Errors
/// Those of the system. Lines that were written and not synced may be there: see [`shorten`].
pub fn append(path: &Path, first: Option<&str>, lines: &[String]) -> io::Result<u64> {
    let mut file = match open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            if let Some(dir) = path.parent() {
                make_private(dir)?;
            }
            open(path)?
        }
        other => other?,
    };
    let size = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(lines.iter().map(|l| l.len() + 1).sum::<usize>() + 256);
    if size == 0 {
        if let Some(first) = first {
            bytes.extend_from_slice(first.as_bytes());
            bytes.push(b'\n');
        }
    } else {
        let mut last = [0u8];
        file.read_exact_at(&mut last, size - 1)?;
        if last[0] != b'\n' {
            bytes.push(b'\n');
        }
    }
    for line in lines {
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
    }
    file.write_all(&bytes)?;
    file.sync_data()?;
    if let Some(dir) = path.parent().filter(|_| size == 0) {
        File::open(dir)?.sync_all()?;
    }
    Ok(size + bytes.len() as u64)
}

/// Takes back lines that were appended and not committed; a file that was empty goes.
///
/// # Errors
/// Those of the system.
pub fn shorten(path: &Path, to: u64) -> io::Result<()> {
    match size(path)? {
        now if now <= to && now > 0 => Ok(()),
        _ if to == 0 => std::fs::remove_file(path),
        _ => OpenOptions::new().write(true).open(path)?.set_len(to),
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
}

/// The size of a file; a missing one has none.
///
/// # Errors
/// Those of the system.
pub fn size(path: &Path) -> io::Result<u64> {
    match std::fs::metadata(path) {
        Ok(meta) => Ok(meta.len()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(e) => Err(e),
    }
}

/// Bytes `from..to` of a file; a missing file is empty.
///
/// # Errors
/// Those of the system.
pub fn part(path: &Path, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut file = match regular::open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let size = file.metadata()?.len().min(to).saturating_sub(from);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(size).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The rows of a record's transcript, copies collapsed.
///
/// # Errors
/// Those of the system; a missing file has no rows.
pub fn read(path: &Path, record: &Record) -> io::Result<Vec<Row>> {
    let to = if record.transcript.cut {
        record.transcript.bytes
    } else {
        u64::MAX
    };
    Ok(collapse(rows(&part(path, 0, to)?)))
}

/// Every row of some bytes, in their order.
pub fn rows(bytes: &[u8]) -> Vec<Row> {
    bytes.split(|b| *b == b'\n').filter_map(Row::read).collect()
}

/// Last content, first place.
pub fn collapse(rows: Vec<Row>) -> Vec<Row> {
    let mut places: HashMap<String, usize> = HashMap::with_capacity(rows.len());
    let mut out: Vec<Row> = Vec::with_capacity(rows.len());
    for row in rows {
        match places.get(&row.id) {
            Some(place) => out[*place] = row,
            None => {
                places.insert(row.id.clone(), out.len());
                out.push(row);
            }
        }
    }
    out
}

/// How many rows of different ids some bytes hold.
pub fn count(bytes: &[u8]) -> u64 {
    collapse(rows(bytes)).len() as u64
}

/// Which of `ids` stand near the end, and whether each one's last copy is provisional.
///
/// # Errors
/// Those of the system.
pub fn recent(path: &Path, size: u64, ids: &[&str]) -> io::Result<HashMap<String, bool>> {
    let near = Stretch {
        path,
        from: size.saturating_sub(LOOK_BACK),
        to: size,
    };
    let mut found = HashMap::new();
    // for a few ids it is cheaper to search than to read every row
    if ids.len() > SEARCHED {
        let rows = rows(&part(path, near.from, size)?);
        found.extend(rows.into_iter().map(|r| (r.id.clone(), r.is_provisional())));
        return Ok(found);
    }
    for id in ids {
        let look = |line: &[u8]| match Row::read(line).filter(|r| r.id == *id) {
            Some(row) => ControlFlow::Break(row.is_provisional()),
            None => ControlFlow::Continue(()),
        };
        if let Some(provisional) = near.lines_with(&quoted(id), look, |_| false)? {
            found.insert((*id).to_owned(), provisional);
        }
    }
    Ok(found)
}

/// What stands behind a turn's user row, read from the end back to that row.
///
/// # Errors
/// Those of the system. A row that is not found is answered: nothing is cut.
pub fn behind(path: &Path, record: &Record, turn: &str, user_row: &str, size: u64) -> io::Result<Behind> {
    let mut window = 64 * 1024;
    loop {
        let from = size.saturating_sub(window);
        let bytes = part(path, from, size)?;
        if let Some(found) = look_behind(&bytes, from, record, turn, user_row) {
            return Ok(found);
        }
        if from == 0 {
            return Ok(Behind {
                answered: true,
                ..Behind::default()
            });
        }
        window *= 4;
    }
}

fn look_behind(bytes: &[u8], from: u64, record: &Record, turn: &str, user_row: &str) -> Option<Behind> {
    let mut at = 0usize;
    let mut start = None;
    let mut removed: Vec<Row> = Vec::new();
    let mut answered = false;
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let row = Row::read(line.strip_suffix(b"\n").unwrap_or(line));
        match (&start, row) {
            (None, Some(row)) if row.id == user_row => {
                start = Some(at);
                removed.push(row);
            }
            (Some(_), Some(row)) => {
                answered |= row.answers(turn);
                removed.push(row);
            }
            _ => {}
        }
        at += line.len();
    }
    let gone = collapse(removed).len() as u64;
    let cut = Cut {
        bytes: from + start? as u64,
        rows: record.transcript.rows.saturating_sub(gone),
    };
    Some(Behind { cut, answered })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn line(id: &str, text: &str) -> String {
        Row::assistant(id.into(), "t", 1, text).line()
    }

    #[test]
    fn s27_a_torn_line_is_skipped_and_the_next_append_starts_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("transcript.jsonl");
        append(&path, Some("{\"type\":\"session\"}"), &[line("a", "1")]).unwrap();
        let mut torn = fs::read(&path).unwrap();
        torn.extend_from_slice(b"{\"type\":\"message\",\"id\":\"torn");
        fs::write(&path, torn).unwrap();
        append(&path, None, &[line("b", "2")]).unwrap();
        let ids: Vec<String> = read(&path, &Record::default())
            .unwrap()
            .into_iter()
            .map(|r| r.id)
            .collect();
        assert_eq!(ids, ["a", "b"]);
    }

    #[test]
    fn s28_copies_of_an_id_count_once_with_the_last_content_in_the_first_place() {
        let rows = rows([line("a", "1"), line("b", "2"), line("a", "3")].join("\n").as_bytes());
        let texts: Vec<String> = collapse(rows).iter().map(Row::text).collect();
        assert_eq!(texts, ["3", "2"]);
    }

    #[test]
    fn s28_ids_near_the_end_are_found_whether_few_or_many_are_looked_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("transcript.jsonl");
        let streaming = Row::assistant("b".into(), "t", 1, "x").with_meta("status", "streaming");
        let quoting = Row::assistant("q".into(), "t", 1, r#"{"type":"message","id":"a"}"#);
        let far = Row::assistant("far".into(), "t", 1, &"x".repeat(LOOK_BACK as usize));
        let lines = [
            far.line(),
            line("b", "1"),
            line("a", "2"),
            streaming.line(),
            quoting.line(),
        ];
        let size = append(&path, Some("{}"), &lines).unwrap();
        let many: Vec<String> = (0..SEARCHED).map(|n| format!("none-{n}")).collect();
        for others in [&many[..0], &many[..]] {
            let ids: Vec<&str> = ["a", "b", "c", "far"]
                .into_iter()
                .chain(others.iter().map(String::as_str))
                .collect();
            let found = recent(&path, size, &ids).unwrap();
            assert_eq!(found.get("a"), Some(&false), "{others:?}");
            assert_eq!(found.get("b"), Some(&true), "the last copy counts");
            assert_eq!((found.get("c"), found.get("far")), (None, None));
        }
    }

    #[test]
    fn s33_a_reader_stops_where_the_record_says_that_the_file_is_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("transcript.jsonl");
        let bytes = append(&path, None, &[line("a", "1")]).unwrap();
        append(&path, None, &[line("b", "2")]).unwrap();
        let mut record = Record::default();
        (record.transcript.bytes, record.transcript.cut) = (bytes, true);
        assert_eq!(read(&path, &record).unwrap().len(), 1);
        record.transcript.cut = false;
        assert_eq!(read(&path, &record).unwrap().len(), 2);
    }

    #[test]
    fn s31_what_stands_behind_a_prompt_decides_whether_it_can_be_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("transcript.jsonl");
        let user = Row::user("u".into(), "t", 1, "do it", &[]).line();
        let start = append(&path, Some("{}"), &[line("old", "x")]).unwrap();
        let size = append(&path, None, &[user, line("a", "")]).unwrap();
        let mut record = Record::default();
        record.transcript.rows = 3;
        let found = behind(&path, &record, "t", "u", size).unwrap();
        assert_eq!(
            found,
            Behind {
                cut: Cut { bytes: start, rows: 1 },
                answered: false
            }
        );
        let size = append(&path, None, &[line("b", "text")]).unwrap();
        assert!(behind(&path, &record, "t", "u", size).unwrap().answered);
        assert!(behind(&path, &record, "t", "missing", size).unwrap().answered);
    }
}
