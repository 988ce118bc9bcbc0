//! `Start Prompt End Q D Pre(T) Post(T) Perm(T) Note(type)`, canonical names for the rest; behind it `#turn @tool_use_id
//! ^agent_id ~agent_type {json members}`; `+N` N seconds later. `T` is `Tool` or `Tool text of its input`; `Note` takes
//! `type|message`; Stop takes its text, StopFailure its error, SessionStart its source.

use ring_hook::advance::{Around, Effect, Facts, Outcome, advance, owner};
use ring_hook::decide::decide;
use ring_hook::normalise::{Given, event};
use ring_hook::row::{Row, Wait};
use ring_hook::view::{View, view};
use ring_session::Settings;
use ring_session::time::Ms;
use serde_json::{Map, Value, json};

/// One session while events go through it.
pub struct Session {
    pub agent: &'static str,
    pub settings: Settings,
    pub facts: Facts,
    pub now: Ms,
    pub row: Option<Row>,
    pub outcomes: Vec<Outcome>,
    pub ids: u64,
}

pub const BEGIN: Ms = 1_800_000_000_000;

/// A session of Claude Code after these events.
pub fn after(events: &str) -> Session {
    Session::of("claude-code").then(events)
}

/// The same for Codex.
pub fn codex(events: &str) -> Session {
    Session::of("codex").then(events)
}

/// Each line: events `->` how the row is shown; a `|` in the result separates it from `waits` (how many).
pub fn table(lines: &str) {
    for line in lines.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let (events, expected) = line.rsplit_once("->").unwrap();
        after(events).shows(expected.trim());
    }
}

impl Session {
    pub fn of(agent: &'static str) -> Session {
        Session {
            agent,
            settings: Settings::default(),
            facts: Facts::default(),
            now: BEGIN,
            row: None,
            outcomes: Vec::new(),
            ids: 0,
        }
    }

    pub fn with(mut self, change: impl FnOnce(&mut Settings)) -> Session {
        change(&mut self.settings);
        self
    }

    pub fn facts(mut self, change: impl FnOnce(&mut Facts)) -> Session {
        change(&mut self.facts);
        self
    }

    pub fn then(mut self, events: &str) -> Session {
        for token in tokens(events) {
            match token.strip_prefix('+') {
                Some(seconds) => self.now += (seconds.parse::<f64>().unwrap() * 1000.0) as Ms,
                None => self.take(&payload(&token)),
            }
        }
        self
    }

    pub fn take(&mut self, payload: &Value) {
        let given = Given {
            agent: Some(self.agent),
            now: self.now,
            ..Given::default()
        };
        let mut event = event(payload.to_string().as_bytes(), &given).unwrap();
        event.owner = owner(self.row.as_ref(), &event);
        let decision = decide(&event, &self.settings);
        let ids = &mut self.ids;
        let around = Around {
            settings: &self.settings,
            now: self.now,
            new_id: &mut || {
                *ids += 1;
                format!("wait-{ids}")
            },
        };
        let outcome = advance(self.row.take(), &event, &decision, &self.facts, around);
        self.row = match outcome.fate {
            ring_hook::advance::Fate::Deleted => None,
            _ => outcome.row.clone(),
        };
        self.outcomes.push(outcome);
    }

    pub fn row(&self) -> &Row {
        self.row.as_ref().expect("a row")
    }

    pub fn wait(&self) -> &Wait {
        self.row().shown_wait().expect("a wait")
    }

    /// Ids that rang.
    pub fn rings(&self) -> Vec<String> {
        self.outcomes
            .iter()
            .filter(|o| o.ring_in_ms == Some(0))
            .map(|o| o.put.as_ref().unwrap().wait.id.clone())
            .collect()
    }

    pub fn last_effect(&self) -> Effect {
        self.outcomes.last().unwrap().effect
    }

    pub fn view(&self) -> View {
        view(self.row(), self.now, &self.settings)
    }

    /// `null`, `idle`, `working`, `waiting KIND` or `waiting KIND "DETAIL"`, then `| N` waits.
    #[track_caller]
    pub fn shows(self, expected: &str) -> Session {
        let (wanted, count) = match expected.rsplit_once('|') {
            Some((wanted, count)) => (wanted.trim(), count.trim().parse::<usize>().ok()),
            None => (expected, None),
        };
        let full = match &self.row {
            None => "null".to_owned(),
            Some(row) => match row.shown_wait() {
                None => row.status.clone(),
                Some(w) => format!("{} {} \"{}\"", row.status, w.kind, w.detail),
            },
        };
        let found = if wanted.contains('"') {
            full.clone()
        } else {
            full.split(" \"").next().unwrap().to_owned()
        };
        assert_eq!(found, wanted, "{full}\n{:#?}", self.row);
        if let Some(count) = count {
            assert_eq!(self.row().waits.len(), count, "waits of {:#?}", self.row);
        }
        self
    }

    #[track_caller]
    pub fn views(self, expected: &str) -> Session {
        let seen = self.view();
        assert_eq!(seen.status, expected, "{seen:#?}");
        self
    }
}

/// Blanks separate, but not inside brackets.
fn tokens(text: &str) -> Vec<String> {
    let (mut out, mut depth) = (vec![String::new()], 0);
    for c in text.chars() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            _ => {}
        }
        if c.is_whitespace() && depth == 0 {
            out.push(String::new());
        } else {
            out.last_mut().unwrap().push(c);
        }
    }
    out.retain(|t| !t.is_empty());
    out
}

pub fn payload(token: &str) -> Value {
    let (token, members) = match token.split_once('{') {
        Some((token, members)) => (token, format!("{{{members}")),
        None => (token, "{}".to_owned()),
    };
    let members: Map<String, Value> = serde_json::from_str(&members).expect(token);
    let name_end = token.find(|c: char| !c.is_alphanumeric()).unwrap_or(token.len());
    let (name, rest) = token.split_at(name_end);
    let (argument, marks) = match rest.strip_prefix('(') {
        Some(rest) => rest.rsplit_once(')').expect(token),
        None => ("", rest),
    };
    let mut out = json!({"session_id": "s", "cwd": "/w/app"});
    let set = |out: &mut Value, name: &str, value: Value| {
        out[name] = value;
    };
    let event = match name {
        "Start" => "SessionStart",
        "Prompt" => "UserPromptSubmit",
        "End" => "SessionEnd",
        "Pre" => "PreToolUse",
        "Post" => "PostToolUse",
        "Perm" => "PermissionRequest",
        "Note" => "Notification",
        "Q" | "D" => "Stop",
        "Fail" => "StopFailure",
        other => other,
    };
    set(&mut out, "hook_event_name", event.into());
    match (name, event) {
        ("Q", _) => set(&mut out, "last_assistant_message", "Shall I go on?".into()),
        ("D", _) => set(&mut out, "last_assistant_message", "Done.".into()),
        (_, "Stop") => set(&mut out, "last_assistant_message", argument.into()),
        (_, "StopFailure") => set(&mut out, "error", argument.into()),
        (_, "SessionStart") if !argument.is_empty() => set(&mut out, "source", argument.into()),
        (_, "SessionEnd") if !argument.is_empty() => set(&mut out, "reason", argument.into()),
        (_, "UserPromptSubmit") => set(
            &mut out,
            "prompt",
            if argument.is_empty() { "fix it" } else { argument }.into(),
        ),
        (_, "Elicitation") => set(&mut out, "message", argument.into()),
        (_, "Notification") => {
            let (kind, message) = argument.split_once('|').unwrap_or((argument, "own message"));
            if !kind.is_empty() {
                set(&mut out, "notification_type", kind.into());
            }
            if !message.is_empty() {
                set(&mut out, "message", message.into());
            }
        }
        _ if !argument.is_empty() => {
            let (tool, input) = argument.split_once(' ').unwrap_or((argument, ""));
            set(&mut out, "tool_name", tool.into());
            let input = match tool {
                _ if input.is_empty() => Value::Null,
                "AskUserQuestion" => json!({"questions": [{"question": input, "options": [{"label": "a"}]}]}),
                "ExitPlanMode" => json!({"plan": input}),
                _ => json!({"command": input}),
            };
            if !input.is_null() {
                set(&mut out, "tool_input", input);
            }
        }
        _ => {}
    }
    let mut mark = String::new();
    for c in marks.chars().chain(['#']) {
        if !matches!(c, '#' | '@' | '^' | '~') {
            mark.push(c);
            continue;
        }
        if let Some(kind) = mark.chars().next() {
            let name = match kind {
                '#' => "prompt_id",
                '@' => "tool_use_id",
                '^' => "agent_id",
                _ => "agent_type",
            };
            set(&mut out, name, mark[1..].into());
        }
        mark = c.to_string();
    }
    for (name, value) in members {
        set(&mut out, &name, value);
    }
    out
}
