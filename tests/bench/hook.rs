//! What one hook event costs: `cargo bench --bench hook [-- --smoke]`. Prints a table; fails only if something does not
//! run. `RING_PEER=PATH` adds the PyPI package ring-cli as a peer.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot set up its place has failed")]
#![allow(missing_docs)]

mod measure;

use measure::{Effort, at, bin, head, instructions, ms, peak_kib, peer, ratio, row, wall};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const NOW: i64 = 1_796_040_000_000;

struct Bench {
    dir: tempfile::TempDir,
    clock: i64,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            dir: tempfile::tempdir().unwrap(),
            clock: NOW,
        }
    }

    /// A payload whose tool result makes it `bytes` long.
    fn payload(&self, session: &str, bytes: usize) -> PathBuf {
        let make = |fill: usize| {
            json!({"hook_event_name": "PostToolUse", "session_id": session, "cwd": "/w/app", "prompt_id": "t",
                "permission_mode": "default", "transcript_path": "/w/t.jsonl", "tool_name": "Bash", "tool_use_id": "u",
                "tool_input": {"command": "cargo test --workspace", "description": "run the tests"},
                "tool_response": {"stdout": "x".repeat(fill), "stderr": "", "interrupted": false}})
            .to_string()
        };
        let path = self.dir.path().join(format!("{session}-{bytes}.json"));
        fs::write(&path, make(bytes.saturating_sub(make(0).len()))).unwrap();
        path
    }

    /// A program in this home; each call is three seconds after the one before, so that no event counts as a repeat.
    fn command(&mut self, program: impl AsRef<Path>) -> Command {
        self.clock += 3000;
        let mut command = Command::new(program.as_ref());
        command
            .env_clear()
            .env("HOME", self.dir.path())
            .env("RING_STATE_DIR", self.dir.path().join("state"))
            .env("RING_NO_NOTIFY", "1")
            .env("RING_NOW_MS", self.clock.to_string())
            .env("PATH", "/usr/bin:/bin");
        command
    }

    fn hook(&mut self) -> Command {
        let mut command = self.command(bin("ring-hook"));
        command.args(["--agent", "claude-code"]);
        command
    }

    /// A row with a process, as every event but the first finds it.
    fn prepare(&mut self, session: &str) {
        let start = self.dir.path().join("start.json");
        let prompt =
            json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": "/w/app", "prompt_id": "t"});
        fs::write(&start, prompt.to_string()).unwrap();
        wall(&mut self.hook(), Some(&start));
        let path = self.dir.path().join(format!("state/status/claude-code:{session}.json"));
        let mut row: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        row["process"] = json!({"pid": 4242, "start_ticks": 1, "name": "claude", "server": false});
        fs::write(&path, row.to_string()).unwrap();
    }

    fn seq(&self, session: &str) -> u64 {
        let path = self.dir.path().join(format!("state/status/claude-code:{session}.json"));
        let row: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        row["seq"].as_u64().unwrap()
    }
}

fn against_cat(bench: &mut Bench, effort: Effort, bytes: usize, runs: usize, aim: &str) -> Duration {
    let session = format!("cat{bytes}");
    bench.prepare(&session);
    let payload = bench.payload(&session, bytes);
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..effort.runs(runs) {
        floor.push(wall(&mut bench.command("/bin/cat"), Some(&payload)));
        ours.push(wall(&mut bench.hook(), Some(&payload)));
    }
    assert_eq!(bench.seq(&session), 1 + ours.len() as u64, "every event was applied");
    let size = if bytes < 1 << 20 {
        format!("{} KiB", bytes >> 10)
    } else {
        format!("{} MiB", bytes >> 20)
    };
    let (median, least) = (at(&mut ours, 0.5), at(&mut floor, 0.5));
    let against = format!("{:.2} x `cat` ({})", ratio(median, least), ms(least));
    row(&format!("one event, {size}, median"), &ms(median), &against, aim);
    // on a busy machine the scheduler decides the median; a tenth of the runs is left alone
    let (quick, least) = (at(&mut ours, 0.1), at(&mut floor, 0.1));
    let against = format!("{:.2} x `cat` ({})", ratio(quick, least), ms(least));
    row(&format!("one event, {size}, fastest tenth"), &ms(quick), &against, aim);
    median
}

fn at_once(bench: &mut Bench, effort: Effort) {
    let payloads: Vec<_> = (0..16)
        .map(|i| {
            let session = format!("many{i}");
            bench.prepare(&session);
            bench.payload(&session, 2048)
        })
        .collect();
    let mut sample = Vec::new();
    for _ in 0..effort.runs(60) {
        let mut commands: Vec<_> = payloads.iter().map(|p| (bench.hook(), p.clone())).collect();
        std::thread::scope(|scope| {
            let threads: Vec<_> = commands
                .iter_mut()
                .map(|(command, payload)| scope.spawn(move || wall(command, Some(payload))))
                .collect();
            sample.extend(threads.into_iter().map(|t| t.join().unwrap()));
        });
    }
    let (p50, p99) = (at(&mut sample, 0.5), at(&mut sample, 0.99));
    row(
        "16 events at once, p99",
        &ms(p99),
        &format!("median {}", ms(p50)),
        "10 ms",
    );
}

fn main() {
    let effort = Effort::from_args();
    let mut bench = Bench::new();
    head();
    let median = against_cat(&mut bench, effort, 2048, 500, "1.7 x");
    against_cat(&mut bench, effort, 1 << 20, 60, "10 ms");
    at_once(&mut bench, effort);

    bench.prepare("counted");
    let payload = bench.payload("counted", 2048);
    if let Some(count) = instructions(&bench.hook(), &payload) {
        row(
            "user instructions of one event",
            &count.to_string(),
            "callgrind",
            "480000",
        );
    }
    if let Some(kib) = peak_kib(&bench.hook(), Some(&payload)) {
        row(
            "peak memory of one event",
            &format!("{:.1} MiB", kib as f64 / 1024.0),
            "",
            "5 MiB",
        );
    }
    let large = bench.payload("counted", if effort.smoke { 1 << 20 } else { 32 << 20 });
    if let Some(kib) = peak_kib(&bench.hook(), Some(&large)) {
        let size = fs::metadata(&large).unwrap().len() >> 20;
        row(
            &format!("peak memory, payload of {size} MiB"),
            &format!("{} MiB", kib / 1024),
            "",
            "80 MiB",
        );
    }
    if let Some(peer) = peer() {
        let payload = bench.payload("peer", 2048);
        let mut sample: Vec<_> = (0..effort.runs(20))
            .map(|_| {
                let mut command = bench.command(&peer);
                command.args(["hook", "claude"]);
                wall(&mut command, Some(&payload))
            })
            .collect();
        let theirs = at(&mut sample, 0.5);
        row(
            "one event, ring-cli",
            &ms(theirs),
            &format!("{:.0} x ours", ratio(theirs, median)),
            "50 x",
        );
    }
}
