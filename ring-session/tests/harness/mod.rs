//! Homes for these tests: an empty place, a scrubbed environment, the program as users run it, and what must hold of
//! every session at any time.

#![allow(dead_code, reason = "each test program uses its own part")]

use serde_json::Value;
use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The clock of these tests.
pub const NOW: i64 = 1_800_000_000_000;
/// First digits of the boot id in a process table of [`Home::with_processes`].
pub const BOOT: &str = "9a3c1d20";

/// A home of its own, removed at the end.
pub struct Home {
    dir: tempfile::TempDir,
    now: Cell<Option<i64>>,
    processes: bool,
}

impl Home {
    /// An empty home on the real machine, its clock at [`NOW`].
    pub fn new() -> Home {
        Home {
            dir: tempfile::tempdir().unwrap(),
            now: Cell::new(Some(NOW)),
            processes: false,
        }
    }

    /// One with a process table of its own, which holds nobody yet.
    pub fn with_processes() -> Home {
        let home = Home {
            processes: true,
            ..Home::new()
        };
        fs::create_dir_all(home.proc_dir().join("self/ns")).unwrap();
        std::os::unix::fs::symlink("pid:[4026531836]", home.proc_dir().join("self/ns/pid")).unwrap();
        home.boot(BOOT);
        home
    }

    /// The home folder.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    /// The sessions.
    pub fn sessions(&self) -> PathBuf {
        self.state().join("sessions")
    }

    /// A file of a session.
    pub fn file(&self, id: &str, name: &str) -> PathBuf {
        self.sessions().join(id).join(name)
    }

    fn proc_dir(&self) -> PathBuf {
        self.path().join("proc")
    }

    /// Sets the clock; none: the real one.
    pub fn at(&self, now: impl Into<Option<i64>>) -> &Home {
        self.now.set(now.into());
        self
    }

    /// The machine starts again.
    pub fn boot(&self, boot: &str) {
        let dir = self.proc_dir().join("sys/kernel/random");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("boot_id"), format!("{boot}-0000-4000-8000-000000000000\n")).unwrap();
    }

    /// A process lives, or is another one than before.
    pub fn process(&self, pid: u32, start_ticks: u64) {
        let dir = self.proc_dir().join(pid.to_string());
        fs::create_dir_all(&dir).unwrap();
        let stat = format!("{pid} (agent) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {start_ticks} 0 0\n");
        fs::write(dir.join("stat"), stat).unwrap();
    }

    /// A process ends.
    pub fn process_ends(&self, pid: u32) {
        fs::remove_dir_all(self.proc_dir().join(pid.to_string())).unwrap();
    }

    /// A command that sees this home and nothing else of the world.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.path())
            .env("RING_STATE_DIR", self.state())
            .env("RING_CONFIG", self.path().join("config.toml"))
            .env("RING_NO_NOTIFY", "1")
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.path())
            .stdin(Stdio::null());
        if let Some(now) = self.now.get() {
            command.env("RING_NOW_MS", now.to_string());
        }
        if self.processes {
            command.env("RING_PROC_DIR", self.proc_dir());
        }
        command
    }

    /// ring-session with arguments.
    pub fn ring(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_ring-session"));
        command.args(args);
        command
    }

    /// Runs it.
    pub fn run(&self, args: &[&str]) -> Output {
        self.ring(args).output().unwrap()
    }

    /// Runs it with bytes on its stdin.
    pub fn feed(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Output {
        feed(&mut self.ring(args), stdin.as_ref())
    }

    /// What a command that succeeds prints for people, without the line's end.
    pub fn says(&self, args: &[&str]) -> String {
        succeeded(&self.run(args), args).trim_end_matches('\n').to_owned()
    }

    /// What a command that succeeds prints as JSON; nothing is null.
    pub fn json(&self, args: &[&str]) -> Value {
        self.json_of(args, "")
    }

    /// As [`Home::json`], with bytes on its stdin.
    pub fn json_of(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> Value {
        let words = [&["--format", "json"], args].concat();
        let out = self.feed(&words, stdin);
        parse(&succeeded(&out, args))
    }

    /// The error of a command that is refused with `code`: its exit status is that of the code, its stdout empty.
    pub fn refused(&self, code: &str, args: &[&str]) -> Value {
        self.refused_of(code, args, "")
    }

    /// As [`Home::refused`], with bytes on its stdin.
    pub fn refused_of(&self, code: &str, args: &[&str], stdin: impl AsRef<[u8]>) -> Value {
        let words = [&["--format", "json"], args].concat();
        let out = self.feed(&words, stdin);
        let error = refusal(&out, args);
        assert_eq!(error["code"], code, "{args:?}: {error}");
        error
    }

    /// A new session's id.
    pub fn new_session(&self) -> String {
        self.says(&["new"])
    }

    /// Begins a turn; its id.
    pub fn begin(&self, id: &str, prompt: &str) -> String {
        self.says(&["begin", id, prompt])
    }

    /// Ends one.
    pub fn end(&self, id: &str, turn: &str, words: &[&str]) -> Value {
        self.json(&[&["end", id, "--turn", turn], words].concat())
    }

    /// Pushes a prompt; the entry's id.
    pub fn push(&self, id: &str, prompt: &str) -> String {
        self.says(&["queue", "push", id, prompt])
    }

    /// Opens a request; its id.
    pub fn ask(&self, id: &str, turn: &str, call: &str, tool: &str) -> String {
        self.says(&["permission", "open", id, "--turn", turn, "--call", call, "--tool", tool])
    }

    /// Appends one assistant's row.
    pub fn append(&self, id: &str, turn: &str, row: &str, text: &str) -> Value {
        self.json_of(&["append", id, "--turn", turn], reply(row, text))
    }

    /// What `show` prints.
    pub fn show(&self, id: &str) -> Value {
        self.json(&["show", id])
    }

    /// The rows that `transcript` prints.
    pub fn rows(&self, id: &str) -> Vec<Value> {
        list(&self.json(&["transcript", id, "--limit", "1000"]))
    }

    /// Their texts.
    pub fn texts(&self, id: &str) -> Vec<String> {
        let text = |r: &Value| r["blocks"][0]["text"].as_str().unwrap_or_default().to_owned();
        self.rows(id).iter().map(text).collect()
    }

    /// The record as it is stored.
    pub fn record(&self, id: &str) -> Value {
        parse(&String::from_utf8(self.bytes(id)).unwrap())
    }

    /// Its bytes.
    pub fn bytes(&self, id: &str) -> Vec<u8> {
        fs::read(self.file(id, "session.json")).unwrap()
    }

    /// Changes the stored record, as another program or an older time would have left it.
    pub fn edit(&self, id: &str, change: impl FnOnce(&mut Value)) {
        let mut record = self.record(id);
        change(&mut record);
        fs::write(self.file(id, "session.json"), record.to_string()).unwrap();
    }

    /// The event lines, each of which must be whole.
    pub fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.state().join("events.jsonl")).unwrap_or_default();
        text.lines().map(parse).collect()
    }

    /// Those of a kind.
    pub fn events_of(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|e| e["kind"] == kind).collect()
    }

    /// Every file below the state directory with its bytes.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        walk(&self.state(), &self.state(), &mut found);
        found.sort();
        found
    }

    /// Checks every session: see [`check`].
    pub fn check(&self) {
        for name in names(&self.sessions()).iter().filter(|n| !n.starts_with('.')) {
            check(&self.sessions().join(name));
        }
    }
}

/// What must hold of a session's files at any time.
pub fn check(dir: &Path) {
    let bytes = fs::read(dir.join("session.json")).unwrap();
    let record: Value = serde_json::from_slice(&bytes).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let texts = |list: &Value, name: &str| -> Vec<String> {
        let text = |v: &Value| v[name].as_str().unwrap().to_owned();
        list.as_array().unwrap().iter().map(text).collect()
    };
    let unique = |ids: &[String], what: &str| {
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{what}: {record}");
    };
    // each turn once, live or closed
    let mut turns = texts(&record["turns"], "id");
    let live = record["turn"]["id"].as_str().map(str::to_owned);
    turns.extend(live.clone());
    unique(&turns, "turns");
    // a notification for each unseen end that is no abort, and for nothing else
    let told = texts(&record["notifications"], "turn_id");
    unique(&told, "notifications");
    for turn in record["turns"].as_array().unwrap() {
        let due = turn["status"] != "aborted" && turn["seen"] == false;
        let is_told = told.iter().any(|t| turn["id"] == t.as_str());
        assert_eq!(due, is_told, "{turn} in {record}");
        assert_eq!(turn["status"] == "completed", turn["error_code"].is_null(), "{turn}");
    }
    // the queue in its order, and no entry both there and in the live turn
    let entries = texts(&record["queue"]["entries"], "id");
    unique(&entries, "entries");
    assert!(entries.len() <= 8, "{record}");
    let positions: Vec<i64> = record["queue"]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["position"].as_i64().unwrap())
        .collect();
    assert!(positions.is_sorted_by(|a, b| a < b), "{record}");
    assert!(
        !entries.iter().any(|e| record["turn"]["queue_entry"] == e.as_str()),
        "{record}"
    );
    // an open request belongs to the live turn
    for request in record["permissions"].as_array().unwrap() {
        if request["state"] == "open" {
            assert_eq!(request["turn_id"].as_str().map(str::to_owned), live, "{record}");
        } else {
            assert!(
                request["decision"].is_string() && request["cause"].is_string(),
                "{record}"
            );
        }
    }
    // the committed part of the transcript is there, in whole lines
    let mark = &record["transcript"];
    let transcript = fs::read(dir.join("transcript.jsonl")).unwrap_or_default();
    let committed = mark["bytes"].as_u64().unwrap() as usize;
    assert!(committed <= transcript.len(), "{record}");
}

/// A line of an assistant's message.
pub fn reply(id: &str, text: &str) -> String {
    let blocks = serde_json::json!([{"type": "text", "text": text}]);
    serde_json::json!({"id": id, "role": "assistant", "blocks": blocks}).to_string()
}

fn walk(root: &Path, dir: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(root, &path, found);
        } else {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            found.push((name, fs::read(&path).unwrap()));
        }
    }
}

/// Names in a folder, sorted; a missing one has none.
pub fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
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

/// Reads lines of a child's stdout until one is `line`.
pub fn until(child: &mut Child, line: &str) -> BufReader<std::process::ChildStdout> {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while text.trim_end() != line {
        text.clear();
        assert_ne!(out.read_line(&mut text).unwrap(), 0, "no line {line:?}");
    }
    out
}

/// A process that lives until it is killed.
pub struct Sleeper(Child);

impl Sleeper {
    pub fn start() -> Sleeper {
        Sleeper(Command::new("sleep").arg("600").spawn().unwrap())
    }

    pub fn pid(&self) -> String {
        self.0.id().to_string()
    }

    /// kill -9, and nothing of it is left.
    pub fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.kill();
    }
}

/// stdout of a command that must have succeeded.
pub fn succeeded(out: &Output, args: &[&str]) -> String {
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}", text(&out.stderr));
    text(&out.stdout)
}

/// The error of a command that must have been refused, printed as JSON, with the exit status of its code.
pub fn refusal(out: &Output, args: &[&str]) -> Value {
    assert!(!out.status.success(), "{args:?}: {}", text(&out.stdout));
    assert!(out.stdout.is_empty(), "{args:?}: {}", text(&out.stdout));
    let stderr = text(&out.stderr);
    let last = stderr.lines().last().unwrap_or_default();
    let error = parse(last)["error"].clone();
    let code = error["code"].as_str().unwrap_or_default();
    assert_eq!(out.status.code(), Some(exit_of(code)), "{args:?}: {stderr}");
    error
}

/// The exit statuses of ring(7).
pub fn exit_of(code: &str) -> i32 {
    match code {
        "COMMAND_FAILED" => 1,
        "SESSION_NOT_FOUND" | "TURN_NOT_FOUND" | "NOT_FOUND" => 3,
        "AGENT_BUSY" | "CONFLICT" | "IDEMPOTENCY_CONFLICT" | "PLAN_CONFIGURATION_BLOCKED" => 4,
        "TURN_ABORTED" | "TOOL_ABORTED" | "PERMISSION_TIMEOUT" => 5,
        "TOOL_DENIED" | "PLAN_REQUIRES_INTERACTIVE_SESSION" | "SCHEMA_NEWER" => 6,
        "INVALID_ARGUMENT" | "LIMIT_EXCEEDED" | "AMBIGUOUS" => 64,
        "IO" => 74,
        "LOCK_TIMEOUT" => 75,
        "TIMEOUT" => 124,
        other => panic!("no exit status for {other:?}"),
    }
}

/// A JSON text; an empty one is null.
pub fn parse(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Null;
    }
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// A JSON array.
pub fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_else(|| panic!("no list: {value}"))
}

/// Bytes for a message.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A text of a value.
pub fn str_of(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// A proposal as `ring-plan` stores it: open, or with an execution in a state.
pub fn proposal(turn: &str, epoch: &Value, execution: Option<&str>) -> Value {
    let state = execution.map(|state| {
        let by = (state == "running").then_some("reserved-turn");
        serde_json::json!({"id": "execution-1", "state": state, "turn_id": by, "queued_ms": NOW, "epoch": epoch})
    });
    serde_json::json!({"id": "proposal-1", "kind": "plan", "via": "cli", "turn_id": turn, "call_id": "c", "title": "Do it",
        "question": "Go?", "markdown": "# Do it", "status": if execution.is_some() { "approved" } else { "pending" },
        "version": 1, "created_ms": NOW, "updated_ms": NOW, "epoch": epoch, "execution": state})
}

/// This machine and boot, naming nobody, as the program sees it in `home`.
pub fn nobody(home: &Home) -> Value {
    let id = home.new_session();
    home.begin(&id, "");
    let epoch = home.record(&id)["turn"]["epoch"].clone();
    home.says(&["delete", &id, "--force"]);
    epoch
}

impl Home {
    /// A session with an open proposal of a turn that ended, or with its execution.
    pub fn planned(&self, execution: Option<&str>) -> String {
        let epoch = nobody(self);
        let id = self.says(&["new", "--mode", if execution.is_some() { "agent" } else { "plan" }]);
        let turn = self.begin(&id, "plan it");
        self.append(&id, &turn, "a1", "here it is");
        self.end(&id, &turn, &["completed", "--seen"]);
        self.edit(&id, |record| record["proposal"] = proposal(&turn, &epoch, execution));
        id
    }
}

impl Home {
    /// Begins a turn beside entries: the queue is held.
    pub fn begin_held(&self, id: &str) -> String {
        self.says(&["queue", "hold", id]);
        self.begin(id, "beside the queue")
    }
}
