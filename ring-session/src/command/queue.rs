//! `queue push`, `list`, `remove`, `prioritize`, `next`, `hold`, `attach`.

use crate::body::{self, bad, within};
use crate::cli::Context;
use crate::command::turn::{check_attachments, owner, unattended};
use clap::Subcommand;
use ring_session::id::{Meant, meant};
use ring_session::queue::{CONTENT_BYTES, KEY_BYTES, PRINCIPAL_BYTES, Push};
use ring_session::record::Record;
use ring_session::store::{ambiguous, is_id};
use ring_session::table::{self, Table};
use ring_session::time::human_span;
use ring_session::work::Work;
use ring_session::{Refusal, text};
use serde_json::json;
use std::io::IsTerminal;

/// Prompts that wait.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Append a prompt; print the entry's id
    Push(PushArgs),
    /// Entries in the order of delivery
    List {
        /// Session
        id: String,
    },
    /// Take an entry out
    Remove {
        /// Session
        id: String,
        /// Entry
        entry: String,
    },
    /// Put an entry at the head
    Prioritize {
        /// Session
        id: String,
        /// Entry
        entry: String,
    },
    /// Begin the head as a turn; print turn and prompt
    Next {
        /// Session
        id: String,
        /// Process that works on the turn
        #[arg(long, value_name = "PID")]
        owner_pid: Option<u32>,
        /// Nobody is there to approve anything
        #[arg(long)]
        unattended: bool,
    },
    /// Release nothing until `attach`
    Hold {
        /// Session
        id: String,
    },
    /// Release again; starts nothing
    Attach {
        /// Session
        id: String,
    },
}

/// Pushes.
#[derive(Debug, clap::Args)]
pub struct PushArgs {
    /// Session
    id: String,
    /// Prompt, or - for stdin (the default)
    text: Option<String>,
    /// Id to take
    #[arg(long = "id", value_name = "ENTRY")]
    entry: Option<String>,
    /// A reference to a file or address (may be repeated)
    #[arg(long, value_name = "REF")]
    attach: Vec<String>,
    /// The same key and input again give the same entry
    #[arg(long)]
    key: Option<String>,
    /// Who pushes
    #[arg(long, value_name = "NAME", default_value = "cli")]
    principal: String,
}

/// Runs it.
///
/// # Errors
/// `AGENT_BUSY`, `CONFLICT`, `IDEMPOTENCY_CONFLICT`, `NOT_FOUND`, `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`, and those of the store.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    match args.command {
        Command::Push(args) => push(args, context),
        Command::List { id } => list(&id, context),
        Command::Remove { id, entry } => {
            let id = context.store.resolve(&id)?;
            let (removed, _) = context.store.update(&id, |work, _| {
                let entry = whole_entry(&entry, &work.record)?;
                work.remove_entry(&entry)
            })?;
            context.print(&json!({"removed": removed}), |out| {
                if removed {
                    Ok(())
                } else {
                    writeln!(out, "no such entry")
                }
            })
        }
        Command::Prioritize { id, entry } => {
            let id = context.store.resolve(&id)?;
            let (entry, _) = context.store.update(&id, |work, _| {
                let entry = whole_entry(&entry, &work.record)?;
                work.prioritize(&entry)
            })?;
            context.print(&entry, |_| Ok(()))
        }
        Command::Next {
            id,
            owner_pid,
            unattended: alone,
        } => {
            let id = context.store.resolve(&id)?;
            let owner = owner(owner_pid)?;
            let ((turn, entry), _) = context
                .store
                .update(&id, |work, _| work.next(owner, unattended(alone)))?;
            context.print(&json!({"turn": turn, "entry": entry}), |out| {
                writeln!(out, "{turn}")?;
                // the next program gets the prompt as it was given, a terminal nothing that it would obey
                match std::io::stdout().is_terminal() {
                    true => entry
                        .content
                        .lines()
                        .try_for_each(|l| writeln!(out, "{}", text::for_terminal(l))),
                    false => writeln!(out, "{}", entry.content),
                }
            })
        }
        Command::Hold { id } => hold(&id, true, context),
        Command::Attach { id } => hold(&id, false, context),
    }
}

fn whole_entry(given: &str, record: &Record) -> Result<String, Refusal> {
    let started = record.turn.as_ref().and_then(|t| t.queue_entry.as_deref());
    match meant(given, record.queue.entries.iter().map(|e| e.id.as_str()).chain(started)) {
        Meant::One(id) => Ok(id.to_owned()),
        Meant::Nobody => Ok(given.to_owned()),
        Meant::Several(candidates) => Err(ambiguous(given, &candidates)),
    }
}

fn push(args: PushArgs, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(&args.id)?;
    let content = body::text(args.text.as_deref(), CONTENT_BYTES)?;
    if content.trim().is_empty() {
        return Err(bad("the prompt is blank"));
    }
    check_attachments(&args.attach)?;
    if let Some(entry) = args.entry.as_deref().filter(|e| !is_id(e)) {
        within("--id", entry.len(), 128)?;
        return Err(bad(format!(
            "--id {entry:?} must have 1 to 128 letters, digits, _ or -"
        )));
    }
    if let Some(key) = &args.key {
        within("--key", key.len(), KEY_BYTES)?;
    }
    within("--principal", args.principal.len(), PRINCIPAL_BYTES)?;
    let push = Push {
        id: args.entry,
        content,
        attachments: args.attach,
        key: args.key.filter(|k| !k.is_empty()),
        principal: text::for_terminal(&args.principal),
        inherited: context.inherited(),
    };
    let (entry, _) = context.store.update(&id, |work, _| work.push(push))?;
    context.print(&entry, |out| writeln!(out, "{}", entry.id))
}

fn list(id: &str, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(id)?;
    let work = Work::new(context.store.see(&id)?.record, context.store.here().clone());
    let held = work.queue_is_held();
    let entries = &work.record.queue.entries;
    let now = work.now();
    let mut ids: Vec<String> = entries.iter().map(|e| e.id.clone()).collect();
    ids.sort_unstable();
    let limit = table::limit();
    let whole = limit.is_none_or(|columns| columns >= WIDE);
    let table = Table {
        cuttable: &[2],       // principal
        dispensable: &[1, 2], // age, principal
        limit,
    };
    context.print(&json!({"held": held, "entries": entries}), |out| {
        if held {
            writeln!(out, "held; release with `queue attach`")?;
        }
        table.write(out, entries, |e| {
            [
                if whole {
                    e.id.clone()
                } else {
                    table::short(&ids, &e.id).to_owned()
                },
                human_span(now.saturating_sub(e.created_ms)),
                e.principal.clone(),
                text::clean(text::first_line(&e.content), 160),
            ]
        })
    })
}

/// Columns that a whole id and something behind it take.
const WIDE: usize = 72;

fn hold(id: &str, held: bool, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(id)?;
    context.store.update(&id, |work, _| {
        work.hold(held);
        Ok(())
    })?;
    context.print(&json!({"held": held}), |_| Ok(()))
}
