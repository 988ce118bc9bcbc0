//! What people see, on a terminal and in logs.

use crate::harness::{Home, KINDS, TEXT, exit_plan, str_of, text, tree};
use ring_session::text::is_bidi;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;
use std::fs::{self, File};
use std::io::Read;
use std::process::Command;

/// What a command prints on a terminal, line ends as a program writes them.
fn on_terminal(mut command: Command) -> String {
    let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&screen).unwrap();
    unlockpt(&screen).unwrap();
    let name = ptsname(&screen, Vec::new()).unwrap();
    let other = File::options()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    command.stdout(other.try_clone().unwrap()).stderr(other);
    let mut child = command.spawn().unwrap();
    // the command would keep the other end open
    drop(command);
    let mut screen = File::from(screen);
    let (mut seen, mut bytes) = (Vec::new(), [0; 4096]);
    // a terminal whose other end is closed gives an error
    while let Ok(n @ 1..) = screen.read(&mut bytes) {
        seen.extend_from_slice(&bytes[..n]);
    }
    child.wait().unwrap();
    text(&seen).replace("\r\n", "\n")
}

/// Styles that ring prints of its own: colour, bold and the like.
fn without_styles(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(0);
        match part[end..].strip_prefix('m') {
            Some(rest) => out.push_str(rest),
            None => out.push_str(&format!("\u{1b}[{part}")),
        }
    }
    out
}

#[test]
fn p53_on_a_terminal_no_stored_text_is_obeyed_whatever_prints_it() {
    let hostile = "\u{1b}[2J\u{1b}]0;evil\u{7}\u{9b}5n\u{202e}lautir\u{2066}x\u{8}\r";
    let markdown = format!(
        "# A{hostile}\n\n1. {hostile}\n\n```\n{hostile}\n```\n\n## Acceptance criteria\n\n- {hostile} [a]({hostile})\n"
    );
    for kind in KINDS {
        let home = Home::new();
        let mut s = home.session("agent");
        home.says(&["ring-session", "configure", &s.id, "--title", &format!("T{hostile}")]);
        home.says(&[
            "ring-plan",
            "enter",
            &s.id,
            "--kind",
            kind,
            "--turn",
            &s.turn,
            "--call",
            "e",
        ]);
        let submit = |s: &crate::harness::Session, call: &str| {
            let title = format!("Title{hostile}");
            let question = format!("Question{hostile}");
            let words = [
                "ring-plan",
                "submit",
                &s.id,
                "--kind",
                kind,
                "--turn",
                &s.turn,
                "--call",
                call,
            ];
            let words = [&words[..], &["--title", &title, "--question", &question]].concat();
            str_of(&home.json(&words, &markdown)["id"])
        };
        let rejected = submit(&s, "c1");
        home.end(&s);
        let note = format!("Note{hostile}");
        home.json(&["ring-plan", "reject", &rejected, "--note", &note], "");
        s.turn = home.says(&["ring-session", "begin", &s.id, "again"]);
        let p = submit(&s, "c2");
        home.end(&s);
        let look = |words: &[&str]| {
            let printed = on_terminal(home.command(&[&["ring-plan"], words].concat()));
            let obeyed = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || is_bidi(c);
            let plain = without_styles(&printed);
            assert!(!plain.contains(obeyed), "{words:?}: {plain:?}");
            plain
        };
        look(&[]);
        look(&["pending"]);
        look(&["diff", &p]);
        look(&["criteria", &p]);
        look(&["history"]);
        look(&["show", &rejected]);
        look(&["wait", &rejected]);
        // visible, not only gone
        assert!(look(&["show", &p, "--markdown"]).contains("\\u{202e}lautir"));
        assert!(look(&["show", &p]).contains("Title"));
        home.json(
            &["ring-plan", "approve", &p, "--permission", "ask", "--note", &note],
            "",
        );
        look(&["instruction", &p]);
        look(&["wait", &p]);
        home.says(&["ring-plan", "claim", &p]);
        let report =
            json!({"criteria": [{"id": "c1", "outcome": "met", "evidence": hostile}], "summary": hostile}).to_string();
        home.json(&["ring-plan", "finish", &p, "completed", "--report", "-"], report);
        look(&["show", &p]);
        look(&["history"]);
        // in a pipe every byte is the one that was submitted
        let out = home.run(&["ring-plan", "show", &p, "--markdown"], "");
        assert_eq!(out.stdout, markdown.as_bytes());
        assert!(text(&home.run(&["ring-plan", "instruction", &p], "").stdout).contains(&markdown));
    }
}

/// Words that stand in the texts of a proposal, and nowhere else.
const SECRETS: [&str; 5] = ["Zebra", "Walrus", "Quokka", "Okapi", "Narwhal"];

fn no_secret(home: &Home) {
    for (path, bytes) in tree(&home.path("state")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("events.jsonl") || name.ends_with(".log") || name.ends_with(".lock") {
            let bytes = text(&bytes);
            for word in SECRETS {
                assert!(!bytes.contains(word), "{word} in {name}: {bytes}");
            }
        }
    }
}

#[test]
fn p51_no_text_of_a_proposal_a_note_or_a_report_is_in_an_event_or_a_log() {
    for kind in KINDS {
        let home = Home::new();
        let s = home.session(kind);
        let words = [
            "ring-plan",
            "submit",
            &s.id,
            "--kind",
            kind,
            "--turn",
            &s.turn,
            "--call",
            "c",
        ];
        let words = [&words[..], &["--title", "Zebra", "--question", "Walrus?"]].concat();
        let p = str_of(&home.json(&words, "# Quokka\n\n## Acceptance criteria\n\n- Quokka\n")["id"]);
        home.end(&s);
        home.json(
            &["ring-plan", "approve", &p, "--permission", "ask", "--note", "Okapi"],
            "",
        );
        let left = json!({"criteria": [{"id": "c1", "outcome": "met", "evidence": "Narwhal"}], "summary": "Narwhal"});
        let script = format!("printf '%s' '{left}' > $RING_REPORT_FILE; echo Narwhal; echo Narwhal >&2");
        home.says(&["ring-plan", "run", &p, "--", "sh", "-c", &script]);
        no_secret(&home);
        let events = fs::read_to_string(home.path("state/events.jsonl")).unwrap();
        let kinds: Vec<String> = events
            .lines()
            .map(|l| str_of(&serde_json::from_str::<serde_json::Value>(l).unwrap()["kind"]))
            .filter(|k| k.starts_with("plan_") || k.starts_with("execution_"))
            .collect();
        assert_eq!(
            kinds,
            [
                "plan_submitted",
                "plan_approved",
                "execution_claimed",
                "execution_finished"
            ]
        );
    }
    // the hook's log of what it could not do
    let home = Home::new();
    home.silent("UserPromptSubmit", "plan", json!({"prompt": "Okapi"}));
    fs::write(home.project().join(".pi"), "").unwrap();
    let call =
        json!({"tool_name": "ExitPlanMode", "tool_use_id": "Walrus", "tool_input": {"plan": "# Zebra\n\nQuokka"}});
    home.silent("PreToolUse", "plan", call.clone());
    fs::remove_file(home.project().join(".pi")).unwrap();
    home.silent(
        "PreToolUse",
        "plan",
        json!({"tool_name": "ExitPlanMode", "tool_use_id": "Walrus", "tool_input": {}}),
    );
    home.silent("PreToolUse", "plan", call);
    home.silent("PostToolUseFailure", "plan", exit_plan("Walrus"));
    no_secret(&home);
    let log = fs::read_to_string(home.path("state/hook-errors.log")).unwrap();
    assert!(
        log.contains("PLAN_ARTIFACT_PATH_UNSAFE"),
        "a failure is told by its code: {log}"
    );
    assert_eq!(TEXT.matches("Zebra").count(), 0);
}
