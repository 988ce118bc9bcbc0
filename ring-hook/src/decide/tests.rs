//! The decision table, event by event.

use super::*;
use crate::normalise::{self, Given};
use proptest::prelude::*;
use serde_json::{Value, json};

fn event(agent: &str, mut payload: Value) -> Event {
    let object = payload.as_object_mut().unwrap();
    object.entry("session_id").or_insert("s".into());
    let given = Given {
        agent: Some(agent),
        ..Given::default()
    };
    normalise::event(payload.to_string().as_bytes(), &given).unwrap()
}

fn of(payload: Value) -> Decision {
    decide(&event("claude-code", payload), &Settings::default())
}

fn shown(payload: Value) -> (Intent, &'static str, &'static str) {
    let d = of(payload);
    (d.intent, d.rule, d.kind)
}

use Intent::{Idle, None as Nothing, Waiting, Working};

#[test]
fn h1_starts_and_prompts_work_whatever_else_is_claimed() {
    for name in ["SessionStart", "UserPromptSubmit"] {
        for more in [
            json!({}),
            json!({"requires_action": true}),
            json!({"requires_action": false}),
            json!({"waiting_for": "done"}),
        ] {
            let mut payload = more;
            payload["hook_event_name"] = name.into();
            assert_eq!(of(payload).intent, Working);
        }
    }
}

#[test]
fn h3_an_explicit_override_decides_before_the_question() {
    let stop = |text: &str, more: Value| {
        let mut payload = json!({"hook_event_name": "Stop", "last_assistant_message": text});
        payload
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        shown(payload)
    };
    let q = "Shall I go on?";
    assert_eq!(stop(q, json!({"requires_action": false})), (Idle, "flag_false", ""));
    assert_eq!(stop(q, json!({"waiting_for": "done"})), (Idle, "waiting_for", ""));
    assert_eq!(
        stop("Done.", json!({"requires_action": true})),
        (Waiting, "flag_true", "input")
    );
    assert_eq!(
        stop("Done.", json!({"waiting_for": "permission"})),
        (Waiting, "waiting_for", "permission")
    );
}

#[test]
fn h6_a_request_that_demands_interaction_waits() {
    let request = |tool: &str, more: Value| {
        let mut payload =
            json!({"hook_event_name": "PermissionRequest", "tool_name": tool, "tool_input": {"command": "git push"}});
        payload
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        shown(payload)
    };
    assert_eq!(
        request("Bash", json!({"requires_action": true})),
        (Waiting, "flag_true", "permission")
    );
    assert_eq!(
        request("Bash", json!({"waiting_for": "approval"})),
        (Waiting, "waiting_for", "permission")
    );
    assert_eq!(
        request("AskUserQuestion", json!({})),
        (Waiting, "permission_interactive", "question")
    );
    assert_eq!(request("ExitPlanMode", json!({})), (Waiting, "permission_plan", "plan"));
    assert_eq!(request("Bash", json!({})), (Working, "permission_bare", "permission"));
}

#[test]
fn h7_in_bypass_mode_only_questions_wait() {
    let request = |tool: &str| {
        shown(
            json!({"hook_event_name": "PermissionRequest", "tool_name": tool, "permission_mode": "bypassPermissions"}),
        )
    };
    assert_eq!(request("Bash"), (Working, "permission_bypass", ""));
    assert_eq!(request("ExitPlanMode"), (Working, "permission_bypass", ""));
    assert_eq!(
        request("AskUserQuestion"),
        (Waiting, "permission_interactive", "question")
    );
}

#[test]
fn h88_a_request_that_a_model_reviews_is_bypassed() {
    let mut e = event(
        "codex",
        json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash"}),
    );
    e.reviewed = true;
    let decision = decide(&e, &Settings::default());
    assert_eq!(
        (decision.intent, decision.rule, decision.remember),
        (Working, "permission_bypass", false)
    );
}

#[test]
fn h9_ask_tools_and_lists_of_choices_ask() {
    for tool in ["AskUserQuestion", "ask_user_question", "request-user-input", "AskUser"] {
        assert_eq!(
            shown(json!({"hook_event_name": "PreToolUse", "tool_name": tool})),
            (Waiting, "tool_ask", "question")
        );
    }
    for list in ["questions", "options", "choices"] {
        let top = json!({"hook_event_name": "PreToolUse", "tool_name": "X", list: ["a"]});
        let inside = json!({"hook_event_name": "PreToolUse", "tool_name": "X", "tool_input": {list: ["a"]}});
        assert_eq!(shown(top), (Waiting, "tool_ask", "question"));
        assert_eq!(shown(inside), (Waiting, "tool_ask", "question"));
    }
}

#[test]
fn h10_empty_lists_objects_and_texts_ask_nothing() {
    for value in [json!([]), json!({"a": 1}), json!("a"), json!(null)] {
        let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "X", "questions": value, "tool_input": {"options": value}});
        assert_eq!(shown(payload), (Working, "tool_start", ""));
    }
    for tool in ["Bash", "ExitPlanMode", "Ask", "question"] {
        assert_eq!(
            shown(json!({"hook_event_name": "PreToolUse", "tool_name": tool})).0,
            Working
        );
    }
}

#[test]
fn h11_tools_work() {
    for (payload, rule) in [
        (
            json!({"hook_event_name": "PreToolUse", "tool_name": "Bash"}),
            "tool_start",
        ),
        (
            json!({"hook_event_name": "PostToolUse", "tool_name": "Bash"}),
            "tool_done",
        ),
        (json!({"hook_event_name": "PostToolUse"}), "tool_done"),
        (json!({"hook_event_name": "PostToolBatch"}), "tool_done"),
        (json!({"hook_event_name": "PostToolUseFailure"}), "tool_failed"),
        (
            json!({"hook_event_name": "PermissionDenied", "reason": "user"}),
            "tool_denied",
        ),
    ] {
        assert_eq!(shown(payload), (Working, rule, ""));
    }
    assert_eq!(
        shown(json!({"hook_event_name": "PostToolUseFailure", "is_interrupt": true})),
        (Idle, "tool_interrupted", "")
    );
}

#[test]
fn h12_notification_types_of_prompts_wait() {
    for (kind_of_notice, kind) in [
        ("permission_prompt", "permission"),
        ("worker_permission_prompt", "permission"),
        ("elicitation_dialog", "question"),
        ("elicitation_url_dialog", "question"),
        ("agent_needs_input", "question"),
    ] {
        let payload = json!({"hook_event_name": "Notification", "notification_type": kind_of_notice, "message": "m"});
        assert_eq!(shown(payload), (Waiting, "notify_prompt", kind));
    }
}

#[test]
fn h13_types_are_folded_and_old_versions_known_by_two_phrases() {
    for kind_of_notice in ["permission-prompt", " PERMISSION_PROMPT "] {
        assert_eq!(
            shown(json!({"hook_event_name": "Notification", "notification_type": kind_of_notice})).0,
            Waiting
        );
    }
    let says = |text: &str| of(json!({"hook_event_name": "Notification", "message": text}));
    let asks = says("Claude needs your permission to use Bash");
    assert_eq!(
        (asks.intent, asks.rule, asks.kind, asks.soft),
        (Waiting, "notify_text", "permission", false)
    );
    let idle = says("Claude is waiting for your input");
    assert_eq!((idle.intent, idle.rule, idle.soft), (Idle, "notify_text", true));
}

#[test]
fn h14_an_ordinary_notification_is_idle() {
    assert_eq!(
        shown(json!({"hook_event_name": "Notification", "notification_type": "auth_success"})),
        (Idle, "notify_plain", "")
    );
    assert_eq!(
        shown(json!({"hook_event_name": "Notification"})),
        (Idle, "notify_plain", "")
    );
    assert_eq!(
        shown(json!({"hook_event_name": "Notification", "options": ["a"]})),
        (Waiting, "notify_demands", "question")
    );
}

#[test]
fn h16_idle_prompt_is_soft_unless_it_is_switched_off() {
    let prompt = event(
        "claude-code",
        json!({"hook_event_name": "Notification", "notification_type": "idle_prompt"}),
    );
    let soft = decide(&prompt, &Settings::default());
    assert_eq!((soft.rule, soft.soft), ("notify_idle_prompt", true));
    let off = Settings {
        idle_prompt_keeps_waiting: false,
        ..Settings::default()
    };
    let hard = decide(&prompt, &off);
    assert_eq!((hard.rule, hard.soft), ("notify_plain", false));
}

#[test]
fn h18_every_word_of_waiting_for_decides_and_no_other() {
    let word = |w: &str| shown(json!({"hook_event_name": "PostToolUse", "waiting_for": w}));
    for (sent, kind) in [
        ("plan", "plan"),
        (" User-Input ", "question"),
        ("Approval", "permission"),
        ("user", "input"),
    ] {
        assert_eq!(word(sent), (Waiting, "waiting_for", kind));
    }
    for sent in crate::normalise::ACTION_WORDS {
        assert_eq!(word(sent).0, Waiting, "{sent}");
    }
    for sent in crate::normalise::IDLE_WORDS.iter().chain(&["next step", "NEXT-STEP"]) {
        assert_eq!(word(sent), (Idle, "waiting_for", ""), "{sent}");
    }
    for sent in ["coffee", "", "plans"] {
        assert_eq!(word(sent), (Working, "tool_done", ""), "{sent}");
    }
    assert_eq!(
        shown(json!({"hook_event_name": "PostToolUse", "waiting_for": ["permission"]})).0,
        Working
    );
}

#[test]
fn h19_reason_is_a_word_only_for_agents_without_a_dialect() {
    let pre = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "reason": "prompt"});
    let stop = json!({"hook_event_name": "Stop", "reason": "user"});
    assert_eq!(of(pre.clone()).intent, Working);
    assert_eq!(of(stop.clone()).intent, Idle);
    let acme = |payload| decide(&event("acme", payload), &Settings::default());
    assert_eq!(acme(pre).intent, Idle);
    let waits = acme(stop);
    assert_eq!((waits.intent, waits.kind), (Waiting, "input"));
}

#[test]
fn h21_an_unknown_event_decides_nothing() {
    for payload in [
        json!({"hook_event_name": "Tomorrow"}),
        json!({"hook_event_name": "Tomorrow", "requires_action": true}),
    ] {
        assert_eq!(shown(payload), (Nothing, "unknown_event", ""));
    }
}

#[test]
fn h22_plan_is_a_whole_name() {
    for detail in ["terraform plan", "an explanation", "airplane"] {
        let payload = json!({"hook_event_name": "Notification", "message": detail, "requires_action": true});
        assert_eq!(of(payload).kind, "input");
    }
    let approval = json!({"hook_event_name": "Notification", "message": "m", "waiting_for": "plan_approval"});
    assert_eq!(of(approval).kind, "plan");
}

#[test]
fn h42_running_tasks_keep_a_stopped_session_working() {
    let list = json!([{"id": "a", "type": "shell", "status": "running"}, {"id": "b", "type": "subagent", "status": "Running"}, {"status": "done"}, 5]);
    let stop = event(
        "claude-code",
        json!({"hook_event_name": "Stop", "background_tasks": list}),
    );
    let mut settings = Settings::default();
    assert_eq!(running_tasks(&stop, &settings), Some(2));
    assert_eq!(decide(&stop, &settings).rule, "stop_background");
    settings.background_task_types = vec!["monitor".into()];
    assert_eq!(decide(&stop, &settings).rule, "stop");
    settings.background_task_types = vec!["shell".into()];
    assert_eq!(running_tasks(&stop, &settings), Some(1));
}

#[test]
fn h49_neutral_and_keeping_events_decide_nothing() {
    for (name, rule) in [
        ("TeammateIdle", "neutral"),
        ("MessageDisplay", "neutral"),
        ("SessionHeartbeat", "neutral"),
        ("SubagentStop", "keep"),
        ("PreCompact", "keep"),
        ("CwdChanged", "keep"),
    ] {
        assert_eq!(shown(json!({"hook_event_name": name})), (Nothing, rule, ""));
    }
}

#[test]
fn h82_a_failed_model_request_is_kept_and_a_finished_one_is_a_sign_of_work() {
    let of = |status: &str| {
        let e = event(
            "codex",
            json!({"hook_event_name": "PostModelRequest", "status": status, "error": "boom"}),
        );
        (decide(&e, &Settings::default()).rule, e.error)
    };
    assert_eq!(of("failed"), ("keep", "boom".to_owned()));
    assert_eq!(of("completed").0, "turn_start");
    assert_eq!(of("cancelled").0, "neutral");
}

proptest! {
    #[test]
    fn every_event_decides_once_and_keeps_its_bounds(
        name in proptest::sample::select(Name::ALL),
        flag in proptest::option::of(any::<bool>()),
        word in "[a-z_]{0,12}",
        tool in "[A-Za-z]{0,16}",
        message in ".{0,400}",
    ) {
        let payload = json!({"hook_event_name": name.as_str(), "requires_action": flag, "waiting_for": word, "tool_name": tool, "message": message, "prompt": "x"});
        let decision = of(payload);
        prop_assert!(!decision.rule.is_empty());
        prop_assert_eq!(decision.intent == Waiting || decision.remember, !decision.kind.is_empty());
        prop_assert!(decision.detail.chars().count() <= 160);
        prop_assert!(!decision.detail.chars().any(char::is_control));
    }
}
