//! Entering a contract mode, submitting, and the file that is made.

use crate::harness::{Home, KINDS, NOW, Session, TEXT, ids, str_of, text, tree};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn p1_enter_and_configure_lead_to_the_same_planning() {
    for kind in KINDS {
        let home = Home::new();
        let s = home.session("agent");
        let words = [
            "ring-plan",
            "enter",
            &s.id,
            "--kind",
            kind,
            "--turn",
            &s.turn,
            "--call",
            "e",
        ];
        assert_eq!(
            home.json(&words, ""),
            json!({"session_id": s.id, "mode": kind, "planning_state": "planning"})
        );
        let other = home.says(&["ring-session", "new"]);
        home.says(&["ring-session", "configure", &other, "--mode", kind]);
        for id in [&s.id, &other] {
            let shown = home.status(id);
            assert_eq!(
                (&shown["mode"], &shown["planning_state"]),
                (&json!(kind), &json!("planning"))
            );
        }
        assert_eq!(home.record(&s.id)["mode_by"], "enter");
        assert_eq!(home.record(&other)["mode_by"], "user");
    }
}

#[test]
fn p2_enter_needs_agent_mode_and_the_live_turn() {
    for kind in KINDS {
        let home = Home::new();
        let s = home.session(kind);
        let words = |s: &Session, turn: &str| {
            ["enter", &s.id, "--kind", kind, "--turn", turn, "--call", "e"]
                .map(str::to_owned)
                .to_vec()
        };
        let enter = |code: &str, s: &Session, turn: &str| {
            let words = words(s, turn);
            let words: Vec<&str> = std::iter::once("ring-plan")
                .chain(words.iter().map(String::as_str))
                .collect();
            home.refused_untouched(code, &s.id, &words, "");
        };
        enter("PLAN_ALREADY_ACTIVE", &s, &s.turn);
        let free = home.session("agent");
        enter("PLAN_APPROVAL_STALE", &free, "another-turn");
    }
}

#[test]
fn p3_a_proposal_is_alone_in_its_message() {
    for kind in KINDS {
        let home = Home::new();
        let s = home.session(kind);
        let words = [&home.submission(&s, kind, "c1")[..], &["--batch-size", "2"]].concat();
        let error = home.refused_untouched("TOOL_DENIED", &s.id, &words, TEXT);
        assert_eq!(error["details"]["reason"], "exclusive_batch");
        let free = home.session("agent");
        let words = [
            "ring-plan",
            "enter",
            &free.id,
            "--turn",
            &free.turn,
            "--call",
            "e",
            "--batch-size",
            "2",
        ];
        let error = home.refused_untouched("TOOL_DENIED", &free.id, &words, "");
        assert_eq!(error["details"]["reason"], "exclusive_batch");
    }
}

#[test]
fn p4_p5_the_artifact_is_the_input_byte_for_byte_and_the_row_says_so() {
    for kind in KINDS {
        for markdown in [" \r\n# A\r\n\r\n\ttext  ", TEXT, "\u{feff}x\n\n\n", "no end"] {
            let home = Home::new();
            let s = home.session(kind);
            let title = "  Zebra  ";
            let words = ["ring-plan", "submit", &s.id, "--kind", kind, "--turn", &s.turn];
            let words = [&words[..], &["--call", "c", "--title", title, "--question", " Yak? "]].concat();
            let row = home.json(&words, markdown);
            let bytes = fs::read(home.artifact(&row)).unwrap();
            assert_eq!(bytes, markdown.as_bytes());
            assert!(!text(&bytes).contains("Zebra") && !text(&bytes).contains("Yak"));
            let hash = home.says(&["sha256sum", home.artifact(&row).to_str().unwrap()]);
            assert_eq!(row["artifact"]["sha256"], hash.split(' ').next().unwrap());
            assert_eq!(row["artifact"]["size"], markdown.len());
            assert_eq!((&row["title"], &row["question"]), (&json!("Zebra"), &json!("Yak?")));
            assert_eq!(
                (&row["kind"], &row["version"], &row["stop_turn"]),
                (&json!(kind), &json!(1), &json!(true))
            );
            assert!(row["markdown"].is_null());
            assert_eq!(row["path"], home.artifact(&row).to_str().unwrap());
        }
    }
}

#[test]
fn p6_the_deadline_is_fixed_at_submit() {
    for kind in KINDS {
        let home = Home::new();
        let (_, p) = home.proposed(kind);
        let due = |home: &Home| home.show(&p)["expires_ms"].clone();
        assert_eq!(due(&home), NOW + 1_800_000);
        fs::write(home.path("config.toml"), "[plan]\napproval_timeout_seconds = 5\n").unwrap();
        assert_eq!(due(home.after(20_000)), NOW + 1_800_000);
        let s = home.session(kind);
        assert_eq!(home.submit(&s, kind, "c1")["expires_ms"], NOW + 25_000);
        fs::write(home.path("config.toml"), "[plan]\napproval_timeout_seconds = 0\n").unwrap();
        let s = home.session(kind);
        let row = home.submit(&s, kind, "c1");
        assert!(row["expires_ms"].is_null() && row["remaining_ms"].is_null());
    }
}

#[test]
fn p7_a_name_is_never_taken_twice() {
    for kind in KINDS {
        let home = Home::new();
        let first = home.submit(&home.session(kind), kind, "c1");
        let path = home.artifact(&first);
        let before = fs::metadata(&path).unwrap();
        let second = home.submit(&home.session(kind), kind, "c1");
        assert_eq!(
            first["artifact"]["path"],
            format!(".pi/{kind}/build-api-v2-20270115-0800.md")
        );
        assert_eq!(
            second["artifact"]["path"],
            format!(".pi/{kind}/build-api-v2-20270115-0800-2.md")
        );
        let after = fs::metadata(&path).unwrap();
        assert_eq!(before.modified().unwrap(), after.modified().unwrap());
        assert_eq!(fs::read(path).unwrap(), TEXT.as_bytes());
    }
}

#[test]
fn p8_a_title_is_a_name_and_never_a_path() {
    let long = "\u{10400}".repeat(200);
    for kind in KINDS {
        for (title, slug) in [
            ("Build API / v2", "build-api-v2"),
            ("../../etc/passwd", "etc-passwd"),
            ("!?", kind),
            ("..", kind),
            (&long, ""),
        ] {
            let home = Home::new();
            let s = home.session(kind);
            let mut words = home.submission(&s, kind, "c1");
            let at = words.iter().position(|w| *w == "Build API v2").unwrap();
            words[at] = title;
            let row = home.json(&words, TEXT);
            let path = str_of(&row["artifact"]["path"]);
            let name = path.strip_prefix(&format!(".pi/{kind}/")).unwrap().to_owned();
            assert!(!name.contains('/') && name.len() <= 255, "{name}");
            assert!(home.artifact(&row).is_file());
            if !slug.is_empty() {
                assert_eq!(name, format!("{slug}-20270115-0800.md"));
            }
        }
    }
}

#[test]
fn p9_the_texts_limits_are_exact() {
    for kind in KINDS {
        let home = Home::new();
        let s = home.session(kind);
        let words = home.submission(&s, kind, "c1");
        home.refused_untouched("PLAN_MARKDOWN_TOO_LARGE", &s.id, &words, "x".repeat(524_289));
        home.refused_untouched("INVALID_ARGUMENT", &s.id, &words, b"\xff\xfe text");
        home.refused_untouched("INVALID_ARGUMENT", &s.id, &words, " \n\t\r\n");
        home.refused_untouched("INVALID_ARGUMENT", &s.id, &words, "");
        let row = home.json(&words, "x".repeat(524_288));
        assert_eq!(row["artifact"]["size"], 524_288);
    }
}

#[test]
fn p10_nothing_is_made_behind_a_link_or_a_file() {
    for kind in KINDS {
        for case in ["pi-link", "pi-file", "kind-link", "kind-file", "root-link"] {
            let home = Home::new();
            let s = home.session(kind);
            let away = home.path("away");
            fs::create_dir(&away).unwrap();
            let pi = home.project().join(".pi");
            match case {
                "pi-link" => symlink(&away, &pi).unwrap(),
                "pi-file" => fs::write(&pi, "x").unwrap(),
                "kind-link" => {
                    fs::create_dir(&pi).unwrap();
                    symlink(&away, pi.join(kind)).unwrap();
                }
                "kind-file" => {
                    fs::create_dir(&pi).unwrap();
                    fs::write(pi.join(kind), "x").unwrap();
                }
                _ => {
                    fs::remove_dir(home.project()).unwrap();
                    symlink(&away, home.project()).unwrap();
                }
            }
            let words = home.submission(&s, kind, "c1");
            home.refused_untouched("PLAN_ARTIFACT_PATH_UNSAFE", &s.id, &words, TEXT);
            assert!(tree(&away).is_empty(), "{case}");
        }
    }
}

#[test]
fn p11_each_refusal_of_submit_has_its_code_and_leaves_nothing() {
    for kind in KINDS {
        let other = if kind == "plan" { "goal" } else { "plan" };
        let home = Home::new();
        let s = home.session(kind);
        let words = home.submission(&s, kind, "c1");
        let with = |old: &str, new: &'static str| {
            let change = |w: &&str| if *w == old { new.to_owned() } else { (*w).to_owned() };
            words.iter().map(change).collect::<Vec<String>>()
        };
        let refused = |code: &str, words: &[String]| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            home.refused_untouched(code, &s.id, &words, TEXT);
        };
        for blank in ["c1", "Build API v2", "Go ahead?"] {
            refused("INVALID_ARGUMENT", &with(blank, " \t"));
        }
        refused("INVALID_ARGUMENT", &with(kind, "epic"));
        refused("SESSION_NOT_FOUND", &with(&s.id, "no-such-session"));
        refused("PLAN_APPROVAL_STALE", &with(&s.turn, "another-turn"));
        let mut mismatch = with("", "");
        mismatch[4] = other.to_owned();
        refused("PLAN_KIND_MISMATCH", &mismatch);
        let mut unattended = with("", "");
        unattended.push("--unattended".into());
        refused("PLAN_REQUIRES_INTERACTIVE_SESSION", &unattended);

        let free = home.session("agent");
        home.refused_untouched("PLAN_NOT_ACTIVE", &free.id, &home.submission(&free, kind, "c1"), TEXT);
        home.submit(&s, kind, "c1");
        home.refused_untouched("PLAN_ALREADY_PENDING", &s.id, &home.submission(&s, kind, "c2"), TEXT);
        home.refused_untouched("PLAN_APPROVAL_CONFLICT", &s.id, &words, "another text");

        let id = home.says(&["ring-session", "new", "--mode", kind]);
        let turn = home.says(&["ring-session", "begin", &id, "go on"]);
        let nowhere = Session { id, turn };
        home.refused_untouched(
            "PLAN_WORKSPACE_REQUIRED",
            &nowhere.id,
            &home.submission(&nowhere, kind, "c1"),
            TEXT,
        );
    }
}

#[test]
fn p12_a_repeated_call_is_the_stored_row() {
    for kind in KINDS {
        for close in ["", "reject", "approve"] {
            let home = Home::new();
            let s = home.session(kind);
            let first = home.submit(&s, kind, "c1");
            let id = str_of(&first["id"]);
            match close {
                "reject" => drop(home.json(&["ring-plan", "reject", &id], "")),
                "approve" => drop(home.approve(&id, "auto")),
                _ => {}
            }
            let again = home.submit(&s, kind, "c1");
            assert_eq!((&again["id"], &again["artifact"]), (&first["id"], &first["artifact"]));
            assert_eq!(again["stop_turn"], close.is_empty());
            let files: Vec<_> = tree(&home.project()).into_iter().filter(|(p, _)| p.is_file()).collect();
            assert_eq!(files.len(), 1);
        }
    }
}

#[test]
fn p13_the_file_goes_into_the_sessions_project() {
    for kind in KINDS {
        let home = Home::new();
        let s = home.session(kind);
        let elsewhere = home.path("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let mut command = home.command(&home.submission(&s, kind, "c1"));
        let child = crate::harness::start(command.current_dir(&elsewhere), TEXT.as_bytes());
        assert!(child.wait_with_output().unwrap().status.success());
        assert!(tree(&elsewhere).is_empty());
        let row = &home.json(&["ring-plan", "pending"], "")[0];
        assert!(home.artifact(row).is_file());
        assert!(
            row["path"]
                .as_str()
                .unwrap()
                .starts_with(home.project().to_str().unwrap())
        );
    }
}

#[test]
fn p46_p47_nobody_there_means_nothing_is_proposed() {
    for kind in KINDS {
        let home = Home::new();
        let s = home.session(kind);
        let mut command =
            home.command(&[&["ring-plan", "--format", "json"], &home.submission(&s, kind, "c")[1..]].concat());
        let before = home.record(&s.id);
        let child = crate::harness::start(command.env("RING_UNATTENDED", "1"), TEXT.as_bytes());
        let out = child.wait_with_output().unwrap();
        crate::harness::refusal("PLAN_REQUIRES_INTERACTIVE_SESSION", &out, &["submit"]);
        assert_eq!(home.record(&s.id), before);
        home.end(&s);
        let begin = ["ring-session", "begin", &s.id, "x", "--unattended"];
        home.refused_untouched("PLAN_REQUIRES_INTERACTIVE_SESSION", &s.id, &begin, "");
        // its own mode decides
        home.says(&["ring-session", "configure", &s.id, "--mode", "agent"]);
        home.says(&begin);
    }
}

#[test]
fn p51_no_text_of_a_proposal_is_in_an_event() {
    for kind in KINDS {
        let home = Home::new();
        let s = home.session(kind);
        let p = str_of(&home.submit(&s, kind, "c1")["id"]);
        home.says(&["ring-plan", "reject", &p, "--note", "Walrus"]);
        let events = fs::read_to_string(home.path("state/events.jsonl")).unwrap();
        for word in ["Walrus", "Build API", "Go ahead", "acceptance", "read"] {
            assert!(!events.contains(word), "{word}: {events}");
        }
        let kinds: Vec<String> = events
            .lines()
            .map(|l| str_of(&serde_json::from_str::<Value>(l).unwrap()["kind"]))
            .filter(|k| k.starts_with("plan_"))
            .collect();
        assert_eq!(kinds, ["plan_submitted", "plan_rejected"]);
    }
}

#[test]
fn p52_deleting_a_session_keeps_its_files() {
    for kind in KINDS {
        let home = Home::new();
        let (s, p) = home.proposed(kind);
        let path = home.artifact(&home.show(&p));
        home.says(&["ring-plan", "reject", &p]);
        home.says(&["ring-session", "delete", &s.id]);
        home.refused("PLAN_NOT_FOUND", &["ring-plan", "show", &p], "");
        assert!(ids(&home.json(&["ring-plan", "history"], "")).is_empty());
        assert_eq!(fs::read(path).unwrap(), TEXT.as_bytes());
    }
}
