//! `ring-hook normalize`: what each payload line says, in one vocabulary. No file is touched.

use crate::cli::Context;
use crate::take;
use ring_hook::decide::decide;
use ring_hook::emit;
use ring_hook::normalise::{self, Given};
use ring_session::time::now_ms;
use ring_session::{Refusal, exit};
use std::io::{BufRead, Write};

/// Options of the command.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Agent that the payloads come from, unless they show another
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// End with 64 if a line is no payload
    #[arg(long)]
    strict: bool,
}

/// Prints a line for each line of `input`: the event, or an `error` object.
///
/// # Errors
/// `IO`.
pub fn run(
    args: &Args,
    agent: Option<&str>,
    context: &Context,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
) -> Result<u8, Refusal> {
    let settings = context.settings();
    let mut all_good = true;
    let mut line = Vec::new();
    while take::next_line(input, &mut line)? {
        let given = Given {
            agent: args.agent.as_deref().or(agent),
            now: now_ms(),
            ..Given::default()
        };
        let event = take::small_enough(&line)
            .and_then(|()| normalise::event(&line, &given))
            .and_then(take::identified);
        let printed = match event {
            Ok((event, _)) => emit::line(&event, &decide(&event, &settings), None),
            Err(refusal) => {
                all_good = false;
                refusal.to_json()
            }
        };
        writeln!(out, "{printed}")?;
        out.flush()?;
    }
    Ok(if all_good || !args.strict {
        exit::DONE
    } else {
        exit::USAGE
    })
}
