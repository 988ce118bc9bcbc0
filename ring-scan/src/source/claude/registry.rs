//! Claude Code's live records: `HOME/sessions/PID.json`, written by the client itself at every change of its screen
//! (measured with 2.1.197 and 2.1.332).
//!
//! A record is written in place, so an empty or half-written one is read once more after 20 ms, and a whole first object
//! counts, whatever older text follows it. After `kill -9` a record stays with its last status: only a process with the
//! recorded start speaks through it.

use crate::processes::{Process, Processes};
use crate::source::files;
use ring_hook::live::{self, LiveRecord};
use ring_session::regular;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for the rest of a record.
const HALF_WRITTEN: Duration = Duration::from_millis(20);

/// What was read of one home.
#[derive(Debug, Default)]
pub struct Registry {
    /// Whole records.
    pub records: Vec<LiveRecord>,
    /// Files that held none.
    pub unreadable: Vec<PathBuf>,
}

/// Reads the live records of one home. Records of dead processes are among them.
///
/// # Errors
/// A text for people, if the folder cannot be listed.
pub fn read(home: &Path, processes: Option<&Processes>) -> Result<Registry, String> {
    read_waiting(home, processes, || std::thread::sleep(HALF_WRITTEN))
}

/// `wait` lets the writers of half-written records finish.
fn read_waiting(home: &Path, processes: Option<&Processes>, wait: impl FnOnce()) -> Result<Registry, String> {
    let mut registry = Registry::default();
    let Some(entries) = files::entries(&home.join("sessions"))? else {
        return Ok(registry);
    };
    let mut half = Vec::new();
    for entry in entries {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|n| n.strip_suffix(".json")?.parse().ok()) else {
            continue;
        };
        // A pipe in the place of a record would keep the reader waiting for ever.
        if !entry.file_type().is_ok_and(|t| t.is_file()) {
            continue;
        }
        match read_one(&entry.path(), pid) {
            Some(record) => registry.records.push(record),
            // Leftovers are nobody's to complete.
            None if processes.is_some_and(|p| !p.by_pid.contains_key(&pid)) => registry.unreadable.push(entry.path()),
            None => half.push((entry.path(), pid)),
        }
    }
    if !half.is_empty() {
        wait();
    }
    for (path, pid) in half {
        match read_one(&path, pid) {
            Some(record) => registry.records.push(record),
            None if path.exists() => registry.unreadable.push(path),
            None => {}
        }
    }
    registry.records.sort_by_key(|r| (r.started_ms, r.pid));
    Ok(registry)
}

fn read_one(path: &Path, pid: u32) -> Option<LiveRecord> {
    live::claude(&regular::read(path).ok()?, pid)
}

/// Whether this process wrote the record: its start is the recorded one.
pub fn is_written_by(record: &LiveRecord, process: &Process) -> bool {
    record.is_of_start(process.start_ticks, process.start_ms)
}

/// Whether a record without a living process was written somewhere else: then its process may live there. `machine` is
/// this machine's id, if it can be told; if not, a domain is foreign that is unlike those of records proven alive here.
pub fn is_foreign(domain: &str, machine: Option<&str>, pid_ns: u64, proven: &[&str]) -> bool {
    let Some((id, namespace)) = domain.strip_prefix("linux:").and_then(|d| d.split_once(":pid:")) else {
        return false;
    };
    let inode = namespace.trim_start_matches('[').trim_end_matches(']').parse::<u64>();
    if pid_ns != 0 && inode.is_ok_and(|i| i != pid_ns) {
        return true;
    }
    match machine {
        Some(machine) => id != machine,
        None => !proven.is_empty() && !proven.contains(&domain),
    }
}

/// This machine's id. A replaced process table is another machine's, whose id is not known.
pub fn machine_id() -> Option<String> {
    if std::env::var_os(ring_session::process::PROC_VARIABLE).is_some_and(|v| !v.is_empty()) {
        return None;
    }
    let text = fs::read_to_string("/etc/machine-id")
        .or_else(|_| fs::read_to_string("/var/lib/dbus/machine-id"))
        .ok()?;
    Some(text.trim().to_owned()).filter(|t| !t.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c78_a_half_written_record_is_read_once_more() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("sessions/42.json");
        fs::create_dir(home.path().join("sessions")).unwrap();
        fs::write(&file, "").unwrap();
        fs::write(home.path().join("sessions/43.json"), "{\"sess").unwrap();
        let whole = || fs::write(&file, r#"{"sessionId":"a","status":"idle"}"#).unwrap();
        let registry = read_waiting(home.path(), None, whole).unwrap();
        assert_eq!(registry.records.len(), 1);
        assert_eq!(registry.records[0].session_id, "a");
        assert_eq!(registry.unreadable.len(), 1);
        // what a dead process left half-written is nobody's to complete
        let nobody = Processes::default();
        let registry = read_waiting(home.path(), Some(&nobody), || panic!("waited")).unwrap();
        assert_eq!(registry.unreadable.len(), 1);
    }

    #[test]
    fn c79_another_machine_or_namespace_is_foreign() {
        let ours = "linux:abc:pid:[4026531836]";
        assert!(!is_foreign(ours, Some("abc"), 4_026_531_836, &[]));
        assert!(is_foreign(ours, Some("xyz"), 4_026_531_836, &[]));
        assert!(is_foreign(ours, Some("abc"), 1, &[]));
        assert!(is_foreign(ours, None, 4_026_531_836, &["linux:xyz:pid:[4026531836]"]));
        assert!(!is_foreign(ours, None, 4_026_531_836, &[ours]));
        assert!(!is_foreign(ours, None, 4_026_531_836, &[]));
        assert!(!is_foreign("", Some("abc"), 1, &[]));
    }
}
