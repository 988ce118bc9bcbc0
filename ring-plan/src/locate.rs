//! Finding a proposal or an execution by what a person gives: its id, or a unique beginning.

use ring_session::id::{Meant, meant};
use ring_session::members::Object;
use ring_session::record::{Proposal, Record};
use ring_session::store::{Files, Seen, ambiguous};
use ring_session::work::Work;
use ring_session::{Code, Refusal, Store, history, text};

/// A proposal with the session it belongs to, as readers see it.
#[derive(Clone, Debug)]
pub struct Found {
    /// The session.
    pub seen: Seen,
    /// The proposal, from the record or from history.
    pub proposal: Proposal,
}

/// Proposals of one session's history, newest first.
///
/// # Errors
/// `IO`.
pub fn past(files: &Files, record: &Record) -> Result<Vec<Proposal>, Refusal> {
    let path = files.history();
    let all = history::beginning_with(&path, "proposal", record, "").map_err(|e| Refusal::io("read", &path, &e))?;
    Ok(all.into_iter().filter_map(|(_, object)| parse(object)).collect())
}

/// What a command under way has closed and not stored yet, be it overdue or dead.
fn fresh(work: &Work) -> Vec<Proposal> {
    let lines = work
        .history
        .iter()
        .filter_map(|l| serde_json::from_str::<Object>(l).ok());
    lines
        .filter(|o| o.get::<String>("type").as_deref() == Some("proposal"))
        .filter_map(parse)
        .collect()
}

/// The closed proposals of a session in the hands of a command: also those that it is about to store as closed.
///
/// # Errors
/// `IO`.
pub fn closed(work: &Work, files: &Files) -> Result<Vec<Proposal>, Refusal> {
    let mut all = fresh(work);
    all.extend(past(files, &work.record)?);
    Ok(all)
}

/// A session as readers see it, and the proposals that it has closed only in their eyes: shown as the next writer stores
/// them. Both from one look at the record, between two of which somebody may decide.
fn look(store: &Store, id: &str) -> Result<(Seen, Vec<Proposal>), Refusal> {
    let mut work = Work::new(store.stored(id)?, store.here().clone());
    let recovered = work.refresh();
    let closed = fresh(&work);
    let record = work.record;
    Ok((Seen { record, recovered }, closed))
}

fn parse(mut object: Object) -> Option<Proposal> {
    object.remove("type");
    object.remove("schema");
    serde_json::to_string(&object)
        .ok()
        .and_then(|t| serde_json::from_str(&t).ok())
}

/// Every proposal of every readable session, and what is wrong with the others.
///
/// # Errors
/// `IO`.
pub fn all(store: &Store) -> Result<(Vec<Found>, Vec<Refusal>), Refusal> {
    let (mut found, mut broken) = (Vec::new(), Vec::new());
    for id in store.ids()? {
        let (seen, closed) = match look(store, &id) {
            Ok(found) => found,
            // deleted between the listing and the look
            Err(e) if e.code == Code::SessionNotFound && !store.files(&id).dir.exists() => continue,
            Err(e) => {
                broken.push(e);
                continue;
            }
        };
        // an unreadable history hides what is in it, and nothing else
        let past = past(&store.files(&seen.record.id), &seen.record).unwrap_or_else(|e| {
            broken.push(e);
            Vec::new()
        });
        let own = seen.record.proposal.clone();
        let mut ids: Vec<String> = Vec::new();
        for proposal in own.into_iter().chain(closed).chain(past) {
            if !ids.contains(&proposal.id) {
                ids.push(proposal.id.clone());
                found.push(Found {
                    seen: seen.clone(),
                    proposal,
                });
            }
        }
    }
    Ok((found, broken))
}

/// The proposal that is meant.
///
/// # Errors
/// `PLAN_NOT_FOUND`, `AMBIGUOUS`, `IO`.
pub fn proposal(store: &Store, given: &str) -> Result<Found, Refusal> {
    let (found, _) = all(store)?;
    let id = match meant(given, found.iter().map(|f| f.proposal.id.as_str())) {
        Meant::One(id) => id.to_owned(),
        Meant::Nobody => return Err(plan_not_found(given)),
        Meant::Several(candidates) => return Err(ambiguous(given, &candidates)),
    };
    found
        .into_iter()
        .find(|f| f.proposal.id == id)
        .ok_or_else(|| plan_not_found(given))
}

/// The proposal whose execution is meant, by the execution's id or the proposal's.
///
/// # Errors
/// `PLAN_EXECUTION_NOT_FOUND`, `PLAN_EXECUTION_STALE` (the proposal has none), `AMBIGUOUS`, `IO`.
pub fn execution(store: &Store, given: &str) -> Result<(Found, String), Refusal> {
    let not_found = || {
        Refusal::new(
            Code::PlanExecutionNotFound,
            format!("no execution {}; see `ring-plan history`", text::clean(given, 128)),
        )
    };
    let (found, _) = all(store)?;
    let ids: Vec<&str> = found
        .iter()
        .flat_map(|f| {
            [
                Some(f.proposal.id.as_str()),
                f.proposal.execution.as_ref().map(|e| e.id.as_str()),
            ]
        })
        .flatten()
        .collect();
    let id = match meant(given, ids) {
        Meant::One(id) => id.to_owned(),
        Meant::Nobody => return Err(not_found()),
        Meant::Several(candidates) => return Err(ambiguous(given, &candidates)),
    };
    let is_it = |f: &Found| f.proposal.id == id || f.proposal.execution.as_ref().is_some_and(|e| e.id == id);
    let found = found.into_iter().find(is_it).ok_or_else(not_found)?;
    match found.proposal.execution.as_ref().map(|e| e.id.clone()) {
        Some(execution) => Ok((found, execution)),
        None => Err(Refusal::new(
            Code::PlanExecutionStale,
            "the proposal has no execution: nobody has approved it",
        )),
    }
}

/// The refusal of an unknown proposal.
pub fn plan_not_found(given: &str) -> Refusal {
    Refusal::new(
        Code::PlanNotFound,
        format!(
            "no proposal {}; see `ring-plan pending` and `ring-plan history`",
            text::clean(given, 128)
        ),
    )
}
