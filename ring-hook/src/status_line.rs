//! The `status` line of events.jsonl: what changed for a reader (ring(5), EVENTS). Ids and codes, never texts.

use crate::row::Row;
use ring_session::events::Line;
use ring_session::time::Ms;
use serde::Serialize;

/// What a reader would have been told last.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    status: String,
    waits: Vec<String>,
}

impl Summary {
    /// Of a row.
    pub fn of(row: &Row) -> Summary {
        let mut waits: Vec<String> = row.waits.iter().map(|w| w.id.clone()).collect();
        waits.sort_unstable();
        Summary {
            status: row.status.clone(),
            waits,
        }
    }
}

/// The line, if the status or the set of waits is another than before. No summary: there was no row.
pub fn changed(before: Option<&Summary>, row: &Row, rule: &str, now: Ms) -> Option<Line> {
    let same = before.is_some_and(|b| *b == Summary::of(row));
    (!same).then(|| line(row, before.map_or("", |b| &b.status), &row.status, rule, now))
}

/// The line of a row's end.
pub fn ended(row: &Row, rule: &str, now: Ms) -> Line {
    line(row, &row.status, "ended", rule, now)
}

/// What a line says of a wait.
#[derive(Serialize)]
struct Left<'a> {
    id: &'a str,
    kind: &'a str,
    owner: &'a str,
}

fn line(row: &Row, from: &str, to: &str, rule: &str, now: Ms) -> Line {
    let left = if to == "ended" { &[] } else { &row.waits[..] };
    let waits: Vec<Left<'_>> = left
        .iter()
        .map(|w| Left {
            id: &w.id,
            kind: &w.kind,
            owner: &w.owner,
        })
        .collect();
    Line::new("status", now)
        .with("key", &row.key)
        .with("agent", &row.agent)
        .with("from", from)
        .with("to", to)
        .with("waits", &waits)
        .with("project", &row.origin_cwd)
        .with("rule", rule)
}
