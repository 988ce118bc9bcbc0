//! From sources to a board: reads, joins what is said about one session, decides, orders.

use crate::board::{self, Board, Finding, Request, Source};
use crate::entry::Entry;
use crate::join;
use crate::merge::{self, Facts, Hook};
use crate::processes::{self, Processes};
use crate::shown;
use crate::source::{self, Context, Harvest, aider, claude, codex, hook, session as records};
use crate::tmux::Tmux;
use ring_hook::agent::{CLAUDE, CODEX};
use ring_session::time::{Ms, human_span};
use ring_session::{Settings, StateDir, process, state_dir, text};
use std::sync::Arc;

/// Clocks that differ by less are right.
const CLOCK_SKEW_MS: Ms = 2_000;

/// The board at `now`: reads every source, joins what they say about a session, decides. Rows are in the order of their
/// keys; ENDED ones are left out unless the request wants them.
///
/// It never fails: a source that cannot be read is named in [`Board::sources`] and its rows are missing.
pub fn collect(request: &Request, settings: &Settings, state: &StateDir, now: Ms) -> Board {
    let mut sources = Vec::new();
    let mut findings = Vec::new();
    let (context, harvests) = read(request, settings, state, now, &mut sources, &mut findings);
    let entries = join::join(&context, &harvests);
    let mut board = Board {
        schema: 1,
        now_ms: now,
        host: text::clean(process::host_name(), 200),
        findings,
        homes: harvests.iter().flat_map(|h| h.homes.clone()).collect(),
        ..Board::default()
    };
    let mut tmux = Tmux::default();
    for entry in entries.iter().filter(|e| !may_have_a_record(e, &sources)) {
        let facts = entry.facts(&context);
        let Some(outcome) = merge::merge(&facts) else { continue };
        board.wake_ms = board.wake_ms.into_iter().chain(outcome.wake_ms).min();
        if outcome.status == "ended" && !request.all {
            board.over += 1;
            continue;
        }
        if outcome.rule == "format" {
            board.findings.push(unknown_format(entry));
        }
        board.findings.extend(future_mark(entry, &context));
        let session = shown::session(entry, outcome, &context, &mut tmux);
        board.sessions.push(session);
    }
    board.sessions.sort_by(|a, b| a.key.cmp(&b.key));
    board.counts = board::count(&board.sessions);
    for source in &mut sources {
        source.rows = board
            .sessions
            .iter()
            .filter(|s| s.sources.contains(&source.name))
            .count();
    }
    board.partial = sources.iter().any(|s| matches!(s.state.as_str(), "failed" | "slow"));
    board.sources = sources;
    board
}

/// Reads every source: first the process table and the hook rows, which tell the others where to look, then the agents'
/// own records, at once.
fn read(
    request: &Request,
    settings: &Settings,
    state: &StateDir,
    now: Ms,
    sources: &mut Vec<Source>,
    findings: &mut Vec<Finding>,
) -> (Context, Vec<Harvest>) {
    let on = |name: &str| settings.sources.is_empty() || settings.sources.iter().any(|s| s == name || s == "all");
    let off = |name: &str| Source {
        name: name.into(),
        state: "off".into(),
        ..Source::default()
    };
    let mut hooks = hook::HookRows::default();
    if on("hook") {
        let (state, settings) = (state.clone(), settings.clone());
        let (rows, mut source) = source::begin("hook", move || hook::read(&state, &settings, now)).finish();
        if rows.absent {
            source.state = "absent".into();
        }
        findings.extend(rows.skipped.iter().cloned());
        hooks = rows;
        sources.push(source);
    } else {
        sources.push(off("hook"));
    }
    let mut sessions = records::Records::default();
    if on("session") {
        let (state, settings) = (state.clone(), settings.clone());
        let (read, mut source) = source::begin("session", move || records::read(&state, now, &settings)).finish();
        if read.absent {
            source.state = "absent".into();
        }
        findings.extend(read.skipped.iter().cloned());
        sessions = read;
        sources.push(source);
    } else {
        sources.push(off("session"));
    }
    let (processes, mut process_source) = read_processes();
    if !on("process") {
        // What lives is evidence for the others; it makes no rows.
        process_source.state = "off".into();
    }
    let context = Arc::new(Context {
        now,
        settings: settings.clone(),
        all: request.all,
        home: state_dir::home(),
        local: processes.as_ref().map(aider::read).unwrap_or_default(),
        processes,
        hooks: hooks.rows,
        records: sessions.found,
    });
    type Reader = fn(&Context) -> Result<Harvest, String>;
    let readers: [(&'static str, Reader); 2] = [(CLAUDE_SOURCE, claude::read), (CODEX_SOURCE, codex::read)];
    let begun: Vec<_> = readers
        .into_iter()
        .map(|(name, reader)| {
            let context = Arc::clone(&context);
            (name, on(name).then(|| source::begin(name, move || reader(&context))))
        })
        .collect();
    let mut harvests = Vec::new();
    for (name, reading) in begun {
        let Some(reading) = reading else {
            sources.push(off(name));
            continue;
        };
        let (harvest, mut source) = reading.finish();
        if source.state == "ok" && harvest.absent {
            source.state = "absent".into();
        }
        if source.state == "ok" && harvest.slow {
            source.state = "slow".into();
            source.error = "a record changed while it was read".into();
        }
        findings.extend(harvest.skipped.iter().cloned());
        harvests.push(harvest);
        sources.push(source);
    }
    sources.push(process_source);
    // A reader that is too slow still holds its share of the context.
    let context = Arc::try_unwrap(context).unwrap_or_else(|shared| (*shared).clone());
    (context, harvests)
}

const CLAUDE_SOURCE: &str = "claude";
const CODEX_SOURCE: &str = "codex";

/// The name of the source that reads an agent's records.
pub fn source_of(agent: &str) -> &'static str {
    match agent {
        CLAUDE => CLAUDE_SOURCE,
        CODEX => CODEX_SOURCE,
        _ => "process",
    }
}

fn read_processes() -> (Option<Processes>, Source) {
    let (read, source) = source::begin("process", processes::read).finish();
    ((source.state == "ok").then_some(read), source)
}

/// A process without a record, while the source that would know the record could not be read: unknown is not empty. Nor is
/// it a row if processes alone are not to be shown.
fn may_have_a_record(entry: &Entry, sources: &[Source]) -> bool {
    let name = source_of(&entry.agent);
    let is = |source: &str, states: &[&str]| {
        sources
            .iter()
            .any(|s| s.name == source && states.contains(&s.state.as_str()))
    };
    entry.kind() == "process" && (is(name, &["failed", "slow"]) || is("process", &["off"]))
}

fn unknown_format(entry: &Entry) -> Finding {
    Finding {
        check: "format",
        agent: entry.agent.clone(),
        path: entry.path().map(|p| p.display().to_string()).unwrap_or_default(),
        text: "no turn mark that is known".into(),
    }
}

/// A mark that the clock has not reached yet.
fn future_mark(entry: &Entry, context: &Context) -> Option<Finding> {
    let of_row = entry.hook.map_or(0, |h| h.row.seen_ms);
    let ahead = entry
        .tail(context)
        .map_or(0, |t| t.ms)
        .max(of_row)
        .saturating_sub(context.now);
    (ahead > CLOCK_SKEW_MS).then(|| Finding {
        check: "clock",
        agent: entry.agent.clone(),
        path: entry.path().map(|p| p.display().to_string()).unwrap_or_default(),
        text: format!("{}: a mark lies {} in the future", entry.key, human_span(ahead)),
    })
}

impl Entry<'_> {
    fn facts<'a>(&'a self, context: &'a Context) -> Facts<'a> {
        Facts {
            now: context.now,
            settings: &context.settings,
            agent: &self.agent,
            hook: self.witness().map(|h| Hook {
                row: &h.row,
                view: &h.view,
            }),
            live: self.live.as_ref().and_then(|l| l.live.as_ref()),
            tail: self.tail(context),
            record: self.record.map(|r| &r.record),
            children: self.found.map_or(&[], |f| &f.children),
            verdict: self.verdict,
            server: self.server,
            terminal: self.terminal(context),
            next_turn_ms: self.next_turn_ms,
            background: self.is_background(),
        }
    }
}
