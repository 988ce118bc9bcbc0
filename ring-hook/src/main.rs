//! ring-hook: one hook payload in, one status row out.

mod cli;
mod command;
mod entry;
mod install;
mod take;

use cli::Cli;
use entry::Entry;
use ring_session::command_line;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

const TOOL: &str = "ring-hook";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match Entry::parse(arguments.get(1..).unwrap_or_default()) {
        Some(entry) => entry.run().into(),
        None => command_line::run(
            TOOL,
            arguments,
            &mut io::stdout(),
            &mut io::stderr(),
            |cli: Cli, out| cli.run(out),
        ),
    }
}
