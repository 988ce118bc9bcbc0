//! Sending what a pass has claimed: a last look at each item, the message, the outlet, and its result into the ledger
//! (ring-notify(1), DELIVERY). Nothing is sent under a lock.

use crate::admit::finish_messages;
use crate::cli::warn;
use crate::compose::{Part, Style, compose};
use crate::due::Due;
use crate::item::Live;
use crate::ledger;
use crate::outlet::Outlet;
use crate::pass::{Pass, me};
use crate::read::{self, Check};
use crate::send;
use crate::settle::{Result as Settled, Told, settle};
use jiff::tz::TimeZone;
use ring_session::time::{self, Ms};
use ring_session::{Refusal, Store};
use std::collections::BTreeMap;

/// A claim that is older is not sent any more, in milliseconds: another run may be about to give it up.
const FRESH_MS: Ms = 100_000;

/// What sending needs.
pub struct Sender<'a> {
    /// The pass that has claimed.
    pub pass: &'a Pass<'a>,
    /// All sessions.
    pub store: &'a Store,
    /// The items as they were when they were claimed.
    pub open: &'a [Live],
    /// Names on the board, by KEY.
    pub names: &'a BTreeMap<String, String>,
    /// Of deadlines.
    pub zone: &'a TimeZone,
}

impl Sender<'_> {
    /// The messages of one outlet, each settled before the next goes.
    pub fn all(&self, group: &[&Due]) -> Vec<Told> {
        let mut told = Vec::new();
        for due in group {
            let Some(outlet) = self.pass.rules.outlets.iter().find(|o| o.name == due.outlet) else {
                continue;
            };
            let results = self.one(due, outlet);
            match self.settle(due, &results) {
                Ok(settled) => told.extend(settled),
                // the claim stays, and the next run finds it unconfirmed
                Err(refusal) => warn(refusal),
            }
        }
        told
    }

    fn settle(&self, due: &Due, results: &[Settled]) -> Result<Vec<Told>, Refusal> {
        let state = self.pass.state();
        let now = time::now_ms();
        let told = {
            let _held = ledger::lock(state)?;
            let mut ledger = ledger::usable(state)?;
            let told = settle(&mut ledger, due, results, &me(), self.pass.rules, now);
            // a message that has arrived everywhere is for nobody else
            finish_messages(&mut ledger, self.pass.rules, now);
            ledger::write(state, &mut ledger)?;
            told
        };
        self.pass.tell(&told, now);
        Ok(told)
    }

    /// Looks at each item once more, and sends what is still open.
    fn one(&self, due: &Due, outlet: &Outlet) -> Vec<Settled> {
        let now = time::now_ms();
        let store = self.store.at(now);
        if now.saturating_sub(due.at_ms) > FRESH_MS {
            return due.parts.iter().map(|_| Settled::Untried).collect();
        }
        let mut results = Vec::new();
        let mut lives: Vec<(usize, Live, u32)> = Vec::new();
        for (at, (item, ring)) in due.parts.iter().enumerate() {
            let check = match self.open.iter().find(|l| l.id == *item) {
                Some(live) => read::check(live, &store, self.pass.settings),
                None => Check::Unknown,
            };
            results.push(match check {
                Check::Open(live) => {
                    lives.push((at, live, *ring));
                    // replaced by what sending says
                    Settled::Untried
                }
                Check::Closed(why) => Settled::Closed(why),
                Check::Unknown => Settled::Untried,
            });
        }
        if lives.is_empty() {
            return results;
        }
        for (_, live, _) in &mut lives {
            if let Some(name) = self.names.get(&live.session) {
                live.name.clone_from(name);
            }
        }
        let urgent = &self.pass.rules.notify.urgent_kinds;
        let parts: Vec<Part<'_>> = lives
            .iter()
            .map(|(_, live, ring)| Part {
                live,
                ring: *ring,
                urgent: live.urgent || live.kind.is_in(urgent),
            })
            .collect();
        let home = ring_session::state_dir::home().map(|h| h.to_string_lossy().into_owned());
        let style = Style {
            brief: outlet.brief,
            now,
            zone: self.zone,
            home: home.as_deref().unwrap_or_default(),
        };
        let mut message = compose(&parts, &due.batch, &key(due), &style);
        message.outlet.clone_from(&outlet.name);
        let fate = send::send(&outlet.way, &message);
        for (at, _, _) in &lives {
            if let Some(result) = results.get_mut(*at) {
                *result = Settled::Sent(fate.clone());
            }
        }
        results
    }
}

/// The `Idempotency-Key`: item, ring, outlet; of a summary its own name instead of the item's. What no header can hold is
/// percent-encoded.
fn key(due: &Due) -> String {
    let (item, ring) = match (due.parts.first(), due.batch.as_str()) {
        (Some((item, ring)), "") => (item.as_str(), *ring),
        (_, batch) => (batch, 0),
    };
    let plain = |b: u8| b.is_ascii_graphic();
    let mut key = String::new();
    for byte in format!("{item}/{ring}/{}", due.outlet).bytes() {
        match plain(byte) {
            true => key.push(char::from(byte)),
            false => key.push_str(&format!("%{byte:02X}")),
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_word_of_ascii_and_that_of_a_summary_does_not_depend_on_what_is_left_of_it() {
        let due = |item: &str, ring, batch: &str| Due {
            outlet: "desk".into(),
            parts: vec![(item.into(), ring)],
            batch: batch.into(),
            at_ms: 0,
        };
        assert_eq!(key(&due("wait:codex:a:b", 2, "")), "wait:codex:a:b/2/desk");
        assert_eq!(key(&due("msg:\u{6703} 1", 0, "")), "msg:%E6%9C%83%201/0/desk");
        assert_eq!(key(&due("wait:a", 2, "b1")), key(&due("wait:b", 0, "b1")));
    }
}
