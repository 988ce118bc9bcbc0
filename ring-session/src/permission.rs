//! Permission requests (ring-session(1), PERMISSIONS).
//!
//! | from   | trigger                       | to: decision, cause                                    |
//! |--------|-------------------------------|--------------------------------------------------------|
//! | none   | open; its tool is granted     | open; closed: allow-session, grant                     |
//! | open   | answer                        | closed: as answered, user                              |
//! | open   | its time is over              | closed: deny, PERMISSION_TIMEOUT                       |
//! | open   | its turn closes, for whatever | closed: cancelled, TOOL_ABORTED (`lifecycle.rs`)       |
//! | closed | answer                        | unchanged: the same is repeated, another is refused    |

use crate::members::Raw;
use crate::record::{Answer, CLOSED_REQUESTS, GRANTS, Mode, OPEN_REQUESTS, Origin, Request, RequestState};
use crate::refusal::{Code, Refusal};
use crate::time::Ms;
use crate::work::Work;
use serde_json::{Value, json};

/// How long a request waits unless told otherwise.
pub const WAIT_MS: Ms = 120_000;
/// Longest text of a preview, in characters.
pub const PREVIEW_TEXT: usize = 2000;
/// Members whose values are masked, whole names, at any depth, in any case.
const SECRETS: &[&str] = &["token", "secret", "password", "api_key", "authorization"];

/// A request to open.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// Its turn; must be the live one.
    pub turn: String,
    /// The call that asks.
    pub call: String,
    /// Its tool.
    pub tool: String,
    /// Arguments as sent.
    pub arguments: Value,
    /// Free text, 40.
    pub risk: String,
    /// Free text, 160.
    pub reason: String,
    /// cli or hook.
    pub origin: Origin,
    /// When it expires; none: never.
    pub wait_ms: Option<Ms>,
}

/// The arguments as people see them: secrets masked, long texts cut.
pub fn preview(arguments: &Value) -> Value {
    match arguments {
        Value::String(text) if text.chars().count() > PREVIEW_TEXT => {
            let mut cut: String = text.chars().take(PREVIEW_TEXT - 1).collect();
            cut.push(crate::text::CUT);
            Value::String(cut)
        }
        Value::Array(list) => Value::Array(list.iter().map(preview).collect()),
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(name, value)| {
                    let secret = SECRETS.contains(&name.to_ascii_lowercase().as_str());
                    (name.clone(), if secret { json!("***") } else { preview(value) })
                })
                .collect(),
        ),
        other => other.clone(),
    }
}

impl Work {
    /// Opens a request. The same turn and call give the request that is there.
    ///
    /// # Errors
    /// `TURN_NOT_FOUND`, `LIMIT_EXCEEDED`.
    pub fn open_request(&mut self, opening: Opening) -> Result<Request, Refusal> {
        let live = self.record.turn.as_ref().filter(|t| t.id == opening.turn);
        let Some(live) = live else {
            return Err(crate::lifecycle::turn_not_found(&opening.turn));
        };
        let turn_origin = live.origin;
        if let Some(request) = self
            .record
            .permissions
            .iter()
            .find(|r| r.turn_id == opening.turn && r.call_id == opening.call)
        {
            return Ok(request.clone());
        }
        let open = self
            .record
            .permissions
            .iter()
            .filter(|r| r.state == RequestState::Open)
            .count();
        let granted = opening.origin != Origin::Hook && self.is_granted(&opening.tool);
        if open >= OPEN_REQUESTS && !granted {
            return Err(Refusal::new(
                Code::LimitExceeded,
                format!("{OPEN_REQUESTS} requests are open; answer one first"),
            ));
        }
        let now = self.now();
        let mut request = Request {
            id: self.mint(),
            turn_id: opening.turn,
            call_id: opening.call,
            tool: opening.tool,
            risk: opening.risk,
            reason: opening.reason,
            preview: Raw::parse(&preview(&opening.arguments).to_string()),
            origin: opening.origin,
            created_ms: now,
            expires_ms: opening.wait_ms.map(|w| now.saturating_add(w)),
            ..Request::default()
        };
        let members = json!({"turn_id": request.turn_id, "request": request.id, "origin": turn_origin, "project": self.record.project});
        self.announce("permission_opened", members);
        if granted {
            request.state = RequestState::Closed;
            request.decision = Some(Answer::AllowSession);
            request.cause = Some("grant".into());
            request.answered_ms = Some(now);
        }
        self.record.permissions.push(request.clone());
        if granted {
            self.announce_request_closed(&request.id);
            self.trim_requests();
        }
        Ok(request)
    }

    /// In plan and goal mode a grant answers only for Bash.
    fn is_granted(&self, tool: &str) -> bool {
        self.record.grants.iter().any(|g| g == tool) && (self.record.mode == Mode::Agent || tool == "Bash")
    }

    /// Answers a request. The first answer counts; the same again changes nothing.
    ///
    /// # Errors
    /// `NOT_FOUND`, `CONFLICT`, `PERMISSION_TIMEOUT`.
    pub fn answer(&mut self, id: &str, answer: Answer) -> Result<Request, Refusal> {
        let request = self.find_request(id)?.clone();
        if request.origin == Origin::Hook && request.state == RequestState::Open {
            return Err(
                Refusal::new(Code::Conflict, "this request is answered in the agent's own prompt")
                    .with("reason", "answered_in_agent"),
            );
        }
        if request.state == RequestState::Closed {
            return match (request.cause.as_deref(), request.decision) {
                (Some("PERMISSION_TIMEOUT"), _) => Err(Refusal::new(
                    Code::PermissionTimeout,
                    "nobody answered in time; the request was denied",
                )),
                (_, Some(decision)) if decision == answer => Ok(request),
                (_, decision) => {
                    let said = decision.map_or("closed", Answer::as_str);
                    Err(
                        Refusal::new(Code::Conflict, format!("the request was answered before: {said}"))
                            .with("decision", said),
                    )
                }
            };
        }
        if answer == Answer::AllowSession
            && !self.record.grants.contains(&request.tool)
            && self.record.grants.len() < GRANTS
        {
            self.record.grants.push(request.tool.clone());
        }
        self.close_request(id, answer, "user");
        Ok(self.find_request(id)?.clone())
    }

    /// A request by its id, or the unique beginning of one.
    ///
    /// # Errors
    /// `NOT_FOUND`, `AMBIGUOUS`.
    pub fn find_request(&self, id: &str) -> Result<&Request, Refusal> {
        self.record.permissions.iter().find(|r| r.id == id).ok_or_else(|| {
            Refusal::new(
                Code::NotFound,
                format!("no request {}; see `permission list`", crate::text::clean(id, 128)),
            )
        })
    }

    /// Closes an open request.
    pub fn close_request(&mut self, id: &str, decision: Answer, cause: &str) {
        let now = self.now();
        if let Some(request) = self
            .record
            .permissions
            .iter_mut()
            .find(|r| r.id == id && r.state == RequestState::Open)
        {
            request.state = RequestState::Closed;
            request.decision = Some(decision);
            request.cause = Some(cause.to_owned());
            request.answered_ms = Some(now);
            self.announce_request_closed(id);
            self.trim_requests();
        }
    }

    /// Requests whose time is over are denied.
    pub fn expire_requests(&mut self) -> bool {
        let now = self.now();
        let overdue = |r: &&Request| r.state == RequestState::Open && r.expires_ms.is_some_and(|e| now >= e);
        let ids: Vec<String> = self
            .record
            .permissions
            .iter()
            .filter(overdue)
            .map(|r| r.id.clone())
            .collect();
        for id in &ids {
            self.close_request(id, Answer::Deny, Code::PermissionTimeout.as_str());
        }
        !ids.is_empty()
    }

    /// The line of a request that was closed.
    pub fn announce_request_closed(&mut self, id: &str) {
        let Some(request) = self.record.permissions.iter().find(|r| r.id == id) else {
            return;
        };
        let origin = self.record.turn.as_ref().map_or(request.origin, |t| t.origin);
        let members = json!({"turn_id": request.turn_id, "request": request.id, "origin": origin, "project": self.record.project,
            "decision": request.decision, "cause": request.cause});
        self.announce("permission_closed", members);
    }

    /// Keeps the newest closed requests.
    pub fn trim_requests(&mut self) {
        let closed = self
            .record
            .permissions
            .iter()
            .filter(|r| r.state == RequestState::Closed)
            .count();
        let mut over = closed.saturating_sub(CLOSED_REQUESTS);
        self.record.permissions.retain(|r| {
            let goes = over > 0 && r.state == RequestState::Closed;
            over -= usize::from(goes);
            !goes
        });
    }

    /// Whether a request of the live turn is open.
    pub fn has_open_request(&self) -> bool {
        let turn = self.record.turn.as_ref().map(|t| t.id.as_str());
        self.record
            .permissions
            .iter()
            .any(|r| r.state == RequestState::Open && Some(r.turn_id.as_str()) == turn)
    }
}
