//! The examples of README, as they stand there, run by a shell with the real program.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its place has failed")]

use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_ring-session");

/// A home whose `claude` is a program that reads a prompt and prints an answer, and fails if the prompt says so.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Home {
        let home = Home(tempfile::tempdir().unwrap());
        let agent = home.path("bin/claude");
        fs::create_dir_all(agent.parent().unwrap()).unwrap();
        let script =
            "#!/bin/sh\nprompt=$(cat)\necho \"answer to: $prompt\"\ncase $prompt in *please?fail*) exit 3;; esac\n";
        fs::write(&agent, script).unwrap();
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
        fresh(&agent);
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, program: &str) -> Command {
        let ours = Path::new(PROGRAM).parent().unwrap().to_owned();
        let path = std::env::join_paths([ours, self.path("bin"), "/usr/bin".into(), "/bin".into()]).unwrap();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.0.path())
            .env("RING_STATE_DIR", self.path("state"))
            .env("RING_NO_NOTIFY", "1")
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", path)
            .current_dir(self.0.path())
            .stdin(Stdio::null());
        command
    }

    fn sh(&self, script: &str) -> Output {
        self.command("sh").args(["-euc", script]).output().unwrap()
    }

    fn ring(&self, args: &[&str]) -> Output {
        self.command(PROGRAM).args(args).output().unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let out = self.ring(&[&["--format", "json"], args].concat());
        assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap()
    }

    fn sessions(&self) -> Vec<String> {
        let list = self.json(&["list"]);
        let ids = list
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["id"].as_str().unwrap().to_owned());
        ids.collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The shell scripts of README's passage about sessions.
fn scripts() -> Vec<String> {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md")).unwrap();
    let passage = readme.split("\n## Sessions").nth(1).unwrap();
    let passage = passage.split("\n## ").next().unwrap();
    let blocks = passage.split("```sh\n").skip(1);
    blocks.map(|b| b.split("```").next().unwrap().to_owned()).collect()
}

/// Role and text of each message.
fn messages(home: &Home, id: &str) -> Vec<(String, String)> {
    let rows = home.json(&["transcript", id]);
    let rows = rows.as_array().unwrap().iter();
    let word = |v: &Value| v.as_str().unwrap().trim_end().to_owned();
    rows.map(|r| (word(&r["role"]), word(&r["blocks"][0]["text"])))
        .collect()
}

fn said(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(r, t)| ((*r).to_owned(), (*t).to_owned())).collect()
}

#[test]
fn the_main_flow_of_readme_runs_from_new_to_delete() {
    let home = Home::new();
    let out = home.sh(&scripts()[1]);
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    let printed = text(&out.stdout);
    assert!(printed.contains("allow-once\n"), "{printed}");
    assert_eq!(
        printed.matches("answer to: Ask for a review.").count(),
        2,
        "run and transcript: {printed}"
    );
    let ids = home.sessions();
    assert_eq!(ids.len(), 1, "the fork is gone");
    let expected = said(&[
        ("user", "Push the branch."),
        ("assistant", "I will push."),
        ("user", "Open a pull request."),
        ("assistant", "answer to: Open a pull request."),
        ("user", "Ask for a review."),
        ("assistant", "answer to: Ask for a review."),
        ("user", "Then tidy up."),
        ("assistant", "answer to: Then tidy up."),
    ]);
    assert_eq!(messages(&home, &ids[0]), expected);
    let session = home.json(&["show", &ids[0]]);
    let turns = session["turns"].as_array().unwrap();
    let how: Vec<(&str, &str)> = turns
        .iter()
        .map(|t| (t["origin"].as_str().unwrap(), t["status"].as_str().unwrap()))
        .collect();
    assert_eq!(
        how,
        [
            ("begin", "completed"),
            ("queue", "completed"),
            ("queue", "completed"),
            ("queue", "completed")
        ]
    );
    assert_eq!(session["permissions"][0]["decision"], "allow-once");
    assert_eq!(session["notifications"].as_array().unwrap().len(), 4);
    assert_eq!(
        (session["status"].as_str(), session["title"].as_str()),
        (Some("idle"), Some("Push the branch"))
    );
    assert_eq!(
        fs::read_dir(home.path("state/sessions")).unwrap().count(),
        1,
        "nothing else is left"
    );
}

#[test]
fn the_queue_of_readme_is_worked_off_in_order_and_its_turns_know_their_project() {
    let home = Home::new();
    let out = home.sh(&scripts()[0]);
    assert!(out.status.success(), "{}{}", text(&out.stdout), text(&out.stderr));
    let ids = home.sessions();
    let prompts: Vec<String> = messages(&home, &ids[0])
        .into_iter()
        .filter(|(role, _)| role == "user")
        .map(|(_, text)| text.chars().take(9).collect())
        .collect();
    assert_eq!(prompts, ["The login", "Run all t", "Write the"]);
    let project = home.json(&["show", &ids[0]])["project"].clone();
    assert_eq!(project.as_str(), fs::canonicalize(home.0.path()).unwrap().to_str());
}

#[test]
fn s48_after_a_reboot_the_queue_is_there_in_order_and_the_same_command_goes_on() {
    let home = Home::new();
    home.ring(&["new", "--id", "s"]);
    for prompt in ["one", "please fail", "three"] {
        assert!(home.ring(&["queue", "push", "s", prompt]).status.success());
    }
    let drain = ["run", "s", "--drain", "--pause-on-failure", "--", "claude"];
    assert_eq!(home.ring(&drain).status.code(), Some(1), "the second one fails");
    let record = home.path("state/sessions/s/session.json");
    let mut stored: Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    assert_eq!(stored["queue"]["held"], true);
    // as another boot finds it
    stored["queue"]["held"] = false.into();
    stored["queue"]["boot"] = "00000000".into();
    fs::write(&record, stored.to_string()).unwrap();
    let list = home.json(&["queue", "list", "s"]);
    assert_eq!(
        (&list["held"], &list["entries"][0]["content"]),
        (&true.into(), &"three".into())
    );
    assert_eq!(home.ring(&["queue", "next", "s"]).status.code(), Some(4));
    assert!(home.ring(&drain).status.success());
    assert_eq!(messages(&home, "s").last().unwrap().1, "answer to: three");
}

/// The same program in a file that only another process has written: while this one had it open, a child that another
/// test has just started may hold it open, too, and the system then refuses to run it.
fn fresh(path: &std::path::Path) {
    let copy = "cp -p \"$0\" \"$0.new\" && mv \"$0.new\" \"$0\"";
    let done = std::process::Command::new("sh").args(["-c", copy]).arg(path).status();
    assert!(done.unwrap().success());
}
