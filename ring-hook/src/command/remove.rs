//! `ring-hook remove`: take our hook entries out again.

use super::install::{Edit, apply};
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
    /// Only this agent; may be repeated [default: all here]
    #[arg(long = "agent", value_name = "AGENT")]
    agents: Vec<String>,
    /// Print the difference and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Runs the command and gives the exit status. What was empty before we came stays, as far as the backup tells it; a
/// file that install made goes if nothing else is in it.
///
/// # Errors
/// Those of install.
pub fn run(args: &Args, context: &Context) -> Result<u8, Refusal> {
    let path = std::env::var_os("PATH");
    let manual = |command: &str| format!("take `{command}` out of its hooks by hand");
    let targets = writers::chosen(&args.agents, &|agent| Programs::bare().hook_command(agent), &manual)?;
    let targets = targets.into_iter().map(|target| {
        let version = installed::version(&target, path.as_deref(), Ask::Nobody);
        (target, version)
    });
    let edit = |target: &Target, _: Option<Version>, file: &SettingsFile| {
        let backup = file.backup();
        let hollows = backup.as_deref().map(Hollows::of).unwrap_or_default();
        let edited = hooks_edit::remove(file.text(), &hollows);
        let edited = edited.map_err(|fault| invalid(&target.file, &fault.to_string()))?;
        // Without a backup there was no file when install came. A backup that is an install's own work says the same.
        let ours_alone = |text: &str| {
            let without = hooks_edit::remove(text, &Hollows::default());
            without.is_ok_and(|e| e.had_ours && hooks_edit::is_fresh(&e.text))
        };
        let made = file.is_there() && edited.had_ours && backup.as_deref().is_none_or(ours_alone);
        let delete = made && hooks_edit::is_fresh(&edited.text);
        Ok(Edit { edited, delete })
    };
    let outcomes = apply(context, targets.collect(), args.dry_run, edit)?;
    let terminal = std::io::stdout().is_terminal();
    let none = "no agent has a folder here; there is nothing to remove";
    context.print(&report::print(&outcomes, args.dry_run, context.json(), terminal, none))?;
    Ok(exit::DONE)
}
