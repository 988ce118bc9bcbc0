//! One pass: read, decide and claim under the lock, send without it, settle under it again (ring-notify(1), DELIVERY).
//!
//! A pass that finds nothing to change writes nothing and takes no lock. What is claimed is on the disk before the first
//! byte leaves, so whoever is killed has sent at most what the ledger says.

use crate::admit::admit;
use crate::cli::warn;
use crate::due::{Decision, Due, Facts, decide};
use crate::item::Live;
use crate::ledger::{self, Ledger, State};
use crate::looking::looking;
use crate::outlet::Rules;
use crate::quiet::{self, Quiet};
use crate::read::{self, Read};
use crate::report::{Delivery, Report};
use crate::sender::Sender;
use crate::settle::Told;
use jiff::tz::TimeZone;
use ring_session::events::{self, Line};
use ring_session::lock;
use ring_session::process::Stamp;
use ring_session::time::{self, Ms};
use ring_session::{Refusal, Settings, StateDir, Store, id, ring};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

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
    /// What an earlier pass of this run has told of sources that cannot be read: that is not told again.
    pub told: Mutex<Vec<String>>,
}

/// What is to be sent, and what it takes.
struct Plan {
    decision: Decision,
    open: Vec<Live>,
    changed: bool,
}

impl Pass<'_> {
    pub(crate) fn state(&self) -> &StateDir {
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
        let mut last = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let told = std::mem::replace(&mut *last, read.problems.clone());
        read.problems.iter().filter(|p| !told.contains(p)).for_each(warn);
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
        let mut ledger = ledger::read(state)?.ledger;
        let looked = OnceCell::new();
        // one that is missing or cannot be read is begun, which is a change
        if !self.plan(&mut ledger, &read, &quiet, store.here().now, &looked).changed {
            return Ok((None, Some(ledger)));
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
    pub(crate) fn tell(&self, told: &[Told], now: Ms) {
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
pub(crate) fn me() -> Stamp {
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
