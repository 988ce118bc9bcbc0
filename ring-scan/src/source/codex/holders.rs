//! Who holds which session: writer locks, open rollouts.

use super::processes;
use crate::liveness::Lock;
use crate::source::Context;
use crate::source::files;
use ring_hook::agent::Role;
use ring_session::time::Ms;
use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Who holds which session.
pub(super) struct Holders {
    /// By session id: the holder of its lock; 0: nobody.
    pub(super) locks: HashMap<String, u32>,
    /// Locks can be told: an id without a lock file is held by nobody.
    told: bool,
    /// By session id: a process that has its rollout open, or names it by an argument.
    pub(super) open: HashMap<String, u32>,
    /// Session processes that hold no session.
    pub(super) idle: Vec<(u32, Ms)>,
}

impl Holders {
    pub(super) fn of(context: &Context, home: &Path) -> Holders {
        let mut open: HashMap<String, u32> = HashMap::new();
        let mut locks = HashMap::new();
        let kernel = context.processes.as_ref().and_then(|p| p.lock_holders.as_ref());
        let folder = home.join("thread-writer-locks");
        let entries = files::entries(&folder).ok().flatten();
        let folder_there = entries.is_some();
        let own: HashSet<u32> = processes(context).map(|(p, _)| p.pid).collect();
        for entry in entries.into_iter().flatten() {
            let name = entry.file_name();
            let Some(id) = name.to_str().and_then(|n| n.strip_suffix(".lock")) else {
                continue;
            };
            if let Ok(metadata) = entry.metadata() {
                let holder = kernel
                    .and_then(|k| k.get(&metadata.ino()))
                    .filter(|pid| own.contains(pid));
                locks.insert(id.to_owned(), holder.copied().unwrap_or(0));
            }
        }
        for (process, agent) in processes(context) {
            for path in &agent.open {
                let Some(name) = path.file_name().and_then(|n| n.to_str()) else {
                    continue;
                };
                if let Some(id) = name.strip_suffix(".lock") {
                    // Where the kernel's list is not to be had, an open lock file is as good.
                    if kernel.is_none() {
                        locks.insert(id.to_owned(), process.pid);
                    }
                } else if let Some(id) = rollout_id(name) {
                    open.entry(id.to_owned()).or_insert(process.pid);
                }
            }
        }
        let busy: HashSet<u32> = open.values().chain(locks.values()).copied().collect();
        let idle = processes(context)
            .filter(|(p, a)| a.role == Role::Session && !a.started_by_agent && !busy.contains(&p.pid))
            .map(|(p, _)| (p.pid, p.start_ms))
            .collect();
        Holders {
            locks,
            told: folder_there && context.processes.is_some(),
            open,
            idle,
        }
    }

    /// The writer lock of a session.
    pub(super) fn lock(&self, id: &str) -> Lock {
        match self.locks.get(id) {
            _ if !self.told => Lock::Unknown,
            Some(0) | None => Lock::Free,
            Some(pid) => Lock::Held(*pid),
        }
    }

    /// Processes that hold the lock of a session that has no rollout: the person has not asked anything yet.
    pub(super) fn without_record(&self, known: impl Fn(&str) -> bool) -> Vec<u32> {
        let held = self.locks.iter().filter(|(_, pid)| **pid != 0);
        held.filter(|(id, _)| !known(id)).map(|(_, pid)| *pid).collect()
    }

    /// The process that has the session, by lock or open rollout.
    pub(super) fn joined(&self, id: &str) -> Option<u32> {
        let held = self.locks.get(id).copied().filter(|pid| *pid != 0);
        held.or_else(|| self.open.get(id).copied())
    }
}

/// The session's id in the name of a rollout: `rollout-TIME-ID.jsonl`, the last 36 characters.
pub(super) fn rollout_id(name: &str) -> Option<&str> {
    let stem = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
    let id = stem.get(stem.len().checked_sub(36)?..)?;
    let uuid = id.bytes().enumerate().all(|(at, b)| match at {
        8 | 13 | 18 | 23 => b == b'-',
        _ => b.is_ascii_hexdigit(),
    });
    uuid.then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_stands_at_the_end_of_a_rollouts_name() {
        let name = "rollout-2026-11-30T12-57-21-01a22c89-b7aa-7c51-aee3-61c164103a8d.jsonl";
        assert_eq!(rollout_id(name), Some("01a22c89-b7aa-7c51-aee3-61c164103a8d"));
        for name in [
            "rollout-x.jsonl",
            "rollout-.jsonl",
            "other.jsonl",
            "rollout-é2026-11-30T12.jsonl",
        ] {
            assert_eq!(rollout_id(name), None, "{name}");
        }
    }
}
