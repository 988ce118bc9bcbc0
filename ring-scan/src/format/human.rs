//! The table for people: a summary, one row a session, the sources that failed.
//!
//! Columns stand by display width. Where the terminal is narrow WHERE goes first, then AGENT, then WHAT and SESSION
//! shrink; STATUS stays. Without a terminal nothing is cut.

use super::Look;
use super::row;
use super::width::{blanks, fit, fit_end, fold, visible, width};
use super::words::Nothing;
use crate::board::{Board, Counts, Session};
use ring_session::time::human_span;
use std::io::{self, Write};

/// Blanks between columns.
const GAP: usize = 2;
/// SESSION and WHERE keep at least these columns while they are shown, and else get a fifth of the line.
const NAME_MIN: usize = 10;
/// WHERE and AGENT go if less than this would be left for WHAT.
const WHAT_WANTED: usize = 24;
/// Below this WHAT says nothing and is left out.
const WHAT_MIN: usize = 6;

/// Prints the board.
///
/// # Errors
/// Those of the writer.
pub fn write(board: &Board, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    // one line fewer than the terminal has, or the cursor behind the last one scrolls the first away
    let room = look.height.map_or(usize::MAX, |h| h.saturating_sub(1).max(1));
    let mut lines = lines(board, look);
    if lines.len() > room && look.legend {
        lines = self::lines(
            board,
            &Look {
                legend: false,
                ..look.clone()
            },
        );
    }
    if lines.len() > room {
        let more = lines.len() - (room - 1);
        lines.truncate(room - 1);
        lines.push(look.palette_muted(&cut(&format!("… {more} more"), look)));
    }
    for line in &lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

impl Nothing {
    /// Why nothing is listed.
    pub fn of(board: &Board, look: &Look) -> Nothing {
        // a folder of rows is there as soon as one hook has run
        let hooked = || board.sources.iter().any(|s| s.name == "hook" && s.state != "absent");
        match (look.filtered, look.over) {
            (true, _) => Nothing::Passes,
            (false, 0) => Nothing::There { hooked: hooked() },
            (false, over) => Nothing::Open { over },
        }
    }
}

impl Look {
    fn palette_muted(&self, text: &str) -> String {
        if self.colour {
            self.palette.muted.paint(text)
        } else {
            text.to_owned()
        }
    }
}

fn lines(board: &Board, look: &Look) -> Vec<String> {
    let mut lines = Vec::new();
    let summary = || look.lang.summary(&board.counts, board.sessions.len(), board.total);
    if board.sessions.is_empty() {
        let text = match board.counts == Counts::default() {
            true => look.lang.empty(&Nothing::of(board, look)),
            // the limit lets none of those through that pass
            false => summary(),
        };
        lines.extend(match look.width {
            Some(columns) => fold(&text, columns),
            None => vec![text],
        });
    } else {
        lines.push(cut(&summary(), look));
        let rows: Vec<Cells> = board.sessions.iter().map(|s| Cells::new(s, look)).collect();
        let plan = Plan::new(&rows, look.width);
        lines.extend(
            board
                .sessions
                .iter()
                .zip(&rows)
                .map(|(s, row)| plan.line(row, &s.status, look)),
        );
        let legend = look.lang.legend(look.markers, look.all);
        if look.legend && look.width.is_none_or(|columns| width(&legend) <= columns) {
            lines.push(look.palette_muted(&legend));
        }
    }
    for source in board
        .sources
        .iter()
        .filter(|s| s.state == "failed" || s.state == "slow")
    {
        let error = if source.error.is_empty() {
            &source.state
        } else {
            &source.error
        };
        let line = format!("! {}: {error} ({})", source.name, look.lang.rows_missing());
        lines.push(look.palette_muted(&cut(&line, look)));
    }
    lines
}

fn cut(text: &str, look: &Look) -> String {
    match look.width {
        Some(columns) => fit(text, columns),
        None => text.to_owned(),
    }
}

/// The texts of one row.
struct Cells {
    status: String,
    agent: String,
    session: String,
    age: String,
    place: String,
    what: String,
}

impl Cells {
    fn new(s: &Session, look: &Look) -> Cells {
        Cells {
            status: format!("{} {}", look.markers.of_status(&s.status), look.lang.status(&s.status)),
            agent: visible(&s.agent),
            session: visible(&row::session(s)),
            age: human_span(s.age_ms),
            place: visible(row::place(s)),
            what: visible(&row::what(s)),
        }
    }
}

/// Columns of each cell; none: it is not shown.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    status: usize,
    agent: Option<usize>,
    session: usize,
    age: usize,
    place: Option<usize>,
    what: Option<usize>,
}

impl Plan {
    fn new(rows: &[Cells], columns: Option<usize>) -> Plan {
        let widest = |cell: fn(&Cells) -> &str| rows.iter().map(|r| width(cell(r))).max().unwrap_or(0);
        let shown = |columns: usize| (columns > 0).then_some(columns);
        let (status, age) = (widest(|r| &r.status), widest(|r| &r.age));
        let (agent, session) = (widest(|r| &r.agent), widest(|r| &r.session));
        let (place, what) = (widest(|r| &r.place), widest(|r| &r.what));
        let Some(columns) = columns else {
            return Plan {
                status,
                agent: shown(agent),
                session,
                age,
                place: shown(place),
                what: shown(what),
            };
        };
        let most = (columns / 5).max(NAME_MIN);
        let (session, place) = (session.min(most), place.min(most));
        let always = status + GAP + session + GAP + age;
        let wanted = if what == 0 { 0 } else { GAP + what.min(WHAT_WANTED) };
        let with = |cells: &[usize]| always + cells.iter().filter(|c| **c > 0).map(|c| GAP + c).sum::<usize>();
        let (agent, place) = [(agent, place), (agent, 0), (0, 0)]
            .into_iter()
            .find(|(a, p)| with(&[*a, *p]) + wanted <= columns)
            .unwrap_or((0, 0));
        let left = columns.saturating_sub(with(&[agent, place]) + GAP).min(what);
        Plan {
            status,
            agent: shown(agent),
            session: session.min(columns.saturating_sub(status + GAP + GAP + age)),
            age,
            place: shown(place),
            what: shown(left).filter(|w| *w >= WHAT_MIN.min(what)),
        }
    }

    fn line(&self, row: &Cells, status: &str, look: &Look) -> String {
        let palette = &look.palette;
        let cells = [
            Some((self.status, row.status.clone(), Some(palette.status(status)))),
            self.agent.map(|w| (w, fit(&row.agent, w), Some(&palette.muted))),
            (self.session > 0).then(|| (self.session, fit(&row.session, self.session), Some(&palette.project))),
            Some((self.age, format!("{}{}", blanks(&row.age, self.age), row.age), None)),
            self.place.map(|w| (w, fit_end(&row.place, w), Some(&palette.location))),
            self.what.map(|w| (w, fit(&row.what, w), None)),
        ];
        let mut line = String::new();
        let mut owed = 0;
        for (i, (columns, text, style)) in cells.into_iter().flatten().enumerate() {
            // blanks are owed until something follows, so no line ends in any
            owed += if i == 0 { 0 } else { GAP };
            if !text.is_empty() {
                line.push_str(&" ".repeat(owed));
                owed = 0;
                match style {
                    Some(style) if look.colour => line.push_str(&style.paint(&text)),
                    _ => line.push_str(&text),
                }
            }
            owed += columns.saturating_sub(width(&text));
        }
        line
    }
}
