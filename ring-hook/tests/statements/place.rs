//! Process, host and terminal, and what is told of a change.

use super::notation::{Session, after};
use ring_hook::advance::Facts;
use ring_hook::row::{Process, Term};
use serde_json::Value;

fn at(pid: u32, start_ticks: u64) -> Option<Process> {
    Some(Process {
        pid,
        start_ticks,
        name: "claude".into(),
        ..Process::default()
    })
}

#[test]
fn h52_a_start_from_another_process_drops_what_the_old_one_left() {
    let first = Session::of("claude-code")
        .facts(|f| f.process = at(10, 1))
        .then("Start Prompt#1 D#1 Note(permission_prompt)^a Perm(Bash x)^b");
    for (pid, ticks) in [(11, 1), (10, 2)] {
        let first = Session {
            row: first.row.clone(),
            ..Session::of("claude-code")
        };
        let moved = first
            .facts(|f| f.process = at(pid, ticks))
            .then("+60 Start")
            .shows("working | 0");
        let row = moved.row();
        assert_eq!(row.process, at(pid, ticks));
        assert!(row.turns.is_empty() && row.pending.is_empty() && row.children.is_empty());
        let lost = moved.facts(|f| *f = Facts::default()).then("+60 Start Prompt(b)");
        assert_eq!(lost.row().process, at(pid, ticks), "a failed lookup changes nothing");
    }
}

#[test]
fn h76_a_server_lends_no_pane() {
    let term = Term {
        tmux_pane: "%7".into(),
        tmux_socket: "/tmp/t".into(),
        ..Term::default()
    };
    let server = Session::of("codex")
        .facts(|f| {
            f.process = at(10, 1).map(|p| Process { server: true, ..p });
            f.term = term.clone();
        })
        .then("Prompt#1");
    assert_eq!(server.row().term, Term::default());
    let client = Session::of("codex")
        .facts(|f| f.term = term.clone())
        .then("Prompt#1 Pre(Bash x)^a#1");
    assert_eq!(client.row().term, term);
    assert_eq!(
        client.facts(|f| f.term = Term::default()).then("Start").row().term,
        Term::default()
    );
}

#[test]
fn a_change_of_status_or_waits_is_one_line_and_no_other_event_is() {
    let lines = |events: &str| -> Vec<Value> {
        let played = after(events);
        let lines = played.outcomes.iter().filter_map(|o| o.line.as_ref());
        lines.map(|l| serde_json::from_str(l.as_str()).unwrap()).collect()
    };
    let all = lines(
        "Prompt(SECRET) Pre(Bash SECRET) Note(permission_prompt|SECRET) +1 Note(permission_prompt|SECRET2) Post(Bash x) D D{\"cwd\":\"/x\"} End",
    );
    let steps: Vec<_> = all
        .iter()
        .map(|l| {
            (
                l["from"].as_str().unwrap(),
                l["to"].as_str().unwrap(),
                l["waits"].as_array().unwrap().len(),
            )
        })
        .collect();
    assert_eq!(
        steps,
        [
            ("", "working", 0),
            ("working", "waiting", 1),
            ("waiting", "waiting", 1),
            ("waiting", "working", 0),
            ("working", "idle", 0),
            ("idle", "ended", 0)
        ]
    );
    let wait = &all[1];
    assert!(!wait.to_string().contains("SECRET"), "ids and codes only: {wait}");
    for (name, value) in [
        ("kind", "status"),
        ("key", "claude-code:s"),
        ("agent", "claude-code"),
        ("project", "/w/app"),
        ("rule", "notify_prompt"),
    ] {
        assert_eq!(wait[name], value);
    }
    assert_eq!(wait["waits"][0]["owner"], "foreground");
    assert_eq!(
        (wait["schema"].as_i64(), wait["at_ms"].as_i64()),
        (Some(1), Some(1_800_000_000_000))
    );
}
