//! Agents of the terminal with hooks of their own: Copilot CLI, Kimi Code, Qwen Code, Droid, goose, Kiro, Grok, Vibe,
//! Hermes, Devin.

use super::{Dialect, PLAIN, Sign};
use crate::event::Name;
use crate::payload::Field;

/// Copilot CLI. Its camelCase payloads bear no event name: such an entry needs `--event`.
pub static COPILOT: Dialect = Dialect {
    agent: "copilot",
    strong: &[&[Sign::Text("sessionId"), Sign::Number("timestamp")]],
    weak: &[&[Sign::Transcript(&[".copilot"])]],
    events: &[
        ("userPromptSubmitted", Name::UserPromptSubmit),
        ("agentStop", Name::Stop),
        ("errorOccurred", Name::StopFailure),
    ],
    ..PLAIN
};

/// Kimi Code. Its PermissionRequest comes with the prompt on screen, and the answer has an event.
pub static KIMI: Dialect = Dialect {
    agent: "kimi",
    strong: &[&[Sign::Has("client_type"), Sign::Has("session_title")]],
    events: &[
        ("TurnStarted", Name::TurnStart),
        ("PermissionRequest", Name::PermissionAsked),
        ("PermissionResult", Name::PermissionAnswered),
    ],
    ..PLAIN
};

/// Qwen Code.
pub static QWEN: Dialect = Dialect {
    agent: "qwen",
    weak: &[&[Sign::Transcript(&[".qwen"])]],
    events: &[("SessionDelete", Name::SessionEnd)],
    fields: &[(Field::Session, &["deleted_session_id"])],
    prompt_proof: "submitted_prompt",
    ..PLAIN
};

/// Factory Droid.
pub static DROID: Dialect = Dialect {
    agent: "droid",
    weak: &[&[Sign::Transcript(&[".factory"])]],
    ..PLAIN
};

/// goose.
pub static GOOSE: Dialect = Dialect {
    agent: "goose",
    strong: &[&[Sign::Has("event"), Sign::Has("matcher_context")]],
    weak: &[&[Sign::Has("working_dir")]],
    variants: &[
        ("PreToolUseResult", "decision", "deny", Name::PermissionAnswered),
        ("PreToolUseResult", "result", "deny", Name::PermissionAnswered),
    ],
    ..PLAIN
};

/// Kiro CLI.
pub static KIRO: Dialect = Dialect {
    agent: "kiro",
    weak: &[&[Sign::Event("agentSpawn")], &[Sign::Has("assistant_response")]],
    events: &[("agentSpawn", Name::SessionStart)],
    ..PLAIN
};

/// Grok Build.
pub static GROK: Dialect = Dialect {
    agent: "grok",
    weak: &[&[Sign::Transcript(&[".grok"])]],
    events: &[("StopCancelled", Name::Interrupt)],
    ..PLAIN
};

/// Mistral Vibe.
pub static VIBE: Dialect = Dialect {
    agent: "vibe",
    events: &[
        ("pre_tool", Name::PreToolUse),
        ("post_tool", Name::PostToolUse),
        ("post_agent", Name::Stop),
    ],
    ..PLAIN
};

/// Hermes.
pub static HERMES: Dialect = Dialect {
    agent: "hermes",
    events: &[
        ("on_session_start", Name::SessionStart),
        ("pre_approval_request", Name::PermissionAsked),
        ("post_approval_response", Name::PermissionAnswered),
        ("on_session_end", Name::Stop),
    ],
    fields: &[(Field::Session, &["extra.session_key"])],
    ..PLAIN
};

/// Devin CLI.
pub static DEVIN: Dialect = Dialect {
    agent: "devin",
    ..PLAIN
};
