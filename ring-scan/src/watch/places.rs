//! The folders whose file events a watch listens to.

use ring_session::{Settings, StateDir, state_dir};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Folders of records are looked for at most this deep below an agent's home.
const DEPTH: usize = 6;

/// Where agents keep records, below their homes.
const RECORDS: [&str; 3] = ["projects", "sessions", "thread-writer-locks"];

/// A folder and which of its entries count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The folder. It may be missing.
    pub folder: PathBuf,
    /// Names that count; empty: all but those that begin with a dot, which are temporary or locks.
    pub only: Vec<OsString>,
    /// An event wakes; else it only tells that the next poll has something to read.
    pub wakes: bool,
}

impl Place {
    fn waking(folder: PathBuf, only: &[&str]) -> Place {
        Place {
            folder,
            only: only.iter().map(OsString::from).collect(),
            wakes: true,
        }
    }

    fn silent(folder: PathBuf) -> Place {
        Place {
            folder,
            only: Vec::new(),
            wakes: false,
        }
    }
}

/// The state's own folders and the live registries of agents: in the homes that are known before anything was read,
/// and in those that a board found.
pub fn waking(settings: &Settings, state: &StateDir, found: &[PathBuf]) -> Vec<Place> {
    let mut places = vec![
        // a commit of any record adds a line to events.jsonl; the folders may be made later
        Place::waking(state.root().to_owned(), &["events.jsonl", "status", "board"]),
        Place::waking(state.status(), &[]),
        Place::waking(state.board(), &[]),
    ];
    let homes: BTreeSet<PathBuf> = claude_homes(settings).chain(found.iter().cloned()).collect();
    for home in homes {
        places.push(Place::waking(home.join("sessions"), &[]));
        places.push(Place::waking(home, &RECORDS));
    }
    places
}

fn claude_homes(settings: &Settings) -> impl Iterator<Item = PathBuf> {
    let named = std::env::var_os("CLAUDE_CONFIG_DIR")
        .filter(|v| !v.is_empty())
        .map(PathBuf::from);
    let usual = state_dir::home().map(|h| h.join(".claude"));
    named
        .into_iter()
        .chain(usual)
        .chain(settings.claude_homes.iter().map(PathBuf::from))
}

/// Folders of transcripts and locks below agents' homes. They are busy while agents work, so their events do not wake.
pub fn of_records(homes: &[PathBuf]) -> Vec<Place> {
    let below = |home: &PathBuf| RECORDS.map(|name| home.join(name));
    homes
        .iter()
        .flat_map(below)
        .flat_map(|root| folders(&root))
        .map(Place::silent)
        .collect()
}

/// The folders in which `transcripts` lie, wherever that is.
pub fn of_transcripts<'a>(transcripts: impl Iterator<Item = &'a String>) -> Vec<Place> {
    let folders: BTreeSet<&Path> = transcripts.filter_map(|t| Path::new(t).parent()).collect();
    folders.into_iter().map(|f| Place::silent(f.to_owned())).collect()
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let is_folder = |e: &walkdir::DirEntry| e.file_type().is_dir() || (e.path_is_symlink() && e.path().is_dir());
    WalkDir::new(root)
        .max_depth(DEPTH)
        .into_iter()
        .flatten()
        .filter(is_folder)
        .map(walkdir::DirEntry::into_path)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn record_folders_at_every_depth_are_listened_to_and_do_not_wake() {
        let home = tempfile::tempdir().unwrap();
        for below in ["projects/-w-app/id/subagents", "sessions/2026/11/30"] {
            fs::create_dir_all(home.path().join(below)).unwrap();
        }
        fs::write(home.path().join("projects/-w-app/id.jsonl"), "").unwrap();
        let mut places = of_transcripts(["/elsewhere/t.jsonl".to_owned()].iter());
        places.extend(of_records(&[home.path().to_owned()]));
        let mut folders: Vec<_> = places
            .iter()
            .map(|p| p.folder.strip_prefix(home.path()).unwrap_or(&p.folder).to_owned())
            .collect();
        folders.sort();
        let expected = [
            "/elsewhere",
            "projects",
            "projects/-w-app",
            "projects/-w-app/id",
            "projects/-w-app/id/subagents",
            "sessions",
            "sessions/2026",
            "sessions/2026/11",
            "sessions/2026/11/30",
        ];
        assert_eq!(folders, expected.map(PathBuf::from));
        assert!(places.iter().all(|p| !p.wakes));
    }
}
