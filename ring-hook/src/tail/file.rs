//! Reading an agent's record from its file: bounded windows, and a second try when the file changes under the reader.

use super::{Head, Tail};
use std::io;
use std::path::Path;

/// The start of a record, at most 64 KiB.
pub fn head(path: &Path) -> io::Result<Vec<u8>> {
    let _ = path;
    Ok(Vec::new())
}

/// The tail of the record at `path`, by the reader of its format (bytes, and whether they begin at the start of the
/// file; a child's reader also knows which lines are its parent's): the last 256 KiB, then 1 and 4 MiB while no turn mark
/// was found. [`Kind::Unknown`](super::Kind::Unknown): data, but no mark in 4 MiB.
///
/// A file that shrank or was replaced while it was read is read once more; then the error is
/// [`io::ErrorKind::Interrupted`] and the source is slow.
pub fn tail(path: &Path, reader: impl Fn(&[u8], bool) -> Tail) -> io::Result<Tail> {
    let _ = reader(b"", true);
    let _ = Head::default();
    let _ = path;
    Ok(Tail::default())
}

/// The last text of the foreground's assistant in the last 256 KiB of the transcript of `agent` (canonical id), for a
/// Stop that brings none; only if no user, tool or interrupt line follows. None for formats that are not known.
pub fn last_text(path: &Path, agent: &str) -> Option<String> {
    let _ = (path, agent);
    None
}

/// Codex: whether approvals are reviewed by a model, by the last `turn_context` in the last 256 KiB of the rollout
/// (`approvals_reviewer` other than `user`).
pub fn codex_reviewed(path: &Path) -> bool {
    let _ = path;
    false
}
