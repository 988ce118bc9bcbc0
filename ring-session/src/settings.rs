//! Settings: `config.toml`, its keys, types, defaults and ranges, for all five tools (ring(5), SETTINGS).

use crate::time::Ms;
use std::path::Path;

/// What is in force. Spans are in milliseconds here and seconds in the file.
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

/// A key whose value is not used, or a file that could not be read.
#[derive(Clone, Debug, PartialEq)]
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

impl Default for Settings {
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
            question_courtesy: Vec::new(),
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
        }
    }
}

impl Settings {
    /// Reads the file; no file: all defaults. Never fails: what is wrong is listed and the default used.
    pub fn load(file: Option<&Path>) -> (Settings, Vec<Problem>) {
        let _ = file;
        (Settings::default(), Vec::new())
    }
}
