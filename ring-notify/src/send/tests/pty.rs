//! Pseudo-terminals, and processes that have one.

use super::until;
use crate::message::Place;
use ring_session::process::read_stat;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Action, OptionalActions, Winsize, tcflow, tcgetattr, tcsetattr, tcsetwinsize};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

/// A terminal: what is written to `path` comes out at `screen`.
pub struct Pty {
    pub path: PathBuf,
    pub held: File,
    screen: File,
}

impl Pty {
    pub fn new() -> Pty {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let path = PathBuf::from(ptsname(&screen, Vec::new()).unwrap().to_str().unwrap());
        let size = Winsize {
            ws_row: 24,
            ws_col: 120,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&screen, size).unwrap();
        let flags = i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).unwrap();
        let mut options = File::options();
        std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true).write(true), flags);
        let held = options.open(&path).unwrap();
        let mut modes = tcgetattr(&held).unwrap();
        modes.make_raw();
        tcsetattr(&held, OptionalActions::Now, &modes).unwrap();
        Pty {
            path,
            held,
            screen: screen.into(),
        }
    }

    /// Everything that comes out, as it comes. The first call starts to read.
    pub fn output(&self) -> Output {
        let all = Arc::new(Mutex::new(Vec::new()));
        let (mut screen, kept) = (self.screen.try_clone().unwrap(), Arc::clone(&all));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = screen.read(&mut bytes) {
                kept.lock().unwrap().extend_from_slice(&bytes[..n]);
            }
        });
        Output(all)
    }

    /// As XOFF does.
    pub fn stop(&self) {
        tcflow(&self.held, Action::OOff).unwrap();
    }

    /// A process whose terminal it is.
    pub fn process(&self, command: &[&str]) -> Held {
        let child = Command::new("setsid")
            .arg("--ctty")
            .args(command)
            .env("TERM", "xterm-256color")
            .env_remove("TMUX")
            .env_remove("TMUX_PANE")
            .stdin(self.held.try_clone().unwrap())
            .stdout(self.held.try_clone().unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id();
        let start = until("the terminal of a process", || {
            read_stat(pid).filter(|s| s.tty_nr != 0).map(|s| s.start_ticks)
        });
        Held { child, start }
    }

    /// The place of a session in that process.
    pub fn place(&self, held: &Held) -> Place {
        Place {
            tty: self.path.display().to_string(),
            process: (held.child.id(), held.start),
            ..Place::default()
        }
    }
}

/// A process that ends with its test.
pub struct Held {
    pub child: Child,
    pub start: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What came out so far.
pub struct Output(Arc<Mutex<Vec<u8>>>);

impl Output {
    pub fn seen(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }

    /// Waits for bytes.
    pub fn until(&self, wanted: &[u8]) {
        let mut seen = Vec::new();
        let what = format!("{:?}", String::from_utf8_lossy(wanted));
        until(&what, || {
            seen = self.seen();
            seen.windows(wanted.len()).any(|w| w == wanted).then_some(())
        });
    }

    /// Waits until as much came out as is wanted, and compares.
    pub fn is(&self, wanted: &[u8]) {
        let wanted = String::from_utf8_lossy(wanted);
        let seen = until("output", || Some(self.seen()).filter(|s| s.len() >= wanted.len()));
        assert_eq!(String::from_utf8_lossy(&seen), wanted);
    }
}
