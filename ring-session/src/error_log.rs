//! `hook-errors.log`: what hook entries could not do (ring(5), HOOK ERRORS). A hook is silent, so this is where one looks.
//!
//! A line holds the time, the code, the agent, the event and the payload's size; nothing of the payload's content.

use crate::append::append;
use crate::lock::Lock;
use crate::refusal::{Code, Refusal};
use crate::settings::Problem;
use crate::state_dir::StateDir;
use crate::text;
use crate::time::{Ms, iso};
use std::time::Duration;

/// The log becomes `hook-errors.log.1` at this size, in bytes.
pub const ROTATE_BYTES: u64 = 1024 * 1024;

/// Notes that a payload of `bytes` bytes could not be taken in. `agent` and `event` are as sent; what is no plain name
/// is noted as `?`, so that no text of a payload gets in under a name.
///
/// # Errors
/// `IO`. A hook has nobody to tell.
pub fn note(state: &StateDir, now: Ms, code: Code, agent: &str, event: &str, bytes: usize) -> Result<(), Refusal> {
    let line = format!(
        "{} {} {} {} {bytes}",
        iso(now),
        code.as_str(),
        plain(agent),
        plain(event)
    );
    write(state, &line)
}

/// Notes a value of the settings that is not used.
///
/// # Errors
/// As [`note`].
pub fn note_settings(state: &StateDir, now: Ms, problem: &Problem) -> Result<(), Refusal> {
    let line = format!("{} {} settings {problem}", iso(now), Code::InvalidArgument.as_str());
    write(state, &text::clean(&line, 400))
}

fn plain(name: &str) -> &str {
    let letters = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    match name {
        "" => "-",
        _ if name.len() <= 64 && name.bytes().all(letters) => name,
        _ => "?",
    }
}

/// The log must take a line when a lock is just what was not to be had, so it is not waited for; without it the file
/// grows until the next line.
fn write(state: &StateDir, line: &str) -> Result<(), Refusal> {
    let path = state.hook_errors();
    let held = Lock::acquire(&state.events_lock(), Duration::ZERO);
    let limit = if held.is_ok() { ROTATE_BYTES } else { u64::MAX };
    append(&path, line, limit).map_err(|e| Refusal::io("append to", &path, &e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn place() -> (tempfile::TempDir, StateDir) {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path().join("state"));
        (dir, state)
    }

    fn log(state: &StateDir) -> String {
        fs::read_to_string(state.hook_errors()).unwrap()
    }

    #[test]
    fn a_line_has_time_code_agent_event_and_size() {
        let (_dir, state) = place();
        note(&state, 1_796_040_006_200, Code::BadPayload, "claude-code", "Stop", 1234).unwrap();
        assert_eq!(
            log(&state),
            "2026-11-30T12:00:06.200Z BAD_PAYLOAD claude-code Stop 1234\n"
        );
        let mode = fs::metadata(state.hook_errors()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn no_text_of_a_payload_gets_into_the_log() {
        let (_dir, state) = place();
        note(&state, 0, Code::BadPayload, "my prompt is", "\u{1b}]0;x\u{7}", 1).unwrap();
        note(&state, 0, Code::NoSessionId, "", &"x".repeat(65), 2).unwrap();
        let zero = "1970-01-01T00:00:00.000Z";
        assert_eq!(
            log(&state),
            format!("{zero} BAD_PAYLOAD ? ? 1\n{zero} NO_SESSION_ID - ? 2\n")
        );
    }

    #[test]
    fn a_settings_problem_is_one_bounded_line() {
        let (_dir, state) = place();
        let text = format!("\"{}\n\u{1b}[2J\" is no number", "x".repeat(9_000));
        let problem = Problem {
            file: "/h/config.toml".into(),
            line: 3,
            key: "interval".into(),
            text,
        };
        note_settings(&state, 0, &problem).unwrap();
        let log = log(&state);
        assert!(
            log.contains("INVALID_ARGUMENT settings /h/config.toml:3: interval: \"xxx"),
            "{log}"
        );
        assert!(log.len() < 500 && log.lines().count() == 1 && !log.contains('\u{1b}'));
    }

    #[test]
    fn at_one_mebibyte_the_log_becomes_the_old_one() {
        let (_dir, state) = place();
        state.make(state.root()).unwrap();
        fs::write(state.hook_errors(), vec![b'\n'; ROTATE_BYTES as usize]).unwrap();
        note(&state, 0, Code::Io, "codex", "Stop", 0).unwrap();
        assert_eq!(log(&state).lines().count(), 1);
        assert!(state.root().join("hook-errors.log.1").exists());
    }

    #[test]
    fn a_lock_that_is_held_keeps_no_line_out() {
        let (_dir, state) = place();
        let _held = Lock::acquire(&state.events_lock(), Duration::from_secs(5)).unwrap();
        note(&state, 0, Code::LockTimeout, "codex", "Stop", 0).unwrap();
        assert!(log(&state).contains("LOCK_TIMEOUT"));
    }
}
