//! Quiet, quiet hours, debouncing and summaries.

use crate::harness::{DAY, HOUR, Home, MINUTE, NOW, SECOND, count, start, text};
use serde_json::{Value, json};
use std::fs;

/// The lines of the body of the only message since then.
pub fn only(home: &Home) -> Value {
    let messages = home.taken();
    assert_eq!(messages.len(), 1, "{messages:?}");
    messages[0].clone()
}

#[test]
fn n44_what_came_while_it_was_quiet_comes_as_one_message_of_what_is_still_open() {
    let home = Home::new();
    assert_eq!(home.says(&["ring-notify", "quiet"]), "not quiet");
    assert_eq!(home.says(&["ring-notify", "quiet", "1h"]), "quiet until 09:00, 0 held");
    for (n, session) in ["s1", "s2", "s3"].iter().enumerate() {
        home.after(n as i64).asks(session, "git push");
    }
    let report = home.deliver();
    assert_eq!((count(&report, "held"), count(&report, "sent")), (3, 0), "{report}");
    assert!(home.taken().is_empty());
    let shown = home.json(&["ring-notify", "quiet"]);
    let expected = json!({"schema": 1, "quiet": true, "since_ms": NOW, "until_ms": NOW + HOUR, "held": 3});
    assert_eq!(shown, expected);
    assert_eq!(home.says(&["ring-notify", "quiet"]), "quiet until 09:00, 3 held");
    home.after(MINUTE).answered("s2");
    assert_eq!(home.says(&["ring-notify", "quiet", "off"]), "not quiet");
    let summary = only(&home);
    assert_eq!(
        (&summary["kind"], &summary["title"]),
        (&json!("summary"), &json!("2 need you"))
    );
    assert_eq!(summary["body"], "s1: needs permission\ns3: needs permission");
    assert_eq!(summary["items"].as_array().unwrap().len(), 2);
    home.deliver();
    assert!(home.taken().is_empty());
    let set = home.events("quiet_set");
    assert_eq!(
        (&set[0]["until_ms"], &set[1]["until_ms"]),
        (&json!(NOW + HOUR), &json!(NOW + MINUTE))
    );
}

#[test]
fn n45_one_that_is_left_comes_as_itself_and_none_as_nothing() {
    let home = Home::new();
    home.says(&["ring-notify", "quiet", "on"]);
    assert_eq!(
        home.says(&["ring-notify", "quiet"]),
        "quiet until `ring-notify quiet off`, 0 held"
    );
    home.asks("s1", "git push");
    home.deliver();
    home.after(30 * DAY).deliver();
    assert!(home.taken().is_empty());
    home.after(SECOND).says(&["ring-notify", "quiet", "off"]);
    let message = only(&home);
    assert_eq!(
        (&message["kind"], &message["ring"]),
        (&json!("wait.permission"), &json!(0))
    );
    assert_eq!(message["items"], json!([]));
    home.answered("s1");
    home.says(&["ring-notify", "quiet", "on"]);
    home.says(&["ring-notify", "quiet", "off"]);
    assert!(home.taken().is_empty());
}

#[test]
fn n45_twenty_deliver_at_the_end_of_quiet_send_one_summary() {
    let home = Home::new();
    home.says(&["ring-notify", "quiet", "1h"]);
    for session in ["s1", "s2", "s3", "s4"] {
        home.asks(session, "git push");
    }
    home.deliver();
    home.after(HOUR).deliver_at_once(20);
    assert_eq!(only(&home)["title"], "4 need you");
}

#[test]
fn n46_held_rings_survive_and_quiet_ends_by_itself() {
    let home = Home::new();
    home.says(&["ring-notify", "quiet", "1h"]);
    home.asks("s1", "git push");
    home.asks("s2", "git push");
    // killed as soon as the ledger holds them
    let mut run = start(&mut home.command(&["ring-notify", "watch"]), b"");
    crate::harness::eventually("held", || {
        let text = fs::read_to_string(home.path("state/notify/ledger.json")).unwrap_or_default();
        text.matches("\"held\"").count() == 2
    });
    run.kill().unwrap();
    run.wait().unwrap();
    home.after(HOUR - 1).deliver();
    assert!(home.taken().is_empty());
    let before = fs::read(home.path("state/notify/quiet.json")).unwrap();
    home.after(HOUR).deliver();
    assert_eq!(only(&home)["title"], "2 need you");
    assert_eq!(fs::read(home.path("state/notify/quiet.json")).unwrap(), before);
    assert_eq!(home.json(&["ring-notify", "quiet"])["quiet"], false);
}

#[test]
fn n47_spans_that_are_none_leave_quiet_as_it_is() {
    let home = Home::new();
    home.says(&["ring-notify", "quiet", "1h"]);
    let before = home.snapshot();
    for span in ["inf", "-1", "31d", "x", "", "0", "999ms", "nan", "1e30d"] {
        home.refused("INVALID_ARGUMENT", &["ring-notify", "quiet", span]);
        assert_eq!(home.snapshot(), before, "{span}");
    }
    for (span, until) in [("1s", SECOND), ("30d", 30 * DAY), ("90", 90 * SECOND)] {
        home.says(&["ring-notify", "quiet", span]);
        assert_eq!(
            home.json(&["ring-notify", "quiet"])["until_ms"],
            NOW + until,
            "the last one counts"
        );
    }
}

/// The time at which a zone's clocks show this, by the offset of its hour.
fn at(date: &str, time: &str, offset: i64) -> i64 {
    let days = |date: &str| -> i64 {
        let parts: Vec<i64> = date.split('-').map(|p| p.parse().unwrap()).collect();
        let (y, m) = if parts[1] > 2 {
            (parts[0], parts[1])
        } else {
            (parts[0] - 1, parts[1] + 12)
        };
        365 * y + y / 4 - y / 100 + y / 400 + (153 * (m - 3) + 2) / 5 + parts[2]
    };
    let (hour, minute) = time.split_once(':').unwrap();
    let minutes = hour.parse::<i64>().unwrap() * 60 + minute.parse::<i64>().unwrap();
    (days(date) - days("1970-01-01")) * DAY + minutes * MINUTE - offset * HOUR - NOW
}

/// Whether a wait that comes then is held back, in Berlin.
fn is_held(hours: &str, ms: i64) -> bool {
    let home = Home::bare();
    home.notify("", hours);
    home.after(ms).asks("s1", "git push");
    let out = home
        .command(&["ring-notify", "--format", "json", "deliver"])
        .env("TZ", ZONE)
        .output()
        .unwrap();
    assert!(out.status.success() && out.stderr.is_empty(), "{}", text(&out.stderr));
    let report = crate::harness::parse(&text(&out.stdout));
    assert_eq!(count(&report, "held") + count(&report, "sent"), 1);
    count(&report, "held") == 1
}

/// Berlin, as a rule, so that no database of zones is needed.
const ZONE: &str = "CET-1CEST,M3.5.0,M10.5.0/3";

#[test]
fn n48_hours_hold_from_their_start_to_their_end_by_the_zones_clocks() {
    let night = "quiet_hours = { start = \"22:00\", end = \"07:00\", days = [\"mon\"] }";
    for (date, time, held) in [
        ("2027-01-18", "21:59", false),
        ("2027-01-18", "22:00", true),
        ("2027-01-18", "23:00", true),
        ("2027-01-18", "06:59", false),
        ("2027-01-19", "06:59", true),
        ("2027-01-19", "07:00", false),
        ("2027-01-19", "23:00", false),
    ] {
        assert_eq!(is_held(night, at(date, time, 1)), held, "{date} {time}");
    }
    // clocks go forward on Sunday, 2027-03-28, and back on Sunday, 2027-10-31
    let night = "quiet_hours = { start = \"22:00\", end = \"07:00\" }";
    for (date, time, offset, held) in [
        ("2027-03-27", "21:59", 1, false),
        ("2027-03-27", "22:00", 1, true),
        ("2027-03-28", "06:59", 2, true),
        ("2027-03-28", "07:00", 2, false),
        ("2027-10-31", "06:59", 1, true),
        ("2027-10-31", "07:00", 1, false),
    ] {
        assert_eq!(is_held(night, at(date, time, offset)), held, "{date} {time}");
    }
}

#[test]
fn n48_what_came_in_the_night_is_one_summary_in_the_morning() {
    let home = Home::bare();
    home.notify(
        "repeat_max = 0",
        "quiet_hours = { start = \"22:00\", end = \"07:00\", days = [\"mon\"] }",
    );
    let deliver = || {
        let out = home
            .command(&["ring-notify", "deliver"])
            .env("TZ", ZONE)
            .output()
            .unwrap();
        assert!(out.status.success());
    };
    for (time, session) in [("22:10", "s1"), ("23:00", "s2"), ("23:59", "s3")] {
        home.after(at("2027-01-18", time, 1)).asks(session, "git push");
        deliver();
    }
    home.after(at("2027-01-19", "06:59", 1));
    deliver();
    assert!(home.taken().is_empty());
    home.after(at("2027-01-19", "07:00", 1));
    deliver();
    assert_eq!(only(&home)["title"], "3 need you");
    home.after(at("2027-01-19", "23:00", 1)).asks("s4", "git push");
    deliver();
    assert_eq!(home.titles()[0], "s4: needs permission");
}

#[test]
fn n49_what_is_urgent_passes_quiet_hours_unless_it_may_not_and_never_quiet() {
    let all = "start = \"00:00\", end = \"00:00\"";
    for (lines, hours, command, sent) in [
        ("", format!("quiet_hours = {{ {all} }}"), "", false),
        (
            "urgent_kinds = [\"wait\"]",
            format!("quiet_hours = {{ {all} }}"),
            "",
            true,
        ),
        (
            "urgent_kinds = [\"proposal\"]",
            format!("quiet_hours = {{ {all} }}"),
            "",
            false,
        ),
        (
            "urgent_kinds = [\"wait\"]",
            format!("quiet_hours = {{ {all}, urgent_bypass = false }}"),
            "",
            false,
        ),
        ("urgent_kinds = [\"wait\"]", String::new(), "on", false),
    ] {
        let home = Home::bare();
        home.notify(lines, &hours);
        if !command.is_empty() {
            home.says(&["ring-notify", "quiet", command]);
        }
        home.asks("s1", "git push");
        let report = home.deliver();
        assert_eq!(count(&report, "sent") == 1, sent, "{lines} {hours} {command}");
        assert_eq!(count(&report, "held") == 1, !sent, "{lines} {hours} {command}");
        assert_eq!(home.taken().len(), usize::from(sent));
    }
    // and of `send`
    let home = Home::bare();
    home.notify("", &format!("quiet_hours = {{ {all} }}"));
    let sent = home.json(&["ring-notify", "send", "--title", "x", "--urgent"]);
    assert_eq!(sent["to"]["probe"]["state"], "sent");
    assert_eq!(only(&home)["urgent"], true);
    home.says(&["ring-notify", "quiet", "on"]);
    let held = home.json(&["ring-notify", "send", "--title", "x", "--urgent"]);
    assert_eq!(held["to"]["probe"]["state"], "held");
    assert!(home.taken().is_empty());
}

#[test]
fn n50_the_hours_of_one_outlet_hold_no_other() {
    let home = Home::bare();
    let night = home.probe("night", "quiet_hours = { start = \"00:00\", end = \"00:00\" }");
    home.outlets(&[&night, &home.probe("probe", "")]);
    home.asks("s1", "git push");
    home.deliver();
    assert_eq!(home.taken().len(), 1);
    assert!(home.messages("night").is_empty());
    let to = home.item("wait.permission")["to"].clone();
    assert_eq!(
        (&to["night"]["hold"], &to["probe"]["state"]),
        (&json!("hours"), &json!("sent"))
    );
}
