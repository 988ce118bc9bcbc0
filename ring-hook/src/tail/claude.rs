//! Claude Code's transcripts: `projects/ENC/SESSION.jsonl`, measured with 2.1.197 and 2.1.332.
//!
//! Lines of type user and assistant carry the conversation, system lines say that a turn is over, all others are
//! bookkeeping. One message of the assistant is several lines with one `message.id`; the last one counts. A call that
//! runs and one under an open permission dialog look alike: nothing here says that somebody waits.

mod line;
mod rest;

use super::lines::{Backwards, each_back, forwards, objects};
use super::walk::{Mark, Walk, written_late};
use super::{Head, Kind, Tail, action, without_mark};
use line::{Block, Line, Message, SYNTHETIC, error, is_interrupt};
use memchr::memmem;
use ring_session::text::{clean, first_line};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Tools that ask the person: a question, the approval of a plan.
const ASKING: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];

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
    for line in Backwards::new(bytes, whole) {
        if reader.passes(line) {
            continue;
        }
        let taken = objects(line, &mut |text| match Line::parse(text) {
            Some(line) => reader.take(&line, &mut tail),
            None => ControlFlow::Continue(()),
        });
        if taken.is_break() {
            break;
        }
    }
    reader.walk.finish(&mut tail, whole, false);
    if tail.kind == Kind::None {
        tail.kind = without_mark(bytes, whole, reader.known);
    }
    if tail.kind != Kind::Failed {
        tail.error.clear();
    }
    rest::fill(&mut tail, bytes, child);
    if whole {
        tail.first_prompt = head(bytes).first_prompt;
    }
    tail
}

/// What the start of a transcript says. The session's id is the name of its file: forks and resumed files begin with
/// lines of other sessions.
pub fn head(bytes: &[u8]) -> Head {
    let mut head = Head::default();
    for line in forwards(bytes) {
        // once id and folder are known only prompts matter
        let known = !head.session_id.is_empty() && !head.cwd.is_empty();
        if known && memmem::find(line, b"\"user\"").is_none() {
            continue;
        }
        let prompted = objects(line, &mut |text| match Line::parse(text) {
            Some(line) => begin(&line, &mut head),
            None => ControlFlow::Continue(()),
        });
        if prompted.is_break() {
            break;
        }
    }
    head
}

fn begin(line: &Line<'_>, head: &mut Head) -> ControlFlow<()> {
    if head.session_id.is_empty() {
        head.session_id = line.text("sessionId");
    }
    if head.cwd.is_empty() {
        head.cwd = line.text("cwd");
    }
    head.child |= line.flag("isSidechain");
    match line.prompt(&Message::of(line)).filter(|_| line.kind == "user") {
        Some(prompt) => {
            head.first_prompt = clean(first_line(&prompt), 200);
            ControlFlow::Break(())
        }
        None => ControlFlow::Continue(()),
    }
}

/// The last text of the foreground's assistant, if no prompt, tool or interrupt follows it.
pub fn last_text(bytes: &[u8], starts_at_file_start: bool) -> Option<String> {
    let mut found = None;
    let mut user_ms = None;
    each_back(bytes, starts_at_file_start, |text| {
        let Some(line) = Line::parse(text).filter(|l| !l.flag("isSidechain")) else {
            return ControlFlow::Continue(());
        };
        match line.kind.as_ref() {
            "user" if !line.flag("isMeta") => user_ms = user_ms.or(Some(line.ms)),
            "assistant" if !line.flag("isApiErrorMessage") => {
                if user_ms.is_some_and(|user| !written_late(user, line.ms)) {
                    return ControlFlow::Break(());
                }
                let message = Message::of(&line);
                if message.blocks.iter().any(|b| b.kind == "tool_use") {
                    return ControlFlow::Break(());
                }
                found = message.last_text().map(Cow::into_owned);
            }
            _ => {}
        }
        if found.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    found
}

/// The walk over a transcript, and what it has seen on its way.
#[derive(Default)]
struct Reader {
    child: bool,
    walk: Walk,
    /// The message of the newest assistant line so far: older lines of it do not end a turn.
    message: String,
    /// An older message than the newest one was seen: its calls and all older ones have their results.
    settled: bool,
    /// A line of a known type was seen.
    known: bool,
}

impl Reader {
    /// Whether a line need not be parsed: once all calls are settled, results are only in the way to the turn's start,
    /// and they are most of a transcript.
    fn passes(&self, line: &[u8]) -> bool {
        let has = |word: &[u8]| memmem::find(line, word).is_some();
        self.settled && has(b"\"tool_result\"") && !has(line::INTERRUPTED.as_bytes())
    }

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
        if message.texts().any(|t| is_interrupt(&t)) {
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
        self.settled |= !older && !self.message.is_empty();
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
            let asks = ASKING.contains(&name.as_str());
            let id = call.text_of("id");
            let mark = if self.settled {
                Mark::Busy
            } else {
                Mark::Call { id, asks }
            };
            self.walk.mark(mark, line.ms, "")?;
        }
        match (&said, ends || !calls.is_empty()) {
            (Some(_), _) => self.walk.mark(Mark::Answer, line.ms, ""),
            (None, true) => ControlFlow::Continue(()),
            (None, false) => self.walk.mark(Mark::Busy, line.ms, ""),
        }
    }
}
