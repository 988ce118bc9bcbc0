//! Turns: one at a time, one reason each.

use crate::harness::{Home, list, names, nobody, proposal, reply, str_of};
use serde_json::{Value, json};
use std::fs;

#[test]
fn s1_a_live_turn_refuses_another_and_nothing_is_written() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "first");
    let before = home.files();
    let out = home.run(&["begin", &id, "second"]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(4), 0));
    let error = home.refused("AGENT_BUSY", &["begin", &id, "second"]);
    assert_eq!(error["details"]["reason"], "turn");
    assert_eq!(home.files(), before);
    assert_eq!(home.record(&id)["turn"]["id"], turn.as_str());
}

#[test]
fn s3_an_open_proposal_and_an_active_execution_refuse_every_beginning() {
    let home = Home::new();
    for (execution, reason) in [
        (None, "proposal"),
        (Some("queued"), "execution"),
        (Some("running"), "execution"),
    ] {
        let id = home.planned(execution);
        home.says(&["configure", &id, "--title", "t"]);
        let commands: [&[&str]; 3] = [
            &["begin", &id, "x"],
            &["queue", "next", &id],
            &["run", &id, "--", "touch", "started"],
        ];
        for command in commands {
            assert_eq!(home.refused("AGENT_BUSY", command)["details"]["reason"], reason);
        }
        home.push(&id, "later");
        assert_eq!(home.refused("AGENT_BUSY", commands[1])["details"]["reason"], reason);
    }
    assert!(!home.path().join("started").exists());
}

#[test]
fn s4_entries_refuse_a_beginning_unless_they_are_held_and_queue_pushes_instead() {
    let home = Home::new();
    let id = home.new_session();
    home.push(&id, "one");
    assert_eq!(
        home.refused("AGENT_BUSY", &["begin", &id, "x"])["details"]["reason"],
        "queue"
    );
    let said = home.says(&["begin", &id, "two", "--queue"]);
    let entries = list(&home.json(&["queue", "list", &id])["entries"]);
    assert_eq!(entries.len(), 2);
    assert_eq!(said, format!("queued {}", str_of(&entries[1]["id"])));
    home.says(&["queue", "hold", &id]);
    let turn = home.begin(&id, "now");
    let queued = home.json(&["begin", &id, "three", "--queue"]);
    assert!(
        queued["queued"].is_string() && queued["turn"].is_null(),
        "{queued}: {turn}"
    );
    for execution in [None, Some("queued"), Some("running")] {
        let busy = home.planned(execution);
        assert!(home.json(&["begin", &busy, "x", "--queue"])["queued"].is_string());
        assert_eq!(home.record(&busy)["queue"]["entries"][0]["content"], "x");
    }
}

#[test]
fn s5_after_every_end_the_next_turn_begins_and_other_sessions_were_never_in_the_way() {
    let home = Home::new();
    let (id, other) = (home.new_session(), home.new_session());
    let far = home.begin(&other, "meanwhile");
    for how in [&["completed"][..], &["error", "--error-code", "X"], &["abort"]] {
        let turn = home.begin(&id, "again");
        match how {
            ["abort"] => drop(home.says(&["abort", &id])),
            how => drop(home.end(&id, &turn, how)),
        }
    }
    home.begin(&id, "once more");
    home.end(&other, &far, &["completed"]);
    home.begin(&other, "and here");
    let statuses: Vec<Value> = list(&home.record(&id)["turns"])
        .iter()
        .map(|t| t["status"].clone())
        .collect();
    assert_eq!(statuses, ["completed", "error", "aborted"]);
}

#[test]
fn s6_a_second_abort_or_end_says_so_and_leaves_the_record_to_the_byte() {
    let home = Home::new();
    for answered in [false, true] {
        let id = home.new_session();
        home.json(&["abort", &id]);
        let turn = home.begin(&id, "x");
        if answered {
            home.append(&id, &turn, "a", "text");
        }
        assert_eq!(home.json(&["abort", &id])["ok"], true);
        let before = home.bytes(&id);
        for words in [
            &["abort", &id][..],
            &["abort", &id, "--turn", &turn],
            &["end", &id, "--turn", &turn, "completed"],
        ] {
            assert_eq!(home.json(words)["ok"], false, "{words:?}");
            assert_eq!(home.bytes(&id), before, "{words:?}");
        }
    }
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    assert_eq!(home.end(&id, &turn, &["completed"])["ok"], true);
    let before = home.bytes(&id);
    let again = home.end(&id, &turn, &["error", "--error-code", "LATE"]);
    assert_eq!(again, json!({"ok": false, "status": "completed", "notification": null}));
    assert_eq!(home.bytes(&id), before);
}

#[test]
fn s7_an_abort_cannot_be_talked_back_into_completed() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    home.says(&["abort", &id]);
    let end = home.end(&id, &turn, &["completed"]);
    assert_eq!(end, json!({"ok": false, "status": "aborted", "notification": null}));
    let record = home.record(&id);
    assert_eq!(record["turns"][0]["status"], "aborted");
    assert_eq!(record["turns"][0]["error_code"], "TURN_ABORTED");
    assert_eq!(record["notifications"], json!([]));
}

#[test]
fn s8_an_older_turns_end_abort_and_stop_leave_the_live_turn_and_all_else_alone() {
    let home = Home::new();
    let id = home.new_session();
    let old = home.begin(&id, "old");
    home.append(&id, &old, "a", "text");
    home.end(&id, &old, &["completed"]);
    home.push(&id, "later");
    home.says(&["queue", "hold", &id]);
    let live = home.begin(&id, "live");
    home.ask(&id, &live, "c", "Bash");
    let epoch = home.record(&id)["turn"]["epoch"].clone();
    home.edit(&id, |r| r["proposal"] = proposal(&old, &epoch, None));
    let before = home.bytes(&id);
    home.end(&id, &old, &["error", "--error-code", "X"]);
    assert_eq!(
        home.json(&["abort", &id, "--turn", &old]),
        json!({"ok": false, "turn": old, "kind": "none", "row": null, "draft": null, "interrupted": []})
    );
    assert_eq!(home.json(&["stop", &id, "--turn", &old])["requested"], false);
    assert_eq!(home.bytes(&id), before);
}

#[test]
fn s9_an_end_names_its_turn_and_one_of_two_reasons() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    assert_eq!(home.run(&["end", &id, "completed"]).status.code(), Some(64));
    home.refused("TURN_NOT_FOUND", &["end", &id, "--turn", "never-was", "completed"]);
    home.refused("TURN_NOT_FOUND", &["abort", &id, "--turn", "never-was"]);
    home.refused("TURN_NOT_FOUND", &["stop", &id, "--turn", "never-was"]);
    home.refused("INVALID_ARGUMENT", &["end", &id, "--turn", &turn, "aborted"]);
    assert_eq!(home.show(&id)["status"], "running");
}

#[test]
fn s10_rows_of_a_closed_turn_are_stored_as_late_and_change_nothing_else() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    home.end(&id, &turn, &["completed"]);
    let turns = home.record(&id)["turns"].clone();
    home.append(&id, &turn, "late", "I come late");
    let rows = home.rows(&id);
    assert_eq!(rows[1]["meta"]["late"], true);
    assert_eq!(rows[1]["turn_id"], turn.as_str());
    assert_eq!(home.record(&id)["turns"], turns);
    assert_eq!(home.show(&id)["status"], "idle");
}

#[test]
fn s11_each_turn_that_began_has_one_line_of_its_end() {
    let home = Home::new();
    let id = home.new_session();
    home.push(&id, "never started");
    home.says(&["queue", "hold", &id]);
    let mut expected = Vec::new();
    for (how, reason) in [
        (&["completed"][..], "completed"),
        (&["error", "--error-code", "E1"], "error"),
    ] {
        let turn = home.begin(&id, "x");
        home.end(&id, &turn, how);
        expected.push((turn, reason.to_owned()));
    }
    let turn = home.begin(&id, "x");
    home.says(&["abort", &id]);
    expected.push((turn, "aborted".into()));
    // a writer that was killed between its commit and the line: the next one, even if it changes nothing, tells it
    let turn = home.begin(&id, "x");
    let lines = fs::read(home.state().join("events.jsonl")).unwrap();
    home.end(&id, &turn, &["error", "--error-code", "E2"]);
    expected.push((turn.clone(), "error".into()));
    fs::write(home.state().join("events.jsonl"), &lines).unwrap();
    let before = home.bytes(&id);
    home.json(&["end", &id, "--turn", &turn, "completed"]);
    assert_eq!(home.bytes(&id), before);
    home.json(&["recover", &id]);
    home.says(&["configure", &id, "--title", "t"]);
    let told: Vec<(String, String)> = home
        .events_of("turn_ended")
        .iter()
        .map(|e| (str_of(&e["turn_id"]), str_of(&e["reason"])))
        .collect();
    assert_eq!(told, expected);
    assert_eq!(home.record(&id)["unannounced"], json!([]));
    let last = home.events_of("turn_ended").pop().unwrap();
    assert_eq!((&last["error_code"], &last["origin"]), (&json!("E2"), &json!("begin")));
}

#[test]
fn s12_steering_needs_a_live_turn_that_goes_on() {
    let home = Home::new();
    let id = home.new_session();
    let closed = home.begin(&id, "x");
    home.end(&id, &closed, &["completed", "--seen"]);
    home.refused("TURN_NOT_FOUND", &["steer", &id, "--turn", &closed, "more"]);
    let other = home.new_session();
    let foreign = home.begin(&other, "x");
    home.refused("TURN_NOT_FOUND", &["steer", &id, "--turn", &foreign, "more"]);
    let turn = home.begin(&id, "y");
    home.refused("INVALID_ARGUMENT", &["steer", &id, "--turn", &turn, " \n"]);
    home.edit(&id, |r| {
        r["proposal"] = proposal(&turn, &r["turn"]["epoch"].clone(), None);
    });
    home.refused("TURN_NOT_FOUND", &["steer", &id, "--turn", &turn, "more"]);
    home.edit(&id, |r| r["proposal"] = Value::Null);
    home.says(&["stop", &id]);
    home.refused("TURN_NOT_FOUND", &["steer", &id, "--turn", &turn, "more"]);
    assert_eq!(home.texts(&id), ["x", "y"]);
    let record = home.record(&id);
    assert_eq!(
        (&record["queue"]["entries"], &record["turn"]["id"]),
        (&json!([]), &json!(turn))
    );
}

#[test]
fn s13_only_turns_of_begin_and_queue_are_steered_and_their_rows_say_so() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    let row = home.json_of(&["steer", &id, "--turn", &turn, "-"], "and that");
    let last = home.rows(&id).pop().unwrap();
    assert_eq!((&last["id"], &last["meta"]["steering"]), (&row["row"], &json!(true)));
    assert_eq!(last["turn_id"], turn.as_str());
    for (origin, taken) in [("run", false), ("hook", false), ("execution", false), ("queue", true)] {
        home.edit(&id, |r| r["turn"]["origin"] = json!(origin));
        let words = ["steer", &id, "--turn", &turn, "more"];
        if taken {
            home.says(&words);
        } else {
            assert_eq!(home.refused("CONFLICT", &words)["details"]["reason"], "not_steerable");
        }
    }
}

#[test]
fn s14_a_stop_is_asked_for_and_the_turn_ends_completed() {
    let home = Home::new();
    let id = home.new_session();
    assert_eq!(home.json(&["stop", &id])["requested"], false);
    let turn = home.begin(&id, "x");
    assert_eq!(home.json(&["stop", &id])["requested"], true);
    let before = home.bytes(&id);
    assert_eq!(home.json(&["stop", &id, "--turn", &turn])["requested"], true);
    assert_eq!(home.bytes(&id), before, "the first time counts");
    let end = home.end(&id, &turn, &["completed"]);
    assert_eq!(end["status"], "completed");
    assert!(end["notification"].is_string());
    let before = home.bytes(&id);
    assert_eq!(home.json(&["stop", &id])["requested"], false);
    assert_eq!(home.bytes(&id), before);
}

#[test]
fn s15_an_error_cancels_every_open_request() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    for call in ["c1", "child:c2", "child:c3"] {
        home.ask(&id, &turn, call, "Bash");
    }
    home.end(&id, &turn, &["error", "--error-code", "X"]);
    for request in list(&home.record(&id)["permissions"]) {
        assert_eq!(
            (&request["state"], &request["decision"], &request["cause"]),
            (&json!("closed"), &json!("cancelled"), &json!("TOOL_ABORTED"))
        );
    }
    assert_eq!(home.json(&["permission", "list", &id]), json!([]));
    home.begin(&id, "next");
}

#[test]
fn s16_two_sessions_share_nothing_and_the_callers_folder_is_never_read() {
    let home = Home::new();
    for name in ["a", "b", "third"] {
        fs::create_dir(home.path().join(name)).unwrap();
    }
    let third = home.path().join("third");
    let words = |args: &[&str]| {
        let out = home.ring(args).current_dir(&third).output().unwrap();
        assert!(
            out.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        String::from_utf8(out.stdout).unwrap().trim_end().to_owned()
    };
    let a = words(&["new", "--project", "../a"]);
    let b = words(&["new", "--project", "../b"]);
    let (ta, tb) = (words(&["begin", &a, "for a"]), words(&["begin", &b, "for b"]));
    words(&["permission", "open", &a, "--turn", &ta, "--call", "c", "--tool", "Bash"]);
    let request = str_of(&home.record(&a)["permissions"][0]["id"]);
    words(&["permission", "answer", &a, &request, "allow-session"]);
    words(&["permission", "open", &b, "--turn", &tb, "--call", "c", "--tool", "Bash"]);
    home.refused("NOT_FOUND", &["permission", "answer", &b, &request, "deny"]);
    home.refused("TURN_NOT_FOUND", &["end", &b, "--turn", &ta, "completed"]);
    words(&["end", &a, "--turn", &ta, "completed"]);
    let (ra, rb) = (home.show(&a), home.show(&b));
    assert_eq!(
        (home.texts(&a), home.texts(&b)),
        (vec!["for a".into()], vec!["for b".into()])
    );
    assert_eq!(
        (&ra["status"], &rb["status"]),
        (&json!("idle"), &json!("waiting_permission"))
    );
    assert_eq!((&ra["grants"], &rb["grants"]), (&json!(["Bash"]), &json!([])));
    for (record, name) in [(&ra, "a"), (&rb, "b")] {
        let project = fs::canonicalize(home.path().join(name)).unwrap();
        assert_eq!(record["project"], project.to_str().unwrap());
    }
    for event in home.events() {
        let own = if event["session"] == a.as_str() { &ta } else { &tb };
        assert!(
            event["turn_id"].is_null() || event["turn_id"] == own.as_str(),
            "{event}"
        );
        let project = if event["session"] == a.as_str() { &ra } else { &rb };
        assert!(
            event["project"].is_null() || event["project"] == project["project"],
            "{event}"
        );
    }
    assert!(names(&third).is_empty());
}

#[test]
fn s17_nobody_there_and_a_contract_mode_begin_nothing() {
    let home = Home::new();
    for mode in ["plan", "goal"] {
        let id = home.says(&["new", "--mode", mode]);
        home.push(&id, "x");
        let before = home.files();
        let commands: [&[&str]; 5] = [
            &["begin", &id, "x", "--unattended"],
            &["begin", &id, "x", "--unattended", "--queue"],
            &["run", &id, "--unattended", "--", "touch", "started"],
            &["run", &id, "--unattended", "--drain", "--", "touch", "started"],
            &["queue", "next", &id, "--unattended"],
        ];
        for command in commands {
            home.refused("PLAN_REQUIRES_INTERACTIVE_SESSION", command);
        }
        let out = home
            .ring(&["begin", &id, "x"])
            .env("RING_UNATTENDED", "1")
            .output()
            .unwrap();
        assert_eq!(out.status.code(), Some(6));
        assert_eq!(home.files(), before);
        home.says(&["configure", &id, "--mode", "agent"]);
        home.says(&["queue", "next", &id, "--unattended"]);
        assert_eq!(home.record(&id)["turn"]["unattended"], true);
    }
    assert!(!home.path().join("started").exists());
}

#[test]
fn s18_a_busy_session_keeps_mode_permission_and_settings_but_takes_a_title() {
    let home = Home::new();
    let live = home.new_session();
    home.begin(&live, "x");
    for id in [
        live,
        home.planned(None),
        home.planned(Some("queued")),
        home.planned(Some("running")),
    ] {
        let mode = str_of(&home.record(&id)["mode"]);
        let other = if mode == "goal" { "agent" } else { "goal" };
        let before = home.bytes(&id);
        for change in [["--mode", other], ["--permission", "auto"], ["--set", "model=opus"]] {
            home.refused("PLAN_CONFIGURATION_BLOCKED", &["configure", &id, change[0], change[1]]);
        }
        home.says(&["configure", &id]);
        home.says(&[
            "configure",
            &id,
            "--mode",
            &mode,
            "--permission",
            "inherit",
            "--set",
            "none=",
        ]);
        assert_eq!(home.bytes(&id), before);
        home.says(&["configure", &id, "--title", "Only this"]);
        assert_eq!(home.record(&id)["title"], "Only this");
    }
}

#[test]
fn s19_an_abort_interrupts_proposal_and_execution_in_one_revision() {
    let home = Home::new();
    for (execution, mode) in [(None, "plan"), (Some("queued"), "agent"), (Some("running"), "agent")] {
        let id = home.planned(execution);
        let before = home.record(&id)["revision"].as_u64().unwrap();
        let aborted = home.json(&["abort", &id]);
        let interrupted = if execution.is_some() {
            "execution-1"
        } else {
            "proposal-1"
        };
        assert_eq!(
            (&aborted["ok"], &aborted["kind"], &aborted["interrupted"]),
            (&json!(true), &json!("none"), &json!([interrupted]))
        );
        let record = home.show(&id);
        assert_eq!(record["revision"].as_u64(), Some(before + 1));
        assert_eq!((&record["mode"], &record["proposal"]), (&json!(mode), &Value::Null));
        assert_eq!(record["board"], "idle");
        let history = fs::read_to_string(home.file(&id, "history.jsonl")).unwrap();
        assert_eq!(history.matches("proposal-1").count(), 1);
        assert!(history.contains(if execution.is_some() {
            "PLAN_EXECUTION_INTERRUPTED"
        } else {
            "PLAN_APPROVAL_INTERRUPTED"
        }));
    }
    // with its turn still live
    let id = home.says(&["new", "--mode", "plan"]);
    let turn = home.begin(&id, "plan it");
    home.edit(&id, |r| {
        r["proposal"] = proposal(&turn, &r["turn"]["epoch"].clone(), None);
    });
    let aborted = home.json(&["abort", &id]);
    assert_eq!(
        (&aborted["turn"], &aborted["interrupted"]),
        (&json!(turn), &json!(["proposal-1"]))
    );
    assert_eq!(home.record(&id)["mode"], "plan");
}

#[test]
fn s20_an_error_of_an_executions_turn_interrupts_it_with_the_same_code() {
    let home = Home::new();
    let id = home.planned(Some("running"));
    let turn = home.says(&["begin", &id, "--turn", "reserved-turn"]);
    assert_eq!(turn, "reserved-turn");
    let record = home.record(&id);
    assert_eq!(
        (
            &record["turn"]["origin"],
            &record["turn"]["user_row"],
            &record["turn"]["execution_id"]
        ),
        (&json!("execution"), &Value::Null, &json!("execution-1"))
    );
    home.refused("AGENT_BUSY", &["begin", &id, "--turn", "reserved-turn"]);
    let before = record["revision"].as_u64().unwrap();
    home.end(&id, &turn, &["error", "--error-code", "NO_DISK"]);
    let record = home.show(&id);
    assert_eq!(record["revision"].as_u64(), Some(before + 1));
    assert_eq!(
        (&record["mode"], &record["board"], &record["turns"][1]["error_code"]),
        (&json!("agent"), &json!("idle"), &json!("NO_DISK"))
    );
    let history = fs::read_to_string(home.file(&id, "history.jsonl")).unwrap();
    let last: Value = serde_json::from_str(history.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["execution"]["state"], &last["execution"]["error_code"]),
        (&json!("interrupted"), &json!("NO_DISK"))
    );
    home.refused("CONFLICT", &["begin", &id, "--turn", "reserved-turn"]);
}

#[test]
fn the_first_prompt_names_the_session_and_a_given_title_stays() {
    let home = Home::new();
    let id = home.new_session();
    assert_eq!(home.record(&id)["title"], "New task");
    home.begin(&id, &format!("  fix\n\tthe {}", "login ".repeat(20)));
    let record = home.record(&id);
    let title = str_of(&record["title"]);
    assert!(
        title.starts_with("fix the login login") && title.ends_with('…'),
        "{title}"
    );
    assert_eq!((title.chars().count(), &record["title_auto"]), (48, &json!(false)));
    let named = home.says(&["new", "--title", "Mine"]);
    home.begin(&named, "other words");
    assert_eq!(home.record(&named)["title"], "Mine");
}

#[test]
fn an_owner_is_a_living_process_and_a_blank_prompt_is_none() {
    let home = Home::new();
    let id = home.new_session();
    home.refused("INVALID_ARGUMENT", &["begin", &id, "x", "--owner-pid", "999999999"]);
    home.refused("INVALID_ARGUMENT", &["begin", &id, "x", "--owner-pid", "0"]);
    let begun = home.json(&["begin", &id, "  \n"]);
    assert_eq!(begun["row"], Value::Null);
    assert_eq!(nobody(&home)["pid"], 0);
    assert!(home.rows(&id).is_empty());
    home.says(&["abort", &id]);
    let begun = home.json(&["begin", &id, "--attach", "docs/a.md"]);
    let rows = home.rows(&id);
    assert_eq!(
        (&rows[0]["id"], &rows[0]["blocks"][0]["ref"]),
        (&begun["row"], &json!("docs/a.md"))
    );
    assert!(reply("a", "b").contains("assistant"));
}
