//! Reading records from files: windows, files that change, and what is no file.
#![allow(clippy::unwrap_used)]

use ring_hook::tail::{Kind, claude, codex, file};
use std::cell::RefCell;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;

const END: &str = r#"{"type":"assistant","message":{"id":"m","stop_reason":"end_turn","content":[{"type":"text","text":"Shall I go on?"}]},"timestamp":"2026-11-30T12:00:00Z"}"#;

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

/// The windows that a reader was given, and the tail.
fn windows(path: &std::path::Path) -> (Vec<(usize, bool)>, Kind) {
    let seen = RefCell::new(Vec::new());
    let tail = file::tail(path, |bytes, whole| {
        seen.borrow_mut().push((bytes.len(), whole));
        claude::tail(bytes, whole)
    });
    (seen.into_inner(), tail.unwrap().kind)
}

#[test]
fn a_small_file_is_read_once_and_whole() {
    let home = Home::new();
    let path = home.file("a.jsonl", format!("{END}\n").as_bytes());
    assert_eq!(windows(&path), (vec![(END.len() + 1, true)], Kind::End));
    let empty = home.file("b.jsonl", b"");
    assert_eq!(windows(&empty), (vec![(0, true)], Kind::None));
}

#[test]
fn windows_grow_only_while_no_mark_was_found() {
    let home = Home::new();
    let filler = format!("{{\"type\":\"attachment\",\"text\":\"{}\"}}\n", "x".repeat(1000));
    let with = |behind: usize| {
        let mut text = filler.repeat(7000);
        text += END;
        text += "\n";
        text += &filler.repeat(behind / filler.len());
        home.file(&format!("{behind}.jsonl"), text.as_bytes())
    };
    let kib = 1024;
    assert_eq!(windows(&with(100 * kib)), (vec![(256 * kib, false)], Kind::End));
    let two = vec![(256 * kib, false), (1024 * kib, false)];
    assert_eq!(windows(&with(500 * kib)), (two.clone(), Kind::End));
    let three = [two, vec![(4096 * kib, false)]].concat();
    assert_eq!(windows(&with(3000 * kib)), (three.clone(), Kind::End));
    assert_eq!(windows(&with(5000 * kib)), (three, Kind::Unknown));
}

#[test]
fn c40_a_file_of_gigabytes_with_a_last_line_of_3_mb() {
    let home = Home::new();
    let path = home.file("big.jsonl", b"");
    let mut big = fs::OpenOptions::new().write(true).open(&path).unwrap();
    // a sparse file: 5 GB that take no room
    big.seek(SeekFrom::Start(5_000_000_000)).unwrap();
    let text = END.replace("Shall I go on?", &"y".repeat(3_000_000));
    big.write_all(format!("\n{text}\n").as_bytes()).unwrap();
    let (seen, kind) = windows(&path);
    assert_eq!(kind, Kind::End);
    assert!(seen.iter().all(|w| w.0 <= 4 * 1024 * 1024), "{seen:?}");
}

#[test]
fn a_head_is_at_most_64_kib() {
    let home = Home::new();
    let path = home.file("a.jsonl", &vec![b'x'; 200_000]);
    assert_eq!(file::head(&path).unwrap().len(), 64 * 1024);
}

#[test]
fn what_is_no_regular_file_is_refused_and_not_waited_for() {
    let home = Home::new();
    assert!(file::tail(home.0.path(), claude::tail).is_err());
    assert!(file::head(&home.0.path().join("none")).is_err());
    let socket = home.0.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert!(file::tail(&socket, codex::tail).is_err());
    assert_eq!(file::last_text(&socket, "claude-code"), None);
    assert!(!file::codex_reviewed(&socket));
}

#[test]
fn h66_the_last_text_of_a_file_in_its_last_256_kib() {
    let home = Home::new();
    let path = home.file("a.jsonl", format!("{END}\n").as_bytes());
    assert_eq!(file::last_text(&path, "claude-code").as_deref(), Some("Shall I go on?"));
    assert_eq!(file::last_text(&path, "goose"), None);
    let far = format!("{END}\n{}", "{\"type\":\"attachment\"}\n".repeat(20_000));
    assert_eq!(
        file::last_text(&home.file("b.jsonl", far.as_bytes()), "claude-code"),
        None
    );
}

#[test]
fn h88_the_reviewer_of_a_rollout() {
    let home = Home::new();
    let context = |reviewer: &str| {
        format!("{{\"type\":\"turn_context\",\"payload\":{{\"approvals_reviewer\":\"{reviewer}\"}}}}\n")
    };
    assert!(file::codex_reviewed(
        &home.file("a.jsonl", context("auto_review").as_bytes())
    ));
    assert!(!file::codex_reviewed(&home.file("b.jsonl", context("user").as_bytes())));
    assert!(!file::codex_reviewed(&home.0.path().join("none.jsonl")));
}
