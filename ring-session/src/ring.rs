//! Starting a ring: `ring-notify deliver` for one session, at once or after a while, left to itself (ring(7), DATA FLOW).
//!
//! Whoever starts one holds no lock, waits for nothing and does not learn what became of it. A ring that could not be
//! started is no failure: whatever runs `ring-notify deliver` next makes up for it.

use crate::state_dir::StateDir;
use crate::time::Ms;
use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The environment variable that, set to 1, starts no ring: for tests and replays.
pub const OFF_VARIABLE: &str = "RING_NO_NOTIFY";
/// Variables of Claude Code that hold a secret of the session; a ring outlives the hook, so it does not inherit them.
const SECRETS: &str = "CLAUDE_CODE_MESSAGING_";

/// Starts `ring-notify deliver --session KEY`, with `--after` if the ring is not due yet. The program is the one beside
/// this one, else the one on `$PATH`; without one there is no ring. It gets the same state folder and, if given, settings
/// file, in its environment. Returns whether the program was started, which is no promise of a ring: what is beside may
/// not know `deliver` yet and refuse it unheard (`sister::knows` asks, and costs too much here; `ring-scan doctor` does).
pub fn start(state: &StateDir, config: Option<&Path>, key: &str, after_ms: Ms) -> bool {
    if is_off() {
        return false;
    }
    let Some(program) = program() else { return false };
    let mut command = Command::new(program);
    command.args(["deliver", "--session", key]);
    if after_ms > 0 {
        command.arg("--after").arg(span(after_ms));
    }
    command
        .env("RING_STATE_DIR", state.root())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Not in the agent's process group: what is sent to that is not meant for a ring.
        .process_group(0);
    if let Some(config) = config {
        command.env("RING_CONFIG", config);
    }
    without_secrets(&mut command);
    command.spawn().is_ok()
}

/// Keeps the agent's secrets out of the environment of a program that outlives its hook.
pub fn without_secrets(command: &mut Command) {
    for (name, _) in env::vars_os().filter(|(name, _)| is_secret(name)) {
        command.env_remove(name);
    }
}

/// Whether rings are off in this environment.
pub fn is_off() -> bool {
    env::var_os(OFF_VARIABLE).is_some_and(|v| v == "1")
}

fn is_secret(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(SECRETS.as_bytes())
}

fn span(ms: Ms) -> String {
    if ms % 1_000 == 0 {
        format!("{}s", ms / 1_000)
    } else {
        format!("{ms}ms")
    }
}

fn program() -> Option<PathBuf> {
    let name = "ring-notify";
    let beside = env::current_exe().ok().and_then(|p| p.parent().map(|d| d.join(name)));
    beside.filter(|p| is_program(p)).or_else(|| {
        let path = env::var_os("PATH")?;
        env::split_paths(&path).map(|d| d.join(name)).find(|p| is_program(p))
    })
}

fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_written_as_the_command_line_reads_them() {
        assert_eq!(span(11_000), "11s");
        assert_eq!(span(1_500), "1500ms");
    }

    #[test]
    fn h85_the_messaging_secret_is_not_handed_on() {
        assert!(is_secret(OsStr::new("CLAUDE_CODE_MESSAGING_TOKEN")));
        assert!(!is_secret(OsStr::new("CLAUDE_PID")));
    }
}
