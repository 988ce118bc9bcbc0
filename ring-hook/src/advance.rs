//! How a row advances: one row (or none), one event, what it means, what the edge found out -> the next row.
//!
//! # How it works
//!
//! Hooks of one session run in parallel, are killed, come late, come twice, and some never come: nobody tells that a
//! person pressed Esc. So a row is not a state machine that trusts its input. It is a summary that each event may
//! overwrite as far as the event knows better, and no further. Who knows what:
//!
//! * A session has *owners*: the foreground and its children. An event speaks for its owner alone. That is why waits are
//!   kept one an owner, why a tool of a child never ends the host's question, and why the status is not stored state but
//!   computed: somebody waits -> waiting; the turn or a background task runs -> working; else idle.
//! * A *turn* is ended once. Its id stays in `turns` with the time and the event that closed it, because what belongs to
//!   it may come afterwards: the end of a tool seconds later, a permission request 10 ms later (measured with
//!   claude-code 2.1.332), a second Stop. Late *ends* never wake a closed turn. Late *starts* do, once 2 s have passed:
//!   a hook of somebody else may have sent the agent on. An interrupted turn stays closed to both.
//! * A *start* (SessionStart, UserPromptSubmit) is believed whatever was there before. It is the way out of every state
//!   that a lost event has left behind, so no wait can stay for ever.
//! * A *duplicate* (the same hook in two settings files) must not ring twice. It is told by its fingerprint within 2 s;
//!   a call's id makes that certain, without one only the newest event of the owner counts, since the same question may
//!   be asked again after another event.
//! * *Compaction* looks like a new session from outside: between PreCompact and PostCompact a SessionStart drops what
//!   waits. So PreCompact saves the state and PostCompact puts it back.
//!
//! What if the clock is set back? Order is `seq`, never time; an age below 0 is 0, so nothing expires early. What if two
//! programs of different versions write? Unknown members travel along; a newer schema is left alone.
//!
//! Limits: a child that dies without SubagentStop keeps its wait until the host's next prompt or its next list of tasks;
//! readers, who also see the transcript and the process, know better.

mod compaction;
mod fingerprint;
mod turn;

use crate::children;
use crate::decide::running_tasks;
use crate::event::{Decision, Event, Group, Intent, Name, Owner};
use crate::pending;
use crate::row::{self, FOREGROUND, Host, Process, RECENT, Row, SCHEMA, Term, UNKNOWN};
use crate::status_line;
use crate::waits::{self, Put};
use ring_session::Settings;
use ring_session::events::Line;
use ring_session::text::{clean, first_line};
use ring_session::time::Ms;

/// What the edge found out about where the hook runs. Empty: not looked for, or not found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The agent's process, if it was looked for and found.
    pub process: Option<Process>,
    /// This machine and boot, if the process was looked for.
    pub host: Option<Host>,
    /// Terminal and pane.
    pub term: Term,
}

/// What becomes of the row's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing is written.
    Unchanged,
    /// The new row takes its place.
    Replaced,
    /// The file goes.
    Deleted,
}

/// How far the event counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It was applied: `seq` has grown.
    Applied,
    /// It is a sign of life and nothing else.
    SeenOnly,
    /// The same event has just been applied.
    Duplicate,
    /// There is no row, and the event makes none.
    NoRow,
    /// The row is of a later program.
    Newer,
}

/// What an event does to a row, and what is to be done about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What becomes of the file.
    pub fate: Fate,
    /// How far the event counted.
    pub effect: Effect,
    /// The row after the event; before its deletion, if it is deleted.
    pub row: Option<Row>,
    /// The wait that the event put or renewed.
    pub put: Option<Put>,
    /// The line for events.jsonl, if the status or the set of waits changed.
    pub line: Option<Line>,
    /// A ring is due in this many milliseconds: 0 for a new wait, more for a request that rings only if silence follows.
    pub ring_in_ms: Option<Ms>,
}

/// What the pure function needs beside row and event.
pub struct Around<'a> {
    /// Settings in force.
    pub settings: &'a Settings,
    /// Now.
    pub now: Ms,
    /// Makes the id of a new wait: a UUID of version 7.
    pub new_id: &'a mut dyn FnMut() -> String,
}

/// Within this span an equal event is a duplicate, and a start of a closed turn is late.
const LATE_MS: Ms = 2_000;

/// Who speaks, as far as only the row knows: a session that was started with an agent profile sends its type with
/// every event and no id. To be asked before deciding, because some rules hold for the foreground only.
pub fn owner(row: Option<&Row>, event: &Event) -> Owner {
    let is_main = row.is_some_and(|r| !event.agent_type.is_empty() && r.main_agent_type == event.agent_type);
    match &event.owner {
        Owner::Unknown if is_main => Owner::Foreground,
        other => other.clone(),
    }
}

/// Applies one event.
pub fn advance(row: Option<Row>, event: &Event, decision: &Decision, facts: &Facts, around: Around<'_>) -> Outcome {
    let tamed = tamed(event, decision, around.settings);
    let (event, decision) = tamed.as_ref().map_or((event, decision), |(e, d)| (e, d));
    let speaker = owner(row.as_ref(), event);
    let Some(old) = row else {
        return first_event(event, decision, &speaker, facts, around);
    };
    let mut event = event;
    let turn_start;
    if event.continuation && event.name == Name::UserPromptSubmit && old.turn.state == turn::WORKING {
        turn_start = Event {
            name: Name::TurnStart,
            ..event.clone()
        };
        event = &turn_start;
    }
    if old.is_newer() {
        return unchanged(old, Effect::Newer);
    }
    if matches!(event.name.group(), Group::Unknown | Group::Neutral) && decision.intent == Intent::None {
        return seen_only(old, around.now);
    }
    let moved = facts.process.as_ref().is_some_and(|found| is_other(&old, found));
    let print = fingerprint::of(event, decision, &speaker);
    if !moved && fingerprint::is_duplicate(&old, &print, event, &speaker, around.now) {
        return unchanged(old, Effect::Duplicate);
    }
    let of_child = match &speaker {
        Owner::Foreground if event.name == Name::SessionEnd => return ended(old, decision, around.now),
        Owner::Foreground if is_late(&old, event, decision, around.now) => return seen_only(old, around.now),
        Owner::Foreground => false,
        Owner::Unknown if event.name == Name::SessionEnd => return seen_only(old, around.now),
        Owner::Agent(_) | Owner::Unknown => true,
    };
    let before = status_line::Summary::of(&old);
    let mut row = old;
    if moved {
        drop_everything(&mut row);
        row.turns.clear();
        row.before = None;
    }
    let put = apply(
        &mut row,
        event,
        decision,
        &speaker,
        facts,
        around.now,
        around.settings,
        around.new_id,
    );
    finish(
        row,
        Some(before),
        event,
        decision,
        of_child,
        &speaker,
        print,
        put,
        around.now,
        around.settings,
    )
}

/// The first event of a session makes a row, unless it says nothing about the session itself.
fn first_event(event: &Event, decision: &Decision, speaker: &Owner, facts: &Facts, around: Around<'_>) -> Outcome {
    let of_child = *speaker != Owner::Foreground;
    let leaves = matches!(event.name, Name::SessionEnd | Name::SubagentStop);
    let makes_one = match decision.intent {
        Intent::None | Intent::Ended => false,
        Intent::Idle => !of_child,
        Intent::Waiting | Intent::Working => !(of_child && leaves),
    };
    if !makes_one {
        return Outcome {
            fate: Fate::Unchanged,
            effect: Effect::NoRow,
            row: None,
            put: None,
            line: None,
            ring_in_ms: None,
        };
    }
    let mut row = Row {
        host: facts.host.clone().unwrap_or_default(),
        created_ms: around.now,
        ..Row::default()
    };
    row.turn.state = turn::WORKING.to_owned();
    let print = fingerprint::of(event, decision, speaker);
    let put = apply(
        &mut row,
        event,
        decision,
        speaker,
        facts,
        around.now,
        around.settings,
        around.new_id,
    );
    finish(
        row,
        None,
        event,
        decision,
        of_child,
        speaker,
        print,
        put,
        around.now,
        around.settings,
    )
}

/// The table. Rows that need no row of theirs (a newer schema, unknown names, duplicates, late events, the end) were
/// dealt with before.
#[allow(clippy::too_many_arguments, reason = "one table, read in one place")]
fn apply(
    row: &mut Row,
    event: &Event,
    decision: &Decision,
    speaker: &Owner,
    facts: &Facts,
    now: Ms,
    settings: &Settings,
    new_id: &mut dyn FnMut() -> String,
) -> Option<Put> {
    let running = running_tasks(event, settings);
    match speaker {
        Owner::Agent(id) => return children::apply(row, event, decision, id, now, running, new_id),
        Owner::Unknown => return children::apply_unknown(row, event, decision, now, running, new_id),
        Owner::Foreground => {}
    }
    take_place(row, event, facts);
    let goes_on = turn::goes_on(row, event);
    turn::adopt(row, event);
    compaction::forget(row, event);
    pending::settle(row, event, FOREGROUND, false);
    let ends_turn = matches!(event.name, Name::Stop | Name::StopFailure | Name::Interrupt);
    let mut put = None;
    match (event.name, decision.intent) {
        (Name::SessionStart, _) => {
            drop_everything(row);
            turn::start(row, now);
        }
        (Name::UserPromptSubmit, _) => {
            row.waits.clear();
            row.note.clear();
            turn::prompt(row, event, now);
        }
        (Name::PreCompact, Intent::None) => compaction::save(row, now),
        (Name::PostCompact, Intent::None) => compaction::restore(row),
        (Name::ModelRequestFailed, Intent::None) => row.note = turn::error_note(&event.error),
        (_, Intent::Waiting) => {
            if ends_turn {
                turn::end(row, event, now, running);
            } else {
                turn::reopen(row, event);
            }
            put = Some(waits::ask(row, event, decision, FOREGROUND, now, new_id));
        }
        (_, Intent::Working) => {
            if !goes_on {
                waits::drop_of(row, FOREGROUND);
            }
            if ends_turn {
                turn::end(row, event, now, running);
            } else {
                turn::work(row, event, now);
                row.note.clear();
            }
            if decision.remember {
                pending::remember(row, event, decision, FOREGROUND, now);
            }
        }
        (_, Intent::Idle) if decision.soft => {
            let answered = decision.rule == "notify_answered"
                && (waits::drop_answered(row, FOREGROUND) || row.last.event == Name::ElicitationResult.as_str());
            let waits = row.waits.iter().any(|w| w.owner == FOREGROUND);
            if !answered && !waits && row.background == 0 {
                turn::rest(row, now);
            }
        }
        (_, Intent::Idle) => {
            waits::drop_of(row, FOREGROUND);
            if ends_turn {
                turn::end(row, event, now, running);
            } else {
                turn::rest(row, now);
            }
            if decision.rule == "tool_interrupted" {
                turn::interrupted(row);
            }
        }
        (_, Intent::None | Intent::Ended) => {}
    }
    put
}

/// What every applied event leaves behind, and what follows from the change.
#[allow(clippy::too_many_arguments, reason = "the second half of one step")]
fn finish(
    mut row: Row,
    before: Option<status_line::Summary>,
    event: &Event,
    decision: &Decision,
    of_child: bool,
    speaker: &Owner,
    print: String,
    put: Option<Put>,
    now: Ms,
    settings: &Settings,
) -> Outcome {
    pending::sweep(&mut row, now);
    children::sweep(&mut row, now);
    if !event.tool.summary.is_empty() && !is_less_of_the_same(&row.last_action, event) {
        row.last_action.clone_from(&event.tool.summary);
    }
    if !of_child {
        remember_texts(&mut row, event, settings);
        row.foreground_ms = now;
        row.agent_ms = row.agent_ms.max(event.agent_ms.unwrap_or(0));
    }
    let status = row::status(&row.waits, &row.turn, row.background);
    if row.status != status {
        status.clone_into(&mut row.status);
        row.since_ms = now;
    }
    identify(&mut row, event, now);
    row.seq = row.seq.saturating_add(1);
    row.event_ms = now;
    row.seen_ms = row.seen_ms.max(now);
    row.seen_only = 0;
    let speaker = speaker_name(speaker);
    row.last.event = event.name.as_str().to_owned();
    row.last.native = clean(&event.native, 80);
    row.last.rule = decision.rule.to_owned();
    row.last.source = if event.name == Name::SessionStart {
        clean(&event.source, 40)
    } else {
        String::new()
    };
    row.last.owner.clone_from(&speaker);
    row.recent.push((print, now, speaker));
    if row.recent.len() > RECENT {
        row.recent.remove(0);
    }
    let ring_in_ms = match &put {
        Some(put) if put.new => Some(0),
        None if decision.remember && row.agent == crate::agent::CODEX && settings.codex_permission_wait_ms > 0 => {
            Some(settings.codex_permission_wait_ms + 1_000)
        }
        _ => None,
    };
    let line = status_line::changed(before.as_ref(), &row, decision.rule, now);
    Outcome {
        fate: Fate::Replaced,
        effect: Effect::Applied,
        row: Some(row),
        put,
        line,
        ring_in_ms,
    }
}

/// What names the row; a file that lost it, or a time, gets it back.
fn identify(row: &mut Row, event: &Event, now: Ms) {
    row.schema = SCHEMA;
    row.key.clone_from(&event.key);
    row.agent.clone_from(&event.agent);
    row.session_id.clone_from(&event.session_id);
    for time in [&mut row.since_ms, &mut row.created_ms] {
        if *time <= 0 {
            *time = now;
        }
    }
}

fn speaker_name(speaker: &Owner) -> String {
    match speaker {
        Owner::Foreground => FOREGROUND.to_owned(),
        Owner::Unknown => UNKNOWN.to_owned(),
        Owner::Agent(id) => format!("agent:{id}"),
    }
}

fn unchanged(row: Row, effect: Effect) -> Outcome {
    Outcome {
        fate: Fate::Unchanged,
        effect,
        row: Some(row),
        put: None,
        line: None,
        ring_in_ms: None,
    }
}

fn seen_only(mut row: Row, now: Ms) -> Outcome {
    row.seen_ms = row.seen_ms.max(now);
    row.seen_only = row.seen_only.saturating_add(1);
    Outcome {
        fate: Fate::Replaced,
        ..unchanged(row, Effect::SeenOnly)
    }
}

fn ended(row: Row, decision: &Decision, now: Ms) -> Outcome {
    let line = status_line::ended(&row, decision.rule, now);
    Outcome {
        fate: Fate::Deleted,
        line: Some(line),
        ..unchanged(row, Effect::Applied)
    }
}

/// Events of the foreground that come too late to say anything.
fn is_late(row: &Row, event: &Event, decision: &Decision, now: Ms) -> bool {
    let starts_session = matches!(event.name, Name::SessionStart | Name::UserPromptSubmit);
    if !starts_session && event.agent_ms.is_some_and(|ms| ms < row.agent_ms) {
        return true;
    }
    let Some((_, closed_ms, closed_by)) = row.turns.iter().find(|t| t.0 == event.turn_id && !t.0.is_empty()) else {
        return false;
    };
    match event.name {
        // An old turn cannot end a new one.
        Name::Stop | Name::StopFailure | Name::Interrupt => event.turn_id != row.turn.id,
        _ if *closed_ms == 0 => false,
        name => {
            let interrupted = closed_by == Name::Interrupt.as_str();
            let just_closed = now.saturating_sub(*closed_ms) <= LATE_MS;
            let works = decision.intent == Intent::Working;
            match name {
                Name::PostToolUse | Name::PostToolUseFailure | Name::PostToolBatch | Name::PermissionDenied => works,
                Name::PermissionRequest if just_closed && !was_explicit(decision) => true,
                Name::PreToolUse | Name::PermissionRequest | Name::TurnStart | Name::UserPromptExpansion => {
                    works && (interrupted || just_closed)
                }
                _ => false,
            }
        }
    }
}

/// The payload itself said what the event means.
fn was_explicit(decision: &Decision) -> bool {
    matches!(decision.rule, "flag_true" | "flag_false" | "waiting_for")
}

fn is_other(row: &Row, found: &Process) -> bool {
    row.process.as_ref().is_some_and(|stored| !stored.is(found))
}

fn drop_everything(row: &mut Row) {
    row.waits.clear();
    row.pending.clear();
    row.children.clear();
    row.background = 0;
    row.note.clear();
}

/// Where the foreground runs: process, host, terminal. A lookup that found nothing changes nothing.
fn take_place(row: &mut Row, event: &Event, facts: &Facts) {
    if event.name == Name::SessionStart {
        row.term = Term::default();
    }
    if let Some(found) = &facts.process {
        match &mut row.process {
            Some(stored) if stored.is(found) => {
                stored.name.clone_from(&found.name);
                stored.server = found.server;
            }
            stored => *stored = Some(found.clone()),
        }
    }
    if let Some(host) = &facts.host {
        row.host.name.clone_from(&host.name);
        row.host.boot.clone_from(&host.boot);
        row.host.pid_ns = host.pid_ns;
    }
    if !facts.term.tty.is_empty() {
        row.term.tty.clone_from(&facts.term.tty);
    }
    // The environment of a server's hooks is that of the client that started it first.
    let server = row.process.as_ref().is_some_and(|p| p.server);
    if !server && !facts.term.tmux_pane.is_empty() {
        row.term.tmux_pane.clone_from(&facts.term.tmux_pane);
        row.term.tmux_socket.clone_from(&facts.term.tmux_socket);
    }
}

/// Texts that the foreground's events bring along. No event blanks one.
fn remember_texts(row: &mut Row, event: &Event, settings: &Settings) {
    let keep = |field: &mut String, value: &str, limit: usize| {
        if !value.is_empty() {
            *field = clean(value, limit);
        }
    };
    if !event.cwd.is_empty() && event.cwd.len() <= PATH_LIMIT {
        row.cwd.clone_from(&event.cwd);
        if row.origin_cwd.is_empty() {
            row.origin_cwd.clone_from(&event.cwd);
        }
    }
    if !event.transcript_path.is_empty() && event.transcript_path.len() <= PATH_LIMIT {
        row.transcript_path.clone_from(&event.transcript_path);
    }
    keep(&mut row.model, &event.model, 80);
    keep(&mut row.permission_mode, &event.permission_mode, 40);
    if event.todo.is_some() {
        row.todo = event.todo;
    }
    if matches!(event.name, Name::SessionStart | Name::UserPromptSubmit) {
        keep(&mut row.main_agent_type, &event.agent_type, 80);
    }
    if !settings.store_details {
        row.title.clear();
    } else if !event.title.is_empty() && event.name != Name::Notification {
        // The title of a notification is the notification's.
        row.title = clean(&event.title, 200);
    } else if row.title.is_empty() && event.name == Name::UserPromptSubmit {
        row.title = clean(first_line(event.text.trim_start()), 200);
    }
}

/// Paths, in bytes.
const PATH_LIMIT: usize = 4096;

/// The end of a call that names only the tool says less than its start did.
fn is_less_of_the_same(known: &str, event: &Event) -> bool {
    !event.tool.has_text
        && known
            .strip_prefix(event.tool.name.as_str())
            .is_some_and(|rest| rest.starts_with(": "))
}

/// Ids, in bytes. An agent's are far shorter; a longer one is cut, and still told from others.
const ID_LIMIT: usize = 200;

/// The event as it may be stored: ids within their limits, and without `store_details` only the names of tools. None: it
/// is so already.
fn tamed(event: &Event, decision: &Decision, settings: &Settings) -> Option<(Event, Decision)> {
    let child = match &event.owner {
        Owner::Agent(id) => id.len(),
        _ => 0,
    };
    let longest = event.turn_id.len().max(event.tool.use_id.len()).max(child);
    if settings.store_details && longest <= ID_LIMIT && event.agent_type.len() <= 80 {
        return None;
    }
    let (mut event, mut decision) = (event.clone(), decision.clone());
    cut(&mut event.turn_id, ID_LIMIT);
    cut(&mut event.tool.use_id, ID_LIMIT);
    cut(&mut event.agent_type, 80);
    if let Owner::Agent(id) = &mut event.owner {
        cut(id, ID_LIMIT);
    }
    if !settings.store_details {
        event.tool.summary.clone_from(&event.tool.name);
        event.title.clear();
        decision.detail.clone_from(&event.tool.name);
    }
    Some((event, decision))
}

fn cut(id: &mut String, limit: usize) {
    if id.len() > limit {
        id.truncate(id.floor_char_boundary(limit));
    }
}
