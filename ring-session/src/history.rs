//! `sessions/ID/history.jsonl`: turns and proposals that have left the record (ring(5), HISTORY).
//!
//! Nothing in it can be acted upon. An id that the record still holds is not history; of several lines of an id the
//! last counts.

use crate::members::Object;
use crate::record::{ClosedTurn, Record};
use crate::transcript;
use std::io;
use std::path::Path;

/// Lines of a type, newest last, those that the record still holds left out.
///
/// # Errors
/// Those of the system; a missing file is empty.
pub fn read(path: &Path, kind: &str, record: &Record) -> io::Result<Vec<Object>> {
    let bytes = transcript::part(path, 0, u64::MAX)?;
    let mut found: Vec<(String, Object)> = Vec::new();
    for line in bytes.split(|b| *b == b'\n') {
        let Ok(object) = serde_json::from_slice::<Object>(line) else {
            continue;
        };
        if object.get::<String>("type").as_deref() != Some(kind) {
            continue;
        }
        let Some(id) = object.get::<String>("id").filter(|id| !holds(record, id)) else {
            continue;
        };
        found.retain(|(other, _)| *other != id);
        found.push((id, object));
    }
    Ok(found.into_iter().map(|(_, object)| object).collect())
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
    let found = read(path, "turn", record)?
        .into_iter()
        .rev()
        .find(|o| o.get::<String>("id").as_deref() == Some(id));
    Ok(found
        .and_then(|o| serde_json::to_string(&o).ok())
        .and_then(|t| serde_json::from_str(&t).ok()))
}
