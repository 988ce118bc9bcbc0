//! `explain ID`: the facts with their ages, every rule that was tried, and the one that decided.

use crate::board::{Fact, Session, Tried};
use crate::context::Context;
use crate::format::{Look, inert};
use ring_session::time::{Ms, human_span};
use ring_session::{Refusal, exit};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Explained<'a> {
    key: &'a str,
    status: &'a str,
    rule: &'a str,
    facts: &'a [Fact],
    rules: &'a [Tried],
}

/// Prints why the session has its status.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `AMBIGUOUS`, `INVALID_ARGUMENT`; `IO` if the output cannot be written.
pub fn run(context: &Context, id: &str, out: &mut dyn Write) -> Result<u8, Refusal> {
    let json = context.human_or_json()?;
    let board = super::everything(context);
    let mut session = super::find(&board, id)?.clone();
    inert::session(&mut session);
    match json {
        true => document(&session, out)?,
        false => human(&session, board.now_ms, &context.look(), out)?,
    }
    Ok(exit::DONE)
}

fn document(s: &Session, out: &mut dyn Write) -> io::Result<()> {
    let explained = Explained {
        key: &s.key,
        status: &s.status,
        rule: &s.rule,
        facts: &s.chain.facts,
        rules: &s.chain.rules,
    };
    serde_json::to_writer(&mut *out, &explained)?;
    writeln!(out)
}

fn human(s: &Session, now: Ms, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let marked = format!("{} {}", look.markers.of_status(&s.status), look.lang.status(&s.status));
    let marked = if look.colour {
        look.palette.status(&s.status).paint(&marked)
    } else {
        marked
    };
    writeln!(out, "{marked}  {}  decided by rule {}", s.key, s.rule)?;
    writeln!(out, "facts")?;
    let longest = |names: &mut dyn Iterator<Item = &str>| names.map(str::len).max().unwrap_or(0);
    let column = longest(&mut s.chain.facts.iter().map(|f| f.source.as_str()));
    for fact in &s.chain.facts {
        let age = fact
            .at_ms
            .map(|at| format!("  {} ago", human_span(now.saturating_sub(at))))
            .unwrap_or_default();
        writeln!(out, "  {:column$}  {}{age}", fact.source, fact.fact)?;
    }
    writeln!(out, "rules")?;
    let column = longest(&mut s.chain.rules.iter().map(|r| r.rule.as_str()));
    for tried in &s.chain.rules {
        let answer = if tried.applies { "yes" } else { "no " };
        let line = format!("  {answer}  {:column$}  {}", tried.rule, tried.why);
        let line = line.trim_end();
        match tried.applies || !look.colour {
            true => writeln!(out, "{line}")?,
            false => writeln!(out, "{}", look.palette.muted.paint(line))?,
        }
    }
    Ok(())
}
