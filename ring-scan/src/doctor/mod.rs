//! What `doctor` looks at: each file here makes checks of one kind out of values.

pub mod channel;
pub mod files;
pub mod hooks;
pub mod place;
pub mod reading;

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Rows may be missing, late or wrong.
    Warn,
    /// Something does not work.
    Error,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// `sources.claude`, `hooks.codex` ...
    pub id: String,
    pub level: Level,
    /// What was found.
    pub text: String,
    /// What to do; empty: nothing.
    pub hint: String,
}

impl Check {
    /// A check that found nothing to do.
    pub fn ok(id: impl Into<String>, text: impl Into<String>) -> Check {
        Check {
            id: id.into(),
            level: Level::Ok,
            text: text.into(),
            hint: String::new(),
        }
    }

    /// A check that found something.
    pub fn warn(id: impl Into<String>, text: impl Into<String>, hint: impl Into<String>) -> Check {
        Check {
            id: id.into(),
            level: Level::Warn,
            text: text.into(),
            hint: hint.into(),
        }
    }
}

/// `checks`, or one that says that nothing was found.
fn or_ok(checks: Vec<Check>, id: &str, text: &str) -> Vec<Check> {
    match checks.is_empty() {
        true => vec![Check::ok(id, text)],
        false => checks,
    }
}
