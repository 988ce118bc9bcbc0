//! `quiet`: shows or sets manual quiet.

use crate::cli::warn;
use crate::command::deliver::{come_back, rules};
use crate::ledger;
use crate::moment::local;
use crate::pass::Pass;
use crate::quiet::{self, Quiet, SPANS};
use crate::report::held;
use ring_session::context::Context;
use ring_session::events::{self, Line};
use ring_session::lock;
use ring_session::time::{Ms, parse_span};
use ring_session::{Code, Refusal};
use serde_json::json;
use std::sync::Mutex;

/// Holds all rings back.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// on, off, or how long: 1s to 30d; nothing: show it
    what: Option<String>,
}

/// Runs it.
///
/// # Errors
/// `INVALID_ARGUMENT`, `LOCK_TIMEOUT`, `SCHEMA_NEWER`, `IO`.
pub fn run(args: &Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    let state = context.place.state();
    let now = context.now();
    let until: Option<Ms> = match args.what.as_deref() {
        None => {
            let (quiet, broken) = quiet::read(&state)?;
            broken.iter().for_each(warn);
            return show(&quiet, context);
        }
        Some("on") => None,
        Some("off") => Some(now),
        Some(span) => match parse_span(span) {
            Ok(ms) if SPANS.contains(&ms) => Some(now.saturating_add(ms)),
            _ => {
                return Err(Refusal::new(
                    Code::InvalidArgument,
                    format!("{span:?} is neither on nor off nor a time from 1s to 30d, such as 90m"),
                ));
            }
        },
    };
    let quiet = quiet::set(&state, now, until)?;
    let line = Line::new("quiet_set", now).with("until_ms", &until);
    if let Err(refusal) = events::append(&state, line.as_str(), lock::wait(lock::HOOK_WAIT)) {
        warn(refusal);
    }
    if !quiet.is_on(now) {
        // what was held back goes out now, not with the next run of somebody else
        let rules = rules(context);
        let pass = Pass {
            store: &context.store,
            settings: &context.settings,
            rules: &rules,
            first: "",
            told: Mutex::default(),
        };
        let report = pass.run(false)?;
        come_back(&report, &context.place);
    }
    show(&quiet, context)
}

fn show(quiet: &Quiet, context: &mut Context<'_>) -> Result<(), Refusal> {
    let now = context.now();
    let on = quiet.is_on(now);
    let held = held(&ledger::read(&context.place.state())?.ledger);
    let document = json!({
        "schema": 1,
        "quiet": on,
        "since_ms": if on { Some(quiet.since_ms) } else { None },
        "until_ms": if on { quiet.until_ms } else { None },
        "held": held,
    });
    let word = match (on, quiet.until_ms) {
        (false, _) => "not quiet".to_owned(),
        (true, None) => "quiet until `ring-notify quiet off`".to_owned(),
        (true, Some(until)) => format!("quiet until {}", local(until, now)),
    };
    let back = match (on, held) {
        (false, 0) => String::new(),
        (false, n) => format!(", {n} held; `ring-notify deliver` sends what is due"),
        (true, n) => format!(", {n} held"),
    };
    context.print(&document, |out| writeln!(out, "{word}{back}"))
}
