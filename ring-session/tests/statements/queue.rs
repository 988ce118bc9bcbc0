//! The queue: first in first out, never lost, never twice, nothing by itself.

use crate::harness::{Home, list, str_of};
use serde_json::{Value, json};

fn contents(home: &Home, id: &str) -> Vec<String> {
    list(&home.json(&["queue", "list", id])["entries"])
        .iter()
        .map(|e| str_of(&e["content"]))
        .collect()
}

#[test]
fn s43_a_queue_takes_eight() {
    let home = Home::new();
    let id = home.new_session();
    for n in 0..8 {
        home.push(&id, &format!("p{n}"));
    }
    let before = home.bytes(&id);
    let error = home.refused("AGENT_BUSY", &["queue", "push", &id, "p8"]);
    assert_eq!(error["details"]["reason"], "queue_full");
    home.refused("AGENT_BUSY", &["begin", &id, "p8", "--queue"]);
    assert_eq!(home.bytes(&id), before);
    assert_eq!(contents(&home, &id), ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"]);
}

#[test]
fn s44_a_key_makes_a_push_repeatable() {
    let home = Home::new();
    let id = home.new_session();
    let push = |words: &[&str]| [&["queue", "push", &id][..], words].concat().join("\u{1}");
    let run = |words: &[&str]| {
        let joined = push(words);
        let words: Vec<&str> = joined.split('\u{1}').collect();
        home.json(&words)
    };
    let first = run(&["do it", "--key", "k", "--principal", "cron"]);
    for n in 0..7 {
        run(&[&format!("p{n}")]);
    }
    let before = home.bytes(&id);
    // whether or not the queue is full
    assert_eq!(run(&["do it", "--key", "k", "--principal", "cron"]), first);
    let other = ["queue", "push", &id, "do that", "--key", "k", "--principal", "cron"];
    home.refused("IDEMPOTENCY_CONFLICT", &other);
    let attached = [
        "queue",
        "push",
        &id,
        "do it",
        "--attach",
        "f",
        "--key",
        "k",
        "--principal",
        "cron",
    ];
    home.refused("IDEMPOTENCY_CONFLICT", &attached);
    assert_eq!(home.bytes(&id), before);
    // another principal's key is another key: it is a new entry, for which there is no room
    home.refused(
        "AGENT_BUSY",
        &["queue", "push", &id, "do it", "--key", "k", "--principal", "me"],
    );
    home.refused("SESSION_NOT_FOUND", &["queue", "push", "no-such", "x", "--key", "k"]);
    let taken = str_of(&first["id"]);
    home.json(&["queue", "remove", &id, &taken]);
    let again = run(&["do it", "--key", "k", "--principal", "cron"]);
    assert_ne!(again["id"], first["id"], "a key counts while its entry is queued");
    home.refused("CONFLICT", &["queue", "push", &id, "x", "--id", &str_of(&again["id"])]);
}

#[test]
fn s45_next_gives_one_entry_a_call_first_in_first_out_and_only_when_idle() {
    let home = Home::new();
    let id = home.new_session();
    home.refused("NOT_FOUND", &["queue", "next", &id]);
    let entries: Vec<String> = ["one", "two", "three"].iter().map(|p| home.push(&id, p)).collect();
    let said = home.says(&["queue", "next", &id]);
    let (turn, prompt) = said.split_once('\n').unwrap();
    assert_eq!(prompt, "one");
    let record = home.record(&id);
    assert_eq!(
        (
            &record["turn"]["origin"],
            &record["turn"]["queue_entry"],
            &record["turn"]["id"]
        ),
        (&json!("queue"), &json!(entries[0]), &json!(turn))
    );
    assert_eq!(
        home.refused("AGENT_BUSY", &["queue", "next", &id])["details"]["reason"],
        "turn"
    );
    assert_eq!(
        home.json(&["queue", "remove", &id, &entries[1]]),
        json!({"removed": true})
    );
    home.end(&id, turn, &["completed", "--seen"]);
    let next = home.json(&["queue", "next", &id]);
    assert_eq!(next["entry"]["id"], entries[2].as_str(), "a removed entry never runs");
    assert_eq!(home.texts(&id), ["one", "three"]);
    home.end(&id, &str_of(&next["turn"]), &["completed", "--seen"]);
    home.refused("NOT_FOUND", &["queue", "next", &id]);
    assert_eq!(
        home.json(&["queue", "remove", &id, &entries[1]]),
        json!({"removed": false})
    );
}

#[test]
fn s47_prioritize_puts_an_entry_first_and_the_last_one_promoted_is_first() {
    let home = Home::new();
    let id = home.new_session();
    let entries: Vec<String> = ["a", "b", "c", "d"].iter().map(|p| home.push(&id, p)).collect();
    let turn = str_of(&home.json(&["queue", "next", &id])["turn"]);
    home.json(&["queue", "prioritize", &id, &entries[2]]);
    let promoted = home.json(&["queue", "prioritize", &id, &entries[3]]);
    assert_eq!(promoted["id"], entries[3].as_str());
    assert_eq!(contents(&home, &id), ["d", "c", "b"]);
    assert_eq!(home.record(&id)["turn"]["id"], turn.as_str());
    let error = home.refused("CONFLICT", &["queue", "prioritize", &id, &entries[0]]);
    assert_eq!(error["details"]["reason"], "started");
    home.refused("CONFLICT", &["queue", "remove", &id, &entries[0]]);
    home.refused("NOT_FOUND", &["queue", "prioritize", &id, "no-such-entry"]);
    let positions: Vec<i64> = list(&home.record(&id)["queue"]["entries"])
        .iter()
        .map(|e| e["position"].as_i64().unwrap())
        .collect();
    assert_eq!(positions, [0, 1, 2]);
    home.push(&id, "e");
    assert_eq!(home.record(&id)["queue"]["entries"][3]["position"], 3);
    home.check();
}

#[test]
fn s48_after_a_restart_entries_are_held_in_order_until_they_are_attached() {
    let home = Home::with_processes();
    let id = home.new_session();
    for prompt in ["one", "two"] {
        home.push(&id, prompt);
    }
    home.boot("deadbeef");
    let before = home.bytes(&id);
    let listed = home.json(&["queue", "list", &id]);
    assert_eq!(
        (&listed["held"], listed["entries"].as_array().unwrap().len()),
        (&json!(true), 2)
    );
    assert_eq!(home.bytes(&id), before, "a reader writes nothing");
    for _ in 0..2 {
        let error = home.refused("AGENT_BUSY", &["queue", "next", &id]);
        assert_eq!(error["details"]["reason"], "held");
    }
    assert_eq!(contents(&home, &id), ["one", "two"]);
    assert_eq!(home.json(&["queue", "attach", &id]), json!({"held": false}));
    assert_eq!(home.record(&id)["turn"], Value::Null, "nothing starts by itself");
    assert_eq!(home.json(&["queue", "next", &id])["entry"]["content"], "one");
    // an empty queue is not held: a push after a restart is of the new boot
    let other = home.new_session();
    home.boot("0badcafe");
    home.push(&other, "x");
    assert_eq!(home.json(&["queue", "next", &other])["entry"]["content"], "x");
}

#[test]
fn s49_an_abort_keeps_the_queue_and_two_sessions_have_two() {
    let home = Home::new();
    let (id, other) = (home.new_session(), home.new_session());
    home.push(&other, "theirs");
    let entries: Vec<String> = ["a", "b", "c"].iter().map(|p| home.push(&id, p)).collect();
    home.begin_held(&id);
    home.says(&["abort", &id]);
    assert_eq!(contents(&home, &id), ["a", "b", "c"]);
    home.json(&["queue", "remove", &id, &entries[1]]);
    assert_eq!(contents(&home, &id), ["a", "c"]);
    assert_eq!(contents(&home, &other), ["theirs"]);
    assert_eq!(home.json(&["queue", "list", &other])["held"], false);
}

#[test]
fn a_push_stores_what_it_was_given_and_the_mode_in_force() {
    let home = Home::new();
    let id = home.says(&["new", "--permission", "accept-edits"]);
    let content = "  ünï\u{202e}code\n\x1b[31m  ";
    let entry = home.json_of(&["queue", "push", &id, "-", "--attach", "a.png"], content);
    assert_eq!(
        (
            &entry["content"],
            &entry["attachments"],
            &entry["permission_mode"],
            &entry["principal"]
        ),
        (
            &json!(content),
            &json!(["a.png"]),
            &json!("accept-edits"),
            &json!("cli")
        )
    );
    home.refused_of("LIMIT_EXCEEDED", &["queue", "push", &id], "x".repeat(262_145));
    home.refused_of("INVALID_ARGUMENT", &["queue", "push", &id], " \n");
    home.refused(
        "INVALID_ARGUMENT",
        &["queue", "push", &id, "x", "--attach", "data:text/plain,x"],
    );
    home.json_of(&["queue", "push", &id], "x".repeat(262_144));
}
