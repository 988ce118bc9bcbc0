//! `run`: a command as a turn, or a turn for each prompt of the queue.

use crate::TOOL;
use crate::body::{self, PROMPT_BYTES, bad};
use crate::cli::Context;
use crate::command::turn::{behind, unattended};
use ring_session::lifecycle::{Begin, Closing};
use ring_session::process::Stamp;
use ring_session::record::{Origin, Outcome};
use ring_session::run::{End, Job, Kept, Ran, Signals, become_command, execute, reply_row};
use ring_session::time::{self, Ms};
use ring_session::{Code, Refusal, Store, command_line, exit, rows};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::time::Duration;

/// Runs a command as a turn.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session
    id: String,
    /// File of the prompt, or - for stdin
    #[arg(long, value_name = "FILE")]
    prompt: Option<String>,
    /// Somebody sees the end: no notification
    #[arg(long)]
    seen: bool,
    /// Go on with the prompts of the queue
    #[arg(long)]
    drain: bool,
    /// Draining: stop after an error, hold the queue
    #[arg(long)]
    pause_on_failure: bool,
    /// Nobody is there to approve anything
    #[arg(long)]
    unattended: bool,
    /// End the command after this time
    #[arg(long, value_name = "D", value_parser = command_line::span)]
    timeout: Option<Ms>,
    /// Exit with the command's own status
    #[arg(long)]
    exit_status: bool,
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

/// Runs the hidden starter: asks the system for SIGTERM when the parent dies, then becomes the command.
///
/// # Errors
/// None: what cannot be started exits 127 or 126, as in a shell.
pub fn exec(args: &Exec) -> Result<u8, Refusal> {
    Ok(become_command(TOOL, args.parent, &args.command))
}

/// One turn that is over.
struct Done {
    turn: String,
    outcome: Outcome,
    code: Option<String>,
    end: End,
    output: Kept,
    /// A person asked for no more turns.
    stopped: bool,
}

impl Done {
    fn to_json(&self) -> Value {
        json!({"turn": self.turn, "status": self.outcome.as_str(), "error_code": self.code, "exit_status": self.end.status(),
            "stdout": self.output.text(), "truncated": self.output.truncated})
    }
}

/// Runs it; gives the exit status.
///
/// # Errors
/// `AGENT_BUSY`, `PLAN_REQUIRES_INTERACTIVE_SESSION`, `COMMAND_FAILED`, `TURN_ABORTED`, `TIMEOUT`, `INVALID_ARGUMENT`, and those of the store.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<u8, Refusal> {
    let id = context.store.resolve(&args.id)?;
    let prompt = prompt(&args)?;
    let signals =
        Signals::listen().map_err(|e| Refusal::new(Code::Internal, format!("cannot listen for signals: {e}")))?;
    let alone = unattended(args.unattended);
    let owner = Stamp::of(std::process::id()).unwrap_or_else(Stamp::nobody);
    let mut done: Vec<Done> = Vec::new();
    if args.drain {
        context.store.update(&id, |work, _| {
            work.check_attended(alone)?;
            work.hold(false);
            Ok(())
        })?;
    }
    if let Some(prompt) = prompt {
        let begin = Begin {
            origin: Origin::Run,
            prompt: prompt.clone(),
            owner: owner.clone(),
            unattended: alone,
            ..Begin::default()
        };
        let ((turn, _), _) = context.store.update(&id, |work, _| {
            work.check_attended(alone)?;
            work.busy(!args.drain).map_or(Ok(()), Err)?;
            Ok(work.begin(begin))
        })?;
        done.push(carry_out(&args, &id, turn, prompt, &signals, context)?);
    }
    while args.drain && goes_on(&args, done.last()) {
        let store = now(&context.store);
        match store.update(&id, |work, _| work.next(owner.clone(), alone)) {
            Ok(((turn, entry), _)) => done.push(carry_out(&args, &id, turn, entry.content, &signals, context)?),
            Err(e) if e.code == Code::NotFound => break,
            Err(e) => return Err(e),
        }
    }
    if args.drain && !goes_on(&args, done.last()) {
        now(&context.store).update(&id, |work, _| {
            work.hold(true);
            Ok(())
        })?;
    }
    conclude(&args, &done, context)
}

fn now(store: &Store) -> Store {
    store.at(time::now_ms())
}

/// The prompt; none: the queue gives it.
fn prompt(args: &Args) -> Result<Option<String>, Refusal> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    match &args.prompt {
        Some(_) => body::file(args.prompt.as_deref(), PROMPT_BYTES).map(|b| Some(text(b))),
        None if args.drain => Ok(None),
        None if io::stdin().is_terminal() => Err(bad("no prompt; give it on stdin or with --prompt")),
        None => body::stdin(PROMPT_BYTES).map(Some),
    }
}

/// Whether the queue gives the next prompt: after each end, of whatever reason, but that of a signal, a stop, or an error
/// on which to pause.
fn goes_on(args: &Args, last: Option<&Done>) -> bool {
    last.is_none_or(|d| {
        let failed = d.outcome == Outcome::Error && args.pause_on_failure;
        !d.stopped && !failed && !matches!(d.end, End::Told(_))
    })
}

/// Runs the command for one turn and stores its end.
fn carry_out(
    args: &Args,
    id: &str,
    turn: String,
    prompt: String,
    signals: &Signals,
    context: &mut Context<'_>,
) -> Result<Done, Refusal> {
    let internal = |e: io::Error| Refusal::new(Code::Internal, format!("cannot run a command: {e}"));
    let record = context.store.stored(id)?;
    let me = std::env::current_exe().map_err(internal)?;
    let row = ring_session::id::mint(time::now_ms());
    let echo = match context.json() {
        true => None,
        false => Some(File::from(
            rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3).map_err(|e| internal(e.into()))?,
        )),
    };
    let job = Job {
        starter: vec![
            me.into(),
            "__exec".into(),
            std::process::id().to_string().into(),
            "--".into(),
        ],
        command: args.command.clone(),
        folder: record.project.map(Into::into),
        environment: vec![("RING_SESSION".into(), id.into()), ("RING_TURN".into(), (&turn).into())],
        prompt: prompt.into_bytes(),
        echo,
        timeout_ms: args.timeout,
        session: id.to_owned(),
        turn: turn.clone(),
        row: row.clone(),
        keeps_error: false,
    };
    let store = context.store.clone();
    let ran = execute(&store, job, signals, |kept| abort(&store, id, &turn, &row, kept)).map_err(internal)?;
    store_end(args, &store, id, turn, &row, ran)
}

/// Records the abort of a turn whose `run` was told to end; the command is told afterwards.
fn abort(store: &Store, id: &str, turn: &str, row: &str, kept: &Kept) {
    let store = now(store);
    if !kept.text().is_empty() {
        // what was printed so far is kept with the abort, if it can be
        store
            .keep_checkpoint(id, turn, &reply_row(row, turn, kept, "streaming"))
            .unwrap_or_default();
    }
    let aborted = store.update(id, |work, files| {
        if work.record.turn.as_ref().is_some_and(|t| t.id == turn) {
            let behind = behind(work, files)?;
            work.abort(&behind);
        }
        Ok(())
    });
    // the command must end all the same, and the end is tried again when it has
    drop(aborted);
}

/// Stores the end of a turn: its reply and its reason in one commit. Three tries; the command is not repeated.
fn store_end(args: &Args, store: &Store, id: &str, turn: String, row: &str, ran: Ran) -> Result<Done, Refusal> {
    let mut tries = 0;
    loop {
        match try_store_end(args, &now(store), id, &turn, row, &ran) {
            Ok((outcome, code, stopped)) => {
                return Ok(Done {
                    turn,
                    outcome,
                    code,
                    end: ran.end,
                    output: ran.output,
                    stopped,
                });
            }
            Err(e) if tries < 2 && e.code.retriable() => tries += 1,
            Err(e) => return Err(e.with("turn", turn)),
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn try_store_end(
    args: &Args,
    store: &Store,
    id: &str,
    turn: &str,
    row: &str,
    ran: &Ran,
) -> Result<(Outcome, Option<String>, bool), Refusal> {
    let is_empty = ran.output.text().is_empty();
    let ended = store.update(id, |work, files| {
        let Some(live) = work.record.turn.as_ref().filter(|t| t.id == turn) else {
            return Ok(None);
        };
        let stopped = live.stop_requested_ms.is_some();
        let code = ran.end.code();
        if matches!(ran.end, End::Told(_)) {
            let behind = behind(work, files)?;
            work.abort(&behind);
            return Ok(Some((Outcome::Aborted, code, stopped)));
        }
        let outcome = if code.is_none() {
            Outcome::Completed
        } else {
            Outcome::Error
        };
        if !is_empty {
            let status = if code.is_none() { "complete" } else { "error" };
            let mut reply = reply_row(row, turn, &ran.output, status);
            if let (Some(_), End::Exit(status)) = (&code, ran.end) {
                reply = reply.with_meta("exit_status", &status);
            }
            work.rows.push(reply);
            work.checkpoint = None;
        }
        work.close(Closing {
            outcome,
            code: code.clone(),
            seen: args.seen,
            ..Closing::default()
        });
        Ok(Some((outcome, code, stopped)))
    })?;
    if let (Some(ended), _) = ended
        && ended.0 != Outcome::Aborted
    {
        return Ok(ended);
    }
    // ended from elsewhere, or told to end: what it printed is kept, beside a turn that stays as it was decided
    if !is_empty {
        let reply = reply_row(row, turn, &ran.output, "aborted");
        rows::append(store, id, vec![(reply, true)], Some(turn))?;
    }
    Ok((Outcome::Aborted, Some(Code::TurnAborted.as_str().into()), false))
}

fn conclude(args: &Args, done: &[Done], context: &mut Context<'_>) -> Result<u8, Refusal> {
    let results: Vec<Value> = done.iter().map(Done::to_json).collect();
    let result = if args.drain {
        json!(results)
    } else {
        results.first().cloned().unwrap_or_default()
    };
    let failure = done.iter().rev().find(|d| d.outcome != Outcome::Completed);
    let aborted = done.iter().find(|d| d.outcome == Outcome::Aborted);
    let Some(failure) = aborted.or(failure) else {
        context.print(&result, |_| Ok(()))?;
        return Ok(exit::DONE);
    };
    if args.exit_status {
        context.print(&result, |_| Ok(()))?;
        return Ok(u8::try_from(failure.end.status()).unwrap_or(u8::MAX));
    }
    let (code, text) = match (failure.outcome, failure.end) {
        (Outcome::Aborted, _) => (Code::TurnAborted, "the turn was aborted".to_owned()),
        (_, End::TimedOut) => (Code::Timeout, "the command took too long and was ended".to_owned()),
        _ => (
            Code::CommandFailed,
            format!("the command failed: {}", failure.code.clone().unwrap_or_default()),
        ),
    };
    Err(Refusal::new(code, text)
        .with("exit_status", failure.end.status())
        .with("turn", failure.turn.as_str())
        .with("result", result))
}
