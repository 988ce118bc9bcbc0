//! Codex, its hooks and the older `notify` program.

use super::{Dialect, PLAIN, Sign};
use crate::event::Name;

/// Codex, measured with 0.171.0.
pub static CODEX: Dialect = Dialect {
    agent: "codex",
    strong: &[&[Sign::Is("type", "agent-turn-complete")]],
    weak: &[&[Sign::Rollout]],
    events: &[
        ("agent-turn-complete", Name::Stop),
        ("PreModelRequest", Name::TurnStart),
    ],
    variants: &[
        ("PostModelRequest", "status", "completed", Name::TurnStart),
        ("PostModelRequest", "status", "failed", Name::ModelRequestFailed),
        ("PostModelRequest", "status", "cancelled", Name::ModelRequestCancelled),
    ],
    ..PLAIN
};
