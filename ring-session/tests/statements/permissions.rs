//! Permission requests: the first answer counts, silence is a denial.

use crate::harness::{Home, NOW, list, refusal, start, text};
use serde_json::{Value, json};

fn asked(home: &Home) -> (String, String, String) {
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    let request = home.ask(&id, &turn, "c1", "Bash");
    (id, turn, request)
}

#[test]
fn s21_an_open_request_is_what_the_session_waits_for_until_the_last_is_answered() {
    let home = Home::new();
    let (id, turn, first) = asked(&home);
    let second = home.ask(&id, &turn, "c2", "Edit");
    let look = || {
        let shown = home.show(&id);
        (shown["status"].clone(), shown["board"].clone())
    };
    assert_eq!(look(), (json!("waiting_permission"), json!("waiting")));
    home.says(&["permission", "answer", &id, &first, "allow-once"]);
    assert_eq!(look(), (json!("waiting_permission"), json!("waiting")));
    home.says(&["permission", "answer", &id, &second, "deny"]);
    assert_eq!(look(), (json!("running"), json!("working")));
    // the same call asks once
    assert_eq!(home.ask(&id, &turn, "c1", "Bash"), first);
    assert_eq!(list(&home.record(&id)["permissions"]).len(), 2);
}

#[test]
fn s22_nobodys_answer_is_a_denial_at_the_very_millisecond() {
    let home = Home::new();
    let (id, _, request) = asked(&home);
    home.at(NOW + 119_999);
    assert_eq!(home.show(&id)["status"], "waiting_permission");
    home.at(NOW + 120_000);
    let before = home.bytes(&id);
    let shown = home.show(&id);
    let found = &shown["permissions"][0];
    assert_eq!(
        (
            &shown["status"],
            &found["decision"],
            &found["cause"],
            &shown["recovered_view"]
        ),
        (
            &json!("running"),
            &json!("deny"),
            &json!("PERMISSION_TIMEOUT"),
            &json!(true)
        )
    );
    assert_eq!(home.bytes(&id), before, "a reader writes nothing");
    let error = home.refused("TOOL_DENIED", &["permission", "wait", &id, &request]);
    assert_eq!(error["retriable"], false);
    assert_eq!(home.json(&["permission", "list", &id]), json!([]));
    home.says(&["configure", &id, "--title", "t"]);
    assert_eq!(home.record(&id)["permissions"][0]["cause"], "PERMISSION_TIMEOUT");
    let closed = home.events_of("permission_closed");
    assert_eq!((closed.len(), &closed[0]["cause"]), (1, &json!("PERMISSION_TIMEOUT")));
}

#[test]
fn s23_another_answer_conflicts_the_same_is_repeated_and_a_late_one_is_told() {
    let home = Home::new();
    let (id, turn, request) = asked(&home);
    home.says(&["permission", "answer", &id, &request, "allow-once"]);
    let before = home.bytes(&id);
    home.refused("CONFLICT", &["permission", "answer", &id, &request, "deny"]);
    home.says(&["permission", "answer", &id, &request, "allow-once"]);
    assert_eq!(home.bytes(&id), before);
    let late = home.ask(&id, &turn, "c2", "Bash");
    home.at(NOW + 500_000);
    home.refused(
        "PERMISSION_TIMEOUT",
        &["permission", "answer", &id, &late, "allow-once"],
    );
    // what was overdue is stored all the same
    assert_eq!(home.record(&id)["permissions"][1]["cause"], "PERMISSION_TIMEOUT");
    home.refused("PERMISSION_TIMEOUT", &["permission", "answer", &id, &late, "deny"]);
    home.refused("INVALID_ARGUMENT", &["permission", "answer", &id, &late, "cancelled"]);
    home.refused("NOT_FOUND", &["permission", "answer", &id, "no-such", "deny"]);
}

#[test]
fn s24_whoever_waits_hears_at_once_that_the_turn_is_over() {
    for how in [&["abort"][..], &["end", "completed"], &["end", "error"]] {
        let home = Home::new();
        let (id, turn, request) = asked(&home);
        let words = ["--format", "json", "permission", "wait", &id, &request];
        let waiter = start(
            home.ring(&words)
                .env_remove("RING_NOW_MS")
                .env("RING_NOW_MS", NOW.to_string()),
            b"",
        );
        match how {
            ["abort"] => drop(home.says(&["abort", &id])),
            [_, reason] => drop(home.end(&id, &turn, &[reason])),
            _ => unreachable!(),
        }
        let ended = std::time::Instant::now();
        let out = waiter.wait_with_output().unwrap();
        assert!(ended.elapsed().as_millis() < 1000, "{how:?}");
        assert_eq!(refusal(&out, &words)["code"], "TOOL_ABORTED", "{}", text(&out.stderr));
    }
}

#[test]
fn s25_a_grant_answers_for_its_tool_in_its_session_and_in_contract_modes_only_for_bash() {
    let home = Home::new();
    let (id, turn, request) = asked(&home);
    home.says(&["permission", "answer", &id, &request, "allow-session"]);
    let granted = home.json(&[
        "permission",
        "open",
        &id,
        "--turn",
        &turn,
        "--call",
        "c2",
        "--tool",
        "Bash",
    ]);
    assert_eq!(
        (&granted["state"], &granted["decision"], &granted["cause"]),
        (&json!("closed"), &json!("allow-session"), &json!("grant"))
    );
    assert_eq!(home.show(&id)["status"], "running");
    let waited = [
        "permission",
        "open",
        &id,
        "--turn",
        &turn,
        "--call",
        "c3",
        "--tool",
        "Bash",
        "--wait",
    ];
    assert_eq!(home.says(&waited), "allow-session");
    let open = home.ask(&id, &turn, "c4", "Edit");
    home.says(&["permission", "answer", &id, &open, "allow-session"]);
    let (other, other_turn, _) = asked(&home);
    home.ask(&other, &other_turn, "c9", "Edit");
    assert_eq!(home.show(&other)["status"], "waiting_permission");
    home.end(&id, &turn, &["completed"]);
    for mode in ["plan", "goal"] {
        home.says(&["configure", &id, "--mode", mode]);
        let turn = home.begin(&id, "x");
        for (tool, state) in [("Bash", "closed"), ("Edit", "open")] {
            let words = [
                "permission",
                "open",
                &id,
                "--turn",
                &turn,
                "--call",
                tool,
                "--tool",
                tool,
            ];
            assert_eq!(home.json(&words)["state"], state, "{mode} {tool}");
        }
        home.end(&id, &turn, &["completed"]);
    }
}

#[test]
fn a_request_is_opened_only_in_the_live_turn_and_not_without_limit() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    home.end(&id, &turn, &["completed"]);
    let words = [
        "permission",
        "open",
        &id,
        "--turn",
        &turn,
        "--call",
        "c",
        "--tool",
        "Bash",
    ];
    home.refused("TURN_NOT_FOUND", &words);
    let turn = home.begin(&id, "y");
    for n in 0..16 {
        home.ask(&id, &turn, &format!("c{n}"), "Bash");
    }
    let words = [
        "permission",
        "open",
        &id,
        "--turn",
        &turn,
        "--call",
        "c16",
        "--tool",
        "Bash",
    ];
    home.refused("LIMIT_EXCEEDED", &words);
    let open = list(&home.json(&["permission", "list"]));
    assert_eq!(open.len(), 16);
    assert!(open.iter().all(|r| r["session_id"] == id.as_str()), "{open:?}");
    assert!(open.is_sorted_by_key(|r| r["id"].as_str().unwrap().to_owned()));
}

#[test]
fn a_wait_with_a_limit_says_that_the_request_is_still_open() {
    let home = Home::new();
    let (id, _, request) = asked(&home);
    let error = home.refused("TIMEOUT", &["permission", "wait", &id, &request, "--timeout", "1ms"]);
    assert_eq!(error["retriable"], true);
    assert_eq!(home.record(&id)["permissions"][0]["decision"], Value::Null);
}
