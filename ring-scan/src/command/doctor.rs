//! `doctor`: what is wrong, and what to do. Reads only; never fails.

use crate::context::Context;
use crate::doctor::{Check, Level, channel, files, hooks, place, reading};
use crate::format::Look;
use crate::format::width::wrap;
use ring_session::{Refusal, exit, process, state_dir, text};
use serde::Serialize;
use std::io::{self, Write};

/// Columns that a text gets however narrow the terminal is.
const NARROWEST: usize = 20;

#[derive(Serialize)]
struct Report {
    ok: bool,
    checks: Vec<Check>,
}

/// Prints every check.
///
/// # Errors
/// `INVALID_ARGUMENT` for a form that it does not print; `IO` if the output cannot be written.
pub fn run(context: &Context, out: &mut dyn Write) -> Result<u8, Refusal> {
    let json = context.human_or_json()?;
    let mut checks = checks(context);
    for check in &mut checks {
        for text in [&mut check.id, &mut check.text, &mut check.hint] {
            *text = text::for_terminal(text);
        }
    }
    let report = Report {
        ok: checks.iter().all(|c| c.level == Level::Ok),
        checks,
    };
    match json {
        true => {
            serde_json::to_writer(&mut *out, &report).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        false => human(&report, &context.look(), out)?,
    }
    Ok(exit::DONE)
}

fn checks(context: &Context) -> Vec<Check> {
    let board = context.collect(true);
    let sister = place::sister("ring-hook");
    let asked = [
        ("--state-dir", Some(context.state.root())),
        ("--config", context.config_file.as_deref()),
    ];
    let mut checks = reading::sources(&board);
    checks.extend(reading::findings(&board));
    checks.extend(hooks::checks(hooks::ask(sister.as_deref(), &asked)));
    checks.extend(reading::silent(&board));
    checks.extend(state_dir::home().iter().flat_map(|home| channel::checks(home)));
    checks.push(place::namespace(process::own_pid_ns()));
    checks.extend(files::modes(&context.state));
    checks.extend(reading::settings(&context.settings, &context.problems));
    checks.push(place::tool("tmux", place::on_path("tmux"), "panes are not named"));
    checks.push(place::notifier(place::sister("ring-notify")));
    checks.push(files::cleanable(&context.state, &board));
    checks
}

fn human(report: &Report, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let column = report.checks.iter().map(|c| c.id.len()).max().unwrap_or(0);
    for check in &report.checks {
        let (word, style) = match check.level {
            Level::Ok => ("ok   ", &look.palette.working),
            Level::Warn => ("warn ", &look.palette.idle),
            Level::Error => ("error", &look.palette.waiting),
        };
        let word = if look.colour {
            style.paint(word)
        } else {
            word.to_owned()
        };
        let indent = 6 + column + 2;
        let folded = |text: &str, hang: usize| match look.width {
            Some(columns) => wrap(text, columns.saturating_sub(indent + hang).max(NARROWEST)),
            None => vec![text.to_owned()],
        };
        let mut lines = folded(&check.text, 0).into_iter();
        writeln!(out, "{word} {:column$}  {}", check.id, lines.next().unwrap_or_default())?;
        for line in lines {
            writeln!(out, "{:indent$}{line}", "")?;
        }
        if !check.hint.is_empty() {
            for (i, line) in folded(&check.hint, 3).iter().enumerate() {
                let arrow = if i == 0 { "-> " } else { "   " };
                writeln!(out, "{:indent$}{arrow}{line}", "")?;
            }
        }
    }
    Ok(())
}
