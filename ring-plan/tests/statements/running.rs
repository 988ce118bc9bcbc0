//! `run`: a command carries out what was approved.

use crate::harness::{Home, KINDS, TEXT, eventually, exit_plan, feed, refusal, report, signal, start, str_of, text};
use serde_json::{Value, json};
use std::fs;
use std::process::Output;

/// A command that behaves: a goal's report is left.
pub const GOOD: &str = "cat > got; [ -z \"$REPORT\" ] || printf %s \"$REPORT\" > \"$RING_REPORT_FILE\"; echo done";

/// `run` of a shell script, with a report for it to leave.
pub fn run(home: &Home, x: &str, options: &[&str], script: &str, left: &str) -> Output {
    let words = [
        &["ring-plan", "--format", "json", "run", x],
        options,
        &["--", "sh", "-c", script],
    ]
    .concat();
    feed(home.command(&words).env("REPORT", left), b"")
}

#[test]
fn p36_the_command_gets_the_instruction_on_stdin_and_who_it_works_for_in_its_environment() {
    for kind in KINDS {
        let home = Home::new();
        let (s, p) = home.proposed(kind);
        let words = [
            "ring-plan",
            "approve",
            &p,
            "--permission",
            "accept-edits",
            "--note",
            "keep the old endpoint",
        ];
        let x = str_of(&home.json(&words, "")["execution"]["id"]);
        let instruction = home.json(&["ring-plan", "instruction", &x], "")["instruction"].clone();
        let script =
            format!("env | grep ^RING_ | sort > seen; pwd > where; wc -c < $RING_REPORT_FILE >> where; {GOOD}");
        let out = run(&home, &x, &[], &script, &report("blocked"));
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        let said: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!((&said["id"], &said["state"]), (&json!(x), &json!("completed")));
        let read = |name: &str| fs::read_to_string(home.project().join(name)).unwrap();
        let got = read("got");
        assert_eq!(json!(got), instruction);
        assert!(got.contains(TEXT) && got.contains("accept-edits") && got.contains("keep the old endpoint"));
        let turn = str_of(&said["turn_id"]);
        let seen = read("seen");
        for (name, value) in [
            ("SESSION", &s.id),
            ("TURN", &turn),
            ("PROPOSAL", &p),
            ("EXECUTION", &x),
            ("PERMISSION_MODE", &"accept-edits".to_owned()),
        ] {
            assert!(
                seen.lines().any(|l| l == format!("RING_{name}={value}")),
                "{name}: {seen}"
            );
        }
        let real = home.project().canonicalize().unwrap();
        assert_eq!(
            read("where"),
            format!("{}\n0\n", real.display()),
            "the project, and an empty report"
        );
        let file = seen.lines().find_map(|l| l.strip_prefix("RING_REPORT_FILE=")).unwrap();
        assert!(!fs::exists(file).unwrap(), "it goes with the run");
        // one turn, of the execution, without a row of a user
        let record = home.record(&s.id);
        let last = record["turns"].as_array().unwrap().last().unwrap();
        assert_eq!(
            (&last["id"], &last["status"], &last["origin"]),
            (&json!(turn), &json!("completed"), &json!("execution"))
        );
        assert_eq!(record["turns"].as_array().unwrap().len(), 2);
        let rows = home.json(&["ring-session", "transcript", &s.id], "");
        let own: Vec<&Value> = rows
            .as_array()
            .unwrap()
            .iter()
            .filter(|r| r["turn_id"] == turn.as_str())
            .collect();
        assert_eq!(own.len(), 1, "{rows}");
        assert_eq!(
            (&own[0]["role"], &own[0]["blocks"][0]["text"]),
            (&json!("assistant"), &json!("done\n"))
        );
        home.refused_untouched(
            "PLAN_EXECUTION_STALE",
            &s.id,
            &["ring-plan", "run", &x, "--", "true"],
            "",
        );
        home.is_free(&s);
    }
}

#[test]
fn p36_the_end_of_the_command_is_that_of_its_turn_and_its_execution() {
    for kind in KINDS {
        for (script, code, own) in [
            ("echo no >&2; exit 3", "COMMAND_FAILED", "EXIT_3"),
            ("kill -9 $$", "COMMAND_FAILED", "SIGNAL_9"),
            ("exec /no/such/program", "COMMAND_FAILED", "EXIT_127"),
        ] {
            let home = Home::new();
            let (s, _, x) = home.approved(kind);
            let out = run(&home, &x, &[], script, "");
            let error = refusal(code, &out, &[script]);
            assert!(error["details"]["exit_status"].is_number(), "{error}");
            let over = home.execution(&x);
            assert_eq!(
                (&over["state"], &over["error_code"]),
                (&json!("interrupted"), &json!(own))
            );
            if own == "EXIT_3" {
                assert_eq!(over["error_detail"], "no");
            }
            let turn = home.record(&s.id)["turns"][1].clone();
            assert_eq!((&turn["status"], &turn["error_code"]), (&json!("error"), &json!(own)));
            home.is_free(&s);
        }
        for name in ["INT", "TERM", "HUP", "abort"] {
            let home = Home::new();
            let (s, _, x) = home.approved(kind);
            let words = [
                "ring-plan",
                "--format",
                "json",
                "run",
                &x,
                "--",
                "sh",
                "-c",
                "touch here; sleep 60",
            ];
            let child = start(&mut home.command(&words), b"");
            eventually("the command", || home.project().join("here").exists());
            match name {
                "abort" => drop(home.says(&["ring-session", "abort", &s.id])),
                name => signal(&child, name),
            }
            refusal("TURN_ABORTED", &child.wait_with_output().unwrap(), &[name]);
            let over = home.execution(&x);
            assert_eq!(
                (&over["state"], &over["error_code"]),
                (&json!("interrupted"), &json!("PLAN_EXECUTION_INTERRUPTED")),
                "{name}"
            );
            assert_eq!(home.record(&s.id)["turns"][1]["status"], "aborted");
            home.is_free(&s);
        }
    }
}

#[test]
fn p37_what_a_killed_run_was_doing_is_interrupted_and_never_started_again() {
    for kind in KINDS {
        let home = Home::new();
        let (s, _, x) = home.approved(kind);
        let words = [
            "ring-plan",
            "run",
            &x,
            "--",
            "sh",
            "-c",
            "echo $$ >> started; exec sleep 60",
        ];
        let mut child = start(&mut home.command(&words), b"");
        let started = || fs::read_to_string(home.project().join("started")).unwrap_or_default();
        eventually("the command", || started().ends_with('\n'));
        assert_eq!(home.execution(&x)["state"], "running");
        child.kill().unwrap();
        child.wait().unwrap();
        // seen by the next reader, stored by the next writer
        let over = home.execution(&x);
        assert_eq!(
            (&over["state"], &over["error_code"]),
            (&json!("interrupted"), &json!("PLAN_EXECUTION_INTERRUPTED"))
        );
        home.refused(
            "PLAN_EXECUTION_STALE",
            &["ring-plan", "run", &x, "--", "sh", "-c", "echo 2 >> started"],
            "",
        );
        let record = home.record(&s.id);
        assert!(record["turn"].is_null() && record["proposal"].is_null());
        assert_eq!(record["turns"][1]["status"], "aborted");
        home.is_free(&s);
        let first = started();
        assert_eq!(first.lines().count(), 1, "{first}");
        eventually("the end of the command", || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", first.trim())).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z ")
        });
    }
}

#[test]
fn p42_the_instruction_holds_the_approved_bytes_whatever_became_of_the_file() {
    for kind in KINDS {
        for spoiled in [false, true] {
            let home = Home::new();
            let s = home.session(kind);
            let exact = " \r\n# A\r\n\n\t1. text  \n\n- [ ] `x` \u{1f600}\u{202e}";
            let p = str_of(&home.json(&home.submission(&s, kind, "c1"), exact)["id"]);
            home.refused_untouched("PLAN_EXECUTION_STALE", &s.id, &["ring-plan", "instruction", &p], "");
            home.end(&s);
            home.approve(&p, "auto");
            let path = home.artifact(&home.show(&p));
            match spoiled {
                false => fs::write(path, "rm -rf /").unwrap(),
                true => fs::remove_file(path).unwrap(),
            }
            let piped = home.run(&["ring-plan", "instruction", &p], "");
            assert!(text(&piped.stdout).contains(exact), "{}", text(&piped.stdout));
            assert!(!text(&piped.stdout).contains("rm -rf"));
            assert_eq!(
                home.json(&["ring-plan", "instruction", &p], "")["instruction"],
                text(&piped.stdout)
            );
            // also of one that is over
            home.refused(
                if spoiled {
                    "PLAN_ARTIFACT_NOT_READY"
                } else {
                    "PLAN_ARTIFACT_HASH_MISMATCH"
                },
                &["ring-plan", "claim", &p],
                "",
            );
            assert_eq!(home.run(&["ring-plan", "instruction", &p], "").stdout, piped.stdout);
        }
    }
}

#[test]
fn p46_p47_unattended_is_refused_in_a_contract_mode_and_fine_for_what_is_approved() {
    for kind in KINDS {
        let home = Home::new();
        // a turn that began unattended in agent mode proposes nothing either
        let mut s = home.session("agent");
        home.end(&s);
        s.turn = home.says(&["ring-session", "begin", &s.id, "x", "--unattended"]);
        let code = "PLAN_REQUIRES_INTERACTIVE_SESSION";
        let enter = [
            "ring-plan",
            "enter",
            &s.id,
            "--kind",
            kind,
            "--turn",
            &s.turn,
            "--call",
            "e",
        ];
        home.refused_untouched(code, &s.id, &enter, "");
        home.refused_untouched(code, &s.id, &home.submission(&s, kind, "c1"), TEXT);
        home.end(&s);
        // neither as a turn, nor as an entry, nor as a command
        home.says(&["ring-session", "configure", &s.id, "--mode", kind]);
        for words in [
            &["ring-session", "begin", &s.id, "x", "--unattended"][..],
            &["ring-session", "begin", &s.id, "x", "--unattended", "--queue"],
            &["ring-session", "run", &s.id, "--unattended", "--", "touch", "ran"],
        ] {
            home.refused_untouched(code, &s.id, words, "x");
        }
        // its own mode decides, whatever the default is
        fs::write(home.path("config.toml"), format!("[session]\nmode = \"{kind}\"\n")).unwrap();
        home.says(&["ring-session", "configure", &s.id, "--mode", "agent"]);
        let out = home.run(
            &["ring-session", "run", &s.id, "--unattended", "--", "touch", "ran"],
            "x",
        );
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        assert!(home.project().join("ran").exists());

        for by_variable in [false, true] {
            let (s, _, x) = home.approved(kind);
            let options: &[&str] = if by_variable { &[] } else { &["--unattended"] };
            let words = [&["ring-plan", "run", &x], options, &["--", "sh", "-c", GOOD]].concat();
            let mut command = home.command(&words);
            if by_variable {
                command.env("RING_UNATTENDED", "1");
            }
            let out = feed(command.env("REPORT", report("met")), b"");
            assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
            assert_eq!(home.execution(&x)["state"], "completed");
            home.is_free(&s);
        }
    }
}

#[test]
fn p67_after_an_approval_the_same_session_goes_on_and_no_program_is_started_but_runs_own() {
    let traced = Home::new()
        .run(&["strace", "-o", "/dev/null", "true"], "")
        .status
        .success();
    for kind in KINDS {
        let home = Home::new();
        let (s, p) = home.proposed(kind);
        let before = home.json(&["ring-session", "list"], "").as_array().unwrap().len();
        let programs = |words: &[&str]| -> Vec<String> {
            let log = home.path("trace");
            let strace = ["strace", "-f", "-qq", "-e", "trace=execve", "-o", log.to_str().unwrap()];
            let own = home.command(words).get_program().to_str().unwrap().to_owned();
            let words: Vec<&str> = std::iter::once(&*own).chain(words[1..].iter().copied()).collect();
            let mut command = home.command(&if traced { [&strace[..], &words].concat() } else { words });
            let out = feed(command.env("REPORT", report("met")).env("RING_NO_NOTIFY", "0"), b"");
            assert!(out.status.success(), "{}", text(&out.stderr));
            let log = fs::read_to_string(log).unwrap_or_default();
            let started = log.lines().filter(|l| l.contains("execve(") && l.ends_with(" = 0"));
            started
                .map(|l| l.split('"').nth(1).unwrap().rsplit('/').next().unwrap().to_owned())
                .collect()
        };
        let approved = programs(&["ring-plan", "approve", &p, "--permission", "auto"]);
        assert!(!traced || approved == ["ring-plan"], "{approved:?}");
        assert_eq!(home.execution(&p)["state"], "queued");
        assert!(home.record(&s.id)["turn"].is_null(), "nothing begins by itself");
        let ran = programs(&["ring-plan", "run", &p, "--", "sh", "-c", GOOD]);
        let rest = ran.iter().filter(|n| *n != "ring-plan");
        // the end of a turn rings
        let rest: Vec<&String> = rest.filter(|n| *n != "ring-notify").collect();
        assert!(!traced || rest == ["sh", "cat"], "{ran:?}");
        assert_eq!(
            home.json(&["ring-session", "list"], "").as_array().unwrap().len(),
            before
        );
        assert_eq!(home.execution(&p)["state"], "completed");
        home.is_free(&s);
    }
}

#[test]
fn p73_an_execution_that_run_has_outlasts_the_hooks_of_its_session() {
    let home = Home::new();
    let id = "claude-code-s1";
    home.silent("UserPromptSubmit", "default", json!({"prompt": "x"}));
    let turn = str_of(&home.record(id)["turn"]["id"]);
    home.says(&["ring-plan", "enter", id, "--turn", &turn, "--call", "e"]);
    let words = ["ring-plan", "submit", id, "--kind", "plan", "--turn", &turn];
    let words = [&words[..], &["--call", "c1", "--title", "T", "--question", "Q"]].concat();
    let p = str_of(&home.json(&words, TEXT)["id"]);
    home.silent("Stop", "default", json!({}));
    home.approve(&p, "ask");
    let words = [
        "ring-plan",
        "run",
        &p,
        "--",
        "sh",
        "-c",
        "touch here; while [ ! -e go ]; do sleep 0.05; done",
    ];
    let child = start(&mut home.command(&words), b"");
    eventually("the command", || home.project().join("here").exists());
    let turn = home.execution(&p)["turn_id"].clone();
    let read = json!({"tool_name": "Read", "tool_use_id": "t", "tool_input": {}});
    home.silent("PreToolUse", "default", read.clone());
    home.silent("PostToolUse", "default", read);
    home.silent("PostToolUse", "default", exit_plan("toolu_1"));
    home.silent("Stop", "default", json!({}));
    home.silent("SessionEnd", "default", json!({"reason": "other"}));
    assert_eq!(home.execution(&p)["state"], "running");
    assert_eq!(home.record(id)["turn"]["id"], turn);
    fs::write(home.project().join("go"), "").unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert_eq!(home.execution(&p)["state"], "completed");
}
