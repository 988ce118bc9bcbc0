//! Lines of a growing file, looked for from its end.
//!
//! Transcripts, histories and event lines only grow, and what is looked for in them is nearly always near their end. So
//! windows are read from there, and of a window only the lines that hold a given text are looked at. The text is that
//! of JSON strings as programs write them; a line that spells one otherwise is not found.

use crate::transcript::part;
use memchr::{memchr, memmem, memrchr};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// The first window, in bytes.
const WINDOW: u64 = 64 * 1024;
/// No window is larger, unless a line is.
const LARGEST: u64 = 1024 * 1024;

/// Bytes of a file in which lines are looked for. A line that begins before `from` is looked at without its beginning.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'a> {
    /// The file; a missing one is empty.
    pub path: &'a Path,
    /// First byte.
    pub from: u64,
    /// Behind the last byte.
    pub to: u64,
}

/// A text as it stands in JSON, with its quotes.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Stretch<'_> {
    /// Gives `found` each line that holds `text`, the last one first. Ends when it breaks, or when `enough` says of the
    /// first line of a window that nothing before it counts.
    ///
    /// # Errors
    /// Those of the system.
    pub fn lines_with<T>(
        self,
        text: &str,
        mut found: impl FnMut(&[u8]) -> ControlFlow<T>,
        enough: impl Fn(&[u8]) -> bool,
    ) -> io::Result<Option<T>> {
        let finder = memmem::FinderRev::new(text);
        let (mut to, mut window) = (self.to, WINDOW);
        while to > self.from {
            let from = to.saturating_sub(window).max(self.from);
            let bytes = part(self.path, from, to)?;
            let torn = match (from == self.from, memchr(b'\n', &bytes)) {
                (true, _) => 0,
                (false, Some(end)) if end + 1 < bytes.len() => end + 1,
                (false, _) => {
                    window = window.saturating_mul(4); // one line fills the window
                    continue;
                }
            };
            let whole = bytes.get(torn..).unwrap_or_default();
            let mut before = whole.len();
            while let Some(at) = finder.rfind(&whole[..before]) {
                let start = memrchr(b'\n', &whole[..at]).map_or(0, |end| end + 1);
                let end = memchr(b'\n', &whole[at..]).map_or(whole.len(), |end| at + end);
                if let ControlFlow::Break(value) = found(&whole[start..end]) {
                    return Ok(Some(value));
                }
                before = start;
            }
            if enough(whole.split(|b| *b == b'\n').next().unwrap_or_default()) {
                return Ok(None);
            }
            to = from + torn as u64;
            window = window.saturating_mul(2).min(LARGEST);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn search(text: &str, from: u64, needle: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, text).unwrap();
        let stretch = Stretch {
            path: &path,
            from,
            to: text.len() as u64,
        };
        let mut lines = Vec::new();
        let none: Option<()> = stretch
            .lines_with(
                needle,
                |l| {
                    lines.push(String::from_utf8_lossy(l).into_owned());
                    ControlFlow::Continue(())
                },
                |_| false,
            )
            .unwrap();
        assert!(none.is_none());
        lines
    }

    #[test]
    fn lines_come_from_the_end_each_once_and_whole() {
        assert_eq!(search("a1\nb\na2 a2\nc\na3", 0, "a"), ["a3", "a2 a2", "a1"]);
        assert_eq!(search("a1\na2\n", 3, "a"), ["a2"]);
        assert!(search("", 0, "a").is_empty());
    }

    #[test]
    fn a_line_longer_than_a_window_is_found() {
        let long = "x".repeat(200 * 1024);
        let text = format!("first\n{long}needle{long}\nlast\n");
        assert_eq!(search(&text, 0, "needle").len(), 1);
        assert_eq!(search(&text, 0, "first"), ["first"]);
    }

    #[test]
    fn a_missing_file_holds_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("none");
        let stretch = Stretch {
            path: &path,
            from: 0,
            to: 0,
        };
        let found = stretch.lines_with("a", |_| ControlFlow::Break(()), |_| false).unwrap();
        assert!(found.is_none());
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_a_reader_of_the_whole_file_finds(
            sizes in prop::collection::vec((0usize..60_000, any::<bool>()), 0..12)
        ) {
            let lines: Vec<String> = sizes
                .iter()
                .map(|(size, has)| format!("{}{}", "x".repeat(*size), if *has { "needle" } else { "" }))
                .collect();
            let mut expected: Vec<String> = lines.iter().filter(|l| l.contains("needle")).cloned().collect();
            expected.reverse();
            prop_assert_eq!(search(&lines.join("\n"), 0, "needle"), expected);
        }
    }
}
