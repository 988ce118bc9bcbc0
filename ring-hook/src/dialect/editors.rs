//! Agents that live in editors: Cursor, Cline, Windsurf.

use super::{Dialect, PLAIN, Sign};
use crate::event::Name;
use crate::json::name;
use crate::payload::{Field, inside, top};

/// Cursor and `cursor-agent`. No event says that it asks: its `before…` come for every command.
pub static CURSOR: Dialect = Dialect {
    agent: "cursor",
    strong: &[
        &[Sign::Has(name("cursor_version"))],
        &[Sign::Has(name("conversation_id")), Sign::Has(name("generation_id"))],
    ],
    events: &[
        ("beforeSubmitPrompt", Name::UserPromptSubmit),
        ("beforeShellExecution", Name::PreToolUse),
        ("beforeMCPExecution", Name::PreToolUse),
        ("beforeReadFile", Name::PreToolUse),
        ("afterShellExecution", Name::PostToolUse),
        ("afterMCPExecution", Name::PostToolUse),
        ("afterFileEdit", Name::PostToolUse),
        ("afterAgentResponse", Name::TurnStart),
        ("afterAgentThought", Name::MessageDisplay),
    ],
    variants: &[
        ("stop", top("status"), "aborted", Name::Interrupt),
        ("stop", top("status"), "error", Name::StopFailure),
    ],
    fields: &[(Field::Session, &[top("conversation_id")])],
    payload_is_input: true,
    ..PLAIN
};

/// Cline.
pub static CLINE: Dialect = Dialect {
    agent: "cline",
    strong: &[&[Sign::Has(name("clineVersion"))]],
    events: &[
        ("TaskStart", Name::UserPromptSubmit),
        ("TaskResume", Name::UserPromptSubmit),
        ("TaskComplete", Name::Stop),
        ("TaskCancel", Name::Interrupt),
        ("TaskError", Name::StopFailure),
        ("SessionShutdown", Name::SessionEnd),
    ],
    fields: &[
        (Field::Event, &[top("hookName")]),
        (Field::Session, &[top("taskId")]),
        (
            Field::ToolName,
            &[
                inside("preToolUse", "toolName"),
                inside("postToolUse", "toolName"),
                inside("tool_call", "name"),
            ],
        ),
        (
            Field::Input,
            &[
                inside("preToolUse", "parameters"),
                inside("postToolUse", "parameters"),
                inside("tool_call", "input"),
            ],
        ),
        (
            Field::Prompt,
            &[inside("userPromptSubmit", "prompt"), inside("taskStart", "task")],
        ),
    ],
    ..PLAIN
};

/// Windsurf's Cascade.
pub static WINDSURF: Dialect = Dialect {
    agent: "windsurf",
    strong: &[&[Sign::Has(name("agent_action_name")), Sign::Has(name("trajectory_id"))]],
    events: &[
        ("pre_user_prompt", Name::UserPromptSubmit),
        ("post_cascade_response", Name::Stop),
        ("pre_*", Name::PreToolUse),
        ("post_*", Name::PostToolUse),
    ],
    fields: &[
        (Field::Session, &[top("trajectory_id")]),
        (Field::ToolName, &[inside("tool_info", "tool_name")]),
        (Field::Input, &[top("tool_info")]),
        (Field::Cwd, &[inside("tool_info", "cwd")]),
        (Field::Prompt, &[inside("tool_info", "user_prompt")]),
        (Field::LastText, &[inside("tool_info", "response")]),
    ],
    ..PLAIN
};
