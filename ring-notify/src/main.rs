//! ring-notify: one ring when somebody is needed or a turn has ended.

mod cli;
mod admit;
mod compose;
mod config;
mod digest;
mod due;
mod log;
mod looking;
mod mask;
mod pass;
mod quiet;
mod read;
mod settle;
mod sources;
mod span;
mod stats;
mod item;
mod ledger;
mod look;
mod command;
mod hours;
mod message;
mod outlet;
mod send;
mod whom;

use ring_session::command_line;
use std::io;
use std::process::ExitCode;

/// The program's name in messages.
const TOOL: &str = "ring-notify";

fn main() -> ExitCode {
    command_line::run(
        TOOL,
        std::env::args_os(),
        &mut io::stdout().lock(),
        &mut io::stderr(),
        cli::Cli::run,
    )
}
