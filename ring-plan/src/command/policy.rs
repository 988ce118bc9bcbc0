//! `policy`: what a tool may do in a session.

use crate::cli::Context;
use crate::policy::{Call, Verdict, is_outside, verdict};
use ring_session::{Refusal, exit, shown};
use serde_json::json;

/// Asks.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session
    id: String,
    /// Name of the tool
    tool: String,
    /// Path that the call names
    #[arg(long)]
    path: Option<String>,
    /// Exit 6 for a denial
    #[arg(long)]
    exit_status: bool,
}

/// Runs it; gives the exit status.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `AMBIGUOUS`.
pub fn run(args: &Args, context: &mut Context<'_>) -> Result<u8, Refusal> {
    let id = context.store.resolve(&args.id)?;
    let record = context.store.see(&id)?.record;
    let permission = shown::effective_mode(&record, context.inherited());
    let outside = args
        .path
        .as_deref()
        .is_some_and(|p| is_outside(record.project.as_deref(), p));
    let said = verdict(&Call {
        tool: &args.tool,
        mode: record.mode,
        permission,
        grants: &record.grants,
        outside,
    });
    let (word, code) = match said {
        Verdict::Allow => ("allow", None),
        Verdict::Confirm => ("confirm", None),
        Verdict::Deny(code) => ("deny", Some(code.as_str())),
    };
    let value =
        json!({"verdict": word, "code": code, "mode": record.mode.as_str(), "permission_mode": permission.as_str()});
    context.print(&value, |out| {
        writeln!(
            out,
            "{}",
            [Some(word), code].into_iter().flatten().collect::<Vec<_>>().join(" ")
        )
    })?;
    Ok(if args.exit_status && code.is_some() {
        exit::DENIED
    } else {
        exit::DONE
    })
}
