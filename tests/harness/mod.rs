//! Homes for the stories in this folder: an empty place, a scrubbed environment, and the programs as users run them.

#![allow(dead_code, reason = "each story uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its place has failed")]

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

/// The clock of most stories.
pub const NOW: i64 = 1_796_040_000_000;

/// The folder in which cargo put the programs beside this test.
pub fn bin_dir() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().to_owned()
}

/// A program of the workspace, as `cargo test --workspace` built it.
pub fn bin(name: &str) -> PathBuf {
    let path = bin_dir().join(name);
    assert!(
        path.exists(),
        "{} is missing; run cargo test --workspace, or cargo build first",
        path.display()
    );
    path
}

/// Whether a program of the system can be run.
pub fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// A home of its own, removed at the end.
pub struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    /// An empty home with a process table that holds nobody.
    pub fn new() -> Home {
        let dir = tempfile::tempdir().unwrap();
        let home = Home { dir };
        fs::create_dir_all(home.proc_dir().join("sys/kernel/random")).unwrap();
        fs::write(
            home.proc_dir().join("sys/kernel/random/boot_id"),
            "9a3c1d20-0000-4000-8000-000000000000\n",
        )
        .unwrap();
        fs::write(home.proc_dir().join("stat"), "btime 1796000000\n").unwrap();
        fs::write(home.proc_dir().join("uptime"), "40000.00 40000.00\n").unwrap();
        fs::write(home.proc_dir().join("locks"), "").unwrap();
        home
    }

    /// An agent's process in a folder, above this test and therefore above every hook that it starts.
    pub fn agent(&self, name: &str, cwd: &str) {
        self.process(4242, name, 1, Some(cwd));
        self.process(std::process::id(), "sh", 4242, None);
    }

    /// The end of [`Home::agent`]'s process.
    pub fn agent_exits(&self) {
        fs::remove_dir_all(self.proc_dir().join("4242")).unwrap();
    }

    /// One process in the table. It started 100 seconds after the boot.
    pub fn process(&self, pid: u32, name: &str, parent: u32, cwd: Option<&str>) {
        let dir = self.proc_dir().join(pid.to_string());
        fs::create_dir_all(dir.join("fd")).unwrap();
        let zeros = "0 ".repeat(14);
        let stat = format!("{pid} ({name}) S {parent} {pid} {pid} 34816 {zeros}10000 0 0 0\n");
        fs::write(dir.join("stat"), stat).unwrap();
        fs::write(dir.join("comm"), format!("{name}\n")).unwrap();
        fs::write(dir.join("cmdline"), format!("{name}\0")).unwrap();
        fs::write(dir.join("environ"), "").unwrap();
        if let Some(cwd) = cwd {
            let link = dir.join("cwd");
            fs::remove_file(&link).unwrap_or_default();
            std::os::unix::fs::symlink(cwd, link).unwrap();
        }
    }

    /// The home folder.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    /// The rows.
    pub fn status(&self) -> PathBuf {
        self.state().join("status")
    }

    /// The settings file.
    pub fn config(&self) -> PathBuf {
        self.path().join("config.toml")
    }

    /// The process table.
    pub fn proc_dir(&self) -> PathBuf {
        self.path().join("proc")
    }

    /// A command that sees this home and nothing else of the world.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let path = std::env::join_paths([bin_dir(), "/usr/bin".into(), "/bin".into()]).unwrap();
        command
            .env_clear()
            .env("HOME", self.path())
            .env("RING_STATE_DIR", self.state())
            .env("RING_CONFIG", self.config())
            .env("RING_PROC_DIR", self.proc_dir())
            .env("RING_NO_NOTIFY", "1")
            .env("RING_NOW_MS", NOW.to_string())
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .env("PATH", path)
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    /// One of our programs with arguments.
    pub fn ring(&self, program: &str, args: &[&str]) -> Command {
        let mut command = self.command(bin(program));
        command.args(args);
        command
    }

    /// A hook entry with its payload, at a time.
    pub fn hook_at(&self, now: i64, args: &[&str], payload: &[u8]) -> Output {
        let mut command = self.ring("ring-hook", args);
        command.env("RING_NOW_MS", now.to_string());
        feed(&mut command, payload)
    }

    /// A hook entry of Claude Code that must be silent.
    pub fn event(&self, now: i64, payload: &Value) {
        let out = self.hook_at(now, &["--agent", "claude-code"], payload.to_string().as_bytes());
        assert_silent(&out);
    }

    /// What `ring-scan --all --format json` prints at a time.
    pub fn board_at(&self, now: i64) -> Value {
        let out = self
            .ring("ring-scan", &["--all", "--format", "json"])
            .env("RING_NOW_MS", now.to_string())
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", text(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap()
    }

    /// The row files, by name.
    pub fn rows(&self) -> Vec<(String, Value)> {
        let mut rows: Vec<_> = names(&self.status())
            .into_iter()
            .filter(|n| !n.starts_with('.'))
            .map(|n| {
                let bytes = fs::read(self.status().join(&n)).unwrap();
                let row = serde_json::from_slice(&bytes)
                    .unwrap_or_else(|e| panic!("{n} is no JSON: {e}: {}", String::from_utf8_lossy(&bytes)));
                (n, row)
            })
            .collect();
        rows.sort_by(|a, b| a.0.cmp(&b.0));
        rows
    }

    /// Every path below the home, relative, sorted.
    pub fn tree(&self) -> Vec<String> {
        let mut found = Vec::new();
        walk(self.path(), self.path(), &mut found);
        found.sort();
        found
    }

    /// Every file below the home with its bytes.
    pub fn snapshot(&self) -> Vec<(String, Vec<u8>)> {
        let read = |name: String| {
            let bytes = fs::read(self.path().join(&name)).unwrap_or_default();
            (name, bytes)
        };
        self.tree().into_iter().map(read).collect()
    }

    /// Temporary files that somebody left in the rows' folder.
    pub fn leftovers(&self) -> Vec<String> {
        names(&self.status())
            .into_iter()
            .filter(|n| n.starts_with('.') && n != ".locks")
            .collect()
    }

    /// The lines of `events.jsonl`, each of which must be whole.
    pub fn events(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.state().join("events.jsonl")).unwrap_or_default();
        assert!(text.is_empty() || text.ends_with('\n'), "a torn last line");
        text.lines()
            .map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("a torn line: {e}: {l}")))
            .collect()
    }
}

fn walk(root: &Path, dir: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        found.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
        if entry.file_type().unwrap().is_dir() {
            walk(root, &path, found);
        }
    }
}

fn names(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Vec::new();
    };
    entries
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect()
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

/// A hook entry says nothing and succeeds, whatever happened.
pub fn assert_silent(out: &Output) {
    assert!(
        out.status.success() && out.stdout.is_empty() && out.stderr.is_empty(),
        "{:?}\nstdout: {}\nstderr: {}",
        out.status,
        text(&out.stdout),
        text(&out.stderr)
    );
}

/// Never 2, no signal, no panic.
pub fn assert_civil(status: ExitStatus, stderr: &[u8]) {
    let code = status.code();
    assert!(code.is_some_and(|c| c != 2 && c != 101), "{status:?}: {}", text(stderr));
    assert!(!text(stderr).contains("panicked at"), "{}", text(stderr));
}

/// Bytes for a message.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
