//! The table where there is no `/proc`, by sysinfo.

use super::{AgentProcess, Process, Processes};
use ring_hook::agent::{self, Role};
use ring_session::time::Ms;
use std::path::Path;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

/// Reads own processes: names of all, more only of those that may be agents'. Terminals are not known here.
///
/// # Errors
/// The system lists no process at all.
pub fn read() -> Result<Processes, String> {
    let mut system = System::new().map_err(|e| e.to_string())?;
    let names = ProcessRefreshKind::nothing()
        .with_user(UpdateKind::Always)
        .without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, names);
    if system.processes().is_empty() {
        return Err("the system lists no process".into());
    }
    let uid = rustix::process::getuid().as_raw();
    let own = |p: &sysinfo::Process| p.user_id().is_some_and(|u| **u == uid);
    let candidates: Vec<Pid> = system
        .processes()
        .values()
        .filter(|p| own(p) && agent::may_be_agent(&p.name().to_string_lossy()))
        .map(sysinfo::Process::pid)
        .collect();
    let more = names
        .with_cmd(UpdateKind::Always)
        .with_cwd(UpdateKind::Always)
        .with_environ(UpdateKind::Always);
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&candidates), false, more);
    let by_pid = system
        .processes()
        .values()
        .filter(|p| own(p))
        .map(|p| process(p, candidates.contains(&p.pid())))
        .map(|p| (p.pid, p))
        .collect();
    Ok(Processes {
        by_pid,
        lock_holders: None,
    })
}

fn process(found: &sysinfo::Process, candidate: bool) -> Process {
    let comm = found.name().to_string_lossy().into_owned();
    let start = found.start_time();
    Process {
        pid: found.pid().as_u32(),
        ppid: found.parent().map_or(0, Pid::as_u32),
        start_ticks: start,
        start_ms: Ms::try_from(start).unwrap_or(Ms::MAX).saturating_mul(1000),
        tty: String::new(),
        agent: if candidate { agent_process(found, &comm) } else { None },
        comm,
    }
}

fn agent_process(found: &sysinfo::Process, comm: &str) -> Option<AgentProcess> {
    let argv: Vec<String> = found.cmd().iter().map(|a| a.to_string_lossy().into_owned()).collect();
    let (agent, role) = agent::of_process(comm, &argv)?;
    let config_dir = (agent.id == agent::CLAUDE && role != Role::Helper)
        .then(|| {
            found
                .environ()
                .iter()
                .find_map(|v| v.to_str()?.strip_prefix("CLAUDE_CONFIG_DIR="))
                .filter(|v| !v.is_empty())
                .map(Into::into)
        })
        .flatten();
    Some(AgentProcess {
        agent,
        role,
        argv,
        cwd: found.cwd().map(Path::to_owned),
        config_dir,
        open: Vec::new(),
        started_by_agent: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_portable_table_knows_this_process() {
        let table = read().unwrap();
        let own = &table.by_pid[&std::process::id()];
        assert!(own.start_ticks > 0);
        assert!(own.agent.is_none());
    }
}
