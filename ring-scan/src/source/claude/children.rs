//! Records of children that Claude Code starts.

use crate::merge::ChildRecord;
use crate::source::files;
use ring_hook::tail::{self, Kind};
use ring_session::time::Ms;
use std::path::Path;

/// A child whose record has not moved for this long runs no more.
const CHILD_MS: Ms = 30 * 60_000;

/// Records of children that moved within half an hour: `SESSION/subagents/**/agent-ID.jsonl` beside the transcript.
pub(super) fn read(transcript: &Path, now: Ms) -> Vec<ChildRecord> {
    let folder = transcript.with_extension("").join("subagents");
    let mut children: Vec<ChildRecord> = walkdir::WalkDir::new(folder)
        .max_depth(4)
        .into_iter()
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().to_str()?;
            let id = name.strip_prefix("agent-")?.strip_suffix(".jsonl")?.to_owned();
            let file_ms = files::modified_ms(&entry.metadata().ok()?);
            if now.saturating_sub(file_ms) > CHILD_MS {
                return None;
            }
            let tail = tail::file::tail(entry.path(), tail::claude::tail_of_child).ok()?;
            Some(ChildRecord {
                id,
                kind: tail.kind,
                ms: tail.ms,
            })
        })
        .filter(|c| c.kind != Kind::None)
        .collect();
    children.sort_by(|a, b| a.id.cmp(&b.id));
    children
}
