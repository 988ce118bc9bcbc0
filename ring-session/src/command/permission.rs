//! `permission open`, `answer`, `list`, `wait`.

use crate::body::{self, bad, within};
use crate::cli::Context;
use crate::command::turn::whole_turn;
use clap::Subcommand;
use ring_session::command_line;
use ring_session::id::{Meant, meant};
use ring_session::members::Object;
use ring_session::permission::{Opening, WAIT_MS};
use ring_session::record::{Answer, Origin, Record, Request, RequestState};
use ring_session::store::ambiguous;
use ring_session::summary::Summary;
use ring_session::table::{self, Table};
use ring_session::time::{self, Ms};
use ring_session::{Code, Refusal, Store, ring, text};
use std::time::{Duration, Instant};

/// Requests of a live turn.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Ask for a tool call; print the request's id
    Open(Open),
    /// Answer a request
    Answer {
        /// Session
        id: String,
        /// Request
        request: String,
        /// allow-once, allow-session or deny
        answer: String,
    },
    /// Open requests, oldest first
    List {
        /// Only of this session
        id: Option<String>,
    },
    /// Wait for the answer
    Wait {
        /// Session
        id: String,
        /// Request
        request: String,
        /// Give up after this time
        #[arg(long, value_name = "D", value_parser = command_line::span)]
        timeout: Option<Ms>,
    },
}

/// Opens a request.
#[derive(Debug, clap::Args)]
pub struct Open {
    /// Session
    id: String,
    /// File of the call's arguments, JSON, or - for stdin (the default)
    file: Option<String>,
    /// The live turn
    #[arg(long, value_name = "TURN")]
    turn: String,
    /// The call
    #[arg(long, value_name = "CALL")]
    call: String,
    /// The tool
    #[arg(long, value_name = "NAME")]
    tool: String,
    /// How bad it could be
    #[arg(long, default_value = "", hide_default_value = true)]
    risk: String,
    /// Why it is wanted
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    reason: String,
    /// After this time nobody's answer is a denial [default: 120s]
    #[arg(long, value_name = "D", value_parser = command_line::span, default_value = "120s", hide_default_value = true)]
    timeout: Ms,
    /// Go on as `wait` does
    #[arg(long)]
    wait: bool,
}

/// Runs it.
///
/// # Errors
/// `TURN_NOT_FOUND`, `NOT_FOUND`, `CONFLICT`, `PERMISSION_TIMEOUT`, `TOOL_DENIED`, `TOOL_ABORTED`, `TIMEOUT`, and those of the store.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    match args.command {
        Command::Open(open) => self::open(open, context),
        Command::Answer { id, request, answer } => self::answer(&id, &request, &answer, context),
        Command::List { id } => list(id.as_deref(), context),
        Command::Wait { id, request, timeout } => {
            let id = context.store.resolve(&id)?;
            let request = whole_request(&request, &context.store.see(&id)?.record)?;
            wait(&id, &request, timeout, context)
        }
    }
}

fn whole_request(given: &str, record: &Record) -> Result<String, Refusal> {
    match meant(given, record.permissions.iter().map(|r| r.id.as_str())) {
        Meant::One(id) => Ok(id.to_owned()),
        Meant::Nobody => Err(Refusal::new(
            Code::NotFound,
            format!("no request {}; see `permission list`", text::clean(given, 128)),
        )),
        Meant::Several(candidates) => Err(ambiguous(given, &candidates)),
    }
}

fn named(option: &str, value: &str, limit: usize) -> Result<String, Refusal> {
    let clean = text::for_terminal(value);
    if clean.is_empty() {
        return Err(bad(format!("{option} is blank")));
    }
    within(option, clean.chars().count(), limit)?;
    Ok(clean)
}

fn open(args: Open, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(&args.id)?;
    if args.call.trim().is_empty() {
        return Err(bad("--call is blank"));
    }
    within("--call", args.call.len(), 200)?;
    let tool = named("--tool", &args.tool, 80)?;
    within("--risk", args.risk.chars().count(), 40)?;
    within("--reason", args.reason.chars().count(), 160)?;
    let input = body::file(args.file.as_deref(), body::PROMPT_BYTES)?;
    let input = String::from_utf8_lossy(&input);
    let arguments = match input.trim() {
        "" => serde_json::json!({}),
        text => serde_json::from_str(text).map_err(|e| bad(format!("the arguments must be JSON: {e}")))?,
    };
    let mut is_new = false;
    let (request, record) = context.store.update(&id, |work, files| {
        let (turn, _, _) = whole_turn(&args.turn, &work.record, files)?;
        let before = work.record.permissions.len();
        let request = work.open_request(Opening {
            turn,
            call: args.call,
            tool,
            arguments,
            risk: text::for_terminal(&args.risk),
            reason: text::for_terminal(&args.reason),
            origin: Origin::Cli,
            wait_ms: Some(args.timeout),
        })?;
        is_new = work.record.permissions.len() != before;
        Ok(request)
    })?;
    if is_new && request.state == RequestState::Open {
        ring::start(
            context.store.state(),
            context.place.config.as_deref(),
            &ring_session::shown::key(&record),
            0,
        );
    }
    if args.wait {
        return wait(&id, &request.id, None, context);
    }
    context.print(&request, |out| writeln!(out, "{}", request.id))
}

fn answer(id: &str, request: &str, word: &str, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(id)?;
    let answer = match Answer::from_word(word) {
        Some(answer) if answer != Answer::Cancelled => answer,
        _ => return Err(bad(format!("no answer {word:?}; allow-once, allow-session or deny"))),
    };
    let (request, _) = context.store.update(&id, |work, _| {
        let request = whole_request(request, &work.record)?;
        work.answer(&request, answer)
    })?;
    context.print(&request, |_| Ok(()))
}

fn list(id: Option<&str>, context: &mut Context<'_>) -> Result<(), Refusal> {
    let store = &context.store;
    let sessions = match id {
        Some(id) => vec![store.resolve(id)?],
        None => asking(store)?,
    };
    let mut open: Vec<Asked> = Vec::new();
    for session in sessions {
        let record = match store.see(&session) {
            Err(e) if id.is_none() && e.code == Code::SessionNotFound => continue, // deleted meanwhile
            other => other?.record,
        };
        let mut ids: Vec<String> = record.permissions.iter().map(|r| r.id.clone()).collect();
        ids.sort_unstable();
        open.extend(
            record
                .permissions
                .into_iter()
                .filter(|r| r.state == RequestState::Open)
                .map(|request| Asked {
                    short: table::short(&ids, &request.id).to_owned(),
                    session: session.clone(),
                    request,
                }),
        );
    }
    open.sort_by(|a, b| (a.request.created_ms, &a.request.id).cmp(&(b.request.created_ms, &b.request.id)));
    let objects: Vec<Object> = open
        .iter()
        .map(|asked| {
            let text = serde_json::to_string(&asked.request).unwrap_or_default();
            let mut object: Object = serde_json::from_str(&text).unwrap_or_default();
            object.set("session_id", &asked.session);
            object
        })
        .collect();
    let limit = table::limit();
    // whole ids for those who cut them out of a pipe, short ones where a terminal has no room for two
    let whole = limit.is_none_or(|columns| columns >= WIDE);
    let all = if whole { Vec::new() } else { context.store.ids()? };
    let table = Table {
        cuttable: &[TOOL],
        dispensable: &[RISK],
        limit,
    };
    context.print_list(&objects, |out| {
        table.write(out, &open, |asked| {
            let (request, session) = match whole {
                true => (asked.request.id.as_str(), asked.session.as_str()),
                false => (asked.short.as_str(), table::short(&all, &asked.session)),
            };
            // in the order in which `answer` takes them
            [
                session.to_owned(),
                request.to_owned(),
                asked.request.tool.clone(),
                asked.request.risk.clone(),
                asked.request.reason.clone(),
            ]
        })
    })
}

/// Places of the columns of tools and risks.
const TOOL: usize = 2;
const RISK: usize = 3;
/// Columns that two whole ids and something behind them take.
const WIDE: usize = 120;

/// An open request.
struct Asked {
    session: String,
    request: Request,
    /// Enough of the request's id.
    short: String,
}

/// Sessions with an open request.
fn asking(store: &Store) -> Result<Vec<String>, Refusal> {
    let summaries = store.summaries()?.0;
    let asks = |s: &Summary| s.shown.status == "waiting_permission";
    Ok(summaries.into_iter().filter(asks).map(|s| s.id).collect())
}

/// How often a waiter looks: an answer is seen at once by a person, and the look is one small file.
const LOOK: Duration = Duration::from_millis(50);

fn wait(id: &str, request: &str, timeout: Option<Ms>, context: &mut Context<'_>) -> Result<(), Refusal> {
    let started = Instant::now();
    let limit = timeout.map(|ms| Duration::from_millis(ms.unsigned_abs()));
    loop {
        let store = context.store.at(time::now_ms());
        let record = store.see(id)?.record;
        let found = record.permissions.iter().find(|r| r.id == request);
        let Some(found) = found else {
            return Err(Refusal::new(
                Code::ToolAborted,
                "the request is gone; its turn is long over",
            ));
        };
        if found.state == RequestState::Closed {
            return said(found, context);
        }
        let left = limit.map(|l| l.saturating_sub(started.elapsed()));
        if left == Some(Duration::ZERO) {
            return Err(
                Refusal::new(Code::Timeout, "nobody has answered yet; the request is still open")
                    .with("request", request),
            );
        }
        std::thread::sleep(left.unwrap_or(LOOK).min(LOOK));
    }
}

fn said(request: &Request, context: &mut Context<'_>) -> Result<(), Refusal> {
    match request.decision {
        Some(answer @ (Answer::AllowOnce | Answer::AllowSession)) => {
            context.print(request, |out| writeln!(out, "{}", answer.as_str()))
        }
        Some(Answer::Cancelled) => Err(Refusal::new(
            Code::ToolAborted,
            "the turn ended before anybody answered",
        )),
        _ => {
            let cause = request.cause.clone().unwrap_or_default();
            let text = if cause == Code::PermissionTimeout.as_str() {
                "nobody answered in time; that is a denial"
            } else {
                "denied"
            };
            Err(Refusal::new(Code::ToolDenied, text).with("cause", cause))
        }
    }
}

/// The default of `--timeout` is the library's.
const _: () = assert!(WAIT_MS == 120_000);
