//! One notification for each unseen end, in the commit of the end.

use crate::harness::{Home, NOW, list, str_of};
use serde_json::json;

#[test]
fn s50_an_unseen_end_is_notified_once_in_its_own_revision() {
    let home = Home::new();
    let id = home.new_session();
    let done = home.begin(&id, "fix it");
    let before = home.record(&id)["revision"].as_u64().unwrap();
    home.at(NOW + 7_000);
    let end = home.end(&id, &done, &["completed"]);
    let record = home.record(&id);
    assert_eq!(record["revision"].as_u64(), Some(before + 1));
    let told = &record["notifications"][0];
    assert_eq!(
        (
            &told["id"],
            &told["kind"],
            &told["turn_id"],
            &told["title"],
            &told["duration_ms"],
            &told["read_ms"]
        ),
        (
            &end["notification"],
            &json!("task.completed"),
            &json!(done),
            &json!("fix it"),
            &json!(7000),
            &json!(null)
        )
    );
    let failed = home.begin(&id, "and this");
    home.end(&id, &failed, &["error", "--error-code", "NO_DISK"]);
    let told = list(&home.record(&id)["notifications"]);
    assert_eq!(
        (told.len(), &told[1]["kind"], &told[1]["error_code"]),
        (2, &json!("task.failed"), &json!("NO_DISK"))
    );
    let unnamed = home.begin(&id, "x");
    home.end(&id, &unnamed, &["error"]);
    assert_eq!(home.record(&id)["notifications"][2]["error_code"], "UNSPECIFIED");
}

#[test]
fn s51_who_saw_it_needs_no_notification_and_neither_do_aborts_repeats_and_recoveries() {
    let home = Home::with_processes();
    home.process(4242, 77);
    let id = home.new_session();
    let own = format!("--seen={id}");
    for (seen, count) in [("--seen", 0), (own.as_str(), 0), ("--seen=another", 1)] {
        let turn = home.begin(&id, "x");
        let before = list(&home.record(&id)["notifications"]).len();
        home.end(&id, &turn, &["completed", seen]);
        home.end(&id, &turn, &["completed"]);
        let record = home.record(&id);
        assert_eq!(list(&record["notifications"]).len() - before, count, "{seen}");
        assert_eq!(record["turns"].as_array().unwrap().last().unwrap()["seen"], count == 0);
    }
    home.begin(&id, "x");
    home.says(&["abort", &id]);
    home.says(&["begin", &id, "x", "--owner-pid", "4242"]);
    home.process_ends(4242);
    home.json(&["recover", &id]);
    assert_eq!(list(&home.record(&id)["notifications"]).len(), 1);
    home.check();
}

#[test]
fn s52_a_title_stays_as_it_was_the_newest_200_stay_and_nobody_marks_them_read_by_looking() {
    let home = Home::new();
    let id = home.says(&["new", "--title", "Before"]);
    let turn = home.begin(&id, "x");
    home.end(&id, &turn, &["completed"]);
    home.says(&["configure", &id, "--title", "After"]);
    assert_eq!(home.record(&id)["notifications"][0]["title"], "Before");
    // 203 more, as the years would have left them
    home.edit(&id, |r| {
        let first = r["notifications"][0].clone();
        let all = r["notifications"].as_array_mut().unwrap();
        for n in 1..=203 {
            let mut one = first.clone();
            one["id"] = json!(format!("n{n}"));
            one["turn_id"] = json!(format!("t{n}"));
            all.push(one);
        }
    });
    let turn = home.begin(&id, "x");
    home.end(&id, &turn, &["completed"]);
    let told = list(&home.record(&id)["notifications"]);
    assert_eq!(told.len(), 200);
    assert_eq!(
        (str_of(&told[0]["turn_id"]), &told[199]["turn_id"]),
        ("t5".into(), &json!(turn))
    );
    let before = home.bytes(&id);
    assert_eq!(home.json(&["list"])[0]["unread"], 200);
    home.show(&id);
    assert_eq!(home.bytes(&id), before);
}
