//! `stats`.

use crate::cli::warn;
use crate::log::Log;
use crate::look::{Look, Tone};
use crate::stats::{self, Outlet, Project, Stats};
use crate::{ledger, read, span};
use ring_session::command_line::span as duration;
use ring_session::context::Context;
use ring_session::table::{Shape, Table};
use ring_session::time::{Ms, human_span};
use ring_session::{Code, Refusal};
use std::io::{self, Write};

/// How far back, if nothing else is said: 7 days.
const SINCE: Ms = 7 * 86_400_000;
/// Columns of a bar.
const BAR: usize = 10;

/// Arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How far back [default: 7d]
    #[arg(long, value_name = "D", value_parser = duration)]
    since: Option<Ms>,
}

/// Runs it.
///
/// # Errors
/// `IO` of the log. What else cannot be read is named, and counts as nothing.
pub fn run(args: &Args, look: &Look, context: &mut Context<'_>) -> Result<(), Refusal> {
    let read = read::read(&context.store, &context.settings);
    read.problems.iter().for_each(warn);
    let ledger = ledger(context)?;
    let log = Log::read(context.store.state())?;
    let (lines, bad_lines) = log.lines();
    let spans = span::spans(&lines, &read.sources.live);
    let since = context.now().saturating_sub(args.since.unwrap_or(SINCE));
    let stats = Stats {
        bad_lines,
        unreadable: read.problems.len(),
        overflow: ledger.overflow,
        ..stats::stats(&lines, &spans, &ledger, since)
    };
    context.print(&stats, |out| human(out, &stats, look))
}

/// The ledger, or an empty one: figures of the log do not depend on it.
fn ledger(context: &Context<'_>) -> Result<ledger::Ledger, Refusal> {
    match ledger::read(context.store.state()) {
        Ok(stored) => {
            if let Some(why) = stored.broken {
                warn(format!("the ledger cannot be read ({why})"));
            }
            Ok(stored.ledger)
        }
        Err(newer) if newer.code == Code::SchemaNewer => {
            warn(newer);
            Ok(ledger::Ledger::default())
        }
        Err(other) => Err(other),
    }
}

fn human(out: &mut dyn Write, stats: &Stats, look: &Look) -> io::Result<()> {
    if stats.projects.is_empty() && stats.outlets.is_empty() {
        writeln!(out, "nothing to count")?;
    }
    if !stats.projects.is_empty() {
        projects(out, &stats.projects, look)?;
    }
    if !stats.outlets.is_empty() {
        if !stats.projects.is_empty() {
            writeln!(out)?;
        }
        outlets(out, &stats.outlets, look)?;
    }
    if stats.overflow > 0 {
        writeln!(out, "{} open items were too many to be kept", stats.overflow)?;
    }
    if stats.bad_lines > 0 {
        writeln!(out, "{} lines of the log cannot be read", stats.bad_lines)?;
    }
    Ok(())
}

/// A number, or nothing for none.
fn number(count: u64) -> String {
    match count {
        0 => String::new(),
        count => count.to_string(),
    }
}

fn span_or_none(ms: Option<Ms>) -> String {
    ms.map(human_span).unwrap_or_default()
}

/// Rows under their heads. A column in which nothing is told is left out with its head.
fn grid<const N: usize>(heads: [&str; N], rows: Vec<[String; N]>) -> Vec<[String; N]> {
    let mut column = 0;
    let heads = heads.map(|head| {
        let told = rows.iter().any(|row| row.get(column).is_some_and(|c| !c.is_empty()));
        column += 1;
        if told { head.to_owned() } else { String::new() }
    });
    [vec![heads], rows].concat()
}

fn projects(out: &mut dyn Write, all: &[Project], look: &Look) -> io::Result<()> {
    let longest = all.iter().map(|p| p.total_ms).max().unwrap_or(0);
    let row = |p: &Project| {
        [
            match p.project.as_deref() {
                None => "-".to_owned(),
                some => look.project(some),
            },
            number(p.waits),
            number(p.ongoing),
            number(p.unfinished),
            span_or_none(p.median_ms),
            span_or_none(p.max_ms),
            span_or_none(Some(p.total_ms).filter(|ms| *ms > 0)),
            look.bar(p.total_ms, longest, BAR),
            number(p.completed),
            number(p.failed),
            number(p.aborted),
        ]
    };
    let heads = [
        "project", "waits", "open", "lost", "median", "max", "total", "", "done", "failed", "aborted",
    ];
    let rows = grid(heads, all.iter().map(row).collect());
    let table = Table {
        cuttable: &[],
        dispensable: &[7, 3, 10, 5, 2, 4],
        limit: look.width,
    };
    write(
        out,
        table,
        &rows,
        look,
        &[1, 2, 3, 4, 5, 6, 8, 9, 10],
        |column, number| match column {
            2 if number => Tone::Waiting,
            9 if number => Tone::Waiting,
            7 => Tone::Working,
            _ => Tone::Plain,
        },
    )
}

fn outlets(out: &mut dyn Write, all: &[Outlet], look: &Look) -> io::Result<()> {
    let row = |o: &Outlet| {
        [
            o.name.clone(),
            number(o.sent),
            number(o.failed),
            number(o.unconfirmed),
            number(o.retried),
            number(o.skipped),
            span_or_none(o.median_lag_ms),
        ]
    };
    let heads = ["outlet", "sent", "failed", "unconfirmed", "retried", "skipped", "lag"];
    let rows = grid(heads, all.iter().map(row).collect());
    let table = Table {
        cuttable: &[],
        dispensable: &[5, 4, 3, 6],
        limit: look.width,
    };
    write(
        out,
        table,
        &rows,
        look,
        &[1, 2, 3, 4, 5, 6],
        |column, number| match column {
            2 | 3 if number => Tone::Waiting,
            _ => Tone::Plain,
        },
    )
}

fn write<const N: usize>(
    out: &mut dyn Write,
    table: Table<'_>,
    rows: &[[String; N]],
    look: &Look,
    right: &[usize],
    tone: impl Fn(usize, bool) -> Tone,
) -> io::Result<()> {
    let numbered: Vec<(usize, &[String; N])> = rows.iter().enumerate().collect();
    table.write_painted(
        out,
        &numbered,
        Shape { rest: 0, right },
        |(_, cells)| (*cells).clone(),
        |(at, _), column, cell| match at {
            0 => look.paint(Tone::Muted, cell),
            _ => look.paint(tone(column, !cell.trim().is_empty()), cell),
        },
    )
}
