//! `ring-hook install`: put the hook entries into the agents' settings.

use crate::cli::Context;
use crate::install::hooks_edit::{self, Edited};
use crate::install::installed::{self, Ask};
use crate::install::order::{Order, PlanWait, With};
use crate::install::programs::Search;
use crate::install::report::{self, Outcome};
use crate::install::settings_file::{SettingsFile, invalid};
use crate::install::version::Version;
use crate::install::writers::{self, Target};
use ring_session::lock::{self, Lock};
use ring_session::{Code, Refusal, exit};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Options of the command.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this agent; may be given several times [default: all that have a folder here]
    #[arg(long = "agent", value_name = "AGENT")]
    agents: Vec<String>,
    /// Print the difference and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Also run our other programs: session, plan, notify
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "LIST",
        hide_possible_values = true
    )]
    with: Vec<With>,
    /// With plan: how long a plan's request waits for a person, like 10m
    #[arg(long, value_name = "SPAN")]
    plan_wait: Option<String>,
    /// The ring-hook that the entries name [default: the one on $PATH, else this one]
    #[arg(long, value_name = "PATH")]
    command: Option<PathBuf>,
}

/// Runs the command and gives the exit status.
///
/// # Errors
/// `SETTINGS_INVALID`, `INSTALL_MANUAL`, `SETTINGS_CHANGED`, `LOCK_TIMEOUT`, `IO`. Every file is looked at before the
/// first one is written.
pub fn run(args: &Args, context: &Context) -> Result<u8, Refusal> {
    let order = order(args)?;
    let path = std::env::var_os("PATH");
    let search = Search {
        path: path.as_deref(),
        own: std::env::current_exe().unwrap_or_default(),
        given: args.command.as_deref(),
    };
    let programs = search.programs(&order)?;
    let targets = writers::chosen(&args.agents, &|agent| programs.hook_command(agent))?;
    // Asked before the lock is taken: nobody waits for a program while holding it.
    let targets = targets.into_iter().map(|target| {
        let version = target
            .exists()
            .then(|| installed::version(&target, path.as_deref(), Ask::Program));
        (target, version.flatten())
    });
    let edit = |target: &Target, version: Option<Version>, file: &SettingsFile| {
        let wanted = order.wanted(target.writer, version, &programs);
        hooks_edit::install(file.text(), &wanted).map_err(|fault| invalid(&target.file, &fault.to_string()))
    };
    let outcomes = apply(context, targets.collect(), args.dry_run, edit)?;
    let none = "no agent has a folder here: neither ~/.claude nor ~/.codex exists";
    let terminal = std::io::stdout().is_terminal();
    context.print(&report::print(&outcomes, args.dry_run, context.json(), terminal, none))?;
    Ok(exit::DONE)
}

fn order(args: &Args) -> Result<Order, Refusal> {
    let wait = args.plan_wait.as_deref().map(PlanWait::parse).transpose()?;
    if wait.is_some() && !args.with.contains(&With::Plan) {
        return Err(Refusal::new(Code::InvalidArgument, "--plan-wait needs --with plan"));
    }
    Ok(Order::new(&args.with, wait))
}

/// Edits every target's file under the settings lock; with `dry_run` only tells, and takes no lock.
pub fn apply(
    context: &Context,
    targets: Vec<(Target, Option<Version>)>,
    dry_run: bool,
    edit: impl Fn(&Target, Option<Version>, &SettingsFile) -> Result<Edited, Refusal>,
) -> Result<Vec<Outcome>, Refusal> {
    let present = targets.iter().any(|(target, _)| target.exists());
    let limit = lock::wait(lock::COMMAND_WAIT);
    let held = (!dry_run && present).then(|| Lock::acquire(&context.state.settings_lock(), limit));
    let _held = held.transpose()?;
    let mut planned = Vec::new();
    for (target, version) in &targets {
        if !target.exists() {
            planned.push((Outcome::absent(target), None));
            continue;
        }
        let file = SettingsFile::read(&target.file)?;
        let edited = edit(target, *version, &file)?;
        let mut outcome = Outcome::of(target, *version, &file, &edited);
        if dry_run {
            outcome = outcome.with_diff(&file, &edited);
        }
        planned.push((outcome, Some((file, edited))));
    }
    let mut outcomes = Vec::new();
    for (outcome, file) in planned {
        if let Some((file, edited)) = file.filter(|_| outcome.changed && !dry_run) {
            file.write(&edited.text)?;
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}
