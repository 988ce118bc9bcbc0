//! What agents repeat from the net: nothing leaves its place, nothing reaches a terminal raw, nobody panics.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod harness;

use harness::{Home, NOW, assert_civil, assert_silent, bin, feed, text};
use ring_session::lock::Lock;
use ring_session::{StateDir, text::is_bidi};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const TEXTS: &[&str] = &[
    "\u{1b}[2J\u{1b}[31mred\u{1b}[0m",
    "\u{1b}]0;title\u{7}\u{1b}]8;;http://x.invalid\u{1b}\\link\u{1b}]8;;\u{1b}\\",
    "\u{1b}P+q\u{1b}\\ \u{9b}31m \u{9d}0;c1\u{9c} \u{90}dcs\u{9c}",
    "a\nb\r\nc\u{2028}d\u{85}e\u{b}f\tg",
    "\u{202e}txt.exe\u{202c} \u{2066}x\u{2069} \u{200f}",
    "nul \u{0} bell \u{7} back \u{8}\u{8}\u{8} del \u{7f}",
    "#[fg=red]#(touch pwned) `touch pwned` $(touch pwned)",
    "<script>alert(1)</script> &amp; <b>\"'",
    "%s%n%d {} \\x1b[31m",
    "測試テスト👩‍👩‍👧‍👦e\u{301}\u{301}\u{301}",
];

const NAMES: &[&str] = &[
    "..",
    ".",
    "../../evil",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "-rf",
    ".hidden",
    ".locks",
    ".tmp-x",
    "a\nb",
    "nul\u{0}byte",
    "\u{1b}[31m",
    "\u{202e}",
    "%2e%2e%2f",
    "codex:abc",
    "con",
    "x.json",
    " ",
    "~",
    "測試",
];

/// No character that a terminal would obey, but line ends between rows.
fn assert_inert(what: &str, shown: &str) {
    for c in shown.chars() {
        assert!(
            c == '\n' || !(c.is_control() || is_bidi(c)),
            "{what}: {c:?} in {shown:?}"
        );
    }
}

/// Everything below the home lies where the programs may write.
fn assert_in_place(home: &Home) {
    for path in home.tree() {
        let ours = path == "state" || path.starts_with("state/") || path == "proc" || path.starts_with("proc/");
        assert!(ours, "{path} is out of place");
        if let Some(name) = path.strip_prefix("state/status/") {
            let odd = |b: u8| !(b.is_ascii_alphanumeric() || b"_.~-:%/".contains(&b));
            assert!(!name.bytes().any(odd), "{name}");
            assert!(name.len() <= 205, "{name}");
        }
    }
}

fn shown_everywhere(home: &Home) {
    for form in ["human", "json", "jsonl", "tsv", "oneline", "waybar", "tmux"] {
        let out = home
            .ring("ring-scan", &["--all", "--color", "never", "--format", form])
            .output()
            .unwrap();
        assert!(out.status.success(), "{form}: {}", text(&out.stderr));
        let shown = String::from_utf8(out.stdout).unwrap();
        let separated = if form == "tsv" { shown.replace('\t', " ") } else { shown };
        assert_inert(form, &separated);
        assert_inert(form, &text(&out.stderr));
    }
    for (_, row) in home.rows() {
        let key = row["key"].as_str().unwrap();
        for (program, command) in [("ring-hook", "show"), ("ring-scan", "show"), ("ring-scan", "explain")] {
            let out = home.ring(program, &[command, key]).output().unwrap();
            assert_civil(out.status, &out.stderr);
            assert_inert(command, &text(&out.stdout));
            assert_inert(command, &text(&out.stderr));
        }
    }
    let out = home.ring("ring-scan", &["doctor"]).output().unwrap();
    assert_eq!(out.status.code(), Some(0));
    assert_inert("doctor", &text(&out.stdout));
}

/// A home inside another folder, so that a step upwards would be seen.
fn hook(home: &Home, agent: &str, payload: &Value) {
    let agent = format!("--agent={agent}");
    assert_silent(&home.hook_at(NOW, &[&agent], payload.to_string().as_bytes()));
}

#[test]
fn texts_are_inert_in_every_form() {
    for bad in TEXTS {
        let home = Home::new();
        let tool = json!({"hook_event_name": "PermissionRequest", "session_id": "s", "cwd": bad, "tool_name": bad,
            "tool_input": {"command": bad}, "title": bad, "model": bad, "transcript_path": bad, "agent_type": bad});
        hook(&home, "claude-code", &tool);
        let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": bad, "cwd": format!("/w/{bad}"), "prompt": bad,
            "prompt_id": bad, "permission_mode": bad, "model": bad});
        hook(&home, "claude-code", &prompt);
        let asked = json!({"hook_event_name": "Notification", "session_id": bad, "notification_type": "permission_prompt",
            "message": bad, "title": bad, "agent_id": bad, "agent_type": bad, "cwd": bad});
        hook(&home, "claude-code", &asked);
        let failed = json!({"hook_event_name": "StopFailure", "session_id": "s", "error": bad, "prompt_id": bad});
        hook(&home, "claude-code", &failed);
        let unknown = json!({"hook_event_name": bad, "session_id": "s", "agent": bad});
        hook(&home, "acme", &unknown);
        shown_everywhere(&home);
        assert_in_place(&home);
    }
}

#[test]
fn ids_and_names_of_agents_stay_in_their_folder() {
    let outer = tempfile::tempdir().unwrap();
    fs::write(outer.path().join("canary"), "whole").unwrap();
    for bad in NAMES {
        let home = Home::new();
        let start = json!({"hook_event_name": "UserPromptSubmit", "session_id": bad, "cwd": "/w/app", "agent_id": ""});
        hook(&home, "claude-code", &start);
        hook(&home, bad.replace('\0', "").as_str(), &start);
        let child = json!({"hook_event_name": "PreToolUse", "session_id": bad, "agent_id": bad, "tool_name": "Bash"});
        hook(&home, "claude-code", &child);
        let named = json!({"hook_event_name": "UserPromptSubmit", "session_id": bad, "agent": bad, "cwd": "/w/app"});
        hook(&home, "pi", &named);
        assert!(!home.rows().is_empty(), "{bad:?} is a session all the same");
        assert!(
            home.rows().iter().all(|(_, row)| row["session_id"] == *bad),
            "{bad:?} is kept as sent"
        );
        shown_everywhere(&home);
        assert_in_place(&home);
        let end = json!({"hook_event_name": "SessionEnd", "session_id": bad});
        hook(&home, "claude-code", &end);
        assert_in_place(&home);
    }
    assert_eq!(fs::read(outer.path().join("canary")).unwrap(), b"whole");
}

#[test]
fn ids_of_any_length_are_sessions_or_refused() {
    let home = Home::new();
    for length in [200, 238, 1000, 4000, 4096] {
        let id = "x".repeat(length);
        hook(
            &home,
            "claude-code",
            &json!({"hook_event_name": "UserPromptSubmit", "session_id": id, "cwd": "/w"}),
        );
    }
    assert_eq!(home.rows().len(), 5);
    let wide = json!({"hook_event_name": "UserPromptSubmit", "session_id": "測".repeat(90), "cwd": "/w"});
    hook(&home, "claude-code", &wide);
    assert_eq!(home.rows().len(), 6);
    let long = json!({"hook_event_name": "UserPromptSubmit", "session_id": "x".repeat(4097), "cwd": "/w"});
    hook(&home, "claude-code", &long);
    assert_eq!(home.rows().len(), 6);
    assert_in_place(&home);
}

#[test]
fn a_mebibyte_in_every_field_leaves_a_small_row() {
    let home = Home::new();
    let big = "x y".repeat(350_000);
    let payload = json!({"hook_event_name": "PermissionRequest", "session_id": "s", "cwd": "/w", "tool_name": big,
        "tool_input": {"command": big, "questions": [big]}, "message": big, "model": big, "permission_mode": big,
        "agent_type": big, "title": big, "prompt_id": big, "waiting_for": big});
    hook(&home, "claude-code", &payload);
    let result = json!({"hook_event_name": "PostToolUse", "session_id": "s", "tool_response": big, "error": big});
    hook(&home, "claude-code", &result);
    for name in home.rows().iter().map(|(n, _)| n) {
        let size = fs::metadata(home.status().join(name)).unwrap().len();
        assert!(size < 16 * 1024, "{name} has {size} bytes");
    }
    shown_everywhere(&home);
}

#[test]
fn lone_surrogates_bad_utf8_and_raw_controls_are_repaired() {
    let bodies: &[&[u8]] = &[
        br#"{"hook_event_name":"UserPromptSubmit","session_id":"s","cwd":"/w","prompt":"a \ud800 b \udc00 c"}"#,
        b"{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"s\",\"cwd\":\"/w\",\"prompt\":\"\xff\xfe \xc3\"}",
        b"{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"s\",\"cwd\":\"/w\",\"prompt\":\"a\x01\x1b[31m\nb\"}",
        b"\xef\xbb\xbf  {\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"s\",\"cwd\":\"/w\"}",
    ];
    for body in bodies {
        let home = Home::new();
        assert_silent(&home.hook_at(NOW, &["--agent", "claude-code"], body));
        assert_eq!(home.rows().len(), 1, "{}", text(body));
        shown_everywhere(&home);
    }
}

#[test]
fn what_is_no_payload_leaves_no_row() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!(r#"{{"hook_event_name":"Stop","session_id":"s","x":{deep}}}"#);
    let bodies: &[&[u8]] = &[
        b"",
        b" \n",
        b"hello",
        b"[]",
        b"[{\"hook_event_name\":\"Stop\"}]",
        b"null",
        b"{}",
        b"{\"session_id\":\"s\"}",
        b"{\"hook_event_name\":\"Stop\",\"session_id\":\"s\",\"x\":NaN}",
        b"\xff\xfe{\0}\0",
        nested.as_bytes(),
    ];
    let home = Home::new();
    for body in bodies {
        assert_silent(&home.hook_at(NOW, &["--agent", "claude-code"], body));
    }
    assert_eq!(home.rows(), []);
    let log = fs::read_to_string(home.state().join("hook-errors.log")).unwrap();
    assert_eq!(log.lines().count(), bodies.len(), "{log}");
    assert!(!log.contains("hello"), "the log tells nothing of a payload: {log}");
}

/// Columns that a line takes on a terminal, near enough for what this story writes: ideographs and emoji take two.
fn columns(line: &str) -> usize {
    line.chars()
        .map(|c| match c {
            '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => 0,
            '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff00}'..='\u{ff60}' => 2,
            '\u{26aa}'..='\u{26ab}' | '\u{1f300}'..='\u{1faff}' => 2,
            _ => 1,
        })
        .sum()
}

#[test]
fn narrow_terminals_and_wide_names_keep_the_status() {
    let home = Home::new();
    home.agent("claude", "/w/專案名稱很長很長很長很長");
    for (session, title) in [
        ("a", "修正測試並重新命名所有的檔案然後再檢查一次結果"),
        ("b", "e\u{301}e\u{301} naïve 🎤 ok"),
        ("c", "plain"),
    ] {
        let prompt = json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": title,
            "cwd": "/w/專案名稱很長很長很長很長"});
        hook(&home, "claude-code", &prompt);
    }
    let asked = json!({"hook_event_name": "Notification", "session_id": "a", "notification_type": "permission_prompt",
        "message": "Claude 需要您的許可才能執行這個非常非常長的命令列"});
    hook(&home, "claude-code", &asked);
    for width in [40, 60, 80, 120] {
        let out = home
            .ring("ring-scan", &["--all", "--color", "never"])
            .env("COLUMNS", width.to_string())
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", text(&out.stderr));
        let shown = text(&out.stdout);
        assert!(shown.lines().any(|l| l.starts_with("🔴 waiting")), "{shown}");
        for line in shown.lines() {
            assert!(columns(line) <= width, "{width}: {} columns in {line:?}", columns(line));
        }
    }
}

#[test]
fn closed_and_broken_outputs_are_no_accident() {
    let home = Home::new();
    hook(
        &home,
        "claude-code",
        &json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/w"}),
    );
    for (program, args) in [
        ("ring-scan", &["--all"][..]),
        ("ring-scan", &["--format", "json"]),
        ("ring-scan", &["doctor"]),
        ("ring-scan", &["config"]),
        ("ring-scan", &["explain", "claude-code:s"]),
        ("ring-hook", &["show", "claude-code:s"]),
        ("ring-hook", &["status"]),
        ("ring-scan", &["--help"]),
    ] {
        let line = format!("{program} {} >&-", args.join(" "));
        let out = home.command("sh").args(["-c", &line]).output().unwrap();
        assert_civil(out.status, &out.stderr);
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let out = home
            .ring(program, args)
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(74), "{program} {args:?}: {}", text(&out.stderr));
        let said = text(&out.stderr);
        assert!(said.contains("[IO]") || said.contains(r#""code":"IO""#), "{said}");
        let line = format!("{program} {} | head -c 0; exit ${{PIPESTATUS[0]}}", args.join(" "));
        let out = home.command("bash").args(["-c", &line]).output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{program} {args:?}: {}", text(&out.stderr));
        assert!(out.stderr.is_empty(), "{program} {args:?}: {}", text(&out.stderr));
    }
    for (n, line) in ["<&- >&- 2>&-", "<&-", ">&- 2>&-"].iter().enumerate() {
        let line = format!("{} --agent claude-code {line}", bin("ring-hook").display());
        let payload = json!({"hook_event_name": "Stop", "session_id": format!("c{n}"), "cwd": "/w"}).to_string();
        let out = feed(home.command("sh").args(["-c", &line]), payload.as_bytes());
        assert_silent(&out);
    }
}

#[test]
fn a_disk_without_room_loses_the_event_and_nothing_else() {
    let home = Home::new();
    let event = |name: &str| json!({"hook_event_name": name, "session_id": "s", "cwd": "/w"}).to_string();
    assert_silent(&home.hook_at(NOW, &["--agent", "claude-code"], event("UserPromptSubmit").as_bytes()));
    let before = home.rows();
    // every write to a file fails with "file too large", the signal that goes with it is ignored
    let line = format!(
        "trap '' XFSZ; ulimit -f 0; exec {} --agent claude-code",
        bin("ring-hook").display()
    );
    assert_silent(&feed(home.command("sh").args(["-c", &line]), event("Stop").as_bytes()));
    assert_eq!(home.rows(), before);
    assert_eq!(home.leftovers(), [""; 0]);
    assert_silent(&home.hook_at(NOW + 9000, &["--agent", "claude-code"], event("Stop").as_bytes()));
    assert_eq!(home.rows()[0].1["status"], "idle");
}

#[test]
fn a_state_directory_that_cannot_be_is_survived() {
    for place in ["/dev/null", "/dev/null/state", "/proc/nowhere"] {
        let home = Home::new();
        let payload = json!({"hook_event_name": "Stop", "session_id": "s", "cwd": "/w"}).to_string();
        let mut command = home.ring("ring-hook", &["--agent", "claude-code"]);
        command.env("RING_STATE_DIR", place);
        assert_silent(&feed(&mut command, payload.as_bytes()));
        let out = home
            .ring("ring-scan", &[])
            .env("RING_STATE_DIR", place)
            .output()
            .unwrap();
        assert!(out.status.success(), "{place}: {}", text(&out.stderr));
        assert_in_place(&home);
    }
}

#[test]
fn a_read_only_folder_is_survived_and_said() {
    let home = Home::new();
    let payload = |event: &str| json!({"hook_event_name": event, "session_id": "s", "cwd": "/w"}).to_string();
    assert_silent(&home.hook_at(NOW, &["--agent", "claude-code"], payload("UserPromptSubmit").as_bytes()));
    let before = home.rows();
    set_mode(&home.status(), 0o500);
    let may_write_anyway = fs::write(home.status().join(".probe"), "").is_ok();
    if may_write_anyway {
        eprintln!("skipped: this user writes where it may not");
        fs::remove_file(home.status().join(".probe")).unwrap();
    } else {
        assert_silent(&home.hook_at(NOW + 9000, &["--agent", "claude-code"], payload("Stop").as_bytes()));
        assert_eq!(home.rows(), before);
        let log = fs::read_to_string(home.state().join("hook-errors.log")).unwrap();
        assert!(log.contains(" IO "), "{log}");
    }
    set_mode(&home.status(), 0o700);
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_lock_that_is_never_free_costs_the_event_and_a_line_in_the_log() {
    let home = Home::new();
    let payload = |event: &str| json!({"hook_event_name": event, "session_id": "s", "cwd": "/w"}).to_string();
    assert_silent(&home.hook_at(NOW, &["--agent", "claude-code"], payload("UserPromptSubmit").as_bytes()));
    home.agent("claude", "/w");
    let before = home.rows();
    let state = StateDir::at(home.state());
    let held: Vec<_> = (0..64)
        .map(|stripe| Lock::acquire(&state.status_lock(stripe), Duration::from_secs(5)).unwrap())
        .collect();
    let mut command = home.ring("ring-hook", &["--agent", "claude-code"]);
    command
        .env("RING_LOCK_MS", "50")
        .env("RING_NOW_MS", (NOW + 9000).to_string());
    assert_silent(&feed(&mut command, payload("Stop").as_bytes()));
    assert_eq!(home.rows(), before);
    let board = home.board_at(NOW);
    assert_eq!(board["sessions"][0]["status"], "working", "readers take no lock");
    drop(held);
    let log = fs::read_to_string(home.state().join("hook-errors.log")).unwrap();
    assert!(log.contains("LOCK_TIMEOUT"), "{log}");
}
