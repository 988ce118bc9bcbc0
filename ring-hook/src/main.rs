//! ring-hook: one hook payload in, one status row out.

mod cli;
mod command;

use clap::Parser;
use cli::{Cli, Command, Context};
use ring_session::{Refusal, exit};
use std::process::ExitCode;

fn run(cli: Cli, context: &Context) -> Result<u8, Refusal> {
    match cli.command {
        Some(Command::Install(args)) => command::install::run(&args, context),
        Some(Command::Remove(args)) => command::remove::run(&args, context),
        Some(Command::Status(args)) => command::status::run(&args, context),
        Some(Command::Show(args)) => command::show::run(&args, context),
        None => Ok(exit::DONE),
    }
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            let shown = e.print();
            let bad = e.use_stderr() || shown.is_err();
            return ExitCode::from(if bad { exit::USAGE } else { exit::DONE });
        }
    };
    let context = Context::new(cli.state_dir.clone(), cli.config.clone(), cli.format);
    match run(cli, &context) {
        Ok(status) => ExitCode::from(status),
        Err(refusal) => {
            let told = exit::report(&mut std::io::stderr(), "ring-hook", &refusal, context.json());
            ExitCode::from(if told.is_ok() { refusal.code.exit() } else { exit::IO })
        }
    }
}
