//! Ends that nobody decided: deadlines, deaths, and sessions that cannot be changed.

use crate::harness::{Home, KINDS, TEXT, ids, str_of, text};
use serde_json::json;
use std::fs;

const HALF_HOUR: i64 = 1_800_000;

#[test]
fn p23_p34_what_was_overdue_has_expired_whenever_its_owner_died() {
    for kind in KINDS {
        for writer in [
            &["ring-plan", "expire"][..],
            &["ring-session", "recover"],
            &["ring-session", "abort", "S"],
        ] {
            let home = Home::with_processes();
            let s = home.session(kind);
            let p = str_of(&home.submit(&s, kind, "c1")["id"]);
            home.boot("11111111");
            assert_eq!(home.show(&p)["status"], "interrupted");
            home.after(HALF_HOUR);
            let seen = home.show(&p);
            assert_eq!(
                (&seen["status"], &seen["error_code"]),
                (&json!("expired"), &json!("PLAN_APPROVAL_TIMEOUT"))
            );
            let words: Vec<&str> = writer.iter().map(|w| if *w == "S" { &s.id } else { *w }).collect();
            home.says(&words);
            assert!(home.record(&s.id)["proposal"].is_null(), "{writer:?}");
            assert_eq!(home.show(&p), seen, "{writer:?}: stored as it was shown");
            assert_eq!(home.status(&s.id)["mode"], kind);
        }
    }
}

#[test]
fn p24_expire_stores_also_what_readers_show_as_interrupted_and_prints_what_was_overdue() {
    for kind in KINDS {
        let home = Home::with_processes();
        let (pending, p) = home.proposed(kind);
        let (queued, _, x) = home.approved(kind);
        home.boot("11111111");
        assert_eq!(home.json(&["ring-plan", "expire"], ""), json!([]));
        for s in [&pending, &queued] {
            assert!(home.record(&s.id)["proposal"].is_null());
        }
        assert_eq!(home.show(&p)["status"], "interrupted");
        assert_eq!(home.execution(&x)["state"], "interrupted");
    }
}

#[test]
fn p24_p50_a_session_that_cannot_be_changed_keeps_no_other_open_and_hides_none() {
    for kind in KINDS {
        let home = Home::new();
        // whichever is the first in the list
        let all = [home.proposed(kind), home.proposed(kind), home.proposed(kind)];
        let (broken, hidden) = &all[1];
        let history = home.path("state/sessions").join(&broken.id).join("history.jsonl");
        fs::create_dir(&history).unwrap();
        let mut pending = ids(&home.json(&["ring-plan", "pending"], ""));
        pending.sort();
        let mut ids_of_all: Vec<String> = all.iter().map(|(_, p)| p.clone()).collect();
        ids_of_all.sort();
        assert_eq!(pending, ids_of_all);
        home.after(HALF_HOUR);
        let out = home.run(&["ring-plan", "expire"], "");
        assert_eq!((out.status.code(), text(&out.stdout)), (Some(74), String::new()));
        assert!(text(&out.stderr).ends_with(" [IO]\n"), "{}", text(&out.stderr));
        for (s, _) in [&all[0], &all[2]] {
            assert!(home.record(&s.id)["proposal"].is_null(), "closed all the same");
        }
        // it is for readers what it is, and can be closed when it can be written
        assert_eq!(home.show(hidden)["status"], "expired");
        fs::remove_dir(&history).unwrap();
        assert_eq!(home.says(&["ring-plan", "expire"]), *hidden);
    }
}

#[test]
fn p25_p33_an_abort_ends_also_what_was_approved_while_the_turn_ran() {
    for kind in KINDS {
        let home = Home::new();
        let s = home.session(kind);
        let p = str_of(&home.submit(&s, kind, "c1")["id"]);
        home.approve(&p, "auto");
        let before = home.record(&s.id)["revision"].as_u64().unwrap();
        let said = home.json(&["ring-session", "abort", &s.id], "");
        assert_eq!(said["interrupted"].as_array().map(Vec::len), Some(1), "{said}");
        assert_eq!(home.record(&s.id)["revision"], before + 1, "one commit");
        let over = home.execution(&p);
        assert_eq!(
            (&over["state"], &over["error_code"]),
            (&json!("interrupted"), &json!("PLAN_EXECUTION_INTERRUPTED"))
        );
        home.is_free(&s);
        assert_eq!(fs::read(home.artifact(&home.show(&p))).unwrap(), TEXT.as_bytes());
    }
}

#[test]
fn p12_a_repeated_call_is_the_stored_row_also_where_the_repeat_is_what_closes_it() {
    for kind in KINDS {
        for end in ["deadline", "restart"] {
            let home = Home::with_processes();
            let s = home.session(kind);
            let first = home.submit(&s, kind, "c1");
            match end {
                "deadline" => drop(home.after(HALF_HOUR)),
                _ => home.boot("11111111"),
            }
            let again = home.submit(&s, kind, "c1");
            assert_eq!((&again["id"], &again["path"]), (&first["id"], &first["path"]));
            let status = if end == "deadline" { "expired" } else { "interrupted" };
            assert_eq!((&again["status"], &again["stop_turn"]), (&json!(status), &json!(false)));
            assert!(again["type"].is_null() && again["schema"].is_null(), "{again}");
            assert!(home.record(&s.id)["proposal"].is_null());
            let files = fs::read_dir(home.artifact(&first).parent().unwrap()).unwrap();
            assert_eq!(files.count(), 1);
        }
    }
}

#[test]
fn p69_a_prompt_of_a_proposal_whose_time_is_over_makes_no_other() {
    let home = Home::new();
    home.silent("UserPromptSubmit", "plan", json!({"prompt": "plan it"}));
    home.silent("PreToolUse", "plan", crate::harness::exit_plan("toolu_1"));
    home.after(HALF_HOUR);
    let payload = home.payload("PermissionRequest", "plan", crate::harness::exit_plan("toolu_1"));
    let out = home.run(
        &["ring-plan", "hook", "--agent", "claude-code", "--wait", "30s"],
        payload,
    );
    assert_eq!((out.status.code(), out.stdout.len()), (Some(0), 0));
    assert_eq!(home.json(&["ring-plan", "pending"], ""), json!([]));
    let past = home.json(&["ring-plan", "history"], "");
    assert_eq!(
        (past.as_array().map(Vec::len), &past[0]["status"]),
        (Some(1), &json!("expired"))
    );
}
