//! Measuring programs from outside: wall times of interleaved runs, peak memory, counted instructions.

#![allow(dead_code, reason = "each benchmark uses its own part")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Only see that everything runs.
    pub smoke: bool,
}

impl Effort {
    /// From the command line of the benchmark: `--smoke`.
    pub fn from_args() -> Effort {
        Effort {
            smoke: std::env::args().any(|a| a == "--smoke"),
        }
    }

    /// `full` runs, or a few.
    pub fn runs(self, full: usize) -> usize {
        if self.smoke { full.min(3) } else { full }
    }
}

/// A program of the workspace, beside this benchmark.
pub fn bin(name: &str) -> PathBuf {
    let me = std::env::current_exe().unwrap();
    let path = me.parent().and_then(Path::parent).unwrap().join(name);
    assert!(
        path.exists(),
        "{} is missing; run cargo build --release first",
        path.display()
    );
    path
}

/// The peer to compare with, if `RING_PEER` names its program.
pub fn peer() -> Option<PathBuf> {
    std::env::var_os("RING_PEER").map(PathBuf::from).filter(|p| p.exists())
}

/// Whether a program of the system can be run.
pub fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// Wall time of one run, from the start to the end of the process, stdin from a file.
pub fn wall(command: &mut Command, stdin: Option<&Path>) -> Duration {
    let input = stdin.map_or_else(Stdio::null, |path| File::open(path).unwrap().into());
    command.stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status().unwrap();
    let took = started.elapsed();
    assert!(status.success(), "{command:?}: {status:?}");
    took
}

/// The value at a share of the sorted sample: 0.5 is the median.
pub fn at(sample: &mut [Duration], share: f64) -> Duration {
    sample.sort();
    let last = sample.len() - 1;
    sample[((last as f64 * share).round() as usize).min(last)]
}

/// Milliseconds with three digits that mean something.
pub fn ms(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1000.0;
    match ms {
        m if m < 10.0 => format!("{m:.2} ms"),
        m if m < 100.0 => format!("{m:.1} ms"),
        m => format!("{m:.0} ms"),
    }
}

/// How many times `a` is of `b`.
pub fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

/// Peak resident memory of a command in KiB. strace holds the process at its exit, where `/proc` still has the mark.
pub fn peak_kib(command: &Command, stdin: Option<&Path>) -> Option<u64> {
    if !has("strace") {
        return None;
    }
    let mut strace = Command::new("strace");
    strace
        .args([
            "-f",
            "-o",
            "/dev/null",
            "-e",
            "trace=exit_group",
            "-e",
            "inject=exit_group:delay_enter=300000",
        ])
        .arg(command.get_program())
        .args(command.get_args())
        .stdin(stdin.map_or_else(Stdio::null, |path| File::open(path).unwrap().into()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .env_clear();
    for (name, value) in command.get_envs() {
        strace.env(name, value.unwrap_or_default());
    }
    let mut child = strace.spawn().ok()?;
    let mut peak = None;
    while child.try_wait().ok()?.is_none() {
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id())).unwrap_or_default();
        for pid in children.split_whitespace() {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let ours = status.lines().next().is_some_and(|l| l.contains("ring"));
            let mark = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
            let kib = mark.and_then(|m| m.trim().trim_end_matches(" kB").parse::<u64>().ok());
            if ours {
                peak = peak.max(kib);
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    peak
}

/// User instructions of a command, counted by callgrind.
pub fn instructions(command: &Command, stdin: &Path) -> Option<u64> {
    if !has("valgrind") {
        return None;
    }
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(command.get_program())
        .args(command.get_args())
        .stdin(File::open(stdin).unwrap())
        .env_clear();
    for (name, value) in command.get_envs() {
        valgrind.env(name, value.unwrap_or_default());
    }
    let out = valgrind.output().ok()?;
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    said.lines()
        .find_map(|l| l.split_once("Collected : ")?.1.trim().parse().ok())
}

/// One line of the table of results.
pub fn row(what: &str, result: &str, against: &str, aim: &str) {
    println!("| {what} | {result} | {against} | {aim} |");
}

/// The head of that table.
pub fn head() {
    println!("| what | result | against | aim |");
    println!("|---|---|---|---|");
}
