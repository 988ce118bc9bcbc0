//! Waiting for the next reason to look: a file event, a moment in time, a signal, a reader that went away.
//!
//! One `poll` on an inotify descriptor, a pipe that signal handlers write to, and stdout. Where there is no inotify,
//! only time and signals wake.

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
    files: files::Files,
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
            files: files::Files::new(),
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

#[cfg(target_os = "linux")]
mod files {
    use super::Place;
    use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
    use std::collections::{BTreeMap, BTreeSet};
    use std::ffi::OsStr;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt;
    use std::path::PathBuf;

    /// File events by inotify(7).
    pub struct Files {
        inotify: Option<OwnedFd>,
        watched: BTreeMap<i32, Place>,
        folders: BTreeSet<PathBuf>,
        missing: Vec<PathBuf>,
        /// Something was written in a place that does not wake, or nobody knows whether.
        pub changed: bool,
        /// A folder was made or has gone.
        pub moved: bool,
    }

    impl Files {
        /// Watches nothing yet.
        pub fn new() -> Files {
            Files {
                inotify: init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok(),
                watched: BTreeMap::new(),
                folders: BTreeSet::new(),
                missing: Vec::new(),
                changed: false,
                moved: false,
            }
        }

        /// Watches what is there of `places`. Tells whether all of it was watched already.
        pub fn watch(&mut self, places: Vec<Place>) -> bool {
            let Some(fd) = &self.inotify else { return false };
            let what = WatchFlags::MODIFY
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVED_TO
                | WatchFlags::MOVED_FROM
                | WatchFlags::DELETE_SELF
                | WatchFlags::MOVE_SELF
                | WatchFlags::ONLYDIR;
            let mut all = true;
            self.missing.clear();
            for place in places {
                if self.folders.contains(&place.folder) {
                    continue;
                }
                match add_watch(fd, &place.folder, what) {
                    Ok(wd) => {
                        all = false;
                        self.folders.insert(place.folder.clone());
                        // two paths may lead to one folder: the one that wakes counts
                        let known = self.watched.entry(wd).or_insert_with(|| place.clone());
                        if place.wakes && !known.wakes {
                            *known = place;
                        }
                    }
                    Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => self.missing.push(place.folder),
                    Err(_) => all = false,
                }
            }
            all
        }

        pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
            self.inotify.as_ref().map(AsFd::as_fd)
        }

        /// Whether a folder that was missing is there now: nobody tells of that.
        pub fn found(&self) -> bool {
            self.missing.iter().any(|p| p.exists())
        }

        /// Takes all events; tells whether one wakes.
        pub fn drain(&mut self) -> bool {
            let Some(fd) = &self.inotify else { return false };
            let mut wakes = false;
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = Reader::new(fd, &mut buffer);
            while let Ok(event) = reader.next() {
                let flags = event.events();
                if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
                    (wakes, self.changed, self.moved) = (true, true, true);
                }
                let Some(place) = self.watched.get(&event.wd()) else {
                    continue;
                };
                if flags.intersects(ReadFlags::IGNORED | ReadFlags::MOVE_SELF) {
                    self.moved = true;
                    self.folders.remove(&place.folder);
                    self.watched.remove(&event.wd());
                    continue;
                }
                let counts = match event.file_name().map(|n| OsStr::from_bytes(n.to_bytes())) {
                    Some(name) if place.only.is_empty() => !name.as_bytes().starts_with(b"."),
                    Some(name) => place.only.iter().any(|n| n == name),
                    None => true,
                };
                self.moved |= counts && flags.contains(ReadFlags::ISDIR);
                wakes |= counts && place.wakes;
                self.changed |= counts;
            }
            wakes
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod files {
    use super::Place;
    use std::os::fd::BorrowedFd;

    /// No file events: time wakes, and each poll reads.
    pub struct Files {
        pub changed: bool,
        pub moved: bool,
    }

    impl Files {
        pub fn new() -> Files {
            Files {
                changed: true,
                moved: false,
            }
        }

        pub fn watch(&mut self, _: Vec<Place>) -> bool {
            false
        }

        pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
            None
        }

        pub fn found(&self) -> bool {
            false
        }

        pub fn drain(&mut self) -> bool {
            false
        }
    }
}
