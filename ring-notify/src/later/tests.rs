use super::*;
use ring_hook::row::Wait;
use std::fs;

fn asked(kind: &str, since_ms: Ms) -> View {
    View {
        status: "waiting",
        since_ms,
        waits: vec![Wait {
            id: "w".into(),
            owner: "foreground".into(),
            kind: kind.into(),
            since_ms,
            ..Wait::default()
        }],
        note: String::new(),
        rule: "V4",
    }
}

fn says(word: Word, ms: Ms) -> Later {
    let live = Live {
        word,
        ms,
        since_ms: ms,
        source: "registry",
    };
    Later {
        tail: None,
        live: Some(live),
    }
}

fn wrote(kind: Kind, ms: Ms) -> Later {
    let tail = Tail {
        kind,
        ms,
        ..Tail::default()
    };
    Later {
        tail: Some(tail),
        live: None,
    }
}

#[test]
fn n24_what_the_agent_wrote_later_ends_a_wait() {
    let words = || Word::Waiting("permission prompt".into());
    let rows = [
        ("nothing known", Later::default(), "waiting"),
        ("still asked", says(words(), 1_100), "waiting"),
        ("approved, and the tool runs", says(Word::Busy, 1_100), "working"),
        ("denied", says(Word::Idle, 1_100), "idle"),
        ("idle for a moment", says(Word::Idle, 1_900), "waiting"),
        ("busy, as before the request", says(Word::Busy, 1_000), "waiting"),
        ("denied, in the transcript", wrote(Kind::Denied, 1_100), "idle"),
        (
            "interrupted, in the transcript",
            wrote(Kind::Interrupted, 1_100),
            "idle",
        ),
        (
            "another prompt, in the transcript",
            wrote(Kind::Start, 1_100),
            "working",
        ),
        ("an older mark", wrote(Kind::Interrupted, 900), "waiting"),
        ("the call that asks", wrote(Kind::Tool, 1_100), "waiting"),
    ];
    for (what, later, status) in rows {
        let view = without_ended(asked("permission", 1_000), &later, 2_000);
        assert_eq!(view.status, status, "{what}");
        assert_eq!(view.waits.is_empty(), status != "waiting", "{what}");
    }
}

/// The live record says busy for some 60 ms after the Stop hook whose text asked.
#[test]
fn n24_a_question_at_the_end_of_a_turn_outlives_a_live_record_that_lags() {
    let mut view = asked("question", 1_000);
    view.waits[0].rule = "stop_question".into();
    assert_eq!(
        without_ended(view.clone(), &says(Word::Busy, 500), 1_010).status,
        "waiting"
    );
    assert_eq!(
        without_ended(view.clone(), &says(Word::Idle, 1_060), 9_000).status,
        "waiting"
    );
    assert_eq!(without_ended(view, &says(Word::Busy, 5_000), 9_000).status, "working");
}

#[test]
fn n24_only_the_row_s_own_process_and_session_speak_through_a_live_record() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("projects/-w");
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir_all(home.path().join("sessions")).unwrap();
    let record = |session: &str, start: &str| {
        let text = format!(
            r#"{{"pid":4242,"procStart":"{start}","sessionId":"{session}","status":"busy","statusUpdatedAt":7}}"#
        );
        fs::write(home.path().join("sessions/4242.json"), text).unwrap();
    };
    let mut row = Row::parse(
        br#"{"schema":1,"key":"claude-code:s","agent":"claude-code","session_id":"s","process":{"pid":4242,"start_ticks":99}}"#,
    )
    .unwrap();
    let transcript = folder.join("s.jsonl");
    assert_eq!(claude(&row, &transcript), None);
    record("s", "99");
    assert_eq!(claude(&row, &transcript).map(|l| (l.word, l.ms)), Some((Word::Busy, 7)));
    assert_eq!(claude(&row, &home.path().join("elsewhere/-w/s.jsonl")), None);
    record("s", "98");
    assert_eq!(claude(&row, &transcript), None);
    record("other", "99");
    assert_eq!(claude(&row, &transcript), None);
    record("s", "99");
    row.process = None;
    assert_eq!(claude(&row, &transcript), None);
}
