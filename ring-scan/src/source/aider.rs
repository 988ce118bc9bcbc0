//! aider: no record but its chat history, `.aider.chat.history.md` in the folder of the process.

use super::files;
use crate::processes::Processes;
use ring_hook::tail::{Kind, Tail};
use ring_session::regular;
use ring_session::text::clean;
use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

const HISTORY: &str = ".aider.chat.history.md";
/// How much of its end is read, in bytes.
const TAIL: u64 = 64 * 1024;

/// What the history beside each aider says, by pid: that something was written, and what was asked last. There are no
/// end marks.
pub fn read(processes: &Processes) -> HashMap<u32, Tail> {
    let tail = |p: &crate::processes::Process| {
        let path = p.agent.as_ref()?.cwd.as_ref()?.join(HISTORY);
        Some((p.pid, history(&path)?))
    };
    processes.of_agent("aider").into_iter().filter_map(tail).collect()
}

fn history(path: &Path) -> Option<Tail> {
    let ms = files::stat(path)?;
    let mut file = regular::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let asked = text
        .lines()
        .rev()
        .find_map(|l| l.strip_prefix("#### "))
        .unwrap_or_default();
    Some(Tail {
        kind: Kind::Plain,
        ms,
        action: clean(asked, 160),
        ..Tail::default()
    })
}
