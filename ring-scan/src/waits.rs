//! Waits of a hook row: which of them newer evidence has ended ([`ring_hook::ended`], and children's own records), and how
//! an open one is shown (ring-scan(1), WAITS).

use crate::board::Waiting;
use crate::merge::{Facts, Live};
use ring_hook::row::Wait;
use ring_hook::tail::Kind;
use ring_hook::{agent, ended};
use ring_session::time::Ms;

/// What ended the wait; none: it stands. `live` is the live record, if it counts.
pub fn ended_by(wait: &Wait, facts: &Facts, live: Option<&Live>) -> Option<&'static str> {
    let live = live.filter(|_| facts.agent == agent::CLAUDE || !is_of_child(wait));
    ended::by(wait, facts.tail, live, facts.now).or_else(|| child_went_on(&wait.owner, wait.since_ms, facts))
}

fn is_of_child(wait: &Wait) -> bool {
    wait.owner.starts_with("agent:")
}

/// Whether the agent has left the prompt of its own in which it asks this.
pub fn has_left(asked: &Waiting, live: Option<&Live>, now: Ms) -> bool {
    ended::moved_on(live, asked.since_ms, now).is_some()
}

fn child_went_on(owner: &str, since: Ms, facts: &Facts) -> Option<&'static str> {
    let id = owner.strip_prefix("agent:")?;
    facts
        .children
        .iter()
        .find(|c| c.id == id)
        .filter(|c| c.ms > since && matches!(c.kind, Kind::Busy | Kind::End | Kind::Interrupted | Kind::Failed))
        .map(|_| "the child's own record")
}

/// A wait of a hook row as the board shows it.
pub fn shown(wait: &Wait) -> Waiting {
    Waiting {
        id: wait.id.clone(),
        kind: wait.kind.clone(),
        detail: wait.detail.clone(),
        owner: wait.owner.clone(),
        owner_type: wait.agent_type.clone(),
        since_ms: wait.since_ms,
    }
}

/// What a live record that says waiting is waiting for.
pub struct Asked {
    /// The shown one first.
    pub waits: Vec<Waiting>,
    /// Event of the hook that told what is asked.
    pub event: Option<String>,
}

/// The words of a live record say that somebody is asked, seldom what. A wait of the hook row knows, else its only
/// pending request; a menu or an offer on the screen (`dialog open`) has nothing to do with a pending request.
pub fn asked(facts: &Facts, live: &Live, words: &str, left: Vec<Waiting>) -> Asked {
    if let Some(first) = left.first() {
        let event = facts
            .hook
            .and_then(|h| h.view.waits.iter().find(|w| w.id == first.id))
            .map(|w| w.event.clone());
        return Asked { waits: left, event };
    }
    let mut wait = Waiting {
        id: format!("{}-{}", live.source, live.since_ms),
        kind: kind_of(words).into(),
        detail: words.into(),
        owner: "foreground".into(),
        owner_type: String::new(),
        since_ms: live.since_ms,
    };
    let pending = facts.hook.map_or(&[][..], |h| &h.row.pending);
    let mut event = None;
    if let ([pending], false) = (pending, words == "dialog open") {
        let child = pending.owner.strip_prefix("agent:");
        let known = child.and_then(|id| facts.hook?.row.children.iter().find(|c| c.id == id));
        wait.owner_type = known.map_or_else(String::new, |c| c.kind.clone());
        wait.owner.clone_from(&pending.owner);
        wait.kind.clone_from(&pending.kind);
        wait.detail.clone_from(&pending.detail);
        event = Some("PermissionRequest".to_owned());
    }
    Asked {
        waits: vec![wait],
        event,
    }
}

/// The kind that a live record's words mean.
fn kind_of(words: &str) -> &'static str {
    const KINDS: [(&str, &str); 7] = [
        ("plan", "plan"),
        ("approval", "permission"),
        ("permission", "permission"),
        ("sandbox", "permission"),
        ("worker", "permission"),
        ("question", "question"),
        ("elicitation", "question"),
    ];
    KINDS
        .iter()
        .find(|(word, _)| words.split(|c: char| !c.is_ascii_alphanumeric()).any(|w| w == *word))
        .map_or("input", |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::kind_of;

    #[test]
    fn c5_the_words_of_a_live_record_have_a_kind() {
        for (words, kind) in [
            ("permission prompt", "permission"),
            ("sandbox request", "permission"),
            ("worker request", "permission"),
            ("plan approval", "plan"),
            ("approval", "permission"),
            ("question", "question"),
            ("input needed", "input"),
            ("dialog open", "input"),
            ("explanation", "input"),
        ] {
            assert_eq!(kind_of(words), kind, "{words}");
        }
    }
}
