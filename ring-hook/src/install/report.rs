//! What install and remove tell: one outcome a file, for people and as JSON.

use super::findings;
use super::hooks_edit::Edited;
use super::hooks_view::{self, Hooks};
use super::json_span;
use super::settings_file::SettingsFile;
use super::version::Version;
use super::writers::Target;
use ring_session::text::{for_terminal, is_bidi};
use serde::Serialize;
use std::fmt::Write;

/// What was done to one agent's settings, or would be.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// Canonical id.
    pub agent: String,
    /// The settings file as the agent names it.
    pub file: String,
    /// Version found; empty: none.
    pub version: String,
    /// The agent has a home here. Without one nothing is created.
    pub present: bool,
    /// The file has, or would have, other bytes.
    pub changed: bool,
    /// Events that got entries.
    pub added: Vec<String>,
    /// Events whose entries were put right.
    pub healed: Vec<String>,
    /// Those of them that start more of our programs than before.
    pub extended: Vec<String>,
    /// Those of them that start fewer.
    pub reduced: Vec<String>,
    /// Events that have no entry of ours any more.
    pub removed: Vec<String>,
    /// Event names, ours and others', that the version does not know.
    pub unknown: Vec<String>,
    /// `EVENT: command` of other programs that may answer in the person's place.
    pub foreign: Vec<String>,
    /// Events on which one program of ours stands twice.
    pub doubled: Vec<String>,
    /// For people.
    pub hints: Vec<String>,
    /// The difference; only of `--dry-run`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub diff: String,
}

/// What is told of the hooks of a text.
pub fn with_hooks<T>(text: &str, tell: impl FnOnce(&Hooks) -> T) -> Option<T> {
    let root = json_span::parse(text).ok()?;
    Some(tell(&hooks_view::read(text, &root).ok()?))
}

impl Outcome {
    /// Of an agent that has no home here, with what to do about it.
    pub fn absent(target: &Target) -> Outcome {
        Outcome {
            agent: target.writer.agent.to_owned(),
            file: target.file.to_string_lossy().into_owned(),
            version: String::new(),
            present: false,
            changed: false,
            added: Vec::new(),
            healed: Vec::new(),
            extended: Vec::new(),
            reduced: Vec::new(),
            removed: Vec::new(),
            unknown: Vec::new(),
            foreign: Vec::new(),
            doubled: Vec::new(),
            hints: vec![target.without_home()],
            diff: String::new(),
        }
    }

    /// Of an edit.
    pub fn of(target: &Target, version: Option<Version>, old: &SettingsFile, edited: &Edited) -> Outcome {
        let writer = target.writer;
        let told = with_hooks(&edited.text, |hooks| {
            let ours = hooks
                .events
                .iter()
                .any(|e| e.handlers().any(|(.., h)| h.role.is_some()));
            (
                findings::unknown(hooks, writer, version),
                if ours { findings::foreign(hooks) } else { Vec::new() },
                findings::doubled(hooks),
                if ours {
                    (writer.hints)(target, hooks)
                } else {
                    Vec::new()
                },
            )
        });
        let (unknown, foreign, doubled, mut hints) = told.unwrap_or_default();
        let fewer = (writer.events)(version).len() < (writer.events)(Some(Version::NEWEST)).len();
        if fewer && version.is_none() && !edited.added.is_empty() {
            let text = "no version of the agent was found, so only the events that every version knows have an entry";
            hints.push(text.to_owned());
        }
        Outcome {
            version: version.map(|v| v.to_string()).unwrap_or_default(),
            present: true,
            changed: edited.text != old.text(),
            added: edited.added.clone(),
            healed: edited.healed.clone(),
            extended: edited.extended.clone(),
            reduced: edited.reduced.clone(),
            removed: edited.removed.clone(),
            unknown,
            foreign,
            doubled,
            hints,
            ..Outcome::absent(target)
        }
    }

    /// Adds the difference between the file and what it would become.
    #[must_use]
    pub fn with_diff(mut self, old: &SettingsFile, edited: &Edited) -> Outcome {
        self.diff = similar::TextDiff::from_lines(old.text(), &edited.text)
            .unified_diff()
            .header(&self.file, &self.file)
            .to_string();
        self
    }

    /// Lines for people.
    pub fn human(&self, out: &mut String) {
        let version = if self.version.is_empty() { "" } else { " " };
        let line = |out: &mut String, text: &str| {
            // Writing into a String never fails.
            writeln!(out, "  {}", for_terminal(text)).unwrap_or_default();
        };
        out.push_str(&for_terminal(&format!(
            "{}{version}{}: {}",
            self.agent, self.version, self.file
        )));
        out.push('\n');
        if !self.present {
            line(out, "the agent has no folder here; nothing was made");
            return self.hints.iter().for_each(|hint| line(out, &format!("hint: {hint}")));
        }
        if !self.changed {
            line(out, "nothing to change");
        }
        let repaired = self.healed.iter().cloned();
        let repaired: Vec<_> = repaired
            .filter(|e| !self.extended.contains(e) && !self.reduced.contains(e))
            .collect();
        for (what, events) in [
            ("added", &self.added),
            ("healed", &repaired),
            ("extended", &self.extended),
            ("reduced", &self.reduced),
            ("removed", &self.removed),
        ] {
            if !events.is_empty() {
                line(out, &format!("{what}: {}", events.join(", ")));
            }
        }
        if !self.unknown.is_empty() {
            let of = if self.version.is_empty() {
                "any version"
            } else {
                &self.version
            };
            line(
                out,
                &format!(
                    "not known to {of}: {}; the agent may stop at its start",
                    self.unknown.join(", ")
                ),
            );
        }
        for foreign in &self.foreign {
            line(out, &format!("another program on {foreign}"));
        }
        if !self.doubled.is_empty() {
            line(out, &format!("twice: {}", self.doubled.join(", ")));
        }
        for hint in &self.hints {
            line(out, &format!("hint: {hint}"));
        }
    }
}

/// A difference for a terminal: without what could move the cursor or turn the text around.
pub fn inert(diff: &str) -> String {
    diff.chars()
        .filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || is_bidi(*c)))
        .collect()
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u64,
    dry_run: bool,
    agents: &'a [Outcome],
}

/// A document in one line.
pub fn document(what: &impl Serialize) -> String {
    let text = serde_json::to_string(what);
    // Numbers, texts and lists always can be written.
    text.unwrap_or_default() + "\n"
}

/// All outcomes as one document or as lines; `none` is what people read if there is no agent at all.
pub fn print(outcomes: &[Outcome], dry_run: bool, json: bool, terminal: bool, none: &str) -> String {
    if json {
        return document(&Document {
            schema: 1,
            dry_run,
            agents: outcomes,
        });
    }
    if outcomes.is_empty() {
        return format!("{none}\n");
    }
    let mut out = String::new();
    for outcome in outcomes {
        outcome.human(&mut out);
        out.push_str(&if terminal {
            inert(&outcome.diff)
        } else {
            outcome.diff.clone()
        });
    }
    out
}
