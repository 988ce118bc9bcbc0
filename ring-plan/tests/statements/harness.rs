//! Homes for these tests: an empty place with a project, a scrubbed environment, and the programs as users run them.

#![allow(dead_code, reason = "each test program uses its own part")]

use ring_session::Code;
use serde_json::{Value, json};
use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The clock of these tests.
pub const NOW: i64 = 1_800_000_000_000;
/// Both kinds: each statement holds for both unless it names one.
pub const KINDS: [&str; 2] = ["plan", "goal"];
/// A text that is a plan, and a goal with one criterion.
pub const TEXT: &str = "# Build API v2\n\n1. read\n2. write\n\n## Acceptance criteria\n\n- all tests pass\n";
/// How long a child may take to get somewhere.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program of the workspace, beside the one that is tested.
fn bin(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_ring-plan")).with_file_name(name);
    assert!(path.exists(), "{} is missing; run cargo build first", path.display());
    path
}

/// A home of its own, removed at the end.
pub struct Home {
    dir: tempfile::TempDir,
    now: Cell<Option<i64>>,
    table: bool,
}

/// A session and its live turn.
#[derive(Clone, Debug)]
pub struct Session {
    pub id: String,
    pub turn: String,
}

impl Home {
    /// A home on the real machine, its clock at [`NOW`], with an empty project.
    pub fn new() -> Home {
        let home = Home {
            dir: tempfile::tempdir().unwrap(),
            now: Cell::new(Some(NOW)),
            table: false,
        };
        fs::create_dir(home.project()).unwrap();
        home
    }

    /// One with a process table of its own, which holds nobody.
    pub fn with_processes() -> Home {
        let home = Home {
            table: true,
            ..Home::new()
        };
        home.boot("9a3c1d20");
        fs::create_dir_all(home.path("proc/self/ns")).unwrap();
        std::os::unix::fs::symlink("pid:[4026531836]", home.path("proc/self/ns/pid")).unwrap();
        home
    }

    /// Whether it has a process table of its own.
    pub fn has_processes(&self) -> bool {
        self.table
    }

    /// The machine starts (again).
    pub fn boot(&self, boot: &str) {
        let dir = self.path("proc/sys/kernel/random");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("boot_id"), format!("{boot}-0000-4000-8000-000000000000\n")).unwrap();
    }

    /// A process lives.
    pub fn process(&self, pid: u32) {
        let dir = self.path(&format!("proc/{pid}"));
        fs::create_dir_all(&dir).unwrap();
        let stat = format!("{pid} (agent) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 77 0 0\n");
        fs::write(dir.join("stat"), stat).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn project(&self) -> PathBuf {
        self.path("proj")
    }

    /// Sets the clock, in milliseconds after [`NOW`].
    pub fn after(&self, ms: i64) -> &Home {
        self.now.set(Some(NOW + ms));
        self
    }

    /// From here on the clock is the real one.
    pub fn clock_runs(&self) {
        self.now.set(None);
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let program = match words[0] {
            name if name.starts_with("ring-") => bin(name),
            name => name.into(),
        };
        let mut command = Command::new(program);
        command
            .args(&words[1..])
            .env_clear()
            .env("HOME", self.dir.path())
            .env("RING_STATE_DIR", self.path("state"))
            .env("RING_CONFIG", self.path("config.toml"))
            .env("RING_NO_NOTIFY", "1")
            .env("TZ", "UTC")
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        if let Some(now) = self.now.get() {
            command.env("RING_NOW_MS", now.to_string());
        }
        if self.table {
            command.env("RING_PROC_DIR", self.path("proc"));
        }
        command
    }

    /// Runs a command line.
    pub fn run(&self, words: &[&str], stdin: impl AsRef<[u8]>) -> Output {
        feed(&mut self.command(words), stdin.as_ref())
    }

    /// What a command that succeeds prints for people, without the line's end.
    pub fn says(&self, words: &[&str]) -> String {
        let out = self.run(words, "");
        assert_eq!(out.status.code(), Some(0), "{words:?}: {}", text(&out.stderr));
        text(&out.stdout).trim_end_matches('\n').to_owned()
    }

    /// What a command that succeeds prints as JSON.
    pub fn json(&self, words: &[&str], stdin: impl AsRef<[u8]>) -> Value {
        let out = self.run(&as_json(words), stdin);
        assert_eq!(out.status.code(), Some(0), "{words:?}: {}", text(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{words:?}: {e}: {}", text(&out.stdout)))
    }

    /// The error of a command that is refused with `code`: its exit status is that of the code, its stdout empty.
    pub fn refused(&self, code: &str, words: &[&str], stdin: impl AsRef<[u8]>) -> Value {
        refusal(code, &self.run(&as_json(words), stdin), words)
    }

    /// As [`Home::refused`], and neither the record nor the project has changed.
    pub fn refused_untouched(&self, code: &str, session: &str, words: &[&str], stdin: impl AsRef<[u8]>) -> Value {
        let before = (self.record(session), tree(&self.project()));
        let error = self.refused(code, words, stdin);
        assert!(
            before == (self.record(session), tree(&self.project())),
            "{words:?} has changed something"
        );
        error
    }

    /// A new session in a mode, with a turn running.
    pub fn session(&self, mode: &str) -> Session {
        let project = self.project();
        let id = self.says(&[
            "ring-session",
            "new",
            "--project",
            project.to_str().unwrap(),
            "--mode",
            mode,
        ]);
        let turn = self.says(&["ring-session", "begin", &id, "go on"]);
        Session { id, turn }
    }

    /// The words of a submission.
    pub fn submission<'a>(&self, s: &'a Session, kind: &'a str, call: &'a str) -> Vec<&'a str> {
        let head = ["ring-plan", "submit", &s.id, "--kind", kind, "--turn", &s.turn];
        let tail = ["--call", call, "--title", "Build API v2", "--question", "Go ahead?"];
        [&head[..], &tail[..]].concat()
    }

    /// Submits [`TEXT`]; the row.
    pub fn submit(&self, s: &Session, kind: &str, call: &str) -> Value {
        self.json(&self.submission(s, kind, call), TEXT)
    }

    /// A session with a pending proposal whose turn is over; the proposal's id.
    pub fn proposed(&self, kind: &str) -> (Session, String) {
        let s = self.session(kind);
        let id = str_of(&self.submit(&s, kind, "c1")["id"]);
        self.end(&s);
        (s, id)
    }

    /// One whose proposal is approved; the execution's id.
    pub fn approved(&self, kind: &str) -> (Session, String, String) {
        let (s, p) = self.proposed(kind);
        let x = str_of(&self.approve(&p, "ask")["execution"]["id"]);
        (s, p, x)
    }

    /// One whose execution is claimed; the execution's id and the reserved turn.
    pub fn claimed(&self, kind: &str) -> (Session, String, String) {
        let (s, _, x) = self.approved(kind);
        let turn = self.says(&["ring-plan", "claim", &x]);
        (s, x, turn)
    }

    /// Claimed and begun.
    pub fn working(&self, kind: &str) -> (Session, String, String) {
        let (s, x, turn) = self.claimed(kind);
        self.says(&["ring-session", "begin", &s.id, "--turn", &turn]);
        (s, x, turn)
    }

    /// The execution of a proposal, by the id of either.
    pub fn execution(&self, id: &str) -> Value {
        let all = [
            self.json(&["ring-plan", "pending"], ""),
            self.json(&["ring-plan", "history"], ""),
        ];
        let rows = all.iter().flat_map(|l| l.as_array().unwrap());
        let mut own = rows.filter(|r| r["id"] == id || r["execution"]["id"] == id);
        own.next().unwrap()["execution"].clone()
    }

    /// The session is as after any end of an execution: agent mode, idle, and a turn can begin.
    pub fn is_free(&self, s: &Session) {
        let shown = self.status(&s.id);
        assert_eq!(
            (&shown["mode"], &shown["planning_state"]),
            (&json!("agent"), &json!("inactive"))
        );
        assert!(shown["turn"].is_null(), "{shown}");
        self.says(&["ring-session", "begin", &s.id, "the next"]);
    }

    pub fn approve(&self, proposal: &str, mode: &str) -> Value {
        self.json(&["ring-plan", "approve", proposal, "--permission", mode], "")
    }

    pub fn end(&self, s: &Session) {
        self.says(&["ring-session", "end", &s.id, "--turn", &s.turn, "completed"]);
    }

    pub fn show(&self, proposal: &str) -> Value {
        self.json(&["ring-plan", "show", proposal], "")
    }

    pub fn status(&self, session: &str) -> Value {
        self.json(&["ring-session", "show", session], "")
    }

    /// The stored record.
    pub fn record(&self, session: &str) -> Value {
        let path = self.path("state/sessions").join(session).join("session.json");
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    /// Changes the stored record, as a hand or another program would.
    pub fn edit(&self, session: &str, change: impl FnOnce(&mut Value)) {
        let mut record = self.record(session);
        change(&mut record);
        let path = self.path("state/sessions").join(session).join("session.json");
        fs::write(path, record.to_string()).unwrap();
    }

    /// The file of a row.
    pub fn artifact(&self, row: &Value) -> PathBuf {
        self.project().join(row["artifact"]["path"].as_str().unwrap())
    }

    /// One payload of Claude Code's session `s1`, to both entries; what `ring-plan hook` says.
    pub fn event(&self, name: &str, mode: &str, members: Value) -> Output {
        let payload = self.payload(name, mode, members);
        let emitted = self.run(&["ring-hook", "--agent", "claude-code", "--emit"], &payload);
        let kept = self.run(&["ring-session", "hook"], &emitted.stdout);
        assert_eq!(kept.status.code(), Some(0), "{}", text(&kept.stderr));
        self.run(&["ring-plan", "hook", "--agent", "claude-code"], &payload)
    }

    pub fn payload(&self, name: &str, mode: &str, members: Value) -> String {
        let mut payload = json!({"session_id": "s1", "transcript_path": self.path("t.jsonl"), "cwd": self.project(),
            "permission_mode": mode, "hook_event_name": name});
        for (key, value) in members.as_object().into_iter().flatten() {
            payload[key] = value.clone();
        }
        payload.to_string()
    }

    /// As [`Home::event`], which says nothing.
    pub fn silent(&self, name: &str, mode: &str, members: Value) {
        let out = self.event(name, mode, members);
        assert_eq!(
            (out.status.code(), text(&out.stdout)),
            (Some(0), String::new()),
            "{name}: {}",
            text(&out.stderr)
        );
    }

    /// `hook --wait` on the prompt of `call`, when it is known to be waiting.
    pub fn waiter(&self, call: &str, span: &str) -> Child {
        let payload = self.payload("PermissionRequest", "plan", exit_plan(call));
        let words = ["ring-plan", "hook", "--agent", "claude-code", "--wait", span];
        let child = start(&mut self.command(&words), payload.as_bytes());
        eventually("a waiter", || {
            !self.record("claude-code-s1")["proposal"]["waiter"].is_null()
        });
        child
    }
}

/// The members of an ExitPlanMode call.
pub fn exit_plan(call: &str) -> Value {
    json!({"tool_name": "ExitPlanMode", "tool_use_id": call, "tool_input": {"plan": TEXT}})
}

/// A report of the one criterion of [`TEXT`].
pub fn report(outcome: &str) -> String {
    json!({"criteria": [{"id": "c1", "outcome": outcome, "evidence": "214 passed"}], "summary": "Zebra"}).to_string()
}

fn as_json<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&[words[0], "--format", "json"], &words[1..]].concat()
}

/// The error of an output that is a refusal.
pub fn refusal(code: &str, out: &Output, words: &[&str]) -> Value {
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

/// Waits until something holds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "{what} did not come");
        std::thread::yield_now();
    }
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

/// Runs a command with bytes on its stdin.
pub fn feed(command: &mut Command, stdin: &[u8]) -> Output {
    start(command, stdin).wait_with_output().unwrap()
}

/// Sends a signal to a child.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args(["-s", name, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
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

/// The ids of a list.
pub fn ids(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|r| str_of(&r["id"])).collect()
}
