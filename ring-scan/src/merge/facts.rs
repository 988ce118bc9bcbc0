//! What the sources say of one session, and what the board shows of it: the values that go into the decision and come
//! out of it.

use crate::board::{Fact, Tried, Waiting};
use crate::liveness::Verdict;
use ring_hook::live::Live;
use ring_hook::row::Row;
use ring_hook::tail::{Kind, Tail};
use ring_hook::view::View;
use ring_session::Settings;
use ring_session::time::Ms;

/// H: a status row, and what readers show of it now.
#[derive(Clone, Copy, Debug)]
pub struct Hook<'a> {
    /// The row.
    pub row: &'a Row,
    /// Its view.
    pub view: &'a View,
}

/// A child agent's own record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildRecord {
    /// Its id.
    pub id: String,
    /// Its last turn mark.
    pub kind: Kind,
    /// Time of that mark.
    pub ms: Ms,
}

/// S: what ring-session's record of this session says to readers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Its id.
    pub id: String,
    /// Open proposals and requests that count (not of origin hook, their turn's owner not dead), oldest first.
    pub open: Vec<Waiting>,
    /// Id of the one of them that the agent asks in a prompt of its own.
    pub prompted: Option<String>,
    /// What its turn does: working or idle.
    pub board: String,
    /// Last change.
    pub updated_ms: Ms,
    /// It exists only because a hook entry wrote it.
    pub of_hook: bool,
}

/// The session's process, as far as rule 19 needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Start of the process.
    pub start_ms: Ms,
    /// It has a controlling terminal and is a session's process, no helper and no spare.
    pub tty: bool,
    /// It has opened a session that has no record yet.
    pub opened: bool,
}

/// All that is known of one session.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The clock.
    pub now: Ms,
    /// Limits.
    pub settings: &'a Settings,
    /// Canonical id of the agent.
    pub agent: &'a str,
    /// H.
    pub hook: Option<Hook<'a>>,
    /// L.
    pub live: Option<&'a Live>,
    /// T; none: there is no record, or it was not read because H is newer.
    pub tail: Option<&'a Tail>,
    /// S.
    pub record: Option<&'a Record>,
    /// Records of its children.
    pub children: &'a [ChildRecord],
    /// P.
    pub verdict: Verdict,
    /// Its process is a server with many sessions.
    pub server: bool,
    /// Its process.
    pub terminal: Option<Terminal>,
    /// Turn start of the newest other session of the same process, if that process holds one session at a time.
    pub next_turn_ms: Option<Ms>,
    /// A background agent: no terminal, by design.
    pub background: bool,
}

/// What the board shows of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// waiting, working, idle, ended.
    pub status: &'static str,
    /// Since when.
    pub since_ms: Ms,
    /// The rule that decided.
    pub rule: &'static str,
    /// What it rests on.
    pub evidence: Vec<String>,
    /// All open requests, the shown one first.
    pub waits: Vec<Waiting>,
    /// For people.
    pub note: String,
    /// Hooks are silent while the transcript moves.
    pub hook_stale: bool,
    /// Last sign of life.
    pub seen_ms: Ms,
    /// What each source says.
    pub facts: Vec<Fact>,
    /// Every rule that was tried, the last one decided.
    pub tried: Vec<Tried>,
    /// When this outcome may change although nothing happens.
    pub wake_ms: Option<Ms>,
}

impl Facts<'_> {
    /// Agents of which nothing but the process is known never write a record.
    pub(super) fn agent_keeps_records(&self) -> bool {
        ring_hook::agent::find(self.agent).is_none_or(|a| a.tier != ring_hook::agent::Tier::Process)
    }
}
/// The turn is open.
pub fn open_turn(kind: Kind) -> bool {
    matches!(kind, Kind::Start | Kind::Tool | Kind::Busy)
}

/// A mark's name, as evidence and facts give it.
pub fn mark_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Start => "start",
        Kind::Tool => "tool",
        Kind::Busy => "busy",
        Kind::Plain => "plain",
        Kind::End => "end",
        Kind::Failed => "failed",
        Kind::Interrupted => "interrupted",
        Kind::Denied => "denied",
        Kind::None => "none",
        Kind::Unknown => "unknown",
    }
}
/// Start of the newest turn that hook row or transcript know; 0: none.
pub fn turn_started_ms(row: Option<&Row>, tail: Option<&Tail>) -> Ms {
    row.map_or(0, |r| r.turn.started_ms)
        .max(tail.map_or(0, |t| t.turn_started_ms))
}
