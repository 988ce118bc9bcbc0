//! What the command lines of all five programs share (ring(7), COMMAND LINE).
//!
//! The parser never exits by itself: its own status for a mistake is 2, and an agent whose hook exits 2 blocks what it
//! was about to do. A `main` is one expression:
//!
//! ```no_run
//! use ring_session::{command_line, exit};
//! use std::io::Write;
//!
//! /// Greets people.
//! #[derive(clap::Parser)]
//! #[command(version, before_help = "Examples:\n  ring-hello Ann", help_template = command_line::HELP)]
//! struct Cli {
//!     #[command(flatten)]
//!     place: command_line::Place,
//!     /// Form of the output
//!     #[arg(long, global = true, value_name = "FORM", default_value = "human")]
//!     format: command_line::Format,
//!     name: String,
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     command_line::run(
//!         "ring-hello",
//!         std::env::args_os(),
//!         &mut std::io::stdout().lock(),
//!         &mut std::io::stderr(),
//!         |cli: Cli, out| {
//!             writeln!(out, "hello {}", cli.name)?; // held back until the command has succeeded
//!             Ok(exit::DONE)
//!         },
//!     )
//! }
//! ```

use crate::exit;
use crate::output::Output;
use crate::panic::caught;
use crate::refusal::{Code, Refusal};
use crate::settings::{Problem, Settings};
use crate::state_dir::{self, StateDir};
use crate::time::{self, Ms};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, ValueEnum};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// The shape of `--help`: what it is, examples (`before_help`), usage, options. Doc comments of one paragraph on the
/// options, none on their values, keep `-h` and `--help` the same and on one screen.
pub const HELP: &str = "{about}\n\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// Place in `--help` of options that every command has: behind its own.
pub const LAST: usize = 900;

/// The two options that say where files are.
#[derive(Args, Clone, Debug, Default)]
pub struct Place {
    /// State folder [default: ~/.local/state/ring]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        hide_default_value = true,
        display_order = LAST
    )]
    pub state_dir: Option<PathBuf>,
    /// Settings file [default: ~/.config/ring/config.toml]
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        hide_default_value = true,
        display_order = LAST
    )]
    pub config: Option<PathBuf>,
}

impl Place {
    /// The state directory. Makes nothing.
    pub fn state(&self) -> StateDir {
        StateDir::resolve(self.state_dir.as_deref())
    }

    /// The settings file; it may be missing. None without a home.
    pub fn config_file(&self) -> Option<PathBuf> {
        state_dir::config_file(self.config.as_deref())
    }

    /// What there is to say if `--config` names a file that does not exist: all defaults are in force then.
    pub fn missing_config(&self) -> Option<Problem> {
        let file = self.config.as_deref().filter(|f| !f.exists())?;
        Some(Problem {
            file: file.to_string_lossy().into_owned(),
            line: 0,
            key: String::new(),
            text: "there is no such file; all defaults are used".into(),
        })
    }

    /// The settings in force, and what is wrong with the file.
    pub fn settings(&self) -> (Settings, Vec<Problem>) {
        Settings::load(self.config_file().as_deref())
    }
}

/// `--format` of a program that knows no other forms: for people, one JSON document, one JSON object a line (lists).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the parser would print them, and the help must fit a screen")]
pub enum Format {
    #[default]
    Human,
    Json,
    Jsonl,
}

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the parser would print them, and the help must fit a screen")]
pub enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    /// Whether to colour. The option decides; then `NO_COLOR` (not empty), `CLICOLOR_FORCE` (not empty, not 0), and
    /// whether the output is a `terminal` that can (`TERM` other than `dumb`).
    pub fn wanted(self, terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> bool {
        let set = |name: &str| variable(name).filter(|v| !v.is_empty());
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if set("NO_COLOR").is_some() => false,
            Color::Auto if set("CLICOLOR_FORCE").is_some_and(|v| v != "0") => true,
            Color::Auto => terminal && set("TERM").is_none_or(|t| t != "dumb"),
        }
    }
}

/// A shell that completions are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "each is the shell of that name")]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Writes the completions of `C`'s command line: the whole of a `completions SHELL` command.
pub fn completions<C: CommandFactory>(shell: Shell, out: &mut dyn Write) {
    let shell = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut command = C::command();
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut command, name, out);
}

/// A value parser for spans, in milliseconds: `#[arg(long, value_parser = command_line::span)]`.
///
/// # Errors
/// A text for the parser's own message.
pub fn span(text: &str) -> Result<Ms, String> {
    time::parse_span(text).map_err(|r| r.message)
}

/// What a command line says.
#[derive(Debug)]
pub enum Parsed<C> {
    /// A command to run.
    Command(C),
    /// Help or version: a text for stdout, and done.
    Text(String),
}

/// Parses `argv` (with the program's name first), never exits.
///
/// # Errors
/// `INVALID_ARGUMENT`, on one line, with the parser's hint if it has one.
pub fn parse<C: Parser>(tool: &str, argv: &[OsString]) -> Result<Parsed<C>, Refusal> {
    let error = match C::try_parse_from(argv) {
        Ok(command) => return Ok(Parsed::Command(command)),
        Err(error) => error,
    };
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Parsed::Text(text)),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(usage(&named::<C>(tool, argv), "a command or an argument is missing"))
        }
        _ => Err(usage(&named::<C>(tool, argv), &one_line(&text))),
    }
}

/// The program and the commands that `argv` names, whose help tells most: `ring-scan config get`.
fn named<C: CommandFactory>(tool: &str, argv: &[OsString]) -> String {
    let mut command = C::command();
    let mut name = tool.to_owned();
    let mut words = argv.iter().skip(1).map_while(|a| a.to_str()).take_while(|a| *a != "--");
    while let Some(word) = words.next() {
        if let Some(option) = word.strip_prefix("--") {
            let valued = command
                .get_arguments()
                .any(|a| a.get_long() == Some(option) && a.get_action().takes_values());
            let known = valued
                || command
                    .get_arguments()
                    .any(|a| a.get_long() == option.split('=').next());
            if !known {
                break; // what stands behind a mistake may be its value
            }
            if valued {
                words.next();
            }
        } else if let Some(below) = command.find_subcommand(word).cloned() {
            name = format!("{name} {word}");
            // options of every command stand at the top until the parser has begun
            let above = command.get_arguments().filter(|a| a.is_global_set()).cloned();
            command = below.args(above.collect::<Vec<_>>());
        }
    }
    name
}

fn usage(tool: &str, what: &str) -> Refusal {
    Refusal::new(Code::InvalidArgument, format!("{what}; see {tool} --help"))
}

/// The parser's text without its heading, usage and pointer to the help: its paragraphs, joined.
fn one_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let all_values = text.contains("[possible values: ");
    let paragraphs = text
        .split("\n\n")
        .map(|p| p.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|p| !p.is_empty() && !p.starts_with("Usage:") && !p.starts_with("For more information"))
        // whoever reads all values needs no guess at one
        .filter(|p| !(all_values && p.starts_with("tip: a similar value exists")))
        .map(|p| p.strip_prefix("tip: ").map(str::to_owned).unwrap_or(p));
    paragraphs.collect::<Vec<_>>().join("; ")
}

/// Whether `argv` asks for JSON, so that a mistake in it can be told in JSON too. What stands behind `--` is not ours.
pub fn asks_for_json(argv: &[OsString]) -> bool {
    let ours = argv.iter().skip(1).take_while(|a| *a != "--").map(OsString::as_os_str);
    let mut json = false;
    let mut previous = OsStr::new("");
    for argument in ours {
        let value = match argument.to_str().and_then(|a| a.strip_prefix("--format=")) {
            Some(value) => Some(value),
            None if previous == "--format" => argument.to_str(),
            None => None,
        };
        if let Some(value) = value {
            json = matches!(value, "json" | "jsonl");
        }
        previous = argument;
    }
    json
}

/// Parses, runs `f` and says how it went: the exit status, and on failure one line on `err` and nothing on `out`.
///
/// A reader that closed its end is success. A panic is `INTERNAL`.
pub fn run<C: Parser>(
    tool: &str,
    argv: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    f: impl FnOnce(C, &mut Output<'_>) -> Result<u8, Refusal>,
) -> ExitCode {
    let argv: Vec<OsString> = argv.into_iter().collect();
    let mut out = Output::new(out);
    let result = caught(|| match parse(tool, &argv)? {
        Parsed::Command(command) => f(command, &mut out),
        Parsed::Text(text) => {
            out.write_all(text.as_bytes())?;
            Ok(exit::DONE)
        }
    })
    .and_then(|status| Ok(out.flush().map(|()| status)?));
    match result {
        Ok(status) => status.into(),
        Err(_) if out.reader_is_gone() => exit::DONE.into(),
        Err(refusal) => {
            // a closed stderr leaves nobody to tell; the status says it all the same
            exit::report(err, tool, &refusal, asks_for_json(&argv)).unwrap_or_default();
            refusal.code.exit().into()
        }
    }
}

#[cfg(test)]
#[path = "command_line/tests.rs"]
mod tests;
