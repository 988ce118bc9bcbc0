//! The folders whose file events wake a watch.

use ring_session::{Settings, StateDir, state_dir};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

/// A folder and which of its entries count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The folder. It may be missing.
    pub folder: PathBuf,
    /// Names that count; empty: all but those that begin with a dot, which are temporary or locks.
    pub only: Vec<OsString>,
}

/// The state's own folders, and the live registries of Claude Code: in the homes that are known before anything was
/// read, and in those that a board found.
pub fn places(settings: &Settings, state: &StateDir, found: &[PathBuf]) -> Vec<Place> {
    let all = |folder: PathBuf| Place {
        folder,
        only: Vec::new(),
    };
    let some = |folder: PathBuf, names: &[&str]| Place {
        folder,
        only: names.iter().map(OsString::from).collect(),
    };
    let mut places = vec![
        // a commit of any record adds a line to events.jsonl; the folders may be made later
        some(state.root().to_owned(), &["events.jsonl", "status", "board"]),
        all(state.status()),
        all(state.board()),
    ];
    for home in claude_homes(settings).into_iter().chain(found.iter().cloned()) {
        places.push(all(home.join("sessions")));
        places.push(some(home, &["sessions"]));
    }
    places.sort();
    places.dedup();
    places
}

fn claude_homes(settings: &Settings) -> BTreeSet<PathBuf> {
    let named = std::env::var_os("CLAUDE_CONFIG_DIR")
        .filter(|v| !v.is_empty())
        .map(PathBuf::from);
    let usual = state_dir::home().map(|h| h.join(".claude"));
    named
        .into_iter()
        .chain(usual)
        .chain(settings.claude_homes.iter().map(PathBuf::from))
        .collect()
}
