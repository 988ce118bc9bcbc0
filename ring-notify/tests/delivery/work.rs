//! Requests and proposals in records, and turns that have ended.

use crate::agents::Session;
use crate::harness::{DAY, Home, MINUTE, SECOND, count, str_of};
use serde_json::{Value, json};
use std::fs;

#[test]
fn n28_a_request_in_a_record_rings_once_while_it_is_open() {
    let home = Home::new();
    let s = home.session("Build API");
    let request = home.request(&s, "c1", &["--reason", "to publish"]);
    home.deliver();
    home.deliver();
    let messages = home.taken();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["id"], format!("perm:{}:{request}", s.id));
    assert_eq!(
        (
            &messages[0]["title"],
            &messages[0]["detail"],
            &messages[0]["kind"],
            &messages[0]["tool"]
        ),
        (
            &json!("Build API: needs permission"),
            &json!("Bash: to publish"),
            &json!("wait.permission"),
            &json!("Bash")
        )
    );
    assert_eq!(messages[0]["session"], format!("ring:{}", s.id));
    home.says(&["ring-session", "permission", "answer", &s.id, &request, "allow-once"]);
    home.after(30 * SECOND).deliver();
    assert!(home.taken().is_empty());
    assert_eq!(home.item("wait.permission")["why"], "answered");
}

#[test]
fn n28_a_request_that_was_answered_timed_out_or_aborted_is_never_announced() {
    let ends: [fn(&Home, &Session, &str); 3] = [
        |h, s, r| drop(h.says(&["ring-session", "permission", "answer", &s.id, r, "deny"])),
        |h, _, _| assert!(h.after(120 * SECOND).path("state").exists()),
        |h, s, _| drop(h.says(&["ring-session", "abort", &s.id])),
    ];
    for (n, ends) in ends.iter().enumerate() {
        let home = Home::new();
        let s = home.session("Build API");
        let request = home.request(&s, "c1", &[]);
        ends(&home, &s, &request);
        home.deliver();
        assert!(home.taken().is_empty(), "{n}");
    }
    // and one that has rung expires
    let home = Home::new();
    let s = home.session("Build API");
    home.request(&s, "c1", &["--timeout", "20s"]);
    home.deliver();
    assert_eq!(home.taken().len(), 1);
    home.after(30 * SECOND).deliver();
    assert!(home.taken().is_empty());
    assert_eq!(home.item("wait.permission")["why"], "expired");
}

#[test]
fn n29_a_request_of_a_hook_rings_through_the_row_alone() {
    let home = Home::new();
    let prompt = json!({"prompt": "go on"});
    home.hooked("s1", "UserPromptSubmit", prompt);
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "git push"}, "tool_use_id": "toolu_1"});
    home.hooked("s1", "PermissionRequest", tool.clone());
    // no dialog follows: it is approved automatically
    home.deliver();
    home.after(MINUTE).deliver();
    assert!(home.taken().is_empty());
    home.hooked("s1", "PostToolUse", tool.clone());
    home.hooked("s1", "PermissionRequest", tool);
    let prompt = json!({"notification_type": "permission_prompt", "message": "m"});
    home.hooked("s1", "Notification", prompt);
    let record: Value = home.record("claude-code-s1");
    assert!(
        record["permissions"]
            .as_array()
            .unwrap()
            .iter()
            .any(|r| r["state"] == "open"),
        "{record}"
    );
    home.deliver();
    home.deliver();
    let messages = home.taken();
    assert_eq!(messages.len(), 1);
    assert!(str_of(&messages[0]["id"]).starts_with("wait:claude-code:s1:"));
}

#[test]
fn n30_a_proposal_rings_once_with_title_question_and_deadline() {
    let home = Home::new();
    let s = home.planning();
    let proposal = home.propose(&s, &[]);
    home.deliver();
    home.deliver();
    let messages = home.taken();
    assert_eq!(messages.len(), 1);
    let message = &messages[0];
    assert_eq!(message["id"], format!("plan:{proposal}"));
    assert_eq!(
        (&message["kind"], &message["title"]),
        (&json!("proposal"), &json!("Planning: plan to approve"))
    );
    let body = format!("Build API v2\nGo ahead?\nuntil 08:30\nring-plan show {proposal}");
    assert_eq!(message["body"], body);
}

#[test]
fn n30_a_proposal_that_was_decided_before_is_never_announced() {
    let ends: [fn(&Home, &str, &Session); 4] = [
        |h, p, _| drop(h.says(&["ring-plan", "approve", p, "--permission", "ask"])),
        |h, p, _| drop(h.says(&["ring-plan", "reject", p])),
        |h, _, _| assert!(h.after(1800 * SECOND).path("state").exists()),
        |h, _, s| drop(h.says(&["ring-session", "abort", &s.id])),
    ];
    for (n, ends) in ends.iter().enumerate() {
        let home = Home::new();
        let s = home.planning();
        let proposal = home.propose(&s, &[]);
        if n < 3 {
            home.end(&s, &["completed", "--seen"]);
        }
        ends(&home, &proposal, &s);
        home.deliver();
        let left: Vec<String> = home.titles().into_iter().filter(|t| t.contains("approve")).collect();
        assert!(left.is_empty(), "{n}: {left:?}");
    }
    // and one that has rung does not ring again
    let home = Home::new();
    let s = home.planning();
    let proposal = home.propose(&s, &[]);
    home.deliver();
    assert_eq!(home.taken().len(), 1);
    home.says(&["ring-plan", "reject", &proposal]);
    home.after(30 * SECOND).deliver();
    assert!(home.taken().is_empty());
    assert_eq!(home.item("proposal")["why"], "answered");
}

fn exit_plan() -> Value {
    json!({"tool_name": "ExitPlanMode", "tool_use_id": "toolu_1", "permission_mode": "plan",
        "tool_input": {"plan": "# Build API v2\n\n1. read\n"}})
}

#[test]
fn n31_a_proposal_and_the_dialog_of_the_same_plan_are_one_ring() {
    // stored before anybody looks: the proposal
    let home = Home::new();
    let folder = json!({"prompt": "plan it", "permission_mode": "plan"});
    home.hooked("s1", "UserPromptSubmit", folder);
    let call = exit_plan();
    home.hooked("s1", "PreToolUse", call.clone());
    home.deliver();
    assert!(home.taken().is_empty(), "no prompt and no waiter has followed");
    home.hooked("s1", "PermissionRequest", call.clone());
    home.deliver();
    home.deliver();
    let messages = home.taken();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(
        (&messages[0]["kind"], &messages[0]["detail"]),
        (&json!("proposal"), &json!("Build API v2"))
    );
    // it repeats as one thing, too
    home.after(30 * SECOND).deliver();
    assert_eq!(home.taken().len(), 1);
    home.after(31 * SECOND).hooked("s1", "PostToolUse", call);
    home.after(300 * SECOND).deliver();
    assert!(home.taken().is_empty());
}

#[test]
fn n31_a_dialog_that_rang_before_its_proposal_was_stored_hands_its_ring_on() {
    let home = Home::new();
    let folder = json!({"prompt": "plan it", "permission_mode": "plan"});
    home.hooked("s1", "UserPromptSubmit", folder);
    let call = exit_plan();
    home.event("s1", "PermissionRequest", call.clone());
    home.deliver();
    let messages = home.taken();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0]["kind"], "wait.plan");
    home.hooked("s1", "PreToolUse", call.clone());
    home.hooked("s1", "PermissionRequest", call);
    for second in [1, 10, 29] {
        home.after(second * SECOND).deliver();
    }
    assert!(home.taken().is_empty());
    assert_eq!(home.item("wait.plan")["why"], "absorbed");
    home.after(30 * SECOND).deliver();
    let messages = home.taken();
    assert_eq!(messages.len(), 1);
    assert_eq!(
        (&messages[0]["kind"], &messages[0]["ring"]),
        (&json!("proposal"), &json!(1))
    );
}

#[test]
fn n32_a_completed_turn_of_a_session_that_waits_has_no_message_and_a_failed_one_has() {
    let home = Home::new();
    let s = home.session_of("claude-code", "s1");
    home.after(MINUTE).end(&s, &["completed"]);
    home.asks("s1", "git push");
    home.deliver();
    assert_eq!(home.titles(), ["s1: needs permission"]);
    home.answered("s1");
    home.after(2 * MINUTE).deliver();
    assert!(home.taken().is_empty(), "for good");
    assert_eq!(home.item("task.completed")["why"], "absorbed");
    assert!(home.rows(&s.id)[0]["read_ms"].is_null());

    let home = Home::new();
    let s = home.session_of("claude-code", "s1");
    home.after(MINUTE).end(&s, &["error", "--error-code", "EXIT_3"]);
    home.asks("s1", "git push");
    home.deliver();
    let mut titles = home.titles();
    titles.sort();
    assert_eq!(titles, ["go on: failed EXIT_3", "s1: needs permission"]);

    let home = Home::new();
    let s = home.planning();
    home.propose(&s, &[]);
    home.after(MINUTE).end(&s, &["completed"]);
    home.deliver();
    assert_eq!(home.titles(), ["Planning: plan to approve"]);
    assert!(home.rows(&s.id)[0]["read_ms"].is_null());
}

#[test]
fn n33_a_failed_turn_rings_and_a_completed_one_if_it_took_long_enough() {
    let home = Home::new();
    let failed = home.turn("Build API", SECOND, &["error", "--error-code", "EXIT_3"]);
    home.deliver();
    let messages = home.taken();
    assert_eq!(messages.len(), 1);
    assert_eq!(
        (&messages[0]["title"], &messages[0]["error_code"]),
        (&json!("Build API: failed EXIT_3"), &json!("EXIT_3"))
    );
    assert_eq!(messages[0]["body"], "1s\n~/work/app");
    let short = home.turn("Short", 29 * SECOND, &["completed"]);
    home.deliver();
    assert!(home.taken().is_empty());
    let long = home.turn("Long", 30 * SECOND, &["completed"]);
    home.deliver();
    home.deliver();
    assert_eq!(home.titles(), ["Long: finished"]);
    home.notify("completed = false", "");
    let off = home.turn("Off", MINUTE, &["completed"]);
    home.deliver();
    home.notify("failed = false", "");
    let quiet = home.turn("Quiet", MINUTE, &["error"]);
    home.deliver();
    assert!(home.taken().is_empty());
    for s in [failed, short, long, off, quiet] {
        assert!(home.rows(&s.id)[0]["read_ms"].is_null());
    }
    home.after(DAY).deliver();
    assert!(home.taken().is_empty(), "turns never repeat");
}

#[test]
fn n34_a_completed_turn_is_told_when_nothing_runs_in_the_background_any_more() {
    let home = Home::new();
    let s = home.session_of("claude-code", "s1");
    home.event("s1", "UserPromptSubmit", json!({"prompt": "x"}));
    let tasks = json!({"background_tasks": [{"id": "b1", "status": "running", "command": "make"}]});
    home.after(MINUTE).event("s1", "Stop", tasks);
    home.end(&s, &["completed"]);
    assert_eq!(home.row("claude-code:s1")["background"], 1);
    let report = home.deliver();
    assert_eq!((count(&report, "held"), home.taken().len()), (1, 0), "{report}");
    assert_eq!(home.stands("task.completed")["hold"], "background");
    home.after(2 * MINUTE)
        .event("s1", "Stop", json!({"background_tasks": []}));
    home.deliver();
    assert_eq!(home.titles(), ["go on: finished"]);
}

#[test]
fn n34_background_tasks_of_an_agent_that_is_gone_hold_nothing_back() {
    let home = Home::new();
    home.with_table().agent("claude");
    let s = home.session_of("claude-code", "s1");
    home.event("s1", "UserPromptSubmit", json!({"prompt": "x"}));
    let tasks = json!({"background_tasks": [{"id": "b1", "status": "running", "command": "make"}]});
    home.after(MINUTE).event("s1", "Stop", tasks);
    home.end(&s, &["completed"]);
    home.deliver();
    assert_eq!(home.stands("task.completed")["hold"], "background");
    fs::remove_dir_all(home.path("proc/4242")).unwrap();
    home.after(2 * MINUTE).deliver();
    assert_eq!(home.titles(), ["go on: finished"]);
}
