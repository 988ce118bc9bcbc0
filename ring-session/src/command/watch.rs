//! `watch`: event lines of sessions, as they come.

use crate::body::bad;
use crate::cli::Context;
use ring_session::events::Follower;
use ring_session::shown;
use ring_session::time::{self, Ms};
use ring_session::work::Work;
use ring_session::{Code, Refusal, command_line, text};
use std::time::{Duration, Instant};

/// Prints changes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Sessions; none: all
    id: Vec<String>,
    /// End as soon as one is idle, or waiting
    #[arg(long, value_name = "STATE")]
    until: Option<String>,
    /// Give up after this time
    #[arg(long, value_name = "D", value_parser = command_line::span)]
    timeout: Option<Ms>,
}

/// How often the lines are looked at; a look at a file that has not grown is one stat.
const LOOK: Duration = Duration::from_millis(100);
/// How often the records are looked at without a line: deaths and deadlines write none.
const LOOK_AT_RECORDS: Duration = Duration::from_millis(500);

/// Runs it.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `INVALID_ARGUMENT`, `TIMEOUT`, `IO`.
pub fn run(args: &Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    let ids = args
        .id
        .iter()
        .map(|id| context.store.resolve(id))
        .collect::<Result<Vec<_>, _>>()?;
    let until = match args.until.as_deref() {
        None => None,
        Some(word @ ("idle" | "waiting")) => Some(word),
        Some(other) => return Err(bad(format!("--until {other:?}: idle or waiting"))),
    };
    let path = context.store.state().events();
    let io = |e: std::io::Error| Refusal::io("read", &path, &e);
    let mut follower = Follower::from_now(context.store.state()).map_err(io)?;
    let started = Instant::now();
    let mut looked: Option<Instant> = None;
    let mut came = false;
    loop {
        let mut done = false;
        if came || looked.is_none_or(|l| l.elapsed() >= LOOK_AT_RECORDS) {
            looked = Some(Instant::now());
            done = match until {
                Some(state) => reached(state, &ids, context)?,
                None => false,
            };
        }
        // after the record: its lines up to that state are there
        came = false;
        for event in follower.look().map_err(io)? {
            if !event.session.is_empty() && (ids.is_empty() || ids.contains(&event.session)) {
                // a project's name may hold what a terminal obeys
                writeln!(context.out, "{}", text::inert_json(event.text))?;
                came = true;
            }
        }
        context.out.flush()?;
        if done {
            return Ok(());
        }
        let left = args
            .timeout
            .map(|ms| Duration::from_millis(ms.unsigned_abs()).saturating_sub(started.elapsed()));
        if left == Some(Duration::ZERO) {
            return Err(Refusal::new(Code::Timeout, "not reached in time"));
        }
        if !came || until.is_none() {
            std::thread::sleep(left.unwrap_or(LOOK).min(LOOK));
        }
    }
}

fn reached(state: &str, ids: &[String], context: &Context<'_>) -> Result<bool, Refusal> {
    let store = context.store.at(time::now_ms());
    if ids.is_empty() {
        return Ok(store.summaries()?.0.iter().any(|one| one.shown.board == state));
    }
    for id in ids {
        let seen = store.see(id)?;
        if shown::shown(&Work::new(seen.record, store.here().clone())).board == state {
            return Ok(true);
        }
    }
    Ok(false)
}
