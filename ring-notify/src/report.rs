//! What a pass has done and what it has left, for people and programs (ring-notify(1), DELIVER).

use crate::ledger::{self, Ledger, State};
use crate::settle::Told;
use ring_session::time::Ms;
use serde::Serialize;

/// One delivery, for people and programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(
    missing_docs,
    reason = "each is the member of the same name, ring-notify(1), DELIVER"
)]
pub struct Delivery {
    pub item: String,
    pub outlet: String,
    pub ring: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub error: String,
}

/// What a pass has done, and what it has left.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Sent by this pass (of a dry run: would be).
    pub sent: Vec<Delivery>,
    /// Held back now.
    pub held: Vec<Delivery>,
    /// To be tried again.
    pub retry: Vec<Delivery>,
    /// Refused, or tried often enough, in this pass.
    pub failed: Vec<Delivery>,
    /// Of this pass, and nobody can know.
    pub unconfirmed: Vec<Delivery>,
    /// No longer open, or nowhere to go, in this pass.
    pub skipped: Vec<Delivery>,
    /// Tried in this pass, and to be tried again.
    #[serde(skip)]
    pub postponed: Vec<Delivery>,
    /// It was the first to hold an item for a debounce window, and did not stay: when that ends.
    #[serde(skip)]
    pub window_ends_ms: Option<Ms>,
}

impl Report {
    /// Whether an outlet has not taken what this pass gave it.
    pub fn has_failures(&self) -> bool {
        !(self.postponed.is_empty() && self.failed.is_empty() && self.unconfirmed.is_empty())
    }

    /// What became of one claim.
    pub fn add(&mut self, told: &Told) {
        let delivery = Delivery {
            item: told.item.clone(),
            outlet: told.outlet.clone(),
            ring: told.ring,
            error: told.error.clone(),
        };
        match told.state {
            State::Sent => self.sent.push(delivery),
            State::Failed => self.failed.push(delivery),
            State::Unconfirmed => self.unconfirmed.push(delivery),
            State::Skipped => self.skipped.push(delivery),
            State::Retry => self.postponed.push(delivery),
            // as they stand in the ledger afterwards
            State::Held | State::Claimed => {}
        }
    }

    /// What the ledger says is held back and to be tried again.
    pub fn stand(&mut self, ledger: &Ledger) {
        for (item, entry) in &ledger.items {
            for (outlet, to) in &entry.to {
                let list = match to.state {
                    State::Held => &mut self.held,
                    State::Retry => &mut self.retry,
                    _ => continue,
                };
                list.push(Delivery {
                    item: item.clone(),
                    outlet: outlet.clone(),
                    ring: to.ring,
                    error: match to.hold {
                        Some(hold) => format!("{hold:?}").to_lowercase(),
                        None => to.error.clone(),
                    },
                });
            }
        }
    }
}

/// Items that are held back on some outlet.
pub fn held(ledger: &Ledger) -> usize {
    let is_held = |e: &&ledger::Entry| e.to.values().any(|t| t.state == State::Held);
    ledger.items.values().filter(is_held).count()
}
