//! Whether a ring is due: one pure function of open items, ledger, rules and a `now` (ring-notify(1), WHEN IT RINGS).
//!
//! For each open item and outlet there is at most one candidate: the first ring, a ring that is held back, a retry whose
//! time has come, or a repeat. [`gate`] is the table of rules, first one that applies. What passes is put into messages
//! and claimed; whoever holds the lock then stores the ledger and sends.

use crate::hours::Hours;
use crate::item::{Kind, Live};
use crate::ledger::{Hold, Ledger, OutletState, State, To};
use crate::outlet::{Outlet, Rules};
use ring_session::process::Stamp;
use ring_session::settings::Notify;
use ring_session::time::Ms;
use std::collections::{BTreeMap, BTreeSet};

/// Claims that nobody settles are given up after so long, in milliseconds.
pub const CLAIM_MS: Ms = 120_000;
/// First rings of a session are counted over so long, in milliseconds.
pub const BURST_MS: Ms = 60_000;
/// Pauses before the second, third .. try, in milliseconds.
pub const PAUSES: [Ms; 5] = [10_000, 30_000, 120_000, 600_000, 1_800_000];
/// The longest pause, in milliseconds.
pub const LONGEST_PAUSE: Ms = 3_600_000;
/// Held items of an outlet at most.
pub const HELD: usize = 200;

/// What a decision knows beside items and ledger.
pub struct Facts<'a> {
    /// The clock.
    pub now: Ms,
    /// Manual quiet is on.
    pub quiet: bool,
    /// Whether an outlet's hours hold now.
    pub hours: &'a dyn Fn(&Hours) -> bool,
    /// KEYs of sessions whose terminal is being looked at.
    pub looking: &'a BTreeSet<String>,
    /// Whether a process is proven dead.
    pub is_dead: &'a dyn Fn(&Stamp) -> bool,
    /// Whoever claims.
    pub me: &'a Stamp,
    /// A new id.
    pub mint: &'a dyn Fn() -> String,
    /// KEY whose items go first; empty: none.
    pub first: &'a str,
}

/// One message to send: the rings that it counts as.
#[derive(Clone, Debug, PartialEq)]
pub struct Due {
    /// Name of the outlet.
    pub outlet: String,
    /// Item and ring, in the order of the message.
    pub parts: Vec<(String, u32)>,
    /// Name of a summary; empty: one item, as itself.
    pub batch: String,
    /// When it was claimed.
    pub at_ms: Ms,
}

/// What a run has to do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// Claimed, to be sent.
    pub due: Vec<Due>,
    /// Claims that nobody has settled: item, outlet, ring. Now unconfirmed, or to be tried again.
    pub lost: Vec<(String, String, u32)>,
    /// This run has held the first item of a debounce window: when the window ends.
    pub stay_until_ms: Option<Ms>,
}

/// What a rule says of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    Skip,
    Hold(Hold),
    Pass,
}

/// One item that may go out on one outlet.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    live: &'a Live,
    ring: u32,
    /// What held it back.
    held: Option<Hold>,
    /// It was never claimed.
    is_first: bool,
    is_urgent: bool,
}

/// Decides, and claims in the ledger what is due. `open` are the open items, oldest first.
pub fn decide(ledger: &mut Ledger, open: &[Live], rules: &Rules, facts: &Facts<'_>) -> Decision {
    let mut decision = Decision::default();
    give_up_claims(ledger, rules, facts, &mut decision);
    ledger
        .outlets
        .retain(|name, _| rules.outlets.iter().any(|o| o.name == *name));
    for outlet in &rules.outlets {
        let new = || OutletState {
            since_ms: facts.now,
            ..OutletState::default()
        };
        ledger.outlets.entry(outlet.name.clone()).or_insert_with(new);
    }
    let mut order: Vec<&Live> = open.iter().collect();
    // a stable sort: whose hook has started this run goes first, the rest by age
    order.sort_by_key(|l| facts.first.is_empty() || l.session != facts.first);
    for outlet in &rules.outlets {
        of_outlet(ledger, &order, outlet, rules, facts, &mut decision);
    }
    decision
}

/// Claims of dead processes, of another boot, or too old: nobody can know whether the message has left.
fn give_up_claims(ledger: &mut Ledger, rules: &Rules, facts: &Facts<'_>, decision: &mut Decision) {
    for (id, entry) in &mut ledger.items {
        let is_open = entry.is_open();
        for (name, to) in &mut entry.to {
            let is_lost = to.state == State::Claimed
                && (facts.now.saturating_sub(to.at_ms) > CLAIM_MS || to.owner.as_ref().is_none_or(facts.is_dead));
            if is_lost {
                let outlet = rules.outlets.iter().find(|o| o.name == *name);
                unconfirmed(to, outlet.filter(|_| is_open), &rules.notify, facts.now, "owner_lost");
                decision.lost.push((id.clone(), name.clone(), to.ring));
            }
        }
    }
}

/// A claim about which nobody can know: final, unless the outlet is to try again. The outlet is none if it does not
/// exist any more, or if the item is closed.
pub fn unconfirmed(to: &mut To, outlet: Option<&Outlet>, notify: &Notify, now: Ms, error: &str) {
    let again = outlet.is_some_and(|o| o.retry_unconfirmed) && to.attempts < notify.attempts_max;
    to.state = if again { State::Retry } else { State::Unconfirmed };
    to.next_ms = if again {
        now.saturating_add(pause(to.attempts))
    } else {
        0
    };
    to.at_ms = now;
    error.clone_into(&mut to.error);
    // the owner's own later result replaces this: it finds itself in `owner`
}

/// The pause behind so many attempts.
pub fn pause(attempts: u32) -> Ms {
    let index = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    PAUSES.get(index).or(PAUSES.last()).copied().unwrap_or(LONGEST_PAUSE)
}

fn of_outlet(
    ledger: &mut Ledger,
    order: &[&Live],
    outlet: &Outlet,
    rules: &Rules,
    facts: &Facts<'_>,
    decision: &mut Decision,
) {
    let notify = &rules.notify;
    let bursts = first_rings(ledger, outlet, facts.now);
    let since = ledger
        .outlets
        .get(&outlet.name)
        .map_or(0, |o| o.since_ms.min(facts.now));
    let (mut released, mut fresh, mut holds) = (Vec::new(), Vec::new(), Vec::new());
    let mut retried: BTreeMap<String, Vec<Candidate<'_>>> = BTreeMap::new();
    for live in order {
        let Some(entry) = ledger.items.get_mut(&live.id).filter(|e| e.is_meant_for(&outlet.name)) else {
            continue;
        };
        let to = entry.to.get(&outlet.name);
        // an outlet that is new gets no turn that ended before it was there
        let is_old_news = to.is_none() && is_turn(live.kind) && entry.seen_ms < since;
        let Some(candidate) = candidate(live, to, outlet, rules, facts.now) else {
            continue;
        };
        let rule = match is_old_news {
            true => Gate::Skip,
            false => gate(&candidate, outlet, notify, facts, &bursts),
        };
        match rule {
            Gate::Skip => skip(
                entry.to.entry(outlet.name.clone()).or_default(),
                candidate.ring,
                facts.now,
            ),
            Gate::Hold(hold) => holds.push((candidate, hold)),
            Gate::Pass => match (candidate.held, to) {
                (Some(hold), _) if hold.is_summed_up() => released.push(candidate),
                (None, Some(to)) if to.state == State::Retry && !to.batch.is_empty() => {
                    retried.entry(to.batch.clone()).or_default().push(candidate);
                }
                _ => fresh.push(candidate),
            },
        }
    }
    if notify.debounce_ms > 0 {
        debounce(ledger, outlet, notify, facts, &mut released, &mut fresh, &mut holds);
    }
    let mut messages: Vec<Vec<Candidate<'_>>> = Vec::new();
    if !released.is_empty() {
        messages.push(released);
    }
    messages.extend(retried.into_values());
    if fresh.len() > notify.burst_max as usize {
        messages.push(fresh);
    } else {
        messages.extend(fresh.into_iter().map(|c| vec![c]));
    }
    for (candidate, hold) in &holds {
        if let Some(entry) = ledger.items.get_mut(&candidate.live.id) {
            held(entry.to.entry(outlet.name.clone()).or_default(), candidate.ring, *hold);
        }
    }
    // whoever held the first one for this window is still there, or was killed: then the next run makes up for it
    let mut waiting = holds.iter().filter(|(_, hold)| *hold == Hold::Debounce).peekable();
    if waiting.peek().is_some() && waiting.all(|(c, _)| c.held != Some(Hold::Debounce)) {
        let window = ledger.outlets.get(&outlet.name).map_or(facts.now, |o| o.window_ms);
        let end = window.saturating_add(notify.debounce_ms);
        decision.stay_until_ms = Some(decision.stay_until_ms.map_or(end, |e| e.max(end)));
    }
    for message in messages {
        decision.due.push(claim(ledger, outlet, &message, facts));
    }
    cap_held(ledger, outlet, facts.now);
}

/// The one candidate of an item on an outlet, if there is one.
fn candidate<'a>(live: &'a Live, to: Option<&To>, outlet: &Outlet, rules: &Rules, now: Ms) -> Option<Candidate<'a>> {
    let is_urgent = live.urgent || live.kind.is_in(&rules.notify.urgent_kinds);
    let of = |ring, held| {
        Some(Candidate {
            live,
            ring,
            held,
            is_first: to.is_none_or(|t| t.first_ms == 0),
            is_urgent,
        })
    };
    let Some(to) = to else { return of(0, None) };
    match to.state {
        State::Claimed | State::Skipped => None,
        State::Held => of(to.ring, to.hold),
        // a time beyond the longest pause is of another clock
        State::Retry if to.next_ms <= now || to.next_ms > now.saturating_add(LONGEST_PAUSE) => of(to.ring, None),
        State::Retry => None,
        State::Sent | State::Unconfirmed | State::Failed => of(repeat(live, to, outlet, rules, now)?, None),
    }
}

/// The repeat that is due: of several the last, the others count as done.
fn repeat(live: &Live, to: &To, outlet: &Outlet, rules: &Rules, now: Ms) -> Option<u32> {
    if !outlet.repeat || !live.kind.needs_somebody() {
        return None;
    }
    let is_due = |k: &u32| {
        let after = rules.repeat_after_ms(*k);
        after.is_some_and(|ms| to.first_ms.saturating_add(ms) <= now)
    };
    (to.ring..rules.notify.repeat_max).filter(is_due).map(|k| k + 1).max()
}

/// The table of rules: the first that applies.
fn gate(
    candidate: &Candidate<'_>,
    outlet: &Outlet,
    notify: &Notify,
    facts: &Facts<'_>,
    bursts: &BTreeMap<String, u32>,
) -> Gate {
    let live = candidate.live;
    let urgent = candidate.is_urgent;
    let is_short = live.kind == Kind::Completed && live.duration_ms < notify.completed_min_ms;
    let in_hours = outlet.hours.as_ref().filter(|h| (facts.hours)(h));
    let rings = bursts.get(&live.session).copied().unwrap_or(0);
    let is_burst = candidate.is_first && !live.session.is_empty() && notify.session_burst > 0;
    match () {
        // 1
        () if !is_on(live.kind, notify) || !outlet.takes(live) || is_short => Gate::Skip,
        // 2 is decided when an item is first seen
        // 3
        () if facts.quiet => Gate::Hold(Hold::Quiet),
        // 4
        () if in_hours.is_some_and(|h| !(urgent && h.urgent_bypass)) => Gate::Hold(Hold::Hours),
        // 5
        () if live.kind == Kind::Completed && live.background > 0 => Gate::Hold(Hold::Background),
        // 6
        () if outlet.skip_when_looking && facts.looking.contains(&live.session) => match is_turn(live.kind) {
            true => Gate::Skip,
            false => Gate::Hold(Hold::Looking),
        },
        // 7; the debounce window follows when all are known that would go out
        () if !urgent && is_burst && rings >= notify.session_burst => Gate::Hold(Hold::Burst),
        // 8
        () => Gate::Pass,
    }
}

fn is_turn(kind: Kind) -> bool {
    matches!(kind, Kind::Completed | Kind::Failed)
}

fn is_on(kind: Kind, notify: &Notify) -> bool {
    match kind {
        Kind::Permission | Kind::Question | Kind::Plan | Kind::Input => notify.waits,
        Kind::Proposal => notify.proposals,
        Kind::Completed => notify.completed,
        Kind::Failed => notify.failed,
        Kind::Message => true,
    }
}

impl Outlet {
    /// Whether its filters let an item through.
    pub fn takes(&self, live: &Live) -> bool {
        let kind = self.kinds.is_empty() || live.kind.is_in(&self.kinds);
        let agent = self.agents.is_empty() || self.agents.contains(&live.agent);
        let project = &live.project;
        let any = self.projects.any.is_empty() || self.projects.any.iter().any(|g| g.is_match(project));
        kind && agent && any && !self.projects.none.iter().any(|g| g.is_match(project))
    }
}

/// How many first rings each session has had on an outlet within the last minute.
fn first_rings(ledger: &Ledger, outlet: &Outlet, now: Ms) -> BTreeMap<String, u32> {
    let mut rings = BTreeMap::new();
    for entry in ledger.items.values() {
        let to = entry
            .to
            .get(&outlet.name)
            .filter(|t| t.first_ms > 0 && t.from.is_empty());
        if to.is_some_and(|t| now.saturating_sub(t.first_ms) < BURST_MS) {
            *rings.entry(entry.session.clone()).or_default() += 1;
        }
    }
    rings
}

/// The debounce window of an outlet: what comes while it is open waits for its end; what has waited opens the next one.
fn debounce<'a>(
    ledger: &mut Ledger,
    outlet: &Outlet,
    notify: &Notify,
    facts: &Facts<'_>,
    released: &mut Vec<Candidate<'a>>,
    fresh: &mut Vec<Candidate<'a>>,
    holds: &mut Vec<(Candidate<'a>, Hold)>,
) {
    let window = &mut ledger.outlets.entry(outlet.name.clone()).or_default().window_ms;
    let is_open = *window > 0 && facts.now.saturating_sub(*window) < notify.debounce_ms;
    let mut later = |list: &mut Vec<Candidate<'a>>, keep: usize| {
        let mut kept = 0;
        list.retain(|c| {
            let stays = c.is_urgent || kept < keep;
            kept += usize::from(stays && !c.is_urgent);
            if !stays {
                holds.push((*c, Hold::Debounce));
            }
            stays
        });
        kept > 0
    };
    let opens = match (is_open, released.is_empty()) {
        (true, _) => {
            later(released, 0);
            later(fresh, 0);
            false
        }
        (false, false) => {
            later(fresh, 0);
            true
        }
        (false, true) => later(fresh, 1),
    };
    if opens {
        *window = facts.now;
    }
}

fn skip(to: &mut To, ring: u32, now: Ms) {
    to.state = State::Skipped;
    to.ring = ring;
    to.hold = None;
    to.next_ms = 0;
    to.at_ms = now;
}

fn held(to: &mut To, ring: u32, hold: Hold) {
    // a repeat is a ring of its own; a retry that is held keeps its tries
    if to.ring != ring || to.state.is_final() {
        to.attempts = 0;
        to.error.clear();
    }
    to.state = State::Held;
    to.ring = ring;
    to.hold = Some(hold);
    to.next_ms = 0;
    to.batch.clear();
}

fn claim(ledger: &mut Ledger, outlet: &Outlet, message: &[Candidate<'_>], facts: &Facts<'_>) -> Due {
    let batch = match message {
        [_] => String::new(),
        _ => {
            let known = |c: &Candidate<'_>| {
                let to = ledger.items.get(&c.live.id)?.to.get(&outlet.name)?;
                Some(to.batch.clone()).filter(|b| to.state == State::Retry && !b.is_empty())
            };
            let names: BTreeSet<Option<String>> = message.iter().map(known).collect();
            // the same message again has the same name
            match names.into_iter().collect::<Vec<_>>().as_slice() {
                [Some(name)] => name.clone(),
                _ => (facts.mint)(),
            }
        }
    };
    let mut parts = Vec::new();
    for candidate in message {
        let Some(entry) = ledger.items.get_mut(&candidate.live.id) else {
            continue;
        };
        let to = entry.to.entry(outlet.name.clone()).or_default();
        let same = to.ring == candidate.ring && !to.state.is_final();
        to.attempts = if same { to.attempts.saturating_add(1) } else { 1 };
        to.state = State::Claimed;
        to.ring = candidate.ring;
        if to.first_ms == 0 {
            to.first_ms = facts.now;
        }
        to.at_ms = facts.now;
        to.next_ms = 0;
        to.hold = None;
        to.error.clear();
        to.owner = Some(facts.me.clone());
        to.from.clear();
        batch.clone_into(&mut to.batch);
        parts.push((candidate.live.id.clone(), candidate.ring));
    }
    Due {
        outlet: outlet.name.clone(),
        parts,
        batch,
        at_ms: facts.now,
    }
}

/// Of more held items than an outlet may have the oldest are given up: a summary has only so many anyway.
fn cap_held(ledger: &mut Ledger, outlet: &Outlet, now: Ms) {
    let is_held = |to: Option<&To>| to.is_some_and(|t| t.state == State::Held);
    let mut held: Vec<(Ms, String)> = ledger
        .items
        .iter()
        .filter(|(_, e)| is_held(e.to.get(&outlet.name)))
        .map(|(id, e)| (e.opened_ms, id.clone()))
        .collect();
    let over = held.len().saturating_sub(HELD);
    if over == 0 {
        return;
    }
    held.sort();
    for (_, id) in held.into_iter().take(over) {
        if let Some(to) = ledger.items.get_mut(&id).and_then(|e| e.to.get_mut(&outlet.name)) {
            skip(to, to.ring, now);
        }
    }
}

#[cfg(test)]
#[path = "due/tests.rs"]
mod tests;
