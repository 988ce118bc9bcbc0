//! Bare permission requests, remembered for the prompt that may follow: the notification of the prompt does not say
//! what is asked (ring-hook(1), PENDING).

use crate::event::{Decision, Event, Name};
use crate::row::{PENDING, Pending, Row};
use ring_session::time::Ms;

/// How long a request is kept.
pub const KEPT_MS: Ms = 120_000;

/// Remembers a bare request. It takes the place of one of the same owner and tool use id; none counts as an id.
pub fn remember(row: &mut Row, event: &Event, decision: &Decision, owner: &str, now: Ms) {
    row.pending
        .retain(|p| p.owner != owner || p.tool_use_id != event.tool.use_id);
    row.pending.push(Pending {
        owner: owner.to_owned(),
        tool: event.tool.name.clone(),
        tool_use_id: event.tool.use_id.clone(),
        kind: decision.kind.to_owned(),
        detail: decision.detail.clone(),
        at_ms: now,
        ..Pending::default()
    });
    if row.pending.len() > PENDING {
        row.pending.remove(0);
    }
}

/// A clock that was set back lets nothing expire early.
fn age(p: &Pending, now: Ms) -> Ms {
    now.saturating_sub(p.at_ms).max(0)
}

/// Indices of the requests that a prompt may repeat. `owner`: none, if the prompt names none.
pub fn fitting(row: &Row, owner: Option<&str>, tool_use_id: &str, now: Ms) -> Vec<usize> {
    row.pending
        .iter()
        .enumerate()
        .filter(|(_, p)| age(p, now) <= KEPT_MS)
        .filter(|(_, p)| owner.is_none_or(|o| p.owner == o))
        .filter(|(_, p)| tool_use_id.is_empty() || p.tool_use_id == tool_use_id)
        .map(|(at, _)| at)
        .collect()
}

/// Drops the requests that this event of `owner` answers or outlives.
pub fn settle(row: &mut Row, event: &Event, owner: &str, of_child: bool) {
    match event.name {
        Name::PostToolUse | Name::PostToolUseFailure | Name::PermissionDenied | Name::PermissionAnswered => {
            answered(row, event, owner);
        }
        Name::UserPromptSubmit | Name::Stop | Name::StopFailure | Name::Interrupt => drop_of(row, owner),
        Name::SubagentStop | Name::SessionEnd if of_child => drop_of(row, owner),
        _ => {}
    }
}

fn answered(row: &mut Row, event: &Event, owner: &str) {
    let tool = &event.tool;
    if tool.use_id.is_empty() {
        // It does not say which: only a single one can be meant.
        if row.pending.iter().filter(|p| p.owner == owner).count() == 1 {
            drop_of(row, owner);
        }
        return;
    }
    row.pending.retain(|p| {
        let same_call = p.tool_use_id == tool.use_id
            || (p.tool_use_id.is_empty() && p.tool == tool.name && (p.detail == tool.summary || p.detail == tool.name));
        p.owner != owner || !same_call
    });
}

/// Drops all of this owner.
pub fn drop_of(row: &mut Row, owner: &str) {
    row.pending.retain(|p| p.owner != owner);
}

/// Drops what is too old.
pub fn sweep(row: &mut Row, now: Ms) {
    row.pending.retain(|p| age(p, now) <= KEPT_MS);
}
