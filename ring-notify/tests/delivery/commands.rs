//! The commands as programs see them, and the ledger as it is kept.

use crate::harness::{DAY, Home, MINUTE, SECOND, count, eventually, parse, refusal, signal, start, str_of, text};
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

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
fn n68_a_ledger_that_is_no_json_is_set_aside_and_what_is_open_rings_once_more() {
    let home = Home::new();
    home.asks("s1", "git push");
    home.deliver();
    home.taken();
    let path = home.path("state/notify/ledger.json");
    for broken in ["{\"schema\":1,", "", "[]", "{\"schema\":1,\"items\":5}"] {
        fs::write(&path, broken).unwrap();
        let out = home.run(&["ring-notify", "deliver"], "");
        assert_eq!(out.status.code(), Some(0), "{broken}");
        assert!(text(&out.stderr).contains("ledger.json.bad"), "{}", text(&out.stderr));
        assert_eq!(
            fs::read_to_string(home.path("state/notify/ledger.json.bad")).unwrap(),
            broken
        );
        assert_eq!(home.titles(), ["s1: needs permission"], "{broken}");
        let out = home.run(&["ring-notify", "deliver"], "");
        assert!(out.stderr.is_empty() && home.taken().is_empty());
    }
}

#[test]
fn n68_a_ledger_or_quiet_of_a_later_program_is_left_alone_and_nothing_is_sent() {
    for (file, text) in [
        ("ledger.json", "{\"schema\":2,\"items\":[]}"),
        ("quiet.json", "{\"schema\":2,\"since_ms\":0,\"until_ms\":null}"),
    ] {
        let home = Home::new();
        home.deliver();
        home.asks("s1", "git push");
        let path = home.path("state/notify").join(file);
        fs::write(&path, text).unwrap();
        let commands: [&[&str]; 4] = [
            &["ring-notify", "deliver"],
            &["ring-notify", "deliver", "--dry-run"],
            &["ring-notify", "send", "--title", "x"],
            &["ring-notify", "watch"],
        ];
        for words in commands {
            home.refused("SCHEMA_NEWER", words);
            assert_eq!(fs::read_to_string(&path).unwrap(), text, "{words:?}");
            assert!(home.taken().is_empty(), "{words:?}");
        }
    }
}

#[test]
fn n68_a_ledger_that_cannot_be_written_or_locked_sends_nothing() {
    let home = Home::new();
    home.asks("s1", "git push");
    // a folder in the way
    fs::create_dir_all(home.path("state/notify/ledger.json")).unwrap();
    home.refused("IO", &["ring-notify", "deliver"]);
    assert!(home.taken().is_empty());
    fs::remove_dir(home.path("state/notify/ledger.json")).unwrap();
    let held = ring_session::lock::Lock::acquire(&home.path("state/notify/lock"), Duration::ZERO).unwrap();
    let mut command = home.command(&["ring-notify", "--format", "json", "deliver"]);
    let error = refusal(
        "LOCK_TIMEOUT",
        &command.env("RING_LOCK_MS", "50").output().unwrap(),
        &["deliver"],
    );
    assert_eq!(error["retriable"], true);
    assert!(home.taken().is_empty());
    drop(held);
    home.deliver();
    assert_eq!(home.taken().len(), 1);
}

#[test]
fn n69_the_ledger_stays_within_a_thousand_items_and_keeps_what_it_does_not_know() {
    let home = Home::new();
    home.deliver();
    home.edit_ledger(|l| l["later"] = json!({"far": [1.50, null]}));
    let mut most = 0;
    for round in 0..4 {
        home.after(round * MINUTE);
        for n in 0..32 {
            home.write_row(&format!("r{round}-{n}"), 32);
        }
        if round > 0 {
            for n in 0..32 {
                let row = home
                    .path("state/status")
                    .join(format!("claude-code:r{}-{n}.json", round - 1));
                fs::remove_file(row).unwrap();
            }
        }
        home.deliver();
        home.deliver();
        let ledger = home.ledger();
        most = most.max(ledger["items"].as_object().unwrap().len());
        assert_eq!(ledger["later"], json!({"far": [1.5, null]}));
    }
    assert_eq!(most, 1000);
    // one summary a round, and nothing twice
    let messages = home.taken();
    assert_eq!(messages.iter().filter(|m| m["ring"] == 0).count(), 4);
}

#[test]
fn n69_ten_thousand_waits_at_once_are_one_summary_and_the_same_ones_stay() {
    let home = Home::bare();
    home.notify("repeat_max = 0", "");
    for n in 0..313 {
        home.after(n).write_row(&format!("r{n:03}"), 32);
    }
    home.after(SECOND).deliver();
    let summary = home.taken().remove(0);
    assert!(summary["items"].as_array().unwrap().len() <= 1000);
    assert_eq!(home.ledger()["items"].as_object().unwrap().len(), 1000);
    home.after(2 * SECOND).deliver();
    home.after(DAY).deliver();
    assert!(
        home.taken().is_empty(),
        "those that were left out do not come back as new"
    );
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
fn n74_two_watches_ring_once_soon_after_a_wait_appears_and_end_when_they_are_asked_to() {
    let home = Home::new();
    home.real_time();
    let watch = || {
        start(
            &mut home.command(&["ring-notify", "--format", "json", "watch", "--interval", "1s"]),
            b"",
        )
    };
    let (one, two) = (watch(), watch());
    eventually("a first look", || home.path("state/notify/ledger.json").exists());
    home.asks("s1", "git push");
    let asked = Instant::now();
    eventually("the ring", || home.messages("probe").len() == 1);
    let took = asked.elapsed();
    println!("rung {took:?} after it was asked for");
    assert!(took < Duration::from_secs(10), "{took:?}");
    eventually("its result", || home.stands("wait.permission")["state"] == "sent");
    // a second look of both
    std::thread::sleep(Duration::from_millis(1500));
    let mut lines = String::new();
    for (watch, name) in [(one, "TERM"), (two, "INT")] {
        signal(&watch, name);
        let out = watch.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        assert!(out.stderr.is_empty(), "{}", text(&out.stderr));
        lines.push_str(&text(&out.stdout));
    }
    assert_eq!(home.messages("probe").len(), 1);
    assert!(!home.ledger().to_string().contains("claimed"));
    let told: Vec<Value> = lines.lines().map(parse).collect();
    assert_eq!(told.len(), 1, "{lines}");
    assert_eq!(count(&told[0], "sent"), 1);
}

#[test]
fn n74_a_watch_finishes_what_it_is_sending_before_it_ends() {
    let home = Home::bare();
    let script = format!(
        "touch '{}'; sleep 1; cat >> '{}'",
        home.path("began").display(),
        home.path("probe").display()
    );
    home.outlets(&[&home.script("probe", &script, "")]);
    home.real_time().asks("s1", "git push");
    let watch = start(&mut home.command(&["ring-notify", "watch"]), b"");
    eventually("the send", || home.path("began").exists());
    signal(&watch, "TERM");
    let out = watch.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(0));
    assert!(
        text(&out.stdout).starts_with("sent probe wait:claude-code:s1:"),
        "{}",
        text(&out.stdout)
    );
    assert_eq!(home.taken().len(), 1);
    assert_eq!(home.stands("wait.permission")["state"], "sent");
}

#[test]
fn n74_a_watch_outlives_a_disk_that_cannot_be_written_and_says_so_once() {
    let home = Home::new();
    home.real_time().asks("s1", "git push");
    let ledger = home.path("state/notify/ledger.json");
    fs::create_dir_all(&ledger).unwrap();
    let mut watch = home.command(&["ring-notify", "watch", "--interval", "1s"]);
    let errors = fs::File::create(home.path("errors")).unwrap();
    let watch = watch.stderr(errors).stdout(Stdio::null()).spawn().unwrap();
    let said = || fs::read_to_string(home.path("errors")).unwrap();
    eventually("a complaint", || said().contains("ledger.json"));
    std::thread::sleep(Duration::from_millis(2500));
    fs::remove_dir(&ledger).unwrap();
    eventually("the ring", || home.messages("probe").len() == 1);
    eventually("its result", || home.stands("wait.permission")["state"] == "sent");
    signal(&watch, "TERM");
    assert!(watch.wait_with_output().unwrap().status.success());
    assert_eq!(said().lines().count(), 1, "{}", said());
}

/// A wait that appears while a slow outlet is being sent to is not left until the next interval.
#[test]
fn n74_what_appears_during_a_pass_wakes_the_next_one() {
    let home = Home::bare();
    let (probe, gate) = (home.path("probe"), home.path("gate"));
    let script = format!(
        "cat >> '{}'; while test ! -e '{}'; do sleep 0.02; done",
        probe.display(),
        gate.display()
    );
    home.outlets(&[&home.script("probe", &script, "")]);
    home.real_time().asks("s1", "git push");
    let watch = start(&mut home.command(&["ring-notify", "watch", "--interval", "1h"]), b"");
    eventually("the first message", || home.messages("probe").len() == 1);
    home.asks("s2", "git push");
    fs::write(&gate, "").unwrap();
    eventually("the second message", || home.messages("probe").len() == 2);
    signal(&watch, "TERM");
    assert!(watch.wait_with_output().unwrap().status.success());
}

#[test]
fn n74_an_interval_outside_its_bounds_is_refused() {
    let home = Home::new();
    for interval in ["0", "999ms", "61m", "x", "-1"] {
        home.refused("INVALID_ARGUMENT", &["ring-notify", "watch", "--interval", interval]);
    }
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

/// The shortest of some runs, in which nothing else of the machine took part.
fn best(runs: usize, mut run: impl FnMut()) -> Duration {
    let time = |()| {
        let began = Instant::now();
        run();
        began.elapsed()
    };
    std::iter::repeat_n((), runs).map(time).min().unwrap()
}

#[test]
fn n59_detached_it_returns_at_once_whatever_the_outlets_do() {
    let home = Home::new();
    home.outlets(&[&home.script(
        "probe",
        &format!("cat >> '{}'; sleep 2", home.path("probe").display()),
        "",
    )]);
    home.real_time().asks("s1", "git push");
    let mut run = 0;
    let took = best(7, || {
        run += 1;
        let out = home.run(
            &["ring-notify", "deliver", "--detach", "--session", "claude-code:s1"],
            "",
        );
        assert!(
            out.status.code() == Some(0) && out.stdout.is_empty() && out.stderr.is_empty(),
            "{run}: {out:?}"
        );
    });
    println!("detached within {took:?}");
    assert!(took < Duration::from_millis(500), "{took:?}");
    home.told(1);
    assert_eq!(home.messages("probe").len(), 1);
}

#[test]
fn n59_detached_it_succeeds_with_closed_streams_a_read_only_state_and_bad_settings() {
    let home = Home::new();
    home.real_time().asks("s1", "git push");
    // every stream closed
    let program = crate::harness::bin("ring-notify");
    let script = "exec \"$0\" deliver --detach <&- >&- 2>&-";
    let mut command = home.command(&["sh", "-c", script, program.to_str().unwrap()]);
    let status = command
        .env_remove("RING_NO_NOTIFY")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    home.told(1);
    // settings that are none
    home.config("[notify\n");
    home.says(&["ring-notify", "deliver", "--detach"]);
    // a state folder that cannot be written, because it is a file
    let file = home.path("file");
    fs::write(&file, "").unwrap();
    let out = home
        .command(&["ring-notify", "deliver", "--detach"])
        .env("RING_STATE_DIR", &file)
        .output()
        .unwrap();
    assert!(
        out.status.code() == Some(0) && out.stdout.is_empty() && out.stderr.is_empty(),
        "{out:?}"
    );
    // nonsense in its own options is a mistake of whoever wrote them
    home.refused("INVALID_ARGUMENT", &["ring-notify", "deliver", "--detach", "--nope"]);
}

#[test]
fn n59_a_detached_pass_waits_as_it_was_told_and_tells_the_log_what_went_wrong() {
    let home = Home::new();
    home.real_time().asks("s1", "git push");
    let began = Instant::now();
    home.says(&["ring-notify", "deliver", "--detach", "--after", "1s"]);
    assert!(home.messages("probe").is_empty());
    eventually("the ring", || home.messages("probe").len() == 1);
    assert!(began.elapsed() >= Duration::from_secs(1));
    home.told(1);
    fs::write(home.path("state/notify/ledger.json"), "{\"schema\":9}").unwrap();
    home.says(&["ring-notify", "deliver", "--detach"]);
    let log = home.path("state/hook-errors.log");
    eventually("a line in the log", || {
        fs::read_to_string(&log).is_ok_and(|l| l.contains("SCHEMA_NEWER"))
    });
}
