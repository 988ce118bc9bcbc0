//! Hook rows beside what agents wrote themselves.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its world has failed")]

mod scene;

use scene::claude::{assistant, bookkeeping, call, denied, end, interrupted, result, text, user};
use scene::{HOUR, MIN, NOW, OLD, Scene, process, touch, wait};
use serde_json::{Value, json};
use std::fs;

/// Claude Code in a terminal, and a hook row of it.
fn with(state: &str, ago: i64, set: Value) -> Scene {
    let s = Scene::new();
    s.claude(42).up();
    rewrite(&s, state, ago, set);
    s
}

fn rewrite(s: &Scene, state: &str, ago: i64, set: Value) {
    let mut all = json!({"process":process(42, OLD, false)});
    for (name, value) in set.as_object().into_iter().flatten() {
        all[name] = value.clone();
    }
    s.row("claude-code", "s1", state, ago, all);
}

fn waits(owner: &str, kind: &str, event: &str, ago: i64) -> Value {
    json!({"waits":[wait(owner, kind, event, ago)]})
}

fn last(event: &str, rule: &str) -> Value {
    json!({"event":event,"native":event,"owner":"foreground","rule":rule,"source":""})
}

#[test]
fn c2_a_row_is_shown_as_it_is_and_goes_with_its_file() {
    let s = with(
        "working",
        5000,
        json!({"title":"my work","last_action":"Bash: ls","todo":[2,5],"model":"m"}),
    );
    let row = s.is("working", "hook");
    assert_eq!(row["title"], "my work");
    assert_eq!(row["last_action"], "Bash: ls");
    assert_eq!(row["todo"], json!({"done":2,"total":5}));
    assert_eq!(row["model"], "m");
    assert_eq!(row["evidence"], json!(["hook:PreToolUse"]));
    assert_eq!(row["sources"], json!(["hook"]));
    fs::remove_file(s.world.path("state/status/claude-code:s1.json")).unwrap();
    assert!(s.rows().iter().all(|r| r["session_id"] != "s1"));
    rewrite(&s, "idle", 1000, json!({}));
    s.is("idle", "hook");
}

#[test]
fn c7_codex_silence_after_a_bare_request_is_waiting_and_never_written() {
    let s = Scene::new();
    s.codex(42).up();
    let pending = json!([{"owner":"foreground","tool":"shell","tool_use_id":"","kind":"permission","detail":"shell: rm x","at_ms":NOW}]);
    let set = json!({"process":process(42, OLD, false),"last":last("PermissionRequest", "permission_bare"),"pending":pending});
    let path = s.row("codex", "s1", "working", 0, set);
    let before = fs::read(&path).unwrap();
    let at = |later| s.board_at(later, &[])["sessions"][0].clone();
    assert_eq!(at(10_000)["status"], "working");
    let silent = at(11_000);
    assert_eq!(
        (silent["status"].as_str(), silent["rule"].as_str()),
        (Some("waiting"), Some("hook_wait"))
    );
    assert_eq!(silent["waiting"]["detail"], "shell: rm x");
    assert_eq!(fs::read(&path).unwrap(), before);
    s.row(
        "codex",
        "s1",
        "working",
        -11_500,
        json!({"process":process(42, OLD, false)}),
    );
    assert_eq!(at(12_000)["status"], "working");
}

#[test]
fn c8_newer_evidence_ends_a_turn_that_no_hook_ended() {
    let s = with("working", MIN, json!({}));
    s.live(42, "s1", "idle", 5000);
    s.is("idle", "live_idle");
    let s = with("working", MIN, json!({}));
    s.transcript("s1", &[user(2 * MIN, "hello"), interrupted(5000)]);
    s.is("idle", "tail_over");
    s.transcript("s1", &[user(3 * MIN, "hello"), interrupted(2 * MIN)]);
    s.is("working", "hook");
}

#[test]
fn c8_codex_aborts_a_turn_in_its_rollout() {
    let s = Scene::new();
    let id = "01a22c89-b7aa-7c51-aee3-61c164103a8d";
    s.codex(42).up();
    s.row("codex", id, "working", MIN, json!({"process":process(42, OLD, false)}));
    let lines = |ago| {
        vec![
            scene::codex::started(3 * MIN),
            scene::codex::prompt(3 * MIN, "go"),
            scene::codex::aborted(ago),
        ]
    };
    s.rollout(id, json!({}), &lines(5000));
    s.is("idle", "tail_over");
    s.rollout(id, json!({}), &lines(2 * MIN));
    s.is("working", "hook");
}

#[test]
fn c9_a_permission_wait_ends_by_a_live_record_a_result_a_denial_or_an_interrupt() {
    let asking = || with("working", MIN, waits("foreground", "permission", "Notification", MIN));
    let s = asking();
    s.is("waiting", "hook_wait");
    s.live(42, "s1", "busy", 5000);
    s.is("working", "live_busy");
    s.live(42, "s1", "idle", 5000);
    s.is("idle", "live_idle");
    let s = asking();
    let before = [user(3 * MIN, "hello"), call(2 * MIN, "c", "Bash")];
    s.transcript("s1", &[&before[..], &[result(5000, "c")]].concat());
    s.is("working", "record_open");
    s.transcript("s1", &[&before[..], &[denied(5000, "c")]].concat());
    s.is("idle", "record_over");
    s.transcript("s1", &[&before[..], &[interrupted(5000)]].concat());
    s.is("idle", "tail_over");
}

#[test]
fn c10_what_is_no_evidence_leaves_the_wait() {
    let s = with("working", MIN, waits("foreground", "permission", "Notification", MIN));
    let before = [user(3 * MIN, "hello"), call(2 * MIN, "c", "Bash")];
    let path = s.transcript("s1", &[&before[..], &[bookkeeping(5000)]].concat());
    s.is("waiting", "hook_wait");
    touch(&path, NOW);
    s.is("waiting", "hook_wait");
    // a call of the same message is still open
    s.transcript(
        "s1",
        &[&before[..], &[call(2 * MIN, "d", "Read"), result(5000, "d")]].concat(),
    );
    s.is("waiting", "hook_wait");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    s.is("waiting", "hook_wait");
    let s = with("working", MIN, waits("foreground", "question", "Elicitation", MIN));
    s.live(42, "s1", "busy", 2 * MIN);
    assert_eq!(s.is("waiting", "hook_wait")["waiting"]["kind"], "question");
}

#[test]
fn c11_a_question_of_stop_ends_by_a_persons_prompt_only() {
    let s = with("idle", MIN, waits("foreground", "question", "Stop", MIN));
    let turn = [
        user(3 * MIN, "hello"),
        assistant(MIN - 1000, Some("end_turn"), text("Shall I?")),
    ];
    let after = json!({"type":"system","subtype":"turn_duration","durationMs":5,"timestamp":scene::iso(MIN - 1500)});
    s.transcript("s1", &[&turn[..], &[after]].concat());
    s.is("waiting", "hook_wait");
    s.live(42, "s1", "idle", 10_000);
    s.is("waiting", "hook_wait");
    fs::remove_file(s.world.path("home/.claude/sessions/42.json")).unwrap();
    s.transcript("s1", &[&turn[..], &[user(5000, "yes")]].concat());
    s.is("working", "record_open");
}

#[test]
fn c12_a_childs_wait_is_named_and_ends_by_the_childs_own_record() {
    let mut asked = wait("agent:a1", "permission", "Notification", MIN);
    asked["agent_type"] = "Explore".into();
    let s = with("working", MIN, json!({"waits":[asked]}));
    let row = s.is("waiting", "hook_wait");
    assert_eq!(row["waiting"]["owner"], "agent:a1");
    assert_eq!(row["waiting"]["owner_type"], "Explore");
    s.transcript("s1", &[user(2 * MIN, "hello"), end(5000), user(3000, "more")]);
    s.is("waiting", "hook_wait");
    let side = |mut line: Value| {
        line["isSidechain"] = true.into();
        line
    };
    let child = |lines: &[Value]| s.transcript_in("home/.claude/projects/-w-app/s1/subagents", "agent-a1", lines);
    child(&[side(user(3 * MIN, "look")), side(call(2 * MIN, "c", "Bash"))]);
    s.is("waiting", "hook_wait");
    child(&[
        side(user(3 * MIN, "look")),
        side(call(2 * MIN, "c", "Bash")),
        side(result(5000, "c")),
    ]);
    s.is("working", "record_open");
}

#[test]
fn c13_a_live_record_wakes_an_idle_row() {
    let s = with("idle", MIN, json!({}));
    s.live(42, "s1", "busy", 5000);
    s.is("working", "live_busy");
    s.waiting(42, "s1", "permission prompt", 5000);
    s.is("waiting", "live_waiting");
    // a Stop hook sent the turn on: busy from before Stop
    rewrite(&s, "idle", 2001, json!({}));
    s.live(42, "s1", "busy", MIN);
    s.is("working", "live_busy");
    rewrite(&s, "idle", 1900, json!({}));
    s.is("idle", "hook");
}

#[test]
fn c14_a_turn_without_a_hook_wakes_an_idle_row_and_other_lines_do_not() {
    let s = with("idle", MIN, json!({}));
    let working = |ago| assistant(ago, None, text("I will"));
    s.transcript("s1", &[user(20_000, "hello"), working(10_000)]);
    s.is("working", "tail_turn");
    let old = [user(3 * MIN, "hello"), end(MIN)];
    let mut task = user(20_000, "<task-notification>done</task-notification>");
    task["origin"] = json!({"kind":"task-notification"});
    let local = user(20_000, "<local-command-stdout>x</local-command-stdout>");
    let mut meta = user(20_000, "caveat");
    meta["isMeta"] = true.into();
    let mut compact = user(20_000, "This session is being continued");
    compact["isCompactSummary"] = true.into();
    for line in [task, local, meta, compact] {
        s.transcript("s1", &[&old[..], std::slice::from_ref(&line)].concat());
        s.is("idle", "hook");
    }
}

#[test]
fn c17_a_failed_turn_is_idle_with_its_error() {
    let failed = json!({"turn":{"id":"t","state":"idle","started_ms":NOW - MIN,"ended_ms":NOW - MIN,"outcome":"failed","error":"rate_limit"}});
    let s = with("idle", MIN, failed);
    assert_eq!(s.is("idle", "hook")["note"], "error: rate_limit");
    s.live(42, "s1", "idle", 5000);
    assert_eq!(s.is("idle", "live_idle")["note"], "error: rate_limit");
}

#[test]
fn c18_silent_hooks_are_named_on_the_board_and_by_doctor() {
    let s = with("working", 5 * MIN, json!({}));
    s.transcript("s1", &[user(6 * MIN, "hello"), call(3 * MIN, "c", "Bash")]);
    let row = s.is("working", "hook");
    assert_eq!(row["hook_stale"], true);
    assert_eq!(row["note"], "hooks silent");
    let doctor = s.world.scan(&["doctor", "--format", "json"]).json();
    let silent = doctor["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["text"].as_str().unwrap().contains("silent"));
    assert!(
        silent.is_some_and(|c| c["id"].as_str().unwrap().contains("claude-code")),
        "{doctor:#}"
    );
}

#[test]
fn c30_a_session_that_was_only_started_shows_as_its_view_says() {
    let s = with(
        "working",
        119_000,
        json!({"last":last("SessionStart", "session_start"),
        "term":{"tty":"/dev/pts/3","tmux_pane":"","tmux_socket":"","other":""}}),
    );
    s.is("working", "hook");
    rewrite(
        &s,
        "working",
        121_000,
        json!({"last":last("SessionStart", "session_start"),
        "term":{"tty":"/dev/pts/3","tmux_pane":"","tmux_socket":"","other":""}}),
    );
    assert_eq!(s.is("idle", "hook")["note"], "no prompt yet");
    // an editor's probe: no terminal
    rewrite(
        &s,
        "working",
        121_000,
        json!({"last":last("SessionStart", "session_start")}),
    );
    assert_eq!(s.get("claude-code:s1")["status"], "ended");
}

#[test]
fn c31_a_row_of_an_agent_that_cannot_be_told_ends_by_age() {
    let s = Scene::new();
    s.row("acme", "s1", "idle", HOUR, json!({}));
    assert_eq!(s.is("idle", "hook")["process"]["state"], "unknown");
    s.row("acme", "s1", "idle", 4 * 24 * HOUR, json!({}));
    s.is("ended", "aged");
}

#[test]
fn c67_nothing_but_words_makes_waiting_also_beside_an_idle_row() {
    let s = with("idle", MIN, json!({}));
    s.transcript("s1", &[user(50_000, "hello"), call(40_000, "c", "AskUserQuestion")]);
    let row = s.is("working", "tail_turn");
    assert_eq!(row["note"], "asks");
}

#[test]
fn c57_explain_tells_each_fact_and_the_rule_that_decided() {
    let s = with("working", 5 * MIN, json!({}));
    s.live(42, "s1", "idle", 5000);
    s.transcript("s1", &[user(6 * MIN, "hello"), interrupted(6000)]);
    let told = s.world.scan(&["explain", "s1", "--format", "json"]).json();
    assert_eq!(
        (told["status"].as_str(), told["rule"].as_str()),
        (Some("idle"), Some("live_idle"))
    );
    let facts = told["facts"].as_array().unwrap();
    let of = |source: &str| facts.iter().find(|f| f["source"] == source).unwrap();
    assert_eq!(of("hook")["at_ms"], NOW - 5 * MIN);
    assert_eq!(of("registry")["fact"], "idle");
    assert_eq!(of("transcript")["fact"], "interrupted");
    assert!(of("process")["fact"].as_str().unwrap().contains("alive"));
    let rules = told["rules"].as_array().unwrap();
    assert_eq!(rules.iter().filter(|r| r["applies"] == true).count(), 1);
    assert_eq!(rules.last().unwrap()["rule"], "live_idle");
    assert!(rules.iter().all(|r| !r["why"].as_str().unwrap().is_empty()));
}

#[test]
fn the_tail_of_a_record_that_is_older_than_the_row_is_not_needed() {
    let s = with("working", 5000, json!({"title":"known"}));
    let path = s.transcript("s1", &[user(3 * MIN, "hello"), end(2 * MIN)]);
    s.is("working", "hook");
    // it is not opened: what cannot be read is not missed
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/proc/self/mem", &path).unwrap();
    s.is("working", "hook");
    assert_eq!(s.board(&[])["partial"], false);
}

#[test]
fn c53_moments_that_no_calendar_has_break_nothing() {
    for number in [i64::MIN, -1, 0, i64::MAX] {
        let moment = json!(number);
        let mut before = json!({"turn":{"id":"t","state":"working","started_ms":number},"waits":[],"background":0});
        before["at_ms"] = moment.clone();
        for state in ["working", "idle"] {
            let s = with(
                state,
                5000,
                json!({"since_ms":moment,"created_ms":moment,"event_ms":moment,"foreground_ms":moment,"seen_ms":moment,
                    "agent_ms":moment,"before":before,
                    "turn":{"id":"t","state":state,"started_ms":number,"ended_ms":number},
                    "pending":[{"owner":"foreground","tool":"Bash","kind":"permission","at_ms":number}],
                    "children":[{"id":"a","type":"x","since_ms":number,"seen_ms":number}],
                    "waits":[{"id":"w","owner":"foreground","kind":"permission","detail":"d","since_ms":number}]}),
            );
            assert_eq!(s.only()["key"], "claude-code:s1", "{number} {state}");
        }
    }
}
