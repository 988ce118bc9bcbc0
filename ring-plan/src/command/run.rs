//! `run`: an approved proposal is carried out by a command.
//!
//! Claim and begin are one commit, end and finish another. A goal ends completed only with a report of each criterion.

use crate::cli::Context;
use crate::command::execution::{checked_report, verify};
use crate::instruction::{instruction, report_in};
use crate::{TOOL, locate, report};
use ring_session::execution::Finish;
use ring_session::lifecycle::{Begin, Closing};
use ring_session::process::Stamp;
use ring_session::record::{Execution, Mode, Origin, Outcome, PermissionMode, Proposal};
use ring_session::run::{End, Job, Kept, Ran, Signals, become_command, execute, reply_row};
use ring_session::time::{self, Ms};
use ring_session::work::Behind;
use ring_session::{Code, Refusal, Store, command_line, exit, rows};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::time::Duration;

/// Runs a command as an execution.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Execution, or its proposal
    execution: String,
    /// Nobody is there to approve anything
    #[arg(long)]
    unattended: bool,
    /// End the command after this time
    #[arg(long, value_name = "D", value_parser = command_line::span)]
    timeout: Option<Ms>,
    /// The command
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Becomes a command that ends with the process that started it.
#[derive(Debug, clap::Args)]
pub struct Exec {
    parent: u32,
    #[arg(required = true, last = true)]
    command: Vec<OsString>,
}

/// Runs the hidden starter.
///
/// # Errors
/// None: what cannot be started exits 127 or 126, as in a shell.
pub fn exec(args: &Exec) -> Result<u8, Refusal> {
    Ok(become_command(TOOL, args.parent, &args.command))
}

/// Runs it; gives the exit status.
///
/// # Errors
/// Those of `claim`; `COMMAND_FAILED`, `TURN_ABORTED`, `TIMEOUT`, `INVALID_ARGUMENT` (no valid report).
pub fn run(args: Args, context: &mut Context<'_>) -> Result<u8, Refusal> {
    let internal = |e: io::Error| Refusal::new(Code::Internal, format!("cannot run a command: {e}"));
    let (found, execution) = locate::execution(&context.store, &args.execution)?;
    let id = found.seen.record.id;
    let signals = Signals::listen().map_err(internal)?;
    let owner = Stamp::of(std::process::id()).unwrap_or_else(Stamp::nobody);
    let alone = crate::command::unattended(args.unattended);
    let (begun, record) = context.store.update(&id, |work, _| {
        work.check_claimable(&execution)?;
        if alone && work.record.mode != Mode::Agent {
            return Err(crate::command::needs_a_person());
        }
        if work.record.turn.is_some() {
            return Err(Refusal::new(Code::AgentBusy, "a turn of the session is running").with("reason", "turn"));
        }
        if let Some(refusal) = verify(work, &execution)? {
            return Ok(Err(refusal));
        }
        let claimed = work.claim(&execution, None, owner.clone())?;
        let begin = Begin {
            origin: Origin::Execution,
            id: claimed.turn_id.clone(),
            owner,
            unattended: alone,
            ..Begin::default()
        };
        let (turn, _) = work.begin(begin);
        Ok(Ok(turn))
    })?;
    let turn = begun?;
    let Some(proposal) = record.proposal.clone() else {
        return Err(ring_session::execution::stale(&execution));
    };
    let mut report_file = tempfile::NamedTempFile::with_prefix("ring-report-").map_err(internal)?;
    let row = ring_session::id::mint(time::now_ms());
    let me = std::env::current_exe().map_err(internal)?;
    let echo = match context.json() {
        true => None,
        false => Some(File::from(
            rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3).map_err(|e| internal(e.into()))?,
        )),
    };
    let mode = proposal.permission_mode.unwrap_or(PermissionMode::Ask).as_str();
    let text = |name: &str, value: &str| (name.to_owned(), OsString::from(value));
    let job = Job {
        starter: vec![
            me.into(),
            "__exec".into(),
            std::process::id().to_string().into(),
            "--".into(),
        ],
        command: args.command,
        folder: record.project.clone().map(Into::into),
        environment: vec![
            text("RING_SESSION", &id),
            text("RING_TURN", &turn),
            text("RING_PROPOSAL", &proposal.id),
            text("RING_EXECUTION", &execution),
            text("RING_PERMISSION_MODE", mode),
            ("RING_REPORT_FILE".into(), report_file.path().into()),
        ],
        prompt: instruction(&proposal).into_bytes(),
        echo,
        timeout_ms: args.timeout,
        session: id.clone(),
        turn: turn.clone(),
        row: row.clone(),
        keeps_error: true,
    };
    let store = context.store.clone();
    let one = Turn {
        id,
        turn,
        row,
        proposal,
    };
    let ran = execute(&store, job, &signals, |kept| one.abort(&store, kept)).map_err(internal)?;
    let mut bytes = Vec::new();
    report_file
        .rewind()
        .and_then(|()| {
            report_file
                .as_file_mut()
                .take(report::BYTES as u64 + 1)
                .read_to_end(&mut bytes)
        })
        .map_err(internal)?;
    let over = one.store_end(&store, &ran, bytes)?;
    conclude(over, &ran, context)
}

struct Turn {
    id: String,
    turn: String,
    row: String,
    proposal: Proposal,
}

/// How it ended, as it is stored.
struct Over {
    outcome: Outcome,
    execution: Option<Execution>,
    /// Why a goal's report was refused.
    refused: Option<Refusal>,
}

impl Turn {
    /// Records the abort before the command is told.
    fn abort(&self, store: &Store, kept: &Kept) {
        let store = store.at(time::now_ms());
        if !kept.text().is_empty() {
            // what was printed so far is kept with the abort, if it can be
            store
                .keep_checkpoint(
                    &self.id,
                    &self.turn,
                    &reply_row(&self.row, &self.turn, kept, "streaming"),
                )
                .unwrap_or_default();
        }
        let aborted = store.update(&self.id, |work, _| {
            if work.record.turn.as_ref().is_some_and(|t| t.id == self.turn) {
                work.abort(&Behind {
                    answered: true,
                    ..Behind::default()
                });
            }
            Ok(())
        });
        // the command must end all the same, and the end is tried again when it has
        drop(aborted);
    }

    /// Stores the end of turn and execution in one commit. Three tries; the command is not repeated.
    fn store_end(&self, store: &Store, ran: &Ran, report: Vec<u8>) -> Result<Over, Refusal> {
        let report = match report.iter().all(u8::is_ascii_whitespace) {
            true => report_in(&ran.output.text()).map(String::into_bytes),
            false => Some(report),
        };
        let mut tries = 0;
        loop {
            match self.try_store_end(&store.at(time::now_ms()), ran, report.as_deref()) {
                Err(e) if tries < 2 && e.code.retriable() => tries += 1,
                other => return other.map_err(|e| e.with("turn", self.turn.as_str())),
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn try_store_end(&self, store: &Store, ran: &Ran, report: Option<&[u8]>) -> Result<Over, Refusal> {
        let text = ran.output.text();
        let (over, _) = store.update(&self.id, |work, _| {
            if work.record.turn.as_ref().is_none_or(|t| t.id != self.turn) {
                return Ok(None);
            }
            if matches!(ran.end, End::Told(_)) {
                work.abort(&Behind {
                    answered: true,
                    ..Behind::default()
                });
                return Ok(None);
            }
            let code = ran.end.code();
            let checked = match &code {
                None => checked_report(&self.proposal, true, report),
                Some(_) => Ok(None),
            };
            if !text.is_empty() {
                let status = if code.is_none() { "complete" } else { "error" };
                work.rows.push(reply_row(&self.row, &self.turn, &ran.output, status));
                work.checkpoint = None;
            }
            let (finish, closing, refused) = match (code, checked) {
                (None, Ok(report)) => (
                    Finish {
                        completed: true,
                        report,
                        ..Finish::default()
                    },
                    Closing {
                        outcome: Outcome::Completed,
                        ..Closing::default()
                    },
                    None,
                ),
                (None, Err(refusal)) => {
                    let reason = refusal
                        .details
                        .get("reason")
                        .and_then(|r| r.as_str())
                        .unwrap_or_default()
                        .to_owned();
                    let closing = Closing {
                        outcome: Outcome::Error,
                        code: Some(refusal.code.as_str().to_owned()),
                        ..Closing::default()
                    };
                    (
                        Finish {
                            error_code: Some(reason),
                            ..Finish::default()
                        },
                        closing,
                        Some(refusal),
                    )
                }
                (Some(code), _) => {
                    let detail = Some(ran.error_line.clone()).filter(|l| !l.is_empty());
                    let closing = Closing {
                        outcome: Outcome::Error,
                        code: Some(code.clone()),
                        ..Closing::default()
                    };
                    (
                        Finish {
                            error_code: Some(code),
                            error_detail: detail,
                            ..Finish::default()
                        },
                        closing,
                        None,
                    )
                }
            };
            let outcome = closing.outcome;
            let execution = work.finish(finish).and_then(|p| p.execution);
            work.close(closing);
            Ok(Some(Over {
                outcome,
                execution,
                refused,
            }))
        })?;
        if let Some(over) = over {
            return Ok(over);
        }
        // aborted, here or from elsewhere: what it printed is kept beside it
        if !text.is_empty() {
            let reply = reply_row(&self.row, &self.turn, &ran.output, "aborted");
            rows::append(store, &self.id, vec![(reply, true)], Some(&self.turn))?;
        }
        Ok(Over {
            outcome: Outcome::Aborted,
            execution: None,
            refused: None,
        })
    }
}

fn conclude(over: Over, ran: &Ran, context: &mut Context<'_>) -> Result<u8, Refusal> {
    if let Some(refusal) = over.refused {
        return Err(refusal);
    }
    let (code, text) = match (over.outcome, ran.end) {
        (Outcome::Completed, _) => {
            context.print(&over.execution, |_| Ok(()))?;
            return Ok(exit::DONE);
        }
        (Outcome::Aborted, _) => (Code::TurnAborted, "the turn was aborted".to_owned()),
        (_, End::TimedOut) => (Code::Timeout, "the command took too long and was ended".to_owned()),
        _ => (
            Code::CommandFailed,
            format!("the command failed: {}", ran.end.code().unwrap_or_default()),
        ),
    };
    Err(Refusal::new(code, text).with("exit_status", ran.end.status()))
}
