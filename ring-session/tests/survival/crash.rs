//! A command that is killed at its n-th call that changes the file system, for every command and every n: what is there
//! is what was or what will be, `recover` heals, and the command can be given again.

use crate::harness::{Home, list, text};
use crate::scene::{Found, Scene, all_told, compound, no_litter, requests, sessions, turns};
use crate::trace;
use ring_session::work::Here;
use ring_session::{StateDir, Store};
use serde_json::Value;
use std::collections::HashSet;
use std::os::unix::process::ExitStatusExt;

/// Ids of a session's rows, as a reader sees them.
fn rows(home: &Home, id: &str) -> Vec<String> {
    let store = Store::new(StateDir::at(home.state()), Here::real(crate::harness::NOW));
    let rows = store.rows(id).unwrap_or_default();
    rows.into_iter().map(|r| r.id).collect()
}

/// Everything that a reader does works.
fn readable(home: &Home, what: &str) {
    let out = home.run(&["--format", "json", "list"]);
    assert!(out.status.success(), "{what}: {}", text(&out.stderr));
    for id in crate::harness::names(&home.sessions()) {
        if !id.starts_with('.') && home.file(&id, "session.json").exists() {
            let found = serde_json::from_slice::<Value>(&home.bytes(&id));
            if found.is_ok() {
                crate::harness::check(&home.sessions().join(&id));
            }
        }
    }
}

fn at_every_call(scene: &Scene) {
    let old = scene.find(&scene.home);
    let (old_rows, old_names) = (
        rows(&scene.home, &scene.id),
        crate::harness::names(&scene.home.sessions()),
    );
    let done = scene.copy();
    let points = trace::points(&done, &scene.args, &scene.stdin);
    let new = scene.find(&done);
    let new_rows = rows(&done, &scene.id).len();
    assert!(points.len() > 3, "{}: {points:?}", scene.name);
    assert!(points.iter().any(|p| p.call.starts_with("rename")), "{}", scene.name);
    let mut seen = HashSet::new();
    for point in &points {
        let home = scene.copy();
        let out = trace::kill(&home, &scene.args, &scene.stdin, point);
        let what = format!("{} killed at {} {}: {}", scene.name, point.call, point.n, point.line);
        let killed = out.status.signal() == Some(9) || out.status.code() == Some(137);
        assert!(killed, "{what}: {:?} {}", out.status, text(&out.stderr));
        // old or new, never half
        readable(&home, &what);
        let found = scene.find(&home);
        let whole = found == old || found == new || (scene.between)(&old, &found);
        assert!(whole, "{what}: {found:?}\nold {old:?}\nnew {new:?}");
        seen.insert(found == old);
        let now = rows(&home, &scene.id);
        if now.len() >= old_rows.len() {
            assert_eq!(now[..old_rows.len()], old_rows, "{what}");
        } else {
            // only a cut and a deletion take rows away
            assert_eq!(now.len(), new_rows, "{what}");
        }
        one_place(&found, &what);
        // healed, and nothing is left
        let out = home.run(&["--format", "json", "recover"]);
        assert!(out.status.success(), "{what}: {}", text(&out.stderr));
        readable(&home, &what);
        no_litter(&home, &what);
        all_told(&home, &what);
        let names = crate::harness::names(&home.sessions());
        let made = names.iter().filter(|n| !old_names.contains(n)).count();
        assert!(made <= 1 && names.len() + 1 >= old_names.len(), "{what}: {names:?}");
        // and the command can be given again, or is told that it is done
        let healed = scene.find(&home);
        let args: Vec<&str> = scene.args.iter().map(String::as_str).collect();
        let out = home.feed(&args, &scene.stdin);
        let status = out.status.code().unwrap_or(-1);
        let fine = status == 0 || (healed != old && [3, 4].contains(&status));
        assert!(fine, "{what}, again: {}", text(&out.stderr));
        readable(&home, &what);
        no_litter(&home, &what);
        all_told(&home, &what);
    }
    assert!(seen.contains(&true), "{}: killed before its commit", scene.name);
}

/// S46: an entry is in the queue or in the live turn.
fn one_place(found: &Found, what: &str) {
    let Some(record) = found.record() else { return };
    let entries: Vec<String> = list(&record["queue"]["entries"])
        .iter()
        .map(|e| e["content"].to_string())
        .collect();
    if record["turn"]["origin"] == "queue" {
        assert_eq!(entries, ["\"two\"", "\"three\""], "{what}");
    } else if entries.first().is_some_and(|e| e == "\"two\"") {
        panic!("{what}: an entry is lost: {record}");
    }
}

fn each(scenes: Vec<Scene>) {
    if trace::works() {
        scenes.iter().for_each(at_every_call);
    }
}

#[test]
fn s57_s38_sessions_are_made_changed_removed_and_healed_whole_or_not_at_all() {
    each(sessions());
}

#[test]
fn s26_s33_s38_turns_and_rows_survive_a_kill_at_any_call() {
    each(turns());
}

#[test]
fn s46_s38_requests_and_entries_survive_a_kill_at_any_call() {
    each(requests());
}

#[test]
fn s34_s38_a_run_and_a_hook_entry_survive_a_kill_at_any_call() {
    each(compound());
}
