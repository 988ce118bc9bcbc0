//! The inbox: which ends make a row, and what `list`, `read` and `clear` do with it.
//!
//! N6 (a kill at any write of `end` leaves turn and row, or neither) is proven where the write is: `ring-session`'s
//! survival tests kill it at every call.

use super::harness::{Home, NOW, str_of, text};
use ring_session::columns::width;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

/// A row of a record that is made by hand.
fn row(id: &str, created_ms: i64) -> Value {
    json!({"id": id, "kind": "task.completed", "turn_id": format!("t-{id}"), "title": "by hand", "error_code": null,
        "duration_ms": 5, "created_ms": created_ms, "read_ms": null})
}

/// A record that is made by hand, with rows.
fn record(id: &str, rows: &[Value]) -> Value {
    json!({"schema": 1, "revision": 3, "id": id, "title": id, "created_ms": 1, "updated_ms": 2, "notifications": rows})
}

#[test]
fn n1_a_completed_turn_that_nobody_saw_is_one_unread_row() {
    let home = Home::new();
    let session = home.session("Build API");
    let turn = home.begin(&session);
    home.after(81_234);
    home.end(&session, &turn, &["completed"]);
    let listed = home.json(&["list"]);
    let row = &listed["notifications"][0];
    let expected = json!({"schema": 1, "unread_count": 1, "total": 1, "unreadable": 0, "notifications": [
        {"id": row["id"], "kind": "task.completed", "turn_id": turn, "title": "Build API", "error_code": null,
         "duration_ms": 81_234, "created_ms": NOW + 81_234, "read_ms": null, "session_id": session, "agent": "",
         "project": home.project()}]});
    assert_eq!(listed, expected);
    assert_eq!(home.json(&[]), listed, "list is what runs without a command");
    let lines = home.says(&["--format", "jsonl", "list"]);
    assert_eq!(serde_json::from_str::<Value>(&lines).unwrap(), *row);
}

#[test]
fn n2_a_failed_turn_is_one_unread_row_with_its_code() {
    let home = Home::new();
    let session = home.session("Build API");
    let turn = home.turn(&session, &["error", "--error-code", "EXIT_3"]);
    let rows = home.rows();
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!(
        (&row["kind"], &row["error_code"]),
        (&json!("task.failed"), &json!("EXIT_3"))
    );
    assert_eq!((&row["turn_id"], &row["read_ms"]), (&json!(turn), &Value::Null));
}

#[test]
fn n3_only_seen_suppresses_a_row() {
    let home = Home::new();
    let (session, other) = (home.session("a"), home.session("b"));
    for words in [&["completed", "--seen"][..], &["error", "--seen"]] {
        home.turn(&session, words);
        assert!(home.rows().is_empty(), "{words:?}");
    }
    // another session is looked at, the terminal is in front, the call comes from the project
    let live = home.begin(&other);
    let turn = home.begin(&session);
    let out = home
        .command(&["ring-session", "end", &session, "--turn", &turn, "completed"])
        .current_dir(home.project())
        .env("TMUX", "/tmp/tmux,1,0")
        .env("TMUX_PANE", "%0")
        .env("DISPLAY", ":0")
        .env("RING_SESSION", &other)
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(0));
    assert_eq!(home.rows().len(), 1);
    home.end(&other, &live, &["completed", "--seen"]);
    assert_eq!(home.rows().len(), 1);
}

#[test]
fn n4_an_abort_makes_no_row_and_neither_does_a_later_end() {
    let home = Home::new();
    let session = home.session("a");
    let turn = home.begin(&session);
    home.says(&["ring-session", "abort", &session, "--turn", &turn]);
    home.end(&session, &turn, &["completed"]);
    home.end(&session, &turn, &["error"]);
    assert!(home.rows().is_empty());
}

#[test]
fn n5_a_second_end_and_the_end_of_an_unknown_turn_make_no_row_not_even_after_clear() {
    let home = Home::new();
    let session = home.session("a");
    let turn = home.turn(&session, &["completed"]);
    let ends = || {
        home.end(&session, &turn, &["completed"]);
        home.end(&session, &turn, &["error", "--error-code", "X"]);
        home.end(&session, "nobody", &["completed"]);
    };
    ends();
    assert_eq!(home.rows().len(), 1);
    assert_eq!(home.says(&["clear"]), "1 removed");
    ends();
    assert!(home.rows().is_empty());
}

#[test]
fn n7_a_killed_owner_and_a_fork_make_no_row() {
    let home = Home::new();
    let session = home.session("a");
    home.turn(&session, &["completed"]);
    let mut owner = home.command(&["ring-session"]);
    // it reads a prompt that never comes
    owner.args(["begin", &session, "-"]).stdin(Stdio::piped());
    let mut owner = owner.spawn().unwrap();
    let pid = owner.id().to_string();
    home.says(&["ring-session", "begin", &session, "x", "--owner-pid", &pid]);
    owner.kill().unwrap();
    owner.wait().unwrap();
    home.says(&["ring-session", "recover"]);
    assert_eq!(home.record(&session)["turns"][1]["status"], "aborted");
    assert_eq!(home.rows().len(), 1);
    let fork = home.says(&["ring-session", "fork", &session]);
    assert_eq!(home.record(&fork)["notifications"], json!([]));
    assert_eq!(home.rows().len(), 1);
}

#[test]
fn n8_a_row_keeps_its_title_and_an_empty_one_is_untitled_only_for_people() {
    let home = Home::new();
    let session = home.session("old name");
    home.turn(&session, &["completed"]);
    home.says(&["ring-session", "configure", &session, "--title", "new name"]);
    assert_eq!(home.rows()[0]["title"], "old name");
    assert!(home.says(&["list"]).contains("old name"));
    home.edit(&session, |r| r["notifications"][0]["title"] = json!(""));
    assert_eq!(home.rows()[0]["title"], "");
    assert!(home.says(&["list"]).contains("untitled"));
}

#[test]
fn n9_of_205_turns_of_one_session_the_newest_200_are_listed() {
    let home = Home::new();
    let session = home.session("a");
    let rows: Vec<Value> = (0..200).map(|n| row(&format!("r{n:04}"), NOW - 1000 + n)).collect();
    home.edit(&session, |r| r["notifications"] = json!(rows));
    for n in 0..5 {
        home.after(n);
        home.turn(&session, &["completed"]);
    }
    let listed = home.json(&["list", "--all"]);
    assert_eq!((&listed["total"], &listed["unread_count"]), (&json!(200), &json!(200)));
    let ids = home.ids();
    assert_eq!((ids.len(), ids[199].as_str()), (200, "r0005"));
    assert_eq!(home.record(&session)["notifications"].as_array().unwrap().len(), 200);
}

#[test]
fn n9_of_205_turns_of_many_sessions_the_newest_200_are_there_for_every_command() {
    let home = Home::new();
    let fill = || {
        for s in 0..41 {
            let rows: Vec<Value> = (0..5).map(|n| row(&format!("row-{n}-{s:02}"), NOW + n)).collect();
            home.write(&format!("s{s:02}"), &record(&format!("s{s:02}"), &rows));
        }
    };
    let stored = || -> usize {
        let count = |s| {
            home.record(&format!("s{s:02}"))["notifications"]
                .as_array()
                .unwrap()
                .len()
        };
        (0..41).map(count).sum()
    };
    fill();
    let ids = home.ids();
    assert_eq!(
        (ids.len(), ids[0].as_str(), ids[199].as_str()),
        (200, "row-4-40", "row-0-05")
    );
    assert_eq!(home.ids(), ids);
    assert_eq!(home.says(&["list", "--count"]), "200");
    // what lies beyond is absent before it is removed
    let read = home.json(&["read", "row-0-04", "row-0-05"]);
    assert_eq!(
        (&read["read"], &read["unknown"]),
        (&json!(["row-0-05"]), &json!(["row-0-04"]))
    );
    assert_eq!(stored(), 205);
    assert_eq!(home.json(&["read", "--all"])["read"].as_array().unwrap().len(), 199);
    assert_eq!(stored(), 200);
    assert_eq!(home.ids(), ids);
    fill();
    // nothing of it comes back into an inbox that has room again
    home.says(&["read", "row-4-40"]);
    assert_eq!(home.says(&["clear", "--read"]), "1 removed");
    assert_eq!((home.ids().len(), stored()), (199, 199));
    fill();
    assert_eq!(home.json(&["clear", "--session", "s40"])["removed"], 5);
    assert_eq!((home.ids().len(), stored()), (195, 195));
}

#[test]
fn n10_a_limit_is_clamped_and_must_be_a_number() {
    let home = Home::new();
    let rows: Vec<Value> = (0..150).map(|n| row(&format!("row-{n:03}"), NOW + n)).collect();
    home.write("a", &record("a", &rows));
    home.write("b", &record("b", &rows[..100]));
    let count = |limit: &str| {
        home.json(&["list", "--limit", limit])["notifications"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(["500", "200", "3", "0", "-1"].map(count), [200, 200, 3, 1, 1]);
    assert_eq!(home.says(&["list", "--limit", "2"]).lines().count(), 2);
    for bad in ["x", "", "1.5", "2x"] {
        home.refused("INVALID_ARGUMENT", &["list", "--limit", bad]);
    }
}

#[test]
fn n11_list_changes_no_file() {
    let home = Home::new();
    let session = home.session("a");
    home.turn(&session, &["completed"]);
    home.turn(&session, &["error"]);
    let dead = home.session("dead");
    home.begin(&dead);
    // its owner was of another boot: recovery is due, and not the business of a reader
    home.edit(&dead, |r| {
        r["turn"]["epoch"]["boot"] = json!("00000000");
        r["turn"]["epoch"]["pid"] = json!(1);
    });
    home.write(
        "over",
        &record(
            "over",
            &(0..250).map(|n| row(&format!("o{n:03}"), n)).collect::<Vec<_>>(),
        ),
    );
    home.wait("s1");
    let before = home.files();
    for words in [
        &[][..],
        &["list"],
        &["list", "--all"],
        &["list", "--count"],
        &["list", "--all", "--session", "s1"],
        &["--format", "oneline"],
        &["--format", "jsonl", "list", "--all"],
        &["--format", "json", "list"],
    ] {
        home.run(words);
        assert!(before == home.files(), "{words:?}");
    }
}

#[test]
fn n12_the_number_of_unread_rows_ignores_every_filter() {
    let home = Home::new();
    let (a, b) = (home.session("a"), home.session("b"));
    home.turn(&a, &["completed"]);
    home.turn(&a, &["error"]);
    home.turn(&b, &["completed"]);
    home.says(&["read", &home.ids()[0]]);
    for words in [
        &["list"][..],
        &["list", "--all"],
        &["list", "--session", &b],
        &["list", "--limit", "1"],
        &["list", "--all", "--limit", "1", "--session", &a],
        &["list", "--count", "--session", &b],
    ] {
        let listed = home.json(words);
        assert_eq!(
            (&listed["unread_count"], &listed["total"]),
            (&json!(2), &json!(3)),
            "{words:?}"
        );
    }
    for words in [
        &["list", "--count"][..],
        &["list", "--count", "--all"],
        &["list", "--count", "--session", &b, "--limit", "1"],
    ] {
        assert_eq!(home.says(words), "2", "{words:?}");
    }
    home.refused("SESSION_NOT_FOUND", &["list", "--count", "--session", "nobody"]);
}

#[test]
fn n13_rows_of_one_millisecond_are_ordered_by_id_on_every_call() {
    let home = Home::new();
    let sessions: Vec<String> = (0..6).map(|n| home.session(&n.to_string())).collect();
    for session in &sessions {
        home.turn(session, &["completed"]);
    }
    let ids = home.ids();
    assert_eq!(ids.len(), 6);
    assert!(ids.iter().rev().is_sorted(), "{ids:?}");
    for _ in 0..3 {
        assert_eq!(home.ids(), ids);
    }
}

#[test]
fn n14_a_row_is_read_once_and_that_is_on_the_disk() {
    let home = Home::new();
    let session = home.session("a");
    home.turn(&session, &["completed"]);
    let id = home.ids().remove(0);
    home.after(1000);
    let mut first = home
        .command(&["--format", "json", "read", &id])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(0));
    home.after(2000);
    let again = home.json(&["read", &id[..id.len() - 1]]);
    assert_eq!(
        again,
        json!({"schema": 1, "ok": true, "read": [], "already": [id], "unknown": []})
    );
    assert_eq!(home.rows()[0]["read_ms"], NOW + 1000);
    assert_eq!(home.says(&["list"]), "");
    let told: Vec<_> = home
        .events()
        .into_iter()
        .filter(|e| e["kind"] == "notifications_read")
        .collect();
    assert_eq!(told.len(), 1);
    assert_eq!((&told[0]["session"], &told[0]["ids"]), (&json!(session), &json!([id])));
    assert_eq!(told[0]["revision"], home.record(&session)["revision"]);
}

#[test]
fn n15_what_is_unknown_is_told_and_what_is_ambiguous_or_empty_changes_nothing() {
    let home = Home::new();
    let rows = [row("same-1", NOW), row("same-2", NOW), row("other", NOW)];
    home.write("a", &record("a", &rows));
    home.refused_untouched("INVALID_ARGUMENT", &["read", "other", ""]);
    home.refused_untouched("INVALID_ARGUMENT", &["read", "other", " "]);
    home.refused_untouched("INVALID_ARGUMENT", &["read"]);
    home.refused_untouched("INVALID_ARGUMENT", &["read", "other", "--all"]);
    let error = home.refused_untouched("AMBIGUOUS", &["read", "other", "same"]);
    assert_eq!(error["details"]["candidates"], json!(["same-1", "same-2"]));
    let read = home.json(&["read", "other", "nobody", "sam", "nobody", "othe"]);
    assert_eq!(
        read,
        json!({"schema": 1, "ok": false, "read": ["other"], "already": [], "unknown": ["nobody", "sam"]})
    );
    let out = home.run(&["read", "same-1", "nobody"]);
    assert_eq!((out.status.code(), text(&out.stdout).as_str()), (Some(0), "1 read\n"));
    assert!(text(&out.stderr).contains("nobody"), "{}", text(&out.stderr));
}

/// Everything of a session but rows and revision: the record's other members, and its other files.
fn rest(home: &Home, session: &str) -> (Value, Vec<(std::path::PathBuf, Vec<u8>)>) {
    let mut record = home.record(session);
    record["notifications"] = Value::Null;
    record["revision"] = Value::Null;
    let dir = home.path("state/sessions").join(session);
    let files = super::harness::tree(&dir);
    (
        record,
        files
            .into_iter()
            .filter(|(p, _)| !p.ends_with("session.json"))
            .collect(),
    )
}

#[test]
fn n16_read_keeps_rows_and_clear_removes_them_and_neither_touches_anything_else() {
    let home = Home::new();
    let project = home.project();
    let project = project.to_str().unwrap();
    // one with a turn that is live, a queue and a request; one with a proposal; one that idles
    let busy = home.session("busy");
    home.turn(&busy, &["completed"]);
    let turn = home.begin(&busy);
    home.says(&["ring-session", "queue", "push", &busy, "then this"]);
    home.feed(
        &[
            "ring-session",
            "permission",
            "open",
            &busy,
            "--turn",
            &turn,
            "--call",
            "c",
            "--tool",
            "Bash",
        ],
        r#"{"command":"ls"}"#,
    );
    let planned = home.says(&["ring-session", "new", "--project", project, "--mode", "plan"]);
    home.turn(&planned, &["error", "--error-code", "E"]);
    let turn = home.begin(&planned);
    let out = home.feed(
        &[
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
            "t",
            "--question",
            "q",
        ],
        "# Do it\n\n1. read\n",
    );
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let idle = home.session("idle");
    home.turn(&idle, &["completed"]);
    let sessions = [&busy, &planned, &idle];
    let before = sessions.map(|s| rest(&home, s));
    home.after(60_000);
    assert_eq!(home.says(&["read", "--all"]), "3 read");
    let listed = home.json(&["list", "--all"]);
    assert_eq!((&listed["unread_count"], &listed["total"]), (&json!(0), &json!(3)));
    assert!(before == sessions.map(|s| rest(&home, s)));
    let revisions = sessions.map(|s| home.record(s)["revision"].clone());
    let again = home.json(&["read", "--all"]);
    assert_eq!(
        (again["read"].clone(), again["already"].as_array().unwrap().len()),
        (json!([]), 3)
    );
    assert_eq!(
        sessions.map(|s| home.record(s)["revision"].clone()),
        revisions,
        "nothing to do is no commit"
    );
    home.turn(&idle, &["completed"]);
    let before = sessions.map(|s| rest(&home, s));
    assert_eq!(home.json(&["clear", "--read"]), json!({"schema": 1, "removed": 3}));
    assert_eq!(home.rows().len(), 1);
    assert_eq!(home.says(&["clear"]), "1 removed");
    assert!(home.rows().is_empty());
    assert_eq!(home.says(&["clear"]), "0 removed");
    assert!(before == sessions.map(|s| rest(&home, s)));
    let told: usize = home
        .events()
        .iter()
        .filter(|e| e["kind"] == "notifications_cleared")
        .map(|e| e["ids"].as_array().unwrap().len())
        .sum();
    assert_eq!(told, 4);
}

#[test]
fn n16_a_session_that_is_named_is_the_only_one_that_changes() {
    let home = Home::new();
    let (a, b) = (home.session("a"), home.session("b"));
    home.edit(&b, |r| {
        r["agent"] = json!("codex");
        r["agent_session_id"] = json!("0199");
    });
    for session in [&a, &b] {
        home.turn(session, &["completed"]);
        home.turn(session, &["completed"]);
    }
    let listed = home.json(&["list", "--session", "codex:0199"]);
    assert!(
        listed["notifications"]
            .as_array()
            .unwrap()
            .iter()
            .all(|r| r["session_id"] == json!(b))
    );
    assert_eq!(home.says(&["read", "--all", "--session", "codex:"]), "2 read");
    assert_eq!(home.says(&["clear", "--session", &format!("ring:{a}")]), "2 removed");
    assert_eq!(home.rows().len(), 2);
    let mine = home.ids().remove(0);
    let elsewhere = home.json(&["read", "--session", &a, &mine]);
    assert_eq!(elsewhere["unknown"], json!([mine]));
    for words in [
        &["list", "--session", "nobody"][..],
        &["read", "--all", "--session", "x"],
        &["clear", "--session", "nobody"],
    ] {
        home.refused_untouched("SESSION_NOT_FOUND", words);
    }
    home.refused("INVALID_ARGUMENT", &["list", "--session", ""]);
    home.refused("AMBIGUOUS", &["list", "--session", &a[..4]]);
    // a session that only a status row knows has no rows yet
    home.wait("s9");
    assert_eq!(
        home.json(&["list", "--session", "claude-code:s9"])["notifications"],
        json!([])
    );
}

#[test]
fn n17_rows_go_with_their_session() {
    let home = Home::new();
    let (a, b) = (home.session("a"), home.session("b"));
    home.turn(&a, &["completed"]);
    home.turn(&b, &["completed"]);
    let id = home
        .rows()
        .iter()
        .find(|r| r["session_id"] == json!(a))
        .map(|r| str_of(&r["id"]))
        .unwrap();
    home.says(&["ring-session", "delete", &a]);
    assert_eq!(home.rows().len(), 1);
    assert_eq!(home.json(&["read", &id])["unknown"], json!([id]));
}

#[test]
fn n18_a_record_that_cannot_be_read_hides_no_other() {
    let home = Home::new();
    let (good, bad) = (home.session("good"), home.session("bad"));
    home.turn(&good, &["completed"]);
    home.turn(&bad, &["completed"]);
    for broken in [&b"{\"schema\":1,"[..], b"", b"[]", b"\xff"] {
        fs::write(home.record_path(&bad), broken).unwrap();
        let listed = home.json(&["list"]);
        assert_eq!((&listed["unreadable"], &listed["total"]), (&json!(1), &json!(1)));
        let out = home.run(&["list"]);
        assert_eq!((out.status.code(), text(&out.stdout).lines().count()), (Some(0), 1));
        assert!(text(&out.stderr).contains(&bad), "{}", text(&out.stderr));
        assert_eq!(home.says(&["list", "--count"]), "1");
        home.refused("SESSION_NOT_FOUND", &["list", "--session", &bad]);
    }
    assert_eq!(home.says(&["read", "--all"]), "1 read");
    assert_eq!(home.says(&["clear"]), "1 removed");
    assert_eq!(fs::read(home.record_path(&bad)).unwrap(), b"\xff");
}

#[test]
fn n18_a_record_of_a_later_version_is_listed_and_never_written() {
    let home = Home::new();
    home.write(
        "new",
        &json!({"schema": 2, "revision": 1, "id": "new", "notifications": [row("row-n", NOW)]}),
    );
    home.write("old", &record("old", &[row("row-o", NOW)]));
    let bytes = fs::read(home.record_path("new")).unwrap();
    assert_eq!(home.ids(), ["row-o", "row-n"]);
    // the others are done all the same
    home.refused("SCHEMA_NEWER", &["read", "--all"]);
    assert_eq!(home.json(&["list"])["unread_count"], 1);
    home.refused("SCHEMA_NEWER", &["clear"]);
    assert_eq!(home.ids(), ["row-n"]);
    assert_eq!(fs::read(home.record_path("new")).unwrap(), bytes);
}

#[test]
fn n19_what_waits_is_never_a_row() {
    let home = Home::new();
    let project = home.project();
    let plan = home.says(&[
        "ring-session",
        "new",
        "--project",
        project.to_str().unwrap(),
        "--mode",
        "plan",
    ]);
    let turn = home.begin(&plan);
    let words = [
        "ring-plan",
        "submit",
        &plan,
        "--kind",
        "plan",
        "--turn",
        &turn,
        "--call",
        "c",
        "--title",
        "t",
        "--question",
        "q",
    ];
    assert_eq!(home.feed(&words, "# Do it\n\n1. read\n").status.code(), Some(0));
    let asks = home.session("asks");
    let turn = home.begin(&asks);
    let words = [
        "ring-session",
        "permission",
        "open",
        &asks,
        "--turn",
        &turn,
        "--call",
        "c",
        "--tool",
        "Bash",
    ];
    assert_eq!(home.feed(&words, "{}").status.code(), Some(0));
    home.wait("s1");
    assert_eq!(home.says(&["list", "--all"]), "");
    assert_eq!(
        home.json(&["list", "--all"]),
        json!({"schema": 1, "unread_count": 0, "total": 0, "unreadable": 0, "notifications": []})
    );
    assert_eq!(home.says(&["list", "--count"]), "0");
    assert_eq!(text(&home.run(&["--format", "oneline"]).stdout), "\n");
}

#[test]
fn n20_100_processes_that_end_read_and_clear_at_once_lose_nothing() {
    let home = Home::new();
    let sessions: Vec<String> = (0..10).map(|n| home.session(&n.to_string())).collect();
    let mut turns: Vec<(String, String)> = Vec::new();
    // each session holds rows already, one of them read, and a live turn
    for session in &sessions {
        turns.push((session.clone(), home.turn(session, &["completed"])));
    }
    home.says(&["read", "--all"]);
    for session in &sessions {
        turns.push((session.clone(), home.turn(session, &["error"])));
    }
    let live: Vec<String> = sessions.iter().map(|s| home.begin(s)).collect();
    turns.extend(sessions.iter().cloned().zip(live.iter().cloned()));
    let mut children = Vec::new();
    for n in 0..100 {
        let (session, turn) = (&sessions[n % 10], &live[n % 10]);
        let mut command = match (n / 10, n % 3) {
            (4 | 7, _) => home.command(&["ring-session", "end", session, "--turn", turn, "completed"]),
            (_, 0) => home.command(&["read", "--all"]),
            (_, 1) => home.command(&["clear", "--read"]),
            _ => home.command(&["read", "--all", "--session", session]),
        };
        children.push(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    }
    for child in children {
        let out = child.wait_with_output().unwrap();
        // of two ends of a turn the second is told that it came late
        assert!(out.status.signal().is_none(), "{}", text(&out.stderr));
        assert!(matches!(out.status.code(), Some(0 | 3)), "{}", text(&out.stderr));
    }
    let mut seen: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    for row in home.rows() {
        assert!(ids.insert(str_of(&row["id"])), "twice: {row}");
        *seen
            .entry((str_of(&row["session_id"]), str_of(&row["turn_id"])))
            .or_default() += 1;
    }
    assert!(seen.values().all(|n| *n == 1));
    let cleared: Vec<String> = home
        .events()
        .iter()
        .filter(|e| e["kind"] == "notifications_cleared")
        .flat_map(|e| e["ids"].as_array().unwrap().clone())
        .map(|id| str_of(&id))
        .collect();
    let distinct: BTreeSet<&String> = cleared.iter().collect();
    assert_eq!(distinct.len(), cleared.len(), "cleared twice");
    assert!(ids.iter().all(|id| !distinct.contains(id)), "cleared and there");
    assert_eq!(ids.len() + cleared.len(), turns.len(), "each turn has had one row");
    for session in &sessions {
        let record = home.record(session);
        assert_eq!(record["turns"].as_array().unwrap().len(), 3);
        assert!(record["turn"].is_null());
    }
}

#[test]
fn n77_a_reader_that_leaves_is_no_failure() {
    let home = Home::new();
    home.write(
        "a",
        &record(
            "a",
            &(0..200).map(|n| row(&format!("row-{n:03}"), n)).collect::<Vec<_>>(),
        ),
    );
    for words in [
        &["list"][..],
        &["--format", "json", "list"],
        &["--format", "jsonl", "list"],
        &["read", "--all"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let out = home
            .command(words)
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(
            (out.status.code(), text(&out.stderr).as_str()),
            (Some(0), ""),
            "{words:?}"
        );
    }
}

#[test]
fn n77_every_command_prints_one_document_and_every_refusal_a_code() {
    let home = Home::new();
    let session = home.session("a");
    home.turn(&session, &["completed"]);
    for words in [
        &[][..],
        &["list"],
        &["list", "--count"],
        &["read", "--all"],
        &["clear", "--read"],
    ] {
        assert_eq!(home.json(words)["schema"], 1, "{words:?}");
        let out = home.run(&[&["--format", "json"], words].concat());
        assert_eq!(text(&out.stdout).lines().count(), 1, "{words:?}");
    }
    for words in [
        &["list", "--nope"][..],
        &["list", "extra"],
        &["read", "a", "--limit", "3"],
        &["clear", "--all"],
        &["nope"],
    ] {
        home.refused_untouched("INVALID_ARGUMENT", words);
    }
    // the state folder is a file: nothing can be known of the sessions
    fs::remove_dir_all(home.path("state")).unwrap();
    fs::create_dir(home.path("state")).unwrap();
    fs::write(home.path("state/sessions"), "").unwrap();
    for words in [&["list"][..], &["read", "--all"], &["read", "abcd"], &["clear"]] {
        home.refused("IO", words);
    }
}

#[test]
fn the_table_is_newest_first_and_fits_forty_columns() {
    let home = Home::new();
    home.settings("markers = \"ascii\"\n");
    let (a, b) = (
        home.session("Build the API of version two"),
        home.session("日本語のとても長い題名がここにあります"),
    );
    home.turn(&a, &["completed"]);
    home.after(60_000);
    home.turn(&b, &["error", "--error-code", "EXIT_3"]);
    home.after(3_600_000 * 2);
    let listed = home.says(&["list"]);
    let lines: Vec<&str> = listed.lines().collect();
    let ids = home.ids();
    assert_eq!(lines.len(), 2, "{listed}");
    assert!(lines[0].starts_with("x  1h  failed EXIT_3  日本語"), "{listed}");
    assert!(
        lines[1].starts_with("+  2h  completed      Build the API of version two"),
        "{listed}"
    );
    for (line, id) in lines.iter().zip(&ids) {
        let short = line.rsplit("  ").next().unwrap();
        assert!(id.starts_with(short) && short.len() >= 8, "{line}");
        assert!(line.contains("~/proj"), "{line}");
        assert_eq!(home.json(&["read", short])["ok"], true);
    }
    let all = home.says(&["list", "--all"]);
    assert!(all.lines().all(|l| l.starts_with("-  ")), "{all}");
    for columns in [20, 40, 60, 80] {
        let out = home
            .command(&["list", "--all"])
            .env("COLUMNS", columns.to_string())
            .output()
            .unwrap();
        for line in text(&out.stdout).lines() {
            assert!(width(line) <= columns, "{columns}: {line}");
        }
    }
    let coloured = home
        .command(&["list", "--all"])
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(text(&coloured.stdout).contains("\u{1b}["));
    let plain = home
        .command(&["list"])
        .env("CLICOLOR_FORCE", "1")
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    assert!(!text(&plain.stdout).contains('\u{1b}'));
}

#[test]
fn one_line_counts_what_is_unread_by_its_result() {
    let home = Home::new();
    let (a, b) = (home.session("a"), home.session("b"));
    home.turn(&a, &["completed"]);
    home.turn(&a, &["completed"]);
    assert_eq!(home.says(&["--format", "oneline"]), "✓2");
    home.turn(&b, &["error"]);
    assert_eq!(home.says(&["--format", "oneline", "list"]), "✓2 ✗1");
    assert_eq!(home.says(&["--format", "oneline", "list", "--session", &b]), "✗1");
    home.settings("markers = \"ascii\"\n");
    assert_eq!(home.says(&["--format", "oneline", "list"]), "+2 x1");
    home.says(&["read", "--all"]);
    assert_eq!(text(&home.run(&["--format", "oneline", "list"]).stdout), "\n");
}

#[test]
fn n63_nothing_that_a_terminal_obeys_is_in_a_table() {
    let home = Home::new();
    let evil = "a\u{1b}[31mb\u{7}\u{9b}2J\u{202e}c\u{1b}]0;x\u{7}";
    let mut bad = row("row-1", NOW);
    bad["title"] = json!(evil);
    bad["error_code"] = json!(evil);
    bad["kind"] = json!("task.failed");
    let mut record = record("a", &[bad]);
    record["project"] = json!(format!("/w/{evil}"));
    home.write("a", &record);
    for words in [&["list"][..], &["list", "--all"], &["digest"]] {
        let out = text(&home.run(words).stdout);
        assert!(!out.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{out:?}");
        assert!(out.contains("abc"), "{out:?}");
    }
}
