//! Whatever comes in whatever order: what always holds of a row.

use super::notation::{Session, payload};
use proptest::prelude::*;
use ring_hook::advance::{Effect, Fate};
use ring_hook::row::{self, Row};
use serde_json::json;

const EVENTS: &[&str] = &[
    "Start",
    "Start(compact)",
    "Start(resume)",
    "Prompt(one)",
    "Prompt(two)",
    "End",
    "Pre(Bash x)",
    "Pre(AskUserQuestion A?)",
    "Post(Bash x)",
    "PostToolUseFailure(Bash x)",
    "PostToolBatch",
    "Perm(Bash x)",
    "Perm(ExitPlanMode p)",
    "PermissionDenied(Bash x)",
    "Note(permission_prompt|one)",
    "Note(permission_prompt|two)",
    "Note(idle_prompt)",
    "Note(elicitation_dialog)",
    "Note(elicitation_complete)",
    "Note(|hello)",
    "Elicitation(Which?)",
    "ElicitationResult",
    "Q",
    "D",
    "Fail(rate_limit)",
    "Interrupt",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "CwdChanged",
    "FileChanged",
    "Tomorrow",
    "TurnStart",
];

#[derive(Clone, Debug)]
struct Step {
    event: &'static str,
    mark: String,
    list: Option<Vec<&'static str>>,
    later_ms: i64,
    stamp: Option<i64>,
}

fn step() -> impl Strategy<Value = Step> {
    let mark = (0..12_u8, 0..4_u8, 0..4_u8).prop_map(|(owner, turn, call)| {
        let mut mark = match owner {
            0..=3 => format!("^c{owner}"),
            4 => "~kind".to_owned(),
            _ => String::new(),
        };
        if turn > 0 {
            mark.push_str(&format!("#t{turn}"));
        }
        if call > 0 {
            mark.push_str(&format!("@u{call}"));
        }
        mark
    });
    (
        prop::sample::select(EVENTS),
        mark,
        prop::option::weighted(
            0.1,
            prop::collection::vec(prop::sample::select(&["c0", "c1", "x"][..]), 0..3),
        ),
        prop_oneof![0..10_i64, 0..3_000_i64, -100_000..200_000_i64, Just(2_000_000)],
        prop::option::weighted(0.05, 0..100_i64),
    )
        .prop_map(|(event, mark, list, later_ms, stamp)| Step {
            event,
            mark,
            list,
            later_ms,
            stamp,
        })
}

fn holds(row: &Row) {
    let mut owners: Vec<&str> = row.waits.iter().map(|w| w.owner.as_str()).collect();
    owners.sort_unstable();
    owners.dedup();
    assert_eq!(owners.len(), row.waits.len(), "at most one wait an owner: {row:#?}");
    assert!(row.waits.iter().all(|w| !w.id.is_empty()), "every wait has an id");
    assert_eq!(row.status, row::status(&row.waits, &row.turn, row.background));
    assert!(matches!(row.turn.state.as_str(), "working" | "idle"));
    assert!(matches!(
        row.turn.outcome.as_str(),
        "" | "done" | "failed" | "interrupted"
    ));
    assert!(row.waits.len() <= 32 && row.pending.len() <= 16 && row.children.len() <= 64);
    assert!(row.turns.len() <= 8 && row.recent.len() <= 8);
    assert!(row.since_ms <= row.seen_ms && row.event_ms <= row.seen_ms);
    assert!(row.to_json().len() < 32 * 1024);
    assert_eq!(
        Row::parse(row.to_json().as_bytes()).as_ref(),
        Some(row),
        "it survives its file"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn h77_no_order_of_events_breaks_a_row(steps in prop::collection::vec(step(), 1..60), codex in any::<bool>()) {
        let mut session = Session::of(if codex { "codex" } else { "claude-code" });
        let mut rung = Vec::new();
        for step in steps {
            session.now += step.later_ms;
            let mut payload = payload(&format!("{}{}", step.event, step.mark));
            if let Some(list) = &step.list {
                payload["background_tasks"] = list
                    .iter()
                    .map(|id| json!({"id": id, "type": "subagent", "status": "running"}))
                    .collect();
            }
            if let Some(stamp) = step.stamp {
                payload["timestamp"] = json!(1_800_000_000 + stamp);
            }
            let before = session.row.clone();
            session.take(&payload);
            let outcome = session.outcomes.last().unwrap();
            if let Some(row) = &session.row {
                holds(row);
            }
            match (&before, &session.row) {
                (Some(old), Some(new)) => {
                    prop_assert!(new.seen_ms >= old.seen_ms, "seen_ms never goes back");
                    prop_assert_eq!(&new.origin_cwd, if old.origin_cwd.is_empty() { &new.origin_cwd } else { &old.origin_cwd });
                    prop_assert_eq!(new.seq, old.seq + u64::from(outcome.effect == Effect::Applied));
                    if new.status == old.status {
                        prop_assert_eq!(new.since_ms, old.since_ms);
                    }
                    if outcome.fate == Fate::Unchanged {
                        prop_assert_eq!(old, new);
                    }
                    let waits_changed = old.waits.iter().map(|w| &w.id).ne(new.waits.iter().map(|w| &w.id));
                    prop_assert!(!waits_changed || outcome.line.is_some() || same_set(old, new));
                }
                (None, Some(new)) => prop_assert_eq!(new.seq, 1),
                _ => {}
            }
            if outcome.ring_in_ms == Some(0) {
                let id = outcome.put.as_ref().unwrap().wait.id.clone();
                prop_assert!(!rung.contains(&id), "one ring a wait");
                rung.push(id);
            }
        }
        // Every wait has an exit.
        session.now += 5_000;
        session.take(&payload("Prompt(the way out)"));
        prop_assert!(session.row().waits.is_empty());
        prop_assert_eq!(session.row().status.as_str(), "working");
    }
}

fn same_set(old: &Row, new: &Row) -> bool {
    let ids = |row: &Row| {
        let mut ids: Vec<String> = row.waits.iter().map(|w| w.id.clone()).collect();
        ids.sort_unstable();
        ids
    };
    ids(old) == ids(new)
}
