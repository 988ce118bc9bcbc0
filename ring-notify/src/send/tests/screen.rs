//! Sequences on a terminal.

use super::pty::Pty;
use super::{Fate, Job, said};
use crate::message::{Facts, Message, Place};
use crate::send::sequence::{Sequence, through_tmux};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

fn message(title: &str, body: &[&str]) -> Message {
    Message {
        title: title.into(),
        body: body.iter().map(|l| (*l).to_owned()).collect(),
        facts: Facts {
            id: "wait:claude-code:3f2a:1".into(),
            ..Facts::default()
        },
        ..Message::default()
    }
}

fn bytes(sequence: Sequence, title: &str, body: &[&str]) -> String {
    String::from_utf8(sequence.bytes(&message(title, body))).unwrap()
}

#[test]
fn n64_each_sequence_has_exactly_these_bytes_on_a_terminal() {
    let encoded = |text: &str| BASE64_STANDARD.encode(text);
    let rows = [
        ("bell", "\x07".to_owned()),
        (
            "osc9",
            "\x1b]9;api: needs permission · cargo test · pane %7\x07".to_owned(),
        ),
        (
            "osc777",
            "\x1b]777;notify;api: needs permission;cargo test · pane %7\x07".to_owned(),
        ),
        (
            "osc99",
            format!(
                "\x1b]99;i=wait-claude-code-3f2a-1:d=0:e=1:p=title;{}\x1b\\\
                 \x1b]99;i=wait-claude-code-3f2a-1:d=1:e=1:p=body;{}\x1b\\",
                encoded("api: needs permission"),
                encoded("cargo test\npane %7")
            ),
        ),
    ];
    for (name, wanted) in rows {
        let pty = Pty::new();
        let output = pty.output();
        let process = pty.process(&["sleep", "60"]);
        let told = Job::new(json!({"type": name})).at(pty.place(&process)).send(&[]);
        assert_eq!(told.fate, said(&Fate::Sent), "{name}");
        output.is(wanted.as_bytes());
    }
}

#[test]
fn n64_a_terminal_of_the_settings_needs_no_process() {
    let pty = Pty::new();
    let output = pty.output();
    let told = Job::new(json!({"type": "bell", "tty": pty.path})).send(&[]);
    assert_eq!((told.fate, told.usable), (said(&Fate::Sent), "Ok(())".into()));
    output.is(b"\x07");
}

#[test]
fn n64_a_terminal_that_the_process_has_no_more_is_not_written_to() {
    let (pty, other) = (Pty::new(), Pty::new());
    let output = pty.output();
    let process = pty.process(&["sleep", "60"]);
    let elsewhere = other.process(&["sleep", "60"]);
    let place = pty.place(&process);
    let wrong = [
        Place::default(),
        Place {
            process: (0, 0),
            ..place.clone()
        },
        // its pid is another's by now
        Place {
            process: (process.child.id(), process.start + 1),
            ..place.clone()
        },
        // it runs on another terminal
        Place {
            process: (elsewhere.child.id(), elsewhere.start),
            ..place.clone()
        },
    ];
    for place in wrong {
        let told = Job::new(json!({"type": "osc9"})).at(place).send(&[]);
        assert_eq!(told.fate, said(&Fate::skipped("no_tty")));
    }
    drop(process);
    let told = Job::new(json!({"type": "osc9"})).at(place).send(&[]);
    assert_eq!(told.fate, said(&Fate::skipped("no_tty")));
    assert_eq!(output.seen(), b"");
}

#[test]
fn n64_a_file_a_link_and_a_device_that_is_no_terminal_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "as it was").unwrap();
    let pty = Pty::new();
    let output = pty.output();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&pty.path, &link).unwrap();
    let dotted = format!("/dev/../{}", pty.path.display());
    let paths = [
        file.to_str().unwrap(),
        link.to_str().unwrap(),
        &dotted,
        "/dev/null",
        "/dev/stdout",
        "/dev/fd/1",
        "/dev",
        "/dev/pts/99999",
        "pts/0",
        "",
    ];
    for path in paths {
        let told = Job::new(json!({"type": "osc9", "tty": path})).send(&[]);
        assert_eq!(told.fate, said(&Fate::not_usable()), "{path}");
        assert!(told.usable.starts_with("Err(\""), "{path}: {}", told.usable);
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "as it was");
    assert_eq!(output.seen(), b"");
}

#[test]
fn n64_a_terminal_of_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can give a terminal away");
        return;
    }
    let pty = Pty::new();
    let output = pty.output();
    let process = pty.process(&["sleep", "60"]);
    std::os::unix::fs::chown(&pty.path, Some(65_534), None).unwrap();
    let told = Job::new(json!({"type": "bell", "tty": pty.path})).send(&[]);
    assert_eq!(told.fate, said(&Fate::not_usable()));
    let told = Job::new(json!({"type": "bell"})).at(pty.place(&process)).send(&[]);
    assert_eq!(told.fate, said(&Fate::skipped("no_tty")));
    assert_eq!(output.seen(), b"");
}

#[test]
fn n65_a_terminal_that_is_stopped_is_busy_and_nobody_waits_for_it() {
    let pty = Pty::new();
    let process = pty.process(&["sleep", "60"]);
    pty.stop();
    let told = Job::new(json!({"type": "osc777"})).at(pty.place(&process)).send(&[]);
    assert_eq!(told.fate, said(&Fate::retry("tty busy")));
    assert!(told.took.as_millis() < 2_000, "{:?}", told.took);
}

#[test]
fn n65_a_terminal_that_takes_only_a_part_leaves_it_unconfirmed() {
    let pty = Pty::new();
    let process = pty.process(&["sleep", "60"]);
    // nobody reads the other end, and so much fits in no terminal
    let body = "x".repeat(90_000);
    let told = Job::titled(json!({"type": "osc9"}), "t", &[&body])
        .at(pty.place(&process))
        .send(&[]);
    assert_eq!(told.fate, said(&Fate::unconfirmed("tty busy")));
    assert!(told.took.as_millis() < 3_000, "{:?}", told.took);
    let told = Job::new(json!({"type": "bell"})).at(pty.place(&process)).send(&[]);
    assert_eq!(told.fate, said(&Fate::retry("tty busy")));
}

#[test]
fn the_terminal_of_this_process_takes_what_belongs_to_no_session() {
    let own = Place {
        own: true,
        ..Place::default()
    };
    // a test has no terminal, whoever runs it
    let told = Job::new(json!({"type": "bell"})).at(own).send(&[]);
    let has_one = ring_session::process::read_stat(std::process::id()).is_some_and(|s| s.tty_nr != 0);
    assert!(has_one || told.fate == said(&Fate::skipped("no_tty")), "{}", told.fate);
}

#[test]
fn n63_no_control_in_a_text_reaches_a_terminal() {
    let hostile = "a\x1b]9;x\x07b\u{9b}31mc\u{202e}d\x1b\\e\u{9c}f\u{90}g\r\nh";
    for sequence in [Sequence::Osc9, Sequence::Osc777] {
        let out = bytes(sequence, hostile, &[hostile, hostile]);
        let inner = out.strip_prefix('\x1b').unwrap().strip_suffix('\x07').unwrap();
        let bad = |c: char| c.is_control() || ring_session::text::is_bidi(c);
        assert!(!inner.contains(bad), "{out:?}");
    }
    let out = bytes(Sequence::Osc99, hostile, &[hostile]);
    for chunk in out.split("\x1b\\").filter(|c| !c.is_empty()) {
        assert!(!chunk[1..].contains(char::is_control), "{chunk:?}");
        let text = BASE64_STANDARD
            .decode(chunk.split_once(';').unwrap().1.split_once(';').unwrap().1)
            .unwrap();
        assert!(!String::from_utf8(text).unwrap().contains(char::is_control));
    }
}

#[test]
fn n62_a_text_is_no_command_of_a_terminal() {
    assert_eq!(bytes(Sequence::Osc9, "4;1;50", &[]), "\x1b]9; 4;1;50\x07");
    assert_eq!(
        bytes(Sequence::Osc9, "4 tests; 1 failed", &[]),
        "\x1b]9;4 tests; 1 failed\x07"
    );
    assert_eq!(bytes(Sequence::Osc9, ";4", &[]), "\x1b]9;;4\x07");
    assert_eq!(
        bytes(Sequence::Osc777, "a;b;", &["c;d"]),
        "\x1b]777;notify;a,b,;c;d\x07"
    );
}

#[test]
fn a_long_text_goes_in_chunks_that_a_terminal_takes() {
    let body = "ж".repeat(3_000);
    let out = bytes(Sequence::Osc99, "t", &[&body]);
    let chunks: Vec<&str> = out.split_terminator("\x1b\\").collect();
    assert_eq!(chunks.len(), 4);
    let mut read = String::new();
    for (n, chunk) in chunks.iter().enumerate() {
        let text = chunk.rsplit_once(';').unwrap().1;
        assert!(text.len() <= 4096);
        assert_eq!(chunk.contains(":d=1:"), n == 3, "{chunk}");
        read += &String::from_utf8(BASE64_STANDARD.decode(text).unwrap()).unwrap();
    }
    assert_eq!(read, format!("t{body}"));
}

#[test]
fn what_is_urgent_says_so_where_a_sequence_can() {
    let mut urgent = message("t", &[]);
    urgent.facts.urgent = true;
    let out = String::from_utf8(Sequence::Osc99.bytes(&urgent)).unwrap();
    assert_eq!(out, "\x1b]99;i=wait-claude-code-3f2a-1:d=1:e=1:p=title:u=2;dA==\x1b\\");
}

#[test]
fn n64_through_tmux_each_escape_is_doubled() {
    assert_eq!(through_tmux(b"\x1b]9;x\x07"), b"\x1bPtmux;\x1b\x1b]9;x\x07\x1b\\");
    assert_eq!(
        through_tmux(b"\x1b]99;;eA==\x1b\\"),
        b"\x1bPtmux;\x1b\x1b]99;;eA==\x1b\x1b\\\x1b\\"
    );
}
