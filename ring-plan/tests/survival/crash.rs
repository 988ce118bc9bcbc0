//! A command that is killed at its n-th call that changes the file system, for every command and every n: what is there
//! is what was or what will be, the command can be given again or is told that it is done, and after a restart what was
//! open is interrupted: nothing is replayed, and nothing is granted.

use crate::harness::{Home, str_of, text, tree};
use crate::scene::{Scene, deciding, executing, hooked, no_litter, proposing, rows, sound};
use crate::trace::{self, Point};
use std::collections::HashSet;
use std::os::unix::process::ExitStatusExt;

/// The code of a refusal, as people see it.
fn code(stderr: &[u8]) -> String {
    let text = text(stderr);
    let code = text.trim_end().rsplit_once(" [").and_then(|(_, c)| c.strip_suffix(']'));
    code.unwrap_or_default().to_owned()
}

fn give(scene: &Scene) -> std::process::Output {
    let words: Vec<&str> = std::iter::once("ring-plan")
        .chain(scene.args.iter().map(String::as_str))
        .collect();
    scene.home.run(&words, &scene.stdin)
}

/// What a command that was killed has left.
#[derive(PartialEq, Eq, Hash, Debug)]
enum Left {
    Old,
    /// A file under an artifact's name, and no row.
    Inert,
    New,
}

fn at_every_call(scene: &Scene) {
    let old = scene.find("before");
    let (out, points) = trace::outcome(&scene.home, &scene.args, &scene.stdin);
    match scene.refuses {
        Some(expected) => assert_eq!(code(&out.stderr), expected, "{}", scene.name),
        None => assert!(out.status.success(), "{}: {}", scene.name, text(&out.stderr)),
    }
    let new = scene.find("after");
    assert!(old != new, "{} does nothing", scene.name);
    assert!(
        points.iter().any(|p| p.call.starts_with("rename")),
        "{}: {points:?}",
        scene.name
    );
    let mut seen = HashSet::new();
    for point in &points {
        scene.reset();
        seen.insert(at(scene, point, (&old, &new)));
    }
    assert!(
        seen.contains(&Left::Old) && seen.contains(&Left::New),
        "{}: {seen:?}",
        scene.name
    );
    if scene.args[0] == "submit" {
        assert!(seen.contains(&Left::Inert), "{}: {seen:?}", scene.name);
    }
}

fn at(scene: &Scene, point: &Point, (old, new): (&crate::scene::Found, &crate::scene::Found)) -> Left {
    let home = &scene.home;
    let out = trace::kill(home, &scene.args, &scene.stdin, point);
    let what = format!("{} killed at {} {}: {}", scene.name, point.call, point.n, point.line);
    let killed = out.status.signal() == Some(9) || out.status.code() == Some(137);
    assert!(killed, "{what}: {:?} {}", out.status, text(&out.stderr));
    assert!(out.stdout.is_empty(), "{what}: told before it was done");
    // old or new, never half; and no file without its bytes
    let found = scene.find(&what);
    let between = (scene.between)(old, &found);
    assert!(
        found == *old || found == *new || between,
        "{what}: {found:?}\nold {old:?}\nnew {new:?}"
    );
    let files = scene.files(&what);
    let left = match () {
        () if found == *new => Left::New,
        () if !files.is_empty() && !scene.is_hook && scene.args[0] == "submit" => Left::Inert,
        () => Left::Old,
    };
    // it can be given again, or is told that it is done
    let out = give(scene);
    let again = match out.status.success() {
        true => None,
        false => Some(code(&out.stderr)),
    };
    match (&again, scene.again, scene.refuses) {
        (None, None, _) => {}
        (Some(said), Some(expected), _) if found != *old => assert_eq!(said, expected, "{what}, again"),
        (None, Some(_), None) => assert!(found == *old, "{what}, again"),
        (Some(said), _, Some(expected)) => assert_eq!(said, expected, "{what}, again"),
        _ => panic!("{what}, again: {again:?} {}", text(&out.stderr)),
    }
    let repeated = scene.find(&what);
    if !between {
        assert_eq!(repeated, *new, "{what}, again");
    }
    assert!(scene.files(&what).len() <= files.len() + 1, "{what}, again");
    restart(scene, &what);
    left
}

/// The machine starts again: what is open is interrupted.
fn restart(scene: &Scene, what: &str) {
    let home = &scene.home;
    let times = |home: &Home| std::fs::read_to_string(home.project().join("times")).unwrap_or_default();
    assert!(times(home).lines().count() <= 1, "{what}: ran twice");
    if !home.has_processes() {
        return;
    }
    let decided = |rows: &[serde_json::Value]| -> HashSet<String> {
        let rows = rows.iter().filter(|r| r["action"].is_string());
        rows.map(|r| format!("{} {}", str_of(&r["id"]), r["status"])).collect()
    };
    let (before, files) = (decided(&rows(home)), tree(&home.project()));
    home.boot("11111111");
    home.json(&["ring-session", "recover"], "");
    let record = home.record(&scene.id);
    assert!(
        record["turn"].is_null() && record["proposal"].is_null(),
        "{what}: {record}"
    );
    let rows = rows(home);
    sound(home, &rows, what);
    assert_eq!(decided(&rows), before, "{what}: nothing is granted by a restart");
    assert_eq!(tree(&home.project()), files, "{what}");
    for row in rows {
        let state = &row["execution"]["state"];
        assert!(
            row["status"] != "pending" && state != "queued" && state != "running",
            "{what}: {row}"
        );
    }
    no_litter(home, what);
}

fn each(scenes: Vec<Scene>) {
    if trace::works() {
        scenes.iter().for_each(at_every_call);
    }
}

#[test]
fn p55_what_is_proposed_survives_a_kill_at_any_call() {
    each(proposing());
}

#[test]
fn p17_p55_a_decision_is_whole_or_not_there_wherever_it_is_killed() {
    each(deciding());
}

#[test]
fn p37_p55_what_was_approved_survives_a_kill_at_any_call() {
    each(executing());
}

#[test]
fn p55_a_hooks_proposal_survives_a_kill_at_any_call() {
    each(hooked());
}
