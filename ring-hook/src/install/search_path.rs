//! Programs on `$PATH`, as a shell finds them.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Every program of that name, in the order of `path`. Links are kept: a link survives an update, what it names may
/// not. Folders that are not absolute mean another place to everybody, so they are left out.
pub fn all(name: &str, path: Option<&OsStr>) -> Vec<PathBuf> {
    path.into_iter()
        .flat_map(std::env::split_paths)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .filter(|file| is_program(file))
        .collect()
}

/// Whether a file is there that may be run.
pub fn is_program(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}
