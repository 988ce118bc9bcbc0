//! What people see: nothing that a terminal obeys, and tables that keep to its width.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its place has failed")]

use ring_session::columns::width;
use ring_session::text::is_bidi;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Escape sequences, an override, an invisible character, wide ones.
const HOSTILE: &str =
    "\u{1b}[31mred\u{1b}]0;title\u{7}\u{202e}evil\u{200b} 日本語のとても長いタイトル 👩\u{200d}👩\u{200d}👧 e\u{301}nd";

fn ring(home: &Path, columns: usize, args: &[&str], stdin: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ring-session"))
        .env_clear()
        .env("HOME", home)
        .env("RING_STATE_DIR", home.join("state"))
        .env("RING_NO_NOTIFY", "1")
        .env("COLUMNS", columns.to_string())
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(stdin.as_bytes())
        .unwrap_or_default();
    let out = child.wait_with_output().unwrap();
    assert!(
        out.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn s81_hostile_and_wide_texts_are_harmless_and_in_line_on_every_screen() {
    let home = tempfile::tempdir().unwrap();
    let say = |args: &[&str], stdin: &str| ring(home.path(), 80, args, stdin).trim().to_owned();
    say(&["new", "--id", "plain"], "");
    let id = say(&["new", "--agent", "codex", "--agent-session", HOSTILE], "");
    let turn = say(&["begin", &id, HOSTILE], "");
    let call = ["--turn", &turn, "--call", "c", "--tool", HOSTILE];
    say(
        &[&["permission", "open", &id, "--reason", HOSTILE], &call[..]].concat(),
        "{}",
    );
    say(&["queue", "push", &id, HOSTILE, "--principal", "\u{1b}[1mme"], "");
    let row = serde_json::json!({"role": "assistant", "blocks": [{"type": "text", "text": format!("{HOSTILE}\n    {HOSTILE}")},
        {"type": "tool_call", "call_id": "c", "name": HOSTILE}, {"type": HOSTILE}]});
    say(&["append", &id, "--turn", &turn], &row.to_string());
    let lists: [&[&str]; 3] = [&["list"], &["permission", "list"], &["queue", "list", &id]];
    let whole: [&[&str]; 2] = [&["show", &id], &["transcript", &id]];
    for columns in [40, 80, 200] {
        for args in lists.iter().chain(&whole) {
            let printed = ring(home.path(), columns, args, "");
            assert!(printed.contains("evil"), "{args:?}: {printed}");
            let obeyed = |c: char| (c.is_control() && c != '\n') || is_bidi(c);
            assert!(!printed.contains(obeyed), "{args:?}: {printed:?}");
            assert!(!printed.lines().any(|l| l.ends_with(' ')), "{args:?}: {printed}");
            if lists.contains(args) {
                let widest = printed.lines().map(width).max().unwrap();
                assert!(widest <= columns, "{args:?} is {widest} wide on {columns}:\n{printed}");
            }
        }
    }
    let indented = ring(home.path(), 80, &["transcript", &id], "");
    assert!(
        indented.contains("\n      red"),
        "the shape of a text is kept: {indented}"
    );
}

#[test]
fn where_an_id_has_no_room_its_beginning_names_the_same() {
    let home = tempfile::tempdir().unwrap();
    ring(home.path(), 80, &["new", "--id", "s"], "");
    for prompt in ["one", "two", "three"] {
        ring(home.path(), 80, &["queue", "push", "s", prompt], "");
    }
    let narrow = ring(home.path(), 40, &["queue", "list", "s"], "");
    let second = narrow.lines().nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert!(second.len() < 36, "{narrow}");
    ring(home.path(), 80, &["queue", "prioritize", "s", &second], "");
    let wide = ring(home.path(), 200, &["queue", "list", "s"], "");
    assert!(wide.lines().next().unwrap().ends_with("two"), "{wide}");
}
