//! What a command of ring-session, ring-plan and ring-notify has in its hands.

use crate::command_line::{Format, Place};
use crate::record::PermissionMode;
use crate::refusal::Refusal;
use crate::settings::Settings;
use crate::store::Store;
use crate::time::Ms;
use crate::work::Here;
use std::io::Write;

/// What every command needs.
pub struct Context<'a> {
    /// All sessions, at the time of the call.
    pub store: Store,
    /// In force.
    pub settings: Settings,
    /// Where files are.
    pub place: Place,
    /// Form of the output.
    pub format: Format,
    /// Held back until the command has succeeded.
    pub out: &'a mut dyn Write,
}

impl<'a> Context<'a> {
    /// For one call of `tool`. What is wrong with the settings file is told to `err`.
    pub fn open(
        tool: &str,
        place: Place,
        format: Format,
        here: Here,
        out: &'a mut dyn Write,
        err: &mut dyn Write,
    ) -> Context<'a> {
        let (settings, problems) = place.settings();
        for problem in problems {
            // a closed stderr leaves nobody to tell
            writeln!(err, "{tool}: {problem}").unwrap_or_default();
        }
        Context {
            store: Store::new(place.state(), here),
            settings,
            place,
            format,
            out,
        }
    }

    /// The clock of this call.
    pub fn now(&self) -> Ms {
        self.store.here().now
    }

    /// Whether the output is for a program.
    pub fn json(&self) -> bool {
        self.format != Format::Human
    }

    /// Prints a JSON document, or what `human` says.
    ///
    /// # Errors
    /// Those of the output.
    pub fn print<T: serde::Serialize>(
        &mut self,
        value: &T,
        human: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Refusal> {
        if self.json() {
            serde_json::to_writer(&mut *self.out, value).map_err(std::io::Error::from)?;
            writeln!(self.out)?;
        } else {
            human(self.out)?;
        }
        Ok(())
    }

    /// Prints a list: one document, or with jsonl an object a line.
    ///
    /// # Errors
    /// Those of the output.
    pub fn print_list<T: serde::Serialize>(
        &mut self,
        values: &[T],
        human: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Refusal> {
        if self.format == Format::Jsonl {
            for value in values {
                serde_json::to_writer(&mut *self.out, value).map_err(std::io::Error::from)?;
                writeln!(self.out)?;
            }
            return Ok(());
        }
        self.print(&values, human)
    }

    /// What `inherit` means.
    pub fn inherited(&self) -> PermissionMode {
        PermissionMode::from_word(&self.settings.session.permission_mode).unwrap_or(PermissionMode::Ask)
    }
}
