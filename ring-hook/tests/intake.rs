//! What comes in at stdin, and that nothing of it ever disturbs the agent.
#![allow(clippy::unwrap_used, missing_docs)]

mod home;

use home::{Home, NOW, assert_silent, feed, text};
use serde_json::{Value, json};
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

const CLAUDE: &[&str] = &["--agent", "claude-code"];

fn start() -> Value {
    json!({"session_id": "s", "hook_event_name": "SessionStart", "cwd": "/w/app"})
}

/// Takes a payload in as Claude Code's hook.
fn take(home: &Home, payload: &[u8]) {
    assert_silent(&feed(&mut home.hook(CLAUDE), payload));
}

#[test]
fn h58_an_open_pipe_behind_the_object_is_not_waited_for() {
    let home = Home::new();
    let mut child = home.hook(CLAUDE).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let asked = Instant::now();
    pipe.write_all(start().to_string().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    // 100 ms on a quiet machine; the limit of an unfinished payload is far away in any case
    assert!(asked.elapsed() < Duration::from_millis(700), "{:?}", asked.elapsed());
    drop(pipe);
    assert_eq!(home.row()["status"], "working");
}

#[test]
fn h58_half_an_object_is_given_up_after_a_second() {
    let home = Home::new();
    let mut child = home.hook(CLAUDE).stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"{\"session_id\":\"s\",").unwrap();
    assert!(child.wait().unwrap().success());
    drop(pipe);
    assert!(
        home.log().contains(" STDIN_TIMEOUT claude-code - 18\n"),
        "{}",
        home.log()
    );
    assert_eq!(home.rows(), [""; 0]);
}

#[test]
fn h59_what_is_no_payload_leaves_no_row_and_a_line_in_the_log() {
    let deep = format!(
        "{{\"session_id\":\"s\",\"event\":\"Stop\",\"x\":{}}}",
        "[".repeat(100_000)
    );
    let utf16: Vec<u8> = start().to_string().encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases: &[(&str, &[u8])] = &[
        ("empty", b""),
        ("blank", b" \n"),
        ("text", b"hello"),
        ("array", b"[{}]"),
        ("cut off", b"{\"session_id\":\"s\""),
        ("UTF-16", &utf16),
        ("NaN", b"{\"session_id\":\"s\",\"event\":\"Stop\",\"x\":NaN}"),
        ("too deep", deep.as_bytes()),
        ("no event", b"{\"session_id\":\"s\"}"),
    ];
    for (what, payload) in cases {
        let home = Home::new();
        take(&home, payload);
        assert_eq!(home.rows(), [""; 0], "{what}");
        let log = home.log();
        assert!(
            log.contains(&format!(" BAD_PAYLOAD claude-code - {}\n", payload.len())) && log.lines().count() == 1,
            "{what}: {log}"
        );
    }
}

#[test]
fn h59_forty_mebibytes_are_read_to_their_end_and_refused() {
    let home = Home::new();
    let filling = "x".repeat(40 << 20);
    let payload = format!("{{\"session_id\":\"s\",\"event\":\"Stop\",\"x\":\"{filling}\"}}");
    let mut child = home.hook(CLAUDE).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(home.log().contains(" PAYLOAD_TOO_LARGE "), "{}", home.log());
    assert_eq!(home.rows(), [""; 0]);
}

#[test]
fn h59_a_careless_payload_still_makes_a_row() {
    let nest = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let cases: &[(&str, Vec<u8>)] = &[
        ("byte order mark", format!("\u{feff} \r\n{}", start()).into_bytes()),
        (
            "invalid UTF-8",
            b"{\"session_id\":\"s\",\"event\":\"SessionStart\",\"cwd\":\"/a\xff\",\"\xc3\":1}".to_vec(),
        ),
        (
            "lone surrogate",
            b"{\"session_id\":\"s\",\"event\":\"SessionStart\",\"cwd\":\"/a\\udc00\",\"k\\ud800\":1}".to_vec(),
        ),
        (
            "raw control bytes",
            b"{\"session_id\":\"s\",\"event\":\"SessionStart\",\"cwd\":\"/a\x01\tb\n\"}".to_vec(),
        ),
        (
            "duplicate keys",
            b"{\"session_id\":\"x\",\"event\":\"SessionStart\",\"session_id\":\"s\"}".to_vec(),
        ),
        (
            "tool result 100 deep",
            format!("{{\"session_id\":\"s\",\"event\":\"PostToolUse\",\"tool_response\":{nest}}}").into_bytes(),
        ),
        ("something behind it", format!("{} {{ garbage", start()).into_bytes()),
    ];
    for (what, payload) in cases {
        let home = Home::new();
        take(&home, payload);
        assert_eq!(home.rows(), ["claude-code:s.json"], "{what}");
        assert_eq!(home.log(), "", "{what}");
    }
}

#[test]
fn h60_a_closed_stdin_is_an_empty_payload() {
    let home = Home::new();
    let mut command = std::process::Command::new("/bin/sh");
    command.args([
        "-c",
        "exec \"$0\" --agent claude-code <&-",
        env!("CARGO_BIN_EXE_ring-hook"),
    ]);
    command.env_clear().env("RING_STATE_DIR", home.state());
    assert_silent(&command.output().unwrap());
    assert!(home.log().contains("BAD_PAYLOAD"));
}

#[test]
fn h60_a_state_directory_that_cannot_be_one_loses_the_event_in_silence() {
    let home = Home::new();
    fs::write(home.state(), "a file").unwrap();
    take(&home, start().to_string().as_bytes());
    let strict = feed(&mut home.hook(&["--strict"]), start().to_string().as_bytes());
    assert_eq!(strict.status.code(), Some(74));
    assert!(text(&strict.stderr).contains("[IO]") && strict.stdout.is_empty());
}

#[test]
fn h60_a_lock_that_is_held_costs_the_event_and_one_line_without_its_text() {
    let home = Home::new();
    take(&home, start().to_string().as_bytes());
    let locks = home.state().join("status/.locks");
    let name = fs::read_dir(&locks).unwrap().next().unwrap().unwrap().path();
    let wait = Duration::from_secs(5);
    let _held = ring_session::lock::Lock::acquire(&name, wait).unwrap();
    let payload = json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "SECRET"});
    let mut command = home.hook(CLAUDE);
    command.env("RING_LOCK_MS", "30");
    assert_silent(&feed(&mut command, payload.to_string().as_bytes()));
    let log = home.log();
    assert!(
        log.contains(" LOCK_TIMEOUT claude-code - ") && log.lines().count() == 1,
        "{log}"
    );
    assert!(home.files_with("SECRET").is_empty());
    let mut strict = home.hook(&["--strict"]);
    strict.env("RING_LOCK_MS", "30");
    let out = feed(&mut strict, payload.to_string().as_bytes());
    assert_eq!(out.status.code(), Some(75));
}

#[test]
fn h60_a_row_that_cannot_be_written_is_an_io_error_with_strict_only() {
    let home = Home::new();
    take(&home, start().to_string().as_bytes());
    let row = home.state().join("status/claude-code:s.json");
    fs::remove_file(&row).unwrap();
    // a folder in the row's place cannot be replaced by a file, whoever runs this
    fs::create_dir(&row).unwrap();
    take(&home, start().to_string().as_bytes());
    assert!(home.log().contains(" IO claude-code "), "{}", home.log());
}

#[test]
fn h57_codex_notify_gives_its_payload_as_last_argument() {
    for (said, status) in [("All done.", "idle"), ("Shall I go on?", "waiting")] {
        let home = Home::new();
        let payload = json!({"type": "agent-turn-complete", "thread-id": "t1", "turn-id": "1", "cwd": "/w",
            "input-messages": ["hi"], "last-assistant-message": said});
        let mut child = home
            .hook(&["--agent", "codex", &payload.to_string()])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        // stdin stays open and untouched
        let pipe = child.stdin.take().unwrap();
        assert!(child.wait().unwrap().success());
        drop(pipe);
        let row = home.row();
        assert_eq!((&row["agent"], &row["session_id"]), (&json!("codex"), &json!("t1")));
        assert_eq!(row["status"], status);
    }
}

#[test]
fn h57_an_argument_of_another_type_is_no_payload() {
    let home = Home::new();
    assert_silent(
        &home
            .hook(&["--agent", "codex", "{\"type\":\"other\"}"])
            .output()
            .unwrap(),
    );
    assert_eq!(home.rows(), [""; 0]);
    assert!(home.log().contains("BAD_PAYLOAD codex"));
}

#[test]
fn h28_a_message_of_two_megabytes_makes_a_small_row() {
    let home = Home::new();
    let payload = json!({"session_id": "s", "hook_event_name": "Notification", "requires_action": true,
        "message": "word ".repeat(400_000), "cwd": "/w/app", "title": "t".repeat(100_000)});
    take(&home, payload.to_string().as_bytes());
    let size = fs::metadata(home.state().join("status/claude-code:s.json"))
        .unwrap()
        .len();
    assert!(size < 8 * 1024, "{size}");
    assert!(home.row()["waits"][0]["detail"].as_str().unwrap().ends_with('…'));
}

#[test]
fn h28_without_store_details_neither_command_nor_prompt_is_anywhere() {
    let home = Home::new();
    home.set("store_details = false\n");
    let tool = json!({"command": "git push SECRET"});
    for payload in [
        json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "SECRET", "session_title": "SECRET"}),
        json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": tool}),
        json!({"session_id": "s", "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": tool}),
        json!({"session_id": "s", "hook_event_name": "Notification", "notification_type": "permission_prompt", "message": "SECRET"}),
        json!({"session_id": "s", "hook_event_name": "Stop", "last_assistant_message": "SECRET?"}),
    ] {
        take(&home, payload.to_string().as_bytes());
        assert_eq!(
            home.files_with("SECRET"),
            [""; 0].map(std::path::PathBuf::from),
            "{payload}"
        );
    }
    assert_eq!(home.row()["last_action"], "Bash");
}

#[test]
fn h54_no_id_and_no_agent_leaves_the_status_directory() {
    let home = Home::new();
    let ids = [
        "..",
        "a/b",
        "../../x",
        "a\nb",
        "a\0b",
        &"x".repeat(238),
        &"x".repeat(4000),
        &"會".repeat(90),
        "   ",
        "codex:abc",
    ];
    for (id, agent) in ids
        .iter()
        .flat_map(|id| ["claude-code", "../x", "a/b", "ring", ""].map(|a| (id, a)))
    {
        let payload = json!({"session_id": id, "hook_event_name": "UserPromptSubmit", "cwd": "/w", "agent": agent});
        assert_silent(&feed(&mut home.hook(&[]), payload.to_string().as_bytes()));
    }
    let mut below: Vec<_> = fs::read_dir(home.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    below.sort();
    assert_eq!(below, ["proc", "state"]);
    let rows = home.rows();
    // the agent's own name, and generic for those that are none; an empty one is Claude Code
    assert_eq!(rows.len(), 2 * ids.len(), "{rows:?}");
    assert!(
        rows.iter()
            .all(|n| n.len() <= 205 && (n.starts_with("claude-code:") || n.starts_with("generic:")))
    );
}

#[test]
fn h54_an_id_over_4096_bytes_is_refused() {
    let home = Home::new();
    let payload = json!({"session_id": "x".repeat(4097), "hook_event_name": "UserPromptSubmit"});
    take(&home, payload.to_string().as_bytes());
    assert!(home.log().contains("NO_SESSION_ID"));
    assert_eq!(home.rows(), [""; 0]);
}

#[test]
fn h54_the_same_id_of_two_agents_is_two_sessions() {
    let home = Home::new();
    let payload = |id: &str| json!({"session_id": id, "hook_event_name": "UserPromptSubmit"}).to_string();
    feed(
        &mut home.hook(&["--agent", "claude-code"]),
        payload("codex:abc").as_bytes(),
    );
    feed(&mut home.hook(&["--agent", "codex"]), payload("abc").as_bytes());
    assert_eq!(home.rows(), ["claude-code:codex%3Aabc.json", "codex:abc.json"]);
}

#[test]
fn h63_directories_are_0700_and_files_0600_under_any_umask() {
    let home = Home::new();
    let mut command = std::process::Command::new("/bin/sh");
    command.args([
        "-c",
        "umask 000; exec \"$0\" --agent claude-code",
        env!("CARGO_BIN_EXE_ring-hook"),
    ]);
    command
        .env_clear()
        .env("RING_STATE_DIR", home.state())
        .env("RING_NO_NOTIFY", "1");
    assert_silent(&feed(&mut command, start().to_string().as_bytes()));
    let mode = |path: &str| fs::metadata(home.state().join(path)).unwrap().permissions().mode() & 0o777;
    for (path, wanted) in [
        ("", 0o700),
        ("status", 0o700),
        ("status/.locks", 0o700),
        ("status/claude-code:s.json", 0o600),
        ("events.jsonl", 0o600),
    ] {
        assert_eq!(mode(path), wanted, "{path}");
    }
}

#[test]
fn h85_the_agents_secret_is_nowhere() {
    let home = Home::new();
    let payloads = [start().to_string(), "{broken".to_owned()];
    for payload in payloads {
        let mut command = home.hook(CLAUDE);
        command.env("CLAUDE_CODE_MESSAGING_TOKEN", "SECRET-x");
        assert_silent(&feed(&mut command, payload.as_bytes()));
    }
    assert!(home.files_with("SECRET-x").is_empty());
}

#[test]
fn h85_a_ring_is_started_without_the_agents_secret() {
    let home = Home::new();
    let folder = home.path().join("bin");
    fs::create_dir(&folder).unwrap();
    let copy = folder.join("ring-hook");
    fs::copy(env!("CARGO_BIN_EXE_ring-hook"), &copy).unwrap();
    fresh(&copy);
    let ring = folder.join("ring-notify");
    // told through a pipe, so that the test ends when the ring has
    fs::write(
        &ring,
        "#!/bin/sh\n{ echo \"$@\"; env; } >\"$HOME/rang\"\nmv \"$HOME/rang\" \"$HOME/rang.done\"\n",
    )
    .unwrap();
    fs::set_permissions(&ring, Permissions::from_mode(0o755)).unwrap();
    fresh(&ring);
    let mut command = std::process::Command::new(&copy);
    command
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", "/usr/bin:/bin")
        .env("RING_STATE_DIR", home.state())
        .env("RING_NOW_MS", NOW.to_string())
        .env("CLAUDE_CODE_MESSAGING_TOKEN", "SECRET-x");
    let waits = json!({"session_id": "s", "hook_event_name": "Stop", "last_assistant_message": "Go on?"});
    assert_silent(&feed(&mut command, waits.to_string().as_bytes()));
    let asked = Instant::now();
    let told = home.path().join("rang.done");
    while !told.exists() {
        assert!(asked.elapsed() < Duration::from_secs(20), "no ring");
        std::thread::yield_now();
    }
    let told = fs::read_to_string(told).unwrap();
    assert!(told.contains("deliver --session claude-code:s"), "{told}");
    assert!(!told.contains("SECRET-x"), "{told}");
}

#[test]
fn a_terminal_at_stdin_is_a_mistake_of_the_person_there() {
    let home = Home::new();
    // the other side of a terminal is one too
    let Ok(terminal) = File::options().read(true).write(true).open("/dev/ptmx") else {
        return;
    };
    let out = home.hook(&[]).stdin(terminal).output().unwrap();
    assert_eq!(out.status.code(), Some(64));
    assert!(text(&out.stderr).contains("--help") && out.stdout.is_empty());
}

#[test]
fn a_bad_settings_file_is_logged_and_the_event_taken() {
    let home = Home::new();
    home.set("detect_stop_questions = 7\n");
    let row = home.after(
        0,
        &json!({"session_id": "s", "hook_event_name": "Stop", "last_assistant_message": "Go?"}),
    );
    assert_eq!(row["status"], "waiting");
    assert!(home.log().contains("detect_stop_questions"), "{}", home.log());
}

#[test]
fn raw_payloads_are_kept_only_if_the_settings_say_so_and_can_be_replayed() {
    let home = Home::new();
    let kept = home.state().join("hook-payloads.jsonl");
    take(&home, start().to_string().as_bytes());
    assert!(!kept.exists());
    home.set("debug_payload_log = true\n");
    take(&home, b"{\"session_id\":\"s\",\n\"hook_event_name\":\"PostToolUse\"}");
    take(&home, b"{\"session_id\":\"s\",\"hook_event_name\":\"Stop\"}");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    let fresh = Home::new();
    let out = fresh
        .hook(&["replay", "--at", "--print", kept.to_str().unwrap()])
        .output()
        .unwrap();
    let rows = home::json_lines(&out);
    assert_eq!(rows.len(), 2, "{}", text(&out.stderr));
    assert_eq!(
        (&rows[0]["status"], &rows[1]["status"]),
        (&json!("working"), &json!("idle"))
    );
}

/// The same program in a file that only another process has written: while this one had it open, a child that another
/// test has just started may hold it open, too, and the system then refuses to run it.
fn fresh(path: &std::path::Path) {
    let copy = "cp -p \"$0\" \"$0.new\" && mv \"$0.new\" \"$0\"";
    let done = std::process::Command::new("sh").args(["-c", copy]).arg(path).status();
    assert!(done.unwrap().success());
}
