//! Which facts belong to one session, and which process is its own: from what sources found to one entry a row.

use crate::entry::Entry;
use crate::liveness::{self, Candidate, Known, Lock, Seeker, Verdict, verdict};
use crate::processes::{AgentProcess, Look, Process, Processes};
use crate::source::{Context, Found, Harvest};
use ring_hook::agent::{self, CODEX, Role, Tier};
use ring_hook::key::key;
use ring_session::process::Stamp;
use ring_session::time::Ms;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// One entry a session, one a second process of a session, one a process without a session.
pub fn join<'a>(context: &'a Context, harvests: &'a [Harvest]) -> Vec<Entry<'a>> {
    let mut entries = sessions(context, harvests);
    let mut claimed = HashSet::new();
    judge(context, &mut entries, &mut claimed);
    add_second_processes(&mut entries);
    name_next_sessions(&mut entries);
    if let Some(processes) = &context.processes {
        claim_for_clients(processes, &entries, &mut claimed);
        let opened: HashSet<u32> = harvests.iter().flat_map(|h| h.opened.iter().copied()).collect();
        entries.extend(process_rows(processes, &claimed, &opened));
    }
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    entries
}

fn sessions<'a>(context: &'a Context, harvests: &'a [Harvest]) -> Vec<Entry<'a>> {
    let mut found: HashMap<(&str, &str), &Found> = HashMap::new();
    let mut none: HashSet<(&str, &str)> = HashSet::new();
    for harvest in harvests {
        for f in &harvest.found {
            found.insert((f.agent, f.session_id.as_str()), f);
        }
        none.extend(harvest.not_sessions.iter().map(|id| (CODEX, id.as_str())));
    }
    let mut entries = Vec::new();
    for hook in &context.hooks {
        let id = (hook.row.agent.as_str(), hook.row.session_id.as_str());
        if none.contains(&id) {
            continue;
        }
        entries.push(Entry {
            key: hook.row.key.clone(),
            agent: hook.row.agent.clone(),
            session_id: hook.row.session_id.clone(),
            hook: Some(hook),
            found: found.remove(&id),
            ..Entry::default()
        });
    }
    for (_, found) in found {
        entries.push(Entry {
            key: key(found.agent, &found.session_id),
            agent: found.agent.to_owned(),
            session_id: found.session_id.clone(),
            found: Some(found),
            ..Entry::default()
        });
    }
    for record in &context.records {
        let same = |e: &&mut Entry| e.agent == record.agent && e.session_id == record.session_id;
        match entries.iter_mut().find(same) {
            Some(entry) => entry.record = Some(record),
            // What only a hook entry wrote down is off the board with its row, unless somebody is asked.
            None if record.record.of_hook && record.record.open.is_empty() => {}
            None => entries.push(Entry {
                key: record.key.clone(),
                agent: record.agent.clone(),
                session_id: record.session_id.clone(),
                record: Some(record),
                title: record.title.clone(),
                ..Entry::default()
            }),
        }
    }
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    entries
}

/// The verdict of each session: first by what names its process, then by folder.
fn judge(context: &Context, entries: &mut [Entry], claimed: &mut HashSet<u32>) {
    let here = Stamp::nobody();
    let table = context.processes.as_ref();
    for entry in entries.iter_mut() {
        choose_live(entry);
        let known = known(entry, table, false);
        entry.verdict = match entry.record {
            Some(record) if entry.hook.is_none() && entry.found.is_none() => match record.owner {
                Some(_) => Verdict::Alive,
                None => Verdict::Unknown,
            },
            _ => verdict(&known, &here),
        };
        let recorded = entry.recorded();
        let owner = entry
            .record
            .filter(|_| entry.hook.is_none() && entry.found.is_none())
            .and_then(|r| r.owner);
        entry.pid = known.joined.or(recorded.map(|p| p.pid)).or(owner).unwrap_or(0);
        entry.server = match known.joined {
            Some(pid) => table.is_some_and(|t| is_server(t, pid)),
            None => recorded.is_some_and(|p| p.server),
        };
        entry.hook_is_past = is_past(entry, &known, table);
        if entry.verdict == Verdict::Alive && !entry.server {
            claimed.insert(entry.pid);
            claimed.extend(entry.found.iter().flat_map(|f| &f.live).map(|l| l.pid));
        }
    }
    let Some(table) = table else { return };
    claim_wrappers(table, claimed);
    let candidates = candidates(table, claimed);
    let mut folders = RealPaths::default();
    let seekers: Vec<Seeker> = entries
        .iter()
        .enumerate()
        .filter(|(_, e)| !candidates.is_empty() && seeks(e, table, &here))
        .map(|(at, e)| seeker(at, e, &mut folders))
        .collect();
    let claims = liveness::claims(&seekers, &candidates);
    for seeker in seekers {
        let Some(pid) = claims.get(&seeker.session).copied() else {
            continue;
        };
        let entry = &mut entries[seeker.session];
        entry.verdict = Verdict::Near;
        entry.pid = pid;
        // A record that ends by its age leaves the process to itself.
        let aged =
            entry.hook.is_none() && context.now.saturating_sub(seeker.mark_ms) > context.settings.active_window_ms;
        if !aged {
            claimed.insert(pid);
        }
    }
    claim_wrappers(table, claimed);
}

/// Of several live records for one session, the one of the process that the hook row names, else the oldest.
fn choose_live(entry: &mut Entry) {
    let Some(found) = entry.found else { return };
    let recorded = entry.recorded().map(|p| p.pid);
    entry.live = found
        .live
        .iter()
        .find(|l| Some(l.pid) == recorded)
        .or_else(|| found.live.first())
        .cloned();
}

fn known<'e>(entry: &Entry<'e>, table: Option<&Processes>, near: bool) -> Known<'e> {
    let recorded = entry.hook.and_then(|h| Some((h.row.process.as_ref()?, &h.row.host)));
    let joined = entry
        .live
        .as_ref()
        .map(|l| l.pid)
        .filter(|pid| *pid != 0)
        .or_else(|| entry.found.and_then(|f| f.joined));
    Known {
        recorded,
        look: recorded.and_then(|(p, _)| Some(table?.look(p.pid, p.start_ticks))),
        joined,
        foreign: entry.found.is_some_and(|f| f.foreign),
        lock: entry.found.map_or(Lock::Unknown, |f| f.lock),
        takes_locks: entry.found.is_some_and(|f| f.takes_locks),
        near,
        table: table.is_some(),
        detector: agent::find(&entry.agent).is_some_and(|a| !a.names.is_empty()),
    }
}

/// The row's process is dead, and the one that has the session now began after the row's last event.
fn is_past(entry: &Entry, known: &Known, table: Option<&Processes>) -> bool {
    let now = known.joined.and_then(|pid| table?.by_pid.get(&pid));
    known.look == Some(Look::Gone) && now.is_some_and(|p| entry.hook.is_some_and(|h| h.row.event_ms < p.start_ms))
}

fn is_server(table: &Processes, pid: u32) -> bool {
    agent_of(table, pid).is_some_and(|a| a.role == Role::Server)
}

fn agent_of(table: &Processes, pid: u32) -> Option<&AgentProcess> {
    table.by_pid.get(&pid)?.agent.as_ref()
}

/// A script that starts the real program is the same session: the parent of a claimed process, of the same agent.
fn claim_wrappers(table: &Processes, claimed: &mut HashSet<u32>) {
    let wrappers: Vec<u32> = claimed
        .iter()
        .filter_map(|pid| {
            let process = table.by_pid.get(pid)?;
            let parent = table.by_pid.get(&process.ppid)?;
            let same = parent.agent.as_ref()?.agent == process.agent.as_ref()?.agent;
            (same && parent.tty == process.tty).then_some(parent.pid)
        })
        .collect();
    claimed.extend(wrappers);
}

/// Processes that may belong to a session of their folder.
fn candidates(table: &Processes, claimed: &HashSet<u32>) -> Vec<Candidate> {
    let server = server_runs(table);
    table
        .by_pid
        .values()
        .filter(|p| !claimed.contains(&p.pid))
        .filter_map(|p| Some((p, p.agent.as_ref()?)))
        .filter(|(p, a)| a.role == Role::Session && !a.started_by_agent && !(server && is_client(p, a)))
        .filter_map(|(p, a)| {
            Some(Candidate {
                pid: p.pid,
                agent: a.agent.id,
                cwd: a.cwd.clone()?,
                start_ms: p.start_ms,
            })
        })
        .collect()
}

fn server_runs(table: &Processes) -> bool {
    table.by_pid.values().any(|p| {
        p.agent
            .as_ref()
            .is_some_and(|a| a.agent.id == CODEX && a.role == Role::Server)
    })
}

/// A terminal program of Codex whose session lives in the server.
fn is_client(process: &Process, agent: &AgentProcess) -> bool {
    agent.agent.id == CODEX
        && agent.role == Role::Session
        && !process.tty.is_empty()
        && !agent.argv.iter().any(|a| a == "--no-daemon")
}

/// Whether a process in its folder would make a difference for this session.
fn seeks(entry: &Entry, table: &Processes, here: &Stamp) -> bool {
    !entry.is_background() && verdict(&known(entry, Some(table), true), here) == Verdict::Near && !entry.server
}

/// Real paths of folders, each asked for once: many sessions share few folders.
#[derive(Default)]
struct RealPaths {
    known: HashMap<String, PathBuf>,
}

impl RealPaths {
    fn of(&mut self, folder: &str) -> PathBuf {
        if let Some(real) = self.known.get(folder) {
            return real.clone();
        }
        let real = Path::new(folder)
            .canonicalize()
            .unwrap_or_else(|_| PathBuf::from(folder));
        self.known.insert(folder.to_owned(), real.clone());
        real
    }
}

fn seeker(at: usize, entry: &Entry, real: &mut RealPaths) -> Seeker {
    let row = entry.hook.map(|h| &h.row);
    let found = entry.found;
    let mut folders: Vec<PathBuf> = [
        row.map(|r| &r.origin_cwd),
        row.map(|r| &r.cwd),
        found.map(|f| &f.origin_cwd),
        found.map(|f| &f.cwd),
    ]
    .into_iter()
    .flatten()
    .filter(|c| !c.is_empty())
    .map(|c| real.of(c))
    .collect();
    folders.dedup();
    let tail = found.and_then(|f| f.tail.as_ref());
    Seeker {
        session: at,
        agent: entry.agent.clone(),
        folders,
        hook: row.is_some(),
        mark_ms: row.map_or(0, |r| r.seen_ms).max(tail.map_or(0, |t| t.ms)),
    }
}

/// One session in two terminals: a row for each further process, with its own live record.
fn add_second_processes(entries: &mut Vec<Entry>) {
    let mut second = Vec::new();
    for entry in entries.iter() {
        let (Some(found), Some(first)) = (entry.found, &entry.live) else {
            continue;
        };
        for live in found.live.iter().filter(|l| l.pid != first.pid) {
            second.push(Entry {
                key: format!("{}@{}", entry.key, live.pid),
                live: Some(live.clone()),
                pid: live.pid,
                verdict: Verdict::Alive,
                ..entry.clone()
            });
        }
    }
    entries.extend(second);
}

/// Which sessions share a process that holds one at a time: the one with the latest turn has it.
fn name_next_sessions(entries: &mut [Entry]) {
    let mut by_pid: HashMap<u32, Vec<(usize, Ms)>> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        let one_to_one = agent::find(&entry.agent).is_some_and(|a| a.one_to_one);
        if one_to_one && !entry.server && entry.verdict == Verdict::Alive && entry.pid != 0 {
            by_pid.entry(entry.pid).or_default().push((at, entry.turn_started_ms()));
        }
    }
    for group in by_pid.values().filter(|g| g.len() > 1) {
        for (at, _) in group {
            entries[*at].next_turn_ms = group.iter().filter(|(other, _)| other != at).map(|(_, ms)| *ms).max();
        }
    }
}

/// Clients of a running server: each stands for one session that the server holds in its folder, the newest first, so
/// that it makes no row of its own. Nothing else follows from it: such a session does not end with its client.
fn claim_for_clients(table: &Processes, entries: &[Entry], claimed: &mut HashSet<u32>) {
    if !server_runs(table) {
        return;
    }
    let mut folders = RealPaths::default();
    let mut held: Vec<(Ms, Seeker)> = entries
        .iter()
        .enumerate()
        .filter(|(_, e)| e.agent == CODEX && e.server && matches!(e.verdict, Verdict::Alive | Verdict::Near))
        .map(|(at, e)| seeker(at, e, &mut folders))
        .map(|s| (s.mark_ms, s))
        .collect();
    held.sort_by_key(|(ms, s)| (std::cmp::Reverse(*ms), s.session));
    for process in table.of_agent(CODEX) {
        let Some(agent) = process.agent.as_ref() else { continue };
        let Some(cwd) = agent.cwd.as_ref() else { continue };
        if claimed.contains(&process.pid) || !is_client(process, agent) {
            continue;
        }
        if let Some(at) = held.iter().position(|(_, s)| s.folders.contains(cwd)) {
            held.remove(at);
            claimed.insert(process.pid);
        }
    }
}

/// Processes with a terminal that no session is known for. `opened`: those that have opened one which has no record yet;
/// if a server has, it did so for a client.
fn process_rows<'a>(table: &Processes, claimed: &HashSet<u32>, opened: &HashSet<u32>) -> Vec<Entry<'a>> {
    let by_server = opened.iter().any(|pid| is_server(table, *pid));
    table
        .by_pid
        .values()
        .filter(|p| !claimed.contains(&p.pid) && !p.tty.is_empty())
        .filter_map(|p| Some((p, p.agent.as_ref()?)))
        .filter(|(_, a)| a.role == Role::Session && !a.started_by_agent)
        .map(|(p, a)| {
            let id = format!("pid-{}-{}", p.pid, p.start_ticks);
            Entry {
                key: key(a.agent.id, &id),
                agent: a.agent.id.to_owned(),
                session_id: id,
                pid: p.pid,
                verdict: Verdict::Alive,
                opened: opened.contains(&p.pid) || (by_server && is_client(p, a)),
                title: if a.agent.tier == Tier::Process {
                    agent::local_model(a.agent, &a.argv)
                } else {
                    String::new()
                },
                ..Entry::default()
            }
        })
        .collect()
}
