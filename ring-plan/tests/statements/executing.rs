//! What an approval grants: claimed once, ended once, never replayed.

use crate::harness::{Home, KINDS, TEXT, ids, report, start, str_of, text, tree};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn p28_of_two_who_claim_one_does_and_only_its_turn_can_begin_and_once() {
    for kind in KINDS {
        let home = Home::new();
        let (s, _, x) = home.approved(kind);
        let claims = [(); 2].map(|()| start(&mut home.command(&["ring-plan", "--format", "json", "claim", &x]), b""));
        let outs = claims.map(|c| c.wait_with_output().unwrap());
        let (won, lost) = match outs[0].status.success() {
            true => (&outs[0], &outs[1]),
            false => (&outs[1], &outs[0]),
        };
        crate::harness::refusal("PLAN_EXECUTION_STALE", lost, &["claim"]);
        let claimed: Value = serde_json::from_slice(&won.stdout).unwrap();
        assert_eq!((&claimed["id"], &claimed["state"]), (&json!(x), &json!("running")));
        let turn = str_of(&claimed["turn_id"]);
        home.refused_untouched("PLAN_EXECUTION_STALE", &s.id, &["ring-plan", "claim", &x], "");
        for words in [
            &["ring-session", "begin", &s.id, "x"][..],
            &["ring-session", "begin", &s.id, "--turn", "another"],
            &["ring-session", "queue", "next", &s.id],
        ] {
            home.refused_untouched("AGENT_BUSY", &s.id, words, "");
        }
        let begin = ["ring-session", "begin", &s.id, "--turn", &turn];
        assert_eq!(home.says(&begin), turn);
        assert_eq!(home.record(&s.id)["turn"]["execution_id"], x.as_str());
        home.refused_untouched("AGENT_BUSY", &s.id, &begin, "");
        home.says(&["ring-session", "end", &s.id, "--turn", &turn, "completed"]);
        // finish decides, and until then the turn is not begun a second time
        assert_eq!(home.execution(&x)["state"], "running");
        home.refused_untouched("AGENT_BUSY", &s.id, &begin, "");
        let rows = home.json(&["ring-session", "transcript", &s.id], "");
        let prompts = rows.as_array().unwrap().iter().filter(|r| r["role"] == "user");
        assert_eq!(prompts.count(), 1, "only the one of the planning turn: {rows}");
    }
}

#[test]
fn p28_claim_may_take_the_live_turn_and_no_turn_that_is_over() {
    for kind in KINDS {
        let home = Home::new();
        let s = home.session(kind);
        let p = str_of(&home.submit(&s, kind, "c1")["id"]);
        home.approve(&p, "ask");
        home.says(&["ring-plan", "claim", &p, "--turn", &s.turn]);
        let record = home.record(&s.id);
        assert_eq!(record["turn"]["execution_id"], record["proposal"]["execution"]["id"]);

        let (s, p, _) = home.approved(kind);
        let words = ["ring-plan", "claim", &p, "--turn", &s.turn];
        home.refused_untouched("CONFLICT", &s.id, &words, "");
        assert_eq!(home.says(&["ring-plan", "claim", &p, "--turn", "my-own"]), "my-own");
    }
}

#[test]
fn p29_beside_another_live_turn_nothing_is_claimed_and_the_execution_waits() {
    for kind in KINDS {
        let home = Home::new();
        let s = home.session(kind);
        let p = str_of(&home.submit(&s, kind, "c1")["id"]);
        home.approve(&p, "ask");
        for words in [
            &["ring-plan", "claim", &p][..],
            &["ring-plan", "claim", &p, "--turn", "another"],
            &["ring-plan", "run", &p, "--", "touch", "ran"],
        ] {
            home.refused_untouched("AGENT_BUSY", &s.id, words, "");
        }
        assert_eq!(home.execution(&p)["state"], "queued");
        home.end(&s);
        home.says(&["ring-plan", "claim", &p]);
    }
}

/// Ways to spoil an artifact, with the code that says so.
const SPOILED: [(&str, &str); 8] = [
    ("changed", "PLAN_ARTIFACT_HASH_MISMATCH"),
    ("shorter", "PLAN_ARTIFACT_HASH_MISMATCH"),
    ("gone", "PLAN_ARTIFACT_NOT_READY"),
    ("folder gone", "PLAN_ARTIFACT_NOT_READY"),
    ("link", "PLAN_ARTIFACT_PATH_UNSAFE"),
    ("directory", "PLAN_ARTIFACT_PATH_UNSAFE"),
    ("pipe", "PLAN_ARTIFACT_PATH_UNSAFE"),
    ("linked folder", "PLAN_ARTIFACT_PATH_UNSAFE"),
];

fn spoil(home: &Home, path: &Path, how: &str) {
    let away = home.path("away");
    match how {
        "changed" => fs::write(path, TEXT.replace('2', "3")).unwrap(),
        "shorter" => fs::write(path, &TEXT[1..]).unwrap(),
        "gone" => fs::remove_file(path).unwrap(),
        "folder gone" => fs::remove_dir_all(home.project().join(".pi")).unwrap(),
        "link" => {
            fs::rename(path, &away).unwrap();
            symlink(&away, path).unwrap();
        }
        "directory" => {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }
        "pipe" => {
            fs::remove_file(path).unwrap();
            home.says(&["mkfifo", path.to_str().unwrap()]);
        }
        _ => {
            let folder = path.parent().unwrap();
            fs::rename(folder, &away).unwrap();
            symlink(&away, folder).unwrap();
        }
    }
}

#[test]
fn p20_p30_an_artifact_that_is_not_what_was_read_is_neither_approved_nor_begun() {
    for kind in KINDS {
        for (how, code) in SPOILED {
            let home = Home::new();
            let (s, p) = home.proposed(kind);
            spoil(&home, &home.artifact(&home.show(&p)), how);
            let words = ["ring-plan", "approve", &p, "--permission", "ask"];
            home.refused_untouched(code, &s.id, &words, "");
            assert_eq!(home.show(&p)["status"], "pending", "{how}");

            for words in [&["claim"][..], &["run", "--", "touch", "ran"]] {
                let home = Home::new();
                let (s, p, x) = home.approved(kind);
                spoil(&home, &home.artifact(&home.show(&p)), how);
                let words = [&["ring-plan", words[0], &x], &words[1..]].concat();
                home.refused(code, &words, "");
                let over = home.execution(&x);
                assert_eq!(
                    (&over["state"], &over["error_code"]),
                    (&json!("interrupted"), &json!(code)),
                    "{how}"
                );
                assert!(over["turn_id"].is_null() && home.record(&s.id)["turn"].is_null());
                assert!(!home.project().join("ran").exists());
                home.refused_untouched("PLAN_EXECUTION_STALE", &s.id, &["ring-plan", "claim", &x], "");
                home.is_free(&s);
            }
        }
    }
}

#[test]
fn p43_an_artifact_of_one_kind_never_verifies_for_the_other() {
    for (kind, other) in [("plan", "goal"), ("goal", "plan")] {
        let home = Home::new();
        let (s, p) = home.proposed(kind);
        let row = home.show(&p);
        // the same bytes lie in the other kind's folder, too
        let path = str_of(&row["artifact"]["path"]).replace(kind, other);
        fs::create_dir(home.project().join(".pi").join(other)).unwrap();
        fs::write(home.project().join(&path), TEXT).unwrap();
        let store = home.path("state/sessions").join(&s.id).join("session.json");
        let whole = home.record(&s.id);
        let approve = ["ring-plan", "approve", &p, "--permission", "ask"];
        let outside = format!("../{}", home.project().file_name().unwrap().to_str().unwrap());
        for forged in [
            path.clone(),
            format!(".pi/{kind}/../{other}/x.md"),
            format!(".pi/{kind}/.hidden.md"),
            format!(".pi/{kind}/x.txt"),
            format!("{outside}/.pi/{kind}/x.md"),
            home.artifact(&row).to_str().unwrap().to_owned(),
            String::new(),
        ] {
            let mut record = whole.clone();
            record["proposal"]["artifact"]["path"] = json!(forged);
            fs::write(&store, record.to_string()).unwrap();
            home.refused_untouched("PLAN_ARTIFACT_PATH_UNSAFE", &s.id, &approve, "");
        }
        // nor does a row that changed its kind
        let mut record = whole.clone();
        record["proposal"]["kind"] = json!(other);
        fs::write(&store, record.to_string()).unwrap();
        home.refused_untouched("PLAN_ARTIFACT_PATH_UNSAFE", &s.id, &approve, "");
        // nor one whose session is in the other mode
        let mut record = whole.clone();
        record["mode"] = json!(other);
        fs::write(&store, record.to_string()).unwrap();
        home.refused_untouched("PLAN_NOT_ACTIVE", &s.id, &approve, "");
        fs::write(&store, whole.to_string()).unwrap();
        home.approve(&p, "ask");
    }
}

#[test]
fn p31_an_execution_ends_once_and_in_one_of_two_words() {
    for kind in KINDS {
        for (word, other) in [("completed", "interrupted"), ("interrupted", "completed")] {
            let home = Home::new();
            let (s, x, _) = home.claimed(kind);
            let finish = |word: &str| {
                let words = ["ring-plan", "finish", &x, word];
                match word {
                    "completed" => home.json(&[&words[..], &["--report", "-"]].concat(), report("met")),
                    _ => home.json(&words, ""),
                }
            };
            let words = ["ring-plan", "finish", &x, "done"];
            home.refused_untouched("PLAN_EXECUTION_STATUS_INVALID", &s.id, &words, "");
            let words = ["ring-plan", "finish", "no-such-execution", "done"];
            home.refused("PLAN_EXECUTION_STATUS_INVALID", &words, "");
            let words = ["ring-plan", "finish", "no-such-execution", "completed"];
            home.refused("PLAN_EXECUTION_NOT_FOUND", &words, "");
            let words = ["ring-plan", "finish", &x, "completed", "--error-code", "E1"];
            home.refused_untouched("INVALID_ARGUMENT", &s.id, &words, "");
            let first = finish(word);
            assert_eq!(first["state"], word);
            let code = if word == "completed" {
                Value::Null
            } else {
                json!("PLAN_EXECUTION_INTERRUPTED")
            };
            assert_eq!(first["error_code"], code);
            let record = home.record(&s.id);
            assert_eq!(finish(word), first);
            assert_eq!(home.record(&s.id), record);
            let words = ["ring-plan", "finish", &x, other];
            home.refused_untouched("PLAN_EXECUTION_CONFLICT", &s.id, &words, "");
            let words = ["ring-plan", "finish", &x, "done"];
            home.refused_untouched("PLAN_EXECUTION_STATUS_INVALID", &s.id, &words, "");
            home.refused_untouched("PLAN_EXECUTION_STALE", &s.id, &["ring-plan", "claim", &x], "");
        }
    }
}

#[test]
fn p32_however_an_execution_ends_its_session_is_free_and_in_agent_mode() {
    for kind in KINDS {
        for end in ["completed", "interrupted", "E1", "abort", "recover", "restart", "error"] {
            let home = Home::with_processes();
            let (s, x, turn) = home.working(kind);
            let over = |words: &[&str]| home.says(&[&["ring-session"], words].concat());
            let (state, code) = match end {
                "completed" => {
                    home.json(&["ring-plan", "finish", &x, end, "--report", "-"], report("unmet"));
                    over(&["end", &s.id, "--turn", &turn, end]);
                    ("completed", Value::Null)
                }
                "interrupted" => {
                    over(&["end", &s.id, "--turn", &turn, "completed"]);
                    home.says(&["ring-plan", "finish", &x, end]);
                    (end, json!("PLAN_EXECUTION_INTERRUPTED"))
                }
                "E1" => {
                    home.says(&["ring-plan", "finish", &x, "interrupted", "--error-code", end]);
                    over(&["end", &s.id, "--turn", &turn, "completed"]);
                    ("interrupted", json!(end))
                }
                "error" => {
                    over(&["end", &s.id, "--turn", &turn, "error", "--error-code", "E2"]);
                    ("interrupted", json!("E2"))
                }
                _ => {
                    match end {
                        "restart" => home.boot("11111111"),
                        "recover" => drop(over(&["recover", &s.id])),
                        _ => drop(over(&["abort", &s.id])),
                    }
                    ("interrupted", json!("PLAN_EXECUTION_INTERRUPTED"))
                }
            };
            let execution = home.execution(&x);
            assert_eq!(
                (&execution["state"], &execution["error_code"]),
                (&json!(state), &code),
                "{end}"
            );
            home.is_free(&s);
        }
    }
}

#[test]
fn p33_the_end_of_its_turn_ends_the_execution_in_the_same_commit() {
    for kind in KINDS {
        for (words, code) in [
            (
                &["end", "--turn", "T", "error", "--error-code", "RATE_LIMIT"][..],
                "RATE_LIMIT",
            ),
            (&["abort"], "PLAN_EXECUTION_INTERRUPTED"),
        ] {
            let home = Home::new();
            let (s, x, turn) = home.working(kind);
            let before = home.record(&s.id)["revision"].as_u64().unwrap();
            let given: Vec<&str> = words[1..].iter().map(|w| if *w == "T" { &turn } else { *w }).collect();
            home.says(&[&["ring-session", words[0], &s.id], &given[..]].concat());
            let record = home.record(&s.id);
            assert_eq!(record["revision"], before + 1, "one commit");
            assert!(record["turn"].is_null() && record["proposal"].is_null(), "{record}");
            let over = home.execution(&x);
            assert_eq!(
                (&over["state"], &over["error_code"]),
                (&json!("interrupted"), &json!(code))
            );
            assert_eq!(home.status(&s.id)["mode"], "agent");
        }
        // its good end does not: finish decides
        let home = Home::new();
        let (s, x, turn) = home.working(kind);
        home.says(&["ring-session", "end", &s.id, "--turn", &turn, "completed"]);
        assert_eq!(home.execution(&x)["state"], "running");
    }
}

#[test]
fn p34_after_a_restart_all_that_was_open_is_interrupted_and_nothing_is_replayed() {
    for kind in KINDS {
        let home = Home::with_processes();
        let (pending, p) = home.proposed(kind);
        let (queued, _, q) = home.approved(kind);
        let (running, r, turn) = home.working(kind);
        let files = tree(&home.project());
        home.boot("11111111");
        // any tool, and nothing but readers
        home.says(&["ring-plan"]);
        home.says(&["ring-session", "list"]);
        assert_eq!(home.json(&["ring-plan", "pending"], ""), json!([]));
        let row = home.show(&p);
        assert_eq!(
            (&row["status"], &row["error_code"], &row["action"]),
            (&json!("interrupted"), &json!("PLAN_APPROVAL_INTERRUPTED"), &Value::Null)
        );
        for x in [&q, &r] {
            let over = home.execution(x);
            assert_eq!(
                (&over["state"], &over["error_code"]),
                (&json!("interrupted"), &json!("PLAN_EXECUTION_INTERRUPTED"))
            );
        }
        let stores = |home: &Home| home.says(&["ring-session", "recover"]);
        stores(&home);
        assert_eq!(stores(&home), "", "once is enough");
        for (s, mode) in [(&pending, kind), (&queued, "agent"), (&running, "agent")] {
            let record = home.record(&s.id);
            assert_eq!(record["mode"], mode);
            assert!(record["proposal"].is_null() && record["turn"].is_null(), "{record}");
        }
        let words = ["ring-plan", "approve", &p, "--permission", "ask"];
        home.refused_untouched("PLAN_APPROVAL_STALE", &pending.id, &words, "");
        home.refused_untouched("PLAN_EXECUTION_STALE", &queued.id, &["ring-plan", "claim", &q], "");
        let words = ["ring-plan", "run", &r, "--", "touch", "ran"];
        home.refused_untouched("PLAN_EXECUTION_STALE", &running.id, &words, "");
        let begin = ["ring-session", "begin", &running.id, "--turn", &turn];
        home.refused_untouched("CONFLICT", &running.id, &begin, "");
        assert_eq!(tree(&home.project()), files, "no file came, went or changed");
    }
}

#[test]
fn p41_a_report_is_kept_as_given_and_its_outcomes_are_the_agents_word() {
    for kind in KINDS {
        for outcome in ["met", "unmet", "blocked"] {
            let home = Home::new();
            let (s, x, _) = home.claimed(kind);
            // laid out over lines, with numbers and members of its own
            let given = format!(
                "{{\n  \"criteria\": [\r\n    {{\"id\": \"c1\", \"outcome\": \"{outcome}\", \"evidence\": \"a\\nb \u{e9}\"}}\n  ],\n  \
                 \"summary\": \"s\", \"cost\": 1.50, \"big\": 123456789012345678901234567890\n}}\n"
            );
            home.json(&["ring-plan", "finish", &x, "completed", "--report", "-"], &given);
            let shown = home.execution(&x);
            assert_eq!(shown["state"], "completed");
            let p = ids(&home.json(&["ring-plan", "history", "--session", &s.id], ""));
            let [p] = &p[..] else { panic!("{p:?}") };
            let own: Value = serde_json::from_str(&given).unwrap();
            assert_eq!(home.show(p)["execution"]["report"], own);
            assert_eq!(shown["report"], own);
            // numbers as they were written
            let out = text(&home.run(&["ring-plan", "--format", "json", "show", p], "").stdout);
            assert!(
                out.contains("1.50") && out.contains("123456789012345678901234567890"),
                "{out}"
            );
            assert_eq!(out.lines().count(), 1);
            assert!(home.says(&["ring-plan", "show", p]).contains(outcome));
        }
    }
}
