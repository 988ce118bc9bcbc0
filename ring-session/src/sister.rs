//! Asking another program of the suite what it can do. Programs are installed one by one and grow at their own pace, so
//! the one that is found may not know a command yet; an entry or a ring that needs it would then fail each time.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(2);

/// Whether `program` knows `command`: it prints that command's help and ends with 0. One that cannot be started, or
/// does not answer within 2 seconds, does not. Not for hooks: it costs a process.
pub fn knows(program: &Path, command: &str) -> bool {
    let started = Command::new(program)
        .args([command, "--help"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = started else { return false };
    let stdout = child.stdout.take();
    let (done, ended) = mpsc::channel();
    // A thread, because the pipe cannot be read with a time limit.
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = stdout.map_or(Ok(0), |mut out| out.read_to_end(&mut text));
        // nobody listens any more after the limit
        done.send(read.is_ok()).ok();
    });
    let answered = ended.recv_timeout(LIMIT) == Ok(true);
    if !answered {
        // an error says that it is gone already
        child.kill().ok();
    }
    child.wait().is_ok_and(|status| answered && status.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_knows_a_command_whose_help_it_prints() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("sister");
        let text = "#!/bin/sh\n[ \"$1 $2\" = 'hook --help' ] && exit 0\nexit 64\n";
        fs::write(&program, text).unwrap();
        assert!(!knows(&program, "hook"), "it cannot be run");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(knows(&program, "hook"));
        assert!(!knows(&program, "deliver"));
        assert!(!knows(&dir.path().join("nobody"), "hook"));
    }

    #[test]
    fn one_that_does_not_answer_knows_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("sister");
        fs::write(&program, "#!/bin/sh\nexec sleep 60\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(!knows(&program, "hook"));
    }
}
