//! The hook entry, with Claude Code's payloads.

use crate::harness::{Home, NOW, TEXT, eventually, exit_plan, ids, signal, start, str_of, text, tree};
use serde_json::{Value, json};
use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

const ID: &str = "claude-code-s1";

/// A home in which the agent plans.
fn planning() -> Home {
    let home = Home::new();
    home.silent("UserPromptSubmit", "plan", json!({"prompt": "do it"}));
    home
}

/// One in which it has called ExitPlanMode.
fn proposed() -> (Home, String) {
    let home = planning();
    home.silent("PreToolUse", "plan", exit_plan("toolu_1"));
    let p = str_of(&home.record(ID)["proposal"]["id"]);
    (home, p)
}

/// The answer of the person in the agent's own prompt, as the agent reports it.
fn answered() -> Value {
    json!({"tool_name": "ExitPlanMode", "tool_use_id": "toolu_1", "tool_input": {}, "tool_response": {"plan": TEXT}})
}

fn write() -> Value {
    json!({"tool_name": "Write", "tool_use_id": "toolu_w", "tool_input": {"file_path": "a.txt", "content": "x"}})
}

fn answer(child: Child) -> String {
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    text(&out.stdout)
}

fn files(home: &Home) -> usize {
    tree(&home.project()).iter().filter(|(path, _)| path.is_file()).count()
}

#[test]
fn p58_one_call_is_one_proposal_and_one_file() {
    let (home, p) = proposed();
    home.silent("PermissionRequest", "plan", exit_plan("toolu_1"));
    home.silent("PreToolUse", "plan", exit_plan("toolu_1"));
    let pending = home.json(&["ring-plan", "pending"], "");
    assert_eq!(ids(&pending), [p]);
    assert_eq!(
        (&pending[0]["via"], &pending[0]["title"]),
        (&json!("hook"), &json!("Build API v2"))
    );
    assert_eq!(pending[0]["question"], "Approve this plan?");
    assert_eq!(files(&home), 1);
    assert_eq!(fs::read(home.artifact(&pending[0])).unwrap(), TEXT.as_bytes());
}

#[test]
fn p59_p65_p68_an_approval_elsewhere_is_one_allow_with_the_input_echoed() {
    for (mode, agents) in [
        ("ask", None),
        ("accept-edits", Some("acceptEdits")),
        ("auto", Some("auto")),
    ] {
        let (home, p) = proposed();
        let waiter = home.waiter("toolu_1", "30s");
        home.approve(&p, mode);
        let stdout = answer(waiter);
        assert_eq!(stdout.lines().count(), 1);
        let said: Value = serde_json::from_str(&stdout).unwrap();
        let decision = &said["hookSpecificOutput"]["decision"];
        assert_eq!(said["hookSpecificOutput"]["hookEventName"], "PermissionRequest");
        assert_eq!(decision["behavior"], "allow");
        assert_eq!(decision["updatedInput"], json!({"plan": TEXT}));
        match agents {
            None => assert!(decision["updatedPermissions"].is_null()),
            Some(set) => assert_eq!(
                decision["updatedPermissions"],
                json!([{"type": "setMode", "mode": set, "destination": "session"}])
            ),
        }
        // the agent goes on in the same session, in the approval's mode
        home.silent("PostToolUse", "default", answered());
        let record = home.record(ID);
        assert_eq!(
            (&record["mode"], &record["permission_mode"]),
            (&json!("agent"), &json!(mode))
        );
        assert_eq!(record["proposal"]["decided_by"], "cli");
        assert_eq!(record["proposal"]["execution"]["state"], "running");
        home.silent("Stop", "default", json!({}));
        assert_eq!(home.show(&p)["execution"]["state"], "completed");
        assert!(home.status(ID)["turn"].is_null());
        assert_eq!(home.json(&["ring-session", "list"], "").as_array().unwrap().len(), 1);
    }
}

#[test]
fn p59_a_rejection_elsewhere_is_one_deny_with_the_note() {
    for note in [Some("Fewer steps, please."), None] {
        let (home, p) = proposed();
        let waiter = home.waiter("toolu_1", "30s");
        let mut words = vec!["ring-plan", "reject", &p];
        words.extend(note.into_iter().flat_map(|n| ["--note", n]));
        home.says(&words);
        let said: Value = serde_json::from_str(&answer(waiter)).unwrap();
        let decision = &said["hookSpecificOutput"]["decision"];
        assert_eq!(decision["behavior"], "deny");
        let message = decision["message"].as_str().unwrap();
        assert!(!message.is_empty());
        if let Some(note) = note {
            assert_eq!(message, note);
        }
        assert_eq!(home.status(ID)["mode"], "plan");
        assert_eq!(home.status(ID)["planning_state"], "planning");
    }
}

#[test]
fn p60_a_wait_that_ends_otherwise_says_nothing_and_approves_nothing() {
    for (end, status) in [
        ("time", "pending"),
        ("TERM", "pending"),
        ("INT", "pending"),
        ("HUP", "pending"),
        ("abort", "interrupted"),
        ("damage", ""),
    ] {
        let (home, p) = proposed();
        let waiter = home.waiter("toolu_1", if end == "time" { "300ms" } else { "30s" });
        match end {
            "time" => {}
            "abort" => drop(home.says(&["ring-session", "abort", ID])),
            "damage" => fs::write(home.path("state/sessions").join(ID).join("session.json"), "{").unwrap(),
            name => signal(&waiter, name),
        }
        assert_eq!(answer(waiter), "", "{end}");
        if !status.is_empty() {
            assert_eq!(home.show(&p)["status"], status, "{end}");
            assert_eq!(home.record(ID)["mode"], "plan", "{end}");
        }
    }
}

#[test]
fn p61_without_a_live_waiter_the_agent_is_the_place_to_answer() {
    let (home, p) = proposed();
    for words in [&["approve", &p, "--permission", "ask"][..], &["reject", &p]] {
        let words = [&["ring-plan"], words].concat();
        let error = home.refused_untouched("PLAN_APPROVAL_STALE", ID, &words, "");
        assert_eq!(error["details"]["reason"], "no_waiter");
        assert!(error["message"].as_str().unwrap().contains("agent"), "{error}");
    }
    let mut waiter = home.waiter("toolu_1", "30s");
    waiter.kill().unwrap();
    waiter.wait().unwrap();
    let words = ["ring-plan", "approve", &p, "--permission", "ask"];
    let error = home.refused("PLAN_APPROVAL_STALE", &words, "");
    assert_eq!(error["details"]["reason"], "no_waiter");
}

#[test]
fn p62_an_approval_in_the_agent_is_recorded_with_whether_its_prompt_was_seen() {
    for (seen, by) in [(true, "agent"), (false, "agent-auto")] {
        let (home, p) = proposed();
        if seen {
            home.silent("PermissionRequest", "plan", exit_plan("toolu_1"));
        }
        home.silent("PostToolUse", "acceptEdits", answered());
        let row = home.show(&p);
        assert_eq!((&row["status"], &row["decided_by"]), (&json!("approved"), &json!(by)));
        assert_eq!(row["permission_mode"], "accept-edits");
        assert_eq!(row["execution"]["state"], "running");
    }
}

#[test]
fn p62_a_plan_that_was_edited_in_the_agents_prompt_says_so() {
    let (home, p) = proposed();
    home.silent("PermissionRequest", "plan", exit_plan("toolu_1"));
    let edited = json!({"tool_name": "ExitPlanMode", "tool_use_id": "toolu_1", "tool_input": {"plan": "# Less"},
        "tool_response": {"plan": "# Less", "planWasEdited": true}});
    home.silent("PostToolUse", "default", edited);
    let row = home.show(&p);
    assert_eq!((&row["status"], &row["markdown"]), (&json!("approved"), &json!(TEXT)));
    assert!(row["note"].as_str().unwrap().starts_with("Edited in"), "{row}");

    let (home, p) = proposed();
    home.silent("PostToolUse", "default", answered());
    assert!(home.show(&p)["note"].is_null());
}

#[test]
fn p22_a_text_that_was_rejected_may_be_proposed_again_by_a_new_call() {
    let (home, p) = proposed();
    let waiter = home.waiter("toolu_1", "30s");
    home.says(&["ring-plan", "reject", &p]);
    answer(waiter);
    // a late prompt of the closed row, which names no call
    let prompt = json!({"tool_name": "ExitPlanMode", "tool_input": {"plan": TEXT}});
    home.silent("PermissionRequest", "plan", prompt.clone());
    home.silent("PreToolUse", "plan", exit_plan("toolu_1"));
    assert!(home.json(&["ring-plan", "pending"], "").as_array().unwrap().is_empty());
    home.silent("PreToolUse", "plan", exit_plan("toolu_2"));
    home.silent("PermissionRequest", "plan", prompt);
    let pending = home.json(&["ring-plan", "pending"], "");
    assert_eq!((ids(&pending).len(), &pending[0]["call_id"]), (1, &json!("toolu_2")));
    assert_eq!(files(&home), 2);
}

#[test]
fn p62_whatever_else_the_agent_does_next_interrupts() {
    for (name, members) in [
        ("UserPromptSubmit", json!({"prompt": "no"})),
        ("Stop", json!({})),
        ("StopFailure", json!({"error": "rate_limit"})),
        ("SessionEnd", json!({"reason": "other"})),
        (
            "PreToolUse",
            json!({"tool_name": "ExitPlanMode", "tool_use_id": "toolu_2", "tool_input": {"plan": "Another."}}),
        ),
        (
            "PreToolUse",
            json!({"tool_name": "Read", "tool_use_id": "toolu_3", "tool_input": {}}),
        ),
    ] {
        let (home, p) = proposed();
        home.silent("PermissionRequest", "plan", exit_plan("toolu_1"));
        home.silent(name, "plan", members);
        let row = home.show(&p);
        assert_eq!(row["status"], "interrupted", "{name}");
        assert_eq!(row["error_code"], "PLAN_APPROVAL_INTERRUPTED");
        assert_eq!(home.record(ID)["mode"], "plan");
    }
}

#[test]
fn p63_the_gate_denies_with_its_code_and_never_allows() {
    let home = planning();
    for (tool, code) in [
        ("Write", "WRITE_DISABLED_IN_PLAN"),
        ("Edit", "EDIT_DISABLED_IN_PLAN"),
        ("plugin_deploy", "PLUGIN_DISABLED_IN_PLAN"),
        ("mcp__x__y", "TOOL_DISABLED_IN_PLAN"),
    ] {
        // the mode that a payload claims is not asked
        for claimed in ["plan", "bypassPermissions", "acceptEdits"] {
            let call = json!({"tool_name": tool, "tool_use_id": "toolu_w", "tool_input": {"file_path": "a.txt"}});
            let out = home.event("PreToolUse", claimed, call);
            let said: Value = serde_json::from_slice(&out.stdout).unwrap();
            let answer = &said["hookSpecificOutput"];
            assert_eq!(answer["permissionDecision"], "deny");
            let reason = answer["permissionDecisionReason"].as_str().unwrap();
            assert!(reason.starts_with(&format!("{code}: ")), "{reason}");
        }
    }
    for tool in ["Read", "Grep", "AskUserQuestion"] {
        home.silent(
            "PreToolUse",
            "plan",
            json!({"tool_name": tool, "tool_use_id": "t", "tool_input": {}}),
        );
    }
}

#[test]
fn p63_what_an_agent_plans_with_is_left_to_its_own_plan_mode_and_to_no_persons() {
    let home = planning();
    let call = |tool: &str| json!({"tool_name": tool, "tool_use_id": "t", "tool_input": {}});
    let tools = ["Agent", "Task", "TaskCreate", "TodoWrite", "WebFetch"];
    for tool in tools.into_iter().chain(["ToolSearch"]) {
        home.silent("PreToolUse", "plan", call(tool));
    }
    home.silent("Stop", "plan", json!({}));
    home.says(&["ring-session", "configure", ID, "--mode", "agent"]);
    home.says(&["ring-session", "configure", ID, "--mode", "plan"]);
    home.after(5_000);
    home.silent("UserPromptSubmit", "default", json!({"prompt": "go on"}));
    for tool in tools {
        let out = home.event("PreToolUse", "default", call(tool));
        assert!(text(&out.stdout).contains("TOOL_DISABLED_IN_PLAN"), "{tool}");
    }
    // the way into its own plan mode is free, without which it refuses ExitPlanMode
    for tool in ["ToolSearch", "EnterPlanMode"] {
        home.silent("PreToolUse", "default", call(tool));
    }
    home.silent("PostToolUse", "plan", call("EnterPlanMode"));
    assert_eq!(home.record(ID)["mode_by"], "user");
}

#[test]
fn p23_p64_a_yes_in_the_agent_that_comes_too_late_approves_nothing_and_ends_its_planning() {
    for end in ["expired", "interrupted"] {
        let (home, p) = proposed();
        home.silent("PermissionRequest", "plan", exit_plan("toolu_1"));
        match end {
            "expired" => drop(home.after(1_800_000).says(&["ring-plan", "expire"])),
            _ => drop(home.says(&["ring-session", "abort", ID])),
        }
        assert_eq!(home.record(ID)["mode"], "plan");
        home.silent("PostToolUse", "acceptEdits", answered());
        let row = home.show(&p);
        assert_eq!((&row["status"], &row["execution"]), (&json!(end), &Value::Null));
        assert_eq!(home.record(ID)["mode"], "agent");
        home.silent("PreToolUse", "acceptEdits", write());
    }
}

#[test]
fn p63_p68_a_confirmation_is_ask_where_the_mode_is_a_persons() {
    let home = planning();
    let bash = || json!({"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "ls"}});
    home.silent("PreToolUse", "plan", bash());
    home.silent("Stop", "plan", json!({}));
    home.says(&["ring-session", "configure", ID, "--mode", "agent"]);
    home.says(&["ring-session", "configure", ID, "--mode", "plan"]);
    home.after(5_000);
    home.silent("UserPromptSubmit", "default", json!({"prompt": "go on"}));
    let out = home.event("PreToolUse", "default", bash());
    let said: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "ask");
}

#[test]
fn p64_only_a_mirrored_mode_follows_the_agents_own() {
    let home = planning();
    assert_eq!(home.record(ID)["mode_by"], "hook");
    home.silent("Stop", "plan", json!({}));
    home.after(5_000);
    home.silent("UserPromptSubmit", "default", json!({"prompt": "b"}));
    assert_eq!(home.record(ID)["mode"], "agent");
    home.silent("Stop", "default", json!({}));
    for mode in ["plan", "goal"] {
        home.says(&["ring-session", "configure", ID, "--mode", mode]);
        home.after(20_000);
        home.silent("UserPromptSubmit", "default", json!({"prompt": "c"}));
        assert_eq!(home.record(ID)["mode"], mode);
        home.silent("Stop", "default", json!({}));
    }
}

#[test]
fn p66_a_payload_that_is_none_changes_nothing() {
    let (home, _) = proposed();
    let before = home.record(ID);
    let whole = home.payload("UserPromptSubmit", "plan", json!({"prompt": "x"}));
    let huge = format!("{{\"x\": \"{}", "y".repeat(8 << 20));
    let foreign = json!({"hook_event_name": "UserPromptSubmit", "prompt": "x"}).to_string();
    for payload in ["", "[]", "null", "x", &whole[..whole.len() / 2], &huge, &foreign] {
        let out = home.run(&["ring-plan", "hook", "--agent", "claude-code"], payload);
        assert_eq!((out.status.code(), out.stdout.len()), (Some(0), 0));
        assert_eq!(home.record(ID), before, "{:.40}", payload);
    }
}

#[test]
fn p69_a_prompt_that_comes_after_its_turn_is_not_waited_for() {
    let (home, p) = proposed();
    home.silent("Stop", "plan", json!({}));
    home.after(10);
    for call in ["toolu_1", "toolu_9"] {
        let payload = home.payload("PermissionRequest", "plan", exit_plan(call));
        let began = Instant::now();
        let words = ["ring-plan", "hook", "--agent", "claude-code", "--wait", "30s"];
        let out = home.run(&words, payload);
        assert_eq!((out.status.code(), out.stdout.len()), (Some(0), 0));
        assert!(began.elapsed() < Duration::from_secs(10));
        assert!(home.record(ID)["proposal"].is_null());
        assert_eq!(files(&home), 1);
    }
    assert_eq!(home.show(&p)["status"], "interrupted");
}

#[test]
fn p70_answered_in_the_agent_the_waiter_ends_in_silence() {
    let (home, p) = proposed();
    let waiter = home.waiter("toolu_1", "30s");
    home.silent("PostToolUse", "default", answered());
    assert_eq!(answer(waiter), "");
    let row = home.show(&p);
    assert_eq!(
        (&row["status"], &row["decided_by"]),
        (&json!("approved"), &json!("agent"))
    );

    let (home, p) = proposed();
    let waiter = home.waiter("toolu_1", "30s");
    home.silent("Stop", "plan", json!({}));
    assert_eq!(answer(waiter), "");
    assert_eq!(home.show(&p)["status"], "interrupted");
}

#[test]
fn p71_the_end_of_a_call_without_an_id_is_found_by_its_text() {
    let home = planning();
    let call = |input: Value, response: Value| json!({"tool_name": "ExitPlanMode", "tool_input": input, "tool_response": response});
    home.silent("PreToolUse", "plan", call(json!({"plan": TEXT}), Value::Null));
    let row = home.record(ID)["proposal"].clone();
    assert!(str_of(&row["call_id"]).starts_with("hook-"));
    home.silent("PostToolUse", "default", call(json!({}), json!({"plan": TEXT})));
    assert_eq!(home.show(row["id"].as_str().unwrap())["status"], "approved");
}

#[test]
fn p72_a_question_is_never_answered() {
    let home = planning();
    let ask = json!({"tool_name": "AskUserQuestion", "tool_use_id": "q", "tool_input": {"questions": []}});
    for name in ["PreToolUse", "PermissionRequest"] {
        for mode in ["plan", "default", "bypassPermissions"] {
            home.silent(name, mode, ask.clone());
        }
    }
}

#[test]
fn p73_the_hooks_of_a_session_leave_other_rows_alone() {
    let home = Home::new();
    home.silent("UserPromptSubmit", "default", json!({"prompt": "x"}));
    let turn = str_of(&home.record(ID)["turn"]["id"]);
    home.says(&["ring-plan", "enter", ID, "--turn", &turn, "--call", "e"]);
    let words = ["ring-plan", "submit", ID, "--kind", "plan", "--turn", &turn];
    let words = [&words[..], &["--call", "c1", "--title", "T", "--question", "Q"]].concat();
    let p = str_of(&home.json(&words, TEXT)["id"]);
    home.silent(
        "PreToolUse",
        "default",
        json!({"tool_name": "Read", "tool_use_id": "t", "tool_input": {}}),
    );
    home.silent(
        "PostToolUse",
        "default",
        json!({"tool_name": "Read", "tool_use_id": "t", "tool_input": {}}),
    );
    home.silent("Stop", "default", json!({}));
    assert_eq!(home.show(&p)["status"], "pending");
    home.approve(&p, "ask");
    home.says(&["ring-plan", "claim", &p]);
    home.silent("Stop", "default", json!({}));
    assert_eq!(home.show(&p)["execution"]["state"], "running");
}

#[test]
fn p66_without_wait_the_entry_does_not_wait() {
    let (home, _) = proposed();
    let payload = home.payload("PermissionRequest", "plan", exit_plan("toolu_1"));
    let words = ["ring-plan", "hook", "--agent", "claude-code"];
    let child = start(&mut home.command(&words), payload.as_bytes());
    assert_eq!(answer(child), "");
    assert!(home.record(ID)["proposal"]["waiter"].is_null());
    assert_eq!(home.record(ID)["proposal"]["asked"], true);
    eventually("the row", || home.record(ID)["proposal"]["created_ms"] == NOW);
}

#[test]
fn p63_a_write_is_free_again_after_the_approval() {
    let (home, _) = proposed();
    assert!(!home.event("PreToolUse", "plan", write()).stdout.is_empty());
    let (home, _) = proposed();
    home.silent("PostToolUse", "default", answered());
    home.silent("PreToolUse", "acceptEdits", write());
}
