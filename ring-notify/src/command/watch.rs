//! `watch`.

use crate::cli::Context;
use ring_session::Refusal;

/// Arguments.
#[derive(Debug, clap::Args)]
pub struct Args {

}

/// Runs it.
///
/// # Errors
/// `IO`.
pub fn run(args: &Args, context: &mut Context<'_>) -> Result<(), Refusal> {
    let _used = (args, context.now());
    Ok(())
}
