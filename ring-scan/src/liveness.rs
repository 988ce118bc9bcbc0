//! Whether a session's process lives: the verdict *P*, and which process belongs to which session (ring-scan(1),
//! PROCESSES).
//!
//! Death needs proof; what cannot be seen is unknown, never gone.

use crate::processes::Look;
use ring_hook::row::{Host, Process as Recorded};
use ring_session::process::Stamp;
use ring_session::time::Ms;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// P: what is known of a session's process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Proven to live.
    Alive,
    /// A process of this agent lives in its folder.
    Near,
    /// Proven to be dead, or nobody is left who could be it.
    Gone,
    /// On another machine, or in another pid namespace.
    Foreign,
    /// Nothing can be said.
    #[default]
    Unknown,
}

impl Verdict {
    /// As JSON shows it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Alive => "alive",
            Verdict::Near => "near",
            Verdict::Gone => "gone",
            Verdict::Foreign => "foreign",
            Verdict::Unknown => "unknown",
        }
    }
}

/// The writer lock of a Codex session: whoever has the session loaded holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lock {
    /// Cannot be told, or this agent has none.
    #[default]
    Unknown,
    /// Its file is gone, or nobody holds it.
    Free,
    /// A process holds it.
    Held(u32),
}

/// What is known of one session's process, before the verdict.
#[derive(Clone, Debug, Default)]
pub struct Known<'a> {
    /// Process and place that the hook row recorded; a pid of 0 names nobody.
    pub recorded: Option<(&'a Recorded, &'a Host)>,
    /// What the recorded process is now.
    pub look: Option<Look>,
    /// A process that is joined by the session's id: live record, argument, open record, held lock.
    pub joined: Option<u32>,
    /// A live record names the session, and it was written on another machine or in another namespace.
    pub foreign: bool,
    /// Codex: the writer lock.
    pub lock: Lock,
    /// The version that wrote the record takes writer locks.
    pub takes_locks: bool,
    /// An unclaimed process of the agent in its folder.
    pub near: bool,
    /// The process table was read.
    pub table: bool,
    /// Processes of this agent can be told at all.
    pub detector: bool,
}

/// The verdict, first row that applies.
pub fn verdict(known: &Known, here: &Stamp) -> Verdict {
    // A process that has the session's id lives, whatever an older hook row recorded.
    if known.table && known.joined.is_some() {
        return Verdict::Alive;
    }
    if let Some((process, host)) = known.recorded {
        let same_host = host.name.is_empty() || host.name == here.host;
        if same_host && differ(&host.boot, &here.boot) {
            return Verdict::Gone;
        }
        if !same_host || (host.pid_ns != 0 && here.pid_ns != 0 && host.pid_ns != here.pid_ns) {
            return Verdict::Foreign;
        }
        if !known.table {
            return Verdict::Unknown;
        }
        match (process.pid, known.look) {
            (0, _) => {}
            (_, Some(Look::Gone)) => return Verdict::Gone,
            // The server let the session go.
            (_, _) if process.server && known.takes_locks && known.lock == Lock::Free => return Verdict::Gone,
            (_, Some(Look::Same)) if process.server => return Verdict::Near,
            (_, Some(Look::Same)) => return Verdict::Alive,
            (_, Some(Look::Unknown) | None) => return Verdict::Unknown,
        }
    }
    match () {
        () if known.foreign => Verdict::Foreign,
        () if !known.table => Verdict::Unknown,
        () if known.takes_locks && known.lock == Lock::Free => Verdict::Gone,
        () if known.near => Verdict::Near,
        () if known.detector => Verdict::Gone,
        () => Verdict::Unknown,
    }
}

fn differ(a: &str, b: &str) -> bool {
    !a.is_empty() && !b.is_empty() && a != b
}

/// A session that no process is known for.
#[derive(Clone, Debug)]
pub struct Seeker {
    /// Which one; given back.
    pub session: usize,
    /// Its agent.
    pub agent: String,
    /// Its folders: where it began and where it is, real paths.
    pub folders: Vec<PathBuf>,
    /// It has a hook row: a process in a folder above may be its own.
    pub hook: bool,
    /// Its last turn mark or event.
    pub mark_ms: Ms,
}

/// A process that no session is known for.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its id.
    pub pid: u32,
    /// Its agent.
    pub agent: &'static str,
    /// Its folder, a real path.
    pub cwd: PathBuf,
    /// Its start.
    pub start_ms: Ms,
}

/// Which process is near which session: the newest record of a folder takes a process there, if its last mark is not
/// older than the process; then hook rows take processes above them, the nearest first. A process is claimed once, so n
/// processes in a folder keep n records.
pub fn claims(seekers: &[Seeker], candidates: &[Candidate]) -> HashMap<usize, u32> {
    let mut pairs: Vec<(usize, &Seeker, &Candidate)> = seekers
        .iter()
        .flat_map(|s| candidates.iter().map(move |c| (s, c)))
        .filter(|(s, c)| s.agent == c.agent && c.start_ms <= s.mark_ms)
        .filter_map(|(s, c)| Some((distance(s, c)?, s, c)))
        .collect();
    pairs.sort_by_key(|(distance, s, c)| {
        (
            *distance,
            Reverse(s.mark_ms),
            s.session,
            Reverse(c.start_ms),
            Reverse(c.pid),
        )
    });
    let mut taken = HashSet::new();
    let mut claims = HashMap::new();
    for (_, seeker, candidate) in pairs {
        if !claims.contains_key(&seeker.session) && taken.insert(candidate.pid) {
            claims.insert(seeker.session, candidate.pid);
        }
    }
    claims
}

/// How many folders the process is above the session; none: it cannot be its own.
fn distance(seeker: &Seeker, candidate: &Candidate) -> Option<usize> {
    let above = |folder: &Path| Some(folder.strip_prefix(&candidate.cwd).ok()?.components().count());
    let nearest = seeker.folders.iter().filter_map(|f| above(f)).min()?;
    (nearest == 0 || seeker.hook).then_some(nearest)
}

#[cfg(test)]
mod tests;
