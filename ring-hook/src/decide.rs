//! The decision: what one event means for its owner (ring-hook(1), DECISION).
//!
//! The hard idea of this program stands here and nowhere else. An agent tells what it *did*; people want to know what
//! it *needs*. Between the two there is no field to read, only conventions, and most mistakes that such tools make are
//! guesses: from silence, from the age of a file, from words inside a command. So this is one pure function, a table
//! that is read from top to bottom, and the first line that fits decides:
//!
//! * What a person did (a prompt) or what is over (the session) beats everything that a payload may claim.
//! * Then what the payload says outright: a flag, or a word under `waiting_for`. An explicit "no" is a "no", also when
//!   the last answer ends in a question.
//! * Then what the event is. A permission *request* alone is no wait: most are answered by rules or by other hooks
//!   before anybody sees them. It is remembered instead, so that the prompt that may follow (with Claude Code six
//!   seconds later) can say for which command it asks. Only requests that cannot be answered by a rule wait at once:
//!   questions to the person, and plans.
//! * A notification that names a prompt is one. Any other says that the agent has stopped to tell something: idle.
//!   One is weaker than that: `idle_prompt` repeats that the person has not typed for a minute. It is *soft*: it never
//!   lowers a wait, because what was asked a minute ago is still asked.
//! * The end of a turn is idle, unless it ends in a question, or background tasks go on.
//!
//! What if this is wrong? A wait that nobody resolves would stay for ever, so each has exits (`advance.rs`), and readers
//! compare with the agent's own records (`view.rs`, ring-scan(1)). Doubt is working, never waiting: a false ring teaches
//! people not to listen.
//!
//! Limits: the row is not seen here, so the same event always decides the same. What depends on what came before, also
//! whether a late event still counts, is `advance.rs`.

use crate::dialect;
use crate::event::{Decision, Event, Group, Intent, Name, Owner};
use crate::fold;
use crate::question::question;
use crate::summary;
use ring_session::Settings;

/// Tools that put a question to the person, folded.
const ASK_TOOLS: &[&str] = &[
    "askuserquestion",
    "askuser",
    "askfollowupquestion",
    "askquestion",
    "requestuserinput",
];
/// Tools that put a plan to the person, folded.
const PLAN_TOOLS: &[&str] = &["exitplanmode", "exitspecmode", "planexit", "planmoderespond"];

/// What `event` means. Its owner must be known: a child that has the session's own agent type is the foreground.
pub fn decide(event: &Event, settings: &Settings) -> Decision {
    use Intent::{Ended, Idle, None, Waiting, Working};
    let kind_of_notice = event.notification_type.as_str();
    let running = running_tasks(event, settings).unwrap_or(0);
    let asked = asked_at_stop(event, settings);
    let (rule, intent) = match event.name {
        Name::Unknown => ("unknown_event", None),
        Name::SessionEnd => ("session_end", Ended),
        Name::SessionStart => ("session_start", Working),
        Name::UserPromptSubmit => ("user_prompt", Working),

        _ if event.action_flag == Some(true) => ("flag_true", Waiting),
        _ if event.action_flag == Some(false) => ("flag_false", Idle),
        _ if ACTION.contains(&event.waiting_for.as_str()) => ("waiting_for", Waiting),
        _ if IDLE.contains(&event.waiting_for.as_str()) => ("waiting_for", Idle),

        Name::PermissionRequest if demands_interaction(event) => ("permission_interactive", Waiting),
        Name::PermissionRequest if is_bypassed(event) => ("permission_bypass", Working),
        Name::PermissionRequest if is_plan_tool(event) => ("permission_plan", Waiting),
        Name::PermissionRequest => ("permission_bare", Working),
        Name::PermissionAsked => ("permission_asked", Waiting),
        Name::Elicitation => ("elicitation", Waiting),

        Name::Notification => match kind_of_notice {
            "permissionprompt"
            | "workerpermissionprompt"
            | "elicitationdialog"
            | "elicitationurldialog"
            | "agentneedsinput" => ("notify_prompt", Waiting),
            _ if demands_interaction(event) => ("notify_demands", Waiting),
            "" if says_permission(event) => ("notify_text", Waiting),
            "" if says_idle(event) => ("notify_text", Idle),
            "idleprompt" if settings.idle_prompt_keeps_waiting => ("notify_idle_prompt", Idle),
            "elicitationcomplete" | "elicitationresponse" => ("notify_answered", Idle),
            _ => ("notify_plain", Idle),
        },

        Name::PreToolUse if demands_interaction(event) => ("tool_ask", Waiting),
        Name::PreToolUse => ("tool_start", Working),
        Name::PostToolUse | Name::PostToolBatch => ("tool_done", Working),
        Name::PostToolUseFailure if event.is_interrupt => ("tool_interrupted", Idle),
        Name::PostToolUseFailure => ("tool_failed", Working),
        Name::PermissionDenied => ("tool_denied", Working),
        Name::PermissionAnswered => ("permission_answered", Working),
        Name::ElicitationResult => ("elicitation_result", Working),
        Name::TurnStart | Name::UserPromptExpansion => ("turn_start", Working),

        Name::Stop if asked.is_some() => ("stop_question", Waiting),
        Name::Stop if event.owner == Owner::Foreground && running > 0 => ("stop_background", Working),
        Name::Stop => ("stop", Idle),
        Name::StopFailure => ("stop_failure", Idle),
        Name::Interrupt => ("interrupt", Idle),

        name if name.group() == Group::Keeping => ("keep", None),
        _ => ("neutral", None),
    };
    let remember = rule == "permission_bare";
    let detail = match asked {
        _ if intent != Waiting && !remember => String::new(),
        Some(question) if rule == "stop_question" => question,
        _ => summary::detail(&event.tool, &event.message),
    };
    Decision {
        intent,
        soft: intent == Idle && is_soft(rule, settings),
        rule,
        kind: if intent == Waiting || remember {
            kind(event, rule)
        } else {
            ""
        },
        detail,
        remember,
    }
}

/// Words of `waiting_for` that want something from the person.
const ACTION: &[&str] = crate::normalise::ACTION_WORDS;
/// Words that want nothing but the next prompt.
const IDLE: &[&str] = crate::normalise::IDLE_WORDS;

/// What is asked for. Whole names only: `terraform plan` is no plan.
fn kind(event: &Event, rule: &str) -> &'static str {
    let notice = event.notification_type.as_str();
    match event.waiting_for.as_str() {
        "plan" | "plan_approval" => "plan",
        _ if is_plan_tool(event) => "plan",
        _ if is_ask_tool(event) || event.name == Name::Elicitation || rule == "stop_question" => "question",
        _ if notice == "agentneedsinput" || notice.starts_with("elicitation") => "question",
        _ if matches!(event.name, Name::PermissionRequest | Name::PermissionAsked) => "permission",
        _ if matches!(notice, "permissionprompt" | "workerpermissionprompt") || rule == "notify_text" => "permission",
        "approval" | "permission" => "permission",
        "choice" | "choices" | "elicitation" | "input" | "option" | "options" | "question" | "questions"
        | "selection" | "user_input" => "question",
        _ if event.has_choices => "question",
        _ => "input",
    }
}

/// Says that the person has not answered yet, or has answered elsewhere: neither lowers a wait of its own accord.
fn is_soft(rule: &str, settings: &Settings) -> bool {
    match rule {
        "notify_idle_prompt" | "notify_answered" => true,
        "notify_text" => settings.idle_prompt_keeps_waiting,
        _ => false,
    }
}

/// Nobody but the person can answer it.
fn demands_interaction(event: &Event) -> bool {
    is_ask_tool(event) || event.has_choices
}

fn is_ask_tool(event: &Event) -> bool {
    let own = || dialect::of(&event.agent).ask_tools;
    fold::among(&event.tool.name, ASK_TOOLS) || fold::among(&event.tool.name, own())
}

fn is_plan_tool(event: &Event) -> bool {
    fold::among(&event.tool.name, PLAN_TOOLS)
}

/// Nobody is asked: everything is allowed, or a model reviews the request.
fn is_bypassed(event: &Event) -> bool {
    fold::same(&event.permission_mode, "bypassPermissions") || event.reviewed
}

fn says_permission(event: &Event) -> bool {
    event.message.to_ascii_lowercase().contains("needs your permission")
}

fn says_idle(event: &Event) -> bool {
    event.message.to_ascii_lowercase().contains("is waiting for your input")
}

fn asked_at_stop(event: &Event, settings: &Settings) -> Option<String> {
    let looks = event.name == Name::Stop && event.owner == Owner::Foreground && settings.detect_stop_questions;
    looks
        .then(|| question(&event.text, &settings.question_courtesy))
        .flatten()
}

/// How many background tasks of the counted types run, by the event's list; none if it brings no list.
pub fn running_tasks(event: &Event, settings: &Settings) -> Option<u32> {
    let types = &settings.background_task_types;
    let counted = |kind: &str| types.iter().any(|t| t.trim() == "*" || fold::same(t, kind));
    let running = event
        .background
        .as_ref()?
        .iter()
        .filter(|t| t.status == "running" && counted(&t.kind));
    u32::try_from(running.count()).ok()
}

/// Whether the settings can make a difference to this event: to the decision, or to what is stored of it.
pub fn needs_settings(event: &Event) -> bool {
    let details = event.tool.has_text || !event.message.is_empty() || !event.title.is_empty() || !event.text.is_empty();
    details
        || matches!(event.name, Name::Stop | Name::PermissionRequest)
        || event.name == Name::Notification
        || event.background.is_some()
}

#[cfg(test)]
#[path = "decide/tests.rs"]
mod tests;
