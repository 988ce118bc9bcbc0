//! `oneline` and `tmux`: how many sessions are in which state, for a prompt or a status bar.

use super::Look;
use crate::board::{Board, Counts};
use std::io::{self, Write};

/// The states that have sessions, most urgent first, with their number.
fn counted<'a>(counts: &Counts, look: &'a Look) -> impl Iterator<Item = (&'static str, usize)> + use<'a> {
    [
        ("waiting", counts.waiting),
        ("working", counts.working),
        ("idle", counts.idle),
        ("ended", if look.all { counts.ended } else { 0 }),
    ]
    .into_iter()
    .filter(|(_, n)| *n > 0)
}

/// `🔴1 🟢2 🟡1`; an empty string if there is nothing.
pub fn counts(counts: &Counts, look: &Look) -> String {
    counted(counts, look)
        .map(|(status, n)| format!("{}{n}", look.markers.of_status(status)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The most urgent state that has sessions, or `none`.
pub fn most_urgent(counts: &Counts, look: &Look) -> &'static str {
    counted(counts, look).next().map_or("none", |(status, _)| status)
}

/// One line, empty if there is nothing.
///
/// # Errors
/// Those of the writer.
pub fn oneline(board: &Board, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", counts(&board.counts, look))
}

/// As [`oneline`] with tmux's styles. Four states with their styles stay far below 200 characters.
///
/// # Errors
/// Those of the writer.
pub fn tmux(board: &Board, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let parts: Vec<String> = counted(&board.counts, look)
        .map(|(status, n)| {
            let text = literal(&format!("{}{n}", look.markers.of_status(status)));
            match look.palette.status(status).tmux() {
                style if style.is_empty() => text,
                style => format!("#[{style}]{text}#[default]"),
            }
        })
        .collect();
    writeln!(out, "{}", parts.join(" "))
}

/// `#` starts a format in tmux(1), `##` is the character.
fn literal(text: &str) -> String {
    text.replace('#', "##")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c52_a_number_sign_is_doubled_for_tmux() {
        assert_eq!(literal("a#[fg=red]#(id)"), "a##[fg=red]##(id)");
    }
}
