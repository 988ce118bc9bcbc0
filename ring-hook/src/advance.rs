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
mod place;
mod texts;
mod turn;

use crate::agent::CODEX;
use crate::children;
use crate::decide::running_tasks;
use crate::event::{Decision, Event, Group, Intent, Name, Owner};
use crate::pending;
use crate::row::{self, FOREGROUND, Host, Process, RECENT, Row, SCHEMA, Term, UNKNOWN};
use crate::status_line;
use crate::waits::{self, Put};
use ring_session::Settings;
use ring_session::events::Line;
use ring_session::text::clean;
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

/// One event on its way through the table.
pub(crate) struct Step<'a> {
    pub(crate) event: &'a Event,
    pub(crate) decision: &'a Decision,
    pub(crate) speaker: Owner,
    /// How many background tasks run by the event's list; none if it brings none.
    pub(crate) running: Option<u32>,
    pub(crate) settings: &'a Settings,
    pub(crate) now: Ms,
    pub(crate) new_id: &'a mut dyn FnMut() -> String,
}

/// Applies one event.
pub fn advance(row: Option<Row>, event: &Event, decision: &Decision, facts: &Facts, around: Around<'_>) -> Outcome {
    let tamed = texts::tamed(event, decision, around.settings);
    let (event, decision) = tamed.as_ref().map_or((event, decision), |(e, d)| (e, d));
    let mut step = Step {
        event,
        decision,
        speaker: owner(row.as_ref(), event),
        running: running_tasks(event, around.settings),
        settings: around.settings,
        now: around.now,
        new_id: around.new_id,
    };
    match row {
        None => first_event(&mut step, facts),
        Some(row) => next_event(row, &mut step, facts),
    }
}

/// The first event of a session makes a row, unless it says nothing about the session itself.
fn first_event(step: &mut Step<'_>, facts: &Facts) -> Outcome {
    let of_child = step.speaker != Owner::Foreground;
    let leaves = matches!(step.event.name, Name::SessionEnd | Name::SubagentStop);
    let makes_one = match step.decision.intent {
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
        ..Row::default()
    };
    row.turn.state = turn::WORKING.to_owned();
    let put = apply(&mut row, step, facts);
    finish(row, None, step, fingerprint::of(step), put)
}

/// What does not reach the table: rows of later programs, unknown and neutral names, duplicates, the end, late events.
fn next_event(mut row: Row, step: &mut Step<'_>, facts: &Facts) -> Outcome {
    let Step { event, decision, .. } = *step;
    if row.is_newer() {
        return unchanged(row, Effect::Newer);
    }
    if matches!(event.name.group(), Group::Unknown | Group::Neutral) && decision.intent == Intent::None {
        return seen_only(row, step.now);
    }
    let moved = place::is_another(&row, facts);
    let print = fingerprint::of(step);
    if !moved && fingerprint::is_duplicate(&row, &print, step) {
        return unchanged(row, Effect::Duplicate);
    }
    match (&step.speaker, event.name) {
        (Owner::Foreground, Name::SessionEnd) => return ended(row, decision, step.now),
        (Owner::Foreground, _) if is_late(&row, event, decision, step.now) => return seen_only(row, step.now),
        (Owner::Unknown, Name::SessionEnd) => return seen_only(row, step.now),
        _ => {}
    }
    let before = status_line::Summary::of(&row);
    if moved {
        drop_everything(&mut row);
        row.turns.clear();
        row.before = None;
    }
    let put = apply(&mut row, step, facts);
    finish(row, Some(before), step, print, put)
}

/// The table.
fn apply(row: &mut Row, step: &mut Step<'_>, facts: &Facts) -> Option<Put> {
    match step.speaker.clone() {
        Owner::Agent(id) => return children::apply(row, step, &id),
        Owner::Unknown => return children::apply_unknown(row, step),
        Owner::Foreground => {}
    }
    let Step {
        event,
        decision,
        running,
        now,
        ..
    } = *step;
    place::take(row, event, facts);
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
            put = Some(waits::ask(row, step, FOREGROUND));
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
fn finish(
    mut row: Row,
    before: Option<status_line::Summary>,
    step: &Step<'_>,
    print: String,
    put: Option<Put>,
) -> Outcome {
    let Step {
        event, decision, now, ..
    } = *step;
    pending::sweep(&mut row, now);
    children::sweep(&mut row, now);
    texts::remember(&mut row, step);
    if step.speaker == Owner::Foreground {
        row.foreground_ms = now;
        let stamp = event.agent_ms.unwrap_or(0);
        // A start is believed: it ends the reign of a stamp from a clock that was wrong.
        let was_wrong = starts_anew(event.name) && row.agent_ms > now;
        row.agent_ms = if was_wrong { stamp } else { row.agent_ms.max(stamp) };
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
    let speaker = speaker_name(&step.speaker);
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
    let line = status_line::changed(before.as_ref(), &row, decision.rule, now);
    Outcome {
        fate: Fate::Replaced,
        effect: Effect::Applied,
        ring_in_ms: ring_in(&row, step, put.as_ref()),
        row: Some(row),
        put,
        line,
    }
}

/// A new wait rings at once; a request of Codex, which has no event for its dialog, once silence has followed.
fn ring_in(row: &Row, step: &Step<'_>, put: Option<&Put>) -> Option<Ms> {
    let silence = step.settings.codex_permission_wait_ms;
    match put {
        Some(put) => put.new.then_some(0),
        None => (step.decision.remember && row.agent == CODEX && silence > 0).then_some(silence + 1_000),
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
    if !starts_anew(event.name) && event.agent_ms.is_some_and(|ms| ms < row.agent_ms) {
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

/// Events that are believed whatever was there before.
fn starts_anew(name: Name) -> bool {
    matches!(name, Name::SessionStart | Name::UserPromptSubmit)
}

fn drop_everything(row: &mut Row) {
    row.waits.clear();
    row.pending.clear();
    row.children.clear();
    row.background = 0;
    row.note.clear();
}
