//! Standard output as a command sees it: held back until the command has succeeded.

use std::io::{self, Write};

/// Collects what a command prints, so that stdout stays empty if the command then fails. A command that prints as it
/// goes (a watch) calls [`Write::flush`] after each piece; what is flushed is out.
pub struct Output<'a> {
    to: &'a mut dyn Write,
    held: Vec<u8>,
    gone: bool,
}

impl<'a> Output<'a> {
    /// Holds back what is meant for `to`.
    pub fn new(to: &'a mut dyn Write) -> Self {
        Output {
            to,
            held: Vec::new(),
            gone: false,
        }
    }

    /// Whether the reader has closed its end (`| head -1`): no failure, there is nobody left to print for.
    pub fn reader_is_gone(&self) -> bool {
        self.gone
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        let done = self.to.write_all(&held).and_then(|()| self.to.flush());
        if let Err(e) = &done {
            self.gone |= e.kind() == io::ErrorKind::BrokenPipe || is_terminal_gone(e);
        }
        done
    }
}

/// A terminal that was closed answers every write with EIO; a disk that fails does, too, and is no device of characters.
fn is_terminal_gone(error: &io::Error) -> bool {
    let is_device = || {
        let stat = rustix::fs::fstat(io::stdout());
        stat.is_ok_and(|s| rustix::fs::FileType::from_raw_mode(s.st_mode) == rustix::fs::FileType::CharacterDevice)
    };
    error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) && is_device()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nothing_is_out_before_it_is_flushed() {
        let mut to = Vec::new();
        let mut out = Output::new(&mut to);
        out.write_all(b"half").unwrap();
        drop(out);
        assert_eq!(to, b"");
    }

    #[test]
    fn a_flush_prints_what_was_held_and_only_once() {
        let mut to = Vec::new();
        let mut out = Output::new(&mut to);
        out.write_all(b"a").unwrap();
        out.flush().unwrap();
        out.write_all(b"b").unwrap();
        out.flush().unwrap();
        out.flush().unwrap();
        assert_eq!(to, b"ab");
    }

    #[test]
    fn a_closed_reader_is_remembered() {
        let mut to = Closed;
        let mut out = Output::new(&mut to);
        out.write_all(b"a").unwrap();
        assert!(!out.reader_is_gone());
        assert!(out.flush().is_err());
        assert!(out.reader_is_gone());
    }
}
