//! Debouncing, bursts and summaries.

use crate::harness::{Home, MINUTE, SECOND, count, signal, start, str_of, text};
use crate::quiet::only;
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn n51_the_run_that_held_sends_the_summary_when_the_window_ends() {
    let home = Home::bare();
    home.notify("debounce_seconds = 3", "");
    home.real_time();
    home.asks("s1", "git push");
    let opened = Instant::now();
    home.deliver();
    assert_eq!(home.titles(), ["s1: needs permission"]);
    assert!(opened.elapsed() < Duration::from_secs(3), "it does not stay");
    home.asks("s2", "git push");
    let stays = start(&mut home.command(&["ring-notify", "deliver"]), b"");
    crate::harness::eventually("a hold", || home.ledger().to_string().contains("\"debounce\""));
    for session in ["s3", "s4", "s5"] {
        home.asks(session, "git push");
        let began = Instant::now();
        home.deliver();
        assert!(began.elapsed() < Duration::from_secs(2), "others do not stay");
    }
    assert!(home.taken().is_empty());
    assert!(stays.wait_with_output().unwrap().status.success());
    assert!(opened.elapsed() >= Duration::from_secs(3));
    assert_eq!(only(&home)["title"], "4 need you");
    // the summary has opened the next window
    home.asks("s6", "git push");
    let report = home.json(&["ring-notify", "deliver", "--no-wait"]);
    assert_eq!(count(&report, "held"), 1, "{report}");
}

#[test]
fn n51_with_no_wait_or_a_set_clock_nobody_stays_and_the_next_run_sends() {
    let home = Home::bare();
    home.notify("debounce_seconds = 5", "");
    home.asks("s1", "git push");
    home.deliver();
    for (n, session) in ["s2", "s3", "s4", "s5"].iter().enumerate() {
        home.after(n as i64 * SECOND).asks(session, "git push");
        home.deliver();
    }
    assert_eq!(home.titles(), ["s1: needs permission"]);
    home.after(4999).deliver();
    assert!(home.taken().is_empty());
    home.after(5000).deliver();
    assert_eq!(only(&home)["title"], "4 need you");
    // what is urgent does not wait for a window
    home.notify("debounce_seconds = 5\nurgent_kinds = [\"wait\"]", "");
    home.asks("s6", "git push");
    home.deliver();
    assert_eq!(home.titles(), ["s6: needs permission"]);
}

#[test]
fn n51_a_run_that_was_killed_while_it_stayed_loses_nothing() {
    let home = Home::bare();
    home.notify("debounce_seconds = 2", "");
    home.real_time();
    home.asks("s1", "git push");
    home.deliver();
    home.asks("s2", "git push");
    let mut stays = start(&mut home.command(&["ring-notify", "deliver"]), b"");
    crate::harness::eventually("a hold", || home.ledger().to_string().contains("\"debounce\""));
    signal(&stays, "KILL");
    stays.wait().unwrap();
    crate::harness::eventually("the summary", || {
        home.deliver();
        home.messages("probe").len() == 2
    });
    let messages = home.taken();
    assert_eq!(messages[1]["session"], "claude-code:s2");
}

/// `send` and a `watch` that looks rarely hold the first item of a window, and no other run would stay for it.
#[test]
fn n51_whoever_holds_first_sees_to_the_summary() {
    let home = Home::bare();
    home.notify("debounce_seconds = 1", "");
    home.real_time();
    home.json(&["ring-notify", "send", "--title", "one"]);
    let held = home.json(&["ring-notify", "send", "--title", "two"]);
    assert_eq!(held["to"]["probe"]["state"], "held");
    home.json(&["ring-notify", "send", "--title", "three"]);
    crate::harness::eventually("the summary", || home.messages("probe").len() == 2);
    let messages = home.taken();
    assert_eq!(
        (&messages[0]["title"], &messages[1]["title"]),
        (&json!("one"), &json!("2 messages"))
    );

    let home = Home::bare();
    home.notify("debounce_seconds = 2", "");
    home.real_time().asks("s1", "git push");
    let watch = start(&mut home.command(&["ring-notify", "watch", "--interval", "1h"]), b"");
    crate::harness::eventually("the first ring", || home.messages("probe").len() == 1);
    home.asks("s2", "git push");
    crate::harness::eventually("the second ring", || home.messages("probe").len() == 2);
    signal(&watch, "TERM");
    assert!(watch.wait_with_output().unwrap().status.success());
}

#[test]
fn n51_fifty_sessions_at_once_are_one_ring_and_one_summary() {
    let home = Home::bare();
    home.notify("debounce_seconds = 10\nrepeat_max = 0", "");
    home.real_time();
    let sessions: Vec<String> = (0..50).map(|n| format!("s{n:02}")).collect();
    std::thread::scope(|scope| {
        for chunk in sessions.chunks(5) {
            let home = &home;
            scope.spawn(move || {
                let mut runs = Vec::new();
                for session in chunk {
                    home.asks(session, "git push");
                    runs.push(start(&mut home.command(&["ring-notify", "deliver"]), b""));
                }
                for run in runs {
                    let out = run.wait_with_output().unwrap();
                    assert!(out.status.success(), "{}", text(&out.stderr));
                }
            });
        }
    });
    let messages = home.taken();
    assert_eq!(
        messages.len(),
        2,
        "{:?}",
        messages.iter().map(|m| &m["title"]).collect::<Vec<_>>()
    );
    assert_eq!(messages[0]["kind"], "wait.permission");
    assert_eq!(
        (&messages[1]["title"], messages[1]["items"].as_array().unwrap().len()),
        (&json!("49 need you"), 49)
    );
    assert!(str_of(&messages[1]["body"]).ends_with("\nand 44 more"));
}

#[test]
fn n52_more_than_three_at_once_are_one_summary_of_five_lines_and_the_rest_is_counted() {
    let home = Home::new();
    for session in ["s1", "s2", "s3"] {
        home.asks(session, "git push");
    }
    home.deliver();
    assert_eq!(home.taken().len(), 3);
    let home = Home::new();
    for session in ["s1", "s2", "s3", "s4"] {
        home.asks(session, "git push");
    }
    home.deliver();
    let summary = only(&home);
    assert_eq!(
        (&summary["title"], str_of(&summary["body"]).lines().count()),
        (&json!("4 need you"), 4)
    );
    home.deliver();
    assert!(home.taken().is_empty());
    let home = Home::new();
    for n in 0..6 {
        home.after(n).asks(&format!("s{n}"), "git push");
    }
    home.turn("Build", MINUTE, &["error", "--error-code", "E"]);
    home.turn("Test", MINUTE, &["completed"]);
    home.deliver();
    let summary = only(&home);
    assert_eq!(summary["title"], "6 need you, 1 failed, 1 finished");
    let lines: Vec<String> = str_of(&summary["body"]).lines().map(str::to_owned).collect();
    assert_eq!(
        (lines.len(), lines[0].as_str(), lines[5].as_str()),
        (6, "s0: needs permission", "and 3 more")
    );
    // each of them repeats as one
    home.after(31 * SECOND).deliver();
    let again = only(&home);
    assert_eq!((&again["title"], &again["ring"]), (&json!("6 need you"), &json!(1)));
}

#[test]
fn n53_eight_requests_of_a_session_within_a_minute_are_five_messages_and_a_summary() {
    let home = Home::bare();
    home.notify("repeat_max = 0", "");
    for n in 0..8 {
        home.after(n * SECOND).event(
            "s1",
            "PermissionRequest",
            json!({"agent_id": format!("a{n}"), "tool_name": "Bash", "tool_input": {"command": format!("step {n}")}}),
        );
        home.event(
            "s1",
            "Notification",
            json!({"agent_id": format!("a{n}"), "notification_type": "permission_prompt", "message": "m"}),
        );
        home.deliver();
    }
    let messages = home.taken();
    assert_eq!(messages.len(), 5);
    assert!(messages.iter().all(|m| m["items"] == json!([])));
    // another session is not held back
    home.asks("s2", "git push");
    home.deliver();
    assert_eq!(home.titles(), ["s2: needs permission"]);
    home.after(59 * SECOND).deliver();
    assert!(home.taken().is_empty());
    home.after(60 * SECOND).deliver();
    assert_eq!(only(&home)["title"], "3 need you");
    home.after(80 * SECOND).deliver();
    assert!(home.taken().is_empty());
}
