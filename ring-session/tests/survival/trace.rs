//! Commands under strace: which calls change the file system, and what happens if one of them kills or fails. Used by
//! every program that keeps such promises; the program, its environment and what is watched come from `place.rs`.

use crate::harness::{Home, feed, text};
use crate::place::{PROGRAM, log, strace_in, watched};
use std::fs;
use std::process::Output;

/// Calls that change the file system, or make the change last.
const CALLS: &[&str] = &[
    "openat",
    "mkdir",
    "mkdirat",
    "write",
    "pwrite64",
    "writev",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
    "ftruncate",
    "chmod",
    "fchmod",
    "fchmodat",
    "link",
    "linkat",
];

/// One call of a command: the n-th of its kind.
#[derive(Clone, Debug)]
pub struct Point {
    pub call: String,
    pub n: usize,
    /// As strace prints it.
    pub line: String,
}

/// Whether strace is here and may trace.
pub fn works() -> bool {
    let home = Home::new();
    let out = strace_in(&home).args(["-o", "/dev/null", "true"]).output();
    let works = out.is_ok_and(|o| o.status.success());
    if !works {
        eprintln!("skipped: strace is not installed, or may not trace");
    }
    works
}

fn strace(home: &Home, options: &[&str], args: &[String], stdin: &[u8]) -> Output {
    let mut command = strace_in(home);
    command.args(options).arg(PROGRAM).args(args);
    feed(&mut command, stdin)
}

/// Runs a command that succeeds and lists its calls that change what is watched, in their order.
pub fn points(home: &Home, args: &[String], stdin: &[u8]) -> Vec<Point> {
    let (out, points) = outcome(home, args, stdin);
    assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
    points
}

/// As [`points`], of a command that may be refused.
pub fn outcome(home: &Home, args: &[String], stdin: &[u8]) -> (Output, Vec<Point>) {
    let log = log(home);
    // the question mark: not every machine has every call
    let calls: Vec<String> = CALLS.iter().map(|c| format!("?{c}")).collect();
    let filter = format!("trace={}", calls.join(","));
    let out = strace(
        home,
        &["-y", "-s", "0", "-o", log.to_str().unwrap(), "-e", &filter],
        args,
        stdin,
    );
    let roots: Vec<String> = watched(home).iter().map(|p| p.to_string_lossy().into_owned()).collect();
    let mut counts = std::collections::HashMap::new();
    let mut points = Vec::new();
    for line in fs::read_to_string(&log).unwrap().lines() {
        let Some((call, rest)) = line.split_once('(') else {
            continue;
        };
        let n = counts.entry(call.to_owned()).or_insert(0);
        *n += 1;
        let changes = call != "openat" || rest.contains("O_CREAT") || rest.contains("O_TMPFILE");
        if let Some(root) = roots.iter().find(|r| rest.contains(*r)).filter(|_| changes) {
            points.push(Point {
                call: call.to_owned(),
                n: *n,
                line: line.replace(root, ""),
            });
        }
    }
    fs::remove_file(log).unwrap();
    (out, points)
}

/// Runs a command in which `how` is done at a call, and, with `on`, at all later ones of its kind.
fn inject(home: &Home, args: &[String], stdin: &[u8], point: &Point, how: &str, on: bool) -> Output {
    let (call, n, plus) = (&point.call, point.n, if on { "+" } else { "" });
    let trace = format!("trace={call}");
    let inject = format!("inject={call}:{how}:when={n}{plus}");
    strace(home, &["-o", "/dev/null", "-e", &trace, "-e", &inject], args, stdin)
}

/// Kills a command at a call, before the call has done anything.
pub fn kill(home: &Home, args: &[String], stdin: &[u8], point: &Point) -> Output {
    inject(home, args, stdin, point, "signal=KILL", false)
}

/// Lets a call fail.
pub fn fail(home: &Home, args: &[String], stdin: &[u8], point: &Point, error: &str, on: bool) -> Output {
    inject(home, args, stdin, point, &format!("error={error}"), on)
}
