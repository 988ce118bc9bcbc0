//! Codex's rollouts: `sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl`, measured with 0.171.0.
//!
//! A line is `{timestamp, ordinal, type, payload}`; in 2025 it was the payload alone. Events say when a turn begins and
//! is over; its work stands in response items, in events (up to 0.146) or in completed items (later). Old records have
//! no events: there an answer is `plain`. No line says that somebody is asked.

use super::lines::{each, each_back};
use super::walk::{Mark, Walk};
use super::{Head, Kind, Tail, find, last_part, without_mark};
use crate::json::{Object, Value};
use crate::summary;
use memchr::memmem;
use ring_session::text::{clean, first_line};
use ring_session::time::{Ms, parse_iso};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// The tool whose call stays open until the person has answered, and the one that returns at once.
const ASKING: &str = "request_user_input";
const ASKING_ASYNC: &str = "request_user_input_async";
/// What a plan is wrapped in, if it is no item of its own.
const PLAN: &str = "<proposed_plan>";

/// Events that only formats with marks for the end of a turn have.
const ENDING: [&[u8]; 4] = [
    b"\"task_started\"",
    b"\"task_complete\"",
    b"\"turn_aborted\"",
    b"\"item_completed\"",
];

/// The tail of a rollout.
pub fn tail(bytes: &[u8], starts_at_file_start: bool) -> Tail {
    tail_of_child(bytes, starts_at_file_start, 0)
}

/// As [`tail`], of a child's rollout: lines with an ordinal below `first_ordinal` are its parent's and are skipped
/// ([`Head::first_ordinal`]).
pub fn tail_of_child(bytes: &[u8], starts_at_file_start: bool, first_ordinal: u64) -> Tail {
    let head = if starts_at_file_start {
        head(bytes)
    } else {
        Head::default()
    };
    let first_ordinal = first_ordinal.max(head.first_ordinal);
    let plain = !ENDING.iter().any(|word| memmem::find(bytes, word).is_some());
    let mut tail = Tail::default();
    let mut reader = Reader::new(plain);
    each_back(bytes, starts_at_file_start, |text| match Line::parse(text) {
        Some(line) if line.ordinal >= first_ordinal => reader.take(&line, &mut tail),
        _ => ControlFlow::Continue(()),
    });
    reader.finish(&mut tail, starts_at_file_start, plain);
    if tail.kind == Kind::None {
        tail.kind = without_mark(bytes, starts_at_file_start, reader.known);
    }
    fill(&mut tail, bytes, first_ordinal);
    if tail.cwd.is_empty() {
        tail.cwd = head.cwd;
    }
    tail.first_prompt = head.first_prompt;
    tail
}

/// What the start of a rollout says. Only the first `session_meta` is the session's own: forks and children repeat
/// their parent's lines behind it.
pub fn head(bytes: &[u8]) -> Head {
    let mut head = Head::default();
    let mut first = true;
    each(bytes, |text| {
        let Some(line) = Line::parse(text) else {
            return ControlFlow::Continue(());
        };
        if std::mem::take(&mut first) {
            head = meta(&line.payload);
        } else if line.ordinal >= head.first_ordinal
            && let Some(prompt) = line.prompt()
            && !prompt.starts_with('<')
        {
            head.first_prompt = clean(first_line(&prompt), 200);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    if first
        && let Some(text) = cut_meta(bytes)
        && let Some(line) = Line::parse(&text)
    {
        head = meta(&line.payload);
    }
    head
}

/// Whether approvals are reviewed by a model: the last `turn_context` names a reviewer that is not the person.
pub fn reviewed(bytes: &[u8]) -> bool {
    let mut reviewed = false;
    find::last(bytes, "\"turn_context\"", |text| {
        let Some(line) = Line::parse(text).filter(|l| l.kind == "turn_context") else {
            return false;
        };
        reviewed = line
            .payload
            .exact_text("approvals_reviewer")
            .is_some_and(|r| r != "user");
        true
    });
    reviewed
}

/// The last text of the assistant, if no prompt, tool or interrupt follows it.
pub fn last_text(bytes: &[u8], starts_at_file_start: bool) -> Option<String> {
    let mut found = None;
    each_back(bytes, starts_at_file_start, |text| {
        let Some(line) = Line::parse(text) else {
            return ControlFlow::Continue(());
        };
        for said in line.says().into_iter().rev() {
            match said {
                Says::Text { text, .. } => found = Some(text),
                Says::Turn(Mark::Busy | Mark::Closed) | Says::Plan => continue,
                Says::Turn(Mark::Over(Kind::End)) => continue,
                _ => {}
            }
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    found
}

/// One line, with or without its wrapper.
struct Line<'a> {
    kind: Cow<'a, str>,
    /// Type of the payload.
    inner: Cow<'a, str>,
    payload: Object<'a>,
    ordinal: u64,
    ms: Ms,
}

/// What a line says, in the order of the walk's interest.
enum Says {
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
    fn parse(text: &'a str) -> Option<Line<'a>> {
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

    fn text(&self, name: &str) -> String {
        self.payload.exact_text(name).map(Cow::into_owned).unwrap_or_default()
    }

    fn turn(&self) -> String {
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

    fn item(&self) -> Option<(Cow<'a, str>, Object<'a>)> {
        let item = self
            .payload
            .exact("item")
            .and_then(Value::object)
            .filter(|_| self.inner == "item_completed")?;
        Some((item.exact_text("type")?, item))
    }

    /// The text of a person's prompt.
    fn prompt(&self) -> Option<String> {
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
    fn says(&self) -> Vec<Says> {
        if self.prompt().is_some() {
            return vec![Says::Turn(Mark::Prompt)];
        }
        match self.kind.as_ref() {
            "event_msg" => self.event(),
            "response_item" => self.response(),
            _ => Vec::new(),
        }
    }

    fn event(&self) -> Vec<Says> {
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
    fn completed(&self) -> Vec<Says> {
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

    fn response(&self) -> Vec<Says> {
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
    fn call(&self, name: &str) -> String {
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

/// The walk over a rollout, and what it has seen on its way.
struct Reader {
    walk: Walk,
    /// A line of a known type was seen.
    known: bool,
    /// A prompt was seen: it answers what was asked before it.
    prompted: bool,
    /// Calls whose question was answered on the screen.
    answered: Vec<String>,
    asks: bool,
    plan: bool,
}

impl Reader {
    fn new(plain: bool) -> Reader {
        Reader {
            walk: Walk::new(plain),
            known: false,
            prompted: false,
            answered: Vec::new(),
            asks: false,
            plan: false,
        }
    }

    fn take(&mut self, line: &Line<'_>, tail: &mut Tail) -> ControlFlow<()> {
        self.known |= matches!(
            line.kind.as_ref(),
            "session_meta" | "turn_context" | "event_msg" | "response_item" | "world_state" | "compacted"
        );
        match line.kind.as_ref() {
            "turn_context" => context(line, tail),
            "retained_context" => self.answered.push(line.text("call_id")),
            _ => {}
        }
        let turn = line.turn();
        for said in line.says().into_iter().rev() {
            match said {
                Says::Turn(mark) => {
                    self.prompted |= mark == Mark::Prompt;
                    if mark == Mark::Over(Kind::Failed) && tail.error.is_empty() {
                        tail.error = error(line);
                    }
                    self.walk.mark(mark, line.ms, &turn)?;
                }
                Says::Text { text, last } => {
                    if tail.text.is_empty() && last {
                        tail.text = text;
                    }
                }
                Says::Action(text) => {
                    if tail.action.is_empty() {
                        tail.action = text;
                    }
                }
                Says::Asks(id) => self.asks |= !self.prompted && !self.answered.contains(&id),
                Says::Plan => self.plan = true,
            }
        }
        ControlFlow::Continue(())
    }

    fn finish(&mut self, tail: &mut Tail, whole: bool, plain: bool) {
        std::mem::take(&mut self.walk).finish(tail, whole, plain);
        tail.asks |= self.asks;
        if tail.kind != Kind::Failed {
            tail.error.clear();
        }
        if tail.kind == Kind::End && self.plan {
            tail.note = "plan proposed".into();
        }
    }
}

/// Folder and model of a turn.
fn context(line: &Line<'_>, tail: &mut Tail) {
    if tail.cwd.is_empty() {
        tail.cwd = line.text("cwd");
    }
    if tail.model.is_empty() {
        tail.model = clean(&line.text("model"), 80);
    }
}

/// The error's name, else its message.
fn error(line: &Line<'_>) -> String {
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

/// What the walk did not come by: folder and model of the last turn, to-do list, the last tool.
fn fill(tail: &mut Tail, bytes: &[u8], first_ordinal: u64) {
    let own = |text: &str, take: &mut dyn FnMut(&Line<'_>) -> bool| {
        Line::parse(text).is_some_and(|line| line.ordinal >= first_ordinal && take(&line))
    };
    if tail.cwd.is_empty() {
        find::last(bytes, "\"turn_context\"", |text| {
            own(text, &mut |line| {
                if line.kind == "turn_context" {
                    context(line, tail);
                }
                !tail.cwd.is_empty()
            })
        });
    }
    find::last(bytes, "\"update_plan\"", |text| {
        own(text, &mut |line| {
            if line.text("name") == "update_plan" {
                tail.todo = Object::parse(&line.text("arguments")).and_then(|input| summary::todo(&input));
            }
            tail.todo.is_some()
        })
    });
    if tail.action.is_empty() {
        tail.action = clean(first_line(&tail.text), summary::LIMIT);
    }
    tail.text = last_part(std::mem::take(&mut tail.text));
}

/// The first line as far as it was read: what stands before the instructions, which may be longer than a head.
fn cut_meta(bytes: &[u8]) -> Option<String> {
    let at =
        memmem::find(bytes, b",\"base_instructions\"").or_else(|| memmem::find(bytes, b", \"base_instructions\""))?;
    Some(format!("{}}}}}", String::from_utf8_lossy(&bytes[..at])))
}

fn meta(payload: &Object<'_>) -> Head {
    let text = |name: &str| payload.exact_text(name).map(Cow::into_owned).unwrap_or_default();
    let source = payload.exact("source");
    let child = source.and_then(Value::object).and_then(|o| o.exact("subagent"));
    let spawned = child
        .and_then(Value::object)
        .and_then(|o| o.exact("thread_spawn")?.object());
    let parent = match text("parent_thread_id") {
        none if none.is_empty() => spawned.and_then(|o| o.exact_text("parent_thread_id").map(Cow::into_owned)),
        parent => Some(parent),
    };
    let id = text("id");
    let source_text = source.and_then(Value::text).map(Cow::into_owned).unwrap_or_default();
    let internal_source = source
        .and_then(Value::object)
        .is_some_and(|o| o.exact("internal").is_some());
    Head {
        session_id: if id.is_empty() { text("session_id") } else { id },
        cwd: text("cwd"),
        child: child.is_some() || source_text == "subagent" || text("thread_source") == "subagent" || parent.is_some(),
        internal: internal_source
            || [&source_text, &text("originator")]
                .iter()
                .any(|t| t.contains("internal")),
        parent: parent.unwrap_or_default(),
        source: source_text,
        originator: text("originator"),
        cli_version: text("cli_version"),
        first_ordinal: payload
            .exact("subagent_history_start_ordinal")
            .and_then(Value::number)
            .map_or(0, |n| n as u64),
        first_prompt: String::new(),
    }
}
