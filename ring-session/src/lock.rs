//! Exclusive locks on side files.
//!
//! What is guaranteed: between [`Lock::acquire`] and its drop no other process that follows the protocol (ring(5),
//! WRITING) holds the same side file. The lock is never on a data file, because a rename would leave it on an inode
//! that nobody opens again, and a side file is never removed, for the same reason. The system frees the lock of a
//! process that dies. Readers take no lock.

use crate::process;
use crate::refusal::{Code, Refusal};
use crate::state_dir::make_private;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
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
    wait_by(std::env::var(WAIT_VARIABLE).ok().as_deref(), default)
}

fn wait_by(variable: Option<&str>, default: Duration) -> Duration {
    let ms = variable.and_then(|v| v.trim().parse().ok());
    ms.map_or(default, Duration::from_millis)
}

/// A held lock; dropping it frees it.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, waiting at most `limit`. The first try is immediate; then with growing pauses of up to 10 ms.
    ///
    /// # Errors
    /// `LOCK_TIMEOUT` naming the file and, if known, its holder; `IO` if the side file cannot be opened.
    pub fn acquire(path: &Path, limit: Duration) -> Result<Lock, Refusal> {
        let file = open(path).map_err(|e| Refusal::io("open the lock", path, &e))?;
        Lock::wait_for(file, path, limit)
    }

    /// As [`Lock::acquire`], of a side file in a directory that may be removed: nothing is made but the file itself.
    /// None if the directory is not there, or is no longer the one that was locked.
    ///
    /// # Errors
    /// Those of [`Lock::acquire`].
    pub fn acquire_within(path: &Path, limit: Duration) -> Result<Option<Lock>, Refusal> {
        let file = match options().open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Refusal::io("open the lock", path, &e)),
        };
        let inode = file
            .metadata()
            .map_err(|e| Refusal::io("open the lock", path, &e))?
            .ino();
        let lock = Lock::wait_for(file, path, limit)?;
        let same = std::fs::metadata(path).is_ok_and(|m| m.ino() == inode);
        Ok(same.then_some(lock))
    }

    fn wait_for(file: File, path: &Path, limit: Duration) -> Result<Lock, Refusal> {
        let started = Instant::now();
        let mut pause = Duration::from_micros(200);
        let mut jitter = u64::from(std::process::id());
        loop {
            #[allow(clippy::disallowed_methods, reason = "this is the one place that locks")]
            let tried = fs2::FileExt::try_lock_exclusive(&file);
            match tried {
                Ok(()) => return Ok(Lock { _file: file }),
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
}

fn options() -> OpenOptions {
    let mut o = OpenOptions::new();
    o.read(true).write(true).create(true).truncate(false).mode(0o600);
    o
}

fn open(path: &Path) -> io::Result<File> {
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

fn timed_out(path: &Path, file: &File, limit: Duration) -> Refusal {
    let holder = file
        .metadata()
        .ok()
        .and_then(|m| process::lock_holder(m.dev(), m.ino()));
    let by = match holder.map(|pid| (pid, process::look(pid))) {
        Some((pid, process::Look::Found(stat))) => format!("process {pid} ({})", stat.comm),
        Some((pid, _)) => format!("process {pid}"),
        None => "another process".into(),
    };
    let refusal = Refusal::new(
        Code::LockTimeout,
        format!(
            "{} has been locked by {by} for more than {} ms; try again",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_sets_both_waits_and_nonsense_in_it_does_not() {
        let ms = Duration::from_millis;
        for (variable, expected) in [
            (None, ms(1_000)),
            (Some("250"), ms(250)),
            (Some(" 0 "), ms(0)),
            (Some(""), ms(1_000)),
            (Some("-1"), ms(1_000)),
            (Some("1s"), ms(1_000)),
        ] {
            assert_eq!(wait_by(variable, HOOK_WAIT), expected, "{variable:?}");
        }
    }

    #[test]
    fn a_lock_excludes_within_one_process_too_and_is_free_after_its_drop() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/er/lock");
        let held = Lock::acquire(&path, Duration::ZERO).unwrap();
        let refusal = Lock::acquire(&path, Duration::from_millis(20)).unwrap_err();
        assert_eq!(refusal.code, Code::LockTimeout);
        assert!(refusal.message.contains(path.to_str().unwrap()), "{}", refusal.message);
        drop(held);
        Lock::acquire(&path, Duration::ZERO).unwrap();
        assert!(path.exists());
    }

    #[test]
    fn a_side_file_that_cannot_be_opened_is_io_and_not_a_time_out() {
        let dir = tempfile::tempdir().unwrap();
        let refusal = Lock::acquire(dir.path(), Duration::from_secs(5)).unwrap_err();
        assert_eq!(refusal.code, Code::Io);
    }
}
