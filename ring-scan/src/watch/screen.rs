//! A board drawn in place on a terminal: on the alternate screen, without a cursor, line over line, so nothing flickers.

use std::ffi::OsString;

/// Whether an output can be drawn on: a terminal that is not a dumb one.
pub fn can(terminal: bool, term: Option<OsString>) -> bool {
    terminal && term.is_some_and(|t| !t.is_empty() && t != "dumb")
}

/// Alternate screen, cleared, without a cursor (xterm control sequences, `?1049` and `?25`).
pub const ENTER: &str = "\u{1b}[?1049h\u{1b}[2J\u{1b}[?25l";
/// Everything as it was.
pub const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";

/// `text` from the upper left corner: each line is cleared behind its end, and what is below the last one.
pub fn frame(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    out.push_str("\u{1b}[H");
    for line in text.lines() {
        out.push_str(line);
        out.push_str("\u{1b}[K\r\n");
    }
    out.push_str("\u{1b}[J");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_overwritten_and_the_rest_is_cleared() {
        assert_eq!(frame("a\nb\n"), "\u{1b}[Ha\u{1b}[K\r\nb\u{1b}[K\r\n\u{1b}[J");
        assert_eq!(frame(""), "\u{1b}[H\u{1b}[J");
    }
}
