//! Replacing a file: temporary file in the same directory, write, rename. A reader sees the old bytes or the new ones.
//!
//! A process that is killed in between leaves the old file and at most one temporary one, whose name begins with
//! [`TEMP_PREFIX`]; `ring-scan gc` sweeps those.

use crate::state_dir::make_private;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What a replacement promises beyond being whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Whole for every reader, but a power cut may bring the old bytes back, or leave an empty file. For observations
    /// that the next event repairs. Costs no write to the disk while the file is replaced again and again.
    Whole,
    /// File and directory are synced before the call returns. For records that are the only truth.
    Synced,
}

/// Temporary files begin with this; readers of a directory skip names that begin with a dot.
pub const TEMP_PREFIX: &str = ".tmp-";

/// Replaces `path` with `bytes`, mode 0600. The directory is made (0700) if it is missing.
///
/// # Errors
/// Those of the system. The old file is then untouched and the temporary one removed.
pub fn replace(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    swap(path, bytes, durability, None)
}

/// Replaces a file that belongs to a person or to another program (settings): a link stays a link and what it names is
/// replaced, the mode is kept. Synced.
///
/// # Errors
/// As [`replace`].
pub fn replace_foreign(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let real = followed(path)?;
    let mode = match fs::metadata(&real) {
        Ok(found) => Some(found.permissions()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e),
    };
    swap(&real, bytes, Durability::Synced, mode)
}

/// Renames `path` to `path` with `.1` behind it, in place of an older one: how a log is kept within its size.
///
/// # Errors
/// Those of the system; a file that is missing is none.
#[allow(clippy::disallowed_methods, reason = "this is the one place that renames")]
pub fn set_aside(path: &Path) -> io::Result<()> {
    let mut old = path.as_os_str().to_owned();
    old.push(".1");
    match fs::rename(path, old) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Gives a directory that was made under a temporary name its real one, or takes one out of sight, and syncs the parent. Both are in the
/// same parent. A directory that is there with something in it is not replaced.
///
/// # Errors
/// Those of the system. The directory has its old name then.
#[allow(clippy::disallowed_methods, reason = "this is the one place that renames")]
pub fn rename_directory(from: &Path, to: &Path) -> io::Result<()> {
    let parent = File::open(folder(to))?;
    fs::rename(from, to)?;
    parent
        .sync_all()
        .inspect_err(|_| fs::rename(to, from).unwrap_or_default())
}

/// Renames a file that cannot be read to a name beside it that is free.
///
/// # Errors
/// Those of the system.
#[allow(clippy::disallowed_methods, reason = "this is the one place that renames")]
pub fn set_aside_as(path: &Path, to: &Path) -> io::Result<()> {
    fs::rename(path, to)?;
    File::open(folder(to))?.sync_all()
}

/// The file behind a chain of links, also if that file is not there yet.
///
/// # Errors
/// Those of the system, also for a ring of links.
pub fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&at) {
            Ok(to) => at = folder(&at).join(to),
            Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotFound) => return Ok(at),
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::from(rustix::io::Errno::LOOP))
}

fn folder(path: &Path) -> &Path {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

fn temporary(dir: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new()
        .prefix(TEMP_PREFIX)
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(dir)
}

/// Exchanges the names of two files, at once for every reader. Not everywhere possible, and only if both are there.
///
/// Ext4 takes a rename over a file for the moment at which the new bytes must reach the disk: that costs 0.15 ms, and
/// many times that while the disk is busy. An exchange says nothing of the kind (0.04 ms).
#[cfg(target_os = "linux")]
fn exchanged(one: &Path, other: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    // a folder could be exchanged too, and would then lie under the temporary name
    let is_file = fs::symlink_metadata(other).is_ok_and(|m| m.is_file());
    is_file && renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn exchanged(_one: &Path, _other: &Path) -> bool {
    false
}

#[allow(clippy::disallowed_methods, reason = "this is the one place that renames")]
fn swap(path: &Path, bytes: &[u8], durability: Durability, mode: Option<Permissions>) -> io::Result<()> {
    let dir = folder(path);
    let mut temp = match temporary(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            make_private(dir)?;
            temporary(dir)?
        }
        other => other?,
    };
    temp.write_all(bytes)?;
    if let Some(mode) = mode.clone() {
        temp.as_file().set_permissions(mode)?;
    }
    if durability == Durability::Whole {
        // exchanged, the temporary file's name is that of the old bytes, and goes with it
        if !exchanged(temp.path(), path) {
            temp.persist(path).map_err(|e| e.error)?;
        }
        return Ok(());
    }
    temp.as_file().sync_all()?;
    // both opened before the rename: behind it only the sync can fail
    let folder = File::open(dir)?;
    let old = File::open(path).ok();
    // renames; a failure drops the temporary file, which removes it
    temp.persist(path).map_err(|e| e.error)?;
    folder.sync_all().inspect_err(|_| {
        // the old file was promised
        put_back(path, old, mode).unwrap_or_default();
    })
}

/// Undoes a rename over `path`, whose old file is still open.
#[allow(clippy::disallowed_methods, reason = "this is the one place that renames")]
fn put_back(path: &Path, old: Option<File>, mode: Option<Permissions>) -> io::Result<()> {
    let Some(mut old) = old else {
        return fs::remove_file(path);
    };
    let mut temp = temporary(folder(path))?;
    io::copy(&mut old, &mut temp)?;
    if let Some(mode) = mode {
        temp.as_file().set_permissions(mode)?;
    }
    temp.persist(path).map_err(|e| e.error)?;
    Ok(())
}
