//! Two who want the same thing at once: one gets it. Threads, each with a lock file of its own open, race as processes
//! do, because a lock belongs to an open file; some hundred rounds are of real processes.

use crate::harness::{Home, check, list, names, reply, start, str_of, text};
use ring_session::lifecycle::{Begin, Closing};
use ring_session::permission::Opening;
use ring_session::queue::Push;
use ring_session::record::{Answer, Origin, Outcome, Record};
use ring_session::row::Row;
use ring_session::store::Files;
use ring_session::work::{Behind, Here, Work};
use ring_session::{Code, Refusal, StateDir, Store, fork, id, process::Stamp, rows, time, transcript};
use std::sync::Barrier;
use std::thread;

struct Arena {
    _dir: tempfile::TempDir,
    store: Store,
}

impl Arena {
    fn new() -> Arena {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(StateDir::at(dir.path().join("state")), Here::real(time::now_ms()));
        Arena { _dir: dir, store }
    }

    fn session(&self) -> String {
        let record = Record {
            id: id::mint(self.store.here().now),
            ..Record::default()
        };
        self.store.create(record, &[]).unwrap().id
    }

    fn record(&self, id: &str) -> Record {
        check(&self.store.files(id).dir);
        self.store.stored(id).unwrap()
    }

    fn begin(&self, id: &str) -> Result<String, Refusal> {
        let begun = self.store.update(id, |work, _| {
            work.busy(true).map_or(Ok(()), Err)?;
            let begin = Begin {
                prompt: "go".into(),
                owner: Stamp::nobody(),
                ..Begin::default()
            };
            Ok(work.begin(begin).0)
        });
        begun.map(|(turn, _)| turn)
    }

    fn end(&self, id: &str, turn: &str) -> bool {
        let ended = self.store.update(id, |work, _| {
            let live = work.find_turn(turn, false)?;
            Ok(work.end(turn, live, Closing::default(), None))
        });
        ended.unwrap().0.ok
    }

    fn abort(&self, id: &str) -> bool {
        let aborted = self.store.update(id, |work, files| {
            let behind = behind(work, files);
            Ok(work.abort(&behind))
        });
        aborted.unwrap().0.ok
    }

    fn append(&self, id: &str, turn: &str, row: &str) -> Result<usize, Refusal> {
        let row = Row::assistant(row.into(), turn, self.store.here().now, "text");
        rows::append(&self.store, id, vec![(row, true)], None).map(|done| done.appended)
    }

    fn rows(&self, id: &str) -> Vec<Row> {
        self.store.rows(id).unwrap()
    }
}

fn behind(work: &Work, files: &Files) -> Behind {
    let path = files.transcript();
    match &work.record.turn {
        Some(turn) => {
            let row = turn.user_row.clone().unwrap_or_default();
            let size = transcript::size(&path).unwrap();
            transcript::behind(&path, &work.record, &turn.id, &row, size).unwrap()
        }
        None => Behind::default(),
    }
}

/// Runs two at the same moment.
fn both<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    let gate = Barrier::new(2);
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            gate.wait();
            a()
        });
        gate.wait();
        let second = b();
        (first.join().unwrap(), second)
    })
}

#[test]
fn s2_of_two_who_begin_one_does_200_times() {
    let arena = Arena::new();
    let id = arena.session();
    for round in 1..=200 {
        let (a, b) = both(|| arena.begin(&id), || arena.begin(&id));
        let turn = match (a, b) {
            (Ok(turn), Err(e)) | (Err(e), Ok(turn)) => {
                assert_eq!(e.code, Code::AgentBusy);
                turn
            }
            other => panic!("{other:?}"),
        };
        let record = arena.record(&id);
        assert_eq!(record.turn.unwrap().id, turn);
        assert_eq!(arena.rows(&id).len(), round, "one row");
        assert!(arena.end(&id, &turn));
    }
}

#[test]
fn s7_of_an_end_and_an_abort_one_decides_200_times() {
    let arena = Arena::new();
    let id = arena.session();
    let mut won = [0, 0];
    for round in 1..=200 {
        let turn = arena.begin(&id).unwrap();
        arena.append(&id, &turn, &format!("row-{round}")).unwrap();
        let (ended, aborted) = both(|| arena.end(&id, &turn), || arena.abort(&id));
        assert!(ended ^ aborted, "{ended} {aborted}");
        let record = arena.record(&id);
        let last = record.turns.last().unwrap();
        let expected = if ended { Outcome::Completed } else { Outcome::Aborted };
        assert_eq!((&last.id, last.status), (&turn, expected));
        assert_eq!(
            record.notifications.iter().filter(|n| n.turn_id == turn).count(),
            usize::from(ended)
        );
        won[usize::from(ended)] += 1;
    }
    assert_eq!(won[0] + won[1], 200);
}

#[test]
fn s45_of_two_who_take_the_next_entry_one_gets_it_200_times() {
    let arena = Arena::new();
    let id = arena.session();
    for round in 0..200 {
        for _ in 0..2 {
            let push = Push {
                content: format!("prompt {round}"),
                principal: "cli".into(),
                ..Push::default()
            };
            arena.store.update(&id, |work, _| work.push(push)).unwrap();
        }
        let queue = arena.record(&id).queue.entries;
        let next = || arena.store.update(&id, |work, _| work.next(Stamp::nobody(), false));
        let (turn, entry) = match both(next, next) {
            (Ok((won, _)), Err(e)) | (Err(e), Ok((won, _))) => {
                assert_eq!(e.code, Code::AgentBusy);
                won
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(entry.id, queue[0].id);
        let record = arena.record(&id);
        assert_eq!(record.turn.unwrap().queue_entry.as_ref(), Some(&entry.id));
        assert_eq!(record.queue.entries, queue[1..]);
        assert!(arena.end(&id, &turn));
        let rest = queue[1].id.clone();
        assert!(arena.store.update(&id, |work, _| work.remove_entry(&rest)).unwrap().0);
    }
}

#[test]
fn s43_of_20_who_push_at_once_eight_succeed() {
    let arena = Arena::new();
    let id = arena.session();
    let gate = Barrier::new(20);
    let pushed: usize = thread::scope(|scope| {
        let push = |n: usize| {
            gate.wait();
            let push = Push {
                content: format!("prompt {n}"),
                ..Push::default()
            };
            arena.store.update(&id, |work, _| work.push(push)).map_err(|e| e.code)
        };
        let all: Vec<_> = (0..20).map(|n| scope.spawn(move || push(n))).collect();
        let all: Vec<_> = all.into_iter().map(|t| t.join().unwrap()).collect();
        assert!(all.iter().all(|r| !r.as_ref().is_err_and(|e| *e != Code::AgentBusy)));
        all.iter().filter(|r| r.is_ok()).count()
    });
    assert_eq!((pushed, arena.record(&id).queue.entries.len()), (8, 8));
}

#[test]
fn s55_a_fork_beside_a_delete_is_whole_or_not_there_200_times() {
    let arena = Arena::new();
    let mut forked = 0;
    for round in 0..200 {
        let id = arena.session();
        for n in 0..3 {
            arena.append(&id, "", &format!("{round}-{n}")).unwrap();
        }
        let delete = || arena.store.delete(&id, |work, _| work.busy(false).map_or(Ok(()), Err));
        let (child, deleted) = both(|| fork::fork(&arena.store, &id, None, None), delete);
        deleted.unwrap();
        assert!(!arena.store.files(&id).dir.exists());
        match child {
            Ok(child) => {
                forked += 1;
                assert_eq!(arena.rows(&child.id).len(), 3);
                assert_eq!(arena.record(&child.id).transcript.rows, 3);
                arena.store.delete(&child.id, |_, _| Ok(())).unwrap();
            }
            Err(e) => assert_eq!(e.code, Code::SessionNotFound, "{e:?}"),
        }
        assert!(names(&arena.store.state().sessions()).is_empty());
    }
    assert!(forked <= 200);
}

#[test]
fn s23_of_two_answers_and_of_an_answer_and_the_time_out_one_counts_200_times() {
    let arena = Arena::new();
    let id = arena.session();
    let turn = arena.begin(&id).unwrap();
    let open = |n: usize| {
        let opened = arena.store.update(&id, |work, _| {
            work.open_request(Opening {
                turn: turn.clone(),
                call: format!("call-{n}"),
                tool: "Edit".into(),
                origin: Origin::Cli,
                wait_ms: Some(1000),
                ..Opening::default()
            })
        });
        opened.unwrap().0.id
    };
    let decided = |request: &str| {
        let record = arena.record(&id);
        let found = record.permissions.into_iter().find(|r| r.id == request).unwrap();
        (found.decision.unwrap(), found.cause.unwrap())
    };
    for n in 0..100 {
        let request = open(n);
        let answer = |a: Answer| arena.store.update(&id, |work, _| work.answer(&request, a)).map(drop);
        let (a, b) = both(|| answer(Answer::AllowOnce), || answer(Answer::Deny));
        let expected = match (a, b) {
            (Ok(()), Err(e)) if e.code == Code::Conflict => Answer::AllowOnce,
            (Err(e), Ok(())) if e.code == Code::Conflict => Answer::Deny,
            other => panic!("{other:?}"),
        };
        assert_eq!(decided(&request), (expected, "user".into()));
    }
    // one sees the clock before the time is over, the other behind it
    let late = arena.store.at(arena.store.here().now + 1000);
    for n in 100..200 {
        let request = open(n);
        let answer = || {
            arena
                .store
                .update(&id, |work, _| work.answer(&request, Answer::AllowOnce))
        };
        let notice = || late.update(&id, |_, _| Ok(())).unwrap();
        let (answered, _) = both(answer, notice);
        let expected = match answered {
            Ok(_) => (Answer::AllowOnce, "user".to_owned()),
            Err(e) => {
                assert_eq!(e.code, Code::PermissionTimeout);
                (Answer::Deny, "PERMISSION_TIMEOUT".to_owned())
            }
        };
        assert_eq!(decided(&request), expected);
    }
}

#[test]
fn s32_a_row_that_races_an_abort_is_first_or_late_and_never_lost_200_times() {
    let arena = Arena::new();
    let id = arena.session();
    let mut expected = Vec::new();
    let mut first = 0;
    for round in 0..200 {
        let turn = arena.begin(&id).unwrap();
        let user = arena.record(&id).turn.unwrap().user_row.unwrap();
        let name = format!("row-{round}");
        let (appended, aborted) = both(|| arena.append(&id, &turn, &name), || arena.abort(&id));
        assert_eq!((appended.unwrap(), aborted), (1, true));
        let rows = arena.rows(&id);
        let row = rows.iter().find(|r| r.id == name).expect("never lost");
        let late = row.meta::<bool>("late") == Some(true);
        // in time: the prompt stays; late: it was taken back before
        assert_eq!(rows.iter().any(|r| r.id == user), !late, "{round}");
        if !late {
            expected.push(user);
            first += 1;
        }
        expected.push(name);
        let record = arena.record(&id);
        assert_eq!(record.turns.last().unwrap().status, Outcome::Aborted);
    }
    let rows: Vec<String> = arena.rows(&id).into_iter().map(|r| r.id).collect();
    assert_eq!(rows, expected, "{first} were first");
    assert_eq!(arena.record(&id).transcript.rows as usize, expected.len());
}

/// Statuses of commands that are given at once, sorted.
fn at_once(home: &Home, commands: &[&[&str]]) -> Vec<i32> {
    let children: Vec<_> = commands.iter().map(|args| start(&mut home.ring(args), b"")).collect();
    let mut statuses = Vec::new();
    for child in children {
        let out = child.wait_with_output().unwrap();
        statuses.push(out.status.code().unwrap_or_else(|| panic!("{}", text(&out.stderr))));
    }
    statuses.sort_unstable();
    statuses
}

#[test]
fn s2_of_32_processes_that_begin_one_does() {
    let home = Home::new();
    let id = home.new_session();
    let begin = ["begin", &id, "x"];
    let commands: Vec<&[&str]> = (0..32).map(|_| &begin[..]).collect();
    let mut expected = vec![4; 32];
    expected[0] = 0;
    assert_eq!(at_once(&home, &commands), expected);
    assert_eq!(home.rows(&id).len(), 1);
    assert_eq!(home.events_of("turn_started").len(), 1);
    assert!(home.record(&id)["turn"].is_object());
}

#[test]
fn processes_race_as_threads_do_in_each_pair_40_times() {
    let home = Home::new();
    // the age of an unfinished copy is told by the clock
    home.at(None);
    let id = home.new_session();
    for round in 0..40 {
        // begin, begin
        let begin = ["begin", &id, "x"];
        assert_eq!(at_once(&home, &[&begin, &begin]), [0, 4]);
        let turn = str_of(&home.record(&id)["turn"]["id"]);
        // two answers
        let request = home.ask(&id, &turn, "c", "Edit");
        let allow = ["permission", "answer", &id, &request, "allow-once"];
        let deny = ["permission", "answer", &id, &request, "deny"];
        assert_eq!(at_once(&home, &[&allow, &deny]), [0, 4]);
        // a row and an abort
        let row = format!("row-{round}");
        let mut append = home.ring(&["append", &id, "--turn", &turn]);
        let writer = start(&mut append, reply(&row, "text").as_bytes());
        assert_eq!(home.json(&["abort", &id])["ok"], true);
        assert!(writer.wait_with_output().unwrap().status.success());
        let rows = home.rows(&id);
        let late = rows.iter().find(|r| r["id"] == row.as_str()).unwrap()["meta"]["late"] == true;
        let kept = rows
            .iter()
            .any(|r| r["role"] == "user" && r["turn_id"] == turn.as_str());
        assert_eq!(kept, !late);
        // end, abort
        let turn = home.begin(&id, "y");
        let end = ["end", &id, "--turn", &turn, "completed"];
        assert_eq!(at_once(&home, &[&end, &["abort", &id]]), [0, 0]);
        let record = home.record(&id);
        let last = list(&record["turns"]).pop().unwrap();
        let told = list(&record["notifications"])
            .iter()
            .any(|n| n["turn_id"] == turn.as_str());
        assert_eq!(last["status"] == "completed", told);
        // next, next
        home.push(&id, "one");
        home.push(&id, "two");
        let next = ["queue", "next", &id];
        assert_eq!(at_once(&home, &[&next, &next]), [0, 4]);
        let record = home.record(&id);
        assert_eq!(list(&record["queue"]["entries"]).len(), 1);
        home.end(&id, &str_of(&record["turn"]["id"]), &["completed", "--seen"]);
        home.json(&["queue", "remove", &id, &str_of(&record["queue"]["entries"][0]["id"])]);
        // fork, delete
        let source = home.says(&["fork", &id]);
        let rows = home.rows(&source).len();
        let statuses = at_once(&home, &[&["fork", &source, "--title", "child"], &["delete", &source]]);
        assert!(statuses == [0, 0] || statuses == [0, 3], "{statuses:?}");
        for child in names(&home.sessions()).into_iter().filter(|n| *n != id) {
            assert_eq!(home.rows(&child).len(), rows);
            home.says(&["delete", &child]);
        }
        home.check();
    }
    let ended: Vec<String> = home
        .events_of("turn_ended")
        .iter()
        .map(|e| str_of(&e["turn_id"]))
        .collect();
    assert_eq!(ended.len(), 120, "each end has its line");
}
