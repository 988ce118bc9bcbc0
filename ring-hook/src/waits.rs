//! Open requests: at most one an owner, oldest first (ring-hook(1), WAITS).

use crate::advance::Step;
use crate::event::{Decision, Event, Name};
use crate::fold::among;
use crate::pending;
use crate::row::{FOREGROUND, Row, WAITS, Wait};

/// Notifications that repeat a dialog which is on screen.
const PROMPTS: &[&str] = &[
    "permissionprompt",
    "workerpermissionprompt",
    "elicitationdialog",
    "elicitationurldialog",
];
/// Those of them that follow a permission request.
const PERMISSION_PROMPTS: &[&str] = &["permissionprompt", "workerpermissionprompt"];

/// A wait that an event put or renewed.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    /// As the row holds it.
    pub wait: Wait,
    /// It has a new id: somebody is to be told.
    pub new: bool,
}

/// Puts the wait of a WAITING event for `owner`, in the form that the row has room for. A prompt notification first looks
/// for the request that it repeats.
pub(crate) fn ask(row: &mut Row, step: &mut Step<'_>, owner: &str) -> Put {
    let Step {
        event, decision, now, ..
    } = *step;
    let mut wait = Wait {
        owner: owner.to_owned(),
        kind: decision.kind.to_owned(),
        detail: decision.detail.clone(),
        tool: event.tool.name.clone(),
        tool_use_id: event.tool.use_id.clone(),
        waiting_for: event.waiting_for.clone(),
        agent_type: if owner == FOREGROUND {
            String::new()
        } else {
            event.agent_type.clone()
        },
        since_ms: now,
        event: event.name.as_str().to_owned(),
        rule: decision.rule.to_owned(),
        ..Wait::default()
    };
    if let Some(permission) = repeats_a_prompt(event, decision) {
        // Notifications of the host are about whoever asked: only a child's names its owner.
        let named = (owner != FOREGROUND).then_some(owner);
        let fitting = if permission {
            pending::fitting(row, named, &event.tool.use_id, now)
        } else {
            Vec::new()
        };
        match fitting[..] {
            [only] => take_over(row, &mut wait, only),
            [] => {
                if let Some(known) = known_request(row, named) {
                    return Put {
                        wait: known.clone(),
                        new: false,
                    };
                }
            }
            // Several fit: no guess.
            _ => {}
        }
    }
    put(row, wait, step.new_id)
}

/// Whether the event is the notification of a dialog that is on screen, and if so, whether of a permission.
fn repeats_a_prompt(event: &Event, decision: &Decision) -> Option<bool> {
    if event.name != Name::Notification || event.tool.has_text {
        return None;
    }
    if decision.rule == "notify_text" {
        return Some(true);
    }
    let kind = &event.notification_type;
    among(kind, PROMPTS).then(|| among(kind, PERMISSION_PROMPTS))
}

/// The prompt is that of the remembered request: it takes owner, tool, text, id, and the kind of plan and ask tools.
fn take_over(row: &mut Row, wait: &mut Wait, at: usize) {
    let request = row.pending.remove(at);
    if request.owner != wait.owner {
        wait.agent_type = match request.owner.strip_prefix("agent:") {
            Some(id) => row
                .children
                .iter()
                .find(|c| c.id == id)
                .map(|c| c.kind.clone())
                .unwrap_or_default(),
            None => String::new(),
        };
    }
    wait.owner = request.owner;
    wait.tool = request.tool;
    wait.tool_use_id = request.tool_use_id;
    if !request.detail.is_empty() {
        wait.detail = request.detail;
    }
    if matches!(request.kind.as_str(), "plan" | "question") {
        wait.kind = request.kind;
    }
}

/// A wait that says more than a reminder can: it names a tool, or is the question of a server.
fn known_request<'a>(row: &'a Row, named: Option<&str>) -> Option<&'a Wait> {
    let known = |w: &&Wait| !w.tool.is_empty() || w.event == Name::Elicitation.as_str();
    match named {
        Some(owner) => row.waits.iter().find(|w| w.owner == owner).filter(known),
        None => row
            .waits
            .iter()
            .find(|w| w.owner == FOREGROUND)
            .filter(known)
            .or_else(|| row.waits.iter().find(known)),
    }
}

fn is_same_request(old: &Wait, new: &Wait) -> bool {
    let by_id = !old.tool_use_id.is_empty() && !new.tool_use_id.is_empty();
    old.kind == new.kind
        && if by_id {
            old.tool_use_id == new.tool_use_id
        } else {
            old.detail == new.detail && old.waiting_for == new.waiting_for
        }
}

/// The same request again keeps id and time; any other takes the place of what its owner waited for.
fn put(row: &mut Row, mut wait: Wait, new_id: &mut dyn FnMut() -> String) -> Put {
    let at = row.waits.iter().position(|w| w.owner == wait.owner);
    if let Some(old) = at.and_then(|at| row.waits.get_mut(at))
        && is_same_request(old, &wait)
    {
        for (mine, new) in [
            (&mut old.detail, wait.detail),
            (&mut old.tool, wait.tool),
            (&mut old.tool_use_id, wait.tool_use_id),
            (&mut old.waiting_for, wait.waiting_for),
            (&mut old.agent_type, wait.agent_type),
        ] {
            if !new.is_empty() {
                *mine = new;
            }
        }
        return Put {
            wait: old.clone(),
            new: false,
        };
    }
    drop_of(row, &wait.owner);
    wait.id = new_id();
    row.waits.push(wait.clone());
    if row.waits.len() > WAITS {
        // The foreground's is the one that is shown; of the others the oldest has waited in vain for longest.
        let victim = row.waits.iter().position(|w| w.owner != FOREGROUND).unwrap_or(0);
        row.waits.remove(victim);
    }
    Put { wait, new: true }
}

/// Drops what this owner waits for.
pub fn drop_of(row: &mut Row, owner: &str) {
    row.waits.retain(|w| w.owner != owner);
}

/// Drops an elicitation's wait of this owner after its answer. Returns whether there was one.
pub fn drop_answered(row: &mut Row, owner: &str) -> bool {
    let before = row.waits.len();
    row.waits.retain(|w| {
        let of_elicitation =
            w.rule == "elicitation" || (w.rule == "notify_prompt" && w.kind == "question" && w.tool.is_empty());
        w.owner != owner || !of_elicitation
    });
    row.waits.len() != before
}
