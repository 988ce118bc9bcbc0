//! The foreground: what each event makes of working, waiting and idle.

use super::notation::{Session, after, codex, table};
use ring_hook::advance::{Effect, Fate};

/// Ways into every kind of the foreground's wait.
const WAITS: &[&str] = &[
    "Prompt Q",
    "Prompt Note(permission_prompt)",
    "Prompt Perm(ExitPlanMode do_it)",
    "Prompt Pre(AskUserQuestion Which?)",
    "Prompt Elicitation(Which?)",
    "Prompt Post(Bash){\"requires_action\":true}",
];

#[track_caller]
fn from_every_state(event: &str, expected: &str) {
    for state in ["Prompt", "Prompt D"].iter().chain(WAITS) {
        let played = after(&format!("{state} +5 {event}"));
        assert!(played.row().waits.is_empty(), "{state} {event}");
        assert_eq!(played.row().status, expected, "{state} {event}");
    }
}

#[test]
fn h1_a_start_and_a_prompt_work_whatever_was_there_and_whatever_they_claim() {
    for event in ["Start", "Prompt(next)"] {
        from_every_state(event, "working");
        for claim in [
            r#"{"requires_action":true}"#,
            r#"{"requires_action":false}"#,
            r#"{"waiting_for":"done"}"#,
        ] {
            from_every_state(&format!("{event}{claim}"), "working");
        }
    }
}

#[test]
fn h2_a_stop_is_idle_and_one_that_asks_waits() {
    from_every_state("D", "idle");
    after("Prompt Q").shows("waiting question \"Shall I go on?\" | 1");
    Session::of("claude-code")
        .with(|s| s.detect_stop_questions = false)
        .then("Prompt Q")
        .shows("idle");
}

#[test]
fn h3_what_a_stop_says_outright_beats_its_text() {
    table(
        r#"
        Prompt Q{"requires_action":false} -> idle
        Prompt Q{"waiting_for":"done"} -> idle
        Prompt D{"requires_action":true} -> waiting input
        Prompt D{"waiting_for":"permission"} -> waiting permission
        "#,
    );
}

#[test]
fn h6_h7_requests_wait_only_where_no_rule_can_answer_them() {
    table(
        r#"
        Prompt Perm(Bash x){"requires_action":true} -> waiting permission
        Prompt Perm(Bash x){"waiting_for":"approval"} -> waiting permission
        Prompt Perm(AskUserQuestion Which?) -> waiting question
        Prompt Perm(ExitPlanMode do_it) -> waiting plan
        Prompt Perm(Bash x){"permission_mode":"bypassPermissions"} -> working
        Prompt Perm(ExitPlanMode p){"permission_mode":"bypassPermissions"} -> working
        Prompt Pre(AskUserQuestion A?) Perm(AskUserQuestion A?){"permission_mode":"bypassPermissions"} -> waiting question
        "#,
    );
    let bypass = after(r#"Prompt Perm(Bash x){"permission_mode":"bypassPermissions"}"#);
    assert!(bypass.row().pending.is_empty());
    codex(r#"Prompt Perm(Bash x){"permission_mode":"bypassPermissions"} +60"#).views("working");
}

#[test]
fn h9_h10_tools_that_ask_wait_and_others_work() {
    table(
        r#"
        Prompt Pre(AskUserQuestion) -> waiting question
        Prompt Pre(ask_user_question) -> waiting question
        Prompt Pre(X){"questions":["a"]} -> waiting question
        Prompt Pre(X){"tool_input":{"options":["a"]}} -> waiting question
        Prompt Pre(X){"tool_input":{"choices":["a"]}} -> waiting question
        Prompt Pre(X){"questions":[],"tool_input":{"options":{"a":1},"choices":"a"}} -> working
        Prompt Pre(Bash x) -> working
        Prompt Pre(ExitPlanMode p) -> working
        "#,
    );
}

#[test]
fn h11_h45_a_tool_ends_every_wait_of_the_foreground() {
    for event in [
        "Pre(Bash ls)",
        "Post(Bash ls)",
        "Post",
        "PostToolUseFailure(Bash ls)",
        "PermissionDenied(Bash ls)",
        "PostToolBatch",
    ] {
        from_every_state(event, "working");
    }
    from_every_state(r#"PostToolUseFailure(Bash ls){"is_interrupt":true}"#, "idle");
}

#[test]
fn h12_h13_notifications_of_prompts_wait() {
    for state in ["Prompt", "Prompt D"] {
        for kind in [
            "permission_prompt",
            "worker_permission_prompt",
            "permission-prompt",
            " PERMISSION_PROMPT ",
        ] {
            after(&format!("{state} Note({kind})")).shows("waiting permission");
        }
        for kind in ["elicitation_dialog", "elicitation_url_dialog", "agent_needs_input"] {
            after(&format!("{state} Note({kind})")).shows("waiting question");
        }
    }
    after("Prompt Note(|Claude needs your permission to use Bash)").shows("waiting permission");
}

#[test]
fn h14_an_ordinary_notification_is_idle_also_from_waiting() {
    from_every_state("Note(auth_success)", "idle");
    from_every_state("Note(|hello)", "idle");
    after(r#"Prompt Note(|pick){"options":["a"]}"#).shows("waiting question");
}

#[test]
fn h15_h16_a_reminder_never_lowers_a_wait() {
    table(
        r#"
        Q Note(idle_prompt) -> waiting question
        Q Note(idle_prompt) +60 Note(idle_prompt) -> waiting question
        Prompt Note(idle_prompt) -> idle
        Q Note(idle_prompt){"requires_action":false} -> idle
        "#,
    );
    let done = after("Prompt D");
    let since = done.row().since_ms;
    let reminded = done.then("+60 Note(idle_prompt)").shows("idle");
    assert_eq!(reminded.row().since_ms, since);
    assert!(reminded.rings().is_empty());
    Session::of("claude-code")
        .with(|s| s.idle_prompt_keeps_waiting = false)
        .then("Q Note(idle_prompt)")
        .shows("idle");
}

#[test]
fn h18_h19_words_decide_by_the_agents_own_field_alone() {
    table(
        r#"
        Prompt Post(Bash){"waiting_for":"permission"} -> waiting permission
        Prompt Pre(Bash x){"reason":"prompt"} -> working
        Prompt Stop(Done.){"reason":"user"} -> idle
        "#,
    );
    Session::of("acme")
        .then(r#"Prompt Pre(Bash x){"reason":"prompt"}"#)
        .shows("idle");
    Session::of("acme")
        .then(r#"Prompt D{"reason":"user"}"#)
        .shows("waiting input");
}

#[test]
fn h20_the_end_deletes_the_row_and_a_prompt_makes_a_new_one() {
    for state in ["Start", "Prompt D", "Prompt Q"] {
        for reason in ["", "(clear)", "(resume)"] {
            let ended = after(&format!("{state} End{reason}")).shows("null");
            assert_eq!(ended.outcomes.last().unwrap().fate, Fate::Deleted);
            let ended = ended.then("+5 End").shows("null");
            assert_eq!(ended.last_effect(), Effect::NoRow);
            let again = ended.then("+5 Prompt").shows("working");
            assert_eq!((again.row().seq, again.row().created_ms), (1, again.now));
        }
    }
    after("End").shows("null");
}

#[test]
fn h21_h49_h87_other_events_are_signs_of_life_and_nothing_else() {
    for event in [
        "Tomorrow",
        r#"Tomorrow{"requires_action":true}"#,
        "TeammateIdle",
        "TaskCreated",
        "FileChanged",
        "SessionHeartbeat",
        "MessageDisplay",
        "PreSkillShellCommand",
    ] {
        after(event).shows("null");
        for state in ["Prompt", "Prompt D", "Prompt Q"] {
            let before = after(state);
            let mut expected = before.row().clone();
            let later = before.then(&format!("+7 {event}"));
            expected.seen_ms += 7_000;
            expected.seen_only += 1;
            assert_eq!(later.row(), &expected, "{state} {event}");
        }
    }
}

#[test]
fn h22_parts_of_words_make_no_plan() {
    for text in ["terraform plan", "an explanation", "airplane"] {
        after(&format!("Prompt Perm(Bash {text}) +6 Note(permission_prompt)")).shows("waiting permission");
    }
    after(r#"Prompt Post(Bash x){"waiting_for":"plan_approval"}"#).shows("waiting plan");
}

#[test]
fn h41_the_same_payload_twice_counts_once() {
    let twice = after("Prompt Q +1 Q");
    assert_eq!(twice.last_effect(), Effect::Duplicate);
    assert_eq!(twice.rings().len(), 1);
    assert_eq!(twice.row().seq, 2);
    after("Prompt Pre(AskUserQuestion A?)@1 Post(AskUserQuestion)@1 Pre(AskUserQuestion A?)@1").shows("working");
    let again = after("Q Prompt Q");
    assert_eq!(again.rings(), ["wait-1", "wait-2"]);
    assert_eq!(after("Prompt Q +2 Q").last_effect(), Effect::Duplicate);
    assert_eq!(after("Prompt Q +2.1 Q").last_effect(), Effect::Applied);
}

#[test]
fn h42_running_tasks_keep_a_finished_turn_working() {
    let list = r#"{"background_tasks":[{"id":"a","type":"shell","status":"running"},
        {"id":"b","type":"subagent","status":"running"},{"id":"c","type":"shell","status":"completed"}]}"#
        .replace('\n', "");
    let two = after(&format!("Prompt D{list}")).shows("working");
    assert_eq!(two.row().note, "background 2");
    assert_eq!(two.row().turn.outcome, "done");
    let asks = after(&format!("Prompt Q{list}")).shows("waiting question");
    asks.then("+5 Note(|hello)").shows("working");
    let none = after(&format!("Prompt D{list} +5 D{{\"background_tasks\":[]}}")).shows("idle");
    assert_eq!(none.row().note, "");
    let filtered = Session::of("claude-code")
        .with(|s| s.background_task_types = vec!["subagent".into()])
        .then(&format!("Prompt D{list}"));
    assert_eq!(filtered.row().background, 1);
    after(&format!("Prompt D{list} +60 Note(idle_prompt)")).shows("working");
}

#[test]
fn h44_a_failure_is_idle_with_its_error() {
    let failed = after("Prompt Fail(rate_limit)").shows("idle");
    assert_eq!(failed.row().turn.outcome, "failed");
    assert_eq!(failed.row().turn.error, "rate_limit");
    assert_eq!(failed.row().note, "error: rate_limit");
    let stopped = after("Prompt Fail(user_interrupted)").shows("idle");
    assert_eq!(stopped.row().turn.outcome, "interrupted");
    assert_eq!(stopped.then("+5 Prompt").row().note, "");
}

#[test]
fn h46_a_compaction_gives_back_what_was_there() {
    table(
        "
        Prompt D PreCompact Start(compact) PostCompact -> idle
        Prompt PreCompact PostCompact -> working
        Prompt PreCompact Start(compact) PostCompact -> working
        ",
    );
    let asked = after("Prompt Q");
    let id = asked.wait().id.clone();
    let same = asked
        .then("PreCompact Start(compact) PostCompact")
        .shows("waiting question");
    assert_eq!(same.wait().id, id);
    assert_eq!(same.rings().len(), 1, "the question has rung before");
    assert_eq!(after("Prompt PreCompact").row().note, "compacting");
    assert_eq!(after("Prompt PreCompact PostCompact").row().note, "");
    let worked = after("Prompt D PreCompact Pre(Bash x) PostCompact").shows("working");
    assert!(worked.row().before.is_none());
}

#[test]
fn h47_a_compaction_whose_start_comes_last_is_seen_through_by_readers() {
    let late = after("Prompt D PreCompact PostCompact Start(compact)").shows("working");
    late.then("+10").views("working").then("+1").views("idle");
    let asked = after("Prompt Q PreCompact PostCompact Start(compact) +11");
    assert_eq!(asked.view().rule, "V2");
    assert_eq!(asked.view().waits.len(), 1);
}

#[test]
fn h48_an_elicitations_answer_ends_its_own_wait_only() {
    let asked = after("Prompt Elicitation(Which schema?) +6 Note(elicitation_dialog)");
    assert_eq!(asked.rings(), ["wait-1"]);
    let asked = asked.shows("waiting question \"Which schema?\" | 1");
    asked.then("+1 Note(elicitation_complete)").shows("working");
    table(
        "
        Prompt Elicitation(Which?) ElicitationResult -> working
        Prompt Elicitation(Which?) ElicitationResult Note(elicitation_complete) -> working
        Prompt Note(elicitation_dialog) Note(elicitation_response) -> working
        Prompt Note(elicitation_complete) -> idle
        Note(elicitation_complete) -> idle
        Prompt Q Note(elicitation_complete) -> waiting question
        Prompt Pre(AskUserQuestion A?) Note(elicitation_response) -> waiting question
        Prompt Perm(Bash x) Note(permission_prompt) Note(elicitation_complete) -> waiting permission
        ",
    );
}

#[test]
fn h51_folders_titles_and_actions_survive_events_that_bring_none() {
    let row = after(r#"Prompt(fix the test) Post(Bash ls){"cwd":"/w/app/sub"} Post{"cwd":""}"#);
    let row = row.row();
    assert_eq!((row.origin_cwd.as_str(), row.cwd.as_str()), ("/w/app", "/w/app/sub"));
    assert_eq!(
        (row.last_action.as_str(), row.title.as_str()),
        ("Bash: ls", "fix the test")
    );
    let moved = after(r#"Prompt CwdChanged{"new_cwd":"/w/other"}"#);
    assert_eq!(moved.row().cwd, "/w/other");
    assert_eq!(moved.row().origin_cwd, "/w/app");
}

#[test]
fn the_title_is_the_payloads_else_the_first_line_of_the_first_prompt() {
    let row = after(r#"Prompt{"prompt":"\n first  line\nsecond"} Prompt(another)"#);
    assert_eq!(row.row().title, "first line");
    assert_eq!(
        after(r#"Prompt Post{"session_title":"mine"} Prompt(x)"#).row().title,
        "mine"
    );
    assert_eq!(
        after(r#"Prompt Note(auth_success){"title":"Claude Code"}"#).row().title,
        "fix it"
    );
}

#[test]
fn h28_without_details_only_names_of_tools_are_stored() {
    let quiet = |events: &str| {
        Session::of("claude-code")
            .with(|s| s.store_details = false)
            .then(events)
    };
    for events in [
        "Prompt(SECRET) Perm(Bash SECRET) +6 Note(permission_prompt|SECRET)",
        "Prompt(SECRET) Pre(AskUserQuestion SECRET?)",
        "Prompt(SECRET) Stop(SECRET?)",
        r#"Prompt(SECRET){"title":"SECRET"} Note(permission_prompt|SECRET)"#,
        "Prompt Elicitation(SECRET)",
    ] {
        let row = quiet(events);
        assert_eq!(row.row().status, "waiting");
        assert!(!row.row().to_json().contains("SECRET"), "{events}");
    }
    quiet("Prompt Perm(Bash x) +6 Note(permission_prompt)").shows("waiting permission \"Bash\"");
    quiet("Prompt Perm(Bash x) +1 Post(Bash x)@9 +6 Note(permission_prompt)").shows("waiting permission \"\"");
}

#[test]
fn h28_long_texts_do_not_make_a_long_row() {
    let long = "x".repeat(2_000_000);
    let row = after(&format!(
        "Prompt({long}) Note(permission_prompt|{long})^{long}~{long} Post(Bash {long})@{long}#{long}"
    ));
    assert!(row.row().to_json().len() < 8 * 1024);
}
