//! Which rows are shown and in which order, and which one an ID means: pure functions of a board.

use crate::board::{Board, Session, count};
use crate::format::row;
use clap::ValueEnum;
use ring_session::{Code, Refusal};
use std::cmp::{Ordering, Reverse};
use std::path::{Path, PathBuf};

/// Ended rows that are listed at most: the newest.
const ENDED_MAX: usize = 200;
/// The shortest beginning of an id that may stand for it, in characters.
const SHORTEST: usize = 4;
/// Where ids are found.
const LIST: &str = "`ring-scan --all --format tsv` lists the keys";
/// Candidates that an ambiguous beginning names at most.
const CANDIDATES: usize = 10;

/// The four states, most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "each is the state of that name")]
pub enum Status {
    Waiting,
    Working,
    Idle,
    Ended,
}

impl Status {
    fn is(self, text: &str) -> bool {
        rank(text) == self as u8
    }
}

fn rank(status: &str) -> u8 {
    match status {
        "waiting" => Status::Waiting as u8,
        "working" => Status::Working as u8,
        "idle" => Status::Idle as u8,
        _ => Status::Ended as u8,
    }
}

/// `--sort`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Most urgent first
    #[default]
    Status,
    /// Newest change first
    Age,
    /// By agent
    Agent,
    /// By project
    Project,
    /// By folder
    Cwd,
    /// Last seen first
    Seen,
}

/// What rows must have to be shown. Empty lists let everything pass; several fields all have to.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// States.
    pub status: Vec<Status>,
    /// Agents' names.
    pub agent: Vec<String>,
    /// Folders; a row passes if it works in one or below.
    pub cwd: Vec<PathBuf>,
    /// Names of projects.
    pub project: Vec<String>,
    /// Machines.
    pub host: Vec<String>,
    /// ENDED rows too.
    pub all: bool,
    /// Rows at most.
    pub limit: Option<usize>,
    /// Order.
    pub sort: Sort,
}

impl Filter {
    /// Whether ENDED rows are listed: if asked for in one way or the other.
    pub fn wants_ended(&self) -> bool {
        self.all || self.status.contains(&Status::Ended)
    }

    /// Whether anything but the state ENDED is left out.
    pub fn leaves_out(&self) -> bool {
        !(self.status.is_empty()
            && self.agent.is_empty()
            && self.cwd.is_empty()
            && self.project.is_empty()
            && self.host.is_empty())
    }

    /// Whether a row could be listed at all, whatever the other filters say.
    fn may_list(&self, s: &Session) -> bool {
        !s.hidden && (s.status != "ended" || self.wants_ended())
    }

    fn passes(&self, s: &Session) -> bool {
        let same = |a: &str, b: &str| a == b || a.to_lowercase() == b.to_lowercase();
        let one = |wanted: &[String], text: &str| wanted.is_empty() || wanted.iter().any(|w| same(w, text));
        let inside = |folder: &PathBuf| [&s.cwd, &s.origin_cwd].iter().any(|p| Path::new(p).starts_with(folder));
        self.may_list(s)
            && (self.status.is_empty() || self.status.iter().any(|w| w.is(&s.status)))
            && one(&self.agent, &s.agent)
            && one(&self.project, &s.project)
            && one(&self.host, &s.host)
            && (self.cwd.is_empty() || self.cwd.iter().any(inside))
    }
}

/// The rows that pass, in order; `counts` are theirs before the limit, `total` is the number before the filter.
pub fn select(mut board: Board, filter: &Filter) -> Board {
    let listable = board.sessions.iter().filter(|s| filter.may_list(s));
    let (ended, open): (Vec<_>, Vec<_>) = listable.partition(|s| s.status == "ended");
    board.total = open.len() + ended.len().min(ENDED_MAX);
    board.sessions.retain(|s| filter.passes(s));
    board.sessions.sort_by(|a, b| order(a, b, Sort::Status));
    let mut ended = 0;
    board.sessions.retain(|s| {
        ended += usize::from(s.status == "ended");
        s.status != "ended" || ended <= ENDED_MAX
    });
    if filter.sort != Sort::Status {
        board.sessions.sort_by(|a, b| order(a, b, filter.sort));
    }
    board.counts = count(&board.sessions);
    board.sessions.truncate(filter.limit.unwrap_or(usize::MAX));
    board
}

/// The order of two rows: never equal for two keys, so equal data give equal output.
pub fn order(a: &Session, b: &Session, sort: Sort) -> Ordering {
    let by_status = || {
        rank(&a.status)
            .cmp(&rank(&b.status))
            .then_with(|| match a.status.as_str() {
                // the longest wait is the most urgent; of the rest the newest change is of most interest
                "waiting" => a.since_ms.cmp(&b.since_ms),
                _ => b.since_ms.cmp(&a.since_ms),
            })
    };
    let first = match sort {
        Sort::Status => Ordering::Equal,
        Sort::Age => Reverse(a.since_ms).cmp(&Reverse(b.since_ms)),
        Sort::Seen => Reverse(a.seen_ms).cmp(&Reverse(b.seen_ms)),
        Sort::Agent => a.agent.cmp(&b.agent),
        Sort::Project => a.project.cmp(&b.project),
        Sort::Cwd => a.cwd.cmp(&b.cwd),
    };
    first.then_with(by_status).then_with(|| a.key.cmp(&b.key))
}

/// The one row that `id` means: by key, session id, record or given name; else by what the table shows under SESSION or
/// WHERE, of sessions that have not ended before those that have; else by a unique beginning of 4 characters or more.
///
/// # Errors
/// `SESSION_NOT_FOUND`; `AMBIGUOUS` with the candidates.
pub fn find<'a>(sessions: &'a [Session], id: &str) -> Result<&'a Session, Refusal> {
    let names = |s: &'a Session| {
        [&s.key, &s.session_id, &s.record, &s.name]
            .into_iter()
            .filter(|n| !n.is_empty())
    };
    let matching = |test: &dyn Fn(&str) -> bool| -> Vec<&'a Session> {
        sessions.iter().filter(|s| names(s).any(|n| test(n))).collect()
    };
    // a key is unique; a session id may stand in two rows (two agents, one session in two terminals)
    if let Some(s) = sessions.iter().find(|s| s.key == id) {
        return Ok(s);
    }
    let mut found = matching(&|n| n == id);
    if found.is_empty() && !id.is_empty() {
        let shown = |s: &&Session| row::session(s) == id || row::place(s) == id || s.tmux_pane == id;
        let (ended, open): (Vec<_>, Vec<_>) = sessions.iter().filter(shown).partition(|s| s.status == "ended");
        found = if open.is_empty() { ended } else { open };
    }
    if found.is_empty() && id.chars().count() >= SHORTEST {
        found = matching(&|n| n.starts_with(id));
    }
    match found[..] {
        [one] => Ok(one),
        [] if !id.is_empty() && id.chars().count() < SHORTEST => Err(Refusal::new(
            Code::SessionNotFound,
            format!("no session {id:?}; a beginning needs {SHORTEST} characters or more; {LIST}"),
        )),
        [] => Err(Refusal::new(
            Code::SessionNotFound,
            format!("no session {id:?}; {LIST}"),
        )),
        _ => {
            let keys: Vec<&str> = found.iter().map(|s| s.key.as_str()).collect();
            let more = if keys.len() > CANDIDATES { ", ..." } else { "" };
            let listed = keys[..keys.len().min(CANDIDATES)].join(", ");
            Err(
                Refusal::new(Code::Ambiguous, format!("{id:?} is several sessions: {listed}{more}"))
                    .with("candidates", keys),
            )
        }
    }
}

#[cfg(test)]
mod tests;
