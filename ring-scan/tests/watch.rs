//! `watch` against real files, pipes and signals.
#![allow(clippy::unwrap_used)]

mod world;

use ring_session::time::now_ms;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};
use world::World;

/// So long that only a file event can be the reason.
const NEVER: &str = "1h";

fn told(line: &Value) -> [&str; 4] {
    ["type", "key", "from", "to"].map(|k| line[k].as_str().unwrap())
}

#[test]
fn c56_a_snapshot_then_one_line_a_change() {
    let world = World::new();
    world.row("a", "working", now_ms() - 5000, json!({}));
    let mut watch = world.start(&["watch", "--format", "jsonl", "--interval", NEVER]);
    assert_eq!(told(&watch.json()), ["snapshot", "generic:a", "", "working"]);
    world.row("a", "waiting", now_ms(), json!({}));
    let asked = watch.json();
    assert_eq!(told(&asked), ["changed", "generic:a", "working", "waiting"]);
    assert_eq!(asked["session"]["waiting"]["detail"], "Bash: git push origin main");
    assert!(asked["ms"].as_i64().unwrap() > 0);
    world.row("b", "idle", now_ms() - 1000, json!({}));
    assert_eq!(told(&watch.json()), ["added", "generic:b", "", "idle"]);
    world.row("a", "waiting", now_ms(), json!({"last_action":"no news"}));
    world.remove_row("b");
    assert_eq!(told(&watch.json()), ["removed", "generic:b", "idle", "ended"]);
    watch.signal("INT");
    assert_eq!(watch.end().code(), Some(0));
    assert_eq!(watch.line(), "");
}

#[test]
fn c56_an_interrupt_ends_with_0_and_a_kill_with_its_signal() {
    let world = World::new();
    for (name, code, signal) in [("INT", Some(0), None), ("TERM", None, Some(15)), ("HUP", None, Some(1))] {
        let mut watch = world.start(&["watch", "--format", "oneline", "--interval", NEVER]);
        assert_eq!(watch.line(), "");
        watch.signal(name);
        let end = watch.end();
        assert_eq!((end.code(), end.signal()), (code, signal), "{name}");
    }
}

#[test]
fn c56_count_ends_it() {
    let world = World::new();
    world.row("a", "idle", now_ms() - 5000, json!({}));
    let one = world.scan(&["watch", "--count", "1", "--format", "jsonl"]);
    assert_eq!((one.status, one.out.lines().count()), (0, 1));
    let mut watch = world.start(&["--watch", "--count", "3", "--format", "oneline", "--interval", NEVER]);
    assert_eq!(watch.line(), "🟡1");
    world.row("b", "working", now_ms(), json!({}));
    assert_eq!(watch.line(), "🟢1 🟡1");
    world.row("b", "waiting", now_ms(), json!({}));
    assert_eq!(watch.line(), "🔴1 🟡1");
    assert_eq!(watch.end().code(), Some(0));
    assert_eq!(watch.line(), "");
}

#[test]
fn c56_a_reader_that_goes_away_ends_it_at_rest_too() {
    let world = World::new();
    world.row("a", "idle", now_ms() - 5000, json!({}));
    let mut command = world.command(&["watch", "--format", "jsonl", "--interval", NEVER]);
    let mut child = command
        .env_remove("RING_NOW_MS")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert!(line.contains("snapshot"), "{line}");
    drop(out);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn blocks_are_printed_again_only_if_more_than_an_age_has_changed() {
    let world = World::new();
    world.row("a", "idle", now_ms() - 5000, json!({"title":"first"}));
    let mut watch = world.start(&["watch", "--interval", "100ms"]);
    assert_eq!(watch.line(), "1 session · none waits for you");
    assert!(watch.line().ends_with("first"));
    world.row("a", "idle", now_ms() - 5000, json!({"title":"second"}));
    assert_eq!(watch.line(), "");
    assert_eq!(watch.line(), "1 session · none waits for you");
    assert!(watch.line().ends_with("second"));
}

#[test]
fn c77_the_idle_moment_before_a_queued_turn_is_not_printed() {
    let world = World::new();
    world.row("a", "working", now_ms() - 5000, json!({}));
    let mut watch = world.start(&["watch", "--format", "jsonl", "--interval", NEVER]);
    watch.json();
    for turn in 0..5 {
        let began = Instant::now();
        world.row("a", "idle", now_ms(), json!({}));
        // rows that come in between wake it: it looks, and prints nothing but them, unless the test itself is too slow
        let mut until = |id: String| {
            world.row(&id, "idle", now_ms() - 9000, json!({}));
            loop {
                let line = watch.json();
                if line["key"] == format!("generic:{id}") {
                    return;
                }
                assert!(began.elapsed() >= Duration::from_millis(300), "{line}");
            }
        };
        until(format!("b{turn}"));
        world.row("a", "working", now_ms(), json!({}));
        until(format!("c{turn}"));
    }
    // an end that stays is printed by a timer, long before the interval
    world.row("a", "idle", now_ms(), json!({}));
    assert_eq!(told(&watch.json()), ["changed", "generic:a", "working", "idle"]);
}

#[test]
fn a_state_directory_that_is_made_later_is_seen() {
    let world = World::new();
    let mut watch = world.start(&["watch", "--format", "oneline", "--interval", "200ms"]);
    assert_eq!(watch.line(), "");
    world.row("a", "working", now_ms(), json!({}));
    assert_eq!(watch.line(), "🟢1");
    world.row("b", "waiting", now_ms(), json!({}));
    assert_eq!(watch.line(), "🔴1 🟢1");
}

fn iso(ms: i64) -> String {
    let days = ms / 86_400_000;
    // days since 1970 as a date (proleptic Gregorian)
    let z = days + 719_468;
    let era = z / 146_097;
    let doe = z % 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (d, m) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    let y = yoe + era * 400 + i64::from(m <= 2);
    let s = ms / 1000 % 86_400;
    format!(
        "{y:04}-{m:02}-{d:02}T{:02}:{:02}:{:02}.{:03}Z",
        s / 3600,
        s / 60 % 60,
        s % 60,
        ms % 1000
    )
}

fn prompt(id: &str, ms: i64) -> String {
    json!({"type":"user","uuid":"u1","parentUuid":null,"isSidechain":false,"sessionId":id,"cwd":"/w/app","timestamp":iso(ms),
        "message":{"role":"user","content":"do it"}}).to_string()
}

fn answer(id: &str, ms: i64) -> String {
    json!({"type":"assistant","uuid":"a1","parentUuid":"u1","isSidechain":false,"sessionId":id,"cwd":"/w/app","timestamp":iso(ms),
        "message":{"role":"assistant","id":"m1","model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"Done."}]}}).to_string()
}

#[test]
fn transcripts_and_processes_are_seen_by_the_next_poll() {
    let world = World::new();
    let id = "6ad3cf2b-1111-4222-8333-444455556666";
    let transcript = world.claude(4242, id);
    world.append(&transcript, &prompt(id, now_ms() - 5000));
    let mut watch = world.start(&["watch", "--format", "jsonl", "--interval", "200ms"]);
    let key = format!("claude-code:{id}");
    assert_eq!(told(&watch.json()), ["snapshot", &key, "", "working"]);
    // two more looks, after which it listens to all that there is; then a line that no registry tells of
    for other in ["b", "c"] {
        world.row(other, "idle", now_ms() - 9000, json!({}));
        assert_eq!(watch.json()["type"], "added");
    }
    world.append(&transcript, &answer(id, now_ms() - 1000));
    assert_eq!(told(&watch.json()), ["changed", &key, "working", "idle"]);
    std::fs::remove_dir_all(world.path("proc/4242")).unwrap();
    assert_eq!(told(&watch.json()), ["removed", &key, "idle", "ended"]);
}

#[test]
fn c46_rows_of_a_source_that_fails_stay_and_it_is_named_once() {
    let world = World::new();
    let id = "6ad3cf2b-1111-4222-8333-444455556666";
    let transcript = world.claude(4242, id);
    world.append(&transcript, &prompt(id, now_ms() - 5000));
    let mut watch = world.start(&["watch", "--format", "jsonl", "--interval", "100ms"]);
    assert_eq!(told(&watch.json())[0], "snapshot");
    // a link that leads to itself cannot be listed, not even by root
    std::fs::remove_dir_all(world.path("home/.claude/projects")).unwrap();
    std::os::unix::fs::symlink("projects", world.path("home/.claude/projects")).unwrap();
    for other in ["b", "c"] {
        world.row(other, "idle", now_ms() - 9000, json!({}));
        assert_eq!(
            told(&watch.json())[..2],
            ["added", &format!("generic:{other}")],
            "nothing else has changed"
        );
    }
    let board = world.scan(&["--format", "json"]);
    assert_eq!((board.status, board.err.lines().count()), (0, 1), "{}", board.err);
    let board = board.json();
    assert_eq!(board["partial"], true);
    let claude = board["sources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["name"] == "claude")
        .unwrap();
    assert_eq!(claude["state"], "failed");
    assert!(world.scan(&[]).out.lines().last().unwrap().starts_with("! claude: "));
    watch.signal("INT");
    assert_eq!(watch.end().code(), Some(0));
    assert_eq!(watch.errors().lines().count(), 1, "once, however often it is read");
}
