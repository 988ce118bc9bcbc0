//! `ring-hook install`: put the hook entries into the agents' settings.

use crate::cli::Context;
use crate::install::hooks_edit::{self, Edited};
use crate::install::installed::{self, Ask};
use crate::install::order::{Order, PlanWait, With};
use crate::install::programs::Search;
use crate::install::report::{self, Outcome};
use crate::install::settings_file::{SettingsFile, invalid};
use crate::install::version::Version;
use crate::install::writers::{self, Target, WRITERS};
use ring_session::lock::{self, Lock};
use ring_session::{Code, Refusal, exit};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Options of the command.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this agent; may be repeated [default: all here]
    #[arg(long = "agent", value_name = "AGENT")]
    agents: Vec<String>,
    /// Print the difference and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Also run other programs of ours: session, plan, notify
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "LIST",
        hide_possible_values = true
    )]
    with: Vec<With>,
    /// With plan: how long its request waits for a person
    #[arg(long, value_name = "SPAN")]
    plan_wait: Option<String>,
    /// ring-hook of the entries [default: on $PATH, or this]
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
    let manual = |command: &str| format!("let its hooks run `{command}`, with the payload on stdin");
    let targets = writers::chosen(&args.agents, &|agent| programs.hook_command(agent), &manual)?;
    context.warn(&search.doubts(&programs.hook));
    // Asked before the lock is taken: nobody waits for a program while holding it.
    let targets = targets.into_iter().map(|target| {
        let version = target
            .exists()
            .then(|| installed::version(&target, path.as_deref(), Ask::Program));
        (target, version.flatten())
    });
    let edit = |target: &Target, version: Option<Version>, file: &SettingsFile| {
        let wanted = order.wanted(target.writer, version, &programs);
        let edited = hooks_edit::install(file.text(), &wanted);
        let edited = edited.map_err(|fault| invalid(&target.file, &fault.to_string()))?;
        Ok(Edit { edited, delete: false })
    };
    let mut outcomes = apply(context, targets.collect(), args.dry_run, edit)?;
    let waits = |agent: &str| WRITERS.iter().any(|w| w.agent == agent && w.plan_waits);
    for outcome in outcomes.iter_mut().filter(|o| o.present && !waits(&o.agent)) {
        let text = "no plan of this agent is decided from another shell, so its entries do not wait";
        outcome.hints.extend(order.plan_wait.is_some().then(|| text.to_owned()));
    }
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

/// What is to become of a file.
pub struct Edit {
    /// Its new text.
    pub edited: Edited,
    /// It goes: install made it, and nothing else is in it.
    pub delete: bool,
}

/// Edits every target's file under the settings lock; with `dry_run` only tells, and takes no lock.
pub fn apply(
    context: &Context,
    targets: Vec<(Target, Option<Version>)>,
    dry_run: bool,
    edit: impl Fn(&Target, Option<Version>, &SettingsFile) -> Result<Edit, Refusal>,
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
        let file = SettingsFile::read(&target.file).map_err(untouched)?;
        let edit = edit(target, *version, &file).map_err(untouched)?;
        let mut outcome = Outcome::of(target, *version, &file, &edit.edited);
        if dry_run {
            outcome = outcome.with_diff(&file, &edit.edited);
        }
        planned.push((outcome, Some((file, edit))));
    }
    let mut outcomes = Vec::new();
    for (outcome, file) in planned {
        match file.filter(|_| outcome.changed && !dry_run) {
            Some((file, edit)) if edit.delete => file.delete()?,
            Some((file, edit)) => file.write(&edit.edited.text, edit.edited.had_ours)?,
            None => {}
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// A refusal before the first file is written.
fn untouched(refusal: Refusal) -> Refusal {
    Refusal {
        message: format!("{}; nothing was written, for no agent", refusal.message),
        ..refusal
    }
}
