//! Codex: rollouts, their writer locks, children, and the word of the background server.

mod holders;

use super::claude::read_tail;
use super::codex_server::{self, ServerStatus};
use super::files::{self, RecordFile};
use super::{Context, Found, Harvest, LiveProcess};
use crate::merge::{ChildRecord, Live, Word};
use crate::processes::{AgentProcess, Process};
use holders::{Holders, rollout_id};
use ring_hook::agent::{CODEX, Role};
use ring_hook::tail::{self, Head, Kind};
use ring_session::time::Ms;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// How many records outside of the window `--all` looks into.
const OLD_RECORDS: usize = 200;
/// A child whose record has not moved for this long runs no more.
const CHILD_MS: Ms = 30 * 60_000;
/// The first version whose sessions hold a writer lock while they are loaded.
const TAKES_LOCKS: (u32, u32) = (0, 171);

/// Reads what Codex's home says.
///
/// # Errors
/// A text for people, if its records are there and cannot be listed.
pub fn read(context: &Context) -> Result<Harvest, String> {
    let home = std::env::var_os("CODEX_HOME")
        .filter(|v| !v.is_empty())
        .map(PathBuf::from)
        .or_else(|| context.home.as_ref().map(|h| h.join(".codex")));
    let mut harvest = Harvest::default();
    let Some(home) = home.filter(|h| h.is_dir()) else {
        harvest.absent = true;
        return Ok(harvest);
    };
    harvest.homes.push(home.clone());
    let holders = Holders::of(context, &home);
    let files = rollouts(&home.join("sessions"), context, &holders)?;
    let mut records = Records::default();
    for file in files {
        records.add(context, &holders, file, &mut harvest);
    }
    records.add_only_hooked(context, &holders);
    records.ask_server(context, &home);
    harvest.opened = holders.without_record(|id| records.knows(id));
    records.finish(&mut harvest);
    Ok(harvest)
}

fn processes(context: &Context) -> impl Iterator<Item = (&Process, &AgentProcess)> {
    context
        .processes
        .iter()
        .flat_map(|p| p.of_agent(CODEX))
        .filter_map(|p| Some((p, p.agent.as_ref()?)))
}

/// The rollouts that are looked into: those that a process or hook row names, those that moved within half an hour (a
/// running session may have started them), and all of the window if one of them may be a session that nothing names.
fn rollouts(sessions: &Path, context: &Context, holders: &Holders) -> Result<Vec<RecordFile>, String> {
    let hooked: HashSet<&str> = context
        .hooks
        .iter()
        .filter(|h| h.row.agent == CODEX)
        .map(|h| h.row.session_id.as_str())
        .collect();
    let named = |id: &str| hooked.contains(id) || holders.joined(id).is_some();
    let any = !hooked.is_empty() || !holders.open.is_empty() || holders.locks.values().any(|pid| *pid != 0);
    let window = context.all || context.processes.is_none() || !holders.idle.is_empty();
    let parked = holders.idle.iter().map(|(_, start)| *start).min();
    let (mut found, mut old) = (Vec::new(), Vec::new());
    let mut folders = vec![(sessions.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = match files::entries(&folder) {
            Ok(Some(entries)) => entries,
            Ok(None) => continue,
            Err(e) if depth == 0 => return Err(e),
            // One unreadable day hides no other.
            Err(_) => continue,
        };
        for entry in entries {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            // Folders are years, months, days.
            if depth < 3 && name.bytes().all(|b| b.is_ascii_digit()) && files::is_dir(&entry) {
                folders.push((entry.path(), depth + 1));
                continue;
            }
            let Some(id) = rollout_id(name) else { continue };
            let Some(file_ms) = files::stat_entry(&entry) else {
                continue;
            };
            let wants = named(id)
                || (any && context.now.saturating_sub(file_ms) <= CHILD_MS)
                || (window && context.in_window(file_ms))
                || parked.is_some_and(|start| file_ms >= start);
            if wants || context.all {
                let file = RecordFile {
                    id: id.to_owned(),
                    path: entry.path(),
                    file_ms,
                };
                if wants { found.push(file) } else { old.push(file) }
            }
        }
    }
    found.extend(files::newest(old, OLD_RECORDS));
    found.sort_by(|a, b| (&a.id, a.file_ms).cmp(&(&b.id, b.file_ms)));
    Ok(found)
}

#[derive(Default)]
struct Records {
    sessions: HashMap<String, Found>,
    children: HashMap<String, Vec<ChildRecord>>,
    not_sessions: Vec<String>,
}

impl Records {
    fn add(&mut self, context: &Context, holders: &Holders, file: RecordFile, harvest: &mut Harvest) {
        let head = match tail::file::head(&file.path) {
            Ok(bytes) => tail::codex::head(&bytes),
            Err(e) => {
                harvest.skipped.push(super::skipped(
                    CODEX,
                    file.path.display().to_string(),
                    files::describe(&e),
                ));
                return;
            }
        };
        if head.child {
            self.add_child(context, &file, &head);
            return;
        }
        if head.internal {
            self.not_sessions.push(file.id);
            return;
        }
        let hook = context.hook(CODEX, &file.id);
        let newer = hook.is_some_and(|h| super::hook::is_newer(h, file.file_ms));
        let tail = if newer {
            None
        } else {
            read_tail(&file.path, tail::codex::tail, harvest)
        };
        if tail.is_none() && hook.is_none() {
            return;
        }
        let joined = holders.joined(&file.id);
        if hook.is_none() && says_nothing(tail.as_ref(), &head) && !has_terminal(context, joined) {
            self.not_sessions.push(file.id);
            return;
        }
        let known = tail.clone().unwrap_or_default();
        let title = [&known.title, &known.first_prompt, &head.first_prompt]
            .into_iter()
            .find(|t| !t.is_empty());
        let cwd = if known.cwd.is_empty() { &head.cwd } else { &known.cwd };
        self.sessions.insert(
            file.id.clone(),
            Found {
                agent: CODEX,
                path: Some(file.path),
                joined,
                lock: holders.lock(&file.id),
                takes_locks: takes_locks(&head.cli_version),
                title: title.cloned().unwrap_or_default(),
                cwd: cwd.clone(),
                origin_cwd: head.cwd.clone(),
                session_id: file.id,
                tail,
                ..Found::default()
            },
        );
    }

    /// A child is counted with its parent and has no row of its own.
    fn add_child(&mut self, context: &Context, file: &RecordFile, head: &Head) {
        self.not_sessions.push(file.id.clone());
        if head.parent.is_empty() || context.now.saturating_sub(file.file_ms) > CHILD_MS {
            return;
        }
        let first = head.first_ordinal;
        let read = |bytes: &[u8], whole: bool| tail::codex::tail_of_child(bytes, whole, first);
        if let Ok(tail) = tail::file::tail(&file.path, read) {
            self.children.entry(head.parent.clone()).or_default().push(ChildRecord {
                id: file.id.clone(),
                kind: tail.kind,
                ms: tail.ms,
            });
        }
    }

    /// Sessions that have a hook row and no rollout yet: who holds them is known all the same.
    fn add_only_hooked(&mut self, context: &Context, holders: &Holders) {
        for hook in context.hooks.iter().filter(|h| h.row.agent == CODEX) {
            let id = &hook.row.session_id;
            if !self.knows(id) && holders.joined(id).is_some() {
                self.sessions.insert(
                    id.clone(),
                    Found {
                        agent: CODEX,
                        session_id: id.clone(),
                        joined: holders.joined(id),
                        lock: holders.lock(id),
                        ..Found::default()
                    },
                );
            }
        }
    }

    /// The server says of its threads what no file says: that an approval or a question is on the screen. It is asked
    /// only if one runs; without an answer the board is as without it.
    fn ask_server(&mut self, context: &Context, home: &Path) {
        let servers: HashSet<u32> = processes(context)
            .filter(|(_, a)| a.role == Role::Server)
            .map(|(p, _)| p.pid)
            .collect();
        let mut held: Vec<String> = self
            .sessions
            .values()
            .filter(|s| s.joined.is_some_and(|pid| servers.contains(&pid)))
            .map(|s| s.session_id.clone())
            .collect();
        held.sort();
        let Ok(answers) = codex_server::statuses(home, &held, codex_server::BUDGET) else {
            return;
        };
        for (id, status) in answers {
            let words = match status {
                ServerStatus::WaitingOnApproval => "approval",
                ServerStatus::WaitingOnUserInput => "question",
                ServerStatus::Active | ServerStatus::Idle | ServerStatus::Other => continue,
            };
            let Some(session) = self.sessions.get_mut(&id) else {
                continue;
            };
            let row = context.hook(CODEX, &id).map(|h| &h.row);
            let since = row
                .map_or(0, |r| r.event_ms)
                .max(session.tail.as_ref().map_or(0, |t| t.ms));
            session.live.push(LiveProcess {
                pid: session.joined.unwrap_or(0),
                live: Some(Live {
                    word: Word::Waiting(words.into()),
                    ms: context.now,
                    since_ms: since,
                    source: "server",
                }),
                ..LiveProcess::default()
            });
        }
    }

    fn knows(&self, id: &str) -> bool {
        self.sessions.contains_key(id) || self.not_sessions.iter().any(|n| n == id)
    }

    fn finish(mut self, harvest: &mut Harvest) {
        for (parent, mut children) in self.children {
            children.sort_by(|a, b| a.id.cmp(&b.id));
            if let Some(session) = self.sessions.get_mut(&parent) {
                session.children = children;
            }
        }
        harvest.not_sessions = self.not_sessions;
        harvest.not_sessions.sort();
        harvest.found.extend(self.sessions.into_values());
        harvest.found.sort_by(|a, b| a.session_id.cmp(&b.session_id));
    }
}

/// No word of a person is in the record.
fn says_nothing(tail: Option<&tail::Tail>, head: &Head) -> bool {
    head.first_prompt.is_empty() && tail.is_none_or(|t| t.kind == Kind::None && t.first_prompt.is_empty())
}

fn has_terminal(context: &Context, pid: Option<u32>) -> bool {
    let process = pid.and_then(|pid| context.processes.as_ref()?.by_pid.get(&pid));
    process.is_some_and(|p| !p.tty.is_empty())
}

/// `MAJOR.MINOR...`; a version that cannot be read takes none.
fn takes_locks(version: &str) -> bool {
    let mut parts = version.split('.').map(|p| p.parse::<u32>().ok());
    match (parts.next().flatten(), parts.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) >= TAKES_LOCKS,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_taken_since_0_171() {
        assert!(takes_locks("0.171.0"));
        assert!(takes_locks("1.0.0-alpha"));
        assert!(!takes_locks("0.170.9"));
        assert!(!takes_locks(""));
    }
}
