//! A proposal as it is printed.

use ring_session::members::Object;
use ring_session::record::{Proposal, ProposalStatus, Record};
use ring_session::shown;
use ring_session::store::Seen;
use ring_session::work::{Here, Work};
use ring_session::{Code, time::Ms};

/// A proposal that the view of its session has closed and nobody has stored yet: overdue, or of a dead owner.
pub fn effective(seen: &Seen, here: &Here, mut proposal: Proposal) -> Proposal {
    if seen.record.proposal.as_ref().is_some_and(|p| p.id == proposal.id) {
        return proposal;
    }
    let now = here.now;
    if proposal.status == ProposalStatus::Pending {
        let overdue = proposal.expires_ms.is_some_and(|e| now >= e);
        let dead = proposal.epoch.is_dead(&here.stamp, here.look);
        let (status, code) = match overdue && !dead {
            true => (ProposalStatus::Expired, Code::PlanApprovalTimeout),
            false => (ProposalStatus::Interrupted, Code::PlanApprovalInterrupted),
        };
        proposal.status = status;
        proposal.error_code = Some(code.as_str().to_owned());
        proposal.closed_ms = proposal
            .expires_ms
            .filter(|_| status == ProposalStatus::Expired)
            .or(Some(now));
        proposal.version += 1;
    } else if let Some(execution) = proposal.execution.as_mut().filter(|e| e.ended_ms.is_none()) {
        execution.state = ring_session::record::ExecutionState::Interrupted;
        execution.error_code = Some(Code::PlanExecutionInterrupted.as_str().to_owned());
        execution.ended_ms = Some(now);
        proposal.version += 1;
    }
    proposal
}

/// The file's whole path.
pub fn path(record: &Record, proposal: &Proposal) -> String {
    match &record.project {
        Some(project) => format!("{project}/{}", proposal.artifact.path),
        None => proposal.artifact.path.clone(),
    }
}

/// Time left until it expires; none unless it is pending with a deadline.
pub fn remaining_ms(proposal: &Proposal, now: Ms) -> Option<Ms> {
    let pending = proposal.status == ProposalStatus::Pending;
    proposal.expires_ms.filter(|_| pending).map(|e| (e - now).max(0))
}

/// A proposal as JSON: without its text, with what readers need of its session.
pub fn row(record: &Record, proposal: &Proposal, here: &Here) -> Object {
    let text = serde_json::to_string(proposal).unwrap_or_default();
    let mut row: Object = serde_json::from_str(&text).unwrap_or_default();
    row.remove("markdown");
    row.set("session_id", &record.id);
    row.set("session_title", &record.title);
    row.set("project", &record.project);
    row.set("agent", &record.agent);
    row.set("path", &path(record, proposal));
    row.set("remaining_ms", &remaining_ms(proposal, here.now));
    row.set(
        "planning_state",
        shown::shown(&Work::new(record.clone(), here.clone())).planning_state,
    );
    row
}
