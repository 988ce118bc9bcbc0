//! Every key of all five tools: name, type, default, range and what it does. ring(5), SETTINGS, prints this table.

use super::{Settings, Value};
#[cfg(doc)]
use crate::style::Style;
use crate::time::{MAX_SPAN_MS, Ms};

/// One key.
#[derive(Debug)]
pub struct Key {
    /// Dotted name.
    pub name: &'static str,
    /// Type, default, range and place.
    pub kind: Kind,
    /// What it does.
    pub effect: &'static str,
    /// How the key relates to others.
    pub standing: Standing,
}

/// How a key relates to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A key of today.
    Current,
    /// A flat name of another key; counts where that one has no value.
    Flat(&'static str),
    /// Understood in files that have it, listed only then.
    Old,
}

/// Type, default, range, and where the value stands in [`Settings`].
#[derive(Debug)]
#[allow(missing_docs, reason = "default, least, most, allowed texts (none: any), place")]
pub enum Kind {
    /// true or false.
    Bool {
        default: bool,
        at: fn(&mut Settings) -> &mut bool,
    },
    /// A text, one of `of`.
    Text {
        default: &'static str,
        of: &'static [&'static str],
        at: fn(&mut Settings) -> &mut String,
    },
    /// A text that [`Style::parse`] understands.
    Style {
        default: &'static str,
        at: fn(&mut Settings) -> &mut String,
    },
    /// A number of seconds in the file, milliseconds here.
    Span {
        default: Ms,
        min: Ms,
        max: Ms,
        at: fn(&mut Settings) -> &mut Ms,
    },
    /// A whole number.
    Count {
        default: u32,
        min: u32,
        max: u32,
        at: fn(&mut Settings) -> &mut u32,
    },
    /// A list of texts, each one of `of`.
    Texts {
        default: &'static [&'static str],
        of: &'static [&'static str],
        at: fn(&mut Settings) -> &mut Vec<String>,
    },
    /// A list of numbers of seconds.
    Spans {
        default: &'static [Ms],
        min: Ms,
        max: Ms,
        at: fn(&mut Settings) -> &mut Vec<Ms>,
    },
    /// Accepted, no effect.
    Ignored,
}

/// Phrases that look like questions and ask nothing.
pub const COURTESY: &[&str] = &[
    "any questions",
    "questions",
    "any other questions",
    "anything else",
    "is there anything else i can help you with",
    "還有其他問題嗎",
    "還有什麼問題嗎",
    "还有其他问题吗",
    "还有什么问题吗",
    "他に質問はありますか",
];

/// When a ring is repeated, in milliseconds.
pub const REPEAT: &[Ms] = &[30_000, 120_000, 300_000];

/// Sources of the board; `all` is every one.
pub const SOURCES: &[&str] = &[
    "all", "hook", "session", "claude", "codex", "copilot", "gemini", "pi", "kimi", "qwen", "kiro", "process", "import",
];

/// Kinds of things that ring; `wait` is every wait.
pub const KINDS: &[&str] = &[
    "wait",
    "wait.permission",
    "wait.question",
    "wait.plan",
    "wait.input",
    "proposal",
    "task.completed",
    "task.failed",
    "message",
];

/// Types of outlets.
pub const OUTLETS: &[&str] = &[
    "auto",
    "none",
    "bell",
    "osc",
    "osc9",
    "osc777",
    "osc99",
    "tmux",
    "notify-send",
    "osascript",
    "terminal-notifier",
    "command",
    "ntfy",
    "webhook",
];

const HOUR: Ms = 3_600_000;
const EVER: Ms = MAX_SPAN_MS;

const fn key(name: &'static str, kind: Kind, effect: &'static str) -> Key {
    Key {
        name,
        kind,
        effect,
        standing: Standing::Current,
    }
}

const fn flat(name: &'static str, of: &'static str, kind: Kind) -> Key {
    Key {
        name,
        kind,
        effect: "flat name",
        standing: Standing::Flat(of),
    }
}

const fn old(name: &'static str, kind: Kind, effect: &'static str) -> Key {
    Key {
        name,
        kind,
        effect,
        standing: Standing::Old,
    }
}

const fn bool(default: bool, at: fn(&mut Settings) -> &mut bool) -> Kind {
    Kind::Bool { default, at }
}

const fn text(default: &'static str, of: &'static [&'static str], at: fn(&mut Settings) -> &mut String) -> Kind {
    Kind::Text { default, of, at }
}

const fn style(default: &'static str, at: fn(&mut Settings) -> &mut String) -> Kind {
    Kind::Style { default, at }
}

const fn span(default: Ms, min: Ms, max: Ms, at: fn(&mut Settings) -> &mut Ms) -> Kind {
    Kind::Span { default, min, max, at }
}

const fn count(default: u32, min: u32, max: u32, at: fn(&mut Settings) -> &mut u32) -> Kind {
    Kind::Count { default, min, max, at }
}

const fn texts(
    default: &'static [&'static str],
    of: &'static [&'static str],
    at: fn(&mut Settings) -> &mut Vec<String>,
) -> Kind {
    Kind::Texts { default, of, at }
}

const fn spans(default: &'static [Ms], min: Ms, max: Ms, at: fn(&mut Settings) -> &mut Vec<Ms>) -> Kind {
    Kind::Spans { default, min, max, at }
}

/// Every key. Flat names stand before what they are names of.
#[rustfmt::skip]
pub static KEYS: &[Key] = &[
    key("lang", text("", &["", "en", "zh-TW"], |s| &mut s.lang), "language of the board; unset: from the locale"),
    key("markers", text("emoji", &["emoji", "ascii"], |s| &mut s.markers), "marks of the states"),
    key("interval", span(2_000, 100, HOUR, |s| &mut s.interval_ms), "polling of what cannot be watched"),
    key("show_all", bool(false, |s| &mut s.show_all), "ended sessions on the board"),
    key("legend", bool(true, |s| &mut s.legend), "a line that explains the marks"),
    key("active_window_seconds", span(21_600_000, 0, EVER, |s| &mut s.active_window_ms), "a session without a living process and without a sign of life for so long has ended"),
    key("working_threshold_seconds", span(90_000, 0, EVER, |s| &mut s.working_threshold_ms), "a transcript that moved within this time is at work"),
    key("quiet_after_seconds", span(600_000, 0, EVER, |s| &mut s.quiet_after_ms), "work without a sign of life for so long is called quiet"),
    key("start_only_seconds", span(120_000, 0, EVER, |s| &mut s.start_only_ms), "a session that has only started is idle after so long"),
    key("codex_permission_wait_seconds", span(10_000, 0, EVER, |s| &mut s.codex_permission_wait_ms), "silence after a request of Codex that counts as waiting; 0: off"),
    key("detect_stop_questions", bool(true, |s| &mut s.detect_stop_questions), "a last answer that ends in a question waits for you"),
    key("question_courtesy", texts(COURTESY, &[], |s| &mut s.question_courtesy), "phrases that look like questions and ask nothing; []: none"),
    key("idle_prompt_keeps_waiting", bool(true, |s| &mut s.idle_prompt_keeps_waiting), "the reminder idle_prompt does not end a wait"),
    key("background_task_types", texts(&["*"], &[], |s| &mut s.background_task_types), "background tasks that keep a finished turn at work; *: all"),
    key("store_details", bool(true, |s| &mut s.store_details), "commands and titles in rows; false: only names of tools"),
    key("sources", texts(&[], SOURCES, |s| &mut s.sources), "sources of the board; [] or all: every one"),
    key("claude_homes", texts(&[], &[], |s| &mut s.claude_homes), "more configuration folders of Claude Code"),
    key("hosts", texts(&[], &[], |s| &mut s.hosts), "other machines on the board, by ssh"),
    key("host_timeout_seconds", span(8_000, 100, HOUR, |s| &mut s.host_timeout_ms), "how long one of them may take"),
    key("focusers", texts(&[], &[], |s| &mut s.focusers), "ways to bring a session's terminal to the front; []: all known"),
    key("allow_reply", bool(true, |s| &mut s.allow_reply), "answers may be typed into a terminal"),
    key("debug_payload_log", bool(false, |s| &mut s.debug_payload_log), "raw payloads to hook-payloads.jsonl"),
    key("colors.waiting", style("bold red", |s| &mut s.colors.waiting), "colour of waiting"),
    key("colors.working", style("green", |s| &mut s.colors.working), "colour of working"),
    key("colors.idle", style("yellow", |s| &mut s.colors.idle), "colour of idle"),
    key("colors.ended", style("grey50", |s| &mut s.colors.ended), "colour of ended"),
    key("colors.project", style("cyan", |s| &mut s.colors.project), "colour of projects"),
    key("colors.location", style("bright_blue", |s| &mut s.colors.location), "colour of terminals"),
    key("colors.muted", style("grey50", |s| &mut s.colors.muted), "colour of what is less important"),
    key("session.permission_mode", text("ask", &["ask", "accept-edits", "auto"], |s| &mut s.session.permission_mode), "permission mode of sessions that inherit it"),
    key("session.hook_text", bool(true, |s| &mut s.session.hook_text), "prompts and last texts of hooked sessions are stored; false: only titles"),
    key("plan.approval_timeout_seconds", span(1_800_000, 0, EVER, |s| &mut s.plan.approval_timeout_ms), "a proposal expires after so long; 0: never"),
    key("plan.claude_auto", text("auto", &[], |s| &mut s.plan.claude_auto), "Claude Code's mode after an approval with auto"),
    flat("waiting_cooldown_seconds", "notify.cooldown_seconds", span(180_000, 0, EVER, |s| &mut s.notify.cooldown_ms)),
    flat("notify_debounce_seconds", "notify.debounce_seconds", span(0, 0, 30_000, |s| &mut s.notify.debounce_ms)),
    flat("notify_repeat_seconds", "notify.repeat_seconds", spans(REPEAT, 0, EVER, |s| &mut s.notify.repeat_ms)),
    flat("notify_repeat_max", "notify.repeat_max", count(3, 0, 1_000, |s| &mut s.notify.repeat_max)),
    key("notify.waits", bool(true, |s| &mut s.notify.waits), "ring for waits"),
    key("notify.proposals", bool(true, |s| &mut s.notify.proposals), "ring for proposals"),
    key("notify.failed", bool(true, |s| &mut s.notify.failed), "ring for failed turns"),
    key("notify.completed", bool(true, |s| &mut s.notify.completed), "ring for completed turns"),
    key("notify.completed_min_seconds", span(30_000, 0, EVER, |s| &mut s.notify.completed_min_ms), "completed turns shorter than this do not ring"),
    key("notify.finished_max_age_seconds", span(43_200_000, 0, EVER, |s| &mut s.notify.finished_max_age_ms), "turns that ended longer ago do not ring"),
    key("notify.cooldown_seconds", span(180_000, 0, EVER, |s| &mut s.notify.cooldown_ms), "the same request rings anew only after so long"),
    key("notify.debounce_seconds", span(0, 0, 30_000, |s| &mut s.notify.debounce_ms), "later rings within this time come as one; 0: off"),
    key("notify.session_burst", count(5, 0, 1_000, |s| &mut s.notify.session_burst), "first rings of one session within a minute"),
    key("notify.burst_max", count(3, 0, 1_000, |s| &mut s.notify.burst_max), "more rings at once come as one"),
    key("notify.repeat_seconds", spans(REPEAT, 0, EVER, |s| &mut s.notify.repeat_ms), "after how long a ring is repeated"),
    key("notify.repeat_max", count(3, 0, 1_000, |s| &mut s.notify.repeat_max), "how often; 0: never"),
    key("notify.attempts_max", count(6, 1, 1_000, |s| &mut s.notify.attempts_max), "tries to deliver one ring"),
    key("notify.urgent_kinds", texts(&[], KINDS, |s| &mut s.notify.urgent_kinds), "kinds that quiet hours do not hold back"),
    old("notify_backend", text("", OUTLETS, |s| &mut s.notify.backend), "the outlet, where there is no [[notify.outlet]]"),
    old("notify_also", texts(&[], OUTLETS, |s| &mut s.notify.also), "further outlets beside notify_backend"),
    old("notify_ntfy_url", text("", &[], |s| &mut s.notify.ntfy_url), "address of the outlet ntfy"),
    old("notify_webhook_url", text("", &[], |s| &mut s.notify.webhook_url), "address of the outlet webhook"),
    old("notify_sound_name", text("", &[], |s| &mut s.notify.sound_name), "sound of the outlet terminal-notifier"),
    old("waiting_window_seconds", Kind::Ignored, "accepted, no effect"),
    old("plugins", Kind::Ignored, "accepted, no effect"),
];

/// The key of that dotted name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|k| k.name == name)
}

impl Key {
    /// The default.
    pub fn default(&self) -> Value {
        let owned = |list: &[&str]| list.iter().map(|t| (*t).to_owned()).collect();
        match self.kind {
            Kind::Bool { default, .. } => Value::Bool(default),
            Kind::Text { default, .. } | Kind::Style { default, .. } => Value::Text(default.to_owned()),
            Kind::Span { default, .. } => Value::Span(default),
            Kind::Count { default, .. } => Value::Count(default),
            Kind::Texts { default, .. } => Value::Texts(owned(default)),
            Kind::Spans { default, .. } => Value::Spans(default.to_vec()),
            Kind::Ignored => Value::Texts(Vec::new()),
        }
    }

    /// Puts a value in its place. One of another type changes nothing; [`Key::check`] lets none through.
    pub(super) fn put(&self, settings: &mut Settings, value: Value) {
        match (&self.kind, value) {
            (Kind::Bool { at, .. }, Value::Bool(v)) => *at(settings) = v,
            (Kind::Text { at, .. } | Kind::Style { at, .. }, Value::Text(v)) => *at(settings) = v,
            (Kind::Span { at, .. }, Value::Span(v)) => *at(settings) = v,
            (Kind::Count { at, .. }, Value::Count(v)) => *at(settings) = v,
            (Kind::Texts { at, .. }, Value::Texts(v)) => *at(settings) = v,
            (Kind::Spans { at, .. }, Value::Spans(v)) => *at(settings) = v,
            _ => {}
        }
    }

    /// Whether its value opens a way to a person: it stands in no list and no message as it is.
    pub fn is_secret(&self) -> bool {
        matches!(self.name, "notify_ntfy_url" | "notify_webhook_url")
    }

    /// A value of it for a list that others may see: of a secret address scheme and host.
    pub fn listed(&self, value: &Value) -> Value {
        match value {
            Value::Text(url) if self.is_secret() && !url.is_empty() => Value::Text(host_only(url)),
            other => other.clone(),
        }
    }

    /// What a value must be, in words: `a number of seconds from 0.1 to 3600`.
    pub fn wanted(&self) -> String {
        let one_of = |of: &[&str]| {
            let shown: Vec<_> = of.iter().filter(|t| !t.is_empty()).copied().collect();
            match shown.split_last() {
                Some((last, [])) => Some((*last).to_owned()),
                Some((last, before)) => Some(format!("{} or {last}", before.join(", "))),
                None => None,
            }
        };
        let from_to = |min: Ms, max: Ms| match max {
            EVER => format!("{} or more", Value::Span(min)),
            _ => format!("from {} to {}", Value::Span(min), Value::Span(max)),
        };
        match self.kind {
            Kind::Bool { .. } => "true or false".into(),
            Kind::Text { of, .. } => one_of(of).unwrap_or_else(|| "a text".into()),
            Kind::Style { .. } => {
                "a style such as bold red, bright_blue, grey50, #ff8800, black on white or none".into()
            }
            Kind::Span { min, max, .. } => format!("a number of seconds, {}", from_to(min, max)),
            Kind::Count { min, max, .. } => format!("a whole number from {min} to {max}"),
            Kind::Texts { of, .. } => match one_of(of) {
                Some(of) => format!("a list, each of it {of}"),
                None => "a list of texts".into(),
            },
            Kind::Spans { min, max, .. } => format!("a list of numbers of seconds, each {}", from_to(min, max)),
            Kind::Ignored => "anything: it has no effect".into(),
        }
    }
}

/// An address without user, path and query; what is no address is not told at all.
fn host_only(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return "***".into();
    };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let plain = |text: &str| {
        text.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-._:[]".contains(&b))
    };
    match plain(scheme) && plain(host) {
        true => format!("{scheme}://{host}/***"),
        false => "***".into(),
    }
}
