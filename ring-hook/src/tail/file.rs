//! Reading an agent's record from its file: bounded windows, and a second try when the file changes under the reader.

use super::{HEAD, Kind, Tail, claude, codex};
use ring_session::regular;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How much of a record's end is read: more only while no turn mark was found.
const WINDOWS: [u64; 3] = [256 * 1024, 1024 * 1024, 4 * 1024 * 1024];

/// The start of a record, at most 64 KiB.
///
/// # Errors
/// What the file system says; anything but a regular file is not opened.
pub fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(HEAD);
    regular::open(path)?.take(HEAD as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The tail of the record at `path`, by the reader of its format (bytes, and whether they begin at the start of the
/// file; a child's reader also knows which lines are its parent's): the last 256 KiB, then 1 and 4 MiB while no turn mark
/// was found. [`Kind::Unknown`](super::Kind::Unknown): data, but no mark in 4 MiB.
///
/// # Errors
/// What the file system says. A file that shrank or was replaced while it was read is read once more; then the error is
/// [`io::ErrorKind::Interrupted`] and the source is slow.
pub fn tail(path: &Path, reader: impl Fn(&[u8], bool) -> Tail) -> io::Result<Tail> {
    let mut tail = Tail::default();
    for limit in WINDOWS {
        let window = read_end(path, limit)?;
        tail = reader(&window.bytes, window.whole);
        if tail.kind != Kind::Unknown || window.whole {
            break;
        }
    }
    Ok(tail)
}

/// The last text of the foreground's assistant in the last 256 KiB of the transcript of `agent` (canonical id), for a
/// Stop that brings none; only if no user, tool or interrupt line follows. None for formats that are not known.
pub fn last_text(path: &Path, agent: &str) -> Option<String> {
    let reader = match agent {
        "claude-code" => claude::last_text,
        "codex" => codex::last_text,
        _ => return None,
    };
    let window = read_end(path, WINDOWS[0]).ok()?;
    reader(&window.bytes, window.whole)
}

/// Codex: whether approvals are reviewed by a model, by the last `turn_context` in the last 256 KiB of the rollout
/// (`approvals_reviewer` other than `user`).
pub fn codex_reviewed(path: &Path) -> bool {
    read_end(path, WINDOWS[0]).is_ok_and(|window| codex::reviewed(&window.bytes))
}

/// The end of a file.
struct Window {
    bytes: Vec<u8>,
    /// It begins at the start of the file.
    whole: bool,
}

fn read_end(path: &Path, limit: u64) -> io::Result<Window> {
    read_end_then(path, limit, || ())
}

/// `meanwhile` stands for what other programs do to the file while it is read.
fn read_end_then(path: &Path, limit: u64, mut meanwhile: impl FnMut()) -> io::Result<Window> {
    for _ in 0..2 {
        let mut file = regular::open(path)?;
        let before = file.metadata()?;
        let start = before.len().saturating_sub(limit);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::with_capacity(usize::try_from(before.len() - start).unwrap_or(0));
        (&file).take(before.len() - start).read_to_end(&mut bytes)?;
        meanwhile();
        let after = fs::metadata(path);
        let same = |a: &fs::Metadata| a.ino() == before.ino() && a.dev() == before.dev() && a.len() >= before.len();
        if bytes.len() as u64 == before.len() - start && after.as_ref().is_ok_and(same) {
            return Ok(Window {
                bytes,
                whole: start == 0,
            });
        }
    }
    Err(io::Error::new(io::ErrorKind::Interrupted, "changed while it was read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c40_a_file_that_shrank_or_was_replaced_is_read_once_more() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.jsonl");
        let read = |mut change: Box<dyn FnMut(u32)>| {
            fs::write(&path, "one\ntwo\n").unwrap();
            let mut times = 0;
            read_end_then(&path, 100, || {
                times += 1;
                change(times);
            })
            .map(|w| String::from_utf8(w.bytes).unwrap())
        };
        let shrinks = |limit: u32| {
            let path = path.clone();
            Box::new(move |n| {
                if n <= limit {
                    fs::write(&path, &"one\n"[..4 - n as usize]).unwrap();
                }
            })
        };
        assert_eq!(read(shrinks(1)).unwrap(), "one");
        assert_eq!(read(shrinks(2)).unwrap_err().kind(), io::ErrorKind::Interrupted);
        let replaced = path.clone();
        let replaces = move |n| {
            if n == 1 {
                let other = replaced.with_extension("new");
                fs::write(&other, "another file\n").unwrap();
                fs::remove_file(&replaced).unwrap();
                fs::copy(&other, &replaced).unwrap();
            }
        };
        assert_eq!(read(Box::new(replaces)).unwrap(), "another file\n");
        let grown = path.clone();
        let grows = move |_| fs::write(&grown, "one\ntwo\nthree\n").unwrap();
        assert_eq!(read(Box::new(grows)).unwrap(), "one\ntwo\n");
        let gone = path.clone();
        let removes = move |_| fs::remove_file(&gone).unwrap();
        assert_eq!(read(Box::new(removes)).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
