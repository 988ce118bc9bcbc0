//! A fork: a new, idle session with copies of another's rows (ring-session(1), FORK).
//!
//! Copied are the rows (all, or through one of them), project, mode, permission mode, settings and agent. Session,
//! rows and calls get new ids, one old call one new call. Turns, requests, grants, queue, proposal, history,
//! notifications, checkpoint and the agent's own session id are not copied. The source is locked while it is read, and
//! never written.

use crate::record::{Record, Source};
use crate::refusal::{Code, Refusal};
use crate::row::{Row, renamed};
use crate::store::Store;
use crate::work::Work;
use std::collections::HashMap;

/// Longest title of a copy, in characters.
pub const TITLE: usize = 100;

/// Forks a session.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `AGENT_BUSY`, `NOT_FOUND` (the message), `AMBIGUOUS`, `LOCK_TIMEOUT`, `IO`. Nothing is left then.
pub fn fork(store: &Store, source: &str, through: Option<&str>, title: Option<String>) -> Result<Record, Refusal> {
    let (record, rows) = {
        let _held = store.lock(source)?;
        let seen = store.see(source)?;
        let work = Work::new(seen.record, store.here().clone());
        if let Some(busy) = work.busy(false) {
            return Err(busy);
        }
        let rows = store.rows(source)?;
        (work.record, until(rows, through.filter(|t| !t.trim().is_empty()))?)
    };
    let now = store.here().now;
    let mut calls: HashMap<String, String> = HashMap::new();
    let rows: Vec<Row> = rows
        .iter()
        .map(|row| {
            let call = |old: &str| {
                calls
                    .entry(old.to_owned())
                    .or_insert_with(|| crate::id::mint(now))
                    .clone()
            };
            renamed(row, crate::id::mint(now), call)
        })
        .collect();
    let title = title.unwrap_or_else(|| crate::text::clean(&format!("{} (branch)", record.title), TITLE));
    let child = Record {
        id: crate::id::mint(now),
        source: Source::Fork,
        agent: record.agent,
        title,
        title_auto: false,
        project: record.project,
        mode: record.mode,
        permission_mode: record.permission_mode,
        settings: record.settings,
        created_ms: now,
        ..Record::default()
    };
    store.create(child, &rows)
}

fn until(mut rows: Vec<Row>, through: Option<&str>) -> Result<Vec<Row>, Refusal> {
    let Some(given) = through else { return Ok(rows) };
    let last = match crate::id::meant(given, rows.iter().map(|r| r.id.as_str())) {
        crate::id::Meant::One(id) => id.to_owned(),
        crate::id::Meant::Nobody => {
            return Err(Refusal::new(
                Code::NotFound,
                format!("no message {}; see `transcript`", crate::text::clean(given, 128)),
            ));
        }
        crate::id::Meant::Several(candidates) => return Err(crate::store::ambiguous(given, &candidates)),
    };
    let place = rows.iter().position(|r| r.id == last).unwrap_or(rows.len());
    rows.truncate(place + 1);
    Ok(rows)
}
