//! Refusals: each provoked alone has its code and its status, prints nothing on stdout, and leaves every byte of the
//! state directory and the project as it was.

use crate::harness::{Home, KINDS, NOW, TEXT, text, tree};
use serde_json::json;
use std::fs;

/// Refuses, and not a byte anywhere is another.
fn refused(home: &Home, code: &str, words: &[&str], stdin: &str) {
    let all = |home: &Home| (tree(&home.path("state")), tree(&home.project()));
    let before = all(home);
    home.refused(code, words, stdin);
    // and as people see it: nothing on stdout, one line with the code
    let out = home.run(words, stdin);
    let said = text(&out.stderr);
    assert!(
        out.stdout.is_empty() && said.ends_with(&format!(" [{code}]\n")),
        "{words:?}: {said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(all(home) == before, "{words:?} has changed something");
}

#[test]
fn p11_each_refusal_of_enter_leaves_every_byte_as_it_was() {
    for kind in KINDS {
        let home = Home::new();
        let s = home.session("agent");
        let own = [
            "ring-plan",
            "enter",
            &s.id,
            "--kind",
            kind,
            "--turn",
            &s.turn,
            "--call",
            "e",
        ];
        let with = |place: usize, word: &'static str| {
            let mut words = own.to_vec();
            words[place] = word;
            words
        };
        let long = "x".repeat(201);
        for (place, word) in [(2, " "), (2, ""), (4, "epic"), (4, ""), (6, " \t"), (8, "")] {
            refused(&home, "INVALID_ARGUMENT", &with(place, word), "");
        }
        refused(&home, "INVALID_ARGUMENT", &[&own[..8], &[&long]].concat(), "");
        refused(
            &home,
            "INVALID_ARGUMENT",
            &[&own[..], &["--batch-size", "0"]].concat(),
            "",
        );
        refused(&home, "TOOL_DENIED", &[&own[..], &["--batch-size", "2"]].concat(), "");
        refused(
            &home,
            "PLAN_REQUIRES_INTERACTIVE_SESSION",
            &[&own[..], &["--unattended"]].concat(),
            "",
        );
        refused(&home, "SESSION_NOT_FOUND", &with(2, "no-such-session"), "");
        refused(&home, "PLAN_APPROVAL_STALE", &with(6, "another-turn"), "");
        let active = home.session(kind);
        let mut words = own.to_vec();
        (words[2], words[6]) = (&active.id, &active.turn);
        refused(&home, "PLAN_ALREADY_ACTIVE", &words, "");
        let (working, _, turn) = home.working(kind);
        (words[2], words[6]) = (&working.id, &turn);
        refused(&home, "PLAN_APPROVAL_STALE", &words, "");
        // the turn asked for after it ended
        home.end(&s);
        refused(&home, "PLAN_APPROVAL_STALE", &own, "");
    }
}

#[test]
fn p11_the_first_check_that_fails_is_the_answer() {
    let home = Home::new();
    let s = home.session("agent");
    let base = [
        "ring-plan",
        "submit",
        &s.id,
        "--kind",
        "epic",
        "--turn",
        "t",
        "--call",
        "c",
        "--title",
        "T",
    ];
    let question = ["--question", "Q", "--batch-size", "2", "--unattended"];
    let mut words = [&base[..], &question[..]].concat();
    let large = "x".repeat(524_289);
    // one after the other is put right, and the next one shows
    refused(&home, "INVALID_ARGUMENT", &words, &large);
    words[4] = "plan";
    refused(&home, "TOOL_DENIED", &words, &large);
    words[14] = "1";
    refused(&home, "PLAN_REQUIRES_INTERACTIVE_SESSION", &words, &large);
    words.pop();
    refused(&home, "PLAN_MARKDOWN_TOO_LARGE", &words, &large);
    words[2] = "no-such-session";
    refused(&home, "SESSION_NOT_FOUND", &words, TEXT);
    words[2] = &s.id;
    fs::rename(home.project(), home.path("aside")).unwrap();
    refused(&home, "PLAN_WORKSPACE_REQUIRED", &words, TEXT);
    fs::rename(home.path("aside"), home.project()).unwrap();
    refused(&home, "PLAN_NOT_ACTIVE", &words, TEXT);
    home.says(&[
        "ring-plan",
        "enter",
        &s.id,
        "--kind",
        "goal",
        "--turn",
        &s.turn,
        "--call",
        "e",
    ]);
    refused(&home, "PLAN_KIND_MISMATCH", &words, TEXT);
    words[4] = "goal";
    refused(&home, "PLAN_APPROVAL_STALE", &words, TEXT);
    words[6] = &s.turn;
    fs::write(home.project().join(".pi"), "").unwrap();
    refused(&home, "PLAN_ARTIFACT_PATH_UNSAFE", &words, TEXT);
    fs::remove_file(home.project().join(".pi")).unwrap();
    home.json(&words, TEXT);
    words[8] = "c2";
    refused(&home, "PLAN_ALREADY_PENDING", &words, TEXT);
    words[8] = "c";
    words[10] = "Another title";
    refused(&home, "PLAN_APPROVAL_CONFLICT", &words, TEXT);
}

#[test]
fn p11_each_refusal_of_a_decision_leaves_every_byte_as_it_was() {
    for kind in KINDS {
        let home = Home::new();
        let (_, p) = home.proposed(kind);
        let approve = ["ring-plan", "approve", &p, "--permission", "ask"];
        let reject = ["ring-plan", "reject", &p];
        let long = "n".repeat(2001);
        for words in [&approve[..], &reject] {
            let mut unknown = words.to_vec();
            unknown[2] = "no-such-proposal";
            refused(&home, "PLAN_NOT_FOUND", &unknown, "");
            // the note is asked first
            refused(
                &home,
                "INVALID_ARGUMENT",
                &[&unknown[..], &["--note", &long]].concat(),
                "",
            );
            refused(&home, "INVALID_ARGUMENT", &[words, &["--note", "-"]].concat(), &long);
            refused(&home, "INVALID_ARGUMENT", &[words, &["--version", "one"]].concat(), "");
            for guard in ["--session", "--turn", "--call", "--sha256"] {
                refused(&home, "PLAN_APPROVAL_STALE", &[words, &[guard, "other"]].concat(), "");
            }
            refused(&home, "PLAN_APPROVAL_STALE", &[words, &["--version", "2"]].concat(), "");
        }
        refused(&home, "PLAN_PERMISSION_MODE_REQUIRED", &approve[..3], "");
        refused(
            &home,
            "PLAN_PERMISSION_MODE_INVALID",
            &[&approve[..4], &["inherit"]].concat(),
            "",
        );
        // a guard before the mode, the mode before the version
        refused(
            &home,
            "PLAN_APPROVAL_STALE",
            &[&approve[..3], &["--turn", "other"]].concat(),
            "",
        );
        refused(
            &home,
            "PLAN_PERMISSION_MODE_REQUIRED",
            &[&approve[..3], &["--version", "2"]].concat(),
            "",
        );
        // 2,000 characters are a note, of whatever length in bytes
        let note = "\u{1f600}".repeat(2000);
        home.json(&[&reject[..], &["--note", "-"]].concat(), &note);
        assert_eq!(home.show(&p)["note"], note);
        refused(&home, "PLAN_APPROVAL_CONFLICT", &approve, "");
        refused(&home, "PLAN_PERMISSION_MODE_REQUIRED", &approve[..3], "");

        let (_, p) = home.proposed(kind);
        let approve = ["ring-plan", "approve", &p, "--permission", "ask"];
        fs::rename(home.project(), home.path("aside")).unwrap();
        refused(&home, "PLAN_WORKSPACE_REQUIRED", &approve, "");
        fs::rename(home.path("aside"), home.project()).unwrap();
        home.approve(&p, "ask");
        refused(
            &home,
            "PLAN_APPROVAL_CONFLICT",
            &[&approve[..4], &["auto"]].concat(),
            "",
        );
        refused(&home, "PLAN_APPROVAL_CONFLICT", &["ring-plan", "reject", &p], "");

        // an active execution that only a hand can have left there
        let (s2, p) = home.proposed(kind);
        let path = home.path("state/sessions").join(&s2.id).join("session.json");
        let mut record = home.record(&s2.id);
        record["proposal"]["execution"] = json!({"id": "01a3185c-5000-7313-b20e-8166a0186806", "state": "queued",
            "queued_ms": NOW, "epoch": record["proposal"]["epoch"]});
        fs::write(path, record.to_string()).unwrap();
        refused(
            &home,
            "PLAN_EXECUTION_ACTIVE",
            &["ring-plan", "approve", &p, "--permission", "ask"],
            "",
        );
    }
}

#[test]
fn p11_ids_that_several_share_and_readers_of_nothing_change_nothing() {
    let home = Home::new();
    let (_, p) = home.proposed("plan");
    let (s, q) = home.proposed("goal");
    let shared: String = p
        .chars()
        .zip(q.chars())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a)
        .collect();
    assert!(shared.len() >= 8, "{p} {q}");
    for words in [
        &["approve", &shared, "--permission", "ask"][..],
        &["reject", &shared],
        &["show", &shared],
        &["wait", &shared],
        &["diff", &shared],
        &["criteria", &shared],
    ] {
        let words = [&["ring-plan"], words].concat();
        refused(&home, "AMBIGUOUS", &words, "");
        let mut unknown = words.clone();
        for given in ["no-such-proposal", "", "../../x", &p[..3]] {
            unknown[2] = given;
            refused(&home, "PLAN_NOT_FOUND", &unknown, "");
        }
    }
    let error = home.refused("AMBIGUOUS", &["ring-plan", "show", &shared], "");
    assert_eq!(
        error["details"]["candidates"].as_array().map(Vec::len),
        Some(2),
        "{error}"
    );
    for words in [
        &["claim", "X"][..],
        &["instruction", "X"],
        &["finish", "X", "completed"],
        &["run", "X", "--", "true"],
    ] {
        let mut words = [&["ring-plan"], words].concat();
        words[2] = &p;
        refused(&home, "PLAN_EXECUTION_STALE", &words, "");
        words[2] = &shared;
        refused(&home, "AMBIGUOUS", &words, "");
        words[2] = "no-such-execution";
        refused(&home, "PLAN_EXECUTION_NOT_FOUND", &words, "");
    }
    for words in [
        &["history", "--session", "no-such-session"][..],
        &["policy", "no-such-session", "Read"],
    ] {
        refused(&home, "SESSION_NOT_FOUND", &[&["ring-plan"], words].concat(), "");
    }
    refused(
        &home,
        "LIMIT_EXCEEDED",
        &["ring-plan", "history", "--limit", "1001"],
        "",
    );
    refused(
        &home,
        "INVALID_ARGUMENT",
        &["ring-plan", "claim", &q, "--owner-pid", "0"],
        "",
    );
    refused(
        &home,
        "INVALID_ARGUMENT",
        &["ring-plan", "claim", &q, "--turn", "../x"],
        "",
    );
    refused(
        &home,
        "IO",
        &[&home.submission(&s, "goal", "c2")[..], &["/no/such/file"]].concat(),
        "",
    );
}
