//! A world of its own for each test: home, state, settings and process table below one temporary folder, and a clean
//! environment.
#![allow(dead_code, reason = "each test file uses its part")]

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The clock of a test.
pub const NOW: i64 = 1_796_040_010_000;
const PID_NS: u64 = 4_026_531_836;

pub struct World {
    dir: tempfile::TempDir,
}

/// What a run printed.
pub struct Ran {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn json(&self) -> Value {
        assert_eq!(self.status, 0, "{}", self.err);
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {:?}", self.out))
    }

    /// The code of the one JSON line on stderr.
    pub fn code(&self) -> String {
        assert_eq!(self.out, "");
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        let error: Value = serde_json::from_str(&self.err).unwrap();
        error["error"]["code"].as_str().unwrap().to_owned()
    }
}

impl World {
    pub fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        let world = World { dir };
        let proc = world.path("proc");
        fs::create_dir_all(proc.join("sys/kernel/random")).unwrap();
        fs::write(
            proc.join("sys/kernel/random/boot_id"),
            "9a3c1d20-0000-4000-8000-000000000000\n",
        )
        .unwrap();
        fs::write(proc.join("stat"), format!("btime {}\n", NOW / 1000 - 86_400)).unwrap();
        fs::write(proc.join("locks"), "").unwrap();
        fs::create_dir_all(proc.join("self/ns")).unwrap();
        symlink(format!("pid:[{PID_NS}]"), proc.join("self/ns/pid")).unwrap();
        fs::create_dir_all(world.path("home")).unwrap();
        world
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    pub fn write(&self, below: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// A hook row of an agent whose processes nobody can tell, changed by `set` (top-level members).
    pub fn row(&self, id: &str, status: &str, since_ms: i64, set: Value) {
        let key = format!("generic:{id}");
        let waits = match status {
            "waiting" => json!([wait(since_ms, "permission", "Bash: git push origin main")]),
            _ => json!([]),
        };
        let state = if status == "idle" { "idle" } else { "working" };
        let mut row = json!({"schema":1,"key":key,"agent":"generic","session_id":id,"status":status,"since_ms":since_ms,
            "turn":{"id":"t","state":state,"started_ms":since_ms - 1000,"ended_ms":0,"outcome":"","error":""},
            "waits":waits,"pending":[],"children":[],"background":0,"note":"","origin_cwd":format!("/w/{id}"),"cwd":format!("/w/{id}"),
            "transcript_path":"","title":"","model":"","permission_mode":"","last_action":"","todo":null,
            "last":{"event":"Notification","native":"Notification","owner":"foreground","rule":"notify_prompt","source":""},
            "seq":3,"created_ms":since_ms - 2000,"event_ms":since_ms,"foreground_ms":since_ms,"seen_ms":since_ms,"agent_ms":0,
            "process":null,"host":{"name":ring_session::process::host_name(),"pid_ns":PID_NS,"boot":"9a3c1d20"},
            "term":{"tty":"","tmux_pane":"","tmux_socket":"","other":""},
            "turns":[],"seen_only":0,"recent":[],"before":null,"main_agent_type":""});
        for (name, value) in set.as_object().into_iter().flatten() {
            row[name] = value.clone();
        }
        self.replace(&format!("state/status/generic:{id}.json"), row.to_string());
    }

    /// As programs write: temporary file, rename.
    pub fn replace(&self, below: &str, text: String) {
        let path = self.path(below);
        let mut made = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(made.recursive(true), 0o700)
            .create(path.parent().unwrap())
            .unwrap();
        ring_session::replace::replace(&path, text.as_bytes(), ring_session::replace::Durability::Whole).unwrap();
    }

    /// A Claude Code process with a terminal, and its transcript's path below the home.
    pub fn claude(&self, pid: u32, id: &str) -> String {
        let dir = format!("proc/{pid}");
        let fields = "0 0 34819 0 0 0 0 0 0 0 0 0 0 20 0 1 0 1000";
        self.write(&format!("{dir}/stat"), format!("{pid} (claude) S 1 {fields} 0 0\n"));
        self.write(&format!("{dir}/cmdline"), format!("claude\0--session-id\0{id}\0"));
        self.write(&format!("{dir}/environ"), "");
        fs::create_dir_all(self.path("home/app")).unwrap();
        symlink(self.path("home/app"), self.path(&format!("{dir}/cwd"))).unwrap();
        format!("home/.claude/projects/-home-app/{id}.jsonl")
    }

    pub fn append(&self, below: &str, line: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    pub fn remove_row(&self, id: &str) {
        fs::remove_file(self.path(&format!("state/status/generic:{id}.json"))).unwrap();
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ring-scan"));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", "/usr/bin:/bin")
            .env("RING_STATE_DIR", self.path("state"))
            .env("RING_CONFIG", self.path("config.toml"))
            .env("RING_PROC_DIR", self.path("proc"))
            .env("RING_NO_NOTIFY", "1")
            .env("RING_NOW_MS", NOW.to_string())
            .current_dir(self.path("home"))
            .stdin(Stdio::null());
        command
    }

    pub fn scan(&self, args: &[&str]) -> Ran {
        ran(&mut self.command(args))
    }

    pub fn scan_at(&self, now_ms: i64, args: &[&str]) -> Ran {
        ran(self.command(args).env("RING_NOW_MS", now_ms.to_string()))
    }

    /// The status of each session by its id.
    pub fn statuses(&self, args: &[&str]) -> Vec<(String, String)> {
        let board = self.scan(&[&["--format", "json"], args].concat()).json();
        let text = |v: &Value| v.as_str().unwrap().to_owned();
        board["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| (text(&s["session_id"]), text(&s["status"])))
            .collect()
    }

    /// A program that prints as it goes, with the system's own clock.
    pub fn start(&self, args: &[&str]) -> Running {
        let mut command = self.command(args);
        command
            .env_remove("RING_NOW_MS")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Running { child, lines }
    }
}

/// One open request as a row holds it.
pub fn wait(since_ms: i64, kind: &str, detail: &str) -> Value {
    json!({"id":"0198c0de-7000-7abc-8def-000000000001","owner":"foreground","kind":kind,"detail":detail,"tool":"Bash","tool_use_id":"",
        "waiting_for":"","agent_type":"","since_ms":since_ms,"event":"Notification","rule":"notify_prompt"})
}

pub fn ran(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().unwrap();
    Ran {
        status: status.code().unwrap_or(-1),
        out: String::from_utf8(stdout).unwrap(),
        err: String::from_utf8(stderr).unwrap(),
    }
}

/// A program that still runs; it is killed if the test fails before its end.
pub struct Running {
    pub child: Child,
    lines: mpsc::Receiver<String>,
}

/// Long enough for a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

impl Running {
    /// The next line, without its end; empty at the end of the output.
    pub fn line(&mut self) -> String {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(mpsc::RecvTimeoutError::Disconnected) => String::new(),
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("nothing was printed for {PATIENCE:?}"),
        }
    }

    pub fn json(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
    }

    pub fn signal(&self, name: &str) {
        let done = Command::new("kill")
            .args([&format!("-{name}"), &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(done.success());
    }

    /// All that it has printed on stderr, at its end.
    pub fn errors(&mut self) -> String {
        std::io::read_to_string(self.child.stderr.take().unwrap()).unwrap()
    }

    pub fn end(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// stdin with these bytes for a command.
pub fn with_stdin(command: &mut Command, bytes: &str) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes.as_bytes()).unwrap();
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    Ran {
        status: status.code().unwrap_or(-1),
        out: String::from_utf8(stdout).unwrap(),
        err: String::from_utf8(stderr).unwrap(),
    }
}

/// Every file below a folder with its bytes, mode and time of change.
pub fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>, u32, i64)> {
    use std::os::unix::fs::MetadataExt;
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let meta = fs::symlink_metadata(&path).unwrap();
        if meta.is_dir() {
            found.extend(files(&path));
        }
        let bytes = if meta.is_file() {
            fs::read(&path).unwrap_or_default()
        } else {
            Vec::new()
        };
        found.push((
            path,
            bytes,
            meta.mode(),
            meta.mtime() * 1_000_000_000 + meta.mtime_nsec(),
        ));
    }
    found.sort();
    found
}
