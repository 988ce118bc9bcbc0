//! Alone in a process of their own: what is tested replaces the panic hook.

#![allow(clippy::unwrap_used)]

use ring_session::panic::caught;
use ring_session::{Code, Refusal};

#[test]
fn a_panic_is_an_internal_refusal_that_quotes_no_text_of_the_user() {
    let secret = String::from("prompt of a person");
    let formatted = caught::<()>(|| panic!("cannot split {secret:?}")).unwrap_err();
    assert_eq!(formatted.code, Code::Internal);
    assert!(formatted.message.contains("panic.rs:"), "{}", formatted.message);
    assert!(!formatted.message.contains("prompt"), "{}", formatted.message);

    let literal = caught::<()>(|| panic!("no such state")).unwrap_err();
    assert!(literal.message.contains("no such state"), "{}", literal.message);

    assert_eq!(caught(|| Ok(7)).unwrap(), 7);
    let refused = caught::<()>(|| Err(Refusal::new(Code::Conflict, "taken"))).unwrap_err();
    assert_eq!(refused.code, Code::Conflict);
}

#[test]
fn a_panic_prints_nothing_whatever_rust_backtrace_says() {
    if std::env::var_os("PANICS").is_some() {
        caught::<()>(|| panic!("seen by nobody")).unwrap_err();
        return;
    }
    let out = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "a_panic_prints_nothing_whatever_rust_backtrace_says",
            "--nocapture",
        ])
        .env("PANICS", "1")
        .env("RUST_BACKTRACE", "full")
        .output()
        .unwrap();
    assert!(out.status.success());
    assert_eq!(String::from_utf8_lossy(&out.stderr), "");
    assert!(!String::from_utf8_lossy(&out.stdout).contains("seen by nobody"));
}
