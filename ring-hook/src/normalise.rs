//! From a payload to the normalised event (ring-hook(1), EVENTS): whose it is, what it is called, who speaks.

use crate::agent;
use crate::dialect::{self, Dialect};
use crate::event::{Event, Name, Owner, Task};
use crate::fold;
use crate::intake;
use crate::json::{Object, Value};
use crate::key;
use crate::payload::{self, Field, Input, LOOSE_WAITING_FOR, Payload, filled_text};
use crate::summary;
use ring_session::time::{self, Ms};
use ring_session::{Code, Refusal, text};
use std::borrow::Cow;

/// What is known beside the payload.
#[derive(Clone, Debug, Default)]
pub struct Given<'a> {
    /// `--agent`.
    pub agent: Option<&'a str>,
    /// `--event`, for payloads without a name.
    pub event: Option<&'a str>,
    /// tmux pane of the hook's environment.
    pub tmux_pane: &'a str,
    /// When the payload came.
    pub now: Ms,
}

/// Longest stored texts, in characters.
const MODEL: usize = 80;
const TITLE: usize = 200;
const ERROR: usize = 80;
/// The most of an answer that is kept, from its end, where a question would stand; in bytes.
const ANSWER: usize = 1024 * 1024;
/// The most background tasks that are read.
const TASKS: usize = 1000;

/// Model vendors that `provider` names in some agents' data: none of them is an agent.
const VENDORS: &[&str] = &[
    "anthropic",
    "openai",
    "google",
    "azure",
    "bedrock",
    "vertex",
    "mistral",
    "groq",
    "openrouter",
    "deepseek",
];

/// The event in the bytes of one payload. Without a session id in it, `session_id` and `key` are empty: the caller may
/// know the process.
///
/// # Errors
/// `BAD_PAYLOAD` if it is no JSON object, after one repair pass too, or has no event name; `NO_SESSION_ID` if the id is
/// over 4096 bytes.
pub fn event(bytes: &[u8], given: &Given<'_>) -> Result<Event, Refusal> {
    let text = intake::text(bytes);
    if let Some(object) = Object::parse(&text) {
        return normalise(&object, given);
    }
    let repaired = intake::repair(&text);
    let object = (repaired.len() <= intake::LARGEST)
        .then(|| Object::parse(&repaired))
        .flatten();
    match object {
        Some(object) => normalise(&object, given),
        None => Err(Refusal::new(
            Code::BadPayload,
            "the payload is not JSON, also after a repair pass",
        )),
    }
}

/// The agent that a payload comes from: its marks, its own word, `--agent`, Claude Code.
fn agent_of(object: &Object<'_>, given: Option<&str>) -> String {
    let given = given.map(agent::canonical);
    let replaceable = given.as_deref().is_none_or(|a| a == agent::CLAUDE);
    if let Some(marked) = dialect::marked(object, replaceable) {
        return marked.to_owned();
    }
    let plain = Payload::new(object, dialect::of(""));
    let named = plain.find(Field::Agent, |value| {
        let name = agent::canonical(&filled_text(value)?);
        let known = agent::find(&name).is_some();
        let counts = known || (given.is_none() && !VENDORS.contains(&name.as_str()));
        counts.then_some(name)
    });
    named.or(given).unwrap_or_else(|| agent::CLAUDE.to_owned())
}

fn normalise(object: &Object<'_>, given: &Given<'_>) -> Result<Event, Refusal> {
    let agent = agent_of(object, given.agent);
    let dialect = dialect::of(&agent);
    let payload = Payload::new(object, dialect);
    let native = native_name(&payload, given.event)?;
    let name = dialect.event(&native, object);
    let transcript_path = path(&payload, Field::Transcript);
    let speaker = speaker(&payload, &agent, name, &transcript_path);
    if speaker.session.len() > key::ID_LIMIT {
        let text = format!("the session id is longer than {} bytes", key::ID_LIMIT);
        return Err(Refusal::new(Code::NoSessionId, text));
    }
    let key = if speaker.session.is_empty() {
        String::new()
    } else {
        key::key(&agent, &speaker.session)
    };

    let sent = payload.input();
    let reparsed = match &sent {
        Some(Input::AsText(text)) => Object::parse(text),
        _ => None,
    };
    let input = match &sent {
        Some(Input::Sent(object)) => Some(object),
        Some(Input::AsText(_)) => reparsed.as_ref(),
        Some(Input::Payload) => Some(payload.object()),
        None => None,
    };
    let mut tool = summary::tool(&payload.text(Field::ToolName), &payload.id(Field::UseId), input, object);
    if tool.summary.is_empty() {
        tool.summary = text::clean(&payload.text(Field::LastAction), summary::LIMIT);
    }
    let stored = |field: Field, limit: usize| text::clean(&payload.text(field), limit);
    let source = match name {
        Name::SessionStart => stored(Field::Source, 40),
        _ => String::new(),
    };
    Ok(Event {
        owner: speaker.owner,
        agent_type: stored(Field::ChildType, 80),
        cwd: path(&payload, Field::Cwd),
        transcript_path,
        tty: path(&payload, Field::Tty),
        tmux_pane: given.tmux_pane.to_owned(),
        turn_id: payload.id(Field::Turn).into_owned(),
        todo: input.and_then(summary::todo),
        tool,
        permission_mode: stored(Field::PermissionMode, 40),
        notification_type: dialect.notification(&payload.text(Field::NotificationType)),
        source,
        reason: stored(Field::Reason, 80),
        error: stored(Field::Error, ERROR),
        background: payload.find(Field::Background, tasks),
        agent_ms: payload.find(Field::Stamp, stamp),
        title: title(object, name),
        model: stored(Field::Model, MODEL),
        is_interrupt: payload.flag(Field::IsInterrupt).unwrap_or(false),
        parent_id: speaker.parent,
        reviewed: false,
        text: spoken(&payload, name),
        message: stored(Field::DetailText, summary::LIMIT),
        action_flag: payload.flag(Field::ActionFlag),
        waiting_for: waiting_for(&payload, dialect).to_owned(),
        has_choices: payload.has_choices() || input.is_some_and(payload::has_choices),
        continuation: name == Name::UserPromptSubmit
            && dialect
                .prompt_proof
                .is_some_and(|proof| object.named(proof).find_map(filled_text).is_none()),
        received_ms: given.now,
        session_id: speaker.session,
        agent,
        key,
        name,
        native,
    })
}

fn native_name(payload: &Payload<'_>, given: Option<&str>) -> Result<String, Refusal> {
    let notify = || {
        payload
            .object()
            .exact_text("type")
            .filter(|t| t == "agent-turn-complete")
    };
    let sent = payload.find(Field::Event, filled_text).or_else(notify);
    let native = sent.or(given.map(Cow::Borrowed)).filter(|n| !n.trim().is_empty());
    let none = || Refusal::new(Code::BadPayload, "the payload names no event; give --event");
    native.map(|n| text::clean(&n, 80)).ok_or_else(none)
}

/// A path, as sent. Longer than 4096 bytes or with a NUL it is none.
fn path(payload: &Payload<'_>, field: Field) -> String {
    let found = payload.find(field, |value| {
        let first = || value.list(1).and_then(|l| l.into_iter().next()).and_then(filled_text);
        filled_text(value).or_else(first)
    });
    let usable = found.filter(|p| p.len() <= 4096 && !p.contains('\0'));
    usable.map(Cow::into_owned).unwrap_or_default()
}

struct Speaker {
    session: String,
    owner: Owner,
    parent: String,
}

/// Who speaks, in which session. Children of OpenCode have a session of their own, which is their id in the parent's.
fn speaker(payload: &Payload<'_>, agent: &str, name: Name, transcript: &str) -> Speaker {
    let session = payload.id(Field::Session).into_owned();
    let opencode = agent == "opencode";
    let parent = if opencode {
        payload.id(Field::ParentId).into_owned()
    } else {
        String::new()
    };
    if !parent.is_empty() && parent != session && !session.is_empty() {
        return Speaker {
            session: parent.clone(),
            owner: Owner::Agent(session),
            parent,
        };
    }
    let mut child = payload.id(Field::ChildId).into_owned();
    if child.is_empty() && agent == agent::CODEX && !session.is_empty() {
        let thread = dialect::rollout_thread(transcript).filter(|thread| *thread != session);
        child = thread.unwrap_or_default().to_owned();
    }
    let typed = || !payload.text(Field::ChildType).is_empty() || !payload.text(Field::ParentTool).is_empty();
    let starts = matches!(name, Name::SessionStart | Name::UserPromptSubmit);
    let owner = if !child.is_empty() {
        Owner::Agent(child)
    } else if !starts && typed() {
        Owner::Unknown
    } else {
        Owner::Foreground
    };
    Speaker { session, owner, parent }
}

fn title(object: &Object<'_>, name: Name) -> String {
    // a notification's title is its headline, not the session's
    let count = if name == Name::Notification { 1 } else { usize::MAX };
    let mut names = Field::Title.names().iter().take(count);
    let found = names.find_map(|n| object.named(*n).find_map(filled_text));
    found.map(|t| text::clean(&t, TITLE)).unwrap_or_default()
}

/// The prompt of a person, or the last answer of who stops.
fn spoken(payload: &Payload<'_>, name: Name) -> String {
    match name {
        Name::UserPromptSubmit => payload.text(Field::Prompt).into_owned(),
        Name::Stop | Name::SubagentStop => payload.end_of_text(Field::LastText, ANSWER).into_owned(),
        _ => String::new(),
    }
}

fn tasks(value: Value<'_>) -> Option<Vec<Task>> {
    let items = value.list(TASKS)?;
    let task = |item: Value<'_>| {
        let object = item.object()?;
        let text = |name: &str| {
            object
                .named(name)
                .find_map(Value::text)
                .unwrap_or_default()
                .into_owned()
        };
        Some(Task {
            id: text("id"),
            kind: text("type"),
            status: fold::fold(&text("status")),
        })
    };
    Some(items.into_iter().filter_map(task).collect())
}

/// An ISO 8601 text, or a number of seconds (below 10^11) or milliseconds.
fn stamp(value: Value<'_>) -> Option<Ms> {
    match value.number() {
        Some(n) if n <= 0.0 || n > 1e15 => None,
        Some(n) if n < 1e11 => Some((n * 1000.0) as Ms),
        Some(n) => Some(n as Ms),
        None => time::parse_iso(&value.text()?),
    }
}

/// Words that say that the person has to act, as they are printed.
pub const ACTION_WORDS: &[&str] = &[
    "plan",
    "plan_approval",
    "approval",
    "permission",
    "choice",
    "choices",
    "elicitation",
    "input",
    "option",
    "options",
    "question",
    "questions",
    "selection",
    "user_input",
    "user",
];
/// Words that say that nothing is to do but the next prompt.
pub const IDLE_WORDS: &[&str] = &[
    "complete",
    "done",
    "idle",
    "instruction",
    "next_step",
    "none",
    "prompt",
    "turn_complete",
    "user_prompt",
];

/// The word that decides. The first one that was sent counts: if it is no known word, nothing is decided.
fn waiting_for(payload: &Payload<'_>, dialect: &Dialect) -> &'static str {
    let loose = if dialect.is_built_in() { &[] } else { LOOSE_WAITING_FOR };
    let sent = payload.find(Field::WaitingFor, filled_text).or_else(|| {
        loose
            .iter()
            .find_map(|name| payload.object().named(*name).find_map(filled_text))
    });
    let Some(sent) = sent else { return "" };
    let known = ACTION_WORDS
        .iter()
        .chain(IDLE_WORDS)
        .find(|word| fold::same(word, &sent));
    known.copied().unwrap_or("")
}
