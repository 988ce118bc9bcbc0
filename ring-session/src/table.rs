//! Columns for people, within the width of their terminal.

use crate::columns::{blanks, fit, screen, visible, width};
use crate::text;
use std::io::{self, IsTerminal, Write};

/// Blanks between columns.
const GAP: usize = 2;
/// The column that takes the rest keeps at least this much, if it has so much; others go first.
const LAST: usize = 24;

/// A cell that may be cut keeps at least this much.
const CUT: usize = 8;

/// A table: the last column takes what is left and is cut; the others are shown whole or not at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Table<'a> {
    /// Which columns take no more than a fifth of the terminal; never ids.
    pub cuttable: &'a [usize],
    /// Which columns go first where the terminal is narrow.
    pub dispensable: &'a [usize],
    /// Columns of the terminal; none: no limit.
    pub limit: Option<usize>,
}

/// How the columns of a table stand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shape<'a> {
    /// Which column takes what is left.
    pub rest: usize,
    /// Which stand at the right of their room: numbers.
    pub right: &'a [usize],
}

/// Columns of the terminal that is printed to; none: no limit.
pub fn limit() -> Option<usize> {
    screen(io::stdout().is_terminal()).0
}

/// A cell as it is shown: nothing that a terminal obeys, nothing that takes no column.
fn shown(cell: &str) -> String {
    visible(&text::for_terminal(cell))
}

impl Table<'_> {
    /// Writes a line for each of `rows`, whose cells come from `cells`. They are made twice, once to be measured: a long
    /// table is never held.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write<R, const N: usize>(
        self,
        out: &mut dyn Write,
        rows: &[R],
        cells: impl Fn(&R) -> [String; N],
    ) -> io::Result<()> {
        let shape = Shape {
            rest: N.saturating_sub(1),
            right: &[],
        };
        self.write_painted(out, rows, shape, cells, |_, _, cell| cell)
    }

    /// As [`Table::write`], in another shape, and `paint` makes what is printed of a row, the
    /// number of a column, and its cell as it is shown: it may only add what takes no column.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_painted<R, const N: usize>(
        self,
        out: &mut dyn Write,
        rows: &[R],
        shape: Shape<'_>,
        cells: impl Fn(&R) -> [String; N],
        paint: impl Fn(&R, usize, String) -> String,
    ) -> io::Result<()> {
        let mut widths = [0; N];
        for row in rows {
            for (widest, cell) in widths.iter_mut().zip(cells(row)) {
                *widest = width(&shown(&cell)).max(*widest);
            }
        }
        self.narrow(&mut widths, shape.rest);
        for row in rows {
            let mut line = String::new();
            let mut owed = 0;
            for (column, cell) in cells(row).into_iter().enumerate() {
                let Some(columns) = widths.get(column).copied().filter(|w| *w > 0) else {
                    continue;
                };
                let cell = fit(&shown(&cell), columns);
                let mut behind = blanks(&cell, columns).len();
                if shape.right.contains(&column) {
                    owed += std::mem::take(&mut behind);
                }
                if !cell.is_empty() {
                    // blanks are owed until something follows, so no line ends in any
                    line.extend(std::iter::repeat_n(' ', owed));
                    line.push_str(&paint(row, column, cell));
                    owed = 0;
                }
                owed += behind + GAP;
            }
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Takes away columns, and of the one that takes the rest what is too much.
    fn narrow(self, widths: &mut [usize], rest: usize) {
        let Some(limit) = self.limit else { return };
        let Some(wanted) = widths.get_mut(rest).map(std::mem::take) else {
            return;
        };
        let taken = |others: &[usize]| others.iter().filter(|w| **w > 0).map(|w| w + GAP).sum::<usize>();
        for column in self.cuttable {
            if let Some(width) = widths.get_mut(*column) {
                *width = (*width).min(CUT.max(limit / 5));
            }
        }
        for column in self.dispensable {
            if taken(widths) + wanted.min(LAST) <= limit {
                break;
            }
            if let Some(width) = widths.get_mut(*column) {
                *width = 0;
            }
        }
        let left = limit.saturating_sub(taken(widths));
        if let Some(width) = widths.get_mut(rest) {
            *width = wanted.min(left);
        }
    }
}

/// Writes lines of a name and a text, the texts below each other. Nothing is cut: where one thing is shown, all of it is.
///
/// # Errors
/// Those of the writer.
pub fn facts(out: &mut dyn Write, facts: &[(&str, String)]) -> io::Result<()> {
    Table::default().write(out, facts, |(name, text)| [(*name).to_owned(), text.clone()])
}

/// Enough of an id among all, which are sorted: the shortest beginning, of 8 or more, that no other shares.
pub fn short<'a>(sorted: &'a [String], id: &'a str) -> &'a str {
    let shared = |other: Option<&String>| {
        let other = other.map_or("", String::as_str);
        id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
    };
    let place = sorted.partition_point(|other| other.as_str() < id);
    let next = place + usize::from(sorted.get(place).is_some_and(|other| other == id));
    let before = place.checked_sub(1).and_then(|p| sorted.get(p));
    let longest = shared(before).max(shared(sorted.get(next)));
    id.get(..(longest + 1).max(8)).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print<const N: usize>(limit: Option<usize>, dispensable: &[usize], rows: &[[&str; N]]) -> String {
        let mut out = Vec::new();
        Table {
            dispensable,
            limit,
            ..Table::default()
        }
        .write(&mut out, rows, |row| row.map(str::to_owned))
        .unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn s79_the_short_id_is_unique_and_has_eight_characters() {
        let mut all = [
            "aaaaaaaaaa-1".to_owned(),
            "aaaaaaaaaa-2".into(),
            "bbbbbbbbbbbb".into(),
            "abc".into(),
        ];
        all.sort();
        let short: Vec<&str> = all.iter().map(|id| short(&all, id)).collect();
        assert_eq!(short, ["aaaaaaaaaa-1", "aaaaaaaaaa-2", "abc", "bbbbbbbb"]);
    }

    #[test]
    fn s81_cells_are_cleaned_and_columns_stand_in_line() {
        assert_eq!(
            print(None, &[], &[["a\u{1b}[31m", "b"], ["ccc", "d\n"]]),
            "a    b\nccc  d\n"
        );
        assert_eq!(
            print(None, &[], &[["\u{202e}日本", "x"], ["a\u{200b}", "y"]]),
            "日本  x\na     y\n"
        );
    }

    #[test]
    fn another_column_than_the_last_may_take_the_rest_and_paint_takes_no_room() {
        let rows = [["a", "a title that is quite long", "0123"], ["bb", "x", "4567"]];
        let mut out = Vec::new();
        let table = Table {
            limit: Some(20),
            ..Table::default()
        };
        let paint = |_: &[&str; 3], column: usize, cell: String| match column {
            0 => format!("\u{1b}[1m{cell}\u{1b}[0m"),
            _ => cell,
        };
        table
            .write_painted(
                &mut out,
                &rows,
                Shape { rest: 1, right: &[0] },
                |r| r.map(str::to_owned),
                paint,
            )
            .unwrap();
        let expected = " \u{1b}[1ma\u{1b}[0m  a title t…  0123\n\u{1b}[1mbb\u{1b}[0m  x           4567\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_column_without_a_cell_takes_no_room_and_no_line_ends_in_blanks() {
        assert_eq!(print(None, &[], &[["a", "", "b"], ["c", "", ""]]), "a  b\nc\n");
        assert_eq!(print::<2>(Some(10), &[], &[]), "");
    }

    #[test]
    fn on_a_narrow_terminal_the_last_column_is_cut_and_others_go_in_their_order() {
        let row = ["0123456789", "running", "3m", "a title that is quite long, and goes on"];
        assert_eq!(
            print(Some(60), &[1, 2], &[row]).trim_end(),
            "0123456789  running  3m  a title that is quite long, and go…"
        );
        assert_eq!(
            print(Some(40), &[1, 2], &[row]).trim_end(),
            "0123456789  3m  a title that is quite l…"
        );
        assert_eq!(
            print(Some(30), &[1, 2], &[row]).trim_end(),
            "0123456789  a title that is q…"
        );
        let mut out = Vec::new();
        let table = Table {
            cuttable: &[0],
            limit: Some(40),
            ..Table::default()
        };
        table
            .write(&mut out, &[row], |r| [r[3].to_owned(), r[1].to_owned()])
            .unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a title…  running\n");
        for limit in 1..60 {
            let line = print(Some(limit), &[1, 2], &[["01", "日本語", "x", "日本語日本語日本語"]]);
            assert!(width(line.trim_end()) <= limit.max(4), "{limit}: {line}");
        }
    }
}
