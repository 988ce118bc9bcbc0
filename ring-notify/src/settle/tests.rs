use super::*;
use crate::testing::{NOON, World, busy, process, wait};

const A: &str = "wait:s:a";

fn claimed(names: &[&str]) -> (World, Vec<Due>) {
    let mut world = World::new(names);
    world.open(wait("s", "a", NOON - 40));
    let due = world.decide(1).due;
    (world, due)
}

#[test]
fn every_fate_has_its_state() {
    let error = |e: &str| e.to_owned();
    for (fate, state, kept) in [
        (Fate::Sent, State::Sent, ""),
        (busy(), State::Retry, "http 503"),
        (
            Fate::Failed {
                error: error("http 404"),
            },
            State::Failed,
            "http 404",
        ),
        (Fate::Skipped { error: error("no_tty") }, State::Skipped, "no_tty"),
        (
            Fate::Unconfirmed {
                error: error("timeout"),
            },
            State::Unconfirmed,
            "timeout",
        ),
    ] {
        let (mut world, due) = claimed(&["desk"]);
        world.later(10);
        let told = world.settle(&due[0], &fate, 1);
        let to = &world.ledger.items[A].to["desk"];
        assert_eq!((to.state, to.error.as_str(), to.at_ms), (state, kept, NOON + 10));
        assert_eq!((told[0].state, told[0].lag_ms, to.owner.is_none()), (state, 50, true));
        let last = &world.ledger.outlets["desk"].last;
        assert_eq!(last, if kept.is_empty() { "sent" } else { kept });
    }
}

#[test]
fn n55_retry_after_wins_but_for_an_hour_at_most() {
    for (after, pause) in [
        (Some(60_000), 60_000),
        (Some(9_000_000), 3_600_000),
        (Some(0), 0),
        (None, 10_000),
    ] {
        let (mut world, due) = claimed(&["phone"]);
        let fate = Fate::Retry {
            error: "http 429".into(),
            after_ms: after,
        };
        world.settle(&due[0], &fate, 1);
        assert_eq!(world.ledger.items[A].to["phone"].next_ms, NOON + pause, "{after:?}");
    }
}

#[test]
fn n23_what_the_last_look_found_closed_is_skipped_and_closed_for_its_reason() {
    let (mut world, due) = claimed(&["desk"]);
    world.close(A);
    let told = world.settle(&due[0], &Fate::Sent, 1);
    let entry = &world.ledger.items[A];
    assert_eq!((entry.why.as_str(), told[0].state), ("answered", State::Skipped));
    assert_eq!(
        world.ledger.outlets.get("desk").map_or(0, |o| o.last_ms),
        0,
        "the outlet said nothing"
    );
}

#[test]
fn the_owners_own_later_result_replaces_that_nobody_knows() {
    let (mut world, due) = claimed(&["desk"]);
    world.rules.outlets[0].repeat = false;
    world.later(due::CLAIM_MS + 1);
    assert_eq!(world.decide(2).lost.len(), 1);
    world.settle(&due[0], &Fate::Sent, 1);
    assert_eq!(world.stands(A, "desk"), "sent");
}

#[test]
fn nobody_settles_the_claim_of_another() {
    let (mut world, due) = claimed(&["desk"]);
    assert!(world.settle(&due[0], &Fate::Sent, 2).is_empty());
    assert_eq!(world.stands(A, "desk"), "claimed");
}

#[test]
fn what_was_not_tried_may_be_tried_by_the_next_run_at_once() {
    let (mut world, due) = claimed(&["desk"]);
    settle(
        &mut world.ledger,
        &due[0],
        &[Result::Untried],
        &process(1),
        &world.rules,
        NOON,
    );
    assert_eq!(world.ledger.items[A].to["desk"].attempts, 0);
    assert_eq!(world.run(), ["desk wait:s:a/0"]);
}

#[test]
fn a_retry_of_an_item_that_was_closed_meanwhile_is_given_up() {
    let (mut world, due) = claimed(&["desk"]);
    let results = [Result::Sent(busy())];
    world.close(A);
    world.decide(2);
    settle(&mut world.ledger, &due[0], &results, &process(1), &world.rules, NOON);
    assert_eq!(world.stands(A, "desk"), "skipped");
}

#[test]
fn errors_are_bounded_and_clean() {
    let (mut world, due) = claimed(&["desk"]);
    let error = format!("exit \u{1b}[31m{}", "x".repeat(500));
    world.settle(&due[0], &Fate::Failed { error }, 1);
    let kept = &world.ledger.items[A].to["desk"].error;
    assert!(kept.chars().count() == ERROR && !kept.contains('\u{1b}'), "{kept}");
}

#[test]
fn a_later_ring_that_was_given_up_takes_nothing_from_a_request_that_inherited_an_earlier_one() {
    let (mut world, due) = claimed(&["desk"]);
    world.settle(&due[0], &Fate::Sent, 1);
    world.later(30_000);
    let repeat = world.decide(1).due;
    // the request comes back under another id, which has taken the first ring over
    let sent = To {
        state: State::Sent,
        ring: 0,
        from: A.into(),
        ..To::default()
    };
    let heir = crate::ledger::Entry {
        to: [("desk".to_owned(), sent)].into(),
        ..Default::default()
    };
    world.ledger.items.insert("wait:s:a2".into(), heir);
    world.close(A);
    world.settle(&repeat[0], &Fate::Sent, 1);
    assert_eq!(world.stands("wait:s:a2", "desk"), "sent");
}
