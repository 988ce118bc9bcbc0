use super::*;
use crate::ledger::{Entry, To};
use crate::log::Log;
use proptest::prelude::*;

fn span(project: &str, began_ms: Ms, end: End) -> Span {
    Span {
        project: Some(project.to_owned()).filter(|p| !p.is_empty()),
        began_ms,
        end,
    }
}

fn log(lines: &[&str]) -> Log {
    Log::from(lines.join("\n").as_str())
}

#[test]
fn n75_figures_of_a_project_are_those_of_its_answered_waits_and_its_turns() {
    let log = log(&[
        r#"{"at_ms":50,"kind":"turn_ended","session":"s","turn_id":"0","project":"/w","reason":"completed"}"#,
        r#"{"at_ms":100,"kind":"turn_ended","session":"s","turn_id":"1","project":"/w","reason":"completed"}"#,
        r#"{"at_ms":101,"kind":"turn_ended","session":"s","turn_id":"1","project":"/w","reason":"completed"}"#,
        r#"{"at_ms":102,"kind":"turn_ended","session":"t","turn_id":"1","project":"/w","reason":"error"}"#,
        r#"{"at_ms":103,"kind":"turn_ended","session":"s","turn_id":"2","project":"/v","reason":"aborted"}"#,
        r#"{"at_ms":104,"kind":"turn_ended","session":"u","turn_id":"3","project":null,"reason":"completed"}"#,
    ]);
    let spans = [
        span("/w", 100, End::Answered(10)),
        span("/w", 100, End::Answered(40)),
        span("/w", 100, End::Answered(11)),
        span("/w", 100, End::Answered(12)),
        span("/w", 100, End::Unfinished),
        span("/w", 99, End::Answered(1_000_000)),
        span("/w", 7, End::Ongoing),
        span("/v", 100, End::Answered(9)),
    ];
    let found = stats(&log.lines().0, &spans, &Ledger::default(), 100);
    let w = Project {
        project: Some("/w".into()),
        waits: 6,
        answered: 4,
        ongoing: 1,
        unfinished: 1,
        mean_ms: Some(18),
        median_ms: Some(11),
        max_ms: Some(40),
        total_ms: 73,
        completed: 1,
        failed: 1,
        aborted: 0,
    };
    let v = Project {
        project: Some("/v".into()),
        waits: 1,
        answered: 1,
        mean_ms: Some(9),
        median_ms: Some(9),
        max_ms: Some(9),
        total_ms: 9,
        aborted: 1,
        ..Project::default()
    };
    let none = Project {
        completed: 1,
        ..Project::default()
    };
    assert_eq!(found.projects, [w, v, none]);
}

#[test]
fn n75_figures_of_an_outlet_come_from_the_log_and_the_ledger() {
    let log = log(&[
        r#"{"at_ms":99,"kind":"notify_sent","item":"a","outlet":"desk","ring":0,"lag_ms":9000}"#,
        r#"{"at_ms":100,"kind":"notify_sent","item":"a","outlet":"desk","ring":0,"lag_ms":30}"#,
        r#"{"at_ms":100,"kind":"notify_sent","item":"b","outlet":"desk","ring":1,"lag_ms":-5}"#,
        r#"{"at_ms":100,"kind":"notify_sent","item":"c","outlet":"desk","ring":0,"lag_ms":10}"#,
        r#"{"at_ms":100,"kind":"notify_failed","item":"a","outlet":"phone","ring":0,"error":"http 404"}"#,
        r#"{"at_ms":100,"kind":"notify_unconfirmed","item":"b","outlet":"phone","ring":0}"#,
    ]);
    let mut ledger = Ledger::default();
    let to = |state, attempts| To {
        state,
        attempts,
        ..To::default()
    };
    for (id, seen_ms, to) in [
        (
            "a",
            100,
            vec![("phone", to(State::Failed, 6)), ("desk", to(State::Sent, 1))],
        ),
        (
            "b",
            100,
            vec![("phone", to(State::Skipped, 0)), ("mute", to(State::Skipped, 0))],
        ),
        (
            "c",
            99,
            vec![("phone", to(State::Skipped, 0)), ("desk", to(State::Retry, 2))],
        ),
    ] {
        let entry = Entry {
            seen_ms,
            to: to.into_iter().map(|(name, to)| (name.to_owned(), to)).collect(),
            ..Entry::default()
        };
        ledger.items.insert(id.to_owned(), entry);
    }
    let outlet = |name: &str| Outlet {
        name: name.into(),
        ..Outlet::default()
    };
    let expected = [
        Outlet {
            sent: 3,
            median_lag_ms: Some(10),
            ..outlet("desk")
        },
        Outlet {
            skipped: 1,
            ..outlet("mute")
        },
        Outlet {
            failed: 1,
            unconfirmed: 1,
            retried: 1,
            skipped: 1,
            ..outlet("phone")
        },
    ];
    assert_eq!(stats(&log.lines().0, &[], &ledger, 100).outlets, expected);
}

proptest! {
    #[test]
    fn figures_stand_in_their_order(mut times in proptest::collection::vec(0..Ms::MAX / 4, 1..30)) {
        let (least, most) = (*times.iter().min().unwrap(), *times.iter().max().unwrap());
        for figure in [mean(&times), median(&mut times)] {
            prop_assert!((least..=most).contains(&figure.unwrap()));
        }
        prop_assert_eq!(median(&mut []), None);
    }
}
