//! Waiting for the next reason to look: a file event, a moment in time, a signal, a reader that went away.
//!
//! One `poll` on an inotify descriptor, a pipe that signal handlers write to, and stdout. Where there is no inotify,
//! only time and signals wake.

use super::files::Files;
use super::places::Place;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::{flag, low_level};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Why the wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Something was written.
    Files,
    /// The time is over.
    Time,
    /// The terminal has another size.
    Resized,
    /// SIGINT: the person has seen enough.
    Interrupted,
    /// SIGTSTP: the terminal is needed by somebody else for a while.
    Suspended,
    /// SIGTERM or SIGHUP.
    Killed(i32),
    /// Nobody reads stdout any more.
    ReaderGone,
}

/// See the module.
pub struct Wake {
    files: Files,
    signals: UnixStream,
    last: Arc<AtomicUsize>,
}

impl Wake {
    /// Catches signals from now on; SIGTSTP too if a screen has to be given back before.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(screen: bool) -> io::Result<Wake> {
        let (signals, end) = UnixStream::pair()?;
        signals.set_nonblocking(true)?;
        let last = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH] {
            if signal == SIGTSTP && !screen {
                continue;
            }
            if signal != SIGWINCH {
                flag::register_usize(signal, Arc::clone(&last), signal as usize)?;
            }
            low_level::pipe::register(signal, end.try_clone()?)?;
        }
        Ok(Wake {
            files: Files::new(),
            signals,
            last,
        })
    }

    /// Listens to `places`, as far as they are there. Tells whether it did so already, to all of them; if not, something
    /// may have changed unheard.
    pub fn listen(&mut self, places: Vec<Place>) -> bool {
        self.files.watch(places)
    }

    /// Whether something was written since the last call; forgets it.
    pub fn take_changed(&mut self) -> bool {
        self.files.drain();
        std::mem::take(&mut self.files.changed) || self.files.found()
    }

    /// Whether folders were made or have gone since the last call, so that there may be more to listen to; forgets it.
    pub fn take_moved(&mut self) -> bool {
        std::mem::take(&mut self.files.moved)
    }

    /// Waits for at most `limit`.
    ///
    /// # Errors
    /// Those of the system.
    pub fn wait(&mut self, limit: Duration) -> io::Result<Woken> {
        let end = std::time::Instant::now() + limit;
        loop {
            if let Some(woken) = self.signal() {
                return Ok(woken);
            }
            let left = end.saturating_duration_since(std::time::Instant::now());
            let stdout = io::stdout();
            let mut fds = vec![
                PollFd::new(&self.signals, PollFlags::IN),
                // asked for nothing, poll tells only of errors: of a pipe, that its reader is gone
                PollFd::new(&stdout, PollFlags::empty()),
            ];
            fds.extend(
                self.files
                    .descriptor()
                    .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)),
            );
            let time = Timespec {
                tv_sec: left.as_secs() as i64,
                tv_nsec: left.subsec_nanos().into(),
            };
            match poll(&mut fds, Some(&time)) {
                Err(Errno::INTR) => continue,
                Err(e) => return Err(e.into()),
                Ok(0) => return Ok(Woken::Time),
                Ok(_) => {}
            }
            let gone = fds[1].revents().intersects(PollFlags::ERR | PollFlags::HUP);
            let written = fds.get(2).is_some_and(|f| !f.revents().is_empty());
            if gone {
                return Ok(Woken::ReaderGone);
            }
            if written && self.files.drain() {
                return Ok(Woken::Files);
            }
        }
    }

    fn signal(&mut self) -> Option<Woken> {
        let mut bytes = [0; 64];
        // empty is an error here, and means that no signal came
        let came = self.signals.read(&mut bytes).unwrap_or(0) > 0;
        match self.last.load(Ordering::SeqCst) as i32 {
            0 if came => Some(Woken::Resized),
            0 => None,
            SIGINT => Some(Woken::Interrupted),
            SIGTSTP => {
                self.last.store(0, Ordering::SeqCst);
                Some(Woken::Suspended)
            }
            signal => Some(Woken::Killed(signal)),
        }
    }
}

/// Ends this process as `signal` would have without a handler, so that its parent sees 128+n.
///
/// # Errors
/// Those of the system.
pub fn end_by(signal: i32) -> io::Result<()> {
    low_level::emulate_default_handler(signal)
}

/// Stops this process as SIGTSTP would have without a handler; returns when it goes on.
///
/// # Errors
/// Those of the system.
pub fn suspend() -> io::Result<()> {
    low_level::emulate_default_handler(SIGTSTP)
}
