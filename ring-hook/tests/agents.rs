//! Agents other than Claude Code and Codex, from their payloads to their rows.
#![allow(clippy::unwrap_used, missing_docs)]

mod home;

use home::{Home, NOW, assert_silent, feed, json_lines};
use serde_json::{Value, json};
use std::fs;

/// Takes payloads in, two seconds apart, and gives the row after the last.
fn rows(home: &Home, agent: &str, payloads: &[Value]) -> Vec<Value> {
    let mut rows = Vec::new();
    for (payload, n) in payloads.iter().zip(0_i64..) {
        let mut command = home.hook(&["--agent", agent, "--print"]);
        command.env("RING_NOW_MS", (NOW + n * 3_000).to_string());
        let out = feed(&mut command, payload.to_string().as_bytes());
        rows.push(json_lines(&out).remove(0));
    }
    rows
}

/// Puts a process of this name in the place of the hook's parent.
fn parent_is(home: &Home, name: &str) -> u32 {
    let pid = std::process::id();
    let folder = home.path().join("proc").join(pid.to_string());
    fs::create_dir_all(&folder).unwrap();
    let stat = format!("{pid} ({name}) S 1 1 1 34819 1 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0");
    fs::write(folder.join("stat"), stat).unwrap();
    fs::write(folder.join("cmdline"), format!("{name}\0")).unwrap();
    pid
}

#[test]
fn h105_kimi_says_when_it_asks_and_when_it_was_answered() {
    let event = |name: &str| json!({"hook_event_name": name, "session_id": "k", "session_title": "t", "client_type": "cli", "tool_name": "Bash"});
    let names = [
        "UserPromptSubmit",
        "PermissionRequest",
        "SessionHeartbeat",
        "PermissionResult",
        "Interrupt",
    ];
    let home = Home::new();
    let rows = rows(&home, "claude-code", &names.map(event));
    let status: Vec<_> = rows.iter().map(|r| r["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["working", "waiting", "waiting", "working", "idle"]);
    assert_eq!((&rows[1]["seq"], &rows[2]["seq"]), (&json!(2), &json!(2)));
    assert!(rows[2]["seen_ms"].as_i64() > rows[1]["seen_ms"].as_i64());
    assert_eq!(home.rows(), ["kimi:k.json"]);
}

#[test]
fn h106_opencode_waits_for_permission_and_its_children_are_in_their_parents_row() {
    let event = |name: &str, session: &str, more: Value| {
        let mut p = json!({"agent": "opencode", "event": name, "session_id": session, "cwd": "/w"});
        p.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        p
    };
    for asked in ["permission.asked", "permission.v2.asked", "session.permission.asked"] {
        let home = Home::new();
        let payloads = [
            event("message.user", "o", json!({"prompt": "hi"})),
            event(asked, "o", json!({"tool": "bash", "args": {"command": "ls"}})),
            event("permission.replied", "o", json!({})),
            event(
                "tool.execute.before",
                "child",
                json!({"parent_id": "o", "tool": "bash"}),
            ),
            event("session.idle", "o", json!({})),
            event("session.idle", "o", json!({})),
        ];
        let rows = rows(&home, "opencode", &payloads);
        let status: Vec<_> = rows.iter().map(|r| r["status"].as_str().unwrap()).collect();
        assert_eq!(
            status,
            ["working", "waiting", "working", "working", "idle", "idle"],
            "{asked}"
        );
        assert_eq!(rows[3]["children"][0]["id"], "child");
        assert_eq!(rows[4]["since_ms"], rows[5]["since_ms"]);
        assert_eq!(home.rows(), ["opencode:o.json"]);
    }
}

#[test]
fn h107_copilot_remembers_what_the_prompt_will_ask_and_a_cleared_session_is_a_new_row() {
    let home = Home::new();
    let take = |event: Option<&str>, more: Value| {
        let mut p = json!({"sessionId": "p", "timestamp": NOW, "cwd": "/w"});
        p.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut arguments = vec!["--agent", "copilot", "--print"];
        arguments.extend(event.iter().flat_map(|e| ["--event", *e]));
        json_lines(&feed(&mut home.hook(&arguments), p.to_string().as_bytes())).remove(0)
    };
    take(Some("userPromptSubmitted"), json!({"prompt": "hi"}));
    let request = take(
        Some("permissionRequest"),
        json!({"toolName": "bash", "toolArgs": {"command": "curl x"}}),
    );
    assert_eq!(
        (&request["status"], request["pending"].as_array().unwrap().len()),
        (&json!("working"), 1)
    );
    let note =
        json!({"hook_event_name": "Notification", "notification_type": "permission_prompt", "message": "Fetch URL: x"});
    let asks = take(None, note);
    assert_eq!(
        (&asks["status"], &asks["waits"][0]["detail"]),
        (&json!("waiting"), &json!("bash: curl x"))
    );
    assert_eq!(take(Some("sessionEnd"), json!({"reason": "user_exit"})), Value::Null);
    assert_eq!(take(Some("userPromptSubmitted"), json!({"prompt": "again"}))["seq"], 1);
}

#[test]
fn h108_cursor_never_waits_for_a_command_and_no_address_is_kept() {
    let event = |name: &str, more: Value| {
        let mut p = json!({"conversation_id": "c", "generation_id": "g", "hook_event_name": name, "cursor_version": "2.6",
            "workspace_roots": ["/w/app"], "user_email": "person@example.org"});
        p.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        p
    };
    let home = Home::new();
    home.set("debug_payload_log = false\n");
    let payloads = [
        event("beforeSubmitPrompt", json!({"prompt": "hi"})),
        event("beforeShellExecution", json!({"command": "npm test"})),
        event("stop", json!({"status": "aborted"})),
    ];
    let rows = rows(&home, "claude-code", &payloads);
    assert_eq!(
        (&rows[1]["status"], &rows[1]["last_action"]),
        (&json!("working"), &json!("npm test"))
    );
    assert_eq!(
        (&rows[2]["status"], &rows[2]["note"]),
        (&json!("idle"), &json!("interrupted"))
    );
    assert!(home.files_with("person@example.org").is_empty());
}

#[test]
fn h109_a_continuation_of_qwen_is_no_prompt_of_a_person() {
    let event = |name: &str, more: Value| {
        let mut p = json!({"session_id": "q", "transcript_path": "/h/.qwen/projects/-w/chats/q.jsonl", "hook_event_name": name});
        p.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        p
    };
    let payloads = [
        event("UserPromptSubmit", json!({"prompt": "hi", "submitted_prompt": "hi"})),
        event("UserPromptSubmit", json!({"prompt": "[tool result]"})),
        event("Stop", json!({})),
        event("UserPromptSubmit", json!({"prompt": "an old version"})),
    ];
    let home = Home::new();
    let rows = rows(&home, "qwen", &payloads);
    assert_eq!(rows[0]["turn"]["started_ms"], rows[1]["turn"]["started_ms"]);
    assert_eq!(rows[1]["last"]["rule"], "turn_start");
    assert!(rows[3]["turn"]["started_ms"].as_i64() > rows[0]["turn"]["started_ms"].as_i64());
}

#[test]
fn h110_kiro_without_an_id_is_known_by_its_process() {
    let home = Home::new();
    let pid = parent_is(&home, "kiro-cli");
    let spawn = json!({"hook_event_name": "agentSpawn", "cwd": "/w"});
    assert_silent(&feed(&mut home.hook(&[]), spawn.to_string().as_bytes()));
    let row = home.row();
    assert_eq!(row["session_id"], format!("pid-{pid}-777"));
    assert_eq!(
        (&row["process"]["pid"], &row["status"]),
        (&json!(pid), &json!("working"))
    );
    let stop = json!({"hook_event_name": "stop", "cwd": "/w", "assistant_response": "Done."});
    assert_silent(&feed(&mut home.hook(&[]), stop.to_string().as_bytes()));
    assert_eq!(home.row()["status"], "idle");
}

#[test]
fn h110_goose_keeps_the_first_folder_it_names() {
    let event = |name: &str, more: Value| {
        let mut p = json!({"event": name, "session_id": "g", "matcher_context": "x"});
        p.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        p
    };
    let payloads = [
        event("UserPromptSubmit", json!({"message": "summarize"})),
        event("PostToolUse", json!({"tool_name": "shell", "working_dir": "/w/app"})),
        event("Stop", json!({"last_assistant_message": "Done."})),
    ];
    let rows = rows(&Home::new(), "goose", &payloads);
    assert_eq!((&rows[0]["cwd"], &rows[0]["title"]), (&json!(""), &json!("summarize")));
    assert_eq!(
        (&rows[2]["origin_cwd"], &rows[2]["cwd"]),
        (&json!("/w/app"), &json!("/w/app"))
    );
}

#[test]
fn h56_the_same_event_in_every_agents_writing_is_the_end_of_a_turn() {
    let cursor =
        json!({"conversation_id": "c", "generation_id": "g", "session_id": "other", "hook_event_name": "Stop"});
    let goose = json!({"event": "Stop", "session_id": "g", "matcher_context": "x"});
    let copilot = json!({"sessionId": "p", "timestamp": 1_786_316_307_940_i64, "stopReason": "end_turn"});
    for (payload, arguments, file) in [
        (cursor, &["--agent", "claude-code"][..], "cursor:c.json"),
        (goose, &["--agent", "claude-code"], "goose:g.json"),
        (
            copilot,
            &["--agent", "copilot", "--event", "agentStop"],
            "copilot:p.json",
        ),
    ] {
        let home = Home::new();
        assert_silent(&feed(&mut home.hook(arguments), payload.to_string().as_bytes()));
        assert_eq!(
            (home.rows(), home.row()["status"].clone()),
            (vec![file.to_owned()], json!("idle"))
        );
    }
}
