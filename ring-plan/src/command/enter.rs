//! `enter`: a session goes into a contract mode.

use crate::cli::Context;
use crate::command::{bad, check_batch, given, needs_a_person, unattended};
use ring_session::record::{Mode, ModeBy, ProposalKind};
use ring_session::work::Work;
use ring_session::{Code, Refusal, shown};
use serde_json::json;
use std::io::Write;

/// Enters.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session
    id: String,
    /// plan or goal
    #[arg(long, default_value = "plan")]
    kind: String,
    /// The live turn
    #[arg(long, value_name = "TURN")]
    turn: String,
    /// The call
    #[arg(long, value_name = "CALL")]
    call: String,
    /// Calls in that message of the agent
    #[arg(long, value_name = "N", default_value_t = 1)]
    batch_size: u32,
    /// Nobody is there to approve anything
    #[arg(long)]
    unattended: bool,
}

/// plan or goal.
///
/// # Errors
/// `INVALID_ARGUMENT`.
pub fn kind(word: &str) -> Result<ProposalKind, Refusal> {
    ProposalKind::from_word(word).ok_or_else(|| bad(format!("no kind {word:?}; plan or goal")))
}

/// The mode of a kind.
pub fn mode(kind: ProposalKind) -> Mode {
    match kind {
        ProposalKind::Plan => Mode::Plan,
        ProposalKind::Goal => Mode::Goal,
    }
}

/// Runs it.
///
/// # Errors
/// Those of ring-plan(1), CHECKS.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    given("the session", &args.id, 128)?;
    given("--turn", &args.turn, 128)?;
    given("--call", &args.call, 200)?;
    let kind = kind(&args.kind)?;
    check_batch(args.batch_size)?;
    if unattended(args.unattended) {
        return Err(needs_a_person());
    }
    let id = context.store.resolve(&args.id)?;
    let ((), record) = context.store.update(&id, |work, _| {
        if work
            .record
            .turn
            .as_ref()
            .is_some_and(|t| t.id == args.turn && t.unattended)
        {
            return Err(needs_a_person());
        }
        if work.record.mode != Mode::Agent {
            return Err(Refusal::new(
                Code::PlanAlreadyActive,
                format!("the session is in {} mode already", work.record.mode.as_str()),
            ));
        }
        check_turn(work, &args.turn)?;
        if work.active_execution().is_some() {
            return Err(stale("approved work is not finished"));
        }
        work.enter(kind, ModeBy::Enter);
        Ok(())
    })?;
    let mut warnings = Vec::new();
    if record.project.is_none() {
        warnings.push("the session has no project: nothing can be submitted in it".to_owned());
    }
    warn(&warnings);
    let state = shown::shown(&Work::new(record.clone(), context.store.here().clone())).planning_state;
    let mut value = json!({"session_id": record.id, "mode": record.mode.as_str(), "planning_state": state});
    if !warnings.is_empty() {
        value["warnings"] = json!(warnings);
    }
    context.print(&value, |out| writeln!(out, "{} mode", record.mode.as_str()))
}

/// Warnings refuse nothing.
pub fn warn(warnings: &[String]) {
    for warning in warnings {
        // a closed stderr leaves nobody to tell
        writeln!(std::io::stderr(), "{}: {warning}", crate::TOOL).unwrap_or_default();
    }
}

/// A turn that is not the live one.
///
/// # Errors
/// `PLAN_APPROVAL_STALE`.
pub fn check_turn(work: &Work, turn: &str) -> Result<(), Refusal> {
    match &work.record.turn {
        Some(live) if live.id == turn => Ok(()),
        _ => Err(stale("that turn is not the one that runs")),
    }
}

/// The refusal of what came too late.
pub fn stale(text: &str) -> Refusal {
    Refusal::new(Code::PlanApprovalStale, format!("{text}; see `ring-session show`"))
}
