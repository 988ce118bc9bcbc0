//! The last line with a word: for what stands anywhere in a record and not near its end, such as a title.

use super::lines::{line_at, objects};
use memchr::memmem;
use std::ops::ControlFlow;

/// Lines that are parsed before the search gives up; the word may stand in lines that mean something else.
const TRIES: usize = 64;

/// Gives objects on lines that hold `word` to `take`, newest first, until it takes one.
///
/// A search for bytes comes first, because it runs some twenty times as fast as parsing.
pub fn last(bytes: &[u8], word: &str, mut take: impl FnMut(&str) -> bool) {
    let places: Vec<usize> = memmem::find_iter(bytes, word.as_bytes()).collect();
    let mut end = bytes.len();
    let mut tries = 0;
    for &at in places.iter().rev() {
        if at >= end {
            continue;
        }
        let line = line_at(bytes, at);
        // further places on the same line need no second look
        end = line.start;
        tries += 1;
        let found = objects(&bytes[line], &mut |text| {
            if take(text) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if found.is_break() || tries >= TRIES {
            return;
        }
    }
}
