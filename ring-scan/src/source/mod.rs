//! What is read: one file a source. Each gives what it found and says how reading went; none decides a status.

pub mod aider;
pub mod claude;
pub mod codex;
pub mod codex_server;
mod files;
pub mod hook;
pub mod session;
mod websocket;

use crate::board::{Finding, Source};
use crate::liveness::Lock;
use crate::merge::{ChildRecord, Live};
use crate::processes::Processes;
use ring_hook::tail::Tail;
use ring_session::Settings;
use ring_session::time::{Ms, now_ms};
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long one source may take; then it is slow, and the board goes on without it.
const PATIENCE: Duration = Duration::from_secs(2);

/// What readers of agents' records need to know before they read.
#[derive(Clone, Debug)]
pub struct Context {
    /// The clock.
    pub now: Ms,
    /// Limits, homes.
    pub settings: Settings,
    /// ENDED sessions are wanted too.
    pub all: bool,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// Own processes; none: the table could not be read.
    pub processes: Option<Processes>,
    /// What agents without records leave in the folders of their processes, by pid.
    pub local: HashMap<u32, Tail>,
    /// Hook rows, by agent and session id.
    pub hooks: Vec<hook::HookRow>,
    /// Records of ring-session.
    pub records: Vec<session::SessionRecord>,
}

impl Context {
    /// The hook row of a session.
    pub fn hook(&self, agent: &str, id: &str) -> Option<&hook::HookRow> {
        let at = self
            .hooks
            .binary_search_by(|h| (h.row.agent.as_str(), h.row.session_id.as_str()).cmp(&(agent, id)));
        at.ok().and_then(|at| self.hooks.get(at))
    }

    /// Whether a file of this time lies in the window of what may be active.
    pub fn in_window(&self, file_ms: Ms) -> bool {
        file_ms >= self.now.saturating_sub(self.settings.active_window_ms)
    }
}

/// A process whose live record names a session.
#[derive(Clone, Debug, Default)]
pub struct LiveProcess {
    /// The process.
    pub pid: u32,
    /// What it says; none: it gives no status.
    pub live: Option<Live>,
    /// A background agent.
    pub background: bool,
    /// Place in tmux, `session:@window.%pane`.
    pub tmux: String,
}

/// What an agent's own files say about one session.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Canonical id of the agent.
    pub agent: &'static str,
    /// The agent's session id.
    pub session_id: String,
    /// Its transcript.
    pub path: Option<PathBuf>,
    /// Last turn marks; none: not read.
    pub tail: Option<Tail>,
    /// Processes that name it as their own, oldest first.
    pub live: Vec<LiveProcess>,
    /// A live record of another machine or namespace names it.
    pub foreign: bool,
    /// A process that has its id by an argument, an open file or a held lock.
    pub joined: Option<u32>,
    /// Its writer lock.
    pub lock: Lock,
    /// Its version takes writer locks.
    pub takes_locks: bool,
    /// Its children's records.
    pub children: Vec<ChildRecord>,
    /// Title, by the agent's own order of preference; empty: none.
    pub title: String,
    /// Folder where it began.
    pub origin_cwd: String,
    /// Folder where it is.
    pub cwd: String,
}

/// What one source gives.
#[derive(Debug, Default)]
pub struct Harvest {
    /// Sessions.
    pub found: Vec<Found>,
    /// Ids that belong to the agent itself or to children: no row may stand for them.
    pub not_sessions: Vec<String>,
    /// Processes that have opened a session which has no record yet.
    pub opened: Vec<u32>,
    /// Files and records that were left out.
    pub skipped: Vec<Finding>,
    /// The agent's homes.
    pub homes: Vec<PathBuf>,
    /// There is nothing to read.
    pub absent: bool,
    /// A file changed while it was read, twice.
    pub slow: bool,
}

/// Says that a file was left out.
pub fn skipped(agent: &str, path: String, why: impl Into<String>) -> Finding {
    Finding {
        check: "files.unreadable",
        agent: agent.into(),
        path,
        text: why.into(),
    }
}

/// A source that is being read.
pub struct Reading<T> {
    name: &'static str,
    since: Instant,
    since_ms: Ms,
    answer: mpsc::Receiver<Result<T, String>>,
}

/// Begins to read a source in a thread of its own. A panic in it is a failure of this source alone.
pub fn begin<T: Send + 'static>(
    name: &'static str,
    read: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Reading<T> {
    let (sender, answer) = mpsc::channel();
    std::thread::spawn(move || {
        let read = std::panic::catch_unwind(AssertUnwindSafe(read));
        let answer = read.unwrap_or_else(|_| Err("the reader broke off".into()));
        // Nobody listens any more: the source was too slow.
        drop(sender.send(answer));
    });
    Reading {
        name,
        since: Instant::now(),
        since_ms: now_ms(),
        answer,
    }
}

/// Time since then by the clock of this program, which may stand still: equal clocks give equal boards.
pub fn took_ms(since_ms: Ms) -> u64 {
    u64::try_from(now_ms() - since_ms).unwrap_or(0)
}

impl<T: Default> Reading<T> {
    /// Waits for it, and says how it went. After two seconds it is slow and gives nothing.
    pub fn finish(self) -> (T, Source) {
        let left = PATIENCE.saturating_sub(self.since.elapsed());
        let (value, state, error) = match self.answer.recv_timeout(left) {
            Ok(Ok(value)) => (value, "ok", String::new()),
            Ok(Err(error)) => (T::default(), "failed", error),
            Err(_) => (T::default(), "slow", "no answer within 2 s".into()),
        };
        let source = Source {
            name: self.name.into(),
            state: state.into(),
            took_ms: took_ms(self.since_ms),
            error,
            ..Source::default()
        };
        (value, source)
    }
}
