//! Texts in terminal columns: how wide they are, and how they are cut and padded without tearing a character.

use crate::text::{CUT, joins_previous};
use std::io::stdout;
use std::path::Path;
use unicode_width::UnicodeWidthStr;

/// Columns of a terminal that does not tell them.
const COLUMNS: usize = 80;

/// Columns and lines of the terminal on stdout; without one, what `COLUMNS` says (a parent with its own screen sets it).
/// None: there is no limit.
pub fn screen(terminal: bool) -> (Option<usize>, Option<usize>) {
    let told = std::env::var("COLUMNS")
        .ok()
        .and_then(|v| v.trim().parse().ok())
        .filter(|c| *c > 0);
    if !terminal {
        return (told, None);
    }
    match rustix::termios::tcgetwinsize(stdout()) {
        Ok(size) if size.ws_col > 0 => (Some(size.ws_col.into()), Some(size.ws_row.into()).filter(|r| *r > 0)),
        _ => (told.or(Some(COLUMNS)), None),
    }
}

/// Columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text without what takes no column, or none that terminals agree on: soft hyphens, zero-width blanks and
/// invisible operators, marks without a character before them.
pub fn visible(text: &str) -> String {
    let kept: String = text
        .chars()
        .filter(|c| {
            !matches!(c, '\u{AD}' | '\u{180E}' | '\u{200B}' | '\u{2060}'..='\u{2064}' | '\u{FFF9}'..='\u{FFFB}' | '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}')
        })
        .collect();
    kept.trim_start_matches(joins_previous).to_owned()
}

/// At most `limit` columns of the beginning; what is cut ends in `…`.
pub fn fit(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    if limit == 0 {
        return String::new();
    }
    let kept = ends(text)
        .take_while(|end| width(&text[..*end]) < limit)
        .last()
        .unwrap_or(0);
    format!("{}{CUT}", text[..kept].trim_end())
}

/// At most `limit` columns of the end, which is what tells paths apart; what is cut begins with `…`.
pub fn fit_end(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    if limit == 0 {
        return String::new();
    }
    let kept = ends(text)
        .find(|start| width(&text[*start..]) < limit)
        .unwrap_or(text.len());
    format!("{CUT}{}", text[kept..].trim_start())
}

/// The folder with the home folder as `~`, by whole parts.
pub fn short_path(path: &str, home: Option<&Path>) -> String {
    let Some(rest) = home
        .filter(|h| h.parent().is_some())
        .and_then(|h| Path::new(path).strip_prefix(h).ok())
    else {
        return path.to_owned();
    };
    match rest.to_str() {
        Some("") => "~".to_owned(),
        Some(rest) => format!("~/{rest}"),
        None => path.to_owned(),
    }
}

/// Byte offsets behind each character with all that joins it.
fn ends(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.char_indices()
        .skip(1)
        .filter(|(_, c)| !joins_previous(*c))
        .map(|(i, _)| i)
        .chain(std::iter::once(text.len()))
}

/// Blanks up to `columns`, or none if the text is as wide.
pub fn blanks(text: &str, columns: usize) -> String {
    " ".repeat(columns.saturating_sub(width(text)))
}

/// The text in lines of at most `limit` columns, broken at blanks; a longer word is cut.
pub fn fold(text: &str, limit: usize) -> Vec<String> {
    broken(text.split_whitespace().map(|word| fit(word, limit)), limit)
}

/// As [`fold`], but a longer word stays whole: a path that is cut names nothing.
pub fn wrap(text: &str, limit: usize) -> Vec<String> {
    broken(text.split_whitespace().map(str::to_owned), limit)
}

fn broken(words: impl Iterator<Item = String>, limit: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words {
        // never empty: it begins with one line and only grows
        let last = lines.len() - 1;
        let joined = format!("{} {word}", lines[last]);
        match lines[last].is_empty() {
            true => lines[last] = word,
            false if width(&joined) <= limit => lines[last] = joined,
            false => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns_and_marks_none() {
        assert_eq!(width("日本"), 4);
        assert_eq!(width("e\u{301}a"), 2);
        assert_eq!(width("🔴"), 2);
    }

    #[test]
    fn a_cut_never_tears_a_wide_character_or_a_mark() {
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("日本語", 1), "…");
        assert_eq!(fit("ae\u{301}bc", 3), "ae\u{301}…");
        assert_eq!(fit("ae\u{301}bc", 2), "a…");
        assert_eq!(fit("abc", 3), "abc");
        assert_eq!(fit("abc", 0), "");
    }

    #[test]
    fn the_end_of_a_path_is_kept() {
        assert_eq!(fit_end("~/src/team/api", 8), "…eam/api");
        assert_eq!(fit_end("日本語", 4), "…語");
        assert_eq!(fit_end("api", 3), "api");
    }

    #[test]
    fn lines_are_broken_at_blanks() {
        assert_eq!(fold("start an agent now", 8), ["start an", "agent", "now"]);
        assert_eq!(fold("", 8), [""]);
        assert_eq!(fold("incomprehensible", 5), ["inco…"]);
        assert_eq!(wrap("an incomprehensible word", 8), ["an", "incomprehensible", "word"]);
    }

    #[test]
    fn invisible_characters_are_left_out() {
        assert_eq!(visible("a\u{200B}b\u{AD}c"), "abc");
        assert_eq!(visible("\u{301}a"), "a");
    }
}
