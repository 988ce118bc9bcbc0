//! Codex's rollouts: `sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl`, measured with 0.171.0.
//!
//! A line is `{timestamp, ordinal, type, payload}`; in 2025 it was the payload alone. Events say when a turn begins and
//! is over; its work stands in response items, in events (up to 0.146) or in completed items (later). Old records have
//! no events: there an answer is `plain`. No line says that somebody is asked.

mod line;
mod start;

use super::lines::{Backwards, each_back, objects};
use super::walk::{Mark, Walk};
use super::{Head, Kind, Tail, find, last_part, without_mark};
use crate::json::Object;
use crate::summary;
use line::{Line, Says, error};
use memchr::memmem;
use ring_session::text::{clean, first_line};
use std::ops::ControlFlow;

pub use start::head;

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
    for line in Backwards::new(bytes, starts_at_file_start) {
        if reader.passes(line) {
            continue;
        }
        let taken = objects(line, &mut |text| match Line::parse(text) {
            Some(line) if line.ordinal >= first_ordinal => reader.take(&line, &mut tail),
            _ => ControlFlow::Continue(()),
        });
        if taken.is_break() {
            break;
        }
    }
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
    /// A call was seen; and behind it, further back, a result: older calls have theirs.
    called: bool,
    settled: bool,
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
            called: false,
            settled: false,
        }
    }

    /// Whether a line need not be parsed: once all calls are settled, results are only in the way to the turn's start,
    /// and they are most of a rollout.
    fn passes(&self, line: &[u8]) -> bool {
        self.settled && memmem::find(line, b"_call_output\"").is_some()
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
                    let mark = self.settle(mark);
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

    fn settle(&mut self, mark: Mark) -> Mark {
        match mark {
            Mark::Call { .. } if self.settled => return Mark::Busy,
            Mark::Call { .. } => self.called = true,
            Mark::Result { ref id } if !id.is_empty() => self.settled |= self.called,
            _ => {}
        }
        mark
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
        if tail.cwd.len() > 4096 {
            tail.cwd.clear();
        }
    }
    if tail.model.is_empty() {
        tail.model = clean(&line.text("model"), 80);
    }
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
