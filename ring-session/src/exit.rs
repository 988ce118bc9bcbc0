//! Exit statuses, the same in all five programs (ring(7), EXIT STATUS).
//!
//! 2 is never used: an agent whose hook exits 2 blocks what it was about to do, and a mistyped flag must not do that.

use crate::refusal::Refusal;
use std::io::Write;

/// Done, also an idempotent repeat.
pub const DONE: u8 = 0;
/// The answer is no: nothing matched, the condition was not reached, the command of a run failed.
pub const NO: u8 = 1;
/// No such session, turn, proposal or entry.
pub const NOT_FOUND: u8 = 3;
/// Busy or in conflict.
pub const CONFLICT: u8 = 4;
/// Stale, expired or interrupted.
pub const STALE: u8 = 5;
/// Denied by a person, by mode or by safety.
pub const DENIED: u8 = 6;
/// Bad usage or bad input.
pub const USAGE: u8 = 64;
/// An unexpected failure inside the program.
pub const INTERNAL: u8 = 70;
/// Input, output or delivery failed.
pub const IO: u8 = 74;
/// A lock was not to be had in time; try again.
pub const LOCKED: u8 = 75;
/// A wait timed out.
pub const TIMED_OUT: u8 = 124;

/// Every status with its meaning, as the man pages list them.
pub const ALL: &[(u8, &str)] = &[
    (DONE, "done, also an idempotent repeat"),
    (
        NO,
        "the answer is no: nothing matched, the condition was not reached, a run failed",
    ),
    (NOT_FOUND, "no such session, turn, proposal or entry"),
    (CONFLICT, "busy or in conflict"),
    (STALE, "stale, expired or interrupted"),
    (DENIED, "denied by a person, by mode or by safety"),
    (USAGE, "bad usage or bad input"),
    (INTERNAL, "unexpected internal failure"),
    (IO, "input, output or delivery failed"),
    (LOCKED, "lock not to be had in time; try again"),
    (TIMED_OUT, "a wait timed out"),
];

/// Writes a refusal the way every tool does: `tool: text [CODE]`, or with `json` one line with an `error` object.
///
/// # Errors
/// Those of the writer; a caller whose stderr is closed has nobody left to tell.
pub fn report(out: &mut dyn Write, tool: &str, refusal: &Refusal, json: bool) -> std::io::Result<()> {
    if json {
        writeln!(out, "{}", refusal.to_json())
    } else {
        writeln!(
            out,
            "{tool}: {} [{}]",
            crate::text::for_terminal(&refusal.message),
            refusal.code.as_str()
        )
    }
}
