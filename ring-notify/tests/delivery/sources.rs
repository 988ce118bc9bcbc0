//! What is not there, cannot be read, or is not meant for an outlet.

use crate::harness::{DAY, Home, MINUTE, NOW, SECOND, count, str_of, text};
use ring_session::replace::rename_directory;
use serde_json::json;
use std::fs;

#[test]
fn n35_the_first_run_tells_nothing_of_yesterday_and_what_is_open_now() {
    let home = Home::new();
    home.after(-DAY).turn("Old", MINUTE, &["error", "--error-code", "E"]);
    let s = home.session("Many");
    let mut turn = s.clone();
    for n in 0..49 {
        home.end(&turn, &["error"]);
        turn = home.after(-DAY + n).begin(&s.id);
    }
    home.after(-MINUTE).turn("New", MINUTE, &["error", "--error-code", "E"]);
    home.asks("s1", "git push");
    home.after(0).deliver();
    let mut titles = home.titles();
    titles.sort();
    assert_eq!(titles, ["New: failed E", "s1: needs permission"]);
    home.after(SECOND).deliver();
    assert!(home.taken().is_empty());
    let ledger = home.ledger();
    let first_run = ledger["items"]
        .as_object()
        .unwrap()
        .values()
        .filter(|i| i["why"] == "first_run")
        .count();
    assert_eq!(first_run, 50);
    assert!(home.rows(&s.id).iter().all(|r| r["read_ms"].is_null()));
}

#[test]
fn n35_a_turn_that_ended_long_ago_is_stale_for_a_later_run() {
    let home = Home::new();
    home.after(-DAY).deliver();
    home.turn("Night", MINUTE, &["error"]);
    home.after(0).turn("Day", MINUTE, &["error"]);
    home.deliver();
    assert_eq!(home.titles(), ["Day: failed UNSPECIFIED"]);
    let home = Home::bare();
    home.notify("finished_max_age_seconds = 60", "");
    home.deliver();
    home.turn("Build", MINUTE, &["error"]);
    home.after(61 * SECOND).deliver();
    assert!(home.taken().is_empty());
    assert_eq!(home.item("task.failed")["why"], "stale");
}

#[test]
fn n36_a_row_that_was_read_or_cleared_before_has_no_message() {
    let home = Home::new();
    let read = home.turn("Read", MINUTE, &["error"]);
    home.edit_record(&read.id, |r| r["notifications"][0]["read_ms"] = NOW.into());
    let cleared = home.turn("Cleared", MINUTE, &["error"]);
    home.edit_record(&cleared.id, |r| r["notifications"] = json!([]));
    home.deliver();
    assert!(home.taken().is_empty());
}

#[test]
fn n17_nothing_of_a_session_that_was_deleted_is_sent_later() {
    let home = Home::new();
    home.says(&["ring-notify", "quiet", "1h"]);
    let s = home.turn("Build", MINUTE, &["error"]);
    let asking = home.session("Ask");
    home.request(&asking, "c1", &[]);
    assert_eq!(count(&home.deliver(), "held"), 2);
    home.says(&["ring-session", "delete", &s.id, "--force"]);
    home.says(&["ring-session", "delete", &asking.id, "--force"]);
    home.says(&["ring-notify", "quiet", "off"]);
    assert!(home.taken().is_empty());
    assert_eq!(home.item("task.failed")["why"], "gone");
    assert_eq!(home.item("wait.permission")["why"], "gone");
}

#[test]
fn n37_what_cannot_be_read_is_neither_closed_nor_sent_nor_repeated() {
    let home = Home::new();
    home.asks("s1", "git push");
    home.deliver();
    assert_eq!(home.taken().len(), 1);
    let (status, away) = (home.path("state/status"), home.path("away"));
    rename_directory(&status, &away).unwrap();
    fs::write(&status, "no folder").unwrap();
    for second in [1, 30, 400] {
        let out = home.after(second * SECOND).run(&["ring-notify", "deliver"], "");
        assert_eq!(out.status.code(), Some(0));
        assert!(
            text(&out.stderr).contains(&*status.to_string_lossy()),
            "{}",
            text(&out.stderr)
        );
        assert!(home.taken().is_empty(), "{second}");
        assert_eq!(home.item("wait.permission")["why"], "", "{second}");
    }
    fs::remove_file(&status).unwrap();
    rename_directory(&away, &status).unwrap();
    home.after(2 * SECOND).deliver();
    assert!(home.taken().is_empty(), "once in all");

    // one row of several
    let home = Home::new();
    home.asks("s1", "git push");
    home.asks("s2", "git push");
    home.deliver();
    assert_eq!(home.taken().len(), 2);
    let path = home.path("state/status/claude-code:s1.json");
    let row = fs::read(&path).unwrap();
    fs::write(&path, "{").unwrap();
    let out = home.after(30 * SECOND).run(&["ring-notify", "deliver"], "");
    assert!(
        text(&out.stderr).contains("claude-code:s1.json"),
        "{}",
        text(&out.stderr)
    );
    let repeated = home.taken();
    assert_eq!(repeated.len(), 1);
    assert_eq!(repeated[0]["session"], "claude-code:s2");
    fs::write(&path, row).unwrap();
    home.after(31 * SECOND).deliver();
    let repeated = home.taken();
    assert_eq!(
        (repeated.len(), &repeated[0]["session"], &repeated[0]["ring"]),
        (1, &json!("claude-code:s1"), &json!(1))
    );
}

#[test]
fn n37_a_record_that_cannot_be_read_keeps_its_items_and_hides_no_other() {
    let home = Home::new();
    let s = home.session("Ask");
    home.request(&s, "c1", &[]);
    home.deliver();
    assert_eq!(home.taken().len(), 1);
    let path = home.path("state/sessions").join(&s.id).join("session.json");
    let record = fs::read(&path).unwrap();
    fs::write(&path, "{\"id\":").unwrap();
    home.after(SECOND).turn("Other", MINUTE, &["error"]);
    let out = home.after(40 * SECOND).run(&["ring-notify", "deliver"], "");
    assert_eq!(out.status.code(), Some(0));
    assert!(text(&out.stderr).contains(&s.id), "{}", text(&out.stderr));
    assert_eq!(home.titles(), ["Other: failed UNSPECIFIED"]);
    assert_eq!(home.item("wait.permission")["why"], "");
    fs::write(&path, record).unwrap();
    home.after(41 * SECOND).deliver();
    let rings: Vec<_> = home.taken().iter().map(|m| m["ring"].clone()).collect();
    assert_eq!(rings, [1]);
}

#[test]
fn n37_a_folder_of_records_that_cannot_be_listed_closes_nothing() {
    let home = Home::new();
    let s = home.session("Ask");
    home.request(&s, "c1", &[]);
    home.turn("Build", MINUTE, &["error"]);
    home.says(&["ring-notify", "quiet", "on"]);
    assert_eq!(count(&home.deliver(), "held"), 2);
    home.says(&["ring-notify", "quiet", "1s"]);
    let (sessions, away) = (home.path("state/sessions"), home.path("away"));
    rename_directory(&sessions, &away).unwrap();
    fs::write(&sessions, "no folder").unwrap();
    home.asks("s1", "git push");
    let out = home.after(2 * SECOND).run(&["ring-notify", "deliver"], "");
    assert_eq!(out.status.code(), Some(0));
    assert!(
        text(&out.stderr).contains(&*sessions.to_string_lossy()),
        "{}",
        text(&out.stderr)
    );
    assert_eq!(home.titles(), ["s1: needs permission"]);
    assert_eq!(home.item("task.failed")["why"], "");
    fs::remove_file(&sessions).unwrap();
    rename_directory(&away, &sessions).unwrap();
    home.after(3 * SECOND).deliver();
    let summary = home.taken().remove(0);
    assert_eq!(summary["title"], "1 needs you, 1 failed");
}

#[test]
fn n38_nothing_repeats_of_an_agent_that_was_killed_while_it_waited() {
    let home = Home::new();
    home.with_table().agent("claude");
    home.asks("s1", "git push");
    assert_eq!(home.row("claude-code:s1")["process"]["pid"], 4242);
    home.deliver();
    assert_eq!(home.taken().len(), 1);
    fs::remove_dir_all(home.path("proc/4242")).unwrap();
    for second in [30, 120, 300] {
        home.after(second * SECOND).deliver();
    }
    assert!(home.taken().is_empty());
    assert_eq!(home.item("wait.permission")["why"], "gone");
}

#[test]
fn n38_a_row_of_another_host_or_namespace_rings_whoever_lives_here() {
    for (member, value) in [("name", json!("other")), ("pid_ns", json!(17))] {
        let home = Home::new();
        home.with_table().agent("claude");
        home.asks("s1", "git push");
        let mut row = home.row("claude-code:s1");
        row["host"][member] = value;
        fs::write(home.path("state/status/claude-code:s1.json"), row.to_string()).unwrap();
        fs::remove_dir_all(home.path("proc/4242")).unwrap();
        home.deliver();
        assert_eq!(home.taken().len(), 1, "{member}");
        home.after(30 * SECOND).deliver();
        assert_eq!(home.taken().len(), 1, "{member}");
    }
}

#[test]
fn n39_a_clock_that_was_set_back_by_a_day_silences_nothing() {
    let home = Home::new();
    home.asks("s1", "one");
    home.deliver();
    assert_eq!(home.taken().len(), 1);
    home.outlets(&[&home.script("probe", "exit 1", "")]);
    home.asks("s2", "two");
    assert_eq!(count(&home.deliver(), "retry"), 1);
    home.outlets(&[&home.probe("probe", "")]);
    home.says(&["ring-notify", "quiet", "1h"]);
    home.asks("s3", "three");
    assert_eq!(count(&home.deliver(), "held"), 1);
    home.after(-DAY).asks("s4", "four");
    home.deliver();
    let mut titles = home.titles();
    titles.sort();
    assert_eq!(titles, ["s2", "s3", "s4"].map(|s| format!("{s}: needs permission")));
    home.after(-DAY + 30 * SECOND).deliver();
    let mut again = home.taken();
    if let [one] = again.as_slice() {
        again = one["items"].as_array().unwrap().clone();
    }
    assert_eq!(again.len(), 4, "each repeats: {again:?}");
    home.asks("s1", "five");
    home.deliver();
    assert_eq!(home.titles(), ["s1: needs permission"]);
}

#[test]
fn n39_turns_that_end_after_the_clock_was_set_back_ring_and_a_debounce_window_ends() {
    let home = Home::bare();
    home.notify("debounce_seconds = 5", "");
    home.asks("s1", "one");
    home.deliver();
    home.asks("s2", "two");
    assert_eq!(count(&home.deliver(), "held"), 1);
    assert_eq!(home.taken().len(), 1);
    home.after(-DAY).turn("Build", MINUTE, &["error"]);
    home.after(-DAY).deliver();
    home.after(-DAY + 6 * SECOND).deliver();
    let mut found: Vec<String> = Vec::new();
    for message in home.taken() {
        match message["items"].as_array().unwrap().as_slice() {
            [] => found.push(str_of(&message["session_title"])),
            items => found.extend(items.iter().map(|i| str_of(&i["title"]))),
        }
    }
    found.sort();
    assert_eq!(found, ["Build: failed UNSPECIFIED", "s2: needs permission"]);
}

#[test]
fn n40_an_item_reaches_exactly_the_outlets_that_it_matches() {
    let home = Home::bare();
    let app = home.folder("app");
    let members = [
        ("all", String::new()),
        ("waits", "kinds = [\"wait\"]".into()),
        ("failed", "kinds = [\"task.failed\"]".into()),
        ("questions", "kinds = [\"wait.question\"]".into()),
        ("codex", "agents = [\"codex\"]".into()),
        ("app", format!("projects = [\"{app}\"]")),
        ("deep", "projects = [\"~/work/**\", \"!~/work/app\"]".into()),
        ("not", format!("projects = [\"!{app}\"]")),
        ("star", "projects = [\"~/*\"]".into()),
    ];
    let outlets: Vec<String> = members.iter().map(|(name, m)| home.probe(name, m)).collect();
    home.config(&outlets.concat());
    home.asks("s1", "git push");
    home.turn("Build", MINUTE, &["error"]);
    home.event_of(
        "codex",
        "c1",
        "PermissionRequest",
        json!({"tool_name": "shell", "turn_id": "t1"}),
    );
    home.after(11 * SECOND).deliver();
    let expected = [
        (
            "all",
            "Build: failed UNSPECIFIED, c1: needs permission, s1: needs permission",
        ),
        ("waits", "c1: needs permission, s1: needs permission"),
        ("failed", "Build: failed UNSPECIFIED"),
        ("questions", ""),
        ("codex", "c1: needs permission"),
        ("app", "Build: failed UNSPECIFIED"),
        ("deep", "c1: needs permission, s1: needs permission"),
        ("not", "c1: needs permission, s1: needs permission"),
        ("star", ""),
    ];
    for (name, titles) in expected {
        let mut found: Vec<String> = home.messages(name).iter().map(|m| str_of(&m["title"])).collect();
        found.sort();
        assert_eq!(found.join(", "), titles, "{name}");
    }
}

#[test]
fn n41_a_bad_outlet_is_reported_with_its_place_and_the_others_work() {
    let home = Home::bare();
    let bad = "[[notify.outlet]]\nname = \"odd\"\ntype = \"pigeon\"\n\n";
    let glob = home.probe("glob", "projects = [\"a[\"]");
    let (one, two) = (home.probe("probe", ""), home.probe("probe", "content = \"brief\""));
    home.config(&format!("{bad}{glob}{one}{two}"));
    home.asks("s1", "git push");
    let out = home.run(&["ring-notify", "deliver"], "");
    assert_eq!(out.status.code(), Some(0));
    let said = text(&out.stderr);
    let config = home.path("config.toml");
    for (line, key) in [
        (3, "notify.outlet.type"),
        (9, "notify.outlet.projects"),
        (16, "notify.outlet.name"),
    ] {
        let place = format!("{}:{line}: {key}", config.display());
        assert!(said.contains(&place), "no {place} in {said}");
    }
    assert_eq!(said.lines().count(), 3, "{said}");
    let messages = home.taken();
    assert_eq!(
        (messages.len(), &messages[0]["detail"]),
        (1, &json!("Bash: git push")),
        "the first of a name counts"
    );
    assert!(home.messages("glob").is_empty());
}

#[test]
fn n41_a_settings_file_that_is_no_toml_is_reported_and_stops_nothing() {
    let home = Home::bare();
    home.config("[notify\n");
    home.asks("s1", "git push");
    let out = home.run(&["ring-notify", "deliver"], "");
    assert_eq!(out.status.code(), Some(0));
    assert!(text(&out.stderr).contains("config.toml:1"), "{}", text(&out.stderr));
}
