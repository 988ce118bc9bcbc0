//! What a row keeps of an event's texts, and within which limits.

use super::Step;
use crate::event::{Decision, Event, Name, Owner};
use crate::row::Row;
use ring_session::Settings;
use ring_session::text::{clean, first_line};

/// What is kept of an event's texts: of any owner the last action, of the foreground the rest. No event blanks one.
pub(super) fn remember(row: &mut Row, step: &Step<'_>) {
    let event = step.event;
    if !event.tool.summary.is_empty() && !is_less_of_the_same(&row.last_action, event) {
        row.last_action.clone_from(&event.tool.summary);
    }
    if step.speaker == Owner::Foreground {
        remember_of_foreground(row, event, step.settings);
    }
}

fn remember_of_foreground(row: &mut Row, event: &Event, settings: &Settings) {
    let keep = |field: &mut String, value: &str, limit: usize| {
        if !value.is_empty() {
            *field = clean(value, limit);
        }
    };
    if !event.cwd.is_empty() && event.cwd.len() <= PATH_LIMIT {
        row.cwd.clone_from(&event.cwd);
        if row.origin_cwd.is_empty() {
            row.origin_cwd.clone_from(&event.cwd);
        }
    }
    if !event.transcript_path.is_empty() && event.transcript_path.len() <= PATH_LIMIT {
        row.transcript_path.clone_from(&event.transcript_path);
    }
    keep(&mut row.model, &event.model, 80);
    keep(&mut row.permission_mode, &event.permission_mode, 40);
    if event.todo.is_some() {
        row.todo = event.todo;
    }
    if matches!(event.name, Name::SessionStart | Name::UserPromptSubmit) {
        keep(&mut row.main_agent_type, &event.agent_type, 80);
    }
    if !settings.store_details {
        row.title.clear();
    } else if !event.title.is_empty() && event.name != Name::Notification {
        // The title of a notification is the notification's.
        row.title = clean(&event.title, 200);
    } else if row.title.is_empty() && event.name == Name::UserPromptSubmit {
        row.title = clean(first_line(event.text.trim_start()), 200);
    }
}

/// Paths, in bytes.
const PATH_LIMIT: usize = 4096;

/// The end of a call that names only the tool says less than its start did.
fn is_less_of_the_same(known: &str, event: &Event) -> bool {
    !event.tool.has_text
        && known
            .strip_prefix(event.tool.name.as_str())
            .is_some_and(|rest| rest.starts_with(": "))
}

/// Ids, in bytes. An agent's are far shorter; a longer one is cut, and still told from others.
const ID_LIMIT: usize = 200;

/// The event as it may be stored: ids within their limits, and without `store_details` only the names of tools. None: it
/// is so already.
pub(super) fn tamed(event: &Event, decision: &Decision, settings: &Settings) -> Option<(Event, Decision)> {
    let child = match &event.owner {
        Owner::Agent(id) => id.len(),
        _ => 0,
    };
    let longest = event.turn_id.len().max(event.tool.use_id.len()).max(child);
    if settings.store_details && longest <= ID_LIMIT && event.agent_type.len() <= 80 {
        return None;
    }
    let (mut event, mut decision) = (event.clone(), decision.clone());
    cut(&mut event.turn_id, ID_LIMIT);
    cut(&mut event.tool.use_id, ID_LIMIT);
    cut(&mut event.agent_type, 80);
    if let Owner::Agent(id) = &mut event.owner {
        cut(id, ID_LIMIT);
    }
    if !settings.store_details {
        event.tool.summary.clone_from(&event.tool.name);
        event.title.clear();
        decision.detail.clone_from(&event.tool.name);
    }
    Some((event, decision))
}

fn cut(id: &mut String, limit: usize) {
    if id.len() > limit {
        id.truncate(id.floor_char_boundary(limit));
    }
}
