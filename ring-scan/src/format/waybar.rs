//! `waybar`: one JSON object a line for a custom module with `return-type: json` (waybar-custom(5)).

use super::words::Nothing;
use super::{Look, line, row};
use crate::board::Board;
use ring_session::time::human_span;
use serde::Serialize;
use std::io::{self, Write};

/// Rows in the tooltip; more would not fit beside a bar.
const ROWS: usize = 30;

#[derive(Serialize)]
struct Module {
    text: String,
    tooltip: String,
    class: &'static str,
    alt: &'static str,
}

/// One line. `class` and `alt` are the most urgent state or `none`; text and tooltip are Pango markup, so escaped.
///
/// # Errors
/// Those of the writer.
pub fn write(board: &Board, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let class = line::most_urgent(&board.counts, look);
    let mut rows: Vec<String> = board
        .sessions
        .iter()
        .take(ROWS)
        .map(|s| {
            let cells = [
                format!("{} {}", look.markers.of_status(&s.status), row::session(s)),
                human_span(s.age_ms),
                row::what(s),
            ];
            cells
                .into_iter()
                .filter(|c| !c.is_empty())
                .collect::<Vec<_>>()
                .join("  ")
        })
        .collect();
    let left = board.sessions.len().saturating_sub(ROWS);
    if left > 0 {
        rows.push(format!("… {left} more"));
    }
    if rows.is_empty() {
        rows.push(look.lang.empty(&Nothing::of(board, look)));
    }
    let module = Module {
        text: escape(&line::counts(&board.counts, look)),
        tooltip: escape(&rows.join("\n")),
        class,
        alt: class,
    };
    serde_json::to_writer(&mut *out, &module)?;
    writeln!(out)
}

/// A text as Pango markup.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}
