//! ring-session: the durable life of an agent's session and its turns.

mod body;
mod cli;
mod command;

use ring_session::command_line;
use std::io;
use std::process::ExitCode;

/// The program's name in messages.
const TOOL: &str = "ring-session";

fn main() -> ExitCode {
    command_line::run(
        TOOL,
        std::env::args_os(),
        &mut io::stdout().lock(),
        &mut io::stderr(),
        cli::Cli::run,
    )
}
