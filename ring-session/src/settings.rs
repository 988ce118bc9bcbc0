//! Settings: `config.toml`, its keys, types, defaults and ranges, for all five tools (ring(5), SETTINGS).
//!
//! A bad value never stops a tool and is never passed over in silence: the default is used and a [`Problem`] names
//! file, line and key.

mod edit;
mod effective;
mod file;
pub mod keys;
mod value;

pub use edit::set;
pub use effective::{Entry, effective, get};
pub use file::{Lines, bounded, text as file_text};
pub use value::Value;

use crate::time::Ms;
use std::fmt;
use std::path::Path;

/// What is in force. Spans are in milliseconds here and seconds in the file. What each key does is told in
/// [`keys::KEYS`].
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `lang`; empty: from the locale.
    pub lang: String,
    /// `markers`: emoji or ascii.
    pub markers: String,
    /// `interval`.
    pub interval_ms: Ms,
    /// `show_all`.
    pub show_all: bool,
    /// `legend`.
    pub legend: bool,
    /// `active_window_seconds`.
    pub active_window_ms: Ms,
    /// `working_threshold_seconds`.
    pub working_threshold_ms: Ms,
    /// `quiet_after_seconds`.
    pub quiet_after_ms: Ms,
    /// `start_only_seconds`.
    pub start_only_ms: Ms,
    /// `codex_permission_wait_seconds`; 0: off.
    pub codex_permission_wait_ms: Ms,
    /// `detect_stop_questions`.
    pub detect_stop_questions: bool,
    /// `question_courtesy`: phrases that ask nothing; empty: filter off.
    pub question_courtesy: Vec<String>,
    /// `idle_prompt_keeps_waiting`.
    pub idle_prompt_keeps_waiting: bool,
    /// `background_task_types`; `*` is every type.
    pub background_task_types: Vec<String>,
    /// `store_details`.
    pub store_details: bool,
    /// `sources`; empty: all.
    pub sources: Vec<String>,
    /// `claude_homes`.
    pub claude_homes: Vec<String>,
    /// `hosts`.
    pub hosts: Vec<String>,
    /// `host_timeout_seconds`.
    pub host_timeout_ms: Ms,
    /// `focusers`; empty: all known, in order.
    pub focusers: Vec<String>,
    /// `allow_reply`.
    pub allow_reply: bool,
    /// `debug_payload_log`.
    pub debug_payload_log: bool,
    /// `colors.*`.
    pub colors: Colors,
    /// `session.*`.
    pub session: Session,
    /// `plan.*`.
    pub plan: Plan,
    /// `notify.*`, without its outlets.
    pub notify: Notify,
}

/// `colors.*`: names as people write them (`bold red`, `grey50`).
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is the key of the same name")]
pub struct Colors {
    pub waiting: String,
    pub working: String,
    pub idle: String,
    pub ended: String,
    pub project: String,
    pub location: String,
    pub muted: String,
}

/// `session.*`: ring-session.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is the key of the same name")]
pub struct Session {
    pub permission_mode: String,
    pub hook_text: bool,
}

/// `plan.*`: ring-plan.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is the key of the same name, spans in milliseconds")]
pub struct Plan {
    /// 0: never.
    pub approval_timeout_ms: Ms,
    pub claude_auto: String,
}

/// `notify.*`: ring-notify. `[[notify.outlet]]` is read by that tool.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is the key of the same name, spans in milliseconds")]
pub struct Notify {
    pub waits: bool,
    pub proposals: bool,
    pub failed: bool,
    pub completed: bool,
    pub completed_min_ms: Ms,
    pub finished_max_age_ms: Ms,
    pub cooldown_ms: Ms,
    pub debounce_ms: Ms,
    pub session_burst: u32,
    pub burst_max: u32,
    pub repeat_ms: Vec<Ms>,
    pub repeat_max: u32,
    pub attempts_max: u32,
    pub urgent_kinds: Vec<String>,
    /// Flat name `notify_backend`; empty: unset.
    pub backend: String,
    /// Flat name `notify_also`.
    pub also: Vec<String>,
    /// Flat name `notify_ntfy_url`.
    pub ntfy_url: String,
    /// Flat name `notify_webhook_url`.
    pub webhook_url: String,
    /// Flat name `notify_sound_name`.
    pub sound_name: String,
}

impl Default for Settings {
    /// The defaults of [`keys::KEYS`], written out because every hook event needs them.
    fn default() -> Self {
        Settings {
            lang: String::new(),
            markers: "emoji".into(),
            interval_ms: 2_000,
            show_all: false,
            legend: true,
            active_window_ms: 21_600_000,
            working_threshold_ms: 90_000,
            quiet_after_ms: 600_000,
            start_only_ms: 120_000,
            codex_permission_wait_ms: 10_000,
            detect_stop_questions: true,
            question_courtesy: keys::COURTESY.iter().map(|t| (*t).to_owned()).collect(),
            idle_prompt_keeps_waiting: true,
            background_task_types: vec!["*".into()],
            store_details: true,
            sources: Vec::new(),
            claude_homes: Vec::new(),
            hosts: Vec::new(),
            host_timeout_ms: 8_000,
            focusers: Vec::new(),
            allow_reply: true,
            debug_payload_log: false,
            colors: Colors {
                waiting: "bold red".into(),
                working: "green".into(),
                idle: "yellow".into(),
                ended: "grey50".into(),
                project: "cyan".into(),
                location: "bright_blue".into(),
                muted: "grey50".into(),
            },
            session: Session {
                permission_mode: "ask".into(),
                hook_text: true,
            },
            plan: Plan {
                approval_timeout_ms: 1_800_000,
                claude_auto: "auto".into(),
            },
            notify: Notify {
                waits: true,
                proposals: true,
                failed: true,
                completed: true,
                completed_min_ms: 30_000,
                finished_max_age_ms: 43_200_000,
                cooldown_ms: 180_000,
                debounce_ms: 0,
                session_burst: 5,
                burst_max: 3,
                repeat_ms: keys::REPEAT.to_vec(),
                repeat_max: 3,
                attempts_max: 6,
                urgent_kinds: Vec::new(),
                backend: String::new(),
                also: Vec::new(),
                ntfy_url: String::new(),
                webhook_url: String::new(),
                sound_name: String::new(),
            },
        }
    }
}

/// A key whose value is not used, or a file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The settings file.
    pub file: String,
    /// Line, from 1; 0: the whole file.
    pub line: usize,
    /// Dotted key; empty: the whole file.
    pub key: String,
    /// What is wrong and what is used instead.
    pub text: String,
}

impl fmt::Display for Problem {
    /// `FILE:LINE: KEY: TEXT`, fit for a terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = match self.line {
            0 => String::new(),
            line => format!(":{line}"),
        };
        let key = match self.key.as_str() {
            "" => String::new(),
            key => format!(" {key}:"),
        };
        let text = format!("{}{line}:{key} {}", self.file, self.text);
        f.write_str(&crate::text::for_terminal(&text))
    }
}

impl Settings {
    /// Reads the file; no file: all defaults. Never fails: what is wrong is listed and the default used.
    pub fn load(file: Option<&Path>) -> (Settings, Vec<Problem>) {
        let mut settings = Settings::default();
        let Some(file::Content { found, problems }) = file.and_then(file::read) else {
            return (settings, Vec::new());
        };
        for item in file::in_order(found) {
            item.key.put(&mut settings, item.value);
        }
        (settings, problems)
    }
}

#[cfg(test)]
#[path = "settings/tests.rs"]
mod tests;
