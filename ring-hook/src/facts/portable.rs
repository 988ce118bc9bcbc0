//! Single processes where there is no `/proc`, by sysinfo. Only those that the walk asks for are looked at; terminals
//! are not known here.

use ring_session::process::ProcessStat;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

fn look<T>(pid: u32, kind: ProcessRefreshKind, read: impl Fn(&sysinfo::Process) -> T) -> Option<T> {
    let pid = Pid::from_u32(pid);
    let mut system = System::new().ok()?;
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, kind.without_tasks());
    system.process(pid).map(read)
}

/// One process; none if it is gone. Its start is in whole seconds.
pub(super) fn stat(pid: u32) -> Option<ProcessStat> {
    look(pid, ProcessRefreshKind::nothing(), |p| ProcessStat {
        pid,
        comm: p.name().to_string_lossy().into_owned(),
        state: 'S',
        ppid: p.parent().map_or(0, Pid::as_u32),
        tty_nr: 0,
        start_ticks: p.start_time(),
    })
}

/// A process's arguments; empty if they cannot be read.
pub(super) fn command_line(pid: u32) -> Vec<String> {
    let kind = ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always);
    let words = |p: &sysinfo::Process| p.cmd().iter().map(|a| a.to_string_lossy().into_owned()).collect();
    look(pid, kind, words).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_found_below_its_parent() {
        let me = stat(std::process::id()).unwrap();
        assert_eq!(me.ppid, std::os::unix::process::parent_id());
        assert!(me.start_ticks > 0);
        assert!(!command_line(me.pid).is_empty());
    }

    #[test]
    fn a_pid_of_nobody_is_none() {
        assert!(stat(u32::MAX - 1).is_none());
    }
}
