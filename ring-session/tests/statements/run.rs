//! `run`: a command as a turn. On the real machine, with real processes.

use crate::harness::{Home, list, refusal, str_of, text, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

fn home() -> Home {
    let home = Home::new();
    home.at(None);
    home
}

fn last(home: &Home, id: &str) -> (String, String) {
    let turns = list(&home.record(id)["turns"]);
    let last = turns.last().unwrap();
    (
        str_of(&last["status"]),
        last["error_code"].as_str().unwrap_or_default().to_owned(),
    )
}

fn background(home: &Home, args: &[&str]) -> Child {
    let mut command = home.ring(args);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    stat.is_ok_and(|s| {
        !s.rsplit(')')
            .next()
            .unwrap_or_default()
            .trim_start()
            .starts_with(['Z', 'X'])
    })
}

/// Waits for a process to be gone, without a limit: a test that hangs here has found that it stays.
fn gone(pid: &str, limit: Duration) {
    let started = Instant::now();
    while lives(pid) {
        assert!(started.elapsed() < limit, "{pid} lives on");
        std::thread::yield_now();
    }
}

/// The first line of a child's output, which is then left open.
fn first_line(child: &mut Child) -> String {
    let mut line = Vec::new();
    let out = child.stdout.as_mut().unwrap();
    let mut byte = [0];
    while out.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
        line.push(byte[0]);
    }
    String::from_utf8(line).unwrap()
}

#[test]
fn s63_a_prompt_goes_in_and_an_answer_comes_out_and_both_are_kept() {
    let home = home();
    let id = home.new_session();
    let out = home.feed(&["run", &id, "--", "cat"], "hi");
    assert_eq!(
        (out.status.code(), text(&out.stdout).as_str()),
        (Some(0), "hi"),
        "{}",
        text(&out.stderr)
    );
    assert_eq!(last(&home, &id), ("completed".into(), String::new()));
    let rows = home.rows(&id);
    assert_eq!(home.texts(&id), ["hi", "hi"]);
    assert_eq!(
        (&rows[0]["role"], &rows[1]["role"]),
        (&json!("user"), &json!("assistant"))
    );
    assert_eq!(list(&home.record(&id)["notifications"]).len(), 1);
    let result = home.json_of(&["run", &id, "--seen", "--", "cat"], "again");
    assert_eq!(
        (
            &result["status"],
            &result["exit_status"],
            &result["stdout"],
            &result["truncated"]
        ),
        (&json!("completed"), &json!(0), &json!("again"), &json!(false))
    );
    assert_eq!(list(&home.record(&id)["notifications"]).len(), 1);
    home.check();
}

#[test]
fn s64_a_commands_failure_is_the_turns_and_one_that_cannot_start_closes_it_too() {
    let home = home();
    let id = home.new_session();
    fs::write(home.path().join("plain"), "no program").unwrap();
    let script = ["sh", "-c", "echo partly; exit 3"];
    let cases: [(&[&str], &str, i64); 4] = [
        (&script, "EXIT_3", 3),
        (&["no-such-program-here"], "EXIT_127", 127),
        (&["./plain"], "EXIT_126", 126),
        (&["sh", "-c", "kill -9 $$"], "SIGNAL_9", 137),
    ];
    for (command, code, status) in cases {
        let words = [&["run", &id, "--"], command].concat();
        let error = home.refused_of("COMMAND_FAILED", &words, "x");
        assert_eq!(error["details"]["exit_status"], status, "{code}");
        assert_eq!(last(&home, &id), ("error".into(), code.into()));
        assert_eq!(home.show(&id)["status"], "idle");
        let words = [&["run", &id, "--exit-status", "--"], command].concat();
        assert_eq!(home.feed(&words, "x").status.code(), Some(status as i32), "{code}");
    }
    let rows = home.rows(&id);
    assert_eq!(rows[1]["meta"]["exit_status"], 3);
    assert_eq!(rows[1]["blocks"][0]["text"], "partly\n");
}

#[test]
fn s65_much_in_and_much_out_at_once_and_a_prompt_that_nobody_reads() {
    let home = home();
    let id = home.new_session();
    let prompt = vec![b'p'; 1024 * 1024];
    // it prints before it reads: whoever writes all of the prompt first would wait for ever
    let script = "head -c 10000000 /dev/zero | tr '\\0' o; cat >/dev/null; printf end";
    let out = home.feed(&["run", &id, "--", "sh", "-c", script], &prompt);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert_eq!(out.stdout.len(), 10_000_003);
    let rows = home.rows(&id);
    assert_eq!(str_of(&rows[0]["blocks"][0]["text"]).len(), prompt.len());
    let kept = str_of(&rows[1]["blocks"][0]["text"]);
    assert!(kept.ends_with("oend") && kept.len() < 1_100_000);
    assert_eq!(rows[1]["meta"]["truncated"], true);
    let out = home.feed(&["run", &id, "--", "true"], &prompt);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert_eq!(last(&home, &id).0, "completed");
}

#[test]
fn s66_a_child_in_the_background_does_not_hold_the_end_up() {
    let home = home();
    let id = home.new_session();
    fs::write(home.path().join("prompt"), "x").unwrap();
    let started = Instant::now();
    // that child holds stderr too, which is the caller's own
    let mut run = home.ring(&["run", &id, "--prompt", "prompt", "--", "sh", "-c", "sleep 30 & echo $!"]);
    let out = run.stderr(Stdio::null()).output().unwrap();
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
    assert_eq!(out.status.code(), Some(0));
    let pid = text(&out.stdout).trim().to_owned();
    assert!(lives(&pid), "after success it is left alone");
    assert_eq!(home.texts(&id)[1], format!("{pid}\n"));
    send(pid.parse().unwrap(), Signal::KILL);
}

#[test]
fn s67_an_interrupt_is_recorded_before_the_command_hears_of_it_and_nothing_of_the_group_remains() {
    let home = home();
    let id = home.new_session();
    fs::write(home.path().join("prompt"), "x").unwrap();
    // on the signal it notes what the record says then, with its own process in the background still there
    let script = format!(
        "trap 'cp {} seen; exit 0' INT; sleep 600 & echo $!; wait",
        home.file(&id, "session.json").display()
    );
    let words = [
        "--format", "human", "run", &id, "--prompt", "prompt", "--", "sh", "-c", &script,
    ];
    let mut run = background(&home, &words);
    let child = first_line(&mut run);
    assert!(lives(&child));
    send(run.id(), Signal::INT);
    let out = run.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(5), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("TURN_ABORTED"));
    let seen: Value = serde_json::from_slice(&fs::read(home.path().join("seen")).unwrap()).unwrap();
    assert_eq!(
        (&seen["turn"], &seen["turns"][0]["status"]),
        (&Value::Null, &json!("aborted"))
    );
    gone(&child, Duration::from_secs(10));
    let record = home.record(&id);
    assert_eq!(
        (list(&record["turns"]).len(), &record["notifications"]),
        (1, &json!([]))
    );
    assert_eq!(home.rows(&id).len(), 2, "the partial reply is kept");
    home.check();
}

#[test]
fn s68_an_abort_from_elsewhere_ends_the_command_and_stays_an_abort() {
    let home = home();
    let id = home.new_session();
    fs::write(home.path().join("prompt"), "x").unwrap();
    let script = "trap 'exit 0' TERM; echo ready; sleep 600 & wait";
    let mut run = background(&home, &["run", &id, "--prompt", "prompt", "--", "sh", "-c", script]);
    let _out = until(&mut run, "ready");
    assert_eq!(home.json(&["abort", &id])["ok"], true);
    let told = Instant::now();
    let out = run.wait_with_output().unwrap();
    assert!(told.elapsed() < Duration::from_secs(2), "{:?}", told.elapsed());
    assert_eq!(out.status.code(), Some(5));
    assert_eq!(last(&home, &id), ("aborted".into(), "TURN_ABORTED".into()));
    assert_eq!(list(&home.record(&id)["turns"]).len(), 1);
}

#[test]
fn s69_draining_takes_the_prompt_and_then_each_entry_after_the_former_is_stored() {
    let home = home();
    let id = home.new_session();
    for prompt in ["two", "three", "four"] {
        home.push(&id, prompt);
    }
    // each turn sees how many have ended before it
    let script = format!(
        "cat; grep -o '\"status\":\"[a-z]*\"' {} | wc -l",
        home.file(&id, "session.json").display()
    );
    let words = ["run", &id, "--drain", "--prompt", "-", "--", "sh", "-c", &script];
    let results = list(&home.json_of(&words, "one"));
    let texts: Vec<String> = results.iter().map(|r| str_of(&r["stdout"]).trim().to_owned()).collect();
    assert_eq!(texts, ["one0", "two1", "three2", "four3"]);
    let origins: Vec<Value> = list(&home.record(&id)["turns"])
        .iter()
        .map(|t| t["origin"].clone())
        .collect();
    assert_eq!(origins, ["run", "queue", "queue", "queue"]);
    assert_eq!(
        home.json_of(&["run", &id, "--drain", "--", "cat"], ""),
        json!([]),
        "nothing to do"
    );
    for prompt in ["a", "b", "c"] {
        home.push(&id, prompt);
    }
    let script = "read -r line; test \"$line\" != b";
    let words = ["run", &id, "--drain", "--pause-on-failure", "--", "sh", "-c", script];
    // the prompt has no line's end, so that `read` fails too; what counts is the test
    let error = home.refused_of("COMMAND_FAILED", &words, "");
    assert_eq!(error["details"]["exit_status"], 1);
    let left = home.json(&["queue", "list", &id]);
    assert_eq!((&left["held"], list(&left["entries"]).len()), (&json!(true), 1));
    assert_eq!(left["entries"][0]["content"], "c");
    // without it a failure ends one turn only
    home.push(&id, "b");
    home.push(&id, "d");
    let words = ["run", &id, "--drain", "--", "sh", "-c", script];
    home.refused_of("COMMAND_FAILED", &words, "");
    assert_eq!(list(&home.json(&["queue", "list", &id])["entries"]).len(), 0);
    home.check();
}

#[test]
fn s70_a_busy_session_starts_no_command() {
    let home = home();
    let id = home.new_session();
    home.begin(&id, "x");
    let words = ["run", &id, "--", "touch", "started"];
    assert_eq!(home.refused_of("AGENT_BUSY", &words, "y")["details"]["reason"], "turn");
    assert!(!home.path().join("started").exists());
    assert_eq!(home.texts(&id), ["x"]);
}

#[test]
fn s85_the_command_ends_with_a_run_that_is_killed() {
    let home = home();
    let id = home.new_session();
    fs::write(home.path().join("prompt"), "x").unwrap();
    let script = "echo $$; exec sleep 600";
    let mut run = background(&home, &["run", &id, "--prompt", "prompt", "--", "sh", "-c", script]);
    let child = first_line(&mut run);
    assert!(lives(&child));
    run.kill().unwrap();
    run.wait().unwrap();
    gone(&child, Duration::from_secs(10));
    assert_eq!(home.show(&id)["status"], "idle");
    let turn = home.begin(&id, "next");
    assert_eq!(last(&home, &id), ("aborted".into(), "TURN_ABORTED".into()));
    assert_eq!(home.record(&id)["turn"]["id"], turn.as_str());
}

#[test]
fn s34_a_run_that_is_killed_amid_output_leaves_its_partial_reply_once() {
    let home = home();
    let id = home.new_session();
    fs::write(home.path().join("prompt"), "x").unwrap();
    let script = "echo partly; exec sleep 600";
    let mut run = background(&home, &["run", &id, "--prompt", "prompt", "--", "sh", "-c", script]);
    let _out = until(&mut run, "partly");
    while !home.file(&id, "inflight.json").exists() {
        std::thread::yield_now();
    }
    run.kill().unwrap();
    run.wait().unwrap();
    home.json(&["recover", &id]);
    home.json(&["recover", &id]);
    let rows = home.rows(&id);
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (
            &rows[1]["blocks"][0]["text"],
            &rows[1]["meta"]["status"],
            &rows[1]["meta"]["promoted"]
        ),
        (&json!("partly\n"), &json!("aborted"), &json!(true))
    );
    assert!(!home.file(&id, "inflight.json").exists());
    home.check();
}

#[test]
fn a_run_takes_too_long_or_is_asked_to_stop() {
    let home = home();
    let id = home.new_session();
    let words = [
        "--format",
        "json",
        "run",
        &id,
        "--timeout",
        "200ms",
        "--",
        "sleep",
        "600",
    ];
    let out = home.feed(&words, "x");
    assert_eq!(refusal(&out, &words)["code"], "TIMEOUT");
    assert_eq!(last(&home, &id), ("error".into(), "TIMEOUT".into()));
    // a stop: the command ends by itself, and no further entry is taken
    home.push(&id, "one");
    home.push(&id, "two");
    let script = format!(
        "{} stop $RING_SESSION >/dev/null; echo $RING_TURN",
        env!("CARGO_BIN_EXE_ring-session")
    );
    let words = ["run", &id, "--drain", "--", "sh", "-c", &script];
    let results = list(&home.json(&words));
    assert_eq!(results.len(), 1);
    assert_eq!(str_of(&results[0]["stdout"]).trim(), str_of(&results[0]["turn"]));
    assert_eq!(last(&home, &id).0, "completed");
    let left = home.json(&["queue", "list", &id]);
    assert_eq!((&left["held"], list(&left["entries"]).len()), (&json!(true), 1));
}

#[test]
fn s69_a_signal_ends_the_draining_and_holds_the_queue_and_an_abort_from_elsewhere_ends_one_turn() {
    let home = home();
    let id = home.new_session();
    for prompt in ["one", "two", "three"] {
        home.push(&id, prompt);
    }
    let script = "cat; echo; test -e quick || { trap 'exit 0' TERM; sleep 600 & wait; }";
    let words = ["run", &id, "--drain", "--", "sh", "-c", script];
    let mut run = background(&home, &words);
    assert_eq!(first_line(&mut run), "one");
    assert_eq!(home.json(&["abort", &id])["ok"], true);
    assert_eq!(first_line(&mut run), "two", "the next one, whatever the reason");
    send(run.id(), Signal::TERM);
    let out = run.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(5), "{}", text(&out.stderr));
    let left = home.json(&["queue", "list", &id]);
    assert_eq!((&left["held"], list(&left["entries"]).len()), (&json!(true), 1));
    let reasons: Vec<Value> = list(&home.record(&id)["turns"])
        .iter()
        .map(|t| t["status"].clone())
        .collect();
    assert_eq!(reasons, ["aborted", "aborted"]);
    // what is left waits, and the next draining releases it
    fs::write(home.path().join("quick"), "").unwrap();
    assert_eq!(list(&home.json(&words)).len(), 1);
    assert_eq!(home.json(&["queue", "list", &id])["held"], false);
    home.check();
}
