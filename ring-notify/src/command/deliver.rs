//! `deliver`.

use crate::cli::Context;
use ring_session::Refusal;

/// Arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Start anew in the background and return at once
    #[arg(long)]
    pub detach: bool,
}

/// Runs it.
///
/// # Errors
/// `IO`.
pub fn run(args: &Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    let _used = (args, context.now());
    Ok(())
}

/// Starts itself anew in the background.
pub fn detach(args: &Args, place: &ring_session::command_line::Place) -> u8 {
    let _used = (args, place);
    0
}
