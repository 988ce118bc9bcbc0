//! The one walk backwards over turn marks: from the newest mark to the start of its turn, and no further.

use super::{Kind, Tail};
use ring_session::time::Ms;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Lines of one turn may stand in the wrong order: Claude writes a first prompt up to a second behind its answer. Stamps
/// decide within this span; beyond it the clock was set, and the order in the file counts.
const SWAPPED_MS: Ms = 5_000;

/// Whether a prompt was written behind a line that came after it.
pub fn written_late(prompt: Ms, line: Ms) -> bool {
    line > prompt && line - prompt <= SWAPPED_MS
}

/// What one line says of the turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A person's prompt.
    Prompt,
    /// The turn begins here, whoever began it.
    Begin,
    /// A tool call; `asks`: a question or a plan for the person.
    Call { id: String, asks: bool },
    /// Its result.
    Result { id: String },
    /// Its result: the person said no.
    Denied { id: String },
    /// A text of the assistant.
    Answer,
    /// Other work.
    Busy,
    /// The turn is over: end, failed or interrupted.
    Over(Kind),
    /// The turn is over; the mark before it says how.
    Closed,
}

/// Where the walk is. Feed it marks, newest first.
#[derive(Debug, Default)]
pub struct Walk {
    /// A prompt ends the walk: the format has no [`Mark::Begin`].
    prompt_begins: bool,
    newest: Option<Newest>,
    /// Marks inside the turn, older than the one that ended it, were seen.
    inside: bool,
    /// The prompt that the walk ends at.
    prompt_ms: Option<Ms>,
    /// The newest prompt.
    last_prompt_ms: Ms,
    begin_ms: Ms,
    earliest_ms: Ms,
    answered_ms: Ms,
    done: HashSet<String>,
    open: Vec<bool>,
    /// The turn of those marks so far that name one; empty: they name several.
    turn: Option<String>,
}

#[derive(Debug)]
struct Newest {
    kind: Kind,
    ms: Ms,
    closed: bool,
    answer: bool,
}

impl Newest {
    fn over(&self) -> bool {
        matches!(self.kind, Kind::End | Kind::Failed | Kind::Interrupted)
    }
}

impl Walk {
    /// `prompt_begins`: the format marks no other beginning of a turn, so the walk ends at a prompt.
    pub fn new(prompt_begins: bool) -> Walk {
        Walk {
            prompt_begins,
            ..Walk::default()
        }
    }

    /// Takes the next older mark; breaks off at the start of the turn. `turn`: the turn that the line names, or "".
    pub fn mark(&mut self, mark: Mark, ms: Ms, turn: &str) -> ControlFlow<()> {
        if let Some(prompt) = self.prompt_ms {
            if !written_late(prompt, ms) {
                return ControlFlow::Break(());
            }
            // the prompt was written late: what stands before it came after it
            if self.newest.as_ref().is_some_and(|n| n.kind == Kind::Start) {
                self.newest = None;
                self.inside = false;
            }
        }
        match mark {
            Mark::Over(kind) => return self.over(kind, false, ms, turn),
            Mark::Closed => return self.over(Kind::End, true, ms, turn),
            Mark::Begin => {
                self.settle(Kind::Busy, ms, false);
                self.begin_ms = ms;
                return ControlFlow::Break(());
            }
            Mark::Prompt => {
                self.settle(Kind::Start, ms, false);
                self.last_prompt_ms = self.last_prompt_ms.max(ms);
                self.prompt_ms = self.prompt_begins.then_some(ms);
            }
            Mark::Call { id, asks } => {
                // a call without an id can only be told to be open if nothing follows
                let open = if id.is_empty() {
                    self.newest.is_none()
                } else {
                    !self.done.contains(&id)
                };
                if open {
                    self.open.push(asks);
                }
                self.settle(Kind::Busy, ms, false);
            }
            Mark::Result { id } => {
                self.done.insert(id);
                self.answered_ms = self.answered_ms.max(ms);
                self.settle(Kind::Busy, ms, false);
            }
            Mark::Denied { id } => {
                self.done.insert(id);
                self.answered_ms = self.answered_ms.max(ms);
                self.settle(Kind::Denied, ms, false);
            }
            Mark::Answer => {
                self.answered_ms = self.answered_ms.max(ms);
                self.settle(Kind::Busy, ms, true);
            }
            Mark::Busy => self.settle(Kind::Busy, ms, false),
        }
        self.inside = true;
        self.earliest_ms = if self.earliest_ms == 0 {
            ms
        } else {
            self.earliest_ms.min(ms)
        };
        self.name_turn(turn);
        ControlFlow::Continue(())
    }

    fn settle(&mut self, kind: Kind, ms: Ms, answer: bool) {
        self.newest.get_or_insert(Newest {
            kind,
            ms,
            closed: false,
            answer,
        });
    }

    fn name_turn(&mut self, turn: &str) {
        if !turn.is_empty() {
            let same = self.turn.as_deref().is_none_or(|t| t == turn);
            self.turn = Some(if same { turn.to_string() } else { String::new() });
        }
    }

    fn over(&mut self, kind: Kind, closed: bool, ms: Ms, turn: &str) -> ControlFlow<()> {
        let answer = false;
        let over = Newest {
            kind,
            ms,
            closed,
            answer,
        };
        match &mut self.newest {
            None => self.newest = Some(over),
            Some(newest) if newest.over() && !self.inside => {
                if newest.closed && !closed {
                    newest.kind = kind;
                    newest.closed = false;
                }
            }
            Some(newest) => {
                let late = !newest.over() && !turn.is_empty() && self.turn.as_deref() == Some(turn);
                if !late {
                    // an older turn: this one began behind it
                    self.begin_ms = self.earliest_ms;
                    return ControlFlow::Break(());
                }
                // a command that outlived its turn reported late
                *newest = over;
                self.open.clear();
                self.inside = false;
                self.earliest_ms = 0;
            }
        }
        ControlFlow::Continue(())
    }

    /// Writes what was found into the tail. `whole`: the walk began at the start of the file; `plain`: the format has
    /// no end marks.
    pub fn finish(self, tail: &mut Tail, whole: bool, plain: bool) {
        let Some(newest) = self.newest else { return };
        tail.kind = match newest.kind {
            Kind::Busy | Kind::Denied if !self.open.is_empty() => Kind::Tool,
            Kind::Busy if newest.answer && plain => Kind::Plain,
            kind => kind,
        };
        tail.ms = newest.ms;
        tail.turn_started_ms = match (self.prompt_ms, self.begin_ms) {
            (Some(prompt), _) => prompt,
            (None, 0) if whole && self.last_prompt_ms > 0 => self.last_prompt_ms,
            (None, 0) if whole => self.earliest_ms,
            (None, begin) => begin,
        };
        tail.answered_ms = self.answered_ms;
        if tail.kind == Kind::Tool {
            tail.open_tools = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
            tail.asks = self.open.contains(&true);
        }
    }
}
