use super::*;
use crate::ledger::Entry;
use crate::send::Fate;
use crate::testing::{NOON, World, busy, plan, process, turn, wait};
use globset::Glob;
use proptest::prelude::*;

const A: &str = "wait:s:a";

#[test]
fn n21_a_wait_rings_once_on_each_outlet() {
    let mut world = World::new(&["desk", "phone"]);
    world.open(wait("s", "a", NOON - 5));
    assert_eq!(world.run(), ["desk wait:s:a/0", "phone wait:s:a/0"]);
    assert_eq!(world.run(), [""; 0]);
}

#[test]
fn n22_another_request_of_the_same_session_rings_at_once_and_so_does_another_owners() {
    let mut world = World::new(&["desk"]);
    world.open(wait("s", "a", NOON));
    world.run();
    world.later(1_000);
    world.close(A);
    world.open(wait("s", "b", NOON + 1_000));
    world.open(wait("s", "c", NOON + 1_000));
    assert_eq!(world.run(), ["desk wait:s:b/0", "desk wait:s:c/0"]);
}

#[test]
fn n25_repeats_come_at_their_times_and_then_no_more() {
    let mut world = World::new(&["desk"]);
    world.open(wait("s", "a", NOON));
    let mut rang = Vec::new();
    for second in 0..=3_600 {
        world.now = NOON + second * 1_000;
        rang.extend(world.run().into_iter().map(|m| (second, m)));
    }
    let of = |n: i64| format!("desk wait:s:a/{n}");
    assert_eq!(rang, [(0, of(0)), (30, of(1)), (120, of(2)), (300, of(3))]);
}

#[test]
fn n25_of_several_late_repeats_the_last_is_sent_and_the_others_count_as_done() {
    let mut world = World::new(&["desk"]);
    world.open(wait("s", "a", NOON));
    world.run();
    world.later(400_000);
    assert_eq!(world.run(), ["desk wait:s:a/3"]);
    world.later(3_600_000);
    assert_eq!(world.run(), [""; 0]);
}

#[test]
fn n25_without_repeats_there_are_none_and_a_short_list_goes_on_with_its_last_value() {
    let mut world = World::new(&["desk"]);
    world.rules.notify.repeat_max = 0;
    world.open(wait("s", "a", NOON));
    world.run();
    world.later(3_600_000);
    assert_eq!(world.run(), [""; 0]);
    world.rules.notify.repeat_max = 9;
    world.rules.notify.repeat_ms = vec![10_000, 20_000];
    let after: Vec<_> = (0..4).map(|k| world.rules.repeat_after_ms(k)).collect();
    assert_eq!(after, [Some(10_000), Some(20_000), Some(40_000), Some(60_000)]);
    world.rules.notify.repeat_ms.clear();
    assert_eq!(world.rules.repeat_after_ms(0), None);
    world.rules.outlets[0].repeat = false;
    world.rules.notify.repeat_ms = vec![1];
    assert_eq!(world.run(), [""; 0]);
}

#[test]
fn turns_and_messages_never_repeat() {
    let mut world = World::new(&["desk"]);
    world.open(turn("s", "t", Kind::Failed, NOON));
    world.ledger.items.insert(
        "msg:m".into(),
        Entry {
            kind: Kind::Message,
            opened_ms: NOON,
            ..Entry::default()
        },
    );
    assert_eq!(world.run().len(), 2);
    world.later(400_000);
    assert_eq!(world.run(), [""; 0]);
}

#[test]
fn n33_short_completed_turns_and_kinds_that_are_off_do_not_ring() {
    let mut world = World::new(&["desk"]);
    for (id, kind, duration_ms) in [
        ("short", Kind::Completed, 29_000),
        ("long", Kind::Completed, 30_000),
        ("failed", Kind::Failed, 1),
    ] {
        world.open(crate::item::Live {
            duration_ms,
            ..turn("s", id, kind, NOON)
        });
    }
    assert_eq!(world.run(), ["desk turn:failed/0", "desk turn:long/0"]);
    assert_eq!(world.stands("turn:short", "desk"), "skipped");
    world.rules.notify.completed = false;
    world.open(turn("s", "off", Kind::Completed, NOON));
    assert_eq!(world.run(), [""; 0]);
}

#[test]
fn n40_each_item_reaches_exactly_the_outlets_whose_filters_it_fits() {
    let mut world = World::new(&["kind", "agent", "project", "not", "all"]);
    let glob = |text: &str| Glob::new(text).unwrap().compile_matcher();
    world.rules.outlets[0].kinds = vec!["wait".into()];
    world.rules.outlets[1].agents = vec!["claude-code".into()];
    world.rules.outlets[2].projects.any = vec![glob("/w/**")];
    world.rules.outlets[3].projects.none = vec![glob("/w/**")];
    world.open(wait("s", "a", NOON));
    let mut other = turn("r", "t", Kind::Failed, NOON);
    other.agent = "claude-code".into();
    other.project = "/x".into();
    world.open(other);
    assert_eq!(
        world.run(),
        [
            "kind wait:s:a/0",
            "agent turn:t/0",
            "project wait:s:a/0",
            "not turn:t/0",
            "all turn:t/0",
            "all wait:s:a/0",
        ]
    );
}

#[test]
fn n44_what_quiet_held_back_goes_out_as_one_message_without_what_was_answered() {
    let mut world = World::new(&["desk"]);
    world.quiet = true;
    for id in ["a", "b", "c"] {
        world.open(wait(id, "a", NOON));
    }
    assert_eq!(world.run(), [""; 0]);
    assert_eq!(world.stands("wait:b:a", "desk"), "held quiet");
    world.close("wait:b:a");
    world.quiet = false;
    world.later(60_000);
    assert_eq!(world.run(), ["desk wait:a:a/0 wait:c:a/0"]);
    assert_eq!(world.run(), [""; 0]);
}

#[test]
fn n45_one_that_is_left_is_sent_as_itself_and_none_is_nothing() {
    let mut world = World::new(&["desk"]);
    world.quiet = true;
    world.open(wait("a", "a", NOON));
    world.run();
    world.quiet = false;
    let decision = world.decide(1);
    assert_eq!((decision.due.len(), decision.due[0].batch.as_str()), (1, ""));
    world.quiet = true;
    world.open(wait("b", "a", NOON));
    world.run();
    world.close("wait:b:a");
    world.quiet = false;
    assert_eq!(world.run(), [""; 0]);
}

#[test]
fn n49_urgent_passes_quiet_hours_but_not_manual_quiet() {
    for (bypass, quiet, sent) in [(true, false, 1), (false, false, 0), (true, true, 0)] {
        let mut world = World::new(&["desk"]);
        world.rules.outlets[0].hours = Some(Hours {
            start: jiff::civil::time(22, 0, 0, 0),
            end: jiff::civil::time(7, 0, 0, 0),
            days: Vec::new(),
            urgent_bypass: bypass,
        });
        world.in_hours = true;
        world.quiet = quiet;
        world.rules.notify.urgent_kinds = vec!["task.failed".into()];
        world.open(turn("s", "t", Kind::Failed, NOON));
        world.open(wait("s", "a", NOON));
        assert_eq!(world.run().len(), sent, "{bypass} {quiet}");
        let hold = if quiet { "held quiet" } else { "held hours" };
        assert_eq!(world.stands(A, "desk"), hold);
    }
}

#[test]
fn n34_a_completed_turn_waits_for_background_tasks() {
    let mut world = World::new(&["desk"]);
    let mut done = turn("s", "t", Kind::Completed, NOON);
    done.background = 2;
    world.open(done);
    assert_eq!(world.run(), [""; 0]);
    assert_eq!(world.stands("turn:t", "desk"), "held background");
    world.sources.live[0].background = 0;
    assert_eq!(world.run(), ["desk turn:t/0"]);
}

#[test]
fn n43_who_looks_is_not_rung_for() {
    let mut world = World::new(&["desk", "phone"]);
    world.rules.outlets[0].skip_when_looking = true;
    world.looking.insert("s".into());
    world.open(wait("s", "a", NOON));
    world.open(turn("s", "t", Kind::Failed, NOON));
    assert_eq!(world.run(), ["phone turn:t/0", "phone wait:s:a/0"]);
    assert_eq!(world.stands("turn:t", "desk"), "skipped");
    assert_eq!(world.stands(A, "desk"), "held looking");
    world.looking.clear();
    assert_eq!(world.run(), ["desk wait:s:a/0"]);
}

#[test]
fn n52_more_than_three_at_once_are_one_message() {
    let mut world = World::new(&["desk"]);
    for n in 0..3 {
        world.open(wait(&format!("s{n}"), "a", NOON));
    }
    assert_eq!(world.run().len(), 3);
    for n in 0..4 {
        world.open(wait(&format!("r{n}"), "a", NOON));
    }
    assert_eq!(world.run(), ["desk wait:r0:a/0 wait:r1:a/0 wait:r2:a/0 wait:r3:a/0"]);
}

#[test]
fn n53_a_session_that_asks_and_asks_rings_five_times_a_minute_and_then_sums_up() {
    let mut world = World::new(&["desk"]);
    world.rules.notify.repeat_max = 0;
    let mut rang = Vec::new();
    for n in 0..8 {
        world.open(wait("s", &format!("w{n}"), world.now));
        rang.extend(world.run());
        world.later(1_000);
    }
    assert_eq!(rang.len(), 5, "{rang:?}");
    assert_eq!(world.stands("wait:s:w5", "desk"), "held burst");
    world.now = NOON + 59_999;
    assert_eq!(world.run(), [""; 0]);
    world.later(1);
    assert_eq!(world.run(), ["desk wait:s:w5/0 wait:s:w6/0 wait:s:w7/0"]);
}

#[test]
fn n51_a_window_lets_the_first_out_and_sums_up_the_rest_at_its_end() {
    let mut world = World::new(&["desk"]);
    world.rules.notify.debounce_ms = 5_000;
    world.open(wait("s0", "a", NOON));
    let first = world.decide(1);
    assert_eq!((first.due.len(), first.stay_until_ms), (1, None));
    world.settle(&first.due[0], &Fate::Sent, 1);
    let mut stays = Vec::new();
    for n in 1..5 {
        world.later(100);
        world.open(wait(&format!("s{n}"), "a", world.now));
        stays.push(world.decide(1).stay_until_ms);
    }
    assert_eq!(
        stays,
        [Some(NOON + 5_000), None, None, None],
        "only the first that holds stays"
    );
    world.now = NOON + 4_999;
    assert_eq!(world.run(), [""; 0]);
    world.later(1);
    assert_eq!(world.run(), ["desk wait:s1:a/0 wait:s2:a/0 wait:s3:a/0 wait:s4:a/0"]);
    // which opens the next window
    world.later(100);
    world.open(wait("s9", "a", world.now));
    let next = world.decide(1);
    assert_eq!((next.due.len(), next.stay_until_ms), (0, Some(NOON + 10_000)));
}

#[test]
fn fifty_sessions_at_once_are_one_first_ring_and_one_summary() {
    let mut world = World::new(&["desk"]);
    world.rules.notify.debounce_ms = 5_000;
    for n in 0..50 {
        world.open(wait(&format!("s{n:02}"), "a", NOON));
    }
    assert_eq!(world.run(), ["desk wait:s00:a/0"]);
    world.later(5_000);
    let left = world.run();
    assert_eq!((left.len(), left[0].matches("wait:").count()), (1, 49));
}

#[test]
fn the_session_whose_hook_has_started_the_run_goes_first() {
    let mut world = World::new(&["desk"]);
    world.open(wait("s", "a", NOON - 10));
    world.open(wait("r", "a", NOON));
    world.first = "r".into();
    assert_eq!(world.run(), ["desk wait:r:a/0", "desk wait:s:a/0"]);
}

#[test]
fn n55_a_failure_is_tried_again_after_its_pause_and_six_times_in_all() {
    let mut world = World::new(&["phone"]);
    world.rules.outlets[0].repeat = false;
    world.open(wait("s", "a", NOON));
    let mut tries = Vec::new();
    for second in 0..4_000 {
        world.now = NOON + second * 1_000;
        tries.extend(world.run_with(&busy()).iter().map(|_| second));
    }
    assert_eq!(tries, [0, 10, 40, 160, 760, 2_560]);
    assert_eq!(world.stands(A, "phone"), "failed");
}

#[test]
fn n24_a_retry_of_what_was_answered_does_not_go_out() {
    let mut world = World::new(&["phone"]);
    world.open(wait("s", "a", NOON));
    world.run_with(&busy());
    world.close(A);
    world.later(10_000);
    assert_eq!(world.run(), [""; 0]);
    assert_eq!(world.stands(A, "phone"), "skipped");
}

#[test]
fn a_summary_that_failed_goes_out_again_as_the_same_summary() {
    let mut world = World::new(&["phone"]);
    for n in 0..5 {
        world.open(wait(&format!("s{n}"), "a", NOON));
    }
    let first = world.decide(1).due;
    world.settle(&first[0], &busy(), 1);
    world.close("wait:s3:a");
    world.later(10_000);
    let again = world.decide(1).due;
    assert_eq!((again.len(), again[0].parts.len()), (1, 4));
    assert_eq!((&again[0].batch, again[0].batch.is_empty()), (&first[0].batch, false));
}

#[test]
fn n54_a_claim_of_a_dead_or_silent_process_is_unconfirmed_and_never_sent_again() {
    for dies in [true, false] {
        let mut world = World::new(&["desk"]);
        world.rules.outlets[0].repeat = false;
        world.open(wait("s", "a", NOON));
        assert_eq!(world.decide(7).due.len(), 1);
        world.later(1_000);
        assert_eq!(world.decide(8).due.len(), 0, "somebody is sending it");
        if dies {
            world.dead.insert(7);
        } else {
            world.later(CLAIM_MS);
        }
        let next = world.decide(8);
        assert_eq!((next.due.len(), next.lost.len()), (0, 1));
        assert_eq!(world.stands(A, "desk"), "unconfirmed");
        world.later(3_600_000);
        assert_eq!(world.run(), [""; 0]);
    }
}

#[test]
fn n54_where_it_is_wished_what_is_unconfirmed_is_tried_again() {
    let mut world = World::new(&["phone"]);
    world.rules.outlets[0].retry_unconfirmed = true;
    world.open(wait("s", "a", NOON));
    let first = world.decide(7).due;
    world.dead.insert(7);
    assert_eq!(world.decide(8).lost.len(), 1);
    world.later(10_000);
    let again = world.decide(8).due;
    assert_eq!(
        first[0].parts, again[0].parts,
        "the same item and ring, so the same key"
    );
}

#[test]
fn n39_no_step_of_the_clock_silences_anything() {
    let day = 86_400_000;
    let mut world = World::new(&["desk"]);
    world.rules.notify.debounce_ms = 5_000;
    world.open(wait("s", "a", NOON));
    world.run();
    world.open(wait("s", "b", NOON));
    world.run();
    world.open(wait("s", "c", NOON));
    world.run_with(&busy());
    world.now = NOON - day;
    world.open(wait("s", "d", world.now));
    world.run();
    let mut rang = BTreeSet::new();
    for _ in 0..200 {
        world.later(1_000);
        for message in world.run() {
            rang.extend(message.split(' ').filter(|p| p.ends_with("/0")).map(str::to_owned));
        }
    }
    for id in ["b", "c", "d"] {
        assert!(rang.contains(&format!("wait:s:{id}/0")), "{id}: {rang:?}");
    }
}

#[test]
fn more_held_items_than_an_outlet_may_have_are_given_up_oldest_first() {
    let mut world = World::new(&["desk"]);
    world.quiet = true;
    for n in 0..250 {
        world.open(wait(&format!("s{n:03}"), "a", NOON + n));
    }
    world.run();
    assert_eq!(world.stands("wait:s049:a", "desk"), "skipped");
    assert_eq!(world.stands("wait:s050:a", "desk"), "held quiet");
}

#[test]
fn an_outlet_that_is_no_more_leaves_the_ledger() {
    let mut world = World::new(&["desk", "old"]);
    world.open(wait("s", "a", NOON));
    world.run();
    world.rules.outlets.pop();
    world.run();
    assert_eq!(world.ledger.outlets.keys().collect::<Vec<_>>(), ["desk"]);
}

/// What happens in a random history.
#[derive(Clone, Debug)]
enum Step {
    Open(u8),
    Close(u8),
    Later(u32),
    Quiet(bool),
    /// A run whose outlets say so; 4: it is killed after its claims.
    Run(u8),
    Clock(i32),
    Propose(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..12u8).prop_map(Step::Open),
        3 => (0..12u8).prop_map(Step::Close),
        4 => (0..200_000u32).prop_map(Step::Later),
        1 => any::<bool>().prop_map(Step::Quiet),
        8 => (0..5u8).prop_map(Step::Run),
        1 => (-100_000..100_000i32).prop_map(Step::Clock),
        1 => any::<bool>().prop_map(Step::Propose),
    ];
    proptest::collection::vec(step, 1..80)
}

fn fate(n: u8) -> Fate {
    match n {
        0 => Fate::Sent,
        1 => busy(),
        2 => Fate::Failed {
            error: "http 404".into(),
        },
        3 => Fate::Unconfirmed {
            error: "timeout".into(),
        },
        _ => Fate::Skipped { error: "no_tty".into() },
    }
}

proptest! {
    #[test]
    fn whatever_happens_a_ring_leaves_at_most_once_and_no_open_wait_is_forgotten(
        history in steps(),
        debounce in prop_oneof![Just(0), Just(5_000)],
    ) {
        let mut world = World::new(&["desk", "phone"]);
        world.rules.notify.debounce_ms = debounce;
        // how often each ring was last known to have left or to be lost: (outlet, item, ring) -> final
        let mut finals: BTreeMap<(String, String, u32), Ms> = BTreeMap::new();
        let mut pid = 100;
        for step in history {
            match step {
                Step::Open(n) => {
                    let live = wait(&format!("s{}", n % 3), &format!("w{n}"), world.now);
                    if world.sources.live.iter().all(|l| l.id != live.id) {
                        world.open(live);
                    }
                }
                Step::Close(n) => world.close(&format!("wait:s{}:w{n}", n % 3)),
                Step::Later(ms) => world.later(Ms::from(ms)),
                Step::Clock(ms) => world.later(Ms::from(ms)),
                Step::Quiet(on) => world.quiet = on,
                Step::Propose(on) => {
                    world.close("plan:p");
                    if on {
                        let now = world.now;
                        world.open(plan("s0", "p", now));
                    }
                }
                Step::Run(n) => {
                    pid += 1;
                    for at in finals.values_mut() {
                        // what the clock left behind counts as now, here as there
                        *at = if *at > world.now + 2_000 { world.now } else { *at };
                    }
                    let decision = world.decide(pid);
                    prop_assert!(!world.quiet || decision.due.is_empty(), "something left although it was quiet");
                    for due in &decision.due {
                        let mut names: Vec<&String> = due.parts.iter().map(|(i, _)| i).collect();
                        names.sort();
                        names.dedup();
                        prop_assert_eq!(names.len(), due.parts.len());
                        for (item, ring) in &due.parts {
                            prop_assert!(world.sources.live.iter().any(|l| l.id == *item), "{} is not open", item);
                            // the same ring again only when it has started afresh, which takes the cooldown
                            let key = (due.outlet.clone(), item.clone(), *ring);
                            if let Some(at) = finals.get(&key) {
                                let age = world.now - at;
                                let cooldown = world.rules.notify.cooldown_ms;
                                prop_assert!(age >= cooldown - 2_000 || age < 0, "{:?} again after {}", key, age);
                            }
                        }
                        if n == 4 {
                            world.dead.insert(pid);
                            for (item, ring) in &due.parts {
                                finals.insert((due.outlet.clone(), item.clone(), *ring), world.now);
                            }
                            continue;
                        }
                        for told in world.settle(due, &fate(n), pid) {
                            if told.state.has_rung() {
                                finals.insert((told.outlet, told.item, told.ring), world.now);
                            }
                        }
                    }
                }
            }
            prop_assert!(world.ledger.items.len() <= crate::ledger::ITEMS);
        }
        // then all is well for a while: everything that is still open has rung, or was told to be lost
        world.quiet = false;
        for _ in 0..400 {
            world.later(10_000);
            world.run();
        }
        for live in &world.sources.live {
            let entry = world.ledger.items.get(&live.id);
            for outlet in ["desk", "phone"] {
                let to = entry.and_then(|e| e.to.get(outlet));
                prop_assert!(to.is_some_and(|t| t.state.is_final()), "{} on {}: {:?}", live.id, outlet, to);
            }
        }
        prop_assert_eq!(world.run(), Vec::<String>::new());
        let text = serde_json::to_string(&world.ledger).unwrap();
        prop_assert_eq!(serde_json::from_str::<Ledger>(&text).unwrap(), world.ledger);
    }

    #[test]
    fn a_decision_is_the_same_twice_and_changes_nothing_the_second_time(waits in proptest::collection::vec((0..5u8, 0..400_000u32), 0..20)) {
        let mut world = World::new(&["desk"]);
        world.quiet = true;
        for (n, (session, age)) in waits.iter().enumerate() {
            world.open(wait(&format!("s{session}"), &format!("w{n}"), NOON - Ms::from(*age)));
        }
        world.decide(1);
        let before = world.ledger.clone();
        let again = world.decide(2);
        prop_assert_eq!(again, Decision::default());
        prop_assert_eq!(world.ledger, before);
    }
}

#[test]
fn a_claim_names_its_process() {
    let mut world = World::new(&["desk"]);
    world.open(wait("s", "a", NOON));
    world.decide(7);
    assert_eq!(world.ledger.items[A].to["desk"].owner, Some(process(7)));
    assert_eq!(world.stands(A, "desk"), "claimed");
}

#[test]
fn an_outlet_that_is_new_gets_what_is_needed_now_and_no_turn_of_before() {
    let mut world = World::new(&["desk"]);
    world.open(turn("s", "old", Kind::Failed, NOON));
    world.open(wait("s", "a", NOON));
    world.run();
    world.later(1_000);
    world.rules.outlets.push(crate::testing::outlet("phone"));
    assert_eq!(world.run(), ["phone wait:s:a/0"]);
    world.later(1_000);
    world.open(turn("s", "new", Kind::Failed, world.now));
    assert_eq!(world.run(), ["desk turn:new/0", "phone turn:new/0"]);
}
