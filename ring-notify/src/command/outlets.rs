//! `outlets`.

use crate::cli::Context;
use ring_session::Refusal;


/// Runs it.
///
/// # Errors
/// `IO`.
pub fn run(context: &mut Context<'_>) -> Result<(), Refusal> {
    let _used = context.now();
    Ok(())
}
