//! Whole sessions of the real Claude Code, recorded by `tests/lab/live.py house recorded`, played again through the hook
//! entries: at each step as many rings, rows and open requests as there were beside the agent.

use crate::harness::{Home, NOW, parse};
use ring_session::time::Ms;
use serde_json::{Value, json};
use std::fs;

/// Events on which `ring-hook install --with plan` puts ring-plan's entry.
const OF_PLANS: [&str; 8] = [
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "StopFailure",
    "SessionEnd",
];

/// One recorded session while it is played.
struct Played {
    home: Home,
    /// An end of a turn whose ring comes two seconds later.
    settles_ms: Option<Ms>,
}

impl Played {
    fn new(head: &Value) -> Played {
        let home = Home::new();
        home.notify(
            &format!("completed_min_seconds = {}", head["completed_min_seconds"]),
            "",
        );
        home.with_table().agent("claude");
        fs::create_dir_all(home.path(".claude/sessions")).unwrap();
        Played { home, settles_ms: None }
    }

    /// What is due before `ms` happens.
    fn until(&mut self, ms: Ms) {
        if let Some(due) = self.settles_ms.take_if(|due| *due <= ms) {
            self.home.after(due).deliver();
        }
        self.home.after(ms);
    }

    fn payload(&mut self, payload: &Value, ms: Ms) {
        let event = payload["hook_event_name"].as_str().unwrap();
        let text = payload.to_string();
        let silent = |words: &[&str], stdin: &[u8]| {
            let out = self.home.run(words, stdin);
            assert!(out.status.success() && out.stderr.is_empty(), "{words:?} of {event}");
            out.stdout
        };
        let line = silent(&["ring-hook", "--agent", "claude-code", "--emit"], text.as_bytes());
        assert!(silent(&["ring-session", "hook"], &line).is_empty());
        if OF_PLANS.contains(&event) {
            silent(&["ring-plan", "hook", "--agent", "claude-code"], text.as_bytes());
        }
        match event {
            "Stop" | "StopFailure" => self.settles_ms = Some(ms + 2_000),
            _ => {}
        }
        self.home.deliver();
    }

    fn live(&self, live: &Value) {
        let record = json!({"pid": 4242, "procStart": "10000", "sessionId": self.session(), "status": live["status"],
            "waitingFor": live["waitingFor"], "statusUpdatedAt": NOW + live["ms"].as_i64().unwrap()});
        fs::write(self.home.path(".claude/sessions/4242.json"), record.to_string()).unwrap();
    }

    fn session(&self) -> String {
        let rows = fs::read_dir(self.home.path("state/status"))
            .into_iter()
            .flatten()
            .flatten();
        let mut names = rows.filter_map(|e| e.file_name().into_string().ok());
        let key = names.find_map(|n| Some(n.strip_prefix("claude-code:")?.strip_suffix(".json")?.to_owned()));
        key.unwrap_or_default()
    }

    fn step(&self, told: &Value) {
        self.home.deliver();
        let what = &told["step"];
        let rings: Vec<String> = self.home.messages("probe").iter().map(word).collect();
        assert_eq!(json!(rings), told["rings"], "{what}");
        let inbox = self.home.json(&["ring-notify", "list", "--all"]);
        let rows: Vec<&Value> = inbox["notifications"]
            .as_array()
            .unwrap()
            .iter()
            .rev()
            .map(|n| &n["kind"])
            .collect();
        assert_eq!(json!(rows), told["rows"], "{what}");
        let ledger = self.home.ledger();
        let mut open: Vec<&str> = ledger["items"]
            .as_object()
            .unwrap()
            .iter()
            .filter(|(id, item)| !id.starts_with("turn:") && item["closed_ms"].is_null())
            .filter_map(|(_, item)| item["kind"].as_str())
            .collect();
        open.sort_unstable();
        assert_eq!(json!(open), told["open"], "{what}");
    }
}

fn word(message: &Value) -> String {
    let again = if message["ring"] == 0 { "" } else { " again" };
    format!("{}{again}", message["kind"].as_str().unwrap())
}

fn play(text: &str) {
    let (head, lines) = text.split_once('\n').unwrap();
    let mut played = Played::new(&parse(head));
    let lines = lines.replace("@HOME@", played.home.path(".").to_string_lossy().trim_end_matches("/."));
    fs::create_dir_all(played.home.path("work")).unwrap();
    let mut steps = 0;
    for line in lines.lines().map(parse) {
        let ms = line["ms"].as_i64().unwrap();
        played.until(ms);
        if line["payload"].is_object() {
            played.payload(&line["payload"], ms);
        } else if line["live"].is_object() {
            played.live(&line["live"]);
        } else if line["gone"] == true {
            fs::remove_dir_all(played.home.path("proc/4242")).unwrap();
        } else {
            steps += 1;
            played.step(&line);
        }
    }
    assert!(steps > 10, "{steps}");
}

#[test]
fn n21_to_n38_a_recorded_session_of_2_1_332_rings_as_it_rang_beside_the_agent() {
    play(include_str!("fixtures/claude-2.1.332.jsonl"));
}

#[test]
fn n21_to_n38_a_recorded_session_of_2_1_197_rings_as_it_rang_beside_the_agent() {
    play(include_str!("fixtures/claude-2.1.197.jsonl"));
}
