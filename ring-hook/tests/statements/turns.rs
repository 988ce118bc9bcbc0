//! Turns are ended once: what comes late wakes nothing, what sends the agent on does.

use super::notation::{after, codex, table};
use ring_hook::advance::Effect;

#[test]
fn h38_late_ends_of_a_closed_turn_wake_nothing_and_later_starts_do() {
    let done = || after("Prompt#1 D#1");
    let late = done().then("+5 Post(Bash x)#1").shows("idle");
    assert_eq!(late.last_effect(), Effect::SeenOnly);
    assert_eq!(late.row().seen_ms, late.now);
    done().then("+1 Pre(Bash x)#1").shows("idle");
    done().then("+3 Pre(Bash x)#1").shows("working");
    done()
        .then("Pre(AskUserQuestion A?)#1")
        .shows("waiting question")
        .then("Post(AskUserQuestion A?)#1")
        .shows("working");
    let again = after("Prompt#1 +5 D#1 +5 Prompt(b)#1").shows("working");
    assert_eq!(again.row().turn.started_ms, again.now - 10_000);
    assert_eq!(again.row().turns, [("1".to_owned(), 0, String::new())]);
}

#[test]
fn h39_an_old_turn_cannot_end_a_new_one() {
    let two = after("Prompt#1 Prompt(b)#2 D#1").shows("working");
    assert_eq!(two.last_effect(), Effect::SeenOnly);
    two.then("D#2").shows("idle").then("D#9").shows("idle");
    let same = after("Prompt#1 +5 Prompt(b)#1");
    assert_eq!(same.row().turn.started_ms, same.now - 5_000);
    let new = after("Prompt#1 +5 Prompt(b)#2");
    assert_eq!(new.row().turn.started_ms, new.now);
    let none = after("Prompt +5 Prompt(b)");
    assert_eq!(none.row().turn.started_ms, none.now);
}

#[test]
fn h40_denying_is_interrupting_and_nothing_late_wakes_it() {
    let denied = codex("Prompt#1 Perm(Bash x)#1 Interrupt#1").shows("idle");
    assert_eq!(
        (denied.row().note.as_str(), denied.row().turn.outcome.as_str()),
        ("interrupted", "interrupted")
    );
    assert!(denied.row().pending.is_empty());
    let late = denied
        .then("+30 Post(Bash x)#1")
        .shows("idle")
        .then("+30 Pre(Bash y)#1")
        .shows("idle");
    let next = late.then("Prompt(b)#2").shows("working");
    next.then("Pre(request_user_input Which?)#2").shows("waiting question");
}

#[test]
fn h79_a_request_right_behind_its_turns_stop_is_no_wait() {
    let late = after("Prompt#1 D#1 +1 Perm(ExitPlanMode p)#1").shows("idle");
    assert!(late.row().pending.is_empty() && late.rings().is_empty());
    table(
        r#"
        Prompt#1 D#1 +3 Perm(ExitPlanMode p)#1 -> waiting plan
        Prompt#1 D#1 Perm(Bash x)#1 +6 Note(permission_prompt) -> waiting permission "own message"
        Prompt#1 D#1 Prompt(b)#2 Perm(ExitPlanMode p)#2 -> waiting plan
        Prompt#1 D#1 +1 Perm(Bash x)#1{"requires_action":true} -> waiting permission
        Prompt#1 D#1 +1 Perm(Bash x)#1{"waiting_for":"approval"} -> waiting permission
        "#,
    );
    // A prompt that is on screen after all keeps its way out.
    after("Prompt#1 D#1 Perm(Bash x)#1 +6 Note(permission_prompt)#1 +5 Post(Bash x)#1").shows("working");
}

#[test]
fn h80_a_queued_prompt_ends_with_the_turn_and_new_ids_open_turns() {
    let done = after("Prompt#1 +1 Prompt(queued)#1 D#1").shows("idle");
    let next = done.then("Pre(Bash x)#2").shows("working");
    assert_eq!((next.row().turn.id.as_str(), next.row().turn.started_ms), ("2", 0));
    next.then("D#2").shows("idle");
    after("D#7").shows("idle");
    after("Prompt#1 D#7").shows("idle");
}

#[test]
fn h82_a_failed_request_to_the_model_is_a_note() {
    let failed = codex(r#"Prompt#1 PostModelRequest#1{"status":"failed","error":"overloaded"}"#).shows("working");
    assert!(failed.row().note.starts_with("error"), "{}", failed.row().note);
    let tried = failed
        .then(r#"+1 PreModelRequest#1 PostModelRequest#1{"status":"completed"}"#)
        .shows("working");
    assert_eq!(tried.row().note, "");
    let cancelled = codex(r#"Prompt#1 D#1 PostModelRequest#1{"status":"cancelled"}"#).shows("idle");
    assert_eq!(cancelled.last_effect(), Effect::SeenOnly);
}

#[test]
fn h83_a_codex_session_that_ends_can_be_resumed() {
    let ended = codex("Prompt#1 D#1 End").shows("null");
    ended.then("Start(resume) Prompt#2").shows("working");
}

#[test]
fn h112_a_request_to_the_model_right_behind_the_stop_wakes_nothing() {
    codex("Prompt#1 D#1 +1 PreModelRequest#1").shows("idle");
    codex("Prompt#1 Interrupt#1 +60 PreModelRequest#1").shows("idle");
    codex("Prompt#1 D#1 +3 PreModelRequest#1").shows("working");
}

#[test]
fn h115_a_question_outlives_the_end_of_the_request_that_brought_it() {
    let asked =
        codex(r#"Prompt#1 PreModelRequest#1 Pre(request_user_input A?)#1 PostModelRequest#1{"status":"completed"}"#);
    asked
        .shows("waiting question")
        .then("Post(request_user_input A?)#1")
        .shows("working");
    codex("Prompt#1 Pre(request_user_input A?)#1 PreModelRequest#2").shows("working");
    codex("Prompt#1 Q#1 +3 PreModelRequest#1").shows("working");
}

#[test]
fn h50_an_event_with_an_old_stamp_is_only_seen() {
    let stamp = |name: &str, at: u32| format!(r#"{name}{{"timestamp":{}}}"#, 1_800_000_000 + at);
    let old = after(&format!("{} {}", stamp("Prompt", 50), stamp("D", 40)));
    assert_eq!(old.last_effect(), Effect::SeenOnly);
    old.shows("working");
    after(&format!("{} {}", stamp("D", 50), stamp("Prompt", 40))).shows("working");
    after(&format!("{} {}", stamp("Prompt", 50), stamp("D", 50))).shows("idle");
}

#[test]
fn closed_turns_are_remembered_eight_deep() {
    let many: String = (0..20).map(|n| format!("Prompt(p{n})#{n} D#{n} ")).collect();
    let row = after(&many);
    assert_eq!(row.row().turns.len(), 8);
    assert_eq!(row.row().turns[7].0, "19");
    assert_eq!(row.row().turns[7].2, "Stop");
}
