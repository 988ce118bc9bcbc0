//! Rings that other programs start: nobody runs `deliver` here.

use crate::harness::{Home, feed, str_of, text};
use serde_json::{Value, json};
use std::process::Command;

/// A command whose rings may start.
fn ringing(home: &Home, words: &[&str]) -> Command {
    let mut command = home.command(words);
    command.env_remove("RING_NO_NOTIFY");
    command
}

fn event(home: &Home, agent: &str, name: &str, members: Value) {
    let mut payload = json!({"session_id": "s1", "cwd": home.folder("s1"), "hook_event_name": name});
    for (key, value) in members.as_object().unwrap() {
        payload[key] = value.clone();
    }
    let out = feed(
        &mut ringing(home, &["ring-hook", "--agent", agent]),
        payload.to_string().as_bytes(),
    );
    assert!(
        out.status.success() && out.stdout.is_empty() && out.stderr.is_empty(),
        "{}",
        text(&out.stderr)
    );
}

fn titles(home: &Home, count: usize) -> Vec<String> {
    home.told(count);
    home.idle();
    home.messages("probe").iter().map(|m| str_of(&m["title"])).collect()
}

#[test]
fn n21_a_hook_that_sees_a_wait_starts_the_ring() {
    let home = Home::new();
    home.real_time();
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "git push"}});
    event(&home, "claude-code", "PermissionRequest", tool);
    let prompt = json!({"notification_type": "permission_prompt", "message": "m"});
    event(&home, "claude-code", "Notification", prompt);
    assert_eq!(titles(&home, 1), ["s1: needs permission"]);
}

#[test]
fn n27_a_silent_request_of_codex_rings_by_itself_when_it_has_been_silent_for_long_enough() {
    let home = Home::bare();
    home.config(&format!(
        "codex_permission_wait_seconds = 1\n{}",
        home.probe("probe", "")
    ));
    home.real_time();
    let tool = json!({"tool_name": "shell", "tool_input": {"command": "git push"}, "turn_id": "t1"});
    event(&home, "codex", "PermissionRequest", tool);
    assert!(home.messages("probe").is_empty());
    assert_eq!(titles(&home, 1), ["s1: needs permission"]);
}

#[test]
fn n28_n30_a_request_and_a_proposal_start_their_ring() {
    let home = Home::new();
    home.real_time();
    let s = home.session("Build API");
    let words = [
        "ring-session",
        "permission",
        "open",
        &s.id,
        "--turn",
        &s.turn,
        "--call",
        "c1",
        "--tool",
        "Bash",
    ];
    assert!(ringing(&home, &words).output().unwrap().status.success());
    assert_eq!(titles(&home, 1), ["Build API: needs permission"]);
    let p = home.planning();
    let head = [
        "ring-plan",
        "submit",
        &p.id,
        "--kind",
        "plan",
        "--turn",
        &p.turn,
        "--call",
        "c1",
    ];
    let words = [&head[..], &["--title", "Build API v2", "--question", "Go ahead?"]].concat();
    let out = feed(&mut ringing(&home, &words), b"# Build API v2\n\n1. read\n");
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert_eq!(titles(&home, 2)[1], "Planning: plan to approve");
}
