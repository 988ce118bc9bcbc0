//! Agents that live in editors: Cursor, Cline, Windsurf.

use super::{Dialect, PLAIN, Sign};
use crate::event::Name;
use crate::payload::Field;

/// Cursor and `cursor-agent`. No event says that it asks: its `before…` come for every command.
pub static CURSOR: Dialect = Dialect {
    agent: "cursor",
    strong: &[
        &[Sign::Has("cursor_version")],
        &[Sign::Has("conversation_id"), Sign::Has("generation_id")],
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
        ("stop", "status", "aborted", Name::Interrupt),
        ("stop", "status", "error", Name::StopFailure),
    ],
    fields: &[(Field::Session, &["conversation_id"]), (Field::Input, &["."])],
    ..PLAIN
};

/// Cline.
pub static CLINE: Dialect = Dialect {
    agent: "cline",
    strong: &[&[Sign::Has("clineVersion")]],
    events: &[
        ("TaskStart", Name::UserPromptSubmit),
        ("TaskResume", Name::UserPromptSubmit),
        ("TaskComplete", Name::Stop),
        ("TaskCancel", Name::Interrupt),
        ("TaskError", Name::StopFailure),
        ("SessionShutdown", Name::SessionEnd),
    ],
    fields: &[
        (Field::Event, &["hookName"]),
        (Field::Session, &["taskId"]),
        (
            Field::ToolName,
            &["preToolUse.toolName", "postToolUse.toolName", "tool_call.name"],
        ),
        (
            Field::Input,
            &["preToolUse.parameters", "postToolUse.parameters", "tool_call.input"],
        ),
        (Field::Prompt, &["userPromptSubmit.prompt", "taskStart.task"]),
    ],
    ..PLAIN
};

/// Windsurf's Cascade.
pub static WINDSURF: Dialect = Dialect {
    agent: "windsurf",
    strong: &[&[Sign::Has("agent_action_name"), Sign::Has("trajectory_id")]],
    events: &[
        ("pre_user_prompt", Name::UserPromptSubmit),
        ("post_cascade_response", Name::Stop),
        ("pre_*", Name::PreToolUse),
        ("post_*", Name::PostToolUse),
    ],
    fields: &[
        (Field::Session, &["trajectory_id"]),
        (Field::ToolName, &["tool_info.tool_name"]),
        (Field::Input, &["tool_info"]),
        (Field::Cwd, &["tool_info.cwd"]),
        (Field::Prompt, &["tool_info.user_prompt"]),
        (Field::LastText, &["tool_info.response"]),
    ],
    ..PLAIN
};
