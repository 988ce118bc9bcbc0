//! Claude Code's live records: `sessions/PID.json`, without any hook and beside hook rows.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its world has failed")]

mod scene;

use scene::claude::{end, user};
use scene::{HOUR, MIN, NOW, OLD, PID_NS, Scene, process, ticks, wait};
use serde_json::json;
use std::fs;

#[test]
fn c104_each_status_of_a_live_record_is_a_status_of_the_board() {
    for (status, board, rule) in [
        ("busy", "working", "live_busy"),
        ("idle", "idle", "live_idle"),
        ("shell", "working", "live_shell"),
    ] {
        let s = Scene::new();
        s.claude(42).up();
        s.live(42, "s1", status, 5000);
        let row = s.is(board, rule);
        assert_eq!(row["key"], "claude-code:s1");
        assert_eq!(row["process"], json!({"pid":42,"state":"alive"}));
        assert_eq!(row["evidence"], json!(["registry"]));
        assert_eq!(row["since_ms"], NOW - 5000);
    }
}

#[test]
fn c5_a_live_record_that_waits_shows_its_words() {
    for (words, kind) in [
        ("permission prompt", "permission"),
        ("sandbox request", "permission"),
        ("worker request", "permission"),
        ("input needed", "input"),
        ("dialog open", "input"),
    ] {
        let s = Scene::new();
        s.claude(42).up();
        s.waiting(42, "s1", words, 5000);
        let row = s.is("waiting", "live_waiting");
        assert_eq!(row["waiting"]["kind"], kind);
        assert_eq!(row["waiting"]["detail"], words);
        assert_eq!(row["waits"], 1);
    }
}

#[test]
fn c15_a_record_that_is_busy_for_hours_is_believed_while_its_process_lives() {
    let s = Scene::new();
    s.claude(42).up();
    s.live(42, "s1", "busy", 3 * HOUR);
    assert_eq!(s.is("working", "live_busy")["note"], "quiet 180 min");
}

#[test]
fn c16_background_work_keeps_a_finished_turn_working() {
    let s = Scene::new();
    s.claude(42).up();
    s.live(42, "s1", "shell", 5000);
    assert_eq!(s.is("working", "live_shell")["note"], "background 1");
    s.world.write("config.toml", "background_task_types = [\"subagent\"]\n");
    s.is("idle", "live_shell");
    s.live(42, "s1", "idle", 1000);
    s.is("idle", "live_idle");
}

#[test]
fn c25_a_background_agent_counts_by_its_id_alone() {
    let s = Scene::new();
    s.claude(42).no_tty().argv(&["claude", "--session-id", "b1"]).up();
    let bg = |status: &str| {
        s.registry(
            42,
            "b1",
            json!({"kind":"bg","status":status,"statusUpdatedAt":NOW - 5000}),
        );
    };
    bg("busy");
    assert_eq!(s.is("working", "live_busy")["kind"], "background");
    bg("idle");
    s.is("ended", "live_idle");
    // a foreground session of the same folder does not live by it
    s.transcript("f1", &[user(MIN, "hello"), end(MIN)]);
    assert_eq!(s.get("claude-code:f1")["status"], "ended");
}

#[test]
fn c25_a_pty_host_and_its_child_are_one_row() {
    let s = Scene::new();
    s.claude(41)
        .argv(&["claude", "--bg-pty-host", "--session-id", "b1"])
        .up();
    s.claude(42).parent(41).argv(&["claude", "--session-id", "b1"]).up();
    s.registry(
        42,
        "b1",
        json!({"kind":"bg","status":"busy","statusUpdatedAt":NOW - 5000}),
    );
    assert_eq!(s.only()["process"]["pid"], 42);
}

#[test]
fn c26_a_parked_session_is_exactly_one_row() {
    let s = Scene::new();
    s.claude(42).cwd("w/app/src").up();
    s.live(42, "s1", "idle", 7 * HOUR);
    s.transcript("s1", &[user(8 * HOUR, "hello"), end(7 * HOUR)]);
    let row = s.is("idle", "live_idle");
    assert_eq!(
        (row["kind"].as_str(), row["title"].as_str()),
        (Some("foreground"), Some("hello"))
    );
}

#[test]
fn c28_a_live_record_that_lags_behind_clear_changes_nothing() {
    let s = Scene::new();
    s.claude(42).up();
    s.live(42, "before", "idle", MIN);
    let started = json!({"event":"SessionStart","native":"SessionStart","owner":"foreground","rule":"session_start","source":"clear"});
    s.row(
        "claude-code",
        "after",
        "working",
        10_000,
        json!({"process":process(42, OLD, false),"last":started}),
    );
    s.transcript("before", &[user(2 * MIN, "hello"), end(MIN)]);
    assert_eq!(s.get("claude-code:before")["status"], "ended");
    assert_eq!(s.get("claude-code:after")["status"], "working");
    // two minutes later it is believed again
    let rows = s.board_at(2 * MIN, &["--all"]);
    let before = rows["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["session_id"] == "before")
        .unwrap();
    assert_eq!(before["status"], "idle");
}

#[test]
fn c29_one_session_in_two_terminals_is_two_rows_whose_statuses_do_not_mix() {
    let s = Scene::new();
    s.claude(42).pts(1).up();
    s.claude(43).pts(2).started(HOUR).up();
    s.live(42, "s1", "idle", 5000);
    let second = json!({"status":"waiting","waitingFor":"permission prompt","statusUpdatedAt":NOW - 3000,
        "procStart":ticks(HOUR).to_string(),"startedAt":NOW - HOUR});
    s.registry(43, "s1", second);
    assert_eq!(s.rows().len(), 2);
    assert_eq!(s.get("claude-code:s1")["status"], "idle");
    let second = s.get("claude-code:s1@43");
    assert_eq!(second["status"], "waiting");
    assert_eq!(second["tty"], "/dev/pts/2");
    // what hooks tell of the one is not told of the other
    s.row(
        "claude-code",
        "s1",
        "working",
        1000,
        json!({"process":process(42, OLD, false),
        "term":{"tty":"/dev/pts/1","tmux_pane":"","tmux_socket":"","other":""}}),
    );
    assert_eq!(s.get("claude-code:s1")["status"], "idle");
    assert_eq!(s.get("claude-code:s1@43")["tty"], "/dev/pts/2");
}

#[test]
fn c68_leftovers_of_dead_processes_are_no_rows() {
    let s = Scene::new();
    for pid in 100..160 {
        s.live(pid, &format!("dead-{pid}"), "busy", HOUR);
    }
    // the pid is used again: other start
    s.claude(160).started(HOUR).cwd("w/other").no_tty().up();
    s.live(160, "reused", "waiting", 2 * HOUR);
    assert_eq!(s.rows(), Vec::<serde_json::Value>::new());
}

#[test]
fn c68_a_record_without_a_status_is_decided_by_transcript_and_process() {
    let s = Scene::new();
    s.claude(42).up();
    s.registry(42, "s1", json!({}));
    assert_eq!(s.is("idle", "process_only")["session_id"], "s1");
    s.transcript("s1", &[user(5000, "hello")]);
    s.is("working", "record_open");
    s.transcript("s1", &[user(5000, "hello"), end(1000)]);
    s.is("idle", "record_over");
}

#[test]
fn c68_a_start_of_macos_is_a_text() {
    let s = Scene::new();
    s.claude(42).up();
    let start = json!({"procStart":"Mon Nov 30 02:00:10 2026","status":"busy","statusUpdatedAt":NOW - 5000});
    s.registry(42, "s1", start);
    s.is("working", "live_busy");
    s.registry(
        42,
        "s1",
        json!({"procStart":"Mon Nov 30 03:00:10 2026","status":"busy"}),
    );
    assert!(s.rows().iter().all(|r| r["kind"] == "process"));
}

#[test]
fn c78_whole_first_objects_count_and_half_ones_are_read_again() {
    let s = Scene::new();
    s.claude(42).up();
    let path = s.live(42, "s1", "idle", 5000);
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str(":\"busy\",\"updatedAt\":1796}");
    fs::write(&path, text).unwrap();
    s.is("idle", "live_idle");
    // half-written for ever: the process is there, nothing is said
    fs::write(&path, "{\"pid\":42,\"sess").unwrap();
    assert_eq!(s.only()["kind"], "process");
}

#[test]
fn c78_a_session_killed_under_a_dialog_is_over_and_its_record_untouched() {
    let s = Scene::new();
    s.claude(42).up();
    let path = s.waiting(42, "s1", "permission prompt", 5000);
    s.transcript("s1", &[user(6000, "hello"), scene::claude::call(5500, "c", "Bash")]);
    s.is("waiting", "live_waiting");
    let before = fs::read(&path).unwrap();
    s.exit(42);
    s.is("ended", "gone");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn c79_a_record_of_another_namespace_is_foreign() {
    let s = Scene::new();
    let domain =
        |ns: u64| json!({"pidDomain":format!("linux:abc:pid:[{ns}]"),"status":"idle","statusUpdatedAt":NOW - 5000});
    s.registry(42, "s1", domain(PID_NS + 1));
    s.transcript("s1", &[user(6000, "hello"), end(5000)]);
    let row = s.is("idle", "record_over");
    assert_eq!(row["process"]["state"], "foreign");
    // ours, with a dead pid: a leftover
    s.registry(42, "s1", domain(PID_NS));
    s.is("ended", "gone");
}

#[test]
fn c79_a_domain_unlike_that_of_living_records_is_foreign() {
    let s = Scene::new();
    s.claude(7).cwd("w/other").up();
    let domain = |machine: &str| json!({"pidDomain":format!("linux:{machine}:pid:[{PID_NS}]"),"status":"idle","statusUpdatedAt":NOW - 5000});
    s.registry(7, "ours", domain("abc"));
    s.registry(42, "s1", domain("xyz"));
    s.transcript("s1", &[user(6000, "hello"), end(5000)]);
    assert_eq!(s.get("claude-code:s1")["process"]["state"], "foreign");
}

#[test]
fn c80_a_spare_is_a_background_agent_once_a_record_names_it() {
    let s = Scene::new();
    s.claude(42).argv(&["claude", "--bg-spare", "x"]).up();
    assert_eq!(s.rows().len(), 0);
    s.registry(
        42,
        "b1",
        json!({"kind":"bg","status":"busy","statusUpdatedAt":NOW - 5000}),
    );
    assert_eq!(s.is("working", "live_busy")["kind"], "background");
}

#[test]
fn c85_a_menu_on_the_screen_waits_for_input() {
    let s = Scene::new();
    s.claude(42).up();
    s.row(
        "claude-code",
        "s1",
        "idle",
        MIN,
        json!({"process":process(42, OLD, false)}),
    );
    s.waiting(42, "s1", "dialog open", 5000);
    let row = s.is("waiting", "live_waiting");
    assert_eq!(
        (row["waiting"]["kind"].as_str(), row["waiting"]["detail"].as_str()),
        (Some("input"), Some("dialog open"))
    );
}

#[test]
fn c85_print_mode_works_until_its_record_goes() {
    let s = Scene::new();
    s.claude(42).no_tty().argv(&["claude", "-p", "say", "hello"]).up();
    let path = s.live(42, "s1", "busy", 5000);
    s.is("working", "live_busy");
    fs::remove_file(path).unwrap();
    s.exit(42);
    assert_eq!(s.rows().len(), 0);
}

#[test]
fn c69_a_fork_has_its_own_status_and_leaves_the_parents_alone() {
    let s = Scene::new();
    s.claude(42).up();
    s.claude(43)
        .started(HOUR)
        .argv(&["claude", "--resume", "parent", "--fork-session"])
        .up();
    s.live(42, "parent", "busy", 5000);
    let fork = json!({"procStart":ticks(HOUR).to_string(),"status":"idle","statusUpdatedAt":NOW - 5000});
    s.registry(43, "fork", fork);
    // SessionStart of the fork came with the parent's id: the parent's row names the fork's process
    let last = json!({"event":"SessionStart","native":"SessionStart","owner":"foreground","rule":"session_start","source":"resume"});
    s.row(
        "claude-code",
        "parent",
        "working",
        MIN,
        json!({"process":process(43, HOUR, false),"last":last}),
    );
    assert_eq!(s.rows().len(), 2);
    assert_eq!(s.get("claude-code:parent")["rule"], "live_busy");
    assert_eq!(s.get("claude-code:fork")["rule"], "live_idle");
}

#[test]
fn c71_a_dialog_that_no_notification_has_told_of_shows_the_pending_command() {
    let s = Scene::new();
    s.claude(42).up();
    let pending = json!([{"owner":"foreground","tool":"Bash","tool_use_id":"","kind":"permission","detail":"Bash: rm x","at_ms":NOW - 2000}]);
    let last = json!({"event":"PermissionRequest","native":"PermissionRequest","owner":"foreground","rule":"permission_bare","source":""});
    s.row(
        "claude-code",
        "s1",
        "working",
        1960,
        json!({"process":process(42, OLD, false),"pending":pending,"last":last}),
    );
    s.waiting(42, "s1", "permission prompt", 2000);
    let row = s.is("waiting", "live_waiting");
    assert_eq!(row["waiting"]["detail"], "Bash: rm x");
    s.live(42, "s1", "busy", 100);
    s.is("working", "live_busy");
}

#[test]
fn c72_a_terminal_that_was_just_opened_is_idle() {
    let s = Scene::new();
    s.claude(42).started(2000).up();
    s.registry(
        42,
        "s1",
        json!({"procStart":ticks(2000).to_string(),"status":"idle","statusUpdatedAt":NOW - 500,"startedAt":NOW - 1500}),
    );
    s.is("idle", "live_idle");
}

#[test]
fn c77_an_idle_of_just_now_is_not_believed() {
    let s = Scene::new();
    s.claude(42).up();
    s.live(42, "s1", "idle", 200);
    s.is("working", "live_busy");
    s.live(42, "s1", "idle", 300);
    s.is("idle", "live_idle");
    let asks =
        |event: &str| json!({"process":process(42, OLD, false),"waits":[wait("foreground", "permission", event, MIN)]});
    s.live(42, "s1", "idle", 200);
    s.row("claude-code", "s1", "working", MIN, asks("Notification"));
    s.is("waiting", "hook_wait");
    s.live(42, "s1", "idle", 20_000);
    s.row("claude-code", "s1", "idle", MIN, asks("Stop"));
    s.is("waiting", "hook_wait");
}

#[test]
fn c43_every_home_is_on_the_board() {
    let s = Scene::new();
    let home = s.cwd("second");
    s.claude(42).environ(&format!("CLAUDE_CONFIG_DIR={home}\0")).up();
    s.world.write(
        "second/sessions/42.json",
        json!({"pid":42,"procStart":ticks(OLD).to_string(),"sessionId":"s2","status":"busy","statusUpdatedAt":NOW - 5000}).to_string(),
    );
    s.claude(43).up();
    s.live(43, "s1", "idle", 5000);
    assert_eq!(s.get("claude-code:s1")["status"], "idle");
    assert_eq!(s.get("claude-code:s2")["status"], "working");
    let third = s.cwd("third");
    s.world.write("config.toml", format!("claude_homes = [\"{third}\"]\n"));
    s.claude(44).up();
    s.world.write(
        "third/sessions/44.json",
        json!({"pid":44,"procStart":ticks(OLD).to_string(),"sessionId":"s3","status":"busy","statusUpdatedAt":NOW - 5000}).to_string(),
    );
    assert_eq!(s.get("claude-code:s3")["status"], "working");
}
