//! A call that fails, for every command and every call that changes the file system: what was stays, the error says
//! which file, and the same command works when the disk does.

use crate::harness::{Home, feed, names, reply, text};
use crate::scene::{Found, Scene, all_told, compound, no_litter, requests, sessions, turns};
use crate::trace;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

const ERRORS: [&str; 4] = ["EIO", "ENOSPC", "EDQUOT", "EACCES"];

/// The files of the state directory that a failed command must not have changed. Lines of events are hints.
fn truth(home: &Home) -> Vec<(String, Vec<u8>)> {
    let is_hint = |name: &str| name.starts_with("events.") || name == "hook-errors.log";
    home.files().into_iter().filter(|(name, _)| !is_hint(name)).collect()
}

fn at_every_call(scene: &Scene) {
    let old = scene.find(&scene.home);
    let old_files = truth(&scene.home);
    let done = scene.copy();
    let points = trace::points(&done, &scene.args, &scene.stdin);
    let new = scene.find(&done);
    let is_hook = scene.args[0] == "hook";
    let is_run = scene.args[0] == "run";
    let mut refused = 0;
    for (place, point) in points.iter().enumerate() {
        let error = ERRORS[place % ERRORS.len()];
        // a disk stays full; but who writes no more cannot say so either, and who opens nothing reads nothing
        let stays = !is_run && !["write", "openat"].contains(&point.call.as_str());
        let home = scene.copy();
        let out = trace::fail(&home, &scene.args, &scene.stdin, point, error, stays);
        let what = format!(
            "{} with {error} at {} {}: {}",
            scene.name, point.call, point.n, point.line
        );
        let found = scene.find(&home);
        let said = text(&out.stderr);
        match out.status.code() {
            // a hint, or the tidying behind a commit
            Some(0) if !is_hook => assert_eq!(but_told(&found), but_told(&new), "{what}"),
            Some(0) => {
                let half = found == old || found == new || (scene.between)(&old, &found);
                assert!(half && out.stdout.is_empty() && said.is_empty(), "{what}: {said}");
                let log = fs::read_to_string(home.state().join("hook-errors.log")).unwrap_or_default();
                // where the log itself is out of reach there is nobody to tell
                assert!(
                    found == new || log.contains("IO") || error == "EACCES" || stays,
                    "{what}: {log}"
                );
            }
            Some(74) if !is_hook => {
                refused += 1;
                assert!(out.stdout.is_empty(), "{what}");
                assert!(
                    said.starts_with("ring-session: cannot ") && said.ends_with(" [IO]\n"),
                    "{what}: {said}"
                );
                assert!(
                    said.contains(&*home.state().to_string_lossy()),
                    "{what}: no path in {said}"
                );
                if is_run {
                    assert!(found == old || (scene.between)(&old, &found), "{what}: {found:?}");
                } else if point.call.starts_with("unlink") || (scene.between)(&old, &found) {
                    // what was set aside stays aside
                } else {
                    let same = truth(&home) == old_files;
                    assert!(same, "{what}: {:?}", changed(&old_files, &truth(&home)));
                }
            }
            status => panic!("{what}: {status:?} {said}"),
        }
        // it works when the disk does
        let args: Vec<&str> = scene.args.iter().map(String::as_str).collect();
        let failed = found == old && found != new;
        let again = home.feed(&args, &scene.stdin);
        let status = again.status.code().unwrap_or(-1);
        assert!(
            status == 0 || (!failed && [3, 4].contains(&status)),
            "{what}, again: {}",
            text(&again.stderr)
        );
        if failed {
            assert_eq!(scene.find(&home), new, "{what}, again");
        }
        home.json(&["recover"]);
        no_litter(&home, &what);
        all_told(&home, &what);
        home.check();
    }
    assert!(refused > 0 || is_hook, "{}: no call of it can fail it", scene.name);
}

/// A record without the list of ends whose line may be missing: it keeps what could not be told.
fn but_told(found: &Found) -> Found {
    let mut found = found.clone();
    if let Found::Record(record) = &mut found {
        record["unannounced"] = Value::Null;
    }
    found
}

fn changed(old: &[(String, Vec<u8>)], new: &[(String, Vec<u8>)]) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> = old.iter().chain(new).map(|(n, _)| n).collect();
    let of = |files: &[(String, Vec<u8>)], name: &String| files.iter().find(|(n, _)| n == name).map(|(_, b)| b.clone());
    names
        .into_iter()
        .filter(|n| of(old, n) != of(new, n))
        .map(|n| format!("{n}: {}", text(&of(new, n).unwrap_or_default())))
        .collect()
}

fn each(scenes: Vec<Scene>) {
    if trace::works() {
        scenes.iter().for_each(at_every_call);
    }
}

#[test]
fn s41_sessions_stay_as_they_were_where_a_call_fails() {
    each(sessions());
}

#[test]
fn s41_turns_and_rows_stay_as_they_were_where_a_call_fails() {
    each(turns());
}

#[test]
fn s41_requests_and_entries_stay_as_they_were_where_a_call_fails() {
    each(requests());
}

#[test]
fn s41_a_run_and_a_hook_entry_stay_as_they_were_where_a_call_fails() {
    each(compound());
}

#[test]
fn s41_an_end_that_cannot_be_stored_leaves_the_turn_live_and_announces_nothing() {
    if !trace::works() {
        return;
    }
    for error in ERRORS {
        let scene = turns().into_iter().find(|s| s.name == "end completed").unwrap();
        let points = trace::points(&scene.copy(), &scene.args, &scene.stdin);
        let rename = points.iter().find(|p| p.line.contains("session.json")).unwrap();
        let home = scene.copy();
        let before = home.events();
        let out = trace::fail(&home, &scene.args, &scene.stdin, rename, error, false);
        assert_eq!(out.status.code(), Some(74));
        assert_eq!(scene.find(&home), scene.find(&scene.home));
        assert_eq!(home.events(), before);
        let Found::Record(record) = scene.find(&home) else {
            panic!()
        };
        assert!(record["turn"].is_object());
    }
}

#[test]
fn s41_a_run_whose_end_cannot_be_stored_tries_three_times_and_does_not_run_again() {
    if !trace::works() {
        return;
    }
    let scene = compound().into_iter().find(|s| s.name == "run").unwrap();
    let points = trace::points(&scene.copy(), &scene.args, &scene.stdin);
    // the second replacement of the record is the end
    let end = points
        .iter()
        .filter(|p| p.line.contains("session.json"))
        .nth(1)
        .unwrap();
    let home = scene.copy();
    home.at(None);
    let script = "cat >/dev/null; echo ran >> times".to_owned();
    let args = [&scene.args[..3], &["sh".into(), "-c".into(), script]].concat();
    let out = trace::fail(&home, &args, &scene.stdin, end, "ENOSPC", true);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(74), "{said}");
    assert!(said.contains("session.json") && said.ends_with(" [IO]\n"), "{said}");
    assert_eq!(fs::read_to_string(home.path().join("times")).unwrap(), "ran\n");
    let record = home.record(&scene.id);
    assert_eq!(
        record["turn"]["origin"], "run",
        "live until its end is stored or recovered"
    );
    assert!(
        home.events_of("turn_ended")
            .iter()
            .all(|e| e["turn_id"] != record["turn"]["id"])
    );
    home.json(&["recover"]);
    let healed = home.record(&scene.id);
    assert_eq!(healed["turns"][1]["status"], "aborted");
    assert_eq!(healed["notifications"], record["notifications"]);
    home.check();
}

/// Everybody but root is kept out of a directory that may not be written.
#[test]
fn s41_a_directory_that_may_not_be_written_is_io_and_works_later() {
    let home = Home::new();
    let id = home.new_session();
    let turn = home.begin(&id, "x");
    let root = fs::metadata(home.path()).unwrap().uid() == 0;
    if root
        && !home
            .command("setpriv")
            .arg("--version")
            .output()
            .is_ok_and(|o| o.status.success())
    {
        eprintln!("skipped: root, and no setpriv");
        return;
    }
    // root becomes somebody else, who owns the files
    let program = home.path().join("ring-session");
    fs::copy(env!("CARGO_BIN_EXE_ring-session"), &program).unwrap();
    fresh(&program);
    let run = |args: &[&str], stdin: &str| {
        let mut command = match root {
            true => home.command("setpriv"),
            false => home.command(&program),
        };
        if root {
            command
                .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
                .arg(&program);
        }
        feed(command.args(args), stdin.as_bytes())
    };
    if root {
        let all = home
            .command("chown")
            .args(["-R", "65534:65534"])
            .arg(home.path())
            .status();
        assert!(all.unwrap().success());
    }
    let allow =
        |path: &std::path::Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let dir = home.sessions().join(&id);
    allow(&dir, 0o500);
    allow(&home.sessions(), 0o500);
    let before = truth(&home);
    let commands: [&[&str]; 6] = [
        &["end", &id, "--turn", &turn, "completed"],
        &["abort", &id],
        &["queue", "push", &id, "later"],
        &["append", &id, "--turn", &turn, "--checkpoint"],
        &["new"],
        &["delete", &id, "--force"],
    ];
    for command in commands {
        let out = run(command, &reply("r", "text"));
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(74), "{command:?}: {said}");
        assert!(said.contains("ermission denied") && said.ends_with(" [IO]\n"), "{said}");
        assert_eq!(truth(&home), before, "{command:?}");
    }
    assert_eq!(
        run(&["show", &id], "").status.code(),
        Some(0),
        "readers need no leave to write"
    );
    allow(&home.sessions(), 0o700);
    allow(&dir, 0o700);
    for command in commands.iter().take(1).chain(&commands[2..3]).chain(&commands[4..]) {
        let out = run(command, "");
        assert_eq!(out.status.code(), Some(0), "{command:?}: {}", text(&out.stderr));
    }
    assert!(!names(&home.sessions()).contains(&id));
}

/// The same program in a file that only another process has written: while this one had it open, a child that another
/// test has just started may hold it open, too, and the system then refuses to run it.
fn fresh(path: &std::path::Path) {
    let copy = "cp -p \"$0\" \"$0.new\" && mv \"$0.new\" \"$0\"";
    let done = std::process::Command::new("sh").args(["-c", copy]).arg(path).status();
    assert!(done.unwrap().success());
}
