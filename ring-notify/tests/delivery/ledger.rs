//! The ledger as it is kept: broken, of a later program, at its limits.

use crate::harness::{DAY, Home, MINUTE, SECOND, refusal, text};
use serde_json::json;
use std::fs;
use std::time::Duration;

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
    home.obstruct_ledger();
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
