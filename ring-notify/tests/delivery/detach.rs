//! A pass that is started and left to itself.

use crate::harness::{Home, eventually};
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The shortest of some runs, in which nothing else of the machine took part.
fn best(runs: usize, mut run: impl FnMut()) -> Duration {
    let time = |()| {
        let began = Instant::now();
        run();
        began.elapsed()
    };
    std::iter::repeat_n((), runs).map(time).min().unwrap()
}

#[test]
fn n59_detached_it_returns_at_once_whatever_the_outlets_do() {
    let home = Home::new();
    home.outlets(&[&home.script(
        "probe",
        &format!("cat >> '{}'; sleep 2", home.path("probe").display()),
        "",
    )]);
    home.real_time().asks("s1", "git push");
    let mut run = 0;
    let took = best(7, || {
        run += 1;
        let out = home.run(
            &["ring-notify", "deliver", "--detach", "--session", "claude-code:s1"],
            "",
        );
        assert!(
            out.status.code() == Some(0) && out.stdout.is_empty() && out.stderr.is_empty(),
            "{run}: {out:?}"
        );
    });
    println!("detached within {took:?}");
    assert!(took < Duration::from_millis(500), "{took:?}");
    home.told(1);
    assert_eq!(home.messages("probe").len(), 1);
    home.idle();
}

#[test]
fn n59_detached_it_succeeds_with_closed_streams_a_read_only_state_and_bad_settings() {
    let home = Home::new();
    home.real_time().asks("s1", "git push");
    // every stream closed
    let program = crate::harness::bin("ring-notify");
    let script = "exec \"$0\" deliver --detach <&- >&- 2>&-";
    let mut command = home.command(&["sh", "-c", script, program.to_str().unwrap()]);
    let status = command
        .env_remove("RING_NO_NOTIFY")
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    home.told(1);
    // settings that are none
    home.config("[notify\n");
    home.says(&["ring-notify", "deliver", "--detach"]);
    // a state folder that cannot be written, because it is a file
    let file = home.path("file");
    fs::write(&file, "").unwrap();
    let out = home
        .command(&["ring-notify", "deliver", "--detach"])
        .env("RING_STATE_DIR", &file)
        .output()
        .unwrap();
    assert!(
        out.status.code() == Some(0) && out.stdout.is_empty() && out.stderr.is_empty(),
        "{out:?}"
    );
    // nonsense in its own options is a mistake of whoever wrote them
    home.refused("INVALID_ARGUMENT", &["ring-notify", "deliver", "--detach", "--nope"]);
    home.idle();
}

#[test]
fn n59_a_detached_pass_waits_as_it_was_told_and_tells_the_log_what_went_wrong() {
    let home = Home::new();
    home.real_time().asks("s1", "git push");
    let began = Instant::now();
    home.says(&["ring-notify", "deliver", "--detach", "--after", "1s"]);
    assert!(home.messages("probe").is_empty());
    eventually("the ring", || home.messages("probe").len() == 1);
    assert!(began.elapsed() >= Duration::from_secs(1));
    home.told(1);
    fs::write(home.path("state/notify/ledger.json"), "{\"schema\":9}").unwrap();
    home.says(&["ring-notify", "deliver", "--detach"]);
    let log = home.path("state/hook-errors.log");
    eventually("a line in the log", || {
        fs::read_to_string(&log).is_ok_and(|l| l.contains("SCHEMA_NEWER"))
    });
    home.idle();
}
