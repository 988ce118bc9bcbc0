//! The board: every session with what it does, in the order that people look at it (ring-scan(1), THE BOARD).

use ring_session::time::Ms;
use serde::Serialize;
use std::path::PathBuf;

pub use crate::collect::collect;

/// What is asked of a board beside the rows that pass its filters.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// ENDED sessions too, at most the 200 newest.
    pub all: bool,
}

/// What `--format json` prints. Keys are a stable interface and only added to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Board {
    /// Always 1.
    pub schema: u64,
    /// The clock of this board.
    pub now_ms: Ms,
    /// This machine.
    pub host: String,
    /// A source failed or was slow: rows may be missing.
    pub partial: bool,
    /// Of the rows that pass the filters.
    pub counts: Counts,
    /// What was read.
    pub sources: Vec<Source>,
    /// Ordered.
    pub sessions: Vec<Session>,
    /// Rows before the filters, without those that are never listed.
    #[serde(skip)]
    pub total: usize,
    /// ENDED rows that are not among them because nobody asked for them.
    #[serde(skip)]
    pub over: usize,
    /// Files, records and lines that were skipped or not understood; for doctor.
    #[serde(skip)]
    pub findings: Vec<Finding>,
    /// When a row changes by the mere passing of time (silence, age, an idle that is not believed yet); for watch.
    #[serde(skip)]
    pub wake_ms: Option<Ms>,
    /// Homes of agents; for watch, which listens to file events there.
    #[serde(skip)]
    pub homes: Vec<PathBuf>,
}

/// Something that doctor names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// files.unreadable, format, clock.
    pub check: &'static str,
    /// The agent, or empty.
    pub agent: String,
    /// The file.
    pub path: String,
    /// What is wrong with it.
    pub text: String,
}

/// Rows by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "each counts the status of its name")]
pub struct Counts {
    pub waiting: usize,
    pub working: usize,
    pub idle: usize,
    pub ended: usize,
}

/// One source and how reading it went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// hook, claude, codex, process ...
    pub name: String,
    /// ok, absent, failed, slow, off.
    pub state: String,
    /// Rows it gave.
    pub rows: usize,
    /// Time it took.
    pub took_ms: u64,
    /// What went wrong; empty: nothing.
    pub error: String,
}

/// One session.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "ring-scan(1) lists the keys")]
pub struct Session {
    pub key: String,
    pub agent: String,
    pub session_id: String,
    /// foreground, background, process.
    pub kind: String,
    /// waiting, working, idle, ended.
    pub status: String,
    pub since_ms: Ms,
    pub age_ms: Ms,
    pub project: String,
    pub name: String,
    pub title: String,
    pub note: String,
    pub waiting: Option<Waiting>,
    pub waits: usize,
    pub origin_cwd: String,
    pub cwd: String,
    pub location: String,
    pub tmux_target: String,
    pub tmux_pane: String,
    pub tty: String,
    pub last_action: String,
    pub todo: Option<Todo>,
    pub model: String,
    pub seen_ms: Ms,
    pub process: ProcessView,
    pub sources: Vec<String>,
    pub rule: String,
    pub evidence: Vec<String>,
    pub hook_stale: bool,
    pub hidden: bool,
    pub record: String,
    pub host: String,
    /// What `show` and `explain` print; not part of the board's JSON.
    #[serde(skip)]
    pub chain: Chain,
}

/// The shown request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "ring-scan(1) lists the keys")]
pub struct Waiting {
    pub id: String,
    pub kind: String,
    pub detail: String,
    pub owner: String,
    /// Type of the child that asks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub owner_type: String,
    pub since_ms: Ms,
}

/// Done and total of a to-do list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Todo {
    pub done: u32,
    pub total: u32,
}

/// The process as the board shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProcessView {
    /// 0: unknown.
    pub pid: u32,
    /// alive, near, gone, foreign, unknown.
    pub state: String,
}

/// How a status came about.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Chain {
    /// What each source says.
    pub facts: Vec<Fact>,
    /// Every rule that was tried, up to the one that decided.
    pub rules: Vec<Tried>,
    /// All open requests.
    pub waits: Vec<Waiting>,
    /// Child agents: id, type, state.
    pub children: Vec<(String, String, String)>,
    /// Files that the row rests on.
    pub paths: Vec<String>,
}

/// One fact of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// hook, registry, transcript, process, record.
    pub source: String,
    /// In words.
    pub fact: String,
    /// When the source says so; left out if it gives no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<Ms>,
}

/// One rule that was tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// Its name, as ring-scan(1) lists it.
    pub rule: String,
    /// Whether it decided.
    pub applies: bool,
    /// Why, or why not.
    pub why: String,
}

/// How many rows have which status.
pub fn count(sessions: &[Session]) -> Counts {
    let of = |status: &str| sessions.iter().filter(|s| s.status == status).count();
    Counts {
        waiting: of("waiting"),
        working: of("working"),
        idle: of("idle"),
        ended: of("ended"),
    }
}
