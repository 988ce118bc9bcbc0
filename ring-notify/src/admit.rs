//! Which items are open: what is new, what is the same again, what is closed and why (ring-notify(1), ITEMS). Pure.

use crate::item::{Kind, Live};
use crate::ledger::{Entry, ITEMS, KEEP_MS, Ledger, State, To};
use crate::message::Place;
use crate::outlet::Rules;
use crate::sources::Sources;
use ring_session::time::Ms;
use std::collections::{BTreeMap, BTreeSet};

/// A request that comes back within this time is the same one, in milliseconds.
pub const SAME_MS: Ms = 10_000;
/// A turn that ended so long before the ledger was begun is old news, in milliseconds.
pub const FIRST_RUN_MS: Ms = 600_000;
/// Two hooks of one request run side by side: a plan's dialog may be noted so much before its proposal is stored, in
/// milliseconds. An earlier one is of an earlier plan.
pub const SIDE_MS: Ms = 2_000;
/// Times of the ledger may be so much ahead of this run's clock, in milliseconds: another run has read it later.
const AHEAD_MS: Ms = 2_000;

/// Brings the items of the ledger up to what the sources say. Gives the open ones about which something can be done, in
/// the order of their opening.
pub fn admit(ledger: &mut Ledger, sources: &Sources, rules: &Rules, now: Ms) -> Vec<Live> {
    mend_clock(ledger, now);
    if ledger.started_ms == 0 {
        ledger.started_ms = now;
    }
    let live: Vec<&Live> = sources.live.iter().filter(|l| !is_proposals(l, sources)).collect();
    let ids: BTreeSet<&str> = live.iter().map(|l| l.id.as_str()).collect();
    for (id, entry) in &mut ledger.items {
        let is_message = entry.kind == Kind::Message;
        if entry.is_open() && !is_message && !ids.contains(id.as_str()) && !is_frozen(id, entry, sources) {
            let why = why(id, entry, sources, now);
            entry.close(now, why);
        }
    }
    let recent = recently_closed(ledger, now);
    for one in &live {
        match ledger.items.get(&one.id) {
            None => {
                let earlier = recent.get(&one.sign).and_then(|id| Some((id, ledger.items.get(id)?)));
                let entry = begin(one, ledger.started_ms, earlier, rules, now);
                ledger.items.insert(one.id.clone(), entry);
            }
            Some(entry) if !entry.is_open() && one.kind.needs_somebody() => reopen(&one.id, ledger),
            Some(_) => {}
        }
    }
    inherit_of_plans(ledger, &live, now);
    for one in live.iter().filter(|l| l.kind == Kind::Completed) {
        let absorbed = sources.needs_somebody(&one.session);
        if let Some(entry) = ledger.items.get_mut(&one.id).filter(|e| absorbed && e.is_open()) {
            entry.close(now, "absorbed");
        }
    }
    start_afresh(ledger, rules.notify.cooldown_ms, now);
    finish_messages(ledger, rules, now);
    leave(ledger, &ids, now);
    let mut open: Vec<Live> = live
        .into_iter()
        .filter(|l| ledger.items.get(&l.id).is_some_and(Entry::is_open))
        // a row that cannot be seen may wait: then a completed turn of its session is not told
        .filter(|l| l.kind != Kind::Completed || !row_is_unknown(&l.session, sources))
        .cloned()
        .collect();
    open.extend(messages(ledger, sources));
    open.sort_by(|a, b| (a.opened_ms, &a.id).cmp(&(b.opened_ms, &b.id)));
    open
}

/// A plan's dialog in a session with a pending proposal: one thing, and the proposal speaks for it.
fn is_proposals(live: &Live, sources: &Sources) -> bool {
    live.kind == Kind::Plan && sources.proposal(&live.session).is_some()
}

/// Whether a plan's dialog is that of a proposal.
fn is_dialog(dialog: &Entry, proposal: &Live) -> bool {
    dialog.kind == Kind::Plan
        && dialog.session == proposal.session
        && dialog.opened_ms >= proposal.opened_ms.saturating_sub(SIDE_MS)
}

/// Times that lie ahead count as now, whatever the clock was when they were written.
fn mend_clock(ledger: &mut Ledger, now: Ms) {
    let mend = |ms: &mut Ms| {
        if *ms > now.saturating_add(AHEAD_MS) {
            *ms = now;
        }
    };
    mend(&mut ledger.started_ms);
    for entry in ledger.items.values_mut() {
        mend(&mut entry.seen_ms);
        if let Some(closed) = &mut entry.closed_ms {
            mend(closed);
        }
        for to in entry.to.values_mut() {
            mend(&mut to.first_ms);
            mend(&mut to.at_ms);
        }
    }
    for outlet in ledger.outlets.values_mut() {
        mend(&mut outlet.since_ms);
        mend(&mut outlet.window_ms);
        mend(&mut outlet.last_ms);
    }
}

fn row_is_unknown(session: &str, sources: &Sources) -> bool {
    !session.starts_with("ring:") && (sources.unknown.status || sources.unknown.rows.contains(session))
}

/// Whether the item's source could not be read.
fn is_frozen(id: &str, entry: &Entry, sources: &Sources) -> bool {
    let unknown = &sources.unknown;
    if id.starts_with("wait:") {
        return unknown.status || unknown.rows.contains(&entry.session);
    }
    let of_record = match entry.record.as_str() {
        // an item of another writer: any of the records may hold it
        "" => !unknown.records.is_empty(),
        record => unknown.records.contains(record),
    };
    unknown.sessions || of_record
}

/// Why an item is no longer open.
fn why(id: &str, entry: &Entry, sources: &Sources, now: Ms) -> &'static str {
    if let Some(row) = id.strip_prefix("turn:") {
        return if sources.read.contains(row) { "read" } else { "gone" };
    }
    if id.starts_with("wait:") {
        return match () {
            () if entry.kind == Kind::Plan && sources.proposal(&entry.session).is_some_and(|p| is_dialog(entry, p)) => {
                "absorbed"
            }
            () if sources.rows.contains(&entry.session) => "answered",
            () => "gone",
        };
    }
    match () {
        () if entry.until_ms.is_some_and(|u| now >= u) => "expired",
        () if entry.record.is_empty() || sources.records.contains(&entry.record) => "answered",
        () => "gone",
    }
}

/// Requests that were closed just now, by their sign: whichever comes back is the same one.
fn recently_closed(ledger: &Ledger, now: Ms) -> BTreeMap<String, String> {
    let age = |e: &Entry| e.closed_ms.map(|c| now.saturating_sub(c)).filter(|age| *age < SAME_MS);
    let mut closed: Vec<(Ms, &String, &Entry)> = ledger
        .items
        .iter()
        .filter(|(_, e)| !e.sign.is_empty())
        .filter_map(|(id, e)| Some((age(e)?, id, e)))
        .collect();
    closed.sort_by_key(|(age, id, _)| (std::cmp::Reverse(*age), *id));
    // of several the last one counts
    closed
        .into_iter()
        .map(|(_, id, e)| (e.sign.clone(), id.clone()))
        .collect()
}

/// The entry of an item that is seen for the first time. `earlier` is the same request, closed just now.
fn begin(live: &Live, started_ms: Ms, earlier: Option<(&String, &Entry)>, rules: &Rules, now: Ms) -> Entry {
    let mut entry = Entry {
        kind: live.kind,
        session: live.session.clone(),
        sign: live.sign.clone(),
        opened_ms: live.opened_ms,
        seen_ms: now,
        record: live.record.clone(),
        until_ms: live.until_ms,
        ..Entry::default()
    };
    if matches!(live.kind, Kind::Completed | Kind::Failed) {
        if live.opened_ms < started_ms.saturating_sub(FIRST_RUN_MS) {
            entry.close(now, "first_run");
        } else if now.saturating_sub(live.opened_ms) > rules.notify.finished_max_age_ms {
            entry.close(now, "stale");
        }
    }
    if let Some((id, earlier)) = earlier {
        inherit(&mut entry, id, earlier);
    }
    entry
}

/// Deliveries of the same request under another id.
fn inherit(entry: &mut Entry, id: &str, earlier: &Entry) {
    for (outlet, to) in &earlier.to {
        if let Some(rung) = rung(to).filter(|_| !entry.to.contains_key(outlet)) {
            let from = if to.from.is_empty() { id } else { &to.from };
            let to = To {
                again: true,
                from: from.to_owned(),
                ..rung
            };
            entry.to.insert(outlet.clone(), to);
        }
    }
}

/// What of a delivery counts when its request comes back: the ring that has left or is leaving. Of a repeat that was given
/// up the ring before it; of a first ring that was given up nothing.
fn rung(to: &To) -> Option<To> {
    match to.state {
        State::Sent | State::Unconfirmed | State::Failed | State::Claimed => Some(to.clone()),
        State::Held | State::Retry | State::Skipped if to.ring > 0 => Some(To {
            state: State::Sent,
            ring: to.ring - 1,
            hold: None,
            next_ms: 0,
            error: String::new(),
            ..to.clone()
        }),
        State::Held | State::Retry | State::Skipped => None,
    }
}

/// The same request is there again: what was given up may ring, what has rung stands.
fn reopen(id: &str, ledger: &mut Ledger) {
    if let Some(entry) = ledger.items.get_mut(id) {
        entry.closed_ms = None;
        entry.why.clear();
        let before = std::mem::take(&mut entry.to);
        let kept = before.into_iter().filter_map(|(outlet, to)| Some((outlet, rung(&to)?)));
        entry.to = kept.map(|(outlet, to)| (outlet, To { again: true, ..to })).collect();
    }
}

/// A plan's dialog that was announced before its proposal was stored: the proposal takes its deliveries over.
fn inherit_of_plans(ledger: &mut Ledger, live: &[&Live], now: Ms) {
    for proposal in live.iter().filter(|l| l.kind == Kind::Proposal) {
        let plan = ledger
            .items
            .iter()
            .filter(|(_, e)| is_dialog(e, proposal))
            // in this run: an earlier plan of the session has nothing to do with this one
            .filter(|(_, e)| e.why == "absorbed" && e.closed_ms == Some(now))
            .max_by_key(|(_, e)| e.opened_ms)
            .map(|(id, e)| (id.clone(), e.clone()));
        let Some((id, plan)) = plan else { continue };
        if let Some(entry) = ledger.items.get_mut(&proposal.id).filter(|e| e.to.is_empty()) {
            inherit(entry, &id, &plan);
            for to in entry.to.values_mut() {
                // it is one thing that goes on, not a request that has come back
                to.again = false;
            }
        }
    }
}

/// Inherited deliveries start afresh, one time, when their last ring is old enough.
fn start_afresh(ledger: &mut Ledger, cooldown_ms: Ms, now: Ms) {
    for entry in ledger.items.values_mut().filter(|e| e.is_open()) {
        entry
            .to
            .retain(|_, to| !(to.again && to.state.has_rung() && now.saturating_sub(to.at_ms) >= cooldown_ms));
    }
}

/// A message is closed when it is final on every outlet.
pub fn finish_messages(ledger: &mut Ledger, rules: &Rules, now: Ms) {
    for entry in ledger
        .items
        .values_mut()
        .filter(|e| e.kind == Kind::Message && e.is_open())
    {
        let is_done = |name: &str| entry.to.get(name).is_some_and(|t| t.state.is_final()) || !entry.is_meant_for(name);
        if rules.outlets.iter().all(|o| is_done(&o.name)) {
            entry.close(now, "done");
        }
    }
}

/// Old closed items go, and what is over the limit: the oldest closed first, then the oldest open.
fn leave(ledger: &mut Ledger, live: &BTreeSet<&str>, now: Ms) {
    let is_old = |e: &Entry| e.closed_ms.is_some_and(|c| now.saturating_sub(c) > KEEP_MS);
    ledger.items.retain(|id, e| live.contains(id.as_str()) || !is_old(e));
    let over = ledger.items.len().saturating_sub(ITEMS);
    if over == 0 {
        return;
    }
    let mut order: Vec<(bool, Ms, String)> = ledger
        .items
        .iter()
        // a closed one whose record is still there would come back as new: it goes as late as an open one
        .map(|(id, e)| {
            let stays = e.is_open() || live.contains(id.as_str());
            (stays, e.closed_ms.filter(|_| !stays).unwrap_or(e.opened_ms), id.clone())
        })
        .collect();
    order.sort();
    for (stays, _, id) in order.into_iter().take(over) {
        // one that was never announced was never kept either
        let was_kept = ledger.items.remove(&id).is_some_and(|e| !e.to.is_empty());
        ledger.overflow += u64::from(stays && was_kept);
    }
}

/// Open messages, whose texts the ledger holds.
fn messages(ledger: &Ledger, sources: &Sources) -> Vec<Live> {
    let messages = ledger
        .items
        .iter()
        .filter(|(_, e)| e.kind == Kind::Message && e.is_open());
    // without a session it is for whoever sits at the terminal that sends it
    let nowhere = || Live {
        place: Place {
            own: true,
            ..Place::default()
        },
        ..Live::default()
    };
    messages
        .map(|(id, e)| Live {
            id: id.clone(),
            kind: Kind::Message,
            session: e.session.clone(),
            opened_ms: e.opened_ms,
            urgent: e.urgent,
            title: e.title.clone(),
            body: e.body.clone(),
            ..sources.sessions.get(&e.session).cloned().unwrap_or_else(nowhere)
        })
        .collect()
}

#[cfg(test)]
#[path = "admit/tests.rs"]
mod tests;
