//! Claude Code's transcripts without hooks and without live records.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its world has failed")]

mod scene;

use scene::claude::{assistant, bookkeeping, call, denied, end, interrupted, result, text, user};
use scene::{HOUR, MIN, NOW, Scene, iso, touch};
use serde_json::{Value, json};
use std::fs;

/// A client in the folder of the record, and the record.
fn with(lines: &[Value]) -> Scene {
    let s = Scene::new();
    s.claude(42).up();
    s.transcript("s1", &placed(&s, lines));
    s
}

/// The lines, the first one with the folder of the session.
fn placed(s: &Scene, lines: &[Value]) -> Vec<Value> {
    let mut lines = lines.to_vec();
    lines[0]["cwd"] = s.cwd("w/app").into();
    lines
}

#[test]
fn c3_marks_and_process_decide_without_hooks() {
    with(&[user(MIN, "hello"), end(MIN)]).is("idle", "record_over");
    let s = with(&[user(MIN, "hello"), call(MIN, "c", "Bash")]);
    let row = s.is("working", "record_open");
    assert_eq!(row["process"], json!({"pid":42,"state":"near"}));
    assert_eq!(row["last_action"], "Bash: cargo test");
    s.exit(42);
    s.is("ended", "gone");
    assert_eq!(s.board(&[])["sessions"], json!([]));
}

#[test]
fn c3_a_record_is_idle_for_six_hours_and_then_over() {
    let idle = with(&[user(8 * HOUR, "hello"), end(21_600_000)]);
    idle.is("idle", "record_over");
    let over = with(&[user(8 * HOUR, "hello"), end(21_600_001)]);
    let ended = over.get("claude-code:s1");
    assert_eq!(
        (ended["status"].as_str(), ended["rule"].as_str()),
        (Some("ended"), Some("aged"))
    );
    // what is left on the board is the client that is still open
    let left = over.board(&[])["sessions"].clone();
    assert_eq!(left.as_array().unwrap().len(), 1);
    assert_eq!(left[0]["kind"], "process");
}

#[test]
fn c4_no_shape_of_a_transcript_is_waiting() {
    for tool in ["AskUserQuestion", "ExitPlanMode"] {
        let row = with(&[user(MIN, "hello"), call(MIN, "c", tool)]).is("working", "record_open");
        assert_eq!(row["note"], "asks", "{tool}");
    }
    let long = with(&[user(6 * HOUR, "hello"), call(5 * HOUR, "c", "Bash")]).is("working", "record_open");
    assert_eq!(long["note"], "quiet 300 min");
    with(&[user(5 * HOUR, "hello")]).is("working", "record_open");
}

#[test]
fn c17_an_api_error_is_idle_with_its_name_and_a_retry_is_work() {
    let mut failed = assistant(MIN, Some("stop_sequence"), text("API Error: rate limit"));
    failed["isApiErrorMessage"] = true.into();
    failed["error"] = "rate_limit".into();
    failed["message"]["model"] = "<synthetic>".into();
    let row = with(&[user(MIN, "hello"), failed]).is("idle", "record_over");
    assert_eq!(row["note"], "error: rate_limit");
    let retry = json!({"type":"system","subtype":"api_error","retryAttempt":2,"timestamp":iso(5000)});
    with(&[user(MIN, "hello"), retry]).is("working", "record_open");
}

#[test]
fn c8_an_interrupt_or_a_no_is_idle() {
    with(&[user(MIN, "hello"), interrupted(5000)]).is("idle", "record_over");
    with(&[user(MIN, "hello"), call(MIN, "c", "Bash"), denied(5000, "c")]).is("idle", "record_over");
    with(&[user(MIN, "hello"), call(MIN, "c", "Bash"), result(5000, "c")]).is("working", "record_open");
}

#[test]
fn c33_bookkeeping_changes_nothing_and_children_make_no_row() {
    let s = with(&[user(MIN, "hello"), end(MIN), bookkeeping(1000)]);
    let row = s.is("idle", "record_over");
    assert_eq!(row["since_ms"], NOW - MIN);
    let mut child = user(1000, "look around");
    child["isSidechain"] = true.into();
    s.transcript_in("home/.claude/projects/-w-app", "agent-a1", &[child.clone()]);
    s.transcript_in("home/.claude/projects/-w-app/s1/subagents", "agent-a2", &[child]);
    let row = s.is("working", "children_run");
    assert_eq!(row["note"], "background 1");
}

#[test]
fn c38_lines_that_nobody_knows_are_work_while_the_process_lives() {
    let s = Scene::new();
    s.claude(42).argv(&["claude", "--session-id", "s1"]).up();
    s.transcript(
        "s1",
        &[json!({"type":"dream","timestamp":iso(MIN),"cwd":s.cwd("w/app")})],
    );
    let row = s.get("claude-code:s1");
    assert_eq!(
        (row["status"].as_str(), row["note"].as_str()),
        (Some("working"), Some("unknown format"))
    );
    let checks = s.world.scan(&["doctor", "--format", "json"]).json();
    let check = checks["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["id"] == "format.claude-code")
        .unwrap();
    assert!(check["text"].as_str().unwrap().contains("s1.jsonl"), "{check}");
}

#[test]
fn c39_damaged_bytes_spoil_no_other_line_and_no_other_session() {
    let s = Scene::new();
    s.claude(42).up();
    s.claude(43).cwd("w/other").up();
    let mut other = user(MIN, "hello");
    other["cwd"] = s.cwd("w/other").into();
    s.transcript("s2", &[other, end(MIN)]);
    let path = s.transcript("s1", &placed(&s, &[user(MIN, "hello"), end(MIN)]));
    let mut bytes = b"\xEF\xBB\xBF[1,2]\r\n".to_vec();
    bytes.extend(fs::read(&path).unwrap());
    bytes.extend(b"\0\0\0\0\n{\"type\":\"user\",\"x\":\"\\ud800\xff\"}\r\n");
    bytes.extend(format!("{}{}\n", bookkeeping(900), bookkeeping(800)).bytes());
    bytes.extend(b"{\"type\":\"assistant\",\"mess");
    fs::write(&path, bytes).unwrap();
    touch(&path, NOW);
    let row = s.get("claude-code:s1");
    assert_eq!(
        (row["status"].as_str(), row["since_ms"].as_i64()),
        (Some("idle"), Some(NOW - MIN))
    );
    assert_eq!(s.get("claude-code:s2")["status"], "idle");
}

#[test]
fn c40_of_a_huge_transcript_the_end_is_read() {
    let s = Scene::new();
    s.claude(42).argv(&["claude", "--session-id", "s1"]).up();
    let path = s.world.path("home/.claude/projects/-w-app/s1.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = fs::File::create(&path).unwrap();
    // a hole costs no space on the disk
    file.set_len(5_000_000_000).unwrap();
    let long = assistant(MIN, Some("end_turn"), text(&"x".repeat(3_000_000)));
    let mut end = format!("\n{}\n{long}\n", user(2 * MIN, "hello"));
    end.push_str(&format!("{}\n", bookkeeping(1000)));
    std::os::unix::fs::FileExt::write_all_at(&file, end.as_bytes(), 4_990_000_000).unwrap();
    file.set_len(4_990_000_000 + end.len() as u64).unwrap();
    touch(&path, NOW - 1000);
    let row = s.get("claude-code:s1");
    assert_eq!(
        (row["status"].as_str(), row["since_ms"].as_i64()),
        (Some("idle"), Some(NOW - MIN))
    );
}

#[test]
fn c41_ages_come_from_marks_not_from_files() {
    let s = with(&[user(HOUR, "hello"), end(10 * MIN)]);
    touch(&s.world.path("home/.claude/projects/-w-app/s1.jsonl"), NOW);
    assert_eq!(s.is("idle", "record_over")["age_ms"], 10 * MIN);
    let future = with(&[user(MIN, "hello"), end(-HOUR)]);
    assert_eq!(future.is("idle", "record_over")["age_ms"], 0);
    let doctor = future.world.scan(&["doctor", "--format", "json"]).json();
    let clock = doctor["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["id"] == "clock")
        .unwrap();
    assert!(clock["text"].as_str().unwrap().contains("1h in the future"), "{clock}");
    // the clock was set back: nothing ends
    let back = with(&[user(-8 * HOUR, "hello"), end(-7 * HOUR)]);
    assert_eq!(back.is("idle", "record_over")["age_ms"], 0);
}

#[test]
fn c42_the_folder_is_the_last_one_named_and_never_rebuilt_from_a_folder_name() {
    let s = Scene::new();
    let (app, under) = (s.cwd("w/my-app"), s.cwd("w/a_b"));
    s.claude(42)
        .argv(&["claude", "--session-id", "s1"])
        .cwd("w/my-app")
        .up();
    let at = |mut line: Value, cwd: &str| {
        line["cwd"] = cwd.into();
        line
    };
    s.transcript(
        "s1",
        &[at(user(MIN, "hello"), &app), at(end(MIN), &under), bookkeeping(1000)],
    );
    let row = s.get("claude-code:s1");
    assert_eq!(
        (row["cwd"].as_str(), row["project"].as_str()),
        (Some(under.as_str()), Some("a_b"))
    );
    // no line has a folder: the process has
    s.transcript_in("home/.claude/projects/-no-such-folder", "s1", &[user(1000, "hello")]);
    fs::remove_file(s.world.path("home/.claude/projects/-w-app/s1.jsonl")).unwrap();
    assert_eq!(s.get("claude-code:s1")["cwd"], app.as_str());
}

#[test]
fn c42_titles_have_an_order() {
    let s = Scene::new();
    s.claude(42).up();
    let lines = |titles: &[Value]| {
        let mut lines = placed(&s, &[user(2 * MIN, "fix the flaky test\nplease"), end(MIN)]);
        lines.extend_from_slice(titles);
        lines
    };
    let ai = json!({"type":"ai-title","aiTitle":"Flaky test","sessionId":"s1"});
    let custom = json!({"type":"custom-title","customTitle":"my work","sessionId":"s1"});
    let title = || s.get("claude-code:s1")["title"].as_str().unwrap().to_owned();
    s.transcript("s1", &lines(&[]));
    assert_eq!(title(), "fix the flaky test");
    s.transcript("s1", &lines(std::slice::from_ref(&ai)));
    assert_eq!(title(), "Flaky test");
    let record = |set: Value| s.registry(42, "s1", set);
    record(json!({"status":"idle","statusUpdatedAt":NOW - 5000,"name":"app-91","nameSource":"derived"}));
    assert_eq!(title(), "Flaky test");
    record(json!({"status":"idle","statusUpdatedAt":NOW - 5000,"name":"the registry's"}));
    assert_eq!(title(), "the registry's");
    s.transcript("s1", &lines(&[ai, custom]));
    assert_eq!(title(), "my work");
}

#[test]
fn c43_a_transcript_that_moved_is_the_same_row() {
    let s = with(&[user(MIN, "hello"), end(MIN)]);
    let copy = placed(&s, &[user(MIN, "hello"), end(MIN), user(5000, "go on")]);
    s.transcript_in("home/.claude/projects/-w-moved", "s1", &copy);
    assert_eq!(s.is("working", "record_open")["key"], "claude-code:s1");
}

#[test]
fn c43_a_session_whose_folder_was_deleted_stays() {
    let s = Scene::new();
    s.claude(42).argv(&["claude", "--session-id", "s1"]).cwd("w/gone").up();
    let mut lines = vec![user(MIN, "hello"), end(MIN)];
    lines[0]["cwd"] = s.cwd("w/gone").into();
    s.transcript("s1", &lines);
    fs::remove_dir(s.world.path("w/gone")).unwrap();
    s.is("idle", "record_over");
}

#[test]
fn c102_a_resumed_file_keeps_its_own_id() {
    let s = Scene::new();
    s.claude(42).up();
    let mut first = user(2 * MIN, "hello");
    first["sessionId"] = "older".into();
    s.transcript("s1", &placed(&s, &[first, user(MIN, "go on"), end(MIN)]));
    assert_eq!(s.only()["session_id"], "s1");
}

#[test]
fn c26_without_a_live_record_a_parked_session_is_still_one_row() {
    let s = with(&[user(9 * HOUR, "hello"), end(7 * HOUR)]);
    let folder = s
        .cwd("w/app")
        .replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "-");
    let lines = placed(&s, &[user(9 * HOUR, "hello"), end(7 * HOUR)]);
    fs::remove_dir_all(s.world.path("home/.claude/projects/-w-app")).unwrap();
    s.transcript_in(&format!("home/.claude/projects/{folder}"), "s1", &lines);
    let rows = s.board(&[])["sessions"].as_array().unwrap().clone();
    assert_eq!(rows.len(), 1, "{rows:#?}");
}
