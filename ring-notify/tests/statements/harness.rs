//! Homes for these tests: an empty place with a project, a scrubbed environment, and the programs as users run them.

use ring_session::Code;
use serde_json::{Value, json};
use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The clock of these tests.
pub const NOW: i64 = 1_800_000_000_000;

/// A program of the workspace, beside the one that is tested.
fn bin(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_ring-notify")).with_file_name(name);
    assert!(path.exists(), "{} is missing; run cargo build first", path.display());
    path
}

/// A home of its own, removed at the end.
pub struct Home {
    dir: tempfile::TempDir,
    now: Cell<i64>,
}

impl Home {
    /// A home on the real machine, its clock at [`NOW`], with an empty project.
    pub fn new() -> Home {
        let home = Home {
            dir: tempfile::tempdir().unwrap(),
            now: Cell::new(NOW),
        };
        fs::create_dir(home.project()).unwrap();
        home
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn project(&self) -> PathBuf {
        self.path("proj")
    }

    /// Sets the clock, in milliseconds after [`NOW`].
    pub fn after(&self, ms: i64) -> &Home {
        self.now.set(NOW + ms);
        self
    }

    /// The settings file.
    pub fn settings(&self, text: &str) {
        fs::write(self.path("config.toml"), text).unwrap();
    }

    /// A command line; without the name of a program, one of ring-notify.
    pub fn command(&self, words: &[&str]) -> Command {
        let (program, words) = match words {
            [name, rest @ ..] if name.starts_with("ring-") => (bin(name), rest),
            _ => (bin("ring-notify"), words),
        };
        let mut command = Command::new(program);
        command
            .args(words)
            .env_clear()
            .env("HOME", self.dir.path())
            .env("RING_STATE_DIR", self.path("state"))
            .env("RING_CONFIG", self.path("config.toml"))
            .env("RING_NO_NOTIFY", "1")
            .env("RING_NOW_MS", self.now.get().to_string())
            .env("TZ", "UTC")
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command line.
    pub fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs a command line that reads `stdin`.
    pub fn feed(&self, words: &[&str], stdin: impl AsRef<[u8]>) -> Output {
        start(&mut self.command(words), stdin.as_ref())
            .wait_with_output()
            .unwrap()
    }

    /// What a command that succeeds prints for people, without the last line's end.
    pub fn says(&self, words: &[&str]) -> String {
        let out = self.run(words);
        assert_eq!(out.status.code(), Some(0), "{words:?}: {}", text(&out.stderr));
        let printed = text(&out.stdout);
        printed.strip_suffix('\n').unwrap_or(&printed).to_owned()
    }

    /// What a command that succeeds prints as JSON: one document, and nothing else.
    pub fn json(&self, words: &[&str]) -> Value {
        let out = self.run(&as_json(words));
        assert_eq!(out.status.code(), Some(0), "{words:?}: {}", text(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{words:?}: {e}: {}", text(&out.stdout)))
    }

    /// The error of a command that is refused with `code`: its exit status is that of the code, its stdout empty.
    pub fn refused(&self, code: &str, words: &[&str]) -> Value {
        let out = self.run(&as_json(words));
        let stderr = text(&out.stderr);
        let error: Value = serde_json::from_str(stderr.lines().last().unwrap_or_default())
            .unwrap_or_else(|e| panic!("{words:?}: {e}: {stderr}{}", text(&out.stdout)));
        let error = error["error"].clone();
        assert_eq!(error["code"], code, "{words:?}: {error}");
        let known = Code::ALL.iter().find(|c| c.as_str() == code).unwrap();
        assert_eq!(out.status.code(), Some(i32::from(known.exit())), "{words:?}");
        assert!(out.stdout.is_empty(), "{words:?}: {}", text(&out.stdout));
        error
    }

    /// As [`Home::refused`], and no file has changed.
    pub fn refused_untouched(&self, code: &str, words: &[&str]) -> Value {
        let before = self.files();
        let error = self.refused(code, words);
        assert!(before == self.files(), "{words:?} has changed something");
        error
    }

    /// Every file of the home.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        tree(self.dir.path())
    }

    /// A new session.
    pub fn session(&self, title: &str) -> String {
        let project = self.project();
        self.says(&[
            "ring-session",
            "new",
            "--title",
            title,
            "--project",
            project.to_str().unwrap(),
        ])
    }

    /// A turn that begins.
    pub fn begin(&self, session: &str) -> String {
        self.says(&["ring-session", "begin", session, "go on"])
    }

    /// `end` with further words.
    pub fn end(&self, session: &str, turn: &str, words: &[&str]) -> Output {
        let head = ["ring-session", "end", session, "--turn", turn];
        self.run(&[&head[..], words].concat())
    }

    /// A whole turn that nobody saw; its id.
    pub fn turn(&self, session: &str, words: &[&str]) -> String {
        let turn = self.begin(session);
        let out = self.end(session, &turn, words);
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        turn
    }

    /// The inbox, read rows too, newest first.
    pub fn rows(&self) -> Vec<Value> {
        self.json(&["list", "--all"])["notifications"]
            .as_array()
            .unwrap()
            .clone()
    }

    /// The ids of the inbox.
    pub fn ids(&self) -> Vec<String> {
        self.rows().iter().map(|r| str_of(&r["id"])).collect()
    }

    pub fn record_path(&self, session: &str) -> PathBuf {
        self.path("state/sessions").join(session).join("session.json")
    }

    /// The stored record.
    pub fn record(&self, session: &str) -> Value {
        serde_json::from_slice(&fs::read(self.record_path(session)).unwrap()).unwrap()
    }

    /// Changes a stored record by hand.
    pub fn edit(&self, session: &str, change: impl FnOnce(&mut Value)) {
        let mut record = self.record(session);
        change(&mut record);
        self.write(session, &record);
    }

    /// Writes a record by hand.
    pub fn write(&self, session: &str, record: &Value) {
        let path = self.record_path(session);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, record.to_string()).unwrap();
    }

    /// The lines of the log.
    pub fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("state/events.jsonl")).unwrap_or_default();
        text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    }

    /// An event of Claude Code, to its status row.
    pub fn hook(&self, session: &str, name: &str, members: Value) {
        let mut payload = json!({"session_id": session, "transcript_path": self.path("t.jsonl"), "cwd": self.project(),
            "permission_mode": "default", "hook_event_name": name});
        for (key, value) in members.as_object().into_iter().flatten() {
            payload[key] = value.clone();
        }
        let out = self.feed(&["ring-hook", "--agent", "claude-code"], payload.to_string());
        assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    }

    /// A session of Claude Code that asks for a permission.
    pub fn wait(&self, session: &str) {
        self.hook(session, "UserPromptSubmit", json!({"prompt": "fix it"}));
        self.hook(
            session,
            "Notification",
            json!({"notification_type": "permission_prompt", "message": "Claude needs your permission to use Bash"}),
        );
    }
}

fn as_json<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["--format", "json"], words].concat()
}

/// Starts a command with bytes on its stdin, which is then closed.
pub fn start(command: &mut Command, stdin: &[u8]) -> Child {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // a program that ends before it has read everything is the caller's matter
    child.stdin.take().unwrap().write_all(stdin).unwrap_or_default();
    child
}

/// Every file, folder and link below a folder, with the bytes of the files.
pub fn tree(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(tree(&path));
        }
        let bytes = if kind.is_file() {
            fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        found.push((path, bytes));
    }
    found.sort();
    found
}

/// Bytes for a message.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A text of a value.
pub fn str_of(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
