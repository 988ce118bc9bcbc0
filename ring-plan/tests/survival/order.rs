//! The order of what is made durable, as the system sees it.

use crate::scene::{Scene, deciding, executing, proposing};
use crate::trace;

/// Short names of a command's calls, in their order.
fn steps(scenes: Vec<Scene>, name: &str) -> Vec<String> {
    let scene = scenes.into_iter().find(|s| s.name == name).unwrap();
    let points = trace::points(&scene.home, &scene.args, &scene.stdin);
    let named = |line: &str| match line {
        l if l.contains(".ring-plan-") => Some("artifact"),
        l if l.contains("/.pi/plan>") || l.contains("/.pi/goal>") => Some("folder"),
        l if l.contains("history.jsonl") => Some("history"),
        l if l.contains("events.jsonl") => Some("events"),
        l if l.contains("session.json") => Some("record"),
        l if l.contains("/.tmp-") => Some("temporary"),
        l if l.contains(&format!("/{}>", scene.id)) => Some("session"),
        _ => None,
    };
    points
        .iter()
        .filter_map(|p| {
            let what = named(&p.line)?;
            let call = match p.call.as_str() {
                "fsync" | "fdatasync" => "sync",
                "write" => "write",
                "linkat" => "name",
                call if call.starts_with("rename") => "rename",
                call if call.starts_with("unlink") => "unlink",
                _ => return None,
            };
            Some(format!("{call} {what}"))
        })
        .collect()
}

const COMMIT: [&str; 4] = ["write temporary", "sync temporary", "rename record", "sync session"];

#[test]
fn p17_each_decision_is_one_replacement_of_the_record_and_its_history_comes_first() {
    if !trace::works() {
        return;
    }
    let approve = steps(deciding(), "approve (plan)");
    assert_eq!(approve, [&COMMIT[..], &["write events"]].concat());
    // what closes a row has its line synced before
    let history = ["write history", "sync history", "sync session"];
    for (scenes, name) in [
        (deciding(), "reject (plan)"),
        (proposing(), "expire (plan)"),
        (executing(), "finish completed (goal)"),
        (executing(), "claim (plan)"),
    ] {
        let all = steps(scenes, name);
        let one = all.iter().filter(|s| *s == "rename record").count();
        // expire closes the one of somebody else, too
        assert_eq!(one, if name.starts_with("expire") { 2 } else { 1 }, "{name}: {all:?}");
        if !name.starts_with("claim") {
            let first = all.iter().position(|s| s == "rename record").unwrap();
            let before: Vec<&str> = all[..first].iter().map(String::as_str).collect();
            assert!(before.starts_with(&history[..2]), "{name}: {all:?}");
        }
    }
}

#[test]
fn p17_an_artifact_is_synced_named_and_its_folder_synced_before_there_is_a_row() {
    if !trace::works() {
        return;
    }
    for name in ["submit, the first (plan)", "submit, the first (goal)"] {
        let artifact = [
            "write artifact",
            "sync artifact",
            "name artifact",
            "unlink artifact",
            "sync folder",
        ];
        assert_eq!(
            steps(proposing(), name),
            [&artifact[..], &COMMIT[..], &["write events"]].concat()
        );
    }
}
