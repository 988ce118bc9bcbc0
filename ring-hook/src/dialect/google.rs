//! Gemini CLI and Antigravity.

use super::{Dialect, PLAIN, Sign};
use crate::event::Name;
use crate::json::name;
use crate::payload::{Field, inside, top};

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
        &[Sign::Has(name("conversationId")), Sign::Has(name("toolCall"))],
        &[Sign::Has(name("conversationId")), Sign::Has(name("invocationNum"))],
        &[Sign::Has(name("conversationId")), Sign::Has(name("workspacePaths"))],
    ],
    events: &[
        ("PreInvocation", Name::TurnStart),
        ("PostInvocation", Name::PostModelSwitch),
    ],
    fields: &[
        (Field::Session, &[top("conversationId")]),
        (Field::Cwd, &[top("workspacePaths")]),
        (Field::ToolName, &[inside("toolCall", "name")]),
        (Field::Input, &[inside("toolCall", "args")]),
    ],
    ..PLAIN
};
