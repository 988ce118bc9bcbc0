//! Session and turn of an agent's event (ring-session(1), HOOK ENTRY).
//!
//! Reads the normalised event that `ring-hook --emit` prints and knows no vendor's payload. It never disturbs the
//! agent: nothing is printed, and what cannot be done goes to a log.

use crate::lifecycle::{Begin, Closing};
use crate::members::Object;
use crate::permission::Opening;
use crate::process::Stamp;
use crate::queue::sha256_hex;
use crate::record::{Answer, Origin, Outcome, Record, Request, RequestState, Source, Turn};
use crate::refusal::{Code, Refusal};
use crate::row::Row;
use crate::store::Store;
use crate::work::{Behind, Work};
use serde::Deserialize;
use serde_json::Value;

/// A normalised event, as far as a session needs it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Event {
    /// Canonical id of the agent.
    pub agent: String,
    /// The agent's id of its session.
    pub session_id: String,
    /// KEY of the status row.
    pub key: String,
    /// Canonical name.
    pub event: String,
    /// foreground, `agent:ID`, unknown.
    pub owner: String,
    /// Current folder.
    pub cwd: String,
    /// The session's first folder.
    pub origin_cwd: String,
    /// Turn.
    pub turn_id: String,
    /// Tool.
    pub tool: Tool,
    /// The wait that this event put or renewed.
    pub waiting: Option<Waiting>,
    /// The agent's process.
    pub process: Option<Process>,
    /// Prompt, or last answer.
    pub text: String,
    /// Code of a failure.
    pub error: String,
}

/// A tool of an event.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// The call.
    pub use_id: String,
}

/// A wait of an event.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Waiting {
    /// Its id.
    pub id: String,
    /// Who waits.
    pub owner: String,
    /// permission, question, plan, input.
    pub kind: String,
    /// What is asked.
    pub detail: String,
    /// The tool that asks.
    pub tool: String,
    /// The call that asks.
    pub tool_use_id: String,
}

/// A process of an event.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Start.
    pub start_ticks: u64,
    /// It holds many sessions.
    pub server: bool,
}

/// What is stored of texts.
#[derive(Clone, Copy, Debug)]
pub struct Texts {
    /// Prompts and last answers.
    pub rows: bool,
    /// A title from the first prompt.
    pub title: bool,
}

impl Event {
    /// Reads an event line; none if it is no object or names no session. Members of another type count as absent.
    pub fn read(line: &[u8]) -> Option<Event> {
        let object: Object = serde_json::from_str(&String::from_utf8_lossy(line)).ok()?;
        let text = |name: &str| object.get::<String>(name).unwrap_or_default();
        let event = Event {
            agent: text("agent"),
            session_id: text("session_id"),
            key: text("key"),
            event: text("event"),
            owner: text("owner"),
            cwd: text("cwd"),
            origin_cwd: text("origin_cwd"),
            turn_id: text("turn_id"),
            tool: object.get("tool").unwrap_or_default(),
            waiting: object.get("waiting").unwrap_or_default(),
            process: object.get("process").unwrap_or_default(),
            text: text("text"),
            error: text("error"),
        };
        (!event.agent.is_empty() && !event.session_id.is_empty()).then_some(event)
    }

    /// The id of the session's record: `AGENT-ID` where that can be one, else with a hash in the id's place.
    pub fn record_id(&self) -> String {
        let plain = format!("{}-{}", self.agent, self.session_id);
        if crate::store::is_id(&plain) {
            return plain;
        }
        let hash = sha256_hex(format!("{}:{}", self.agent, self.session_id).as_bytes());
        let agent: String = self
            .agent
            .bytes()
            .map(|b| {
                if b.is_ascii_alphanumeric() || b == b'-' {
                    b as char
                } else {
                    '-'
                }
            })
            .collect();
        format!("{agent}-{}", &hash[..32])
    }

    fn owner_stamp(&self, here: &Stamp) -> Stamp {
        match self.process {
            Some(p) => Stamp {
                pid: p.pid,
                start_ticks: p.start_ticks,
                ..here.clone()
            },
            None => here.clone(),
        }
    }

    fn same_turn(&self, turn: &Turn) -> bool {
        self.turn_id.is_empty() || turn.agent_turn.is_empty() || self.turn_id == turn.agent_turn
    }

    fn asks_permission(&self) -> Option<&Waiting> {
        self.waiting
            .as_ref()
            .filter(|w| w.kind == "permission" && w.owner == "foreground")
    }
}

/// What an event does to its session; decided before anything is locked, from what is stored.
fn concerns(event: &Event, record: Option<&Record>) -> bool {
    let open = |record: &Record| {
        record
            .permissions
            .iter()
            .any(|r| r.state == RequestState::Open && r.origin == Origin::Hook)
    };
    let live = record.and_then(|r| r.turn.as_ref());
    match event.event.as_str() {
        "SessionStart" => record.is_none_or(|r| r.agent_session_id.is_empty()),
        "UserPromptSubmit" => true,
        "PermissionRequest" | "PermissionAsked" | "Notification" => live.is_some() && event.asks_permission().is_some(),
        "PostToolUse" | "PostToolUseFailure" | "PermissionAnswered" | "PermissionDenied" => record.is_some_and(open),
        "Stop" | "StopFailure" => live.is_some_and(|t| t.origin == Origin::Hook && event.same_turn(t)),
        "Interrupt" | "SessionEnd" => live.is_some_and(|t| t.origin == Origin::Hook),
        _ => false,
    }
}

/// The session that an event speaks of: the one that `RING_SESSION` names, if an agent of it can be meant, else the
/// agent's own.
///
/// # Errors
/// Those of [`Store::stored`] but an unknown session.
pub fn session_of(store: &Store, event: &Event, ring_session: Option<&str>) -> Result<String, Refusal> {
    let own = event.record_id();
    let Some(given) = ring_session.filter(|id| crate::store::is_id(id)) else {
        return Ok(own);
    };
    // a server's environment is another client's
    if event.process.is_some_and(|p| p.server) {
        return Ok(own);
    }
    match store.see(given) {
        Ok(seen) => {
            let key = seen.record.turn.as_ref().map(|t| t.key.as_str());
            let meant = key.is_none_or(|k| k.is_empty() || k == event.key);
            Ok(if meant { given.to_owned() } else { own })
        }
        Err(e) if e.code == Code::SessionNotFound => Ok(own),
        Err(e) => Err(e),
    }
}

/// Applies one event. An event of a child, or of no concern, does nothing and takes no lock.
///
/// # Errors
/// `LOCK_TIMEOUT`, `IO`, `SCHEMA_NEWER`, `SESSION_NOT_FOUND` (deleted meanwhile).
pub fn apply(store: &Store, event: &Event, ring_session: Option<&str>, texts: Texts) -> Result<(), Refusal> {
    if event.owner != "foreground" {
        return Ok(());
    }
    let id = session_of(store, event, ring_session)?;
    let seen = match store.see(&id) {
        Ok(seen) => Some(seen.record),
        Err(e) if e.code == Code::SessionNotFound && !store.files(&id).dir.exists() => None,
        Err(e) => return Err(e),
    };
    if !concerns(event, seen.as_ref()) {
        return Ok(());
    }
    if seen.is_none() {
        create(store, &id, event)?;
    }
    let given = ring_session == Some(id.as_str());
    store.update(&id, |work, _| {
        if given {
            note_agent(work, event);
        }
        decide(work, event, texts);
        Ok(())
    })?;
    Ok(())
}

/// Makes the session of an agent's first event. Somebody else may have made it meanwhile.
///
/// # Errors
/// `IO`.
pub fn create(store: &Store, id: &str, event: &Event) -> Result<(), Refusal> {
    let folder = [&event.origin_cwd, &event.cwd].into_iter().find(|f| !f.is_empty());
    let project = folder
        .and_then(|f| std::fs::canonicalize(f).ok())
        .filter(|f| f.is_dir());
    let record = Record {
        id: id.to_owned(),
        source: Source::Hook,
        agent: crate::text::clean(&event.agent, 40),
        agent_session_id: event.session_id.clone(),
        project: project.and_then(|p| p.into_os_string().into_string().ok()),
        created_ms: store.here().now,
        ..Record::default()
    };
    match store.create(record, &[]) {
        Err(e) if e.code != Code::Conflict => Err(e),
        _ => Ok(()),
    }
}

/// An agent that speaks in somebody's turn is noted there.
fn note_agent(work: &mut Work, event: &Event) {
    if let Some(turn) = work.record.turn.as_mut().filter(|t| t.key.is_empty()) {
        turn.key.clone_from(&event.key);
        turn.agent_turn.clone_from(&event.turn_id);
    }
    if work.record.agent_session_id.is_empty() || work.record.turn.is_some() {
        work.record.agent = crate::text::clean(&event.agent, 40);
        work.record.agent_session_id.clone_from(&event.session_id);
    }
}

/// What an event does: pure, on a work.
pub fn decide(work: &mut Work, event: &Event, texts: Texts) {
    let turn = work.record.turn.clone();
    let is_hook_turn = turn.as_ref().is_some_and(|t| t.origin == Origin::Hook);
    match event.event.as_str() {
        "UserPromptSubmit" => match &turn {
            None => begin(work, event, texts),
            Some(_) if !is_hook_turn => {}
            Some(turn) if event.same_turn(turn) => {
                if texts.rows && !event.text.trim().is_empty() {
                    work.steering_row(&event.text);
                }
            }
            Some(_) => {
                work.abort(&Behind {
                    answered: true,
                    ..Behind::default()
                });
                begin(work, event, texts);
            }
        },
        "PermissionRequest" | "PermissionAsked" | "Notification" => open(work, event),
        "PostToolUse" | "PostToolUseFailure" | "PermissionAnswered" => answer(work, event, Answer::AllowOnce),
        "PermissionDenied" => answer(work, event, Answer::Deny),
        "Stop" | "StopFailure" if is_hook_turn && turn.as_ref().is_some_and(|t| event.same_turn(t)) => {
            let turn = turn.map(|t| t.id).unwrap_or_default();
            if texts.rows && !event.text.trim().is_empty() {
                work.rows
                    .push(Row::assistant(work.mint(), &turn, work.now(), &event.text));
            }
            let failed = event.event == "StopFailure";
            let code = if event.error.is_empty() {
                "STOP_FAILURE"
            } else {
                &event.error
            };
            work.close(Closing {
                outcome: if failed { Outcome::Error } else { Outcome::Completed },
                code: failed.then(|| code.to_owned()),
                ..Closing::default()
            });
        }
        "Interrupt" | "SessionEnd" if is_hook_turn => {
            work.abort(&Behind {
                answered: true,
                ..Behind::default()
            });
        }
        _ => {}
    }
}

fn begin(work: &mut Work, event: &Event, texts: Texts) {
    let owner = event.owner_stamp(&work.here.stamp);
    let prompt = if texts.rows { event.text.clone() } else { String::new() };
    if texts.title && !texts.rows {
        let row = Row::user(String::new(), "", work.now(), &event.text, &[]);
        work.name_by(&row);
    }
    work.begin(Begin {
        origin: Origin::Hook,
        prompt,
        owner,
        agent: Some((event.key.clone(), event.turn_id.clone())),
        ..Begin::default()
    });
}

fn open(work: &mut Work, event: &Event) {
    let (Some(waiting), Some(turn)) = (event.asks_permission(), work.record.turn.as_ref().map(|t| t.id.clone())) else {
        return;
    };
    let known = |r: &Request| {
        r.turn_id == turn && !r.call_id.is_empty() && (r.call_id == waiting.id || r.call_id == waiting.tool_use_id)
    };
    if work.record.permissions.iter().any(known) {
        return;
    }
    let call = if waiting.tool_use_id.is_empty() {
        &waiting.id
    } else {
        &waiting.tool_use_id
    };
    let opened = work.open_request(Opening {
        turn,
        call: call.clone(),
        tool: crate::text::clean(&waiting.tool, 80),
        arguments: Value::Object(Default::default()),
        reason: crate::text::clean(&waiting.detail, 160),
        origin: Origin::Hook,
        ..Opening::default()
    });
    // over the limit the request is not stored; the status row shows it all the same
    drop(opened);
}

/// The open request of that call, else of that tool, or naming no tool, is answered; on an allowance the hook's others are cancelled.
fn answer(work: &mut Work, event: &Event, answer: Answer) {
    let open: Vec<Request> = work
        .record
        .permissions
        .iter()
        .filter(|r| r.state == RequestState::Open && r.origin == Origin::Hook)
        .cloned()
        .collect();
    let by_call = open
        .iter()
        .find(|r| !event.tool.use_id.is_empty() && r.call_id == event.tool.use_id);
    let by_tool = || {
        open.iter()
            .find(|r| r.tool == event.tool.name || r.tool.is_empty() || event.tool.name.is_empty())
    };
    let Some(answered) = by_call.or_else(by_tool).map(|r| r.id.clone()) else {
        return;
    };
    work.close_request(&answered, answer, "user");
    if answer == Answer::AllowOnce {
        for other in open.iter().filter(|r| r.id != answered) {
            work.close_request(&other.id, Answer::Cancelled, Code::ToolAborted.as_str());
        }
    }
}
