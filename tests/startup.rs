//! What one hook event costs: instructions, calls, memory. Counted, not timed, so a busy machine changes nothing.
//!
//! The program that is measured is the release build, because that is what people run. If there is none, or it is older
//! than the sources, nothing is measured; `.ci/run` builds it before the tests.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod harness;

use harness::{Home, NOW, assert_silent, bin_dir, feed, has, text};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// User instructions for one event on an existing row, from the loader's first to the exit.
const INSTRUCTIONS: u64 = 480_000;

fn payload() -> Vec<u8> {
    json!({"hook_event_name": "PostToolUse", "session_id": "s", "cwd": "/w/app", "prompt_id": "t", "tool_name": "Bash",
        "permission_mode": "default", "transcript_path": "/w/t.jsonl", "tool_use_id": "u2", "duration_ms": 12,
        "tool_input": {"command": "cargo test --workspace", "description": "run the tests"},
        "tool_response": {"stdout": "x".repeat(1500), "stderr": "", "interrupted": false}})
    .to_string()
    .into_bytes()
}

fn newest(dir: &Path) -> SystemTime {
    let mut last = SystemTime::UNIX_EPOCH;
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        let time = if path.is_dir() {
            newest(&path)
        } else {
            entry.metadata().unwrap().modified().unwrap()
        };
        last = last.max(time);
    }
    last
}

/// The release build of ring-hook, if it is not older than its sources.
fn release() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = bin_dir().parent().unwrap().join("release/ring-hook");
    let Ok(built) = fs::metadata(&program).and_then(|m| m.modified()) else {
        eprintln!("skipped: no release build; cargo build --release makes one");
        return None;
    };
    let changed = newest(&root.join("ring-hook/src")).max(newest(&root.join("ring-session/src")));
    if changed > built {
        eprintln!("skipped: the release build is older than the sources");
        return None;
    }
    Some(program)
}

/// A home whose session has a row with a process already, as in all events but the first.
fn home_with_a_row(program: &Path) -> Home {
    let home = Home::new();
    let start = json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/w/app", "prompt_id": "t",
        "prompt": "go"});
    let mut command = home.command(program);
    command.args(["--agent", "claude-code"]);
    assert_silent(&feed(&mut command, start.to_string().as_bytes()));
    for (_, mut row) in home.rows() {
        row["process"] = json!({"pid": 4242, "start_ticks": 1, "name": "claude", "server": false});
        fs::write(home.status().join("claude-code:s.json"), row.to_string()).unwrap();
    }
    home
}

#[test]
fn h78_an_event_on_an_existing_row_stays_within_its_instructions() {
    let Some(program) = release() else { return };
    if !has("valgrind") {
        eprintln!("skipped: valgrind is not installed");
        return;
    }
    let home = home_with_a_row(&program);
    let mut valgrind = home.command("valgrind");
    valgrind
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(&program)
        .args(["--agent", "claude-code"])
        .env("RING_NOW_MS", (NOW + 5000).to_string());
    let out = feed(&mut valgrind, &payload());
    let said = text(&out.stderr);
    assert!(out.status.success(), "{said}");
    let counted = said
        .lines()
        .find_map(|l| l.split_once("Collected : ")?.1.trim().parse::<u64>().ok());
    let counted = counted.unwrap_or_else(|| panic!("callgrind counted nothing: {said}"));
    eprintln!("{counted} instructions");
    assert_eq!(home.rows()[0].1["seq"], 2, "the event was applied");
    assert!(
        counted <= INSTRUCTIONS,
        "{counted} instructions, the budget is {INSTRUCTIONS}"
    );
}

#[test]
fn h78_an_event_starts_nobody_syncs_nothing_and_reads_no_process_table() {
    let Some(program) = release() else { return };
    if !has("strace") {
        eprintln!("skipped: strace is not installed");
        return;
    }
    let home = home_with_a_row(&program);
    let log = home.path().join("strace.log");
    let mut strace = home.command("strace");
    strace
        .args(["-f", "-o", log.to_str().unwrap()])
        .arg(&program)
        .args(["--agent", "claude-code"])
        .env("RING_NOW_MS", (NOW + 5000).to_string());
    let out = feed(&mut strace, &payload());
    if !out.status.success() {
        eprintln!("skipped: strace may not trace here: {}", text(&out.stderr));
        return;
    }
    let calls = fs::read_to_string(&log).unwrap();
    let count = |name: &str| calls.lines().filter(|l| l.contains(&format!(" {name}("))).count();
    assert_eq!(count("execve"), 1);
    for call in [
        "fork",
        "vfork",
        "clone",
        "clone3",
        "fsync",
        "fdatasync",
        "getdents64",
        "connect",
        "nanosleep",
    ] {
        assert_eq!(count(call), 0, "{call}\n{calls}");
    }
    let proc = home.proc_dir().to_string_lossy().into_owned();
    let looked = calls
        .lines()
        .filter(|l| l.contains(&proc) || l.contains("\"/proc/"))
        .count();
    assert!(
        looked <= 4,
        "{looked} looks at processes although the row has one\n{calls}"
    );
    let rows: Vec<Value> = home.rows().into_iter().map(|(_, row)| row).collect();
    assert_eq!(rows[0]["seq"], 2, "the event was applied");
}
