//! A proposal as it is printed.

use ring_session::members::Object;
use ring_session::record::{Proposal, ProposalStatus, Record};
use ring_session::shown;
use ring_session::time::Ms;
use ring_session::work::{Here, Work};

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
    proposal
        .expires_ms
        .filter(|_| pending)
        .map(|e| e.saturating_sub(now).max(0))
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
