//! `ring-hook remove`: take our hook entries out again.

use super::install::apply;
use crate::cli::Context;
use crate::install::entry::Programs;
use crate::install::hooks_edit::{self, Hollows};
use crate::install::installed::{self, Ask};
use crate::install::report;
use crate::install::settings_file::{SettingsFile, invalid};
use crate::install::version::Version;
use crate::install::writers::{self, Target};
use ring_session::{Refusal, exit};
use std::io::IsTerminal;

/// Options of the command.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this agent; may be given several times [default: all that have a folder here]
    #[arg(long = "agent", value_name = "AGENT")]
    agents: Vec<String>,
    /// Print the difference and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Runs the command and gives the exit status. What was empty before we came stays, as far as the backup tells it.
///
/// # Errors
/// Those of install.
pub fn run(args: &Args, context: &Context) -> Result<u8, Refusal> {
    let path = std::env::var_os("PATH");
    let targets = writers::chosen(&args.agents, &|agent| Programs::bare().hook_command(agent))?;
    let targets = targets.into_iter().map(|target| {
        let version = installed::version(&target, path.as_deref(), Ask::Nobody);
        (target, version)
    });
    let edit = |target: &Target, _: Option<Version>, file: &SettingsFile| {
        let hollows = file.backup().as_deref().map(Hollows::of).unwrap_or_default();
        hooks_edit::remove(file.text(), &hollows).map_err(|fault| invalid(&target.file, &fault.to_string()))
    };
    let outcomes = apply(context, targets.collect(), args.dry_run, edit)?;
    let terminal = std::io::stdout().is_terminal();
    let none = "no agent has a folder here; there is nothing to remove";
    context.print(&report::print(&outcomes, args.dry_run, context.json(), terminal, none))?;
    Ok(exit::DONE)
}
