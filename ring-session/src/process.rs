//! Processes and their identity: the *stamp* (ring(5), STAMP).
//!
//! A pid alone names nothing: it is used again. Pid, start ticks, boot id and pid namespace together do. On Linux all
//! of it is read from `/proc`, or from the folder that `RING_PROC_DIR` names, for tests and replays.

use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The environment variable that replaces `/proc`.
pub const PROC_VARIABLE: &str = "RING_PROC_DIR";

/// Where and when a process lives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stamp {
    /// Host name.
    pub host: String,
    /// First 8 digits of the boot id.
    pub boot: String,
    /// Inode of the pid namespace.
    pub pid_ns: u64,
    /// Process id; 0: nobody is named.
    pub pid: u32,
    /// Field 22 of `/proc/PID/stat`, raw; elsewhere the start time.
    pub start_ticks: u64,
}

/// What `/proc/PID/stat` says of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessStat {
    /// Process id.
    pub pid: u32,
    /// Name, cut to 15 bytes by the kernel.
    pub comm: String,
    /// State letter; `Z` and `X` are dead.
    pub state: char,
    /// Parent's id.
    pub ppid: u32,
    /// Device number of the controlling terminal; 0: none.
    pub tty_nr: i32,
    /// Start, in clock ticks since boot.
    pub start_ticks: u64,
}

/// The folder with a subfolder for each process.
pub fn proc_dir() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        std::env::var_os(PROC_VARIABLE)
            .filter(|v| !v.is_empty())
            .map_or("/proc".into(), PathBuf::from)
    })
}

/// One line of `/proc/PID/stat`. The name may hold blanks and brackets, so fields count from the last `)`.
pub fn parse_stat(bytes: &[u8]) -> Option<ProcessStat> {
    let open = bytes.iter().position(|b| *b == b'(')?;
    let close = bytes.iter().rposition(|b| *b == b')')?;
    let pid = std::str::from_utf8(bytes.get(..open)?).ok()?.trim().parse().ok()?;
    let comm = String::from_utf8_lossy(bytes.get(open + 1..close)?).into_owned();
    let rest = std::str::from_utf8(bytes.get(close + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let ppid = fields.next()?.parse().ok()?;
    let tty_nr = fields.nth(2)?.parse().ok()?;
    let start_ticks = fields.nth(14)?.parse().ok()?;
    Some(ProcessStat {
        pid,
        comm,
        state,
        ppid,
        tty_nr,
        start_ticks,
    })
}

/// Reads one process; none if it is gone or unreadable.
pub fn read_stat(pid: u32) -> Option<ProcessStat> {
    fs::read(proc_dir().join(pid.to_string()).join("stat"))
        .ok()
        .and_then(|b| parse_stat(&b))
}

/// What looking for a process found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// It is there.
    Found(ProcessStat),
    /// No process has that id.
    Gone,
    /// Nobody can tell: not allowed, or not understood.
    Unreadable,
}

/// Looks for one process.
pub fn look(pid: u32) -> Look {
    match fs::read(proc_dir().join(pid.to_string()).join("stat")) {
        Ok(bytes) => parse_stat(&bytes).map_or(Look::Unreadable, Look::Found),
        // the second: it ended between open and read
        Err(e) if e.kind() == io::ErrorKind::NotFound => Look::Gone,
        Err(e) if e.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => Look::Gone,
        Err(_) => Look::Unreadable,
    }
}

/// The process that holds a `flock` on the file with that device and inode, by the system's table of locks.
pub fn lock_holder(device: u64, inode: u64) -> Option<u32> {
    let table = fs::read_to_string(proc_dir().join("locks")).ok()?;
    parse_locks(&table, device, inode)
}

/// Lines are `1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE START END`, with hexadecimal device numbers; those who wait
/// have `->` behind the number.
fn parse_locks(table: &str, device: u64, inode: u64) -> Option<u32> {
    let file = format!(
        "{:02x}:{:02x}:{inode}",
        rustix::fs::major(device),
        rustix::fs::minor(device)
    );
    let holder = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let is_ours = words.next() == Some("FLOCK") && words.nth(2).is_some();
        let mut words = line.split_ascii_whitespace().skip(4);
        let pid = words.next()?.parse().ok().filter(|pid| *pid > 0)?;
        (is_ours && words.next() == Some(&file)).then_some(pid)
    };
    table.lines().find_map(holder)
}

/// First 8 digits of the boot id; empty where there is none.
pub fn boot_id() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| {
        fs::read_to_string(proc_dir().join("sys/kernel/random/boot_id"))
            .map(|t| t.trim().chars().take(8).collect())
            .unwrap_or_default()
    })
}

/// Inode of a process's pid namespace; 0 if it cannot be read. `who` is a pid or `self`.
pub fn pid_ns(who: &str) -> u64 {
    fs::read_link(proc_dir().join(who).join("ns/pid"))
        .ok()
        .and_then(|l| l.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok())
        .unwrap_or(0)
}

/// Inode of this process's own pid namespace.
pub fn own_pid_ns() -> u64 {
    static NS: OnceLock<u64> = OnceLock::new();
    *NS.get_or_init(|| pid_ns("self"))
}

/// This machine's name.
pub fn host_name() -> &'static str {
    static HOST: OnceLock<String> = OnceLock::new();
    HOST.get_or_init(|| rustix::system::uname().nodename().to_string_lossy().into_owned())
}

impl Stamp {
    /// The stamp of `pid` on this machine, if the process is there.
    pub fn of(pid: u32) -> Option<Stamp> {
        read_stat(pid).map(|s| Stamp {
            pid,
            start_ticks: s.start_ticks,
            ..Stamp::nobody()
        })
    }

    /// This machine and boot, naming no process.
    pub fn nobody() -> Stamp {
        Stamp {
            host: host_name().to_owned(),
            boot: boot_id().to_owned(),
            pid_ns: own_pid_ns(),
            pid: 0,
            start_ticks: 0,
        }
    }

    /// Whether the process is proven dead, seen from `here` (a stamp of this machine) with what [`look`] finds under
    /// a pid. Proof is: same host and another boot; or same host, boot and namespace, and the pid (not 0) is absent, a
    /// zombie or has other ticks. All else is no proof.
    pub fn is_dead(&self, here: &Stamp, look: impl Fn(u32) -> Look) -> bool {
        if self.host != here.host || self.boot.is_empty() || here.boot.is_empty() {
            return false;
        }
        if self.boot != here.boot {
            return true;
        }
        if self.pid_ns != here.pid_ns || self.pid == 0 {
            return false;
        }
        match look(self.pid) {
            Look::Gone => true,
            Look::Found(s) => matches!(s.state, 'Z' | 'X') || s.start_ticks != self.start_ticks,
            Look::Unreadable => false,
        }
    }
}

#[cfg(test)]
#[path = "process/tests.rs"]
mod tests;
