//! `ring-hook replay`: recorded payloads through the whole intake, in order, as if each had come by itself. No rings.

use crate::cli::Context;
use crate::take::{self, Place};
use ring_hook::json::{Object, Value};
use ring_hook::normalise::Given;
use ring_session::time::{Ms, now_ms};
use ring_session::{Code, Refusal, exit};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// Options of the command.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Payloads, one a line; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Lines are objects {"at_ms","payload","agent"?,"event"?}; at_ms is the clock
    #[arg(long)]
    at: bool,
    /// Print the row after each
    #[arg(long)]
    print: bool,
    /// Agent that the payloads come from, unless they show another
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

/// One recorded payload.
struct Recorded {
    payload: Vec<u8>,
    at_ms: Option<Ms>,
    agent: Option<String>,
    event: Option<String>,
}

/// Takes the lines in. The first one that cannot be taken ends it; those before it have been.
///
/// # Errors
/// `BAD_PAYLOAD` and the others of an intake, with the line; `IO`.
pub fn run(args: &Args, agent: Option<&str>, context: &Context, out: &mut dyn Write) -> Result<u8, Refusal> {
    let mut input: Box<dyn BufRead> = if args.file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(&args.file).map_err(|e| Refusal::io("open", &args.file, &e))?;
        Box::new(BufReader::new(file))
    };
    let place = Place::of_replay(context);
    let mut line = Vec::new();
    for number in 1_u64.. {
        if !take::next_line(&mut input, &mut line)? {
            break;
        }
        let here = |refusal: Refusal| Refusal {
            message: format!("line {number}: {}", refusal.message),
            ..refusal.with("line", number)
        };
        take::small_enough(&line).map_err(here)?;
        let recorded = if args.at {
            recorded(&line).ok_or_else(no_record).map_err(here)?
        } else {
            plain(&line)
        };
        let given = Given {
            agent: recorded.agent.as_deref().or(args.agent.as_deref()).or(agent),
            event: recorded.event.as_deref(),
            tmux_pane: "",
            now: recorded.at_ms.unwrap_or_else(now_ms),
        };
        let taken = take::take(&recorded.payload, &given, &place).map_err(here)?;
        if args.print {
            writeln!(out, "{}", taken.printed())?;
            out.flush()?;
        }
    }
    Ok(exit::DONE)
}

fn no_record() -> Refusal {
    Refusal::new(Code::BadPayload, "no object with at_ms and payload")
}

fn plain(line: &[u8]) -> Recorded {
    Recorded {
        payload: line.to_vec(),
        at_ms: None,
        agent: None,
        event: None,
    }
}

fn recorded(line: &[u8]) -> Option<Recorded> {
    let text = ring_hook::intake::text(line);
    let object = Object::parse(text.trim())?;
    let text = |name: &str| object.exact_text(name).map(|t| t.into_owned());
    Some(Recorded {
        payload: object.exact("payload")?.raw().as_bytes().to_vec(),
        at_ms: Some(object.exact("at_ms").and_then(Value::number)? as Ms),
        agent: text("agent"),
        event: text("event"),
    })
}
