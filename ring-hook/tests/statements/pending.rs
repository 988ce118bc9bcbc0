//! Bare requests, remembered for the prompt that may follow.

use super::notation::{after, table};

#[test]
fn h4_a_prompt_says_what_was_requested() {
    let asked = after("Prompt Perm(Bash git push)").shows("working");
    assert_eq!(asked.row().pending.len(), 1);
    let shown = asked
        .then("+6 Note(permission_prompt)")
        .shows("waiting permission \"Bash: git push\" | 1");
    assert!(shown.row().pending.is_empty());
    assert_eq!(
        (shown.wait().tool.as_str(), shown.wait().event.as_str()),
        ("Bash", "Notification")
    );
    assert_eq!(shown.row().last.rule, "notify_prompt");
}

#[test]
fn h5_a_request_is_kept_for_120_seconds_by_any_clock() {
    table(
        r#"
        Prompt Perm(Bash git push) +121 Note(permission_prompt) -> waiting permission "own message"
        Prompt Perm(Bash git push) +120 Note(permission_prompt) -> waiting permission "Bash: git push"
        Prompt Perm(Bash git push) +-3600 Note(permission_prompt) -> waiting permission "Bash: git push"
        Prompt Perm(Bash git push) +-3600 FileChanged +3720 Note(permission_prompt) -> waiting permission "Bash: git push"
        "#,
    );
}

#[test]
fn h23_a_question_its_request_and_its_prompt_are_one_wait() {
    let all = after("Prompt Pre(AskUserQuestion Which db?) Perm(AskUserQuestion Which db?) +6 Note(permission_prompt)");
    assert_eq!(all.rings(), ["wait-1"]);
    let all = all.shows("waiting question \"AskUserQuestion: Which db?\" | 1");
    assert_eq!(all.wait().id, "wait-1");
    let named =
        after("Prompt Pre(AskUserQuestion Which db?)@7 Perm(AskUserQuestion Which db?) Note(permission_prompt)");
    assert_eq!(named.rings(), ["wait-1"]);
    assert_eq!(named.wait().tool_use_id, "7");
}

#[test]
fn h24_only_a_request_that_surely_fits_is_taken_over() {
    table(
        r#"
        Prompt Perm(Bash one)@1 Perm(Bash two)@2 Note(permission_prompt) -> waiting permission "own message"
        Prompt Perm(Bash one)@1 Perm(Bash two)@2 Note(permission_prompt)@2 -> waiting permission "Bash: two"
        Prompt Perm(Bash one)@1 Perm(Bash two)@2 Post(Bash one)@1 Note(permission_prompt) -> waiting permission "Bash: two"
        Prompt Perm(Bash one)@1 Perm(Bash two)@2 Post(Bash one) Note(permission_prompt) -> waiting permission "own message"
        Prompt Perm(Bash one) Perm(Bash two) Note(permission_prompt) -> waiting permission "Bash: two"
        Prompt Perm(Bash one) Post(Bash one)@9 Note(permission_prompt) -> waiting permission "own message"
        Prompt Perm(Bash one) Post(Bash two)@9 Note(permission_prompt) -> waiting permission "Bash: one"
        Prompt Perm(Bash one) Post(Bash one) Note(permission_prompt) -> waiting permission "own message"
        Prompt Perm(Bash one)@1 Note(permission_prompt)@7 -> waiting permission "own message"
        Prompt Perm(Bash one) PostToolUseFailure(Bash one) Note(permission_prompt) -> waiting permission "own message"
        Prompt Perm(Bash one) PermissionDenied(Bash one) Note(permission_prompt) -> waiting permission "own message"
        Prompt Perm(Bash one) Pre(Read x) Note(permission_prompt) -> waiting permission "Bash: one"
        Prompt Perm(Bash one) Note(idle_prompt) Note(permission_prompt) -> waiting permission "Bash: one"
        Prompt Perm Note(permission_prompt) -> waiting permission "own message"
        "#,
    );
    let two = after("Prompt Note(permission_prompt|one) Note(permission_prompt|another)");
    assert_eq!(two.rings(), ["wait-1", "wait-2"]);
    two.shows("waiting permission \"another\" | 1");
}

#[test]
fn h25_a_reminder_keeps_the_known_text_and_the_id() {
    for id in ["", "@7"] {
        let twice = after(&format!(
            "Prompt Perm(Bash x){id} Note(permission_prompt) +200 Note(permission_prompt){id}"
        ));
        assert_eq!(twice.rings(), ["wait-1"], "{id}");
        twice.shows("waiting permission \"Bash: x\" | 1");
    }
    table(
        r#"
        Prompt Perm(Bash x) Prompt(b) Note(permission_prompt) -> waiting permission "own message"
        Prompt Perm(Bash x) D Note(permission_prompt) -> waiting permission "own message"
        Prompt Perm(Bash x) Start Note(permission_prompt) -> waiting permission "own message"
        "#,
    );
}

#[test]
fn h26_a_plan_and_its_prompt_are_one_wait() {
    let plan = after("Prompt Pre(ExitPlanMode do_it) Perm(ExitPlanMode do_it) +6 Note(permission_prompt)");
    assert_eq!(plan.rings(), ["wait-1"]);
    let plan = plan.shows("waiting plan | 1");
    plan.then("Post(ExitPlanMode do_it)").shows("working");
    after("Prompt Note(permission_prompt|)").shows("waiting permission \"\"");
}

#[test]
fn h87_a_request_that_nobody_shows_leaves_the_row_working() {
    after("Prompt Perm(Bash x) +3 Pre(Read y) Post(Read y) D").shows("idle");
}

#[test]
fn remembered_requests_are_bounded() {
    let many: String = (0..40).map(|n| format!("Perm(Bash {n})@{n} ")).collect();
    let row = after(&format!("Prompt {many}"));
    assert_eq!(row.row().pending.len(), 16);
    assert_eq!(row.row().pending[15].detail, "Bash: 39");
}
