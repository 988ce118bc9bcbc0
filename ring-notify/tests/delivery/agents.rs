//! What agents and scripts do in a home: events by the hook entries, rows, sessions, turns, requests and proposals.

use crate::harness::{Home, NOW, parse, str_of, text};
use serde_json::{Value, json};
use std::fs;

/// A session of ring-session and its live turn.
#[derive(Clone, Debug)]
pub struct Session {
    pub id: String,
    pub turn: String,
}

impl Home {
    /// One event of Claude Code's session, by the hook entry.
    pub fn event(&self, session: &str, name: &str, members: Value) {
        self.event_of("claude-code", session, name, members);
    }

    pub fn event_of(&self, agent: &str, session: &str, name: &str, members: Value) {
        let out = self.run(&["ring-hook", "--agent", agent], self.payload(session, name, members));
        let silent = out.status.success() && out.stdout.is_empty() && out.stderr.is_empty();
        assert!(silent, "{name}: {}{}", text(&out.stdout), text(&out.stderr));
    }

    fn payload(&self, session: &str, name: &str, members: Value) -> String {
        let mut payload = json!({"session_id": session, "cwd": self.folder(session), "hook_event_name": name,
            "permission_mode": "default"});
        for (key, value) in members.as_object().into_iter().flatten() {
            payload[key] = value.clone();
        }
        payload.to_string()
    }

    /// A session asks for leave to run a command.
    pub fn asks(&self, session: &str, what: &str) {
        let tool = json!({"tool_name": "Bash", "tool_input": {"command": what}});
        self.event(session, "PermissionRequest", tool);
        let prompt = json!({"notification_type": "permission_prompt", "message": "Claude needs your permission"});
        self.event(session, "Notification", prompt);
    }

    /// Its dialog was answered: the command runs.
    pub fn answered(&self, session: &str) {
        self.event(session, "PostToolUse", json!({"tool_name": "Bash", "tool_input": {}}));
    }

    /// The row of a session, as it is stored.
    pub fn row(&self, key: &str) -> Value {
        parse(&fs::read_to_string(self.path("state/status").join(format!("{key}.json"))).unwrap())
    }

    /// Writes a row as a program would have left it: a session that waits with so many requests.
    pub fn write_row(&self, session: &str, waits: usize) {
        let key = format!("claude-code:{session}");
        let now = self.now().unwrap_or(NOW);
        let wait = |n: usize| {
            json!({"id": format!("{session}-{n}"), "owner": format!("agent:a{n}"), "kind": "permission",
                "detail": format!("Bash: step {n}"), "tool": "Bash", "since_ms": now, "event": "Notification"})
        };
        let row = json!({"schema": 1, "key": key, "agent": "claude-code", "session_id": session,
            "waits": (0..waits).map(wait).collect::<Vec<_>>(), "cwd": self.folder(session),
            "turn": {"state": "working"}, "event_ms": now, "seen_ms": now});
        fs::create_dir_all(self.path("state/status")).unwrap();
        fs::write(self.path("state/status").join(format!("{key}.json")), row.to_string()).unwrap();
    }

    /// A new session of ring-session with a turn that runs.
    pub fn session(&self, title: &str) -> Session {
        let project = self.folder("app");
        let id = self.says(&["ring-session", "new", "--title", title, "--project", &project]);
        self.begin(&id)
    }

    /// One that is the same session as an agent's.
    pub fn session_of(&self, agent: &str, session: &str) -> Session {
        let project = self.folder(session);
        let words = [
            "ring-session",
            "new",
            "--agent",
            agent,
            "--agent-session",
            session,
            "--project",
            &project,
        ];
        self.begin(&self.says(&words))
    }

    pub fn begin(&self, id: &str) -> Session {
        let turn = self.says(&["ring-session", "begin", id, "go on"]);
        Session {
            id: id.to_owned(),
            turn,
        }
    }

    /// Ends a turn: `completed`, or `error CODE`.
    pub fn end(&self, s: &Session, words: &[&str]) {
        self.says(&[&["ring-session", "end", &s.id, "--turn", &s.turn], words].concat());
    }

    /// A turn that took so long and then ended.
    pub fn turn(&self, title: &str, ms: i64, words: &[&str]) -> Session {
        let now = self.now().unwrap() - NOW;
        let s = self.after(now - ms).session(title);
        self.after(now).end(&s, words);
        s
    }

    /// Submits a plan; the proposal's id.
    pub fn propose(&self, s: &Session, words: &[&str]) -> String {
        let head = [
            "ring-plan",
            "submit",
            &s.id,
            "--kind",
            "plan",
            "--turn",
            &s.turn,
            "--call",
            "c1",
        ];
        let tail = ["--title", "Build API v2", "--question", "Go ahead?"];
        let row = self.json_of(
            &[&head[..], &tail, words].concat(),
            "# Build API v2\n\n1. read\n2. write\n",
        );
        str_of(&row["id"])
    }

    /// The folder in which a session works.
    pub fn folder(&self, name: &str) -> String {
        let folder = self.path("work").join(name);
        fs::create_dir_all(&folder).unwrap();
        folder.to_string_lossy().into_owned()
    }

    /// A session in plan mode with a turn that runs.
    pub fn planning(&self) -> Session {
        let project = self.folder("app");
        let head = [
            "ring-session",
            "new",
            "--title",
            "Planning",
            "--mode",
            "plan",
            "--project",
        ];
        let id = self.says(&[&head[..], &[&project]].concat());
        self.begin(&id)
    }

    /// Opens a request; its id.
    pub fn request(&self, s: &Session, call: &str, words: &[&str]) -> String {
        let head = [
            "ring-session",
            "permission",
            "open",
            &s.id,
            "--turn",
            &s.turn,
            "--call",
            call,
            "--tool",
            "Bash",
        ];
        self.says(&[&head[..], words].concat())
    }

    /// One event of Claude Code's session, by all three hook entries.
    pub fn hooked(&self, session: &str, name: &str, members: Value) {
        let payload = self.payload(session, name, members);
        let emitted = self.run(&["ring-hook", "--agent", "claude-code", "--emit"], &payload);
        let kept = self.run(&["ring-session", "hook"], &emitted.stdout);
        assert_eq!(kept.status.code(), Some(0), "{}", text(&kept.stderr));
        let planned = self.run(&["ring-plan", "hook", "--agent", "claude-code"], &payload);
        assert_eq!(planned.status.code(), Some(0), "{}", text(&planned.stderr));
    }

    /// A record as it is stored.
    pub fn record(&self, session: &str) -> Value {
        let path = self.path("state/sessions").join(session).join("session.json");
        parse(&fs::read_to_string(path).unwrap())
    }

    /// The rows of the inbox that a record holds.
    pub fn rows(&self, session: &str) -> Vec<Value> {
        self.record(session)["notifications"].as_array().unwrap().clone()
    }

    /// Changes a stored record, as another program would have left it.
    pub fn edit_record(&self, session: &str, change: impl FnOnce(&mut Value)) {
        let path = self.path("state/sessions").join(session).join("session.json");
        let mut record = parse(&fs::read_to_string(&path).unwrap());
        change(&mut record);
        fs::write(path, record.to_string()).unwrap();
    }
}
