//! What one board costs: `cargo bench --bench scan [-- --smoke]`. Prints a table; fails only if something does not run.
//! `RING_PEER=PATH` adds the PyPI package ring-cli as a peer.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot set up its place has failed")]
#![allow(missing_docs)]

mod corpus;
mod measure;

use corpus::{Corpus, Plan, Recent};
use measure::{Effort, at, bin, has, head, ms, peak_kib, peer, ratio, row, wall};
use ring_session::{process, time};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

struct Bench {
    dir: tempfile::TempDir,
    live: Vec<Child>,
}

impl Bench {
    fn new() -> Bench {
        // beside the programs: there is room for a large corpus, and no tmpfs makes it look better than it is
        let target = bin("ring-scan").parent().unwrap().to_owned();
        Bench {
            dir: tempfile::tempdir_in(target).unwrap(),
            live: Vec::new(),
        }
    }

    fn home(&self) -> &Path {
        self.dir.path()
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .env_clear()
            .env("HOME", self.home())
            .env("RING_STATE_DIR", self.home().join("state"))
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", "/usr/bin:/bin");
        command
    }

    fn scan(&self) -> Command {
        let mut command = self.command(bin("ring-scan"));
        command.args(["--format", "json"]);
        command
    }

    /// Processes that look like agents, each with the live record that Claude Code writes.
    fn start(&mut self, recent: &[Recent], count: usize) {
        let programs = self.home().join("programs");
        fs::create_dir_all(&programs).unwrap();
        for name in ["claude", "codex"] {
            fs::copy("/bin/sleep", programs.join(name)).unwrap();
        }
        let registry = self.home().join(".claude/sessions");
        fs::create_dir_all(&registry).unwrap();
        let of = |program: &'static str| recent.iter().filter(move |r| r.program == program).take(count / 2);
        for session in of("claude").chain(of("codex")) {
            let child = self
                .command(programs.join(session.program))
                .arg("3600")
                .current_dir(&session.cwd)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            if session.program == "claude" {
                let ticks = process::read_stat(child.id()).map_or(0, |s| s.start_ticks);
                let now = time::now_ms();
                let record = json!({"pid": child.id(), "procStart": ticks.to_string(), "sessionId": session.id,
                    "cwd": session.cwd, "startedAt": now, "version": "2.1.332", "kind": "interactive", "status": "busy",
                    "statusUpdatedAt": now, "updatedAt": now});
                fs::write(registry.join(format!("{}.json", child.id())), record.to_string()).unwrap();
            }
            self.live.push(child);
        }
    }

    fn median(&self, command: impl Fn() -> Command, runs: usize) -> Duration {
        wall(&mut command(), None);
        let mut sample: Vec<_> = (0..runs).map(|_| wall(&mut command(), None)).collect();
        at(&mut sample, 0.5)
    }

    fn board(&self) -> Value {
        let out = self.scan().output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for child in &mut self.live {
            // one that ended by itself needs no end
            child.kill().unwrap_or_default();
            child.wait().map(drop).unwrap_or_default();
        }
    }
}

/// Stat of every record: what no scanner can do without.
fn floor(bench: &Bench) -> Command {
    let mut find = bench.command("/usr/bin/find");
    find.arg(bench.home().join(".claude")).arg(bench.home().join(".codex"));
    find.args(["-name", "*.jsonl", "-printf", "%T@ %s\n"]);
    find
}

/// Records opened, and bytes read from them, in one board.
fn reads(bench: &Bench) -> Option<(usize, u64)> {
    if !has("strace") {
        return None;
    }
    let log = bench.home().join("strace.log");
    let mut strace = bench.command("/usr/bin/strace");
    strace
        .args(["-f", "-y", "-e", "trace=openat,read,pread64,mmap", "-o"])
        .arg(&log);
    strace
        .arg(bin("ring-scan"))
        .args(["--format", "json"])
        .stdout(Stdio::null());
    strace.status().ok().filter(|s| s.success())?;
    let text = fs::read(&log).ok()?;
    let text = String::from_utf8_lossy(&text);
    let opened = text
        .lines()
        .filter(|l| l.contains("openat(") && l.contains(".jsonl\"") && l.contains(") = ") && !l.contains("= -1"));
    let bytes = text
        .lines()
        .filter(|l| (l.contains("read(") || l.contains("pread64(")) && l.contains(".jsonl>"))
        .filter_map(|l| l.rsplit_once("= ")?.1.trim().parse::<u64>().ok())
        .sum();
    Some((opened.count(), bytes))
}

/// CPU time of a board that is watched while nothing happens, in milliseconds a second.
fn watch_at_rest(bench: &Bench, effort: Effort) -> f64 {
    let mut command = bench.command(bin("ring-scan"));
    command
        .args(["watch", "--format", "jsonl"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let ticks = |pid: u32| -> u64 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<_> = stat
            .rsplit_once(')')
            .unwrap()
            .1
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let seconds = if effort.smoke { 1 } else { 20 };
    std::thread::sleep(Duration::from_secs(2));
    let before = ticks(child.id());
    std::thread::sleep(Duration::from_secs(seconds));
    let used = ticks(child.id()) - before;
    child.kill().unwrap();
    child.wait().unwrap();
    used as f64 * 10.0 / seconds as f64
}

fn describe(corpus: &Corpus) -> String {
    format!("{} records, {} MiB", corpus.files, corpus.bytes >> 20)
}

fn many(effort: Effort) {
    let mut bench = Bench::new();
    let plan = if effort.smoke {
        Plan {
            claude: 40,
            codex: 20,
            live: 5,
            mean_kib: 16,
        }
    } else {
        Plan {
            claude: 1000,
            codex: 500,
            live: 50,
            mean_kib: 256,
        }
    };
    let corpus = corpus::write(bench.home(), plan, time::now_ms());
    bench.start(&corpus.recent, plan.live);
    let board = bench.board();
    let sessions = board["sessions"].as_array().unwrap();
    assert!(!sessions.is_empty(), "{board:#}");
    let ours = bench.median(|| bench.scan(), effort.runs(30));
    let least = bench.median(|| floor(&bench), effort.runs(30));
    let what = format!("board, {}, {} live processes", describe(&corpus), bench.live.len());
    row(
        &what,
        &ms(ours),
        &format!("{:.1} x `find` with stat ({})", ratio(ours, least), ms(least)),
        "20 ms",
    );
    if let Some(peer) = peer() {
        let theirs = || {
            let mut command = bench.command(&peer);
            command.args(["--format", "json"]);
            command
        };
        let theirs = bench.median(theirs, effort.runs(7));
        row(
            "the same board, ring-cli",
            &ms(theirs),
            &format!("{:.0} x ours", ratio(theirs, ours)),
            "12 x",
        );
    }
    if let Some((files, bytes)) = reads(&bench) {
        let share = format!("of {} MiB", corpus.bytes >> 20);
        row(
            "records opened for it",
            &format!("{files}, {} KiB read", bytes >> 10),
            &share,
            "inside the window only",
        );
    }
    if let Some(kib) = peak_kib(&bench.scan(), None) {
        row(
            "peak memory of it",
            &format!("{:.1} MiB", kib as f64 / 1024.0),
            "",
            "24 MiB",
        );
    }
    let rest = watch_at_rest(&bench, effort);
    row(
        "CPU of `watch` at rest",
        &format!("{rest:.1} ms a second"),
        "",
        "not measurable",
    );
}

fn ten_times(effort: Effort) {
    let time_of = |factor: usize| {
        let bench = Bench::new();
        let base = if effort.smoke { 4 } else { 100 };
        let plan = Plan {
            claude: base * factor,
            codex: base * factor,
            live: base * factor / 20,
            mean_kib: 24,
        };
        let corpus = corpus::write(bench.home(), plan, time::now_ms());
        let median = bench.median(|| bench.scan(), effort.runs(30));
        (median, corpus.files)
    };
    let ((small, few), (large, many)) = (time_of(1), time_of(10));
    let against = format!("{:.1} x that of {few}", ratio(large, small));
    row(&format!("board of {many} records"), &ms(large), &against, "11 x");
}

fn small(effort: Effort) {
    let bench = Bench::new();
    let status: PathBuf = bench.home().join("state/status");
    fs::create_dir_all(&status).unwrap();
    for i in 0..20 {
        let now = time::now_ms();
        let row = json!({"schema": 1, "key": format!("acme:{i}"), "agent": "acme", "session_id": i.to_string(), "status": "idle",
            "since_ms": now, "turn": {"state": "idle"}, "cwd": "/w", "origin_cwd": "/w", "event_ms": now, "seen_ms": now, "seq": 1});
        fs::write(status.join(format!("acme:{i}.json")), row.to_string()).unwrap();
    }
    let board = bench.board();
    let rows = board["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|s| s["agent"] == "acme");
    assert_eq!(rows.count(), 20, "agents that run on this machine come on top");
    let ours = bench.median(|| bench.scan(), effort.runs(50));
    row("board of 20 rows, no records", &ms(ours), "", "10 ms");
}

fn main() {
    let effort = Effort::from_args();
    head();
    many(effort);
    ten_times(effort);
    small(effort);
}
