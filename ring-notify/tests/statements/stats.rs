//! `stats`: how often and how long somebody was waited for.

use super::harness::{Home, NOW, text};
use ring_session::columns::width;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;

/// The only project.
fn project(stats: &Value) -> &Value {
    assert_eq!(stats["projects"].as_array().unwrap().len(), 1, "{stats}");
    &stats["projects"][0]
}

#[test]
fn n75_lines_that_cannot_be_read_are_counted_and_cost_nothing_else() {
    let home = Home::new();
    let session = home.session("a");
    home.turn(&session, &["completed"]);
    home.turn(&session, &["error"]);
    let mut log = fs::OpenOptions::new()
        .append(true)
        .open(home.path("state/events.jsonl"))
        .unwrap();
    log.write_all(b"{\"schema\":1,\"at_ms\":1800000000000,\"kind\":\"turn_en\n")
        .unwrap();
    log.write_all(b"{\"schema\":1,\"at_ms\":1800000000000,\"kind\":\"turn_ended\",\"project\":\"\xff\xfe\"}\n")
        .unwrap();
    home.turn(&session, &["completed"]);
    let turn = home.begin(&session);
    home.says(&["ring-session", "abort", &session, "--turn", &turn]);
    let stats = home.json(&["stats"]);
    assert_eq!((&stats["bad_lines"], &stats["schema"]), (&json!(2), &json!(1)));
    let it = project(&stats);
    assert_eq!(it["project"], json!(home.project()));
    assert_eq!(
        (&it["completed"], &it["failed"], &it["aborted"]),
        (&json!(2), &json!(1), &json!(1))
    );
    let out = home.run(&["stats"]);
    assert_eq!(out.status.code(), Some(0));
    assert!(
        text(&out.stdout).contains("2 lines of the log cannot be read"),
        "{}",
        text(&out.stdout)
    );
}

#[test]
fn n75_both_files_of_the_log_count() {
    let home = Home::new();
    let session = home.session("a");
    home.turn(&session, &["completed"]);
    ring_session::replace::set_aside_as(&home.path("state/events.jsonl"), &home.path("state/events.jsonl.1")).unwrap();
    home.turn(&session, &["completed"]);
    assert_eq!(project(&home.json(&["stats"]))["completed"], 2);
    home.after(8 * 86_400_000);
    assert_eq!(home.json(&["stats"])["projects"], json!([]));
    assert_eq!(project(&home.json(&["stats", "--since", "9d"]))["completed"], 2);
}

#[test]
fn n76_waits_are_answered_ongoing_or_unfinished_and_only_answered_ones_have_a_length() {
    let home = Home::new();
    home.wait("answered");
    home.wait("slow");
    home.wait("ends");
    home.wait("vanishes");
    home.wait("open");
    home.after(10_000)
        .hook("answered", "PostToolUse", json!({"tool_name": "Bash"}));
    home.after(30_000)
        .hook("slow", "UserPromptSubmit", json!({"prompt": "no"}));
    home.after(40_000).hook("ends", "SessionEnd", json!({"reason": "exit"}));
    fs::remove_file(home.path("state/status/claude-code:vanishes.json")).unwrap();
    home.after(60_000);
    let stats = home.json(&["stats"]);
    let expected = json!({"project": home.project(), "waits": 5, "answered": 2, "ongoing": 1, "unfinished": 2,
        "mean_ms": 20_000, "median_ms": 20_000, "max_ms": 30_000, "total_ms": 40_000, "completed": 0, "failed": 0,
        "aborted": 0});
    assert_eq!(*project(&stats), expected);
    assert_eq!(
        home.json(&["digest"])["waits"],
        json!({"count": 5, "total_ms": 40_000, "ongoing": 1})
    );
    let human = home.says(&["stats"]);
    assert!(human.contains("~/proj") && human.contains("██████████"), "{human}");
}

#[test]
fn n76_requests_and_proposals_of_records_are_waits_too() {
    let home = Home::new();
    let session = home.session("a");
    let turn = home.begin(&session);
    let ask = |call: &str| {
        let words = [
            "ring-session",
            "permission",
            "open",
            &session,
            "--turn",
            &turn,
            "--call",
            call,
            "--tool",
            "Bash",
            "--timeout",
            "1h",
        ];
        let out = home.feed(&words, "{}");
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        text(&out.stdout).trim().to_owned()
    };
    let (first, _second) = (ask("c1"), ask("c2"));
    home.after(7000);
    home.says(&["ring-session", "permission", "answer", &session, &first, "allow-once"]);
    let stats = home.json(&["stats"]);
    let it = project(&stats);
    assert_eq!(
        (&it["waits"], &it["answered"], &it["ongoing"], &it["total_ms"]),
        (&json!(2), &json!(1), &json!(1), &json!(7000))
    );
    home.says(&["ring-session", "abort", &session, "--turn", &turn]);
    let it = home.json(&["stats"])["projects"][0].clone();
    assert_eq!(
        (&it["ongoing"], &it["unfinished"], &it["aborted"]),
        (&json!(0), &json!(1), &json!(1))
    );
}

#[test]
fn n75_outlets_are_counted_from_the_log_and_the_ledger() {
    let home = Home::new();
    let mut lines = String::new();
    for (kind, outlet, more) in [
        ("notify_sent", "desk", r#","lag_ms":40"#),
        ("notify_sent", "desk", r#","lag_ms":60"#),
        ("notify_failed", "phone", r#","error":"http 404""#),
        ("notify_unconfirmed", "phone", ""),
    ] {
        lines += &format!(
            "{{\"schema\":1,\"at_ms\":{NOW},\"kind\":\"{kind}\",\"item\":\"turn:x\",\"outlet\":\"{outlet}\",\"ring\":0{more}}}\n"
        );
    }
    fs::create_dir_all(home.path("state/notify")).unwrap();
    fs::write(home.path("state/events.jsonl"), lines).unwrap();
    let ledger = json!({"schema": 1, "revision": 1, "started_ms": NOW, "items": {"turn:x": {"kind": "task.failed",
        "session": "ring:a", "opened_ms": NOW, "seen_ms": NOW, "closed_ms": null, "why": "", "to": {
            "desk": {"state": "skipped", "ring": 0}, "phone": {"state": "retry", "ring": 0, "attempts": 2}}}}, "outlets": {}});
    fs::write(home.path("state/notify/ledger.json"), ledger.to_string()).unwrap();
    let stats = home.json(&["stats"]);
    assert_eq!(
        stats["outlets"],
        json!([{"name": "desk", "sent": 2, "failed": 0, "unconfirmed": 0, "retried": 0, "skipped": 1, "median_lag_ms": 50},
            {"name": "phone", "sent": 0, "failed": 1, "unconfirmed": 1, "retried": 1, "skipped": 0, "median_lag_ms": null}])
    );
    // a ledger that cannot be read costs its figures only
    fs::write(home.path("state/notify/ledger.json"), "{").unwrap();
    let out = home.run(&["--format", "json", "stats"]);
    let stats: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(
        (&stats["outlets"][0]["sent"], &stats["outlets"][0]["skipped"]),
        (&json!(2), &json!(0))
    );
    assert!(text(&out.stderr).contains("ledger"), "{}", text(&out.stderr));
}

#[test]
fn the_tables_fit_the_terminal_and_bars_are_ascii_if_marks_are() {
    let home = Home::new();
    assert_eq!(home.says(&["stats"]), "nothing to count");
    home.wait("s1");
    home.after(5000).hook("s1", "PostToolUse", json!({"tool_name": "Bash"}));
    let session = home.session("a");
    home.turn(&session, &["error"]);
    home.settings("markers = \"ascii\"\n");
    for columns in [40, 60, 80] {
        let out = home
            .command(&["stats"])
            .env("COLUMNS", columns.to_string())
            .output()
            .unwrap();
        let printed = text(&out.stdout);
        assert_eq!(printed.lines().count(), 2, "{printed}");
        assert!(printed.lines().all(|l| width(l) <= columns), "{printed}");
        assert!(printed.is_ascii(), "{printed}");
        assert!(columns < 80 || printed.contains("##########"), "{printed}");
    }
}
