//! Approval, rejection, and the ends that are neither.

use crate::harness::{Home, KINDS, NOW, TEXT, ids, refusal, signal, start, str_of, text};
use serde_json::json;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::thread;

const HALF_HOUR: i64 = 1_800_000;

#[test]
fn p14_only_approve_and_reject_decide() {
    for kind in KINDS {
        let home = Home::new();
        let (s, p) = home.proposed(kind);
        home.refused("INVALID_ARGUMENT", &["ring-plan", "accept", &p], "");
        home.refused("PLAN_EXECUTION_STALE", &["ring-plan", "finish", &p, "completed"], "");
        home.refused("PLAN_EXECUTION_STALE", &["ring-plan", "claim", &p], "");
        home.says(&["ring-session", "configure", &s.id, "--mode", kind]);
        home.says(&["ring-plan", "show", &p]);
        assert_eq!(home.show(&p)["status"], "pending");
        assert_eq!(home.show(&p)["version"], 1);
    }
}

#[test]
fn p15_a_guard_that_does_not_match_decides_nothing() {
    for kind in KINDS {
        let home = Home::new();
        let (s, p) = home.proposed(kind);
        let zeros = "0".repeat(64);
        for guard in [
            ["--version", "2"],
            ["--session", "other"],
            ["--turn", "other"],
            ["--call", "other"],
            ["--sha256", &zeros],
        ] {
            let words = [&["ring-plan", "approve", &p, "--permission", "ask"], &guard[..]].concat();
            home.refused_untouched("PLAN_APPROVAL_STALE", &s.id, &words, "");
            let words = [&["ring-plan", "reject", &p], &guard[..]].concat();
            home.refused_untouched("PLAN_APPROVAL_STALE", &s.id, &words, "");
        }
        let hash = str_of(&home.show(&p)["artifact"]["sha256"]);
        let guards = [
            "--version",
            "1",
            "--session",
            &s.id,
            "--turn",
            &s.turn,
            "--call",
            "c1",
            "--sha256",
            &hash,
        ];
        home.says(&[&["ring-plan", "approve", &p, "--permission", "ask"], &guards[..]].concat());
    }
}

#[test]
fn p16_approve_names_its_permission_mode() {
    for kind in KINDS {
        let home = Home::new();
        let (s, p) = home.proposed(kind);
        home.refused_untouched(
            "PLAN_PERMISSION_MODE_REQUIRED",
            &s.id,
            &["ring-plan", "approve", &p],
            "",
        );
        for mode in ["inherit", "plan", "", "Auto"] {
            let words = ["ring-plan", "approve", &p, "--permission", mode];
            home.refused_untouched("PLAN_PERMISSION_MODE_INVALID", &s.id, &words, "");
        }
    }
}

#[test]
fn p17_approve_changes_everything_in_one_replacement() {
    for kind in KINDS {
        for mode in ["ask", "accept-edits", "auto"] {
            let home = Home::new();
            let (s, p) = home.proposed(kind);
            let given = home.approve(&p, mode);
            let record = home.record(&s.id);
            assert_eq!(record["mode"], "agent");
            assert_eq!(record["mode_by"], "user");
            assert_eq!(record["permission_mode"], mode);
            assert_eq!(record["proposal"]["status"], "approved");
            assert_eq!(record["proposal"]["action"], "approve");
            assert_eq!(record["proposal"]["decided_by"], "cli");
            assert_eq!(record["proposal"]["permission_mode"], mode);
            assert_eq!(record["proposal"]["version"], 2);
            assert_eq!(record["proposal"]["execution"]["state"], "queued");
            assert_eq!(record["proposal"]["execution"]["id"], given["execution"]["id"]);
        }
    }
}

#[test]
fn p18_the_same_decision_is_the_same_answer() {
    for kind in KINDS {
        let home = Home::new();
        let (s, p) = home.proposed(kind);
        let first = home.approve(&p, "ask");
        assert_eq!(home.approve(&p, "ask"), first);
        let words = ["ring-plan", "approve", &p, "--permission", "auto"];
        home.refused_untouched("PLAN_APPROVAL_CONFLICT", &s.id, &words, "");
        home.refused_untouched("PLAN_APPROVAL_CONFLICT", &s.id, &["ring-plan", "reject", &p], "");

        let (s, p) = home.proposed(kind);
        let first = home.json(&["ring-plan", "reject", &p, "--note", "no"], "");
        assert_eq!(home.json(&["ring-plan", "reject", &p, "--note", "no"], ""), first);
        let words = ["ring-plan", "approve", &p, "--permission", "ask"];
        home.refused_untouched("PLAN_APPROVAL_CONFLICT", &s.id, &words, "");
    }
}

#[test]
fn p19_of_decisions_at_the_same_time_one_decides() {
    for kind in KINDS {
        for _ in 0..8 {
            let home = Home::new();
            let (_, p) = home.proposed(kind);
            let outcomes: Vec<i32> = thread::scope(|scope| {
                let words: [&[&str]; 4] = [
                    &["approve", &p, "--permission", "ask"],
                    &["reject", &p],
                    &["approve", &p, "--permission", "auto"],
                    &["expire"],
                ];
                let racing = words.map(|w| {
                    let mut command = home.command(&[&["ring-plan"], w].concat());
                    if w[0] == "expire" {
                        command.env("RING_NOW_MS", (NOW + HALF_HOUR).to_string());
                    }
                    scope.spawn(move || command.output().unwrap().status.code().unwrap())
                });
                racing.into_iter().map(|t| t.join().unwrap()).collect()
            });
            let won = outcomes[..3].iter().filter(|s| **s == 0).count();
            let status = home.show(&p)["status"].clone();
            assert_eq!(won, usize::from(status != "expired"), "{outcomes:?} {status}");
            assert!(outcomes[..3].iter().all(|s| [0, 4, 5].contains(s)), "{outcomes:?}");
            assert_eq!(outcomes[3], 0);
        }
    }
}

#[test]
fn p20_what_is_approved_is_what_was_read() {
    for kind in KINDS {
        for (case, code) in [
            ("changed", "PLAN_ARTIFACT_HASH_MISMATCH"),
            ("longer", "PLAN_ARTIFACT_HASH_MISMATCH"),
            ("gone", "PLAN_ARTIFACT_NOT_READY"),
            ("link", "PLAN_ARTIFACT_PATH_UNSAFE"),
            ("folder", "PLAN_ARTIFACT_PATH_UNSAFE"),
        ] {
            let home = Home::new();
            let (s, p) = home.proposed(kind);
            let path = home.artifact(&home.show(&p));
            match case {
                "changed" => fs::write(&path, TEXT.replace('2', "3")).unwrap(),
                "longer" => fs::write(&path, format!("{TEXT}\n")).unwrap(),
                "gone" => fs::remove_file(&path).unwrap(),
                "link" => {
                    let away = home.path("away.md");
                    fs::copy(&path, &away).unwrap();
                    fs::remove_file(&path).unwrap();
                    std::os::unix::fs::symlink(&away, &path).unwrap();
                }
                _ => {
                    let folder = path.parent().unwrap();
                    fs::create_dir(home.path("away")).unwrap();
                    fs::copy(&path, home.path("away").join(path.file_name().unwrap())).unwrap();
                    fs::remove_dir_all(folder).unwrap();
                    std::os::unix::fs::symlink(home.path("away"), folder).unwrap();
                }
            }
            let words = ["ring-plan", "approve", &p, "--permission", "ask"];
            home.refused_untouched(code, &s.id, &words, "");
            assert_eq!(home.show(&p)["status"], "pending", "{case}");
        }
    }
}

#[test]
fn p21_reject_keeps_mode_and_permission() {
    for kind in KINDS {
        let home = Home::new();
        let (s, p) = home.proposed(kind);
        let before = home.record(&s.id);
        let row = home.json(&["ring-plan", "reject", &p, "--note", "-"], "Fewer steps.\n");
        assert_eq!(row["note"], "Fewer steps.");
        assert!(row["execution"].is_null() && row["permission_mode"].is_null());
        let after = home.record(&s.id);
        for member in ["mode", "mode_by", "permission_mode"] {
            assert_eq!(before[member], after[member]);
        }
        assert_eq!(home.status(&s.id)["planning_state"], "planning");
    }
}

#[test]
fn p22_after_any_other_end_a_new_proposal_can_be_approved() {
    for kind in KINDS {
        for (end, status) in [("reject", "rejected"), ("expire", "expired"), ("abort", "interrupted")] {
            let home = Home::new();
            let (mut s, p) = home.proposed(kind);
            let bytes = fs::read(home.artifact(&home.show(&p))).unwrap();
            match end {
                "reject" => drop(home.says(&["ring-plan", "reject", &p])),
                "expire" => drop(home.after(HALF_HOUR).says(&["ring-plan", "expire"])),
                _ => drop(home.says(&["ring-session", "abort", &s.id])),
            }
            let old = home.show(&p);
            assert_eq!(old["status"], status);
            s.turn = home.says(&["ring-session", "begin", &s.id, "again"]);
            let row = home.submit(&s, kind, "c2");
            assert_ne!(row["artifact"]["path"], old["artifact"]["path"]);
            home.end(&s);
            home.approve(row["id"].as_str().unwrap(), "ask");
            let now = home.show(&p);
            for member in ["status", "version", "closed_ms", "markdown", "artifact", "action"] {
                assert_eq!(now[member], old[member]);
            }
            assert_eq!(fs::read(home.artifact(&old)).unwrap(), bytes);
        }
    }
}

#[test]
fn p23_at_its_deadline_a_proposal_is_expired_for_everybody() {
    for kind in KINDS {
        let home = Home::new();
        let (s, p) = home.proposed(kind);
        home.after(HALF_HOUR - 1);
        assert_eq!(home.show(&p)["remaining_ms"], 1);
        home.after(HALF_HOUR);
        let row = home.show(&p);
        assert_eq!(
            (&row["status"], &row["error_code"]),
            (&json!("expired"), &json!("PLAN_APPROVAL_TIMEOUT"))
        );
        assert!(row["action"].is_null() && row["remaining_ms"].is_null());
        assert_eq!(home.json(&["ring-plan", "pending"], ""), json!([]));
        assert_eq!(ids(&home.json(&["ring-plan", "history"], "")), std::slice::from_ref(&p));
        let words = ["ring-plan", "approve", &p, "--permission", "ask"];
        home.refused("PLAN_APPROVAL_TIMEOUT", &words, "");
        home.refused("PLAN_APPROVAL_TIMEOUT", &["ring-plan", "reject", &p], "");
        assert_eq!(home.status(&s.id)["mode"], kind);
        assert_eq!(home.show(&p)["closed_ms"], NOW + HALF_HOUR);
    }
}

#[test]
fn p24_expire_closes_what_is_overdue_once() {
    for kind in KINDS {
        let home = Home::new();
        let (_, first) = home.proposed(kind);
        let (_, second) = home.proposed(kind);
        home.after(1);
        let (_, third) = home.proposed(kind);
        home.after(HALF_HOUR);
        let mut closed: Vec<String> = home.says(&["ring-plan", "expire"]).lines().map(str::to_owned).collect();
        closed.sort();
        let mut due = [first, second];
        due.sort();
        assert_eq!(closed, due);
        assert_eq!(home.says(&["ring-plan", "expire"]), "");
        assert_eq!(ids(&home.json(&["ring-plan", "pending"], "")), [third]);
    }
}

#[test]
fn p25_an_abort_is_never_an_approval() {
    for kind in KINDS {
        for running in [true, false] {
            let home = Home::new();
            let s = home.session(kind);
            let p = str_of(&home.submit(&s, kind, "c1")["id"]);
            if !running {
                home.end(&s);
            }
            home.says(&["ring-session", "abort", &s.id]);
            let row = home.show(&p);
            assert_eq!(row["status"], "interrupted");
            assert_eq!(row["error_code"], "PLAN_APPROVAL_INTERRUPTED");
            assert_eq!(home.status(&s.id)["mode"], kind);
            let words = ["ring-plan", "approve", &p, "--permission", "ask"];
            home.refused_untouched("PLAN_APPROVAL_STALE", &s.id, &words, "");
        }
    }
}

#[test]
fn p26_p35_an_owner_may_leave_after_its_turn_and_not_before() {
    for kind in KINDS {
        for (ended, status) in [(true, "pending"), (false, "interrupted")] {
            let home = Home::with_processes();
            home.process(4242);
            let mut s = home.session("agent");
            home.end(&s);
            home.says(&["ring-session", "configure", &s.id, "--mode", kind]);
            s.turn = home.says(&["ring-session", "begin", &s.id, "x", "--owner-pid", "4242"]);
            let p = str_of(&home.submit(&s, kind, "c1")["id"]);
            // in the same epoch nothing is interrupted by who looks
            home.says(&["ring-session", "list"]);
            home.says(&["ring-plan"]);
            assert_eq!(home.show(&p)["status"], "pending");
            if ended {
                home.end(&s);
            }
            fs::remove_dir_all(home.path("proc/4242")).unwrap();
            assert_eq!(home.show(&p)["status"], status);
            assert_eq!(home.status(&s.id)["mode"], kind);
        }
    }
}

#[test]
fn p27_an_open_proposal_keeps_its_session_busy_and_no_other() {
    for kind in KINDS {
        let home = Home::new();
        let (s, _) = home.proposed(kind);
        home.refused_untouched("AGENT_BUSY", &s.id, &["ring-session", "begin", &s.id, "x"], "");
        let words = ["ring-session", "configure", &s.id, "--mode", "agent"];
        home.refused_untouched("PLAN_CONFIGURATION_BLOCKED", &s.id, &words, "");
        home.says(&["ring-session", "configure", &s.id, "--mode", kind]);
        home.session(kind);
    }
}

#[test]
fn p48_wait_ends_with_what_was_decided_and_a_signal_is_no_approval() {
    for kind in KINDS {
        for (words, code) in [
            (&["approve", "--permission", "ask"][..], ""),
            (&["reject", "--note", "no"], "PLAN_REJECTED"),
            (&["abort"], "PLAN_APPROVAL_INTERRUPTED"),
            (&["TERM"], ""),
            (&["INT"], ""),
        ] {
            if words[0] == "INT" && interrupts_are_ignored() {
                continue;
            }
            let home = Home::new();
            let (s, p) = home.proposed(kind);
            let waiting = start(
                &mut home.command(&["ring-plan", "--format", "json", "wait", &p, "--timeout", "30s"]),
                b"",
            );
            match words[0] {
                "abort" => drop(home.says(&["ring-session", "abort", &s.id])),
                "TERM" | "INT" => {
                    // handled or not yet handled: in either case the status is the signal's
                    signal(&waiting, words[0]);
                }
                _ => drop(home.says(&[&["ring-plan", words[0], &p], &words[1..]].concat())),
            }
            let out = waiting.wait_with_output().unwrap();
            if !code.is_empty() {
                let error = refusal(code, &out, words);
                assert_eq!(
                    error["details"]["id"]
                        .as_str()
                        .or(error["details"]["proposal"]["id"].as_str()),
                    Some(&*p)
                );
            } else if words[0] == "approve" {
                assert!(out.status.success(), "{}", text(&out.stderr));
            } else {
                let number = if words[0] == "INT" { 2 } else { 15 };
                let by = out.status.signal().or(out.status.code().map(|c| c - 128));
                assert_eq!(by, Some(number), "{:?}", out.status);
            }
        }
        let home = Home::new();
        let (_, p) = home.proposed(kind);
        home.refused("TIMEOUT", &["ring-plan", "wait", &p, "--timeout", "1ms"], "");
    }
}

#[test]
fn p49_pending_and_history_share_nothing() {
    for kind in KINDS {
        let home = Home::new();
        let (_, waits) = home.proposed(kind);
        home.after(1);
        let (other, p) = home.proposed(kind);
        home.says(&["ring-plan", "reject", &p]);
        let (_, granted, _) = home.approved(kind);
        assert_eq!(ids(&home.json(&["ring-plan", "pending"], "")), [waits]);
        let mut closed = ids(&home.json(&["ring-plan", "history"], ""));
        closed.sort();
        let mut all = [p.clone(), granted];
        all.sort();
        assert_eq!(closed, all);
        let of_one = home.json(&["ring-plan", "history", "--session", &other.id], "");
        assert_eq!(ids(&of_one), [p]);
        assert!(of_one[0]["markdown"].is_null());
        home.refused("LIMIT_EXCEEDED", &["ring-plan", "history", "--limit", "1001"], "");
    }
}

#[test]
fn p50_an_unreadable_record_hides_no_other() {
    let home = Home::new();
    let (broken, _) = home.proposed("plan");
    let (_, p) = home.proposed("goal");
    let path = home.path("state/sessions").join(&broken.id).join("session.json");
    fs::write(path, "{\"schema\": 1, \"prop").unwrap();
    let out = home.run(&["ring-plan", "--format", "json", "pending"], "");
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert_eq!(
        ids(&serde_json::from_slice(&out.stdout).unwrap()),
        std::slice::from_ref(&p)
    );
    home.approve(&p, "ask");
}

#[test]
fn p53_the_text_is_exact_in_a_pipe() {
    for kind in KINDS {
        let home = Home::new();
        let s = home.session(kind);
        let hostile = "# A\u{1b}[2J\r\n\u{202e}text\u{7}\n\n";
        let p = str_of(&home.json(&home.submission(&s, kind, "c1"), hostile)["id"]);
        let out = home.run(&["ring-plan", "show", &p, "--markdown"], "");
        assert_eq!(out.stdout, hostile.as_bytes());
        assert_eq!(home.show(&p)["markdown"], hostile);
    }
}

#[test]
fn p54_diff_compares_with_the_one_before() {
    for kind in KINDS {
        let home = Home::new();
        let (mut s, p) = home.proposed(kind);
        let first = home.json(&["ring-plan", "diff", &p], "");
        assert!(first["from"].is_null() && str_of(&first["diff"]).contains("+1. read"));
        home.says(&["ring-plan", "reject", &p]);
        s.turn = home.says(&["ring-session", "begin", &s.id, "again"]);
        home.after(1000);
        let next = home.json(&home.submission(&s, kind, "c2"), TEXT.replace("write", "test"));
        fs::remove_dir_all(home.project().join(".pi")).unwrap();
        let diff = home.json(&["ring-plan", "diff", next["id"].as_str().unwrap()], "");
        assert_eq!((&diff["from"], &diff["to"]), (&json!(p), &next["id"]));
        let lines = str_of(&diff["diff"]);
        assert!(lines.contains("\n-2. write\n+2. test\n"), "{lines}");
    }
}

#[test]
fn p57_a_clock_that_jumps_approves_nothing() {
    for kind in KINDS {
        let home = Home::new();
        let (s, p) = home.proposed(kind);
        home.after(-86_400_000);
        assert_eq!(home.show(&p)["status"], "pending");
        home.after(86_400_000);
        assert_eq!(home.show(&p)["status"], "expired");
        home.after(0);
        assert_eq!(home.show(&p)["status"], "pending");
        assert_eq!(home.record(&s.id)["proposal"]["version"], 1);
    }
}

/// A shell that starts this test in the background lets it, and what it starts, ignore SIGINT.
fn interrupts_are_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|m| u64::from_str_radix(m.trim(), 16).ok());
    mask.is_some_and(|m| m & 2 != 0)
}
