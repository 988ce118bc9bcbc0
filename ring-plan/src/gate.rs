//! The gate: what the policy says of a tool call in a contract mode, as an answer to PreToolUse. It denies, it has a person
//! asked, or it is silent; it never allows.

use crate::hook::{Event, Rules};
use crate::policy::{Call, Verdict, is_outside, verdict};
use ring_session::record::{Mode, ModeBy, Record};
use ring_session::text;
use ring_session::work::Work;
use serde_json::{Value, json};
use std::path::Path;

/// What the gate says of a call; none: nothing.
pub fn answer(work: &Work, event: &Event, rules: &Rules) -> Option<String> {
    let record = &work.record;
    if record.mode == Mode::Agent {
        return None;
    }
    let path = event
        .input
        .get("file_path")
        .or_else(|| event.input.get("notebook_path"))
        .and_then(Value::as_str);
    if path.is_some_and(is_own_plan_file) || is_own_planning(record, event) {
        return None;
    }
    let permission = ring_session::shown::effective_mode(record, rules.inherited);
    let outside = path.is_some_and(|p| is_outside(record.project.as_deref(), p));
    let said = verdict(&Call {
        tool: &event.tool,
        mode: record.mode,
        permission,
        grants: &record.grants,
        outside,
    });
    let say = |decision: &str, reason: String| {
        Some(
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason}})
                .to_string(),
        )
    };
    match said {
        Verdict::Deny(code) if matches!(event.agent.as_str(), "claude-code" | "codex") => {
            let mode = record.mode.as_str();
            say(
                "deny",
                format!(
                    "{}: {} is not for {mode} mode; propose first, act after the approval",
                    code.as_str(),
                    text::clean(&event.tool, 80)
                ),
            )
        }
        Verdict::Confirm if event.agent == "claude-code" && record.mode_by != ModeBy::Hook => say(
            "ask",
            format!(
                "{} needs a person in {} mode",
                text::clean(&event.tool, 80),
                record.mode.as_str()
            ),
        ),
        _ => None,
    }
}

/// Tools of Claude Code by which it plans, and which its own plan mode holds to reading: it looks around with agents, notes
/// tasks, reads pages. With these denied it would come to propose little.
const PLANS_WITH: [&str; 15] = [
    "Agent",
    "LSP",
    "ListMcpResourcesTool",
    "ReadMcpResourceTool",
    "Skill",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
];

/// Whether a call is the agent's own way to plan, which is left to it.
///
/// 2.1.332 finds EnterPlanMode and ExitPlanMode by ToolSearch only. In plan mode by a person's word the agent is in none
/// of its own, and ExitPlanMode is refused before it has entered one: without both it could never propose anything. Where
/// the record only mirrors the agent's own plan mode, the agent is asked about what it plans with.
fn is_own_planning(record: &Record, event: &Event) -> bool {
    let mirrored = record.mode_by == ModeBy::Hook;
    event.agent == "claude-code"
        && match event.tool.as_str() {
            "ToolSearch" => true,
            "EnterPlanMode" => record.mode == Mode::Plan && !mirrored,
            tool => record.mode == Mode::Plan && mirrored && PLANS_WITH.contains(&tool),
        }
}

/// Claude Code keeps its plan in a file of its own, which it may write while it plans.
fn is_own_plan_file(path: &str) -> bool {
    let path = Path::new(path);
    let folder = path.parent().unwrap_or(Path::new(""));
    let is_plans = folder.ends_with(".claude/plans")
        || std::env::var_os("CLAUDE_CONFIG_DIR")
            .is_some_and(|d| !d.is_empty() && folder == Path::new(&d).join("plans"));
    is_plans && path.extension().is_some_and(|e| e == "md")
}
