//! `ring-hook install`: Put the hook entries into the agents' settings.

use crate::cli::Context;
use ring_session::{Code, Refusal};

/// Options of the command.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command and gives the exit status.
///
/// # Errors
/// The refusals that ring-hook(1) lists for it.
pub fn run(args: &Args, context: &Context) -> Result<u8, Refusal> {
    let _ = (args, context);
    Err(Refusal::new(Code::Internal, "not yet"))
}
