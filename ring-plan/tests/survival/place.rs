//! What `trace.rs` traces here.

use crate::harness::Home;
use std::path::PathBuf;
use std::process::Command;

/// The program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_ring-plan");

/// strace in a home's environment.
pub fn strace_in(home: &Home) -> Command {
    home.command(&["strace"])
}

/// Where it writes.
pub fn log(home: &Home) -> PathBuf {
    home.path("trace")
}

/// Folders whose changes count.
pub fn watched(home: &Home) -> Vec<PathBuf> {
    vec![home.path("state"), home.project()]
}
