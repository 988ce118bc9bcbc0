//! PreCompact, PostCompact, and the SessionStart between them that means nothing.

use crate::children;
use crate::event::{Event, Name};
use crate::row::{Before, Row};
use ring_session::time::Ms;

const NOTE: &str = "compacting";

/// Any other event of the foreground shows that the compaction is over, so what was saved is old.
pub(super) fn forget(row: &mut Row, event: &Event) {
    let part_of_it = match event.name {
        Name::PreCompact | Name::PostCompact => true,
        Name::SessionStart => event.source == "compact",
        _ => false,
    };
    if !part_of_it {
        row.before = None;
    }
}

pub(super) fn save(row: &mut Row, now: Ms) {
    row.before = Some(Before {
        turn: row.turn.clone(),
        waits: row.waits.clone(),
        background: row.background,
        at_ms: now,
        ..Before::default()
    });
    row.note = NOTE.to_owned();
}

/// Puts the state back. What was saved stays: SessionStart may come after it.
pub(super) fn restore(row: &mut Row) {
    row.note.clear();
    if let Some(before) = &row.before {
        row.turn = before.turn.clone();
        row.waits = before.waits.clone();
        let count = before.background;
        children::set_background(row, count);
    }
}
