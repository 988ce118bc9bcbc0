//! `digest`.

use crate::cli::warn;
use crate::digest::{self, Digest, Finished, Who};
use crate::item::Kind;
use crate::log::Log;
use crate::look::{Look, Tone};
use crate::{read, span};
use ring_session::Refusal;
use ring_session::command_line::span as duration;
use ring_session::context::Context;
use ring_session::table::{self, Shape, Table};
use ring_session::time::{Ms, human_span};
use std::io::{self, Write};

/// How far back, if nothing else is said: 4 hours.
const SINCE: Ms = 4 * 3_600_000;
/// Lines of a section.
const LINES: usize = 5;
/// In front of them.
const INDENT: usize = 2;
/// Below so many columns a word is enough.
const NARROW: usize = 60;

/// Arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How far back [default: 4h]
    #[arg(long, value_name = "D", value_parser = duration)]
    since: Option<Ms>,
}

/// Runs it.
///
/// # Errors
/// `IO` of the log. What else cannot be read is named and counted.
pub fn run(args: &Args, look: &Look, context: &mut Context<'_>) -> Result<(), Refusal> {
    let read = read::read(&context.store, &context.settings);
    read.problems.iter().for_each(warn);
    let log = Log::read(context.store.state())?;
    let (lines, bad) = log.lines();
    if bad > 0 {
        warn(format!("{bad} lines of the log cannot be read"));
    }
    let back = args.since.unwrap_or(SINCE);
    let live = &read.sources.live;
    let digest = digest::digest(&digest::Input {
        here: context.store.here(),
        settings: &context.settings,
        since: context.now().saturating_sub(back),
        rows: &read.rows,
        live,
        heads: &read.heads,
        records: &read.records,
        inbox: &read.inbox,
        lines: &lines,
        spans: &span::spans(&lines, live),
        names: &read::names(&context.store),
    });
    let digest = Digest {
        unreadable: read.problems.len(),
        ..digest
    };
    let now = context.now();
    context.print(&digest, |out| human(out, &digest, back, now, look))
}

/// A line of a section.
struct Cells {
    age_ms: Ms,
    what: String,
    who: String,
    detail: String,
    place: String,
    tone: Tone,
}

/// A section.
struct Section<'a> {
    look: &'a Look,
    now: Ms,
}

impl Section<'_> {
    fn is_narrow(&self) -> bool {
        self.look.width.is_some_and(|columns| columns < NARROW)
    }

    fn cells(&self, since_ms: Ms, who: &Who) -> Cells {
        Cells {
            age_ms: self.now.saturating_sub(since_ms),
            what: String::new(),
            who: who.call(),
            detail: String::new(),
            place: self.look.project(Some(&who.project)),
            tone: Tone::Plain,
        }
    }

    /// The first lines, and how many more there are. `place` says whether places are shown whatever the width.
    fn write<'a, T: 'a>(
        &self,
        out: &mut dyn Write,
        title: (Tone, String),
        all: &'a [T],
        keeps_place: bool,
        cells: impl Fn(&'a T) -> Cells,
    ) -> io::Result<()> {
        if all.is_empty() {
            return Ok(());
        }
        writeln!(out, "{}", self.look.paint(title.0, title.1))?;
        let shown: Vec<Cells> = all.iter().take(LINES).map(cells).collect();
        let with_detail = shown.iter().any(|c| !c.detail.is_empty());
        let table = Table {
            cuttable: if with_detail { &[1, 2] } else { &[1] },
            dispensable: if keeps_place { &[1] } else { &[4, 1] },
            limit: self.look.width.map(|columns| columns.saturating_sub(INDENT)),
        };
        let mut text = Vec::new();
        table.write_painted(
            &mut text,
            &shown,
            Shape {
                rest: if with_detail { 3 } else { 2 },
                right: &[0],
            },
            |c| {
                [
                    human_span(c.age_ms),
                    c.what.clone(),
                    c.who.clone(),
                    c.detail.clone(),
                    c.place.clone(),
                ]
            },
            |c, column, cell| {
                let tone = match column {
                    1 => c.tone,
                    4 => Tone::Muted,
                    _ => Tone::Plain,
                };
                self.look.paint(tone, cell)
            },
        )?;
        for line in String::from_utf8_lossy(&text).lines() {
            writeln!(out, "{:INDENT$}{line}", "")?;
        }
        if all.len() > LINES {
            let more = format!("and {} more", all.len() - LINES);
            writeln!(out, "{:INDENT$}{}", "", self.look.paint(Tone::Muted, more))?;
        }
        Ok(())
    }
}

fn human(out: &mut dyn Write, digest: &Digest, back: Ms, now: Ms, look: &Look) -> io::Result<()> {
    let section = Section { look, now };
    let title = |tone, count: usize, what: &str| (tone, format!("{count} {what}"));
    let heading = title(Tone::Waiting, digest.waiting.len(), "waiting for you");
    section.write(out, heading, &digest.waiting, false, |w| Cells {
        what: match w.kind {
            Kind::Permission => "permission",
            Kind::Question => "question",
            Kind::Plan => "plan",
            _ => "input",
        }
        .to_owned(),
        detail: w.detail.clone(),
        ..section.cells(w.since_ms, &w.who)
    })?;
    let mut ids: Vec<String> = digest.proposals.iter().map(|p| p.id.clone()).collect();
    ids.sort_unstable();
    let heading = title(Tone::Waiting, digest.proposals.len(), "to approve");
    section.write(out, heading, &digest.proposals, true, |p| Cells {
        what: match p.until_ms {
            Some(until) if !section.is_narrow() => {
                format!("{}, {} left", p.kind, human_span(until.saturating_sub(now)))
            }
            _ => p.kind.to_owned(),
        },
        detail: p.proposal.clone(),
        place: table::short(&ids, &p.id).to_owned(),
        ..section.cells(p.since_ms, &p.who)
    })?;
    let heading = title(Tone::Working, digest.working.len(), "working");
    section.write(out, heading, &digest.working, false, |w| {
        section.cells(w.since_ms, &w.who)
    })?;
    let failed = digest.finished.iter().filter(|f| f.result == "failed").count();
    let failed = match failed {
        0 => "finished".to_owned(),
        all if all == digest.finished.len() => "failed".to_owned(),
        some => format!("finished, {some} of them failed"),
    };
    let heading = title(Tone::Plain, digest.finished.len(), &failed);
    section.write(out, heading, &digest.finished, false, |f| Cells {
        what: outcome(f, section.is_narrow(), look),
        tone: match f.result {
            "failed" => Tone::Waiting,
            "completed" => Tone::Working,
            _ => Tone::Muted,
        },
        ..section.cells(f.ended_ms, &f.who)
    })?;
    let heading = title(Tone::Ended, digest.ended.len(), "ended");
    section.write(out, heading, &digest.ended, false, |e| {
        section.cells(e.ended_ms, &e.who)
    })?;
    let waits = digest.waits;
    if waits.count > 0 {
        let waited = if waits.count == 1 { "wait" } else { "waits" };
        let total = human_span(waits.total_ms);
        let ongoing = match waits.ongoing {
            0 => String::new(),
            n => format!(", {n} still open"),
        };
        let line = format!(
            "{} {waited} in {}: {total} in all{ongoing}",
            waits.count,
            human_span(back)
        );
        writeln!(out, "{}", look.paint(Tone::Muted, line))?;
    } else if *digest
        == (Digest {
            schema: 1,
            since_ms: digest.since_ms,
            unreadable: digest.unreadable,
            ..Digest::default()
        })
    {
        writeln!(out, "nothing in the last {}", human_span(back))?;
    }
    Ok(())
}

fn outcome(finished: &Finished, narrow: bool, look: &Look) -> String {
    let took = finished
        .duration_ms
        .filter(|_| !narrow)
        .map(|ms| format!(" {}", human_span(ms)))
        .unwrap_or_default();
    match finished.result {
        "failed" => {
            let code = finished
                .error_code
                .as_deref()
                .map(|c| format!(" {c}"))
                .unwrap_or_default();
            format!("{}{code}{took}", look.mark(true))
        }
        "completed" => format!("{}{took}", look.mark(false)),
        other => format!("{other}{took}"),
    }
}
