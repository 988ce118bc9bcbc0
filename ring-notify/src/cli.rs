//! The command line (ring-notify(1)).

use crate::TOOL;
use crate::command::{deliver, watch};
use crate::command::{digest, inbox, outlets, quiet, send, stats, test};
use crate::look::Look;
use clap::{Parser, Subcommand, ValueEnum};
use ring_session::command_line::{self, Color, Place, Shell};
use ring_session::context::Context;
use ring_session::output::Output;
use ring_session::work::Here;
use ring_session::{Code, Refusal, exit, time};
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
    #[command(flatten)]
    list: inbox::List,
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

impl Format {
    /// As the other programs know it; `oneline` is a form of a list for people.
    fn base(self) -> command_line::Format {
        match self {
            Format::Human | Format::Oneline => command_line::Format::Human,
            Format::Json => command_line::Format::Json,
            Format::Jsonl => command_line::Format::Jsonl,
        }
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
        if self.command.is_some() && self.list != inbox::List::default() {
            return Err(Refusal::new(
                Code::InvalidArgument,
                "options of list stand behind it, or without any command; see ring-notify list --help",
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
        let here = Here::real(time::now_ms());
        let format = self.format.base();
        let mut context = Context::open(TOOL, self.place, format, here, out, &mut std::io::stderr());
        let look = Look::new(&context.settings, self.color);
        let context = &mut context;
        match self.command.unwrap_or(Command::List(self.list)) {
            Command::List(args) => inbox::list(&args, self.format == Format::Oneline, &look, context)?,
            Command::Read(args) => inbox::read(&args, context)?,
            Command::Clear(args) => inbox::clear(&args, context)?,
            Command::Deliver(args) => deliver::run(&args, context)?,
            Command::Watch(args) => watch::run(&args, context)?,
            Command::Send(args) => send::run(args, context)?,
            Command::Quiet(args) => quiet::run(&args, context)?,
            Command::Digest(args) => digest::run(&args, &look, context)?,
            Command::Stats(args) => stats::run(&args, &look, context)?,
            Command::Test(args) => test::run(&args, context)?,
            Command::Outlets => outlets::run(context)?,
            Command::Completions { .. } => {}
        }
        Ok(exit::DONE)
    }
}
