//! Random sequences of commands beside a small model of the tables of ring-plan(1), STATES. After each step the record and
//! its history are what the model says, a refusal has the code that it says, and has changed no byte anywhere.

use super::{Said, WAIT, World};
use proptest::prelude::*;
use ring_session::Code;
use ring_session::record::{ExecutionState, Mode, PermissionMode, Proposal, ProposalKind, ProposalStatus};
use std::fs;

const TEXT: &str = "# Build API v2\n\n1. read\n";
const MODES: [(&str, PermissionMode); 3] = [
    ("ask", PermissionMode::Ask),
    ("accept-edits", PermissionMode::AcceptEdits),
    ("auto", PermissionMode::Auto),
];

#[derive(Clone, Copy, Debug)]
enum Turn {
    Live,
    /// One that is over.
    Old,
    Unknown,
    /// None is named.
    None,
}

#[derive(Clone, Debug)]
enum Op {
    Begin,
    End {
        failed: bool,
    },
    Abort,
    Enter {
        turn: Turn,
    },
    Submit {
        call: u8,
        turn: Turn,
        other_kind: bool,
    },
    Approve {
        place: u8,
        mode: Option<u8>,
    },
    Reject {
        place: u8,
    },
    Claim {
        place: u8,
        turn: Turn,
    },
    Finish {
        place: u8,
        completed: bool,
    },
    Expire,
    /// Somebody changes the newest artifact.
    Spoil,
    Tick {
        ms: i64,
    },
    Restart,
}

fn ops() -> impl Strategy<Value = Op> {
    let turn = || {
        prop_oneof![
            6 => Just(Turn::Live),
            1 => Just(Turn::Old),
            1 => Just(Turn::Unknown),
            2 => Just(Turn::None),
        ]
    };
    // the newest, mostly
    let place = || prop_oneof![4 => Just(0u8), 1 => 0u8..4];
    prop_oneof![
        6 => Just(Op::Begin),
        4 => prop::bool::weighted(0.2).prop_map(|failed| Op::End { failed }),
        2 => Just(Op::Abort),
        5 => turn().prop_map(|turn| Op::Enter { turn }),
        8 => (0u8..6, turn(), prop::bool::weighted(0.1))
            .prop_map(|(call, turn, other_kind)| Op::Submit { call, turn, other_kind }),
        6 => (place(), prop::option::weighted(0.9, 0u8..3)).prop_map(|(place, mode)| Op::Approve { place, mode }),
        3 => place().prop_map(|place| Op::Reject { place }),
        5 => (place(), turn()).prop_map(|(place, turn)| Op::Claim { place, turn }),
        4 => (place(), any::<bool>()).prop_map(|(place, completed)| Op::Finish { place, completed }),
        1 => Just(Op::Expire),
        1 => Just(Op::Spoil),
        2 => prop_oneof![Just(WAIT - 1), Just(1), Just(WAIT), -WAIT..WAIT].prop_map(|ms| Op::Tick { ms }),
        1 => Just(Op::Restart),
    ]
}

#[derive(Clone, Debug, PartialEq)]
struct Work {
    state: ExecutionState,
    turn: Option<String>,
    code: Option<String>,
}

/// What the model knows of a proposal.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    id: String,
    call: String,
    turn: String,
    status: ProposalStatus,
    version: u64,
    expires: i64,
    permission: Option<PermissionMode>,
    code: Option<Code>,
    work: Option<Work>,
}

impl Row {
    fn of(p: &Proposal) -> Row {
        let code = |code: &str| *Code::ALL.iter().find(|c| c.as_str() == code).unwrap();
        Row {
            id: p.id.clone(),
            call: p.call_id.clone(),
            turn: p.turn_id.clone(),
            status: p.status,
            version: p.version,
            expires: p.expires_ms.unwrap(),
            permission: p.permission_mode,
            code: p.error_code.as_deref().map(code),
            work: p.execution.as_ref().map(|e| Work {
                state: e.state,
                turn: e.turn_id.clone(),
                code: e.error_code.clone(),
            }),
        }
    }
}

/// What the model knows of the session. All that is open belongs to the boot of its time.
#[derive(Clone, Debug)]
struct Model {
    kind: ProposalKind,
    mode: Mode,
    permission: PermissionMode,
    turn: Option<String>,
    over: Vec<String>,
    open: Option<Row>,
    /// Newest last.
    closed: Vec<Row>,
    /// The file of the open row is not what was submitted.
    spoiled: bool,
    boot: u32,
}

type Expected = Result<(), Code>;

impl Model {
    fn contract(&self) -> Mode {
        crate::command::enter::mode(self.kind)
    }

    fn pending(&self) -> bool {
        self.open.as_ref().is_some_and(|r| r.status == ProposalStatus::Pending)
    }

    fn active(&self) -> bool {
        self.open.as_ref().is_some_and(|r| r.work.is_some())
    }

    fn close(&mut self, change: impl FnOnce(&mut Row)) {
        if let Some(mut row) = self.open.take() {
            change(&mut row);
            row.version += 1;
            self.closed.push(row);
        }
    }

    fn interrupt(&mut self, code: &str) {
        self.close(|row| match &mut row.work {
            Some(work) => {
                work.state = ExecutionState::Interrupted;
                work.code = Some(code.to_owned());
            }
            None => {
                row.status = ProposalStatus::Interrupted;
                row.code = Some(Code::PlanApprovalInterrupted);
            }
        });
    }

    /// What every writer stores first. Whether that is anything.
    fn refresh(&mut self, world: &World) -> bool {
        let mut changed = false;
        if self.pending() && self.open.as_ref().is_some_and(|r| world.now >= r.expires) {
            self.close(|row| {
                row.status = ProposalStatus::Expired;
                row.code = Some(Code::PlanApprovalTimeout);
            });
            changed = true;
        }
        if self.boot != world.boot {
            self.boot = world.boot;
            changed |= self.turn.is_some() || self.open.is_some();
            self.over.extend(self.turn.take());
            self.interrupt("PLAN_EXECUTION_INTERRUPTED");
        }
        changed
    }

    fn turn_of(&self, turn: Turn) -> Option<String> {
        match turn {
            Turn::Live => Some(self.turn.clone().unwrap_or_else(|| "no-live-turn".into())),
            Turn::Old => Some(self.over.first().cloned().unwrap_or_else(|| "no-old-turn".into())),
            Turn::Unknown => Some("unknown".into()),
            Turn::None => None,
        }
    }

    /// The row at a place, the newest at 0: its id, as a person would name it.
    fn named(&self, place: u8) -> Option<Row> {
        let all: Vec<&Row> = self.open.iter().chain(self.closed.iter().rev()).collect();
        all.get(usize::from(place)).map(|r| (*r).clone())
    }

    fn enter(&mut self, turn: &str) -> Expected {
        if self.mode != Mode::Agent {
            return Err(Code::PlanAlreadyActive);
        }
        if self.turn.as_deref() != Some(turn) || self.active() {
            return Err(Code::PlanApprovalStale);
        }
        self.mode = self.contract();
        Ok(())
    }

    /// What a submission meets; its row is made by the command.
    fn submit(&self, call: &str, turn: &str, kind: ProposalKind) -> Expected {
        if let Some(known) = self.open.iter().chain(&self.closed).find(|r| r.call == call) {
            let same = known.turn == turn && kind == self.kind;
            return if same { Ok(()) } else { Err(Code::PlanApprovalConflict) };
        }
        match () {
            () if self.mode == Mode::Agent => Err(Code::PlanNotActive),
            () if kind != self.kind => Err(Code::PlanKindMismatch),
            () if self.turn.as_deref() != Some(turn) => Err(Code::PlanApprovalStale),
            () if self.pending() => Err(Code::PlanAlreadyPending),
            () => Ok(()),
        }
    }

    fn approve(&mut self, row: &Row, mode: Option<PermissionMode>) -> Expected {
        if row.status == ProposalStatus::Expired {
            return Err(Code::PlanApprovalTimeout);
        }
        let mode = mode.ok_or(Code::PlanPermissionModeRequired)?;
        match row.status {
            ProposalStatus::Approved if row.permission == Some(mode) => return Ok(()),
            ProposalStatus::Approved | ProposalStatus::Rejected => return Err(Code::PlanApprovalConflict),
            ProposalStatus::Interrupted => return Err(Code::PlanApprovalStale),
            _ => {}
        }
        if self.spoiled {
            return Err(Code::PlanArtifactHashMismatch);
        }
        let own = self.open.as_mut().unwrap();
        own.status = ProposalStatus::Approved;
        own.permission = Some(mode);
        own.version += 1;
        own.work = Some(Work {
            state: ExecutionState::Queued,
            turn: None,
            code: None,
        });
        (self.mode, self.permission) = (Mode::Agent, mode);
        Ok(())
    }

    fn reject(&mut self, row: &Row) -> Expected {
        match row.status {
            ProposalStatus::Expired => Err(Code::PlanApprovalTimeout),
            ProposalStatus::Approved => Err(Code::PlanApprovalConflict),
            ProposalStatus::Interrupted => Err(Code::PlanApprovalStale),
            ProposalStatus::Rejected => Ok(()),
            ProposalStatus::Pending => {
                self.close(|row| row.status = ProposalStatus::Rejected);
                Ok(())
            }
        }
    }

    fn claim(&mut self, row: &Row, turn: Option<&String>) -> Expected {
        if row.work.as_ref().is_none_or(|w| w.state != ExecutionState::Queued) {
            return Err(Code::PlanExecutionStale);
        }
        if turn.is_some_and(|t| self.over.contains(t)) {
            return Err(Code::Conflict);
        }
        if self.turn.is_some() && self.turn.as_ref() != turn {
            return Err(Code::AgentBusy);
        }
        if self.spoiled {
            self.interrupt(Code::PlanArtifactHashMismatch.as_str());
            return Err(Code::PlanArtifactHashMismatch);
        }
        let own = self.open.as_mut().unwrap();
        own.version += 1;
        let work = own.work.as_mut().unwrap();
        work.state = ExecutionState::Running;
        work.turn = turn.cloned();
        Ok(())
    }

    fn finish(&mut self, row: &Row, completed: bool) -> Expected {
        let word = match completed {
            true => ExecutionState::Completed,
            false => ExecutionState::Interrupted,
        };
        match row.work.as_ref().map(|w| w.state) {
            None => Err(Code::PlanExecutionStale),
            Some(ExecutionState::Queued | ExecutionState::Running) => {
                self.close(|row| {
                    let work = row.work.as_mut().unwrap();
                    work.state = word;
                    work.code = (!completed).then(|| "PLAN_EXECUTION_INTERRUPTED".to_owned());
                });
                Ok(())
            }
            Some(state) if state == word => Ok(()),
            Some(_) => Err(Code::PlanExecutionConflict),
        }
    }

    /// The end of the live turn.
    fn end(&mut self, failed: bool) {
        let Some(turn) = self.turn.take() else { return };
        let own = self.open.as_ref().is_some_and(|r| match &r.work {
            Some(work) => work.turn.as_ref() == Some(&turn),
            None => r.turn == turn,
        });
        if failed && own {
            self.interrupt("E1");
        }
        self.over.push(turn);
    }
}

struct Run {
    world: World,
    id: String,
    model: Model,
    minted: u32,
}

impl Run {
    fn new(kind: ProposalKind) -> Run {
        let world = World::new();
        let id = world.session(Mode::Agent);
        fs::write(world.file("report"), "{\"summary\": \"done\"}").unwrap();
        let model = Model {
            kind,
            mode: Mode::Agent,
            permission: PermissionMode::Inherit,
            turn: None,
            over: Vec::new(),
            open: None,
            closed: Vec::new(),
            spoiled: false,
            boot: 0,
        };
        Run {
            world,
            id,
            model,
            minted: 0,
        }
    }

    fn step(&mut self, op: &Op) {
        let mut model = self.model.clone();
        match op {
            Op::Tick { ms } => return self.world.now += ms,
            Op::Restart => return self.world.boot += 1,
            Op::Spoil => {
                if let Some(row) = &self.model.open {
                    let stored = self.world.store(0).stored(&self.id).unwrap().proposal;
                    if let Some(own) = stored.filter(|p| p.id == row.id) {
                        fs::write(self.world.project().join(&own.artifact.path), "other").unwrap();
                        self.model.spoiled = true;
                    }
                }
                return;
            }
            _ => {}
        }
        let due = model.open.is_some();
        let stored = model.refresh(&self.world);
        let before = self.world.tree();
        let Some((said, expected)) = self.command(&mut model, op) else {
            return;
        };
        assert_eq!(said, expected, "{op:?} on {model:?}");
        let untouched = match op {
            // of no concern to it: a turn without a proposal
            Op::Expire => !due,
            // nothing to claim or to finish: the session is not asked
            Op::Claim { place, .. } | Op::Finish { place, .. } => model.named(*place).is_some_and(|r| r.work.is_none()),
            _ => false,
        };
        if untouched {
            assert!(self.world.tree() == before, "{op:?} has changed something");
            return;
        }
        // a claim that finds the file changed has ended the execution
        let ended = said == Err(Code::PlanArtifactHashMismatch) && matches!(op, Op::Claim { .. });
        if said.is_err() && !stored && !ended {
            assert!(self.world.tree() == before, "{op:?}: the refusal has changed something");
        }
        self.model = model;
        self.compare(op);
    }

    fn plan(&self, words: &[&str]) -> Expected {
        let said: Said = self.world.plan(words, 0);
        said.map(drop).map_err(|e| e.code)
    }

    /// Runs a command, and says what it must say; none: there is nothing that it could be about.
    fn command(&mut self, model: &mut Model, op: &Op) -> Option<(Expected, Expected)> {
        let kind = self.model.kind;
        Some(match op {
            Op::Begin => {
                let said = self.world.begin(&self.id);
                let busy = model.turn.is_some() || model.open.is_some();
                if let (Ok(turn), false) = (&said, busy) {
                    model.turn = Some(turn.clone());
                }
                let expected = if busy { Err(Code::AgentBusy) } else { Ok(()) };
                (said.map(drop).map_err(|e| e.code), expected)
            }
            Op::End { failed } => {
                let turn = model.turn.clone()?;
                self.world.end(&self.id, &turn, failed.then_some("E1"));
                model.end(*failed);
                (Ok(()), Ok(()))
            }
            Op::Abort => {
                self.world.abort(&self.id);
                model.interrupt("PLAN_EXECUTION_INTERRUPTED");
                model.over.extend(model.turn.take());
                (Ok(()), Ok(()))
            }
            Op::Enter { turn } => {
                let turn = model.turn_of(*turn)?;
                let words = [
                    "enter",
                    &self.id,
                    "--kind",
                    kind.as_str(),
                    "--turn",
                    &turn,
                    "--call",
                    "e",
                ];
                (self.plan(&words), model.enter(&turn))
            }
            Op::Submit { call, turn, other_kind } => {
                let turn = model.turn_of(*turn)?;
                // most calls are new ones
                self.minted += 1;
                let call = if *call == 0 {
                    "one".into()
                } else {
                    format!("call-{}", self.minted)
                };
                let given = match (kind, other_kind) {
                    (ProposalKind::Plan, false) | (ProposalKind::Goal, true) => ProposalKind::Plan,
                    _ => ProposalKind::Goal,
                };
                let expected = model.submit(&call, &turn, given);
                let is_new = !model.open.iter().chain(&model.closed).any(|r| r.call == call);
                let said = self.world.submit(&self.id, given, (&turn, &call), TEXT);
                if let (Ok(proposal), true) = (&said, is_new) {
                    let row = Row::of(proposal);
                    assert_eq!((row.status, row.version), (ProposalStatus::Pending, 1));
                    assert_eq!(row.expires, self.world.now + WAIT);
                    // in a contract mode nothing approved can be active
                    assert!(model.open.is_none());
                    (model.open, model.spoiled) = (Some(row), false);
                }
                (said.map(drop).map_err(|e| e.code), expected)
            }
            Op::Approve { place, mode } => {
                let row = model.named(*place)?;
                let mode = mode.map(|m| MODES[usize::from(m)]);
                let mut words = vec!["approve", &row.id];
                words.extend(mode.into_iter().flat_map(|(word, _)| ["--permission", word]));
                (self.plan(&words), model.approve(&row, mode.map(|(_, mode)| mode)))
            }
            Op::Reject { place } => {
                let row = model.named(*place)?;
                (self.plan(&["reject", &row.id]), model.reject(&row))
            }
            Op::Claim { place, turn } => {
                let row = model.named(*place)?;
                let turn = model.turn_of(*turn);
                let mut words = vec!["claim", &row.id];
                words.extend(turn.iter().flat_map(|t| ["--turn", t]));
                let said = self.plan(&words);
                let expected = model.claim(&row, turn.as_ref());
                if let (Ok(()), None) = (said, turn) {
                    // a new id: any will do
                    let stored = self.world.store(0).stored(&self.id).unwrap().proposal;
                    let minted = stored.and_then(|p| p.execution).and_then(|e| e.turn_id);
                    assert!(minted.is_some());
                    model.open.as_mut()?.work.as_mut()?.turn = minted;
                }
                (said, expected)
            }
            Op::Finish { place, completed } => {
                let row = model.named(*place)?;
                let report = self.world.file("report");
                let word = if *completed { "completed" } else { "interrupted" };
                let words = ["finish", &row.id, word, "--report", report.to_str().unwrap()];
                (self.plan(&words), model.finish(&row, *completed))
            }
            Op::Expire => (self.plan(&["expire"]), Ok(())),
            Op::Tick { .. } | Op::Restart | Op::Spoil => return None,
        })
    }

    /// The files hold what the model holds, as every reader sees it.
    fn compare(&self, op: &Op) {
        let store = self.world.store(0);
        let seen = store.see(&self.id).unwrap().record;
        let model = &self.model;
        let what = format!("{op:?}: {model:?}");
        assert_eq!(
            (seen.mode, seen.permission_mode),
            (model.mode, model.permission),
            "{what}"
        );
        assert_eq!(seen.turn.as_ref().map(|t| &t.id), model.turn.as_ref(), "{what}");
        assert_eq!(seen.proposal.as_ref().map(Row::of), model.open, "{what}");
        let (found, broken) = crate::locate::all(&store).unwrap();
        assert!(broken.is_empty(), "{what}");
        let mut past: Vec<Row> = found.iter().map(|f| Row::of(&f.proposal)).collect();
        past.retain(|r| model.open.as_ref().is_none_or(|o| o.id != r.id));
        let mut closed = model.closed.clone();
        past.sort_by(|a, b| a.id.cmp(&b.id));
        closed.sort_by(|a, b| a.id.cmp(&b.id));
        assert_eq!(past, closed, "{what}");
        // a file for each proposal, and no other
        let files = self.world.artifacts(model.kind).len();
        assert_eq!(files, closed.len() + usize::from(model.open.is_some()), "{what}");
    }
}

fn sequences() -> ProptestConfig {
    ProptestConfig {
        cases: 128,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(sequences())]

    #[test]
    fn p11_p22_p32_any_sequence_of_commands_keeps_to_the_tables_of_a_plan(all in prop::collection::vec(ops(), 1..60)) {
        let mut run = Run::new(ProposalKind::Plan);
        all.iter().for_each(|op| run.step(op));
    }

    #[test]
    fn p11_p22_p32_any_sequence_of_commands_keeps_to_the_tables_of_a_goal(all in prop::collection::vec(ops(), 1..60)) {
        let mut run = Run::new(ProposalKind::Goal);
        all.iter().for_each(|op| run.step(op));
    }
}
