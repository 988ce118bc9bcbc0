//! `test`: a test message, now, past every rule and the ledger.

use crate::command::deliver::rules;
use crate::message::{Facts, Message, Place};
use crate::outlet::Way;
use crate::send::{self, Fate};
use ring_session::context::Context;
use ring_session::{Code, Refusal, id};
use serde_json::{Map, Value, json};
use std::thread;

/// Sends a test message.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only through this outlet; otherwise through each that can be used
    name: Option<String>,
}

/// Runs it.
///
/// # Errors
/// `NOT_FOUND`, `DELIVERY_FAILED`.
pub fn run(args: &Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    super::send::check_on()?;
    let rules = rules(context);
    let now = context.now();
    let mut outlets: Vec<_> = rules.outlets.iter().collect();
    if let Some(name) = &args.name {
        outlets.retain(|o| o.name == *name);
        if outlets.is_empty() {
            return Err(super::send::no_outlet(name, &rules));
        }
    } else {
        outlets.retain(|o| send::usable(&o.way).is_ok());
        if outlets.is_empty() {
            return Err(Refusal::new(
                Code::DeliveryFailed,
                "no outlet can be used; `ring-notify outlets` says why",
            ));
        }
    }
    let item = format!("test:{}", id::mint(now));
    let message = |name: &str| Message {
        title: "ring: test".into(),
        body: vec!["If you can read this, rings reach you here.".into()],
        facts: Facts {
            schema: 1,
            id: item.clone(),
            kind: "message".into(),
            title: "ring: test".into(),
            body: "If you can read this, rings reach you here.".into(),
            opened_ms: now,
            ..Facts::default()
        },
        place: Place {
            own: true,
            ..Place::default()
        },
        key: format!("{item}/0/{name}"),
        outlet: name.to_owned(),
    };
    let fates: Vec<Fate> = thread::scope(|scope| {
        let sending: Vec<_> = outlets
            .iter()
            .map(|o| {
                let message = message(&o.name);
                scope.spawn(move || match send::usable(&o.way) {
                    Ok(()) => send::send(&o.way, &message),
                    Err(why) => Fate::Failed {
                        error: format!("not usable: {why}"),
                    },
                })
            })
            .collect();
        let joined = sending.into_iter().map(|s| match s.join() {
            Ok(fate) => fate,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect()
    });
    let mut to = Map::new();
    let mut lines = Vec::new();
    let mut bad = false;
    for (outlet, fate) in outlets.iter().zip(&fates) {
        let (state, error) = match fate {
            Fate::Sent => ("sent", ""),
            Fate::Retry { error, .. } | Fate::Failed { error } => ("failed", error.as_str()),
            Fate::Skipped { error } => ("skipped", error.as_str()),
            Fate::Unconfirmed { error } => ("unconfirmed", error.as_str()),
        };
        to.insert(outlet.name.clone(), json!({"state": state, "error": error}));
        let by = match outlet.way {
            Way::Auto => format!(" (by {})", send::auto_goes_by()),
            _ => String::new(),
        };
        let line = match (error, send::explained(error)) {
            ("", _) => format!("{}: {state}{by}", outlet.name),
            (_, "") => format!("{}: {state}, {error}", outlet.name),
            (_, means) => format!("{}: {state}, {error} ({means})", outlet.name),
        };
        bad |= *fate != Fate::Sent;
        lines.push(line);
    }
    let document = json!({"schema": 1, "id": item, "repeated": false, "to": Value::Object(to)});
    if bad {
        return Err(Refusal::new(
            Code::DeliveryFailed,
            format!("{}; see `ring-notify outlets`", lines.join("; ")),
        )
        .with("to", document["to"].clone()));
    }
    context.print(&document, |out| {
        writeln!(out, "{item}")?;
        for line in &lines {
            writeln!(out, "{line}")?;
        }
        Ok(())
    })
}
