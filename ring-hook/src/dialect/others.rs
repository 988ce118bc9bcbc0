//! Agents of the terminal with hooks of their own: Copilot CLI, Kimi Code, Qwen Code, Droid, goose, Kiro, Grok, Vibe,
//! Hermes, Devin.

use super::{Dialect, PLAIN, Sign};
use crate::event::Name;
use crate::json::name;
use crate::payload::{Field, inside, top};

/// Copilot CLI. Its camelCase payloads bear no event name: such an entry needs `--event`.
pub static COPILOT: Dialect = Dialect {
    agent: "copilot",
    strong: &[&[Sign::Text(name("sessionId")), Sign::Number(name("timestamp"))]],
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
    strong: &[&[Sign::Has(name("client_type")), Sign::Has(name("session_title"))]],
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
    fields: &[(Field::Session, &[top("deleted_session_id")])],
    prompt_proof: Some(name("submitted_prompt")),
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
    strong: &[&[Sign::Has(name("event")), Sign::Has(name("matcher_context"))]],
    weak: &[&[Sign::Has(name("working_dir"))]],
    variants: &[
        ("PreToolUseResult", top("decision"), "deny", Name::PermissionAnswered),
        ("PreToolUseResult", top("result"), "deny", Name::PermissionAnswered),
    ],
    ..PLAIN
};

/// Kiro CLI.
pub static KIRO: Dialect = Dialect {
    agent: "kiro",
    weak: &[&[Sign::Event("agentSpawn")], &[Sign::Has(name("assistant_response"))]],
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
    fields: &[(Field::Session, &[inside("extra", "session_key")])],
    ..PLAIN
};

/// Devin CLI.
pub static DEVIN: Dialect = Dialect {
    agent: "devin",
    ..PLAIN
};
