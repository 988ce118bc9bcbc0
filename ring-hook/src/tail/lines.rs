//! The JSON objects of a record, newest first, whatever state its lines are in.
//!
//! Records are written by programs that crash: a line may be half written, glued to the next one (`}{`), torn by a run
//! of NUL bytes or cut by the window that was read. Such a line is skipped or taken apart; the others count.

use memchr::{memchr, memrchr};
use serde_json::value::RawValue;
use std::ops::{ControlFlow, Range};

/// A longer line is skipped unparsed.
const LINE_LIMIT: usize = 4 * 1024 * 1024;

/// The lines of `bytes`, last one first. The first line is left out unless `whole`: the window may have cut it.
pub struct Backwards<'a> {
    bytes: &'a [u8],
    end: Option<usize>,
    whole: bool,
}

impl<'a> Backwards<'a> {
    /// Over a window; `whole`: it begins at the start of the file.
    pub fn new(bytes: &'a [u8], whole: bool) -> Backwards<'a> {
        Backwards {
            bytes,
            end: Some(bytes.len()),
            whole,
        }
    }
}

impl<'a> Iterator for Backwards<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = self.end?;
        let line = match memrchr(b'\n', &self.bytes[..end]) {
            Some(at) => {
                self.end = Some(at);
                &self.bytes[at + 1..end]
            }
            None => {
                self.end = None;
                if !self.whole {
                    return None;
                }
                &self.bytes[..end]
            }
        };
        Some(line)
    }
}

/// Gives each object to `visit`, newest first, until it breaks off.
pub fn each_back(bytes: &[u8], whole: bool, mut visit: impl FnMut(&str) -> ControlFlow<()>) {
    for line in Backwards::new(bytes, whole) {
        if objects(line, &mut visit).is_break() {
            return;
        }
    }
}

/// The lines of `bytes`, first one first.
pub fn forwards(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let end = memchr(b'\n', bytes);
        rest = end.map(|at| &bytes[at + 1..]);
        Some(&bytes[..end.unwrap_or(bytes.len())])
    })
}

/// Where the line around a position begins and ends.
pub fn line_at(bytes: &[u8], at: usize) -> Range<usize> {
    let start = memrchr(b'\n', &bytes[..at]).map_or(0, |i| i + 1);
    let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |i| at + i);
    start..end
}

/// Gives the objects of one line to `visit`, the last one first.
pub fn objects(line: &[u8], visit: &mut impl FnMut(&str) -> ControlFlow<()>) -> ControlFlow<()> {
    let line = trim(line);
    if line.first() != Some(&b'{') || line.len() > LINE_LIMIT {
        return ControlFlow::Continue(());
    }
    let text = String::from_utf8_lossy(line);
    if is_one_object(&text) {
        return visit(&text);
    }
    for part in apart(&text).into_iter().rev() {
        visit(part)?;
    }
    ControlFlow::Continue(())
}

/// White space, NUL bytes and a byte order mark around a line.
fn trim(line: &[u8]) -> &[u8] {
    let blank = |b: u8| b.is_ascii_whitespace() || b == 0;
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let start = line.iter().position(|&b| !blank(b)).unwrap_or(line.len());
    let end = line.iter().rposition(|&b| !blank(b)).map_or(start, |i| i + 1);
    let line = &line[start..end];
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
}

/// Whether a line can be handed on as it is. Only a glued or torn one is looked at in full: that costs a second pass.
fn is_one_object(line: &str) -> bool {
    let glued = memchr::memmem::find(line.as_bytes(), b"}{").is_some() || memchr(0, line.as_bytes()).is_some();
    line.ends_with('}') && !glued
}

/// The whole objects of a glued or torn line.
fn apart(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find('{') {
        rest = &rest[start..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        match stream.next() {
            Some(Ok(object)) => {
                found.push(object.get());
                rest = &rest[stream.byte_offset()..];
            }
            // half an object: what follows it on its line cannot be told from its inside, but behind NUL bytes
            _ => match memchr(0, rest.as_bytes()) {
                Some(at) => rest = &rest[at..],
                None => break,
            },
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(bytes: &[u8], whole: bool) -> Vec<String> {
        let mut found = Vec::new();
        each_back(bytes, whole, |o| {
            found.push(o.to_string());
            ControlFlow::Continue(())
        });
        found
    }

    #[test]
    fn c39_lines_in_any_state_the_others_count() {
        for (bytes, want) in [
            (&b"{\"a\":1}\n{\"b\":2}\n"[..], &["{\"b\":2}", "{\"a\":1}"][..]),
            (b"{\"a\":1}\r\n{\"b\":2}\r\n", &["{\"b\":2}", "{\"a\":1}"]),
            (b"\xef\xbb\xbf{\"a\":1}\n\n", &["{\"a\":1}"]),
            (b"{\"a\":1}{\"b\":2}\n", &["{\"b\":2}", "{\"a\":1}"]),
            (b"{\"a\":\"}{\"}\n", &["{\"a\":\"}{\"}"]),
            (b"\0\0\0{\"a\":1}\0\0\n", &["{\"a\":1}"]),
            (b"{\"a\":1}\0\0\0{\"b\":2}\n", &["{\"b\":2}", "{\"a\":1}"]),
            (b"{\"a\":\"ha\0\0\0{\"b\":2}\n", &["{\"b\":2}"]),
            (b"[1,2]\n[{\"a\":1}]\n\"x\"\nnull\n{\"b\":2}\n", &["{\"b\":2}"]),
            (b"{\"a\":1}\n{\"b\":", &["{\"a\":1}"]),
            (b"", &[]),
            (b"\n\n", &[]),
        ] {
            assert_eq!(back(bytes, true), want, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn the_first_line_of_a_window_is_cut() {
        assert_eq!(back(b"\"x\"}{\"a\":1}\n{\"b\":2}", false), ["{\"b\":2}"]);
        assert!(back(b"{\"a\":1}", false).is_empty());
    }

    #[test]
    fn forwards_gives_the_same_lines() {
        let lines: Vec<&[u8]> = forwards(b"one\ntwo\n\nthree").collect();
        assert_eq!(lines, [&b"one"[..], b"two", b"", b"three"]);
        let mut back: Vec<&[u8]> = Backwards::new(b"one\ntwo\n\nthree", true).collect();
        back.reverse();
        assert_eq!(back, lines);
    }

    #[test]
    fn a_line_over_4_mib_is_skipped_unparsed() {
        let mut bytes = b"{\"a\":1}\n{\"b\":\"".to_vec();
        bytes.resize(bytes.len() + LINE_LIMIT, b'x');
        bytes.extend_from_slice(b"\"}\n");
        assert_eq!(back(&bytes, true), ["{\"a\":1}"]);
    }
}
