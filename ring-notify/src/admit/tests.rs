use super::*;
use crate::send::Fate;
use crate::testing::{NOON, World, busy, plan, turn, wait};

const A: &str = "wait:s:a";

fn why(world: &World, id: &str) -> String {
    let entry = &world.ledger.items[id];
    match entry.closed_ms {
        None => "open".into(),
        Some(_) => entry.why.clone(),
    }
}

#[test]
fn an_item_that_is_gone_is_closed_for_its_reason() {
    let mut world = World::new(&["desk"]);
    world.open(wait("s", "a", NOON));
    world.open(wait("gone", "a", NOON));
    let mut late = plan("s2", "late", NOON);
    late.until_ms = Some(NOON + 5);
    world.open(late);
    world.open(plan("s3", "decided", NOON));
    let mut lost = plan("s4", "lost", NOON);
    lost.record = "deleted".into();
    world.open(lost);
    world.open(turn("s5", "read", Kind::Failed, NOON));
    world.open(turn("s5", "cleared", Kind::Failed, NOON));
    world.run();
    world.sources.live.clear();
    world.sources.read.insert("read".into());
    world.later(10);
    world.run();
    for (id, reason) in [
        (A, "answered"),
        ("wait:gone:a", "gone"),
        ("plan:late", "expired"),
        ("plan:decided", "answered"),
        ("plan:lost", "gone"),
        ("turn:read", "read"),
        ("turn:cleared", "gone"),
    ] {
        assert_eq!(why(&world, id), reason, "{id}");
    }
}

#[test]
fn n37_what_cannot_be_read_closes_nothing_and_rings_once_in_all() {
    for all in [true, false] {
        let mut world = World::new(&["desk"]);
        world.open(wait("s", "a", NOON));
        assert_eq!(world.run().len(), 1);
        let live = std::mem::take(&mut world.sources.live);
        world.sources.unknown.status = all;
        world.sources.unknown.rows.insert("s".into());
        world.later(31_000);
        assert_eq!(world.run(), [""; 0], "nothing is repeated while nobody knows");
        assert_eq!(why(&world, A), "open");
        world.sources.unknown = Default::default();
        world.sources.live = live;
        assert_eq!(world.run(), ["desk wait:s:a/1"]);
    }
}

#[test]
fn a_record_that_cannot_be_read_keeps_its_items_as_they_are() {
    let mut world = World::new(&["desk"]);
    world.open(plan("s", "p", NOON));
    world.open(turn("s", "t", Kind::Failed, NOON));
    world.run();
    world.sources.live.clear();
    world.sources.unknown.records.insert("rec".into());
    world.run();
    assert_eq!(
        (why(&world, "plan:p"), why(&world, "turn:t")),
        ("open".into(), "open".into())
    );
    world.sources.unknown.records = BTreeSet::from(["other".to_owned()]);
    world.run();
    assert_eq!(why(&world, "plan:p"), "answered");
}

#[test]
fn n26_a_request_that_leaves_and_comes_back_is_the_same_until_its_cooldown_is_over() {
    let mut world = World::new(&["desk"]);
    world.rules.notify.repeat_max = 0;
    world.open(wait("s", "a", NOON));
    world.run();
    world.later(3_000);
    world.close(A);
    world.run();
    world.later(5_000);
    // the same request under another id: the sign is what counts
    let mut again = wait("s", "a", world.now);
    again.id = "wait:s:a2".into();
    world.open(again);
    assert_eq!(world.run(), [""; 0]);
    world.now = NOON + 179_999;
    assert_eq!(world.run(), [""; 0]);
    world.later(1);
    assert_eq!(world.run(), ["desk wait:s:a2/0"]);
    world.later(400_000);
    assert_eq!(world.run(), [""; 0], "one time");
}

#[test]
fn a_request_that_comes_back_later_than_that_is_new() {
    let mut world = World::new(&["desk"]);
    world.open(wait("s", "a", NOON));
    world.run();
    world.close(A);
    world.run();
    world.later(SAME_MS);
    let mut again = wait("s", "a", world.now);
    again.id = "wait:s:a2".into();
    world.open(again);
    assert_eq!(world.run(), ["desk wait:s:a2/0"]);
}

#[test]
fn a_flapping_request_rings_once() {
    let mut world = World::new(&["desk"]);
    world.rules.notify.repeat_max = 0;
    let mut rang = 0;
    for n in 0..170 {
        match n % 2 {
            0 => world.open(wait("s", "a", world.now)),
            _ => world.close(A),
        }
        rang += world.run().len();
        world.later(1_000);
    }
    assert_eq!(rang, 1);
}

#[test]
fn a_request_that_was_held_when_it_left_rings_when_it_comes_back() {
    let mut world = World::new(&["desk"]);
    world.quiet = true;
    world.open(wait("s", "a", NOON));
    world.run();
    world.close(A);
    world.run();
    world.quiet = false;
    world.open(wait("s", "a", NOON));
    assert_eq!(world.run(), ["desk wait:s:a/0"]);
}

#[test]
fn what_is_being_sent_when_its_request_comes_back_under_another_id_is_settled_for_both() {
    let mut world = World::new(&["desk"]);
    world.open(wait("s", "a", NOON));
    let due = world.decide(1).due;
    world.close(A);
    world.decide(2);
    let mut again = wait("s", "a", NOON);
    again.id = "wait:s:a2".into();
    world.open(again);
    assert!(world.decide(3).due.is_empty(), "somebody is sending it");
    world.settle(&due[0], &Fate::Sent, 1);
    // the sender's last look had found the first one closed: nothing had left
    assert_eq!(world.run(), ["desk wait:s:a2/0"]);
}

#[test]
fn a_ring_that_left_counts_for_the_request_that_came_back_meanwhile() {
    let mut world = World::new(&["desk"]);
    world.open(wait("s", "a", NOON));
    let due = world.decide(1).due;
    world.close(A);
    world.decide(2);
    let mut again = wait("s", "a", NOON);
    again.id = "wait:s:a2".into();
    world.open(again);
    world.decide(3);
    let results = [crate::settle::Result::Sent(Fate::Sent)];
    let me = crate::testing::process(1);
    crate::settle::settle(&mut world.ledger, &due[0], &results, &me, &world.rules, NOON);
    assert_eq!(world.stands("wait:s:a2", "desk"), "sent");
    assert_eq!(world.run(), [""; 0]);
}

#[test]
fn n31_a_plans_dialog_and_its_proposal_are_one_thing() {
    let mut world = World::new(&["desk"]);
    let mut dialog = wait("s", "a", NOON);
    dialog.kind = Kind::Plan;
    // both at once: the proposal speaks
    world.open(dialog.clone());
    world.open(plan("s", "p", NOON));
    assert_eq!(world.run(), ["desk plan:p/0"]);
    // the dialog first: the proposal takes its ring over
    let mut world = World::new(&["desk"]);
    world.open(dialog);
    assert_eq!(world.run(), ["desk wait:s:a/0"]);
    world.later(500);
    world.open(plan("s", "p", NOON + 500));
    assert_eq!(world.run(), [""; 0]);
    assert_eq!(why(&world, A), "absorbed");
    world.now = NOON + 30_000;
    assert_eq!(world.run(), ["desk plan:p/1"], "and goes on with its repeats");
    // the proposal is decided, and the dialog with it
    world.sources.live.clear();
    world.later(1_000);
    world.run();
    assert_eq!(why(&world, "plan:p"), "answered");
    // another plan of the session, later, is another thing
    world.open(plan("s", "q", world.now));
    assert_eq!(world.run(), ["desk plan:q/0"]);
}

#[test]
fn n32_a_completed_turn_of_a_session_that_waits_is_absorbed_and_a_failed_one_is_told() {
    for needed in [wait("s", "a", NOON), plan("s", "p", NOON)] {
        let mut world = World::new(&["desk"]);
        let id = needed.id.clone();
        world.open(needed);
        world.open(turn("s", "done", Kind::Completed, NOON));
        world.open(turn("s", "bad", Kind::Failed, NOON));
        world.open(turn("r", "other", Kind::Completed, NOON));
        let mut rang = world.run();
        rang.sort();
        let mut expected = [&format!("desk {id}/0"), "desk turn:bad/0", "desk turn:other/0"].map(String::from);
        expected.sort();
        assert_eq!(rang, expected);
        assert_eq!(why(&world, "turn:done"), "absorbed");
        // and stays so when the wait is over
        world.close(&id);
        world.later(1_000);
        assert_eq!(world.run(), [""; 0]);
    }
}

#[test]
fn a_completed_turn_is_not_told_while_nobody_knows_whether_its_session_waits() {
    let mut world = World::new(&["desk"]);
    world.open(turn("codex:x", "t", Kind::Completed, NOON));
    world.open(turn("ring:y", "u", Kind::Completed, NOON));
    world.sources.unknown.status = true;
    assert_eq!(world.run(), ["desk turn:u/0"]);
    world.sources.unknown.status = false;
    assert_eq!(world.run(), ["desk turn:t/0"]);
}

#[test]
fn n35_old_news_of_a_first_run_and_stale_turns_do_not_ring() {
    let minute = 60_000;
    let mut world = World::new(&["desk"]);
    for n in 0..50 {
        world.open(turn("s", &format!("y{n}"), Kind::Failed, NOON - 1_440 * minute));
    }
    world.open(turn("r", "now", Kind::Failed, NOON - minute));
    world.open(wait("s", "a", NOON - 600 * minute));
    let mut rang = world.run();
    rang.sort();
    assert_eq!(rang, ["desk turn:now/0", "desk wait:s:a/0"]);
    assert_eq!(why(&world, "turn:y7"), "first_run");
    // later, when the ledger is old: what was seen too late
    world.now = NOON + 2_000 * minute;
    world.open(turn("s", "late", Kind::Failed, NOON + 1_000 * minute));
    assert_eq!(world.run().iter().filter(|m| m.contains("late")).count(), 0);
    assert_eq!(why(&world, "turn:late"), "stale");
}

#[test]
fn closed_items_leave_after_a_week_but_not_while_their_record_is_there() {
    let mut world = World::new(&["desk"]);
    world.open(wait("s", "a", NOON));
    world.open(wait("s", "b", NOON));
    world.open(turn("r", "t", Kind::Completed, NOON - 86_400_000));
    world.run();
    world.close(A);
    world.run();
    world.later(KEEP_MS + 1);
    world.run();
    let ids: Vec<&String> = world.ledger.items.keys().collect();
    assert_eq!(ids, ["turn:t", "wait:s:b"]);
}

#[test]
fn n69_ten_thousand_waits_leave_a_thousand_items_and_no_ring_comes_twice() {
    let mut world = World::new(&["desk"]);
    world.rules.notify.repeat_max = 0;
    world.rules.notify.burst_max = 100_000;
    for n in 0..10_000 {
        world.open(wait(&format!("s{n:05}"), "a", NOON + n));
    }
    world.now = NOON + 10_000;
    assert_eq!(world.run().len(), ITEMS, "the newest");
    assert_eq!(world.ledger.items.len(), ITEMS);
    assert_eq!(world.run(), [""; 0]);
    // newer ones push the oldest out, which is counted, and do not bring them back as new
    for n in 0..10 {
        world.open(wait(&format!("t{n}"), "a", NOON + 20_000));
    }
    world.later(20_000);
    assert_eq!(world.run().len(), 10);
    assert_eq!((world.ledger.items.len(), world.ledger.overflow), (ITEMS, 10));
    assert_eq!(world.run(), [""; 0]);
}

#[test]
fn n69_closed_items_leave_before_open_ones() {
    let mut world = World::new(&["desk"]);
    for n in 0..ITEMS as Ms {
        world.open(wait(&format!("s{n:05}"), "a", NOON + n));
    }
    world.now = NOON + 10_000;
    world.run();
    world.close("wait:s00999:a");
    world.run();
    assert_eq!(why(&world, "wait:s00999:a"), "gone");
    world.open(wait("u", "a", world.now));
    world.run();
    assert!(!world.ledger.items.contains_key("wait:s00999:a"));
    assert!(world.ledger.items.contains_key("wait:s00000:a"));
    assert_eq!((world.ledger.items.len(), world.ledger.overflow), (ITEMS, 0));
}

#[test]
fn n71_a_message_is_done_when_it_is_final_everywhere() {
    let mut world = World::new(&["desk", "phone"]);
    let message = Entry {
        kind: Kind::Message,
        opened_ms: NOON,
        title: "Lunch".into(),
        ..Entry::default()
    };
    world.ledger.items.insert("msg:m".into(), message);
    world.run_with(&busy());
    assert_eq!(why(&world, "msg:m"), "open");
    world.later(10_000);
    assert_eq!(world.run().len(), 2);
    world.run();
    assert_eq!(
        (why(&world, "msg:m"), world.ledger.items["msg:m"].title.as_str()),
        ("done".into(), "")
    );
}

#[test]
fn n31_the_dialog_of_an_earlier_plan_has_nothing_to_do_with_the_next_one() {
    let mut world = World::new(&["desk"]);
    let mut dialog = wait("s", "a", NOON);
    dialog.kind = Kind::Plan;
    world.open(dialog.clone());
    world.open(plan("s", "p", NOON));
    assert_eq!(world.run(), ["desk plan:p/0"]);
    // the plan is rejected; nothing tells the row, whose dialog rings by itself now
    world.close("plan:p");
    world.later(4_000);
    assert_eq!(world.run(), ["desk wait:s:a/0"]);
    // the agent proposes again: the row still shows the old dialog, or a new one
    world.later(4_000);
    world.open(plan("s", "q", world.now));
    assert_eq!(world.run(), ["desk plan:q/0"]);
    world.close(A);
    world.later(1_000);
    assert_eq!(world.run(), [""; 0]);
    assert_eq!(why(&world, A), "answered");
}

#[test]
fn a_message_is_for_nobody_but_whom_it_names_and_for_no_outlet_that_comes_later() {
    let mut world = World::new(&["a", "b"]);
    for (id, only) in [("msg:a", vec!["a".to_owned()]), ("msg:all", Vec::new())] {
        let message = Entry {
            kind: Kind::Message,
            opened_ms: NOON,
            title: "x".into(),
            only,
            ..Entry::default()
        };
        world.ledger.items.insert(id.into(), message);
    }
    assert_eq!(world.run(), ["a msg:a/0", "a msg:all/0", "b msg:all/0"]);
    finish_messages(&mut world.ledger, &world.rules, world.now);
    world.rules.outlets.push(crate::testing::outlet("c"));
    assert_eq!(world.run(), [""; 0]);
}
