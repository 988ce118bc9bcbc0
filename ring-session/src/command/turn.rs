//! `begin`, `end`, `abort`, `stop`, `steer`.

use crate::body::{self, PROMPT_BYTES, bad, within};
use crate::cli::Context;
use crate::command::session::transcript_size;
use ring_session::id::{Meant, meant};
use ring_session::lifecycle::{self, Closing, turn_not_found};
use ring_session::members::Raw;
use ring_session::process::Stamp;
use ring_session::queue::{ATTACHMENTS, CONTENT_BYTES, Push};
use ring_session::record::{Entry, Origin, Outcome, Record};
use ring_session::store::{Files, ambiguous, is_id};
use ring_session::work::{Behind, Work};
use ring_session::{Code, Refusal, history, transcript};
use serde_json::json;

/// Begins a turn.
#[derive(Debug, clap::Args)]
pub struct Begin {
    /// Session
    id: String,
    /// Prompt, or - for stdin; none: no message
    prompt: Option<String>,
    /// Process that works on the turn; its death aborts it
    #[arg(long, value_name = "PID")]
    owner_pid: Option<u32>,
    /// A reference to a file or address (may be repeated)
    #[arg(long, value_name = "REF")]
    attach: Vec<String>,
    /// Your own form of the prompt, given back by an unanswered abort
    #[arg(long, value_name = "JSON")]
    draft: Option<String>,
    /// If busy, push the prompt instead
    #[arg(long)]
    queue: bool,
    /// Nobody is there to approve anything
    #[arg(long)]
    unattended: bool,
    /// Id of the turn, such as a claim has reserved
    #[arg(long, value_name = "TURN")]
    turn: Option<String>,
}

/// Ends a turn.
#[derive(Debug, clap::Args)]
pub struct End {
    /// Session
    id: String,
    /// completed or error
    status: String,
    /// The turn
    #[arg(long, value_name = "TURN")]
    turn: String,
    /// Code of an error
    #[arg(long, value_name = "CODE")]
    error_code: Option<String>,
    /// Figures of your own
    #[arg(long, value_name = "JSON")]
    usage: Option<String>,
    /// Somebody sees this end: no notification
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    seen: Option<String>,
}

/// Aborts.
#[derive(Debug, clap::Args)]
pub struct Abort {
    /// Session
    id: String,
    /// Only this turn
    #[arg(long, value_name = "TURN")]
    turn: Option<String>,
}

/// Asks a turn to end.
#[derive(Debug, clap::Args)]
pub struct Stop {
    /// Session
    id: String,
    /// Only this turn
    #[arg(long, value_name = "TURN")]
    turn: Option<String>,
}

/// Adds a message to a live turn.
#[derive(Debug, clap::Args)]
pub struct Steer {
    /// Session
    id: String,
    /// The turn
    #[arg(long, value_name = "TURN")]
    turn: String,
    /// Text, or - for stdin (the default)
    text: Option<String>,
}

/// Whether the caller says that nobody is there to approve: by option or by environment.
pub fn unattended(option: bool) -> bool {
    option || std::env::var_os("RING_UNATTENDED").is_some_and(|v| v == "1")
}

/// The stamp of `--owner-pid`: a living process.
///
/// # Errors
/// `INVALID_ARGUMENT`.
pub fn owner(pid: Option<u32>) -> Result<Stamp, Refusal> {
    match pid {
        None => Ok(Stamp::nobody()),
        Some(pid) => Stamp::of(pid)
            .filter(|_| pid != 0)
            .ok_or_else(|| bad(format!("--owner-pid {pid}: no such process"))),
    }
}

/// Checks references.
///
/// # Errors
/// `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`.
pub fn check_attachments(references: &[String]) -> Result<(), Refusal> {
    within("the number of --attach", references.len(), ATTACHMENTS.0)?;
    for reference in references {
        within("--attach", reference.len(), ATTACHMENTS.1)?;
        if reference.trim().is_empty() || reference.trim_start().to_ascii_lowercase().starts_with("data:") {
            return Err(bad("--attach takes a path or an address, not data"));
        }
    }
    Ok(())
}

fn json_text(option: &str, text: Option<&str>, limit: usize) -> Result<Option<Raw>, Refusal> {
    let Some(text) = text else { return Ok(None) };
    within(option, text.len(), limit)?;
    Raw::parse(text)
        .map(Some)
        .ok_or_else(|| bad(format!("{option} must be JSON")))
}

/// A turn that a person names, live, closed or in history: its whole id. One that nobody knows is given back as it is.
///
/// # Errors
/// `AMBIGUOUS`, `IO`.
pub fn whole_turn(given: &str, record: &Record, files: &Files) -> Result<(String, bool, Option<Outcome>), Refusal> {
    let live = record.turn.as_ref().map(|t| t.id.as_str());
    let known: Vec<&str> = live
        .into_iter()
        .chain(record.turns.iter().map(|t| t.id.as_str()))
        .collect();
    match meant(given, known.iter().copied()) {
        Meant::One(id) => return Ok((id.to_owned(), false, None)),
        Meant::Several(candidates) => return Err(ambiguous(given, &candidates)),
        Meant::Nobody => {}
    }
    let path = files.history();
    let old = history::beginning_with(&path, "turn", record, given).map_err(|e| Refusal::io("read", &path, &e))?;
    match meant(given, old.iter().map(|(id, _)| id.as_str())) {
        Meant::One(id) => {
            let object = old.iter().find(|(other, _)| other == id).map(|(_, o)| o);
            Ok((id.to_owned(), true, object.and_then(|o| o.get("status"))))
        }
        Meant::Several(candidates) => Err(ambiguous(given, &candidates)),
        Meant::Nobody => Ok((given.to_owned(), false, None)),
    }
}

/// What stands behind the live turn's prompt.
///
/// # Errors
/// `IO`.
pub fn behind(work: &Work, files: &Files) -> Result<Behind, Refusal> {
    let Some(turn) = &work.record.turn else {
        return Ok(Behind::default());
    };
    let Some(row) = &turn.user_row else {
        return Ok(Behind::default());
    };
    let path = files.transcript();
    let size = transcript_size(files)?;
    transcript::behind(&path, &work.record, &turn.id, row, size).map_err(|e| Refusal::io("read", &path, &e))
}

/// Runs `begin`.
///
/// # Errors
/// `AGENT_BUSY`, `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`, `CONFLICT`, `PLAN_REQUIRES_INTERACTIVE_SESSION`, and those of the store.
pub fn begin(args: Begin, context: &mut Context<'_>) -> Result<(), Refusal> {
    enum Done {
        Turn(String, Option<String>),
        Queued(Box<Entry>),
    }
    let id = context.store.resolve(&args.id)?;
    let prompt = match args.prompt.as_deref() {
        None => String::new(),
        given => body::text(given, PROMPT_BYTES)?,
    };
    check_attachments(&args.attach)?;
    let draft = json_text("--draft", args.draft.as_deref(), 64 * 1024)?;
    let owner = owner(args.owner_pid)?;
    let unattended = unattended(args.unattended);
    if let Some(turn) = args.turn.as_deref().filter(|t| !is_id(t)) {
        return Err(bad(format!(
            "--turn {turn:?} must have 1 to 128 letters, digits, _ or -"
        )));
    }
    let inherited = context.inherited();
    let (done, _) = context.store.update(&id, |work, files| {
        work.check_attended(unattended)?;
        let reserved = args.turn.is_some()
            && work.active_execution().is_some_and(|e| e.turn_id == args.turn)
            && work.record.turn.is_none();
        if let Some(turn) = &args.turn {
            let (_, _, _) = whole_turn(turn, &work.record, files)?;
            let path = files.history();
            let used = history::find_turn(&path, &work.record, turn).map_err(|e| Refusal::io("read", &path, &e))?;
            if used.is_some() {
                let ended = Refusal::new(Code::Conflict, format!("the turn {turn} has ended; give another id"));
                return Err(work.busy(true).unwrap_or(ended));
            }
        }
        let busy = if reserved { None } else { work.busy(true) };
        match busy {
            Some(_) if args.queue => {
                if prompt.trim().is_empty() {
                    return Err(bad("a queued prompt must not be blank"));
                }
                within("the prompt", prompt.len(), CONTENT_BYTES)?;
                let push = Push {
                    content: prompt,
                    attachments: args.attach,
                    principal: "cli".into(),
                    inherited,
                    ..Push::default()
                };
                work.push(push).map(|e| Done::Queued(Box::new(e)))
            }
            Some(busy) => Err(busy),
            None => {
                let (turn, row) = work.begin(lifecycle::Begin {
                    origin: Origin::Begin,
                    id: args.turn,
                    prompt,
                    attachments: args.attach,
                    draft,
                    owner,
                    unattended,
                    ..lifecycle::Begin::default()
                });
                Ok(Done::Turn(turn, row))
            }
        }
    })?;
    match done {
        Done::Turn(turn, row) => context.print(&json!({"turn": turn, "row": row}), |out| writeln!(out, "{turn}")),
        Done::Queued(entry) => context.print(&json!({"queued": entry.id}), |out| writeln!(out, "queued {}", entry.id)),
    }
}

/// Runs `end`.
///
/// # Errors
/// `TURN_NOT_FOUND`, `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`, and those of the store.
pub fn end(args: End, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(&args.id)?;
    let outcome = match args.status.as_str() {
        "completed" => Outcome::Completed,
        "error" => Outcome::Error,
        other => {
            return Err(bad(format!(
                "a turn ends completed or error, not {other:?}; see `abort`"
            )));
        }
    };
    let usage = json_text("--usage", args.usage.as_deref(), 4096)?;
    if let Some(code) = &args.error_code {
        within("--error-code", code.chars().count(), 80)?;
        if outcome == Outcome::Completed {
            return Err(bad("--error-code goes with error"));
        }
    }
    let seen = args.seen.is_some_and(|s| s.is_empty() || s == id);
    let (ended, _) = context.store.update(&id, |work, files| {
        let (turn, old, status) = whole_turn(&args.turn, &work.record, files)?;
        let live = work.find_turn(&turn, old)?;
        let closing = Closing {
            outcome,
            code: args.error_code,
            usage,
            seen,
            quiet: false,
        };
        Ok(work.end(&turn, live, closing, status))
    })?;
    let status = ended.status.map(Outcome::as_str);
    context.print(
        &json!({"ok": ended.ok, "status": status, "notification": ended.notification}),
        |out| match ended.ok {
            true => Ok(()),
            false => writeln!(out, "the turn had ended: {}", status.unwrap_or("unknown")),
        },
    )
}

/// Runs `abort`.
///
/// # Errors
/// `TURN_NOT_FOUND`, `AMBIGUOUS`, and those of the store.
pub fn abort(args: &Abort, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(&args.id)?;
    let (aborted, _) = context.store.update(&id, |work, files| {
        if let Some(given) = &args.turn {
            let (turn, old, _) = whole_turn(given, &work.record, files)?;
            if !work.find_turn(&turn, old)? {
                return Ok(lifecycle::Aborted {
                    turn: Some(turn),
                    kind: "none",
                    ..lifecycle::Aborted::default()
                });
            }
        }
        let behind = behind(work, files)?;
        Ok(work.abort(&behind))
    })?;
    context.print(&aborted, |out| {
        match (aborted.ok, aborted.kind) {
            (false, _) => writeln!(out, "nothing to abort")?,
            (true, "restore") => writeln!(
                out,
                "aborted {}; the prompt was taken back",
                aborted.turn.as_deref().unwrap_or_default()
            )?,
            (true, "settle") => writeln!(out, "aborted {}", aborted.turn.as_deref().unwrap_or_default())?,
            (true, _) => {}
        }
        for id in &aborted.interrupted {
            writeln!(out, "interrupted {id}")?;
        }
        Ok(())
    })
}

/// Runs `stop`.
///
/// # Errors
/// `TURN_NOT_FOUND`, `AMBIGUOUS`, and those of the store.
pub fn stop(args: &Stop, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(&args.id)?;
    let (requested, _) = context.store.update(&id, |work, files| {
        if let Some(given) = &args.turn {
            let (turn, old, _) = whole_turn(given, &work.record, files)?;
            if !work.find_turn(&turn, old)? {
                return Ok(false);
            }
        }
        Ok(work.stop())
    })?;
    context.print(&json!({"requested": requested}), |out| {
        writeln!(
            out,
            "{}",
            if requested {
                "asked to stop"
            } else {
                "nothing is running"
            }
        )
    })
}

/// Runs `steer`.
///
/// # Errors
/// `TURN_NOT_FOUND`, `CONFLICT`, `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`, and those of the store.
pub fn steer(args: &Steer, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(&args.id)?;
    let prompt = body::text(args.text.as_deref(), PROMPT_BYTES)?;
    let (row, _) = context.store.update(&id, |work, files| {
        let (turn, _, _) = whole_turn(&args.turn, &work.record, files)?;
        if work.record.turn.as_ref().is_none_or(|t| t.id != turn) {
            return Err(turn_not_found(&turn));
        }
        work.steer(&turn, &prompt)
    })?;
    context.print(&json!({"row": row}), |out| writeln!(out, "{row}"))
}
