//! What rings, and how often.

use crate::agents::Session;
use crate::harness::{DAY, Home, MINUTE, NOW, SECOND, count, eventually, start, str_of};
use serde_json::{Value, json};
use std::fs;

/// The ids of requests in a row.
fn waits(home: &Home, session: &str) -> Vec<Value> {
    home.row(&format!("claude-code:{session}"))["waits"]
        .as_array()
        .unwrap()
        .clone()
}

#[test]
fn n21_a_wait_rings_once_however_often_deliver_runs() {
    let home = Home::new();
    home.asks("s1", "git push");
    let report = home.deliver();
    assert_eq!(count(&report, "sent"), 1, "{report}");
    let messages = home.taken();
    assert_eq!(messages.len(), 1);
    let message = &messages[0];
    let wait = str_of(&waits(&home, "s1")[0]["id"]);
    let expected = json!({"schema": 1, "id": format!("wait:claude-code:s1:{wait}"), "kind": "wait.permission",
        "ring": 0, "urgent": false, "title": "s1: needs permission", "body": "Bash: git push\n~/work/s1",
        "session": "claude-code:s1", "session_title": "", "agent": "claude-code", "project": home.folder("s1"),
        "location": "~/work/s1", "detail": "Bash: git push", "tool": "Bash", "waiting_for": "", "error_code": null,
        "opened_ms": NOW, "items": []});
    assert_eq!(message, &expected);
    let report = home.deliver();
    assert_eq!(count(&report, "sent"), 0, "{report}");
    assert!(home.taken().is_empty());
    assert_eq!(home.stands("wait.permission")["state"], "sent");
    let told = home.events("notify_sent");
    assert_eq!(told.len(), 1);
    assert_eq!((&told[0]["outlet"], &told[0]["ring"]), (&json!("probe"), &json!(0)));
}

#[test]
fn n21_twenty_deliver_at_once_ring_once() {
    let home = Home::new();
    home.asks("s1", "git push");
    home.deliver_at_once(20);
    assert_eq!(home.taken().len(), 1);
    assert_eq!(home.events("notify_sent").len(), 1);
}

#[test]
fn n22_another_request_of_the_session_rings_at_once() {
    let home = Home::new();
    home.asks("s1", "git push");
    home.deliver();
    home.after(SECOND).answered("s1");
    home.asks("s1", "rm -r build");
    home.deliver();
    let bodies: Vec<Value> = home.taken().iter().map(|m| m["detail"].clone()).collect();
    assert_eq!(bodies, ["Bash: git push", "Bash: rm -r build"]);
}

#[test]
fn n22_two_owners_that_wait_are_two_rings() {
    let home = Home::new();
    home.asks("s1", "git push");
    let child = json!({"agent_id": "a31", "agent_type": "Explore", "tool_name": "Bash",
        "tool_input": {"command": "git push"}});
    home.event("s1", "PermissionRequest", child);
    let prompt = json!({"agent_id": "a31", "notification_type": "permission_prompt", "message": "m"});
    home.event("s1", "Notification", prompt);
    assert_eq!(waits(&home, "s1").len(), 2);
    home.deliver();
    home.deliver();
    assert_eq!(home.taken().len(), 2);
}

/// Two messages on one outlet whose first takes its time: the second was claimed with it, and is looked at again.
#[test]
fn n23_what_was_answered_before_its_turn_came_is_not_sent() {
    let home = Home::bare();
    let (probe, gate) = (home.path("probe"), home.path("gate"));
    let script = format!(
        "cat >> '{}'; while test ! -e '{}'; do sleep 0.02; done",
        probe.display(),
        gate.display()
    );
    home.outlets(&[&home.script("probe", &script, "")]);
    home.asks("s1", "one");
    home.after(1).asks("s2", "two");
    let run = start(&mut home.command(&["ring-notify", "--format", "json", "deliver"]), b"");
    eventually("the first message", || home.messages("probe").len() == 1);
    home.after(2).answered("s2");
    fs::write(&gate, "").unwrap();
    let out = run.wait_with_output().unwrap();
    assert!(out.status.success());
    assert_eq!(home.titles(), ["s1: needs permission"]);
    let ledger = home.ledger();
    let second = ledger["items"]
        .as_object()
        .unwrap()
        .values()
        .find(|i| i["session"] == "claude-code:s2");
    let second = second.unwrap();
    assert_eq!(
        (&second["why"], &second["to"]["probe"]["state"]),
        (&json!("answered"), &json!("skipped"))
    );
    home.after(DAY).deliver();
    assert!(home.titles().iter().all(|t| t.starts_with("s1")));
}

/// What somebody does while an item waits for its turn.
type Change = fn(&Home, &Session);

#[test]
fn n23_n30_n36_what_was_read_cleared_decided_or_deleted_before_its_turn_came_is_not_sent() {
    let changes: [(&str, Change, &str); 5] = [
        (
            "read",
            |h, s| h.edit_record(&s.id, |r| r["notifications"][0]["read_ms"] = NOW.into()),
            "read",
        ),
        (
            "clear",
            |h, s| h.edit_record(&s.id, |r| r["notifications"] = json!([])),
            "gone",
        ),
        (
            "delete",
            |h, s| drop(h.says(&["ring-session", "delete", &s.id, "--force"])),
            "gone",
        ),
        (
            "reject",
            |h, s| drop(h.says(&["ring-plan", "reject", &str_of(&h.record(&s.id)["proposal"]["id"])])),
            "answered",
        ),
        (
            "answer",
            |h, s| {
                let request = str_of(&h.record(&s.id)["permissions"][0]["id"]);
                h.says(&["ring-session", "permission", "answer", &s.id, &request, "deny"]);
            },
            "answered",
        ),
    ];
    for (name, change, why) in changes {
        let home = Home::bare();
        let (probe, gate) = (home.path("probe"), home.path("gate"));
        let script = format!(
            "cat >> '{}'; while test ! -e '{}'; do sleep 0.02; done",
            probe.display(),
            gate.display()
        );
        home.outlets(&[&home.script("probe", &script, "")]);
        home.asks("first", "one");
        home.after(1);
        let s = match name {
            "reject" => home.planning(),
            "answer" => home.session("app"),
            _ => home.turn("app", MINUTE, &["error", "--error-code", "E"]),
        };
        match name {
            "reject" => {
                home.propose(&s, &[]);
                home.end(&s, &["completed", "--seen"]);
            }
            "answer" => drop(home.request(&s, "c1", &[])),
            _ => {}
        }
        let run = start(&mut home.after(2).command(&["ring-notify", "deliver"]), b"");
        eventually("the first message", || home.messages("probe").len() == 1);
        change(&home, &s);
        fs::write(&gate, "").unwrap();
        assert!(run.wait_with_output().unwrap().status.success());
        assert_eq!(home.titles(), ["first: needs permission"], "{name}");
        let ledger = home.ledger();
        let other = ledger["items"]
            .as_object()
            .unwrap()
            .values()
            .find(|i| i["session"] != "claude-code:first");
        let other = other.unwrap();
        let found = (str_of(&other["why"]), str_of(&other["to"]["probe"]["state"]));
        assert_eq!(found, (why.to_owned(), "skipped".to_owned()), "{name}: {other}");
        home.after(3).deliver();
        assert!(home.taken().is_empty(), "{name}");
    }
}

#[test]
fn n24_what_was_answered_is_in_no_retry_repeat_or_summary() {
    let home = Home::bare();
    let fail = home.script(
        "probe",
        &format!("cat >> '{}'; exit 3", home.path("probe").display()),
        "",
    );
    home.outlets(&[&fail]);
    home.asks("s1", "one");
    let report = home.deliver();
    assert_eq!((count(&report, "retry"), home.taken().len()), (1, 1), "{report}");
    home.outlets(&[&home.probe("probe", "")]);
    home.answered("s1");
    let report = home.after(MINUTE).deliver();
    assert!(home.taken().is_empty(), "{report}");
    assert_eq!(home.stands("wait.permission")["state"], "skipped");
    // repeats
    home.after(DAY).asks("s2", "two");
    home.deliver();
    assert_eq!(home.taken().len(), 1);
    home.answered("s2");
    home.after(DAY + MINUTE).deliver();
    assert!(home.taken().is_empty());
    // the end of quiet, as one of several and alone
    home.says(&["ring-notify", "quiet", "1h"]);
    home.asks("s3", "three");
    home.asks("s4", "four");
    assert_eq!(count(&home.deliver(), "held"), 2);
    home.answered("s3");
    home.says(&["ring-notify", "quiet", "off"]);
    assert_eq!(home.titles(), ["s4: needs permission"]);
    home.says(&["ring-notify", "quiet", "1h"]);
    home.asks("s5", "five");
    assert_eq!(count(&home.deliver(), "held"), 1);
    home.answered("s5");
    home.says(&["ring-notify", "quiet", "off"]);
    assert!(home.taken().is_empty());
}

#[test]
fn n25_repeats_come_at_30_120_and_300_seconds_and_then_no_more() {
    let home = Home::new();
    home.asks("s1", "git push");
    let mut rings = Vec::new();
    for second in [0, 1, 29, 30, 31, 119, 120, 299, 300, 301, 3600, 86_400] {
        home.after(second * SECOND).deliver();
        rings.extend(
            home.taken()
                .iter()
                .map(|m| (second, m["ring"].clone(), str_of(&m["body"]))),
        );
    }
    let since = |span: &str| format!("Bash: git push\n~/work/s1\nsince {span}");
    let expected = [
        (0, json!(0), "Bash: git push\n~/work/s1".to_owned()),
        (30, json!(1), since("30s")),
        (120, json!(2), since("2m")),
        (300, json!(3), since("5m")),
    ];
    assert_eq!(rings, expected);
}

#[test]
fn n25_a_late_run_makes_up_for_one_repeat_and_none_can_be_asked_for() {
    let home = Home::new();
    home.asks("s1", "git push");
    home.deliver();
    assert_eq!(home.taken().len(), 1);
    home.after(400 * SECOND).deliver();
    let rings: Vec<Value> = home.taken().iter().map(|m| m["ring"].clone()).collect();
    assert_eq!(rings, [3]);
    home.after(3600 * SECOND).deliver();
    assert!(home.taken().is_empty());
    for (lines, members) in [("repeat_max = 0", ""), ("", "repeat = false")] {
        let home = Home::bare();
        home.notify(lines, members);
        home.asks("s1", "git push");
        for second in [0, 30, 400, 3600] {
            home.after(second * SECOND).deliver();
        }
        assert_eq!(home.taken().len(), 1, "{lines}{members}");
    }
    let home = Home::bare();
    home.notify("repeat_seconds = [10]\nrepeat_max = 4", "");
    home.asks("s1", "git push");
    let mut rings = Vec::new();
    for second in 0..100 {
        home.after(second * SECOND).deliver();
        rings.extend(home.taken().iter().map(|_| second));
    }
    assert_eq!(rings, [0, 10, 20, 30, 40], "past its end the last value is added again");
}

#[test]
fn n26_the_same_request_that_leaves_and_returns_rings_again_only_after_the_cooldown() {
    let home = Home::bare();
    home.notify("repeat_max = 0", "");
    home.asks("s1", "git push");
    home.deliver();
    assert_eq!(home.taken().len(), 1);
    let first = waits(&home, "s1");
    home.after(5 * SECOND).answered("s1");
    home.deliver();
    home.after(12 * SECOND).asks("s1", "git push");
    assert_ne!(waits(&home, "s1")[0]["id"], first[0]["id"], "another id");
    for second in [12, 60, 179] {
        home.after(second * SECOND).deliver();
        assert!(home.taken().is_empty(), "{second}");
    }
    home.after(180 * SECOND).deliver();
    assert_eq!(home.taken().len(), 1);
    for second in [181, 400, 4000] {
        home.after(second * SECOND).deliver();
    }
    assert!(home.taken().is_empty(), "one time");
    // away for longer: another request
    home.after(5000 * SECOND).answered("s1");
    home.deliver();
    home.after(5011 * SECOND).asks("s1", "git push");
    home.deliver();
    assert_eq!(home.taken().len(), 1);
}

#[test]
fn n26_a_session_that_flaps_rings_once() {
    let home = Home::bare();
    home.notify("repeat_max = 0", "");
    for second in 0..60 {
        home.after(second * SECOND).asks("s1", "git push");
        home.deliver();
        home.after(second * SECOND + 500).answered("s1");
        home.deliver();
    }
    assert_eq!(home.taken().len(), 1);
}

fn codex_asks(home: &Home) {
    let members = json!({"tool_name": "shell", "tool_input": {"command": "git push"}, "turn_id": "t1"});
    home.event_of("codex", "c1", "PermissionRequest", members);
}

#[test]
fn n27_a_silent_request_of_codex_rings_after_eleven_seconds_and_its_row_is_not_written() {
    let home = Home::new();
    codex_asks(&home);
    let row = home.row("codex:c1");
    assert_eq!(row["waits"], json!([]));
    home.after(10 * SECOND).deliver();
    assert!(home.taken().is_empty());
    home.after(11 * SECOND).deliver();
    home.after(12 * SECOND).deliver();
    let messages = home.taken();
    assert_eq!(messages.len(), 1);
    assert_eq!(
        (&messages[0]["title"], &messages[0]["agent"]),
        (&json!("c1: needs permission"), &json!("codex"))
    );
    assert_eq!(home.row("codex:c1"), row);
    // an event before: nothing is waited for
    let home = Home::new();
    codex_asks(&home);
    home.after(9 * SECOND).event_of(
        "codex",
        "c1",
        "PostToolUse",
        json!({"tool_name": "shell", "turn_id": "t1"}),
    );
    home.after(30 * SECOND).deliver();
    assert!(home.taken().is_empty());
}
