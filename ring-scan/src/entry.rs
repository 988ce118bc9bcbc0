//! One row of the board before it is decided: what belongs together, and the process that it belongs to.

use crate::liveness::Verdict;
use crate::merge::{Terminal, Word, turn_started_ms};
use crate::processes::Process;
use crate::source::hook::HookRow;
use crate::source::session::SessionRecord;
use crate::source::{Context, Found, LiveProcess};
use ring_hook::agent::Role;
use ring_hook::tail::Tail;
use ring_session::time::Ms;
use std::path::Path;

/// One row of the board before it is decided.
#[derive(Clone, Debug, Default)]
pub struct Entry<'a> {
    /// KEY, or `KEY@PID` for a second process with the same session.
    pub key: String,
    /// Canonical id of the agent.
    pub agent: String,
    /// The agent's session id.
    pub session_id: String,
    /// Its hook row.
    pub hook: Option<&'a HookRow>,
    /// What the agent's own files say.
    pub found: Option<&'a Found>,
    /// The record of ring-session.
    pub record: Option<&'a SessionRecord>,
    /// The live record that speaks for this row.
    pub live: Option<LiveProcess>,
    /// Its process; 0: none is known.
    pub pid: u32,
    /// P.
    pub verdict: Verdict,
    /// Its process holds many sessions.
    pub server: bool,
    /// Turn start of the newest other session of the same process.
    pub next_turn_ms: Option<Ms>,
    /// Of a row that stands for a process alone: what it runs.
    pub title: String,
    /// Its process has opened a session that has no record yet.
    pub opened: bool,
    /// The hook row tells of a process that is dead, and another one has the session now.
    pub hook_is_past: bool,
}

impl<'a> Entry<'a> {
    /// The hook row, if it speaks of the process that has the session now. Of a session in two terminals it tells what
    /// either of them did: then only what is asked, if one of them alone asks something.
    pub fn witness(&self) -> Option<&'a HookRow> {
        let waits = |l: &LiveProcess| matches!(&l.live, Some(l) if matches!(l.word, Word::Waiting(_)));
        let told_apart = match (self.found, &self.live) {
            (Some(found), Some(own)) if found.live.len() > 1 && own.live.is_some() => {
                waits(own) && found.live.iter().filter(|l| waits(l)).count() == 1
            }
            _ => true,
        };
        self.hook.filter(|_| told_apart && !self.hook_is_past)
    }

    /// A background agent.
    pub fn is_background(&self) -> bool {
        self.live.as_ref().is_some_and(|l| l.background)
    }

    /// foreground, background, process.
    pub fn kind(&self) -> &'static str {
        match (self.hook, self.found) {
            _ if self.is_background() => "background",
            (None, None) if self.record.is_none() => "process",
            _ => "foreground",
        }
    }

    /// T: the last turn marks, as far as they were read.
    pub fn tail<'c>(&self, context: &'c Context) -> Option<&'c Tail>
    where
        'a: 'c,
    {
        let own = self.found.and_then(|f| f.tail.as_ref());
        own.or_else(|| context.local.get(&self.pid).filter(|_| self.kind() == "process"))
    }

    /// Its transcript.
    pub fn path(&self) -> Option<&'a Path> {
        self.found.and_then(|f| f.path.as_deref())
    }

    /// Its process, if it is there.
    pub fn process<'c>(&self, context: &'c Context) -> Option<&'c Process> {
        let lives = matches!(self.verdict, Verdict::Alive | Verdict::Near);
        context.processes.as_ref()?.by_pid.get(&self.pid).filter(|_| lives)
    }

    /// Its process as rule 19 looks at it.
    pub fn terminal(&self, context: &Context) -> Option<Terminal> {
        let process = self.process(context)?;
        let session = process.agent.as_ref().is_some_and(|a| a.role == Role::Session);
        Some(Terminal {
            start_ms: process.start_ms,
            tty: session && !process.tty.is_empty(),
            opened: self.opened,
        })
    }

    /// Terminal and pane that a hook recorded, if it ran below the process that the row stands for.
    pub fn term(&self) -> Option<&'a ring_hook::row::Term> {
        let same = self.recorded().is_none_or(|p| p.pid == self.pid);
        self.hook.map(|h| &h.row.term).filter(|_| same && !self.server)
    }

    /// The process that a hook recorded.
    pub fn recorded(&self) -> Option<&'a ring_hook::row::Process> {
        self.hook?.row.process.as_ref().filter(|p| p.pid != 0)
    }

    /// Start of its newest turn; 0: none is known.
    pub fn turn_started_ms(&self) -> Ms {
        turn_started_ms(self.witness().map(|h| &h.row), self.found.and_then(|f| f.tail.as_ref()))
    }
}
