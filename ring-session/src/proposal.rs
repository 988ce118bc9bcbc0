//! A proposal, from its submission to its decision, or to its end without one (ring-plan(1), STATES).
//!
//! | from            | trigger                                      | to                                        |
//! |-----------------|----------------------------------------------|-------------------------------------------|
//! | none            | submit                                       | pending, version 1                        |
//! | pending         | approve                                      | approved; mode agent, execution queued    |
//! | pending         | reject                                       | rejected; the mode stays                  |
//! | pending         | its time is over                             | expired, PLAN_APPROVAL_TIMEOUT            |
//! | pending         | its turn ends completed                      | pending; its owner is let go              |
//! | pending         | its turn ends with an error, abort, death    | interrupted, PLAN_APPROVAL_INTERRUPTED    |
//! | queued, running | its turn ends with an error                  | interrupted, with the turn's code         |
//! | queued, running | abort, death                                 | interrupted, PLAN_EXECUTION_INTERRUPTED   |
//!
//! An interruption is never an approval, and a mode never changes by one.

use crate::record::{
    Artifact, Execution, ExecutionState, Mode, ModeBy, PermissionMode, Proposal, ProposalKind, ProposalStatus,
};
use crate::refusal::Code;
use crate::time::Ms;
use crate::work::Work;
use serde_json::json;

/// What is proposed.
#[derive(Clone, Debug, Default)]
pub struct Submission {
    /// Plan or goal; the session's mode.
    pub kind: ProposalKind,
    /// `cli`, or `hook`.
    pub via: String,
    /// The live turn.
    pub turn: String,
    /// The call.
    pub call: String,
    /// 1 to 200 characters, cleaned.
    pub title: String,
    /// 1 to 2,000 characters, cleaned.
    pub question: String,
    /// The exact text.
    pub markdown: String,
    /// The file that holds it.
    pub artifact: Artifact,
    /// How long it waits; none: for ever.
    pub wait_ms: Option<Ms>,
}

/// What a person decided.
#[derive(Clone, Debug, Default)]
pub struct Decision {
    /// What the person said.
    pub note: Option<String>,
    /// `cli`, `agent`, `agent-auto`.
    pub by: String,
}

impl Work {
    /// Puts the session into a contract mode.
    pub fn enter(&mut self, kind: ProposalKind, by: ModeBy) {
        self.record.mode = match kind {
            ProposalKind::Plan => Mode::Plan,
            ProposalKind::Goal => Mode::Goal,
        };
        self.record.mode_by = by;
        let members = json!({"proposal_kind": kind, "project": self.record.project});
        self.announce("plan_entered", members);
    }

    /// Makes a submission the open proposal. The caller has made sure that it may be.
    pub fn submit(&mut self, submission: Submission) -> Proposal {
        let now = self.now();
        let owner = self
            .record
            .turn
            .as_ref()
            .map(|t| t.epoch.clone())
            .unwrap_or_else(|| self.here.stamp.clone());
        let proposal = Proposal {
            id: self.mint(),
            kind: submission.kind,
            via: submission.via,
            turn_id: submission.turn,
            call_id: submission.call,
            title: submission.title,
            question: submission.question,
            markdown: submission.markdown,
            artifact: submission.artifact,
            status: ProposalStatus::Pending,
            version: 1,
            created_ms: now,
            updated_ms: now,
            expires_ms: submission.wait_ms.map(|w| now.saturating_add(w)),
            epoch: owner,
            ..Proposal::default()
        };
        self.record.proposal = Some(proposal.clone());
        self.announce_proposal("plan_submitted", &proposal);
        proposal
    }

    /// Grants the open proposal: decision, mode, permission mode and the queued execution are one change.
    pub fn approve(&mut self, mode: PermissionMode, decision: Decision) -> Option<Proposal> {
        self.open_proposal()?;
        let now = self.now();
        let execution = Execution {
            id: self.mint(),
            state: ExecutionState::Queued,
            queued_ms: now,
            ..Execution::default()
        };
        self.record.mode = Mode::Agent;
        self.record.mode_by = ModeBy::User;
        self.record.permission_mode = mode;
        let proposal = self.record.proposal.as_mut()?;
        proposal.status = ProposalStatus::Approved;
        proposal.action = Some("approve".into());
        proposal.permission_mode = Some(mode);
        proposal.note = decision.note;
        proposal.decided_by = Some(decision.by);
        proposal.closed_ms = Some(now);
        proposal.updated_ms = now;
        proposal.version = proposal.version.saturating_add(1);
        proposal.waiter = None;
        proposal.execution = Some(Execution {
            epoch: proposal.epoch.clone(),
            ..execution
        });
        let proposal = proposal.clone();
        self.announce_proposal("plan_approved", &proposal);
        Some(proposal)
    }

    /// Refuses the open proposal. Mode, permission mode and turn stay; it goes to history.
    pub fn reject(&mut self, decision: Decision) -> Option<Proposal> {
        self.open_proposal()?;
        let now = self.now();
        let mut proposal = self.record.proposal.take()?;
        proposal.status = ProposalStatus::Rejected;
        proposal.action = Some("reject".into());
        proposal.note = decision.note;
        proposal.decided_by = Some(decision.by);
        proposal.closed_ms = Some(now);
        proposal.updated_ms = now;
        proposal.version = proposal.version.saturating_add(1);
        proposal.waiter = None;
        self.announce_proposal("plan_rejected", &proposal);
        self.to_history("proposal", &proposal);
        Some(proposal)
    }

    /// A proposal whose time is over is expired.
    pub fn expire_proposal(&mut self) -> bool {
        let now = self.now();
        let Some(due) = self.open_proposal().and_then(|p| p.expires_ms).filter(|e| now >= *e) else {
            return false;
        };
        self.close_proposal(ProposalStatus::Expired, Code::PlanApprovalTimeout, due, "plan_expired");
        true
    }

    /// Interrupts what is open, of whatever turn: the ids of proposal and execution that were.
    pub fn interrupt_all(&mut self, turn_code: &str) -> Vec<String> {
        let mut ids = self.interrupt_proposal();
        ids.extend(self.interrupt_execution(turn_code));
        ids
    }

    /// Interrupts what belongs to `turn`.
    pub fn interrupt_of_turn(&mut self, turn: &str, turn_code: &str) -> Vec<String> {
        let mut ids = Vec::new();
        if self.open_proposal().is_some_and(|p| p.turn_id == turn) {
            ids.extend(self.interrupt_proposal());
        }
        if self
            .active_execution()
            .is_some_and(|e| e.turn_id.as_deref() == Some(turn))
        {
            ids.extend(self.interrupt_execution(turn_code));
        }
        ids
    }

    /// Interrupts the open proposal.
    pub fn interrupt_proposal(&mut self) -> Vec<String> {
        let Some(id) = self.open_proposal().map(|p| p.id.clone()) else {
            return Vec::new();
        };
        let now = self.now();
        self.close_proposal(
            ProposalStatus::Interrupted,
            Code::PlanApprovalInterrupted,
            now,
            "plan_interrupted",
        );
        vec![id]
    }

    /// Interrupts the active execution: with `turn_code` if that is an error's own code, else with the plain one.
    pub fn interrupt_execution(&mut self, turn_code: &str) -> Vec<String> {
        if self.active_execution().is_none() {
            return Vec::new();
        }
        let now = self.now();
        let plain = Code::PlanExecutionInterrupted.as_str();
        let code = if turn_code.is_empty() || turn_code == Code::TurnAborted.as_str() {
            plain
        } else {
            turn_code
        };
        let Some(mut proposal) = self.record.proposal.take() else {
            return Vec::new();
        };
        let mut id = String::new();
        if let Some(execution) = proposal.execution.as_mut() {
            execution.state = ExecutionState::Interrupted;
            execution.error_code = Some(code.to_owned());
            execution.ended_ms = Some(now);
            id.clone_from(&execution.id);
        }
        proposal.version = proposal.version.saturating_add(1);
        proposal.updated_ms = now;
        self.announce(
            "execution_interrupted",
            json!({"proposal_kind": proposal.kind, "proposal": proposal.id, "execution": id, "state": "interrupted", "error_code": code}),
        );
        self.to_history("proposal", &proposal);
        vec![id]
    }

    /// The turn of an open proposal has ended in good order: its owner may leave, the proposal stays.
    pub fn let_go_of(&mut self, turn: &str) {
        if let Some(proposal) = self.record.proposal.as_mut().filter(|p| p.turn_id == turn) {
            let queued = proposal
                .execution
                .as_ref()
                .is_some_and(|e| e.state == ExecutionState::Queued);
            if proposal.status == ProposalStatus::Pending || queued {
                (proposal.epoch.pid, proposal.epoch.start_ticks) = (0, 0);
            }
            if let Some(execution) = proposal
                .execution
                .as_mut()
                .filter(|e| e.state == ExecutionState::Queued)
            {
                (execution.epoch.pid, execution.epoch.start_ticks) = (0, 0);
            }
        }
    }

    fn close_proposal(&mut self, status: ProposalStatus, code: Code, closed_ms: i64, kind: &'static str) {
        let now = self.now();
        let Some(mut proposal) = self.record.proposal.take() else {
            return;
        };
        proposal.status = status;
        proposal.error_code = Some(code.as_str().to_owned());
        proposal.closed_ms = Some(closed_ms);
        proposal.updated_ms = now;
        proposal.version = proposal.version.saturating_add(1);
        self.announce_proposal(kind, &proposal);
        self.to_history("proposal", &proposal);
    }

    /// The line of a proposal's change.
    pub fn announce_proposal(&mut self, kind: &'static str, proposal: &Proposal) {
        let members = json!({"proposal_kind": proposal.kind, "project": self.record.project, "proposal": proposal.id,
            "via": proposal.via, "state": proposal.status, "error_code": proposal.error_code});
        self.announce(kind, members);
    }
}
