//! The commands.

pub mod decide;
pub mod enter;
pub mod execution;
pub mod hook;
pub mod lists;
pub mod policy;
pub mod run;
pub mod show;
pub mod submit;
pub mod wait;

use ring_session::{Code, Refusal};

/// The refusal of a bad value.
pub fn bad(text: impl Into<String>) -> Refusal {
    Refusal::new(Code::InvalidArgument, text)
}

/// Whether the caller says that nobody is there to approve: by option or by environment.
pub fn unattended(option: bool) -> bool {
    option || std::env::var_os("RING_UNATTENDED").is_some_and(|v| v == "1")
}

/// An id that a host gives: not blank, within a limit of characters.
///
/// # Errors
/// `INVALID_ARGUMENT`.
pub fn given(option: &str, value: &str, limit: usize) -> Result<(), Refusal> {
    match value.chars().count() {
        _ if value.trim().is_empty() => Err(bad(format!("{option} is blank"))),
        n if n > limit => Err(bad(format!("{option} has {n} characters; at most {limit}"))),
        _ => Ok(()),
    }
}

/// The refusal of a call that shares its message with others.
///
/// # Errors
/// `TOOL_DENIED` (`exclusive_batch`).
pub fn check_batch(size: u32) -> Result<(), Refusal> {
    match size {
        1 => Ok(()),
        0 => Err(bad("--batch-size counts from 1")),
        _ => Err(Refusal::new(
            Code::ToolDenied,
            "this call must stand alone in its message; block the others and send it again",
        )
        .with("reason", "exclusive_batch")),
    }
}

/// The refusal of an unattended contract.
pub fn needs_a_person() -> Refusal {
    Refusal::new(
        Code::PlanRequiresInteractiveSession,
        "nobody is there to approve; run it attended, or in agent mode",
    )
}
