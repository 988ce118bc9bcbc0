//! `claim`, `finish`, `instruction`.

use crate::cli::Context;
use crate::command::bad;
use crate::command::show::visible;
use crate::criteria::criteria;
use crate::report;
use crate::{artifact, instruction as text_of, locate};
use ring_session::execution as life;
use ring_session::process::Stamp;
use ring_session::record::{Execution, ExecutionState, Proposal, ProposalKind};
use ring_session::store::is_id;
use ring_session::{Code, Refusal, history};
use serde_json::json;
use std::io::{IsTerminal, Read};
use std::path::Path;

/// Claims.
#[derive(Debug, clap::Args)]
pub struct Claim {
    /// Execution, or its proposal
    execution: String,
    /// Turn to reserve; it may be the live one
    #[arg(long, value_name = "TURN")]
    turn: Option<String>,
    /// Process that works on it
    #[arg(long, value_name = "PID")]
    owner_pid: Option<u32>,
}

/// Finishes.
#[derive(Debug, clap::Args)]
pub struct Finish {
    /// Execution, or its proposal
    execution: String,
    /// completed or interrupted
    status: String,
    /// Why it was interrupted
    #[arg(long, value_name = "CODE")]
    error_code: Option<String>,
    /// File of the report, JSON, or - for stdin
    #[arg(long, value_name = "FILE")]
    report: Option<String>,
}

/// Prints the text for the agent.
#[derive(Debug, clap::Args)]
pub struct Instruction {
    /// Execution, or its proposal
    execution: String,
}

/// The artifact of a queued execution; if it is gone or changed, the execution is interrupted with that code, and the
/// code is the answer.
///
/// # Errors
/// `PLAN_EXECUTION_STALE`, those of [`artifact::verify`].
pub fn verify(work: &mut ring_session::work::Work, execution: &str) -> Result<Option<Refusal>, Refusal> {
    work.check_claimable(execution)?;
    let Some(proposal) = work.record.proposal.clone() else {
        return Err(life::stale(execution));
    };
    if proposal.via == "hook" {
        return Err(life::stale(execution).with("reason", "hook"));
    }
    match artifact::verify(work.record.project.as_deref(), &proposal) {
        Ok(()) => Ok(None),
        Err(refusal) => {
            work.finish(life::Finish {
                error_code: Some(refusal.code.as_str().to_owned()),
                ..life::Finish::default()
            });
            Ok(Some(refusal))
        }
    }
}

/// Runs `claim`.
///
/// # Errors
/// Those of ring-plan(1), STATES.
pub fn claim(args: Claim, context: &mut Context<'_>) -> Result<(), Refusal> {
    let owner = match args.owner_pid {
        None => context.store.here().stamp.clone(),
        Some(pid) => Stamp::of(pid)
            .filter(|_| pid != 0)
            .ok_or_else(|| bad(format!("--owner-pid {pid}: no such process")))?,
    };
    if let Some(turn) = args.turn.as_deref().filter(|t| !is_id(t)) {
        return Err(bad(format!(
            "--turn {turn:?} must have 1 to 128 letters, digits, _ or -"
        )));
    }
    let (found, execution) = locate::execution(&context.store, &args.execution)?;
    let id = found.seen.record.id;
    let (claimed, _) = context.store.update(&id, |work, files| {
        work.check_claimable(&execution)?;
        if let Some(turn) = &args.turn {
            let path = files.history();
            let used = history::find_turn(&path, &work.record, turn).map_err(|e| Refusal::io("read", &path, &e))?;
            if used.is_some() {
                return Err(Refusal::new(
                    Code::Conflict,
                    format!("the turn {turn} has ended; give another id"),
                ));
            }
        }
        let live = work.record.turn.as_ref().map(|t| &t.id);
        if live.is_some() && live != args.turn.as_ref() {
            return Err(Refusal::new(Code::AgentBusy, "another turn of the session is running").with("reason", "turn"));
        }
        match verify(work, &execution)? {
            Some(refusal) => Ok(Err(refusal)),
            None => work.claim(&execution, args.turn, owner).map(Ok),
        }
    })?;
    let claimed: Execution = claimed?;
    context.print(&claimed, |out| {
        writeln!(out, "{}", claimed.turn_id.as_deref().unwrap_or_default())
    })
}

fn read_report(file: &str) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    let limit = report::BYTES as u64 + 1;
    let read = match file {
        "-" => std::io::stdin().lock().take(limit).read_to_end(&mut bytes),
        path => std::fs::File::open(path).and_then(|f| f.take(limit).read_to_end(&mut bytes)),
    };
    read.map_err(|e| Refusal::io("read", Path::new(file), &e))?;
    Ok(bytes)
}

/// The report that a finish may store.
///
/// # Errors
/// `INVALID_ARGUMENT`.
pub fn checked_report(
    proposal: &Proposal,
    completed: bool,
    bytes: Option<&[u8]>,
) -> Result<Option<ring_session::members::Raw>, Refusal> {
    if completed && proposal.kind == ProposalKind::Goal {
        return report::of_goal(bytes, &criteria(&proposal.markdown)).map(Some);
    }
    let bytes = bytes.filter(|b| !b.iter().all(u8::is_ascii_whitespace));
    bytes.map(|b| report::read(b).map(|(raw, _)| raw)).transpose()
}

/// Runs `finish`.
///
/// # Errors
/// Those of ring-plan(1), STATES.
pub fn finish(args: Finish, context: &mut Context<'_>) -> Result<(), Refusal> {
    let completed = match args.status.as_str() {
        "completed" => true,
        "interrupted" => false,
        other => {
            return Err(Refusal::new(
                Code::PlanExecutionStatusInvalid,
                format!("an execution ends completed or interrupted, not {other:?}"),
            ));
        }
    };
    if completed && args.error_code.is_some() {
        return Err(bad("--error-code goes with interrupted"));
    }
    let bytes = args.report.as_deref().map(read_report).transpose()?;
    let (found, execution) = locate::execution(&context.store, &args.execution)?;
    let id = found.seen.record.id.clone();
    let (proposal, _) = context.store.update(&id, |work, files| {
        let active = work.active_execution().is_some_and(|e| e.id == execution);
        if !active {
            let path = files.history();
            let known = locate::closed(work, files)?
                .into_iter()
                .find(|p| p.execution.as_ref().is_some_and(|e| e.id == execution));
            let known = known.ok_or_else(|| Refusal::io("read", &path, &std::io::ErrorKind::NotFound.into()))?;
            let state = known.execution.as_ref().map(|e| e.state);
            let same = state
                == Some(if completed {
                    ExecutionState::Completed
                } else {
                    ExecutionState::Interrupted
                });
            return match same {
                true => Ok(known),
                false => Err(
                    Refusal::new(Code::PlanExecutionConflict, "the execution has ended otherwise")
                        .with("state", state.map_or("", |s| s.as_str())),
                ),
            };
        }
        let Some(proposal) = work.record.proposal.clone() else {
            return Err(life::stale(&execution));
        };
        let report = checked_report(&proposal, completed, bytes.as_deref())?;
        let finish = life::Finish {
            completed,
            error_code: args.error_code,
            error_detail: None,
            report,
        };
        work.finish(finish).ok_or_else(|| life::stale(&execution))
    })?;
    let ended = proposal.execution;
    context.print(&json!(ended), |out| {
        writeln!(out, "{}", ended.as_ref().map_or("", |e| e.state.as_str()))
    })
}

/// Runs `instruction`.
///
/// # Errors
/// `PLAN_EXECUTION_NOT_FOUND`, `PLAN_EXECUTION_STALE`, `AMBIGUOUS`, `IO`.
pub fn instruction(args: &Instruction, context: &mut Context<'_>) -> Result<(), Refusal> {
    let (found, _) = locate::execution(&context.store, &args.execution)?;
    let text = text_of::instruction(&found.proposal);
    context.print(&json!({"instruction": text}), |out| {
        // an agent gets every byte, a person's terminal obeys none
        match std::io::stdout().is_terminal() {
            true => out.write_all(visible(&text).as_bytes()),
            false => out.write_all(text.as_bytes()),
        }
    })
}
