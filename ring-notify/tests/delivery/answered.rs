//! Requests of Claude Code that were answered without a hook: its own records tell, and nobody is rung.

use crate::harness::{Home, MINUTE, NOW, SECOND};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A session of Claude Code, its process and the records that it keeps itself.
struct Agent<'a> {
    home: &'a Home,
}

impl Agent<'_> {
    fn new(home: &Home) -> Agent<'_> {
        home.with_table().agent("claude");
        fs::create_dir_all(home.path("claude/projects/-w")).unwrap();
        fs::create_dir_all(home.path("claude/sessions")).unwrap();
        Agent { home }
    }

    fn transcript(&self) -> PathBuf {
        self.home.path("claude/projects/-w/s1.jsonl")
    }

    fn event(&self, name: &str, mut members: Value) {
        members["transcript_path"] = json!(self.transcript());
        self.home.event("s1", name, members);
    }

    /// Asks for leave to run a command, by both of its hooks.
    fn asks(&self) {
        let input = json!({"command": "make"});
        self.event("PermissionRequest", json!({"tool_name": "Bash", "tool_input": input}));
        let prompt = json!({"notification_type": "permission_prompt", "message": "Claude needs your permission"});
        self.event("Notification", prompt);
        self.says("waiting", 0);
    }

    /// Its live record, written so many milliseconds after NOW.
    fn says(&self, status: &str, ms: i64) {
        let record = json!({"pid": 4242, "procStart": "10000", "sessionId": "s1", "status": status, "waitingFor": "permission prompt",
            "statusUpdatedAt": NOW + ms});
        fs::write(self.home.path("claude/sessions/4242.json"), record.to_string()).unwrap();
    }

    /// The lines that "No" leaves in its transcript.
    fn writes_a_denial(&self, at: &str) {
        let call = json!({"type": "assistant", "timestamp": "2027-01-15T07:59:59.000Z", "message": {"id": "m", "role": "assistant",
            "stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}]}});
        let denied = json!({"type": "user", "timestamp": at, "toolDenialKind": "user-rejected", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "The user doesn't want to proceed with this tool use."}]}});
        let left = json!({"type": "user", "timestamp": at, "message": {"role": "user", "content": [
            {"type": "text", "text": "[Request interrupted by user for tool use]"}]}});
        fs::write(self.transcript(), format!("{call}\n{denied}\n{left}\n")).unwrap();
    }
}

#[test]
fn n24_a_denied_request_is_not_repeated_though_no_hook_tells_of_the_denial() {
    let home = Home::new();
    let agent = Agent::new(&home);
    agent.asks();
    home.deliver();
    assert_eq!(home.titles(), ["s1: needs permission"]);
    agent.says("idle", 5 * SECOND);
    home.after(31 * SECOND).deliver();
    home.after(10 * MINUTE).deliver();
    assert!(home.titles().is_empty());
    assert_eq!(home.item("wait.permission")["why"], "answered");
}

#[test]
fn n24_the_transcript_alone_tells_of_a_denial_too() {
    let home = Home::new();
    let agent = Agent::new(&home);
    agent.asks();
    fs::remove_file(home.path("claude/sessions/4242.json")).unwrap();
    home.deliver();
    assert_eq!(home.titles().len(), 1);
    agent.writes_a_denial("2027-01-15T08:00:05.000Z");
    home.after(31 * SECOND).deliver();
    assert!(home.titles().is_empty());
}

#[test]
fn n24_an_approved_request_is_not_repeated_while_its_tool_runs() {
    let home = Home::new();
    let agent = Agent::new(&home);
    agent.asks();
    home.deliver();
    assert_eq!(home.titles().len(), 1);
    agent.says("busy", 5 * SECOND);
    home.after(31 * SECOND).deliver();
    assert!(home.titles().is_empty());
    let digest = home.json(&["ring-notify", "digest"]);
    assert_eq!(digest["waiting"].as_array().map(Vec::len), Some(0), "{digest}");
    assert_eq!(digest["working"].as_array().map(Vec::len), Some(1), "{digest}");
}

#[test]
fn n25_a_request_that_is_still_on_the_screen_is_repeated() {
    let home = Home::new();
    let agent = Agent::new(&home);
    agent.asks();
    agent.says("waiting", -40);
    home.deliver();
    home.after(31 * SECOND).deliver();
    assert_eq!(home.titles().len(), 2);
    // what another process left behind says nothing
    let record =
        json!({"pid": 4242, "procStart": "9", "sessionId": "s1", "status": "idle", "statusUpdatedAt": NOW + SECOND});
    fs::write(home.path("claude/sessions/4242.json"), record.to_string()).unwrap();
    home.after(3 * MINUTE).deliver();
    assert_eq!(home.titles().len(), 1);
}

/// Two hooks tell of the agent's prompt side by side; here the one that keeps the row was first.
#[test]
fn n31_a_ring_for_a_plan_names_the_plan_before_its_record_knows_of_the_prompt() {
    let home = Home::new();
    let agent = Agent::new(&home);
    let plan = json!({"tool_name": "ExitPlanMode", "tool_use_id": "t1", "tool_input": {"plan": "# Build API v2\n\n1. read\n"}});
    agent.event(
        "UserPromptSubmit",
        json!({"prompt": "plan it", "permission_mode": "plan"}),
    );
    let submitted = {
        let mut payload = plan.clone();
        payload["session_id"] = "s1".into();
        payload["cwd"] = home.folder("s1").into();
        payload["hook_event_name"] = "PreToolUse".into();
        payload["permission_mode"] = "plan".into();
        home.run(&["ring-plan", "hook", "--agent", "claude-code"], payload.to_string())
    };
    assert!(submitted.status.success());
    home.deliver();
    assert!(home.titles().is_empty(), "nobody has been asked yet");
    home.after(SECOND);
    agent.event("PermissionRequest", plan);
    home.deliver();
    let message = home.taken().remove(0);
    assert_eq!(
        (&message["kind"], &message["detail"]),
        (&json!("proposal"), &json!("Build API v2"))
    );
    home.after(2 * SECOND).deliver();
    assert!(home.titles().is_empty());
}
