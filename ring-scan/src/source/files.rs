//! Looking through folders of records: names, times, sizes; nothing is opened.

use ring_session::time::Ms;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A record's file.
#[derive(Clone, Debug)]
pub struct RecordFile {
    /// The session's id, by the file's name.
    pub id: String,
    /// Where it is.
    pub path: PathBuf,
    /// Last change.
    pub file_ms: Ms,
}

/// The entries of a folder; none if there is no such folder.
///
/// # Errors
/// A text for people, with the folder.
pub fn entries(dir: &Path) -> Result<Option<impl Iterator<Item = fs::DirEntry> + use<>>, String> {
    match fs::read_dir(dir) {
        Ok(entries) => Ok(Some(entries.filter_map(Result::ok))),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(format!("{}: {}", dir.display(), describe(&e))),
    }
}

/// An error of the system without its number.
pub fn describe(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::NotFound => "not found".into(),
        _ => error.to_string(),
    }
}

/// Whether an entry is a folder, also through a link. Asks the file system only where the entry itself does not tell.
pub fn is_dir(entry: &fs::DirEntry) -> bool {
    match entry.file_type() {
        Ok(kind) if kind.is_symlink() => entry.path().is_dir(),
        Ok(kind) => kind.is_dir(),
        Err(_) => false,
    }
}

/// Last change of a file in milliseconds.
pub fn modified_ms(metadata: &fs::Metadata) -> Ms {
    metadata
        .mtime()
        .saturating_mul(1000)
        .saturating_add(metadata.mtime_nsec() / 1_000_000)
}

/// Last change of a file, if it is a regular one. Links are followed.
pub fn stat(path: &Path) -> Option<Ms> {
    let metadata = fs::metadata(path).ok()?;
    metadata.is_file().then(|| modified_ms(&metadata))
}

/// Last change of an entry that is a regular file.
pub fn stat_entry(entry: &fs::DirEntry) -> Option<Ms> {
    let metadata = entry.metadata().ok()?;
    if metadata.is_symlink() {
        return stat(&entry.path());
    }
    metadata.is_file().then(|| modified_ms(&metadata))
}

/// Keeps, of files that are outside of the window and asked for by `--all` alone, the newest ones.
pub fn newest(mut files: Vec<RecordFile>, limit: usize) -> Vec<RecordFile> {
    files.sort_by(|a, b| (b.file_ms, &a.id).cmp(&(a.file_ms, &b.id)));
    files.truncate(limit);
    files
}
