//! The command line (ring-session(1)).

use crate::TOOL;
use crate::command::{fork, hook, list, permission, queue, recover, session, transcript, turn, watch};
use clap::{Parser, Subcommand};
use ring_session::command_line::{self, Format, Place, Shell};
pub use ring_session::context::Context;
use ring_session::output::Output;
use ring_session::work::Here;
use ring_session::{Refusal, exit, time};

const EXAMPLES: &str = "\
Examples:
  S=$(ring-session new --title 'Fix the login')
  echo 'fix it' | ring-session run $S -- claude -p
  ring-session queue push $S 'then run the tests'
  ring-session run $S --drain -- claude -p    one turn for each entry
  ring-session show $S; ring-session transcript $S";

/// Keeps sessions of coding agents: turns, queue, permissions, transcript
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
        hide_possible_values = true,
        display_order = command_line::LAST
    )]
    format: Format,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List sessions, newest update first (the default)
    List,
    /// Make a session, print its id
    New(session::New),
    /// Show one session
    Show(session::Show),
    /// Change title, mode, permission mode or settings
    Configure(session::Configure),
    /// Remove a session
    Delete(session::Delete),
    /// Make an idle copy of a session
    Fork(fork::Args),
    /// Print messages
    Transcript(transcript::Args),
    /// Begin a turn
    Begin(turn::Begin),
    /// Append messages, one JSON object a line
    Append(transcript::Append),
    /// End a turn
    End(turn::End),
    /// Abort the turn, and what waits with it
    Abort(turn::Abort),
    /// Ask a turn to end after the step at hand
    Stop(turn::Stop),
    /// Add a message of yours to a live turn
    Steer(turn::Steer),
    /// Open, answer, list permission requests
    Permission(permission::Args),
    /// Prompts that wait for their turn
    Queue(queue::Args),
    /// Run a command as a turn: prompt in, answer out
    Run(crate::command::run::Args),
    /// Heal sessions whose owner died
    Recover(recover::Args),
    /// Print changes as they come
    Watch(watch::Args),
    /// A hook entry: reads what `ring-hook --emit` prints
    Hook,
    /// Print completions for a shell
    Completions {
        /// bash, zsh or fish
        #[arg(hide_possible_values = true)]
        shell: Shell,
    },
    #[command(name = "__exec", hide = true)]
    Exec(crate::command::run::Exec),
}

impl Cli {
    /// Runs the command; gives the exit status.
    ///
    /// # Errors
    /// Those of the command.
    pub fn run(self, out: &mut Output<'_>) -> Result<u8, Refusal> {
        let here = Here::real(time::now_ms());
        if let Some(Command::Hook) = &self.command {
            return Ok(hook::run(&self.place, here));
        }
        if let Some(Command::Exec(exec)) = &self.command {
            return crate::command::run::exec(exec);
        }
        let mut context = Context::open(TOOL, self.place, self.format, here, out, &mut std::io::stderr());
        let context = &mut context;
        match self.command.unwrap_or(Command::List) {
            Command::List => list::run(context)?,
            Command::New(args) => session::new(args, context)?,
            Command::Show(args) => session::show(&args, context)?,
            Command::Configure(args) => session::configure(args, context)?,
            Command::Delete(args) => session::delete(&args, context)?,
            Command::Fork(args) => fork::run(args, context)?,
            Command::Transcript(args) => transcript::run(&args, context)?,
            Command::Begin(args) => turn::begin(args, context)?,
            Command::Append(args) => transcript::append(&args, context)?,
            Command::End(args) => turn::end(args, context)?,
            Command::Abort(args) => turn::abort(&args, context)?,
            Command::Stop(args) => turn::stop(&args, context)?,
            Command::Steer(args) => turn::steer(&args, context)?,
            Command::Permission(args) => permission::run(args, context)?,
            Command::Queue(args) => queue::run(args, context)?,
            Command::Run(args) => return crate::command::run::run(args, context),
            Command::Recover(args) => recover::run(&args, context)?,
            Command::Watch(args) => watch::run(&args, context)?,
            Command::Completions { shell } => command_line::completions::<Cli>(shell, context.out),
            Command::Hook | Command::Exec(_) => {}
        }
        Ok(exit::DONE)
    }
}
