//! What became of a claim: the results of sending, put into the ledger (ring-notify(1), DELIVERY). Pure.

use crate::due::{self, Due};
use crate::ledger::{Ledger, State, To};
use crate::outlet::Rules;
use crate::send::Fate;
use ring_session::process::Stamp;
use ring_session::text;
use ring_session::time::Ms;

/// Characters of an error at most.
const ERROR: usize = 160;

/// What became of one item of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Result {
    /// The message left, or should have.
    Sent(Fate),
    /// The last check before it found the item closed, for that reason; nothing left.
    Closed(&'static str),
    /// It was not tried: somebody else may.
    Untried,
}

/// What is told of a settled claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Item.
    pub item: String,
    /// Outlet.
    pub outlet: String,
    /// Ring.
    pub ring: u32,
    /// Where it stands now.
    pub state: State,
    /// What went wrong.
    pub error: String,
    /// From when it was due until it was sent, in milliseconds.
    pub lag_ms: Ms,
}

/// Settles the claims of one message that `me` has made. A claim that was given up meanwhile is settled too: nobody knows
/// better than who has sent.
pub fn settle(ledger: &mut Ledger, message: &Due, results: &[Result], me: &Stamp, rules: &Rules, now: Ms) -> Vec<Told> {
    let outlet = rules.outlets.iter().find(|o| o.name == message.outlet);
    let mut told = Vec::new();
    for ((item, ring), result) in message.parts.iter().zip(results) {
        let mut heirs: Vec<String> = ledger
            .items
            .iter()
            .filter(|(_, e)| e.to.get(&message.outlet).is_some_and(|t| t.from == *item))
            .map(|(id, _)| id.clone())
            .collect();
        heirs.push(item.clone());
        for id in heirs {
            let Some(entry) = ledger.items.get_mut(&id) else {
                continue;
            };
            let is_open = entry.is_open();
            let opened = entry.opened_ms;
            let Some(to) = entry.to.get_mut(&message.outlet).filter(|to| is_mine(to, *ring, me)) else {
                continue;
            };
            if id != *item && matches!(result, Result::Closed(_)) {
                // nothing has left: the request that came back under this id rings by itself
                entry.to.remove(&message.outlet);
                continue;
            }
            let due = if *ring == 0 {
                opened
            } else {
                let after = rules.repeat_after_ms(*ring - 1).unwrap_or(0);
                to.first_ms.saturating_add(after)
            };
            match result {
                Result::Sent(fate) => of_fate(to, fate, outlet.filter(|_| is_open), rules, now),
                Result::Closed(_) => to.state = State::Skipped,
                Result::Untried => {
                    to.state = State::Retry;
                    to.next_ms = now;
                    to.attempts = to.attempts.saturating_sub(1);
                }
            }
            to.at_ms = now;
            to.owner = None;
            if to.state == State::Retry && !is_open {
                to.state = State::Skipped;
                to.next_ms = 0;
            }
            if id == *item {
                told.push(Told {
                    item: id.clone(),
                    outlet: message.outlet.clone(),
                    ring: *ring,
                    state: to.state,
                    error: to.error.clone(),
                    lag_ms: now.saturating_sub(due).max(0),
                });
            }
            if let Result::Closed(why) = result
                && is_open
            {
                entry.close(now, why);
            }
        }
    }
    if let Some(last) = told.last() {
        let state = ledger.outlets.entry(message.outlet.clone()).or_default();
        if !results.iter().all(|r| matches!(r, Result::Closed(_) | Result::Untried)) {
            state.last = if last.error.is_empty() {
                last.state.as_str().to_owned()
            } else {
                last.error.clone()
            };
            state.last_ms = now;
        }
    }
    told
}

fn is_mine(to: &To, ring: u32, me: &Stamp) -> bool {
    let given_up = matches!(to.state, State::Unconfirmed | State::Retry) && to.error == "owner_lost";
    to.ring == ring && to.owner.as_ref() == Some(me) && (to.state == State::Claimed || given_up)
}

fn of_fate(to: &mut To, fate: &Fate, outlet: Option<&crate::outlet::Outlet>, rules: &Rules, now: Ms) {
    to.next_ms = 0;
    to.error.clear();
    let short = |error: &str| text::clean(error, ERROR);
    match fate {
        Fate::Sent => to.state = State::Sent,
        Fate::Retry { error, after_ms } if to.attempts < rules.notify.attempts_max => {
            to.state = State::Retry;
            let pause = after_ms.map_or_else(|| due::pause(to.attempts), |ms| ms.clamp(0, due::LONGEST_PAUSE));
            to.next_ms = now.saturating_add(pause);
            to.error = short(error);
        }
        Fate::Retry { error, .. } | Fate::Failed { error } => {
            to.state = State::Failed;
            to.error = short(error);
        }
        Fate::Skipped { error } => {
            to.state = State::Skipped;
            to.error = short(error);
        }
        Fate::Unconfirmed { error } => due::unconfirmed(to, outlet, &rules.notify, now, &short(error)),
    }
}

#[cfg(test)]
#[path = "settle/tests.rs"]
mod tests;
