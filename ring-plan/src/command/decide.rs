//! `approve`, `reject`: the one decision on one text.

use crate::cli::Context;
use crate::command::bad;
use crate::{artifact, locate, shown};
use ring_session::proposal::Decision;
use ring_session::record::{PermissionMode, Proposal, ProposalStatus, Record};
use ring_session::work::Work;
use ring_session::{Code, Refusal, text};
use serde_json::json;
use std::io::Read;

/// Longest note, in characters.
const NOTE: usize = 2000;

/// What must hold, if it is given.
#[derive(Debug, clap::Args)]
pub struct Guards {
    /// Version that was read
    #[arg(long, value_name = "N")]
    version: Option<u64>,
    /// Session that is meant
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Turn that is meant
    #[arg(long, value_name = "TURN")]
    turn: Option<String>,
    /// Call that is meant
    #[arg(long, value_name = "CALL")]
    call: Option<String>,
    /// SHA-256 of the text that was read
    #[arg(long, value_name = "H")]
    sha256: Option<String>,
}

/// Grants.
#[derive(Debug, clap::Args)]
pub struct Approve {
    /// Proposal
    proposal: String,
    /// ask, accept-edits or auto
    #[arg(long, value_name = "MODE")]
    permission: Option<String>,
    /// Words for the agent, or - for stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    note: Option<String>,
    #[command(flatten)]
    guards: Guards,
}

/// Refuses.
#[derive(Debug, clap::Args)]
pub struct Reject {
    /// Proposal
    proposal: String,
    /// What should change, or - for stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    note: Option<String>,
    #[command(flatten)]
    guards: Guards,
}

fn note(given: Option<&str>) -> Result<Option<String>, Refusal> {
    let note = match given {
        Some("-") => {
            let mut bytes = Vec::new();
            let stdin = std::io::stdin().lock();
            stdin
                .take(NOTE as u64 * 4 + 1)
                .read_to_end(&mut bytes)
                .map_err(|e| Refusal::io("read", std::path::Path::new("stdin"), &e))?;
            Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
        }
        other => other.map(str::to_owned),
    };
    if let Some(long) = note.as_ref().map(|n| n.chars().count()).filter(|n| *n > NOTE) {
        return Err(bad(format!("the note has {long} characters; at most {NOTE}")));
    }
    Ok(note.filter(|n| !n.trim().is_empty()))
}

impl Guards {
    fn check_call(&self, session: &str, proposal: &Proposal) -> Result<(), Refusal> {
        let pairs = [
            (&self.session, session),
            (&self.turn, &proposal.turn_id),
            (&self.call, &proposal.call_id),
            (&self.sha256, &proposal.artifact.sha256),
        ];
        match pairs
            .iter()
            .all(|(given, own)| given.as_deref().is_none_or(|g| g == *own))
        {
            true => Ok(()),
            false => Err(stale("this is not the proposal that was meant; look at it again")),
        }
    }

    fn check_version(&self, proposal: &Proposal) -> Result<(), Refusal> {
        match self.version.is_none_or(|v| v == proposal.version) {
            true => Ok(()),
            false => Err(stale("the proposal has changed since it was read; look at it again")),
        }
    }
}

fn stale(text: &str) -> Refusal {
    Refusal::new(Code::PlanApprovalStale, text)
}

/// What was decided before, in this way or in another.
fn decided(proposal: &Proposal, action: &str, mode: Option<PermissionMode>) -> Result<bool, Refusal> {
    match proposal.status {
        ProposalStatus::Pending => Ok(false),
        ProposalStatus::Interrupted => Err(stale("the proposal was interrupted; the agent must submit it anew")),
        ProposalStatus::Expired => Err(Refusal::new(
            Code::PlanApprovalTimeout,
            "the proposal has expired; the agent must submit it anew",
        )),
        ProposalStatus::Approved | ProposalStatus::Rejected => {
            if proposal.action.as_deref() == Some(action) && (mode.is_none() || proposal.permission_mode == mode) {
                return Ok(true);
            }
            let said = proposal.action.clone().unwrap_or_default();
            let granted = match proposal.permission_mode.filter(|_| said == "approve") {
                Some(mode) => format!(" with --permission {}", mode.as_str()),
                None => String::new(),
            };
            Err(Refusal::new(
                Code::PlanApprovalConflict,
                format!("it is decided already, and otherwise: {said}{granted}"),
            )
            .with("action", said))
        }
    }
}

fn check_waiter(work: &Work, proposal: &Proposal) -> Result<(), Refusal> {
    let waited_for = proposal.waiter.as_ref().is_some_and(|w| !work.is_dead(w));
    if proposal.via == "hook" && !waited_for {
        return Err(stale(
            "nobody waits for this answer here; answer in the agent's own prompt. \
                 `ring-hook install --with session,plan,notify --plan-wait 30m` lets later plans wait for it",
        )
        .with("reason", "no_waiter"));
    }
    Ok(())
}

/// The proposal as the session holds it now, or as it left it.
fn current(work: &Work, found: &Proposal, files: &ring_session::store::Files) -> Result<Proposal, Refusal> {
    match work.record.proposal.as_ref().filter(|p| p.id == found.id) {
        Some(own) => Ok(own.clone()),
        None => locate::closed(work, files)?
            .into_iter()
            .find(|p| p.id == found.id)
            .ok_or_else(|| locate::plan_not_found(&found.id)),
    }
}

fn permission(given: Option<&str>) -> Result<PermissionMode, Refusal> {
    let word = given.ok_or_else(|| {
        Refusal::new(
            Code::PlanPermissionModeRequired,
            "say what the agent may do without asking: --permission ask, accept-edits or auto",
        )
    })?;
    PermissionMode::from_word(word)
        .filter(|m| *m != PermissionMode::Inherit)
        .ok_or_else(|| {
            Refusal::new(
                Code::PlanPermissionModeInvalid,
                format!("no permission mode {word:?}; ask, accept-edits or auto"),
            )
        })
}

/// Runs `approve`.
///
/// # Errors
/// Those of ring-plan(1), CHECKS.
pub fn approve(args: Approve, context: &mut Context<'_>) -> Result<(), Refusal> {
    let note = note(args.note.as_deref())?;
    let found = locate::proposal(&context.store, &args.proposal)?;
    let id = found.seen.record.id.clone();
    let (proposal, record) = context.store.update(&id, |work, files| {
        let proposal = current(work, &found.proposal, files)?;
        args.guards.check_call(&id, &proposal)?;
        if proposal.status == ProposalStatus::Expired {
            decided(&proposal, "approve", None)?;
        }
        let mode = permission(args.permission.as_deref())?;
        if decided(&proposal, "approve", Some(mode))? {
            return Ok(proposal);
        }
        args.guards.check_version(&proposal)?;
        check_waiter(work, &proposal)?;
        artifact::verify(work.record.project.as_deref(), &proposal)?;
        if work.record.mode != crate::command::enter::mode(proposal.kind) {
            return Err(Refusal::new(
                Code::PlanNotActive,
                format!("the session is no longer in {} mode", proposal.kind.as_str()),
            ));
        }
        if work.active_execution().is_some() {
            return Err(Refusal::new(
                Code::PlanExecutionActive,
                "approved work of this session is not finished",
            ));
        }
        work.approve(mode, Decision { note, by: "cli".into() })
            .ok_or_else(|| stale("the proposal is no longer open"))
    })?;
    let row = shown::row(&record, &proposal, context.store.here());
    let execution = proposal.execution.clone();
    context.print(&json!({"proposal": row, "execution": execution}), |out| {
        writeln!(out, "{}", execution.as_ref().map_or("", |e| e.id.as_str()))
    })
}

/// Runs `reject`.
///
/// # Errors
/// Those of ring-plan(1), CHECKS.
pub fn reject(args: Reject, context: &mut Context<'_>) -> Result<(), Refusal> {
    let note = note(args.note.as_deref())?;
    let found = locate::proposal(&context.store, &args.proposal)?;
    let id = found.seen.record.id.clone();
    let (proposal, record): (Proposal, Record) = context.store.update(&id, |work, files| {
        let proposal = current(work, &found.proposal, files)?;
        args.guards.check_call(&id, &proposal)?;
        if decided(&proposal, "reject", None)? {
            return Ok(proposal);
        }
        args.guards.check_version(&proposal)?;
        check_waiter(work, &proposal)?;
        work.reject(Decision { note, by: "cli".into() })
            .ok_or_else(|| stale("the proposal is no longer open"))
    })?;
    let row = shown::row(&record, &proposal, context.store.here());
    context.print(&row, |out| {
        writeln!(out, "rejected {}", text::for_terminal(&proposal.title))
    })
}
