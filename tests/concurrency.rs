//! Many hooks at once: nothing lost, torn or left over.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod harness;

use harness::{Home, NOW, assert_silent, start};
use serde_json::json;
use std::collections::BTreeSet;
use std::process::Child;
use std::time::{Duration, Instant};

const WRITERS: usize = 64;

/// One hook of `session`; the call id makes each a different event.
fn hook(home: &Home, session: &str, call: usize) -> Child {
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": session, "cwd": "/w/app", "prompt_id": "t",
        "tool_name": "Bash", "tool_use_id": format!("u{call}"), "tool_input": {"command": format!("echo {call}")}});
    let mut command = home.ring("ring-hook", &["--agent", "claude-code"]);
    // 64 processes on a small machine may need longer than a hook's own second for their turn
    command.env("RING_LOCK_MS", "30000");
    start(&mut command, payload.to_string().as_bytes())
}

/// Every row is whole, no lock file too many, every event line whole.
fn assert_sound(home: &Home) {
    for (name, row) in home.rows() {
        assert_eq!(name, format!("{}.json", row["key"].as_str().unwrap()));
        assert_eq!(row["status"], "working", "{row}");
    }
    let locks = home
        .tree()
        .iter()
        .filter(|p| p.starts_with("state/status/.locks/"))
        .count();
    assert!(locks <= 64, "{locks} lock files");
    home.events();
}

#[test]
fn sixty_four_hooks_of_one_session_are_all_counted() {
    let home = Home::new();
    let children: Vec<_> = (0..WRITERS).map(|i| hook(&home, "one", i)).collect();
    for child in children {
        assert_silent(&child.wait_with_output().unwrap());
    }
    assert_sound(&home);
    let rows = home.rows();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].1["seq"], WRITERS);
    assert_eq!(home.leftovers(), [""; 0]);
    assert_eq!(home.events().len(), 1, "the status changed once");
}

#[test]
fn sixty_four_sessions_at_once_each_get_their_row() {
    let home = Home::new();
    let children: Vec<_> = (0..WRITERS).map(|i| hook(&home, &format!("session-{i}"), i)).collect();
    for child in children {
        assert_silent(&child.wait_with_output().unwrap());
    }
    assert_sound(&home);
    let rows = home.rows();
    assert_eq!(rows.len(), WRITERS);
    assert!(rows.iter().all(|(_, row)| row["seq"] == 1));
    assert_eq!(home.leftovers(), [""; 0]);
    let told: BTreeSet<_> = home
        .events()
        .iter()
        .map(|e| e["key"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(told.len(), WRITERS);
}

/// Busy time of a pseudo-random length below `limit`, so that a kill falls anywhere in a hook's short life.
fn linger(seed: &mut u64, limit: Duration) {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    let micros = (*seed >> 33) % (limit.as_micros() as u64);
    let until = Instant::now() + Duration::from_micros(micros);
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

#[test]
fn hooks_killed_at_random_tear_nothing_and_hold_up_nobody() {
    let mut seed = u64::from(std::process::id());
    for sessions in [1, WRITERS] {
        let home = Home::new();
        let mut finished = 0;
        let mut killed = 0;
        for round in 0..4 {
            let mut children: Vec<_> = (0..WRITERS)
                .map(|i| hook(&home, &format!("s{}", i % sessions), round * WRITERS + i))
                .collect();
            for child in children.iter_mut().step_by(2) {
                linger(&mut seed, Duration::from_micros(800));
                child.kill().unwrap();
            }
            for mut child in children {
                let status = child.wait().unwrap();
                match status.code() {
                    Some(code) => {
                        assert_eq!(code, 0);
                        finished += 1;
                    }
                    None => killed += 1,
                }
            }
        }
        assert_sound(&home);
        let applied: u64 = home.rows().iter().map(|(_, row)| row["seq"].as_u64().unwrap()).sum();
        assert!(
            applied >= finished,
            "{finished} hooks said done, {applied} events are in the rows"
        );
        assert!(applied <= finished + killed);
        assert!(
            home.leftovers().len() as u64 <= killed,
            "only the killed leave a temporary file"
        );
        let board = home.board_at(NOW);
        assert_eq!(board["sessions"].as_array().unwrap().len(), home.rows().len());
        assert_eq!(board["partial"], false);
        // nobody's lock outlives him
        assert_silent(&hook(&home, "s0", 100_000).wait_with_output().unwrap());
        let after: u64 = home.rows().iter().map(|(_, row)| row["seq"].as_u64().unwrap()).sum();
        assert_eq!(after, applied + 1);
    }
}

#[test]
fn boards_read_beside_writers_see_whole_rows() {
    let home = Home::new();
    for round in 0..6 {
        let children: Vec<_> = (0..16)
            .map(|i| hook(&home, &format!("s{}", i % 4), round * 16 + i))
            .collect();
        let board = home.board_at(NOW);
        assert_eq!(board["partial"], false);
        let hook_source = board["sources"]
            .as_array()
            .unwrap()
            .iter()
            .find(|s| s["name"] == "hook")
            .unwrap();
        assert!(hook_source["error"].as_str().unwrap().is_empty(), "{hook_source}");
        for child in children {
            assert_silent(&child.wait_with_output().unwrap());
        }
    }
    assert_sound(&home);
}
