//! Opening a file for reading where a stranger may have put something else in its place.
//!
//! A pipe without a writer would never answer, and a device may never end: a hook would hang with a lock in its hands.

use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// A file that is read as a whole has at most so many bytes: far more than the limits of what stands in it allow.
pub const WHOLE_BYTES: u64 = 64 * 1024 * 1024;

/// Opens a regular file, also behind a link; anything else is not waited for.
///
/// # Errors
/// Those of the system; [`ErrorKind::InvalidInput`] if it is no regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file")),
    }
}

/// All bytes of a regular file.
///
/// # Errors
/// As [`open`]; [`ErrorKind::InvalidInput`] also if it has more than [`WHOLE_BYTES`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    rest(&open(path)?)
}

/// All bytes of a file that [`open`] gave.
///
/// # Errors
/// As [`read`].
pub fn rest(file: &File) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    if size > WHOLE_BYTES {
        return Err(too_long());
    }
    // one byte more than there is, so that the end is seen without growing
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0).saturating_add(1));
    file.take(WHOLE_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > WHOLE_BYTES {
        true => Err(too_long()),
        false => Ok(bytes),
    }
}

fn too_long() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is over 64 MiB")
}

/// Whether an error of this module says that what is there can never be read: no regular file, or far too long.
pub fn is_unfit(error: &io::Error) -> bool {
    error.kind() == ErrorKind::InvalidInput
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_are_read_and_nothing_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "text").unwrap();
        symlink(at("file"), at("link")).unwrap();
        symlink("/dev/zero", at("device")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), Mode::RWXU).unwrap();
        assert_eq!(read(&at("file")).unwrap(), b"text");
        assert_eq!(read(&at("link")).unwrap(), b"text");
        for name in ["device", "folder", "pipe"] {
            assert!(is_unfit(&read(&at(name)).unwrap_err()), "{name}");
            assert!(is_unfit(&open(&at(name)).unwrap_err()), "{name}");
        }
        assert_eq!(read(&at("none")).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_file_of_a_gigabyte_is_refused_without_being_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sparse");
        File::create(&path).unwrap().set_len(1 << 30).unwrap();
        assert!(is_unfit(&read(&path).unwrap_err()));
        assert!(is_unfit(&rest(&open(&path).unwrap()).unwrap_err()));
        File::create(&path).unwrap().set_len(WHOLE_BYTES).unwrap();
        assert_eq!(read(&path).unwrap().len() as u64, WHOLE_BYTES);
    }
}
