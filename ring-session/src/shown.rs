//! What is shown of a record: states that are computed and never stored (ring-session(1), STATES).

use crate::members::Object;
use crate::record::{Mode, PermissionMode, Record};
use crate::store::Seen;
use crate::work::{Here, Work};
use serde_json::Value;

/// The computed part of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// waiting_permission, running, idle.
    pub status: &'static str,
    /// inactive, awaiting_approval, planning.
    pub planning_state: &'static str,
    /// plan, goal; empty in agent mode.
    pub planning_kind: &'static str,
    /// waiting, working, idle.
    pub board: &'static str,
    /// What is in the way of a beginning: turn, proposal, execution, queue.
    pub busy: Vec<&'static str>,
    /// How the last turn ended; empty if none has.
    pub last: &'static str,
}

/// Computes what is shown.
pub fn shown(work: &Work) -> Shown {
    let record = &work.record;
    let live = record.turn.is_some();
    let status = match (live, work.has_open_request()) {
        (true, true) => "waiting_permission",
        (true, false) => "running",
        (false, _) => "idle",
    };
    let proposal = work.open_proposal();
    let planning_state = match (proposal, record.mode) {
        (Some(_), _) => "awaiting_approval",
        (None, Mode::Agent) => "inactive",
        (None, _) => "planning",
    };
    let planning_kind = match (proposal, record.mode) {
        (Some(p), _) => p.kind.as_str(),
        (None, Mode::Agent) => "",
        (None, mode) => mode.as_str(),
    };
    let execution = work.active_execution().is_some();
    let board = if status == "waiting_permission" || proposal.is_some() {
        "waiting"
    } else if live || execution {
        "working"
    } else {
        "idle"
    };
    let queue = !record.queue.entries.is_empty() && !work.queue_is_held();
    let busy = [
        (live, "turn"),
        (proposal.is_some(), "proposal"),
        (execution, "execution"),
        (queue, "queue"),
    ];
    Shown {
        status,
        planning_state,
        planning_kind,
        board,
        busy: busy.into_iter().filter_map(|(is, name)| is.then_some(name)).collect(),
        last: record.turns.last().map_or("", |t| t.status.as_str()),
    }
}

/// The name of a session on the board: its agent's KEY, else `ring:ID`.
pub fn key(record: &Record) -> String {
    let spoken = record.turn.as_ref().map(|t| t.key.as_str()).filter(|k| !k.is_empty());
    match spoken {
        Some(key) => key.to_owned(),
        None if record.agent_session_id.is_empty() => format!("ring:{}", record.id),
        None => crate::key::key(&record.agent, &record.agent_session_id),
    }
}

/// The permission mode in force; `inherited` is what the settings say.
pub fn effective_mode(record: &Record, inherited: PermissionMode) -> PermissionMode {
    match record.permission_mode {
        PermissionMode::Inherit => inherited,
        mode => mode,
    }
}

/// A session as one flat object: the record's members and what is computed.
pub fn session_object(seen: &Seen, here: &Here, inherited: PermissionMode) -> Object {
    let work = Work::new(seen.record.clone(), here.clone());
    let shown = shown(&work);
    let text = serde_json::to_string(&seen.record).unwrap_or_default();
    let mut object: Object = serde_json::from_str(&text).unwrap_or_default();
    object.set("status", shown.status);
    object.set("planning_state", shown.planning_state);
    let kind = if shown.planning_kind.is_empty() {
        Value::Null
    } else {
        Value::from(shown.planning_kind)
    };
    object.set("planning_kind", &kind);
    object.set("board", shown.board);
    object.set("busy", &shown.busy);
    object.set(
        "last",
        &if shown.last.is_empty() {
            Value::Null
        } else {
            Value::from(shown.last)
        },
    );
    object.set("effective_permission_mode", &effective_mode(&seen.record, inherited));
    if seen.recovered {
        object.set("recovered_view", &true);
    }
    object
}
