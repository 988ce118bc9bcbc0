//! A payload's fields by their meaning: every alias that an agent may use, in order (ring-hook(1), FIELDS).
//!
//! First alias, then exact spelling, then order in the payload; a value of another type or an empty one is passed over
//! and the next is tried. A dialect's own names come before the common ones.

use crate::dialect::Dialect;
use crate::fold;
use crate::json::{self, Name, Object, Value};
use std::borrow::Cow;

macro_rules! names {
    ($($name:literal),* $(,)?) => { const { &[$(json::name($name)),*] } };
}

/// What a field means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the field of that name")]
pub enum Field {
    Event,
    Session,
    Cwd,
    Transcript,
    Turn,
    ToolName,
    UseId,
    Input,
    NotificationType,
    ActionFlag,
    WaitingFor,
    ChildId,
    ChildType,
    ParentTool,
    ParentId,
    LastText,
    DetailText,
    Prompt,
    Agent,
    Stamp,
    PermissionMode,
    Source,
    Reason,
    Error,
    Model,
    Title,
    LastAction,
    Background,
    Tty,
    IsInterrupt,
}

/// The names that agents without a dialect may also use for [`Field::WaitingFor`].
pub const LOOSE_WAITING_FOR: &[Name<'static>] = names!["reason", "requires", "interaction", "interaction_type"];

/// The lists that offer a person something to choose from.
pub const CHOICES: &[Name<'static>] = names!["questions", "options", "choices"];

impl Field {
    /// The common names, in order.
    pub fn names(self) -> &'static [Name<'static>] {
        match self {
            Field::Event => names!["hook_event_name", "event", "event_name", "agent_action_name"],
            Field::Session => names!["session_id", "thread_id", "id"],
            Field::Cwd => names!["cwd", "current_working_directory", "working_dir", "workspace_roots"],
            Field::Transcript => names!["transcript_path", "rollout_path"],
            Field::Turn => names!["turn_id", "prompt_id", "generation_id"],
            Field::ToolName => names!["tool_name", "tool"],
            Field::UseId => names!["tool_use_id", "tool_call_id", "call_id"],
            Field::Input => names!["tool_input", "input", "args", "arguments", "parameters", "tool_args"],
            Field::NotificationType => names!["notification_type", "raw_notification_type"],
            Field::ActionFlag => names![
                "requires_action",
                "action_required",
                "needs_user_action",
                "requires_input",
                "interactive",
            ],
            Field::WaitingFor => names!["waiting_for"],
            Field::ChildId => names!["agent_id", "subagent_id"],
            Field::ChildType => names!["agent_type", "subagent_type"],
            Field::ParentTool => names!["parent_tool_use_id"],
            Field::ParentId => names!["parent_id"],
            Field::LastText => names![
                "last_assistant_message",
                "prompt_response",
                "assistant_response",
                "response",
            ],
            Field::DetailText => names!["message", "prompt", "question"],
            Field::Prompt => names!["prompt", "message"],
            Field::Agent => names!["agent", "provider"],
            Field::Stamp => names!["timestamp"],
            Field::PermissionMode => names!["permission_mode"],
            Field::Source => names!["source"],
            Field::Reason => names!["reason"],
            Field::Error => names!["error"],
            Field::Model => names!["model"],
            Field::Title => names!["session_title", "title"],
            Field::LastAction => names!["last_action"],
            Field::Background => names!["background_tasks"],
            Field::Tty => names!["tty"],
            Field::IsInterrupt => names!["is_interrupt"],
        }
    }
}

/// Where a dialect has a field: a member's name, or that of a member inside of another one.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    outer: Option<Name<'static>>,
    name: Name<'static>,
}

/// A member at the top.
pub const fn top(name: &'static str) -> Path {
    Path {
        outer: None,
        name: json::name(name),
    }
}

/// A member of the object under `outer`.
pub const fn inside(outer: &'static str, name: &'static str) -> Path {
    Path {
        outer: Some(json::name(outer)),
        name: json::name(name),
    }
}

impl Path {
    /// The first value there that `accept` takes.
    pub fn find<'a, T>(self, object: &Object<'a>, accept: impl Fn(Value<'a>) -> Option<T>) -> Option<T> {
        let Some(outer) = self.outer else {
            return object.named(self.name).find_map(accept);
        };
        // the inner object goes, its values are slices of the payload's text
        let inner = object.named(outer).find_map(Value::object)?;
        inner.named(self.name).find_map(accept)
    }
}

/// One payload, read with the names of one dialect.
pub struct Payload<'a> {
    object: &'a Object<'a>,
    dialect: &'static Dialect,
}

impl<'a> Payload<'a> {
    /// Reads `object` as `dialect` would.
    pub fn new(object: &'a Object<'a>, dialect: &'static Dialect) -> Payload<'a> {
        Payload { object, dialect }
    }

    /// The object itself.
    pub fn object(&self) -> &'a Object<'a> {
        self.object
    }

    /// The first value of the field that `accept` takes.
    pub fn find<T>(&self, field: Field, accept: impl Fn(Value<'a>) -> Option<T>) -> Option<T> {
        let own = self.dialect.fields.iter().filter(|(f, _)| *f == field);
        let own = own
            .flat_map(|(_, paths)| *paths)
            .find_map(|path| path.find(self.object, &accept));
        own.or_else(|| {
            field
                .names()
                .iter()
                .find_map(|name| self.object.named(*name).find_map(&accept))
        })
    }

    /// A text that is not blank, as sent; of a very long one the beginning.
    pub fn text(&self, field: Field) -> Cow<'a, str> {
        self.find(field, filled_text).unwrap_or_default()
    }

    /// The end of a text that is not blank: at most `limit` bytes.
    pub fn end_of_text(&self, field: Field, limit: usize) -> Cow<'a, str> {
        let end = |value: Value<'a>| value.end_of_text(limit).filter(|t| !t.trim().is_empty());
        self.find(field, end).unwrap_or_default()
    }

    /// An id, as sent: blanks count.
    pub fn id(&self, field: Field) -> Cow<'a, str> {
        let filled = |value: Value<'a>| value.text().filter(|t| !t.is_empty());
        self.find(field, filled).unwrap_or_default()
    }

    /// A true or false, in any of the ways in which agents write it.
    pub fn flag(&self, field: Field) -> Option<bool> {
        self.find(field, flag)
    }

    /// The tool's input: an object, or its JSON text. Anything else is passed over.
    pub fn input(&self) -> Option<Input<'a>> {
        self.find(Field::Input, |value| {
            if let Some(object) = value.object() {
                return Some(Input::Sent(object));
            }
            let text = value.text().filter(|t| t.trim_start().starts_with('{'))?;
            Object::parse(&text)?;
            Some(Input::AsText(text.into_owned()))
        })
        .or(self.dialect.payload_is_input.then_some(Input::Payload))
    }

    /// Whether a list that is not empty stands under questions, options or choices.
    pub fn has_choices(&self) -> bool {
        has_choices(self.object)
    }
}

/// A tool's input.
pub enum Input<'a> {
    /// As an object.
    Sent(Object<'a>),
    /// As the JSON text of one.
    AsText(String),
    /// The payload's own members are the input (Cursor's `beforeShellExecution`).
    Payload,
}

/// How much of a text is looked at, in bytes: all that is stored of one is far shorter.
const LOOK: usize = 64 * 1024;

/// A text that is not blank, as sent; of a very long one the beginning.
pub fn filled_text(value: Value<'_>) -> Option<Cow<'_, str>> {
    value.start_of_text(LOOK).filter(|t| !t.trim().is_empty())
}

/// true, false, 1, 0, or their words; anything else is none.
pub fn flag(value: Value<'_>) -> Option<bool> {
    if let Some(known) = value.boolean() {
        return Some(known);
    }
    if let Some(number) = value.number() {
        return match number {
            1.0 => Some(true),
            0.0 => Some(false),
            _ => None,
        };
    }
    match fold::fold(&value.text()?).as_str() {
        "1" | "true" | "yes" | "y" | "on" => Some(true),
        "0" | "false" | "no" | "n" | "off" => Some(false),
        _ => None,
    }
}

/// Whether a list that is not empty stands under questions, options or choices of this object.
pub fn has_choices(object: &Object<'_>) -> bool {
    CHOICES
        .iter()
        .any(|name| object.named(*name).any(Value::is_filled_list))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect;

    fn flag_of(text: &str) -> Option<bool> {
        let object = Object::parse(text).unwrap();
        Payload::new(&object, dialect::of("claude-code")).flag(Field::ActionFlag)
    }

    #[test]
    fn h17_flags_are_found_under_every_alias_and_in_every_writing() {
        for name in [
            "requires_action",
            "actionRequired",
            "needs-user-action",
            "RequiresInput",
            "interactive",
        ] {
            for (value, meant) in [
                ("true", Some(true)),
                ("1", Some(true)),
                ("1.0", Some(true)),
                ("\"on\"", Some(true)),
                ("\" YES \"", Some(true)),
                ("0", Some(false)),
                ("\"off\"", Some(false)),
                ("2", None),
                ("null", None),
                ("[]", None),
                ("\"maybe\"", None),
            ] {
                assert_eq!(flag_of(&format!("{{\"{name}\":{value}}}")), meant, "{name} {value}");
            }
        }
        assert_eq!(flag_of(r#"{"requires_action":2,"interactive":0}"#), Some(false));
        assert_eq!(flag_of(r#"{"interactive":true,"requires_action":false}"#), Some(false));
    }

    #[test]
    fn values_of_another_type_and_empty_ones_are_passed_over() {
        let object = Object::parse(r#"{"id":"c","thread_id":"","sessionId":" b","session_id":42}"#).unwrap();
        let payload = Payload::new(&object, dialect::of("claude-code"));
        assert_eq!(payload.id(Field::Session), " b");
    }
}
