use super::*;
use crate::StateDir;
use crate::process::{Look, Stamp};
use crate::record::{ClosedTurn, Entry, Outcome, Proposal, Record, Request, Turn};
use crate::work::Here;
use proptest::prelude::*;
use std::fs;

const NOW: Ms = 1_800_000_000_000;

fn here() -> Here {
    Here {
        now: NOW,
        stamp: Stamp {
            host: "box".into(),
            boot: "b".into(),
            ..Stamp::default()
        },
        look: |_| Look::Gone,
    }
}

fn row(id: &str, created_ms: Ms) -> Notification {
    Notification {
        id: id.into(),
        created_ms,
        ..Notification::default()
    }
}

/// Three rows, the second of them read.
fn record(id: &str) -> Record {
    let mut record = Record {
        id: id.into(),
        revision: 7,
        agent: "codex".into(),
        agent_session_id: "a1".into(),
        updated_ms: 77,
        unannounced: vec!["t".into()],
        ..Record::default()
    };
    record.turns.push(ClosedTurn {
        id: "t".into(),
        status: Outcome::Completed,
        ..ClosedTurn::default()
    });
    for (n, read_ms) in [None, Some(5), None].into_iter().enumerate() {
        record.notifications.push(Notification {
            read_ms,
            ..row(&format!("{id}-{n}"), n as Ms)
        });
    }
    record
}

fn store(records: &[Record]) -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::new(StateDir::at(dir.path()), here());
    for record in records {
        let files = store.files(&record.id);
        fs::create_dir_all(&files.dir).unwrap();
        fs::write(files.record(), serde_json::to_vec(record).unwrap()).unwrap();
    }
    (dir, store)
}

fn ids(rows: &[InboxRow]) -> Vec<&str> {
    rows.iter().map(|r| r.notification.id.as_str()).collect()
}

fn head(id: &str) -> Arc<Head> {
    Arc::new(Head {
        id: id.into(),
        ..Head::default()
    })
}

#[test]
fn n14_a_row_is_read_once_and_keeps_its_time() {
    let mut work = Work::new(record("a"), here());
    let some = ["a-0".to_owned(), "a-1".into(), "nobody".into()];
    let marked = work.read_notifications(Some(&some));
    assert_eq!(
        (marked.read, marked.already),
        (vec!["a-0".to_owned()], vec!["a-1".to_owned()])
    );
    let times: Vec<_> = work.record.notifications.iter().map(|n| n.read_ms).collect();
    assert_eq!(times, [Some(NOW), Some(5), None]);
    assert_eq!(
        (work.events[0].kind, &work.events[0].members["ids"]),
        ("notifications_read", &json!(["a-0"]))
    );
    assert_eq!(work.read_notifications(Some(&some)).read, Vec::<String>::new());
    assert_eq!(work.read_notifications(None).read, ["a-2"]);
    assert_eq!(work.events.len(), 2, "where nothing changes there is no line");
}

#[test]
fn n16_clearing_removes_all_rows_or_the_read_ones_and_tells_which() {
    let mut work = Work::new(record("a"), here());
    assert_eq!(work.clear_notifications(true), ["a-1"]);
    assert_eq!(work.clear_notifications(true), Vec::<String>::new());
    assert_eq!(work.prune_notifications(&["a-2".into(), "a-9".into()]), ["a-2"]);
    assert_eq!(work.clear_notifications(false), ["a-0"]);
    let told: Vec<_> = work.events.iter().map(|e| (e.kind, e.members["ids"].clone())).collect();
    let line = |id: &str| ("notifications_cleared", json!([id]));
    assert_eq!(told, [line("a-1"), line("a-2"), line("a-0")]);
    let rest = Record {
        notifications: Vec::new(),
        ..record("a")
    };
    assert_eq!(work.record, rest);
}

#[test]
fn n16_a_commit_of_these_changes_rows_and_revision_and_nothing_else() {
    let (_dir, store) = store(&[record("a")]);
    let changes: [fn(&mut Work); 3] = [
        |w| drop(w.prune_notifications(&["a-0".into()])),
        |w| drop(w.clear_notifications(true)),
        |w| drop(w.read_notifications(None)),
    ];
    for (n, change) in changes.into_iter().enumerate() {
        let before = store.stored("a").unwrap();
        let ((), after) = store
            .update("a", |work, _| {
                change(work);
                Ok(())
            })
            .unwrap();
        assert_eq!(after, store.stored("a").unwrap());
        assert_eq!(after.revision, before.revision + 1, "{n}");
        let expected = Record {
            revision: after.revision,
            notifications: after.notifications.clone(),
            ..before
        };
        assert_eq!(after, expected);
    }
    let again = store.update("a", |work, _| Ok(work.read_notifications(None))).unwrap();
    assert_eq!(again.1.revision, 10, "nothing to do is no commit");
}

#[test]
fn what_recovery_finds_is_stored_with_its_time_all_the_same() {
    let dead = Turn {
        epoch: Stamp { pid: 4, ..here().stamp },
        ..Turn::default()
    };
    let (_dir, store) = store(&[Record {
        turn: Some(dead),
        ..record("a")
    }]);
    let (_, after) = store.update("a", |work, _| Ok(work.read_notifications(None))).unwrap();
    assert_eq!((after.turn, after.updated_ms), (None, NOW));
    assert!(after.notifications.iter().all(|n| n.read_ms.is_some()));
}

#[test]
fn n9_n17_one_look_gives_the_inbox_and_what_may_be_going_on() {
    let with = |id: &str, change: fn(&mut Record)| {
        let mut record = record(id);
        change(&mut record);
        record
    };
    let (_dir, store) = store(&[
        record("a"),
        with("b", |r| r.turn = Some(Turn::default())),
        with("c", |r| r.proposal = Some(Proposal::default())),
        with("d", |r| r.permissions.push(Request::default())),
        with("e", |r| r.queue.entries.push(Entry::default())),
        with("f", |r| r.agent_session_id.clear()),
        with("g", |r| r.schema = SCHEMA + 1),
    ]);
    let sessions = store.state().sessions();
    fs::create_dir(sessions.join(".tmp-x")).unwrap();
    fs::create_dir(sessions.join("h")).unwrap();
    fs::write(sessions.join("h/session.json"), "{").unwrap();
    let found = store.survey_notifications().unwrap();
    let heads: Vec<_> = found.heads.iter().map(|h| (h.id.as_str(), h.key.as_str())).collect();
    assert_eq!(heads.len(), 7);
    assert_eq!((heads[0], heads[5]), (("a", "codex:a1"), ("f", "ring:f")));
    let live: Vec<_> = found.live.iter().map(|s| s.record.id.as_str()).collect();
    assert_eq!(live, ["b", "c", "d", "g"], "a queue is no matter of this");
    assert_eq!((found.rows.len(), found.broken.len()), (21, 1));
    assert_eq!(found.broken[0].details["session"], "h");
    assert_eq!(ids(&found.rows)[..3], ["g-2", "f-2", "e-2"]);
    assert_eq!(found.rows.iter().filter(|r| r.is_unread()).count(), 14);
    assert!(found.beyond.is_empty());
    // what is read in part is what is read whole
    for head in &found.heads {
        let seen = store.see(&head.id).unwrap();
        assert_eq!(**head, Head::of(&head.id, &seen));
        let mine: Vec<_> = found.rows.iter().filter(|r| r.session.id == head.id).collect();
        assert_eq!(mine.len(), seen.record.notifications.len());
    }
}

#[test]
fn n9_what_lies_beyond_is_pruned_and_a_session_that_went_is_no_error() {
    let full = |id: &str, first: usize, count: usize| Record {
        notifications: (first..first + count)
            .map(|n| row(&format!("{n:04}"), n as Ms))
            .collect(),
        ..record(id)
    };
    let (_dir, store) = store(&[full("a", 0, 3), full("b", 3, 200), full("c", 203, 2)]);
    let found = store.survey_notifications().unwrap();
    assert_eq!((found.rows.len(), ids(&found.rows)[199]), (200, "0005"));
    assert_eq!(found.beyond["a"], ["0002", "0001", "0000"]);
    assert_eq!(found.beyond["b"], ["0004", "0003"]);
    fs::remove_dir_all(store.files("a").dir).unwrap();
    assert!(store.prune_notifications(&found.beyond).is_empty());
    assert_eq!(store.stored("b").unwrap().notifications.len(), 198);
    assert_eq!(store.stored("c").unwrap().revision, 7, "it had nothing to lose");
    assert!(store.survey_notifications().unwrap().beyond.is_empty());
}

proptest! {
    #[test]
    fn n13_the_inbox_is_the_newest_of_all_in_whatever_order_sessions_come(
        sessions in proptest::collection::vec(proptest::collection::vec((0i64..50, 0u32..100_000), 0..200), 0..12),
        turn in 0usize..12,
    ) {
        let parts: Vec<_> = sessions
            .iter()
            .enumerate()
            .map(|(s, rows)| {
                let rows = rows.iter().enumerate().map(|(n, (ms, id))| row(&format!("{id:05}-{s}-{n}"), *ms)).collect();
                (head(&s.to_string()), rows)
            })
            .collect();
        let gathered = |parts: &mut dyn Iterator<Item = &(Arc<Head>, Vec<Notification>)>| {
            let mut inbox = Inbox::default();
            parts.for_each(|(head, rows)| inbox.add(head, rows.clone()));
            inbox.rows()
        };
        let (rows, mut beyond) = gathered(&mut parts.iter());
        let turn = turn.min(parts.len());
        let (others, mut beyond_others) = gathered(&mut parts[turn..].iter().rev().chain(&parts[..turn]));
        prop_assert_eq!(&rows, &others);
        let mut all: Vec<&Notification> = parts.iter().flat_map(|(_, rows)| rows).collect();
        all.sort_by(|a, b| (b.created_ms, &b.id).cmp(&(a.created_ms, &a.id)));
        let newest: Vec<&str> = all.iter().take(INBOX).map(|n| n.id.as_str()).collect();
        prop_assert_eq!(ids(&rows), newest);
        let gone: usize = beyond.values().map(Vec::len).sum();
        prop_assert_eq!(gone, all.len() - rows.len());
        beyond.values_mut().chain(beyond_others.values_mut()).for_each(|ids| ids.sort());
        prop_assert_eq!(beyond, beyond_others);
    }
}
