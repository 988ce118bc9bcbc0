//! `send`: an item of one's own, delivered now, under all rules.

use crate::command::deliver::{come_back, rules};
use crate::item::Kind;
use crate::ledger::{self, Entry, State, To};
use crate::outlet::Rules;
use crate::pass::Pass;
use crate::whom;
use ring_session::context::Context;
use ring_session::time::Ms;
use ring_session::{Code, Refusal, id, ring, text};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::io::{IsTerminal, Read};
use std::sync::Mutex;

/// Characters of a title, and of a body, at most.
const LIMITS: (usize, usize) = (200, 4000);
/// Bytes on stdin at most.
const INPUT: usize = 64 * 1024;
/// Characters of an id at most.
const ID: usize = 128;

/// Rings with a text of your own.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What it is about; without it JSON is read from stdin
    #[arg(long, value_name = "T")]
    title: Option<String>,
    /// More of it; -: stdin
    #[arg(long, value_name = "B", requires = "title", allow_hyphen_values = true)]
    body: Option<String>,
    /// Once for each id, as long as the ledger knows it
    #[arg(long, value_name = "I")]
    id: Option<String>,
    /// Passes quiet hours, bursts and debouncing
    #[arg(long)]
    urgent: bool,
    /// Only through this outlet; may be given again
    #[arg(long, value_name = "NAME")]
    to: Vec<String>,
    /// It is about this session
    #[arg(long, value_name = "S")]
    session: Option<String>,
}

/// What is asked for, from the command line or as JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    title: String,
    body: String,
    id: Option<String>,
    urgent: bool,
    to: Vec<String>,
    session: Option<String>,
}

/// Runs it.
///
/// # Errors
/// `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`, `SESSION_NOT_FOUND`, `NOT_FOUND`, `DELIVERY_FAILED`, `LOCK_TIMEOUT`, `IO`.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    let wanted = wanted(args)?;
    check(&wanted)?;
    check_on()?;
    let rules = rules(context);
    if let Some(unknown) = wanted.to.iter().find(|n| rules.outlets.iter().all(|o| o.name != **n)) {
        return Err(no_outlet(unknown, &rules));
    }
    let session = match &wanted.session {
        Some(given) => session(given, context)?,
        None => String::new(),
    };
    let now = context.now();
    let item = format!("msg:{}", wanted.id.clone().unwrap_or_else(|| id::mint(now)));
    let repeated = !enter(&item, wanted, session, now, context)?;
    if !repeated {
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
    let ledger = ledger::read(&context.place.state())?.ledger;
    let to = ledger.items.get(&item).map(|e| e.to.clone()).unwrap_or_default();
    tell(&item, repeated, to, context)
}

fn wanted(args: Args) -> Result<Wanted, Refusal> {
    let input = || {
        let mut bytes = Vec::new();
        std::io::stdin().take(INPUT as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > INPUT {
            return Err(Refusal::new(
                Code::LimitExceeded,
                format!("stdin has more than {INPUT} bytes"),
            ));
        }
        Ok(bytes)
    };
    let Some(title) = args.title else {
        if std::io::stdin().is_terminal() {
            return Err(bad("say what about: --title TEXT, or a JSON object on stdin"));
        }
        let wanted: Wanted = serde_json::from_slice(&input()?)
            .map_err(|e| bad(format!("without --title stdin must be a JSON object with a title: {e}")))?;
        return Ok(Wanted {
            id: args.id.or(wanted.id),
            urgent: args.urgent || wanted.urgent,
            to: if args.to.is_empty() { wanted.to } else { args.to },
            session: args.session.or(wanted.session),
            ..wanted
        });
    };
    let body = match args.body.as_deref() {
        Some("-") => String::from_utf8_lossy(&input()?).into_owned(),
        other => other.unwrap_or_default().to_owned(),
    };
    Ok(Wanted {
        title,
        body,
        id: args.id,
        urgent: args.urgent,
        to: args.to,
        session: args.session,
    })
}

/// Nothing leaves while rings are off in this environment.
///
/// # Errors
/// `DELIVERY_FAILED`.
pub fn check_on() -> Result<(), Refusal> {
    match ring::is_off() {
        true => Err(Refusal::new(
            Code::DeliveryFailed,
            "RING_NO_NOTIFY=1 is set: nothing is sent; unset it",
        )
        .with("reason", "off")),
        false => Ok(()),
    }
}

fn bad(text: impl Into<String>) -> Refusal {
    Refusal::new(Code::InvalidArgument, text)
}

fn check(wanted: &Wanted) -> Result<(), Refusal> {
    let over = |name: &str, value: &str, limit| match value.chars().count() {
        n if n > limit => Err(Refusal::new(
            Code::LimitExceeded,
            format!("{name} has {n} characters; at most {limit}"),
        )),
        _ => Ok(()),
    };
    if text::clean(&wanted.title, LIMITS.0).is_empty() {
        return Err(bad("the title is blank"));
    }
    over("the title", &wanted.title, LIMITS.0)?;
    over("the body", wanted.body.trim_end(), LIMITS.1)?;
    if let Some(id) = &wanted.id {
        if text::clean(id, ID) != *id || id.is_empty() {
            return Err(bad(format!(
                "the id must be 1 to {ID} characters without controls or blanks at its ends"
            )));
        }
        over("the id", id, ID)?;
    }
    Ok(())
}

/// The refusal of an outlet that is not there.
pub fn no_outlet(name: &str, rules: &Rules) -> Refusal {
    let names: Vec<&str> = rules.outlets.iter().map(|o| o.name.as_str()).collect();
    Refusal::new(
        Code::NotFound,
        format!(
            "no outlet {name:?}; there is {}",
            match names.is_empty() {
                true => "none".to_owned(),
                false => names.join(", "),
            }
        ),
    )
    .with("outlet", name)
}

/// The KEY that a person means: of a row, or of a record.
fn session(given: &str, context: &Context<'_>) -> Result<String, Refusal> {
    let surveyed = context.store.survey_notifications()?;
    let rows = whom::row_keys(context.store.state());
    Ok(whom::meant(given, &surveyed.heads, &rows, &surveyed.broken)?.key)
}

/// Puts the message into the ledger; false if it is there already.
fn enter(item: &str, wanted: Wanted, session: String, now: Ms, context: &Context<'_>) -> Result<bool, Refusal> {
    let state = context.place.state();
    let _held = ledger::lock(&state)?;
    let mut ledger = ledger::usable(&state)?;
    if ledger.items.contains_key(item) {
        return Ok(false);
    }
    if ledger.started_ms == 0 {
        ledger.started_ms = now;
    }
    let entry = Entry {
        kind: Kind::Message,
        session,
        opened_ms: now,
        seen_ms: now,
        title: text::clean(&wanted.title, LIMITS.0),
        body: lines(&wanted.body),
        urgent: wanted.urgent,
        only: wanted.to,
        ..Entry::default()
    };
    ledger.items.insert(item.to_owned(), entry);
    ledger::write(&state, &mut ledger)?;
    Ok(true)
}

/// The body with its line ends, each line cleaned.
fn lines(body: &str) -> String {
    let lines: Vec<String> = body
        .trim_end()
        .lines()
        .map(|line| text::clean(line, LIMITS.1))
        .collect();
    lines.join("\n")
}

/// Prints where it went; a failure, if no outlet has it or holds it.
fn tell(
    item: &str,
    repeated: bool,
    to: std::collections::BTreeMap<String, To>,
    context: &mut Context<'_>,
) -> Result<(), Refusal> {
    let meant: Vec<(&String, &To)> = to
        .iter()
        .filter(|(_, t)| t.state != State::Skipped || !t.error.is_empty())
        .collect();
    let line = |(name, t): &(&String, &To)| {
        let why = match t.hold {
            Some(hold) => format!("{hold:?}").to_lowercase(),
            None => t.error.clone(),
        };
        let why = if why.is_empty() { why } else { format!(", {why}") };
        format!("{name}: {}{why}", t.state.as_str())
    };
    let members: Map<String, Value> = meant
        .iter()
        .map(|(name, t)| ((*name).clone(), json!({"state": t.state.as_str(), "error": t.error})))
        .collect();
    let document =
        json!({"schema": 1, "id": item.strip_prefix("msg:").unwrap_or(item), "repeated": repeated, "to": members});
    let has_it = |t: &To| matches!(t.state, State::Sent | State::Held);
    if !repeated && !meant.iter().any(|(_, t)| has_it(t)) {
        let retries = meant.iter().any(|(_, t)| t.state == State::Retry);
        let told: Vec<String> = meant.iter().map(line).collect();
        let told = match told.is_empty() {
            true => "no outlet takes it".to_owned(),
            false => told.join("; "),
        };
        let next = match retries {
            true => "the next `ring-notify deliver` tries again",
            false => "see `ring-notify outlets`",
        };
        return Err(Refusal::new(Code::DeliveryFailed, format!("{told}; {next}"))
            .with("to", document["to"].clone())
            .with("id", document["id"].clone())
            .retriable(retries));
    }
    context.print(&document, |out| {
        writeln!(out, "{}", item.strip_prefix("msg:").unwrap_or(item))?;
        for one in &meant {
            writeln!(out, "{}", line(one))?;
        }
        Ok(())
    })
}
