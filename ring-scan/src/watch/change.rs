//! Two boards compared: what a script is told, and what a failed source must not take away.

use crate::board::{Board, Session, count};
use ring_session::time::Ms;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// One line of `watch --format jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The clock of the board that shows it.
    pub ms: Ms,
    /// snapshot, added, changed, removed.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub key: String,
    /// Status before; empty: the row is new.
    pub from: String,
    /// Status now; `ended`: the row is gone.
    pub to: String,
    /// The row as it is now; of a removed one, as it was.
    pub session: Session,
}

/// The rows of a first board.
pub fn snapshot(shown: &Board) -> Vec<Change> {
    shown
        .sessions
        .iter()
        .map(|s| change(shown.now_ms, "snapshot", "", &s.status, s))
        .collect()
}

/// What changed between two boards that passed the same filter, in the order of the new one, removed rows last.
/// `all` is the new board before the filter: it tells what a row became that does not pass any more.
pub fn between(before: &Board, after: &Board, all: &Board) -> Vec<Change> {
    let old: BTreeMap<&str, &Session> = before.sessions.iter().map(|s| (s.key.as_str(), s)).collect();
    let new: BTreeSet<&str> = after.sessions.iter().map(|s| s.key.as_str()).collect();
    let ms = after.now_ms;
    let mut changes = Vec::new();
    for s in &after.sessions {
        match old.get(s.key.as_str()) {
            None => changes.push(change(ms, "added", "", &s.status, s)),
            Some(o) if news(o, s) => changes.push(change(ms, "changed", &o.status, &s.status, s)),
            Some(_) => {}
        }
    }
    for s in before.sessions.iter().filter(|s| !new.contains(s.key.as_str())) {
        let now = all
            .sessions
            .iter()
            .find(|a| a.key == s.key)
            .map_or("ended", |a| &a.status);
        changes.push(change(ms, "removed", &s.status, now, s));
    }
    changes
}

fn change(ms: Ms, kind: &'static str, from: &str, to: &str, s: &Session) -> Change {
    Change {
        ms,
        kind,
        key: s.key.clone(),
        from: from.into(),
        to: to.into(),
        session: s.clone(),
    }
}

/// Whether a script must hear of it: another status or another request. A tool that was called, a title, a line more
/// in a transcript are no change of what the session does.
fn news(old: &Session, new: &Session) -> bool {
    let request = |s: &Session| {
        s.waiting
            .as_ref()
            .map(|w| (w.id.clone(), w.kind.clone(), w.detail.clone(), w.owner.clone()))
    };
    old.status != new.status || old.waits != new.waits || request(old) != request(new)
}

/// Unknown is not empty: rows that only a source could know which failed or was slow this time stay as they were, with
/// their ages moved on.
pub fn keep_unknown(before: &Board, mut after: Board) -> Board {
    let failed: BTreeSet<&str> = after
        .sources
        .iter()
        .filter(|s| s.state == "failed" || s.state == "slow")
        .map(|s| s.name.as_str())
        .collect();
    if failed.is_empty() {
        return after;
    }
    let there: BTreeSet<&str> = after.sessions.iter().map(|s| s.key.as_str()).collect();
    let kept: Vec<Session> = before
        .sessions
        .iter()
        .filter(|s| !there.contains(s.key.as_str()) && s.sources.iter().any(|name| failed.contains(name.as_str())))
        .map(|s| Session {
            age_ms: (after.now_ms.saturating_sub(s.since_ms)).max(0),
            ..s.clone()
        })
        .collect();
    after.sessions.extend(kept);
    after.counts = count(&after.sessions);
    after
}

/// The same board at a later time.
pub fn aged(board: &Board, now_ms: Ms) -> Board {
    let mut board = board.clone();
    board.now_ms = now_ms;
    for s in &mut board.sessions {
        s.age_ms = (now_ms.saturating_sub(s.since_ms)).max(0);
    }
    board
}

/// The board without what moves by itself, so that equal ones need not be printed again.
pub fn at_rest(board: &Board) -> Board {
    let mut board = board.clone();
    board.now_ms = 0;
    board.wake_ms = None;
    for source in &mut board.sources {
        source.took_ms = 0;
    }
    for s in &mut board.sessions {
        (s.age_ms, s.seen_ms) = (0, 0);
        s.note = timeless(&s.note);
        s.chain = Default::default();
    }
    board
}

/// The notes without how long it has been quiet.
fn timeless(notes: &str) -> String {
    let timeless = |note| match str::starts_with(note, "quiet ") {
        true => "quiet",
        false => note,
    };
    notes.split(", ").map(timeless).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Source, Waiting};

    fn row(key: &str, status: &str) -> Session {
        Session {
            key: key.into(),
            status: status.into(),
            sources: vec!["codex".into()],
            ..Session::default()
        }
    }

    fn board(now_ms: Ms, sessions: Vec<Session>) -> Board {
        Board {
            now_ms,
            sessions,
            ..Board::default()
        }
    }

    fn told(changes: &[Change]) -> Vec<(&str, &str, &str, &str)> {
        changes
            .iter()
            .map(|c| (c.kind, c.key.as_str(), c.from.as_str(), c.to.as_str()))
            .collect()
    }

    #[test]
    fn c56_rows_that_come_change_and_go_are_told_once_each() {
        let before = board(1, vec![row("a", "working"), row("b", "idle"), row("c", "working")]);
        let after = board(2, vec![row("d", "waiting"), row("a", "idle"), row("b", "idle")]);
        assert_eq!(
            told(&between(&before, &after, &after)),
            [
                ("added", "d", "", "waiting"),
                ("changed", "a", "working", "idle"),
                ("removed", "c", "working", "ended")
            ]
        );
        assert_eq!(told(&snapshot(&before))[1], ("snapshot", "b", "", "idle"));
        assert_eq!(between(&after, &after, &after), []);
    }

    #[test]
    fn c56_a_row_that_the_filter_drops_tells_what_it_became() {
        let before = board(1, vec![row("a", "waiting")]);
        let all = board(2, vec![row("a", "working")]);
        assert_eq!(
            told(&between(&before, &board(2, vec![]), &all)),
            [("removed", "a", "waiting", "working")]
        );
    }

    #[test]
    fn c56_a_second_request_is_news_and_a_tool_call_is_not() {
        let mut old = row("a", "waiting");
        old.waiting = Some(Waiting {
            id: "1".into(),
            ..Waiting::default()
        });
        let mut new = old.clone();
        new.last_action = "Bash: ls".into();
        let (before, after) = (board(1, vec![old]), board(2, vec![new.clone()]));
        assert_eq!(between(&before, &after, &after), []);
        new.waiting = Some(Waiting {
            id: "2".into(),
            ..Waiting::default()
        });
        let later = board(3, vec![new]);
        assert_eq!(
            told(&between(&after, &later, &later)),
            [("changed", "a", "waiting", "waiting")]
        );
    }

    #[test]
    fn c46_rows_of_a_failed_source_stay_and_grow_older() {
        let mut known = row("codex:a", "working");
        known.since_ms = 1_000;
        let before = board(
            2_000,
            vec![
                known,
                Session {
                    sources: vec!["claude".into()],
                    ..row("claude-code:b", "idle")
                },
            ],
        );
        let mut after = board(5_000, vec![row("hook:c", "idle")]);
        after.sources = vec![Source {
            name: "codex".into(),
            state: "failed".into(),
            ..Source::default()
        }];
        let kept = keep_unknown(&before, after);
        let keys: Vec<_> = kept.sessions.iter().map(|s| (s.key.as_str(), s.age_ms)).collect();
        assert_eq!(keys, [("hook:c", 0), ("codex:a", 4_000)]);
        assert_eq!((kept.counts.working, kept.counts.idle), (1, 1));
    }

    #[test]
    fn boards_that_differ_only_in_ages_are_the_same_at_rest() {
        let mut later = board(
            9,
            vec![Session {
                age_ms: 5,
                ..row("a", "idle")
            }],
        );
        later.sessions[0].note = "background 2, quiet 12 min".into();
        later.sources = vec![Source {
            took_ms: 7,
            ..Source::default()
        }];
        let mut earlier = board(1, vec![row("a", "idle")]);
        earlier.sessions[0].note = "background 2, quiet 11 min".into();
        earlier.sources = vec![Source::default()];
        assert_eq!(at_rest(&earlier), at_rest(&later));
        earlier.sessions[0].note = "background 2".into();
        assert_ne!(at_rest(&earlier), at_rest(&later), "becoming quiet is news");
    }
}
