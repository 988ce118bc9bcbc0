//! A hook that dies at its n-th call to the file system, for every call and every n: the row is the old one or the new
//! one, and the next hook goes on.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod harness;

use harness::{Home, NOW, assert_silent, bin, feed, has, text};
use serde_json::json;
use std::os::unix::process::ExitStatusExt;

/// What a write path can die at.
const CALLS: &[&str] = &[
    "openat",
    "mkdir",
    "mkdirat",
    "flock",
    "fcntl",
    "read",
    "pread64",
    "lseek",
    "write",
    "pwrite64",
    "fchmod",
    "chmod",
    "fchmodat",
    "fstat",
    "statx",
    "newfstatat",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "linkat",
    "ftruncate",
    "getrandom",
    "close",
    "munmap",
];

/// A run that is still killed at this count kills itself for ever; no hook has that many calls of one kind.
const ENOUGH: usize = 200;

fn payload(event: &str, call: usize) -> Vec<u8> {
    json!({"hook_event_name": event, "session_id": "s", "cwd": "/w/app", "prompt_id": "t", "tool_name": "Bash",
        "tool_use_id": format!("u{call}"), "tool_input": {"command": "ls"}, "last_assistant_message": "Go on?"})
    .to_string()
    .into_bytes()
}

/// Whether the hook was killed at the `n`-th `call`.
fn killed_at(home: &Home, call: &str, n: usize, payload: &[u8]) -> bool {
    // the question mark: not every machine has every call
    let inject = format!("inject=?{call}:signal=KILL:when={n}");
    let mut strace = home.command("strace");
    strace
        .args(["-f", "-o", "/dev/null", "-e", &format!("trace=?{call}"), "-e", &inject])
        .arg(bin("ring-hook"))
        .args(["--agent", "claude-code"]);
    let out = feed(&mut strace, payload);
    let killed = out.status.signal() == Some(9) || out.status.code() == Some(137);
    assert!(
        killed || out.status.success(),
        "{call} {n}: {:?} {}",
        out.status,
        text(&out.stderr)
    );
    killed
}

fn strace_works(home: &Home) -> bool {
    if !has("strace") {
        eprintln!("skipped: strace is not installed");
        return false;
    }
    let out = home
        .command("strace")
        .args(["-o", "/dev/null", "true"])
        .output()
        .unwrap();
    if !out.status.success() {
        eprintln!("skipped: strace may not trace here: {}", text(&out.stderr));
    }
    out.status.success()
}

fn seq(home: &Home) -> u64 {
    let rows = home.rows();
    assert!(rows.len() <= 1);
    rows.first().map_or(0, |(_, row)| row["seq"].as_u64().unwrap())
}

/// Walks through every call of a write that `event` makes, on a new row and on an existing one.
fn walk(event: &str, existing: bool) -> usize {
    let mut deaths = 0;
    for call in CALLS {
        for n in 1..=ENOUGH {
            assert!(n < ENOUGH, "{call} never ends");
            let home = Home::new();
            if existing {
                assert_silent(&home.hook_at(NOW, &["--agent", "claude-code"], &payload("PreToolUse", 0)));
            }
            let before = seq(&home);
            let killed = killed_at(&home, call, n, &payload(event, n));
            let after = seq(&home);
            assert!(
                after == before || after == before + 1,
                "{call} {n}: {before} then {after}"
            );
            home.events();
            assert!(home.leftovers().len() <= 1, "{call} {n}: {:?}", home.leftovers());
            let next = home.hook_at(NOW + 10_000, &["--agent", "claude-code"], &payload("PreToolUse", 9999));
            assert_silent(&next);
            assert_eq!(seq(&home), after + 1, "{call} {n}: the next hook goes on");
            if !killed {
                break;
            }
            deaths += 1;
        }
    }
    deaths
}

#[test]
fn a_hook_that_dies_anywhere_in_a_first_write_leaves_no_half_row() {
    if strace_works(&Home::new()) {
        let deaths = walk("PreToolUse", false);
        assert!(deaths > 10, "only {deaths} places to die were found");
    }
}

#[test]
fn a_hook_that_dies_anywhere_in_a_rewrite_leaves_the_old_row_or_the_new_one() {
    if strace_works(&Home::new()) {
        let deaths = walk("Stop", true);
        assert!(deaths > 10, "only {deaths} places to die were found");
    }
}
