//! Making two runs of one command comparable.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// UUIDs in a text and where they begin.
pub fn ids(text: &str) -> Vec<(usize, String)> {
    let is_id = |at: &usize| {
        let bytes = text.as_bytes().get(*at..*at + 36).unwrap_or_default();
        let shape = |(n, b): (usize, &u8)| match n {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        };
        bytes.len() == 36 && bytes.iter().enumerate().all(shape)
    };
    let found = (0..text.len()).filter(is_id);
    found.map(|at| (at, text[at..at + 36].to_owned())).collect()
}

/// Copies a folder with all that is in it.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// A text in which all ids but the known ones are one.
pub fn known_ids_only(text: &str, known: &HashSet<String>) -> String {
    let mut text = text.to_owned();
    let new: Vec<usize> = ids(&text)
        .into_iter()
        .filter(|(_, id)| !known.contains(id))
        .map(|(at, _)| at)
        .collect();
    for at in new {
        text.replace_range(at..at + 36, "00000000-0000-7000-8000-00000000000f");
    }
    text
}
