//! A watch.

use crate::harness::{Home, count, eventually, parse, signal, start, text};
use serde_json::Value;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn n74_two_watches_ring_once_soon_after_a_wait_appears_and_end_when_they_are_asked_to() {
    let home = Home::new();
    home.real_time();
    let watch = || {
        start(
            &mut home.command(&["ring-notify", "--format", "json", "watch", "--interval", "1s"]),
            b"",
        )
    };
    let (one, two) = (watch(), watch());
    eventually("a first look", || home.path("state/notify/ledger.json").exists());
    home.asks("s1", "git push");
    let asked = Instant::now();
    eventually("the ring", || home.messages("probe").len() == 1);
    let took = asked.elapsed();
    println!("rung {took:?} after it was asked for");
    assert!(took < Duration::from_secs(10), "{took:?}");
    eventually("its result", || home.stands("wait.permission")["state"] == "sent");
    // a second look of both
    std::thread::sleep(Duration::from_millis(1500));
    let mut lines = String::new();
    for (watch, name) in [(one, "TERM"), (two, "INT")] {
        signal(&watch, name);
        let out = watch.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        assert!(out.stderr.is_empty(), "{}", text(&out.stderr));
        lines.push_str(&text(&out.stdout));
    }
    assert_eq!(home.messages("probe").len(), 1);
    assert!(!home.ledger().to_string().contains("claimed"));
    let told: Vec<Value> = lines.lines().map(parse).collect();
    assert_eq!(told.len(), 1, "{lines}");
    assert_eq!(count(&told[0], "sent"), 1);
}

#[test]
fn n74_a_watch_finishes_what_it_is_sending_before_it_ends() {
    let home = Home::bare();
    let script = format!(
        "touch '{}'; sleep 1; cat >> '{}'",
        home.path("began").display(),
        home.path("probe").display()
    );
    home.outlets(&[&home.script("probe", &script, "")]);
    home.real_time().asks("s1", "git push");
    let watch = start(&mut home.command(&["ring-notify", "watch"]), b"");
    eventually("the send", || home.path("began").exists());
    signal(&watch, "TERM");
    let out = watch.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(0));
    assert!(
        text(&out.stdout).starts_with("sent probe wait:claude-code:s1:"),
        "{}",
        text(&out.stdout)
    );
    assert_eq!(home.taken().len(), 1);
    assert_eq!(home.stands("wait.permission")["state"], "sent");
}

#[test]
fn n74_a_watch_outlives_a_disk_that_cannot_be_written_and_says_so_once() {
    let home = Home::new();
    home.real_time().asks("s1", "git push");
    let ledger = home.path("state/notify/ledger.json");
    home.obstruct_ledger();
    let mut watch = home.command(&["ring-notify", "watch", "--interval", "1s"]);
    let errors = fs::File::create(home.path("errors")).unwrap();
    let watch = watch.stderr(errors).stdout(Stdio::null()).spawn().unwrap();
    let said = || fs::read_to_string(home.path("errors")).unwrap();
    eventually("a complaint", || said().contains("ledger.json"));
    std::thread::sleep(Duration::from_millis(2500));
    fs::remove_dir(&ledger).unwrap();
    eventually("the ring", || home.messages("probe").len() == 1);
    eventually("its result", || home.stands("wait.permission")["state"] == "sent");
    signal(&watch, "TERM");
    assert!(watch.wait_with_output().unwrap().status.success());
    assert_eq!(said().lines().count(), 1, "{}", said());
}

/// A wait that appears while a slow outlet is being sent to is not left until the next interval.
#[test]
fn n74_what_appears_during_a_pass_wakes_the_next_one() {
    let home = Home::bare();
    let (probe, gate) = (home.path("probe"), home.path("gate"));
    let script = format!(
        "cat >> '{}'; while test ! -e '{}'; do sleep 0.02; done",
        probe.display(),
        gate.display()
    );
    home.outlets(&[&home.script("probe", &script, "")]);
    home.real_time().asks("s1", "git push");
    let watch = start(&mut home.command(&["ring-notify", "watch", "--interval", "1h"]), b"");
    eventually("the first message", || home.messages("probe").len() == 1);
    home.asks("s2", "git push");
    fs::write(&gate, "").unwrap();
    eventually("the second message", || home.messages("probe").len() == 2);
    signal(&watch, "TERM");
    assert!(watch.wait_with_output().unwrap().status.success());
}

#[test]
fn n74_an_interval_outside_its_bounds_is_refused() {
    let home = Home::new();
    for interval in ["0", "999ms", "61m", "x", "-1"] {
        home.refused("INVALID_ARGUMENT", &["ring-notify", "watch", "--interval", interval]);
    }
}
