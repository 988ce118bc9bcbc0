//! The report that a goal owes.

use crate::harness::{Home, refusal, report, str_of, text};
use crate::running::{GOOD, run};
use serde_json::{Value, json};

#[test]
fn p38_a_goal_is_completed_with_each_criterion_once_and_its_evidence() {
    let text = "# G\n\n## Acceptance criteria\n\n- tests pass\n1. docs are written\n";
    let home = Home::new();
    let s = home.session("goal");
    let p = str_of(&home.json(&home.submission(&s, "goal", "c1"), text)["id"]);
    home.end(&s);
    home.approve(&p, "ask");
    home.says(&["ring-plan", "claim", &p]);
    let finish = ["ring-plan", "finish", &p, "completed"];
    let error = home.refused_untouched("INVALID_ARGUMENT", &s.id, &finish, "");
    assert_eq!(
        (&error["details"]["reason"], &error["details"]["missing"]),
        (&json!("report_missing"), &json!(["c1", "c2"]))
    );
    let entry = |id: &str, outcome: &str, evidence: &str| json!({"id": id, "outcome": outcome, "evidence": evidence});
    let (one, two) = (entry("c1", "met", "a"), entry("c2", "met", "b"));
    let long = "e".repeat(4001);
    let finish = [&finish[..], &["--report", "-"]].concat();
    for (list, name, ids) in [
        (json!([one]), "missing", json!(["c2"])),
        (json!([one, two, two]), "duplicate", json!(["c2"])),
        (json!([one, two, entry("c3", "met", "c")]), "unknown", json!(["c3"])),
        (json!([one, entry("c2", "met", " \n")]), "blank_evidence", json!(["c2"])),
        (json!([one, entry("c2", "met", &long)]), "blank_evidence", json!(["c2"])),
        (json!([one, entry("c2", "done", "b")]), "bad_outcome", json!(["c2"])),
        (
            json!([one, {"id": "c2", "evidence": "b"}]),
            "bad_outcome",
            json!(["c2"]),
        ),
    ] {
        let error = home.refused_untouched(
            "INVALID_ARGUMENT",
            &s.id,
            &finish,
            json!({"criteria": list}).to_string(),
        );
        assert_eq!(error["details"]["reason"], "report_invalid");
        assert_eq!(error["details"][name], ids, "{error}");
    }
    let huge = json!({"criteria": [one, two], "x": "x".repeat(256 * 1024)}).to_string();
    for bad in ["[]", "{", "null", "\u{1}", &huge] {
        let error = home.refused_untouched("INVALID_ARGUMENT", &s.id, &finish, bad);
        assert_eq!(error["details"]["reason"], "report_invalid", "{bad:.20}");
    }
    home.refused_untouched(
        "INVALID_ARGUMENT",
        &s.id,
        &finish,
        b"{\"criteria\": [], \"summary\": \"\xff\"}",
    );
    home.refused_untouched("IO", &s.id, &[&finish[..5], &["/no/such/file"]].concat(), "");
    assert_eq!(home.execution(&p)["state"], "running");
    let by_text =
        json!({"criteria": [two, {"criterion": " tests\t pass ", "outcome": "blocked", "evidence": "no disk"}]});
    assert_eq!(home.json(&finish, by_text.to_string())["state"], "completed");
}

#[test]
fn p38_a_goal_without_criteria_is_completed_with_a_summary_and_a_plan_without_anything() {
    let home = Home::new();
    let s = home.session("goal");
    let row = home.json(&home.submission(&s, "goal", "c1"), "Just do it.");
    assert_eq!(row["warnings"].as_array().map(Vec::len), Some(1), "{row}");
    let p = str_of(&row["id"]);
    home.end(&s);
    home.approve(&p, "ask");
    home.says(&["ring-plan", "claim", &p]);
    let finish = ["ring-plan", "finish", &p, "completed", "--report", "-"];
    home.refused_untouched("INVALID_ARGUMENT", &s.id, &finish, "{\"summary\": \" \"}");
    home.json(&finish, "{\"summary\": \"done\"}");
    let (_, x, _) = home.claimed("plan");
    let over = home.json(&["ring-plan", "finish", &x, "completed"], "");
    assert_eq!((&over["state"], &over["report"]), (&json!("completed"), &Value::Null));
}

#[test]
fn p39_a_goals_command_without_a_valid_report_has_failed_and_a_host_stays_busy() {
    for (left, reason) in [
        ("", "report_missing"),
        (" \n", "report_missing"),
        ("{", "report_invalid"),
        ("{}", "report_invalid"),
    ] {
        let home = Home::new();
        let (s, _, x) = home.approved("goal");
        let error = refusal("INVALID_ARGUMENT", &run(&home, &x, &[], GOOD, left), &[left]);
        assert_eq!(error["details"]["reason"], reason, "{error}");
        let over = home.execution(&x);
        assert_eq!(
            (&over["state"], &over["error_code"]),
            (&json!("interrupted"), &json!(reason))
        );
        let turn = home.record(&s.id)["turns"][1].clone();
        assert_eq!(
            (&turn["status"], &turn["error_code"]),
            (&json!("error"), &json!("INVALID_ARGUMENT"))
        );
        home.is_free(&s);
    }
    // a host's goal stays running, and its session busy, until it is finished
    let home = Home::new();
    let (s, x, turn) = home.working("goal");
    home.says(&["ring-session", "end", &s.id, "--turn", &turn, "completed"]);
    home.refused_untouched("INVALID_ARGUMENT", &s.id, &["ring-plan", "finish", &x, "completed"], "");
    home.refused_untouched("AGENT_BUSY", &s.id, &["ring-session", "begin", &s.id, "next"], "");
    assert_eq!(home.execution(&x)["state"], "running");
    home.json(
        &["ring-plan", "finish", &x, "completed", "--report", "-"],
        report("met"),
    );
    home.is_free(&s);
}

#[test]
fn p36_a_report_may_be_the_last_fenced_block_of_the_answer() {
    let home = Home::new();
    let (_, _, x) = home.approved("goal");
    let answer = format!(
        "the words ```a``` and\n```ring-report\n{{}}\n```\n\n````ring-report\n{}\n````\nbye\n",
        report("unmet")
    );
    let out = run(&home, &x, &[], "printf %s \"$REPORT\"", &answer);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert_eq!(home.execution(&x)["report"]["criteria"][0]["outcome"], "unmet");
}
