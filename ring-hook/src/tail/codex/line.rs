//! One line of a rollout, and what it says.

use crate::json::{Object, Value};
use crate::summary;
use crate::tail::Kind;
use crate::tail::walk::Mark;
use ring_session::text::{clean, first_line};
use ring_session::time::{Ms, parse_iso};
use std::borrow::Cow;

/// The tool whose call stays open until the person has answered, and the one that returns at once.
const ASKING: &str = "request_user_input";
const ASKING_ASYNC: &str = "request_user_input_async";
/// What a plan is wrapped in, if it is no item of its own.
const PLAN: &str = "<proposed_plan>";

/// One line, with or without its wrapper.
pub struct Line<'a> {
    pub kind: Cow<'a, str>,
    /// Type of the payload.
    pub inner: Cow<'a, str>,
    pub payload: Object<'a>,
    pub ordinal: u64,
    pub ms: Ms,
}

/// What a line says, in the order of the walk's interest.
pub enum Says {
    /// Of the turn.
    Turn(Mark),
    /// The assistant's words; `last`: they may be its last ones.
    Text { text: String, last: bool },
    /// A tool is called.
    Action(String),
    /// A question that the turn does not wait for.
    Asks(String),
    /// A plan.
    Plan,
}

impl<'a> Line<'a> {
    pub fn parse(text: &'a str) -> Option<Line<'a>> {
        let outer = Object::parse(text)?;
        let kind = outer.exact_text("type");
        let ms = outer.exact_text("timestamp").and_then(|t| parse_iso(&t)).unwrap_or(0);
        let ordinal = outer
            .exact("ordinal")
            .and_then(Value::number)
            .map_or(u64::MAX, |n| n as u64);
        let (kind, payload) = match (kind, outer.exact("payload").and_then(Value::object)) {
            (kind, Some(payload)) => (kind?, payload),
            // without a wrapper: an item, or the first line with the session's id
            (Some(_), None) => ("response_item".into(), outer),
            (None, None) => ("session_meta".into(), outer),
        };
        let inner = payload.exact_text("type").unwrap_or_default();
        Some(Line {
            kind,
            inner,
            payload,
            ordinal,
            ms,
        })
    }

    pub fn text(&self, name: &str) -> String {
        self.payload.exact_text(name).map(Cow::into_owned).unwrap_or_default()
    }

    pub fn turn(&self) -> String {
        let own = self.text("turn_id");
        if !own.is_empty() {
            return own;
        }
        let passed = self
            .payload
            .exact("internal_chat_message_metadata_passthrough")
            .and_then(Value::object);
        passed
            .and_then(|o| o.exact_text("turn_id"))
            .map(Cow::into_owned)
            .unwrap_or_default()
    }

    pub fn item(&self) -> Option<(Cow<'a, str>, Object<'a>)> {
        let item = self
            .payload
            .exact("item")
            .and_then(Value::object)
            .filter(|_| self.inner == "item_completed")?;
        Some((item.exact_text("type")?, item))
    }

    /// The text of a person's prompt.
    pub fn prompt(&self) -> Option<String> {
        match (self.kind.as_ref(), self.inner.as_ref()) {
            ("event_msg", "user_message") => Some(self.text("message")),
            ("event_msg", "item_completed") => {
                let (kind, item) = self.item()?;
                (kind == "UserMessage").then(|| texts(&item).join("\n"))
            }
            ("response_item", "message") if self.text("role") == "user" => {
                // instructions and surroundings stand in user items too
                let real = |t: &String| !t.starts_with('<') && !t.starts_with("# AGENTS.md") && !t.trim().is_empty();
                texts(&self.payload).into_iter().find(real)
            }
            _ => None,
        }
    }

    /// What the line says, oldest first.
    pub fn says(&self) -> Vec<Says> {
        if self.prompt().is_some() {
            return vec![Says::Turn(Mark::Prompt)];
        }
        match self.kind.as_ref() {
            "event_msg" => self.event(),
            "response_item" => self.response(),
            _ => Vec::new(),
        }
    }

    pub fn event(&self) -> Vec<Says> {
        match self.inner.as_ref() {
            "task_started" | "turn_started" => vec![Says::Turn(Mark::Begin)],
            "task_complete" | "turn_complete" => {
                let failed = self.payload.exact("error").is_some_and(|e| e.raw() != "null");
                let over = Says::Turn(Mark::Over(if failed { Kind::Failed } else { Kind::End }));
                spoken(self.text("last_agent_message"), "")
                    .into_iter()
                    .chain([over])
                    .collect()
            }
            "turn_aborted" => vec![Says::Turn(Mark::Over(Kind::Interrupted))],
            "agent_message" => answer(self.text("message"), &self.text("phase")),
            "agent_reasoning" => vec![Says::Turn(Mark::Busy)],
            "item_completed" => self.completed(),
            _ => Vec::new(),
        }
    }

    /// An item of the paginated history.
    pub fn completed(&self) -> Vec<Says> {
        let Some((kind, item)) = self.item() else {
            return Vec::new();
        };
        let member = |name: &str| item.exact_text(name).unwrap_or_default();
        match kind.as_ref() {
            "AgentMessage" => answer(texts(&item).concat(), &member("phase")),
            "CommandExecution" => {
                let command = item.exact("command").and_then(|c| c.list(64)).unwrap_or_default();
                let line = command.last().map_or("\"\"", |w| w.raw());
                vec![Says::Action(with_input("Bash", "command", line)), worked()]
            }
            "FileChange" => vec![Says::Action("apply_patch".into()), worked()],
            "Extension" | "CollabAgentToolCall" => {
                let name = if member("tool").is_empty() {
                    member("name")
                } else {
                    member("tool")
                };
                vec![Says::Action(clean(&name, summary::LIMIT)), worked()]
            }
            "McpToolCall" | "DynamicToolCall" | "WebSearch" | "ImageView" => vec![worked()],
            "Reasoning" | "HookPrompt" => vec![Says::Turn(Mark::Busy)],
            "Plan" => vec![Says::Plan, Says::Turn(Mark::Answer)],
            _ => Vec::new(),
        }
    }

    pub fn response(&self) -> Vec<Says> {
        let id = self.text("call_id");
        match self.inner.as_ref() {
            "message" if self.text("role") == "assistant" => answer(texts(&self.payload).concat(), &self.text("phase")),
            "reasoning" | "web_search_call" => vec![Says::Turn(Mark::Busy)],
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let name = self.text("name");
                let asks = name == ASKING;
                let mut says = vec![Says::Action(self.call(&name))];
                if name == ASKING_ASYNC {
                    says.push(Says::Asks(id.clone()));
                }
                says.push(Says::Turn(Mark::Call { id, asks }));
                says
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                vec![Says::Turn(Mark::Result { id })]
            }
            _ => Vec::new(),
        }
    }

    /// The summary of a call: its arguments are an object in a text, or one text (a patch, a script).
    pub fn call(&self, name: &str) -> String {
        if let Some(shell) = self.payload.exact("action").and_then(Value::object) {
            let command = shell.exact("command").map_or("null", Value::raw);
            return with_input("local_shell", "command", command);
        }
        if let Some(script) = self.payload.exact("input") {
            return with_input(name, "command", script.raw());
        }
        let arguments = self.text("arguments");
        summary::tool(name, "", Object::parse(&arguments).as_ref(), &Object::default()).summary
    }
}

/// `Name: text` with one member as the input.
fn with_input(name: &str, member: &str, raw: &str) -> String {
    let input = format!("{{\"{member}\":{raw}}}");
    summary::tool(name, "", Object::parse(&input).as_ref(), &Object::default()).summary
}

fn worked() -> Says {
    Says::Turn(Mark::Result { id: String::new() })
}

fn answer(text: String, phase: &str) -> Vec<Says> {
    let mut says = vec![Says::Turn(Mark::Answer)];
    says.extend(spoken(text, phase));
    says
}

fn spoken(text: String, phase: &str) -> Vec<Says> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let plan = text.contains(PLAN).then_some(Says::Plan);
    let last = matches!(phase, "" | "final_answer");
    plan.into_iter().chain([Says::Text { text, last }]).collect()
}

/// The texts of a content list.
fn texts(object: &Object<'_>) -> Vec<String> {
    let content = object.exact("content");
    if let Some(text) = content.and_then(Value::text) {
        return vec![text.into_owned()];
    }
    let list = content.and_then(|c| c.list(1000)).unwrap_or_default();
    list.into_iter()
        .filter_map(|b| b.object()?.exact("text")?.text().map(Cow::into_owned))
        .collect()
}

/// The error's name, else its message.
pub fn error(line: &Line<'_>) -> String {
    let Some(error) = line.payload.exact("error") else {
        return String::new();
    };
    let text = match error.object() {
        Some(object) => {
            let named = object.exact_text("codex_error_info").filter(|n| n != "other");
            named
                .or_else(|| object.exact_text("message"))
                .unwrap_or_default()
                .into_owned()
        }
        None => error.text().unwrap_or_default().into_owned(),
    };
    clean(first_line(&text), 80)
}
