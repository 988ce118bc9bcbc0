//! ring-notify: one ring when somebody is needed or a turn has ended.

mod admit;
mod cli;
mod command;
mod compose;
mod config;
mod digest;
mod due;
mod hours;
mod item;
mod later;
mod ledger;
mod log;
mod look;
mod looking;
mod mask;
mod message;
mod moment;
mod outlet;
mod pass;
mod quiet;
mod read;
mod report;
mod send;
mod sender;
mod settle;
mod sources;
mod span;
mod stats;
#[cfg(test)]
mod testing;
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
