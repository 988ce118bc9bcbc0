//! `config`: what is in force and where it comes from; `get`, `set`.

use crate::cli::ConfigAction;
use crate::context::{human_or_json, told, warn};
use crate::format::Form;
use crate::format::width::{blanks, width};
use ring_session::command_line::Place;
use ring_session::settings::{self, Entry, Problem, Value};
use ring_session::{Code, Refusal, exit, text};
use serde::Serialize;
use std::io::Write;

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
    match action {
        None => {
            let (entries, problems) = settings::effective(file.as_deref());
            tell(&problems);
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

/// As a script wants it: a text without quotes.
fn bare(value: &Value) -> String {
    match value {
        Value::Text(text) => text::for_terminal(text),
        other => shown(other),
    }
}

fn table(out: &mut dyn Write, file: &str, entries: &[Entry]) -> Result<(), Refusal> {
    writeln!(out, "# {}", text::for_terminal(file))?;
    let rows: Vec<(&str, String, &Entry)> = entries.iter().map(|e| (e.key, shown(&e.value), e)).collect();
    let keys = rows.iter().map(|(k, ..)| k.len()).max().unwrap_or(0);
    let values = rows.iter().map(|(_, v, _)| width(v)).max().unwrap_or(0).min(30);
    for (key, value, entry) in rows {
        let origin = match entry.value == entry.default {
            _ if entry.origin == "default" => "default".to_owned(),
            true => text::for_terminal(&entry.origin),
            false => format!(
                "{} (default {})",
                text::for_terminal(&entry.origin),
                shown(&entry.default)
            ),
        };
        writeln!(out, "{key:keys$}  {value}{}  {origin}", blanks(&value, values))?;
    }
    Ok(())
}
