//! Outlets as they are: real terminals, servers and programs.
//!
//! What an outlet does depends on the environment, so a message is sent by a process of its own: this test program, which
//! runs nothing but [`child`].

mod desktop;
mod programs;
mod pty;
mod screen;
mod secure;
mod tmux;
mod web;
mod web_server;

use super::{Fate, send, usable};
use crate::message::{Facts, Message, Place};
use crate::outlet::{Ntfy, Preset, Secret, Terminal, Way, Webhook};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take that should come at once.
const SOON: Duration = Duration::from_secs(10);
const VARIABLE: &str = "RING_SEND_CHILD";

/// What a child is to send.
#[derive(Clone, Debug)]
struct Job {
    way: Value,
    title: String,
    body: Vec<String>,
    urgent: bool,
    place: Place,
}

/// What it said.
#[derive(Debug)]
struct Told {
    fate: String,
    usable: String,
    took: Duration,
    /// All that it printed.
    all: String,
}

impl Job {
    fn new(way: Value) -> Job {
        Job {
            way,
            title: "api: needs permission".into(),
            body: vec!["cargo test".into(), "pane %7".into()],
            urgent: false,
            place: Place::default(),
        }
    }

    fn titled(way: Value, title: &str, body: &[&str]) -> Job {
        Job {
            title: title.into(),
            body: body.iter().map(|l| (*l).to_owned()).collect(),
            ..Job::new(way)
        }
    }

    fn at(mut self, place: Place) -> Job {
        self.place = place;
        self
    }

    fn send(&self, environment: &[(&str, &str)]) -> Told {
        let p = &self.place;
        let place = json!([p.tty, p.tmux_pane, p.tmux_socket, p.process.0, p.process.1, p.own]);
        let job =
            json!({"way": self.way, "title": self.title, "body": self.body, "urgent": self.urgent, "place": place});
        let out = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "send::tests::child", "--nocapture", "--test-threads=1"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin:/usr/local/bin")
            .env("XDG_RUNTIME_DIR", "/nonexistent")
            .env(VARIABLE, job.to_string())
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let all = String::from_utf8(out.stdout).unwrap() + &String::from_utf8(out.stderr).unwrap();
        let line = |name: &str| {
            let found = all.lines().find_map(|l| l.split_once(&format!("{name}=")));
            found.unwrap_or_else(|| panic!("no {name} in {all}")).1.to_owned()
        };
        let (usable, fate, took) = (line("usable"), line("fate"), line("took"));
        Told {
            fate,
            usable,
            took: Duration::from_millis(took.parse().unwrap()),
            all,
        }
    }
}

/// The fate as a child tells it.
fn said(fate: &Fate) -> String {
    format!("{fate:?}")
}

/// Not a test of its own: sends what the environment says, if it does.
#[test]
fn child() {
    let Ok(job) = std::env::var(VARIABLE) else { return };
    let job: Value = serde_json::from_str(&job).unwrap();
    let way = way(&job["way"]);
    let body: Vec<String> = job["body"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| text(l).to_owned())
        .collect();
    let place = &job["place"];
    let number = |n: usize| place[n].as_u64().unwrap();
    let message = Message {
        title: text(&job["title"]).into(),
        facts: Facts {
            schema: 1,
            id: "wait:claude-code:3f2a:1".into(),
            kind: "wait.permission".into(),
            urgent: job["urgent"].as_bool().unwrap(),
            title: text(&job["title"]).into(),
            body: body.join("\n"),
            session: "claude-code:3f2a".into(),
            ..Facts::default()
        },
        body,
        place: Place {
            tty: text(&place[0]).into(),
            tmux_pane: text(&place[1]).into(),
            tmux_socket: text(&place[2]).into(),
            process: (number(3).try_into().unwrap(), number(4)),
            own: place[5].as_bool().unwrap(),
        },
        key: "wait:claude-code:3f2a:1/0/phone".into(),
        outlet: "phone".into(),
    };
    println!("\nusable={:?}", usable(&way));
    let started = Instant::now();
    println!("fate={:?}", send(&way, &message));
    println!("took={}", started.elapsed().as_millis());
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn secret(value: &Value) -> Secret {
    match (value.as_str(), value["env"].as_str(), value["file"].as_str()) {
        (Some(value), _, _) => Secret::Value(value.into()),
        (_, Some(name), _) => Secret::Env(name.into()),
        (_, _, Some(path)) => Secret::File(path.into()),
        _ => Secret::None,
    }
}

fn way(value: &Value) -> Way {
    let terminal = Terminal {
        tty: value["tty"].as_str().map(PathBuf::from),
    };
    let preset = match text(&value["preset"]) {
        "slack" => Preset::Slack,
        "discord" => Preset::Discord,
        _ => Preset::Generic,
    };
    let words = |name: &str| -> Vec<String> {
        let list = value[name].as_array().cloned().unwrap_or_default();
        list.iter().map(|w| text(w).to_owned()).collect()
    };
    match text(&value["type"]) {
        "bell" => Way::Bell(terminal),
        "osc9" => Way::Osc9(terminal),
        "osc777" => Way::Osc777(terminal),
        "osc99" => Way::Osc99(terminal),
        "tmux" => Way::Tmux,
        "notify-send" => Way::NotifySend,
        "osascript" => Way::Osascript,
        "terminal-notifier" => Way::TerminalNotifier {
            sound: text(&value["sound"]).into(),
        },
        "command" => Way::Command { argv: words("argv") },
        "ntfy" => Way::Ntfy(Ntfy {
            url: secret(&value["url"]),
            topic: text(&value["topic"]).into(),
            token: secret(&value["token"]),
            user: secret(&value["user"]),
            password: secret(&value["password"]),
            priority: value["priority"].as_u64().map(|p| u8::try_from(p).unwrap()),
            tags: words("tags"),
            click: text(&value["click"]).into(),
        }),
        "webhook" => Way::Webhook(Webhook {
            url: secret(&value["url"]),
            preset,
            headers: value["headers"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(n, v)| (n.clone(), secret(v)))
                .collect(),
        }),
        "auto" => Way::Auto,
        other => panic!("no way {other:?}"),
    }
}

/// A program, written by another process: one that this process had open for writing could not be run while another
/// test forks.
fn program(folder: &Path, name: &str, script: &str) -> PathBuf {
    let path = folder.join(name);
    let mut shell = Command::new("sh")
        .args(["-c", "cat >\"$0\" && chmod 755 \"$0\""])
        .arg(&path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    shell.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(shell.wait().unwrap().success());
    path
}

/// A program that writes its arguments to a file beside it, each with a NUL behind it.
fn recorder(folder: &Path, name: &str) -> PathBuf {
    let script = "#!/bin/sh\nfor a; do printf '%s\\0' \"$a\"; done >\"$0.new\"\nmv \"$0.new\" \"$0.seen\"\n";
    program(folder, name, script)
}

fn recorded(program: &Path) -> Vec<String> {
    let seen = fs::read_to_string(format!("{}.seen", program.display())).unwrap();
    seen.split_terminator('\0').map(str::to_owned).collect()
}

/// Waits until something is so.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < SOON, "{what} did not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_installed(name: &str) -> bool {
    let found = super::program::find(name).is_some();
    if !found {
        eprintln!("skipped: {name} is not installed");
    }
    found
}
