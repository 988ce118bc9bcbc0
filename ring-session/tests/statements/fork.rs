//! A fork copies and never touches.

use crate::harness::{Home, list, names, str_of};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs;

fn source(home: &Home) -> String {
    fs::create_dir_all(home.path().join("project")).unwrap();
    let id = home.says(&[
        "new",
        "--title",
        "Fix it",
        "--project",
        "project",
        "--agent",
        "codex",
        "--agent-session",
        "s",
    ]);
    home.says(&["configure", &id, "--permission", "accept-edits", "--set", "model=opus"]);
    let turn = home.begin(&id, "one");
    let request = home.ask(&id, &turn, "c", "Bash");
    home.says(&["permission", "answer", &id, &request, "allow-session"]);
    let rows = r#"
        {"id":"a1","role":"assistant","blocks":[{"type":"text","text":"two"},{"type":"tool_call","call_id":"call","name":"Bash","args":{"x":1.50}}]}
        {"id":"a2","role":"tool","blocks":[{"type":"text","text":"three"},{"type":"note","call_id":"call"}],"meta":{"parent_call_id":"call"}}
        {"id":"a1","role":"assistant","blocks":[]}"#;
    home.json_of(&["append", &id, "--turn", &turn], rows);
    home.end(&id, &turn, &["completed"]);
    home.push(&id, "later");
    home.says(&["queue", "hold", &id]);
    id
}

#[test]
fn s53_a_fork_is_an_idle_copy_with_ids_of_its_own_and_nothing_that_happened() {
    let home = Home::new();
    let id = source(&home);
    let child = home.says(&["fork", &id]);
    assert_ne!(child, id);
    let (old, new) = (home.show(&id), home.show(&child));
    for member in ["project", "mode", "permission_mode", "settings", "agent"] {
        assert_eq!(new[member], old[member], "{member}");
    }
    assert_eq!(
        (&new["status"], &new["source"], &new["title"], &new["title_auto"]),
        (&json!("idle"), &json!("fork"), &json!("Fix it (branch)"), &json!(false))
    );
    for member in ["turns", "permissions", "grants", "notifications", "unannounced"] {
        assert_eq!(new[member], json!([]), "{member}");
        assert_ne!((member, &old[member]), ("turns", &json!([])));
    }
    assert_eq!(
        (
            &new["queue"]["entries"],
            &new["proposal"],
            &new["agent_session_id"],
            &new["turn"]
        ),
        (&json!([]), &Value::Null, &json!(""), &Value::Null)
    );
    let (old, new) = (home.rows(&id), home.rows(&child));
    assert_eq!(home.texts(&id), home.texts(&child));
    let ids: HashSet<String> = old.iter().chain(&new).map(|r| str_of(&r["id"])).collect();
    assert_eq!(ids.len(), old.len() + new.len());
    assert!(new.iter().all(|r| r["turn_id"].is_null()));
    // one old call is one new call, wherever it is named
    let call = &new[1]["blocks"][1]["call_id"];
    assert!(call.is_string() && call != "call");
    assert_eq!(
        (&new[2]["blocks"][1]["call_id"], &new[2]["meta"]["parent_call_id"]),
        (call, call)
    );
    assert!(!home.file(&child, "history.jsonl").exists() && !home.file(&child, "inflight.json").exists());
    assert!(
        fs::read_to_string(home.file(&child, "transcript.jsonl"))
            .unwrap()
            .contains("1.50")
    );
    let long = home.says(&["new", "--title", &"t".repeat(80)]);
    home.says(&["configure", &long, "--title", &"ü".repeat(80)]);
    let branch = home.says(&["fork", &long]);
    assert_eq!(
        str_of(&home.record(&branch)["title"]),
        format!("{} (branch)", "ü".repeat(80))
    );
}

#[test]
fn s54_the_source_stays_to_the_byte_and_the_two_live_apart() {
    let home = Home::new();
    let id = source(&home);
    let before: Vec<_> = home.files().into_iter().filter(|(n, _)| n.contains(&id)).collect();
    let child = home.says(&["fork", &id]);
    let after: Vec<_> = home.files().into_iter().filter(|(n, _)| n.contains(&id)).collect();
    assert_eq!(before, after);
    home.append(&id, "", "only-old", "here");
    home.append(&child, "", "only-new", "there");
    let (old, new) = (home.texts(&id), home.texts(&child));
    assert!(old.contains(&"here".into()) && !old.contains(&"there".into()));
    assert!(new.contains(&"there".into()) && !new.contains(&"here".into()));
}

#[test]
fn s55_a_refused_fork_leaves_nothing() {
    let home = Home::new();
    let idle = source(&home);
    let live = home.new_session();
    home.begin(&live, "x");
    let busy = [
        live,
        home.planned(None),
        home.planned(Some("queued")),
        home.planned(Some("running")),
    ];
    let before = home.files();
    for id in &busy {
        home.refused("AGENT_BUSY", &["fork", id]);
    }
    home.refused("SESSION_NOT_FOUND", &["fork", "no-such-session"]);
    home.refused("NOT_FOUND", &["fork", &idle, "--through", "no-such-row"]);
    home.refused("INVALID_ARGUMENT", &["fork", &idle, "--title", " "]);
    assert_eq!(home.files(), before);
    assert_eq!(names(&home.sessions()).len(), 5);
}

#[test]
fn s56_through_a_message_copies_up_to_it() {
    let home = Home::new();
    let id = source(&home);
    let child = home.says(&["fork", &id, "--through", "a1"]);
    assert_eq!(home.texts(&child), ["one", "two"]);
    assert_eq!(home.record(&child)["transcript"]["rows"], 2);
    assert_eq!(home.texts(&home.says(&["fork", &id, "--through", " "])).len(), 3);
    let plain = home.new_session();
    let branch = home.says(&["fork", &plain, "--title", "Mine"]);
    let record = home.record(&branch);
    assert_eq!((&record["project"], &record["title"]), (&Value::Null, &json!("Mine")));
    assert_eq!(list(&json!(home.rows(&branch))).len(), 0);
}
