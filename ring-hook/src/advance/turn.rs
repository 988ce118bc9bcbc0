//! The foreground's turn, and the turns that were.

use crate::children;
use crate::event::{Event, Name};
use crate::fold::same;
use crate::row::{RECENT, Row, Turn, UNKNOWN};
use crate::waits;
use ring_session::text::clean;
use ring_session::time::Ms;

pub(super) const WORKING: &str = "working";
const IDLE: &str = "idle";

/// A turn id that was not seen before is the current turn; what the old one was does not matter any more.
pub(super) fn adopt(row: &mut Row, event: &Event) {
    if event.turn_id.is_empty() || row.turns.iter().any(|t| t.0 == event.turn_id) {
        return;
    }
    row.turns.push((event.turn_id.clone(), 0, String::new()));
    if row.turns.len() > RECENT {
        row.turns.remove(0);
    }
    row.turn = Turn {
        id: event.turn_id.clone(),
        state: std::mem::take(&mut row.turn.state),
        ..Turn::default()
    };
}

/// A TurnStart inside the turn that runs: no news, and no end of what waits. Codex 0.171 reports the end of a request to
/// the model 50 ms behind the question that the request brought.
pub(super) fn goes_on(row: &Row, event: &Event) -> bool {
    matches!(event.name, Name::TurnStart | Name::UserPromptExpansion)
        && !event.turn_id.is_empty()
        && event.turn_id == row.turn.id
        && row.turn.state == WORKING
}

fn run(row: &mut Row) {
    WORKING.clone_into(&mut row.turn.state);
    row.turn.ended_ms = 0;
    row.turn.outcome.clear();
    row.turn.error.clear();
}

/// SessionStart: it works from now on.
pub(super) fn start(row: &mut Row, now: Ms) {
    run(row);
    row.turn.started_ms = now;
}

/// UserPromptSubmit: a new turn, or more for the one that is there, whose clock goes on.
pub(super) fn prompt(row: &mut Row, event: &Event, now: Ms) {
    let same_turn = !event.turn_id.is_empty() && event.turn_id == row.turn.id;
    if !same_turn || row.turn.started_ms == 0 {
        row.turn.started_ms = now;
    }
    row.turn.id.clone_from(&event.turn_id);
    open(row, &event.turn_id);
    run(row);
}

/// WORKING: the turn runs, and is open again if it was closed.
pub(super) fn work(row: &mut Row, event: &Event, now: Ms) {
    let starts = matches!(event.name, Name::TurnStart | Name::UserPromptExpansion);
    let rested = row.turn.state != WORKING;
    reopen(row, event);
    if starts && (rested || row.turn.started_ms == 0) {
        row.turn.started_ms = now;
    }
    if rested {
        run(row);
    } else {
        WORKING.clone_into(&mut row.turn.state);
    }
}

/// What waits belongs to a turn that is not over, whatever closed it. The current turn stays if it runs.
pub(super) fn reopen(row: &mut Row, event: &Event) {
    if open(row, &event.turn_id) && row.turn.state != WORKING {
        row.turn.id.clone_from(&event.turn_id);
    }
}

/// Marks a turn as open. Returns whether it was known as closed.
fn open(row: &mut Row, id: &str) -> bool {
    match row.turns.iter_mut().find(|t| t.0 == id && t.1 != 0) {
        Some(turn) => {
            turn.1 = 0;
            turn.2.clear();
            true
        }
        None => false,
    }
}

/// IDLE without an end of the turn.
pub(super) fn rest(row: &mut Row, now: Ms) {
    if row.turn.state != IDLE {
        IDLE.clone_into(&mut row.turn.state);
        row.turn.ended_ms = now;
    }
}

/// Stop, StopFailure, Interrupt: the turn is closed, and with it what only the host can answer for.
pub(super) fn end(row: &mut Row, event: &Event, now: Ms, running: Option<u32>) {
    IDLE.clone_into(&mut row.turn.state);
    row.turn.ended_ms = now;
    row.turn.error.clear();
    row.note.clear();
    waits::drop_of(row, UNKNOWN);
    match event.name {
        Name::Interrupt => interrupted(row),
        Name::StopFailure if same(&event.error, "userinterrupted") => interrupted(row),
        Name::StopFailure => {
            row.turn.outcome = "failed".to_owned();
            row.turn.error = clean(&event.error, 80);
            row.note = error_note(&event.error);
        }
        _ => row.turn.outcome = "done".to_owned(),
    }
    let id = if event.turn_id.is_empty() {
        row.turn.id.clone()
    } else {
        event.turn_id.clone()
    };
    if let Some(turn) = row.turns.iter_mut().find(|t| t.0 == id && !id.is_empty()) {
        turn.1 = now;
        event.name.as_str().clone_into(&mut turn.2);
    }
    if let Some(list) = &event.background {
        children::keep_only_running(row, list);
    }
    row.background = running.unwrap_or(row.background);
    if row.note.is_empty() {
        let count = row.background;
        children::set_background(row, count);
    }
}

/// The person stopped it.
pub(super) fn interrupted(row: &mut Row) {
    row.turn.outcome = "interrupted".to_owned();
    row.note = "interrupted".to_owned();
}

pub(super) fn error_note(error: &str) -> String {
    if error.is_empty() {
        "error".to_owned()
    } else {
        clean(&format!("error: {error}"), 80)
    }
}
