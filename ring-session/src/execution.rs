//! The work that an approval granted (ring-plan(1), EXECUTIONS).
//!
//! | from               | trigger                          | to                                                          |
//! |--------------------|----------------------------------|-------------------------------------------------------------|
//! | none               | approve (`proposal.rs`)          | queued                                                      |
//! | queued             | claim                            | running; a turn is reserved                                 |
//! | queued             | claim, artifact gone or changed  | interrupted, with that code                                 |
//! | queued, running    | finish completed                 | completed, to history                                       |
//! | queued, running    | finish interrupted               | interrupted, to history                                     |
//! | queued, running    | abort, error of its turn, death  | interrupted (`proposal.rs`, `recovery.rs`)                  |
//! | over               | finish, the same word            | unchanged                                                   |
//!
//! It is never run twice and never replayed.

use crate::members::Raw;
use crate::process::Stamp;
use crate::record::{Execution, ExecutionState, Proposal};
use crate::refusal::{Code, Refusal};
use crate::work::Work;
use serde_json::json;

/// How an execution is finished.
#[derive(Clone, Debug, Default)]
pub struct Finish {
    /// Completed, or interrupted.
    pub completed: bool,
    /// Why it was interrupted; none: the plain code.
    pub error_code: Option<String>,
    /// More of it.
    pub error_detail: Option<String>,
    /// What the agent reported.
    pub report: Option<Raw>,
}

impl Finish {
    fn state(&self) -> ExecutionState {
        if self.completed {
            ExecutionState::Completed
        } else {
            ExecutionState::Interrupted
        }
    }
}

impl Work {
    /// Makes the queued execution running and reserves `turn` for it, which may be the live one. The caller has
    /// verified the artifact.
    ///
    /// # Errors
    /// `PLAN_EXECUTION_STALE`, `AGENT_BUSY`.
    pub fn claim(&mut self, execution: &str, turn: Option<String>, owner: Stamp) -> Result<Execution, Refusal> {
        self.check_claimable(execution)?;
        let live = self.record.turn.as_ref().map(|t| t.id.clone());
        if live.is_some() && live != turn {
            return Err(Refusal::new(
                Code::AgentBusy,
                "another turn of the session is running; wait for its end, or abort it",
            )
            .with("reason", "turn"));
        }
        let turn = turn.unwrap_or_else(|| self.mint());
        if let Some(live) = self.record.turn.as_mut() {
            live.execution_id = Some(execution.to_owned());
        }
        let now = self.now();
        let Some(proposal) = self.record.proposal.as_mut() else {
            return Err(stale(execution));
        };
        proposal.version = proposal.version.saturating_add(1);
        proposal.updated_ms = now;
        let Some(running) = proposal.execution.as_mut() else {
            return Err(stale(execution));
        };
        running.state = ExecutionState::Running;
        running.turn_id = Some(turn);
        running.started_ms = Some(now);
        running.epoch = owner;
        let running = running.clone();
        let proposal = proposal.clone();
        self.announce_execution("execution_claimed", &proposal, &running);
        Ok(running)
    }

    /// Whether an execution is the queued one. One of a hook's approval is run by the agent's own next event only.
    ///
    /// # Errors
    /// `PLAN_EXECUTION_STALE`.
    pub fn check_claimable(&self, execution: &str) -> Result<(), Refusal> {
        let queued = self
            .active_execution()
            .filter(|e| e.id == execution && e.state == ExecutionState::Queued);
        queued.map(|_| ()).ok_or_else(|| stale(execution))
    }

    /// Ends the active execution.
    pub fn finish(&mut self, finish: Finish) -> Option<Proposal> {
        self.active_execution()?;
        let now = self.now();
        let mut proposal = self.record.proposal.take()?;
        proposal.version = proposal.version.saturating_add(1);
        proposal.updated_ms = now;
        let execution = proposal.execution.as_mut()?;
        execution.state = finish.state();
        execution.ended_ms = Some(now);
        execution.report = finish.report;
        if !finish.completed {
            let code = finish
                .error_code
                .unwrap_or_else(|| Code::PlanExecutionInterrupted.as_str().to_owned());
            execution.error_code = Some(crate::text::clean(&code, 80));
            execution.error_detail = finish.error_detail.map(|d| crate::text::clean(&d, 160));
        }
        let ended = execution.clone();
        let kind = if finish.completed {
            "execution_finished"
        } else {
            "execution_interrupted"
        };
        self.announce_execution(kind, &proposal, &ended);
        self.to_history("proposal", &proposal);
        Some(proposal)
    }

    fn announce_execution(&mut self, kind: &'static str, proposal: &Proposal, execution: &Execution) {
        let members = json!({"proposal_kind": proposal.kind, "project": self.record.project, "proposal": proposal.id,
            "execution": execution.id, "state": execution.state, "error_code": execution.error_code});
        self.announce(kind, members);
    }
}

/// The refusal of an execution that is not the queued one.
pub fn stale(execution: &str) -> Refusal {
    Refusal::new(
        Code::PlanExecutionStale,
        format!(
            "the execution {} has been claimed, or is over; see `ring-plan show`",
            crate::text::clean(execution, 128)
        ),
    )
}
