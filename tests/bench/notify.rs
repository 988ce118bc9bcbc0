//! What a pass of `ring-notify deliver` costs: `cargo bench --bench notify [-- --smoke]`. Prints a table; fails only if
//! something does not run.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot set up its place has failed")]
#![allow(missing_docs)]

mod measure;

use measure::{Effort, at, bin, head, ms, peak_kib, ratio, row, wall};
use ring_session::record::{ClosedTurn, Notification, Record};
use ring_session::{id, time};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Bench {
        // beside the programs: on a disk, where a sync is one
        let target = bin("ring-notify").parent().unwrap().to_owned();
        let bench = Bench {
            dir: tempfile::tempdir_in(target).unwrap(),
        };
        bench.outlet("/bin/true");
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .env_clear()
            .env("HOME", self.dir.path())
            .env("RING_STATE_DIR", self.path("state"))
            .env("RING_CONFIG", self.path("config.toml"))
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", "/usr/bin:/bin");
        command
    }

    fn deliver(&self, words: &[&str]) -> Command {
        let mut command = self.command(bin("ring-notify"));
        command.arg("deliver").args(words);
        command
    }

    /// Settings with one outlet, a program.
    fn outlet(&self, program: &str) {
        let text = format!("[[notify.outlet]]\nname = \"x\"\ntype = \"command\"\nargv = [\"{program}\"]\n");
        fs::write(self.path("config.toml"), text).unwrap();
    }

    /// Everything that a pass reads, read.
    fn read_all(&self) -> Command {
        let mut cat = self.command("/bin/sh");
        cat.arg("-c")
            .arg("cat status/*.json sessions/*/session.json notify/*.json")
            .current_dir(self.path("state"));
        cat
    }

    /// A status row as an agent at work leaves it; with a request that somebody must answer.
    fn row(&self, n: usize, asks: bool) {
        let now = time::now_ms();
        let key = format!("claude-code:{}", session(n));
        let wait = json!({"id": id::mint(now), "owner": "foreground", "kind": "permission", "tool": "Bash",
            "detail": format!("Bash: cargo test --package service-{n} -- --nocapture"), "tool_use_id": "",
            "waiting_for": "", "agent_type": "", "since_ms": now, "event": "Notification", "rule": "notify_prompt"});
        let waits: Vec<Value> = asks.then_some(wait).into_iter().collect();
        let row = json!({"schema": 1, "key": key, "agent": "claude-code", "session_id": session(n),
            "status": "working", "since_ms": now, "turn": {"id": id::mint(now), "state": "working",
            "started_ms": now - 60_000, "ended_ms": 0, "outcome": "", "error": ""}, "waits": waits, "pending": [],
            "children": [], "background": 0, "note": "", "origin_cwd": format!("/home/ann/work/project-{}", n % 40),
            "cwd": format!("/home/ann/work/project-{}/src", n % 40), "title": format!("Fix the flaky test number {n}"),
            "transcript_path": format!("/home/ann/.claude/projects/-home-ann-work/{}.jsonl", session(n)),
            "model": "", "permission_mode": "default", "last_action": "Bash: cargo test", "todo": [2, 5],
            "last": {"event": "PostToolUse", "native": "PostToolUse", "owner": "foreground", "rule": "tool",
            "source": ""}, "seq": 170, "created_ms": now - 3_600_000, "event_ms": now, "foreground_ms": now,
            "seen_ms": now, "agent_ms": 0, "process": null, "host": {"name": "box", "pid_ns": 4_026_531_836_u64,
            "boot": "9a3c1d20"}, "term": {"tty": "/dev/pts/3", "tmux_pane": "%7", "tmux_socket": "/tmp/tmux-0/default",
            "other": ""}, "turns": [], "seen_only": 0, "recent": [], "before": null, "main_agent_type": ""});
        fs::create_dir_all(self.path("state/status")).unwrap();
        fs::write(
            self.path("state/status").join(format!("{key}.json")),
            format!("{row}\n"),
        )
        .unwrap();
    }

    /// A record with a few turns behind it; every fifth has a result that nobody has read.
    fn record(&self, n: usize) {
        let now = time::now_ms();
        let mut record = Record {
            id: id::mint(now),
            title: format!("Fix the flaky test number {n} in the login service"),
            agent: "claude-code".into(),
            agent_session_id: session(n),
            project: Some(format!("/home/ann/work/project-{}", n % 40)),
            revision: 17,
            created_ms: now,
            updated_ms: now,
            ..Record::default()
        };
        record.turns = (0..n % 12)
            .map(|_| ClosedTurn {
                id: id::mint(now),
                started_ms: now - 90_000,
                ended_ms: now - 60_000,
                seen: true,
                ..ClosedTurn::default()
            })
            .collect();
        record.notifications = (0..usize::from(n.is_multiple_of(5)))
            .map(|_| Notification {
                id: id::mint(now),
                turn_id: id::mint(now),
                title: record.title.clone(),
                duration_ms: 60_000,
                created_ms: now,
                ..Notification::default()
            })
            .collect();
        let dir = self.path("state/sessions").join(&record.id);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("session.json"), serde_json::to_vec(&record).unwrap()).unwrap();
    }
}

fn session(n: usize) -> String {
    format!("3f2a0000-0000-4000-8000-{n:012}")
}

/// A corpus in which everything that could ring has rung.
fn settled(count: usize, waits: usize) -> Bench {
    let bench = Bench::new();
    for n in 0..count {
        bench.row(n, n < waits);
        bench.record(n);
    }
    wall(&mut bench.deliver(&[]), None);
    let report = fs::read_to_string(bench.path("state/notify/ledger.json")).unwrap();
    assert!(!report.contains("\"retry\"") && !report.contains("\"claimed\""));
    bench
}

/// A pass that finds nothing to do: what every hook, timer and `watch` pays.
fn nothing_due(effort: Effort) {
    for (sessions, waits) in [(10, 1), (200, 100), (1_000, 50)] {
        let bench = settled(sessions, waits);
        let (mut ours, mut floor) = (Vec::new(), Vec::new());
        for _ in 0..effort.runs(31) {
            floor.push(wall(&mut bench.read_all(), None));
            ours.push(wall(&mut bench.deliver(&[]), None));
        }
        let (ours, floor) = (at(&mut ours, 0.5), at(&mut floor, 0.5));
        row(
            &format!("`deliver`, nothing due, {sessions} sessions, {waits} wait"),
            &ms(ours),
            &format!("{:.2} x `cat` of what it reads ({})", ratio(ours, floor), ms(floor)),
            "2 x",
        );
        if let Some(kib) = peak_kib(&bench.deliver(&[]), None) {
            row(
                "its peak memory",
                &format!("{:.1} MiB", kib as f64 / 1024.0),
                "",
                "32 MiB",
            );
        }
    }
}

/// 50 of many sessions have just begun to wait.
fn many_due(effort: Effort) {
    let (sessions, due) = (1_000, 50);
    let bench = settled(sessions, 0);
    let ledger = bench.path("state/notify/ledger.json");
    let before = fs::read(&ledger).unwrap();
    (0..due).for_each(|n| bench.row(n, true));
    let (mut decided, mut sent, mut floor) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort.runs(31) {
        floor.push(wall(&mut bench.read_all(), None));
        decided.push(wall(&mut bench.deliver(&["--dry-run"]), None));
        sent.push(wall(&mut bench.deliver(&[]), None));
        let after = fs::read_to_string(&ledger).unwrap();
        assert!(
            after.matches("\"kind\":\"wait.permission\"").count() >= due,
            "all are claimed"
        );
        fs::write(&ledger, &before).unwrap();
    }
    let floor = at(&mut floor, 0.5);
    for (what, mut sample, aim) in [
        ("decision", decided, "100 ms"),
        ("decision, claim, one summary to `true`, result", sent, ""),
    ] {
        let median = at(&mut sample, 0.5);
        row(
            &format!("{what}: {sessions} sessions, {due} due"),
            &ms(median),
            &format!("{:.2} x `cat` of what it reads ({})", ratio(median, floor), ms(floor)),
            aim,
        );
    }
}

/// What a hook entry pays for a ring, while the outlet takes its time.
fn detached(effort: Effort) {
    let bench = Bench::new();
    bench.outlet("/bin/cat");
    bench.row(0, true);
    let mut ours = Vec::new();
    for _ in 0..effort.runs(31) {
        ours.push(wall(&mut bench.deliver(&["--detach"]), None));
    }
    let mut floor: Vec<Duration> = (0..effort.runs(31))
        .map(|_| wall(&mut bench.command("/bin/true"), None))
        .collect();
    let (ours, floor) = (at(&mut ours, 0.5), at(&mut floor, 0.5));
    row(
        "`deliver --detach`",
        &ms(ours),
        &format!("{:.2} x `true` ({})", ratio(ours, floor), ms(floor)),
        "20 ms",
    );
    // the passes that were started are not left behind
    let started = Instant::now();
    let is_settled = || {
        let text = fs::read_to_string(bench.path("state/notify/ledger.json")).unwrap_or_default();
        text.contains("\"sent\"")
    };
    while !is_settled() {
        assert!(started.elapsed() < Duration::from_secs(30), "the ring did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn main() {
    let effort = Effort::from_args();
    head();
    nothing_due(effort);
    many_due(effort);
    detached(effort);
}
