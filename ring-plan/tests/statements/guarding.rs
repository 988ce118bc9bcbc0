//! What is neither a decision, nor a second proposal, nor a path.

use crate::harness::{Home, KINDS, Session, TEXT, refusal, str_of, tree};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn p14_no_other_verb_answer_or_setting_decides() {
    for kind in KINDS {
        let home = Home::new();
        let s = home.session(kind);
        let words = [
            "permission",
            "open",
            &s.id,
            "--turn",
            &s.turn,
            "--call",
            "c1",
            "--tool",
            "ExitPlanMode",
        ];
        let request = home.says(&[&["ring-session"], &words[..]].concat());
        let p = str_of(&home.submit(&s, kind, "c1")["id"]);
        for verb in [
            "accept", "yes", "ok", "confirm", "allow", "deny", "grant", "resolve", "Approve",
        ] {
            let out = home.run(&["ring-plan", "--format", "json", verb, &p], "");
            refusal("INVALID_ARGUMENT", &out, &[verb]);
            assert_eq!(out.status.code(), Some(64));
        }
        // an answer about the very call that submitted it
        home.says(&["ring-session", "permission", "answer", &s.id, &request, "allow-session"]);
        let row = json!({"role": "assistant", "blocks": [{"type": "text", "text": "approved"}]}).to_string();
        home.json(&["ring-session", "append", &s.id, "--turn", &s.turn], row);
        home.end(&s);
        for words in [
            &["ring-session", "configure", &s.id, "--permission", "auto"][..],
            &[
                "ring-session",
                "configure",
                &s.id,
                "--title",
                "approved",
                "--set",
                "approve=yes",
            ],
            &["ring-session", "configure", &s.id, "--mode", "agent"],
            &["ring-session", "begin", &s.id, "approve"],
            &["ring-plan", "claim", &p],
            &["ring-plan", "finish", &p, "completed"],
            &["ring-plan", "run", &p, "--", "touch", "ran"],
            &["ring-plan", "expire"],
            &["ring-session", "recover"],
        ] {
            home.run(words, "");
            let row = home.show(&p);
            assert_eq!(
                (&row["status"], &row["version"]),
                (&json!("pending"), &json!(1)),
                "{words:?}"
            );
            assert!(row["execution"].is_null() && row["action"].is_null());
        }
        assert_eq!(home.record(&s.id)["mode"], kind);
        assert!(!home.project().join("ran").exists());
    }
}

#[test]
fn p12_a_call_is_one_proposal_also_beside_later_ones_and_conflicts_in_any_part() {
    for kind in KINDS {
        let home = Home::new();
        let (mut s, p) = home.proposed(kind);
        home.says(&["ring-plan", "reject", &p]);
        let first = s.clone();
        s.turn = home.says(&["ring-session", "begin", &s.id, "again"]);
        home.submit(&s, kind, "c2");
        let files = tree(&home.project());
        let again = home.submit(&first, kind, "c1");
        assert_eq!((&again["id"], &again["status"]), (&json!(p), &json!("rejected")));
        assert_eq!(again["stop_turn"], false);
        let own = home.submission(&first, kind, "c1");
        let other = if kind == "plan" { "goal" } else { "plan" };
        for (place, word) in [(4, other), (6, &s.turn), (10, "Another"), (12, "Another?")] {
            let mut words = own.clone();
            words[place] = word;
            home.refused_untouched("PLAN_APPROVAL_CONFLICT", &s.id, &words, TEXT);
        }
        home.refused_untouched("PLAN_APPROVAL_CONFLICT", &s.id, &own, format!("{TEXT} "));
        assert_eq!(tree(&home.project()), files);
    }
}

#[test]
fn p8_a_hostile_title_names_one_plain_file_in_its_folder_and_nothing_else() {
    for kind in KINDS {
        let home = Home::new();
        let away = home.path("etc");
        fs::create_dir(&away).unwrap();
        symlink(&away, home.project().join("link")).unwrap();
        let absolute = away.join("passwd").to_str().unwrap().to_owned();
        let long = "../".repeat(66);
        for title in [
            "../../etc/passwd",
            &absolute,
            "link/x",
            "..\\..\\etc",
            "a\u{0}b",
            "-rf .",
            ".hidden",
            "x.md/../../y",
            "\u{202e}dm.exe",
            "\u{1b}]0;x\u{7}y",
            "CON",
            "$(touch ran)`touch ran`",
            "a\nb",
            "\u{ff0e}\u{ff0e}\u{ff0f}etc",
            &long,
        ] {
            // no argument can hold a NUL
            let title = title.replace('\u{0}', "%00");
            let s = home.session(kind);
            let before = tree(&home.project());
            let mut words = home.submission(&s, kind, "c1");
            words[10] = &title;
            let row = home.json(&words, TEXT);
            let made = home.artifact(&row);
            assert_eq!(
                made.parent().unwrap(),
                home.project().join(".pi").join(kind),
                "{title:?}"
            );
            let name = made.file_name().unwrap().to_str().unwrap().to_owned();
            let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.');
            assert!(
                name.chars().all(plain) && !name.starts_with(['.', '-']) && name.len() <= 255,
                "{name}"
            );
            assert_eq!(name.matches('.').count(), 1, "{name}");
            let meta = fs::symlink_metadata(&made).unwrap();
            assert!(meta.is_file() && meta.permissions().mode() & 0o111 == 0);
            let new: Vec<_> = tree(&home.project())
                .into_iter()
                .filter(|f| !before.contains(f))
                .collect();
            assert!(new.iter().all(|(path, _)| made.starts_with(path)), "{title:?}: {new:?}");
            assert!(tree(&away).is_empty());
        }
    }
}

#[test]
fn p12_a_call_is_of_its_session_only() {
    let home = Home::new();
    let (one, two): (Session, Session) = (home.session("plan"), home.session("plan"));
    let (p, q) = (home.submit(&one, "plan", "c1"), home.submit(&two, "plan", "c1"));
    assert_ne!(p["id"], q["id"]);
    assert_ne!(p["path"], q["path"]);
}
