//! One row of the board as it is shown: the decision, and what is told around it.

use crate::board::{self, ProcessView, Session, Todo};
use crate::collect::source_of;
use crate::entry::Entry;
use crate::merge::{self, Outcome};
use crate::place;
use crate::source::Context;
use crate::tmux::{Hint, Tmux};
use ring_session::{process, text};
use std::path::Path;

/// One row of the board: the decision, and what is shown around it. Every text is cleaned again: files are written by
/// others.
pub fn session(entry: &Entry, outcome: Outcome, context: &Context, tmux: &mut Tmux) -> Session {
    let row = entry.hook.map(|h| &h.row);
    let found = entry.found;
    let tail = entry.tail(context);
    let newer = tail.is_some_and(|t| row.is_none_or(|r| t.ms > r.event_ms));
    // What both know, the newer one tells.
    let pick = |of_row: Option<&String>, of_record: Option<&String>, limit: usize| {
        let (first, second) = if newer {
            (of_record, of_row)
        } else {
            (of_row, of_record)
        };
        let found = [first, second].into_iter().flatten().find(|t| !t.is_empty());
        text::clean(found.map_or("", String::as_str), limit)
    };
    let process = entry.process(context);
    let of_process = process
        .and_then(|p| p.agent.as_ref()?.cwd.as_ref())
        .map(|c| c.to_string_lossy().into_owned());
    let cwd = match pick(row.map(|r| &r.cwd), found.map(|f| &f.cwd), 4096) {
        cwd if cwd.is_empty() => text::clean(of_process.as_deref().unwrap_or_default(), 4096),
        cwd => cwd,
    };
    let cwd = match entry.record {
        Some(record) if cwd.is_empty() => text::clean(&record.project, 4096),
        _ => cwd,
    };
    let origin_cwd = [row.map(|r| &r.origin_cwd), found.map(|f| &f.origin_cwd)]
        .into_iter()
        .flatten()
        .find(|c| !c.is_empty())
        .map_or_else(|| cwd.clone(), |c| text::clean(c, 4096));
    let place = place_of(entry, context, tmux);
    let tty = text::clean(&place.tty, 200);
    let home = context.home.as_deref();
    let todo = [
        tail.filter(|_| newer).and_then(|t| t.todo),
        row.and_then(|r| r.todo),
        tail.and_then(|t| t.todo),
    ];
    let title = match found.map(|f| &f.title) {
        Some(title) if !title.is_empty() => text::clean(title, 200),
        _ => text::clean(row.map_or(entry.title.as_str(), |r| r.title.as_str()), 200),
    };
    Session {
        key: entry.key.clone(),
        agent: text::clean(&entry.agent, 80),
        session_id: text::clean(&entry.session_id, 200),
        kind: entry.kind().into(),
        status: outcome.status.into(),
        since_ms: outcome.since_ms,
        age_ms: context.now.saturating_sub(outcome.since_ms).max(0),
        project: place::project(&origin_cwd),
        title,
        note: text::clean(&outcome.note, 160),
        waits: outcome.waits.len(),
        waiting: outcome.waits.first().map(cleaned),
        location: place::location(&place.target, &tty, &cwd, home),
        cwd,
        origin_cwd,
        tmux_target: place.target,
        tmux_pane: place.pane,
        tty,
        last_action: pick(row.map(|r| &r.last_action), tail.map(|t| &t.action), 160),
        todo: todo
            .into_iter()
            .flatten()
            .next()
            .map(|(done, total)| Todo { done, total }),
        model: pick(row.map(|r| &r.model), tail.map(|t| &t.model), 80),
        seen_ms: outcome.seen_ms,
        process: ProcessView {
            pid: entry.pid,
            state: entry.verdict.name().into(),
        },
        sources: sources(entry),
        record: entry.record.map_or_else(String::new, |r| r.record.id.clone()),
        rule: outcome.rule.into(),
        evidence: outcome.evidence,
        hook_stale: outcome.hook_stale,
        host: text::clean(process::host_name(), 200),
        chain: board::Chain {
            facts: outcome.facts.into_iter().map(|f| named(f, entry.pid)).collect(),
            rules: outcome.tried,
            waits: outcome.waits.iter().map(cleaned).collect(),
            children: children(entry),
            paths: paths(entry),
        },
        ..Session::default()
    }
}

/// The fact about a process with its id, which the decision does not need.
fn named(fact: board::Fact, pid: u32) -> board::Fact {
    match (fact.source.as_str(), pid) {
        ("process", 1..) => board::Fact {
            fact: format!("{pid} {}", fact.fact),
            ..fact
        },
        _ => fact,
    }
}

fn cleaned(wait: &board::Waiting) -> board::Waiting {
    board::Waiting {
        id: text::clean(&wait.id, 200),
        kind: text::clean(&wait.kind, 40),
        detail: text::clean(&wait.detail, 160),
        owner: text::clean(&wait.owner, 200),
        owner_type: text::clean(&wait.owner_type, 80),
        since_ms: wait.since_ms,
    }
}

struct Place {
    tty: String,
    pane: String,
    target: String,
}

/// Terminal and pane. A server has those of the client that started it first, so its sessions have none.
fn place_of(entry: &Entry, context: &Context, tmux: &mut Tmux) -> Place {
    let term = entry.term();
    let process = entry.process(context).filter(|_| !entry.server);
    let tty = term
        .map(|t| t.tty.clone())
        .filter(|t| !t.is_empty())
        .or_else(|| process.map(|p| p.tty.clone()))
        .unwrap_or_default();
    if entry.server || entry.is_background() {
        return Place {
            tty: String::new(),
            pane: String::new(),
            target: String::new(),
        };
    }
    let hint = Hint {
        pane: term.map_or("", |t| t.tmux_pane.as_str()),
        socket: term.map_or("", |t| t.tmux_socket.as_str()),
        registry: entry.live.as_ref().map_or("", |l| l.tmux.as_str()),
        pid: process.map_or(0, |p| p.pid),
    };
    match tmux.pane(&hint, context.processes.as_ref()) {
        Some(pane) => Place {
            tty,
            pane: text::clean(&pane.id, 40),
            target: text::clean(&pane.target, 200),
        },
        None => Place {
            tty,
            pane: String::new(),
            target: String::new(),
        },
    }
}

fn sources(entry: &Entry) -> Vec<String> {
    let mut sources = Vec::new();
    if entry.hook.is_some() {
        sources.push("hook".to_owned());
    }
    if entry.found.is_some() {
        sources.push(source_of(&entry.agent).to_owned());
    }
    if entry.record.is_some() {
        sources.push("session".to_owned());
    }
    if sources.is_empty() {
        sources.push("process".to_owned());
    }
    sources
}

fn children(entry: &Entry) -> Vec<(String, String, String)> {
    let of_row = entry.hook.into_iter().flat_map(|h| &h.row.children);
    let of_records = entry.found.into_iter().flat_map(|f| &f.children);
    let mut children: Vec<(String, String, String)> = of_row
        .map(|c| {
            (
                text::clean(&c.id, 200),
                text::clean(&c.kind, 80),
                "seen by a hook".to_owned(),
            )
        })
        .collect();
    for child in of_records {
        let state = merge::mark_name(child.kind).to_owned();
        match children.iter_mut().find(|c| c.0 == child.id) {
            Some(known) => known.2 = state,
            None => children.push((text::clean(&child.id, 200), String::new(), state)),
        }
    }
    children
}

fn paths(entry: &Entry) -> Vec<String> {
    let of_row = entry
        .hook
        .map(|h| h.row.transcript_path.clone())
        .filter(|p| !p.is_empty());
    let of_record = entry.path().map(|p: &Path| p.display().to_string());
    let mut paths: Vec<String> = of_record
        .into_iter()
        .chain(of_row)
        .map(|p| text::clean(&p, 4096))
        .collect();
    paths.dedup();
    paths
}
