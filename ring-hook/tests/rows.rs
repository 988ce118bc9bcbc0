//! Rows in their files, by the program itself: damage, crowds, modes, processes, rings, and `show`.
#![allow(clippy::unwrap_used, missing_docs)]

use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

const NOW: i64 = 1_800_000_000_000;

/// A home of its own, a state folder, a process table, and the program alone in a folder.
struct Place {
    root: TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place {
            root: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(place.at("bin")).unwrap();
        fs::create_dir(place.at("proc")).unwrap();
        place
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn row_file(&self) -> PathBuf {
        self.at("state/status/claude-code:s.json")
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.root.path())
            .env("RING_STATE_DIR", self.at("state"))
            .env("RING_CONFIG", self.at("config.toml"))
            .env("RING_PROC_DIR", self.at("proc"))
            .env("RING_NOW_MS", NOW.to_string())
            .env("RING_NO_NOTIFY", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn hook(&self, arguments: &[&str]) -> Command {
        self.command(Path::new(env!("CARGO_BIN_EXE_ring-hook")), arguments)
    }

    /// A silent hook of Claude Code.
    fn take(&self, payload: &Value) {
        let out = feed(&mut self.hook(&["--agent", "claude-code"]), payload);
        assert!(out.status.success());
        assert_eq!((text(&out.stdout), text(&out.stderr)), (String::new(), String::new()));
    }

    fn row(&self) -> Value {
        serde_json::from_slice(&fs::read(self.row_file()).unwrap()).unwrap()
    }

    fn write_row(&self, bytes: &[u8]) {
        fs::create_dir_all(self.at("state/status")).unwrap();
        fs::write(self.row_file(), bytes).unwrap();
    }

    fn log(&self) -> String {
        fs::read_to_string(self.at("state/hook-errors.log")).unwrap_or_default()
    }

    /// A process of the table: its line of `stat` and its arguments.
    fn process(&self, pid: u32, parent: u32, name: &str, ticks: u64, arguments: &[&str]) {
        let dir = self.at("proc").join(pid.to_string());
        fs::create_dir_all(&dir).unwrap();
        let zeros = "0 ".repeat(14);
        let terminal = (136 << 8) | 3;
        let stat = format!("{pid} ({name}) S {parent} 1 1 {terminal} {zeros}{ticks} 0 0\n");
        fs::write(dir.join("stat"), stat).unwrap();
        fs::write(dir.join("cmdline"), arguments.join("\0") + "\0").unwrap();
    }

    /// This test as a shell below `parent`: it is what starts the hook.
    fn below(&self, parent: u32) {
        self.process(std::process::id(), parent, "sh", 1, &["sh", "-c", "ring-hook"]);
        fs::create_dir_all(self.at("proc/sys/kernel/random")).unwrap();
        fs::write(self.at("proc/sys/kernel/random/boot_id"), "9a3c1d20-aaaa\n").unwrap();
        fs::create_dir_all(self.at("proc/self/ns")).unwrap();
        if !self.at("proc/self/ns/pid").is_symlink() {
            symlink("pid:[77]", self.at("proc/self/ns/pid")).unwrap();
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn start(command: &mut Command, payload: &Value) -> Child {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that reads nothing may be gone by now.
    stdin.write_all(payload.to_string().as_bytes()).unwrap_or_default();
    child
}

fn feed(command: &mut Command, payload: &Value) -> Output {
    start(command, payload).wait_with_output().unwrap()
}

fn event(name: &str) -> Value {
    json!({"session_id": "s", "hook_event_name": name, "cwd": "/w/app"})
}

fn asks() -> Value {
    json!({"session_id": "s", "hook_event_name": "Notification", "notification_type": "permission_prompt",
           "message": "may I"})
}

#[test]
fn h61_a_row_that_cannot_be_read_counts_as_absent() {
    for damage in [
        &b""[..],
        b"[1,2]",
        b"null",
        b"{\"schema\":1,\"seq\":9",
        b"\xff\xfe\0",
        b"{}{}",
    ] {
        let place = Place::new();
        place.write_row(damage);
        place.take(&event("Stop"));
        let row = place.row();
        assert_eq!((&row["status"], &row["seq"]), (&json!("idle"), &json!(1)), "{damage:?}");
    }
}

#[test]
fn h61_wrong_types_are_defaults_and_unknown_members_stay() {
    let place = Place::new();
    place.write_row(
        br#"{"schema":1,"key":[],"seq":4,"waits":"none","turn":7,"children":[5],"term":{"later":1e400},"cwd":9,
             "tomorrow":123456789012345678901234567890,"odd":"\ud800","process":{"pid":"x"}}"#,
    );
    place.take(&event("Stop"));
    let written = fs::read_to_string(place.row_file()).unwrap();
    for kept in [
        r#""seq":5,"#,
        r#""key":"claude-code:s""#,
        r#""tomorrow":123456789012345678901234567890"#,
        r#""odd":"\ud800""#,
        r#""later":1e400"#,
        r#""process":null"#,
        r#""since_ms":1800000000000"#,
    ] {
        assert!(written.contains(kept), "{kept} in {written}");
    }
}

#[test]
fn h61_a_newer_row_is_read_and_never_written() {
    let place = Place::new();
    let newer = br#"{"schema":99,"key":"claude-code:s","agent":"claude-code","session_id":"s","status":"idle"}"#;
    place.write_row(newer);
    place.take(&event("Stop"));
    assert_eq!(fs::read(place.row_file()).unwrap(), newer);
    assert!(place.log().contains("SCHEMA_NEWER"));
    let out = feed(&mut place.hook(&["--strict"]), &event("SessionEnd"));
    assert_eq!(out.status.code(), Some(6));
    assert!(text(&out.stderr).contains("[SCHEMA_NEWER]"));
    assert_eq!(fs::read(place.row_file()).unwrap(), newer);
    let shown = feed(&mut place.hook(&["show", "s"]), &Value::Null);
    assert!(shown.status.success(), "{}", text(&shown.stderr));
}

#[test]
fn h62_two_hundred_hooks_of_one_session_are_all_counted() {
    let place = Place::new();
    let hooks: Vec<Child> = (0..200)
        .map(|n| {
            let mut payload = event("PreToolUse");
            payload["tool_use_id"] = json!(format!("u{n}"));
            payload["tool_name"] = json!("Bash");
            start(place.hook(&[]).env("RING_LOCK_MS", "60000"), &payload)
        })
        .collect();
    for hook in hooks {
        assert!(hook.wait_with_output().unwrap().status.success());
    }
    assert_eq!(place.row()["seq"], 200);
    assert!(fs::read_dir(place.at("state/status/.locks")).unwrap().count() <= 64);
    assert_eq!(place.log(), "");
}

#[test]
fn h62_a_hook_that_is_killed_leaves_no_half_row_and_no_lock() {
    let place = Place::new();
    place.take(&event("SessionStart"));
    let mut seq = 1;
    for n in 0..60 {
        let mut payload = event("PreToolUse");
        payload["tool_use_id"] = json!(format!("u{n}"));
        let mut hook = start(&mut place.hook(&[]), &payload);
        // Somewhere in its short life: reading its name takes about as long as it lives.
        for _ in 0..n {
            std::hint::black_box(fs::read(format!("/proc/{}/stat", hook.id())).unwrap_or_default());
        }
        hook.kill().unwrap();
        hook.wait().unwrap();
        let row = place.row();
        let now = row["seq"].as_u64().unwrap();
        assert!(now == seq || now == seq + 1, "{now} after {seq}");
        seq = now;
    }
    place.take(&event("Stop"));
    assert_eq!(place.row()["seq"], seq + 1, "the lock of the killed is free");
}

#[test]
fn h63_nothing_is_readable_for_others_whatever_the_umask_says() {
    let place = Place::new();
    let hook = env!("CARGO_BIN_EXE_ring-hook");
    let mut shell = place.command(Path::new("/bin/sh"), &["-c", "umask 000; exec \"$0\"", hook]);
    assert!(feed(&mut shell, &event("Stop")).status.success());
    let mut folders = vec![place.at("state")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        assert_eq!(
            fs::metadata(&folder).unwrap().permissions().mode() & 0o777,
            0o700,
            "{folder:?}"
        );
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                assert_eq!(
                    fs::metadata(&path).unwrap().permissions().mode() & 0o777,
                    0o600,
                    "{path:?}"
                );
                seen += 1;
            }
        }
    }
    assert!(seen >= 3, "row, lock, event line");
}

#[test]
fn h52_the_process_above_the_hook_is_the_sessions() {
    let place = Place::new();
    place.process(4242, 1, "claude", 900, &["claude"]);
    place.below(4242);
    place.take(&event("SessionStart"));
    let row = place.row();
    assert_eq!(
        row["process"],
        json!({"pid": 4242, "start_ticks": 900, "name": "claude", "server": false})
    );
    assert_eq!(
        (&row["host"]["boot"], &row["host"]["pid_ns"]),
        (&json!("9a3c1d20"), &json!(77))
    );
    assert_eq!(row["term"]["tty"], "/dev/pts/3");
    // The same pid, started anew.
    place.process(4242, 1, "claude", 901, &["claude", "--resume", "s"]);
    let mut again = event("SessionStart");
    again["source"] = json!("resume");
    place.take(&again);
    assert_eq!(place.row()["process"]["start_ticks"], 901);
    // Lookup fails: the old one stays.
    fs::remove_dir_all(place.at("proc/4242")).unwrap();
    again["source"] = json!("clear");
    place.take(&again);
    assert_eq!(place.row()["process"]["start_ticks"], 901);
}

#[test]
fn h76_sessions_of_a_server_have_no_terminal() {
    let place = Place::new();
    place.process(4242, 1, "codex", 900, &["codex", "app-server", "--managed-daemon"]);
    place.below(4242);
    let mut hook = place.hook(&["--agent", "codex"]);
    hook.env("TMUX_PANE", "%7").env("TMUX", "/tmp/tmux-1000/default,1,0");
    assert!(feed(&mut hook, &event("UserPromptSubmit")).status.success());
    let row: Value = serde_json::from_slice(&fs::read(place.at("state/status/codex:s.json")).unwrap()).unwrap();
    assert_eq!(row["process"]["server"], true);
    assert_eq!(
        row["term"],
        json!({"tty": "", "tmux_pane": "", "tmux_socket": "", "other": ""})
    );
}

#[test]
fn a_pane_of_tmux_is_taken_from_the_environment() {
    let place = Place::new();
    let mut hook = place.hook(&[]);
    hook.env("TMUX_PANE", "%7").env("TMUX", "/tmp/tmux-1000/default,1,0");
    assert!(feed(&mut hook, &event("SessionStart")).status.success());
    assert_eq!(place.row()["term"]["tmux_pane"], "%7");
    assert_eq!(place.row()["term"]["tmux_socket"], "/tmp/tmux-1000/default");
}

#[test]
fn h86_the_inherited_pid_counts_only_where_no_agent_is_above() {
    let pid_of = |above: &[&str], inherited: &[&str]| {
        let place = Place::new();
        place.process(4242, 1, above[0], 900, above);
        place.process(555, 1, inherited[0], 77, inherited);
        place.below(4242);
        let mut hook = place.hook(&["--agent", "claude-code"]);
        assert!(
            feed(hook.env("CLAUDE_PID", "555"), &event("SessionStart"))
                .status
                .success()
        );
        place.row()["process"]["pid"].clone()
    };
    assert_eq!(pid_of(&["claude"], &["claude"]), 4242);
    assert_eq!(pid_of(&["bash"], &["claude"]), 555);
    assert_eq!(pid_of(&["bash"], &["vim"]), Value::Null);
    assert_eq!(pid_of(&["codex"], &["claude"]), Value::Null);
}

/// A place with a `ring-notify` of its own beside a copy of the program; each ring is one message through a pipe.
fn with_ring(script: &str) -> (Place, PathBuf, PathBuf) {
    let place = Place::new();
    let program = place.at("bin/ring-hook");
    fs::copy(env!("CARGO_BIN_EXE_ring-hook"), &program).unwrap();
    fresh(&program);
    let pipe = place.at("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let notify = place.at("bin/ring-notify");
    fs::write(
        &notify,
        format!("#!/bin/sh\n{}\n", script.replace("PIPE", &pipe.to_string_lossy())),
    )
    .unwrap();
    fs::set_permissions(&notify, fs::Permissions::from_mode(0o755)).unwrap();
    fresh(&notify);
    (place, program, pipe)
}

#[test]
fn h68_h85_a_new_wait_starts_one_ring_without_the_agents_secret() {
    let (place, program, pipe) = with_ring(r#"{ echo "$*"; env; } > PIPE"#);
    let ring = |agent: &str, payload: &Value| {
        let mut hook = place.command(&program, &["--agent", agent]);
        hook.env_remove("RING_NO_NOTIFY")
            .env("CLAUDE_CODE_MESSAGING_TOKEN", "SECRET");
        assert!(feed(&mut hook, payload).status.success());
    };
    let told = || fs::read_to_string(&pipe).unwrap();
    ring("claude-code", &asks());
    let first = told();
    assert!(first.starts_with("deliver --session claude-code:s\n"), "{first}");
    assert!(
        first.contains("RING_STATE_DIR=") && !first.contains("SECRET"),
        "{first}"
    );
    // The same again and a tool are none; the next message is that of Codex's silent request.
    ring("claude-code", &asks());
    ring("claude-code", &event("PostToolUse"));
    ring(
        "codex",
        &json!({"session_id": "c", "hook_event_name": "PermissionRequest", "tool_name": "Bash",
                "tool_input": {"command": "git push"}}),
    );
    let second = told();
    assert!(
        second.starts_with("deliver --session codex:c --after 11s\n"),
        "{second}"
    );
    let everything = Command::new("grep")
        .args(["-r", "SECRET"])
        .arg(place.at("state"))
        .output()
        .unwrap();
    assert_eq!(everything.status.code(), Some(1), "{}", text(&everything.stdout));
}

#[test]
fn h68_a_ring_that_hangs_holds_nobody_up() {
    let (place, program, pipe) = with_ring("read word < PIPE");
    let take = |payload: &Value| {
        let mut hook = place.command(&program, &["--strict"]);
        let out = feed(hook.env_remove("RING_NO_NOTIFY").env("RING_LOCK_MS", "0"), payload);
        assert!(out.status.success(), "{}", text(&out.stderr));
    };
    take(&asks());
    take(&event("Stop"));
    assert_eq!(place.row()["status"], "idle");
    fs::write(&pipe, "go\n").unwrap();
}

#[test]
fn h68_without_a_ring_program_the_row_is_all() {
    let place = Place::new();
    let program = place.at("bin/ring-hook");
    fs::copy(env!("CARGO_BIN_EXE_ring-hook"), &program).unwrap();
    fresh(&program);
    let mut hook = place.command(&program, &["--strict"]);
    assert!(
        feed(hook.env_remove("RING_NO_NOTIFY").env("PATH", place.at("bin")), &asks())
            .status
            .success()
    );
    assert_eq!(place.row()["status"], "waiting");
}

#[test]
fn show_finds_a_session_by_key_id_and_beginning() {
    let place = Place::new();
    let show = |key: &str, json: bool| {
        let arguments: &[&str] = if json {
            &["--format", "json", "show", key]
        } else {
            &["show", key]
        };
        feed(&mut place.hook(arguments), &Value::Null)
    };
    for (agent, id) in [
        ("claude-code", "3f2a77"),
        ("claude-code", "3f2a99"),
        ("codex", "3f2a99"),
        ("codex", "abc"),
    ] {
        let mut payload = asks();
        payload["session_id"] = json!(id);
        assert!(feed(&mut place.hook(&["--agent", agent]), &payload).status.success());
    }
    let found = |key: &str| {
        let out = show(key, true);
        assert!(out.status.success(), "{key}: {}", text(&out.stderr));
        let row: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(row["view"]["status"], "waiting");
        assert_eq!(
            (&row["view"]["rule"], &row["view"]["waits"]),
            (&json!("V4"), &row["waits"])
        );
        row["key"].as_str().unwrap().to_owned()
    };
    assert_eq!(found("claude-code:3f2a77"), "claude-code:3f2a77");
    assert_eq!(found("3f2a77"), "claude-code:3f2a77");
    assert_eq!(found("3f2a7"), "claude-code:3f2a77");
    assert_eq!(found("codex:3"), "codex:3f2a99");
    assert_eq!(found("abc"), "codex:abc");
    for (key, code, name) in [
        ("3f2a99", 64, "AMBIGUOUS"),
        ("3f2a", 64, "AMBIGUOUS"),
        ("3f2", 3, "SESSION_NOT_FOUND"),
        ("ab", 3, "SESSION_NOT_FOUND"),
        ("nowhere", 3, "SESSION_NOT_FOUND"),
        ("../status/codex:abc", 3, "SESSION_NOT_FOUND"),
    ] {
        let out = show(key, false);
        assert_eq!(out.status.code(), Some(code), "{key}");
        assert!(text(&out.stderr).contains(name), "{}", text(&out.stderr));
        assert!(out.stdout.is_empty());
    }
    let human = text(&show("abc", false).stdout);
    assert!(
        human.starts_with("codex:abc  waiting for 0s\n") && human.contains("permission: may I"),
        "{human}"
    );
}

/// The same program in a file that only another process has written: while this one had it open, a child that another
/// test has just started may hold it open, too, and the system then refuses to run it.
fn fresh(path: &std::path::Path) {
    let copy = "cp -p \"$0\" \"$0.new\" && mv \"$0.new\" \"$0\"";
    let done = std::process::Command::new("sh").args(["-c", copy]).arg(path).status();
    assert!(done.unwrap().success());
}
