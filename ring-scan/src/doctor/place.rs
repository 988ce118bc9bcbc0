//! Where the programs run: namespace, and the sisters and tools that are found.

use super::Check;
use ring_session::sister;
use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Inode of the first pid namespace of a Linux machine (`PROC_PID_INIT_INO`); any other belongs to a container.
const FIRST_PID_NS: u64 = 0xEFFF_FFFC;

/// In a container or not; `pid_ns` is 0 where there is no such thing.
pub fn namespace(pid_ns: u64) -> Check {
    let id = "process.namespace";
    match pid_ns {
        0 => Check::ok(id, "no pid namespaces here"),
        FIRST_PID_NS => Check::ok(id, "not in a container"),
        n => Check::ok(
            id,
            format!("in a container (pid namespace {n}); sessions outside it are shown as foreign"),
        ),
    }
}

/// The program of that name beside this one, else the first on the search path.
pub fn sister(name: &str) -> Option<PathBuf> {
    let beside = env::current_exe().ok().and_then(|own| Some(own.parent()?.join(name)));
    beside.filter(|p| runs(p)).or_else(|| on_path(name))
}

/// The first program of that name on the search path.
pub fn on_path(name: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|dir| dir.join(name))
        .find(|p| runs(p))
}

fn runs(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// A program that is of use and not required.
pub fn tool(id: &str, found: Option<PathBuf>, without: &str) -> Check {
    match found {
        Some(path) => Check::ok(id, path.display().to_string()),
        None => Check::ok(id, format!("not found; {without}")),
    }
}

/// The program that rings. One that does not know `deliver` rings for nobody.
pub fn notifier(found: Option<PathBuf>) -> Check {
    match found {
        Some(path) if !sister::knows(&path, "deliver") => Check::warn(
            "notifier",
            format!("ring-notify cannot deliver yet ({}); nothing rings", path.display()),
            "waits are on the board only; look there, or install a ring-notify that knows `deliver`",
        ),
        found => tool("notifier", found, "nothing rings"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_is_told_by_its_namespace() {
        assert!(namespace(FIRST_PID_NS).text.starts_with("not in"));
        assert!(namespace(4_026_532_177).text.contains("4026532177"));
    }
}
