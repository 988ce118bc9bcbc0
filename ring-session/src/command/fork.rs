//! `fork`.

use crate::cli::Context;
use crate::command::session::checked_title;
use ring_session::store::Seen;
use ring_session::{Refusal, fork, shown};

/// Makes an idle copy.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session
    id: String,
    /// Last message to copy
    #[arg(long, value_name = "MESSAGE")]
    through: Option<String>,
    /// Title of the copy
    #[arg(long, allow_hyphen_values = true)]
    title: Option<String>,
}

/// Runs it.
///
/// # Errors
/// Those of [`fork::fork`], `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    let id = context.store.resolve(&args.id)?;
    let title = checked_title(args.title.as_deref())?;
    let record = fork::fork(&context.store, &id, args.through.as_deref(), title)?;
    let child = record.id.clone();
    let object = shown::session_object(
        &Seen {
            record,
            recovered: false,
        },
        context.store.here(),
        context.inherited(),
    );
    context.print(&object, |out| writeln!(out, "{child}"))
}
