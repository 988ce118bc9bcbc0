//! What readers show of a row at a moment: what silence means. Never written back (ring-hook(1), WHAT READERS SHOW).

use crate::agent::CODEX;
use crate::event::Name;
use crate::row::{self, Row, Wait};
use ring_session::Settings;
use ring_session::time::Ms;

/// Silence behind the SessionStart of a compaction: it was the last of its events.
const COMPACTED_MS: Ms = 10_000;

/// A row as readers show it.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// waiting, working, idle, ended.
    pub status: &'static str,
    /// Since when.
    pub since_ms: Ms,
    /// Open requests.
    pub waits: Vec<Wait>,
    /// For people.
    pub note: String,
    /// V1 to V4: which rule made it.
    pub rule: &'static str,
}

/// The row as it is shown at `now`.
pub fn view(row: &Row, now: Ms, settings: &Settings) -> View {
    silent_request(row, now, settings)
        .or_else(|| compacted(row, now))
        .or_else(|| only_started(row, now, settings))
        .unwrap_or_else(|| as_it_is(row))
}

fn silence(row: &Row, now: Ms) -> Ms {
    now.saturating_sub(row.event_ms).max(0)
}

/// V1. Codex has no event for the dialog that follows a permission request. Nothing at all has come since: it is asking.
fn silent_request(row: &Row, now: Ms, settings: &Settings) -> Option<View> {
    let limit = settings.codex_permission_wait_ms;
    let asks = row.agent == CODEX
        && limit > 0
        && row.waits.is_empty()
        && row.last.rule == "permission_bare"
        && row.seen_only == 0
        && silence(row, now) > limit;
    if !asks {
        return None;
    }
    let request = row
        .pending
        .iter()
        .rfind(|p| p.owner == row.last.owner)
        .or(row.pending.last())
        .cloned()
        .unwrap_or_default();
    let wait = Wait {
        id: format!("silence-{}", row.seq),
        owner: row.last.owner.clone(),
        kind: "permission".to_owned(),
        detail: request.detail,
        tool: request.tool,
        tool_use_id: request.tool_use_id,
        since_ms: row.event_ms,
        event: row.last.event.clone(),
        rule: "silence".to_owned(),
        ..Wait::default()
    };
    Some(View {
        status: "waiting",
        since_ms: row.event_ms,
        waits: vec![wait],
        note: row.note.clone(),
        rule: "V1",
    })
}

fn is_start(row: &Row) -> bool {
    row.last.event == Name::SessionStart.as_str()
}

/// V2. The SessionStart of a compaction came last, so nothing put the state back.
fn compacted(row: &Row, now: Ms) -> Option<View> {
    let before = row.before.as_ref()?;
    if !is_start(row) || row.last.source != "compact" || silence(row, now) <= COMPACTED_MS {
        return None;
    }
    let status = row::status(&before.waits, &before.turn, before.background);
    let since = match status {
        "waiting" => row::shown(&before.waits).map_or(0, |w| w.since_ms),
        "idle" => before.turn.ended_ms,
        _ => before.turn.started_ms,
    };
    Some(View {
        status,
        since_ms: if since > 0 { since } else { before.at_ms },
        waits: before.waits.clone(),
        note: String::new(),
        rule: "V2",
    })
}

/// V3. A session was opened and nothing asked. Without a terminal it was a probe, unless it still shows signs of life.
fn only_started(row: &Row, now: Ms, settings: &Settings) -> Option<View> {
    if !is_start(row) || silence(row, now) <= settings.start_only_ms {
        return None;
    }
    let seen = |status, note: &str| View {
        status,
        since_ms: row.event_ms,
        waits: Vec::new(),
        note: note.to_owned(),
        rule: "V3",
    };
    if !row.term.tty.is_empty() || !row.term.tmux_pane.is_empty() {
        return Some(seen("idle", "no prompt yet"));
    }
    (now.saturating_sub(row.seen_ms) > settings.start_only_ms).then(|| seen("ended", ""))
}

/// V4.
fn as_it_is(row: &Row) -> View {
    View {
        status: row::status(&row.waits, &row.turn, row.background),
        since_ms: row.since_ms,
        waits: row.waits.clone(),
        note: row.note.clone(),
        rule: "V4",
    }
}
