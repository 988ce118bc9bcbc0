//! The normalised event as one JSON line, for `--emit` and `normalize` (ring-hook(1), EVENTS). Keys are a stable interface.

use crate::event::{Decision, Event, Intent, Task};
use crate::row::{Process, Wait};
use ring_session::time::Ms;
use serde::Serialize;

/// How much of a prompt or an answer is printed, in bytes.
pub const TEXT_LIMIT: usize = 16 * 1024;

/// What the row knows after the event.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The session's first folder.
    pub origin_cwd: &'a str,
    /// The agent's process.
    pub process: Option<&'a Process>,
    /// The wait that this event put or renewed.
    pub wait: Option<&'a Wait>,
}

#[derive(Serialize)]
struct Line<'a> {
    schema: u32,
    agent: &'a str,
    session_id: &'a str,
    key: &'a str,
    event: &'a str,
    native: &'a str,
    owner: String,
    cwd: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin_cwd: Option<&'a str>,
    transcript_path: &'a str,
    tty: &'a str,
    tmux_pane: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<Option<Holder>>,
    turn_id: &'a str,
    tool: ToolLine<'a>,
    permission_mode: &'a str,
    intent: &'a str,
    waiting: Option<Waiting<'a>>,
    rule: &'a str,
    received_ms: Ms,
    #[serde(skip_serializing_if = "is_empty")]
    agent_type: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    notification_type: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    source: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    background: Option<Vec<TaskLine<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_ms: Option<Ms>,
    #[serde(skip_serializing_if = "is_empty")]
    title: &'a str,
    #[serde(skip_serializing_if = "is_empty")]
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    todo: Option<(u32, u32)>,
    #[serde(skip_serializing_if = "is_false")]
    is_interrupt: bool,
    #[serde(skip_serializing_if = "is_empty")]
    parent_id: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    reviewed: bool,
    #[serde(skip_serializing_if = "is_empty")]
    text: &'a str,
}

#[derive(Serialize)]
struct ToolLine<'a> {
    name: &'a str,
    use_id: &'a str,
    summary: &'a str,
}

#[derive(Serialize)]
struct TaskLine<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    status: &'a str,
}

#[derive(Serialize)]
struct Holder {
    pid: u32,
    start_ticks: u64,
    server: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Waiting<'a> {
    Decided {
        kind: &'a str,
        detail: &'a str,
        waiting_for: &'a str,
    },
    Put {
        id: &'a str,
        owner: &'a str,
        kind: &'a str,
        detail: &'a str,
        tool: &'a str,
        tool_use_id: &'a str,
        waiting_for: &'a str,
    },
}

fn is_empty(text: &str) -> bool {
    text.is_empty()
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Types of notifications as they are printed; others are printed folded.
const NOTIFICATIONS: &[&str] = &[
    "permission_prompt",
    "worker_permission_prompt",
    "elicitation_dialog",
    "elicitation_url_dialog",
    "elicitation_complete",
    "elicitation_response",
    "agent_needs_input",
    "agent_completed",
    "idle_prompt",
    "auth_success",
];

/// The event with what it means, on one line without its end. With `known`, what the row knows is added, and the wait
/// is the row's.
pub fn line(event: &Event, decision: &Decision, known: Option<Known<'_>>) -> String {
    let spelled = NOTIFICATIONS
        .iter()
        .find(|n| crate::fold::same(n, &event.notification_type));
    let decided = || Waiting::Decided {
        kind: decision.kind,
        detail: &decision.detail,
        waiting_for: &event.waiting_for,
    };
    let waiting = match known {
        Some(known) => known.wait.map(put),
        None => (decision.intent == Intent::Waiting).then(decided),
    };
    let line = Line {
        schema: 1,
        agent: &event.agent,
        session_id: &event.session_id,
        key: &event.key,
        event: event.name.as_str(),
        native: &event.native,
        owner: event.owner.to_string(),
        cwd: &event.cwd,
        origin_cwd: known.map(|k| k.origin_cwd),
        transcript_path: &event.transcript_path,
        tty: &event.tty,
        tmux_pane: &event.tmux_pane,
        process: known.map(|k| k.process.map(holder)),
        turn_id: &event.turn_id,
        tool: ToolLine {
            name: &event.tool.name,
            use_id: &event.tool.use_id,
            summary: &event.tool.summary,
        },
        permission_mode: &event.permission_mode,
        intent: decision.intent.as_str(),
        waiting,
        rule: decision.rule,
        received_ms: event.received_ms,
        agent_type: &event.agent_type,
        notification_type: spelled.copied().unwrap_or(&event.notification_type),
        source: &event.source,
        reason: &event.reason,
        error: &event.error,
        background: event
            .background
            .as_deref()
            .map(|tasks| tasks.iter().map(task).collect()),
        agent_ms: event.agent_ms,
        title: &event.title,
        model: &event.model,
        todo: event.todo,
        is_interrupt: event.is_interrupt,
        parent_id: &event.parent_id,
        reviewed: event.reviewed,
        text: head(&event.text, TEXT_LIMIT),
    };
    // texts, numbers and nothing that could fail
    serde_json::to_string(&line).unwrap_or_default()
}

fn put(wait: &Wait) -> Waiting<'_> {
    Waiting::Put {
        id: &wait.id,
        owner: &wait.owner,
        kind: &wait.kind,
        detail: &wait.detail,
        tool: &wait.tool,
        tool_use_id: &wait.tool_use_id,
        waiting_for: &wait.waiting_for,
    }
}

fn holder(process: &Process) -> Holder {
    Holder {
        pid: process.pid,
        start_ticks: process.start_ticks,
        server: process.server,
    }
}

fn task(task: &Task) -> TaskLine<'_> {
    TaskLine {
        id: &task.id,
        kind: &task.kind,
        status: &task.status,
    }
}

/// The beginning of a text, at most `limit` bytes, whole characters.
fn head(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::decide;
    use crate::normalise::{self, Given};
    use ring_session::Settings;
    use serde_json::{Value, json};

    fn of(payload: &Value) -> (Event, Decision) {
        let event = normalise::event(payload.to_string().as_bytes(), &Given::default()).unwrap();
        let decision = decide(&event, &Settings::default());
        (event, decision)
    }

    #[test]
    fn a_line_holds_what_the_manual_lists() {
        let (event, decision) = of(&json!({
            "session_id": "s", "hook_event_name": "Notification", "notification_type": "Permission-Prompt",
            "tool_name": "Bash", "tool_input": {"command": "ls"}, "agent_id": "a1", "cwd": "/w",
        }));
        let line: Value = serde_json::from_str(&line(&event, &decision, None)).unwrap();
        assert_eq!(line["owner"], "agent:a1");
        assert_eq!(line["key"], "claude-code:s");
        assert_eq!(line["intent"], "WAITING");
        assert_eq!(line["notification_type"], "permission_prompt");
        assert_eq!(
            line["waiting"],
            json!({"kind": "permission", "detail": "Bash: ls", "waiting_for": ""})
        );
        assert!(line.get("text").is_none() && line.get("process").is_none() && line.get("todo").is_none());
    }

    #[test]
    fn h74_the_text_is_at_most_16_kib_of_whole_characters() {
        let (event, decision) =
            of(&json!({"session_id": "s", "hook_event_name": "Stop", "last_assistant_message": "會".repeat(9000)}));
        let known = Known {
            origin_cwd: "/w",
            process: None,
            wait: None,
        };
        let line: Value = serde_json::from_str(&line(&event, &decision, Some(known))).unwrap();
        assert_eq!(line["text"].as_str().unwrap().len(), 16_383);
        assert_eq!((&line["process"], &line["origin_cwd"]), (&Value::Null, &json!("/w")));
        assert!(line.as_object().unwrap().contains_key("process"));
    }
}
