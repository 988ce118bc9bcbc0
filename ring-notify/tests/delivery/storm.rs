//! Everything at once: agents that ask and are answered, turns that end, quiet that comes and goes, and runs of which some
//! are killed. Whatever happened, nothing has rung twice, and what is open has rung.

use crate::harness::{Home, count, feed, parse, signal, start, str_of, text};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long it goes on.
const LENGTH: Duration = Duration::from_secs(4);

/// Pauses that differ, and are the same each time.
struct Pauses(u64);

impl Pauses {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// One agent: it asks for one thing after another, and every third time nobody answers before the next.
fn agent(home: &Home, n: u64, over: &AtomicBool) {
    let session = format!("s{n}");
    let mut pauses = Pauses(n);
    for step in 0.. {
        home.asks(&session, &format!("step {step}"));
        std::thread::sleep(Duration::from_millis(pauses.next(120)));
        if over.load(Ordering::Relaxed) {
            return;
        }
        home.answered(&session);
    }
}

/// One script: its turns fail.
fn script(home: &Home, over: &AtomicBool) {
    let id = home.session("Script").id;
    let turn = str_of(&home.record(&id)["turn"]["id"]);
    home.says(&["ring-session", "end", &id, "--turn", &turn, "error"]);
    while !over.load(Ordering::Relaxed) {
        let s = home.begin(&id);
        home.end(&s, &["error"]);
        std::thread::sleep(Duration::from_millis(60));
    }
}

/// Passes, of which every third is killed at some moment.
fn passes(home: &Home, n: u64, over: &AtomicBool) {
    let mut pauses = Pauses(100 + n);
    for round in 0u64.. {
        if over.load(Ordering::Relaxed) {
            return;
        }
        let run = start(&mut home.command(&["ring-notify", "deliver"]), b"");
        if round % 3 == n % 3 {
            std::thread::sleep(Duration::from_millis(pauses.next(40)));
            signal(&run, "KILL");
        }
        let out = run.wait_with_output().unwrap();
        assert!(out.stderr.is_empty(), "{}", text(&out.stderr));
    }
}

fn quiet(home: &Home, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        for word in ["on", "off"] {
            let out = feed(&mut home.command(&["ring-notify", "quiet", word]), b"");
            assert!(out.status.success(), "{}", text(&out.stderr));
            std::thread::sleep(Duration::from_millis(150));
        }
    }
}

/// How often each item and ring has arrived, alone or in a summary.
fn arrived(messages: &[Value]) -> HashMap<(String, u64), usize> {
    let mut arrived = HashMap::new();
    for message in messages {
        let items = message["items"].as_array().unwrap();
        for item in if items.is_empty() {
            std::slice::from_ref(message)
        } else {
            items
        } {
            let ring = item["ring"].as_u64().unwrap();
            *arrived.entry((str_of(&item["id"]), ring)).or_default() += 1;
        }
    }
    arrived
}

#[test]
fn n20_n21_n54_in_a_storm_nothing_rings_twice_and_what_is_open_has_rung() {
    let home = Home::bare();
    let slow = format!("sleep 0.02; cat >> '{}'", home.path("slow").display());
    home.config(&format!(
        "[notify]\nsession_burst = 0\n{}{}",
        home.probe("probe", ""),
        home.script("slow", &slow, "")
    ));
    home.real_time();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (home, over) = (&home, &over);
        for n in 0..3 {
            scope.spawn(move || agent(home, n, over));
            scope.spawn(move || passes(home, n, over));
        }
        scope.spawn(move || script(home, over));
        scope.spawn(move || quiet(home, over));
        let began = Instant::now();
        while began.elapsed() < LENGTH {
            std::thread::sleep(Duration::from_millis(20));
        }
        over.store(true, Ordering::Relaxed);
    });
    home.says(&["ring-notify", "quiet", "off"]);
    home.deliver();
    let report = home.deliver();
    assert_eq!((count(&report, "sent"), count(&report, "held")), (0, 0), "{report}");
    // what was killed while it sent may still arrive
    std::thread::sleep(Duration::from_millis(500));
    let ledger = home.ledger();
    assert!(!ledger.to_string().contains("\"claimed\""));
    let items = ledger["items"].as_object().unwrap();
    let mut told = HashMap::new();
    for outlet in ["probe", "slow"] {
        let arrived = arrived(&home.messages(outlet));
        let twice: Vec<_> = arrived.iter().filter(|(_, times)| **times > 1).collect();
        assert!(twice.is_empty(), "{outlet}: {twice:?}");
        for (id, item) in items {
            let state = str_of(&item["to"][outlet]["state"]);
            *told.entry(state.clone()).or_insert(0) += 1;
            let times = arrived.get(&(id.clone(), 0)).copied().unwrap_or(0);
            let fine = match state.as_str() {
                "sent" => times == 1,
                "unconfirmed" => true,
                // it was answered before it was sent
                "skipped" => times == 0 && !item["closed_ms"].is_null(),
                _ => false,
            };
            assert!(fine, "{outlet}: {id} arrived {times} times: {item}");
        }
    }
    println!("{} items: {told:?}", items.len());
    assert!(items.len() > 20 && told["sent"] > 20, "{told:?}");
    // each line of the log is whole
    let log = std::fs::read_to_string(home.path("state/events.jsonl")).unwrap();
    assert!(log.lines().all(|l| parse(l)["kind"].is_string()));
}
