//! What holds for every command.

use crate::harness::{Home, NOW, list, names, parse, proposal, reply, start, str_of, text};
use ring_session::lock::Lock;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn s78_every_refusal_names_its_code_and_prints_nothing_else() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    home.append(&id, &turn, "a", "text");
    let plan = home.says(&["new", "--mode", "plan"]);
    let full = home.new_session();
    for n in 0..8 {
        home.push(&full, &n.to_string());
    }
    let newer = home.new_session();
    home.edit(&newer, |r| r["schema"] = json!(7));
    let cases: [(&str, i32, &[&str]); 17] = [
        ("SESSION_NOT_FOUND", 3, &["show", "no-such-session"]),
        ("SESSION_NOT_FOUND", 3, &["transcript", "no-such-session"]),
        ("TURN_NOT_FOUND", 3, &["end", &id, "--turn", "nope", "completed"]),
        ("NOT_FOUND", 3, &["queue", "prioritize", &id, "nope"]),
        ("NOT_FOUND", 3, &["permission", "wait", &id, "nope"]),
        ("AGENT_BUSY", 4, &["begin", &id, "y"]),
        ("AGENT_BUSY", 4, &["queue", "push", &full, "y"]),
        ("CONFLICT", 4, &["new", "--id", &id]),
        ("PLAN_CONFIGURATION_BLOCKED", 4, &["configure", &id, "--mode", "plan"]),
        (
            "PLAN_REQUIRES_INTERACTIVE_SESSION",
            6,
            &["begin", &plan, "y", "--unattended"],
        ),
        ("SCHEMA_NEWER", 6, &["begin", &newer, "y"]),
        ("INVALID_ARGUMENT", 64, &["new", "--mode", "swarm"]),
        ("INVALID_ARGUMENT", 64, &["new", "--project", "/no/such/folder"]),
        ("INVALID_ARGUMENT", 64, &["watch", &id, "--until", "tea"]),
        ("INVALID_ARGUMENT", 64, &["transcript", &id, "--limit", "1001"]),
        ("LIMIT_EXCEEDED", 64, &["new", "--title", &"t".repeat(81)]),
        (
            "TIMEOUT",
            124,
            &["watch", &plan, "--until", "waiting", "--timeout", "1ms"],
        ),
    ];
    for (code, status, words) in cases {
        let out = home.run(words);
        let stderr = text(&out.stderr);
        assert_eq!(
            (out.status.code(), out.stdout.len()),
            (Some(status), 0),
            "{words:?}: {stderr}"
        );
        assert!(
            stderr.starts_with("ring-session: ") && stderr.ends_with(&format!(" [{code}]\n")),
            "{words:?}: {stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        let error = home.refused(code, words);
        assert!(
            error["message"].is_string() && error["retriable"].is_boolean() && error["details"].is_object(),
            "{error}"
        );
        let json = home.run(&[&["--format", "json"], words].concat());
        assert_eq!(text(&json.stderr).lines().count(), 1);
    }
}

#[test]
fn s79_a_unique_beginning_is_enough_for_every_id() {
    let home = Home::new();
    for id in ["alpha-one", "alpha-two", "beta"] {
        home.says(&["new", "--id", id]);
    }
    let error = home.refused("AMBIGUOUS", &["show", "alph"]);
    assert_eq!(error["details"]["candidates"], json!(["alpha-one", "alpha-two"]));
    home.refused("SESSION_NOT_FOUND", &["show", "bet"]);
    assert_eq!(home.show("alpha-o")["id"], "alpha-one");
    home.says(&["begin", "beta", "x", "--turn", "turn-1"]);
    assert_eq!(home.end("beta", "turn", &["completed", "--seen"])["ok"], true);
    home.says(&["begin", "beta", "y", "--turn", "turn-2"]);
    home.refused("AMBIGUOUS", &["abort", "beta", "--turn", "turn"]);
    let request = home.ask("beta", "turn-2", "c", "Bash");
    assert_eq!(request.len(), 36);
    home.ask("beta", "turn-2", "d", "Bash");
    home.refused("AMBIGUOUS", &["permission", "answer", "beta", &request[..8], "deny"]);
    home.says(&["permission", "answer", "beta", &request[..35], "deny"]);
    home.says(&["queue", "push", "beta", "x", "--id", "entry-one"]);
    home.says(&["queue", "push", "beta", "x", "--id", "entry-two"]);
    home.refused("AMBIGUOUS", &["queue", "remove", "beta", "entry"]);
    home.says(&["queue", "prioritize", "beta", "entry-t"]);
    assert_eq!(home.json(&["queue", "remove", "beta", "entry-o"])["removed"], true);
    home.append("beta", "turn-2", "row-abc", "text");
    home.says(&["abort", "beta"]);
    assert_eq!(home.texts(&home.says(&["fork", "beta", "--through", "row-"])).len(), 3);
}

#[test]
fn s80_a_list_of_500_is_quick_and_a_broken_record_hides_no_other() {
    let home = Home::new();
    let id = home.new_session();
    let record = home.record(&id);
    for n in 0..500 {
        let name = format!("session-{n}");
        fs::create_dir(home.sessions().join(&name)).unwrap();
        let mut record = record.clone();
        record["id"] = json!(name);
        fs::write(home.file(&name, "session.json"), record.to_string()).unwrap();
    }
    for (name, bytes) in [("session-7", "{"), ("session-8", ""), ("session-9", "[1]")] {
        fs::write(home.file(name, "session.json"), bytes).unwrap();
    }
    let time = |_| {
        let started = Instant::now();
        let out = home.run(&["--format", "json", "list"]);
        (started.elapsed(), out)
    };
    let (best, out) = (0..5).map(time).min_by_key(|(t, _)| *t).unwrap();
    assert_eq!(list(&parse(&text(&out.stdout))).len(), 498);
    for name in ["session-7", "session-8", "session-9"] {
        assert!(text(&out.stderr).contains(name), "{}", text(&out.stderr));
    }
    // not optimised, and beside other tests, it may take longer than the 100 ms
    let limit = if cfg!(debug_assertions) { 1500 } else { 100 };
    assert!(best < Duration::from_millis(limit), "{best:?}");
}

#[test]
fn s81_nothing_that_controls_a_terminal_is_printed_for_people() {
    let home = Home::new();
    let evil = "a\u{1b}[31mred\u{202e}gnp.exe\u{7}\u{9b}2J";
    let id = home.says(&["new", "--title", evil]);
    let turn = home.begin(&id, evil);
    home.append(&id, &turn, "a", evil);
    let call = json!({"id": "b", "role": "assistant", "blocks": [{"type": "tool_call", "call_id": "c", "name": evil}]});
    home.json_of(&["append", &id, "--turn", &turn], call.to_string());
    home.says(&[
        "permission",
        "open",
        &id,
        "--turn",
        &turn,
        "--call",
        "c",
        "--tool",
        evil,
        "--reason",
        evil,
        "--risk",
        evil,
    ]);
    home.says(&["queue", "push", &id, evil, "--principal", evil]);
    let error = home.run(&["show", evil]);
    let mut printed = error.stderr;
    for words in [
        &["list"][..],
        &["show", &id],
        &["transcript", &id],
        &["permission", "list"],
        &["queue", "list", &id],
    ] {
        printed.extend(home.run(words).stdout);
    }
    let printed = text(&printed);
    assert!(printed.contains("red"));
    let bad = |c: &char| {
        (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c) || ('\u{2066}'..='\u{2069}').contains(c)
    };
    assert_eq!(printed.chars().find(bad), None, "{printed:?}");
    assert!(
        !str_of(&home.record(&id)["title"]).contains('\u{1b}'),
        "cleaned when stored, too"
    );
    assert_eq!(home.texts(&id)[0], evil, "what was said is stored as it was given");
}

#[test]
fn s82_a_lock_held_elsewhere_is_waited_for_five_seconds_and_named() {
    let home = Home::new();
    let id = home.new_session();
    let lock = home.file(&id, "lock");
    let held = Lock::acquire(&lock, Duration::ZERO).unwrap();
    let started = Instant::now();
    let error = home.refused("LOCK_TIMEOUT", &["begin", &id, "x"]);
    let took = started.elapsed();
    assert!(
        took >= Duration::from_secs(5) && took < Duration::from_secs(9),
        "{took:?}"
    );
    assert_eq!(
        (&error["retriable"], &error["details"]["path"]),
        (&json!(true), &json!(lock.to_str().unwrap()))
    );
    assert!(str_of(&error["message"]).contains(lock.to_str().unwrap()));
    // readers take none
    assert_eq!(home.show(&id)["status"], "idle");
    drop(held);
    home.begin(&id, "x");
}

#[test]
fn s83_watch_looks_first_then_follows_across_a_rotation() {
    let home = Home::new();
    let id = home.new_session();
    let other = home.new_session();
    assert_eq!(home.says(&["watch", &id, "--until", "idle"]), "");
    home.begin(&other, "x");
    home.refused("TIMEOUT", &["watch", &other, "--until", "idle", "--timeout", "50ms"]);
    home.refused("SESSION_NOT_FOUND", &["watch", "no-such-session"]);
    let mut watch = home
        .ring(&["watch", &id, "--until", "waiting", "--timeout", "60s"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    // it may still be on its way to the file's end: until it prints, there is more to print
    let (send, first) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        while let Some(Ok(line)) = lines.next() {
            all.push(line);
            send.send(()).unwrap_or_default();
        }
        all
    });
    let mut n = 0;
    while first.recv_timeout(Duration::from_millis(20)).is_err() {
        home.says(&["configure", &id, "--title", &format!("t{n}")]);
        n += 1;
    }
    let revision = || home.record(&id)["revision"].as_u64().unwrap();
    let from = revision();
    home.says(&["configure", &id, "--title", "before"]);
    home.says(&["configure", &other, "--title", "elsewhere"]);
    // the next line finds the file full and puts it aside
    let path = home.state().join("events.jsonl");
    let filler = format!(
        "{{\"schema\":1,\"at_ms\":{NOW},\"kind\":\"status\",\"key\":\"{}\"}}\n",
        "x".repeat(1000)
    );
    let mut bytes = fs::read(&path).unwrap();
    while bytes.len() < 8 * 1024 * 1024 {
        bytes.extend_from_slice(filler.as_bytes());
    }
    let grown = bytes[fs::metadata(&path).unwrap().len() as usize..].to_vec();
    std::io::Write::write_all(&mut fs::OpenOptions::new().append(true).open(&path).unwrap(), &grown).unwrap();
    home.says(&["configure", &id, "--title", "after"]);
    assert!(home.state().join("events.jsonl.1").exists());
    let turn = home.begin(&id, "x");
    home.ask(&id, &turn, "c", "Bash");
    assert_eq!(watch.wait().unwrap().code(), Some(0));
    let told: Vec<Value> = reader.join().unwrap().iter().map(|l| parse(l)).collect();
    assert!(told.iter().all(|e| e["session"] == id.as_str()), "{told:?}");
    let revisions: Vec<u64> = told.iter().map(|e| e["revision"].as_u64().unwrap()).collect();
    assert!(revisions.is_sorted(), "{revisions:?}");
    // the last line may come behind the look at the record that ends the watch
    for expected in from + 1..revision() {
        assert!(revisions.contains(&expected), "{expected} in {revisions:?}");
    }
}

#[test]
fn s84_event_lines_and_errors_hold_no_text_of_anybody_and_records_no_secret() {
    let home = Home::new();
    let id = home.says(&["new", "--title", "TITLEWORD"]);
    let turn = home.says(&["begin", &id, "PROMPTWORD", "--draft", "\"DRAFTWORD\""]);
    home.append(&id, &turn, "a", "ROWWORD");
    home.says(&["steer", &id, "--turn", &turn, "PROMPTWORD"]);
    home.says(&["queue", "push", &id, "PROMPTWORD"]);
    let arguments = json!({"command": "ARGWORD", "env": {"API_KEY": "SECRETWORD", "tokens": "kept"}, "list": [{"password": {"x": "SECRETWORD"}}], "Authorization": "SECRETWORD"});
    let words = [
        "permission",
        "open",
        &id,
        "--turn",
        &turn,
        "--call",
        "c",
        "--tool",
        "Bash",
        "--reason",
        "REASONWORD",
    ];
    let request = home.json_of(&words, arguments.to_string());
    assert_eq!(
        request["preview"],
        json!({"command": "ARGWORD", "env": {"API_KEY": "***", "tokens": "kept"}, "list": [{"password": "***"}], "Authorization": "***"})
    );
    let mut errors = String::new();
    let refused: [&[&str]; 6] = [
        &["begin", &id, "PROMPTWORD", "--draft", "{DRAFTWORD"],
        &["begin", &id, "PROMPTWORD"],
        &["steer", &id, "--turn", "nope", "PROMPTWORD"],
        &["configure", &id, "--mode", "plan"],
        &["queue", "push", &id, "PROMPTWORD", "--attach", "data:ROWWORD"],
        &["permission", "answer", &id, "nope", "deny"],
    ];
    for words in refused {
        errors += &text(&home.run(&[&["--format", "json"], words].concat()).stderr);
    }
    errors += &text(
        &home
            .feed(
                &["--format", "json", "append", &id],
                "{\"role\":\"assistant\",\"blocks\":\"ROWWORD\"}",
            )
            .stderr,
    );
    errors += &text(&home.feed(&["--format", "json", "append", &id], "ROWWORD").stderr);
    home.says(&["abort", &id]);
    let lines = fs::read_to_string(home.state().join("events.jsonl")).unwrap();
    for word in [
        "TITLEWORD",
        "PROMPTWORD",
        "DRAFTWORD",
        "ROWWORD",
        "ARGWORD",
        "REASONWORD",
        "SECRETWORD",
    ] {
        assert!(!lines.contains(word), "{word} in {lines}");
        assert!(!errors.contains(word), "{word} in {errors}");
    }
    for (name, bytes) in home.files() {
        assert!(!text(&bytes).contains("SECRETWORD"), "{name}");
    }
}

#[test]
fn the_main_flow_of_a_session() {
    let home = Home::new();
    home.at(None);
    let id = home.says(&["new", "--title", "Fix the login"]);
    let turn = home.begin(&id, "find the bug");
    home.append(&id, &turn, "answer", "it is in auth.rs");
    let request = home.ask(&id, &turn, "c1", "Bash");
    let mut waiting = home.ring(&["permission", "wait", &id, &request]);
    let waiter = start(&mut waiting, b"");
    home.says(&["permission", "answer", &id, &request, "allow-once"]);
    assert_eq!(text(&waiter.wait_with_output().unwrap().stdout), "allow-once\n");
    home.end(&id, &turn, &["completed"]);
    for prompt in ["fix it", "run the tests", "write the note"] {
        home.push(&id, prompt);
    }
    let out = home.feed(&["run", &id, "--drain", "--", "tr", "a-z", "A-Z"], "");
    assert_eq!(text(&out.stdout), "FIX ITRUN THE TESTSWRITE THE NOTE");
    let branch = home.says(&["fork", &id, "--through", "answer", "--title", "Another way"]);
    assert_eq!(home.texts(&branch), ["find the bug", "it is in auth.rs"]);
    assert_eq!(home.texts(&id).len(), 8);
    assert_eq!(home.show(&id)["notifications"].as_array().unwrap().len(), 4);
    home.check();
    home.says(&["delete", &id]);
    assert_eq!(names(&home.sessions()), [branch.as_str()]);
    assert_eq!(proposal("t", &json!({}), None)["status"], "pending");
    assert!(reply("a", "b").contains("assistant"));
}
