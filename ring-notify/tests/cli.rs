//! ring-notify alone, as a process.

#![allow(clippy::unwrap_used)]

use std::process::{Command, Output, Stdio};

fn tool(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ring-notify"))
        .args(words)
        .env_clear()
        .env("RUST_BACKTRACE", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn the_help_fits_a_screen_and_begins_with_examples() {
    for option in ["--help", "-h"] {
        let out = tool(&[option]);
        assert_eq!(out.status.code(), Some(0));
        assert!(out.stderr.is_empty());
        let help = text(&out.stdout);
        assert!(help.lines().count() <= 40, "{help}");
        assert!(help.lines().all(|l| l.chars().count() <= 90), "{help}");
        assert!(help.find("Examples:").unwrap() < help.find("Usage:").unwrap(), "{help}");
    }
}

#[test]
fn the_version_is_the_packages() {
    let out = tool(&["--version"]);
    assert_eq!(out.status.code(), Some(0));
    assert_eq!(
        text(&out.stdout),
        concat!("ring-notify ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn c76_a_mistake_is_64_and_with_format_json_one_line_of_json() {
    for words in [
        &["--nope"][..],
        &["--format", "xml"],
        &["completions", "tcsh"],
        &["completions"],
    ] {
        let out = tool(words);
        assert_eq!(out.status.code(), Some(64), "{words:?}");
        assert!(out.stdout.is_empty());
        assert!(text(&out.stderr).ends_with(" [INVALID_ARGUMENT]\n"));
        assert_eq!(text(&out.stderr).lines().count(), 1);
    }
    for words in [
        &["--format", "json", "--nope"][..],
        &["deliver", "--format=json", "--nope"],
    ] {
        let out = tool(words);
        assert_eq!(out.status.code(), Some(64), "{words:?}");
        assert!(out.stdout.is_empty());
        let error: serde_json::Value = serde_json::from_slice(&out.stderr).unwrap();
        assert_eq!(error["error"]["code"], "INVALID_ARGUMENT");
        assert_eq!(text(&out.stderr).lines().count(), 1);
    }
}

#[test]
fn completions_are_printed_for_bash_zsh_and_fish() {
    for shell in ["bash", "zsh", "fish"] {
        let out = tool(&["completions", shell]);
        assert_eq!(out.status.code(), Some(0), "{shell}");
        assert!(text(&out.stdout).contains("ring-notify"));
    }
}

#[test]
fn a_reader_that_closes_its_end_is_no_failure() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let out = Command::new(env!("CARGO_BIN_EXE_ring-notify"))
        .arg("--help")
        .env_clear()
        .stdin(Stdio::null())
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(0));
    assert!(out.stderr.is_empty(), "{}", text(&out.stderr));
}
