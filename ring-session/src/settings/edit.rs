//! Changing one key of a person's `config.toml`: comments, order and everything else stay as they are.

use super::effective::known;
use super::keys::{Key, Kind};
use super::{Value, file};
use crate::lock::{self, Lock};
use crate::refusal::{Code, Refusal};
use crate::replace::replace_foreign;
use crate::state_dir::StateDir;
use std::io;
use std::path::Path;
use std::time::Duration;
use toml_edit::{DocumentMut, Item, TableLike};

/// Sets one key, under `settings.lock`. `words` is the value as a person types it: `5m`, `ascii`, `claude,codex`. The
/// file and its folder are made if they are missing; a value that stands there already is not written again.
///
/// # Errors
/// `INVALID_ARGUMENT` for an unknown key, a value of another type, a key without effect, a file that is no TOML;
/// `SETTINGS_CHANGED` if somebody else wrote the file meanwhile; `LOCK_TIMEOUT`, `IO`.
pub fn set(state: &StateDir, path: &Path, name: &str, words: &str) -> Result<Value, Refusal> {
    set_within(state, path, name, words, lock::wait(lock::COMMAND_WAIT))
}

pub(super) fn set_within(
    state: &StateDir,
    path: &Path,
    name: &str,
    words: &str,
    limit: Duration,
) -> Result<Value, Refusal> {
    let key = known(name)?;
    if matches!(key.kind, Kind::Ignored) {
        return Err(bad(format!("{name} has no effect; it is not set")));
    }
    let value = key
        .of_words(words)
        .ok_or_else(|| bad(format!("{name}: must be {}, not {words:?}", key.wanted())).with("key", name))?;
    let _held = Lock::acquire(&state.settings_lock(), limit)?;
    let before = read(path)?;
    let after = edited(path, before.as_deref().unwrap_or_default(), key, &value)?;
    if before.as_deref() == Some(after.as_str()) {
        return Ok(value);
    }
    write(path, before.as_deref(), &after)?;
    Ok(value)
}

/// Writes, if the file still is what was read: an editor knows nothing of our lock.
pub(super) fn write(path: &Path, before: Option<&str>, after: &str) -> Result<(), Refusal> {
    if read(path)?.as_deref() != before {
        let text = format!(
            "{} changed while it was edited; nothing is written, try again",
            path.display()
        );
        return Err(Refusal::new(Code::SettingsChanged, text).with("path", path.to_string_lossy().into_owned()));
    }
    replace_foreign(path, after.as_bytes()).map_err(|e| Refusal::io("write", path, &e))
}

fn bad(text: String) -> Refusal {
    Refusal::new(Code::InvalidArgument, text)
}

fn read(path: &Path) -> Result<Option<String>, Refusal> {
    let text: Option<io::Result<String>> = file::text(path);
    text.transpose().map_err(|e| Refusal::io("read", path, &e))
}

/// `text` with the key set. Pure.
pub(super) fn edited(path: &Path, text: &str, key: &Key, value: &Value) -> Result<String, Refusal> {
    let (mark, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    };
    let mut document: DocumentMut = body.parse().map_err(|_| {
        let file = path.display();
        bad(match file::broken(body) {
            Some((line, what)) => format!("{file}:{line}: {what}; nothing is written, mend line {line} first"),
            None => format!("{file} is no TOML; nothing is written"),
        })
    })?;
    let mut names: Vec<&str> = key.name.split('.').collect();
    let last = names.pop().unwrap_or(key.name);
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for name in names {
        table = table
            .entry(name)
            .or_insert_with(toml_edit::table)
            .as_table_like_mut()
            .ok_or_else(|| bad(format!("{}: {name} is no table", path.display())))?;
    }
    put(table, last, value);
    let after = document.to_string();
    // the editor ends every line with a bare newline
    let crlf = body.contains('\n')
        && body
            .split_inclusive('\n')
            .all(|l| l.ends_with("\r\n") || !l.ends_with('\n'));
    Ok(match crlf {
        true => format!("{mark}{}", after.replace('\n', "\r\n")),
        false => format!("{mark}{after}"),
    })
}

/// In place of an old value, with the blanks and the comment around it.
fn put(table: &mut dyn TableLike, name: &str, value: &Value) {
    let mut new = value.to_toml();
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => {
            table.insert(name, Item::Value(new));
        }
    }
}
