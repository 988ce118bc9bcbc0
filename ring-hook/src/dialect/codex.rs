//! Codex, its hooks and the older `notify` program.

use super::{Dialect, PLAIN, Sign};
use crate::event::Name;
use crate::json::name;
use crate::payload::top;

/// Codex, measured with 0.171.0.
pub static CODEX: Dialect = Dialect {
    agent: "codex",
    strong: &[&[Sign::Is(name("type"), "agent-turn-complete")]],
    weak: &[&[Sign::Rollout]],
    events: &[
        ("agent-turn-complete", Name::Stop),
        ("PreModelRequest", Name::TurnStart),
    ],
    variants: &[
        ("PostModelRequest", top("status"), "completed", Name::TurnStart),
        ("PostModelRequest", top("status"), "failed", Name::ModelRequestFailed),
        (
            "PostModelRequest",
            top("status"),
            "cancelled",
            Name::ModelRequestCancelled,
        ),
    ],
    ..PLAIN
};
