//! One test alone in its process: it replaces the panic hook.

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
