//! Where the files of all five tools are (ring(5), FILES).

use crate::refusal::Refusal;
use std::env;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The root of the state: `--state-dir`, else `$RING_STATE_DIR`, else `$XDG_STATE_HOME/ring`, else
/// `~/.local/state/ring`. Directories are made 0700, files 0600, whatever the umask says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir {
    root: PathBuf,
}

fn from_environment(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from)
}

/// The home folder, or none: a program without one finds nothing instead of looking in `/`.
pub fn home() -> Option<PathBuf> {
    from_environment("HOME")
}

/// The settings file: `--config`, else `$RING_CONFIG`, else `$XDG_CONFIG_HOME/ring/config.toml`, else
/// `~/.config/ring/config.toml`.
pub fn config_file(given: Option<&Path>) -> Option<PathBuf> {
    given
        .map(Path::to_owned)
        .or_else(|| from_environment("RING_CONFIG"))
        .or_else(|| from_environment("XDG_CONFIG_HOME").map(|d| d.join("ring/config.toml")))
        .or_else(|| home().map(|d| d.join(".config/ring/config.toml")))
}

impl StateDir {
    /// Finds the root; makes nothing. Without any of the variables and without a home it is `.ring-state` below the
    /// temporary folder of this user id, so that a hook without a home still has one place.
    pub fn resolve(given: Option<&Path>) -> StateDir {
        let root = given
            .map(Path::to_owned)
            .or_else(|| from_environment("RING_STATE_DIR"))
            .or_else(|| from_environment("XDG_STATE_HOME").map(|d| d.join("ring")))
            .or_else(|| home().map(|d| d.join(".local/state/ring")))
            .unwrap_or_else(|| env::temp_dir().join(format!("ring-{}", rustix::process::getuid().as_raw())));
        StateDir { root }
    }

    /// A root that is known.
    pub fn at(root: impl Into<PathBuf>) -> StateDir {
        StateDir { root: root.into() }
    }

    /// The root itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `status/`: what agents' sessions were last seen doing (ring-hook).
    pub fn status(&self) -> PathBuf {
        self.root.join("status")
    }

    /// One of the 64 side files that guard `status/`; `stripe` counts modulo 64.
    pub fn status_lock(&self, stripe: u8) -> PathBuf {
        self.root.join(format!("status/.locks/{:02x}", stripe & 0x3f))
    }

    /// `sessions/`: durable records (ring-session).
    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// `board/`: names given, rows hidden (ring-scan).
    pub fn board(&self) -> PathBuf {
        self.root.join("board")
    }

    /// `notify/`: what was delivered and what is held back (ring-notify).
    pub fn notify(&self) -> PathBuf {
        self.root.join("notify")
    }

    /// One line for each committed change.
    pub fn events(&self) -> PathBuf {
        self.root.join("events.jsonl")
    }

    /// Guards [`StateDir::events`]; taken last and briefly.
    pub fn events_lock(&self) -> PathBuf {
        self.root.join("events.lock")
    }

    /// Guards settings files while they are edited.
    pub fn settings_lock(&self) -> PathBuf {
        self.root.join("settings.lock")
    }

    /// What hook entries could not do.
    pub fn hook_errors(&self) -> PathBuf {
        self.root.join("hook-errors.log")
    }

    /// Makes a directory below the root, and what is missing above it, 0700.
    ///
    /// # Errors
    /// `IO` naming the directory.
    pub fn make(&self, dir: &Path) -> Result<(), Refusal> {
        make_private(dir).map_err(|e| Refusal::io("make", dir, &e))
    }
}

/// Makes `dir` and what is missing above it, 0700 under any umask. A directory that exists is left as it is.
///
/// # Errors
/// Those of the system.
pub fn make_private(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = dir.parent().filter(|p| !p.as_os_str().is_empty()) {
        make_private(parent)?;
    }
    match std::fs::DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700)),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        Err(e) => Err(e),
    }
}
