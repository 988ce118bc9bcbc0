//! Old programs and new data, foreign writers and our readers: what ring(5) promises to both.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod harness;

use harness::{Home, NOW, assert_silent, feed, text};
use ring_session::lock::Lock;
use serde_json::json;
use std::fs;
use std::time::Duration;

fn stop() -> Vec<u8> {
    json!({"hook_event_name": "Stop", "session_id": "s", "cwd": "/w/app", "last_assistant_message": "Done."})
        .to_string()
        .into_bytes()
}

#[test]
fn a_newer_row_is_shown_and_never_rewritten() {
    let home = Home::new();
    fs::create_dir_all(home.status()).unwrap();
    let path = home.status().join("claude-code:s.json");
    let newer = format!(
        r#"{{"schema":99,"key":"claude-code:s","agent":"claude-code","session_id":"s","status":"working","since_ms":{NOW},
 "turn":{{"id":"","state":"working","mood":"new"}},"origin_cwd":"/w/app","cwd":"/w/app","last":{{"event":"UserPromptSubmit"}},
 "seq":4,"event_ms":{NOW},"seen_ms":{NOW},"added":{{"later":[1.50,12345678901234567890123]}}}}"#
    );
    fs::write(&path, &newer).unwrap();
    assert_silent(&home.hook_at(NOW + 1000, &["--agent", "claude-code"], &stop()));
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
    let mut strict = home.ring("ring-hook", &["--agent", "claude-code", "--strict"]);
    let out = feed(&mut strict, &stop());
    assert_eq!(out.status.code(), Some(6), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("[SCHEMA_NEWER]"));
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
    home.agent("claude", "/w/app");
    let board = home.board_at(NOW + 2000);
    assert_eq!(board["sessions"][0]["key"], "claude-code:s");
    assert_eq!(board["sessions"][0]["status"], "working");
}

#[test]
fn members_that_nobody_here_knows_survive_a_rewrite_digit_for_digit() {
    let home = Home::new();
    fs::create_dir_all(home.status()).unwrap();
    let path = home.status().join("claude-code:s.json");
    let odd = r#""later":{"n":12345678901234567890123.4500,"e":1E400,"s":"\ud800 \u0041"}"#;
    let row = format!(
        r#"{{"schema":1,{odd},"key":"claude-code:s","agent":"claude-code","session_id":"s","turn":{{"state":"working"}},"seq":4}}"#
    );
    fs::write(&path, row).unwrap();
    assert_silent(&home.hook_at(NOW, &["--agent", "claude-code"], &stop()));
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.contains(odd), "{after}");
    assert!(
        after.contains(r#""status":"idle""#) && after.contains(r#""seq":5"#),
        "{after}"
    );
}

#[test]
fn a_row_that_another_program_wrote_by_the_book_is_on_the_board() {
    let home = Home::new();
    fs::create_dir_all(home.status()).unwrap();
    let row = json!({"schema": 1, "key": "acme:7", "agent": "acme", "session_id": "7", "status": "waiting", "since_ms": NOW,
        "turn": {"state": "working"}, "origin_cwd": "/w/shop", "cwd": "/w/shop", "seq": 1, "event_ms": NOW, "seen_ms": NOW,
        "waits": [{"id": "1", "owner": "foreground", "kind": "permission", "detail": "may I", "since_ms": NOW}]});
    fs::write(home.status().join("acme:7.json"), row.to_string()).unwrap();
    fs::write(home.status().join(".tmp-half"), "{\"schema\":1,").unwrap();
    let board = home.board_at(NOW + 5000);
    let sessions = board["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1, "{board:#}");
    assert_eq!(sessions[0]["status"], "waiting");
    assert_eq!(sessions[0]["waiting"]["detail"], "may I");
    assert_eq!(sessions[0]["project"], "shop");
}

/// The side file of a key, computed from the words of ring(5), WRITING, and from nothing else.
fn stripe_by_the_book(key: &str) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in key.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    (hash ^ (hash >> 32)) & 0x3f
}

#[test]
fn a_foreign_writer_that_locks_by_the_book_keeps_the_hook_out() {
    let home = Home::new();
    for session in ["s", "3f2a", "0198c0de-7000-7abc-8def-000000000001"] {
        let payload = json!({"hook_event_name": "Stop", "session_id": session, "cwd": "/w"}).to_string();
        let side = home.status().join(format!(
            ".locks/{:02x}",
            stripe_by_the_book(&format!("claude-code:{session}"))
        ));
        let held = Lock::acquire(&side, Duration::from_secs(1)).unwrap();
        let mut command = home.ring("ring-hook", &["--agent", "claude-code", "--strict"]);
        let out = feed(command.env("RING_LOCK_MS", "50"), payload.as_bytes());
        assert_eq!(out.status.code(), Some(75), "{}", text(&out.stderr));
        drop(held);
        assert_silent(&home.hook_at(NOW, &["--agent", "claude-code"], payload.as_bytes()));
    }
    assert_eq!(home.rows().len(), 3);
}

#[test]
fn one_bad_row_hides_no_good_one_and_doctor_names_it() {
    let home = Home::new();
    assert_silent(&home.hook_at(NOW, &["--agent", "claude-code"], &stop()));
    let bad: &[(&str, &[u8])] = &[
        ("array.json", b"[1,2]"),
        ("empty.json", b""),
        ("half.json", b"{\"schema\":1,\"key\":\"half"),
        ("bytes.json", b"\xff\xfe\x00"),
        (
            "nulls.json",
            b"{\"schema\":null,\"key\":null,\"since_ms\":null,\"waits\":{},\"turn\":[]}",
        ),
    ];
    for (name, bytes) in bad {
        fs::write(home.status().join(name), bytes).unwrap();
    }
    let board = home.board_at(NOW + 1000);
    let keys: Vec<_> = board["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["key"].clone())
        .collect();
    assert!(keys.contains(&json!("claude-code:s")), "{keys:?}");
    let out = home.ring("ring-scan", &["doctor"]).output().unwrap();
    assert!(out.status.success());
    for name in ["array.json", "empty.json", "half.json", "bytes.json"] {
        assert!(
            text(&out.stdout).contains(name),
            "{name} is not named: {}",
            text(&out.stdout)
        );
    }
}

#[test]
fn a_row_of_wrong_types_is_repaired_by_the_next_event() {
    let home = Home::new();
    fs::create_dir_all(home.status()).unwrap();
    for bad in [
        "[1,2]",
        "",
        "{\"schema\":1,\"key\":\"ha",
        "{\"schema\":1,\"waits\":{},\"turn\":7,\"seq\":\"x\",\"cwd\":[]}",
    ] {
        fs::write(home.status().join("claude-code:s.json"), bad).unwrap();
        assert_silent(&home.hook_at(NOW, &["--agent", "claude-code"], &stop()));
        assert_eq!(home.rows()[0].1["status"], "idle", "{bad}");
    }
}

#[test]
fn settings_of_tomorrow_and_mistakes_are_said_and_survived() {
    let home = Home::new();
    fs::write(
        home.config(),
        "from_tomorrow = 1\ninterval = \"x\"\nmarkers = \"ascii\"\n",
    )
    .unwrap();
    home.agent("claude", "/w/app");
    assert_silent(&home.hook_at(NOW, &["--agent", "claude-code"], &stop()));
    let out = home.ring("ring-scan", &["--color", "never"]).output().unwrap();
    assert!(out.status.success());
    let (shown, said) = (text(&out.stdout), text(&out.stderr));
    assert!(shown.contains("- idle"), "the good key counts: {shown}");
    assert!(said.contains("config.toml:2") && said.contains("interval"), "{said}");
    fs::write(home.config(), "this is = = no toml\n").unwrap();
    let out = home.ring("ring-scan", &[]).output().unwrap();
    assert!(out.status.success());
    assert!(text(&out.stderr).contains("config.toml"), "{}", text(&out.stderr));
}

#[test]
fn lines_of_kinds_that_nobody_here_knows_stay_in_the_events() {
    let home = Home::new();
    fs::create_dir_all(home.state()).unwrap();
    let foreign = "{\"schema\":7,\"at_ms\":1,\"kind\":\"from_tomorrow\"}\n";
    fs::write(home.state().join("events.jsonl"), foreign).unwrap();
    assert_silent(&home.hook_at(NOW, &["--agent", "claude-code"], &stop()));
    let all = fs::read_to_string(home.state().join("events.jsonl")).unwrap();
    assert!(all.starts_with(foreign), "{all}");
    assert_eq!(home.events().len(), 2);
}
