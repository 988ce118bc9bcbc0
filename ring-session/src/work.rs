//! A record while a command decides about it.
//!
//! [`Work`] is a value: the record as it was read, the clock, this machine's stamp, and what is to be stored beside
//! the record when the command has decided. The transitions are its methods, one concept a file: `lifecycle.rs`,
//! `queue.rs`, `permission.rs`, `proposal.rs`, `execution.rs`, `recovery.rs`. None of them does I/O; `store.rs` reads before and
//! writes after.

use crate::process::{Look, Stamp};
use crate::record::Record;
use crate::refusal::{Code, Refusal};
use crate::row::Row;
use crate::time::Ms;
use serde_json::{Map, Value};

/// What is known of the machine while a command decides.
#[derive(Clone, Debug)]
pub struct Here {
    /// The clock.
    pub now: Ms,
    /// This machine and boot; pid 0.
    pub stamp: Stamp,
    /// Finds a process.
    pub look: fn(u32) -> Look,
}

impl Here {
    /// The real machine at `now`.
    pub fn real(now: Ms) -> Here {
        Here {
            now,
            stamp: Stamp::nobody(),
            look: crate::process::look,
        }
    }
}

/// An event line that is still without its revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Announcement {
    /// Kind of the line.
    pub kind: &'static str,
    /// Its further members.
    pub members: Map<String, Value>,
}

/// How much of the transcript an abort removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Size that is left.
    pub bytes: u64,
    /// Rows that are left.
    pub rows: u64,
}

/// What stands behind the live turn's user row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    /// What would be left if the user row and all behind it went.
    pub cut: Cut,
    /// Something there answers the prompt, or belongs to somebody else.
    pub answered: bool,
}

/// A record in the hands of a command.
#[derive(Clone, Debug)]
pub struct Work {
    /// The record; changed by transitions.
    pub record: Record,
    /// Clock and machine.
    pub here: Here,
    /// The reply that is not finished yet, if the live turn has one.
    pub checkpoint: Option<Row>,
    /// The checkpoint's file goes, or stays away.
    pub drop_checkpoint: bool,
    /// Rows to append.
    pub rows: Vec<Row>,
    /// Ids among them that take the place of a row that is there.
    pub replacing: Vec<String>,
    /// What leaves the record.
    pub history: Vec<String>,
    /// The transcript is to be cut.
    pub cut: Option<Cut>,
    /// Lines for `events.jsonl`.
    pub events: Vec<Announcement>,
    /// Only what stands aside of the session's own work changes (its notifications): its time stays, and so does the list
    /// of ends whose line may be missing. Recovery and expiry are no such thing.
    pub aside: bool,
}

impl Work {
    /// A record as it was read.
    pub fn new(record: Record, here: Here) -> Work {
        Work {
            record,
            here,
            checkpoint: None,
            drop_checkpoint: false,
            rows: Vec::new(),
            replacing: Vec::new(),
            history: Vec::new(),
            cut: None,
            events: Vec::new(),
            aside: false,
        }
    }

    /// The clock.
    pub fn now(&self) -> Ms {
        self.here.now
    }

    /// A new id.
    pub fn mint(&self) -> String {
        crate::id::mint(self.here.now)
    }

    /// Whether a stamp's process is proven dead.
    pub fn is_dead(&self, stamp: &Stamp) -> bool {
        stamp.is_dead(&self.here.stamp, self.here.look)
    }

    /// Whether a stamp's process is proven to live: here, now, with that start.
    pub fn is_alive(&self, stamp: &Stamp) -> bool {
        let here = &self.here.stamp;
        stamp.pid != 0
            && (&stamp.host, &stamp.boot, stamp.pid_ns) == (&here.host, &here.boot, here.pid_ns)
            && matches!((self.here.look)(stamp.pid), Look::Found(p) if p.start_ticks == stamp.start_ticks && !matches!(p.state, 'Z' | 'X'))
    }

    /// Notes an event line.
    pub fn announce(&mut self, kind: &'static str, members: Value) {
        let members = match members {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        self.events.push(Announcement { kind, members });
    }

    /// Whether the queue releases nothing: held, or filled under another boot.
    pub fn queue_is_held(&self) -> bool {
        let queue = &self.record.queue;
        queue.held || (!queue.entries.is_empty() && queue.boot != self.here.stamp.boot)
    }

    /// Why nothing can begin, if something is in the way: a live turn, an open proposal, an active execution, and with
    /// `queue` also entries that are not held.
    pub fn busy(&self, queue: bool) -> Option<Refusal> {
        let busy = |reason: &str, text: &str| {
            Some(Refusal::new(Code::AgentBusy, format!("the session is busy: {text}")).with("reason", reason))
        };
        if let Some(turn) = &self.record.turn {
            return busy("turn", "a turn is running; wait for its end, or abort it")
                .map(|r| r.with("turn", turn.id.as_str()));
        }
        if self.open_proposal().is_some() {
            return busy("proposal", "a proposal awaits a decision; see `ring-plan pending`");
        }
        if self.active_execution().is_some() {
            return busy("execution", "approved work is not finished; finish it, or abort it");
        }
        if queue && !self.record.queue.entries.is_empty() && !self.queue_is_held() {
            return busy("queue", "prompts are queued; take them with `queue next`, or hold them");
        }
        None
    }
}
