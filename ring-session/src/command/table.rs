//! Columns for people.

use ring_session::text;
use std::io::{self, Write};

/// Writes rows with columns as wide as their longest cell, two blanks between; every cell is cleaned.
///
/// # Errors
/// Those of the writer.
pub fn write(out: &mut dyn Write, rows: &[Vec<String>]) -> io::Result<()> {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|r| r.iter().map(|c| text::for_terminal(c)).collect())
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|r| r.get(column))
            .map(|c| c.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width - cell.chars().count() + 2));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// The shortest beginning of an id, of 8 characters or more, that no other id shares.
pub fn short<'a>(id: &'a str, all: &[String]) -> &'a str {
    let shared = |other: &str| id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let longest = all.iter().filter(|o| *o != id).map(|o| shared(o)).max().unwrap_or(0);
    id.get(..(longest + 1).max(8)).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s79_the_short_id_is_unique_and_has_eight_characters() {
        let all = [
            "aaaaaaaaaa-1".to_owned(),
            "aaaaaaaaaa-2".into(),
            "bbbbbbbbbbbb".into(),
            "abc".into(),
        ];
        let short: Vec<&str> = all.iter().map(|id| short(id, &all)).collect();
        assert_eq!(short, ["aaaaaaaaaa-1", "aaaaaaaaaa-2", "bbbbbbbb", "abc"]);
    }

    #[test]
    fn s81_cells_are_cleaned_and_columns_stand_in_line() {
        let mut out = Vec::new();
        write(
            &mut out,
            &[vec!["a\u{1b}[31m".into(), "b".into()], vec!["ccc".into(), "d\n".into()]],
        )
        .unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a    b\nccc  d\n");
    }
}
