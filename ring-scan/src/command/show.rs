//! `show ID`: one session with everything that is known of it.

use crate::board::{Session, Waiting};
use crate::context::Context;
use crate::format::{Look, inert};
use ring_session::time::human_span;
use ring_session::{Refusal, exit};
use serde::Serialize;
use std::io::{self, Write};

/// The row as on the board, and what does not fit there.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    session: &'a Session,
    all_waits: &'a [Waiting],
    children: Vec<Child<'a>>,
    paths: &'a [String],
}

#[derive(Serialize)]
struct Child<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    state: &'a str,
}

/// Prints the session.
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
        false => human(&session, &context.look(), out)?,
    }
    Ok(exit::DONE)
}

fn document(s: &Session, out: &mut dyn Write) -> io::Result<()> {
    let children = s
        .chain
        .children
        .iter()
        .map(|(id, kind, state)| Child { id, kind, state });
    let shown = Shown {
        session: s,
        all_waits: &s.chain.waits,
        children: children.collect(),
        paths: &s.chain.paths,
    };
    serde_json::to_writer(&mut *out, &shown)?;
    writeln!(out)
}

fn human(s: &Session, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let marked = format!("{} {}", look.markers.of_status(&s.status), look.lang.status(&s.status));
    let marked = if look.colour {
        look.palette.status(&s.status).paint(&marked)
    } else {
        marked
    };
    writeln!(out, "{marked}  {}  for {}", s.key, human_span(s.age_ms))?;
    let of = |n: u32, total: u32| format!("{n} of {total}");
    let process = match s.process.pid {
        0 => s.process.state.clone(),
        pid => format!("{pid} {}", s.process.state),
    };
    let fields: [(&str, String); 17] = [
        ("agent", s.agent.clone()),
        ("session", s.session_id.clone()),
        ("kind", s.kind.clone()),
        ("name", s.name.clone()),
        ("title", s.title.clone()),
        ("note", s.note.clone()),
        ("project", s.project.clone()),
        ("started in", s.origin_cwd.clone()),
        ("folder", s.cwd.clone()),
        ("where", s.location.clone()),
        ("last action", s.last_action.clone()),
        ("to-do", s.todo.map(|t| of(t.done, t.total)).unwrap_or_default()),
        ("model", s.model.clone()),
        ("process", process),
        ("record", s.record.clone()),
        ("host", s.host.clone()),
        ("decided by", format!("rule {}: {}", s.rule, s.evidence.join(", "))),
    ];
    for (name, value) in fields.iter().filter(|(_, v)| !v.is_empty()) {
        writeln!(out, "{name:12} {value}")?;
    }
    let waits = s.chain.waits.iter().map(|w| {
        let who = if w.owner_type.is_empty() {
            &w.owner
        } else {
            &w.owner_type
        };
        format!("{}  {}  ({who}, since {})", w.kind, w.detail, human_span(since(s, w)))
    });
    list("waits", waits, out)?;
    list(
        "child",
        s.chain
            .children
            .iter()
            .map(|(id, kind, state)| format!("{kind}  {state}  {id}")),
        out,
    )?;
    list("file", s.chain.paths.iter().cloned(), out)
}

/// How long a request is open, by the clock of the row.
fn since(s: &Session, w: &Waiting) -> i64 {
    s.since_ms.saturating_add(s.age_ms).saturating_sub(w.since_ms).max(0)
}

fn list(name: &str, lines: impl Iterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        writeln!(out, "{name:12} {line}")?;
    }
    Ok(())
}
