//! How often and how long somebody was waited for, how turns ended, what outlets did: pure (ring-notify(1), STATS).

use crate::ledger::{Ledger, State};
use crate::log::{Line, text};
use crate::span::{End, Span};
use ring_session::time::Ms;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

/// What `stats` prints as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// 1.
    pub schema: u64,
    /// Begin of the time that is looked at.
    pub since_ms: Ms,
    /// Longest waits first.
    pub projects: Vec<Project>,
    /// By name.
    pub outlets: Vec<Outlet>,
    /// Lines of the log that could not be read.
    pub bad_lines: u64,
    /// Items that had to leave the ledger while they were open, since it was begun.
    pub overflow: u64,
    /// Records that could not be read.
    pub unreadable: usize,
}

/// One project. Spans in milliseconds are those of answered waits; none: there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "each is the member of the same name, ring-notify(1), JSON")]
pub struct Project {
    pub project: Option<String>,
    pub waits: u64,
    pub answered: u64,
    pub ongoing: u64,
    pub unfinished: u64,
    pub mean_ms: Option<Ms>,
    pub median_ms: Option<Ms>,
    pub max_ms: Option<Ms>,
    pub total_ms: Ms,
    pub completed: u64,
    pub failed: u64,
    pub aborted: u64,
}

/// One outlet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "each is the member of the same name, ring-notify(1), JSON")]
pub struct Outlet {
    pub name: String,
    pub sent: u64,
    pub failed: u64,
    pub unconfirmed: u64,
    /// Deliveries that took more than one try, of items that the ledger still knows.
    pub retried: u64,
    /// Deliveries that a rule decided against, of items that the ledger still knows.
    pub skipped: u64,
    pub median_lag_ms: Option<Ms>,
}

/// Whether a span belongs to the time since: it began then, or is still open.
pub fn is_in(span: &Span, since: Ms) -> bool {
    span.began_ms >= since || span.end == End::Ongoing
}

/// Puts it together.
pub fn stats(lines: &[Line<'_>], spans: &[Span], ledger: &Ledger, since: Ms) -> Stats {
    Stats {
        schema: 1,
        since_ms: since,
        projects: projects(lines, spans, since),
        outlets: outlets(lines, ledger, since),
        ..Stats::default()
    }
}

fn projects(lines: &[Line<'_>], spans: &[Span], since: Ms) -> Vec<Project> {
    let mut found: BTreeMap<Option<&str>, (Project, Vec<Ms>)> = BTreeMap::new();
    for span in spans.iter().filter(|s| is_in(s, since)) {
        let (project, times) = found.entry(span.project.as_deref()).or_default();
        project.waits += 1;
        match span.end {
            End::Answered(ms) => {
                project.answered += 1;
                times.push(ms);
            }
            End::Ongoing => project.ongoing += 1,
            End::Unfinished => project.unfinished += 1,
        }
    }
    for line in turns(lines, since) {
        let (project, _) = found.entry(line.project()).or_default();
        match text(&line.reason) {
            "completed" => project.completed += 1,
            "error" => project.failed += 1,
            "aborted" => project.aborted += 1,
            _ => {}
        }
    }
    let mut all: Vec<Project> = found
        .into_iter()
        .map(|(name, (project, mut times))| Project {
            project: name.map(str::to_owned),
            mean_ms: mean(&times),
            median_ms: median(&mut times),
            max_ms: times.iter().max().copied(),
            total_ms: times.iter().fold(0, |sum, ms| sum.saturating_add(*ms)),
            ..project
        })
        .collect();
    all.sort_by(|a, b| (Reverse((a.total_ms, a.waits)), &a.project).cmp(&(Reverse((b.total_ms, b.waits)), &b.project)));
    all
}

/// The ends of turns since, each once: a line that was made up for may be there twice.
pub fn turns<'l, 'a>(lines: &'l [Line<'a>], since: Ms) -> impl Iterator<Item = &'l Line<'a>> {
    let mut told = HashSet::new();
    lines
        .iter()
        .filter(move |l| l.kind == "turn_ended" && l.at_ms >= since)
        .filter(move |l| told.insert((&l.session, text(&l.turn_id))))
}

fn outlets(lines: &[Line<'_>], ledger: &Ledger, since: Ms) -> Vec<Outlet> {
    let mut found: BTreeMap<&str, (Outlet, Vec<Ms>)> = BTreeMap::new();
    for line in lines.iter().filter(|l| l.at_ms >= since) {
        let (count, lag): (fn(&mut Outlet) -> &mut u64, _) = match &*line.kind {
            "notify_sent" => (|o| &mut o.sent, line.lag_ms),
            "notify_failed" => (|o| &mut o.failed, None),
            "notify_unconfirmed" => (|o| &mut o.unconfirmed, None),
            _ => continue,
        };
        let (outlet, lags) = found.entry(text(&line.outlet)).or_default();
        *count(outlet) += 1;
        lags.extend(lag.map(|ms| ms.max(0)));
    }
    let entries = ledger.items.values().filter(|e| e.seen_ms >= since);
    for (name, to) in entries.flat_map(|e| &e.to) {
        let retried = to.attempts > 1;
        let skipped = to.state == State::Skipped;
        if retried || skipped {
            let (outlet, _) = found.entry(name).or_default();
            outlet.retried += u64::from(retried);
            outlet.skipped += u64::from(skipped);
        }
    }
    found
        .into_iter()
        .map(|(name, (outlet, mut lags))| Outlet {
            name: name.to_owned(),
            median_lag_ms: median(&mut lags),
            ..outlet
        })
        .collect()
}

fn mean(times: &[Ms]) -> Option<Ms> {
    let sum: i128 = times.iter().map(|ms| i128::from(*ms)).sum();
    let count = i128::try_from(times.len()).ok().filter(|n| *n > 0)?;
    Ms::try_from(sum / count).ok()
}

/// The one in the middle; of two the mean.
fn median(times: &mut [Ms]) -> Option<Ms> {
    times.sort_unstable();
    let high = *times.get(times.len() / 2)?;
    match times.len() % 2 {
        0 => mean(&[*times.get(times.len() / 2 - 1)?, high]),
        _ => Some(high),
    }
}

#[cfg(test)]
#[path = "stats/tests.rs"]
mod tests;
