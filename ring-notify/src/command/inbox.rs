//! `list`, `read`, `clear`.

use crate::cli::Context;
use ring_session::Refusal;

/// Prints the inbox.
#[derive(Debug, Default, clap::Args)]
pub struct List {
    /// Read ones too
    #[arg(long)]
    all: bool,
}

/// Marks rows.
#[derive(Debug, clap::Args)]
pub struct Read {
    /// Which
    ids: Vec<String>,
}

/// Removes rows.
#[derive(Debug, clap::Args)]
pub struct Clear {
    /// Only read ones
    #[arg(long)]
    read: bool,
}

/// Runs `list`.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `IO`.
pub fn list(args: &List, context: &mut Context<'_>) -> Result<(), Refusal> {
    drop((args.all, context));
    Ok(())
}

/// Runs `read`.
///
/// # Errors
/// `AMBIGUOUS`, `SESSION_NOT_FOUND`, `LOCK_TIMEOUT`, `IO`.
pub fn read(args: &Read, context: &mut Context<'_>) -> Result<(), Refusal> {
    drop((&args.ids, context));
    Ok(())
}

/// Runs `clear`.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `LOCK_TIMEOUT`, `IO`.
pub fn clear(args: &Clear, context: &mut Context<'_>) -> Result<(), Refusal> {
    drop((args.read, context));
    Ok(())
}
