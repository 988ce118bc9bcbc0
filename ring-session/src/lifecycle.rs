//! The life of a turn (ring-session(1), TURNS).
//!
//! | from    | trigger            | to                                                        |
//! |---------|--------------------|-----------------------------------------------------------|
//! | idle    | begin, queue next  | running: [`Work::begin`]                                  |
//! | running | end                | idle, completed or error: [`Work::end`]                   |
//! | running | abort              | idle, aborted: [`Work::abort`]                            |
//! | running | its owner dies     | idle, aborted: `recovery.rs`                              |
//! | running | stop               | running; its owner is asked to end: [`Work::stop`]        |
//! | running | steer              | running; one more row of the person: [`Work::steer`]      |
//! | closed  | end, abort         | unchanged; the answer is `ok: false`                      |
//!
//! The reason of an end is decided once, in [`Work::close`], which every end goes through.

use crate::members::Raw;
use crate::process::Stamp;
use crate::record::{
    Answer, ClosedTurn, ExecutionState, Mode, NOTIFICATIONS, Notification, NotificationKind, Origin, Outcome,
    ProposalStatus, RequestState, TURNS, Turn,
};
use crate::refusal::{Code, Refusal};
use crate::row::{Role, Row};
use crate::text;
use crate::work::{Behind, Work};
use serde_json::json;

/// Longest title that a first prompt gives, in characters, with the mark of the cut.
pub const AUTO_TITLE: usize = 48;

/// What a new turn is made of.
#[derive(Clone, Debug, Default)]
pub struct Begin {
    /// How it begins.
    pub origin: Origin,
    /// Given by `begin --turn`.
    pub id: Option<String>,
    /// The prompt; blank is none.
    pub prompt: String,
    /// References.
    pub attachments: Vec<String>,
    /// Raw JSON.
    pub draft: Option<Raw>,
    /// Who works on it.
    pub owner: Stamp,
    /// Nobody is there to approve anything.
    pub unattended: bool,
    /// KEY and turn id of the agent whose hooks speak in it.
    pub agent: Option<(String, String)>,
    /// The queue entry that becomes this turn.
    pub queue_entry: Option<String>,
}

/// What an end did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ended {
    /// This command decided it; false: it was decided before, and nothing was touched.
    pub ok: bool,
    /// How the turn ended.
    pub status: Option<Outcome>,
    /// The notification that was made.
    pub notification: Option<String>,
}

/// What an abort did.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Aborted {
    /// Something was ended.
    pub ok: bool,
    /// The turn.
    pub turn: Option<String>,
    /// `restore`: the unanswered prompt was taken back; `settle`: all stays; `none`: there was no turn.
    pub kind: &'static str,
    /// The row that was taken back.
    pub row: Option<String>,
    /// The draft, given back.
    pub draft: Option<Raw>,
    /// Ids of the proposal and execution that were interrupted.
    pub interrupted: Vec<String>,
}

/// How an end is told from others.
#[derive(Clone, Debug, Default)]
pub struct Closing {
    /// The reason.
    pub outcome: Outcome,
    /// Of an error; aborts have their own.
    pub code: Option<String>,
    /// The caller's figures.
    pub usage: Option<Raw>,
    /// Somebody saw it.
    pub seen: bool,
    /// Recovery tells nobody.
    pub quiet: bool,
}

impl Work {
    /// The refusal of an unattended beginning in a contract mode.
    ///
    /// # Errors
    /// `PLAN_REQUIRES_INTERACTIVE_SESSION`.
    pub fn check_attended(&self, unattended: bool) -> Result<(), Refusal> {
        if unattended && self.record.mode != Mode::Agent {
            let mode = self.record.mode.as_str();
            return Err(Refusal::new(
                Code::PlanRequiresInteractiveSession,
                format!("the session is in {mode} mode and nobody is there to approve; use `configure --mode agent`"),
            ));
        }
        Ok(())
    }

    /// Begins a turn. The caller has made sure that nothing is in the way ([`Work::busy`]).
    pub fn begin(&mut self, begin: Begin) -> (String, Option<String>) {
        let id = begin.id.unwrap_or_else(|| self.mint());
        let blank = begin.prompt.trim().is_empty() && begin.attachments.is_empty();
        let user_row = (!blank).then(|| {
            let row = Row::user(self.mint(), &id, self.now(), &begin.prompt, &begin.attachments);
            self.name_by(&row);
            let row_id = row.id.clone();
            self.rows.push(row);
            row_id
        });
        let execution_id = self.running_execution_of(&id);
        let origin = if execution_id.is_some() {
            Origin::Execution
        } else {
            begin.origin
        };
        let (key, agent_turn) = begin.agent.unwrap_or_default();
        self.record.turn = Some(Turn {
            id: id.clone(),
            origin,
            started_ms: self.now(),
            user_row: user_row.clone(),
            epoch: begin.owner,
            key,
            agent_turn,
            unattended: begin.unattended,
            draft: begin.draft,
            queue_entry: begin.queue_entry,
            execution_id,
            ..Turn::default()
        });
        let project = self.record.project.clone();
        self.announce(
            "turn_started",
            json!({"turn_id": id, "origin": origin, "project": project}),
        );
        (id, user_row)
    }

    /// The first user row names a session that nobody has named.
    pub fn name_by(&mut self, row: &Row) {
        if !self.record.title_auto || row.role != Role::User {
            return;
        }
        let title = text::clean(&row.text(), AUTO_TITLE);
        if !title.is_empty() {
            self.record.title = title;
            self.record.title_auto = false;
        }
    }

    /// Whether `turn` is the live one; `ok: false` of a closed one; a refusal of one that never was.
    ///
    /// # Errors
    /// `TURN_NOT_FOUND`.
    pub fn find_turn(&self, turn: &str, in_history: bool) -> Result<bool, Refusal> {
        if self.record.turn.as_ref().is_some_and(|t| t.id == turn) {
            return Ok(true);
        }
        if in_history || self.record.turns.iter().any(|t| t.id == turn) {
            return Ok(false);
        }
        Err(turn_not_found(turn))
    }

    /// Ends the live turn as completed or with an error. `live` is what [`Work::find_turn`] said.
    pub fn end(&mut self, turn: &str, live: bool, closing: Closing, known: Option<Outcome>) -> Ended {
        if !live {
            let status = self
                .record
                .turns
                .iter()
                .rev()
                .find(|t| t.id == turn)
                .map(|t| t.status)
                .or(known);
            return Ended {
                ok: false,
                status,
                notification: None,
            };
        }
        let outcome = closing.outcome;
        let notification = self.close(closing);
        Ended {
            ok: true,
            status: Some(outcome),
            notification,
        }
    }

    /// Aborts the live turn, and what is open of proposal and execution. `behind` says what the transcript holds
    /// behind the turn's user row.
    pub fn abort(&mut self, behind: &Behind) -> Aborted {
        let mut aborted = Aborted {
            kind: "none",
            ..Aborted::default()
        };
        let Some(turn) = self.record.turn.clone() else {
            aborted.interrupted = self.interrupt_all(Code::TurnAborted.as_str());
            aborted.ok = !aborted.interrupted.is_empty();
            return aborted;
        };
        aborted.ok = true;
        aborted.turn = Some(turn.id.clone());
        let answered =
            behind.answered || turn.origin == Origin::Hook || self.checkpoint.as_ref().is_some_and(Row::is_visible);
        if answered {
            aborted.kind = "settle";
        } else {
            aborted.kind = "restore";
            aborted.row = turn.user_row.clone();
            aborted.draft = turn.draft.clone();
            if turn.user_row.is_some() {
                self.cut = Some(behind.cut);
            }
            self.checkpoint = None;
        }
        // also what was approved in this turn and is not claimed yet: the session is idle then
        aborted.interrupted = self.interrupt_all(Code::TurnAborted.as_str());
        self.close(Closing {
            outcome: Outcome::Aborted,
            ..Closing::default()
        });
        aborted
    }

    /// Asks the owner of the live turn to end it, as completed, after the step at hand.
    pub fn stop(&mut self) -> bool {
        let now = self.now();
        let Some(turn) = self.record.turn.as_mut() else {
            return false;
        };
        if turn.stop_requested_ms.is_none() {
            turn.stop_requested_ms = Some(now);
            let members = json!({"turn_id": turn.id, "origin": turn.origin, "project": self.record.project});
            self.announce("stop_requested", members);
        }
        true
    }

    /// One more row of the person in a live turn of `begin` or `queue`.
    ///
    /// # Errors
    /// `TURN_NOT_FOUND`, `CONFLICT` (`not_steerable`), `INVALID_ARGUMENT`.
    pub fn steer(&mut self, turn: &str, prompt: &str) -> Result<String, Refusal> {
        let live = self
            .record
            .turn
            .as_ref()
            .filter(|t| t.id == turn)
            .ok_or_else(|| turn_not_found(turn))?;
        if live.stop_requested_ms.is_some() || self.open_proposal().is_some() {
            return Err(turn_not_found(turn).with("reason", "stopping"));
        }
        if !matches!(live.origin, Origin::Begin | Origin::Queue) {
            return Err(Refusal::new(
                Code::Conflict,
                format!("a turn of {} takes no further text", live.origin.as_str()),
            )
            .with("reason", "not_steerable"));
        }
        if prompt.trim().is_empty() {
            return Err(Refusal::new(Code::InvalidArgument, "the text is blank"));
        }
        Ok(self.steering_row(prompt))
    }

    /// The row of a steering text, in whatever turn is live.
    pub fn steering_row(&mut self, prompt: &str) -> String {
        let turn = self.record.turn.as_ref().map(|t| t.id.clone()).unwrap_or_default();
        let row = Row::user(self.mint(), &turn, self.now(), prompt, &[]).steering();
        self.name_by(&row);
        let id = row.id.clone();
        self.rows.push(row);
        let members = json!({"turn_id": turn, "origin": self.record.turn.as_ref().map(|t| t.origin), "project": self.record.project});
        self.announce("turn_steered", members);
        id
    }

    /// The one way out of a live turn: decides the reason, cancels its requests, promotes its checkpoint, lets go of
    /// its proposal or interrupts it, and makes the notification. Gives the notification's id.
    pub fn close(&mut self, closing: Closing) -> Option<String> {
        let turn = self.record.turn.take()?;
        let now = self.now();
        let code = match closing.outcome {
            Outcome::Completed => None,
            Outcome::Aborted => Some(Code::TurnAborted.as_str().to_owned()),
            Outcome::Error => Some(text::clean(closing.code.as_deref().unwrap_or("UNSPECIFIED"), 80)),
        };
        self.cancel_requests(&turn.id);
        self.promote_checkpoint(closing.outcome);
        match closing.outcome {
            Outcome::Completed => self.let_go_of(&turn.id),
            Outcome::Error => {
                self.interrupt_of_turn(&turn.id, code.as_deref().unwrap_or_default());
            }
            Outcome::Aborted => {}
        }
        self.record.turns.push(ClosedTurn {
            id: turn.id.clone(),
            origin: turn.origin,
            status: closing.outcome,
            error_code: code.clone(),
            started_ms: turn.started_ms,
            ended_ms: now,
            usage: closing.usage.clone(),
            seen: closing.seen,
            ..ClosedTurn::default()
        });
        while self.record.turns.len() > TURNS {
            let oldest = self.record.turns.remove(0);
            self.to_history("turn", &oldest);
        }
        let notification = self.notify(&turn, &closing, code.clone());
        self.record.unannounced.push(turn.id.clone());
        self.announce(
            "turn_ended",
            json!({"turn_id": turn.id, "origin": turn.origin, "project": self.record.project, "reason": closing.outcome,
                "error_code": code, "usage": closing.usage}),
        );
        notification
    }

    fn notify(&mut self, turn: &Turn, closing: &Closing, code: Option<String>) -> Option<String> {
        let kind = match closing.outcome {
            Outcome::Completed => NotificationKind::Completed,
            Outcome::Error => NotificationKind::Failed,
            Outcome::Aborted => return None,
        };
        if closing.seen || closing.quiet || self.record.notifications.iter().any(|n| n.turn_id == turn.id) {
            return None;
        }
        let id = self.mint();
        self.record.notifications.push(Notification {
            id: id.clone(),
            kind,
            turn_id: turn.id.clone(),
            title: self.record.title.clone(),
            error_code: code,
            duration_ms: self.now().saturating_sub(turn.started_ms).max(0),
            created_ms: self.now(),
            ..Notification::default()
        });
        let over = self.record.notifications.len().saturating_sub(NOTIFICATIONS);
        self.record.notifications.drain(..over);
        Some(id)
    }

    /// The checkpoint of a closing turn becomes a row.
    fn promote_checkpoint(&mut self, outcome: Outcome) {
        self.drop_checkpoint = true;
        if let Some(row) = self.checkpoint.take() {
            let row = row.promoted(if outcome == Outcome::Completed {
                "complete"
            } else {
                "aborted"
            });
            if row.is_visible() || outcome == Outcome::Completed {
                self.rows.push(row);
            }
        }
    }

    /// A turn's requests that nobody has answered.
    fn cancel_requests(&mut self, turn: &str) {
        let now = self.now();
        let mut closed = Vec::new();
        for request in self.record.permissions.iter_mut() {
            if request.state == RequestState::Open && request.turn_id == turn {
                request.state = RequestState::Closed;
                request.decision = Some(Answer::Cancelled);
                request.cause = Some(Code::ToolAborted.as_str().to_owned());
                request.answered_ms = Some(now);
                closed.push(request.id.clone());
            }
        }
        for id in closed {
            self.announce_request_closed(&id);
        }
        self.trim_requests();
    }

    /// Adds one to what leaves the record.
    pub fn to_history<T: serde::Serialize>(&mut self, kind: &str, value: &T) {
        // a record's own parts are always JSON; should one not be, history is told nothing rather than the commit lost
        if let Ok(text) = serde_json::to_string(value) {
            let schema = crate::record::SCHEMA;
            let rest = text.strip_prefix('{').unwrap_or(&text);
            let comma = if rest == "}" { "" } else { "," };
            // raw members of a record that somebody has laid out by hand may have lines of their own
            self.history.push(crate::members::one_line(format!(
                "{{\"schema\":{schema},\"type\":\"{kind}\"{comma}{rest}"
            )));
        }
    }

    /// The proposal that awaits a decision.
    pub fn open_proposal(&self) -> Option<&crate::record::Proposal> {
        self.record
            .proposal
            .as_ref()
            .filter(|p| p.status == ProposalStatus::Pending)
    }

    /// The execution that is queued or running.
    pub fn active_execution(&self) -> Option<&crate::record::Execution> {
        let execution = self.record.proposal.as_ref()?.execution.as_ref()?;
        matches!(execution.state, ExecutionState::Queued | ExecutionState::Running).then_some(execution)
    }

    /// The running execution that has reserved `turn`.
    fn running_execution_of(&self, turn: &str) -> Option<String> {
        let execution = self.active_execution()?;
        (execution.state == ExecutionState::Running && execution.turn_id.as_deref() == Some(turn))
            .then(|| execution.id.clone())
    }
}

/// The refusal of a turn that never was, or is not the one meant.
pub fn turn_not_found(turn: &str) -> Refusal {
    Refusal::new(
        Code::TurnNotFound,
        format!("no such turn: {}; see `ring-session show`", text::clean(turn, 128)),
    )
}
