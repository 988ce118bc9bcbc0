//! Programs: `command`, and the desktops' own, with programs in their place that write down what they get.

use super::{Fate, Job, program, recorded, recorder, said, until};
use crate::send::program::{End, run};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const HOSTILE: &str = "$(touch x) `touch x` #(touch x) %H \" & do shell script -u critical <b>";

fn command(argv: &[&str]) -> Value {
    json!({"type": "command", "argv": argv})
}

fn path(file: &Path) -> &str {
    file.to_str().unwrap()
}

#[test]
fn n62_a_command_gets_the_members_as_json_and_no_shell() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let script = format!(
        "#!/bin/sh\ncd '{0}' || exit 9\ncat >out.json\nprintf '%s|%s|%s|%s' \"$RING_NOTIFY_ID\" \"$RING_NOTIFY_KIND\" \
         \"$RING_NOTIFY_OUTLET\" \"$*\" >out\n",
        folder.path().display()
    );
    let probe = program(folder.path(), "probe", &script);
    let told = Job::titled(command(&[path(&probe), "$(touch x)", "a b"]), HOSTILE, &[HOSTILE]).send(&[]);
    assert_eq!((told.fate, told.usable), (said(&Fate::Sent), "Ok(())".into()));
    let text = fs::read_to_string(folder.path().join("out.json")).unwrap();
    assert_eq!(text.lines().count(), 1);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["title"], &json["body"]), (&HOSTILE.into(), &HOSTILE.into()));
    assert_eq!(json["schema"], 1);
    assert_eq!(json["items"], json!([]));
    let words = fs::read_to_string(out).unwrap();
    assert_eq!(words, "wait:claude-code:3f2a:1|wait.permission|phone|$(touch x) a b");
    assert!(!folder.path().join("x").exists());
}

#[test]
fn n66_how_a_command_ends_decides() {
    let rows = [
        ("exit 0", said(&Fate::Sent)),
        ("exit 3", said(&Fate::retry("exit 3"))),
        ("kill -9 $$", said(&Fate::unconfirmed("signal 9"))),
        // it reads nothing, and what it should read fits in no pipe
        ("exec <&-; exit 0", said(&Fate::Sent)),
    ];
    for (script, wanted) in rows {
        let job = Job::titled(command(&["sh", "-c", script]), "t", &[&"x".repeat(100_000)]);
        assert_eq!(job.send(&[]).fate, wanted, "{script}");
    }
}

#[test]
fn n66_what_a_command_prints_does_not_reach_ours() {
    let told = Job::new(command(&["sh", "-c", "echo loud; echo LOUD >&2"])).send(&[]);
    assert_eq!(told.fate, said(&Fate::Sent));
    assert!(!told.all.to_lowercase().contains("loud"), "{}", told.all);
}

#[test]
fn a_command_that_cannot_be_started_may_be_there_later() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    for argv in [
        &["/nonexistent/x"][..],
        &["ring-no-such-program"],
        &[path(&file)],
        &[""],
        &[],
    ] {
        let told = Job::new(command(argv)).send(&[]);
        assert_eq!(told.fate, said(&Fate::not_usable()), "{argv:?}");
        assert!(told.usable.starts_with("Err"), "{argv:?}");
    }
}

#[test]
fn n66_a_command_that_runs_for_ever_is_ended_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let script = format!(
        "trap '' TERM; sleep 600 & echo $! $$ >'{}'; while :; do sleep 1; done",
        pids.display()
    );
    let told = Job::new(command(&["sh", "-c", &script])).send(&[]);
    assert_eq!(told.fate, said(&Fate::unconfirmed("timeout")));
    assert!((10_000..12_500).contains(&told.took.as_millis()), "{:?}", told.took);
    for pid in fs::read_to_string(pids).unwrap().split_whitespace() {
        let gone = || {
            let stat = ring_session::process::read_stat(pid.parse().unwrap());
            stat.is_none_or(|s| matches!(s.state, 'Z' | 'X')).then_some(())
        };
        until("the end of a child", gone);
    }
}

#[test]
fn a_program_that_ends_when_it_is_asked_to_is_not_waited_for() {
    let started = Instant::now();
    let end = run(Command::new("sleep").arg("600"), None, Duration::from_millis(100));
    assert_eq!(end, End::TimedOut);
    assert!(
        started.elapsed() < Duration::from_millis(900),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn a_child_in_the_background_is_not_waited_for() {
    let started = Instant::now();
    let words = ["-c", "sleep 5 & exit 0"];
    assert_eq!(
        run(
            Command::new("sh").args(words),
            Some(vec![b'x'; 300_000]),
            Duration::from_secs(10)
        ),
        End::Exit(0)
    );
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[test]
fn n62_osascript_gets_a_constant_script_and_texts_as_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let fake = recorder(folder.path(), "osascript");
    for title in [HOSTILE, "-e", "\" & do shell script \"touch x\" & \""] {
        let told = send_with(&folder, json!({"type": "osascript"}), title, &["one", title]);
        assert_eq!(told, said(&Fate::Sent));
        let wanted = [
            "-e",
            "on run argv",
            "-e",
            "display notification (item 3 of argv) with title (item 2 of argv)",
            "-e",
            "end run",
            "ring",
            title,
            &format!("one\n{title}"),
        ];
        assert_eq!(recorded(&fake), wanted);
    }
}

fn send_with(folder: &tempfile::TempDir, way: Value, title: &str, body: &[&str]) -> String {
    let search = format!("{}:/usr/bin:/bin", folder.path().display());
    Job::titled(way, title, body)
        .send(&[("PATH", &search), ("DISPLAY", ":9")])
        .fate
}

#[test]
fn n62_terminal_notifier_gets_values_that_are_no_options() {
    let folder = tempfile::tempdir().unwrap();
    let fake = recorder(folder.path(), "terminal-notifier");
    let way = json!({"type": "terminal-notifier", "sound": "Glass"});
    assert_eq!(send_with(&folder, way, HOSTILE, &["-execute", "x"]), said(&Fate::Sent));
    let wanted = [
        "-title",
        HOSTILE,
        "-message",
        " -execute\nx",
        "-group",
        "claude-code:3f2a",
        "-sound",
        "Glass",
    ];
    assert_eq!(recorded(&fake), wanted);
    let way = json!({"type": "terminal-notifier"});
    for start in ["-", "[", "(", "{", "<", "\"", "\\"] {
        let title = format!("{start}open");
        assert_eq!(send_with(&folder, way.clone(), &title, &[]), said(&Fate::Sent));
        let wanted = [
            "-title",
            "ring",
            "-message",
            &format!(" {title}"),
            "-group",
            "claude-code:3f2a",
        ];
        assert_eq!(recorded(&fake), wanted);
    }
}

#[test]
fn n62_notify_send_gets_texts_behind_the_options() {
    let folder = tempfile::tempdir().unwrap();
    let fake = recorder(folder.path(), "notify-send");
    let way = json!({"type": "notify-send"});
    assert_eq!(
        send_with(&folder, way, "-u critical <b>", &["a & <b>", "-i x"]),
        said(&Fate::Sent)
    );
    let wanted = [
        "--app-name=ring",
        "--urgency=normal",
        "--",
        "-u critical <b>",
        "a &amp; &lt;b&gt;\n-i x",
    ];
    assert_eq!(recorded(&fake), wanted);
}

#[test]
fn n73_without_a_display_and_a_program_it_says_why() {
    let folder = tempfile::tempdir().unwrap();
    recorder(folder.path(), "notify-send");
    let says = |kind: &str, variables: &[(&str, &str)]| {
        let told = Job::new(json!({"type": kind})).send(variables);
        (told.usable, told.fate)
    };
    let nowhere = [("PATH", "/nonexistent")];
    for (kind, program) in [
        ("notify-send", "notify-send"),
        ("osascript", "osascript"),
        ("terminal-notifier", "terminal-notifier"),
        ("tmux", "tmux"),
    ] {
        let (usable, fate) = says(kind, &nowhere);
        assert_eq!(usable, format!("Err(\"{program} is not installed\")"));
        let wanted = if kind == "tmux" {
            Fate::skipped("no_pane")
        } else {
            Fate::not_usable()
        };
        assert_eq!(fate, said(&wanted));
    }
    let search = [("PATH", path(folder.path()))];
    assert_eq!(
        says("notify-send", &search),
        (
            "Err(\"no display and no session bus\")".into(),
            said(&Fate::not_usable())
        )
    );
    let empty = [("TMUX_TMPDIR", path(folder.path()))];
    assert_eq!(says("tmux", &empty).0, "Err(\"no tmux server is running\")");
}

#[test]
fn auto_passes_over_what_does_not_take_it() {
    let folder = tempfile::tempdir().unwrap();
    // a desktop without a notification service
    program(folder.path(), "notify-send", "#!/bin/sh\nexit 1\n");
    let auto = json!({"type": "auto"});
    assert_eq!(send_with(&folder, auto.clone(), "t", &[]), said(&Fate::retry("exit 1")));
    let fake = recorder(folder.path(), "terminal-notifier");
    assert_eq!(send_with(&folder, auto.clone(), "t", &["b"]), said(&Fate::Sent));
    assert_eq!(recorded(&fake)[1], "t");
    // what may have arrived is not sent twice
    program(folder.path(), "terminal-notifier", "#!/bin/sh\nkill -9 $$\n");
    assert_eq!(
        send_with(&folder, auto, "t", &["b"]),
        said(&Fate::unconfirmed("signal 9"))
    );
}
