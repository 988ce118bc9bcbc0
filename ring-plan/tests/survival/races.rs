//! Real processes that decide at once. The bulk of the rounds is run by threads, in the program's own tests.

use crate::harness::{Home, KINDS, NOW, TEXT, start, str_of, text};
use serde_json::Value;
use std::process::Output;

const HALF_HOUR: i64 = 1_800_000;

/// The status and the code of commands that are given at once.
fn at_once(home: &Home, commands: &[&[&str]]) -> Vec<(i32, String, Output)> {
    let children: Vec<_> = commands
        .iter()
        .map(|words| {
            let mut command = home.command(&[&["ring-plan", "--format", "json"], *words].concat());
            if words[0] == "expire" {
                command.env("RING_NOW_MS", (NOW + HALF_HOUR).to_string());
            }
            start(&mut command, TEXT.as_bytes())
        })
        .collect();
    let outs = children.into_iter().map(|c| c.wait_with_output().unwrap());
    outs.map(|out| {
        let status = out.status.code().unwrap_or_else(|| panic!("{}", text(&out.stderr)));
        let error: Value = serde_json::from_slice(&out.stderr).unwrap_or_default();
        let code = error["error"]["code"].as_str().unwrap_or_default().to_owned();
        assert_eq!(status == 0, out.stderr.is_empty(), "{}", text(&out.stderr));
        assert_eq!(status == 0, !out.stdout.is_empty() || code.is_empty());
        (status, code, out)
    })
    .collect()
}

#[test]
fn p18_p19_of_processes_that_decide_at_once_one_does_100_times() {
    for round in 0..100 {
        let kind = KINDS[round % 2];
        let home = Home::new();
        let (s, p) = home.proposed(kind);
        let approve = ["approve", &p, "--permission", "ask"];
        let other = ["approve", &p, "--permission", "auto"];
        let reject = ["reject", &p];
        let all: &[&[&str]] = match round % 3 {
            0 => &[&approve, &reject, &["expire"]],
            1 => &[&approve, &approve, &other],
            _ => &[&reject, &approve, &reject],
        };
        let said = at_once(&home, all);
        let row = home.show(&p);
        let status = row["status"].as_str().unwrap();
        let mut same = Vec::new();
        for (words, (exit, code, out)) in all.iter().zip(&said) {
            let own = match words[0] {
                "expire" => {
                    assert_eq!(*exit, 0);
                    continue;
                }
                "reject" => status == "rejected",
                _ => status == "approved" && row["permission_mode"] == words[3],
            };
            let expected = match (own, status) {
                (true, _) => (0, ""),
                (false, "expired") => (5, "PLAN_APPROVAL_TIMEOUT"),
                (false, _) => (4, "PLAN_APPROVAL_CONFLICT"),
            };
            assert_eq!((*exit, code.as_str()), expected, "{words:?}: {row}");
            same.extend((*exit == 0).then_some(&out.stdout));
        }
        assert!(same.windows(2).all(|w| w[0] == w[1]));
        assert_ne!(status, "pending");
        assert_eq!(row["execution"].is_object(), status == "approved");
        let mode = if status == "approved" { "agent" } else { kind };
        assert_eq!(home.record(&s.id)["mode"], mode);
    }
}

#[test]
fn p12_p28_of_processes_that_submit_or_claim_at_once_one_does_30_times() {
    for round in 0..30 {
        let kind = KINDS[round % 2];
        let home = Home::new();
        let s = home.session(kind);
        let submit = |call| home.submission(&s, kind, call)[1..].to_vec();
        let (a, b) = (submit("a"), submit("b"));
        let mut said = at_once(&home, &[&a, &b, &a]);
        let won = said[0].0 == 0;
        assert_eq!(said[0].0, said[2].0, "the same call is the same answer");
        assert_eq!(said[1].0 == 0, !won);
        let lost = if won { &said[1] } else { &said[0] };
        assert_eq!((lost.0, lost.1.as_str()), (4, "PLAN_ALREADY_PENDING"));
        let files = std::fs::read_dir(home.project().join(".pi").join(kind)).unwrap();
        assert_eq!(files.count(), 1);
        let out = said.swap_remove(usize::from(!won)).2;
        let p = str_of(&serde_json::from_slice::<Value>(&out.stdout).unwrap()["id"]);
        home.end(&s);
        home.approve(&p, "ask");
        let said = at_once(&home, &[&["claim", &p], &["claim", &p]]);
        let mut codes: Vec<(i32, &str)> = said.iter().map(|(exit, code, _)| (*exit, code.as_str())).collect();
        codes.sort_unstable();
        assert_eq!(codes, [(0, ""), (5, "PLAN_EXECUTION_STALE")]);
    }
}
