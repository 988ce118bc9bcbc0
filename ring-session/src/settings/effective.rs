//! Which value of each key is in force, and where it comes from.

use super::keys::{self, KEYS, Key, Standing};
use super::{Problem, Value, file};
use crate::refusal::{Code, Refusal};
use serde::Serialize;
use std::path::Path;

/// One key as `ring-scan config` lists it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Dotted name.
    pub key: &'static str,
    /// In force. For a key without effect an empty list.
    pub value: Value,
    /// What is in force if nothing is set.
    pub default: Value,
    /// `default` or `FILE:LINE`.
    pub origin: String,
    /// What the key does.
    pub effect: &'static str,
}

/// Every key of today, and old ones that stand in the file, in the order of [`KEYS`]; and what is wrong with the file.
pub fn effective(path: Option<&Path>) -> (Vec<Entry>, Vec<Problem>) {
    let content = path.and_then(file::read).unwrap_or_default();
    let name = path.map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
    let mut entries: Vec<Option<Entry>> = KEYS
        .iter()
        .map(|key| (key.standing == Standing::Current).then(|| entry(key, key.default(), "default".into())))
        .collect();
    for found in file::in_order(content.found) {
        let target = match found.key.standing {
            Standing::Flat(other) => keys::find(other).unwrap_or(found.key),
            _ => found.key,
        };
        let at = KEYS.iter().position(|k| k.name == target.name);
        if let Some(slot) = at.and_then(|i| entries.get_mut(i)) {
            *slot = Some(entry(target, found.value, format!("{name}:{}", found.line)));
        }
    }
    (entries.into_iter().flatten().collect(), content.problems)
}

fn entry(key: &'static Key, value: Value, origin: String) -> Entry {
    Entry {
        key: key.name,
        value,
        default: key.default(),
        origin,
        effect: key.effect,
    }
}

/// One key.
///
/// # Errors
/// `INVALID_ARGUMENT` if there is no such key.
pub fn get(path: Option<&Path>, name: &str) -> Result<(Entry, Vec<Problem>), Refusal> {
    let key = known(name)?;
    let name = match key.standing {
        Standing::Flat(other) => other,
        _ => key.name,
    };
    let (entries, problems) = effective(path);
    let found = entries.into_iter().find(|e| e.key == name);
    Ok((
        found.unwrap_or_else(|| entry(key, key.default(), "default".into())),
        problems,
    ))
}

/// The key of that name.
///
/// # Errors
/// `INVALID_ARGUMENT`, with a hint if the name is that of a table.
pub(super) fn known(name: &str) -> Result<&'static Key, Refusal> {
    keys::find(name).ok_or_else(|| {
        let inside: Vec<_> = KEYS
            .iter()
            .map(|k| k.name)
            .filter(|k| k.starts_with(&format!("{name}.")))
            .collect();
        let text = match (name, inside.as_slice()) {
            ("notify.outlet", _) => "outlets are changed in the file itself".to_owned(),
            (_, []) => format!("there is no key {name:?}; `ring-scan config` lists all"),
            (_, inside) => format!("{name:?} is a table; its keys are {}", inside.join(", ")),
        };
        Refusal::new(Code::InvalidArgument, text).with("key", name)
    })
}
