//! The command line (ring-notify(1)).

use crate::TOOL;
use crate::command::{deliver, watch};
use crate::command::{digest, inbox, outlets, quiet, send, stats, test};
use clap::{Parser, Subcommand, ValueEnum};
use ring_session::command_line::{self, Color, Place, Shell};
use ring_session::output::Output;
use ring_session::work::Here;
use ring_session::{Code, Refusal, Settings, Store, exit, time};
use std::io::Write;

const EXAMPLES: &str = "\
Examples:
  ring-notify                        results that nobody has read
  ring-notify read --all             now somebody has
  ring-notify test                   does it reach me?
  ring-notify quiet 1h               not now; one summary afterwards
  ring-notify watch                  rings, repeats and retries while it runs";

/// Rings once when you are needed or a turn has ended
#[derive(Debug, Parser)]
#[command(name = TOOL, version, before_help = EXAMPLES, help_template = command_line::HELP)]
pub struct Cli {
    #[command(flatten)]
    place: Place,
    /// Form of what is printed: human, json, jsonl; list: oneline
    #[arg(
        long,
        global = true,
        value_name = "FORM",
        default_value = "human",
        hide_default_value = true,
        hide_possible_values = true
    )]
    format: Format,
    /// auto, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true,
        display_order = command_line::LAST
    )]
    color: Color,
    #[command(subcommand)]
    command: Option<Command>,
}

/// `--format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the parser would print them, and the help must fit a screen")]
pub enum Format {
    #[default]
    Human,
    Json,
    Jsonl,
    Oneline,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Results that nobody has read (the default)
    List(inbox::List),
    /// Mark results as read
    Read(inbox::Read),
    /// Remove results
    Clear(inbox::Clear),
    /// Ring what is due, once, and end
    Deliver(deliver::Args),
    /// Ring what is due until it is interrupted
    Watch(watch::Args),
    /// Ring with a text of your own
    Send(send::Args),
    /// Hold all rings back, or show whether they are
    Quiet(quiet::Args),
    /// What waits, works and has ended
    Digest(digest::Args),
    /// How often and how long somebody was waited for
    Stats(stats::Args),
    /// Send a test message now, past every rule
    Test(test::Args),
    /// The outlets, and whether each can be used
    Outlets,
    /// Print completions for a shell
    Completions {
        /// bash, zsh or fish
        #[arg(hide_possible_values = true)]
        shell: Shell,
    },
}

/// What every command needs.
pub struct Context<'a> {
    /// All sessions, at the time of the call.
    pub store: Store,
    /// In force, without the outlets.
    pub settings: Settings,
    /// Where files are.
    pub place: Place,
    /// Form of the output.
    pub format: Format,
    /// Whether it is coloured.
    pub color: Color,
    /// Held back until the command has succeeded.
    pub out: &'a mut dyn Write,
}

impl Context<'_> {
    /// The clock of this call.
    pub fn now(&self) -> time::Ms {
        self.store.here().now
    }

    /// Whether the output is for a program.
    pub fn json(&self) -> bool {
        matches!(self.format, Format::Json | Format::Jsonl)
    }

    /// Prints a JSON document, or what `human` says.
    ///
    /// # Errors
    /// Those of the output.
    pub fn print<T: serde::Serialize>(
        &mut self,
        value: &T,
        human: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Refusal> {
        if self.json() {
            serde_json::to_writer(&mut *self.out, value).map_err(std::io::Error::from)?;
            writeln!(self.out)?;
        } else {
            human(self.out)?;
        }
        Ok(())
    }
}

/// Tells what is wrong and does not stop anything. A closed stderr leaves nobody to tell.
pub fn warn(what: impl std::fmt::Display) {
    let text = ring_session::text::for_terminal(&what.to_string());
    writeln!(std::io::stderr(), "{TOOL}: {text}").unwrap_or_default();
}

impl Cli {
    /// Runs the command; gives the exit status.
    ///
    /// # Errors
    /// Those of the command.
    pub fn run(self, out: &mut Output<'_>) -> Result<u8, Refusal> {
        let list = matches!(self.command, None | Some(Command::List(_)));
        if self.format == Format::Oneline && !list {
            return Err(Refusal::new(
                Code::InvalidArgument,
                "--format oneline is for list; see ring-notify --help",
            ));
        }
        if let Some(Command::Completions { shell }) = self.command {
            command_line::completions::<Cli>(shell, out);
            return Ok(exit::DONE);
        }
        if let Some(Command::Deliver(args)) = &self.command
            && args.detach
        {
            return Ok(deliver::detach(args, &self.place));
        }
        let (settings, problems) = self.place.settings();
        for problem in problems {
            warn(problem);
        }
        let mut context = Context {
            store: Store::new(self.place.state(), Here::real(time::now_ms())),
            settings,
            place: self.place,
            format: self.format,
            color: self.color,
            out,
        };
        let context = &mut context;
        match self.command.unwrap_or(Command::List(inbox::List::default())) {
            Command::List(args) => inbox::list(&args, context)?,
            Command::Read(args) => inbox::read(&args, context)?,
            Command::Clear(args) => inbox::clear(&args, context)?,
            Command::Deliver(args) => deliver::run(&args, context)?,
            Command::Watch(args) => watch::run(&args, context)?,
            Command::Send(args) => send::run(args, context)?,
            Command::Quiet(args) => quiet::run(&args, context)?,
            Command::Digest(args) => digest::run(&args, context)?,
            Command::Stats(args) => stats::run(&args, context)?,
            Command::Test(args) => test::run(&args, context)?,
            Command::Outlets => outlets::run(context)?,
            Command::Completions { .. } => {}
        }
        Ok(exit::DONE)
    }
}
