//! `tsv`: for cut, awk and sort. Always nine columns; no text holds a tab or a line end.

use super::{Look, row};
use crate::board::Board;
use std::io::{self, Write};

/// Names of the columns, in their order.
pub const COLUMNS: [&str; 9] = [
    "key", "status", "kind", "agent", "session", "age_s", "where", "what", "host",
];

/// One session a line; with `--header` the names of the columns first.
///
/// # Errors
/// Those of the writer.
pub fn write(board: &Board, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    if look.header {
        writeln!(out, "{}", COLUMNS.join("\t"))?;
    }
    for s in &board.sessions {
        let age = (s.age_ms / 1000).to_string();
        let (session, what) = (row::session(s), row::what(s));
        let cells: [&str; 9] = [
            &s.key,
            &s.status,
            &s.kind,
            &s.agent,
            &session,
            &age,
            row::place(s),
            &what,
            &s.host,
        ];
        writeln!(out, "{}", cells.join("\t"))?;
    }
    Ok(())
}
