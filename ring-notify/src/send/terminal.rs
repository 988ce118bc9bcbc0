//! Terminals: which one a sequence is written to, and writing that waits for nobody.

use super::Fate;
use super::sequence::{Sequence, through_tmux};
use super::tmux::{self, Pane, Passthrough};
use crate::message::{Message, Place};
use crate::outlet::Terminal;
use ring_hook::facts::tty_name;
use ring_session::process::read_stat;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags, Stat, major, minor};
use rustix::io::Errno;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the rest of a sequence may take that a terminal has taken a part of.
const REST: Duration = Duration::from_secs(1);

/// A terminal that may be written to.
struct Device {
    file: OwnedFd,
    number: u64,
}

/// Writes a sequence to the session's terminal, or to the one of the settings.
pub fn send(to: &Terminal, sequence: Sequence, message: &Message) -> Fate {
    let bytes = sequence.bytes(message);
    if let Some(path) = &to.tty {
        return open(path).map_or_else(Fate::not_usable, |device| write(&device, &bytes));
    }
    let place = &message.place;
    match pane(place, sequence) {
        Ok(Some(pane)) => match own_or_held(Path::new(&pane.tty), place) {
            Some(device) if sequence == Sequence::Bell => write(&device, &bytes),
            Some(device) => write(&device, &through_tmux(&bytes)),
            None => Fate::skipped("no_tty"),
        },
        Ok(None) => match session_tty(place) {
            Some(device) => write(&device, &bytes),
            None => Fate::skipped("no_tty"),
        },
        Err(fate) => fate,
    }
}

/// Whether the terminal of the settings can be written to; the session's own is known only with the session.
///
/// # Errors
/// Why not, for people.
pub fn usable(to: &Terminal) -> Result<(), String> {
    match &to.tty {
        Some(path) if open(path).is_none() => Err(format!(
            "{} is no terminal of yours below /dev",
            ring_session::text::for_terminal(&path.display().to_string())
        )),
        _ => Ok(()),
    }
}

/// The pane that a sequence has to go through; none: there is no tmux around the session, or it is not in the way.
fn pane(place: &Place, sequence: Sequence) -> Result<Option<Pane>, Fate> {
    let Some(seat) = tmux::Seat::of(place) else {
        return Ok(None);
    };
    let view = match tmux::view(&seat) {
        Ok(view) => view,
        // a bell needs no tmux, only the terminal
        Err(_) if sequence == Sequence::Bell => return Ok(None),
        Err(fate) => return Err(fate),
    };
    let Some(pane) = view.pane else {
        return if sequence == Sequence::Bell {
            Ok(None)
        } else {
            Err(Fate::skipped("no_pane"))
        };
    };
    match pane.passthrough {
        _ if sequence == Sequence::Bell => Ok(Some(pane)),
        Passthrough::Off => Err(Fate::not_usable()),
        // tmux drops it unheard
        Passthrough::Visible if !pane.visible => Err(Fate::skipped("no_pane")),
        Passthrough::Visible | Passthrough::All => Ok(Some(pane)),
    }
}

fn session_tty(place: &Place) -> Option<Device> {
    let path = if place.own {
        own_tty()?
    } else {
        PathBuf::from(&place.tty)
    };
    own_or_held(&path, place)
}

/// The device, if the process of the place still has it as its terminal; with `own`, there is no such process.
fn own_or_held(path: &Path, place: &Place) -> Option<Device> {
    let device = open(path)?;
    (place.own || is_held(&device, place)).then_some(device)
}

/// A terminal that somebody else got meanwhile has another process in it.
fn is_held(device: &Device, place: &Place) -> bool {
    let (pid, start) = place.process;
    if pid == 0 {
        return false;
    }
    read_stat(pid).is_some_and(|stat| {
        let number = stat.tty_nr.cast_unsigned();
        let held = ((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xf_ff00));
        let alive = !matches!(stat.state, 'Z' | 'X');
        alive && stat.start_ticks == start && held == (major(device.number), minor(device.number))
    })
}

/// The terminal of this process.
fn own_tty() -> Option<PathBuf> {
    let by_name = [
        rustix::termios::ttyname(std::io::stderr(), Vec::new()),
        rustix::termios::ttyname(std::io::stdout(), Vec::new()),
        rustix::termios::ttyname(std::io::stdin(), Vec::new()),
    ];
    let by_name = by_name.into_iter().find_map(Result::ok);
    by_name
        .map(|name| PathBuf::from(std::ffi::OsStr::from_bytes(name.as_bytes())))
        .or_else(|| {
            let name = tty_name(read_stat(std::process::id())?.tty_nr);
            (!name.is_empty()).then(|| name.into())
        })
}

/// Opens a terminal below `/dev` that belongs to this user and that no link leads to. Nothing else is opened at all.
fn open(path: &Path) -> Option<Device> {
    if !path.starts_with("/dev") || fs::canonicalize(path).ok()? != path {
        return None;
    }
    if !is_own_device(&rustix::fs::lstat(path).ok()?) {
        return None;
    }
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&file).ok()?;
    let fits = is_own_device(&stat) && rustix::termios::isatty(&file);
    fits.then_some(Device {
        file,
        number: stat.st_rdev,
    })
}

fn is_own_device(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice
        && stat.st_uid == rustix::process::geteuid().as_raw()
}

/// Writes without waiting. A terminal that takes nothing (it is stopped, nobody reads) is busy; one that has taken a
/// part gets a moment for the rest.
fn write(device: &Device, bytes: &[u8]) -> Fate {
    let started = Instant::now();
    let mut rest = bytes;
    while !rest.is_empty() {
        match rustix::io::write(&device.file, rest) {
            Ok(n) if n > 0 => rest = rest.get(n..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Ok(_) | Err(Errno::AGAIN) if rest.len() == bytes.len() => return Fate::retry("tty busy"),
            Ok(_) | Err(Errno::AGAIN) if is_ready(device, REST.saturating_sub(started.elapsed())) => {}
            Err(_) if rest.len() == bytes.len() => return Fate::skipped("no_tty"),
            Ok(_) | Err(_) => return Fate::unconfirmed("tty busy"),
        }
    }
    Fate::Sent
}

/// Whether more can be written within that time.
fn is_ready(device: &Device, within: Duration) -> bool {
    let Ok(within) = Timespec::try_from(within) else {
        return false;
    };
    let mut files = [PollFd::new(&device.file, PollFlags::OUT)];
    let ready = poll(&mut files, Some(&within));
    let [file] = &files;
    ready.is_ok_and(|n| n > 0) && file.revents().contains(PollFlags::OUT)
}
