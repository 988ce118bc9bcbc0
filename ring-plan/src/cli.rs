//! The command line (ring-plan(1)).

use crate::TOOL;
use crate::command::{decide, enter, execution, hook, lists, policy, run, show, submit, wait};
use clap::{Parser, Subcommand};
use ring_session::command_line::{self, Format, Place, Shell};
pub use ring_session::context::Context;
use ring_session::output::Output;
use ring_session::work::Here;
use ring_session::{Refusal, exit, time};

const EXAMPLES: &str = "\
Examples:
  ring-plan                                  what awaits approval
  ring-plan show 0199a3c2                    read it
  ring-plan approve 0199a3c2 --permission ask
  ring-plan reject 0199a3c2 --note 'Fewer steps, please.'
  ring-plan run 0199a3c2 -- claude -p        carry out what was approved";

/// Keeps plans and goals that agents propose, and has them approved or rejected
#[derive(Debug, Parser)]
#[command(name = TOOL, version, before_help = EXAMPLES, help_template = command_line::HELP)]
pub struct Cli {
    #[command(flatten)]
    place: Place,
    /// Form of what is printed: human, json or jsonl
    #[arg(
        long,
        global = true,
        value_name = "FORM",
        default_value = "human",
        hide_default_value = true,
        hide_possible_values = true
    )]
    format: Format,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// What awaits approval, newest first (the default)
    Pending,
    /// Put a session into plan or goal mode
    Enter(enter::Args),
    /// Propose a plan or goal
    Submit(submit::Args),
    /// Print a proposal
    Show(show::Args),
    /// Grant a proposal
    Approve(decide::Approve),
    /// Refuse a proposal
    Reject(decide::Reject),
    /// Wait for the decision
    Wait(wait::Args),
    /// The difference to the session's previous proposal
    Diff(show::Diff),
    /// Proposals that are no longer pending
    History(lists::History),
    /// Acceptance criteria in a proposal
    Criteria(show::Criteria),
    /// Make an execution running, reserve its turn
    Claim(execution::Claim),
    /// End an execution
    Finish(execution::Finish),
    /// The text for the agent
    Instruction(execution::Instruction),
    /// Run a command as an execution
    Run(run::Args),
    /// What a tool may do in a session
    Policy(policy::Args),
    /// Close what is overdue
    Expire,
    /// A hook entry of an agent
    Hook(hook::Args),
    /// Print completions for a shell
    Completions {
        /// bash, zsh or fish
        #[arg(hide_possible_values = true)]
        shell: Shell,
    },
    #[command(name = "__exec", hide = true)]
    Exec(run::Exec),
}

impl Cli {
    /// Runs the command; gives the exit status.
    ///
    /// # Errors
    /// Those of the command.
    pub fn run(self, out: &mut Output<'_>) -> Result<u8, Refusal> {
        let here = Here::real(time::now_ms());
        if let Some(Command::Exec(exec)) = &self.command {
            return run::exec(exec);
        }
        if let Some(Command::Hook(args)) = &self.command {
            return Ok(hook::run(args, &self.place, here, out));
        }
        let mut context = Context::open(TOOL, self.place, self.format, here, out, &mut std::io::stderr());
        let context = &mut context;
        match self.command.unwrap_or(Command::Pending) {
            Command::Pending => lists::pending(context)?,
            Command::Enter(args) => enter::run(args, context)?,
            Command::Submit(args) => submit::run(args, context)?,
            Command::Show(args) => show::run(&args, context)?,
            Command::Approve(args) => decide::approve(args, context)?,
            Command::Reject(args) => decide::reject(args, context)?,
            Command::Wait(args) => wait::run(&args, context)?,
            Command::Diff(args) => show::diff(&args, context)?,
            Command::History(args) => lists::history(&args, context)?,
            Command::Criteria(args) => show::criteria(&args, context)?,
            Command::Claim(args) => execution::claim(args, context)?,
            Command::Finish(args) => execution::finish(args, context)?,
            Command::Instruction(args) => execution::instruction(&args, context)?,
            Command::Run(args) => return run::run(args, context),
            Command::Policy(args) => return policy::run(&args, context),
            Command::Expire => lists::expire(context)?,
            Command::Completions { shell } => command_line::completions::<Cli>(shell, context.out),
            Command::Hook(_) | Command::Exec(_) => {}
        }
        Ok(exit::DONE)
    }
}
