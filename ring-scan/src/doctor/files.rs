//! The state's own folders: who else may read them, and what has been left behind. Opens no file.

use super::{Check, or_ok};
use crate::board::Board;
use ring_session::StateDir;
use ring_session::replace::TEMP_PREFIX;
use ring_session::time::Ms;
use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Entries of one folder that are looked at, at most.
const ENTRIES: usize = 10_000;
/// Ended rows and temporary files older than this are litter: 7 days, and an hour.
const OLD_ROW: Ms = 7 * 86_400_000;
const OLD_TEMP: Ms = 3_600_000;

/// Folders wider than 0700 and files wider than 0600.
pub fn modes(state: &StateDir) -> Vec<Check> {
    let wide: Vec<PathBuf> = entries(state)
        .into_iter()
        .filter(|(_, m)| m.permissions().mode() & 0o077 != 0)
        .map(|(p, _)| p)
        .collect();
    let named = wide
        .iter()
        .take(3)
        .map(|p| p.display().to_string())
        .collect::<Vec<_>>()
        .join(", ");
    let more = wide.len().saturating_sub(3);
    let text = match more {
        0 => format!("others may read {named}"),
        _ => format!("others may read {named} and {more} more"),
    };
    let checks = match wide.is_empty() {
        true => Vec::new(),
        false => vec![Check::warn(
            "dirs.mode",
            text,
            format!("chmod -R go= {}", state.root().display()),
        )],
    };
    or_ok(checks, "dirs.mode", "only you may read the state")
}

/// Temporary files that a dead writer left, and rows of sessions that ended long ago.
pub fn cleanable(state: &StateDir, board: &Board) -> Check {
    let old = |m: &Metadata| board.now_ms.saturating_sub(m.mtime().saturating_mul(1000)) > OLD_TEMP;
    let temporary = entries(state)
        .iter()
        .filter(|(p, m)| {
            p.file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with(TEMP_PREFIX))
                && m.is_file()
                && old(m)
        })
        .count();
    let ended = board
        .sessions
        .iter()
        .filter(|s| s.status == "ended" && s.age_ms > OLD_ROW && s.sources.iter().any(|n| n == "hook"))
        .count();
    match (temporary, ended) {
        (0, 0) => Check::ok("cleanable", "nothing"),
        _ => Check::ok(
            "cleanable",
            format!("{temporary} temporary files, {ended} rows that ended more than 7 days ago"),
        ),
    }
}

/// The root, its folders and their entries, links not followed.
fn entries(state: &StateDir) -> Vec<(PathBuf, Metadata)> {
    let mut found = Vec::new();
    let mut add = |path: PathBuf| match fs::symlink_metadata(&path) {
        Ok(m) => {
            found.push((path, m));
            true
        }
        Err(_) => false,
    };
    if add(state.root().to_owned()) {
        for folder in [
            state.root().to_owned(),
            state.status(),
            state.sessions(),
            state.board(),
            state.notify(),
        ] {
            list(&folder).into_iter().for_each(|p| {
                add(p);
            });
        }
    }
    found
}

fn list(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .map(|d| d.take(ENTRIES).flatten().map(|e| e.path()).collect())
        .unwrap_or_default()
}
