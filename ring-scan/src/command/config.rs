//! `config`: what is in force and where it comes from; `get`, `set`.

use crate::cli::ConfigAction;
use crate::context::{human_or_json, size, told, warn};
use crate::format::Form;
use crate::format::width::{blanks, fit, width, wrap};
use ring_session::command_line::Place;
use ring_session::settings::keys::{self, Kind};
use ring_session::settings::{self, Entry, Problem, Value};
use ring_session::{Code, Refusal, exit, text};
use serde::Serialize;
use std::io::{IsTerminal, Write, stdout};

/// Columns of a value in the list.
const LONGEST: usize = 30;
/// And at least, however narrow the terminal is.
const SHORTEST: usize = 6;
/// Blanks between columns.
const GAP: usize = 2;

#[derive(Serialize)]
struct Listed<'a> {
    schema: u64,
    file: String,
    settings: &'a [Entry],
}

/// Lists, prints or writes settings. What is wrong with the file is said on stderr.
///
/// # Errors
/// `INVALID_ARGUMENT` for an unknown key or a value of the wrong type; `SETTINGS_CHANGED`, `LOCK_TIMEOUT`, `IO`.
pub fn run(place: &Place, form: Form, action: Option<&ConfigAction>, out: &mut dyn Write) -> Result<u8, Refusal> {
    let json = human_or_json(form)?;
    let file = place.config_file();
    if !matches!(action, Some(ConfigAction::Set { .. })) {
        place.missing_config().iter().for_each(|p| warn(&told(p)));
    }
    match action {
        None => {
            let (mut entries, problems) = settings::effective(file.as_deref());
            tell(&problems);
            // a list is shown around; `get` answers the one who asks for it
            for entry in &mut entries {
                entry.value = keys::find(entry.key).map_or_else(|| entry.value.clone(), |k| k.listed(&entry.value));
            }
            let file = file.map(|f| f.display().to_string()).unwrap_or_default();
            match json {
                true => line(
                    out,
                    &Listed {
                        schema: 1,
                        file,
                        settings: &entries,
                    },
                )?,
                false => table(out, &file, &entries)?,
            }
        }
        Some(ConfigAction::Get { key }) => {
            let (entry, problems) = settings::get(file.as_deref(), key)?;
            tell(&problems);
            match json {
                true => line(out, &entry)?,
                false => writeln!(out, "{}", bare(&entry.value))?,
            }
        }
        Some(ConfigAction::Set { key, value }) => {
            let file = file.ok_or_else(|| {
                Refusal::new(
                    Code::InvalidArgument,
                    "no home folder; name the settings file with --config",
                )
            })?;
            settings::set(&place.state(), &file, key, value)?;
            let (entry, problems) = settings::get(Some(&file), key)?;
            tell(&problems);
            match json {
                true => line(out, &entry)?,
                false => writeln!(out, "{} = {}", entry.key, shown(&entry.value))?,
            }
        }
    }
    Ok(exit::DONE)
}

fn tell(problems: &[Problem]) {
    problems.iter().for_each(|p| warn(&told(p)));
}

fn line(out: &mut dyn Write, value: &impl Serialize) -> Result<(), Refusal> {
    serde_json::to_writer(&mut *out, value).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}

/// As it stands in the file.
fn shown(value: &Value) -> String {
    text::for_terminal(&value.to_string())
}

/// A text without quotes; `(unset)` for an empty one.
fn bare(value: &Value) -> String {
    match value {
        Value::Text(text) if text.is_empty() => "(unset)".into(),
        Value::Text(text) => text::for_terminal(text),
        other => shown(other),
    }
}

/// One key a line: value in force, where it comes from, and the default if that is another one. On a terminal long
/// values are cut, `get` prints them whole, and what does not fit behind them goes below.
fn table(out: &mut dyn Write, file: &str, entries: &[Entry]) -> Result<(), Refusal> {
    let columns = size(stdout().is_terminal()).0;
    writeln!(out, "# {}", text::for_terminal(file))?;
    let keys = entries.iter().map(|e| e.key.len()).max().unwrap_or(0);
    let limit = match columns {
        Some(columns) => columns.saturating_sub(keys + GAP).clamp(SHORTEST, LONGEST),
        None => usize::MAX,
    };
    let value = |v: &Value| fit(&shown(v), limit);
    let values = entries
        .iter()
        .map(|e| width(&value(&e.value)))
        .max()
        .unwrap_or(0)
        .min(LONGEST);
    for entry in entries {
        let origin = text::for_terminal(&entry.origin);
        let more = match keys::find(entry.key).map(|k| &k.kind) {
            Some(Kind::Ignored) => format!("  {}", entry.effect),
            _ if entry.value == entry.default => String::new(),
            _ => format!("  default {}", value(&entry.default)),
        };
        let value = value(&entry.value);
        let line = format!("{:keys$}  {value}{}", entry.key, blanks(&value, values));
        let tail = format!("{origin}{more}");
        match columns {
            Some(columns) if width(&line) + GAP + width(&tail) > columns => {
                writeln!(out, "{}", line.trim_end())?;
                for below in wrap(&tail, columns.saturating_sub(keys + GAP)) {
                    writeln!(out, "{:keys$}  {below}", "")?;
                }
            }
            _ => writeln!(out, "{line}  {tail}")?,
        }
    }
    Ok(())
}
