//! What is read, how it fails, and what that costs the rest of the board.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its world has failed")]

mod scene;

use scene::claude::{end, user};
use scene::{HOUR, MIN, NOW, Scene, iso, touch};
use serde_json::json;
use std::fs;

#[test]
fn c44_the_longest_wait_is_first_and_equal_times_go_by_key() {
    let s = Scene::new();
    let asks = |id: &str, ago| {
        let set = json!({"waits":[scene::wait("foreground", "permission", "Notification", ago)]});
        s.row("acme", id, "working", ago, set);
    };
    asks("b", MIN);
    asks("a", MIN);
    asks("c", 2 * MIN);
    let board = s.board(&[]);
    let ids: Vec<&str> = board["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["session_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["c", "a", "b"]);
}

#[test]
fn c44_c70_the_clock_moves_every_age_and_equal_clocks_give_equal_boards() {
    let s = Scene::new();
    s.claude(42).up();
    s.live(42, "s1", "busy", 5000);
    s.row("acme", "s2", "idle", MIN, json!({}));
    let whole = |later: i64| s.world.scan_at(NOW + later, &["--format", "json"]).out;
    assert_eq!(whole(0), whole(0));
    let ages = |later| {
        let board = s.board_at(later, &[]);
        let mut ages: Vec<i64> = board["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r["age_ms"].as_i64().unwrap())
            .collect();
        ages.sort_unstable();
        ages
    };
    assert_eq!(ages(0), [5000, MIN]);
    assert_eq!(ages(1000), [6000, MIN + 1000]);
}

#[test]
fn c45_bad_rows_beside_good_ones_are_counted_and_spoil_nothing() {
    let s = Scene::new();
    s.row("acme", "good", "idle", MIN, json!({}));
    s.row("acme", "later", "idle", MIN, json!({"schema":99,"of_tomorrow":{"x":1}}));
    s.row("acme", "null", "idle", MIN, json!({"created_ms":null,"seen_ms":null}));
    s.world.write("state/status/array.json", "[1,2]");
    s.world.write("state/status/bytes.json", [0xff, 0xfe, 0x00]);
    s.world.write(
        "state/status/half.json",
        "{\"schema\":1,\"key\":\"acme:half\",\"agent\"",
    );
    s.world.write("state/status/nameless.json", "{\"schema\":1}");
    s.world.write("state/status/.tmp-x", "not a row");
    let mut ids: Vec<String> = s
        .rows()
        .iter()
        .map(|r| r["session_id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    assert_eq!(ids, ["good", "later", "null"]);
    let doctor = s.world.scan(&["doctor", "--format", "json"]).json();
    let named: Vec<&str> = doctor["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|c| c["id"] == "files.unreadable")
        .map(|c| c["text"].as_str().unwrap())
        .collect();
    for file in ["array.json", "bytes.json", "half.json", "nameless.json"] {
        assert!(named.iter().any(|n| n.contains(file)), "{file}: {named:?}");
    }
}

#[test]
fn c65_no_state_directory_leaves_the_board_of_the_records() {
    let s = Scene::new();
    s.claude(42).up();
    s.live(42, "s1", "busy", 5000);
    assert!(!s.world.path("state").exists());
    let board = s.board(&[]);
    assert_eq!(board["sessions"][0]["status"], "working");
    let hook = board["sources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|x| x["name"] == "hook")
        .unwrap();
    assert_eq!(hook["state"], "absent");
    assert!(!s.world.path("state").exists(), "a reader makes nothing");
}

#[test]
fn sources_that_are_switched_off_are_not_read() {
    let s = Scene::new();
    s.claude(42).up();
    s.live(42, "s1", "busy", 5000);
    s.world.write("config.toml", "sources = [\"hook\", \"process\"]\n");
    let board = s.board(&[]);
    assert_eq!(board["sessions"][0]["kind"], "process");
    let state = |name: &str| {
        board["sources"]
            .as_array()
            .unwrap()
            .iter()
            .find(|x| x["name"] == name)
            .unwrap()["state"]
            .clone()
    };
    assert_eq!(state("claude"), "off");
    assert_eq!(state("codex"), "off");
    assert_eq!(state("hook"), "absent");
    s.world.write("config.toml", "sources = [\"claude\"]\n");
    s.codex(43).up();
    let board = s.board(&[]);
    assert_eq!(board["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(board["sessions"][0]["status"], "working");
}

#[test]
fn every_row_names_the_sources_that_knew_it() {
    let s = Scene::new();
    s.claude(42).up();
    s.live(42, "s1", "busy", 5000);
    s.row(
        "claude-code",
        "s1",
        "working",
        MIN,
        json!({"process":scene::process(42, scene::OLD, false)}),
    );
    s.codex(43).up();
    let board = s.board(&[]);
    let row = |agent: &str| {
        board["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .find(|r| r["agent"] == agent)
            .unwrap()
            .clone()
    };
    assert_eq!(row("claude-code")["sources"], json!(["hook", "claude"]));
    assert_eq!(row("codex")["sources"], json!(["process"]));
    let rows = |name: &str| {
        board["sources"]
            .as_array()
            .unwrap()
            .iter()
            .find(|x| x["name"] == name)
            .unwrap()["rows"]
            .clone()
    };
    assert_eq!(
        (rows("hook"), rows("claude"), rows("process")),
        (json!(1), json!(1), json!(1))
    );
}

#[test]
fn c66_files_outside_of_the_window_are_not_opened() {
    let s = Scene::new();
    s.claude(42).up();
    for n in 0..20 {
        let path = s.transcript(&format!("old-{n}"), &[user(2 * HOUR, "hello"), end(HOUR)]);
        touch(&path, NOW - 7 * HOUR);
        // opening a pipe would wait for ever
        fs::remove_file(&path).unwrap();
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
    }
    let mut lines = [user(MIN, "hello"), end(MIN)];
    lines[0]["cwd"] = s.cwd("w/app").into();
    s.transcript("s1", &lines);
    let board = s.board(&[]);
    assert_eq!(board["partial"], false);
    assert_eq!(board["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn c66_without_a_process_that_could_be_theirs_no_record_is_opened() {
    let s = Scene::new();
    let path = s.transcript("s1", &[user(MIN, "hello"), end(MIN)]);
    assert_eq!(s.only()["status"], "ended");
    assert_eq!(s.board(&[])["sessions"], json!([]));
    assert!(path.exists());
}

#[test]
fn all_lists_records_that_are_older_than_the_window() {
    let s = Scene::new();
    let mut first = user(9 * 24 * HOUR, "an old question");
    first["cwd"] = "/w/old".into();
    s.transcript("s1", &[first, end(8 * 24 * HOUR)]);
    let row = s.only();
    assert_eq!(
        (row["status"].as_str(), row["title"].as_str()),
        (Some("ended"), Some("an old question"))
    );
    assert_eq!(row["project"], "old");
}

#[test]
fn c39_a_record_that_cannot_be_opened_is_named_and_hides_no_other() {
    let s = Scene::new();
    s.claude(42).up();
    s.live(42, "s1", "busy", 5000);
    fs::create_dir_all(s.world.path("home/.claude/projects/-w-app/s1.jsonl")).unwrap();
    assert_eq!(s.is("working", "live_busy")["session_id"], "s1");
    let stamp = iso(MIN);
    assert!(stamp.ends_with('Z'));
}

#[test]
fn c107_json_rows_hold_every_key() {
    let s = Scene::new();
    s.row("acme", "s1", "idle", MIN, json!({}));
    let row = s.only();
    for key in [
        "key",
        "agent",
        "session_id",
        "kind",
        "status",
        "since_ms",
        "age_ms",
        "project",
        "name",
        "title",
        "note",
        "waiting",
        "waits",
        "origin_cwd",
        "cwd",
        "location",
        "tmux_target",
        "tmux_pane",
        "tty",
        "last_action",
        "todo",
        "model",
        "seen_ms",
        "process",
        "sources",
        "rule",
        "evidence",
        "hook_stale",
        "hidden",
        "record",
        "host",
    ] {
        assert!(row.get(key).is_some(), "{key}");
    }
}
