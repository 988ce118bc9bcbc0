//! How long somebody was waited for: from lines of the log to spans (ring-notify(1), STATS).
//!
//! | begins with                     | is answered with                        | ends without an answer with            |
//! |---------------------------------|-----------------------------------------|----------------------------------------|
//! | first status line with its id   | first later line of its KEY without it  | that line, if it is the row's end      |
//! | permission_opened               | permission_closed                       | the same: cancelled, or in time nobody |
//! | plan_submitted                  | plan_approved, plan_rejected            | plan_expired, plan_interrupted         |
//!
//! What a hook mirrors into a record is the status row's wait already and does not count twice. A request that a grant
//! answered was never open.

use crate::item::Live;
use crate::log::{Line, text};
use ring_session::Code;
use ring_session::time::Ms;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One time that somebody was needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where.
    pub project: Option<String>,
    /// When it began.
    pub began_ms: Ms,
    /// How it ended.
    pub end: End,
}

/// How a span ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Somebody answered, after so long.
    Answered(Ms),
    /// Its live record still shows it.
    Ongoing,
    /// It went without an answer; nobody knows how long anybody waited.
    Unfinished,
}

/// All spans that the lines tell of, and what is open without a line. In the order of their beginnings in the log.
pub fn spans(lines: &[Line<'_>], live: &[Live]) -> Vec<Span> {
    let mut tracker = Tracker::default();
    for line in lines {
        tracker.take(line);
    }
    tracker.finish(live)
}

#[derive(Default)]
struct Tracker {
    spans: Vec<Span>,
    /// By item id, which never comes back: of each its span.
    known: HashMap<String, usize>,
    /// By KEY: item ids of waits that are open.
    open: BTreeMap<String, BTreeSet<String>>,
}

impl Tracker {
    fn take(&mut self, line: &Line<'_>) {
        match &*line.kind {
            "status" => self.status(line),
            "permission_opened" if text(&line.origin) != "hook" => self.begin(perm(line), line),
            "permission_closed" => self.request_closed(line),
            "plan_submitted" if text(&line.via) != "hook" => self.begin(plan(line), line),
            "plan_approved" | "plan_rejected" => self.end(&plan(line), line.at_ms, true),
            "plan_expired" | "plan_interrupted" => self.end(&plan(line), line.at_ms, false),
            _ => {}
        }
    }

    fn status(&mut self, line: &Line<'_>) {
        let left: BTreeSet<String> = line
            .waits
            .iter()
            .map(|w| format!("wait:{}:{}", line.key, w.id))
            .collect();
        let before = match left.is_empty() {
            true => self.open.remove(&*line.key),
            false => self.open.insert(line.key.clone().into_owned(), left.clone()),
        }
        .unwrap_or_default();
        for id in before.difference(&left) {
            self.end(id, line.at_ms, line.to != "ended");
        }
        for id in left.difference(&before) {
            self.begin(id.clone(), line);
        }
    }

    fn request_closed(&mut self, line: &Line<'_>) {
        let id = perm(line);
        if text(&line.cause) == "grant" {
            // never the last one that began: the place of others must not move
            if let Some(at) = self.known.get(&id).copied().filter(|at| at + 1 == self.spans.len()) {
                self.spans.truncate(at);
                self.known.remove(&id);
                return;
            }
        }
        let by_nobody = text(&line.decision) == "cancelled" || text(&line.cause) == Code::PermissionTimeout.as_str();
        self.end(&id, line.at_ms, !by_nobody);
    }

    fn begin(&mut self, id: String, line: &Line<'_>) {
        // the first line counts: a wait that is told of again after its end is the same one
        let spans = &mut self.spans;
        self.known.entry(id).or_insert_with(|| {
            spans.push(Span {
                project: line.project().map(str::to_owned),
                began_ms: line.at_ms,
                end: End::Ongoing,
            });
            spans.len() - 1
        });
    }

    fn end(&mut self, id: &str, at_ms: Ms, answered: bool) {
        let Some(span) = self.known.get(id).and_then(|at| self.spans.get_mut(*at)) else {
            return;
        };
        if span.end == End::Ongoing {
            span.end = match answered {
                true => End::Answered(at_ms.saturating_sub(span.began_ms).max(0)),
                false => End::Unfinished,
            };
        }
    }

    /// The live records decide about what has no end.
    fn finish(mut self, live: &[Live]) -> Vec<Span> {
        let shown: BTreeMap<&str, &Live> = live.iter().map(|l| (l.id.as_str(), l)).collect();
        for (id, at) in &self.known {
            if let Some(span) = self.spans.get_mut(*at)
                && span.end == End::Ongoing
                && !shown.contains_key(id.as_str())
            {
                span.end = End::Unfinished;
            }
        }
        for (id, live) in shown {
            if live.kind.needs_somebody() && !self.known.contains_key(id) {
                self.spans.push(Span {
                    project: Some(live.project.clone()).filter(|p| !p.is_empty()),
                    began_ms: live.opened_ms,
                    end: End::Ongoing,
                });
            }
        }
        self.spans
    }
}

fn perm(line: &Line<'_>) -> String {
    format!("perm:{}:{}", line.session, text(&line.request))
}

fn plan(line: &Line<'_>) -> String {
    format!("plan:{}", text(&line.proposal))
}

#[cfg(test)]
#[path = "span/tests.rs"]
mod tests;
