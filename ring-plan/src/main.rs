//! ring-plan: plan and goal proposals, and who decided them.

use clap::{Parser, Subcommand};
use ring_session::{Code, Refusal, command_line, exit};
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

const TOOL: &str = "ring-plan";
const WORKING: &str = "so far --help, --version and completions work";
const EXAMPLES: &str = "\
Not yet: this version knows its command line and refuses everything else.

Examples:
  mkdir -p ~/.local/share/bash-completion/completions ~/.config/fish/completions
  ring-plan completions bash > ~/.local/share/bash-completion/completions/ring-plan
  ring-plan completions fish > ~/.config/fish/completions/ring-plan.fish";

/// Keeps plan and goal proposals and has them approved, rejected or expired
#[derive(Parser)]
#[command(name = TOOL, version, before_help = EXAMPLES, help_template = command_line::HELP)]
struct Cli {
    /// Form of what is printed: human, json or jsonl
    #[arg(
        long,
        global = true,
        value_name = "FORM",
        default_value = "human",
        hide_possible_values = true
    )]
    format: command_line::Format,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Print completions for a shell
    Completions { shell: command_line::Shell },
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

fn main() -> ExitCode {
    command_line::run(
        TOOL,
        std::env::args_os(),
        &mut io::stdout().lock(),
        &mut io::stderr(),
        |cli: Cli, out| match cli.command {
            Some(Command::Completions { shell }) => {
                command_line::completions::<Cli>(shell, out);
                Ok(exit::DONE)
            }
            Some(Command::Other(words)) => Err(not_yet(words.first())),
            None => Err(not_yet(None)),
        },
    )
}

fn not_yet(command: Option<&OsString>) -> Refusal {
    let version = env!("CARGO_PKG_VERSION");
    let text = match command {
        Some(command) => format!(
            "version {version} has no command `{}` yet; {WORKING}",
            command.to_string_lossy()
        ),
        None => format!("version {version} does nothing yet; {WORKING}"),
    };
    Refusal::new(Code::InvalidArgument, text).with("reason", "not_yet")
}
