//! ring-scan: every agent session of this machine, what it does, who waits for you.

mod board;
mod cli;
mod collect;
mod command;
mod context;
mod doctor;
mod entry;
mod format;
mod join;
mod liveness;
mod merge;
mod place;
mod processes;
mod select;
mod shown;
mod source;
mod tmux;
mod waits;
mod watch;

use cli::{BoardArgs, Cli, Command};
use context::Context;
use ring_session::output::Output;
use ring_session::{Code, Refusal, command_line, exit};
use std::process::ExitCode;

/// The program's name, as messages and its sisters know it.
const NAME: &str = "ring-scan";

fn main() -> ExitCode {
    command_line::run(
        NAME,
        std::env::args_os(),
        &mut std::io::stdout().lock(),
        &mut std::io::stderr(),
        run,
    )
}

fn run(cli: Cli, out: &mut Output<'_>) -> Result<u8, Refusal> {
    let Cli {
        place,
        format,
        color,
        board,
        command,
    } = cli;
    let context = || Context::new(&place, format, color);
    match command {
        None => print(&context(), &board, out),
        Some(Command::Board(args)) => print(&context(), &board.with(args), out),
        Some(Command::Watch(args)) => print(&context(), &board.with(args.into()), out),
        Some(_) if !board.is_default() => Err(Refusal::new(
            Code::InvalidArgument,
            "options of the board do not go with this command; see ring-scan --help",
        )),
        Some(Command::Show(args)) => command::show::run(&context(), &args.id, out),
        Some(Command::Explain(args)) => command::explain::run(&context(), &args.id, out),
        Some(Command::Doctor) => command::doctor::run(&Context::quiet(&place, format, color), out),
        Some(Command::Config(args)) => command::config::run(&place, format, args.action.as_ref(), out),
        Some(Command::Completions { shell }) => {
            command_line::completions::<Cli>(shell, out);
            Ok(exit::DONE)
        }
    }
}

fn print(context: &Context, args: &BoardArgs, out: &mut Output<'_>) -> Result<u8, Refusal> {
    match args.watch {
        true => command::watch::run(context, args, out),
        false => command::board::run(context, args, out),
    }
}
