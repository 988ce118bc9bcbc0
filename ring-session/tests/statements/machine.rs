//! What becomes of a session when its owner dies, the machine starts again, or the clock moves.

use crate::harness::{BOOT, Home, NOW, Sleeper, list, names, nobody, proposal, str_of};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;

fn owned(home: &Home) -> (String, String) {
    home.process(4242, 77);
    let id = home.new_session();
    let turn = home.says(&["begin", &id, "x", "--owner-pid", "4242"]);
    (id, turn)
}

#[test]
fn s29_a_killed_owner_leaves_an_idle_session_and_the_next_writer_stores_it() {
    let home = Home::new();
    let mut owner = Sleeper::start();
    let id = home.new_session();
    home.push(&id, "later");
    home.says(&["queue", "hold", &id]);
    let turn = home.says(&["begin", &id, "x", "--owner-pid", &owner.pid()]);
    home.append(&id, &turn, "a", "so far");
    home.says(&["queue", "attach", &id]);
    let request = home.ask(&id, &turn, "c", "Bash");
    assert_eq!(home.show(&id)["status"], "waiting_permission");
    owner.kill();
    let before = home.bytes(&id);
    let shown = home.show(&id);
    assert_eq!(
        (
            &shown["status"],
            &shown["last"],
            &shown["recovered_view"],
            &shown["queue"]["held"]
        ),
        (&json!("idle"), &json!("aborted"), &json!(true), &json!(true))
    );
    assert_eq!(home.bytes(&id), before);
    home.refused("TOOL_ABORTED", &["permission", "wait", &id, &request]);
    // even a command that is refused stores what it found
    home.refused("TURN_NOT_FOUND", &["steer", &id, "--turn", &turn, "more"]);
    let record = home.record(&id);
    assert_eq!(
        (
            &record["turn"],
            &record["turns"][0]["status"],
            &record["turns"][0]["error_code"]
        ),
        (&Value::Null, &json!("aborted"), &json!("TURN_ABORTED"))
    );
    assert_eq!(
        (&record["notifications"], &record["queue"]["held"]),
        (&json!([]), &json!(true))
    );
    assert_eq!(home.texts(&id), ["x", "so far"]);
    let ended = home.events_of("turn_ended");
    assert_eq!((ended.len(), &ended[0]["reason"]), (1, &json!("aborted")));
    home.check();
}

#[test]
fn s58_after_a_restart_each_live_thing_is_what_recovery_says_and_a_new_turn_works() {
    let home = Home::with_processes();
    let (live, turn) = owned(&home);
    home.append(&live, &turn, "a", "text");
    let (open, queued, running) = (
        home.planned(None),
        home.planned(Some("queued")),
        home.planned(Some("running")),
    );
    home.boot("deadbeef");
    for (id, did, status, code) in [
        (&live, "turn", "aborted", "TURN_ABORTED"),
        (&open, "proposal", "interrupted", "PLAN_APPROVAL_INTERRUPTED"),
        (&queued, "execution", "interrupted", "PLAN_EXECUTION_INTERRUPTED"),
        (&running, "execution", "interrupted", "PLAN_EXECUTION_INTERRUPTED"),
    ] {
        let mode = home.record(id)["mode"].clone();
        let before = home.bytes(id);
        let shown = home.show(id);
        assert_eq!(
            (&shown["board"], &shown["recovered_view"]),
            (&json!("idle"), &json!(true))
        );
        assert_eq!(home.bytes(id), before);
        assert_eq!(home.json(&["recover", id]), json!([{"id": id, "did": [did]}]));
        let record = home.record(id);
        assert_eq!(
            (&record["turn"], &record["proposal"], &record["mode"]),
            (&Value::Null, &Value::Null, &mode)
        );
        let told =
            fs::read_to_string(home.file(id, "history.jsonl")).unwrap_or_default() + &record["turns"].to_string();
        assert!(told.contains(status) && told.contains(code), "{did}: {told}");
        assert_eq!(home.json(&["recover", id])[0]["did"], json!([]), "never twice");
        home.begin(id, "a new turn");
    }
    home.check();
}

#[test]
fn s59_an_agent_that_leaves_in_good_order_keeps_its_proposal_open() {
    let home = Home::with_processes();
    let begin = || {
        home.process(4242, 77);
        let id = home.says(&["new", "--mode", "plan"]);
        let turn = home.says(&["begin", &id, "plan it", "--owner-pid", "4242"]);
        home.edit(&id, |r| {
            r["proposal"] = proposal(&turn, &r["turn"]["epoch"].clone(), None)
        });
        (id, turn)
    };
    let (id, turn) = begin();
    home.end(&id, &turn, &["completed", "--seen"]);
    home.process_ends(4242);
    home.json(&["recover"]);
    assert_eq!(home.show(&id)["planning_state"], "awaiting_approval");
    assert_eq!(home.record(&id)["proposal"]["epoch"]["pid"], 0);
    let (id, _) = begin();
    home.process_ends(4242);
    assert_eq!(home.json(&["recover", &id])[0]["did"], json!(["turn", "proposal"]));
    assert_eq!(home.show(&id)["planning_state"], "planning");
    // an error takes it with it
    let (id, turn) = begin();
    home.end(&id, &turn, &["error", "--error-code", "X"]);
    assert_eq!(
        (&home.record(&id)["proposal"], &home.record(&id)["mode"]),
        (&Value::Null, &json!("plan"))
    );
}

#[test]
fn s60_a_turn_without_owner_outlives_any_time_and_a_living_owner_is_asked_first() {
    let home = Home::with_processes();
    let id = home.new_session();
    home.begin(&id, "x");
    home.at(NOW + 400 * 86_400_000);
    assert_eq!(home.show(&id)["status"], "running");
    assert_eq!(home.json(&["recover"]), json!([]));
    assert_eq!(home.json(&["recover", &id])[0]["did"], json!(["turn"]));
    let (id, _) = owned(&home);
    let before = home.bytes(&id);
    let error = home.refused("AGENT_BUSY", &["recover", &id]);
    assert_eq!(
        (&error["details"]["reason"], &error["details"]["pid"]),
        (&json!("owner_alive"), &json!(4242))
    );
    assert_eq!(home.bytes(&id), before);
    assert_eq!(home.json(&["recover", &id, "--force"])[0]["did"], json!(["turn"]));
}

#[test]
fn s61_a_reused_pid_is_dead_and_what_cannot_be_known_is_untouched() {
    let home = Home::with_processes();
    let (id, _) = owned(&home);
    for now in [NOW - 3_600_000, NOW + 3_600_000] {
        home.at(now);
        assert_eq!(home.show(&id)["status"], "running");
    }
    home.at(NOW);
    home.process(4242, 78);
    assert_eq!(home.show(&id)["status"], "idle", "another start: another process");
    assert_eq!(home.json(&["recover"])[0]["id"], id.as_str());
    let untouched: [(&str, Value); 2] = [("host", json!("elsewhere")), ("pid_ns", json!(1))];
    for (member, value) in untouched {
        let (id, _) = owned(&home);
        home.process_ends(4242);
        home.edit(&id, |r| r["turn"]["epoch"][member] = value);
        let before = home.bytes(&id);
        assert_eq!(home.show(&id)["status"], "running", "{member}");
        assert_eq!(home.json(&["recover"]), json!([]));
        home.refused("AGENT_BUSY", &["begin", &id, "y"]);
        assert_eq!(home.bytes(&id), before);
        assert_eq!(
            home.json(&["recover", &id])[0]["did"],
            json!(["turn"]),
            "named: the unknown too"
        );
    }
    assert_eq!(nobody(&home)["boot"], BOOT);
}

#[test]
fn s61_a_clock_that_was_set_back_ends_nothing_and_times_stay_in_order() {
    let home = Home::with_processes();
    let (id, turn) = owned(&home);
    home.at(NOW - 3_600_000);
    let request = home.ask(&id, &turn, "c", "Bash");
    assert_eq!(home.show(&id)["status"], "waiting_permission");
    home.says(&["permission", "answer", &id, &request, "deny"]);
    home.end(&id, &turn, &["completed"]);
    let record = home.record(&id);
    assert_eq!(record["notifications"][0]["duration_ms"], 0);
    assert_eq!(home.begin(&id, "y").len(), 36);
}

#[test]
fn s62_looking_at_a_dead_turn_writes_nothing() {
    let home = Home::with_processes();
    let (id, _) = owned(&home);
    home.process_ends(4242);
    let times = || {
        let dir = home.sessions().join(&id);
        let time = |n: &String| {
            let meta = fs::metadata(dir.join(n)).unwrap();
            (n.clone(), meta.mtime(), meta.mtime_nsec(), meta.ino())
        };
        let all: Vec<_> = names(&dir).iter().map(time).collect();
        (all, fs::metadata(&dir).unwrap().mtime_nsec(), home.files())
    };
    let before = times();
    assert_eq!(home.show(&id)["status"], "idle");
    assert_eq!(home.json(&["list"])[0]["status"], "idle");
    home.says(&["transcript", &id]);
    home.says(&["queue", "list", &id]);
    home.json(&["permission", "list", &id]);
    home.json(&["watch", &id, "--until", "idle"]);
    assert_eq!(times(), before);
}

#[test]
fn one_session_that_cannot_be_healed_keeps_no_other_from_it() {
    let home = Home::with_processes();
    let newer = home.says(&["new", "--id", "a-newer-one"]);
    home.edit(&newer, |r| r["schema"] = json!(9));
    let (id, _) = owned(&home);
    home.process_ends(4242);
    let out = home.run(&["--format", "json", "recover"]);
    assert!(out.status.success());
    let did: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(list(&did).len(), 1);
    assert_eq!(str_of(&did[0]["id"]), id);
    assert!(String::from_utf8_lossy(&out.stderr).contains("a-newer-one"));
}
