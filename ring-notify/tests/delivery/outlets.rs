//! What outlets answer, and what becomes of a delivery.

use crate::harness::{Home, MINUTE, SECOND, count, parse, start, str_of, text};
use crate::server::{Reply, Server, dead_port};
use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};

#[test]
fn n55_a_server_that_comes_back_gets_the_message_in_the_end() {
    let server = Server::start(&[Reply::Status(503, ""), Reply::Status(503, "")]);
    let home = Home::bare();
    home.config(&format!("[notify]\nrepeat_max = 0\n{}", server.webhook("probe", "")));
    home.asks("s1", "git push");
    let report = home.deliver();
    assert_eq!(
        (count(&report, "retry"), &report["retry"][0]["error"]),
        (1, &json!("http 503")),
        "{report}"
    );
    let mut found = Vec::new();
    for second in [1, 9, 10, 11, 39, 40, 41, 600] {
        home.after(second * SECOND).deliver();
        found.push((second, server.requests().len()));
    }
    assert_eq!(
        found,
        [(1, 1), (9, 1), (10, 2), (11, 2), (39, 2), (40, 3), (41, 3), (600, 3)]
    );
    let to = home.stands("wait.permission");
    assert_eq!((&to["state"], &to["attempts"]), (&json!("sent"), &json!(3)));
    let keys: Vec<Option<String>> = server
        .requests()
        .iter()
        .map(|r| r.header("idempotency-key").map(str::to_owned))
        .collect();
    assert!(keys[0].is_some() && keys.iter().all(|k| *k == keys[0]), "{keys:?}");
    assert_eq!(home.events("notify_sent").len(), 1);
}

#[test]
fn n55_the_pause_that_a_server_asks_for_is_kept_and_a_refusal_is_final() {
    let server = Server::start(&[Reply::Status(429, "Retry-After: 60\r\n"), Reply::Status(404, "")]);
    let home = Home::bare();
    home.config(&format!("[notify]\nrepeat_max = 0\n{}", server.webhook("probe", "")));
    home.asks("s1", "git push");
    for (second, requests) in [(0, 1), (30, 1), (59, 1), (60, 2), (61, 2), (4000, 2)] {
        home.after(second * SECOND).deliver();
        assert_eq!(server.requests().len(), requests, "{second}");
    }
    let to = home.stands("wait.permission");
    assert_eq!((&to["state"], &to["error"]), (&json!("failed"), &json!("http 404")));
    assert_eq!(home.events("notify_failed")[0]["error"], "http 404");
}

#[test]
fn n55_a_pause_of_more_than_an_hour_is_an_hour() {
    let server = Server::start(&[Reply::Status(503, "Retry-After: 99999999\r\n")]);
    let home = Home::bare();
    home.config(&format!("[notify]\nrepeat_max = 0\n{}", server.webhook("probe", "")));
    home.asks("s1", "git push");
    for (second, requests) in [(0, 1), (3599, 1), (3600, 2)] {
        home.after(second * SECOND).deliver();
        assert_eq!(server.requests().len(), requests, "{second}");
    }
}

#[test]
fn n56_a_server_that_never_answers_delays_no_other_outlet_and_ends_as_unconfirmed() {
    let server = Server::start(&[Reply::Silence]);
    let home = Home::bare();
    home.outlets(&[&server.webhook("mute", ""), &home.probe("probe", "")]);
    home.real_time().asks("s1", "git push");
    let began = Instant::now();
    let run = start(&mut home.command(&["ring-notify", "--format", "json", "deliver"]), b"");
    crate::harness::eventually("the other message", || home.messages("probe").len() == 1);
    let at_once = began.elapsed();
    let out = run.wait_with_output().unwrap();
    let report = parse(&text(&out.stdout));
    assert!(
        began.elapsed() < Duration::from_secs(11) && at_once < Duration::from_secs(5),
        "{at_once:?}"
    );
    assert_eq!(count(&report, "unconfirmed"), 1, "{report}");
    let to = home.item("wait.permission")["to"].clone();
    assert_eq!(
        (&to["mute"]["state"], &to["mute"]["error"]),
        (&json!("unconfirmed"), &json!("timeout"))
    );
    assert_eq!(to["probe"]["state"], "sent");
    home.deliver();
    assert_eq!(server.requests().len(), 1);
    assert_eq!(home.events("notify_unconfirmed").len(), 1);
}

#[test]
fn n57_a_dead_server_is_tried_six_times_and_the_row_stays_unread() {
    let home = Home::bare();
    let dead = format!(
        "[[notify.outlet]]\nname = \"probe\"\ntype = \"webhook\"\nurl = \"http://127.0.0.1:{}/x\"\n",
        dead_port()
    );
    home.config(&dead);
    let s = home.turn("Build", MINUTE, &["error"]);
    let mut attempts = Vec::new();
    // 10 s, 30 s, 2 min, 10 min, 30 min behind each other
    for second in [0, 9, 10, 39, 40, 159, 160, 759, 760, 2559, 2560, 9999] {
        home.after(second * SECOND).deliver();
        let to = home.stands("task.failed");
        attempts.push((second, to["attempts"].as_u64().unwrap(), str_of(&to["state"])));
    }
    let states: Vec<u64> = attempts.iter().map(|(_, n, _)| *n).collect();
    assert_eq!(states, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
    assert_eq!(
        attempts.iter().filter(|(_, _, s)| s == "failed").count(),
        2,
        "{attempts:?}"
    );
    assert_eq!(home.stands("task.failed")["error"], "connect");
    assert!(home.rows(&s.id)[0]["read_ms"].is_null());
    assert_eq!(home.events("notify_failed").len(), 1);
}

#[test]
fn n66_a_program_that_runs_for_ever_is_ended_with_its_children() {
    let home = Home::bare();
    let script = format!(
        "echo noise; echo noise >&2; sleep 600 & echo $! > '{}'; cat > /dev/null; wait",
        home.path("child").display()
    );
    home.outlets(&[&home.script("probe", &script, "")]);
    home.real_time().asks("s1", "git push");
    let began = Instant::now();
    let out = home.run(&["ring-notify", "deliver"], "");
    let took = began.elapsed();
    assert!(
        took > Duration::from_secs(9) && took < Duration::from_secs(13),
        "{took:?}"
    );
    assert!(
        out.status.success() && out.stdout.is_empty() && out.stderr.is_empty(),
        "{out:?}"
    );
    let child = fs::read_to_string(home.path("child")).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    let to = home.stands("wait.permission");
    assert_eq!((&to["state"], &to["error"]), (&json!("unconfirmed"), &json!("timeout")));
}

#[test]
fn n66_a_program_that_fails_is_tried_again_and_its_output_is_not_heard() {
    let home = Home::bare();
    let script = format!(
        "echo loud; echo loud >&2; cat >> '{}'; exit 3",
        home.path("probe").display()
    );
    home.outlets(&[&home.script("probe", &script, "")]);
    home.asks("s1", "git push");
    let out = home.run(&["ring-notify", "deliver", "-v"], "");
    assert!(!text(&out.stdout).contains("loud") && out.stderr.is_empty());
    let to = home.stands("wait.permission");
    assert_eq!((&to["state"], &to["error"]), (&json!("retry"), &json!("exit 3")));
    home.after(10 * SECOND).deliver();
    assert_eq!(home.taken().len(), 2);
    // a program that is not there, one that is killed, one that does not read
    for (argv, state, error) in [
        ("[\"/nowhere/x\"]", "retry", "not_usable"),
        ("[\"/bin/sh\", \"-c\", \"kill -9 $$\"]", "unconfirmed", "signal 9"),
        ("[\"/bin/true\"]", "sent", ""),
    ] {
        let home = Home::bare();
        home.config(&format!(
            "[[notify.outlet]]\nname = \"probe\"\ntype = \"command\"\nargv = {argv}\n"
        ));
        home.asks("s1", "git push");
        home.deliver();
        let to = home.stands("wait.permission");
        let found = (
            str_of(&to["state"]),
            to["error"].as_str().unwrap_or_default().to_owned(),
        );
        assert_eq!(found, (state.to_owned(), error.to_owned()), "{argv}");
    }
}

#[test]
fn n66_a_program_learns_the_item_in_its_environment() {
    let home = Home::bare();
    let script = format!(
        "cat >/dev/null; echo \"$RING_NOTIFY_ID $RING_NOTIFY_KIND $RING_NOTIFY_OUTLET\" > '{}'",
        home.path("env").display()
    );
    home.outlets(&[&home.script("probe", &script, "")]);
    home.write_row("s1", 1);
    home.deliver();
    let found = fs::read_to_string(home.path("env")).unwrap();
    assert_eq!(found, "wait:claude-code:s1:s1-0 wait.permission probe\n");
}

#[test]
fn n67_a_brief_outlet_says_no_detail_path_title_or_question() {
    let home = Home::bare();
    home.outlets(&[&home.probe("probe", "content = \"brief\""), &home.probe("full", "")]);
    home.asks("s1", "git push origin");
    let s = home.planning();
    home.propose(&s, &[]);
    home.turn("Build API", MINUTE, &["error", "--error-code", "E1"]);
    home.deliver();
    let (brief, full) = (home.taken(), home.messages("full"));
    assert_eq!((brief.len(), full.len()), (3, 3));
    for message in &brief {
        let said = message.to_string();
        for word in ["git push", "work", "Planning", "Build API", "Go ahead", "/app"] {
            assert!(!said.contains(word), "{word} in {said}");
        }
    }
    let mut titles: Vec<String> = brief.iter().map(|m| str_of(&m["title"])).collect();
    titles.sort();
    assert!(
        titles.contains(&"claude-code s1: needs permission".to_owned()),
        "{titles:?}"
    );
    assert!(full.iter().any(|m| m.to_string().contains("git push origin")));
}

#[test]
fn n67_what_looks_like_a_secret_leaves_as_stars() {
    let home = Home::new();
    home.asks("s1", "deploy --key sk-abc123 task-manager TOKEN=hunter2");
    home.deliver();
    let message = home.taken().remove(0);
    assert_eq!(message["detail"], "Bash: deploy --key *** task-manager TOKEN=***");
    assert!(!message.to_string().contains("hunter2"));
    home.json(&[
        "ring-notify",
        "send",
        "--title",
        "Bearer abc.def",
        "--body",
        "password=x1",
    ]);
    let message = home.taken().remove(0);
    assert_eq!(
        (&message["title"], &message["body"]),
        (&json!("Bearer ***"), &json!("password=***"))
    );
}

#[test]
fn n42_flat_names_alone_work_like_the_keys_of_tables() {
    let server = Server::start(&[]);
    let home = Home::bare();
    home.config(&format!(
        "notify_webhook_url = \"{}\"\nnotify_backend = \"webhook\"\n",
        server.url("/flat")
    ));
    home.asks("s1", "git push");
    home.deliver();
    let requests = server.requests();
    assert_eq!((requests.len(), requests[0].line.as_str()), (1, "POST /flat HTTP/1.1"));
    home.config(&format!("notify_ntfy_url = \"{}\"\n", server.url("/n/topic")));
    home.asks("s2", "git push");
    home.deliver();
    let requests = server.requests();
    assert!(
        requests.len() >= 2 && requests[1].line.starts_with("POST /n"),
        "{requests:?}"
    );
    assert!(
        requests.iter().skip(1).all(|r| r.body.contains("\"topic\":\"topic\"")),
        "{requests:?}"
    );

    home.config("notify_backend = \"none\"\n");
    home.asks("s3", "git push");
    let report = home.deliver();
    assert_eq!((count(&report, "sent"), count(&report, "retry")), (0, 0));
    assert_eq!(home.json(&["ring-notify", "outlets"])["outlets"], json!([]));

    for (line, rings) in [
        ("notify_repeat_seconds = [10]\nnotify_repeat_max = 1", vec![0, 10]),
        ("notify_repeat_max = 0", vec![0]),
        ("notify_repeat_max = 0\n[notify]\nrepeat_max = 2", vec![0, 30, 120]),
    ] {
        let home = Home::bare();
        home.config(&format!("{line}\n{}", home.probe("probe", "")));
        home.asks("s1", "git push");
        let mut found = Vec::new();
        for second in [0, 10, 20, 30, 120, 300] {
            home.after(second * SECOND).deliver();
            found.extend(home.taken().iter().map(|_| second));
        }
        assert_eq!(found, rings, "{line}");
    }
    let home = Home::bare();
    let lines = "waiting_cooldown_seconds = 20\nnotify_repeat_max = 0\n";
    home.config(&format!("{lines}{}", home.probe("probe", "")));
    home.asks("s1", "git push");
    home.deliver();
    home.after(SECOND).answered("s1");
    home.asks("s1", "git push");
    home.after(19 * SECOND).deliver();
    assert_eq!(home.taken().len(), 1);
    home.after(20 * SECOND).deliver();
    assert_eq!(home.taken().len(), 1);
    let home = Home::bare();
    home.config(&format!("notify_debounce_seconds = 5\n{}", home.probe("probe", "")));
    home.asks("s1", "git push");
    home.deliver();
    home.asks("s2", "git push");
    assert_eq!(count(&home.deliver(), "held"), 1);
}

#[test]
fn n24_what_was_answered_is_not_in_a_summary_that_is_tried_again() {
    let server = Server::start(&[Reply::Status(503, "")]);
    let home = Home::bare();
    home.config(&format!("[notify]\nrepeat_max = 0\n{}", server.webhook("probe", "")));
    for session in ["s1", "s2", "s3", "s4"] {
        home.asks(session, "git push");
    }
    home.deliver();
    home.answered("s2");
    home.after(10 * SECOND).deliver();
    home.after(MINUTE).deliver();
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let sessions = |n: usize| -> Vec<String> {
        let body = parse(&requests[n].body);
        body["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|i| str_of(&i["session"]))
            .collect()
    };
    assert_eq!(sessions(0).len(), 4);
    assert_eq!(sessions(1), ["s1", "s3", "s4"].map(|s| format!("claude-code:{s}")));
}
