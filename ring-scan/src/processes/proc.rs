//! One pass over `/proc`, or the folder that `RING_PROC_DIR` names.

use super::{AgentProcess, Process, Processes};
use ring_hook::agent::{self, Agent, Role};
use ring_session::process::{parse_stat, proc_dir};
use ring_session::time::Ms;
use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What the kernel counts starts in, per second: fixed for programs, whatever its own clock does.
const TICKS_PER_SECOND: Ms = 100;

/// Reads own processes.
///
/// # Errors
/// The folder cannot be listed.
pub fn read() -> Result<Processes, String> {
    let root = proc_dir();
    let uid = rustix::process::getuid().as_raw();
    let failed = |e: std::io::Error| format!("{}: {e}", root.display());
    let mut table = Processes::default();
    let mut buffer = Vec::with_capacity(1024);
    let mut agents = false;
    for entry in fs::read_dir(root).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<u32>().ok()) else {
            continue;
        };
        // A process that ends while it is read is none.
        if entry.metadata().map_or(true, |m| m.uid() != uid) {
            continue;
        }
        let dir = entry.path();
        let Some(process) = read_into(&dir.join("stat"), &mut buffer).and_then(|()| process(&buffer)) else {
            continue;
        };
        if agent::may_be_agent(&process.comm) {
            let found = agent_process(&dir, &process.comm);
            agents |= found.is_some();
            table.by_pid.insert(
                pid,
                Process {
                    agent: found,
                    ..process
                },
            );
        } else {
            table.by_pid.insert(pid, process);
        }
    }
    if agents {
        let boot = boot_ms(root);
        for process in table.by_pid.values_mut().filter(|p| p.agent.is_some()) {
            process.start_ms = boot.map_or(0, |b| started_ms(b, process.start_ticks));
        }
    }
    if table.by_pid.values().any(|p| is_of(p, agent::CODEX)) {
        table.lock_holders = fs::read_to_string(root.join("locks")).ok().map(|t| lock_holders(&t));
    }
    Ok(table)
}

fn is_of(process: &Process, id: &str) -> bool {
    process.agent.as_ref().is_some_and(|a| a.agent.id == id)
}

fn read_into(path: &Path, buffer: &mut Vec<u8>) -> Option<()> {
    use std::io::Read;
    buffer.clear();
    fs::File::open(path).ok()?.read_to_end(buffer).ok()?;
    Some(())
}

fn process(stat: &[u8]) -> Option<Process> {
    let stat = parse_stat(stat)?;
    (!matches!(stat.state, 'Z' | 'X')).then(|| Process {
        pid: stat.pid,
        ppid: stat.ppid,
        comm: stat.comm,
        start_ticks: stat.start_ticks,
        start_ms: 0,
        tty: tty_name(stat.tty_nr),
        agent: None,
    })
}

/// The device of a terminal by its number: `/dev/pts/N` or `/dev/ttyN`; empty for none and for others.
fn tty_name(number: i32) -> String {
    let number = number.cast_unsigned();
    let (major, minor) = ((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xf_ff00));
    match major {
        136..=143 => format!("/dev/pts/{}", (major - 136) * 256 + minor),
        4 if minor < 64 => format!("/dev/tty{minor}"),
        4 => format!("/dev/ttyS{}", minor - 64),
        _ => String::new(),
    }
}

fn agent_process(dir: &Path, comm: &str) -> Option<AgentProcess> {
    let argv: Vec<String> = fs::read(dir.join("cmdline"))
        .unwrap_or_default()
        .split(|b| *b == 0)
        .filter(|a| !a.is_empty())
        .map(|a| String::from_utf8_lossy(a).into_owned())
        .collect();
    let (agent, role): (&'static Agent, Role) = agent::of_process(comm, &argv)?;
    let counts = role != Role::Helper;
    Some(AgentProcess {
        agent,
        role,
        argv,
        cwd: counts.then(|| cwd(dir)).flatten(),
        config_dir: (counts && agent.id == agent::CLAUDE).then(|| config_dir(dir)).flatten(),
        open: if counts && agent.id == agent::CODEX {
            open_records(dir)
        } else {
            Vec::new()
        },
        started_by_agent: false,
    })
}

fn cwd(dir: &Path) -> Option<PathBuf> {
    let link = fs::read_link(dir.join("cwd")).ok()?;
    // The kernel's mark of a folder that was removed.
    let bytes = link.as_os_str().as_bytes();
    match bytes.strip_suffix(b" (deleted)") {
        Some(path) => Some(PathBuf::from(std::ffi::OsString::from_vec(path.to_vec()))),
        None => Some(link),
    }
}

fn config_dir(dir: &Path) -> Option<PathBuf> {
    let environ = fs::read(dir.join("environ")).ok()?;
    environ
        .split(|b| *b == 0)
        .find_map(|v| v.strip_prefix(b"CLAUDE_CONFIG_DIR="))
        .filter(|v| !v.is_empty())
        .map(|v| PathBuf::from(std::ffi::OsString::from_vec(v.to_vec())))
}

fn open_records(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir.join("fd")) else {
        return Vec::new();
    };
    let mut open: Vec<PathBuf> = entries
        .filter_map(|e| fs::read_link(e.ok()?.path()).ok())
        .filter(|p| {
            let name = p.file_name().map_or(&b""[..], OsStrExt::as_bytes);
            (name.starts_with(b"rollout-") && name.ends_with(b".jsonl"))
                || (name.ends_with(b".lock") && p.parent().is_some_and(|d| d.ends_with("thread-writer-locks")))
        })
        .collect();
    open.sort();
    open.dedup();
    open
}

/// When this machine was started, by its own clock, in whole seconds.
fn boot_ms(root: &Path) -> Option<Ms> {
    let stat = fs::read_to_string(root.join("stat")).ok()?;
    let seconds: Ms = stat
        .lines()
        .find_map(|l| l.strip_prefix("btime "))?
        .trim()
        .parse()
        .ok()?;
    Some(seconds.saturating_mul(1000))
}

/// When a process was started. Whatever stands in the table, it is some moment.
fn started_ms(boot_ms: Ms, ticks: u64) -> Ms {
    let ticks = Ms::try_from(ticks).unwrap_or(Ms::MAX);
    boot_ms.saturating_add(ticks.saturating_mul(1000) / TICKS_PER_SECOND)
}

/// `N: FLOCK  ADVISORY  WRITE PID MAJOR:MINOR:INODE START END`, one lock a line; waiting ones have `->` in front.
/// Devices are not compared: layered file systems show another one here than `stat` does.
fn lock_holders(text: &str) -> HashMap<u64, u32> {
    text.lines()
        .filter(|l| !l.contains("->"))
        .filter_map(|l| {
            let mut fields = l.split_ascii_whitespace().skip(4);
            let pid = fields.next()?.parse().ok()?;
            let inode = fields.next()?.rsplit(':').next()?.parse().ok()?;
            Some((inode, pid))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_have_names() {
        assert_eq!(tty_name(34825), "/dev/pts/9");
        assert_eq!(tty_name((137 << 8) | 4), "/dev/pts/260");
        assert_eq!(tty_name(1025), "/dev/tty1");
        assert_eq!(tty_name(0), "");
    }

    #[test]
    fn no_number_in_the_process_table_is_too_great() {
        assert_eq!(started_ms(1_000, 250), 3_500);
        assert!(started_ms(Ms::MAX, u64::MAX) > 0 && started_ms(0, u64::MAX) > 0);
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("stat"), format!("cpu 1\nbtime {}\n", i64::MAX)).unwrap();
        assert_eq!(boot_ms(dir.path()), Some(Ms::MAX));
    }

    #[test]
    fn the_kernels_list_of_locks_is_read_by_inode() {
        let text = "1: FLOCK  ADVISORY  WRITE 42 fe:01:777 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 43 fe:01:777 0 EOF\n\
                    2: POSIX  ADVISORY  READ 44 00:19:8 128 128\nodd line\n";
        let holders = lock_holders(text);
        assert_eq!(holders.get(&777), Some(&42));
        assert_eq!(holders.get(&8), Some(&44));
        assert_eq!(holders.len(), 2);
    }
}
