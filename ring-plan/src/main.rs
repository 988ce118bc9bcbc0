//! ring-plan: keeps what an agent proposes before it acts, and has a person approve or reject it.

mod artifact;
mod cli;
mod command;
mod criteria;
#[cfg(test)]
mod drills;
mod gate;
mod hook;
mod instruction;
mod locate;
mod markdown;
mod policy;
mod report;
mod shown;
mod slug;

use ring_session::command_line;
use std::io;
use std::process::ExitCode;

/// The program's name in messages.
const TOOL: &str = "ring-plan";

fn main() -> ExitCode {
    command_line::run(
        TOOL,
        std::env::args_os(),
        &mut io::stdout().lock(),
        &mut io::stderr(),
        cli::Cli::run,
    )
}
