//! What the program looks up in a transcript, because the payload does not say it.
#![allow(clippy::unwrap_used)]

mod home;

use home::{Home, feed};
use serde_json::{Value, json};
use std::fs;

/// A payload of one event with a transcript; gives the row afterwards.
fn take(home: &Home, agent: &str, transcript: &[u8], mut payload: Value) -> Value {
    let path = match agent {
        "codex" => "rollout-2026-11-30T12-00-00-01a22c8c-a25b-7d70-a16c-47b2664f397c.jsonl",
        _ => "s.jsonl",
    };
    let path = home.path().join(path);
    fs::write(&path, transcript).unwrap();
    let id = if agent == "codex" {
        "01a22c8c-a25b-7d70-a16c-47b2664f397c"
    } else {
        "s"
    };
    let common = json!({"session_id": id, "cwd": "/w/app", "transcript_path": path});
    payload
        .as_object_mut()
        .unwrap()
        .extend(common.as_object().unwrap().clone());
    let out = feed(
        &mut home.hook(&["--agent", agent, "--print"]),
        payload.to_string().as_bytes(),
    );
    assert!(out.status.success() && out.stderr.is_empty());
    serde_json::from_slice(&out.stdout).unwrap()
}

fn said(text: &str) -> String {
    let message = json!({"id": "m", "stop_reason": "end_turn", "content": [{"type": "text", "text": text}]});
    format!(
        "{}\n",
        json!({"type": "assistant", "message": message, "timestamp": "2026-11-30T12:00:00Z"})
    )
}

#[test]
fn h66_a_stop_without_its_text_asks_what_the_transcript_asks_last() {
    let stop = json!({"hook_event_name": "Stop", "last_assistant_message": " "});
    let row = take(
        &Home::new(),
        "claude-code",
        said("Fixed it. Shall I go on?").as_bytes(),
        stop.clone(),
    );
    let wait = &row["waits"][0];
    assert_eq!((&row["status"], &wait["kind"]), (&json!("waiting"), &json!("question")));
    assert_eq!(
        (&wait["detail"], &wait["rule"]),
        (&json!("Shall I go on?"), &json!("stop_question"))
    );

    let replied = said("Shall I go on?")
        + "{\"type\":\"user\",\"message\":{\"content\":\"yes\"},\"timestamp\":\"2026-11-30T12:01:00Z\"}\n";
    let courtesy = said("Any questions?");
    for transcript in ["", "no json", &replied, &courtesy] {
        let row = take(&Home::new(), "claude-code", transcript.as_bytes(), stop.clone());
        assert_eq!(row["status"], "idle", "{transcript}");
    }
    // a text in the payload is the last one, whatever the file says
    let told = json!({"hook_event_name": "Stop", "last_assistant_message": "Done."});
    let row = take(&Home::new(), "claude-code", said("Shall I go on?").as_bytes(), told);
    assert_eq!(row["status"], "idle");
}

#[test]
fn h67_a_damaged_transcript_is_read_as_far_as_it_goes_and_the_event_is_stored() {
    let mut transcript = b"[1,2]\n{\"type\":\"assistant\",\"mess\n\0\0\0\0\n\xff\xfe\n{\"a\":1}".to_vec();
    transcript
        .extend_from_slice(format!("{}\n", json!({"type": "progress", "data": "x".repeat(3_000_000)})).as_bytes());
    transcript.extend_from_slice(said("Shall I go on?").trim_end().as_bytes());
    transcript.extend_from_slice(b"{\"type\":\"mode\"}\n{\"type\":\"user\",\"mess");
    let stop = json!({"hook_event_name": "Stop"});
    let row = take(&Home::new(), "claude-code", &transcript, stop.clone());
    assert_eq!((&row["status"], &row["seq"]), (&json!("waiting"), &json!(1)));

    let home = Home::new();
    home.set("question_courtesy = []\n");
    let row = take(&home, "claude-code", said("Any questions?").as_bytes(), stop);
    assert_eq!(row["waits"][0]["detail"], "Any questions?");
}

#[test]
fn h88_a_request_that_a_model_reviews_is_nothing_to_wait_for() {
    let request = json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": {"command": "git push"}, "turn_id": "t1"});
    let context = |reviewer: &str| {
        format!(
            "{}\n",
            json!({"type": "turn_context", "payload": {"cwd": "/w/app", "approvals_reviewer": reviewer}})
        )
    };
    let reviewed = take(
        &Home::new(),
        "codex",
        context("auto_review").as_bytes(),
        request.clone(),
    );
    assert_eq!(
        (&reviewed["status"], &reviewed["pending"]),
        (&json!("working"), &json!([]))
    );
    assert_eq!(reviewed["last"]["rule"], "permission_bypass");
    for rollout in [context("user"), String::new()] {
        let asked = take(&Home::new(), "codex", rollout.as_bytes(), request.clone());
        assert_eq!(
            (&asked["status"], asked["pending"].as_array().unwrap().len()),
            (&json!("working"), 1)
        );
        assert_eq!(asked["last"]["rule"], "permission_bare");
    }
}
