//! An IDLE that is not believed yet.
//!
//! Between two turns of which the second was queued, an agent is idle for a moment: its records say so and a queued
//! turn begins without an event, 140 ms later (measured, Claude Code 2.1). A watch that printed that moment would ring
//! bells for nothing, so a row that was working keeps its last state until it has been idle for 0.3 s.

use crate::board::{Board, Session, count};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long an idle row must be idle before it is shown as such.
const HOLD: Duration = Duration::from_millis(300);

/// Rows that are held back.
#[derive(Debug, Default)]
pub struct Settle {
    since: BTreeMap<String, Instant>,
}

impl Settle {
    /// Puts the rows of `before` back that are idle only just now; tells when to look again.
    pub fn hold(&mut self, before: &Board, board: &mut Board, now: Instant) -> Option<Duration> {
        let working: BTreeMap<&str, &Session> = before
            .sessions
            .iter()
            .filter(|s| s.status == "working")
            .map(|s| (s.key.as_str(), s))
            .collect();
        let mut next: Option<Duration> = None;
        let mut held = BTreeMap::new();
        for s in &mut board.sessions {
            let old = match working.get(s.key.as_str()) {
                Some(old) if s.status == "idle" && s.age_ms < HOLD.as_millis() as i64 => *old,
                _ => continue,
            };
            let since = self.since.get(&s.key).copied().unwrap_or(now);
            let left = HOLD.saturating_sub(now.saturating_duration_since(since));
            if left.is_zero() {
                continue;
            }
            held.insert(s.key.clone(), since);
            next = Some(next.map_or(left, |n| n.min(left)));
            *s = Session {
                age_ms: (board.now_ms.saturating_sub(old.since_ms)).max(0),
                ..old.clone()
            };
        }
        self.since = held;
        if next.is_some() {
            board.counts = count(&board.sessions);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(status: &str, age_ms: i64) -> Board {
        Board {
            sessions: vec![Session {
                key: "a".into(),
                status: status.into(),
                age_ms,
                ..Session::default()
            }],
            ..Board::default()
        }
    }

    fn held(settle: &mut Settle, before: &Board, mut after: Board, now: Instant) -> (String, Option<Duration>) {
        let next = settle.hold(before, &mut after, now);
        (after.sessions[0].status.clone(), next)
    }

    #[test]
    fn c77_an_idle_moment_between_two_turns_is_not_shown() {
        let (mut settle, start) = (Settle::default(), Instant::now());
        let working = board("working", 9_000);
        let after = |ms| start + Duration::from_millis(ms);
        assert_eq!(
            held(&mut settle, &working, board("idle", 0), start),
            ("working".into(), Some(Duration::from_millis(300)))
        );
        assert_eq!(
            held(&mut settle, &working, board("idle", 100), after(100)),
            ("working".into(), Some(Duration::from_millis(200)))
        );
        assert_eq!(
            held(&mut settle, &working, board("working", 0), after(140)),
            ("working".into(), None)
        );
        assert_eq!(
            held(&mut settle, &working, board("idle", 0), after(500)).0,
            "working",
            "a new moment counts anew"
        );
    }

    #[test]
    fn c77_a_turn_that_has_ended_is_shown_after_300_ms() {
        let (mut settle, start) = (Settle::default(), Instant::now());
        let working = board("working", 9_000);
        held(&mut settle, &working, board("idle", 0), start);
        let late = start + Duration::from_millis(300);
        assert_eq!(
            held(&mut settle, &working, board("idle", 0), late),
            ("idle".into(), None),
            "also under a clock that stands"
        );
        assert_eq!(
            held(&mut settle, &working, board("idle", 300), start),
            ("idle".into(), None),
            "or if it was told late"
        );
    }

    #[test]
    fn nothing_else_is_held_back() {
        let (mut settle, now) = (Settle::default(), Instant::now());
        for (from, to) in [
            ("working", "waiting"),
            ("working", "ended"),
            ("waiting", "idle"),
            ("idle", "working"),
        ] {
            assert_eq!(held(&mut settle, &board(from, 0), board(to, 0), now), (to.into(), None));
        }
    }
}
