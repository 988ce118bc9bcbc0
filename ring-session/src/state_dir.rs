//! Where the files of all five tools are (ring(5), FILES).

use crate::refusal::Refusal;
use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The root of the state: `--state-dir`, else `$RING_STATE_DIR`, else `$XDG_STATE_HOME/ring`, else
/// `~/.local/state/ring`. Directories are made 0700, files 0600, whatever the umask says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir {
    root: PathBuf,
}

fn from_environment(name: &str) -> Option<PathBuf> {
    path_of(env::var_os(name))
}

/// An empty variable counts as unset.
fn path_of(value: Option<OsString>) -> Option<PathBuf> {
    value.filter(|v| !v.is_empty()).map(PathBuf::from)
}

/// Below an XDG base directory; a relative one is to be ignored (XDG Base Directory Specification).
fn below_base(value: Option<OsString>, name: &str) -> Option<PathBuf> {
    path_of(value).filter(|d| d.is_absolute()).map(|d| d.join(name))
}

/// The home folder, or none: a program without one finds nothing instead of looking in `/`.
pub fn home() -> Option<PathBuf> {
    from_environment("HOME")
}

/// The settings file: `--config`, else `$RING_CONFIG`, else `$XDG_CONFIG_HOME/ring/config.toml`, else
/// `~/.config/ring/config.toml`.
pub fn config_file(given: Option<&Path>) -> Option<PathBuf> {
    config_file_by(given, |name| env::var_os(name))
}

fn config_file_by(given: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    given
        .map(Path::to_owned)
        .or_else(|| path_of(variable("RING_CONFIG")))
        .or_else(|| below_base(variable("XDG_CONFIG_HOME"), "ring/config.toml"))
        .or_else(|| path_of(variable("HOME")).map(|d| d.join(".config/ring/config.toml")))
}

fn root_by(given: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    given
        .map(Path::to_owned)
        .or_else(|| path_of(variable("RING_STATE_DIR")))
        .or_else(|| below_base(variable("XDG_STATE_HOME"), "ring"))
        .or_else(|| path_of(variable("HOME")).map(|d| d.join(".local/state/ring")))
}

/// `ring-UID` below the temporary folder, where others may write too: if something that is not a folder of this user
/// stands there, a place where nothing can be.
fn homeless(temp: &Path, uid: u32) -> PathBuf {
    let dir = temp.join(format!("ring-{uid}"));
    match std::fs::symlink_metadata(&dir) {
        Ok(found) if !found.is_dir() || found.uid() != uid => PathBuf::from("/dev/null/ring"),
        _ => dir,
    }
}

impl StateDir {
    /// Finds the root; makes nothing. Without any of the variables and without a home it is `ring-UID` below the
    /// temporary folder, so that a hook without a home still has one place.
    pub fn resolve(given: Option<&Path>) -> StateDir {
        let root = root_by(given, |name| env::var_os(name))
            .unwrap_or_else(|| homeless(&env::temp_dir(), rustix::process::getuid().as_raw()));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> {
        move |name| pairs.iter().find(|(k, _)| *k == name).map(|(_, v)| OsString::from(v))
    }

    #[test]
    fn the_root_is_the_option_else_the_variables_in_order_else_the_home() {
        let all: &[_] = &[("RING_STATE_DIR", "/r"), ("XDG_STATE_HOME", "/x"), ("HOME", "/h")];
        for (given, variables, root) in [
            (Some("/o"), all, Some("/o")),
            (None, all, Some("/r")),
            (None, &all[1..], Some("/x/ring")),
            (None, &all[2..], Some("/h/.local/state/ring")),
            (
                None,
                &[("RING_STATE_DIR", ""), ("XDG_STATE_HOME", "rel"), ("HOME", "/h")],
                Some("/h/.local/state/ring"),
            ),
            (None, &[("HOME", "")], None),
        ] {
            assert_eq!(
                root_by(given.map(Path::new), with(variables)),
                root.map(PathBuf::from),
                "{given:?} {variables:?}"
            );
        }
    }

    #[test]
    fn the_settings_file_is_the_option_else_the_variables_in_order_else_the_home() {
        let all: &[_] = &[("RING_CONFIG", "/r.toml"), ("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")];
        for (given, variables, file) in [
            (Some("/o.toml"), all, Some("/o.toml")),
            (None, all, Some("/r.toml")),
            (None, &all[1..], Some("/x/ring/config.toml")),
            (None, &all[2..], Some("/h/.config/ring/config.toml")),
            (None, &[], None),
        ] {
            assert_eq!(
                config_file_by(given.map(Path::new), with(variables)),
                file.map(PathBuf::from)
            );
        }
    }

    #[test]
    fn without_a_home_nobody_else_chooses_where_the_state_is() {
        let temp = tempfile::tempdir().unwrap();
        let uid = rustix::process::getuid().as_raw();
        let dir = temp.path().join(format!("ring-{uid}"));
        assert_eq!(homeless(temp.path(), uid), dir);
        make_private(&dir).unwrap();
        assert_eq!(homeless(temp.path(), uid), dir);
        std::fs::remove_dir(&dir).unwrap();
        std::os::unix::fs::symlink("/", &dir).unwrap();
        assert_eq!(homeless(temp.path(), uid), Path::new("/dev/null/ring"));
    }

    #[test]
    fn stripes_are_64_files() {
        let state = StateDir::at("/s");
        assert_eq!(state.status_lock(0), Path::new("/s/status/.locks/00"));
        assert_eq!(state.status_lock(0x3f), Path::new("/s/status/.locks/3f"));
        assert_eq!(state.status_lock(0xff), Path::new("/s/status/.locks/3f"));
    }

    #[test]
    fn a_folder_that_is_there_keeps_its_mode_and_a_file_in_the_way_is_io() {
        let dir = tempfile::tempdir().unwrap();
        let ours = dir.path().join("ours");
        std::fs::create_dir(&ours).unwrap();
        std::fs::set_permissions(&ours, std::fs::Permissions::from_mode(0o755)).unwrap();
        make_private(&ours.join("inside")).unwrap();
        let mode = |p: &Path| std::fs::metadata(p).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&ours), mode(&ours.join("inside"))), (0o755, 0o700));
        std::fs::write(dir.path().join("file"), "").unwrap();
        let refusal = StateDir::at(dir.path())
            .make(&dir.path().join("file/below"))
            .unwrap_err();
        assert_eq!(refusal.code, crate::Code::Io);
    }
}
