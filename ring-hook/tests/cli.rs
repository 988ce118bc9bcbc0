//! The command line: what a hook entry may say, what it answers, and how it refuses.
#![allow(clippy::unwrap_used, missing_docs)]

mod home;

use home::{Home, assert_silent, feed, json_lines, text};
use serde_json::{Value, json};
use std::fs;

fn payload(name: &str, more: Value) -> Vec<u8> {
    let mut payload = json!({"session_id": "s", "hook_event_name": name, "cwd": "/w/app"});
    payload
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    payload.to_string().into_bytes()
}

#[test]
fn a_mistyped_option_is_64_never_2_even_in_a_hook_entry() {
    let home = Home::new();
    for arguments in [
        &["--bogus"][..],
        &["--agent"],
        &["--agent", "--emit"],
        &["--emit=yes"],
        &["--agent", "a", "--agent", "b"],
        &["--format", "xml"],
        &["bogus"],
        &["show"],
        &["--emit", "status"],
        &["--agent", "codex", "install"],
    ] {
        let out = feed(&mut home.hook(arguments), &payload("Stop", json!({})));
        assert_eq!(out.status.code(), Some(64), "{arguments:?}");
        assert!(
            out.stdout.is_empty() && text(&out.stderr).contains("[INVALID_ARGUMENT]"),
            "{arguments:?}"
        );
    }
    let json = feed(&mut home.hook(&["--bogus", "--format", "json"]), b"");
    let error: Value = serde_json::from_slice(&json.stderr).unwrap();
    assert_eq!(error["error"]["code"], "INVALID_ARGUMENT");
    assert_eq!(home.rows(), [""; 0]);
}

#[test]
fn every_writing_of_the_options_means_the_same() {
    for arguments in [
        &["--agent", "codex", "--event", "Stop", "--print"][..],
        &["--agent=codex", "--event=Stop", "--print"],
        &["--print", "--event", "Stop", "--format", "human", "--agent", "codex"],
        &[
            "--format=json",
            "--strict",
            "--agent=codex",
            "--print",
            "--event",
            "Stop",
        ],
    ] {
        let home = Home::new();
        let out = feed(&mut home.hook(arguments), b"{\"session_id\":\"s\"}");
        let row = &json_lines(&out)[0];
        assert_eq!(
            (&row["agent"], &row["status"]),
            (&json!("codex"), &json!("idle")),
            "{arguments:?}"
        );
    }
}

#[test]
fn the_state_directory_and_the_settings_can_be_given() {
    let home = Home::new();
    let elsewhere = home.path().join("elsewhere");
    let settings = home.path().join("other.toml");
    fs::write(&settings, "detect_stop_questions = false\n").unwrap();
    let arguments = [
        "--state-dir",
        elsewhere.to_str().unwrap(),
        "--config",
        settings.to_str().unwrap(),
        "--print",
    ];
    let asks = payload("Stop", json!({"last_assistant_message": "Go on?"}));
    let out = feed(&mut home.hook(&arguments), &asks);
    assert_eq!(json_lines(&out)[0]["status"], "idle");
    assert!(elsewhere.join("status/claude-code:s.json").exists() && !home.state().exists());
}

#[test]
fn h64_strict_says_each_refusal_with_its_code_and_status() {
    let home = Home::new();
    let large = format!("{{\"x\":\"{}\"}}", "x".repeat(33 << 20));
    fs::create_dir_all(home.state().join("status")).unwrap();
    fs::write(
        home.state().join("status/claude-code:new.json"),
        r#"{"schema":99,"key":"claude-code:new","agent":"claude-code","session_id":"new"}"#,
    )
    .unwrap();
    let cases: [(&str, i32, &[u8]); 5] = [
        ("BAD_PAYLOAD", 64, b"{oops"),
        ("BAD_PAYLOAD", 64, b"{\"session_id\":\"s\"}"),
        ("NO_SESSION_ID", 64, b"{\"event\":\"Stop\"}"),
        ("PAYLOAD_TOO_LARGE", 64, large.as_bytes()),
        ("SCHEMA_NEWER", 6, b"{\"session_id\":\"new\",\"event\":\"Stop\"}"),
    ];
    for (code, status, payload) in cases {
        assert_silent(&feed(&mut home.hook(&["--agent", "claude-code"]), payload));
        let out = feed(&mut home.hook(&["--strict", "--print"]), payload);
        assert_eq!(out.status.code(), Some(status), "{code}");
        assert!(
            text(&out.stderr).ends_with(&format!("[{code}]\n")) && out.stdout.is_empty(),
            "{}",
            text(&out.stderr)
        );
        let out = feed(&mut home.hook(&["--strict", "--format", "json"]), payload);
        let error: Value = serde_json::from_slice(&out.stderr).unwrap();
        assert_eq!(error["error"]["code"], code);
    }
    let mut child = home
        .hook(&["--strict"])
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = child.stdin.take();
    let out = child.wait_with_output().unwrap();
    drop(pipe);
    assert_eq!(out.status.code(), Some(124));
    assert!(text(&out.stderr).ends_with("[STDIN_TIMEOUT]\n"));
}

#[test]
fn h64_print_gives_the_row_or_null() {
    let home = Home::new();
    let print = |payload: &[u8]| text(&feed(&mut home.hook(&["--print"]), payload).stdout);
    let row: Value = serde_json::from_str(&print(&payload("UserPromptSubmit", json!({})))).unwrap();
    assert_eq!(row, home.row());
    assert_eq!(print(b"{bad"), "");
    assert_eq!(print(&payload("SessionEnd", json!({}))), "null\n");
    assert_eq!(print(&payload("Setup", json!({}))), "null\n");
}

#[test]
fn h74_emit_prints_the_event_with_what_the_row_knows() {
    let home = Home::new();
    let emit = |payload: &[u8]| {
        let out = feed(&mut home.hook(&["--agent", "claude-code", "--emit"]), payload);
        assert!(out.status.success() && out.stderr.is_empty());
        json_lines(&out)
    };
    let call = json!({"tool_name": "Bash", "tool_use_id": "u1", "tool_input": {"command": "git push"}});
    let prompt = emit(&payload("UserPromptSubmit", json!({"prompt": "SECRET"})));
    assert_eq!(
        (&prompt[0]["text"], &prompt[0]["intent"]),
        (&json!("SECRET"), &json!("WORKING"))
    );
    let request = &emit(&payload("PermissionRequest", call))[0];
    assert_eq!(
        (&request["waiting"], &request["rule"]),
        (&Value::Null, &json!("permission_bare"))
    );
    let note = payload(
        "Notification",
        json!({"notification_type": "permission_prompt", "message": "m", "cwd": "/w/app/sub"}),
    );
    let noted = &emit(&note)[0];
    let wait = &home.row()["waits"][0];
    assert_eq!(noted["waiting"]["tool"], "Bash");
    assert_eq!(noted["waiting"]["tool_use_id"], "u1");
    for member in ["id", "owner", "kind", "detail", "tool", "tool_use_id", "waiting_for"] {
        assert_eq!(noted["waiting"][member], wait[member], "{member}");
    }
    assert_eq!(
        (&noted["origin_cwd"], &noted["cwd"], &noted["process"]),
        (&json!("/w/app"), &json!("/w/app/sub"), &Value::Null)
    );
    assert_eq!(emit(&note), [Value::Null; 0], "a duplicate");
    assert_eq!(emit(b"{bad"), [Value::Null; 0], "an ignored one");
    let end = &emit(&payload("SessionEnd", json!({"reason": "other"})))[0];
    assert_eq!(
        (&end["intent"], &end["origin_cwd"], &end["reason"]),
        (&json!("ENDED"), &json!("/w/app"), &json!("other"))
    );
    assert!(
        home.files_with("SECRET").iter().all(|f| !f.starts_with(home.state())),
        "{:?}",
        home.files_with("SECRET")
    );
}

#[test]
fn h74_emit_is_the_line_of_normalize_and_a_little_more() {
    let home = Home::new();
    let stop = payload(
        "Stop",
        json!({"last_assistant_message": "Done.", "prompt_id": "t", "background_tasks": []}),
    );
    let emitted = json_lines(&feed(&mut home.hook(&["--emit"]), &stop)).remove(0);
    let normalised = json_lines(&feed(&mut home.hook(&["normalize"]), &stop)).remove(0);
    let mut without = emitted.as_object().unwrap().clone();
    for added in ["origin_cwd", "process"] {
        assert!(without.remove(added).is_some(), "{added}");
    }
    assert_eq!(Value::Object(without), normalised);
}

#[test]
fn a_closed_stdout_is_no_failure_of_a_hook() {
    let home = Home::new();
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", "exec \"$0\" --emit --print >&-", env!("CARGO_BIN_EXE_ring-hook")]);
    command
        .env_clear()
        .env("RING_STATE_DIR", home.state())
        .env("RING_NO_NOTIFY", "1");
    assert_silent(&feed(&mut command, &payload("Stop", json!({}))));
    assert_eq!(home.rows().len(), 1);
}

#[test]
fn help_version_and_completions_are_texts_on_stdout() {
    let home = Home::new();
    for arguments in [
        &["--help"][..],
        &["-h"],
        &["--version"],
        &["completions", "bash"],
        &["normalize", "--help"],
    ] {
        let out = home.hook(arguments).output().unwrap();
        assert!(
            out.status.success() && out.stderr.is_empty() && !out.stdout.is_empty(),
            "{arguments:?}"
        );
    }
    let help = text(&home.hook(&["--help"]).output().unwrap().stdout);
    assert!(
        help.lines().count() <= 40 && help.lines().all(|l| l.len() <= 100),
        "{help}"
    );
}
