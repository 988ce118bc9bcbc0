//! The transcript: what is there stays there, once.

use crate::harness::{Home, NOW, list, names, reply, start, str_of, text};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::Stdio;

fn add(home: &Home, id: &str, bytes: &[u8]) {
    let path = home.file(id, "transcript.jsonl");
    OpenOptions::new()
        .append(true)
        .open(path)
        .unwrap()
        .write_all(bytes)
        .unwrap();
}

fn message(id: &str, text: &str) -> String {
    json!({"type": "message", "id": id, "role": "assistant", "created_ms": NOW,
        "blocks": [{"type": "text", "text": text}], "meta": {}})
    .to_string()
        + "\n"
}

#[test]
fn s26_a_row_that_a_killed_writer_left_is_shown_and_counted_by_the_same_append() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    add(&home, &id, message("left", "synced, not committed").as_bytes());
    assert_eq!(home.texts(&id), ["x", "synced, not committed"]);
    let before = home.record(&id)["revision"].as_u64().unwrap();
    let again = home.append(&id, &turn, "left", "synced, not committed");
    assert_eq!(again, json!({"appended": 0, "skipped": 1}));
    let record = home.record(&id);
    let size = fs::metadata(home.file(&id, "transcript.jsonl")).unwrap().len();
    assert_eq!(
        (record["revision"].as_u64(), &record["transcript"]),
        (Some(before + 1), &json!({"bytes": size, "rows": 2, "cut": false}))
    );
    assert_eq!(home.texts(&id).len(), 2);
}

#[test]
fn s26_a_row_that_came_after_an_unanswered_abort_is_not_taken_for_what_was_to_be_cut() {
    let home = Home::new();
    let id = home.new_session();
    home.begin(&id, "taken back");
    assert_eq!(home.json(&["abort", &id])["kind"], "restore");
    let turn = home.begin(&id, "x");
    let before = home.bytes(&id);
    assert_eq!(home.record(&id)["transcript"]["cut"], false);
    add(&home, &id, message("left", "synced").as_bytes());
    assert_eq!(home.bytes(&id), before);
    home.append(&id, &turn, "b", "more");
    assert_eq!(home.texts(&id), ["x", "synced", "more"]);
}

#[test]
fn s27_torn_unknown_and_garbage_lines_hide_no_row_and_spoil_no_next_one() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    add(
        &home,
        &id,
        b"garbage\n{\"type\":\"compaction\",\"id\":\"c\"}\n\n[1]\n\xff\xfe\n",
    );
    home.append(&id, &turn, "a", "one");
    add(&home, &id, b"{\"type\":\"message\",\"id\":\"torn\",\"role\":\"ass");
    assert_eq!(home.texts(&id), ["x", "one"]);
    home.append(&id, &turn, "b", "two");
    assert_eq!(home.texts(&id), ["x", "one", "two"]);
    let bytes = fs::read(home.file(&id, "transcript.jsonl")).unwrap();
    let lines = String::from_utf8_lossy(&bytes).lines().count();
    assert_eq!(
        lines,
        1 + 1 + 5 + 1 + 1 + 1,
        "header, rows, garbage, the torn one, all kept"
    );
    assert!(bytes.ends_with(b"\n"));
}

#[test]
fn s28_an_id_counts_once_with_its_last_content_in_its_first_place() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    home.append(&id, &turn, "a", "first");
    home.append(&id, &turn, "b", "second");
    assert_eq!(
        home.append(&id, &turn, "a", "first"),
        json!({"appended": 0, "skipped": 1})
    );
    add(&home, &id, message("a", "last").as_bytes());
    assert_eq!(home.texts(&id), ["x", "last", "second"]);
    // a reply that is still streaming is replaced by the final one
    let streaming = json!({"id": "s", "role": "assistant", "blocks": [{"type": "text", "text": "ha"}], "meta": {"status": "streaming"}});
    let words = ["append", &id, "--turn", &turn];
    home.json_of(&words, streaming.to_string());
    let rows = home.record(&id)["transcript"]["rows"].clone();
    assert_eq!(home.append(&id, &turn, "s", "hallo")["appended"], 1);
    assert_eq!(home.texts(&id).last().unwrap(), "hallo");
    assert_eq!(home.record(&id)["transcript"]["rows"], rows);
}

#[test]
fn s30_an_unanswered_abort_takes_exactly_the_prompt_back() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "stays");
    home.append(&id, &turn, "a", "stays too");
    home.end(&id, &turn, &["completed", "--seen"]);
    let before = fs::read(home.file(&id, "transcript.jsonl")).unwrap();
    let draft = r#"{"my secret":  [1.50, "draft"]}"#;
    let begun = home.json(&["begin", &id, "unanswered", "--draft", draft]);
    // a reply that shows nothing yet answers nothing
    let empty = json!({"id": "e", "role": "assistant", "blocks": []}).to_string();
    home.json_of(&["append", &id, "--turn", &str_of(&begun["turn"])], empty);
    let out = home.run(&["--format", "json", "abort", &id]);
    let said = text(&out.stdout);
    assert!(said.contains(&format!(r#""draft":{draft}"#)), "as given: {said}");
    let aborted: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&aborted["kind"], &aborted["row"]), (&json!("restore"), &begun["row"]));
    assert_eq!(fs::read(home.file(&id, "transcript.jsonl")).unwrap(), before);
    assert_eq!(home.record(&id)["transcript"]["rows"], 2);
    assert_eq!(
        names(&home.sessions().join(&id)),
        ["lock", "session.json", "transcript.jsonl"]
    );
    for (name, bytes) in home.files() {
        assert!(!text(&bytes).contains("my secret"), "{name}");
        assert!(!text(&bytes).contains("unanswered"), "{name}");
    }
}

#[test]
fn s31_whatever_answers_a_prompt_keeps_it() {
    let home = Home::new();
    let row = |role: &str, block: Value| json!({"id": "r", "role": role, "blocks": [block]}).to_string();
    let answers = [
        row("assistant", json!({"type": "text", "text": "a"})),
        row("assistant", json!({"type": "thinking", "text": "hm"})),
        row("tool", json!({"type": "text", "text": ""})),
    ];
    for answer in answers {
        let id = home.new_session();
        let begun = home.json(&["begin", &id, "x", "--draft", "1"]);
        home.json_of(&["append", &id, "--turn", &str_of(&begun["turn"])], answer);
        let aborted = home.json(&["abort", &id]);
        assert_eq!((&aborted["kind"], &aborted["draft"]), (&json!("settle"), &Value::Null));
        assert_eq!(home.rows(&id).len(), 2);
    }
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    home.says(&["steer", &id, "--turn", &turn, "more"]);
    assert_eq!(home.json(&["abort", &id])["kind"], "settle");
    assert_eq!(home.rows(&id).len(), 2);
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    home.json_of(&["append", &id, "--turn", &turn, "--checkpoint"], reply("p", "so far"));
    assert_eq!(home.json(&["abort", &id])["kind"], "settle");
    let rows = home.rows(&id);
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (&rows[1]["meta"]["promoted"], &rows[1]["meta"]["status"]),
        (&json!(true), &json!("aborted"))
    );
    assert!(!home.file(&id, "inflight.json").exists());
}

#[test]
fn s33_a_cut_that_a_killed_writer_did_not_finish_is_finished_by_the_next() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "stays");
    home.append(&id, &turn, "a", "stays too");
    home.end(&id, &turn, &["completed", "--seen"]);
    let rows = home.rows(&id);
    home.begin(&id, "goes");
    let long = fs::read(home.file(&id, "transcript.jsonl")).unwrap();
    home.says(&["abort", &id]);
    // as if it had been killed between its commit and the cut
    fs::write(home.file(&id, "transcript.jsonl"), &long).unwrap();
    assert_eq!(home.record(&id)["transcript"]["cut"], true);
    assert_eq!(home.rows(&id), rows, "readers see the prefix");
    let turn = home.begin(&id, "next");
    home.append(&id, &turn, "b", "more");
    assert_eq!(home.rows(&id)[..2], rows[..]);
    assert_eq!(home.texts(&id), ["stays", "stays too", "next", "more"]);
    assert_eq!(home.record(&id)["transcript"]["rows"], 4);
}

#[test]
fn s34_a_partial_reply_becomes_a_row_once_and_a_final_one_of_its_id_wins() {
    for order in [
        "final after recovery",
        "final before recovery",
        "final before its checkpoint",
    ] {
        let home = Home::with_processes();
        home.process(4242, 77);
        let id = home.new_session();
        let turn = home.says(&["begin", &id, "x", "--owner-pid", "4242"]);
        let partial = || home.json_of(&["append", &id, "--turn", &turn, "--checkpoint"], reply("r", "half"));
        let whole = || home.append(&id, &turn, "r", "half and half");
        match order {
            "final before its checkpoint" => drop((whole(), partial())),
            _ => drop(partial()),
        }
        if order == "final before recovery" {
            // synced, and then killed: neither the commit nor the checkpoint's end
            add(&home, &id, message("r", "half and half").as_bytes());
        }
        home.process_ends(4242);
        home.json(&["recover", &id]);
        home.json(&["recover", &id]);
        assert!(!home.file(&id, "inflight.json").exists());
        let rows = home.rows(&id);
        assert_eq!(rows.len(), 2, "{order}: {rows:?}");
        if order == "final after recovery" {
            assert_eq!(
                (&rows[1]["blocks"][0]["text"], &rows[1]["meta"]["status"]),
                (&json!("half"), &json!("aborted"))
            );
            whole();
        }
        let rows = home.rows(&id);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1]["blocks"][0]["text"], "half and half", "{order}");
    }
}

#[test]
fn s35_a_session_whose_record_is_lost_is_listed_again() {
    let home = Home::new();
    let lose = |id: &str, how: &str| match how {
        "missing" => fs::remove_file(home.file(id, "session.json")).unwrap(),
        _ => fs::write(home.file(id, "session.json"), "{\"schema\":1,\"id\":").unwrap(),
    };
    for how in ["missing", "broken"] {
        for by in ["recover", "append"] {
            let id = home.says(&["new", "--mode", "plan"]);
            let turn = home.begin(&id, "fix  the\nlogin");
            home.append(&id, &turn, "a", "done");
            lose(&id, how);
            home.at(NOW + 60_000);
            let error = home.refused("SESSION_NOT_FOUND", &["show", &id]);
            assert_eq!(error["details"]["reason"], "unreadable");
            home.refused("SESSION_NOT_FOUND", &["begin", &id, "x"]);
            match by {
                "recover" => assert_eq!(home.json(&["recover", &id])[0]["did"][0], "record"),
                _ => drop(home.append(&id, &turn, "b", "more")),
            }
            let record = home.show(&id);
            let told = home.events_of("session_recovered");
            assert_eq!(told.iter().filter(|e| e["session"] == id.as_str()).count(), 1);
            let updated = if by == "append" { NOW + 60_000 } else { NOW };
            assert_eq!(
                (&record["created_ms"], &record["updated_ms"]),
                (&json!(NOW), &json!(updated))
            );
            home.at(NOW);
            assert_eq!(
                (&record["title"], &record["source"], &record["mode"]),
                (&json!("fix the login"), &json!("recovered"), &json!("plan"))
            );
            assert_eq!(
                (&record["turn"], &record["queue"]["held"]),
                (&Value::Null, &json!(true))
            );
            assert_eq!(home.texts(&id)[..2], ["fix  the\nlogin", "done"]);
            let kept = names(&home.sessions().join(&id));
            assert_eq!(
                kept.iter().any(|n| n.starts_with("session.json.bad-")),
                how == "broken",
                "{kept:?}"
            );
            let listed = list(&home.json(&["list"]));
            assert!(listed.iter().any(|s| s["id"] == id.as_str()));
        }
    }
    let id = home.new_session();
    lose(&id, "missing");
    home.json(&["recover"]);
    assert_eq!(home.show(&id)["title"], "Recovered session");
}

#[test]
fn s36_a_deleted_session_is_gone_also_for_an_append_that_waited() {
    let home = Home::new();
    let id = home.new_session();
    home.append(&id, "", "a", "x");
    let held = ring_session::lock::Lock::acquire(&home.file(&id, "lock"), std::time::Duration::ZERO).unwrap();
    let mut waiting = home.ring(&["--format", "json", "append", &id]);
    let mut child = waiting
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(reply("b", "late").as_bytes())
        .unwrap();
    // the waiter has opened the lock's file as soon as the system lists it among its open files
    let fds = std::path::PathBuf::from(format!("/proc/{}/fd", child.id()));
    let lock = home.file(&id, "lock");
    let has_opened = || {
        let links = fs::read_dir(&fds).into_iter().flatten().flatten();
        links.filter_map(|l| fs::read_link(l.path()).ok()).any(|to| to == lock)
    };
    while !has_opened() {
        assert!(child.try_wait().unwrap().is_none(), "it waits for the lock");
        std::thread::yield_now();
    }
    // another process's delete, while this one holds the lock in its place
    ring_session::replace::rename_directory(&home.sessions().join(&id), &home.sessions().join(".trash-x")).unwrap();
    drop(held);
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(3), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("SESSION_NOT_FOUND"));
    assert!(!home.sessions().join(&id).exists());
    home.refused("SESSION_NOT_FOUND", &["recover", &id]);
    assert_eq!(home.json(&["recover"]), json!([]));
    assert_eq!(home.json(&["list"]), json!([]));
    assert!(
        names(&home.sessions()).is_empty(),
        "the trash goes with the next recover"
    );
}

#[test]
fn s37_a_session_that_is_not_idle_is_deleted_only_by_force() {
    let home = Home::new();
    fs::create_dir(home.path().join("project")).unwrap();
    fs::write(home.path().join("project/file"), "mine").unwrap();
    let id = home.says(&["new", "--project", "project"]);
    home.push(&id, "later");
    let end = home.begin_held(&id);
    home.end(&id, &end, &["completed"]);
    let turn = home.begin(&id, "x");
    home.ask(&id, &turn, "c", "Bash");
    let before = home.files();
    home.refused("AGENT_BUSY", &["delete", &id]);
    for busy in [
        home.planned(None),
        home.planned(Some("queued")),
        home.planned(Some("running")),
    ] {
        home.refused("AGENT_BUSY", &["delete", &busy]);
        assert_eq!(home.json(&["delete", &busy, "--force"]), json!({"ok": true}));
    }
    assert!(
        before
            .iter()
            .all(|(name, bytes)| name.ends_with("jsonl") || fs::read(home.state().join(name)).unwrap() == *bytes)
    );
    home.says(&["delete", &id, "--force"]);
    assert!(names(&home.sessions()).is_empty());
    home.refused("SESSION_NOT_FOUND", &["show", &id]);
    assert_eq!(home.json(&["permission", "list"]), json!([]));
    assert_eq!(fs::read(home.path().join("project/file")).unwrap(), b"mine");
    let kinds: Vec<String> = home.events().iter().rev().take(2).map(|e| str_of(&e["kind"])).collect();
    assert_eq!(kinds[0], "session_deleted");
}

#[test]
fn s39_a_newer_record_is_shown_and_not_written_and_unknown_members_survive() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    home.push(&id, "later");
    home.edit(&id, |r| {
        r["from_later"] = json!({"deep": [1, "two"]});
        r["turn"]["too"] = json!("here");
        r["queue"]["entries"][0]["odd"] = json!(1.5);
    });
    home.append(&id, &turn, "a", "text");
    let record = home.record(&id);
    assert_eq!(record["from_later"], json!({"deep": [1, "two"]}));
    assert_eq!(
        (&record["turn"]["too"], &record["queue"]["entries"][0]["odd"]),
        (&json!("here"), &json!(1.5))
    );
    home.edit(&id, |r| r["schema"] = json!(2));
    let before = home.files();
    assert_eq!(home.show(&id)["status"], "running");
    assert_eq!(list(&home.json(&["list"])).len(), 1);
    assert_eq!(home.texts(&id), ["x", "text"]);
    let commands: [&[&str]; 13] = [
        &["begin", &id, "x"],
        &["end", &id, "--turn", &turn, "completed"],
        &["abort", &id],
        &["stop", &id],
        &["steer", &id, "--turn", &turn, "x"],
        &["configure", &id, "--title", "t"],
        &["queue", "push", &id, "x"],
        &["queue", "hold", &id],
        &["queue", "next", &id],
        &[
            "permission",
            "open",
            &id,
            "--turn",
            &turn,
            "--call",
            "c",
            "--tool",
            "Bash",
        ],
        &["recover", &id],
        &["recover", &id, "--force"],
        &["delete", &id, "--force"],
    ];
    for command in commands {
        home.refused("SCHEMA_NEWER", command);
    }
    home.refused_of("SCHEMA_NEWER", &["append", &id], reply("b", "x"));
    let words = ["append", &id, "--turn", &turn, "--checkpoint"];
    home.refused_of("SCHEMA_NEWER", &words, reply("b", "x"));
    home.json(&["recover"]);
    assert_eq!(home.files(), before);
    // a newer record with words that nobody here knows is no broken one: it is not rebuilt
    home.edit(&id, |r| r["mode"] = json!("swarm"));
    let before = home.files();
    home.refused("SCHEMA_NEWER", &["recover", &id]);
    home.refused_of("SCHEMA_NEWER", &["append", &id], reply("b", "x"));
    assert_eq!(home.files(), before);
}

#[test]
fn s40_the_33rd_closed_turn_puts_the_oldest_into_history_and_it_is_still_known() {
    let home = Home::new();
    let id = home.new_session();
    let mut turns = Vec::new();
    for _ in 0..33 {
        let turn = home.begin(&id, "x");
        home.end(&id, &turn, &["completed", "--seen"]);
        turns.push(turn);
    }
    let history = || -> Vec<String> {
        let text = fs::read_to_string(home.file(&id, "history.jsonl")).unwrap();
        text.lines()
            .map(|l| str_of(&serde_json::from_str::<Value>(l).unwrap()["id"]))
            .collect()
    };
    assert_eq!(history(), turns[..1]);
    assert_eq!(list(&home.record(&id)["turns"]).len(), 32);
    let end = home.end(&id, &turns[0], &["error", "--error-code", "X"]);
    assert_eq!((&end["ok"], &end["status"]), (&json!(false), &json!("completed")));
    home.refused("CONFLICT", &["begin", &id, "--turn", &turns[0]]);
    home.append(&id, &turns[0], "late", "still late");
    assert_eq!(home.rows(&id).last().unwrap()["meta"]["late"], true);
    // killed between the line and the commit: the record holds it still, so it is no history yet
    let before = home.bytes(&id);
    let turn = home.begin(&id, "x");
    home.end(&id, &turn, &["completed", "--seen"]);
    assert_eq!(history(), turns[..2]);
    fs::write(home.file(&id, "session.json"), before).unwrap();
    let ids: Vec<String> = list(&home.show(&id)["turns"])
        .iter()
        .map(|t| str_of(&t["id"]))
        .collect();
    assert_eq!(ids, turns[1..]);
    assert_eq!(home.end(&id, &turns[1], &["completed"])["ok"], false);
}

#[test]
fn s41_a_file_that_cannot_be_written_is_io_and_the_same_command_works_later() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    let before = home.bytes(&id);
    // a limit on the size of files stands for a full disk: the write fails in the middle
    let script = "trap '' XFSZ; ulimit -f 4; exec \"$@\"";
    let row = reply("big", &"text ".repeat(4000));
    let mut limited = home.command("sh");
    limited
        .args(["-c", script, "sh", env!("CARGO_BIN_EXE_ring-session")])
        .args(["--format", "json", "append", &id, "--turn", &turn]);
    let out = crate::harness::feed(&mut limited, row.as_bytes());
    let error = crate::harness::refusal(&out, &["append"]);
    assert_eq!((&error["code"], &error["retriable"]), (&json!("IO"), &json!(true)));
    assert!(str_of(&error["message"]).contains("transcript.jsonl"), "{error}");
    assert_eq!(home.bytes(&id), before);
    assert_eq!(home.texts(&id), ["x"], "all or none");
    let words = ["append", &id, "--turn", &turn];
    assert_eq!(home.json_of(&words, row)["appended"], 1);
    assert_eq!(home.rows(&id).len(), 2);
}

#[test]
fn s42_too_much_or_one_bad_line_stores_nothing_and_is_named() {
    let home = Home::new();
    let id = home.new_session();
    let before = home.files();
    let long = format!("{}\n{}", reply("a", "x"), reply("b", &"x".repeat(8 * 1024 * 1024)));
    let many: String = (0..1001).map(|n| reply(&format!("r{n}"), "x") + "\n").collect();
    let bad = format!("{}\n\n{{\"role\":\"robot\"}}\n{}", reply("a", "x"), reply("b", "x"));
    for (input, code, line) in [
        (long, "LIMIT_EXCEEDED", 2),
        (many, "LIMIT_EXCEEDED", 1001),
        (bad, "INVALID_ARGUMENT", 3),
    ] {
        let error = home.refused_of(code, &["append", &id], input);
        assert_eq!(error["details"]["line"], line, "{error}");
        assert!(str_of(&error["message"]).contains(&format!("line {line}")), "{error}");
    }
    assert_eq!(home.files(), before);
    let thousand: String = (0..1000).map(|n| reply(&format!("r{n}"), "x") + "\n").collect();
    assert_eq!(home.json_of(&["append", &id], thousand)["appended"], 1000);
}

#[test]
fn a_row_of_an_unknown_turn_is_stored_without_one_and_that_is_said() {
    let home = Home::new();
    let id = home.new_session();
    let rows = reply("a", "x") + "\n" + &reply("b", "y");
    let out = home.feed(&["append", &id, "--turn", "never-was"], rows);
    assert!(out.status.success());
    assert_eq!(text(&out.stderr).matches("never-was").count(), 1, "said once");
    assert_eq!(home.rows(&id)[0]["turn_id"], Value::Null);
}

#[test]
fn a_checkpoint_is_of_the_live_turn_and_one_row() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    let words = ["append", &id, "--turn", &turn, "--checkpoint"];
    let before = home.bytes(&id);
    home.json_of(&words, reply("p", "1"));
    home.json_of(&words, reply("p", "2"));
    assert_eq!(home.bytes(&id), before, "a checkpoint is no commit");
    home.refused_of("INVALID_ARGUMENT", &words, reply("p", "1") + "\n" + &reply("q", "2"));
    home.end(&id, &turn, &["completed", "--seen"]);
    assert_eq!(home.texts(&id), ["x", "2"]);
    assert_eq!(home.rows(&id)[1]["meta"]["status"], "complete");
    home.refused_of("TURN_NOT_FOUND", &words, reply("p", "3"));
    let waits = start(&mut home.ring(&["transcript", &id, "--from", "-1"]), b"");
    assert_eq!(text(&waits.wait_with_output().unwrap().stdout), "assistant:\n  2\n");
}
