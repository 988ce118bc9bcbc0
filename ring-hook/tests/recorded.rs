//! normalize and replay: payload lines without hooks.
#![allow(clippy::unwrap_used, missing_docs)]

mod home;

use home::{Home, NOW, feed, json_lines, text};
use serde_json::{Value, json};
use std::fs;

/// A small session, a second an event.
fn session() -> Vec<Value> {
    let event = |name: &str, more: Value| {
        let mut payload = json!({"session_id": "s", "hook_event_name": name, "cwd": "/w/app", "prompt_id": "t1"});
        payload
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        payload
    };
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "git push"}});
    vec![
        event("SessionStart", json!({"source": "startup"})),
        event("UserPromptSubmit", json!({"prompt": "push it"})),
        event("PreToolUse", call.clone()),
        event("PermissionRequest", call.clone()),
        event(
            "Notification",
            json!({"notification_type": "permission_prompt", "message": "m"}),
        ),
        event("PostToolUse", call),
        event("SubagentStart", json!({"agent_id": "a1", "agent_type": "Explore"})),
        event("Tomorrow", json!({})),
        event("Stop", json!({"last_assistant_message": "Pushed. Anything to change?"})),
    ]
}

fn without_ids(row: &Value) -> String {
    let mut row = row.clone();
    for wait in row["waits"].as_array_mut().into_iter().flatten() {
        wait["id"] = "".into();
    }
    row.to_string()
}

#[test]
fn h65_a_replay_gives_the_rows_of_single_calls() {
    let (single, replayed) = (Home::new(), Home::new());
    let mut lines = String::new();
    let mut rows = Vec::new();
    for (payload, at) in session().iter().zip((0..).map(|n| n * 1_000)) {
        rows.push(single.after(at, payload));
        lines += &format!(
            "{}\n",
            json!({"at_ms": NOW + at, "agent": "claude-code", "payload": payload})
        );
    }
    let file = replayed.path().join("lines.jsonl");
    fs::write(&file, lines).unwrap();
    let out = replayed
        .hook(&["replay", file.to_str().unwrap(), "--at", "--print"])
        .output()
        .unwrap();
    let printed = json_lines(&out);
    assert_eq!(printed.len(), rows.len(), "{}", text(&out.stderr));
    for (one, other) in rows.iter().zip(&printed) {
        assert_eq!(without_ids(one), without_ids(other));
    }
    assert_eq!(without_ids(&single.row()), without_ids(&replayed.row()));
    assert_eq!(replayed.row()["status"], "waiting");
}

#[test]
fn a_replay_of_plain_payloads_uses_the_clock_and_stops_at_a_bad_line() {
    let home = Home::new();
    let lines = format!("{}\n{}\noops\n", session()[0], session()[1]);
    let out = feed(&mut home.hook(&["replay", "-", "--print"]), lines.as_bytes());
    assert_eq!(out.status.code(), Some(64));
    assert!(
        text(&out.stderr).contains("line 3: ") && text(&out.stderr).contains("[BAD_PAYLOAD]"),
        "{}",
        text(&out.stderr)
    );
    assert_eq!(home.row()["status"], "working");
    let missing = home.hook(&["replay", "/nowhere"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(74));
}

#[test]
fn h64_normalize_gives_a_line_for_each_line_and_touches_no_file() {
    let home = Home::new();
    let input = format!("{}\noops\n\n{}\n{{\"event\":\"Stop\"}}", session()[0], session()[8]);
    let out = feed(
        &mut home.hook(&["normalize", "--agent", "claude-code"]),
        input.as_bytes(),
    );
    assert!(out.status.success() && out.stderr.is_empty(), "{}", text(&out.stderr));
    let lines = json_lines(&out);
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[0]["rule"], "session_start");
    assert_eq!(lines[1]["error"]["code"], "BAD_PAYLOAD");
    assert_eq!(lines[2]["error"]["code"], "BAD_PAYLOAD");
    assert_eq!(
        (&lines[3]["intent"], &lines[3]["waiting"]["detail"]),
        (&json!("WAITING"), &json!("Anything to change?"))
    );
    assert_eq!(lines[4]["error"]["code"], "NO_SESSION_ID");
    assert!(!home.state().exists());
    let strict = feed(&mut home.hook(&["normalize", "--strict"]), input.as_bytes());
    assert_eq!((strict.status.code(), json_lines(&strict).len()), (Some(64), 5));
}
