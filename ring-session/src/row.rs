//! A row: one message of a session's transcript (ring(5), TRANSCRIPT).
//!
//! A row keeps every member that its writer gave it, in the writer's order; only what this program needs is looked at.

use crate::members::{Object, Raw};
use crate::record::Outcome;
use crate::refusal::{Code, Refusal};
use crate::time::Ms;
use serde::Deserialize;
use serde_json::json;

/// A line holds at most this many bytes.
pub const LINE_BYTES: usize = 8 * 1024 * 1024;
/// An id holds at most this many bytes.
pub const ID_BYTES: usize = 128;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// A tool's result.
    Tool,
    /// The host.
    System,
}

impl Role {
    /// The role of a word.
    pub fn from_word(word: &str) -> Option<Role> {
        Some(match word {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            "system" => Role::System,
            _ => return None,
        })
    }

    /// The word of a role.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
            Role::System => "system",
        }
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Unique in the session.
    pub id: String,
    /// Who speaks.
    pub role: Role,
    /// Its turn; empty: none.
    pub turn_id: String,
    /// Every member, also those above.
    pub members: Object,
}

/// What is looked at in a block.
#[derive(Deserialize)]
struct BlockView {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    text: Option<String>,
}

impl Row {
    /// A row of the person.
    pub fn user(id: String, turn: &str, now: Ms, prompt: &str, attachments: &[String]) -> Row {
        let mut blocks = Vec::new();
        if !prompt.is_empty() {
            blocks.push(json!({"type": "text", "text": prompt}));
        }
        blocks.extend(attachments.iter().map(|r| {
            let name = r.rsplit('/').next().unwrap_or(r);
            json!({"type": "attachment", "kind": "file", "name": name, "ref": r})
        }));
        Row::made(id, turn, Role::User, now, &json!(blocks))
    }

    /// A row of the agent.
    pub fn assistant(id: String, turn: &str, now: Ms, text: &str) -> Row {
        Row::made(id, turn, Role::Assistant, now, &json!([{"type": "text", "text": text}]))
    }

    fn made(id: String, turn: &str, role: Role, now: Ms, blocks: &serde_json::Value) -> Row {
        let mut members = Object::default();
        members.set("type", "message");
        members.set("id", &id);
        members.set("turn_id", turn);
        members.set("role", role.as_str());
        members.set("created_ms", &now);
        members.set("blocks", blocks);
        members.set("meta", &Object::default());
        Row {
            id,
            role,
            turn_id: turn.to_owned(),
            members,
        }
    }

    /// One line of a transcript as a row; none if it is no row (blank, torn, another type, no id).
    pub fn read(line: &[u8]) -> Option<Row> {
        let members: Object = match std::str::from_utf8(line) {
            Ok(text) => serde_json::from_str(text).ok()?,
            Err(_) => serde_json::from_str(&String::from_utf8_lossy(line)).ok()?,
        };
        if members.get::<String>("type").as_deref() != Some("message") {
            return None;
        }
        let id = members.get::<String>("id").filter(|i| !i.is_empty())?;
        let role = Role::from_word(&members.get::<String>("role")?)?;
        let turn_id = members.get("turn_id").unwrap_or_default();
        Some(Row {
            id,
            role,
            turn_id,
            members,
        })
    }

    /// A line that a caller wants appended: checked, completed with a type, an id and a time.
    ///
    /// # Errors
    /// `LIMIT_EXCEEDED`, `INVALID_ARGUMENT`; the caller adds the line's number.
    pub fn given(line: &str, mint: impl Fn() -> String, now: Ms) -> Result<Row, Refusal> {
        let bad = |text: String| Refusal::new(Code::InvalidArgument, text);
        if line.len() > LINE_BYTES {
            return Err(Refusal::new(
                Code::LimitExceeded,
                format!("a row of {} bytes; at most {LINE_BYTES}", line.len()),
            ));
        }
        let mut members: Object = serde_json::from_str(line).map_err(|e| bad(format!("not a JSON object: {e}")))?;
        match members.raw("type").map(|_| members.get::<String>("type")) {
            None => {
                let mut first = Object::default();
                first.set("type", "message");
                for (name, value) in members.iter() {
                    first.put(name.to_owned(), value.clone());
                }
                members = first;
            }
            Some(Some(kind)) if kind == "message" => {}
            Some(_) => return Err(bad("`type` must be message".into())),
        }
        let id = match members.raw("id") {
            None => {
                let id = mint();
                members.set("id", &id);
                id
            }
            Some(_) => members
                .get::<String>("id")
                .ok_or_else(|| bad("`id` must be a text".into()))?,
        };
        if id.is_empty() {
            return Err(bad("`id` is empty".into()));
        }
        if id.len() > ID_BYTES {
            return Err(Refusal::new(
                Code::LimitExceeded,
                format!("`id` has {} bytes; at most {ID_BYTES}", id.len()),
            ));
        }
        let role = members
            .get::<String>("role")
            .and_then(|r| Role::from_word(&r))
            .ok_or_else(|| bad("`role` must be user, assistant, tool or system".into()))?;
        let turn_id = match members.raw("turn_id") {
            None => String::new(),
            Some(_) => members
                .get::<Option<String>>("turn_id")
                .ok_or_else(|| bad("`turn_id` must be a text".into()))?
                .unwrap_or_default(),
        };
        let blocks: Vec<Object> = members
            .get("blocks")
            .ok_or_else(|| bad("`blocks` must be a list of objects".into()))?;
        for block in &blocks {
            check_block(block)?;
        }
        if members.raw("created_ms").is_none() {
            members.set("created_ms", &now);
        } else if members.get::<Ms>("created_ms").is_none() {
            return Err(bad("`created_ms` must be an integer".into()));
        }
        if members.raw("meta").is_none() {
            members.set("meta", &Object::default());
        } else if members.get::<Object>("meta").is_none() {
            return Err(bad("`meta` must be an object".into()));
        }
        Ok(Row {
            id,
            role,
            turn_id,
            members,
        })
    }

    /// Its line, without the newline.
    pub fn line(&self) -> String {
        serde_json::to_string(&self.members).unwrap_or_default()
    }

    /// A member of `meta`.
    pub fn meta<T: for<'a> Deserialize<'a>>(&self, name: &str) -> Option<T> {
        let meta: Object = self.members.get("meta")?;
        meta.raw(name).and_then(|v| serde_json::from_str(v.0.get()).ok())
    }

    /// With one more member of `meta`.
    #[must_use]
    pub fn with_meta<T: serde::Serialize + ?Sized>(mut self, name: &str, value: &T) -> Row {
        let mut meta: Object = self.members.get("meta").unwrap_or_default();
        meta.set(name, value);
        self.members.set("meta", &meta);
        self
    }

    /// Marked as steering.
    #[must_use]
    pub fn steering(self) -> Row {
        self.with_meta("steering", &true)
    }

    /// Marked as late: its turn was closed before it came.
    #[must_use]
    pub fn late(self) -> Row {
        self.with_meta("late", &true)
    }

    /// A checkpoint that becomes a row because its turn closes.
    #[must_use]
    pub fn promoted(self, status: &str) -> Row {
        self.with_meta("status", status).with_meta("promoted", &true)
    }

    /// Belongs to another turn, or to none.
    #[must_use]
    pub fn of_turn(mut self, turn: &str) -> Row {
        if turn.is_empty() {
            self.members.remove("turn_id");
        } else {
            self.members.set("turn_id", turn);
        }
        turn.clone_into(&mut self.turn_id);
        self
    }

    /// Whether its copy may be replaced by a row of the same id: it was not final.
    pub fn is_provisional(&self) -> bool {
        self.meta::<String>("status").as_deref() == Some("streaming") || self.is_promoted()
    }

    /// Whether it was a checkpoint when its turn closed.
    pub fn is_promoted(&self) -> bool {
        self.meta::<bool>("promoted") == Some(true)
    }

    fn blocks(&self) -> Vec<BlockView> {
        self.members.get::<Vec<BlockView>>("blocks").unwrap_or_default()
    }

    /// Its texts, a line each.
    pub fn text(&self) -> String {
        let texts: Vec<String> = self
            .blocks()
            .into_iter()
            .filter(|b| b.kind == "text")
            .filter_map(|b| b.text)
            .collect();
        texts.join("\n")
    }

    /// Whether it shows anything: text, thinking or a tool call.
    pub fn is_visible(&self) -> bool {
        self.says() || self.blocks().iter().any(|b| b.kind == "tool_call")
    }

    /// Whether it says something: text or thinking.
    fn says(&self) -> bool {
        let says = |b: &BlockView| {
            matches!(b.kind.as_str(), "text" | "thinking") && b.text.as_ref().is_some_and(|t| !t.trim().is_empty())
        };
        self.blocks().iter().any(says)
    }

    /// Whether it answers a prompt in the sense of an abort: an assistant's text or thinking, any other role's row, a row
    /// of another turn, a late one. A call alone is none: nobody has seen its result.
    pub fn answers(&self, turn: &str) -> bool {
        self.role != Role::Assistant || self.turn_id != turn || self.says() || self.meta::<bool>("late") == Some(true)
    }

    /// An assistant's row of status error or aborted that shows nothing is not stored.
    pub fn is_worthless(&self) -> bool {
        let status = self.meta::<String>("status").unwrap_or_default();
        self.role == Role::Assistant && (status == "error" || status == Outcome::Aborted.as_str()) && !self.is_visible()
    }
}

fn check_block(block: &Object) -> Result<(), Refusal> {
    let bad = |text: &str| Err(Refusal::new(Code::InvalidArgument, text));
    let Some(kind) = block.get::<String>("type") else {
        return bad("a block's `type` must be a text");
    };
    match kind.as_str() {
        "text" | "thinking" if block.get::<String>("text").is_none() => bad("a text block's `text` must be a text"),
        "tool_call" if block.get::<String>("call_id").is_none() || block.get::<String>("name").is_none() => {
            bad("a tool call's `call_id` and `name` must be texts")
        }
        "attachment" => match block.get::<String>("ref") {
            None => bad("an attachment's `ref` must be a text"),
            Some(r) if r.trim_start().to_ascii_lowercase().starts_with("data:") => {
                bad("an attachment is a reference, not data; give a path or an address")
            }
            Some(_) => Ok(()),
        },
        _ => Ok(()),
    }
}

/// New ids for a copy of a row (fork): the row's own, and those of its calls by way of `call`.
pub fn renamed(row: &Row, id: String, mut call: impl FnMut(&str) -> String) -> Row {
    let mut row = row.clone();
    row.id.clone_from(&id);
    row.members.set("id", &id);
    row = row.of_turn("");
    let mut blocks: Vec<Object> = row.members.get("blocks").unwrap_or_default();
    for block in &mut blocks {
        if let Some(old) = block.get::<String>("call_id") {
            block.set("call_id", &call(&old));
        }
    }
    row.members.set("blocks", &blocks);
    if let Some(old) = row.members.get::<String>("call_id") {
        row.members.set("call_id", &call(&old));
    }
    if let Some(old) = row.meta::<String>("parent_call_id") {
        row = row.with_meta("parent_call_id", &call(&old));
    }
    row
}

/// A raw value's text, for callers that hold one.
pub fn raw_text(raw: &Raw) -> &str {
    raw.0.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(line: &str) -> Result<Row, Refusal> {
        Row::given(line, || "minted".into(), 7)
    }

    #[test]
    fn what_a_writer_leaves_out_is_completed_and_the_rest_is_kept() {
        let row = given(r#"{"role":"assistant","blocks":[{"type":"text","text":"a"},{"type":"chart","n":1.50}],"x":12345678901234567890123}"#).unwrap();
        assert_eq!(
            row.line(),
            r#"{"type":"message","role":"assistant","blocks":[{"type":"text","text":"a"},{"type":"chart","n":1.50}],"x":12345678901234567890123,"id":"minted","created_ms":7,"meta":{}}"#
        );
        assert_eq!((row.text().as_str(), row.is_visible()), ("a", true));
    }

    #[test]
    fn rows_that_are_none_are_refused_with_their_reason() {
        for (line, code) in [
            ("[]", Code::InvalidArgument),
            (r#"{"role":"robot","blocks":[]}"#, Code::InvalidArgument),
            (r#"{"role":"user"}"#, Code::InvalidArgument),
            (r#"{"role":"user","blocks":[1]}"#, Code::InvalidArgument),
            (
                r#"{"role":"user","blocks":[{"type":"attachment","name":"a","ref":"data:text/plain,x"}]}"#,
                Code::InvalidArgument,
            ),
            (r#"{"role":"user","blocks":[],"id":""}"#, Code::InvalidArgument),
            (r#"{"type":"note","role":"user","blocks":[]}"#, Code::InvalidArgument),
        ] {
            assert_eq!(given(line).unwrap_err().code, code, "{line}");
        }
        let long = format!(r#"{{"role":"user","blocks":[],"id":"{}"}}"#, "x".repeat(129));
        assert_eq!(given(&long).unwrap_err().code, Code::LimitExceeded);
    }

    #[test]
    fn s27_lines_that_are_no_rows_are_none() {
        for line in [
            "",
            "{",
            "5",
            r#"{"type":"session"}"#,
            r#"{"type":"message","role":"user"}"#,
        ] {
            assert!(Row::read(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn a_copy_gets_new_ids_and_one_old_call_one_new_call() {
        let row = given(r#"{"id":"a","turn_id":"t","role":"assistant","blocks":[{"type":"tool_call","call_id":"c","name":"Bash"},{"type":"x","call_id":"c"}]}"#).unwrap();
        let copy = renamed(&row, "b".into(), |c| format!("new-{c}"));
        assert_eq!(copy.id, "b");
        assert!(
            !copy.line().contains("turn_id") && copy.line().matches("new-c").count() == 2,
            "{}",
            copy.line()
        );
    }
}
