//! `transcript`, `append`.

use crate::TOOL;
use crate::body::{self, bad};
use crate::cli::Context;
use crate::command::turn::whole_turn;
use ring_session::lifecycle::turn_not_found;
use ring_session::members::Object;
use ring_session::row::{LINE_BYTES, Role, Row};
use ring_session::{Refusal, rows, text};
use serde_json::json;
use std::io::Write;

/// Prints messages.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session
    id: String,
    /// First message, from 0; negative: from the end
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    from: i64,
    /// How many, at most 1000
    #[arg(long, value_name = "N", default_value_t = 200)]
    limit: usize,
    /// Only of user, assistant, tool or system
    #[arg(long)]
    role: Option<String>,
}

/// Appends messages.
#[derive(Debug, clap::Args)]
pub struct Append {
    /// Session
    id: String,
    /// File of one JSON object a line, or - for stdin (the default)
    file: Option<String>,
    /// Turn of messages that name none
    #[arg(long, value_name = "TURN")]
    turn: Option<String>,
    /// Keep one unfinished reply of a live turn
    #[arg(long)]
    checkpoint: bool,
}

/// Runs `transcript`.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `INVALID_ARGUMENT`, `IO`.
pub fn run(args: &Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(&args.id)?;
    if !(1..=1000).contains(&args.limit) {
        return Err(bad("--limit takes 1 to 1000"));
    }
    let role = match &args.role {
        None => None,
        Some(word) => Some(Role::from_word(word).ok_or_else(|| bad("--role takes user, assistant, tool or system"))?),
    };
    let rows = match context.store.rows(&id) {
        // the messages are there also where the record is lost
        Err(e) if rows::is_unreadable(&e) => {
            let path = context.store.files(&id).transcript();
            let bytes =
                ring_session::transcript::part(&path, 0, u64::MAX).map_err(|e| Refusal::io("read", &path, &e))?;
            ring_session::transcript::collapse(ring_session::transcript::rows(&bytes))
        }
        other => other?,
    };
    let count = rows.len() as i64;
    let from = if args.from < 0 {
        (count + args.from).max(0)
    } else {
        args.from.min(count)
    };
    let shown: Vec<Row> = rows
        .into_iter()
        .skip(usize::try_from(from).unwrap_or(0))
        .filter(|r| role.is_none_or(|role| r.role == role))
        .take(args.limit)
        .collect();
    let objects: Vec<&Object> = shown.iter().map(|r| &r.members).collect();
    context.print_list(&objects, |out| {
        for row in &shown {
            writeln!(out, "{}:", row.role.as_str())?;
            for line in human(row).lines() {
                writeln!(out, "{}", indented(line).trim_end())?;
            }
        }
        Ok(())
    })
}

/// A message for people: its texts, and its calls by name.
fn human(row: &Row) -> String {
    let blocks: Vec<Object> = row.members.get("blocks").unwrap_or_default();
    let lines = blocks.iter().map(|block| {
        let member = |name: &str| block.get::<String>(name).unwrap_or_default();
        match member("type").as_str() {
            "text" => member("text"),
            "thinking" => format!("(thinking) {}", member("text")),
            "tool_call" => format!("[{}]", member("name")),
            "attachment" => format!("[{}]", member("ref")),
            other => format!("[{other}]"),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A line made harmless, two blanks further in, with the blanks it begins with: they are the shape of a program's text.
fn indented(line: &str) -> String {
    let deep: usize = line
        .chars()
        .map_while(|c| match c {
            ' ' => Some(1),
            '\t' => Some(4),
            _ => None,
        })
        .sum();
    format!("{}{}", " ".repeat(2 + deep.min(80)), text::for_terminal(line))
}

/// Runs `append`.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`, `TURN_NOT_FOUND` (checkpoint), and those of the store.
pub fn append(args: &Append, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(&args.id)?;
    let input = body::file(args.file.as_deref(), 2 * LINE_BYTES * 16)?;
    let now = context.store.here().now;
    let rows = rows::parse(&input, || ring_session::id::mint(now), now)?;
    let turn = match &args.turn {
        None => None,
        Some(given) => match context.store.stored(&id) {
            Ok(record) => Some(whole_turn(given, &record, &context.store.files(&id))?.0),
            Err(_) => Some(given.clone()),
        },
    };
    if args.checkpoint {
        return checkpoint(&id, turn, rows, context);
    }
    let done = rows::append(&context.store, &id, rows, turn.as_deref())?;
    for warning in &done.warnings {
        // a closed stderr leaves nobody to tell
        writeln!(std::io::stderr(), "{TOOL}: {warning}").unwrap_or_default();
    }
    context.print(&json!({"appended": done.appended, "skipped": done.skipped}), |_| Ok(()))
}

fn checkpoint(
    id: &str,
    turn: Option<String>,
    rows: Vec<(Row, bool)>,
    context: &mut Context<'_>,
) -> Result<(), Refusal> {
    let [(row, _)] = rows.as_slice() else {
        return Err(bad("--checkpoint takes one row"));
    };
    if row.role != Role::Assistant {
        return Err(bad("--checkpoint takes a row of the assistant"));
    }
    let turn = if row.turn_id.is_empty() {
        turn.unwrap_or_default()
    } else {
        row.turn_id.clone()
    };
    if turn.is_empty() {
        return Err(turn_not_found(&turn));
    }
    context.store.keep_checkpoint(id, &turn, &row.clone().of_turn(&turn))?;
    context.print(&json!({"appended": 0, "skipped": 0}), |_| Ok(()))
}
