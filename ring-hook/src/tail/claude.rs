//! Claude Code's transcripts: `projects/ENC/SESSION.jsonl`, measured with 2.1.197 and 2.1.332.
//!
//! Lines of type user and assistant carry the conversation, system lines say that a turn is over, all others are
//! bookkeeping. One message of the assistant is several lines with one `message.id`; the last one counts. A call that
//! runs and one under an open permission dialog look alike: nothing here says that somebody waits.

use super::lines::{each, each_back};
use super::walk::{Mark, Walk};
use super::{Head, Kind, Tail, action, find, last_part, without_mark};
use crate::json::{Object, Value};
use crate::summary::todo;
use ring_session::text::{clean, first_line};
use ring_session::time::{Ms, parse_iso};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Tools that ask the person: a question, the approval of a plan.
const ASKING: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];

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

const INTERRUPTED: &str = "[Request interrupted by user";
const DENIED: &str = "The user doesn't want to proceed";
/// The model of lines that the client wrote itself.
const SYNTHETIC: &str = "<synthetic>";

/// Line types that hold no turn mark.
const BOOKKEEPING: [&str; 20] = [
    "agent-name",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "attachment",
    "cost-state",
    "custom-title",
    "file-history-delta",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "progress",
    "queue-operation",
    "summary",
    "tag",
    "tools-used",
    "worktree-state",
];

/// The tail of a session's transcript. Lines of children (sidechains) do not count.
pub fn tail(bytes: &[u8], starts_at_file_start: bool) -> Tail {
    read(bytes, starts_at_file_start, false)
}

/// The same of a child's own record (`agent-ID.jsonl`): there the lines that are marked as a sidechain are the ones that
/// count.
pub fn tail_of_child(bytes: &[u8], starts_at_file_start: bool) -> Tail {
    read(bytes, starts_at_file_start, true)
}

fn read(bytes: &[u8], whole: bool, child: bool) -> Tail {
    let mut tail = Tail::default();
    let mut reader = Reader {
        child,
        walk: Walk::new(true),
        ..Reader::default()
    };
    each_back(bytes, whole, |text| match Line::parse(text) {
        Some(line) => reader.take(&line, &mut tail),
        None => ControlFlow::Continue(()),
    });
    reader.walk.finish(&mut tail, whole, false);
    if tail.kind == Kind::None {
        tail.kind = without_mark(bytes, whole, reader.known);
    }
    if tail.kind != Kind::Failed {
        tail.error.clear();
    }
    fill(&mut tail, bytes, child);
    if whole {
        tail.first_prompt = head(bytes).first_prompt;
    }
    tail
}

/// What the start of a transcript says. The session's id is the name of its file: forks and resumed files begin with
/// lines of other sessions.
pub fn head(bytes: &[u8]) -> Head {
    let mut head = Head::default();
    each(bytes, |text| {
        let Some(line) = Line::parse(text) else {
            return ControlFlow::Continue(());
        };
        if head.session_id.is_empty() {
            head.session_id = line.text("sessionId");
        }
        if head.cwd.is_empty() {
            head.cwd = line.text("cwd");
        }
        head.child |= line.flag("isSidechain");
        if line.kind == "user"
            && let Some(prompt) = line.prompt(&Message::of(&line))
        {
            head.first_prompt = clean(first_line(&prompt), 200);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    head
}

/// The last text of the foreground's assistant, if no prompt, tool or interrupt follows it.
pub fn last_text(bytes: &[u8], starts_at_file_start: bool) -> Option<String> {
    let mut found = None;
    each_back(bytes, starts_at_file_start, |text| {
        let Some(line) = Line::parse(text).filter(|l| !l.flag("isSidechain")) else {
            return ControlFlow::Continue(());
        };
        let message = match line.kind.as_ref() {
            "user" if line.flag("isMeta") => return ControlFlow::Continue(()),
            "user" => return ControlFlow::Break(()),
            "assistant" if !line.flag("isApiErrorMessage") => Message::of(&line),
            _ => return ControlFlow::Continue(()),
        };
        if message.blocks.iter().any(|b| b.kind == "tool_use") {
            return ControlFlow::Break(());
        }
        found = message.last_text().map(Cow::into_owned);
        if found.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    found
}

/// One line.
struct Line<'a> {
    object: Object<'a>,
    kind: Cow<'a, str>,
    ms: Ms,
}

impl<'a> Line<'a> {
    fn parse(text: &'a str) -> Option<Line<'a>> {
        let object = Object::parse(text)?;
        let kind = object.exact("type").and_then(Value::text)?;
        let ms = object
            .exact("timestamp")
            .and_then(Value::text)
            .and_then(|t| parse_iso(&t))
            .unwrap_or(0);
        Some(Line { object, kind, ms })
    }

    fn flag(&self, name: &str) -> bool {
        self.object.exact(name).and_then(Value::boolean) == Some(true)
    }

    fn text(&self, name: &str) -> String {
        self.object.exact_text(name).map(Cow::into_owned).unwrap_or_default()
    }

    /// The text of a prompt that a person typed.
    fn prompt(&self, message: &Message<'a>) -> Option<Cow<'a, str>> {
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

/// The `message` of a line.
#[derive(Default)]
struct Message<'a> {
    object: Object<'a>,
    blocks: Vec<Block<'a>>,
}

struct Block<'a> {
    kind: Cow<'a, str>,
    object: Object<'a>,
}

/// More blocks than any message has.
const BLOCKS: usize = 1000;

impl<'a> Message<'a> {
    fn of(line: &Line<'a>) -> Message<'a> {
        let raw = line.object.exact("message").map_or("", Value::raw);
        let Some(object) = Object::parse(raw) else {
            return Message::default();
        };
        let list = object.exact("content").and_then(|c| c.list(BLOCKS)).unwrap_or_default();
        let blocks = list.into_iter().filter_map(Block::parse).collect();
        Message { object, blocks }
    }

    fn text_of(&self, name: &str) -> Cow<'a, str> {
        self.object.exact_text(name).unwrap_or_default()
    }

    /// Its texts in order; the content may be one text alone.
    fn texts(&self) -> impl DoubleEndedIterator<Item = Cow<'a, str>> + '_ {
        let alone = self.object.exact("content").and_then(Value::text);
        let blocks = self
            .blocks
            .iter()
            .filter(|b| b.kind == "text")
            .filter_map(|b| b.object.exact("text")?.text());
        alone.into_iter().chain(blocks)
    }

    fn last_text(&self) -> Option<Cow<'a, str>> {
        self.texts().rev().find(|t| !t.trim().is_empty())
    }
}

impl<'a> Block<'a> {
    fn parse(value: Value<'a>) -> Option<Block<'a>> {
        let object = Object::parse(value.raw())?;
        let kind = object.exact("type").and_then(Value::text)?;
        Some(Block { kind, object })
    }

    fn text_of(&self, name: &str) -> String {
        self.object.exact_text(name).map(Cow::into_owned).unwrap_or_default()
    }

    /// A result that begins as Claude writes a "No"; a look at the first bytes is enough for results of megabytes.
    fn is_refusal(&self) -> bool {
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

/// The walk over a transcript, and what it has seen on its way.
#[derive(Default)]
struct Reader {
    child: bool,
    walk: Walk,
    /// The message of the newest assistant line so far: older lines of it do not end a turn.
    message: String,
    /// A line of a known type was seen.
    known: bool,
}

impl Reader {
    fn take(&mut self, line: &Line<'_>, tail: &mut Tail) -> ControlFlow<()> {
        self.known |= BOOKKEEPING.contains(&line.kind.as_ref());
        if line.flag("isSidechain") && !self.child {
            self.known = true;
            return ControlFlow::Continue(());
        }
        if tail.cwd.is_empty() {
            tail.cwd = line.text("cwd");
        }
        match line.kind.as_ref() {
            "user" => self.user(line),
            "assistant" => self.assistant(line, tail),
            "system" => self.system(line),
            _ => ControlFlow::Continue(()),
        }
    }

    fn system(&mut self, line: &Line<'_>) -> ControlFlow<()> {
        self.known = true;
        match line.text("subtype").as_str() {
            "turn_duration" => self.walk.mark(Mark::Closed, line.ms, ""),
            "api_error" if line.object.exact("retryAttempt").is_some() => self.walk.mark(Mark::Busy, line.ms, ""),
            _ => ControlFlow::Continue(()),
        }
    }

    fn user(&mut self, line: &Line<'_>) -> ControlFlow<()> {
        self.known = true;
        let message = Message::of(line);
        if message.texts().any(|t| t.trim_start().starts_with(INTERRUPTED)) {
            self.walk.mark(Mark::Over(Kind::Interrupted), line.ms, "")?;
        }
        let denied = line.object.exact_text("toolDenialKind");
        for block in message.blocks.iter().rev().filter(|b| b.kind == "tool_result") {
            let id = block.text_of("tool_use_id");
            let refused = denied.as_deref() == Some("user-rejected") || block.is_refusal();
            let mark = if refused {
                Mark::Denied { id }
            } else {
                Mark::Result { id }
            };
            self.walk.mark(mark, line.ms, "")?;
        }
        match line.prompt(&message) {
            Some(_) => self.walk.mark(Mark::Prompt, line.ms, ""),
            None => ControlFlow::Continue(()),
        }
    }

    fn assistant(&mut self, line: &Line<'_>, tail: &mut Tail) -> ControlFlow<()> {
        self.known = true;
        let message = Message::of(line);
        let model = message.text_of("model");
        if tail.model.is_empty() && model != SYNTHETIC {
            tail.model = clean(&model, 80);
        }
        let reason = message.text_of("stop_reason");
        let said = message.last_text();
        let failed = line.flag("isApiErrorMessage")
            || (model == SYNTHETIC && reason == "stop_sequence" && line.object.exact_text("error").is_some());
        if failed {
            if tail.error.is_empty() {
                tail.error = error(line, said.as_deref());
            }
            return self.walk.mark(Mark::Over(Kind::Failed), line.ms, "");
        }
        let id = message.text_of("id");
        let older = !id.is_empty() && id == self.message;
        self.message = id.into_owned();
        let calls: Vec<&Block<'_>> = message.blocks.iter().filter(|b| b.kind == "tool_use").collect();
        let ends = matches!(reason.as_ref(), "end_turn" | "stop_sequence" | "refusal") && calls.is_empty() && !older;
        if tail.text.is_empty()
            && let Some(said) = &said
        {
            tail.text = said.to_string();
        }
        if ends {
            self.walk.mark(Mark::Over(Kind::End), line.ms, "")?;
        }
        for call in calls.iter().rev() {
            let name = call.text_of("name");
            if tail.action.is_empty() {
                tail.action = action(&name, call.object.exact("input"));
            }
            self.walk.mark(
                Mark::Call {
                    id: call.text_of("id"),
                    asks: ASKING.contains(&name.as_str()),
                },
                line.ms,
                "",
            )?;
        }
        match (&said, ends || !calls.is_empty()) {
            (Some(_), _) => self.walk.mark(Mark::Answer, line.ms, ""),
            (None, true) => ControlFlow::Continue(()),
            (None, false) => self.walk.mark(Mark::Busy, line.ms, ""),
        }
    }
}

/// The error's name, else what the line says.
fn error(line: &Line<'_>, said: Option<&str>) -> String {
    let name = line.text("error");
    let text = if name.is_empty() || name == "unknown" {
        first_line(said.unwrap_or(&name))
    } else {
        &name
    };
    clean(text, 80)
}

/// What the walk did not come by: titles, to-do list, and the last of what other turns had.
fn fill(tail: &mut Tail, bytes: &[u8], child: bool) {
    let line = |word: &str, take: &mut dyn FnMut(&Line<'_>) -> bool| {
        find::last(bytes, word, |text| {
            Line::parse(text).is_some_and(|line| (child || !line.flag("isSidechain")) && take(&line))
        });
    };
    let title = |kind: &str, member: &str| {
        let mut found = String::new();
        line(&format!("\"{kind}\""), &mut |l| {
            found = clean(&l.text(member), 200);
            l.kind == kind
        });
        found
    };
    tail.custom_title = title("custom-title", "customTitle");
    tail.title = [("ai-title", "aiTitle"), ("summary", "summary")].iter().fold(
        tail.custom_title.clone(),
        |best, (kind, member)| {
            if best.is_empty() { title(kind, member) } else { best }
        },
    );
    line("\"TodoWrite\"", &mut |l| {
        tail.todo = Message::of(l).blocks.iter().rev().find_map(|b| {
            let input = b
                .object
                .exact("input")
                .filter(|_| b.text_of("name") == "TodoWrite")?
                .object()?;
            todo(&input)
        });
        tail.todo.is_some()
    });
    if tail.cwd.is_empty() {
        line("\"cwd\"", &mut |l| {
            tail.cwd = l.text("cwd");
            !tail.cwd.is_empty()
        });
    }
    if tail.model.is_empty() {
        line("\"model\"", &mut |l| {
            let model = Message::of(l).text_of("model").into_owned();
            tail.model = if model == SYNTHETIC {
                String::new()
            } else {
                clean(&model, 80)
            };
            !tail.model.is_empty()
        });
    }
    if tail.action.is_empty() {
        line("\"tool_use\"", &mut |l| {
            let message = Message::of(l);
            let call = message.blocks.iter().rev().find(|b| b.kind == "tool_use");
            tail.action = call
                .map(|c| action(&c.text_of("name"), c.object.exact("input")))
                .unwrap_or_default();
            !tail.action.is_empty()
        });
    }
    if tail.action.is_empty() {
        tail.action = clean(first_line(&tail.text), 160);
    }
    tail.text = last_part(std::mem::take(&mut tail.text));
}
