//! Records of ring-session on the board, beside hook rows and alone.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its world has failed")]

mod world;

use ring_session::process::Stamp;
use ring_session::record::{
    Mode, Origin, Proposal, ProposalKind, ProposalStatus, Record, Request, RequestState, Source, Turn,
};
use serde_json::{Value, json};
use world::{NOW, World};

/// Another machine's stamp: nothing proves that its process is dead.
fn elsewhere() -> Stamp {
    Stamp {
        host: "elsewhere".into(),
        boot: "00000000".into(),
        pid_ns: 1,
        pid: 7,
        start_ticks: 7,
    }
}

fn record(id: &str) -> Record {
    Record {
        id: id.into(),
        revision: 1,
        title: "Fix the login".into(),
        title_auto: false,
        project: Some("/w/shop".into()),
        created_ms: NOW - 60_000,
        updated_ms: NOW - 5_000,
        ..Record::default()
    }
}

fn turn(origin: Origin) -> Option<Turn> {
    Some(Turn {
        id: "t1".into(),
        origin,
        started_ms: NOW - 60_000,
        epoch: elsewhere(),
        ..Turn::default()
    })
}

fn request(origin: Origin) -> Request {
    Request {
        id: "r1".into(),
        turn_id: "t1".into(),
        call_id: "c1".into(),
        tool: "Bash".into(),
        reason: "push".into(),
        origin,
        created_ms: NOW - 4_000,
        state: RequestState::Open,
        ..Request::default()
    }
}

fn proposal() -> Proposal {
    Proposal {
        id: "p1".into(),
        kind: ProposalKind::Plan,
        via: "cli".into(),
        turn_id: "t0".into(),
        title: "Build API v2".into(),
        status: ProposalStatus::Pending,
        created_ms: NOW - 3_000,
        epoch: elsewhere(),
        ..Proposal::default()
    }
}

fn store(world: &World, record: &Record) {
    let path = format!("state/sessions/{}/session.json", record.id);
    world.write(&path, serde_json::to_vec(record).unwrap());
}

fn sessions(world: &World) -> Vec<Value> {
    let board = world.scan(&["--format", "json"]).json();
    board["sessions"].as_array().unwrap().clone()
}

fn only(world: &World) -> Value {
    let all = sessions(world);
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].clone()
}

#[test]
fn c67_a_running_turn_works_and_an_idle_record_is_idle() {
    let world = World::new();
    let mut one = record("alpha-one");
    store(&world, &one);
    let row = only(&world);
    assert_eq!((&row["status"], &row["rule"]), (&json!("idle"), &json!("session")));
    assert_eq!(row["key"], "ring:alpha-one");
    assert_eq!((&row["agent"], &row["record"]), (&json!("ring"), &json!("alpha-one")));
    assert_eq!(
        (&row["title"], &row["project"]),
        (&json!("Fix the login"), &json!("shop"))
    );
    assert_eq!(row["sources"], json!(["session"]));
    one.turn = turn(Origin::Begin);
    store(&world, &one);
    assert_eq!(only(&world)["status"], "working");
}

#[test]
fn c67_an_open_proposal_waits_with_its_title() {
    let world = World::new();
    let mut one = record("alpha-one");
    one.mode = Mode::Plan;
    one.proposal = Some(proposal());
    store(&world, &one);
    let row = only(&world);
    assert_eq!(
        (&row["status"], &row["rule"]),
        (&json!("waiting"), &json!("session_wait"))
    );
    assert_eq!(row["waiting"]["kind"], "plan");
    assert_eq!(
        (&row["waiting"]["id"], &row["waiting"]["detail"]),
        (&json!("p1"), &json!("Build API v2"))
    );
    assert_eq!(row["since_ms"], NOW - 3_000);
}

#[test]
fn c88_an_open_request_waits_and_names_its_record() {
    let world = World::new();
    let mut one = record("alpha-one");
    one.agent = "claude-code".into();
    one.turn = turn(Origin::Begin);
    one.permissions = vec![request(Origin::Cli)];
    store(&world, &one);
    let row = only(&world);
    assert_eq!(
        (&row["status"], &row["record"]),
        (&json!("waiting"), &json!("alpha-one"))
    );
    assert_eq!(
        (&row["waiting"]["kind"], &row["waiting"]["detail"]),
        (&json!("permission"), &json!("Bash: push"))
    );
    assert_eq!(row["agent"], "claude-code");
}

#[test]
fn c88_a_record_of_a_hook_entry_makes_no_row_of_its_own_unless_it_asks() {
    let world = World::new();
    let mut one = record("generic-s1");
    (one.agent, one.agent_session_id) = ("generic".into(), "s1".into());
    one.source = Source::Hook;
    one.turn = turn(Origin::Hook);
    one.permissions = vec![request(Origin::Hook)];
    store(&world, &one);
    assert_eq!(sessions(&world), Vec::<Value>::new());
    one.proposal = Some(proposal());
    store(&world, &one);
    let row = only(&world);
    assert_eq!((&row["key"], &row["status"]), (&json!("generic:s1"), &json!("waiting")));
}

#[test]
fn one_row_stands_for_a_session_that_both_a_hook_row_and_a_record_describe() {
    let world = World::new();
    world.row("s1", "working", NOW - 1_000, json!({}));
    let mut one = record("generic-s1");
    (one.agent, one.agent_session_id) = ("generic".into(), "s1".into());
    store(&world, &one);
    let row = only(&world);
    assert_eq!(
        (&row["key"], &row["status"], &row["record"]),
        (&json!("generic:s1"), &json!("working"), &json!("generic-s1"))
    );
    assert_eq!(row["sources"], json!(["hook", "session"]));
}

#[test]
fn of_several_records_of_one_session_each_open_request_counts_and_the_newest_speaks() {
    let world = World::new();
    for (id, asks) in [("one-1", true), ("two-2", false)] {
        let mut one = record(id);
        (one.agent, one.agent_session_id) = ("generic".into(), "s1".into());
        one.updated_ms = if asks { NOW - 9_000 } else { NOW - 1_000 };
        if asks {
            one.turn = turn(Origin::Begin);
            one.permissions = vec![
                request(Origin::Cli),
                Request {
                    id: "r0".into(),
                    created_ms: NOW - 8_000,
                    call_id: "c0".into(),
                    ..request(Origin::Cli)
                },
            ];
        }
        store(&world, &one);
    }
    let row = only(&world);
    assert_eq!(
        (&row["status"], &row["record"], &row["waits"]),
        (&json!("waiting"), &json!("two-2"), &json!(2))
    );
    assert_eq!(row["waiting"]["id"], "r0");
}

#[test]
fn a_record_that_cannot_be_read_hides_no_other() {
    let world = World::new();
    world.write("state/sessions/broken-1/session.json", "{");
    store(&world, &record("alpha-one"));
    assert_eq!(only(&world)["record"], "alpha-one");
    let doctor = world.scan(&["--format", "json", "doctor"]).out;
    assert!(doctor.contains("sessions/broken-1/session.json"), "{doctor}");
}
