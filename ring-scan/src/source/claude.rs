//! Claude Code: live records, transcripts by id over all folders of all homes, children's records.

mod children;
pub mod registry;
mod transcripts;

use super::files::{self, RecordFile};
use super::{Context, Found, Harvest, LiveProcess};
use crate::processes::{AgentProcess, Process, Processes};
use ring_hook::agent::{CLAUDE, Role};
use ring_hook::live::LiveRecord;
use ring_hook::tail::{self, Kind, Tail};
use ring_session::process;
use ring_session::time::Ms;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

/// How long a client may take until it has opened its session.
const OPENING_MS: Ms = 5_000;
/// How long a live record may go on naming the session before `/clear`.
const LAG_MS: Ms = 120_000;

/// Reads what all Claude homes say.
///
/// # Errors
/// A text for people, if a home that is there cannot be listed.
pub fn read(context: &Context) -> Result<Harvest, String> {
    let homes = homes(context);
    let mut harvest = Harvest {
        absent: homes.is_empty(),
        homes: homes.clone(),
        ..Harvest::default()
    };
    let mut sessions = Sessions::default();
    for home in &homes {
        let registry = registry::read(home, context.processes.as_ref())?;
        harvest.skipped.extend(
            registry
                .unreadable
                .iter()
                .map(|path| super::skipped(CLAUDE, path.display().to_string(), "no whole live record")),
        );
        sessions.add_records(context, registry.records);
    }
    let wanted = transcripts::Wanted::of(context, &sessions);
    let files = transcripts::wanted(&homes, context, &wanted)?;
    for (id, file) in files {
        sessions.by_id.entry(id).or_default().file = Some(file);
    }
    sessions.add_named_transcripts(context);
    sessions.join_arguments(context);
    let mut ids: Vec<String> = sessions.by_id.keys().cloned().collect();
    ids.sort();
    for id in ids {
        if let Some(parts) = sessions.by_id.remove(&id) {
            parts.read_into(context, id, &mut harvest);
        }
    }
    Ok(harvest)
}

/// `CLAUDE_CONFIG_DIR`, `~/.claude`, the setting `claude_homes`, and the homes of own Claude processes, as far as they
/// exist; each once, whatever links lead there.
fn homes(context: &Context) -> Vec<PathBuf> {
    let expand = |text: &String| match (text.strip_prefix("~/"), &context.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    };
    let given = std::env::var_os("CLAUDE_CONFIG_DIR")
        .filter(|v| !v.is_empty())
        .map(PathBuf::from);
    let own = context.home.iter().map(|h| h.join(".claude"));
    let set = context.settings.claude_homes.iter().map(expand);
    let of_processes = processes(context).filter_map(|(_, a)| a.config_dir.clone());
    let mut seen = HashSet::new();
    let mut homes = Vec::new();
    for home in given.into_iter().chain(own).chain(set).chain(of_processes) {
        if let Ok(real) = home.canonicalize()
            && seen.insert(real)
        {
            homes.push(home);
        }
    }
    homes
}

fn processes(context: &Context) -> impl Iterator<Item = (&Process, &AgentProcess)> {
    context
        .processes
        .iter()
        .flat_map(|p| p.of_agent(CLAUDE))
        .filter_map(|p| Some((p, p.agent.as_ref()?)))
}

/// What is known of one session while it is put together.
#[derive(Default)]
struct Parts {
    live: Vec<LiveProcess>,
    foreign: bool,
    joined: Option<u32>,
    file: Option<RecordFile>,
    cwd: String,
    name: String,
    name_derived: bool,
}

#[derive(Default)]
struct Sessions {
    by_id: HashMap<String, Parts>,
    /// Processes that a live record speaks of.
    recorded: HashSet<u32>,
}

impl Sessions {
    fn add_records(&mut self, context: &Context, records: Vec<LiveRecord>) {
        let Some(table) = &context.processes else {
            return;
        };
        let writer = |r: &LiveRecord| writer(table, r);
        let proven: Vec<String> = records
            .iter()
            .filter(|r| writer(r).is_some())
            .map(|r| r.domain.clone())
            .collect();
        let proven: Vec<&str> = proven.iter().map(String::as_str).collect();
        let machine = registry::machine_id();
        for record in records {
            match writer(&record) {
                Some(process) => {
                    self.recorded.insert(process.pid);
                    if !lags(context, &record) {
                        self.add_live(record, process);
                    }
                }
                None if registry::is_foreign(&record.domain, machine.as_deref(), process::own_pid_ns(), &proven) => {
                    let parts = self.by_id.entry(record.session_id).or_default();
                    parts.foreign = true;
                    parts.cwd = record.cwd;
                }
                // A leftover of a process that was killed.
                None => {}
            }
        }
    }

    fn add_live(&mut self, record: LiveRecord, process: &Process) {
        let spare = process.agent.as_ref().is_some_and(|a| a.role == Role::Spare);
        let parts = self.by_id.entry(record.session_id).or_default();
        parts.joined = parts.joined.or(Some(process.pid));
        parts.live.push(LiveProcess {
            pid: process.pid,
            live: record.live,
            background: record.background || spare,
            tmux: record.tmux,
        });
        if parts.name.is_empty() {
            parts.name = record.name;
            parts.name_derived = record.name_derived;
        }
        if parts.cwd.is_empty() {
            parts.cwd = record.cwd;
        }
    }

    /// Processes without a live record that name their session by an argument: a new one by its id, another one if it is
    /// there (`--resume` also takes names). One that has just started has not opened it yet: what the record says is of
    /// the process before.
    fn join_arguments(&mut self, context: &Context) {
        for (process, id, new) in named(context, &self.recorded) {
            let known = self.by_id.get(id).is_some_and(|p| p.file.is_some());
            if (new || known) && context.now.saturating_sub(process.start_ms) >= OPENING_MS {
                let parts = self.by_id.entry(id.to_owned()).or_default();
                parts.joined = parts.joined.or(Some(process.pid));
            }
        }
    }

    /// Transcripts that only a hook row knows: of homes that nothing else names.
    fn add_named_transcripts(&mut self, context: &Context) {
        for hook in context.hooks.iter().filter(|h| h.row.agent == CLAUDE) {
            let path = Path::new(&hook.row.transcript_path);
            let parts = self.by_id.entry(hook.row.session_id.clone()).or_default();
            if parts.file.is_none()
                && path.is_absolute()
                && let Some(file_ms) = files::stat(path)
            {
                parts.file = Some(RecordFile {
                    id: hook.row.session_id.clone(),
                    path: path.to_owned(),
                    file_ms,
                });
            }
        }
    }
}

/// The living process that wrote a record.
fn writer<'a>(table: &'a Processes, record: &LiveRecord) -> Option<&'a Process> {
    let process = table.by_pid.get(&record.pid)?;
    let claude = process.agent.as_ref().is_some_and(|a| a.agent.id == CLAUDE);
    (claude && registry::is_written_by(record, process)).then_some(process)
}

/// The record still names the session before `/clear`: a newer session of the same process began by a hook.
fn lags(context: &Context, record: &LiveRecord) -> bool {
    let written = record.live.as_ref().map_or(record.started_ms, |l| l.ms);
    context.hooks.iter().any(|h| {
        let row = &h.row;
        row.agent == CLAUDE
            && row.session_id != record.session_id
            && row.process.as_ref().is_some_and(|p| p.pid == record.pid)
            && row.last.event == "SessionStart"
            && row.event_ms > written
            && context.now.saturating_sub(row.event_ms) <= LAG_MS
    })
}

/// Session processes without a live record, the id that their command line names, and whether it is a new session's. A
/// fork has an id of its own.
fn named<'a>(context: &'a Context, recorded: &'a HashSet<u32>) -> impl Iterator<Item = (&'a Process, &'a str, bool)> {
    unrecorded(context, recorded).filter_map(|(process, agent)| {
        let resumed = || match agent.argv.iter().any(|a| a == "--fork-session") {
            true => None,
            false => argument(&agent.argv, &["--resume", "-r"]),
        };
        let new = argument(&agent.argv, &["--session-id"]);
        Some((process, new.or_else(resumed)?, new.is_some()))
    })
}

fn unrecorded<'a>(
    context: &'a Context,
    recorded: &'a HashSet<u32>,
) -> impl Iterator<Item = (&'a Process, &'a AgentProcess)> {
    processes(context).filter(|(p, a)| a.role == Role::Session && !recorded.contains(&p.pid))
}

fn argument<'a>(argv: &'a [String], names: &[&str]) -> Option<&'a str> {
    let value = names.iter().find_map(|name| {
        argv.iter()
            .enumerate()
            .find_map(|(at, word)| match word.split_once('=') {
                Some((flag, value)) if flag == *name => Some(value),
                _ if word == name => argv.get(at + 1).map(String::as_str),
                _ => None,
            })
    })?;
    (!value.is_empty() && !value.starts_with('-')).then_some(value)
}

impl Parts {
    fn read_into(&self, context: &Context, id: String, harvest: &mut Harvest) {
        let hook = context.hook(CLAUDE, &id);
        let mut found = Found {
            agent: CLAUDE,
            live: self.live.clone(),
            foreign: self.foreign,
            joined: self.joined,
            origin_cwd: self.cwd.clone(),
            cwd: self.cwd.clone(),
            ..Found::default()
        };
        if let Some(file) = &self.file {
            if hook.is_none_or(|h| !super::hook::is_newer(h, file.file_ms)) {
                found.tail = read_tail(&file.path, tail::claude::tail, harvest);
                if found.tail.is_none() && hook.is_none() && found.live.is_empty() {
                    return;
                }
            }
            let alone = hook.is_none() && found.live.iter().all(|l| l.live.is_none());
            let child_asks = hook.is_some_and(|h| h.view.waits.iter().any(|w| w.owner.starts_with("agent:")));
            if alone || child_asks {
                found.children = children::read(&file.path, context.now);
            }
        } else if found.live.is_empty() && found.joined.is_none() && !found.foreign {
            return;
        }
        self.name_and_place(hook, &mut found);
        found.path = self.file.as_ref().map(|f| f.path.clone());
        found.session_id = id;
        harvest.found.push(found);
    }

    /// Title: custom, else the live record's name, else made by the model, else the first prompt; a name that was
    /// derived from the folder says nothing and comes last. The head of the file is read only if nothing else helps.
    fn name_and_place(&self, hook: Option<&super::hook::HookRow>, found: &mut Found) {
        let tail = found.tail.clone().unwrap_or_default();
        let name = if self.name_derived { "" } else { self.name.as_str() };
        let of_tail = [
            tail.custom_title.as_str(),
            name,
            tail.title.as_str(),
            tail.first_prompt.as_str(),
        ];
        let of_hook = hook.map_or("", |h| h.row.title.as_str());
        let title = of_tail.into_iter().chain([of_hook]).find(|t| !t.is_empty());
        found.title = title.unwrap_or_default().to_owned();
        if !tail.cwd.is_empty() {
            found.cwd.clone_from(&tail.cwd);
        }
        let placed = !found.cwd.is_empty() || hook.is_some_and(|h| !h.row.cwd.is_empty());
        if let Some(file) = &self.file
            && (found.title.is_empty() || !placed)
            && let Ok(bytes) = tail::file::head(&file.path)
        {
            let head = tail::claude::head(&bytes);
            if found.title.is_empty() {
                found.title = head.first_prompt;
            }
            if found.origin_cwd.is_empty() {
                found.origin_cwd = head.cwd;
            }
        }
        if found.title.is_empty() {
            found.title.clone_from(&self.name);
        }
        if found.cwd.is_empty() {
            found.cwd.clone_from(&found.origin_cwd);
        }
    }
}

/// The tail of one record. What cannot be read is named and left out; it ends nothing.
pub(super) fn read_tail(path: &Path, reader: impl Fn(&[u8], bool) -> Tail, harvest: &mut Harvest) -> Option<Tail> {
    match tail::file::tail(path, reader) {
        // Nothing in it gives a time: then the file's own is all there is.
        Ok(tail) if tail.kind == Kind::Unknown && tail.ms == 0 => Some(Tail {
            ms: files::stat(path).unwrap_or(0),
            ..tail
        }),
        Ok(tail) => Some(tail),
        Err(e) => {
            harvest.slow |= e.kind() == io::ErrorKind::Interrupted;
            if e.kind() != io::ErrorKind::NotFound {
                harvest
                    .skipped
                    .push(super::skipped("", path.display().to_string(), files::describe(&e)));
            }
            None
        }
    }
}
