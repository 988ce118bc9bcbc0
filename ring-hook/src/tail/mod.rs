//! The tail of an agent's transcript: what its last turn marks say (ring-scan(1), RECORDS).
//!
//! A reader of one agent takes bytes and gives a [`Tail`]; it opens no file. Unknown line types are skipped, never an
//! error.

pub mod claude;
pub mod codex;
pub mod file;
mod find;
mod lines;
mod walk;

use crate::json::{Object, Value};
use crate::summary;
use ring_session::time::Ms;

/// What the last turn mark is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A person's prompt.
    Start,
    /// A tool call is open.
    Tool,
    /// Work, no tool call open.
    Busy,
    /// An answer, in a format without end marks.
    Plain,
    /// The turn has ended.
    End,
    /// It ended with an API error.
    Failed,
    /// The person interrupted it.
    Interrupted,
    /// The person denied a tool call.
    Denied,
    /// No turn yet.
    #[default]
    None,
    /// Data, but no mark in what was read.
    Unknown,
}

/// One walk backwards over a transcript.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tail {
    /// The last turn mark.
    pub kind: Kind,
    /// Its time; 0 if the format has none.
    pub ms: Ms,
    /// Start of its turn; 0 if that is not in what was read.
    pub turn_started_ms: Ms,
    /// Time of the newest tool result or answer; 0 if none.
    pub answered_ms: Ms,
    /// Open tool calls.
    pub open_tools: u32,
    /// A question tool or plan tool is among them (or, Codex, an async question is open).
    pub asks: bool,
    /// Last text of the assistant.
    pub text: String,
    /// Error of a failed turn.
    pub error: String,
    /// Title, by the format's own order of preference; empty if what was read has none.
    pub title: String,
    /// Title that the person gave (Claude: custom-title), which goes before every other; empty: none. [`Tail::title`]
    /// holds it too if it is the best one.
    pub custom_title: String,
    /// First prompt, if the start of the file was read.
    pub first_prompt: String,
    /// Model.
    pub model: String,
    /// Last folder.
    pub cwd: String,
    /// Summary of the last tool, else the first line of the last text.
    pub action: String,
    /// Done and total of the last to-do list.
    pub todo: Option<(u32, u32)>,
    /// For people: `plan proposed` and the like.
    pub note: String,
}

/// What the start of a record says: at most its first 64 KiB.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    /// The session's id as the record gives it; Claude: the file's name is the id, lines may hold others.
    pub session_id: String,
    /// First folder.
    pub cwd: String,
    /// A child's record (sidechain, sub-agent thread): no row of its own.
    pub child: bool,
    /// An internal thread of the agent: neither a session nor a child.
    pub internal: bool,
    /// The thread that started this one.
    pub parent: String,
    /// Codex: how the session was opened (`cli`, `vscode`, `exec`).
    pub source: String,
    /// Codex: the client.
    pub originator: String,
    /// Codex: version that wrote the record.
    pub cli_version: String,
    /// Codex: lines with an ordinal below this one are the parent's; 0: none.
    pub first_ordinal: u64,
    /// First line of the first prompt; cleaned, 200.
    pub first_prompt: String,
}

/// The start of a record, in bytes.
const HEAD: usize = 64 * 1024;

/// The most of a last text that is kept, in bytes: what a question is looked for in.
const TEXT_LIMIT: usize = 64 * 1024;

/// The end of a text.
fn last_part(text: String) -> String {
    let mut at = text.len().saturating_sub(TEXT_LIMIT);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    if at == 0 { text } else { text[at..].to_string() }
}

/// What a record without any turn mark is: new, or not understood. `known`: it holds lines of types that mark no turn.
fn without_mark(bytes: &[u8], whole: bool, known: bool) -> Kind {
    // the first line may be half written; a whole line that means nothing is another format
    if whole && (known || memchr::memchr(b'\n', bytes).is_none()) {
        Kind::None
    } else {
        Kind::Unknown
    }
}

/// `Name: text` of a tool call, as a status row holds it.
fn action(name: &str, input: Option<Value<'_>>) -> String {
    let input = input.and_then(Value::object);
    summary::tool(name, "", input.as_ref(), &Object::default()).summary
}
