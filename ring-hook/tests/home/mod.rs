//! A home of its own for each test, with a scrubbed environment, and the program as agents run it.
#![allow(dead_code, reason = "each theme uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its place has failed")]

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The clock of most tests.
pub const NOW: i64 = 1_796_040_000_000;

/// A folder with an empty state, settings and process table.
pub struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    pub fn new() -> Home {
        let home = Home {
            dir: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(home.path().join("proc")).unwrap();
        home
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn state(&self) -> PathBuf {
        self.path().join("state")
    }

    /// ring-hook that sees this home and nothing else.
    pub fn hook(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ring-hook"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", "/usr/bin:/bin")
            .env("RING_STATE_DIR", self.state())
            .env("RING_CONFIG", self.path().join("config.toml"))
            .env("RING_PROC_DIR", self.path().join("proc"))
            .env("RING_NO_NOTIFY", "1")
            .env("RING_NOW_MS", NOW.to_string())
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    pub fn set(&self, settings: &str) {
        fs::write(self.path().join("config.toml"), settings).unwrap();
    }

    /// A payload of Claude Code at a time after [`NOW`]; gives the row afterwards.
    pub fn after(&self, ms: i64, payload: &Value) -> Value {
        let mut command = self.hook(&["--agent", "claude-code", "--print"]);
        command.env("RING_NOW_MS", (NOW + ms).to_string());
        let out = feed(&mut command, payload.to_string().as_bytes());
        serde_json::from_slice(&out.stdout).unwrap()
    }

    /// Names of the row files.
    pub fn rows(&self) -> Vec<String> {
        let names = fs::read_dir(self.state().join("status"))
            .into_iter()
            .flatten()
            .flatten();
        let names = names.map(|e| e.file_name().to_string_lossy().into_owned());
        let mut rows: Vec<_> = names.filter(|n| !n.starts_with('.')).collect();
        rows.sort();
        rows
    }

    /// The one row.
    pub fn row(&self) -> Value {
        let rows = self.rows();
        assert_eq!(rows.len(), 1, "{rows:?}");
        let bytes = fs::read(self.state().join("status").join(&rows[0])).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// hook-errors.log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.state().join("hook-errors.log")).unwrap_or_default()
    }

    /// Every file below this home that holds the text.
    pub fn files_with(&self, text: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        search(self.path(), text.as_bytes(), &mut found);
        found
    }
}

fn search(dir: &Path, text: &[u8], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            search(&path, text, found);
        } else if fs::read(&path).unwrap().windows(text.len()).any(|w| w == text) {
            found.push(path);
        }
    }
}

/// Runs a command with bytes on its stdin, which is then closed.
pub fn feed(command: &mut Command, stdin: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // a program that ends before it has read everything is the caller's matter
    child.stdin.take().unwrap().write_all(stdin).unwrap_or_default();
    child.wait_with_output().unwrap()
}

/// A hook entry says nothing and succeeds, whatever happened.
pub fn assert_silent(out: &Output) {
    let said = [&out.stdout, &out.stderr].map(|b| String::from_utf8_lossy(b));
    assert!(
        out.status.success() && said[0].is_empty() && said[1].is_empty(),
        "{:?} {said:?}",
        out.status
    );
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The lines of stdout, each a JSON value.
pub fn json_lines(out: &Output) -> Vec<Value> {
    text(&out.stdout)
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect()
}
