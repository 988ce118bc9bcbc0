//! Several who decide at once: one does, and the others are told so. Threads, each with a lock file of its own open, race
//! as processes do, because a lock belongs to an open file.

use super::{Said, WAIT, World};
use ring_session::record::{Mode, Proposal, ProposalKind, ProposalStatus};
use ring_session::{Code, Refusal};
use serde_json::Value;
use std::sync::Barrier;
use std::thread;

const KINDS: [(ProposalKind, Mode); 2] = [(ProposalKind::Plan, Mode::Plan), (ProposalKind::Goal, Mode::Goal)];
const TEXT: &str = "# Build API v2\n\n1. read\n";
/// Rounds in one home, whose history grows.
const TOGETHER: usize = 10;

/// What one of those who race does.
type Racer<'a, T> = Box<dyn FnOnce() -> T + Send + 'a>;

/// Runs all at the same moment.
fn at_once<T: Send>(all: Vec<Racer<'_, T>>) -> Vec<T> {
    let gate = Barrier::new(all.len());
    thread::scope(|scope| {
        let started: Vec<_> = all
            .into_iter()
            .map(|one| {
                let gate = &gate;
                scope.spawn(move || {
                    gate.wait();
                    one()
                })
            })
            .collect();
        started.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

fn commands<'a>(world: &'a World, all: &'a [(Vec<&'a str>, i64)]) -> Vec<Said> {
    let one =
        |(words, later): &'a (Vec<&'a str>, i64)| -> Racer<'a, Said> { Box::new(move || world.plan(words, *later)) };
    at_once(all.iter().map(one).collect())
}

fn code(said: &Said) -> Option<Code> {
    said.as_ref().err().map(|e| e.code)
}

/// A session in a contract mode with a pending proposal, its turn over.
fn proposed(world: &World, session: &str, kind: ProposalKind, call: &str) -> String {
    let turn = world.begin(session).unwrap();
    let id = world.submit(session, kind, (&turn, call), TEXT).unwrap().id;
    world.end(session, &turn, None);
    id
}

/// Back to a contract mode, whatever was decided.
fn free(world: &World, session: &str, mode: Mode) {
    world.abort(session);
    let set = world.store(0).update(session, |work, _| {
        work.record.mode = mode;
        Ok(())
    });
    set.unwrap();
}

#[test]
fn p18_p19_of_approve_reject_and_expiry_at_once_one_decides_1000_times() {
    let mut won = [0; 4];
    for round in 0..1000 / TOGETHER {
        let world = World::new();
        let (kind, mode) = KINDS[round % 2];
        let session = world.session(mode);
        for n in 0..TOGETHER {
            let p = proposed(&world, &session, kind, &format!("call-{n}"));
            let approve = |mode| (vec!["approve", &p, "--permission", mode], 0);
            let reject = (vec!["reject", &p, "--note", "no"], 0);
            let expire = (vec!["expire"], WAIT);
            let late = (vec!["approve", &p, "--permission", "ask"], WAIT);
            let all = match n % 5 {
                0 => vec![approve("ask"), reject],
                1 => vec![approve("ask"), reject, expire],
                2 => vec![approve("ask"), approve("auto"), approve("ask")],
                3 => vec![reject.clone(), reject, approve("ask"), late],
                _ => vec![approve("auto"), expire],
            };
            let before = world.store(0).stored(&session).unwrap().revision;
            let said = commands(&world, &all);
            let shown: Value = serde_json::from_str(&world.plan(&["show", &p], 0).unwrap()).unwrap();
            let status = shown["status"].as_str().unwrap();
            let permission = shown["permission_mode"].as_str();
            won[["approved", "rejected", "expired", "pending"]
                .iter()
                .position(|s| *s == status)
                .unwrap()] += 1;
            let mut same: Vec<&String> = Vec::new();
            for ((words, later), said) in all.iter().zip(&said) {
                let own = match words[0] {
                    "expire" => {
                        assert_eq!(code(said), None);
                        continue;
                    }
                    "reject" => status == "rejected",
                    _ => status == "approved" && permission == Some(words[3]),
                };
                let expected = match (own, status) {
                    // seen late, also what is decided is decided
                    (true, _) => None,
                    (false, "expired") => Some(Code::PlanApprovalTimeout),
                    (false, _) => Some(Code::PlanApprovalConflict),
                };
                assert_eq!(code(said), expected, "{words:?} {later} of {all:?}: {shown}");
                same.extend(said.as_ref().ok().filter(|_| *later == 0));
            }
            assert!(
                same.windows(2).all(|w| w[0] == w[1]),
                "the same decision is the same answer: {same:?}"
            );
            assert_ne!(status, "pending");
            assert_eq!(shown["version"], 2);
            let record = world.store(0).stored(&session).unwrap();
            assert_eq!(record.revision, before + 1, "one commit");
            let granted = status == "approved";
            assert_eq!(shown["execution"].is_object(), granted);
            assert_eq!(record.mode, if granted { Mode::Agent } else { mode });
            assert_eq!(record.proposal.is_some(), granted);
            let told = ["plan_approved", "plan_rejected", "plan_expired"].map(|k| world.told(k, &p));
            assert_eq!(told.iter().sum::<usize>(), 1, "{told:?}");
            free(&world, &session, mode);
        }
    }
    assert_eq!(won.iter().sum::<i32>(), 1000);
    assert!(won[0] > 0 && won[1] > 0, "nobody raced: {won:?}");
}

#[test]
fn p12_of_two_who_submit_at_once_one_does_and_the_same_call_is_one_proposal_200_times() {
    for round in 0..100 {
        let world = World::new();
        let (kind, mode) = KINDS[round % 2];
        let session = world.session(mode);
        let turn = world.begin(&session).unwrap();
        let submit = |call: &'static str| {
            let (world, session, turn) = (&world, &session, &turn);
            Box::new(move || world.submit(session, kind, (turn, call), TEXT)) as Racer<Result<Proposal, Refusal>>
        };
        // two calls: one proposal, one file
        let mut said = at_once(vec![submit("a"), submit("b")]);
        said.sort_by_key(|s| s.is_err());
        let first = said[0].as_ref().unwrap().clone();
        assert_eq!(said[1].as_ref().unwrap_err().code, Code::PlanAlreadyPending);
        assert_eq!(world.artifacts(kind).len(), 1);
        world.plan(&["reject", &first.id], 0).unwrap();
        // one call twice: one proposal, one more file
        let said = at_once(vec![submit("c"), submit("c")]);
        let ids: Vec<&String> = said.iter().map(|s| &s.as_ref().unwrap().id).collect();
        assert_eq!(ids[0], ids[1]);
        assert_eq!(world.artifacts(kind).len(), 2);
        assert_eq!(world.told("plan_submitted", ids[0]), 1);
    }
}

#[test]
fn p7_sessions_that_submit_one_title_at_once_have_a_file_each_100_times() {
    for round in 0..25 {
        let world = World::new();
        let (kind, mode) = KINDS[round % 2];
        let sessions: Vec<(String, String)> = (0..4)
            .map(|_| {
                let id = world.session(mode);
                let turn = world.begin(&id).unwrap();
                (id, turn)
            })
            .collect();
        let all = sessions.iter().enumerate().map(|(n, (id, turn))| {
            let world = &world;
            let text = format!("{TEXT}{n}");
            Box::new(move || world.submit(id, kind, (turn, "c"), &text).unwrap()) as Racer<Proposal>
        });
        let made = at_once(all.collect());
        let mut names: Vec<&String> = made.iter().map(|p| &p.artifact.path).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 4);
        for proposal in &made {
            let bytes = std::fs::read(world.project().join(&proposal.artifact.path)).unwrap();
            assert_eq!(bytes, proposal.markdown.as_bytes());
        }
        let mut all = world.artifacts(kind);
        all.sort();
        let stem = "build-api-v2-";
        assert!(all.iter().all(|n| n.starts_with(stem) && n.ends_with(".md")), "{all:?}");
    }
}

#[test]
fn p28_p31_of_two_who_claim_and_of_two_ends_one_counts_200_times() {
    for round in 0..200 / TOGETHER {
        let world = World::new();
        let session = world.session(Mode::Plan);
        for n in 0..TOGETHER {
            let p = proposed(&world, &session, ProposalKind::Plan, &format!("call-{n}"));
            world.plan(&["approve", &p, "--permission", "ask"], 0).unwrap();
            let all = [
                (vec!["claim", &p, "--turn", "one"], 0),
                (vec!["claim", &p, "--turn", "two"], 0),
            ];
            let said = commands(&world, &all);
            let lost = said
                .iter()
                .filter(|s| code(s) == Some(Code::PlanExecutionStale))
                .count();
            assert_eq!((said.iter().filter(|s| s.is_ok()).count(), lost), (1, 1), "{said:?}");
            let running = world
                .store(0)
                .stored(&session)
                .unwrap()
                .proposal
                .unwrap()
                .execution
                .unwrap();
            let own = if said[0].is_ok() { "one" } else { "two" };
            assert_eq!(running.turn_id.as_deref(), Some(own));
            assert_eq!(world.told("execution_claimed", &running.id), 1);

            let ends = [
                (vec!["finish", &p, "completed"], 0),
                (vec!["finish", &p, "interrupted"], 0),
                (vec!["finish", &p, "completed"], 0),
            ];
            let said = match (round + n) % 2 {
                0 => commands(&world, &ends),
                // an abort beside it
                _ => {
                    let finish: Racer<Said> = Box::new(|| world.plan(&ends[0].0, 0));
                    let abort: Racer<Said> = Box::new(|| {
                        world.abort(&session);
                        Ok(String::new())
                    });
                    at_once(vec![finish, abort])
                }
            };
            let shown: Value = serde_json::from_str(&world.plan(&["show", &p], 0).unwrap()).unwrap();
            let state = shown["execution"]["state"].as_str().unwrap().to_owned();
            assert!(["completed", "interrupted"].contains(&state.as_str()), "{shown}");
            for ((words, _), said) in ends.iter().zip(&said).take(said.len() - usize::from(said.len() == 2)) {
                let expected = (words[2] != state).then_some(Code::PlanExecutionConflict);
                assert_eq!(code(said), expected, "{words:?}: {shown}");
            }
            let told = ["execution_finished", "execution_interrupted"].map(|k| world.told(k, &running.id));
            assert_eq!(told.iter().sum::<usize>(), 1, "{told:?}");
            assert_eq!(world.store(0).stored(&session).unwrap().mode, Mode::Agent);
            free(&world, &session, Mode::Plan);
        }
    }
}

#[test]
fn p25_of_an_approval_and_an_abort_one_counts_and_an_abort_grants_nothing_200_times() {
    for _ in 0..200 / TOGETHER {
        let world = World::new();
        let session = world.session(Mode::Goal);
        for n in 0..TOGETHER {
            let p = proposed(&world, &session, ProposalKind::Goal, &format!("call-{n}"));
            let approve: Racer<Said> = Box::new(|| world.plan(&["approve", &p, "--permission", "auto"], 0));
            let abort: Racer<Said> = Box::new(|| {
                world.abort(&session);
                Ok(String::new())
            });
            let said = at_once(vec![approve, abort]);
            let found = crate::locate::proposal(&world.store(0), &p).unwrap();
            // in either order nothing is left that could run
            assert!(found.seen.record.proposal.is_none());
            match &said[0] {
                Ok(_) => {
                    assert_eq!(found.proposal.status, ProposalStatus::Approved);
                    let execution = found.proposal.execution.unwrap();
                    assert_eq!(execution.error_code.as_deref(), Some("PLAN_EXECUTION_INTERRUPTED"));
                    assert_eq!(found.seen.record.mode, Mode::Agent);
                }
                Err(e) => {
                    assert_eq!(e.code, Code::PlanApprovalStale);
                    assert_eq!(found.proposal.status, ProposalStatus::Interrupted);
                    assert!(found.proposal.execution.is_none());
                    assert_eq!(found.seen.record.mode, Mode::Goal);
                }
            }
            free(&world, &session, Mode::Goal);
        }
    }
}
