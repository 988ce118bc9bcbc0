//! A call that fails, for every command and every call that changes the file system: what was stays, nothing is granted,
//! no file has an artifact's name, the refusal has its code, and the same command works when the disk does.

use crate::harness::{Home, exit_plan, str_of, text};
use crate::scene::{Scene, deciding, executing, hooked, proposing};
use crate::trace::{self, Point};
use serde_json::json;

const ERRORS: [&str; 4] = ["EIO", "ENOSPC", "EDQUOT", "EACCES"];

/// Codes of what the system refused: all of them leave with 74.
const CODES: [&str; 3] = ["IO", "PLAN_ARTIFACT_WRITE_FAILED", "PLAN_SUBMIT_FAILED"];

fn at_every_call(scene: &Scene) {
    let old = scene.find("before");
    scene.reset();
    let before = scene.truth();
    let (_, points) = trace::outcome(&scene.home, &scene.args, &scene.stdin);
    let new = scene.find("after");
    let mut refused = 0;
    for (n, point) in points.iter().enumerate() {
        for (place, error) in ERRORS.into_iter().enumerate() {
            // where most is at stake every error at every call, elsewhere two of them in turn
            if !scene.is_thorough() && (place + n) % 2 == 1 {
                continue;
            }
            scene.reset();
            // once the disk is full, it stays full; but who can write nothing cannot say so either
            let stays = place == 1 && !["write", "openat"].contains(&point.call.as_str()) && scene.args[0] != "run";
            refused += usize::from(at(scene, point, error, stays, (&old, &new, &before)));
        }
    }
    assert!(
        refused > 0 || scene.is_hook,
        "{}: no call of it can fail it",
        scene.name
    );
}

type Was<'a> = (
    &'a crate::scene::Found,
    &'a crate::scene::Found,
    &'a Vec<(std::path::PathBuf, Vec<u8>)>,
);

/// Whether the failure was told.
fn at(scene: &Scene, point: &Point, error: &str, stays: bool, (old, new, before): Was) -> bool {
    let out = trace::fail(&scene.home, &scene.args, &scene.stdin, point, error, stays);
    let what = format!(
        "{} with {error} at {} {}: {}",
        scene.name, point.call, point.n, point.line
    );
    let said = text(&out.stderr);
    let found = scene.find(&what);
    let whole = found == *old || but_told(&found) == but_told(new);
    let between = (scene.between)(old, &found);
    let files = scene.files(&what);
    let own = |code: &&str| said.ends_with(&format!(" [{code}]\n"));
    let is_refusal = scene.refuses.is_some_and(|code| own(&code)) && but_told(&found) == but_told(new);
    let told = match out.status.code() {
        // an entry of an agent: nothing is said, and nothing is half
        Some(0) if scene.is_hook => {
            assert!(
                whole && out.stdout.is_empty() && said.is_empty(),
                "{what}: {found:?} {said}"
            );
            assert!(found != *old || files.is_empty(), "{what}: {files:?}");
            false
        }
        // a hint, or the tidying behind a commit
        Some(0) => {
            assert_eq!(but_told(&found), but_told(new), "{what}");
            false
        }
        _ if is_refusal => false,
        Some(74) => {
            assert!(CODES.iter().any(own), "{what}: {said}");
            assert!(out.stdout.is_empty(), "{what}");
            assert!(found == *old || between, "{what}: {found:?}");
            // what cannot be unlinked stays: whole, or under a dot's name
            if !between && !point.call.starts_with("unlink") {
                let dots =
                    |path: &std::path::Path| path.file_name().unwrap().to_string_lossy().starts_with(".ring-plan-");
                let now = scene.truth();
                let other: Vec<_> = now.iter().filter(|f| !before.contains(f) && !dots(&f.0)).collect();
                assert!(other.is_empty(), "{what}: {other:?} {said}");
                assert!(before.iter().all(|f| now.contains(f)), "{what}: something is gone");
            }
            true
        }
        status => panic!("{what}: {status:?} {said}"),
    };
    // it works when the disk does
    if found == *old {
        let words: Vec<&str> = std::iter::once("ring-plan")
            .chain(scene.args.iter().map(String::as_str))
            .collect();
        let again = scene.home.run(&words, &scene.stdin);
        let expected = if scene.refuses.is_some() { Some(74) } else { Some(0) };
        assert_eq!(again.status.code(), expected, "{what}, again: {}", text(&again.stderr));
        assert_eq!(scene.find(&what), *new, "{what}, again");
    }
    told
}

/// Without the list of ends whose line may be missing: it keeps what could not be told.
fn but_told(found: &crate::scene::Found) -> crate::scene::Found {
    let mut found = found.clone();
    found.record["unannounced"] = json!(null);
    found
}

fn each(scenes: Vec<Scene>) {
    if trace::works() {
        scenes.iter().for_each(at_every_call);
    }
}

/// The n-th call of a kind whose line, as strace prints it, has a word.
fn nth(home: &Home, args: &[String], call: &str, word: &str) -> Point {
    let log = home.path("calls");
    let words = [
        "strace",
        "-y",
        "-s",
        "0",
        "-o",
        log.to_str().unwrap(),
        "-e",
        &format!("trace={call}"),
        crate::place::PROGRAM,
    ];
    let args: Vec<&str> = words.into_iter().chain(args.iter().map(String::as_str)).collect();
    home.run(&args, "");
    let lines = std::fs::read_to_string(log).unwrap();
    let at = lines
        .lines()
        .position(|l| l.contains(word))
        .unwrap_or_else(|| panic!("no {word}: {lines}"));
    Point {
        call: call.to_owned(),
        n: at + 1,
        line: lines.lines().nth(at).unwrap().to_owned(),
    }
}

#[test]
fn p56_an_artifact_that_cannot_be_read_is_neither_approved_nor_begun() {
    if !trace::works() {
        return;
    }
    let home = Home::new();
    for kind in crate::harness::KINDS {
        for call in ["openat", "read"] {
            for error in ["EIO", "EACCES"] {
                let (s, p) = home.proposed(kind);
                let path = str_of(&home.show(&p)["artifact"]["path"]);
                let name = path.rsplit('/').next().unwrap();
                let args = ["approve", &p, "--permission", "ask"].map(str::to_owned);
                // on a trial the mode is another one, which is noticed behind the look at the file
                home.edit(&s.id, |r| r["mode"] = json!("agent"));
                let point = nth(&home, &args, call, name);
                home.edit(&s.id, |r| r["mode"] = json!(kind));
                let before = home.record(&s.id);
                let out = trace::fail(&home, &args, b"", &point, error, false);
                let said = text(&out.stderr);
                assert_eq!(out.status.code(), Some(74), "{name} {call} {error}: {said}");
                assert!(said.ends_with(" [PLAN_ARTIFACT_NOT_READY]\n"), "{said}");
                assert_eq!(home.record(&s.id), before);
                home.approve(&p, "ask");
            }
        }
    }
}

#[test]
fn p60_a_waiter_on_a_full_disk_is_silent_and_leaves_the_question_to_the_agent() {
    if !trace::works() {
        return;
    }
    let home = Home::new();
    home.silent("UserPromptSubmit", "plan", json!({"prompt": "plan it"}));
    home.silent("PreToolUse", "plan", exit_plan("toolu_1"));
    let p = str_of(&home.record("claude-code-s1")["proposal"]["id"]);
    let payload = home
        .payload("PermissionRequest", "plan", exit_plan("toolu_1"))
        .into_bytes();
    let args = ["hook", "--agent", "claude-code", "--wait", "50ms"].map(str::to_owned);
    let points = trace::points(&home, &args, &payload);
    assert!(points.iter().any(|p| p.call.starts_with("rename")), "{points:?}");
    for point in points {
        for on in [false, true] {
            let out = trace::fail(&home, &args, &payload, &point, "ENOSPC", on);
            assert_eq!(
                (out.status.code(), text(&out.stdout)),
                (Some(0), String::new()),
                "{point:?}"
            );
            assert_eq!(text(&out.stderr), "", "{point:?}");
            let row = home.show(&p);
            assert_eq!(
                (&row["status"], &row["action"]),
                (&json!("pending"), &json!(null)),
                "{point:?}"
            );
            assert_eq!(home.record("claude-code-s1")["mode"], "plan");
            // nobody waits any more, so nothing is decided here
            let words = ["ring-plan", "approve", &p, "--permission", "ask"];
            let error = home.refused("PLAN_APPROVAL_STALE", &words, "");
            assert_eq!(error["details"]["reason"], "no_waiter", "{point:?}");
        }
    }
}

#[test]
fn p56_a_proposal_whose_storing_fails_leaves_no_row_no_name_and_no_folder() {
    each(proposing());
}

#[test]
fn p56_a_decision_that_cannot_be_stored_decides_nothing() {
    each(deciding());
}

#[test]
fn p56_an_execution_stays_as_it_was_where_a_call_fails() {
    each(executing());
}

#[test]
fn p56_p60_a_hook_is_silent_and_grants_nothing_where_a_call_fails() {
    each(hooked());
}
