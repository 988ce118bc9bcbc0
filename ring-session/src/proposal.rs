//! What ends a proposal that nobody decided, and the work that was approved with one (ring-session(1), PROPOSALS).
//!
//! | from            | trigger                                      | to                                        |
//! |-----------------|----------------------------------------------|-------------------------------------------|
//! | pending         | its time is over                             | expired, PLAN_APPROVAL_TIMEOUT            |
//! | pending         | its turn ends completed                      | pending; its owner is let go              |
//! | pending         | its turn ends with an error, abort, death    | interrupted, PLAN_APPROVAL_INTERRUPTED    |
//! | queued, running | its turn ends with an error                  | interrupted, with the turn's code         |
//! | queued, running | abort, death                                 | interrupted, PLAN_EXECUTION_INTERRUPTED   |
//!
//! An interruption is never an approval, and a mode never changes by one.

use crate::record::{ExecutionState, Proposal, ProposalStatus};
use crate::refusal::Code;
use crate::work::Work;
use serde_json::json;

impl Work {
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
        proposal.version += 1;
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
        proposal.version += 1;
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
