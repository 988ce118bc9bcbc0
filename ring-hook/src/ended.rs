//! Which waits of a row newer evidence has ended (ring-scan(1), WAITS).
//!
//! A row learns of a request, and often not of its end: "No" and Esc fire no hook, nor does leave for a tool until the tool
//! has ended. What ends a wait is always something that somebody wrote down later than it began; silence, bookkeeping
//! lines and file times end nothing.

use crate::live::{IDLE_BELIEVED_MS, Live, Word};
use crate::row::Wait;
use crate::tail::{Kind, Tail};
use ring_session::time::Ms;

/// What ended the wait: the transcript's tail, or the live record, if it counts. None: it stands. A child's own record is
/// not looked at.
pub fn by(wait: &Wait, tail: Option<&Tail>, live: Option<&Live>, now: Ms) -> Option<&'static str> {
    let since = wait.since_ms;
    match wait.owner.as_str() {
        "foreground" if is_of_stop(wait) => {
            // The turn is over by nature: only a new one ends its question.
            live.filter(|l| l.word == Word::Busy)
                .map(|_| "a live record: busy")
                .or_else(|| marked(tail, since, &[Kind::Start, Kind::Interrupted, Kind::Denied]))
        }
        "foreground" => moved_on(live, since, now)
            .or_else(|| {
                use Kind::{Denied, End, Failed, Interrupted, Start};
                marked(tail, since, &[Start, Interrupted, Denied, End, Failed])
            })
            .or_else(|| answered(tail, since)),
        "unknown" => marked(tail, since, &[Kind::Start, Kind::Interrupted, Kind::End]),
        _ => moved_on(live, since, now),
    }
}

fn is_of_stop(wait: &Wait) -> bool {
    wait.rule == "stop_question" || wait.event == "Stop"
}

/// A live record that was written after the request and says anything but waiting. Idle counts once it is believed.
pub fn moved_on(live: Option<&Live>, since: Ms, now: Ms) -> Option<&'static str> {
    let live = live.filter(|l| l.ms > since)?;
    match live.word {
        Word::Busy => Some("a later live record: busy"),
        Word::Shell => Some("a later live record: shell"),
        Word::Idle if now.saturating_sub(live.ms) >= IDLE_BELIEVED_MS => Some("a later live record: idle"),
        Word::Idle | Word::Waiting(_) => None,
    }
}

fn marked(tail: Option<&Tail>, since: Ms, kinds: &[Kind]) -> Option<&'static str> {
    tail.filter(|t| t.ms > since && kinds.contains(&t.kind))
        .map(|_| "a later turn mark of the transcript")
}

/// A tool result or answer of later, and no call is open: the one that asked has been answered.
fn answered(tail: Option<&Tail>, since: Ms) -> Option<&'static str> {
    tail.filter(|t| matches!(t.kind, Kind::Busy | Kind::Plain) && t.answered_ms > since && t.open_tools == 0)
        .map(|_| "a later tool result or answer")
}
