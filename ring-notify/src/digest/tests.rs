use super::*;
use crate::log::Log;
use ring_session::process::{Look, Stamp};
use ring_session::record::{Notification, Record, Turn};

const NOW: Ms = 1_800_000_000_000;

fn here() -> Here {
    Here {
        now: NOW,
        stamp: Stamp::default(),
        look: |_| Look::Gone,
    }
}

fn row(key: &str, change: impl FnOnce(&mut Row)) -> Row {
    let (agent, id) = key.split_once(':').unwrap();
    let mut row = Row {
        key: key.into(),
        agent: agent.into(),
        session_id: id.into(),
        origin_cwd: "/w/api".into(),
        event_ms: NOW,
        ..Row::default()
    };
    change(&mut row);
    row
}

fn head(id: &str, key: &str) -> Arc<Head> {
    Arc::new(Head {
        id: id.into(),
        key: key.into(),
        title: format!("title of {id}"),
        project: Some("/w/web".into()),
        ..Head::default()
    })
}

fn made(change: impl FnOnce(&mut Owned)) -> Digest {
    let mut owned = Owned::default();
    change(&mut owned);
    let log = Log::from(owned.log.join("\n").as_str());
    let lines = log.lines().0;
    digest(&Input {
        here: &here(),
        settings: &Settings::default(),
        since: NOW - 1000,
        rows: &owned.rows,
        live: &owned.live,
        heads: &owned.heads,
        records: &owned.records,
        inbox: &owned.inbox,
        lines: &lines,
        spans: &owned.spans,
        names: &owned.names,
    })
}

#[derive(Default)]
struct Owned {
    rows: Vec<Row>,
    live: Vec<Live>,
    heads: Vec<Arc<Head>>,
    records: Vec<Seen>,
    inbox: Vec<InboxRow>,
    log: Vec<String>,
    spans: Vec<Span>,
    names: BTreeMap<String, String>,
}

fn live(id: &str, kind: Kind, session: &str, opened_ms: Ms) -> Live {
    Live {
        id: id.into(),
        kind,
        session: session.into(),
        opened_ms,
        ..Live::default()
    }
}

#[test]
fn n75_who_waits_is_listed_oldest_first_and_a_wait_for_a_proposal_is_the_proposal() {
    let found = made(|o| {
        o.live = vec![
            live("wait:a:b:2", Kind::Question, "a:b", 20),
            live("wait:a:b:1", Kind::Permission, "a:b", 10),
            live("wait:a:c:3", Kind::Plan, "a:c", 5),
            live("plan:p", Kind::Proposal, "a:c", 6),
            live("wait:a:d:4", Kind::Plan, "a:d", 30),
            live("turn:x", Kind::Failed, "a:d", 1),
        ];
        o.names.insert("a:d".into(), "given".into());
    });
    let waiting: Vec<_> = found.waiting.iter().map(|w| w.id.as_str()).collect();
    assert_eq!(waiting, ["wait:a:b:1", "wait:a:b:2", "wait:a:d:4"]);
    assert_eq!(found.waiting[2].who.call(), "given");
    assert_eq!(found.proposals.len(), 1);
}

#[test]
fn n75_a_session_works_by_its_row_or_else_by_its_record() {
    let works = |key: &str, since: Ms| {
        row(key, |r| {
            r.turn.state = "working".into();
            r.since_ms = since;
        })
    };
    let running = |id: &str, key: &str| Seen {
        record: Record {
            id: id.into(),
            turn: Some(Turn {
                key: key.into(),
                started_ms: 7,
                ..Turn::default()
            }),
            ..Record::default()
        },
        recovered: false,
    };
    let found = made(|o| {
        o.rows = vec![
            works("codex:a", 30),
            works("codex:b", 20),
            row("codex:idle", |r| r.turn.state = "idle".into()),
            row("codex:bg", |r| {
                r.background = 1;
                r.since_ms = 40;
            }),
        ];
        // of the second the row speaks, and says that it idles
        o.records = vec![running("r1", ""), running("r2", "codex:idle"), running("r3", "codex:b")];
    });
    let working: Vec<_> = found
        .working
        .iter()
        .map(|w| (w.who.session.as_str(), w.since_ms))
        .collect();
    assert_eq!(
        working,
        [("ring:r1", 7), ("codex:b", 20), ("codex:a", 30), ("codex:bg", 40)]
    );
}

#[test]
fn n75_each_turn_that_has_ended_is_listed_once_failed_ones_first() {
    let line = |session: &str, turn: &str, at: Ms, more: &str| {
        format!(r#"{{"at_ms":{at},"kind":"turn_ended","session":"{session}","turn_id":"{turn}"{more}}}"#)
    };
    let found = made(|o| {
        o.heads = vec![head("s", "ring:s"), head("h", "codex:known")];
        o.log = vec![
            format!(
                r#"{{"at_ms":{},"kind":"turn_started","session":"s","turn_id":"1"}}"#,
                NOW - 600
            ),
            line("s", "1", NOW - 500, r#","reason":"completed""#),
            line("s", "2", NOW - 400, r#","reason":"error","error_code":"E""#),
            line(
                "s",
                "3",
                NOW - 300,
                r#","reason":"aborted","error_code":"TURN_ABORTED""#,
            ),
            line("s", "old", NOW - 2000, r#","reason":"completed""#),
            line("gone", "4", NOW - 100, r#","reason":"completed""#),
        ];
        let notified = |turn: &str, kind, created_ms| InboxRow {
            notification: Notification {
                turn_id: turn.into(),
                kind,
                created_ms,
                duration_ms: 77,
                title: "as it was".into(),
                ..Notification::default()
            },
            session: head("s", "ring:s"),
        };
        o.inbox = vec![
            notified("5", NotificationKind::Failed, NOW - 900),
            notified("2", NotificationKind::Failed, NOW - 400),
            notified("old", NotificationKind::Completed, NOW - 2000),
        ];
        let ended = |outcome: &str| {
            let outcome = outcome.to_owned();
            move |r: &mut Row| {
                r.turn.state = "idle".into();
                r.turn.outcome = outcome;
                r.turn.ended_ms = NOW - 50;
            }
        };
        // a session without a record is told of by its row
        o.rows = vec![row("codex:alone", ended("done")), row("codex:known", ended("done"))];
    });
    let turns: Vec<_> = found
        .finished
        .iter()
        .map(|f| (f.who.session.as_str(), f.turn_id.as_str(), f.result, f.duration_ms))
        .collect();
    let expected = [
        ("ring:s", "2", "failed", Some(77)),
        ("ring:s", "5", "failed", Some(77)),
        ("codex:alone", "", "completed", None),
        ("ring:s", "3", "aborted", None),
        ("ring:s", "1", "completed", Some(100)),
    ];
    assert_eq!(turns, expected);
    assert_eq!(found.finished[0].who.title, "as it was");
    assert_eq!(found.finished[3].who.title, "title of s");
}

#[test]
fn n75_a_session_that_is_back_has_not_ended() {
    let line = |key: &str, at: Ms, to: &str| {
        format!(r#"{{"at_ms":{at},"kind":"status","key":"{key}","agent":"codex","to":"{to}","project":"/w/x"}}"#)
    };
    let found = made(|o| {
        o.heads = vec![head("s", "codex:first")];
        o.log = vec![
            line("codex:old", NOW - 5000, "ended"),
            line("codex:first", NOW - 500, "ended"),
            line("codex:second", NOW - 400, "ended"),
            line("codex:again", NOW - 300, "ended"),
            line("codex:again", NOW - 200, "working"),
            line("codex:row", NOW - 100, "ended"),
        ];
        o.rows = vec![row("codex:row", |_| {})];
    });
    let ended: Vec<_> = found.ended.iter().map(|e| e.who.call()).collect();
    assert_eq!(ended, ["x", "title of s"]);
}

#[test]
fn n76_only_answered_waits_have_a_length() {
    let span = |began_ms, end| Span {
        project: None,
        began_ms,
        end,
    };
    let found = made(|o| {
        o.spans = vec![
            span(NOW - 900, End::Answered(5)),
            span(NOW - 800, End::Answered(6)),
            span(NOW - 700, End::Unfinished),
            span(NOW - 99_999, End::Ongoing),
            span(NOW - 99_999, End::Answered(77)),
        ];
    });
    let expected = Waits {
        count: 4,
        total_ms: 11,
        ongoing: 1,
    };
    assert_eq!(found.waits, expected);
}

#[test]
fn a_session_is_called_by_the_first_name_it_has() {
    let mut who = Who {
        session: "codex:0199aaaabbbb".into(),
        ..Who::default()
    };
    assert_eq!(who.call(), "0199aaaa");
    who.project = "/w/api/".into();
    assert_eq!(who.call(), "api");
    who.title = "fix it".into();
    assert_eq!(who.call(), "fix it");
    who.name = "mine".into();
    assert_eq!(who.call(), "mine");
}
