//! Dialects: what each agent's payloads look like, as data (ring-hook(1), AGENTS).
//!
//! A dialect names the marks by which a payload is known, the agent's own event names and what they stand for, and its
//! own field names. What is the same for all agents stands in `event.rs` and `payload.rs`.

mod adapters;
mod claude;
mod codex;
mod editors;
mod google;
mod others;

use crate::event::Name;
use crate::fold;
use crate::json::{self, Object, Value};
use crate::payload::{Field, Path};

/// One agent's way of speaking.
#[derive(Debug)]
pub struct Dialect {
    /// The agent's canonical id; empty: none of its own.
    pub agent: &'static str,
    /// Each of these alone proves the agent, whatever `--agent` says. They look at members only.
    pub strong: &'static [Mark],
    /// Each of these proves it only against `--agent claude-code` or none: files made for Claude are run by others.
    pub weak: &'static [Mark],
    /// Own event names, compared folded, before the canonical ones. A `*` at the end stands for anything.
    pub events: &'static [(&'static str, Name)],
    /// Event names whose meaning hangs on a field: name, field, folded value, meaning. Before `events`.
    pub variants: &'static [(&'static str, Path, &'static str, Name)],
    /// Own field names, before the common ones.
    pub fields: &'static [(Field, &'static [Path])],
    /// A tool's input stands at the top of the payload, if nowhere else.
    pub payload_is_input: bool,
    /// Own notification types and what they stand for.
    pub notifications: &'static [(&'static str, &'static str)],
    /// Own names of tools that ask the person.
    pub ask_tools: &'static [&'static str],
    /// The field that proves that UserPromptSubmit comes from a person; none: it always does.
    pub prompt_proof: Option<json::Name<'static>>,
}

/// A mark: all its signs are there.
pub type Mark = &'static [Sign];

/// One thing that a payload shows.
#[derive(Debug)]
pub enum Sign {
    /// Exactly this member, not null.
    Has(json::Name<'static>),
    /// Exactly this member, a text.
    Text(json::Name<'static>),
    /// Exactly this member, a number.
    Number(json::Name<'static>),
    /// Exactly this member with this text.
    Is(json::Name<'static>, &'static str),
    /// The event's name begins so, and an upper-case letter follows.
    EventBegins(&'static str),
    /// The event has this name.
    Event(&'static str),
    /// The transcript's path has these whole parts, one behind the other.
    Transcript(&'static [&'static str]),
    /// The transcript is one of Codex's rollouts.
    Rollout,
}

/// What a dialect has if it says nothing.
const PLAIN: Dialect = Dialect {
    agent: "",
    strong: &[],
    weak: &[],
    events: &[],
    variants: &[],
    fields: &[],
    payload_is_input: false,
    notifications: &[],
    ask_tools: &[],
    prompt_proof: None,
};

/// For agents without a dialect.
static GENERIC: Dialect = PLAIN;

/// Every dialect, in the order in which marks are tried.
static DIALECTS: &[&Dialect] = &[
    &claude::CLAUDE,
    &codex::CODEX,
    &google::GEMINI,
    &google::ANTIGRAVITY,
    &others::COPILOT,
    &editors::CURSOR,
    &adapters::OPENCODE,
    &adapters::PI,
    &others::KIMI,
    &others::QWEN,
    &others::DROID,
    &others::GOOSE,
    &others::KIRO,
    &adapters::AMP,
    &editors::CLINE,
    &others::GROK,
    &others::VIBE,
    &others::HERMES,
    &others::DEVIN,
    &editors::WINDSURF,
];

/// The dialect of an agent, by its canonical id; for all others one that knows nothing of its own.
pub fn of(agent: &str) -> &'static Dialect {
    DIALECTS.iter().copied().find(|d| d.agent == agent).unwrap_or(&GENERIC)
}

impl Dialect {
    /// Whether the agent has a dialect of its own.
    pub fn is_built_in(&self) -> bool {
        !self.agent.is_empty()
    }

    /// What an event of this name stands for, in this payload.
    pub fn event(&self, native: &str, object: &Object<'_>) -> Name {
        let variant = self.variants.iter().find(|(name, path, value, _)| {
            fold::same(name, native) && path.find(object, Value::text).is_some_and(|v| fold::same(&v, value))
        });
        if let Some((.., name)) = variant {
            return *name;
        }
        let own = self.events.iter().find(|(name, _)| match name.strip_suffix('*') {
            Some(start) => fold::fold(native).starts_with(&fold::fold(start)),
            None => fold::same(name, native),
        });
        own.map(|(_, name)| *name)
            .or_else(|| Name::of(native))
            .unwrap_or(Name::Unknown)
    }

    /// What a notification type stands for, folded.
    pub fn notification(&self, kind: &str) -> String {
        let own = self.notifications.iter().find(|(name, _)| fold::same(name, kind));
        fold::fold(own.map_or(kind, |(_, meaning)| meaning))
    }
}

/// The agent that the payload's marks prove, if any. `over_weak`: weak marks count too.
pub fn marked(object: &Object<'_>, over_weak: bool) -> Option<&'static str> {
    let common = |field: Field| {
        let found = field
            .names()
            .iter()
            .find_map(|n| object.named(*n).find_map(Value::text));
        found.unwrap_or_default()
    };
    let strong = |mark: Mark| mark.iter().all(|sign| sign.is_in(object, "", ""));
    let proven = DIALECTS.iter().find(|d| d.strong.iter().any(|m| strong(m)));
    if proven.is_some() || !over_weak {
        return proven.map(|d| d.agent);
    }
    let (event, transcript) = (common(Field::Event), common(Field::Transcript));
    let weak = |mark: Mark| mark.iter().all(|sign| sign.is_in(object, &event, &transcript));
    DIALECTS
        .iter()
        .find(|d| d.weak.iter().any(|m| weak(m)))
        .map(|d| d.agent)
}

impl Sign {
    /// Whether the payload, with this event and transcript, shows it.
    fn is_in(&self, object: &Object<'_>, event: &str, transcript: &str) -> bool {
        match self {
            Sign::Has(key) => object.exact(*key).is_some_and(|v| v.raw() != "null"),
            Sign::Text(key) => object.exact_text(*key).is_some(),
            Sign::Number(key) => object.exact(*key).and_then(Value::number).is_some(),
            Sign::Is(key, value) => object.exact_text(*key).is_some_and(|t| t == *value),
            Sign::EventBegins(start) => event
                .strip_prefix(start)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase())),
            Sign::Event(name) => event == *name,
            Sign::Transcript(parts) => has_folders(transcript, parts),
            Sign::Rollout => rollout_thread(transcript).is_some(),
        }
    }
}

/// Whether these whole parts stand one behind the other among a path's folders.
fn has_folders(path: &str, parts: &[&str]) -> bool {
    let Some((mut folders, _name)) = path.rsplit_once('/') else {
        return false;
    };
    loop {
        let mut rest = folders.split('/');
        if parts.iter().all(|part| rest.next() == Some(part)) {
            return true;
        }
        match folders.split_once('/') {
            Some((_, below)) => folders = below,
            None => return false,
        }
    }
}

/// The thread whose rollout this is: `rollout-TIME-ID.jsonl` with TIME as `2026-11-30T12-00-00`.
pub fn rollout_thread(path: &str) -> Option<&str> {
    let name = path
        .rsplit('/')
        .next()?
        .strip_prefix("rollout-")?
        .strip_suffix(".jsonl")?;
    let (time, id) = (name.get(..19)?, name.get(19..)?.strip_prefix('-')?);
    let shape = time.bytes().zip(*b"dddd-dd-ddTdd-dd-dd").all(|(b, want)| match want {
        b'd' => b.is_ascii_digit(),
        other => b == other,
    });
    (shape && !id.is_empty()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollout_is_known_by_the_shape_of_its_name() {
        assert_eq!(rollout_thread("/c/rollout-2026-11-30T12-00-00-s1.jsonl"), Some("s1"));
        for path in [
            "",
            "/c/rollout-s1.jsonl",
            "/c/rollout-2026-11-30T12-00-00.jsonl",
            "/c/x-2026-11-30T12-00-00-s.jsonl",
        ] {
            assert_eq!(rollout_thread(path), None, "{path}");
        }
    }

    #[test]
    fn parts_of_a_transcript_path_count_whole() {
        let of = |path: &str| {
            let text = serde_json::json!({"transcript_path": path}).to_string();
            marked(&Object::parse(&text).unwrap(), true)
        };
        assert_eq!(of("/h/.qwen/projects/x/q.jsonl"), Some("qwen"));
        assert_eq!(of("/h/.gemini/tmp/p/chats/s.jsonl"), Some("gemini"));
        assert_eq!(of("/h/x.qwen/projects/q.jsonl"), None);
        assert_eq!(of("/h/.gemini/x/tmp/s.jsonl"), None);
        assert_eq!(of("/h/.claude/projects/-w--qwen/.factory"), None);
    }

    #[test]
    fn every_dialect_is_of_a_known_agent() {
        for d in DIALECTS {
            assert!(
                crate::agent::find(d.agent).is_some_and(|a| a.id == d.agent),
                "{}",
                d.agent
            );
        }
    }
}
