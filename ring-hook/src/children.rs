//! Events of child agents, and background tasks: they touch the child, never the host's turn (ring-hook(1), CHILDREN).

use crate::advance::Step;
use crate::event::{Intent, Name, Task};
use crate::fold::same;
use crate::pending;
use crate::row::{CHILDREN, Child, Row, UNKNOWN};
use crate::waits::{self, Put};
use ring_session::time::Ms;

/// A child that was not seen for this long, and does not wait, is forgotten.
pub const KEPT_MS: Ms = 30 * 60_000;

/// The event of a child with an id.
pub(crate) fn apply(row: &mut Row, step: &mut Step<'_>, id: &str) -> Option<Put> {
    let Step {
        event,
        decision,
        running,
        now,
        ..
    } = *step;
    let owner = format!("agent:{id}");
    pending::settle(row, event, &owner, true);
    if matches!(event.name, Name::SubagentStop | Name::SessionEnd) {
        let known = row.children.iter().any(|c| c.id == id);
        row.children.retain(|c| c.id != id);
        waits::drop_of(row, &owner);
        match running {
            // The list of Claude still counts this child; the turn of its notification brings the next one.
            Some(count) => set_background(row, count),
            None if known => {
                let rest = row.background.saturating_sub(1);
                set_background(row, rest);
            }
            None => {}
        }
        return None;
    }
    see(row, id, &event.agent_type, now);
    match decision.intent {
        Intent::Waiting => return Some(waits::ask(row, step, &owner)),
        Intent::Idle if decision.rule == "notify_answered" => {
            waits::drop_answered(row, &owner);
        }
        Intent::Working | Intent::Idle if !decision.soft => {
            waits::drop_of(row, &owner);
            if decision.remember {
                pending::remember(row, event, decision, &owner, now);
            }
        }
        _ => {}
    }
    None
}

/// The event of a child that gives a type and no id. All of them share one wait.
pub(crate) fn apply_unknown(row: &mut Row, step: &mut Step<'_>) -> Option<Put> {
    let Step {
        event,
        decision,
        running,
        now,
        ..
    } = *step;
    let mine = row
        .waits
        .iter()
        .any(|w| w.owner == UNKNOWN && w.agent_type == event.agent_type);
    pending::settle(row, event, UNKNOWN, true);
    match decision.intent {
        Intent::Waiting => return Some(waits::ask(row, step, UNKNOWN)),
        Intent::Idle if decision.rule == "notify_answered" && mine => {
            waits::drop_answered(row, UNKNOWN);
        }
        Intent::Working | Intent::Idle if !decision.soft => {
            if mine {
                waits::drop_of(row, UNKNOWN);
            }
            if decision.remember {
                pending::remember(row, event, decision, UNKNOWN, now);
            }
        }
        Intent::None if event.name == Name::SubagentStop => {
            if mine {
                waits::drop_of(row, UNKNOWN);
            }
            if let Some(count) = running {
                set_background(row, count);
            }
        }
        _ => {}
    }
    None
}

fn see(row: &mut Row, id: &str, kind: &str, now: Ms) {
    if let Some(child) = row.children.iter_mut().find(|c| c.id == id) {
        child.seen_ms = child.seen_ms.max(now);
        if !kind.is_empty() {
            kind.clone_into(&mut child.kind);
        }
        return;
    }
    row.children.push(Child {
        id: id.to_owned(),
        kind: kind.to_owned(),
        since_ms: now,
        seen_ms: now,
        ..Child::default()
    });
}

fn waits_now(row: &Row, child: &Child) -> bool {
    row.waits
        .iter()
        .any(|w| w.owner.strip_prefix("agent:") == Some(&child.id))
}

/// Forgets children that are long silent, and the longest silent ones over the limit.
pub fn sweep(row: &mut Row, now: Ms) {
    let mut children = std::mem::take(&mut row.children);
    children.retain(|c| now.saturating_sub(c.seen_ms) <= KEPT_MS || waits_now(row, c));
    while children.len() > CHILDREN {
        let victim = (0..children.len())
            .min_by_key(|at| (waits_now(row, &children[*at]), children[*at].seen_ms))
            .unwrap_or(0);
        children.remove(victim);
    }
    row.children = children;
}

/// The host's own list of tasks at the end of its turn: who does not run in it is over, whether it said so or not.
pub fn keep_only_running(row: &mut Row, list: &[Task]) {
    let runs = |id: &str| list.iter().any(|t| same(&t.status, "running") && t.id == id);
    row.children.retain(|c| runs(&c.id));
    let owner_runs = |owner: &str| owner.strip_prefix("agent:").is_none_or(runs);
    row.waits.retain(|w| owner_runs(&w.owner));
    row.pending.retain(|p| owner_runs(&p.owner));
}

/// Sets the number of background tasks, and the note that tells of them.
pub fn set_background(row: &mut Row, count: u32) {
    row.background = count;
    if count > 0 {
        row.note = format!("background {count}");
    } else if row.note.starts_with("background ") {
        row.note.clear();
    }
}
