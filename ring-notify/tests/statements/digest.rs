//! `digest`: what waits, works and has ended.

use super::harness::{Home, NOW, text};
use ring_session::columns::width;
use serde_json::{Value, json};
use std::fs;

/// A home in which there is one of everything: a wait, a proposal, a session that works, a failed turn, a completed one,
/// and a session that has ended.
fn full() -> Home {
    let home = Home::new();
    let project = home.project();
    let planned = home.says(&[
        "ring-session",
        "new",
        "--title",
        "planned",
        "--project",
        project.to_str().unwrap(),
        "--mode",
        "plan",
    ]);
    let turn = home.begin(&planned);
    let words = [
        "ring-plan",
        "submit",
        &planned,
        "--kind",
        "plan",
        "--turn",
        &turn,
        "--call",
        "c",
        "--title",
        "Build API v2",
        "--question",
        "Go?",
    ];
    let out = home.feed(&words, "# Do it\n\n1. read\n");
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let done = home.session("done");
    home.turn(&done, &["completed"]);
    home.turn(&done, &["error", "--error-code", "EXIT_3"]);
    let works = home.session("works");
    home.begin(&works);
    home.wait("s1");
    home.hook("s2", "UserPromptSubmit", json!({"prompt": "x"}));
    home.hook("s2", "SessionEnd", json!({"reason": "exit"}));
    home
}

fn count(digest: &Value, section: &str) -> usize {
    digest[section].as_array().unwrap().len()
}

#[test]
fn n75_a_digest_lists_what_waits_works_and_has_ended() {
    let home = full();
    home.after(60_000);
    let digest = home.json(&["digest"]);
    let counts = ["waiting", "proposals", "working", "finished", "ended"].map(|s| count(&digest, s));
    assert_eq!(counts, [1, 1, 1, 2, 1], "{digest}");
    let wait = &digest["waiting"][0];
    assert_eq!(
        (&wait["session"], &wait["kind"], &wait["since_ms"]),
        (&json!("claude-code:s1"), &json!("wait.permission"), &json!(NOW))
    );
    let proposal = &digest["proposals"][0];
    assert_eq!(
        (&proposal["kind"], &proposal["proposal"], &proposal["question"]),
        (&json!("plan"), &json!("Build API v2"), &json!("Go?"))
    );
    assert_eq!(digest["working"][0]["title"], "works");
    let failed = &digest["finished"][0];
    assert_eq!(
        (&failed["result"], &failed["error_code"], &failed["title"]),
        (&json!("failed"), &json!("EXIT_3"), &json!("done"))
    );
    assert_eq!(digest["finished"][1]["result"], "completed");
    assert_eq!(digest["ended"][0]["session"], "claude-code:s2");
    assert_eq!(digest["waits"], json!({"count": 2, "total_ms": 0, "ongoing": 2}));
    assert_eq!((&digest["unreadable"], &digest["schema"]), (&json!(0), &json!(1)));
    let human = home.says(&["digest"]);
    for part in [
        "1 waiting for you",
        "needs your permission",
        "1 to approve",
        "Build API v2",
        "1 working",
        "works",
        "2 finished, 1 of them failed",
        "✗ EXIT_3",
        "1 ended",
        "2 waits in 4h: 0s in all, 2 still open",
    ] {
        assert!(human.contains(part), "{part} is not in\n{human}");
    }
}

#[test]
fn n75_the_json_is_complete_and_people_see_five_a_section() {
    let home = Home::new();
    for n in 0..7 {
        home.after(n);
        let session = home.session(&format!("done {n}"));
        home.turn(&session, &[if n == 0 { "error" } else { "completed" }]);
        let session = home.session(&format!("works {n}"));
        home.begin(&session);
    }
    let digest = home.json(&["digest"]);
    assert_eq!((count(&digest, "working"), count(&digest, "finished")), (7, 7));
    let human = home.says(&["digest"]);
    let lines: Vec<&str> = human.lines().collect();
    assert_eq!(lines.len(), 2 * (1 + 5 + 1), "{human}");
    assert_eq!((lines[0], lines[6]), ("7 working", "  and 2 more"));
    assert_eq!((lines[7], lines[13]), ("7 finished, 1 of them failed", "  and 2 more"));
    assert!(lines[8].contains("done 0") && lines[9].contains("done 6"), "{human}");
}

#[test]
fn n11_digest_and_stats_change_no_file() {
    let home = full();
    let dead = home.session("dead");
    home.begin(&dead);
    home.edit(&dead, |r| {
        r["turn"]["epoch"]["boot"] = json!("00000000");
        r["turn"]["epoch"]["pid"] = json!(1);
    });
    fs::create_dir_all(home.path("state/notify")).unwrap();
    for ledger in ["{", r#"{"schema":1,"items":{}}"#, r#"{"schema":9}"#] {
        fs::write(home.path("state/notify/ledger.json"), ledger).unwrap();
        let before = home.files();
        for words in [
            &["digest"][..],
            &["stats"],
            &["--format", "json", "digest"],
            &["stats", "--since", "1h"],
        ] {
            let out = home.run(words);
            assert_eq!(out.status.code(), Some(0), "{words:?}: {}", text(&out.stderr));
            assert!(before == home.files(), "{words:?}");
        }
    }
    assert_eq!(home.json(&["list"])["unread_count"], 2, "a digest marks nothing");
}

#[test]
fn only_what_has_ended_in_that_time_is_told() {
    let home = Home::new();
    let session = home.session("a");
    home.turn(&session, &["completed"]);
    home.after(3 * 3_600_000);
    assert_eq!(count(&home.json(&["digest"]), "finished"), 1);
    assert_eq!(count(&home.json(&["digest", "--since", "2h"]), "finished"), 0);
    assert_eq!(home.says(&["digest", "--since", "2h"]), "nothing in the last 2h");
    for bad in ["x", "-1", "inf", "1w", "3651d"] {
        home.refused_untouched("INVALID_ARGUMENT", &["digest", "--since", bad]);
        home.refused_untouched("INVALID_ARGUMENT", &["stats", "--since", bad]);
    }
}

#[test]
fn what_cannot_be_read_is_named_and_counted_and_hides_nothing_else() {
    let home = full();
    let bad = home.session("bad");
    fs::write(home.record_path(&bad), "{").unwrap();
    fs::write(home.path("state/status/claude-code:s9.json"), "[").unwrap();
    let digest = home.json(&["digest"]);
    assert_eq!((&digest["unreadable"], count(&digest, "waiting")), (&json!(2), 1));
    let out = home.run(&["digest"]);
    let stderr = text(&out.stderr);
    assert!(stderr.contains(&bad) && stderr.contains("claude-code:s9"), "{stderr}");
}

#[test]
fn n77_a_digest_is_one_document_fits_forty_columns_and_may_be_cut_off() {
    let home = full();
    for (columns, ascii) in [(40, true), (60, false), (100, false)] {
        home.settings(if ascii { "markers = \"ascii\"\n" } else { "" });
        let out = home
            .command(&["digest"])
            .env("COLUMNS", columns.to_string())
            .output()
            .unwrap();
        let printed = text(&out.stdout);
        assert!(printed.lines().count() > 10, "{printed}");
        for line in printed.lines() {
            assert!(width(line) <= columns, "{columns}: {line}");
        }
        assert!(!ascii || printed.replace('…', "").is_ascii(), "{printed}");
    }
    for words in [&["digest"][..], &["stats"]] {
        assert_eq!(home.json(words)["schema"], 1);
        let out = home.run(&[&["--format", "json"], words].concat());
        assert_eq!(text(&out.stdout).lines().count(), 1);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let out = home.command(words).stdout(writer).output().unwrap();
        assert_eq!(
            (out.status.code(), text(&out.stderr).as_str()),
            (Some(0), ""),
            "{words:?}"
        );
    }
    home.refused_untouched("INVALID_ARGUMENT", &["digest", "extra"]);
    home.refused_untouched("INVALID_ARGUMENT", &["stats", "--nope"]);
    fs::remove_file(home.path("state/events.jsonl")).unwrap();
    fs::create_dir(home.path("state/events.jsonl")).unwrap();
    for words in [&["digest"][..], &["stats"]] {
        home.refused("IO", words);
    }
}
