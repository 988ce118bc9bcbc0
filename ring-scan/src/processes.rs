//! The process table: own processes, and what of them tells sessions apart (ring-scan(1), PROCESSES).
//!
//! Command lines are read only of processes whose name may be an agent's, the folder only of agents, open files only of
//! Codex, the environment only of Claude Code, and of that nothing but `CLAUDE_CONFIG_DIR` is kept.

#[cfg(any(not(target_os = "linux"), test))]
#[cfg_attr(
    target_os = "linux",
    allow(dead_code, reason = "compiled here only so that it is checked")
)]
mod portable;
#[cfg(target_os = "linux")]
mod proc;

use ring_hook::agent::{Agent, Role};
use ring_session::time::Ms;
use std::collections::HashMap;
use std::path::PathBuf;

/// One own process.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its parent.
    pub ppid: u32,
    /// Name, as the kernel gives it.
    pub comm: String,
    /// Field 22 of `/proc/PID/stat`; elsewhere the start time in seconds.
    pub start_ticks: u64,
    /// Start; 0: unknown.
    pub start_ms: Ms,
    /// `/dev/pts/3`; empty: no controlling terminal.
    pub tty: String,
    /// Set if it is an agent's.
    pub agent: Option<AgentProcess>,
}

/// What is read of an agent's process.
#[derive(Clone, Debug)]
pub struct AgentProcess {
    /// Whose it is.
    pub agent: &'static Agent,
    /// Session, server, helper or spare.
    pub role: Role,
    /// Command line.
    pub argv: Vec<String>,
    /// Current folder; none: unreadable.
    pub cwd: Option<PathBuf>,
    /// Claude Code: its `CLAUDE_CONFIG_DIR`.
    pub config_dir: Option<PathBuf>,
    /// Codex: rollouts and writer locks that it holds open.
    pub open: Vec<PathBuf>,
    /// A session or server above it started it, so it is no session of a person.
    pub started_by_agent: bool,
}

/// All own processes.
#[derive(Clone, Debug, Default)]
pub struct Processes {
    /// By id. Zombies are left out: they are dead.
    pub by_pid: HashMap<u32, Process>,
    /// Holders of locks on files, by inode; none: the kernel's list could not be read.
    pub lock_holders: Option<HashMap<u64, u32>>,
}

/// What a recorded process is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// There, with the same start.
    Same,
    /// Absent, a zombie, or another process has its id.
    Gone,
    /// There, but nothing says when it started.
    Unknown,
}

/// Reads the table.
///
/// # Errors
/// A text for people, if the table as a whole is unreadable. Nothing may be taken for dead then.
pub fn read() -> Result<Processes, String> {
    #[cfg(target_os = "linux")]
    let table = proc::read();
    #[cfg(not(target_os = "linux"))]
    let table = portable::read();
    table.map(Processes::new)
}

impl Processes {
    /// Completes what only the whole table can tell.
    pub(crate) fn new(mut table: Processes) -> Processes {
        let started: Vec<u32> = table
            .by_pid
            .values()
            .filter(|p| p.agent.is_some() && table.has_agent_above(p))
            .map(|p| p.pid)
            .collect();
        for pid in started {
            if let Some(agent) = table.by_pid.get_mut(&pid).and_then(|p| p.agent.as_mut()) {
                agent.started_by_agent = true;
            }
        }
        table
    }

    fn has_agent_above(&self, process: &Process) -> bool {
        self.ancestors(process.pid).skip(1).any(|p| {
            p.agent
                .as_ref()
                .is_some_and(|a| matches!(a.role, Role::Session | Role::Server))
        })
    }

    /// The process `pid`, its parent, and so on, as far as they are own processes. At most 64: a table that is read
    /// while it changes may hold a circle.
    pub fn ancestors(&self, pid: u32) -> impl Iterator<Item = &Process> {
        std::iter::successors(self.by_pid.get(&pid), |p| self.by_pid.get(&p.ppid)).take(64)
    }

    /// Processes of one agent, by start, then id.
    pub fn of_agent(&self, id: &str) -> Vec<&Process> {
        let mut found: Vec<&Process> = self
            .by_pid
            .values()
            .filter(|p| p.agent.as_ref().is_some_and(|a| a.agent.id == id))
            .collect();
        found.sort_by_key(|p| (p.start_ticks, p.pid));
        found
    }

    /// Whether the recorded process is still the same one. A process of another user is asked for by itself.
    pub fn look(&self, pid: u32, start_ticks: u64) -> Look {
        let ticks = match self.by_pid.get(&pid) {
            Some(process) => Some(process.start_ticks),
            None => match outside(pid) {
                Outside::Absent => return Look::Gone,
                Outside::Started(ticks) => Some(ticks),
                Outside::Unreadable => None,
            },
        };
        match ticks {
            None => Look::Unknown,
            Some(_) if start_ticks == 0 => Look::Unknown,
            Some(ticks) if ticks == start_ticks => Look::Same,
            Some(_) => Look::Gone,
        }
    }
}

enum Outside {
    Absent,
    Started(u64),
    Unreadable,
}

fn outside(pid: u32) -> Outside {
    if let Some(stat) = ring_session::process::read_stat(pid) {
        return match stat.state {
            'Z' | 'X' => Outside::Absent,
            _ => Outside::Started(stat.start_ticks),
        };
    }
    // Where there is no such folder at all, the table itself has told of every process.
    match ring_session::process::proc_dir()
        .join(pid.to_string())
        .symlink_metadata()
    {
        Ok(_) => Outside::Unreadable,
        Err(_) => Outside::Absent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_started_is_marked_also_through_shells() {
        let claude = |pid, ppid| Process {
            pid,
            ppid,
            agent: Some(AgentProcess {
                agent: ring_hook::agent::find("claude").unwrap(),
                role: Role::Session,
                argv: vec![],
                cwd: None,
                config_dir: None,
                open: vec![],
                started_by_agent: false,
            }),
            ..Process::default()
        };
        let shell = Process {
            pid: 11,
            ppid: 10,
            ..Process::default()
        };
        let table = Processes::new(Processes {
            by_pid: [claude(10, 1), shell, claude(12, 11)].map(|p| (p.pid, p)).into(),
            lock_holders: None,
        });
        let started = |pid: u32| table.by_pid[&pid].agent.as_ref().unwrap().started_by_agent;
        assert!(!started(10));
        assert!(started(12));
    }
}
