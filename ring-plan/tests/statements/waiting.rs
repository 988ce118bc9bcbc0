//! Waits end in time, and never with an approval that nobody gave.

use crate::harness::{Home, KINDS, TEXT, eventually, exit_plan, start, str_of, text};
use serde_json::json;
use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

const ID: &str = "claude-code-s1";

/// A session that plans, its ExitPlanMode seen; the proposal.
fn proposed() -> (Home, String) {
    let home = Home::new();
    home.silent("UserPromptSubmit", "plan", json!({"prompt": "plan it"}));
    home.silent("PreToolUse", "plan", exit_plan("toolu_1"));
    let p = str_of(&home.record(ID)["proposal"]["id"]);
    (home, p)
}

/// The best of some tries: a bound of the program, not of a machine that does something else meanwhile.
fn fastest(tries: usize, mut one: impl FnMut() -> Duration) -> Duration {
    (0..tries).map(|_| one()).min().unwrap()
}

fn ends(child: Child) -> (Duration, String) {
    let since = Instant::now();
    let out = child.wait_with_output().unwrap();
    (since.elapsed(), text(&out.stdout))
}

#[test]
fn p48_wait_returns_within_a_second_of_another_process_decision() {
    for kind in KINDS {
        for decision in [&["approve", "--permission", "auto"][..], &["reject", "--note", "no"]] {
            let took = fastest(3, || {
                let home = Home::new();
                let (_, p) = home.proposed(kind);
                let child = start(&mut home.command(&["ring-plan", "wait", &p]), b"");
                let pid = child.id();
                // it waits: it has gone to sleep
                eventually("the waiter", || {
                    let stat = fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default();
                    stat.contains("nanosleep")
                        || fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| s.contains(") S "))
                });
                home.says(&[&["ring-plan", decision[0], &p], &decision[1..]].concat());
                let (took, said) = ends(child);
                let expected = if decision[0] == "approve" { "approved auto " } else { "" };
                assert!(
                    said.starts_with(expected) && said.is_empty() == expected.is_empty(),
                    "{said}"
                );
                took
            });
            assert!(took < Duration::from_secs(1), "{took:?}");
        }
    }
}

#[test]
fn p48_wait_ends_at_the_deadline_and_at_its_own_time() {
    for kind in KINDS {
        let home = Home::new();
        home.clock_runs();
        fs::write(home.path("config.toml"), "[plan]\napproval_timeout_seconds = 1\n").unwrap();
        let (_, p) = home.proposed(kind);
        let child = start(&mut home.command(&["ring-plan", "--format", "json", "wait", &p]), b"");
        let out = child.wait_with_output().unwrap();
        let error = crate::harness::refusal("PLAN_APPROVAL_TIMEOUT", &out, &["wait"]);
        assert_eq!(error["details"]["proposal"]["status"], "expired");
        let words = ["ring-plan", "wait", &p, "--timeout", "0s"];
        home.refused("PLAN_APPROVAL_TIMEOUT", &words, "");
    }
}

#[test]
fn p60_a_waiter_whose_proposal_expires_ends_in_silence_and_grants_nothing() {
    let home = Home::new();
    home.clock_runs();
    fs::write(home.path("config.toml"), "[plan]\napproval_timeout_seconds = 1\n").unwrap();
    home.silent("UserPromptSubmit", "plan", json!({"prompt": "plan it"}));
    home.silent("PreToolUse", "plan", exit_plan("toolu_1"));
    let p = str_of(&home.record(ID)["proposal"]["id"]);
    let payload = home.payload("PermissionRequest", "plan", exit_plan("toolu_1"));
    let words = ["ring-plan", "hook", "--agent", "claude-code", "--wait", "30s"];
    let child = start(&mut home.command(&words), payload.as_bytes());
    let out = child.wait_with_output().unwrap();
    assert_eq!(
        (out.status.code(), out.stdout.len()),
        (Some(0), 0),
        "{}",
        text(&out.stderr)
    );
    let row = home.show(&p);
    assert_eq!(
        (&row["status"], &row["error_code"]),
        (&json!("expired"), &json!("PLAN_APPROVAL_TIMEOUT"))
    );
    assert!(row["action"].is_null() && row["execution"].is_null());
    assert_eq!(home.status(ID)["mode"], "plan");
}

#[test]
fn p69_a_prompt_that_comes_too_late_is_let_go_within_a_fifth_of_a_second() {
    for closed in ["Stop", "answered"] {
        let (home, p) = proposed();
        match closed {
            "Stop" => home.silent("Stop", "plan", json!({})),
            _ => home.silent(
                "PostToolUse",
                "default",
                json!({"tool_name": "ExitPlanMode", "tool_use_id": "toolu_1", "tool_input": {}, "tool_response": {"plan": TEXT}}),
            ),
        }
        home.after(10);
        let before = home.record(ID);
        let payload = home.payload("PermissionRequest", "plan", exit_plan("toolu_1"));
        let took = fastest(8, || {
            let since = Instant::now();
            let out = home.run(
                &["ring-plan", "hook", "--agent", "claude-code", "--wait", "30s"],
                &payload,
            );
            assert_eq!((out.status.code(), out.stdout.len()), (Some(0), 0));
            since.elapsed()
        });
        assert!(took < Duration::from_millis(200), "{took:?}");
        assert_eq!(home.record(ID), before, "no row, no waiter");
        assert_ne!(home.show(&p)["status"], "pending");
    }
}

#[test]
fn p70_a_waiter_ends_within_a_second_of_the_answer_in_the_agents_prompt() {
    for answer in ["yes", "no"] {
        let took = fastest(3, || {
            let (home, p) = proposed();
            let waiter = home.waiter("toolu_1", "30s");
            match answer {
                "yes" => home.silent(
                    "PostToolUse",
                    "default",
                    json!({"tool_name": "ExitPlanMode", "tool_use_id": "toolu_1", "tool_input": {}, "tool_response": {"plan": TEXT}}),
                ),
                _ => home.silent("UserPromptSubmit", "plan", json!({"prompt": "no"})),
            }
            let (took, said) = ends(waiter);
            assert_eq!(said, "");
            let status = if answer == "yes" { "approved" } else { "interrupted" };
            assert_eq!(home.show(&p)["status"], status);
            took
        });
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
}
