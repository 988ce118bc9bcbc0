//! `watch`: a pass every so often, and at once when something has happened, until it is interrupted.

use crate::cli::warn;
use crate::command::deliver::lines;
use crate::config;
use crate::pass::Pass;
use crate::report::Report;
use ring_session::command_line;
use ring_session::context::Context;
use ring_session::events::Follower;
use ring_session::run::Signals;
use ring_session::time::{self, Ms};
use ring_session::{Code, Refusal};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// How often it looks for a signal and for new lines of events.jsonl.
const TICK: Duration = Duration::from_millis(200);
/// Bounds of the interval, in milliseconds.
const INTERVAL: std::ops::RangeInclusive<Ms> = 1_000..=3_600_000;

/// Rings what is due until it is interrupted.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How often: 1s to 1h
    #[arg(long, value_name = "D", default_value = "5s", value_parser = command_line::span)]
    interval: Ms,
}

/// Runs it.
///
/// # Errors
/// `INVALID_ARGUMENT`, `SCHEMA_NEWER`; `IO` of its own output.
pub fn run(args: &Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    if !INTERVAL.contains(&args.interval) {
        return Err(Refusal::new(Code::InvalidArgument, "--interval is from 1s to 1h"));
    }
    let interval = Duration::from_millis(u64::try_from(args.interval).unwrap_or(5_000));
    let signals = Signals::listen()?;
    // the settings themselves were complained of when this program began
    let mut told: Vec<String> = context.place.settings().1.iter().map(ToString::to_string).collect();
    let (mut trouble, mut unread) = (String::new(), Vec::new());
    // lines are hints: without them it looks at each interval all the same
    let mut follower = Follower::from_now(context.store.state()).ok();
    loop {
        // settings may change while it runs; what is wrong with them is told once
        let (settings, mut problems) = context.place.settings();
        context.settings = settings;
        let (rules, of_outlets) = config::rules(&context.settings, context.place.config_file().as_deref());
        problems.extend(of_outlets);
        let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
        all.iter().filter(|p| !told.contains(p)).for_each(warn);
        told = all;
        let pass = Pass {
            store: &context.store,
            settings: &context.settings,
            rules: &rules,
            first: "",
            told: Mutex::new(std::mem::take(&mut unread)),
        };
        // lines up to here are of changes that this pass sees; a later one wakes it again. Its own lines wake nobody
        news(&mut follower);
        let looked = Instant::now();
        let mut next = interval;
        let done = pass.run(false);
        unread = pass.told.into_inner().unwrap_or_default();
        match done {
            Ok(report) => {
                trouble.clear();
                print(&report, context)?;
                // no other run stays for the end of a window whose first item this one has held
                let left = report.window_ends_ms.map(|end| end.saturating_sub(time::now_ms()));
                let left = left.and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
                next = left.map_or(interval, |l| interval.min(looked.elapsed() + l));
            }
            // somebody else holds the lock, or the disk is full: later; said once as long as it lasts
            Err(refusal) if matches!(refusal.code, Code::LockTimeout | Code::Io) => {
                let now = refusal.to_string();
                if trouble != now {
                    warn(&now);
                }
                trouble = now;
            }
            Err(refusal) => return Err(refusal),
        }
        loop {
            if signals.take().is_some() {
                return Ok(());
            }
            let left = next.saturating_sub(looked.elapsed());
            if left.is_zero() || news(&mut follower) {
                break;
            }
            thread::sleep(TICK.min(left));
        }
    }
}

/// Whether something has happened that may ring.
fn news(follower: &mut Option<Follower>) -> bool {
    let lines = follower.as_mut().and_then(|f| f.look().ok()).unwrap_or_default();
    lines
        .iter()
        .any(|line| !line.kind.starts_with("notif") && line.kind != "quiet_set")
}

fn print(report: &Report, context: &mut Context<'_>) -> Result<(), Refusal> {
    let json = context.json();
    let done = Report {
        // they stand there at each look
        held: Vec::new(),
        retry: Vec::new(),
        window_ends_ms: None,
        ..report.clone()
    };
    if done == Report::default() {
        return Ok(());
    }
    if json {
        serde_json::to_writer(&mut *context.out, &super::deliver::document(&done)).map_err(std::io::Error::from)?;
        writeln!(context.out)?;
    } else {
        lines(&done, context.out)?;
    }
    context.out.flush()?;
    Ok(())
}
