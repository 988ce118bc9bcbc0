//! Which transcripts are looked into: by id over all folders of all homes.

use super::{Sessions, named, unrecorded};
use crate::source::Context;
use crate::source::files::{self, RecordFile};
use ring_hook::agent::CLAUDE;
use ring_session::time::Ms;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// How many records outside of the window `--all` looks into.
const OLD_RECORDS: usize = 200;

/// Which transcripts are looked into.
pub(super) struct Wanted {
    ids: HashSet<String>,
    /// A process may belong to a record that nothing names, or the table is not known: every record of the window.
    window: bool,
    /// Folders below `projects/`, and the start of the process that has this folder: it may have been parked.
    parked: Vec<(String, Ms)>,
}

impl Wanted {
    pub(super) fn of(context: &Context, sessions: &Sessions) -> Wanted {
        let mut ids: HashSet<String> = sessions.by_id.keys().cloned().collect();
        ids.extend(
            context
                .hooks
                .iter()
                .filter(|h| h.row.agent == CLAUDE)
                .map(|h| h.row.session_id.clone()),
        );
        ids.extend(named(context, &sessions.recorded).map(|(_, id, _)| id.to_owned()));
        let unnamed = || unrecorded(context, &sessions.recorded).filter(|(_, a)| !a.started_by_agent);
        Wanted {
            ids,
            window: context.all || context.processes.is_none() || unnamed().next().is_some(),
            parked: unnamed()
                .filter_map(|(p, a)| Some((encoded(a.cwd.as_ref()?.to_str()?), p.start_ms)))
                .collect(),
        }
    }

    fn wants(&self, context: &Context, folder: &str, id: &str, file_ms: Ms) -> bool {
        self.ids.contains(id)
            || (self.window && context.in_window(file_ms))
            || self.parked.iter().any(|(f, start)| f == folder && file_ms >= *start)
    }
}

/// The folder of a project as Claude Code names it. Only ever compared, never decoded: many folders have one name.
fn encoded(cwd: &str) -> String {
    cwd.chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' })
        .collect()
}

/// The transcripts that are wanted; of two with one id the newer: a moved project leaves a copy behind.
pub(super) fn wanted(
    homes: &[PathBuf],
    context: &Context,
    wanted: &Wanted,
) -> Result<HashMap<String, RecordFile>, String> {
    let mut found: HashMap<String, RecordFile> = HashMap::new();
    let mut old = Vec::new();
    for home in homes {
        let Some(projects) = files::entries(&home.join("projects"))? else {
            continue;
        };
        for project in projects.filter(files::is_dir) {
            let folder = project.file_name().to_string_lossy().into_owned();
            // One unreadable project hides no other.
            let Ok(Some(entries)) = files::entries(&project.path()) else {
                continue;
            };
            for entry in entries {
                let name = entry.file_name();
                let Some(id) = name.to_str().and_then(|n| n.strip_suffix(".jsonl")) else {
                    continue;
                };
                if id.starts_with("agent-") {
                    continue;
                }
                let Some(file_ms) = files::stat_entry(&entry) else {
                    continue;
                };
                let wants = wanted.wants(context, &folder, id, file_ms);
                if !wants && !context.all {
                    continue;
                }
                let file = RecordFile {
                    id: id.to_owned(),
                    path: entry.path(),
                    file_ms,
                };
                if wants {
                    keep_newer(&mut found, file);
                } else {
                    old.push(file);
                }
            }
        }
    }
    for file in files::newest(old, OLD_RECORDS) {
        keep_newer(&mut found, file);
    }
    Ok(found)
}

fn keep_newer(found: &mut HashMap<String, RecordFile>, file: RecordFile) {
    match found.get(&file.id) {
        Some(known) if known.file_ms >= file.file_ms => {}
        _ => {
            found.insert(file.id.clone(), file);
        }
    }
}
