//! Random sequences of commands over several sessions, beside a small model of what they must do. After each step the
//! files hold what the model holds, and a reader who comes after the owner's death, or after a restart of the machine,
//! sees what the model says of that.

use crate::harness::check;
use proptest::prelude::*;
use ring_session::lifecycle::{Begin, Closing};
use ring_session::lock::Lock;
use ring_session::permission::Opening;
use ring_session::process::{Look, ProcessStat, Stamp};
use ring_session::queue::Push;
use ring_session::record::{Answer, Origin, Outcome, Record, RequestState};
use ring_session::recovery::Reach;
use ring_session::row::{Role, Row};
use ring_session::store::Files;
use ring_session::work::{Behind, Here, Work};
use ring_session::{Code, Refusal, StateDir, Store, fork, id, rows, transcript};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

const START: i64 = 1_800_000_000_000;
/// Pids of the owners: these, and so many more.
const PIDS: std::ops::Range<u32> = 100..103;

thread_local! {
    /// Start ticks of each owner's process; 0: gone.
    static LIVING: Cell<[u64; 3]> = const { Cell::new([1, 1, 1]) };
}

fn look(pid: u32) -> Look {
    let ticks = LIVING
        .get()
        .get(pid.wrapping_sub(PIDS.start) as usize)
        .copied()
        .unwrap_or(0);
    match ticks {
        0 => Look::Gone,
        start_ticks => Look::Found(ProcessStat {
            pid,
            state: 'S',
            start_ticks,
            ..ProcessStat::default()
        }),
    }
}

fn stamp(boot: u32, owner: Option<u8>) -> Stamp {
    let pid = owner.map_or(0, |o| PIDS.start + u32::from(o));
    Stamp {
        host: "box".into(),
        boot: format!("boot{boot:04}"),
        pid_ns: 1,
        pid,
        start_ticks: owner.map_or(0, |o| LIVING.get()[usize::from(o)]),
    }
}

#[derive(Clone, Copy, Debug)]
enum Which {
    Live,
    Old,
    Unnamed,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Begin { owner: Option<u8> },
    End { which: Which, failed: bool, seen: bool },
    Abort { which: Which },
    Stop,
    Steer,
    Append { which: Which },
    Checkpoint,
    Ask,
    Answer { place: u8, answer: u8 },
    Push { key: Option<u8> },
    Remove { place: u8 },
    Prioritize { place: u8 },
    Next { owner: Option<u8> },
    Hold { held: bool },
    Rename,
    Recover { named: bool, forced: bool },
    Fork,
    Delete,
    Tick { ms: i64 },
    Die { owner: u8 },
    Live { owner: u8 },
    Restart,
}

fn ops() -> impl Strategy<Value = Op> {
    let owner = || prop::option::of(0u8..3);
    let which = || {
        prop_oneof![
            4 => Just(Which::Live),
            1 => Just(Which::Old),
            1 => Just(Which::Unnamed),
        ]
    };
    prop_oneof![
        6 => owner().prop_map(|owner| Op::Begin { owner }),
        5 => (which(), any::<bool>(), any::<bool>()).prop_map(|(which, failed, seen)| Op::End { which, failed, seen }),
        3 => which().prop_map(|which| Op::Abort { which }),
        1 => Just(Op::Stop),
        1 => Just(Op::Steer),
        3 => which().prop_map(|which| Op::Append { which }),
        2 => Just(Op::Checkpoint),
        3 => Just(Op::Ask),
        3 => (any::<u8>(), 0u8..3).prop_map(|(place, answer)| Op::Answer { place, answer }),
        5 => prop::option::of(0u8..3).prop_map(|key| Op::Push { key }),
        1 => any::<u8>().prop_map(|place| Op::Remove { place }),
        2 => any::<u8>().prop_map(|place| Op::Prioritize { place }),
        4 => owner().prop_map(|owner| Op::Next { owner }),
        2 => any::<bool>().prop_map(|held| Op::Hold { held }),
        1 => Just(Op::Rename),
        2 => (any::<bool>(), any::<bool>()).prop_map(|(named, forced)| Op::Recover { named, forced }),
        1 => Just(Op::Fork),
        1 => Just(Op::Delete),
        2 => (-3_600_000i64..3_600_000).prop_map(|ms| Op::Tick { ms }),
        2 => (0u8..3).prop_map(|owner| Op::Die { owner }),
        2 => (0u8..3).prop_map(|owner| Op::Live { owner }),
        1 => Just(Op::Restart),
    ]
}

/// What the model knows of a live turn.
#[derive(Clone, Debug)]
struct Live {
    id: String,
    owner: Stamp,
    user_row: Option<String>,
    answered: bool,
    stopping: bool,
    /// Open requests with the time that each expires.
    asked: Vec<(String, i64)>,
    checkpoint: Option<String>,
    entry: Option<String>,
}

/// What the model knows of a session.
#[derive(Clone, Debug, Default)]
struct Session {
    id: String,
    live: Option<Live>,
    closed: Vec<(String, Outcome)>,
    told: BTreeSet<String>,
    queue: Vec<(String, Option<u8>)>,
    held: bool,
    boot: String,
    rows: Vec<String>,
}

impl Session {
    fn close(&mut self, outcome: Outcome, seen: bool) -> bool {
        let Some(live) = self.live.take() else { return false };
        if let Some(row) = live.checkpoint.filter(|r| !self.rows.contains(r)) {
            self.rows.push(row);
        }
        if outcome != Outcome::Aborted && !seen {
            self.told.insert(live.id.clone());
        }
        self.closed.push((live.id, outcome));
        true
    }

    fn is_dead(&self, world: &World) -> bool {
        let here = stamp(world.boot, None);
        self.live.as_ref().is_some_and(|l| l.owner.is_dead(&here, look))
    }

    /// What every writer does first: recovery and expiry.
    fn refresh(&mut self, world: &World) {
        if let Some(live) = &mut self.live {
            live.asked.retain(|(_, at)| world.now < *at);
        }
        if self.is_dead(world) {
            self.close(Outcome::Aborted, false);
            self.held |= !self.queue.is_empty();
        }
        self.held |= !self.queue.is_empty() && self.boot != stamp(world.boot, None).boot;
    }

    fn turn_of(&self, which: Which) -> Option<String> {
        match which {
            Which::Live => self.live.as_ref().map(|l| l.id.clone()),
            Which::Old => self.closed.first().map(|(id, _)| id.clone()),
            Which::Unnamed => None,
        }
    }
}

/// Clock and machine.
#[derive(Clone, Debug)]
struct World {
    now: i64,
    boot: u32,
}

impl World {
    fn here(&self) -> Here {
        Here {
            now: self.now,
            stamp: stamp(self.boot, None),
            look,
        }
    }
}

struct Run {
    _dir: tempfile::TempDir,
    state: StateDir,
    world: World,
    sessions: Vec<Session>,
    minted: u32,
}

fn behind(work: &Work, files: &Files) -> Behind {
    let Some(turn) = &work.record.turn else {
        return Behind::default();
    };
    let Some(row) = &turn.user_row else {
        return Behind::default();
    };
    let path = files.transcript();
    let size = transcript::size(&path).unwrap();
    transcript::behind(&path, &work.record, &turn.id, row, size).unwrap()
}

type Said = Result<(), Code>;

fn code<T>(result: Result<T, Refusal>) -> Result<T, Code> {
    result.map_err(|e| e.code)
}

impl Run {
    fn new(count: usize) -> Run {
        LIVING.set([1, 1, 1]);
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path().join("state"));
        let world = World { now: START, boot: 1 };
        let mut run = Run {
            _dir: dir,
            state,
            world,
            sessions: Vec::new(),
            minted: 0,
        };
        for _ in 0..count {
            let record = Record {
                id: id::mint(START),
                ..Record::default()
            };
            let record = run.store().create(record, &[]).unwrap();
            run.sessions.push(Session {
                id: record.id,
                ..Session::default()
            });
        }
        run
    }

    fn store(&self) -> Store {
        Store::new(self.state.clone(), self.world.here())
    }

    fn name(&mut self, what: &str) -> String {
        self.minted += 1;
        format!("{what}-{}", self.minted)
    }

    /// Applies one step to the files and to the model, and compares what both say.
    fn step(&mut self, place: usize, op: Op) {
        match op {
            Op::Tick { ms } => self.world.now += ms,
            Op::Restart => {
                self.world.boot += 1;
                LIVING.set([0, 0, 0]);
            }
            Op::Die { owner } | Op::Live { owner } => {
                let mut living = LIVING.get();
                let ticks = &mut living[usize::from(owner)];
                // a pid that is used again has another start
                *ticks = if matches!(op, Op::Die { .. }) {
                    0
                } else {
                    *ticks + self.world.boot as u64 * 1000 + 1
                };
                LIVING.set(living);
            }
            _ => {
                let place = place % self.sessions.len();
                let mut model = self.sessions[place].clone();
                model.refresh(&self.world);
                let Some((said, expected)) = self.command(&mut model, op) else {
                    return;
                };
                assert_eq!(said, expected, "{op:?} on {model:?}");
                match op {
                    Op::Delete if said.is_ok() => drop(self.sessions.remove(place)),
                    _ => self.sessions[place] = model,
                }
            }
        }
    }

    /// What a command did, and what the model (already refreshed, and now changed) says that it does.
    /// None: there is nothing to command.
    fn command(&mut self, model: &mut Session, op: Op) -> Option<(Said, Said)> {
        let store = self.store();
        let id = model.id.clone();
        Some(match op {
            Op::Begin { owner } => {
                let owner = stamp(self.world.boot, owner);
                let given = owner.clone();
                let said = store.update(&id, |work, _| {
                    work.busy(true).map_or(Ok(()), Err)?;
                    Ok(work.begin(Begin {
                        prompt: "go".into(),
                        owner: given,
                        ..Begin::default()
                    }))
                });
                let busy = model.live.is_some() || (!model.queue.is_empty() && !model.held);
                let expected = if busy { Err(Code::AgentBusy) } else { Ok(()) };
                if let Ok(((turn, row), _)) = &said {
                    self.began(model, turn, row.clone(), owner, None);
                }
                (code(said).map(drop), expected)
            }
            Op::Next { owner } => {
                let owner = stamp(self.world.boot, owner);
                let said = store.update(&id, |work, _| work.next(owner.clone(), false));
                let expected = match (&model.live, model.queue.is_empty(), model.held) {
                    (Some(_), _, _) | (None, false, true) => Err(Code::AgentBusy),
                    (None, true, _) => Err(Code::NotFound),
                    (None, false, false) => Ok(()),
                };
                if let Ok(((turn, entry), record)) = &said {
                    assert_eq!(entry.id, model.queue[0].0, "first in, first out");
                    model.queue.remove(0);
                    let row = record.turn.as_ref().unwrap().user_row.clone();
                    self.began(model, turn, row, owner, Some(entry.id.clone()));
                }
                (code(said).map(drop), expected)
            }
            Op::End { which, failed, seen } => {
                let turn = model.turn_of(which)?;
                let outcome = if failed { Outcome::Error } else { Outcome::Completed };
                let said = store.update(&id, |work, files| {
                    let known = ring_session::history::find_turn(&files.history(), &work.record, &turn).unwrap();
                    let live = work.find_turn(&turn, known.is_some())?;
                    let closing = Closing {
                        outcome,
                        seen,
                        ..Closing::default()
                    };
                    Ok(work.end(&turn, live, closing, known.map(|k| k.status)))
                });
                let (ended, _) = said.unwrap();
                let is_live = model.live.as_ref().is_some_and(|l| l.id == turn);
                assert_eq!(ended.ok, is_live);
                if is_live {
                    model.close(outcome, seen);
                    assert_eq!(ended.notification.is_some(), !seen);
                } else {
                    let decided = model.closed.iter().find(|(t, _)| *t == turn).map(|(_, o)| *o);
                    assert_eq!(ended.status, decided, "decided once");
                }
                (Ok(()), Ok(()))
            }
            Op::Abort { which } => {
                let turn = model.turn_of(which);
                if turn.is_none() && !matches!(which, Which::Unnamed) {
                    return None;
                }
                let old = turn
                    .as_ref()
                    .is_some_and(|t| model.live.as_ref().is_none_or(|l| l.id != *t));
                let (done, _) = store
                    .update(&id, |work, files| {
                        if old {
                            return Ok(None);
                        }
                        let behind = behind(work, files);
                        Ok(Some(work.abort(&behind)))
                    })
                    .unwrap();
                let ok = done.as_ref().is_some_and(|d| d.ok);
                assert_eq!(ok, !old && model.live.is_some());
                if ok {
                    let live = model.live.as_mut().unwrap();
                    let restored = !live.answered && live.checkpoint.is_none();
                    assert_eq!(done.unwrap().kind == "restore", restored);
                    if let Some(row) = live.user_row.clone().filter(|_| restored) {
                        assert_eq!(model.rows.pop(), Some(row), "exactly the prompt");
                    }
                    model.close(Outcome::Aborted, false);
                }
                (Ok(()), Ok(()))
            }
            Op::Stop => {
                let (asked, _) = store.update(&id, |work, _| Ok(work.stop())).unwrap();
                assert_eq!(asked, model.live.is_some());
                if let Some(live) = &mut model.live {
                    live.stopping = true;
                }
                (Ok(()), Ok(()))
            }
            Op::Steer => {
                let turn = model.turn_of(Which::Live).or(model.turn_of(Which::Old))?;
                let said = store.update(&id, |work, _| work.steer(&turn, "and that"));
                let expected = match model.live.as_mut().filter(|l| !l.stopping) {
                    None => Err(Code::TurnNotFound),
                    Some(live) => {
                        live.answered = true;
                        Ok(())
                    }
                };
                if let Ok((row, _)) = &said {
                    model.rows.push(row.clone());
                }
                (code(said).map(drop), expected)
            }
            Op::Append { which } => {
                let row = self.name("row");
                let turn = model.turn_of(which);
                let made = Row::assistant(row.clone(), turn.as_deref().unwrap_or(""), self.world.now, "text");
                let again = vec![(made.clone(), true)];
                let done = rows::append(&store, &id, vec![(made, true)], None).unwrap();
                assert_eq!((done.appended, done.skipped), (1, 0));
                let before = fs::read(store.files(&id).record()).unwrap();
                assert_eq!(rows::append(&store, &id, again, None).unwrap().skipped, 1);
                assert_eq!(fs::read(store.files(&id).record()).unwrap(), before);
                model.rows.push(row);
                if let Some(live) = &mut model.live {
                    live.answered = true;
                }
                (Ok(()), Ok(()))
            }
            Op::Checkpoint => {
                let turn = model.turn_of(Which::Live).or(model.turn_of(Which::Old))?;
                let row = self.name("partial");
                let made = Row::assistant(row.clone(), &turn, self.world.now, "so far");
                let said = store.keep_checkpoint(&id, &turn, &made);
                let expected = match &mut model.live {
                    Some(live) => {
                        live.checkpoint = Some(row);
                        Ok(())
                    }
                    None => Err(Code::TurnNotFound),
                };
                (code(said), expected)
            }
            Op::Ask => {
                let turn = model.turn_of(Which::Live).or(model.turn_of(Which::Old))?;
                let call = self.name("call");
                let said = store.update(&id, |work, _| {
                    work.open_request(Opening {
                        turn,
                        call,
                        tool: "Edit".into(),
                        origin: Origin::Cli,
                        wait_ms: Some(120_000),
                        ..Opening::default()
                    })
                });
                let expected = match &model.live {
                    None => Err(Code::TurnNotFound),
                    Some(live) if live.asked.len() >= 16 => Err(Code::LimitExceeded),
                    Some(_) => Ok(()),
                };
                if let (Ok((request, _)), Some(live)) = (&said, &mut model.live) {
                    live.asked.push((request.id.clone(), request.expires_ms.unwrap()));
                }
                (code(said).map(drop), expected)
            }
            Op::Answer { place, answer } => {
                let all = store.stored(&id).unwrap().permissions;
                let request = all.get(usize::from(place) % all.len().max(1)).cloned()?;
                let answer = [Answer::AllowOnce, Answer::Deny, Answer::AllowOnce][usize::from(answer)];
                let said = store.update(&id, |work, _| work.answer(&request.id, answer));
                let live = model.live.as_mut();
                let open = live.and_then(|l| {
                    let place = l.asked.iter().position(|(r, _)| *r == request.id)?;
                    Some(l.asked.remove(place))
                });
                let expired = request.state == RequestState::Open && open.is_none();
                let expected = match (open, request.decision) {
                    (Some(_), _) => Ok(()),
                    (None, Some(before)) if before == answer && request.cause.as_deref() == Some("user") => Ok(()),
                    // overdue, or cancelled with its turn, by what this very writer found
                    (None, _) if expired && said.as_ref().is_err_and(|e| e.code == Code::PermissionTimeout) => {
                        Err(Code::PermissionTimeout)
                    }
                    (None, _) if request.cause.as_deref() == Some("PERMISSION_TIMEOUT") => Err(Code::PermissionTimeout),
                    (None, _) => Err(Code::Conflict),
                };
                (code(said).map(drop), expected)
            }
            Op::Push { key } => {
                let entry = self.name("entry");
                let content = key.map_or(entry.clone(), |k| format!("prompt {k}"));
                let push = Push {
                    id: Some(entry.clone()),
                    content,
                    key: key.map(|k| k.to_string()),
                    principal: "cli".into(),
                    ..Push::default()
                };
                let said = store.update(&id, |work, _| work.push(push));
                let same = model.queue.iter().find(|(_, k)| key.is_some() && *k == key).cloned();
                let expected = match &same {
                    Some(_) => Ok(()),
                    None if model.queue.len() >= 8 => Err(Code::AgentBusy),
                    None => Ok(()),
                };
                if let (Ok((pushed, _)), None) = (&said, &same) {
                    if model.queue.is_empty() {
                        model.boot = stamp(self.world.boot, None).boot;
                    }
                    assert_eq!(pushed.id, entry);
                    model.queue.push((entry, key));
                } else if let (Ok((pushed, _)), Some((entry, _))) = (&said, &same) {
                    assert_eq!(pushed.id, *entry);
                }
                (code(said).map(drop), expected)
            }
            Op::Remove { place } | Op::Prioritize { place } => {
                let started = model.live.as_ref().and_then(|l| l.entry.clone());
                let all: Vec<String> = model
                    .queue
                    .iter()
                    .map(|(e, _)| e.clone())
                    .chain(started.clone())
                    .collect();
                let entry = all
                    .get(usize::from(place) % (all.len() + 1))
                    .cloned()
                    .unwrap_or("unknown".into());
                let found = model.queue.iter().position(|(e, _)| *e == entry);
                let is_removal = matches!(op, Op::Remove { .. });
                let said = store.update(&id, |work, _| match is_removal {
                    true => work.remove_entry(&entry),
                    false => work.prioritize(&entry).map(|_| true),
                });
                let expected = match found {
                    _ if started.as_deref() == Some(&entry) => Err(Code::Conflict),
                    None if is_removal => Ok(false),
                    None => Err(Code::NotFound),
                    Some(place) => {
                        let entry = model.queue.remove(place);
                        if !is_removal {
                            model.queue.insert(0, entry);
                        }
                        Ok(true)
                    }
                };
                assert_eq!(code(said).map(|(done, _)| done), expected);
                (Ok(()), Ok(()))
            }
            Op::Hold { held } => {
                let said = store.update(&id, |work, _| {
                    work.hold(held);
                    Ok(())
                });
                model.held = held;
                if !held {
                    model.boot = stamp(self.world.boot, None).boot;
                }
                (code(said).map(drop), Ok(()))
            }
            Op::Rename => {
                let title = self.name("title");
                let said = store.update(&id, |work, _| {
                    work.record.title = title;
                    work.record.title_auto = false;
                    Ok(())
                });
                (code(said).map(drop), Ok(()))
            }
            Op::Recover { named, forced } => {
                let reach = match (named, forced) {
                    (_, true) => Reach::Living,
                    (true, false) => Reach::Unknown,
                    (false, false) => Reach::Dead,
                };
                let said = store.update(&id, |work, _| {
                    if reach == Reach::Unknown {
                        work.check_owner_is_gone()?;
                    }
                    if reach != Reach::Dead {
                        work.recover(reach);
                    }
                    Ok(())
                });
                let owned = model.live.as_ref().is_some_and(|l| l.owner.pid != 0);
                let expected = match reach {
                    Reach::Unknown if owned => Err(Code::AgentBusy),
                    Reach::Dead => Ok(()),
                    _ => {
                        if model.close(Outcome::Aborted, false) {
                            model.held |= !model.queue.is_empty();
                        }
                        Ok(())
                    }
                };
                (code(said).map(drop), expected)
            }
            Op::Fork => {
                let before = fs::read(store.files(&id).record()).unwrap();
                let said = code(fork::fork(&store, &id, None, None));
                assert_eq!(
                    fs::read(store.files(&id).record()).unwrap(),
                    before,
                    "the source stays to the byte"
                );
                let stored = self.sessions.iter().find(|s| s.id == id).cloned();
                if let Ok(child) = &said {
                    assert_eq!(child.transcript.rows as usize, stored_rows(&store, &id).len());
                    if self.sessions.len() < 5 {
                        self.sessions.push(Session {
                            id: child.id.clone(),
                            rows: stored_rows(&store, &child.id),
                            ..Session::default()
                        });
                    } else {
                        store.delete(&child.id, |_, _| Ok(())).unwrap();
                    }
                }
                let expected = if model.live.is_some() {
                    Err(Code::AgentBusy)
                } else {
                    Ok(())
                };
                // a reader that finds a death writes nothing: the model stays as it was stored
                if let Some(stored) = stored {
                    *model = stored;
                }
                (said.map(drop), expected)
            }
            Op::Delete => {
                let keeps = self.sessions.len() == 1;
                let said = store.delete(&id, |work, _| match keeps {
                    true => Err(Refusal::new(Code::Conflict, "the last one")),
                    false => work.busy(false).map_or(Ok(()), Err),
                });
                let expected = match &model.live {
                    _ if keeps => Err(Code::Conflict),
                    Some(_) => Err(Code::AgentBusy),
                    None => Ok(()),
                };
                (code(said), expected)
            }
            Op::Tick { .. } | Op::Die { .. } | Op::Live { .. } | Op::Restart => (Ok(()), Ok(())),
        })
    }

    fn began(&self, model: &mut Session, turn: &str, row: Option<String>, owner: Stamp, entry: Option<String>) {
        assert!(model.live.is_none(), "one running turn");
        model.rows.extend(row.clone());
        model.live = Some(Live {
            id: turn.to_owned(),
            owner,
            user_row: row,
            answered: false,
            stopping: false,
            asked: Vec::new(),
            checkpoint: None,
            entry,
        });
    }

    /// The files hold what the model holds; so does what a reader sees now, after a death, and after a restart.
    fn compare(&self) {
        let living = LIVING.get();
        let later = World {
            boot: self.world.boot + 1,
            now: self.world.now + 3_600_000,
        };
        for model in &self.sessions {
            for (world, living) in [(&self.world, living), (&self.world, [0, 0, 0]), (&later, [0, 0, 0])] {
                LIVING.set(living);
                let mut model = model.clone();
                model.refresh(world);
                let seen = Store::new(self.state.clone(), world.here()).see(&model.id).unwrap();
                same(&seen.record, &model);
            }
            LIVING.set(living);
            check(&self.store().files(&model.id).dir);
            // what a death will promote is no row yet
            assert_eq!(stored_rows(&self.store(), &model.id), model.rows, "{model:?}");
        }
    }

    fn snapshot(&self) -> Vec<(String, u64, Vec<u8>)> {
        let one = |s: &Session| {
            let bytes = fs::read(self.store().files(&s.id).record()).unwrap();
            let record: Record = serde_json::from_slice(&bytes).unwrap();
            (s.id.clone(), record.revision, bytes)
        };
        self.sessions.iter().map(one).collect()
    }
}

fn stored_rows(store: &Store, id: &str) -> Vec<String> {
    let rows = store.rows(id).unwrap();
    assert!(rows.iter().all(|r| r.role != Role::Tool));
    rows.into_iter().map(|r| r.id).collect()
}

fn same(record: &Record, model: &Session) {
    let live = model.live.as_ref();
    assert_eq!(record.turn.as_ref().map(|t| &t.id), live.map(|l| &l.id), "{model:?}");
    let closed: Vec<(String, Outcome)> = record.turns.iter().map(|t| (t.id.clone(), t.status)).collect();
    let from = model.closed.len().saturating_sub(32);
    assert_eq!(closed, model.closed[from..]);
    let told: BTreeSet<String> = record.notifications.iter().map(|n| n.turn_id.clone()).collect();
    assert_eq!((told.len(), &told), (record.notifications.len(), &model.told));
    let queue: Vec<&String> = record.queue.entries.iter().map(|e| &e.id).collect();
    assert_eq!(queue, model.queue.iter().map(|(e, _)| e).collect::<Vec<_>>());
    if !queue.is_empty() {
        assert_eq!(record.queue.held, model.held, "{model:?}");
    }
    let open: Vec<&String> = record
        .permissions
        .iter()
        .filter(|r| r.state == RequestState::Open)
        .map(|r| &r.id)
        .collect();
    let asked: Vec<&String> = live
        .map(|l| l.asked.iter().map(|(r, _)| r).collect())
        .unwrap_or_default();
    assert_eq!(open, asked);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// S1 S5 S6 S7 S11 S29 S38 S45 S50: one running turn, its reason decided once, one notification for each unseen end,
    /// the queue in its order, the revision growing with each change and the file the same to the byte without one.
    #[test]
    fn any_sequence_of_commands_keeps_to_the_model(steps in prop::collection::vec((0usize..3, ops()), 1..70)) {
        let mut run = Run::new(3);
        for (place, op) in steps {
            let before = run.snapshot();
            run.step(place, op);
            for (id, revision, bytes) in run.snapshot() {
                if let Some((_, old, was)) = before.iter().find(|(other, _, _)| *other == id) {
                    prop_assert_eq!(revision > *old, bytes != *was, "{:?} on {}", op, id);
                }
            }
            run.compare();
        }
        // no lock is left (a process that another test is just starting may have it open for a moment), and each end has
        // its one line
        for session in &run.sessions {
            drop(Lock::acquire(&run.store().files(&session.id).lock(), Duration::from_secs(5)).unwrap());
        }
        let lines = fs::read_to_string(run.state.events()).unwrap_or_default();
        let ended: Vec<String> = lines
            .lines()
            .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap())
            .filter(|e| e["kind"] == "turn_ended")
            .map(|e| e["turn_id"].as_str().unwrap().to_owned())
            .collect();
        let once: BTreeSet<&String> = ended.iter().collect();
        prop_assert_eq!(once.len(), ended.len());
        for session in &run.sessions {
            for (turn, _) in &session.closed {
                prop_assert!(once.contains(turn), "{} has no line", turn);
            }
        }
    }
}
