//! Runs of the real Claude Code, replayed: the payloads of its hooks in their order, and what was done beside them from a
//! second shell. Recorded by `tests/lab/live.py ... plan`, whose replay.jsonl these files are; paths, session and row ids
//! stand in them as `@NAME@`.

use crate::harness::{Home, eventually, signal, start, str_of, text};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;

/// A prompt of the agent that `hook --wait` waits at.
struct Waiting {
    child: Child,
    row: usize,
    input: Value,
}

struct Replay {
    home: Home,
    wait: Option<String>,
    /// Ids of the rows, in the order in which they came.
    rows: Vec<String>,
    waiting: Vec<Waiting>,
    /// What the gate and the end of an approved call said.
    answers: Vec<Value>,
}

impl Replay {
    fn new(head: &Value) -> Replay {
        let home = Home::new();
        fs::write(home.path("config.toml"), str_of(&head["config"])).unwrap();
        Replay {
            home,
            // a wait that is over in the run is over soon
            wait: head["wait"]
                .as_str()
                .map(|w| if w == "60s" { w } else { "300ms" }.to_owned()),
            rows: Vec::new(),
            waiting: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// A text of the recording, at home here.
    fn here(&self, text: &str) -> String {
        let mut text = text.replace("@PROJECT@", self.home.project().to_str().unwrap());
        text = text.replace("@HOME@", self.home.path("").to_str().unwrap().trim_end_matches('/'));
        for (n, id) in self.rows.iter().enumerate() {
            text = text.replace(&format!("@ROW{n}@"), id);
        }
        text.replace("@SESSION0@", "s1")
    }

    fn open(&self) -> Value {
        let path = self.home.path("state/sessions/claude-code-s1/session.json");
        let record = fs::read(path).map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap());
        record["proposal"].clone()
    }

    fn payload(&mut self, payload: &Value) {
        let stdin = self.here(&payload.to_string());
        let emitted = self
            .home
            .run(&["ring-hook", "--agent", "claude-code", "--emit"], &stdin);
        let kept = self.home.run(&["ring-session", "hook"], &emitted.stdout);
        assert_eq!(kept.status.code(), Some(0), "{}", text(&kept.stderr));
        let words = ["ring-plan", "hook", "--agent", "claude-code"];
        let asks = payload["hook_event_name"] == "PermissionRequest";
        match self.wait.clone().filter(|_| asks) {
            Some(span) => {
                let mut command = self.home.command(&[&words[..], &["--wait", &span]].concat());
                let child = start(&mut command, stdin.as_bytes());
                if payload["tool_name"] == "ExitPlanMode" {
                    eventually("the prompt", || self.open()["asked"] == true);
                    let input = serde_json::from_str::<Value>(&stdin).unwrap()["tool_input"].clone();
                    let row = self.rows.len() - 1;
                    self.waiting.push(Waiting { child, row, input });
                } else {
                    assert_eq!(said(child), None, "{payload}");
                }
            }
            None => {
                let out = self.home.run(&words, &stdin);
                assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
                self.answers.extend(serde_json::from_slice::<Value>(&out.stdout));
            }
        }
        let id = self.open()["id"].as_str().map(str::to_owned);
        self.rows.extend(id.filter(|id| !self.rows.contains(id)));
    }

    fn run(&mut self, words: &Value, status: i64) {
        let words: Vec<String> = words
            .as_array()
            .unwrap()
            .iter()
            .map(|w| self.here(&str_of(w)))
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let out = self.home.run(&words, "");
        assert_eq!(
            out.status.code().map(i64::from),
            Some(status),
            "{words:?}: {}",
            text(&out.stderr)
        );
    }

    fn waiter(&mut self, end: &str) {
        let mut waiting = self.waiting.pop().unwrap();
        match end {
            "TIME" => {}
            "KILL" => waiting.child.kill().unwrap(),
            name => signal(&waiting.child, name),
        }
        let out = waiting.child.wait_with_output().unwrap();
        assert_eq!(text(&out.stdout), "", "{end}");
    }

    /// What the waiters have answered, and that this is what was decided elsewhere.
    fn answered(&mut self, rows: &[Value]) {
        for waiting in std::mem::take(&mut self.waiting) {
            let row = &rows[waiting.row];
            let answer = said(waiting.child);
            let decision = answer.as_ref().map(|a| &a["hookSpecificOutput"]["decision"]);
            if row["decided_by"] != "cli" {
                assert_eq!(answer, None, "{row}");
            } else if row["status"] == "approved" {
                let decision = decision.unwrap();
                assert_eq!(
                    (&decision["behavior"], &decision["updatedInput"]),
                    (&json!("allow"), &waiting.input)
                );
            } else {
                let deny = json!({"behavior": "deny", "message": row["note"]});
                assert_eq!(decision, Some(&deny));
            }
        }
    }
}

fn said(child: Child) -> Option<Value> {
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    (!out.stdout.is_empty()).then(|| serde_json::from_slice(&out.stdout).unwrap())
}

fn replay(file: &Path) {
    let recording = fs::read_to_string(file).unwrap();
    let mut lines = recording.lines().map(|l| serde_json::from_str::<Value>(l).unwrap());
    let mut replay = Replay::new(&lines.next().unwrap());
    let mut end = Value::Null;
    for line in lines {
        if !line["end"].is_null() {
            end = line["end"].clone();
            break;
        }
        replay.home.after(line["ms"].as_i64().unwrap());
        if let Some(end) = line["waiter"].as_str() {
            replay.waiter(end);
        } else if line["run"].is_array() {
            replay.run(&line["run"], line["status"].as_i64().unwrap());
        } else {
            replay.payload(&line["payload"]);
        }
    }
    let rows = end["rows"].as_array().unwrap();
    replay.answered(rows);
    let found: Vec<Value> = replay.rows.iter().map(|id| replay.home.show(id)).collect();
    let found: Vec<Value> = found
        .iter()
        .map(|r| {
            json!({"status": r["status"], "decided_by": r["decided_by"], "permission_mode": r["permission_mode"], "note": r["note"],
                "error_code": r["error_code"], "execution": r["execution"]["state"]})
        })
        .collect();
    assert_eq!(&found, rows);
    assert_eq!(replay.home.record("claude-code-s1")["mode"], end["mode"]);
    told(&replay.answers, &end);
}

/// Beside the decision only the gate speaks, in denials, and an approval's note.
fn told(answers: &[Value], end: &Value) {
    let mut codes = Vec::new();
    let mut notes = Vec::new();
    for answer in answers {
        let answer = &answer["hookSpecificOutput"];
        if answer["hookEventName"] == "PostToolUse" {
            notes.push(str_of(&answer["additionalContext"]));
            continue;
        }
        // in plan mode by a person's word a command is asked about
        if answer["permissionDecision"] == "ask" {
            continue;
        }
        assert_eq!(answer["permissionDecision"], "deny", "{answer}");
        let reason = str_of(&answer["permissionDecisionReason"]);
        codes.push(json!(reason.split(':').next().unwrap()));
    }
    codes.dedup();
    assert_eq!(&json!(codes), &end["gate"]);
    let rows = end["rows"].as_array().unwrap().iter();
    let noted = rows.filter(|r| r["status"] == "approved" && r["decided_by"] == "cli" && r["note"].is_string());
    let noted: Vec<String> = noted
        .map(|r| format!("Approved with a note: {}", str_of(&r["note"])))
        .collect();
    assert_eq!(notes, noted);
}

/// Every recording of a version.
fn recordings(version: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/claude-code")
        .join(version);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 10);
    files
}

#[test]
fn p59_p62_p70_runs_of_2_1_332_end_as_they_ended() {
    for file in recordings("2.1.332") {
        println!("{}", file.display());
        replay(&file);
    }
}

#[test]
fn p59_p62_p70_runs_of_2_1_197_end_as_they_ended() {
    for file in recordings("2.1.197") {
        println!("{}", file.display());
        replay(&file);
    }
}
