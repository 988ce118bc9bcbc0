//! Agents that speak through a plugin of ours, which names itself in `agent`: OpenCode, pi, Amp.

use super::{Dialect, PLAIN};
use crate::event::Name;
use crate::payload::{inside, top};

/// OpenCode. Sessions of its children name their parent, in whose row they are.
pub static OPENCODE: Dialect = Dialect {
    agent: "opencode",
    events: &[
        ("session.created", Name::SessionStart),
        ("message.user", Name::UserPromptSubmit),
        ("tool.execute.before", Name::PreToolUse),
        ("tool.execute.after", Name::PostToolUse),
        ("permission.asked", Name::PermissionAsked),
        ("permission.updated", Name::PermissionAsked),
        ("permission.v2.asked", Name::PermissionAsked),
        ("session.permission.asked", Name::PermissionAsked),
        ("permission.replied", Name::PermissionAnswered),
        ("permission.v2.replied", Name::PermissionAnswered),
        ("session.permission.replied", Name::PermissionAnswered),
        ("question.asked", Name::Elicitation),
        ("question.replied", Name::ElicitationResult),
        ("question.rejected", Name::ElicitationResult),
        ("session.error", Name::StopFailure),
        ("session.deleted", Name::SessionEnd),
        ("server.instance.disposed", Name::SessionEnd),
        ("session.compacted", Name::PostCompact),
        ("session.updated", Name::CwdChanged),
        ("session.idle", Name::Stop),
    ],
    variants: &[
        ("session.status", top("status"), "busy", Name::TurnStart),
        ("session.status", top("status"), "retry", Name::TurnStart),
        ("session.status", top("status"), "idle", Name::Stop),
        ("session.status", inside("status", "type"), "busy", Name::TurnStart),
        ("session.status", inside("status", "type"), "retry", Name::TurnStart),
        ("session.status", inside("status", "type"), "idle", Name::Stop),
        ("session.error", top("error"), "MessageAbortedError", Name::Interrupt),
        (
            "session.error",
            inside("error", "name"),
            "MessageAbortedError",
            Name::Interrupt,
        ),
        ("message", top("role"), "user", Name::UserPromptSubmit),
        ("message.updated", top("role"), "user", Name::UserPromptSubmit),
    ],
    ask_tools: &["question"],
    ..PLAIN
};

/// pi. It asks for no approvals; `provider` in its data is the model's.
pub static PI: Dialect = Dialect {
    agent: "pi",
    events: &[
        ("session_start", Name::SessionStart),
        ("session_switch", Name::SessionStart),
        ("session_fork", Name::SessionStart),
        ("input", Name::UserPromptSubmit),
        ("before_agent_start", Name::UserPromptSubmit),
        ("agent_start", Name::TurnStart),
        ("turn_start", Name::TurnStart),
        ("tool_call", Name::PreToolUse),
        ("tool_result", Name::PostToolUse),
        ("agent_settled", Name::Stop),
        ("session_before_compact", Name::PreCompact),
        ("session_compact", Name::PostCompact),
        ("session_shutdown", Name::SessionEnd),
    ],
    ..PLAIN
};

/// Amp.
pub static AMP: Dialect = Dialect {
    agent: "amp",
    events: &[
        ("agent.start", Name::UserPromptSubmit),
        ("tool.call", Name::PreToolUse),
        ("tool.result", Name::PostToolUse),
        ("agent.end", Name::Stop),
    ],
    ..PLAIN
};
