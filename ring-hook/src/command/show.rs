//! `ring-hook show`: Print one row and how readers show it.

use crate::cli::Context;
use ring_hook::row::json::{Value, quote};
use ring_hook::row::{Row, Wait};
use ring_hook::store;
use ring_hook::view::{View, view};
use ring_session::text::for_terminal;
use ring_session::time::{Ms, human_span, now_ms};
use ring_session::{Refusal, exit};

/// Options of the command.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Key or session id, or its unique beginning of 4 characters or more
    #[arg(value_name = "KEY")]
    key: String,
}

/// Runs the command and gives the exit status.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `AMBIGUOUS`, `IO`.
pub fn run(args: &Args, context: &Context) -> Result<u8, Refusal> {
    let row = store::find(&context.state, &args.key)?;
    let now = now_ms();
    let seen = view(&row, now, &context.settings());
    let text = if context.json() {
        json(row, &seen)
    } else {
        human(&row, &seen, now)
    };
    context.print(&text)?;
    Ok(exit::DONE)
}

/// The row's own members and `view`.
fn json(mut row: Row, seen: &View) -> String {
    row.unknown.retain(|(name, _)| name != "\"view\"");
    let mut out = row.to_json();
    // The closing brace; a row always has one.
    out.pop();
    out.push_str(",\"view\":{\"status\":");
    quote(seen.status, &mut out);
    out.push_str(",\"since_ms\":");
    seen.since_ms.write(&mut out);
    out.push_str(",\"waits\":");
    seen.waits.write(&mut out);
    out.push_str(",\"note\":");
    quote(&seen.note, &mut out);
    out.push_str(",\"rule\":");
    quote(seen.rule, &mut out);
    out.push_str("}}\n");
    out
}

fn human(row: &Row, seen: &View, now: Ms) -> String {
    let age = |since: Ms| human_span(now.saturating_sub(since));
    let mut out = format!(
        "{}  {} for {}\n",
        for_terminal(&row.key),
        seen.status,
        age(seen.since_ms)
    );
    let mut line = |name: &str, text: &str| {
        if !text.is_empty() {
            out.push_str(&format!("  {name:<11} {}\n", for_terminal(text)));
        }
    };
    line("title", &row.title);
    line("project", &row.origin_cwd);
    if row.cwd != row.origin_cwd {
        line("folder", &row.cwd);
    }
    for wait in &seen.waits {
        line("waits", &request(wait, &age(wait.since_ms)));
    }
    line("note", &seen.note);
    line("last action", &row.last_action);
    if let Some((done, total)) = row.todo {
        line("to do", &format!("{done} of {total} done"));
    }
    for child in &row.children {
        line(
            "child",
            &format!("{} {}, {}", child.id, child.kind, age(child.since_ms)),
        );
    }
    line("transcript", &row.transcript_path);
    if let Some(process) = &row.process {
        let kind = if process.server { " (server)" } else { "" };
        line("process", &format!("{} {}{kind}", process.pid, process.name));
    }
    line("terminal", &row.term.tty);
    line("pane", &row.term.tmux_pane);
    line(
        "last event",
        &format!(
            "{} by {}, {} ago, rule {}",
            row.last.event,
            row.last.owner,
            age(row.event_ms),
            row.last.rule
        ),
    );
    line("shown by", seen.rule);
    out
}

fn request(wait: &Wait, age: &str) -> String {
    let detail = if wait.detail.is_empty() {
        String::new()
    } else {
        format!(": {}", wait.detail)
    };
    format!("{}{detail} ({}, {age})", wait.kind, wait.owner)
}
