//! `explain` and `show`: everything that decided, the same for people and for scripts.
#![allow(clippy::unwrap_used)]

mod world;

use serde_json::{Value, json};
use world::{NOW, World, wait};

/// The rule that decided, after checking that both forms tell the same chain.
fn explained(world: &World, id: &str) -> String {
    let chain = world.scan(&["--format", "json", "explain", id]).json();
    let keys: Vec<_> = chain.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys.len(), 5, "{keys:?}");
    let rules = chain["rules"].as_array().unwrap();
    let yes: Vec<&Value> = rules.iter().filter(|r| r["applies"] == true).collect();
    assert_eq!(yes.len(), 1, "{chain}");
    assert_eq!(
        yes[0],
        rules.last().unwrap(),
        "no rule is tried after the one that decides"
    );
    assert_eq!(yes[0]["rule"], chain["rule"]);
    let human = world.scan(&["explain", id]);
    assert_eq!(human.status, 0);
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    let (facts, mut rest) = human.out.split_once("\nrules\n").unwrap();
    let mut lines = facts.split_once("\nfacts\n").unwrap().1.lines();
    for fact in chain["facts"].as_array().unwrap() {
        let line = lines.next().unwrap();
        assert!(line.trim_start().starts_with(&text(&fact["source"])), "{line}");
        assert!(line.contains(&text(&fact["fact"])), "{line}");
        assert_eq!(line.ends_with(" ago"), fact.get("at_ms").is_some(), "{line}");
    }
    for rule in rules {
        let answer = if rule["applies"] == true { "yes" } else { "no" };
        let at = rest
            .find(&text(&rule["rule"]))
            .unwrap_or_else(|| panic!("{rule}: {rest}"));
        let line = human
            .out
            .lines()
            .find(|l| l.split_whitespace().nth(1) == rule["rule"].as_str())
            .unwrap();
        assert_eq!(line.split_whitespace().next(), Some(answer), "{line}");
        assert!(line.ends_with(&text(&rule["why"])), "{line}");
        rest = &rest[at..];
    }
    text(&chain["rule"])
}

#[test]
fn c57_the_rule_that_decided_and_every_fact_are_told() {
    let world = World::new();
    world.row("asks", "waiting", NOW - 4000, json!({}));
    world.row("works", "working", NOW - 4000, json!({}));
    world.row("over", "idle", NOW - 4000, json!({}));
    assert_eq!(explained(&world, "generic:asks"), "hook_wait");
    assert_eq!(explained(&world, "works"), "hook");
    assert_eq!(explained(&world, "over"), "hook");
    world.row("past", "idle", NOW - 100_000_000, json!({}));
    assert_eq!(explained(&world, "past"), "aged", "ended rows can be explained too");
}

#[test]
fn c57_facts_of_records_and_processes_have_their_ages() {
    let world = World::new();
    let id = "6ad3cf2b-1111-4222-8333-444455556666";
    let transcript = world.claude(4242, id);
    world.append(
        &transcript,
        &json!({"type":"user","uuid":"u1","parentUuid":null,"isSidechain":false,"sessionId":id,"cwd":"/w/app",
        "timestamp":"2026-11-30T12:00:00.000Z","message":{"role":"user","content":"do it"}})
        .to_string(),
    );
    let registry = json!({"pid":4242,"procStart":"1000","sessionId":id,"cwd":"/w/app","startedAt":NOW - 60_000,"version":"2.1.332",
        "kind":"interactive","status":"idle","statusUpdatedAt":NOW - 300_000,"updatedAt":NOW - 300_000});
    world.write("home/.claude/sessions/4242.json", registry.to_string());
    assert_eq!(explained(&world, id), "live_idle");
    let human = world.scan(&["explain", id]).out;
    assert!(
        human.contains("idle  5m ago") && human.contains("4242 alive"),
        "{human}"
    );
}

#[test]
fn show_lists_fields_requests_children_and_files() {
    let world = World::new();
    let mut child = wait(NOW - 9000, "question", "Which one?");
    (child["owner"], child["agent_type"]) = (json!("agent:a31"), json!("Explore"));
    world.row(
        "s1",
        "waiting",
        NOW - 4000,
        json!({
        "waits":[child, wait(NOW - 4000, "permission", "Bash: git push")],
        "children":[{"id":"a31","type":"Explore","since_ms":NOW - 9000,"seen_ms":NOW - 9000}],
        "transcript_path":"/t/s1.jsonl","todo":[2,5],"model":"m-1"}),
    );
    let shown = world.scan(&["--format", "json", "show", "generic:s1"]).json();
    assert_eq!(
        (shown["waits"].as_u64(), shown["all_waits"].as_array().unwrap().len()),
        (Some(2), 2)
    );
    assert_eq!(
        shown["children"],
        json!([{"id":"a31","type":"Explore","state":"seen by a hook"}])
    );
    assert_eq!(shown["paths"], json!(["/t/s1.jsonl"]));
    let board = world.scan(&["--format", "json"]).json();
    for (key, value) in board["sessions"][0].as_object().unwrap() {
        assert_eq!(shown[key], *value, "{key}");
    }
    let human = world.scan(&["show", "generic:s1"]).out;
    for text in [
        "Which one?",
        "Bash: git push",
        "/t/s1.jsonl",
        "2 of 5",
        "m-1",
        "hook_wait",
    ] {
        assert!(human.contains(text), "{text}: {human}");
    }
}
