//! One session's facts and what follows from them before any rule is asked; and what is told of the decision: notes,
//! the chain of facts, the next moment at which time alone may change it.

use super::{
    CHILD_RUNS_MS, Decided, FLASH_MS, Facts, HOOK_JUST_NOW_MS, Hook, IDLE_BELIEVED_MS, Live, Outcome, PROCESS_ROW_MS,
    SAME_MOMENT_MS, Word, mark_name, turn_started_ms,
};
use crate::board::{Fact, Tried, Waiting};
use crate::waits;
use ring_hook::row::Wait;
use ring_hook::tail::Kind;
use ring_session::time::{Ms, human_span};

/// The transcript this far ahead of the hooks: they are silent.
const HOOKS_SILENT_MS: Ms = 60_000;

/// Facts, and what follows from them before any rule.
pub(super) struct Case<'a> {
    pub(super) facts: &'a Facts<'a>,
    /// L, if it counts.
    pub(super) live: Option<&'a Live>,
    /// Waits of H that no newer evidence has ended.
    pub(super) left: Vec<&'a Wait>,
    /// H had waits and none is left.
    pub(super) pruned: bool,
    pub(super) seen_ms: Ms,
}

/// Whether a live record counts beside the hook row: unless the foreground spoke later and just now. Two things that a
/// hook says are no contradiction: that a session was opened, and that a permission is asked for where the record has
/// said so for a second (a hook that answers by itself makes the dialog flash for less).
fn counts_beside(live: &Live, hook: Option<Hook>, now: Ms) -> bool {
    let Some(row) = hook.map(|h| h.row) else {
        return true;
    };
    let just_now = row.foreground_ms > live.ms && now.saturating_sub(row.foreground_ms) <= HOOK_JUST_NOW_MS;
    let opened = row.last.event == "SessionStart";
    let asked = row.last.rule == "permission_bare"
        && matches!(live.word, Word::Waiting(_))
        && now.saturating_sub(live.ms) >= FLASH_MS;
    !just_now || opened || asked
}

impl<'a> Case<'a> {
    pub(super) fn of(facts: &'a Facts<'a>) -> Case<'a> {
        let live = facts.live.filter(|l| counts_beside(l, facts.hook, facts.now));
        let all: &[Wait] = facts.hook.map_or(&[], |h| &h.view.waits);
        let mut left: Vec<&Wait> = all
            .iter()
            .filter(|w| waits::ended_by(w, facts, live).is_none())
            .collect();
        // The foreground's wait is shown, else the oldest.
        left.sort_by_key(|w| (w.owner != "foreground", w.since_ms));
        let seen_ms = [
            facts.hook.map_or(0, |h| h.row.seen_ms),
            facts.tail.map_or(0, |t| t.ms.max(t.answered_ms)),
            facts.live.map_or(0, |l| l.ms),
            facts.record.map_or(0, |r| r.updated_ms),
            facts.children.iter().map(|c| c.ms).max().unwrap_or(0),
        ];
        let seen_ms = seen_ms.into_iter().max().unwrap_or(0);
        Case {
            live,
            pruned: !all.is_empty() && left.is_empty(),
            left,
            // A mark in the future counts as now.
            seen_ms: match (seen_ms, facts.terminal) {
                (0, Some(t)) => t.start_ms,
                (seen, _) => seen.min(facts.now),
            },
            facts,
        }
    }

    pub(super) fn age(&self, ms: Ms) -> Ms {
        self.facts.now.saturating_sub(ms).max(0)
    }

    pub(super) fn ago(&self, ms: Ms) -> String {
        format!("{} ago", human_span(self.age(ms)))
    }

    pub(super) fn tail_is(&self, test: impl Fn(Kind) -> bool) -> bool {
        self.facts.tail.is_some_and(|t| test(t.kind))
    }

    /// H's status; the state of its turn once its waits have ended.
    pub(super) fn hook_status(&self) -> Option<&'static str> {
        let h = self.facts.hook?;
        if !self.pruned {
            return Some(h.view.status);
        }
        Some(if h.row.turn.state == "working" || h.row.background > 0 {
            "working"
        } else {
            "idle"
        })
    }

    pub(super) fn left_waits(&self) -> Vec<Waiting> {
        self.left.iter().map(|w| waits::shown(w)).collect()
    }

    /// Start of the newest turn that is known; 0: none.
    pub(super) fn turn_started_ms(&self) -> Ms {
        turn_started_ms(self.facts.hook.map(|h| h.row), self.facts.tail)
    }

    pub(super) fn live_says(&self) -> String {
        match (self.live, self.facts.live) {
            (Some(live), _) => format!("the {} says {}", live.source, said(&live.word)),
            (None, Some(live)) => format!("a hook event of just now is newer than the {}", live.source),
            (None, None) => "no live record".into(),
        }
    }

    pub(super) fn tail_says(&self) -> String {
        match self.facts.tail {
            Some(t) => format!("last turn mark: {}", mark_name(t.kind)),
            None => "no transcript was needed or found".into(),
        }
    }

    pub(super) fn outcome(&self, rule: &'static str, decided: Decided, tried: Vec<Tried>) -> Outcome {
        let hook_stale = self.hooks_silent();
        Outcome {
            status: decided.status,
            since_ms: match decided.since_ms {
                0 => self.seen_ms,
                since => since.min(self.facts.now),
            },
            rule,
            evidence: decided.evidence,
            note: self.note(decided.status, decided.note, hook_stale),
            waits: decided.waits,
            hook_stale,
            seen_ms: self.seen_ms,
            facts: self.chain(),
            tried,
            wake_ms: self.wake_ms(),
        }
    }

    fn hooks_silent(&self) -> bool {
        match (self.facts.hook, self.facts.tail) {
            (Some(h), Some(t)) => {
                matches!(h.view.status, "working" | "waiting") && t.ms > h.row.seen_ms.saturating_add(HOOKS_SILENT_MS)
            }
            _ => false,
        }
    }

    fn note(&self, status: &str, own: String, hook_stale: bool) -> String {
        let mut notes: Vec<String> = Vec::new();
        let mut add = |note: String| {
            if !note.is_empty() && !notes.contains(&note) {
                notes.push(note);
            }
        };
        let tail = self.facts.tail;
        match status {
            "idle" => {
                add(self.error());
                add(tail.map_or_else(String::new, |t| t.note.clone()));
            }
            "working" => {
                add(own.clone());
                if tail.is_some_and(|t| t.asks) {
                    add("asks".into());
                }
            }
            _ => {}
        }
        add(own);
        if status != "ended" {
            if let Some(h) = self.facts.hook.filter(|h| h.view.status == status) {
                add(h.view.note.clone());
            }
            if hook_stale {
                add("hooks silent".into());
            }
        }
        let quiet = self.age(self.seen_ms);
        if status == "working" && self.seen_ms > 0 && quiet >= self.facts.settings.quiet_after_ms {
            add(format!("quiet {} min", quiet / 60_000));
        }
        notes.join(", ")
    }

    /// `error: NAME` of the turn that ended last.
    fn error(&self) -> String {
        let of_hook = self
            .facts
            .hook
            .filter(|h| h.row.turn.outcome == "failed")
            .map(|h| &h.row.turn.error);
        let newer_tail = self
            .facts
            .tail
            .filter(|t| self.facts.hook.is_none_or(|h| t.ms > h.row.event_ms));
        let error = match newer_tail {
            Some(t) if t.kind == Kind::Failed => Some(&t.error),
            Some(_) => None,
            None => of_hook,
        };
        match error.map(String::as_str) {
            None => String::new(),
            Some("") => "error".into(),
            Some(text) => format!("error: {text}"),
        }
    }

    fn chain(&self) -> Vec<Fact> {
        let facts = self.facts;
        let fact = |source: &str, fact: String, at_ms: Ms| Fact {
            source: source.into(),
            fact,
            at_ms: (at_ms > 0).then_some(at_ms),
        };
        let mut chain = Vec::new();
        if let Some(h) = facts.hook {
            chain.push(fact(
                "hook",
                format!("{}, {}", h.view.status, h.row.last.event),
                h.row.event_ms,
            ));
            for wait in &h.view.waits {
                let end = waits::ended_by(wait, facts, self.live);
                let text = match end {
                    Some(by) => format!("wait of {} for {}, ended by {by}", wait.owner, wait.kind),
                    None => format!("wait of {} for {}", wait.owner, wait.kind),
                };
                chain.push(fact("hook", text, wait.since_ms));
            }
        }
        if let Some(live) = facts.live {
            let counts = if self.live.is_some() {
                ""
            } else {
                ", does not count yet"
            };
            chain.push(fact(live.source, format!("{}{counts}", said(&live.word)), live.ms));
        }
        if let Some(t) = facts.tail {
            let open = if t.open_tools > 0 {
                format!(", {} open tool calls", t.open_tools)
            } else {
                String::new()
            };
            chain.push(fact("transcript", format!("{}{open}", mark_name(t.kind)), t.ms));
        }
        for child in facts.children {
            chain.push(fact(
                "record",
                format!("child {}: {}", child.id, mark_name(child.kind)),
                child.ms,
            ));
        }
        if let Some(r) = facts.record {
            chain.push(fact("session", r.board.clone(), r.updated_ms));
        }
        let start = facts.terminal.map_or(0, |t| t.start_ms);
        chain.push(fact("process", facts.verdict.name().into(), start));
        chain
    }

    /// The next moment at which silence or age alone may change the row.
    fn wake_ms(&self) -> Option<Ms> {
        let facts = self.facts;
        let settings = facts.settings;
        let mut moments = vec![
            self.seen_ms.saturating_add(settings.quiet_after_ms),
            self.seen_ms.saturating_add(settings.active_window_ms.saturating_add(1)),
        ];
        if let Some(live) = facts.live {
            moments.push(live.ms.saturating_add(IDLE_BELIEVED_MS));
        }
        if let Some(h) = facts.hook {
            moments.extend([
                h.row.foreground_ms.saturating_add(HOOK_JUST_NOW_MS + 1),
                h.row
                    .event_ms
                    .saturating_add(settings.codex_permission_wait_ms.saturating_add(1)),
                h.row.event_ms.saturating_add(settings.start_only_ms.saturating_add(1)),
                h.row.event_ms.saturating_add(10_001),
            ]);
        }
        if let Some(t) = facts.tail {
            moments.extend([
                t.ms.saturating_add(SAME_MOMENT_MS),
                t.ms.saturating_add(settings.working_threshold_ms.saturating_add(1)),
            ]);
        }
        moments.extend(facts.children.iter().map(|c| c.ms.saturating_add(CHILD_RUNS_MS + 1)));
        moments.extend(facts.terminal.map(|t| t.start_ms.saturating_add(PROCESS_ROW_MS)));
        moments.into_iter().filter(|ms| *ms > facts.now).min()
    }
}

fn said(word: &Word) -> String {
    match word {
        Word::Busy => "busy".into(),
        Word::Idle => "idle".into(),
        Word::Shell => "shell".into(),
        Word::Waiting(words) if words.is_empty() => "waiting".into(),
        Word::Waiting(words) => format!("waiting, {words}"),
    }
}
