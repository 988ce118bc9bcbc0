//! What `trace.rs` traces here.

use crate::harness::Home;
use std::path::PathBuf;
use std::process::Command;

/// The program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_ring-notify");

/// strace in a home's environment, in which rings may start.
pub fn strace_in(home: &Home) -> Command {
    let mut command = home.command(&["strace"]);
    command.env_remove("RING_NO_NOTIFY");
    command
}

/// Where it writes.
pub fn log(home: &Home) -> PathBuf {
    home.path("trace")
}

/// Folders whose changes count.
pub fn watched(home: &Home) -> Vec<PathBuf> {
    vec![home.state()]
}
