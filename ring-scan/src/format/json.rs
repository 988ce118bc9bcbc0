//! `json`: the whole board as one document. `jsonl`: one session a line.

use crate::board::Board;
use std::io::{self, Write};

/// One document on one line.
///
/// # Errors
/// Those of the writer.
pub fn document(board: &Board, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, board)?;
    writeln!(out)
}

/// One session a line.
///
/// # Errors
/// Those of the writer.
pub fn lines(board: &Board, out: &mut dyn Write) -> io::Result<()> {
    for session in &board.sessions {
        serde_json::to_writer(&mut *out, session)?;
        writeln!(out)?;
    }
    Ok(())
}
