//! What a turn, a queued prompt and a list of sessions cost: `cargo bench --bench session [-- --smoke]`. Prints a table;
//! fails only if something does not run. Beside `nq` and `tsp`, where they are installed.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot set up its place has failed")]
#![allow(missing_docs)]

mod measure;

use measure::{Effort, at, bin, has, head, ms, peak_kib, ratio, row, wall};
use ring_session::record::{ClosedTurn, Notification, Outcome, Record, Turn};
use ring_session::row::Row;
use ring_session::{id, time, transcript};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Bench {
        // beside the programs: on a disk, where a sync is one
        let target = bin("ring-session").parent().unwrap().to_owned();
        Bench {
            dir: tempfile::tempdir_in(target).unwrap(),
        }
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
            .env("RING_NO_NOTIFY", "1")
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", "/usr/bin:/bin");
        command
    }

    fn ring(&self, args: &[&str]) -> Command {
        let mut command = self.command(bin("ring-session"));
        command.args(args);
        command
    }

    fn says(&self, args: &[&str]) -> String {
        let out = self.ring(args).stdin(Stdio::null()).output().unwrap();
        assert!(
            out.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    }

    fn session(&self, id: &str) -> PathBuf {
        self.path("state/sessions").join(id)
    }
}

fn closed(n: usize) -> ClosedTurn {
    ClosedTurn {
        id: id::mint(time::now_ms()),
        status: if n.is_multiple_of(7) {
            Outcome::Error
        } else {
            Outcome::Completed
        },
        started_ms: 1_796_040_000_000,
        ended_ms: 1_796_040_031_000,
        seen: true,
        ..ClosedTurn::default()
    }
}

/// A session with `turns` behind it, `rows` of 500 bytes in its transcript.
fn with_past(bench: &Bench, id: &str, turns: usize, rows: usize) {
    bench.says(&["new", "--id", id]);
    let dir = bench.session(id);
    let mut record: Record = serde_json::from_slice(&fs::read(dir.join("session.json")).unwrap()).unwrap();
    let kept = turns.min(ring_session::record::TURNS);
    record.turns = (0..kept).map(closed).collect();
    let history: Vec<String> = (kept..turns)
        .map(|n| {
            let turn = serde_json::to_string(&closed(n)).unwrap();
            format!("{{\"schema\":1,\"type\":\"turn\",{}", &turn[1..])
        })
        .collect();
    if !history.is_empty() {
        transcript::append(&dir.join("history.jsonl"), None, &history).unwrap();
    }
    let text = "x".repeat(350);
    let lines: Vec<String> = (0..rows)
        .map(|_| Row::assistant(id::mint(time::now_ms()), "t", 1, &text).line())
        .collect();
    let first = transcript::header(&record);
    record.transcript.bytes = transcript::append(&dir.join("transcript.jsonl"), Some(&first), &lines).unwrap();
    record.transcript.rows = rows as u64;
    fs::write(dir.join("session.json"), serde_json::to_vec(&record).unwrap()).unwrap();
}

/// begin, append and end of one turn, as a script does it: the time of the three processes.
fn cycle(bench: &Bench, id: &str) -> Duration {
    let rows = bench.path("row.jsonl");
    let row = Row::assistant(id::mint(time::now_ms()), "", 1, &"y".repeat(350)).of_turn("");
    fs::write(&rows, row.line()).unwrap();
    let started = Instant::now();
    let turn = bench.says(&["begin", id, "do the next thing"]);
    bench.says(&["append", id, "--turn", &turn, rows.to_str().unwrap()]);
    bench.says(&["end", id, "--turn", &turn, "completed", "--seen"]);
    started.elapsed()
}

/// The three records and two rows of a cycle, bare: each row one write and sync, each record a write, sync and rename, by
/// three processes that do nothing else.
fn bare(bench: &Bench) -> Duration {
    let me = std::env::current_exe().unwrap();
    let started = Instant::now();
    for with_row in ["row", "row", ""] {
        let mut command = bench.command(&me);
        command.args(["--bare", with_row]).arg(bench.path("bare"));
        let out = command.stdin(Stdio::null()).output().unwrap();
        assert!(out.status.success());
    }
    started.elapsed()
}

/// What a process of [`bare`] does.
#[allow(clippy::disallowed_methods, reason = "it is what the store is measured against")]
fn write_bare(with_row: bool, dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    let bytes = vec![b'x'; 2000];
    if with_row {
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(dir.join("rows"))
            .unwrap();
        file.write_all(&bytes[..500]).unwrap();
        file.sync_data().unwrap();
    }
    let mut temp = tempfile::NamedTempFile::new_in(dir).unwrap();
    temp.write_all(&bytes).unwrap();
    temp.as_file().sync_all().unwrap();
    temp.persist(dir.join("record")).unwrap();
    File::open(dir).unwrap().sync_all().unwrap();
}

fn turns(bench: &Bench, effort: Effort) {
    let many = if effort.smoke { 200 } else { 10_000 };
    with_past(bench, "young", 10, 30);
    with_past(bench, "old", many, 30);
    with_past(bench, "long", 10, many * 4);
    let (mut young, mut old, mut long, mut floor) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort.runs(150) {
        floor.push(bare(bench));
        young.push(cycle(bench, "young"));
        old.push(cycle(bench, "old"));
        long.push(cycle(bench, "long"));
    }
    let (floor, young) = (at(&mut floor, 0.5), at(&mut young, 0.5));
    row(
        "begin, append, end",
        &ms(young),
        &format!(
            "{:.2} x bare writes, syncs and renames ({})",
            ratio(young, floor),
            ms(floor)
        ),
        "1.5 x",
    );
    for (what, mut sample) in [
        (format!("the same behind {many} turns"), old),
        (format!("the same behind {} rows", many * 4), long),
    ] {
        let median = at(&mut sample, 0.5);
        row(
            &what,
            &ms(median),
            &format!("{:.2} x behind 10", ratio(median, young)),
            "1.2 x",
        );
    }
    syncs(bench);
}

/// Calls that wait for the disk.
fn syncs(bench: &Bench) {
    if !has("strace") {
        return;
    }
    let count = |args: &[&str]| {
        let trace = bench.path("trace");
        let mut strace = bench.command("/usr/bin/strace");
        strace.args(["-f", "-e", "trace=fsync,fdatasync", "-o"]).arg(&trace);
        let out = strace.arg(bin("ring-session")).args(args).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let lines = fs::read_to_string(trace).unwrap();
        let count = lines.lines().filter(|l| l.contains("sync(")).count();
        (count, String::from_utf8(out.stdout).unwrap().trim().to_owned())
    };
    let (begin, turn) = count(&["begin", "young", "do it"]);
    let (append, _) = count(&[
        "append",
        "young",
        "--turn",
        &turn,
        bench.path("row.jsonl").to_str().unwrap(),
    ]);
    let (end, _) = count(&["end", "young", "--turn", &turn, "completed"]);
    row(
        "syncs of begin, append, end",
        &format!("{begin}, {append}, {end}"),
        "rows; record and directory; record, directory and what left it",
        "3, 3, 3",
    );
}

fn pushes(bench: &Bench, effort: Effort) {
    bench.says(&["new", "--id", "queue"]);
    let (mut ours, mut floor, mut nq, mut tsp) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let me = std::env::current_exe().unwrap();
    for _ in 0..effort.runs(100) {
        let mut bare = bench.command(&me);
        bare.args(["--bare", ""]).arg(bench.path("bare"));
        floor.push(wall(&mut bare, None));
        ours.push(wall(
            &mut bench.ring(&["queue", "push", "queue", "then run the tests", "--id", "e"]),
            None,
        ));
        bench.says(&["queue", "remove", "queue", "e"]);
        if has("nq") {
            let mut enqueue = bench.command("nq");
            enqueue.arg("true").env("NQDIR", bench.path("nq"));
            nq.push(wall(&mut enqueue, None));
        }
        if has("tsp") {
            let mut enqueue = bench.command("tsp");
            enqueue
                .args(["-n", "true"])
                .env("TS_SOCKET", bench.path("tsp"))
                .env("TMPDIR", bench.dir.path());
            tsp.push(wall(&mut enqueue, None));
        }
    }
    if has("tsp") {
        // ends the server that the first one started
        wall(bench.command("tsp").arg("-K").env("TS_SOCKET", bench.path("tsp")), None);
    }
    let (ours, floor) = (at(&mut ours, 0.5), at(&mut floor, 0.5));
    row(
        "queue push",
        &ms(ours),
        &format!("{:.2} x one bare record ({})", ratio(ours, floor), ms(floor)),
        "",
    );
    for (name, mut sample) in [("nq", nq), ("tsp", tsp)] {
        if sample.is_empty() {
            continue;
        }
        let theirs = at(&mut sample, 0.5);
        row(
            &format!("queue push beside {name}"),
            &ms(ours),
            &format!(
                "{:.2} x `{name}` ({}) and one bare record",
                ratio(ours, theirs + floor),
                ms(theirs)
            ),
            "2 x",
        );
    }
}

/// Sessions as they come to be: nearly all idle, with a few turns and a few unread results.
fn corpus(bench: &Bench, count: usize) {
    let now = time::now_ms();
    for n in 0..count {
        let mut record = Record {
            id: id::mint(now),
            title: format!("Fix the flaky test number {n} in the login service"),
            agent: if n.is_multiple_of(3) { "codex" } else { "claude-code" }.into(),
            agent_session_id: id::mint(now),
            project: Some(format!("/home/ann/work/project-{}", n % 40)),
            revision: 17,
            created_ms: now,
            updated_ms: now - n as i64 * 1000,
            ..Record::default()
        };
        record.turns = (0..n % 12).map(closed).collect();
        record.notifications = (0..n % 4)
            .map(|_| Notification {
                id: id::mint(now),
                turn_id: id::mint(now),
                title: record.title.clone(),
                ..Notification::default()
            })
            .collect();
        if n.is_multiple_of(50) {
            record.turn = Some(Turn {
                id: id::mint(now),
                ..Turn::default()
            });
        }
        let dir = bench.session(&record.id);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("session.json"), serde_json::to_vec(&record).unwrap()).unwrap();
    }
}

fn lists(effort: Effort) {
    let bench = Bench::new();
    let count = if effort.smoke { 500 } else { 10_000 };
    corpus(&bench, count);
    let read_all = || {
        let mut cat = bench.command("/bin/sh");
        cat.arg("-c")
            .arg("cat */session.json")
            .current_dir(bench.path("state/sessions"));
        cat
    };
    let forms: [&[&str]; 2] = [&["list"], &["--format", "json", "list"]];
    let (mut floor, mut samples) = (Vec::new(), [Vec::new(), Vec::new()]);
    for _ in 0..effort.runs(21) {
        floor.push(wall(&mut read_all(), None));
        for (args, sample) in forms.iter().zip(&mut samples) {
            sample.push(wall(&mut bench.ring(args), None));
        }
    }
    let floor = at(&mut floor, 0.5);
    for (args, mut sample) in forms.iter().zip(samples) {
        let median = at(&mut sample, 0.5);
        row(
            &format!("`{}`, {count} sessions", args.join(" ")),
            &ms(median),
            &format!("{:.2} x `cat` of the records ({})", ratio(median, floor), ms(floor)),
            "150 ms",
        );
        if let Some(kib) = peak_kib(&bench.ring(args), None) {
            row(
                "its peak memory",
                &format!("{:.1} MiB", kib as f64 / 1024.0),
                "",
                "32 MiB",
            );
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, flag, with_row, dir] = args.as_slice()
        && flag == "--bare"
    {
        return write_bare(with_row == "row", Path::new(dir));
    }
    let effort = Effort::from_args();
    head();
    let bench = Bench::new();
    turns(&bench, effort);
    pushes(&bench, effort);
    lists(effort);
}
