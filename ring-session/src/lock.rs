//! Exclusive locks on side files.
//!
//! What is guaranteed: between [`Lock::acquire`] and its drop no other process that follows the protocol (ring(5),
//! WRITING) holds the same side file. The lock is never on a data file, because a rename would leave it on an inode
//! that nobody opens again, and a side file is never removed, for the same reason. The system frees the lock of a
//! process that dies. Readers take no lock.

use crate::refusal::{Code, Refusal};
use crate::state_dir::make_private;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a command waits for a lock.
pub const COMMAND_WAIT: Duration = Duration::from_secs(5);
/// How long a hook entry waits for a lock.
pub const HOOK_WAIT: Duration = Duration::from_secs(1);
/// The environment variable, in milliseconds, that sets both.
pub const WAIT_VARIABLE: &str = "RING_LOCK_MS";

/// The wait to use: what `RING_LOCK_MS` says, else `default`.
pub fn wait(default: Duration) -> Duration {
    std::env::var(WAIT_VARIABLE)
        .ok()
        .and_then(|v| v.trim().parse().ok())
        .map_or(default, Duration::from_millis)
}

/// A held lock; dropping it frees it.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock, waiting at most `limit`. The first try is immediate; then with growing pauses of up to 10 ms.
    ///
    /// # Errors
    /// `LOCK_TIMEOUT` naming the file and, if known, its holder; `IO` if the side file cannot be opened.
    pub fn acquire(path: &Path, limit: Duration) -> Result<Lock, Refusal> {
        let file = open(path).map_err(|e| Refusal::io("open the lock", path, &e))?;
        let started = Instant::now();
        let mut pause = Duration::from_micros(200);
        let mut jitter = u64::from(std::process::id());
        loop {
            match fs2::FileExt::try_lock_exclusive(&file) {
                Ok(()) => return Ok(Lock { file }),
                Err(e) if e.raw_os_error() == fs2::lock_contended_error().raw_os_error() => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(Refusal::io("lock", path, &e)),
            }
            let left = limit.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(timed_out(path, &file, limit));
            }
            jitter = jitter
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let spread = Duration::from_micros((jitter >> 40) % (pause.as_micros() as u64 / 2 + 1));
            std::thread::sleep((pause + spread).min(left));
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    /// As [`Lock::acquire`], and writes this process's id into the side file, so that others can name the holder.
    /// For locks that may be held longer than a write.
    ///
    /// # Errors
    /// Those of [`Lock::acquire`].
    pub fn acquire_named(path: &Path, limit: Duration) -> Result<Lock, Refusal> {
        let mut lock = Lock::acquire(path, limit)?;
        let line = format!("{}\n", std::process::id());
        lock.file
            .set_len(0)
            .and_then(|()| lock.file.rewind())
            .and_then(|()| lock.file.write_all(line.as_bytes()))
            .map_err(|e| Refusal::io("write", path, &e))?;
        Ok(lock)
    }
}

fn open(path: &Path) -> io::Result<File> {
    let options = || {
        let mut o = OpenOptions::new();
        o.read(true).write(true).create(true).truncate(false).mode(0o600);
        o
    };
    match options().open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            if let Some(dir) = path.parent() {
                make_private(dir)?;
            }
            options().open(path)
        }
        other => other,
    }
}

fn timed_out(path: &Path, mut file: &File, limit: Duration) -> Refusal {
    let mut text = String::new();
    let holder = file
        .rewind()
        .ok()
        .and_then(|()| file.read_to_string(&mut text).ok())
        .and_then(|_| text.trim().parse::<u32>().ok());
    let by = holder.map(|pid| format!(" (process {pid})")).unwrap_or_default();
    let refusal = Refusal::new(
        Code::LockTimeout,
        format!(
            "{} is locked by another process{by} for more than {} ms; try again",
            path.display(),
            limit.as_millis()
        ),
    )
    .with("path", path.to_string_lossy().into_owned());
    match holder {
        Some(pid) => refusal.with("holder", pid),
        None => refusal,
    }
}
