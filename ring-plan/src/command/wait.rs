//! `wait`: returns on the decision.

use crate::cli::Context;
use crate::{locate, shown};
use ring_session::record::{Proposal, ProposalStatus, Record};
use ring_session::time::{self, Ms};
use ring_session::{Code, Refusal, command_line};
use std::time::{Duration, Instant};

/// Waits.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Proposal
    proposal: String,
    /// Give up after this time
    #[arg(long, value_name = "D", value_parser = command_line::span)]
    timeout: Option<Ms>,
}

/// How often a waiter looks; a look is one small file.
pub const LOOK: Duration = Duration::from_millis(100);

/// Runs it.
///
/// # Errors
/// `PLAN_REJECTED`, `PLAN_APPROVAL_TIMEOUT`, `PLAN_APPROVAL_INTERRUPTED`, `TIMEOUT`, `PLAN_NOT_FOUND`, `AMBIGUOUS`.
pub fn run(args: &Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    let started = Instant::now();
    let mut found = locate::proposal(&context.store, &args.proposal)?;
    while found.proposal.status == ProposalStatus::Pending {
        let left = args
            .timeout
            .map(|ms| Duration::from_millis(ms.unsigned_abs()).saturating_sub(started.elapsed()));
        if left == Some(Duration::ZERO) {
            return Err(Refusal::new(
                Code::Timeout,
                "nobody has decided yet; the proposal is still pending",
            ));
        }
        std::thread::sleep(left.unwrap_or(LOOK).min(LOOK));
        context.store = context.store.at(time::now_ms());
        let record = context.store.see(&found.seen.record.id)?.record;
        match record.proposal.filter(|p| p.id == found.proposal.id) {
            Some(proposal) => found.proposal = proposal,
            None => found = locate::proposal(&context.store, &found.proposal.id)?,
        }
    }
    let record = found.seen.record;
    said(&record, &found.proposal, context)
}

fn said(record: &Record, proposal: &Proposal, context: &mut Context<'_>) -> Result<(), Refusal> {
    let row = shown::row(record, proposal, context.store.here());
    let refused = |code: Code, text: String| {
        let value = serde_json::to_value(&row).unwrap_or_default();
        Err(Refusal::new(code, text).with("proposal", value))
    };
    let note = proposal.note.as_deref().map(|n| format!(": {n}")).unwrap_or_default();
    match proposal.status {
        ProposalStatus::Approved => {
            let mode = proposal.permission_mode.map_or("ask", |m| m.as_str());
            let execution = proposal.execution.as_ref().map_or("", |e| e.id.as_str()).to_owned();
            context.print(&row, |out| writeln!(out, "approved {mode} {execution}"))
        }
        ProposalStatus::Rejected => refused(Code::PlanRejected, format!("rejected{note}")),
        ProposalStatus::Expired => refused(Code::PlanApprovalTimeout, "nobody decided in time".into()),
        ProposalStatus::Interrupted | ProposalStatus::Pending => {
            refused(Code::PlanApprovalInterrupted, "the proposal was interrupted".into())
        }
    }
}
