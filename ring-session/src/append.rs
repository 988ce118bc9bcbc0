//! Appending a line to a file that is kept within a size.

use crate::replace::set_aside;
use crate::state_dir::make_private;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// Appends `line` and a newline in one write; mode 0600. A file that has reached `limit` bytes becomes `FILE.1` first.
///
/// The caller holds the lock that guards the file: two that rotate at once would lose the old file. A half line that a
/// killed writer left is ended, so that it spoils no other. Line ends inside `line` become blanks.
///
/// # Errors
/// Those of the system. What is in the file stays.
pub fn append(path: &Path, line: &str, limit: u64) -> io::Result<()> {
    let (mut file, mut size) = open(path)?;
    if size >= limit {
        set_aside(path)?;
        (file, size) = open(path)?;
    }
    let mut bytes = Vec::with_capacity(line.len() + 2);
    if size > 0 && last_byte(&file, size) != Some(b'\n') {
        bytes.push(b'\n');
    }
    bytes.extend(line.bytes().map(|b| if matches!(b, b'\n' | b'\r') { b' ' } else { b }));
    bytes.push(b'\n');
    file.write_all(&bytes)
}

fn open(path: &Path) -> io::Result<(File, u64)> {
    let try_open = || {
        OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)
    };
    let file = match try_open() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            make_private(path.parent().unwrap_or(Path::new(".")))?;
            try_open()?
        }
        other => other?,
    };
    let found = file.metadata()?;
    // a pipe that nobody empties would stop the writer once it is full
    if !found.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    Ok((file, found.len()))
}

fn last_byte(file: &File, size: u64) -> Option<u8> {
    let mut byte = [0];
    file.read_exact_at(&mut byte, size - 1).ok().map(|()| byte[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn lines_are_appended_whole_and_private_and_the_folder_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/log");
        append(&path, "one", 100).unwrap();
        append(&path, "two\r\nthree", 100).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo  three\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_half_line_of_a_killed_writer_spoils_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, "{\"half\":").unwrap();
        append(&path, "whole", 100).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"half\":\nwhole\n");
    }

    #[test]
    fn a_full_file_is_set_aside_and_one_old_one_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        for line in ["first line", "second line", "third line"] {
            append(&path, line, 8).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "third line\n");
        assert_eq!(fs::read_to_string(dir.path().join("log.1")).unwrap(), "second line\n");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(append(dir.path(), "x", 8).is_err());
    }
}
