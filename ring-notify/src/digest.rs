//! What waits, works and has ended: pure (ring-notify(1), DIGEST).

use crate::item::{Kind, Live};
use crate::later::view;
use crate::log::{Line, text};
use crate::span::{End, Span};
use crate::stats;
use ring_hook::row::Row;
use ring_session::Settings;
use ring_session::notification::{Head, InboxRow};
use ring_session::record::{NotificationKind, Outcome};
use ring_session::shown::{self, shown};
use ring_session::store::Seen;
use ring_session::time::Ms;
use ring_session::work::{Here, Work};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// What it is made of.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The clock and the machine.
    pub here: &'a Here,
    /// For the view of rows.
    pub settings: &'a Settings,
    /// Begin of the time that is looked at.
    pub since: Ms,
    /// Status rows whose process is not known to be gone.
    pub rows: &'a [Row],
    /// Open items.
    pub live: &'a [Live],
    /// All records.
    pub heads: &'a [Arc<Head>],
    /// Those in which something may be going on.
    pub records: &'a [Seen],
    /// The inbox.
    pub inbox: &'a [InboxRow],
    /// The log.
    pub lines: &'a [Line<'a>],
    /// Spans of it.
    pub spans: &'a [Span],
    /// Names on the board, by KEY.
    pub names: &'a BTreeMap<String, String>,
}

/// What `digest` prints as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Digest {
    /// 1.
    pub schema: u64,
    /// Begin of the time that is looked at.
    pub since_ms: Ms,
    /// Who waits now, oldest first.
    pub waiting: Vec<Waiting>,
    /// What awaits a decision now, oldest first.
    pub proposals: Vec<Proposal>,
    /// Who works now, oldest first.
    pub working: Vec<Working>,
    /// Turns that have ended since: failed ones first, newest first.
    pub finished: Vec<Finished>,
    /// Sessions that have ended since, newest first.
    pub ended: Vec<Ended>,
    /// How often and how long somebody was waited for.
    pub waits: Waits,
    /// Files that could not be read.
    pub unreadable: usize,
}

/// A session.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[allow(missing_docs, reason = "each is the member of the same name, ring-notify(1), JSON")]
pub struct Who {
    /// Its KEY.
    pub session: String,
    pub agent: String,
    /// Given on the board.
    pub name: String,
    pub title: String,
    pub project: String,
}

/// A wait, or a request in a record.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "each is the member of the same name, ring-notify(1), JSON")]
pub struct Waiting {
    pub id: String,
    #[serde(flatten)]
    pub who: Who,
    pub kind: Kind,
    pub detail: String,
    pub tool: String,
    pub since_ms: Ms,
    pub until_ms: Option<Ms>,
}

/// A proposal.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "each is the member of the same name, ring-notify(1), JSON")]
pub struct Proposal {
    pub id: String,
    #[serde(flatten)]
    pub who: Who,
    /// plan, goal.
    pub kind: &'static str,
    /// Its own.
    pub proposal: String,
    pub question: String,
    pub since_ms: Ms,
    pub until_ms: Option<Ms>,
}

/// A session that works.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "each is the member of the same name, ring-notify(1), JSON")]
pub struct Working {
    #[serde(flatten)]
    pub who: Who,
    pub since_ms: Ms,
}

/// A turn that has ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "each is the member of the same name, ring-notify(1), JSON")]
pub struct Finished {
    #[serde(flatten)]
    pub who: Who,
    pub turn_id: String,
    /// completed, failed, aborted.
    pub result: &'static str,
    pub error_code: Option<String>,
    pub duration_ms: Option<Ms>,
    pub ended_ms: Ms,
}

/// A session that has ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "each is the member of the same name, ring-notify(1), JSON")]
pub struct Ended {
    #[serde(flatten)]
    pub who: Who,
    pub ended_ms: Ms,
}

/// Waits since, and those that are still open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// How many.
    pub count: usize,
    /// How long, of those that somebody answered.
    pub total_ms: Ms,
    /// How many are still open.
    pub ongoing: usize,
}

impl Who {
    /// What a person calls it: the name on the board, its title, the last part of its project, the beginning of its id.
    pub fn call(&self) -> String {
        let last = self.project.rsplit('/').find(|p| !p.is_empty()).unwrap_or_default();
        let named = [&self.name, &self.title, last]
            .into_iter()
            .find(|n| !n.trim().is_empty());
        let id = self.session.split_once(':').map_or(&*self.session, |(_, id)| id);
        named.map_or_else(|| id.chars().take(8).collect(), str::to_owned)
    }
}

/// Puts it together.
pub fn digest(input: &Input<'_>) -> Digest {
    let (waiting, proposals) = input.open();
    let spans = || input.spans.iter().filter(|s| stats::is_in(s, input.since));
    let answered = spans().filter_map(|s| match s.end {
        End::Answered(ms) => Some(ms),
        _ => None,
    });
    Digest {
        schema: 1,
        since_ms: input.since,
        waiting,
        proposals,
        working: input.working(),
        finished: input.finished(),
        ended: input.ended(),
        waits: Waits {
            count: spans().count(),
            total_ms: answered.fold(0, Ms::saturating_add),
            ongoing: spans().filter(|s| s.end == End::Ongoing).count(),
        },
        unreadable: 0,
    }
}

impl Input<'_> {
    fn who(&self, session: &str, agent: &str, title: &str, project: &str) -> Who {
        Who {
            session: session.to_owned(),
            agent: agent.to_owned(),
            name: self.names.get(session).cloned().unwrap_or_default(),
            title: title.to_owned(),
            project: project.to_owned(),
        }
    }

    fn of_head(&self, head: &Head) -> Who {
        let project = head.project.as_deref().unwrap_or_default();
        self.who(&head.key, &head.agent, &head.title, project)
    }

    fn of_row(&self, row: &Row) -> Who {
        let folder = if row.origin_cwd.is_empty() {
            &row.cwd
        } else {
            &row.origin_cwd
        };
        self.who(&row.key, &row.agent, &row.title, folder)
    }

    /// A wait for a plan and the proposal of the same session are one thing: the proposal.
    fn open(&self) -> (Vec<Waiting>, Vec<Proposal>) {
        let with_proposal: BTreeSet<&str> = self
            .live
            .iter()
            .filter(|l| l.kind == Kind::Proposal)
            .map(|l| l.session.as_str())
            .collect();
        let (mut waiting, mut proposals) = (Vec::new(), Vec::new());
        for live in self.live {
            let who = self.who(&live.session, &live.agent, &live.session_title, &live.project);
            if live.kind == Kind::Proposal {
                proposals.push(Proposal {
                    id: live.proposal.clone(),
                    who,
                    kind: if live.is_goal { "goal" } else { "plan" },
                    proposal: live.detail.clone(),
                    question: live.question.clone(),
                    since_ms: live.opened_ms,
                    until_ms: live.until_ms,
                });
            } else if live.kind.is_wait() && !(live.kind == Kind::Plan && with_proposal.contains(&*live.session)) {
                waiting.push(Waiting {
                    id: live.id.clone(),
                    who,
                    kind: live.kind,
                    detail: live.detail.clone(),
                    tool: live.tool.clone(),
                    since_ms: live.opened_ms,
                    until_ms: live.until_ms,
                });
            }
        }
        waiting.sort_by(|a, b| (a.since_ms, &a.id).cmp(&(b.since_ms, &b.id)));
        proposals.sort_by(|a, b| (a.since_ms, &a.id).cmp(&(b.since_ms, &b.id)));
        (waiting, proposals)
    }

    /// By its row, where there is one; else by its record.
    fn working(&self) -> Vec<Working> {
        let mut working = Vec::new();
        let rows: BTreeSet<&str> = self.rows.iter().map(|r| r.key.as_str()).collect();
        for row in self.rows {
            let view = view(row, self.here.now, self.settings);
            if view.status == "working" {
                working.push(Working {
                    who: self.of_row(row),
                    since_ms: view.since_ms,
                });
            }
        }
        for seen in self.records {
            let work = Work::new(seen.record.clone(), self.here.clone());
            let key = shown::key(&work.record);
            if shown(&work).board != "working" || rows.contains(&*key) {
                continue;
            }
            let execution = work.active_execution().map(|e| e.started_ms.unwrap_or(e.queued_ms));
            let since_ms = work.record.turn.as_ref().map(|t| t.started_ms).or(execution);
            let project = work.record.project.as_deref().unwrap_or_default();
            working.push(Working {
                who: self.who(&key, &work.record.agent, &work.record.title, project),
                since_ms: since_ms.unwrap_or_default(),
            });
        }
        working.sort_by(|a, b| (a.since_ms, &a.who).cmp(&(b.since_ms, &b.who)));
        working
    }

    /// By lines of the log, by rows of the inbox (a line may be missing), and of sessions without a record by their rows.
    fn finished(&self) -> Vec<Finished> {
        let mut found: BTreeMap<(&str, &str), Finished> = BTreeMap::new();
        let heads: HashMap<&str, &Arc<Head>> = self.heads.iter().map(|h| (h.id.as_str(), h)).collect();
        let begun: HashMap<(&str, &str), Ms> = self
            .lines
            .iter()
            .filter(|l| l.kind == "turn_started")
            .map(|l| ((&*l.session, text(&l.turn_id)), l.at_ms))
            .collect();
        for line in stats::turns(self.lines, self.since) {
            // of a session that somebody deleted nothing is left to tell
            let Some(head) = heads.get(&*line.session) else {
                continue;
            };
            let turn = (&*line.session, text(&line.turn_id));
            let finished = Finished {
                who: self.of_head(head),
                turn_id: turn.1.to_owned(),
                result: result(text(&line.reason)),
                error_code: line.error_code.as_deref().map(str::to_owned),
                duration_ms: begun.get(&turn).map(|b| line.at_ms.saturating_sub(*b).max(0)),
                ended_ms: line.at_ms,
            };
            found.insert(turn, finished);
        }
        for row in self.inbox.iter().filter(|r| r.notification.created_ms >= self.since) {
            let it = &row.notification;
            let mut who = self.of_head(&row.session);
            who.title.clone_from(&it.title);
            let finished = Finished {
                who,
                turn_id: it.turn_id.clone(),
                result: result(match it.kind {
                    NotificationKind::Completed => Outcome::Completed.as_str(),
                    NotificationKind::Failed => Outcome::Error.as_str(),
                }),
                error_code: it.error_code.clone(),
                duration_ms: Some(it.duration_ms),
                ended_ms: it.created_ms,
            };
            found.insert((&row.session.id, &it.turn_id), finished);
        }
        let recorded: BTreeSet<&str> = self.heads.iter().map(|h| h.key.as_str()).collect();
        let of_rows = self.rows.iter().filter_map(|row| {
            let turn = &row.turn;
            let over = turn.state != "working" && !turn.outcome.is_empty() && turn.ended_ms >= self.since;
            (over && !recorded.contains(&*row.key)).then(|| Finished {
                who: self.of_row(row),
                turn_id: turn.id.clone(),
                result: result(&turn.outcome),
                error_code: Some(turn.error.clone()).filter(|e| !e.is_empty()),
                duration_ms: (turn.started_ms > 0).then(|| turn.ended_ms.saturating_sub(turn.started_ms).max(0)),
                ended_ms: turn.ended_ms,
            })
        });
        let mut all: Vec<Finished> = of_rows.chain(found.into_values()).collect();
        let order = |f: &Finished| (f.result != "failed", Reverse(f.ended_ms));
        all.sort_by(|a, b| order(a).cmp(&order(b)).then_with(|| b.turn_id.cmp(&a.turn_id)));
        all
    }

    /// By the last line of each KEY, unless it is back.
    fn ended(&self) -> Vec<Ended> {
        let mut last: BTreeMap<&str, &Line<'_>> = BTreeMap::new();
        for line in self.lines.iter().filter(|l| l.kind == "status") {
            last.insert(&line.key, line);
        }
        let back: BTreeSet<&str> = self.rows.iter().map(|r| r.key.as_str()).collect();
        let is_over = |l: &&Line<'_>| l.to == "ended" && l.at_ms >= self.since && !back.contains(&*l.key);
        let titles: HashMap<&str, &str> = self.heads.iter().map(|h| (h.key.as_str(), h.title.as_str())).collect();
        let mut all: Vec<Ended> = last
            .into_values()
            .filter(is_over)
            .map(|line| Ended {
                who: self.who(
                    &line.key,
                    &line.agent,
                    titles.get(&*line.key).copied().unwrap_or_default(),
                    line.project().unwrap_or_default(),
                ),
                ended_ms: line.at_ms,
            })
            .collect();
        all.sort_by(|a, b| (Reverse(a.ended_ms), &a.who).cmp(&(Reverse(b.ended_ms), &b.who)));
        all
    }
}

/// How a turn ended, in the words of this program: of a line, or of a row.
fn result(word: &str) -> &'static str {
    match word {
        "completed" | "done" => "completed",
        "aborted" | "interrupted" => "aborted",
        _ => "failed",
    }
}

#[cfg(test)]
#[path = "digest/tests.rs"]
mod tests;
