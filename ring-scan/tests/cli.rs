//! The command line: mistakes, filters, ids, exit statuses, closed outputs.
#![allow(clippy::unwrap_used)]

mod world;

use serde_json::json;
use std::process::{Command, Stdio};
use world::{NOW, World, with_stdin};

#[test]
fn c76_mistakes_are_64_with_a_code_and_an_empty_stdout() {
    let world = World::new();
    for args in [
        &["--nope"][..],
        &["--format", "html"],
        &["--format", "xml"],
        &["--status", "sleeping"],
        &["--sort", "colour"],
        &["--limit", "-1"],
        &["watch", "--interval", "soon"],
        &["watch", "--interval", "-1"],
        &["watch", "--interval", "0"],
        &["watch", "--interval", "1ms"],
        &["watch", "--interval", "2h"],
        &["watch", "--count", "0"],
        &["--interval", "3"],
        &["watch", "--format", "json"],
        &["--watch", "--exit-status"],
        &["--host=-oX"],
        &["--host", "a b"],
        &["show"],
        &["show", "a", "b"],
        &["show", "--format", "tsv", "abcd"],
        &["--all", "doctor"],
        &["frobnicate"],
        &["completions", "tcsh"],
        &["config", "get"],
    ] {
        let human = world.scan(args);
        assert_eq!(human.status, 64, "{args:?}: {}", human.err);
        assert_eq!(human.out, "", "{args:?}");
        assert!(
            human.err.starts_with('{') || human.err.trim_end().ends_with("[INVALID_ARGUMENT]"),
            "{}",
            human.err
        );
        assert_eq!(human.err.lines().count(), 1, "{}", human.err);
    }
    assert_eq!(world.scan(&["--format", "json", "--nope"]).code(), "INVALID_ARGUMENT");
    assert_eq!(
        world.scan(&["--format", "json", "--limit", "x"]).code(),
        "INVALID_ARGUMENT"
    );
    assert_eq!(
        world.scan(&["--format", "json", "show", "nobody"]).code(),
        "SESSION_NOT_FOUND"
    );
}

#[test]
fn help_version_and_completions_are_successes() {
    let world = World::new();
    let help = world.scan(&["--help"]);
    assert_eq!((help.status, help.err.as_str()), (0, ""));
    assert!(help.out.find("Examples:") < help.out.find("Usage:"));
    assert!(world.scan(&["-V"]).out.starts_with("ring-scan "));
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            world.scan(&["completions", shell]).out.contains("exit-status"),
            "{shell}"
        );
    }
}

#[test]
fn nothing_on_the_machine_is_one_line_that_says_what_to_do() {
    let world = World::new();
    let empty = world.scan(&[]);
    assert_eq!(
        (empty.status, empty.err.as_str(), empty.out.lines().count()),
        (0, "", 1)
    );
    assert!(
        empty.out.contains("start an agent") && empty.out.contains("ring-hook install"),
        "{}",
        empty.out
    );
    assert!(!world.path("state").exists(), "a reader makes no folder");
    let nowhere = world::ran(
        world
            .command(&[])
            .env_remove("HOME")
            .env("TMPDIR", world.path("tmp"))
            .env_remove("RING_STATE_DIR")
            .env_remove("RING_CONFIG"),
    );
    assert_eq!((nowhere.status, nowhere.out.lines().count()), (0, 1), "{}", nowhere.err);
}

#[test]
fn exit_status_tells_whether_a_row_passed() {
    let world = World::new();
    assert_eq!(world.scan(&["--exit-status"]).status, 1);
    assert_eq!(world.scan(&[]).status, 0);
    world.row("s1", "waiting", NOW - 1000, json!({}));
    assert_eq!(world.scan(&["--status", "waiting", "--exit-status"]).status, 0);
    assert_eq!(world.scan(&["--status", "idle,working", "--exit-status"]).status, 1);
}

#[test]
fn c48_filters_combine() {
    let world = World::new();
    world.row(
        "app",
        "waiting",
        NOW - 4000,
        json!({"origin_cwd":"/w/app","cwd":"/w/app/src"}),
    );
    world.row(
        "apple",
        "waiting",
        NOW - 3000,
        json!({"origin_cwd":"/w/apple","cwd":"/w/apple"}),
    );
    world.row(
        "work",
        "working",
        NOW - 2000,
        json!({"origin_cwd":"/w/app","cwd":"/w/app"}),
    );
    let ids = |args: &[&str]| {
        world
            .statuses(args)
            .into_iter()
            .map(|(id, _)| id)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(ids(&[]), "app apple work");
    assert_eq!(ids(&["--cwd", "/w/app"]), "app work");
    assert_eq!(ids(&["--cwd", "/w/app", "--status", "waiting"]), "app");
    assert_eq!(ids(&["--project", "apple"]), "apple");
    assert_eq!(ids(&["--agent", "codex"]), "");
    assert_eq!(ids(&["--agent", "codex,generic", "--limit", "2"]), "app apple");
    assert_eq!(
        ids(&["--status", "WAITING,Working", "--agent", "Generic"]),
        "app apple work"
    );
    assert_eq!(ids(&["--host", "elsewhere"]), "");
    assert_eq!(ids(&["--host", ring_session::process::host_name()]), "app apple work");
    assert_eq!(ids(&["--sort", "age"]), "work apple app");
    assert_eq!(
        ids(&["--status", "waiting", "board", "--project", "app"]),
        "app",
        "before the command and behind it"
    );
    let counts = &world.scan(&["--format", "json", "--limit", "1"]).json()["counts"];
    assert_eq!(*counts, json!({"waiting":2,"working":1,"idle":0,"ended":0}));
}

#[test]
fn ids_are_found_by_key_beginning_and_stdin() {
    let world = World::new();
    world.row("aaaa-1", "waiting", NOW - 1000, json!({}));
    world.row("aaaa-2", "idle", NOW - 1000, json!({}));
    let key = |args: &[&str]| world.scan(&[&["--format", "json"], args].concat()).json()["key"].clone();
    assert_eq!(key(&["show", "generic:aaaa-1"]), "generic:aaaa-1");
    assert_eq!(key(&["show", "aaaa-2"]), "generic:aaaa-2");
    let several = world.scan(&["explain", "aaaa"]);
    assert_eq!(several.status, 64);
    assert!(
        several.err.contains("generic:aaaa-1") && several.err.contains("[AMBIGUOUS]"),
        "{}",
        several.err
    );
    assert_eq!(world.scan(&["show", "aaa"]).status, 3);
    let first = world.scan(&["--format", "tsv"]).out;
    let shown = with_stdin(&mut world.command(&["--format", "json", "show", "-"]), &first);
    assert_eq!(shown.json()["key"], "generic:aaaa-1", "the longest wait");
    assert_eq!(with_stdin(&mut world.command(&["show", "-"]), " \n").status, 64);
}

#[test]
fn c65_a_reader_that_goes_away_and_a_closed_output_are_no_failure() {
    let world = World::new();
    for i in 0..200 {
        world.row(
            &format!("session-{i}"),
            "idle",
            NOW - i,
            json!({"title":"x".repeat(150)}),
        );
    }
    let program = env!("CARGO_BIN_EXE_ring-scan");
    for line in [
        "\"$0\" --format jsonl | head -1",
        "\"$0\" | head -1",
        "\"$0\" watch --format tsv --count 1 | head -1",
        "\"$0\" >&-",
        "\"$0\" --format json >&- 2>&-",
        "\"$0\" --nope 2>&- || [ $? = 64 ]",
        "\"$0\" watch --format json 2>&- || [ $? = 64 ]",
        "\"$0\" doctor >&-",
        "\"$0\" watch --count 1 >&-",
    ] {
        let mut shell = world.command(&[]);
        let mut bash = Command::new("/bin/bash");
        bash.env_clear()
            .envs(shell.get_envs().filter_map(|(k, v)| Some((k, v?))));
        shell.stdin(Stdio::null());
        let ran = world::ran(bash.arg("-o").arg("pipefail").arg("-c").arg(line).arg(program));
        assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{line}");
    }
}

#[test]
fn c65_rows_that_are_replaced_all_the_time_are_always_whole() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let world = World::new();
    let ids: Vec<String> = (0..20).map(|i| format!("session-{i}")).collect();
    ids.iter()
        .for_each(|id| world.row(id, "working", NOW - 1000, json!({})));
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut turn = 0;
            while !done.load(Ordering::Relaxed) {
                let id = &ids[turn % ids.len()];
                let status = ["waiting", "idle", "working"][turn % 3];
                world.row(id, status, NOW - 1000, json!({"title":"x".repeat(turn % 200)}));
                turn += 1;
            }
        });
        for _ in 0..50 {
            let board = world.scan(&["--format", "json"]);
            let (err, board) = (board.err.clone(), board.json());
            assert_eq!(
                (
                    err.as_str(),
                    &board["partial"],
                    board["sessions"].as_array().unwrap().len()
                ),
                ("", &json!(false), 20)
            );
        }
        done.store(true, Ordering::Relaxed);
    });
    let doctor = world.scan(&["--format", "json", "doctor"]).json();
    assert!(!doctor.to_string().contains("no status row"), "{doctor}");
}

#[test]
fn sessions_that_have_ended_are_not_passed_over_in_silence() {
    let world = World::new();
    world.row("past", "idle", NOW - 100_000_000, json!({}));
    world.row("long-past", "idle", NOW - 200_000_000, json!({}));
    assert_eq!(world.scan(&[]).out, "no session is open (2 ended, see --all)\n");
    std::fs::remove_dir_all(world.path("state/status")).unwrap();
    std::fs::create_dir(world.path("state/status")).unwrap();
    let hooked = world.scan(&[]).out;
    assert!(
        hooked.contains("start an agent") && !hooked.contains("install"),
        "{hooked}"
    );
}

#[test]
fn the_heading_claims_nothing_of_rows_that_are_left_out() {
    let world = World::new();
    world.row("asks", "waiting", NOW - 4000, json!({}));
    world.row("works", "working", NOW - 3000, json!({}));
    world.row("rests", "idle", NOW - 2000, json!({}));
    let heading = |args: &[&str]| world.scan(args).out.lines().next().unwrap_or_default().to_owned();
    assert_eq!(heading(&[]), "3 sessions · 1 waits for you");
    assert_eq!(heading(&["--status", "working"]), "1 of 3 sessions shown");
    assert_eq!(heading(&["--limit", "1"]), "1 of 3 sessions shown · 1 waits for you");
    assert_eq!(heading(&["--limit", "0"]), "0 of 3 sessions shown · 1 waits for you");
    assert_eq!(heading(&["--project", "none"]), "no session passes the filters");
}

#[test]
fn a_session_is_found_by_what_the_table_shows() {
    let world = World::new();
    let at = |folder: &str, tty: &str| json!({"origin_cwd": folder, "cwd": folder, "term": {"tty": tty}});
    world.row("aaaa-1", "waiting", NOW - 4000, at("/w/api", "/dev/pts/3"));
    world.row("bbbb-2", "idle", NOW - 3000, at("/w/web", ""));
    world.row("cccc-3", "idle", NOW - 2000, at("/w/web", ""));
    world.row("dddd-4", "idle", NOW - 100_000_000, at("/w/api", ""));
    let key = |id: &str| world.scan(&["--format", "json", "show", id]).json()["key"].clone();
    assert_eq!(key("api"), "generic:aaaa-1", "an ended one does not count beside it");
    assert_eq!(key("pts/3"), "generic:aaaa-1");
    let several = world.scan(&["explain", "web"]);
    assert_eq!(several.status, 64);
    assert!(
        several.err.contains("generic:bbbb-2, generic:cccc-3"),
        "{}",
        several.err
    );
    let none = world.scan(&["show", "nobody"]).err;
    assert!(none.contains("`ring-scan --all --format tsv` lists the keys"), "{none}");
}

#[test]
fn names_are_compared_without_case_and_unknown_agents_are_said() {
    let world = World::new();
    world.row("s1", "idle", NOW - 1000, json!({"origin_cwd":"/w/api"}));
    let host = ring_session::process::host_name().to_uppercase();
    for args in [["--project", "API"], ["--host", &host], ["--agent", "Generic"]] {
        assert_eq!(world.statuses(&args).len(), 1, "{args:?}");
    }
    let hint = world.scan(&["--agent", "claud", "--format", "tsv"]);
    assert_eq!((hint.status, hint.out.as_str()), (0, ""));
    assert!(
        hint.err.contains("\"claud\"") && hint.err.contains("claude-code"),
        "{}",
        hint.err
    );
    assert_eq!(world.scan(&["--agent", "claude"]).err, "");
}

#[test]
fn mistakes_say_what_is_accepted_and_where_to_read_on() {
    let world = World::new();
    for (args, wanted) in [
        (
            &["--limit", "abc"][..],
            "a whole number such as 10; see ring-scan --help",
        ),
        (&["--limit", "-1"], "a whole number such as 10"),
        (
            &["watch", "--count", "0"],
            "a whole number from 1; see ring-scan watch --help",
        ),
        (&["watch", "--interval", "0"], "give 0.1 to 3600 seconds"),
        (
            &["--format", "json", "config", "get"],
            "see ring-scan config get --help",
        ),
        (&["config", "got"], "see ring-scan config --help"),
    ] {
        let said = world.scan(args).err;
        assert!(said.contains(wanted), "{args:?}: {said}");
    }
    let help = world.scan(&["help"]);
    assert_eq!((help.status, help.out), (0, world.scan(&["--help"]).out));
    let missing = world.scan(&["--config", "/nonexistent.toml", "--format", "tsv"]);
    assert_eq!(missing.status, 0);
    assert!(
        missing.err.contains("/nonexistent.toml: there is no such file"),
        "{}",
        missing.err
    );
}
