//! The order of what is made durable, as the system sees it.

use crate::scene::{Scene, sessions, turns};
use crate::trace;

/// Short names of a command's calls on the state directory, in their order.
fn steps(scenes: Vec<Scene>, name: &str) -> Vec<String> {
    let scene = scenes.into_iter().find(|s| s.name == name).unwrap();
    let home = scene.copy();
    let points = trace::points(&home, &scene.args, &scene.stdin);
    points
        .iter()
        .filter_map(|p| {
            let what = match &p.line {
                l if p.call.starts_with("rename") => {
                    let target = l.rsplit('"').nth(1).unwrap_or_default();
                    target.rsplit('/').next().unwrap_or_default().to_owned()
                }
                l if l.contains("transcript.jsonl") => "transcript".into(),
                l if l.contains("history.jsonl") => "history".into(),
                l if l.contains("events.jsonl") => "events".into(),
                l if l.contains("inflight.json") => "inflight".into(),
                l if l.contains("/.tmp-") && !l.contains(&format!("{}/.tmp-", scene.id)) => "new directory".into(),
                l if l.contains("/.tmp-") => "temporary".into(),
                l if l.contains("/sessions>") => "sessions".into(),
                l if l.contains(&format!("/{}>", scene.id)) => "directory".into(),
                _ => return None,
            };
            let call = match p.call.as_str() {
                "fsync" | "fdatasync" => "sync",
                "write" => "write",
                call if call.starts_with("rename") => "rename",
                call if call.starts_with("unlink") => "unlink",
                _ => return None,
            };
            Some(format!("{call} {what}"))
        })
        .collect()
}

#[test]
fn a_turn_is_begun_with_its_row_synced_first_its_record_second_and_the_directory_third() {
    if !trace::works() {
        return;
    }
    assert_eq!(
        steps(turns(), "begin"),
        [
            "write transcript",
            "sync transcript",
            "write temporary",
            "sync temporary",
            "rename session.json",
            "sync directory",
            "write events",
        ]
    );
    // a file that is new is in its directory before anything counts on it
    let first = steps(turns(), "begin, the first");
    assert_eq!(first[..3], ["write transcript", "sync transcript", "sync directory"]);
    assert_eq!(first[3..], steps(turns(), "begin")[2..]);
}

#[test]
fn an_end_is_committed_before_it_is_told_and_a_cut_comes_after_its_commit() {
    if !trace::works() {
        return;
    }
    let commit = [
        "write temporary",
        "sync temporary",
        "rename session.json",
        "sync directory",
    ];
    let end = steps(turns(), "end error, the 33rd");
    let expected = [
        &[
            "write transcript",
            "sync transcript",
            "write history",
            "sync history",
            "sync directory",
        ][..],
        &commit,
        &["unlink inflight"],
    ]
    .concat();
    assert_eq!(end[..expected.len()], expected);
    assert!(end[expected.len()..].iter().all(|s| s == "write events"), "{end:?}");
    let cut = [
        &commit[..],
        &[
            "write temporary",
            "sync temporary",
            "rename transcript.jsonl",
            "sync directory",
            "unlink inflight",
            "write events",
        ],
    ]
    .concat();
    assert_eq!(steps(turns(), "abort, unanswered"), cut);
}

#[test]
fn a_session_is_whole_and_synced_before_it_has_its_name() {
    if !trace::works() {
        return;
    }
    let fork = steps(sessions(), "fork");
    let named = fork.iter().position(|s| s == "sync sessions").unwrap();
    assert!(fork[named - 1].starts_with("rename "), "{fork:?}");
    let before: Vec<&str> = fork[..named - 1].iter().map(String::as_str).collect();
    // rows, then the record, then the directory that holds both
    assert_eq!(before.last(), Some(&"sync new directory"), "{fork:?}");
    assert!(
        before.contains(&"rename session.json") && before.contains(&"sync transcript"),
        "{fork:?}"
    );
    assert!(before.iter().all(|s| !s.ends_with("events")), "{fork:?}");
    assert_eq!(fork.last().map(String::as_str), Some("write events"));
}
