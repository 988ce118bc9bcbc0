//! One pass: read, decide and claim under the lock, send without it, settle under it again (ring-notify(1), DELIVERY).
//!
//! A pass that finds nothing to change writes nothing and takes no lock. What is claimed is on the disk before the first
//! byte leaves, so whoever is killed has sent at most what the ledger says.

use crate::admit::admit;
use crate::cli::warn;
use crate::compose::{Part, Style, compose};
use crate::due::{Decision, Due, Facts, decide};
use crate::item::Live;
use crate::ledger::{self, Ledger, State};
use crate::looking::looking;
use crate::outlet::{Outlet, Rules};
use crate::quiet::{self, Quiet};
use crate::read::{self, Check, Read};
use crate::send;
use crate::settle::{Result as Settled, Told, settle};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ring_session::events::{self, Line};
use ring_session::lock;
use ring_session::process::Stamp;
use ring_session::time::{self, Ms};
use ring_session::{Refusal, Settings, StateDir, Store, id, ring};
use serde::Serialize;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::Duration;

/// A claim that is older is not sent any more, in milliseconds: another run may be about to give it up.
const FRESH_MS: Ms = 100_000;

/// What a pass needs.
pub struct Pass<'a> {
    /// All sessions; its clock is asked anew.
    pub store: &'a Store,
    /// In force.
    pub settings: &'a Settings,
    /// Outlets and `[notify]`.
    pub rules: &'a Rules,
    /// KEY whose items go first; empty: none.
    pub first: &'a str,
}

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

    fn add(&mut self, told: &Told) {
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
    fn stand(&mut self, ledger: &Ledger) {
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

/// What is to be sent, and what it takes.
struct Plan {
    decision: Decision,
    open: Vec<Live>,
    changed: bool,
}

impl Pass<'_> {
    fn state(&self) -> &StateDir {
        self.store.state()
    }

    /// Runs one pass. `stays`: if it is the first to hold an item for a debounce window, it waits for its end.
    ///
    /// # Errors
    /// `SCHEMA_NEWER`, `LOCK_TIMEOUT`, `IO`.
    pub fn run(&self, stays: bool) -> Result<Report, Refusal> {
        let mut report = Report::default();
        if ring::is_off() {
            return Ok(report);
        }
        let found = loop {
            let (until, found) = self.once(&mut report)?;
            let Some(until) = until.filter(|_| stays) else {
                report.window_ends_ms = until;
                break found;
            };
            let left = until.saturating_sub(time::now_ms()).max(0);
            thread::sleep(Duration::from_millis(u64::try_from(left).unwrap_or(0)));
        };
        match found {
            Some(ledger) => report.stand(&ledger),
            None => report.stand(&ledger::read(self.state())?.ledger),
        }
        Ok(report)
    }

    /// What would be sent now. Writes nothing.
    ///
    /// # Errors
    /// `SCHEMA_NEWER`, `IO`.
    pub fn dry_run(&self) -> Result<Report, Refusal> {
        let store = self.store.at(time::now_ms());
        let mut ledger = ledger::read(self.state())?.ledger;
        let read = self.read(&store);
        let plan = self.plan(
            &mut ledger,
            &read,
            &quiet::read(self.state())?.0,
            store.here().now,
            &OnceCell::new(),
        );
        let mut report = Report::default();
        for due in plan.decision.due {
            report.sent.extend(due.parts.into_iter().map(|(item, ring)| Delivery {
                item,
                outlet: due.outlet.clone(),
                ring,
                error: String::new(),
            }));
        }
        report.stand(&ledger);
        Ok(report)
    }

    fn read(&self, store: &Store) -> Read {
        let read = read::read(store, self.settings);
        for problem in &read.problems {
            warn(problem);
        }
        read
    }

    /// Decides on a ledger, which it changes.
    fn plan(
        &self,
        ledger: &mut Ledger,
        read: &Read,
        quiet: &Quiet,
        now: Ms,
        looked: &OnceCell<BTreeSet<String>>,
    ) -> Plan {
        let before = ledger.clone();
        let here = self.store.here();
        let zone = OnceCell::new();
        let me = me();
        let open = admit(ledger, &read.sources, self.rules, now);
        let skips = self.rules.outlets.iter().any(|o| o.skip_when_looking);
        // tmux is asked once, before the lock is taken
        let looking = looked.get_or_init(|| if skips { looking(&open, now) } else { BTreeSet::new() });
        let facts = Facts {
            now,
            quiet: quiet.is_on(now),
            hours: &|hours| hours.hold(now, zone.get_or_init(TimeZone::system)),
            looking,
            is_dead: &|stamp: &Stamp| stamp.is_dead(&here.stamp, here.look),
            me: &me,
            mint: &|| id::mint(now),
            first: self.first,
        };
        let decision = decide(ledger, &open, self.rules, &facts);
        Plan {
            decision,
            open,
            changed: *ledger != before,
        }
    }

    /// One look and what follows from it; until when this run is to stay, and the ledger, if nothing has changed it.
    fn once(&self, report: &mut Report) -> Result<(Option<Ms>, Option<Ledger>), Refusal> {
        let state = self.state();
        let store = self.store.at(time::now_ms());
        let read = self.read(&store);
        for refusal in store.prune_notifications(&read.beyond) {
            warn(refusal);
        }
        let (quiet, broken) = quiet::read(state)?;
        broken.iter().for_each(warn);
        let stored = ledger::read(state)?;
        let looked = OnceCell::new();
        let is_there = ledger::path(state).exists() && stored.broken.is_none();
        if is_there {
            let mut ledger = stored.ledger;
            if !self.plan(&mut ledger, &read, &quiet, store.here().now, &looked).changed {
                return Ok((None, Some(ledger)));
            }
        } else {
            // asked before the lock is taken
            let mut ledger = Ledger::default();
            self.plan(&mut ledger, &read, &quiet, store.here().now, &looked);
        }
        let (plan, store) = self.claim(&looked)?;
        let lost: Vec<Told> = plan
            .decision
            .lost
            .iter()
            .map(|(item, outlet, ring)| Told {
                item: item.clone(),
                outlet: outlet.clone(),
                ring: *ring,
                state: State::Unconfirmed,
                error: "owner_lost".into(),
                lag_ms: 0,
            })
            .collect();
        self.tell(&lost, store.here().now);
        lost.iter().for_each(|told| report.add(told));
        for told in self.send(&plan, &store) {
            report.add(&told);
        }
        Ok((plan.decision.stay_until_ms, None))
    }

    /// Reads again, decides, and stores the claims, under the lock.
    fn claim(&self, looked: &OnceCell<BTreeSet<String>>) -> Result<(Plan, Store), Refusal> {
        let state = self.state();
        let _held = ledger::lock(state)?;
        // whatever was read before is older than what another run may have stored meanwhile
        let store = self.store.at(time::now_ms());
        let now = store.here().now;
        let read = read::read(&store, self.settings);
        let (quiet, _) = quiet::read(state)?;
        let mut ledger = ledger::usable(state)?;
        let plan = self.plan(&mut ledger, &read, &quiet, now, looked);
        if plan.changed {
            ledger::write(state, &mut ledger)?;
        }
        Ok((plan, store))
    }

    /// Sends what is claimed, the outlets beside each other, the messages of one after each other.
    fn send(&self, plan: &Plan, store: &Store) -> Vec<Told> {
        let mut by_outlet: BTreeMap<&str, Vec<&Due>> = BTreeMap::new();
        for due in &plan.decision.due {
            by_outlet.entry(&due.outlet).or_default().push(due);
        }
        if by_outlet.is_empty() {
            return Vec::new();
        }
        let names = read::names(store);
        let zone = TimeZone::system();
        let sender = Sender {
            pass: self,
            store,
            open: &plan.open,
            names: &names,
            zone: &zone,
        };
        let groups: Vec<Vec<&Due>> = by_outlet.into_values().collect();
        if let [only] = groups.as_slice() {
            return sender.all(only);
        }
        thread::scope(|scope| {
            let running: Vec<_> = groups
                .iter()
                .map(|group| {
                    let sender = &sender;
                    scope.spawn(move || sender.all(group))
                })
                .collect();
            running
                .into_iter()
                .flat_map(|r| match r.join() {
                    Ok(told) => told,
                    Err(panic) => std::panic::resume_unwind(panic),
                })
                .collect()
        })
    }

    /// Event lines of what was sent, after the ledger says so. A line is a hint: one that is lost is no failure.
    fn tell(&self, told: &[Told], now: Ms) {
        let lines: Vec<String> = told.iter().filter_map(|t| line(t, now)).collect();
        if lines.is_empty() {
            return;
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        if let Err(refusal) = events::append_all(self.state(), &lines, lock::wait(lock::HOOK_WAIT)) {
            warn(refusal);
        }
    }
}

/// The process that claims.
fn me() -> Stamp {
    let pid = std::process::id();
    Stamp::of(pid).unwrap_or_else(|| Stamp { pid, ..Stamp::nobody() })
}

fn line(told: &Told, now: Ms) -> Option<String> {
    let kind = match told.state {
        State::Sent => "notify_sent",
        State::Failed => "notify_failed",
        State::Unconfirmed => "notify_unconfirmed",
        State::Held | State::Claimed | State::Retry | State::Skipped => return None,
    };
    let mut line = Line::new(kind, now)
        .with("item", &told.item)
        .with("outlet", &told.outlet)
        .with("ring", &told.ring)
        .with("lag_ms", &told.lag_ms);
    if !told.error.is_empty() {
        line = line.with("error", &told.error);
    }
    Some(line.as_str().to_owned())
}

/// What sending needs.
struct Sender<'a> {
    pass: &'a Pass<'a>,
    store: &'a Store,
    open: &'a [Live],
    names: &'a BTreeMap<String, String>,
    zone: &'a TimeZone,
}

impl Sender<'_> {
    /// The messages of one outlet, each settled before the next goes.
    fn all(&self, group: &[&Due]) -> Vec<Told> {
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

/// The `Idempotency-Key`: item, ring, outlet; of a summary its own name instead of the item's.
fn key(due: &Due) -> String {
    let (item, ring) = match (due.parts.first(), due.batch.as_str()) {
        (Some((item, ring)), "") => (item.as_str(), *ring),
        (first, batch) => (batch, first.map_or(0, |(_, ring)| *ring)),
    };
    format!("{item}/{ring}/{}", due.outlet)
}

/// A moment of the local day, for people: `14:30`, or with its date if it is another day's.
pub fn local(ms: Ms, now: Ms) -> String {
    let zone = TimeZone::system();
    let of = |ms| Timestamp::from_millisecond(ms).map(|t| zone.to_datetime(t));
    match (of(ms), of(now)) {
        (Ok(then), Ok(today)) if then.date() == today.date() => then.strftime("%H:%M").to_string(),
        (Ok(then), _) => then.strftime("%Y-%m-%d %H:%M").to_string(),
        _ => ms.to_string(),
    }
}

/// Items that are held back on some outlet.
pub fn held(ledger: &Ledger) -> usize {
    let is_held = |e: &&ledger::Entry| e.to.values().any(|t| t.state == State::Held);
    ledger.items.values().filter(is_held).count()
}
