//! `stats`.

use crate::cli::Context;
use ring_session::Refusal;
use ring_session::time::Ms;

/// Arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How far back
    #[arg(long, value_name = "D", value_parser = ring_session::command_line::span)]
    since: Option<Ms>,
}

/// Runs it.
///
/// # Errors
/// `IO`.
pub fn run(args: &Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    let _since = (args.since, context.now());
    Ok(())
}
