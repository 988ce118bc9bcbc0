//! Whether a poll has anything to read, so that a watch at rest costs next to nothing.
//!
//! A board rests on files and on processes. Files in folders that are listened to tell of a change by an event.
//! Processes do not, so agents' processes are compared with those of the last look. What neither tells (the answer of
//! a server, the name of a tmux window) is read again at the latest after [`LONGEST`].

use crate::processes::{self, Processes};
use ring_hook::agent::{CODEX, Role};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// After this time everything is read again, whatever seems to be the same.
const LONGEST: Duration = Duration::from_secs(30);

/// What is compared of an agent's process.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Agent {
    pid: u32,
    start_ticks: u64,
    tty: String,
    argv: Vec<String>,
    cwd: Option<PathBuf>,
    open: Vec<PathBuf>,
    /// Inodes of files that it holds locks on.
    locks: Vec<u64>,
}

/// See the module.
#[derive(Debug)]
pub struct Rest {
    agents: Option<Vec<Agent>>,
    looked: Instant,
}

impl Rest {
    /// Everything is about to be read.
    pub fn begin() -> Rest {
        Rest {
            agents: agents(),
            looked: Instant::now(),
        }
    }

    /// Whether a look now would find the processes of the last one. `files`: an event told of a change.
    pub fn holds(&self, files: bool) -> bool {
        !files && self.looked.elapsed() < LONGEST && self.agents.is_some() && self.agents == agents()
    }
}

/// Agents' processes; none if they cannot be compared: the table is unreadable, or a server holds sessions whose state
/// only it can tell.
fn agents() -> Option<Vec<Agent>> {
    of(&processes::read().ok()?)
}

fn of(table: &Processes) -> Option<Vec<Agent>> {
    let mut agents = Vec::new();
    for process in table.by_pid.values() {
        let Some(agent) = &process.agent else { continue };
        if agent.role == Role::Server {
            return None;
        }
        let holders = table
            .lock_holders
            .iter()
            .flatten()
            .filter(|(_, pid)| agent.agent.id == CODEX && **pid == process.pid);
        let mut locks: Vec<u64> = holders.map(|(inode, _)| *inode).collect();
        locks.sort_unstable();
        agents.push(Agent {
            pid: process.pid,
            start_ticks: process.start_ticks,
            tty: process.tty.clone(),
            argv: agent.argv.clone(),
            cwd: agent.cwd.clone(),
            open: agent.open.clone(),
            locks,
        });
    }
    agents.sort();
    Some(agents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processes::{AgentProcess, Process};
    use ring_hook::agent;

    fn table(role: Role, cwd: &str, comm: &str) -> Processes {
        let (codex, _) = agent::of_process("codex", &["codex".to_owned()]).unwrap();
        let agent = AgentProcess {
            agent: codex,
            role,
            argv: vec!["codex".into()],
            cwd: Some(cwd.into()),
            config_dir: None,
            open: Vec::new(),
            started_by_agent: false,
        };
        let process = |pid, agent| Process {
            pid,
            comm: comm.into(),
            agent,
            ..Process::default()
        };
        Processes {
            by_pid: [(7, process(7, Some(agent))), (8, process(8, None))].into(),
            lock_holders: Some([(99, 7), (98, 8)].into()),
        }
    }

    #[test]
    fn agents_count_and_other_processes_do_not() {
        let at = |cwd, comm| of(&table(Role::Session, cwd, comm)).unwrap();
        assert_eq!(at("/w", "sh"), at("/w", "vi"));
        assert_ne!(at("/w", "sh"), at("/w/x", "sh"));
        assert_eq!(at("/w", "sh")[0].locks, [99]);
    }

    #[test]
    fn what_a_server_knows_is_always_asked() {
        assert_eq!(of(&table(Role::Server, "/w", "codex")), None);
    }
}
