//! The forms that a board is printed in: pure functions of a board and a look.

pub mod colour;
pub mod human;
pub mod inert;
pub mod json;
pub mod line;
pub mod row;
pub mod tsv;
pub mod waybar;
pub mod words;

pub use ring_session::columns as width;

use crate::board::Board;
use clap::ValueEnum;
use colour::Palette;
use std::io::{self, Write};
use words::{Lang, Markers};

/// `--format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// A table for people
    #[default]
    Human,
    /// One JSON document
    Json,
    /// One session a line
    Jsonl,
    /// Columns with tabs
    Tsv,
    /// Counts
    Oneline,
    /// For waybar's custom modules
    Waybar,
    /// For tmux's status line
    Tmux,
}

/// How a board is shown.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// Columns that there are; none: no limit.
    pub width: Option<usize>,
    /// Lines that there are; none: no limit.
    pub height: Option<usize>,
    /// Whether escape sequences for colours are written.
    pub colour: bool,
    /// Which colours.
    pub palette: Palette,
    /// Emoji or ASCII.
    pub markers: Markers,
    /// Language of words for people.
    pub lang: Lang,
    /// The line that explains the markers.
    pub legend: bool,
    /// ENDED sessions are listed, so they are counted.
    pub all: bool,
    /// The filters leave something out, so an empty board does not mean that there is nothing.
    pub filtered: bool,
    /// ENDED sessions that there are and that nobody asked for.
    pub over: usize,
    /// tsv: a line with the columns' names first.
    pub header: bool,
}

/// Prints `board`. Every text is cleaned before it is shown, whatever was cleaned when it was stored.
///
/// # Errors
/// Those of the writer.
pub fn write(form: Form, board: &Board, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let board = inert::board(board);
    match form {
        Form::Human => human::write(&board, look, out),
        Form::Json => json::document(&board, out),
        Form::Jsonl => json::lines(&board, out),
        Form::Tsv => tsv::write(&board, look, out),
        Form::Oneline => line::oneline(&board, look, out),
        Form::Tmux => line::tmux(&board, look, out),
        Form::Waybar => waybar::write(&board, look, out),
    }
}

#[cfg(test)]
mod tests;
