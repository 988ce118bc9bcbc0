//! Records of ring-session: `sessions/*/session.json`, as the session store shows them to readers.

use super::files;
use crate::board::{Finding, Waiting};
use crate::merge::facts::Record;
use ring_hook::key::key;
use ring_hook::summary::of_request;
use ring_session::record::{self, Origin, ProposalStatus, RequestState, Source};
use ring_session::store::Seen;
use ring_session::summary::{Glimpse, Summary};
use ring_session::time::Ms;
use ring_session::work::{Here, Work};
use ring_session::{Settings, StateDir, Store, shown};

/// One session of the board, from one record or several that name the same agent's session.
#[derive(Clone, Debug, Default)]
pub struct SessionRecord {
    /// KEY of the agent's session, or `ring:ID`.
    pub key: String,
    /// Canonical id of the agent; `ring` if the record names none.
    pub agent: String,
    /// The agent's session id, or the record's.
    pub session_id: String,
    /// What the record says.
    pub record: Record,
    /// Its title.
    pub title: String,
    /// Its folder.
    pub project: String,
    /// The live turn's owner, if it is proven to live.
    pub owner: Option<u32>,
}

/// All records that can be read.
#[derive(Debug, Default)]
pub struct Records {
    /// One for each KEY, sorted.
    pub found: Vec<SessionRecord>,
    /// Records that could not be read.
    pub skipped: Vec<Finding>,
    /// No session was ever made.
    pub absent: bool,
}

/// Reads the records. Readers take no lock, and apply recovery and expiry to their copy.
///
/// # Errors
/// A text for people, if the folder cannot be listed.
pub fn read(state: &StateDir, now: Ms, settings: &Settings) -> Result<Records, String> {
    if files::entries(&state.sessions())?.is_none() {
        return Ok(Records {
            absent: true,
            ..Records::default()
        });
    }
    let here = Here::real(now);
    let store = Store::new(state.clone(), here.clone());
    let (all, broken) = store
        .survey(|glimpse| match glimpse {
            Glimpse::Idle(summary) => idle(summary),
            Glimpse::Whole(seen) => one(*seen, &here, settings.store_details),
        })
        .map_err(|e| e.message)?;
    let skipped = broken
        .into_iter()
        .map(|e| {
            let id = e.details.get("session").and_then(|s| s.as_str()).unwrap_or_default();
            super::skipped("", format!("sessions/{id}/session.json"), e.message)
        })
        .collect();
    Ok(Records {
        found: united(all),
        skipped,
        absent: false,
    })
}

/// Several records with one KEY: what any of them has open counts, else the newest speaks.
fn united(mut all: Vec<SessionRecord>) -> Vec<SessionRecord> {
    all.sort_by(|a, b| a.key.cmp(&b.key).then(b.record.updated_ms.cmp(&a.record.updated_ms)));
    let mut found: Vec<SessionRecord> = Vec::new();
    for one in all {
        match found.last_mut().filter(|f| f.key == one.key) {
            Some(newest) => {
                let newest = &mut newest.record;
                newest.open.extend(one.record.open);
                newest
                    .open
                    .sort_by(|a, b| (a.since_ms, &a.id).cmp(&(b.since_ms, &b.id)));
                newest.prompted = newest.prompted.take().or(one.record.prompted);
                newest.of_hook &= one.record.of_hook;
            }
            None => found.push(one),
        }
    }
    found
}

/// A session in which nothing runs or waits: nearly all of them, so they are read in part.
fn idle(summary: Summary) -> SessionRecord {
    let (key, agent, session_id) = names(&summary.id, &summary.agent, &summary.agent_session_id);
    SessionRecord {
        key,
        agent,
        session_id,
        title: summary.title,
        project: summary.project.unwrap_or_default(),
        owner: None,
        record: Record {
            id: summary.id,
            open: Vec::new(),
            prompted: None,
            board: summary.shown.board.to_owned(),
            updated_ms: summary.updated_ms,
            of_hook: summary.source == Source::Hook,
        },
    }
}

/// KEY, agent and session id of a record.
fn names(id: &str, agent: &str, agent_session_id: &str) -> (String, String, String) {
    let name = if agent.is_empty() { "ring" } else { agent };
    match !agent.is_empty() && !agent_session_id.is_empty() {
        true => (
            key(agent, agent_session_id),
            name.to_owned(),
            agent_session_id.to_owned(),
        ),
        false => (format!("ring:{id}"), name.to_owned(), id.to_owned()),
    }
}

fn one(seen: Seen, here: &Here, details: bool) -> SessionRecord {
    let work = Work::new(seen.record, here.clone());
    let record = &work.record;
    let (key, agent, session_id) = names(&record.id, &record.agent, &record.agent_session_id);
    let owner = record.turn.as_ref().map(|t| &t.epoch);
    SessionRecord {
        key,
        agent,
        session_id,
        title: record.title.clone(),
        project: record.project.clone().unwrap_or_default(),
        owner: owner.filter(|e| work.is_alive(e)).map(|e| e.pid),
        record: Record {
            id: record.id.clone(),
            open: open(&work, details),
            prompted: record
                .proposal
                .as_ref()
                .filter(|p| p.via == "hook")
                .map(|p| p.id.clone()),
            board: shown::shown(&work).board.to_owned(),
            updated_ms: record.updated_ms,
            of_hook: record.source == Source::Hook,
        },
    }
}

/// The open proposal and the open requests that nobody but a person at the record can answer. A request of a hook is
/// the row's business; a proposal of a hook counts while the agent can take the answer.
fn open(work: &Work, details: bool) -> Vec<Waiting> {
    let record = &work.record;
    let proposal = record.proposal.as_ref().filter(|p| {
        let hooked = p.via == "hook";
        let waited_for = p.asked || p.waiter.as_ref().is_some_and(|w| !work.is_dead(w));
        p.status == ProposalStatus::Pending && (!hooked || waited_for)
    });
    let proposal = proposal.map(|p| Waiting {
        id: p.id.clone(),
        kind: "plan".into(),
        detail: p.title.clone(),
        owner: "foreground".into(),
        owner_type: String::new(),
        since_ms: p.created_ms,
    });
    let counts = |r: &&record::Request| r.state == RequestState::Open && r.origin != Origin::Hook;
    let requests = record.permissions.iter().filter(counts).map(|r| Waiting {
        id: r.id.clone(),
        kind: "permission".into(),
        detail: of_request(&r.tool, &r.reason, r.preview.as_ref().map(|raw| raw.0.get()), details),
        owner: "foreground".into(),
        owner_type: String::new(),
        since_ms: r.created_ms,
    });
    let mut open: Vec<Waiting> = proposal.into_iter().chain(requests).collect();
    open.sort_by(|a, b| (a.since_ms, &a.id).cmp(&(b.since_ms, &b.id)));
    open
}
