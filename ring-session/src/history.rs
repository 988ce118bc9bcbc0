//! `sessions/ID/history.jsonl`: turns and proposals that have left the record (ring(5), HISTORY).
//!
//! Nothing in it can be acted upon. An id that the record still holds is not history; of several lines of an id the
//! last counts.

use crate::backward::{Stretch, quoted};
use crate::members::Object;
use crate::record::{ClosedTurn, Record};
use crate::transcript;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// What has left the record and has an id that begins with `given`, newest first, each id once. Only lines that hold
/// that text are read as JSON, so a long history costs little.
///
/// # Errors
/// Those of the system; a missing file is empty.
pub fn beginning_with(path: &Path, kind: &str, record: &Record, given: &str) -> io::Result<Vec<(String, Object)>> {
    let text = quoted(given);
    let text = text.strip_suffix('"').unwrap_or(&text);
    let mut found: Vec<(String, Object)> = Vec::new();
    let all = Stretch {
        path,
        from: 0,
        to: transcript::size(path)?,
    };
    let look = |line: &[u8]| {
        if let Some((id, object)) = read(line, kind)
            && id.starts_with(given)
            && !holds(record, &id)
            && found.iter().all(|(other, _)| *other != id)
        {
            found.push((id, object));
        }
        ControlFlow::<()>::Continue(())
    };
    all.lines_with(text, look, |_| false)?;
    Ok(found)
}

fn read(line: &[u8], kind: &str) -> Option<(String, Object)> {
    let object: Object = serde_json::from_slice(line).ok()?;
    let is_kind = object.get::<String>("type").as_deref() == Some(kind);
    let id = object.get("id").filter(|_| is_kind)?;
    Some((id, object))
}

fn holds(record: &Record, id: &str) -> bool {
    record.turns.iter().any(|t| t.id == id) || record.proposal.as_ref().is_some_and(|p| p.id == id)
}

/// A closed turn by its whole id, in history or in the record.
///
/// # Errors
/// Those of the system.
pub fn find_turn(path: &Path, record: &Record, id: &str) -> io::Result<Option<ClosedTurn>> {
    if let Some(turn) = record.turns.iter().find(|t| t.id == id) {
        return Ok(Some(turn.clone()));
    }
    let all = Stretch {
        path,
        from: 0,
        to: transcript::size(path)?,
    };
    let look = |line: &[u8]| match read(line, "turn").filter(|(other, _)| other == id) {
        Some((_, object)) => ControlFlow::Break(object),
        None => ControlFlow::Continue(()),
    };
    let found = all.lines_with(&quoted(id), look, |_| false)?;
    Ok(found
        .and_then(|o| serde_json::to_string(&o).ok())
        .and_then(|t| serde_json::from_str(&t).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s40_of_several_lines_of_a_turn_the_last_counts_and_one_that_the_record_holds_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        let lines = [
            r#"{"schema":1,"type":"turn","id":"aaaa-1","status":"error"}"#,
            r#"{"schema":1,"type":"turn","id":"aaaa-1","status":"aborted"}"#,
            r#"{"schema":1,"type":"turn","id":"aaaa-2","status":"completed"}"#,
            r#"{"schema":1,"type":"proposal","id":"aaaa-3","turn_id":"aaaa-1"}"#,
            r#"{"schema":1,"type":"turn","id":"aaa"#,
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let mut record = Record::default();
        let ids = |record: &Record, given: &str| -> Vec<String> {
            let found = beginning_with(&path, "turn", record, given).unwrap();
            found.into_iter().map(|(id, _)| id).collect()
        };
        assert_eq!(ids(&record, "aaaa"), ["aaaa-2", "aaaa-1"]);
        let status = |record: &Record, id: &str| find_turn(&path, record, id).unwrap().map(|t| t.status.as_str());
        assert_eq!(status(&record, "aaaa-1"), Some("aborted"));
        assert_eq!(status(&record, "aaaa"), None);
        record.turns.push(ClosedTurn {
            id: "aaaa-2".into(),
            ..ClosedTurn::default()
        });
        assert_eq!(ids(&record, "aaaa"), ["aaaa-1"]);
    }
}
