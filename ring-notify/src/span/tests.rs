use super::*;
use crate::item::Kind;
use crate::log::Log;
use proptest::prelude::*;
use serde_json::{Value, json};

fn log(lines: &[Value]) -> Log {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    Log::from(lines.join("\n").as_str())
}

/// A status line of `codex:a` with these waits left.
fn status(at_ms: i64, to: &str, waits: &[&str]) -> Value {
    let waits: Vec<Value> = waits.iter().map(|id| json!({"id": id, "kind": "permission"})).collect();
    json!({"at_ms": at_ms, "kind": "status", "key": "codex:a", "to": to, "waits": waits, "project": "/w"})
}

fn live(id: &str) -> Live {
    Live {
        id: id.into(),
        kind: Kind::Permission,
        opened_ms: 3,
        project: "/w".into(),
        ..Live::default()
    }
}

fn ends(lines: &[Value], live: &[Live]) -> Vec<End> {
    let log = log(lines);
    spans(&log.lines().0, live).into_iter().map(|s| s.end).collect()
}

#[test]
fn n76_a_wait_is_answered_by_the_first_later_line_of_its_key_without_it() {
    let other = json!({"at_ms": 15, "kind": "status", "key": "codex:b", "to": "working", "waits": []});
    let lines = [
        status(10, "waiting", &["a"]),
        other,
        status(20, "waiting", &["a", "b"]),
        status(30, "waiting", &["b"]),
        status(50, "working", &[]),
        status(60, "working", &[]),
    ];
    assert_eq!(ends(&lines, &[]), [End::Answered(20), End::Answered(30)]);
    let log = log(&lines);
    let first = &spans(&log.lines().0, &[])[0];
    assert_eq!((first.project.as_deref(), first.began_ms), (Some("/w"), 10));
}

#[test]
fn n76_what_ended_or_vanished_is_unfinished_and_what_is_still_shown_is_ongoing() {
    let lines = [status(10, "waiting", &["a", "b"]), status(20, "ended", &[])];
    assert_eq!(ends(&lines, &[]), [End::Unfinished, End::Unfinished]);
    let lines = [status(10, "waiting", &["a", "b"])];
    assert_eq!(ends(&lines, &[live("wait:codex:a:b")]), [End::Unfinished, End::Ongoing]);
    // a wait that has an end in the log is not open again because it is shown
    let lines = [status(10, "waiting", &["a"]), status(20, "working", &[])];
    assert_eq!(ends(&lines, &[live("wait:codex:a:a")]), [End::Answered(10)]);
}

#[test]
fn what_is_open_without_a_line_counts_and_a_finished_turn_is_no_wait() {
    let turn = Live {
        kind: Kind::Completed,
        ..live("turn:x")
    };
    let found = spans(&[], &[live("wait:codex:a:a"), turn]);
    let expected = Span {
        project: Some("/w".into()),
        began_ms: 3,
        end: End::Ongoing,
    };
    assert_eq!(found, [expected]);
}

#[test]
fn requests_and_proposals_are_waits_unless_a_hook_mirrors_them_or_a_grant_answered() {
    let request = |kind: &str, at: i64, id: &str, more: Value| {
        let mut line = json!({"at_ms": at, "kind": format!("permission_{kind}"), "session": "s", "request": id,
            "origin": "begin", "project": "/w"});
        for (name, value) in more.as_object().unwrap() {
            line[name] = value.clone();
        }
        line
    };
    let plan = |kind: &str, at: i64, id: &str, via: &str| json!({"at_ms": at, "kind": format!("plan_{kind}"), "session": "s", "proposal": id, "via": via, "project": null});
    let lines = [
        request("opened", 1, "answered", json!({})),
        request("opened", 2, "granted", json!({})),
        request(
            "closed",
            2,
            "granted",
            json!({"decision": "allow-session", "cause": "grant"}),
        ),
        request("opened", 3, "mirrored", json!({"origin": "hook"})),
        request(
            "closed",
            4,
            "mirrored",
            json!({"origin": "hook", "decision": "deny", "cause": "user"}),
        ),
        request("opened", 5, "cancelled", json!({})),
        request("opened", 6, "late", json!({})),
        request("closed", 11, "answered", json!({"decision": "deny", "cause": "user"})),
        request(
            "closed",
            12,
            "cancelled",
            json!({"decision": "cancelled", "cause": "TOOL_ABORTED"}),
        ),
        request(
            "closed",
            13,
            "late",
            json!({"decision": "deny", "cause": "PERMISSION_TIMEOUT"}),
        ),
        plan("submitted", 20, "p", "cli"),
        plan("submitted", 21, "q", "hook"),
        plan("submitted", 22, "r", "cli"),
        plan("submitted", 23, "t", "cli"),
        plan("approved", 30, "p", "cli"),
        plan("approved", 31, "q", "hook"),
        plan("interrupted", 32, "r", "cli"),
        plan("expired", 33, "t", "cli"),
    ];
    let expected = [
        End::Answered(10),
        End::Unfinished,
        End::Unfinished,
        End::Answered(10),
        End::Unfinished,
        End::Unfinished,
    ];
    assert_eq!(ends(&lines, &[]), expected);
}

#[test]
fn a_clock_that_was_set_back_makes_no_negative_span() {
    assert_eq!(
        ends(&[status(50, "waiting", &["a"]), status(20, "idle", &[])], &[]),
        [End::Answered(0)]
    );
}

proptest! {
    #[test]
    fn each_wait_is_one_span_that_ends_once(steps in proptest::collection::vec((proptest::bits::u8::between(0, 4), any::<bool>()), 0..40)) {
        let mut lines = Vec::new();
        let mut ids = BTreeSet::new();
        for (at, (left, over)) in steps.iter().enumerate() {
            let waits: Vec<String> = (0..4).filter(|b| left & (1 << b) != 0).map(|b| b.to_string()).collect();
            let waits: Vec<&str> = if *over { Vec::new() } else { waits.iter().map(String::as_str).collect() };
            ids.extend(waits.iter().map(|w| (*w).to_owned()));
            lines.push(status(at as i64, if *over { "ended" } else { "waiting" }, &waits));
        }
        let found = ends(&lines, &[]);
        prop_assert_eq!(found.len(), ids.len());
        prop_assert!(!found.contains(&End::Ongoing), "nothing is shown any more");
    }
}
