//! `deliver`: one pass.

use crate::TOOL;
use crate::cli::warn;
use crate::pass::Pass;
use crate::report::{Delivery, Report};
use crate::{config, outlet};
use ring_session::command_line::{self, Place};
use ring_session::context::Context;
use ring_session::time::{self, Ms};
use ring_session::{Code, Refusal, error_log, exit, ring};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// The longest delay, in milliseconds.
const LONGEST_MS: Ms = 3_600_000;
/// Marks the pass that a `--detach` has started: it has nobody to tell but the log.
const LOGGED: &str = "RING_NOTIFY_LOGGED";

/// Rings what is due.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// This session's rings first
    #[arg(long, value_name = "KEY", default_value = "", hide_default_value = true)]
    session: String,
    /// Wait so long before
    #[arg(long, value_name = "D", value_parser = command_line::span)]
    after: Option<Ms>,
    /// Start anew in the background and return at once
    #[arg(long)]
    pub detach: bool,
    /// Print what would be sent, send nothing
    #[arg(long, conflicts_with = "detach")]
    dry_run: bool,
    /// Do not stay for the end of a debounce window
    #[arg(long)]
    no_wait: bool,
    /// Fail if an outlet did not take something
    #[arg(long, conflicts_with = "detach")]
    strict: bool,
    /// Print a line a delivery
    #[arg(short, long)]
    verbose: bool,
}

/// Runs it.
///
/// # Errors
/// `INVALID_ARGUMENT`, `LOCK_TIMEOUT`, `SCHEMA_NEWER`, `IO`; with `--strict` `DELIVERY_FAILED`.
pub fn run(args: &Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    let logged = std::env::var_os(LOGGED).is_some_and(|v| v == "1");
    let done = pass(args, context);
    if let Err(refusal) = &done
        && logged
    {
        let state = context.place.state();
        // a log that cannot be written leaves nobody to tell
        error_log::note(&state, time::now_ms(), refusal.code, "", "deliver", 0).unwrap_or_default();
    }
    done
}

fn pass(args: &Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    check_after(args.after)?;
    let has_clock = std::env::var_os(time::NOW_VARIABLE).is_none();
    if let Some(after) = args.after.filter(|_| has_clock) {
        thread::sleep(Duration::from_millis(u64::try_from(after).unwrap_or(0)));
    }
    let rules = rules(context);
    let pass = Pass {
        store: &context.store,
        settings: &context.settings,
        rules: &rules,
        first: &args.session,
        told: Mutex::default(),
    };
    let report = match args.dry_run {
        true => pass.dry_run()?,
        false => pass.run(has_clock && !args.no_wait)?,
    };
    if args.strict && report.has_failures() {
        let told = report.failed.iter().chain(&report.unconfirmed).chain(&report.postponed);
        let text: Vec<String> = told.map(|d| format!("{}: {}", d.outlet, d.error)).collect();
        let details = serde_json::to_value(&report).unwrap_or_default();
        return Err(Refusal::new(
            Code::DeliveryFailed,
            format!(
                "not everything was delivered: {}; see `ring-notify outlets`",
                text.join(", ")
            ),
        )
        .with("report", details));
    }
    let speaks = args.verbose || args.dry_run;
    context.print(&document(&report), |out| match speaks {
        true => lines(&report, out),
        false => Ok(()),
    })
}

fn check_after(after: Option<Ms>) -> Result<(), Refusal> {
    match after {
        Some(ms) if ms > LONGEST_MS => Err(Refusal::new(
            Code::InvalidArgument,
            "--after is at most an hour; let cron or a timer start it",
        )),
        _ => Ok(()),
    }
}

/// The outlets in force. What is wrong with others is told.
pub fn rules(context: &Context<'_>) -> outlet::Rules {
    let (rules, problems) = config::rules(&context.settings, context.place.config_file().as_deref());
    problems.iter().for_each(warn);
    rules
}

/// A report with its schema.
pub fn document(report: &Report) -> serde_json::Value {
    let mut value = serde_json::to_value(report).unwrap_or_default();
    if let Some(members) = value.as_object_mut() {
        members.insert("schema".to_owned(), 1.into());
    }
    value
}

/// A line for each delivery of a report.
///
/// # Errors
/// Those of the output.
pub fn lines(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let lists: [(&str, &Vec<Delivery>); 6] = [
        ("sent", &report.sent),
        ("failed", &report.failed),
        ("unconfirmed", &report.unconfirmed),
        ("skipped", &report.skipped),
        ("retry", &report.retry),
        ("held", &report.held),
    ];
    for (word, list) in lists {
        for delivery in list {
            let ring = match delivery.ring {
                0 => String::new(),
                n => format!(" again ({n})"),
            };
            let error = match delivery.error.as_str() {
                "" => String::new(),
                error => format!(": {error}"),
            };
            let line = format!("{word} {} {}{ring}{error}", delivery.outlet, delivery.item);
            writeln!(out, "{}", ring_session::text::for_terminal(&line))?;
        }
    }
    Ok(())
}

/// Starts the same pass anew, by itself, with its streams on null, and does not wait for it. As a hook entry this must
/// not fail: what goes wrong is in `hook-errors.log`.
pub fn detach(args: &Args, place: &Place) -> u8 {
    let started = check_after(args.after).and_then(|()| start(args, place));
    if let Err(refusal) = started {
        let state = place.state();
        // a log that cannot be written leaves nobody to tell
        error_log::note(&state, time::now_ms(), refusal.code, "", "deliver", 0).unwrap_or_default();
    }
    exit::DONE
}

/// A command that does not stay itself for the end of a debounce window whose first item it has held starts a pass that
/// comes then: no other run would.
pub fn come_back(report: &Report, place: &Place) {
    let has_clock = std::env::var_os(time::NOW_VARIABLE).is_none();
    let Some(end) = report.window_ends_ms.filter(|_| has_clock) else {
        return;
    };
    let args = Args {
        session: String::new(),
        after: Some(end.saturating_sub(time::now_ms()).max(0)),
        detach: true,
        dry_run: false,
        no_wait: false,
        strict: false,
        verbose: false,
    };
    if let Err(refusal) = start(&args, place) {
        warn(refusal);
    }
}

fn start(args: &Args, place: &Place) -> Result<(), Refusal> {
    if ring::is_off() {
        return Ok(());
    }
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    command.arg("deliver");
    if !args.session.is_empty() {
        command.args(["--session", &args.session]);
    }
    if let Some(after) = args.after {
        command.arg("--after").arg(format!("{after}ms"));
    }
    if args.no_wait {
        command.arg("--no-wait");
    }
    if let Some(folder) = &place.state_dir {
        command.arg("--state-dir").arg(folder);
    }
    if let Some(file) = &place.config {
        command.arg("--config").arg(file);
    }
    command
        .env(LOGGED, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // not in the agent's process group: what is sent to that is not meant for a ring
        .process_group(0);
    ring::without_secrets(&mut command);
    command
        .spawn()
        .map_err(|e| Refusal::new(Code::Internal, format!("{TOOL} could not start itself: {e}")))?;
    Ok(())
}
