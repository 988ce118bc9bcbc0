//! Homes for these tests: an empty place, a scrubbed environment, the programs as users run them, and probes: outlets that
//! append what they get to a file.

use ring_session::Code;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

/// The clock of these tests: Friday, 2027-01-15, 08:00 UTC.
pub const NOW: i64 = 1_800_000_000_000;
pub const SECOND: i64 = 1_000;
pub const MINUTE: i64 = 60 * SECOND;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;
/// In place of a clock: the machine's own.
const REAL: i64 = i64::MIN;
/// How long a child may take to get somewhere.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A program of the workspace, beside the one that is tested.
pub fn bin(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_ring-notify")).with_file_name(name);
    assert!(path.exists(), "{} is missing; run cargo build first", path.display());
    path
}

/// A home of its own, removed at the end.
pub struct Home {
    dir: tempfile::TempDir,
    now: AtomicI64,
    table: AtomicBool,
}

impl Home {
    /// One with the probe `probe` as its only outlet, its clock at [`NOW`]. Hooks see a process table of its own, which
    /// holds nobody; ring-notify sees the real one, in which its owners live.
    pub fn new() -> Home {
        let home = Home::bare();
        home.outlets(&[&home.probe("probe", "")]);
        home
    }

    /// One without settings.
    pub fn bare() -> Home {
        let home = Home {
            dir: tempfile::tempdir().unwrap(),
            now: AtomicI64::new(NOW),
            table: AtomicBool::new(false),
        };
        fs::create_dir_all(home.path("proc")).unwrap();
        home
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// Sets the clock, in milliseconds after [`NOW`].
    pub fn after(&self, ms: i64) -> &Home {
        self.now.store(NOW + ms, Ordering::Relaxed);
        self
    }

    /// The machine's own clock.
    pub fn real_time(&self) -> &Home {
        self.now.store(REAL, Ordering::Relaxed);
        self
    }

    /// The clock that was set.
    pub fn now(&self) -> Option<i64> {
        Some(self.now.load(Ordering::Relaxed)).filter(|n| *n != REAL)
    }

    /// ring-notify sees the same process table as the hooks.
    pub fn with_table(&self) -> &Home {
        self.table.store(true, Ordering::Relaxed);
        fs::create_dir_all(self.path("proc/self/ns")).unwrap();
        std::os::unix::fs::symlink("pid:[4026531836]", self.path("proc/self/ns/pid")).unwrap();
        let dir = self.path("proc/sys/kernel/random");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("boot_id"), "9a3c1d20-0000-4000-8000-000000000000\n").unwrap();
        self
    }

    /// An agent's process, above this test and therefore above every hook that it starts.
    pub fn agent(&self, name: &str) {
        self.process(4242, name, 1);
        self.process(std::process::id(), "sh", 4242);
    }

    fn process(&self, pid: u32, name: &str, parent: u32) {
        let dir = self.path(&format!("proc/{pid}"));
        fs::create_dir_all(dir.join("fd")).unwrap();
        let zeros = "0 ".repeat(14);
        let stat = format!("{pid} ({name}) S {parent} {pid} {pid} 0 {zeros}10000 0 0 0\n");
        fs::write(dir.join("stat"), stat).unwrap();
        fs::write(dir.join("comm"), format!("{name}\n")).unwrap();
        fs::write(dir.join("cmdline"), format!("{name}\0")).unwrap();
        fs::write(dir.join("environ"), "").unwrap();
    }

    /// Writes the settings.
    pub fn config(&self, text: &str) {
        fs::write(self.path("config.toml"), text).unwrap();
    }

    /// Settings of these outlets alone.
    pub fn outlets(&self, outlets: &[&str]) {
        self.config(&outlets.concat());
    }

    /// Settings with lines in `[notify]` and the probe `probe` with further members.
    pub fn notify(&self, lines: &str, members: &str) {
        self.config(&format!("[notify]\n{lines}\n{}", self.probe("probe", members)));
    }

    /// An outlet that appends its stdin to a file of its name.
    pub fn probe(&self, name: &str, members: &str) -> String {
        self.script(name, &format!("cat >> '{}'", self.path(name).display()), members)
    }

    /// An outlet that is a shell script.
    pub fn script(&self, name: &str, script: &str, members: &str) -> String {
        format!(
            "[[notify.outlet]]\nname = \"{name}\"\ntype = \"command\"\nargv = [\"/bin/sh\", \"-c\", {}]\n{members}\n",
            json!(script)
        )
    }

    /// What a probe has got.
    pub fn messages(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(parse).collect()
    }

    /// What `probe` has got since it was asked last.
    pub fn taken(&self) -> Vec<Value> {
        let messages = self.messages("probe");
        match fs::remove_file(self.path("probe")) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => panic!("{e}"),
            _ => messages,
        }
    }

    /// The titles of [`Home::taken`].
    pub fn titles(&self) -> Vec<String> {
        self.taken().iter().map(|m| str_of(&m["title"])).collect()
    }

    /// A command that sees this home and nothing else of the world. No program starts a ring by itself.
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
            .env("RING_STATE_DIR", self.state())
            .env("RING_CONFIG", self.path("config.toml"))
            .env("TZ", "UTC")
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        if words[0] != "ring-notify" {
            command.env("RING_NO_NOTIFY", "1");
        }
        if words[0] == "ring-hook" || self.table.load(Ordering::Relaxed) {
            command.env("RING_PROC_DIR", self.path("proc"));
        }
        if let Some(now) = self.now() {
            command.env("RING_NOW_MS", now.to_string());
        }
        command
    }

    pub fn run(&self, words: &[&str], stdin: impl AsRef<[u8]>) -> Output {
        feed(&mut self.command(words), stdin.as_ref())
    }

    /// What a command that succeeds prints for people, without the line's end.
    pub fn says(&self, words: &[&str]) -> String {
        let out = self.run(words, "");
        assert_eq!(out.status.code(), Some(0), "{words:?}: {}", text(&out.stderr));
        text(&out.stdout).trim_end_matches('\n').to_owned()
    }

    /// What a command that succeeds prints as one JSON document.
    pub fn json(&self, words: &[&str]) -> Value {
        self.json_of(words, "")
    }

    pub fn json_of(&self, words: &[&str], stdin: impl AsRef<[u8]>) -> Value {
        let out = self.run(&as_json(words), stdin);
        assert_eq!(out.status.code(), Some(0), "{words:?}: {}", text(&out.stderr));
        parse(&text(&out.stdout))
    }

    /// The error of a command that is refused with `code`: its exit status is that of the code, its stdout empty.
    pub fn refused(&self, code: &str, words: &[&str]) -> Value {
        self.refused_of(code, words, "")
    }

    pub fn refused_of(&self, code: &str, words: &[&str], stdin: impl AsRef<[u8]>) -> Value {
        refusal(code, &self.run(&as_json(words), stdin), words)
    }

    /// One pass; what it says.
    pub fn deliver(&self) -> Value {
        self.json(&["ring-notify", "deliver"])
    }

    /// So many passes at once.
    pub fn deliver_at_once(&self, count: usize) {
        let started: Vec<Child> = (0..count)
            .map(|_| start(&mut self.command(&["ring-notify", "deliver"]), b""))
            .collect();
        for child in started {
            let out = child.wait_with_output().unwrap();
            assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
        }
    }

    /// The ledger as it is stored.
    pub fn ledger(&self) -> Value {
        parse(&fs::read_to_string(self.path("state/notify/ledger.json")).unwrap())
    }

    /// A folder in the way of the ledger, which cannot be set aside either.
    pub fn obstruct_ledger(&self) {
        fs::create_dir_all(self.path("state/notify/ledger.json")).unwrap();
        fs::create_dir_all(self.path("state/notify/ledger.json.bad/full")).unwrap();
    }

    /// Changes the stored ledger, as another time would have left it.
    pub fn edit_ledger(&self, change: impl FnOnce(&mut Value)) {
        let mut ledger = self.ledger();
        change(&mut ledger);
        fs::write(self.path("state/notify/ledger.json"), ledger.to_string()).unwrap();
    }

    /// The only item of the ledger that is of a kind.
    pub fn item(&self, kind: &str) -> Value {
        let ledger = self.ledger();
        let found: Vec<&Value> = ledger["items"]
            .as_object()
            .unwrap()
            .values()
            .filter(|i| i["kind"] == kind)
            .collect();
        assert_eq!(found.len(), 1, "{kind}: {ledger}");
        found[0].clone()
    }

    /// Where the only item of a kind stands on `probe`.
    pub fn stands(&self, kind: &str) -> Value {
        self.item(kind)["to"]["probe"].clone()
    }

    /// The event lines of a kind.
    pub fn events(&self, kind: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.path("state/events.jsonl")).unwrap_or_default();
        text.lines().map(parse).filter(|e| e["kind"] == kind).collect()
    }

    /// Waits until nobody works in this home any more: not even a pass that was started and left to itself.
    pub fn idle(&self) {
        let home = self.dir.path().canonicalize().unwrap();
        let is_here = |pid: fs::DirEntry| fs::read_link(pid.path().join("cwd")).is_ok_and(|cwd| cwd == home);
        eventually("the end of all", || {
            !fs::read_dir("/proc").unwrap().flatten().any(is_here)
        });
    }

    /// Waits until so many deliveries have been told of: the runs that others have started are done then.
    pub fn told(&self, count: usize) {
        eventually("the rings", || self.events("notify_sent").len() >= count);
    }

    /// Every file below the home with its bytes.
    pub fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        tree(self.dir.path())
    }
}

fn as_json<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&[words[0], "--format", "json"], &words[1..]].concat()
}

/// A JSON text that must be one.
pub fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text:?}"))
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

/// How many deliveries a report lists.
pub fn count(report: &Value, list: &str) -> usize {
    report[list]
        .as_array()
        .unwrap_or_else(|| panic!("no {list}: {report}"))
        .len()
}

/// Waits until something holds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
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

/// Every file below a folder with its bytes.
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
