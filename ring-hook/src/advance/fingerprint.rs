//! Duplicates: the same hook in two settings files, or in a file and a plugin.

use super::{LATE_MS, Step, speaker_name};
use crate::row::Row;
use ring_session::time::Ms;
use std::hash::{DefaultHasher, Hash, Hasher};

/// 16 hexadecimal digits of what makes an event the same: name, owner, call, turn, type, intent, texts, task list. Never
/// compared with those of another build for longer than 2 s.
pub(super) fn of(step: &Step<'_>) -> String {
    let event = step.event;
    let mut hash = DefaultHasher::new();
    event.name.as_str().hash(&mut hash);
    step.speaker.hash(&mut hash);
    step.decision.intent.as_str().hash(&mut hash);
    for text in [
        &event.tool.use_id,
        &event.turn_id,
        &event.notification_type,
        &event.source,
        &event.tool.summary,
        &event.message,
        &event.text,
    ] {
        text.hash(&mut hash);
    }
    for task in event.background.iter().flatten() {
        (&task.id, &task.kind, &task.status).hash(&mut hash);
    }
    format!("{:016x}", hash.finish())
}

/// Whether the event was applied 0 to 2 s ago. Without the id of a call only the newest event of the owner counts: after
/// another event the same words are a new request.
pub(super) fn is_duplicate(row: &Row, print: &str, step: &Step<'_>) -> bool {
    let same =
        |entry: &(String, Ms, String)| entry.0 == print && (0..=LATE_MS).contains(&step.now.saturating_sub(entry.1));
    if step.event.tool.use_id.is_empty() {
        let owner = speaker_name(&step.speaker);
        row.recent.iter().rfind(|r| r.2 == owner).is_some_and(same)
    } else {
        row.recent.iter().any(same)
    }
}
