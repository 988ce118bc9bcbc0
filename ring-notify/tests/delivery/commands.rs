//! The commands as programs see them, and the ledger as it is kept.

use crate::harness::{DAY, Home, MINUTE, SECOND, count, parse, start, str_of, text};
use serde_json::{Value, json};
use std::fs;

#[test]
fn n11_looking_leaves_every_file_as_it_is() {
    let home = Home::new();
    home.outlets(&[
        &home.probe("probe", ""),
        &home.script("bad", "exit 1", "skip_when_looking = true"),
    ]);
    let looks: [&[&str]; 4] = [
        &["ring-notify", "deliver", "--dry-run"],
        &["ring-notify", "outlets"],
        &["ring-notify", "quiet"],
        &["ring-notify", "deliver", "--dry-run", "--session", "claude-code:s1"],
    ];
    let untouched = || {
        let before = home.snapshot();
        for words in looks {
            home.json(words);
            home.says(words);
            assert_eq!(home.snapshot(), before, "{words:?}");
        }
    };
    // nothing there yet, something due, something held, sent and to be tried again
    untouched();
    home.asks("s1", "git push");
    home.turn("Build", MINUTE, &["error"]);
    untouched();
    let would = home.json(&["ring-notify", "deliver", "--dry-run"]);
    assert_eq!(count(&would, "sent"), 4, "{would}");
    assert!(home.taken().is_empty());
    assert_eq!(home.says(&["ring-notify", "deliver", "--dry-run"]).lines().count(), 4);
    home.says(&["ring-notify", "quiet", "1h"]);
    untouched();
    home.deliver();
    untouched();
    home.says(&["ring-notify", "quiet", "off"]);
    untouched();
    home.after(DAY).deliver();
    untouched();
    // more rows than the inbox holds are not removed by looking
    let s = home.session("Many");
    let row = |n: i64| {
        json!({"id": format!("row-{n:04}"), "kind": "task.failed", "turn_id": format!("t{n}"), "title": "x",
            "error_code": null, "duration_ms": 1, "created_ms": n, "read_ms": null})
    };
    home.edit_record(&s.id, |r| r["notifications"] = (0..205).map(row).collect());
    untouched();
}

#[test]
fn n70_one_id_is_one_message_from_however_many_processes() {
    let home = Home::new();
    let words = [
        "ring-notify",
        "--format",
        "json",
        "send",
        "--title",
        "Deployed",
        "--id",
        "deploy-7",
    ];
    let runs: Vec<_> = (0..10).map(|_| start(&mut home.command(&words), b"")).collect();
    let mut repeated = 0;
    for run in runs {
        let out = run.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        let said = parse(&text(&out.stdout));
        assert_eq!(said["id"], "deploy-7");
        repeated += usize::from(said["repeated"] == true);
    }
    assert_eq!((repeated, home.taken().len()), (9, 1));
    let said = home.json(&["ring-notify", "send", "--title", "other", "--id", "deploy-7"]);
    assert_eq!(
        (&said["repeated"], &said["to"]["probe"]["state"]),
        (&json!(true), &json!("sent"))
    );
    home.after(6 * DAY).deliver();
    home.json(&["ring-notify", "send", "--title", "other", "--id", "deploy-7"]);
    assert!(home.taken().is_empty());
}

#[test]
fn n70_what_is_wrong_with_a_message_is_said_and_nothing_is_sent() {
    let home = Home::new();
    let refused: [(&str, &[&str]); 9] = [
        ("INVALID_ARGUMENT", &["--title", ""]),
        ("INVALID_ARGUMENT", &["--title", " \t\u{202e}\u{1b}"]),
        ("LIMIT_EXCEEDED", &["--title", &"x".repeat(201)]),
        ("LIMIT_EXCEEDED", &["--title", "x", "--body", &"y".repeat(4001)]),
        ("INVALID_ARGUMENT", &["--title", "x", "--id", ""]),
        ("NOT_FOUND", &["--title", "x", "--to", "nobody"]),
        ("NOT_FOUND", &["--title", "x", "--to", "probe", "--to", "nobody"]),
        ("SESSION_NOT_FOUND", &["--title", "x", "--session", "nobody"]),
        ("INVALID_ARGUMENT", &["--body", "x"]),
    ];
    for (code, words) in refused {
        home.refused(code, &[&["ring-notify", "send"], words].concat());
    }
    let long = format!("{{\"title\":\"x\",\"body\":\"{}\"}}", "y".repeat(64 * 1024));
    home.refused_of("LIMIT_EXCEEDED", &["ring-notify", "send"], &long[..64 * 1024 + 1]);
    home.refused_of(
        "LIMIT_EXCEEDED",
        &["ring-notify", "send", "--title", "x", "--body", "-"],
        &long,
    );
    for input in [
        "",
        "{}",
        "[]",
        "{\"title\":\"x\",\"colour\":1}",
        "{\"title\":5}",
        "\u{0}",
    ] {
        home.refused_of("INVALID_ARGUMENT", &["ring-notify", "send"], input);
    }
    assert!(home.taken().is_empty());
    assert!(!home.path("state/notify/ledger.json").exists());
}

#[test]
fn n70_json_on_stdin_says_what_options_say() {
    let home = Home::bare();
    home.outlets(&[&home.probe("probe", ""), &home.probe("other", "")]);
    home.asks("s1", "git push");
    home.deliver();
    home.taken();
    fs::remove_file(home.path("other")).unwrap();
    let input = json!({"title": "Deployed", "body": "one\ntwo", "id": "d1", "urgent": true, "to": ["probe"],
        "session": "claude-code:s1"});
    let said = home.json_of(&["ring-notify", "send"], input.to_string());
    assert_eq!(said["to"].as_object().unwrap().keys().collect::<Vec<_>>(), ["probe"]);
    let message = home.taken().remove(0);
    let found = ["title", "body", "urgent", "session", "kind", "id"].map(|k| message[k].clone());
    let expected = json!(["Deployed", "one\ntwo", true, "claude-code:s1", "message", "msg:d1"]);
    assert_eq!(Value::from(found.to_vec()), expected);
    assert!(home.messages("other").is_empty());
    home.json_of(&["ring-notify", "send", "--title", "x", "--body", "-"], "from stdin");
    assert_eq!(home.taken()[0]["body"], "from stdin");
}

#[test]
fn n77_every_command_prints_one_document_and_refusals_print_none() {
    let home = Home::new();
    home.asks("s1", "git push");
    let commands: [&[&str]; 7] = [
        &["ring-notify", "deliver"],
        &["ring-notify", "deliver", "--dry-run"],
        &["ring-notify", "send", "--title", "x"],
        &["ring-notify", "quiet"],
        &["ring-notify", "quiet", "1h"],
        &["ring-notify", "test"],
        &["ring-notify", "outlets"],
    ];
    for words in commands {
        let out = home.run(&[&words[..1], &["--format", "json"], &words[1..]].concat(), "");
        assert_eq!(out.status.code(), Some(0), "{words:?}");
        let said = text(&out.stdout);
        assert_eq!(
            (said.lines().count(), said.ends_with('\n')),
            (1, true),
            "{words:?}: {said}"
        );
        assert_eq!(parse(&said)["schema"], 1, "{words:?}");
        assert!(out.stderr.is_empty());
    }
    assert_eq!(
        home.says(&["ring-notify", "deliver"]),
        "",
        "nothing for people, unless they ask"
    );
    let refused: [&[&str]; 8] = [
        &["ring-notify", "deliver", "--after", "61m"],
        &["ring-notify", "deliver", "--after", "x"],
        &["ring-notify", "deliver", "--nope"],
        &["ring-notify", "deliver", "--detach", "--dry-run"],
        &["ring-notify", "quiet", "off", "on"],
        &["ring-notify", "test", "a", "b"],
        &["ring-notify", "outlets", "x"],
        &["ring-notify", "nope"],
    ];
    for words in refused {
        home.refused("INVALID_ARGUMENT", words);
    }
    let out = home.run(&["ring-notify", "--format", "oneline", "deliver"], "");
    assert_eq!((out.status.code(), out.stdout.len()), (Some(64), 0));
    assert!(text(&out.stderr).ends_with(" [INVALID_ARGUMENT]\n"));
}

#[test]
fn n77_a_line_a_delivery_for_who_asks() {
    let home = Home::bare();
    home.outlets(&[&home.probe("probe", ""), &home.script("bad", "exit 3", "")]);
    home.write_row("s1", 1);
    let item = "wait:claude-code:s1:s1-0";
    assert_eq!(
        home.says(&["ring-notify", "deliver", "-v"]),
        format!("sent probe {item}\nretry bad {item}: exit 3")
    );
    home.says(&["ring-notify", "quiet", "on"]);
    home.after(30 * SECOND);
    let said = home.says(&["ring-notify", "deliver", "-v"]);
    assert_eq!(
        said,
        format!("held bad {item}: quiet\nheld probe {item} again (1): quiet")
    );
}

#[test]
fn who_started_the_run_goes_first_and_an_unknown_key_is_no_error() {
    let home = Home::bare();
    home.notify("burst_max = 10", "");
    for (n, session) in ["s1", "s2", "s3"].iter().enumerate() {
        home.after(n as i64).asks(session, "git push");
    }
    home.says(&["ring-notify", "deliver", "--session", "claude-code:s3"]);
    let sessions: Vec<String> = home.taken().iter().map(|m| str_of(&m["session"])).collect();
    assert_eq!(sessions, ["claude-code:s3", "claude-code:s1", "claude-code:s2"]);
    home.says(&["ring-notify", "deliver", "--session", "nobody"]);
}

#[test]
fn with_ring_no_notify_nothing_is_sent_and_nothing_is_written() {
    let home = Home::new();
    home.asks("s1", "git push");
    let before = home.snapshot();
    for words in [&["ring-notify", "deliver"][..], &["ring-notify", "deliver", "--detach"]] {
        let out = home.command(words).env("RING_NO_NOTIFY", "1").output().unwrap();
        assert_eq!(out.status.code(), Some(0));
    }
    assert_eq!(home.snapshot(), before);
}
