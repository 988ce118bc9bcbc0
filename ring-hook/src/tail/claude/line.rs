//! One line of a transcript, and the message on it.

use crate::json::{Object, Value};
use ring_session::text::{clean, first_line};
use ring_session::time::{Ms, parse_iso};
use std::borrow::Cow;

/// Texts of user lines that no person typed as a prompt.
const NO_PROMPT: [&str; 7] = [
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-",
    "<task-notification>",
    "<system-reminder>",
    "[Request interrupted",
];

/// How Claude writes that the person stopped it.
pub const INTERRUPTED: &str = "[Request interrupted by user";
const DENIED: &str = "The user doesn't want to proceed";
/// The model of lines that the client wrote itself.
pub const SYNTHETIC: &str = "<synthetic>";

/// One line.
pub struct Line<'a> {
    pub object: Object<'a>,
    pub kind: Cow<'a, str>,
    pub ms: Ms,
}

impl<'a> Line<'a> {
    pub fn parse(text: &'a str) -> Option<Line<'a>> {
        let object = Object::parse(text)?;
        let kind = object.exact("type").and_then(Value::text)?;
        let ms = object
            .exact("timestamp")
            .and_then(Value::text)
            .and_then(|t| parse_iso(&t))
            .unwrap_or(0);
        Some(Line { object, kind, ms })
    }

    pub fn flag(&self, name: &str) -> bool {
        self.object.exact(name).and_then(Value::boolean) == Some(true)
    }

    /// A text member; too long for any folder, id or title: none.
    pub fn text(&self, name: &str) -> String {
        self.object
            .exact_text(name)
            .filter(|t| t.len() <= 4096)
            .map(Cow::into_owned)
            .unwrap_or_default()
    }

    /// The text of a prompt that a person typed.
    pub fn prompt(&self, message: &Message<'a>) -> Option<Cow<'a, str>> {
        let origin = self.object.exact("origin").and_then(Value::object);
        let notified = origin
            .and_then(|o| o.exact_text("kind"))
            .is_some_and(|k| k == "task-notification");
        if notified || self.flag("isMeta") || self.flag("isCompactSummary") {
            return None;
        }
        if message.blocks.iter().any(|b| b.kind == "tool_result") {
            return None;
        }
        message.texts().find(|t| {
            let t = t.trim_start();
            !t.is_empty() && !NO_PROMPT.iter().any(|p| t.starts_with(p))
        })
    }
}

/// Whether a text says that the person stopped the turn.
pub fn is_interrupt(text: &str) -> bool {
    text.trim_start().starts_with(INTERRUPTED)
}

/// The `message` of a line.
#[derive(Default)]
pub struct Message<'a> {
    pub object: Object<'a>,
    pub blocks: Vec<Block<'a>>,
}

pub struct Block<'a> {
    pub kind: Cow<'a, str>,
    pub object: Object<'a>,
}

/// More blocks than any message has.
const BLOCKS: usize = 1000;

impl<'a> Message<'a> {
    pub fn of(line: &Line<'a>) -> Message<'a> {
        let raw = line.object.exact("message").map_or("", Value::raw);
        let Some(object) = Object::parse(raw) else {
            return Message::default();
        };
        let list = object.exact("content").and_then(|c| c.list(BLOCKS)).unwrap_or_default();
        let blocks = list.into_iter().filter_map(Block::parse).collect();
        Message { object, blocks }
    }

    pub fn text_of(&self, name: &str) -> Cow<'a, str> {
        self.object.exact_text(name).unwrap_or_default()
    }

    /// Its texts in order; the content may be one text alone.
    pub fn texts(&self) -> impl DoubleEndedIterator<Item = Cow<'a, str>> + '_ {
        let alone = self.object.exact("content").and_then(Value::text);
        let blocks = self
            .blocks
            .iter()
            .filter(|b| b.kind == "text")
            .filter_map(|b| b.object.exact("text")?.text());
        alone.into_iter().chain(blocks)
    }

    pub fn last_text(&self) -> Option<Cow<'a, str>> {
        self.texts().rev().find(|t| !t.trim().is_empty())
    }
}

impl<'a> Block<'a> {
    fn parse(value: Value<'a>) -> Option<Block<'a>> {
        let object = Object::parse(value.raw())?;
        let kind = object.exact("type").and_then(Value::text)?;
        Some(Block { kind, object })
    }

    pub fn text_of(&self, name: &str) -> String {
        self.object.exact_text(name).map(Cow::into_owned).unwrap_or_default()
    }

    /// A result that begins as Claude writes a "No"; a look at the first bytes is enough for results of megabytes.
    pub fn is_refusal(&self) -> bool {
        let raw = self.object.exact("content").map_or("", Value::raw);
        match raw.strip_prefix('"') {
            Some(text) => text.starts_with(DENIED),
            None => raw
                .char_indices()
                .nth(200)
                .map_or(raw, |(end, _)| &raw[..end])
                .contains(&format!("\"{DENIED}")),
        }
    }
}

/// The error's name, else what the line says.
pub fn error(line: &Line<'_>, said: Option<&str>) -> String {
    let name = line.text("error");
    let text = if name.is_empty() || name == "unknown" {
        first_line(said.unwrap_or(&name))
    } else {
        &name
    };
    clean(text, 80)
}
