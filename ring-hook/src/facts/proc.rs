//! Single processes, from `/proc`.

use ring_session::process::proc_dir;
pub(super) use ring_session::process::read_stat as stat;
use std::fs;

/// How much of a command line is looked at, in bytes.
const LONGEST: usize = 64 * 1024;

/// A process's arguments; empty if they cannot be read.
pub(super) fn command_line(pid: u32) -> Vec<String> {
    let path = proc_dir().join(pid.to_string()).join("cmdline");
    let mut bytes = fs::read(path).unwrap_or_default();
    bytes.truncate(LONGEST);
    let text = String::from_utf8_lossy(&bytes);
    text.trim_end_matches('\0').split('\0').map(str::to_owned).collect()
}
