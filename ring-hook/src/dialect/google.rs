//! Gemini CLI and Antigravity.

use super::{Dialect, PLAIN, Sign};
use crate::event::Name;
use crate::payload::Field;

/// Gemini CLI.
pub static GEMINI: Dialect = Dialect {
    agent: "gemini",
    weak: &[
        &[Sign::EventBegins("Before")],
        &[Sign::EventBegins("After")],
        &[Sign::Transcript(&[".gemini", "tmp"])],
    ],
    events: &[
        ("BeforeAgent", Name::UserPromptSubmit),
        ("BeforeTool", Name::PreToolUse),
        ("AfterTool", Name::PostToolUse),
        ("AfterAgent", Name::Stop),
        ("PreCompress", Name::PreCompact),
    ],
    notifications: &[("ToolPermission", "permission_prompt")],
    ..PLAIN
};

/// Antigravity.
pub static ANTIGRAVITY: Dialect = Dialect {
    agent: "antigravity",
    strong: &[
        &[Sign::Has("conversationId"), Sign::Has("toolCall")],
        &[Sign::Has("conversationId"), Sign::Has("invocationNum")],
        &[Sign::Has("conversationId"), Sign::Has("workspacePaths")],
    ],
    events: &[
        ("PreInvocation", Name::TurnStart),
        ("PostInvocation", Name::PostModelSwitch),
    ],
    fields: &[
        (Field::Session, &["conversationId"]),
        (Field::Cwd, &["workspacePaths"]),
        (Field::ToolName, &["toolCall.name"]),
        (Field::Input, &["toolCall.args"]),
    ],
    ..PLAIN
};
