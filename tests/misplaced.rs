//! Something else stands where a file of the state directory belongs (a pipe, a device, a folder), or numbers that no
//! program writes. Nobody waits for it, nobody dies of it, and every other session goes on.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod harness;

use harness::{Home, NOW, assert_civil, feed, start, text};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Far more than any of the commands takes, also on a busy machine.
const LONG: Duration = Duration::from_secs(30);

/// What stands there instead.
const ODD: &[&str] = &["pipe", "device", "folder"];

/// The files of one session of each kind.
const FILES: &[&str] = &[
    "status/claude-code:s-1.json",
    "sessions/one/session.json",
    "sessions/one/inflight.json",
    "sessions/one/transcript.jsonl",
    "notify/ledger.json",
    "notify/quiet.json",
    "board/names.json",
    "events.jsonl",
    "hook-errors.log",
];

const COMMANDS: &[&str] = &[
    "ring-scan",
    "ring-scan doctor",
    "ring-notify",
    "ring-notify deliver",
    "ring-notify send --title x",
    "ring-notify quiet 1h",
    "ring-notify quiet off",
    "ring-notify digest",
    "ring-notify stats",
    "ring-notify outlets",
    "ring-notify read --all",
    "ring-plan",
    "ring-plan history",
    "ring-plan expire",
    "ring-plan policy one Bash",
    "ring-session",
    "ring-session show one",
    "ring-session transcript one",
    "ring-session queue push one x",
    "ring-session recover",
    "ring-session abort one",
    "ring-hook show claude-code:s-1",
    "ring-hook status",
];

/// Runs it; one that waits for a file is ended, and the story with it.
fn in_time(what: &str, command: &mut Command, stdin: &[u8]) -> Output {
    let mut child = start(command, stdin);
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > LONG {
            child.kill().unwrap();
            panic!("{what} still waits");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.wait_with_output().unwrap()
}

fn put(odd: &str, path: &Path) {
    if fs::symlink_metadata(path).is_ok() {
        fs::remove_file(path).unwrap();
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match odd {
        "pipe" => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        "device" => symlink("/dev/zero", path).unwrap(),
        _ => fs::create_dir(path).unwrap(),
    }
}

/// A command of one line; the only outlet is `cat`.
fn called(home: &Home, line: &str) -> Command {
    let mut words = line.split(' ');
    let program = words.next().unwrap();
    let mut command = home.ring(program, &words.collect::<Vec<_>>());
    command.env_remove("RING_NO_NOTIFY");
    command
}

fn home() -> Home {
    let home = Home::new();
    fs::write(
        home.config(),
        "[[notify.outlet]]\nname = \"mail\"\ntype = \"command\"\nargv = [\"/bin/cat\"]\n",
    )
    .unwrap();
    let project = home.path().to_str().unwrap().to_owned();
    for id in ["one", "two"] {
        let new = home
            .ring("ring-session", &["new", "--id", id, "--project", &project])
            .output();
        assert!(new.unwrap().status.success());
        let begun = home
            .ring("ring-session", &["begin", id, "hello", "--turn", id])
            .output();
        assert!(begun.unwrap().status.success());
        let ended = home
            .ring("ring-session", &["end", id, "--turn", id, "completed"])
            .output();
        assert!(ended.unwrap().status.success());
    }
    home.event(
        NOW,
        &json!({"hook_event_name": "UserPromptSubmit", "session_id": "s-1", "prompt": "x"}),
    );
    home.event(
        NOW,
        &json!({"hook_event_name": "UserPromptSubmit", "session_id": "s-2", "prompt": "x"}),
    );
    home
}

#[test]
fn nobody_waits_for_a_pipe_a_device_or_a_folder_in_the_place_of_a_file() {
    for file in FILES {
        for odd in ODD {
            let home = home();
            let path = home.state().join(file);
            put(odd, &path);
            for command in COMMANDS {
                let what = format!("{command} with a {odd} as {file}");
                let out = in_time(&what, &mut called(&home, command), b"");
                assert_civil(out.status, &out.stderr);
                if !out.status.success() {
                    assert!(out.stdout.is_empty(), "{what}: {}", text(&out.stdout));
                    assert!(text(&out.stderr).contains('['), "{what}: {}", text(&out.stderr));
                }
            }
            let stop = json!({"hook_event_name": "Stop", "session_id": "s-1"}).to_string();
            let what = format!("ring-hook with a {odd} as {file}");
            let out = in_time(
                &what,
                &mut home.ring("ring-hook", &["--agent", "claude-code"]),
                stop.as_bytes(),
            );
            assert!(out.status.success() && out.stdout.is_empty(), "{what}");
        }
    }
}

#[test]
fn what_stands_there_hides_no_other_session() {
    for odd in ODD {
        let home = home();
        put(odd, &home.state().join("sessions/one/session.json"));
        put(odd, &home.state().join("status/claude-code:s-1.json"));
        let list = home.ring("ring-session", &["--format", "json"]).output().unwrap();
        assert!(list.status.success(), "{odd}: {}", text(&list.stderr));
        assert!(text(&list.stdout).contains("\"two\""), "{odd}: {}", text(&list.stdout));
        assert!(text(&list.stderr).contains("one"), "{odd}: {}", text(&list.stderr));
        let board = home.board_at(NOW).to_string();
        assert!(board.contains("s-2"), "{odd}: {board}");
    }
}

#[test]
fn a_ledger_or_a_quiet_that_is_no_file_is_set_aside_and_begun_anew() {
    for odd in ODD {
        let home = home();
        for file in ["notify/ledger.json", "notify/quiet.json"] {
            put(odd, &home.state().join(file));
        }
        let quiet = home.ring("ring-notify", &["quiet", "1h"]).output().unwrap();
        assert!(quiet.status.success(), "{odd}: {}", text(&quiet.stderr));
        let send = called(&home, "ring-notify send --title x").output().unwrap();
        assert!(send.status.success(), "{odd}: {}", text(&send.stderr));
        for file in ["notify/ledger.json", "notify/quiet.json"] {
            assert!(home.state().join(file).is_file(), "{odd} {file}");
        }
    }
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_ends_no_hook() {
    let home = Home::new();
    let limited = |program: &str, args: &str| {
        let mut command = home.command("sh");
        let program = harness::bin(program);
        command.args(["-c", &format!("ulimit -f 0; exec {} {args}", program.display())]);
        command
    };
    let event = json!({"hook_event_name": "Stop", "session_id": "s-1"}).to_string();
    let hook = feed(&mut limited("ring-hook", "--agent claude-code"), event.as_bytes());
    assert_eq!((hook.status.code(), text(&hook.stderr).as_str()), (Some(0), ""));
    for (program, args) in [("ring-session", "new"), ("ring-notify", "quiet 1h")] {
        let out = limited(program, args).output().unwrap();
        assert_eq!(out.status.code(), Some(74), "{program}: {}", text(&out.stderr));
        assert!(out.stdout.is_empty() && text(&out.stderr).contains("[IO]"), "{program}");
    }
}

/// Replaces every number in a JSON text but the schema.
fn with_numbers(value: &mut Value, number: &Value) {
    match value {
        Value::Number(_) => value.clone_from(number),
        Value::Array(list) => list.iter_mut().for_each(|v| with_numbers(v, number)),
        Value::Object(members) => members
            .iter_mut()
            .filter(|(name, _)| *name != "schema")
            .for_each(|(_, v)| with_numbers(v, number)),
        _ => {}
    }
}

#[test]
fn numbers_at_the_ends_of_their_range_are_no_defect() {
    let home = home();
    for line in [
        "ring-session queue push one more",
        "ring-notify deliver",
        "ring-notify quiet 1h",
    ] {
        let out = called(&home, line).output().unwrap();
        assert!(out.status.success(), "{line}: {}", text(&out.stderr));
    }
    let files = [
        "status/claude-code:s-1.json",
        "sessions/one/session.json",
        "notify/ledger.json",
        "notify/quiet.json",
    ];
    for file in files {
        let path = home.state().join(file);
        let whole = fs::read(&path).unwrap();
        for number in [json!(i64::MIN), json!(-1), json!(0), json!(i64::MAX), json!(u64::MAX)] {
            let mut value: Value = serde_json::from_slice(&whole).unwrap();
            with_numbers(&mut value, &number);
            for command in COMMANDS {
                fs::write(&path, value.to_string()).unwrap();
                let what = format!("{command} with {number} everywhere in {file}");
                let out = in_time(&what, &mut called(&home, command), b"");
                assert!(out.status.code() != Some(70), "{what}: {}", text(&out.stderr));
                assert_civil(out.status, &out.stderr);
            }
        }
        fs::write(&path, whole).unwrap();
    }
}

#[test]
fn a_queue_whose_positions_have_run_out_keeps_its_order() {
    let home = home();
    for prompt in ["first", "second"] {
        assert!(
            called(&home, &format!("ring-session queue push one {prompt}"))
                .status()
                .unwrap()
                .success()
        );
    }
    let path = home.state().join("sessions/one/session.json");
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    record["queue"]["entries"][0]["position"] = json!(i64::MIN);
    record["queue"]["entries"][1]["position"] = json!(i64::MAX);
    fs::write(&path, record.to_string()).unwrap();
    let push = called(&home, "ring-session queue push one third").output().unwrap();
    assert!(push.status.success(), "{}", text(&push.stderr));
    let list = called(&home, "ring-session --format json queue list one")
        .output()
        .unwrap();
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    let told: Vec<&str> = list["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["content"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["first", "second", "third"]);
}
