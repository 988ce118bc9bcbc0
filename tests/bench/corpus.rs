//! A home full of agents' records, for benchmarks: transcripts of Claude Code and rollouts of Codex, most of them old.

use serde_json::{Value, json};
use std::fs::{self, File, FileTimes};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// What to write.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Sessions of Claude Code.
    pub claude: usize,
    /// Sessions of Codex.
    pub codex: usize,
    /// Of each, active within the last hours; the others are days old.
    pub live: usize,
    /// Mean size of a record.
    pub mean_kib: usize,
}

/// One session that was active lately.
#[derive(Clone, Debug)]
pub struct Recent {
    /// claude or codex: the name of its process.
    pub program: &'static str,
    /// Session id.
    pub id: String,
    /// Its folder, which exists.
    pub cwd: PathBuf,
}

/// What was written.
#[derive(Debug, Default)]
pub struct Corpus {
    /// Number of files.
    pub files: usize,
    /// Their size.
    pub bytes: u64,
    /// Sessions that were active lately.
    pub recent: Vec<Recent>,
}

/// The same numbers each time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            b >> 52,
            b & 0xffff_ffff_ffff
        )
    }
}

/// ISO 8601 in UTC, from milliseconds since the epoch.
fn iso(ms: i64) -> String {
    let (days, rest) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let (y, m, d) = date(days);
    let (h, min, s, milli) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60, rest % 1000);
    format!("{y:04}-{m:02}-{d:02}T{h:02}:{min:02}:{s:02}.{milli:03}Z")
}

/// Year, month, day of a number of days since the epoch, in the proleptic Gregorian calendar.
fn date(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (day, month) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    (yoe + era * 400 + i64::from(month <= 2), month, day)
}

fn claude(id: &str, cwd: &str, end: i64, size: usize, tail: u64, dice: &mut Dice) -> Vec<Value> {
    let line = |kind: &str, at: i64, message: Value| {
        json!({"type": kind, "sessionId": id, "cwd": cwd, "version": "2.1.332", "isSidechain": false, "timestamp": iso(at),
            "uuid": format!("{at:x}"), "message": message})
    };
    let mut lines = vec![line(
        "user",
        end - 600_000,
        json!({"role": "user", "content": "refactor the parser 測試"}),
    )];
    let mut written = 0;
    while written < size {
        let tool = format!("toolu_{:x}", dice.next());
        let output = "test result: ok. 12 passed; ".repeat(1 + dice.below(80) as usize);
        written += output.len() + 700;
        lines.push(line(
            "assistant",
            end - 1000,
            json!({"id": format!("msg_{tool}"), "role": "assistant", "model": "model-x",
            "stop_reason": "tool_use", "content": [{"type": "tool_use", "id": tool, "name": "Bash",
            "input": {"command": "cargo test"}}]}),
        ));
        lines.push(line(
            "user",
            end - 500,
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": tool,
            "content": output}]}),
        ));
    }
    lines.push(match tail {
        0 | 1 => line(
            "assistant",
            end,
            json!({"id": "msg_end", "role": "assistant", "model": "model-x",
            "stop_reason": "end_turn", "content": [{"type": "text", "text": "All tests pass."}]}),
        ),
        2 => line(
            "assistant",
            end,
            json!({"id": "msg_end", "role": "assistant", "model": "model-x", "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": "toolu_last", "name": "Bash", "input": {"command": "make"}}]}),
        ),
        _ => line("user", end, json!({"role": "user", "content": "and now the lexer"})),
    });
    lines
}

fn codex(id: &str, cwd: &str, end: i64, size: usize, tail: u64, dice: &mut Dice) -> Vec<Value> {
    let line = |kind: &str, at: i64, payload: Value| json!({"timestamp": iso(at), "type": kind, "payload": payload});
    let begun = end - 600_000;
    let mut lines = vec![
        line(
            "session_meta",
            begun,
            json!({"id": id, "timestamp": iso(begun), "cwd": cwd, "originator": "codex_cli_rs",
            "cli_version": "0.171.0", "source": "cli", "instructions": "x".repeat(20_000)}),
        ),
        line(
            "turn_context",
            begun,
            json!({"cwd": cwd, "approval_policy": "on-request", "model": "model-y"}),
        ),
        line("event_msg", begun, json!({"type": "task_started", "turn_id": "t1"})),
        line(
            "event_msg",
            begun,
            json!({"type": "user_message", "message": "refactor the parser"}),
        ),
    ];
    let mut written = 20_000;
    while written < size {
        let call = format!("call_{:x}", dice.next());
        let output = "test result: ok. 12 passed; ".repeat(1 + dice.below(80) as usize);
        written += output.len() + 400;
        lines.push(line(
            "response_item",
            end - 1000,
            json!({"type": "function_call", "name": "shell", "call_id": call,
            "arguments": "{\"command\":[\"cargo\",\"test\"]}"}),
        ));
        lines.push(line(
            "response_item",
            end - 500,
            json!({"type": "function_call_output", "call_id": call, "output": output}),
        ));
    }
    lines.push(match tail {
        0 | 1 => line(
            "event_msg",
            end,
            json!({"type": "task_complete", "turn_id": "t1", "last_agent_message": "Done."}),
        ),
        2 => line(
            "event_msg",
            end,
            json!({"type": "turn_aborted", "turn_id": "t1", "reason": "interrupted"}),
        ),
        _ => line(
            "event_msg",
            end,
            json!({"type": "agent_message", "message": "Looking at it."}),
        ),
    });
    lines
}

fn store(path: &Path, lines: &[Value], at: i64) -> u64 {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = File::create(path).unwrap();
    let mut out = BufWriter::new(&file);
    for line in lines {
        writeln!(out, "{line}").unwrap();
    }
    out.flush().unwrap();
    drop(out);
    let time = UNIX_EPOCH + Duration::from_millis(at as u64);
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
    file.metadata().unwrap().len()
}

/// Writes the records below `home`.
pub fn write(home: &Path, plan: Plan, now: i64) -> Corpus {
    let mut corpus = Corpus::default();
    for (program, count) in [("claude", plan.claude), ("codex", plan.codex)] {
        for i in 0..count {
            let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ ((i as u64 + 1) << 8) ^ program.len() as u64);
            for _ in 0..8 {
                dice.next();
            }
            let id = dice.uuid();
            let cwd = home.join(format!("work/project-{:02}.x", i % 97));
            let age = if i < plan.live {
                60_000 + dice.below(5 * 3_600_000)
            } else {
                (7 * 3_600_000) + dice.below(80 * 86_400_000)
            };
            let end = now - age as i64;
            // most records are small and a few are large, as they are in a real home
            let size = plan.mean_kib * 1024 * [10, 20, 30, 40, 50, 60, 90, 150, 550][dice.below(9) as usize] / 111;
            let (tail, folder) = (dice.below(4), cwd.to_string_lossy().into_owned());
            let (path, lines) = if program == "claude" {
                let encoded: String = folder
                    .chars()
                    .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
                    .collect();
                let path = home.join(format!(".claude/projects/{encoded}/{id}.jsonl"));
                (path, claude(&id, &folder, end, size, tail, &mut dice))
            } else {
                let stamp = iso(end);
                let day = stamp[..10].replace('-', "/");
                let name = format!("rollout-{}-{id}.jsonl", stamp[..19].replace(':', "-"));
                let path = home.join(format!(".codex/sessions/{day}/{name}"));
                (path, codex(&id, &folder, end, size, tail, &mut dice))
            };
            corpus.bytes += store(&path, &lines, end);
            corpus.files += 1;
            if i < plan.live {
                fs::create_dir_all(&cwd).unwrap();
                corpus.recent.push(Recent { program, id, cwd });
            }
        }
    }
    corpus
}
