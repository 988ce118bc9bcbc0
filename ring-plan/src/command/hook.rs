//! `hook`: the entry in an agent's settings. It never disturbs the agent: stdout is empty or one answer, status 0.

use crate::hook::{self, Event, Outcome, Rules};
use crate::locate;
use ring_hook::event::Owner;
use ring_hook::normalise::{self, Given};
use ring_hook::{intake, row::Row, store as rows};
use ring_session::command_line::{self, Place};
use ring_session::hooked;
use ring_session::members::Object;
use ring_session::output::Output;
use ring_session::process::Stamp;
use ring_session::record::{PermissionMode, Proposal, ProposalStatus};
use ring_session::regular;
use ring_session::run::Signals;
use ring_session::time::{self, Ms};
use ring_session::work::{Here, Work};
use ring_session::{Code, Refusal, Store, error_log, exit};
use std::fs;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

/// How long a payload may take to come.
const PATIENCE: Duration = Duration::from_secs(1);

/// A hook entry.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Agent that the payload comes from
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Wait so long for a decision from another shell
    #[arg(long, value_name = "D", value_parser = command_line::span)]
    pub wait: Option<Ms>,
}

/// Runs it; gives the exit status.
pub fn run(args: &Args, place: &Place, here: Here, out: &mut Output<'_>) -> u8 {
    let store = Store::for_hook(place.state(), here);
    let now = store.here().now;
    let mut told = ("", String::new(), 0);
    let mut seen = 0;
    let read = intake::read(io::stdin(), PATIENCE, &mut seen);
    told.2 = seen;
    let result = read.and_then(|payload| {
        let given = Given {
            agent: args.agent.as_deref(),
            now,
            ..Given::default()
        };
        let event = normalise::event(&payload, &given)?;
        told.1.clone_from(&event.agent);
        told.0 = event.name.as_str();
        if event.session_id.is_empty() {
            return Err(Refusal::new(Code::NoSessionId, "the payload has no session id"));
        }
        if event.owner != Owner::Foreground {
            return Ok(None);
        }
        take(args, place, &store, &payload, &event)
    });
    match result {
        // an agent that has closed its end gets no answer
        Ok(Some(answer)) => writeln!(out, "{answer}").and_then(|()| out.flush()).unwrap_or_default(),
        Ok(None) => {}
        // with the log out of reach too, there is nobody left to tell
        Err(refusal) => error_log::note(store.state(), now, refusal.code, &told.1, told.0, told.2).unwrap_or_default(),
    }
    exit::DONE
}

fn row_of(store: &Store, key: &str) -> Option<Row> {
    regular::read(&rows::path(store.state(), key))
        .ok()
        .and_then(|bytes| Row::parse(&bytes))
}

/// The plan's text: of the input, else the regular file that it names, else of the response.
fn plan_text(top: &Object, input: Option<&Object>) -> Option<String> {
    let text = |object: &Object, name: &str| object.get::<String>(name).filter(|t| !t.trim().is_empty());
    let from_file = |object: &Object| {
        let path = text(object, "planFilePath")?;
        let meta = fs::symlink_metadata(&path).ok().filter(|m| m.is_file())?;
        let mut bytes = Vec::new();
        let limit = crate::command::submit::MARKDOWN as u64 + 1;
        if meta.len() < limit {
            regular::open(std::path::Path::new(&path))
                .ok()?
                .take(limit)
                .read_to_end(&mut bytes)
                .ok()?;
        }
        String::from_utf8(bytes).ok().filter(|t| !t.trim().is_empty())
    };
    let response = top.get::<Object>("tool_response");
    input
        .and_then(|i| text(i, "plan").or_else(|| from_file(i)))
        .or_else(|| from_file(top))
        .or_else(|| response.and_then(|r| text(&r, "plan").or_else(|| from_file(&r))))
}

fn take(
    args: &Args,
    place: &Place,
    store: &Store,
    payload: &[u8],
    event: &ring_hook::event::Event,
) -> Result<Option<String>, Refusal> {
    let top: Object = serde_json::from_str(&intake::text(payload)).unwrap_or_default();
    let input = top.get::<Object>("tool_input");
    let row = row_of(store, &event.key);
    let process = row.as_ref().and_then(|r| r.process.clone());
    let here = store.here().clone();
    let owner = match &process {
        Some(p) => Stamp {
            pid: p.pid,
            start_ticks: p.start_ticks,
            ..here.stamp.clone()
        },
        None => here.stamp.clone(),
    };
    let own = Event {
        agent: event.agent.clone(),
        name: event.name.as_str().to_owned(),
        key: event.key.clone(),
        agent_turn: event.turn_id.clone(),
        permission_mode: event.permission_mode.clone(),
        tool: event.tool.name.clone(),
        call: event.tool.use_id.clone(),
        input: top.get("tool_input").unwrap_or_default(),
        plan: plan_text(&top, input.as_ref()),
        owner,
    };
    let speaker = hooked::Event {
        agent: event.agent.clone(),
        session_id: event.session_id.clone(),
        key: event.key.clone(),
        cwd: event.cwd.clone(),
        origin_cwd: row.map(|r| r.origin_cwd).unwrap_or_default(),
        process: process.map(|p| hooked::Process {
            pid: p.pid,
            start_ticks: p.start_ticks,
            server: p.server,
        }),
        ..hooked::Event::default()
    };
    let id = hooked::session_of(store, &speaker, std::env::var("RING_SESSION").ok().as_deref())?;
    let seen = match store.see(&id) {
        Ok(seen) => Some(seen.record),
        Err(e) if e.code == Code::SessionNotFound && !store.files(&id).dir.exists() => None,
        Err(e) => return Err(e),
    };
    let known = Work::new(seen.clone().unwrap_or_default(), here);
    if !hook::concerns(&known, &own) {
        return Ok(None);
    }
    let plan_is_missing = matches!(own.name.as_str(), "PreToolUse" | "PermissionRequest")
        && own.tool == "ExitPlanMode"
        && own.plan.is_none();
    if plan_is_missing {
        return Err(Refusal::new(hook::NO_TEXT, "a plan without a text"));
    }
    if seen.is_none() {
        if own.name != "UserPromptSubmit" && own.plan.is_none() {
            return Ok(None);
        }
        hooked::create(store, &id, &speaker)?;
    }
    let settings = place.settings().0;
    let span = settings.plan.approval_timeout_ms;
    let rules = Rules {
        inherited: PermissionMode::from_word(&settings.session.permission_mode).unwrap_or(PermissionMode::Ask),
        claude_auto: settings.plan.claude_auto.clone(),
        wait_ms: (span > 0).then_some(span),
    };
    let waits = args.wait.filter(|_| own.agent == "claude-code");
    let signals = waits
        .map(|_| Signals::listen())
        .transpose()
        .map_err(|e| Refusal::new(Code::Internal, e.to_string()))?;
    let outcome = store_event(store, &id, &own, &rules, waits.is_some())?;
    match (outcome.wait_for, waits, signals) {
        (Some(proposal), Some(limit), Some(signals)) => wait(store, &id, &proposal, limit, &signals, &own, &rules),
        _ => Ok(outcome.answer),
    }
}

fn store_event(store: &Store, id: &str, event: &Event, rules: &Rules, waits: bool) -> Result<Outcome, Refusal> {
    let mut written = None;
    let result = store.update(id, |work, files| {
        let past = locate::closed(work, files)?;
        let outcome = hook::apply(work, &past, event, rules)?;
        written.clone_from(&outcome.written);
        if let (Some(wanted), true) = (&outcome.wait_for, waits)
            && let Some(own) = work.record.proposal.as_mut().filter(|p| p.id == *wanted)
        {
            own.waiter = Stamp::of(std::process::id());
        }
        Ok(outcome)
    });
    match (result, written) {
        (Ok((outcome, _)), _) => Ok(outcome),
        (Err(refusal), Some(file)) => {
            file.take_back();
            Err(refusal)
        }
        (Err(refusal), None) => Err(refusal),
    }
}

/// Waits for a decision from another shell. Whatever else ends the wait leaves the question to the agent's own prompt.
fn wait(
    store: &Store,
    id: &str,
    proposal: &str,
    limit: Ms,
    signals: &Signals,
    event: &Event,
    rules: &Rules,
) -> Result<Option<String>, Refusal> {
    let started = Instant::now();
    let limit = Duration::from_millis(limit.unsigned_abs());
    loop {
        let record = store.at(time::now_ms()).see(id)?.record;
        match record.proposal.as_ref().filter(|p| p.id == proposal) {
            Some(own) if own.status == ProposalStatus::Pending => {}
            Some(own) => return Ok(hook::answer(own, event, rules)),
            None => return Ok(closed(store, id, proposal)?.and_then(|p| hook::answer(&p, event, rules))),
        }
        if signals.take().is_some() || started.elapsed() >= limit {
            break;
        }
        std::thread::sleep(crate::command::wait::LOOK.min(limit.saturating_sub(started.elapsed())));
    }
    let me = Stamp::of(std::process::id());
    let (late, _) = store.at(time::now_ms()).update(id, |work, _| {
        // a decision may have come in the last moment: it is answered, not lost
        let own = work.record.proposal.as_mut().filter(|p| p.id == proposal);
        Ok(match own {
            Some(own) if own.status == ProposalStatus::Pending => {
                if own.waiter == me {
                    own.waiter = None;
                }
                None
            }
            Some(own) => Some(own.clone()),
            None => None,
        })
    })?;
    Ok(late.and_then(|p| hook::answer(&p, event, rules)))
}

fn closed(store: &Store, id: &str, proposal: &str) -> Result<Option<Proposal>, Refusal> {
    let record = store.stored(id)?;
    Ok(locate::past(&store.files(id), &record)?
        .into_iter()
        .find(|p| p.id == proposal))
}
