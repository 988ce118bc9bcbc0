//! From bytes to the text of one JSON object (ring-hook(1), INPUT).
//!
//! Agents are careless with a hook's stdin: some leave the pipe open behind the object, some send a byte order mark,
//! control bytes or halves of characters. What ends a payload is therefore its own closing brace, never the end of the
//! stream, and what is broken inside texts is repaired once.

use ring_session::{Code, Refusal};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::borrow::Cow;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// The largest payload that is taken, in bytes.
pub const LARGEST: usize = 32 * 1024 * 1024;
/// How deep a payload may nest: one level less than this.
pub const DEEPEST: u32 = 1000;
/// How long an unfinished payload is waited for.
pub const PATIENCE: Duration = Duration::from_secs(1);
/// How long the rest of a refused payload is waited for, so that its writer does not meet a closed pipe.
const DRAIN: Duration = Duration::from_millis(50);

/// Room for a first read: most payloads fit.
const FIRST_ROOM: usize = 16 * 1024;
/// Less room than this is not worth a read.
const LEAST_ROOM: usize = 4 * 1024;

/// Where a payload ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Not in what was fed.
    More,
    /// Behind that many bytes of the last feed.
    Whole(usize),
    /// It is none: something else before the brace, or too deep.
    Bad,
}

/// Finds the closing brace of the first object, over any number of pieces.
#[derive(Debug, Default)]
pub struct Scanner {
    depth: u32,
    in_text: bool,
    escaped: bool,
    /// Bytes of a byte order mark that were seen.
    mark: usize,
    bad: bool,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Scanner {
    /// Reads on. After [`Progress::Whole`] or [`Progress::Bad`] nothing more is to be fed.
    pub fn feed(&mut self, piece: &[u8]) -> Progress {
        if self.bad {
            return Progress::Bad;
        }
        let mut at = 0;
        while let Some(&byte) = piece.get(at) {
            if self.in_text {
                if self.escaped {
                    self.escaped = false;
                    at += 1;
                    continue;
                }
                match memchr::memchr2(b'"', b'\\', &piece[at..]) {
                    None => return Progress::More,
                    Some(skip) => {
                        at += skip + 1;
                        self.escaped = piece[at - 1] == b'\\';
                        self.in_text = self.escaped;
                    }
                }
                continue;
            }
            at += 1;
            match byte {
                b'{' if self.depth > 0 || self.mark.is_multiple_of(3) => self.depth += 1,
                _ if self.depth == 0 => {
                    let of_mark = self.mark < 3 && byte == BYTE_ORDER_MARK[self.mark];
                    if of_mark {
                        self.mark += 1;
                    } else if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') || !self.mark.is_multiple_of(3) {
                        self.bad = true;
                    }
                }
                b'"' => self.in_text = true,
                b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Progress::Whole(at);
                    }
                }
                _ => {}
            }
            if self.bad || self.depth >= DEEPEST {
                self.bad = true;
                return Progress::Bad;
            }
        }
        Progress::More
    }
}

fn bad(text: &str) -> Refusal {
    Refusal::new(Code::BadPayload, text)
}

/// Reads one object from a stream: to its closing brace and no further, waiting for at most `patience` in
/// all. `seen` grows by what came, whether it was an object or not.
///
/// # Errors
/// `BAD_PAYLOAD` if something else comes, or nothing; `STDIN_TIMEOUT`; `PAYLOAD_TOO_LARGE` after it was read to its
/// end; `IO`.
pub fn read(stream: impl AsFd, patience: Duration, seen: &mut usize) -> Result<Vec<u8>, Refusal> {
    let mut patience = patience;
    let (mut bytes, mut scanner, mut large) = (Vec::with_capacity(FIRST_ROOM), Scanner::default(), false);
    loop {
        if bytes.capacity() - bytes.len() < LEAST_ROOM {
            bytes.reserve(bytes.len());
        }
        let from = bytes.len();
        let count = read_some(&stream, &mut bytes, &mut patience)?;
        *seen += count;
        if count == 0 {
            return Err(match (large, bytes.iter().all(u8::is_ascii_whitespace)) {
                (true, _) => too_large(),
                (false, true) => bad("stdin is empty; a payload is one JSON object"),
                (false, false) => bad("the payload is cut off: its object never closes"),
            });
        }
        match scanner.feed(&bytes[from..]) {
            Progress::Whole(end) if !large && from + end <= LARGEST => {
                bytes.truncate(from + end);
                return Ok(bytes);
            }
            Progress::Whole(_) => return Err(too_large()),
            Progress::Bad => {
                *seen += drain(&stream, patience.min(DRAIN));
                return Err(if large {
                    too_large()
                } else {
                    bad("stdin holds no JSON object, or one nested too deep")
                });
            }
            Progress::More => {}
        }
        if large || bytes.len() > LARGEST {
            large = true;
            bytes.clear();
        }
    }
}

/// The refusal of a payload over [`LARGEST`].
pub fn too_large() -> Refusal {
    Refusal::new(
        Code::PayloadTooLarge,
        format!("the payload is larger than {} MiB", LARGEST >> 20),
    )
}

/// Reads what is there and fits in behind `into`, waiting for it at most as long as there is patience, which grows shorter by that. 0 at the end
/// of the stream.
fn read_some(stream: &impl AsFd, into: &mut Vec<u8>, patience: &mut Duration) -> Result<usize, Refusal> {
    let failed = |e: Errno| Refusal::new(Code::Io, format!("cannot read stdin: {e}"));
    loop {
        let asked = Instant::now();
        let limit = Timespec::try_from(*patience).ok();
        let ready = poll(&mut [PollFd::new(stream, PollFlags::IN)], limit.as_ref());
        *patience = patience.saturating_sub(asked.elapsed());
        match ready {
            Ok(0) => {
                let text = "no whole payload came in time; a hook's stdin is one JSON object";
                return Err(Refusal::new(Code::StdinTimeout, text));
            }
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(e) => return Err(failed(e)),
        }
        match rustix::io::read(stream, spare_capacity(into)) {
            Ok(count) => return Ok(count),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(e) => return Err(failed(e)),
        }
    }
}

/// Reads what is still on its way of a payload that is refused, and counts it.
fn drain(stream: &impl AsFd, mut patience: Duration) -> usize {
    let (mut waste, mut all) = (Vec::with_capacity(FIRST_ROOM), 0);
    while let Ok(count @ 1..) = read_some(stream, &mut waste, &mut patience) {
        all += count;
        waste.clear();
    }
    all
}

/// The bytes as text, without a byte order mark and blanks in front. Bytes that are no UTF-8 become U+FFFD.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.trim_ascii_start();
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii_start();
    // the check alone is much faster than the search for what is to be replaced
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// The repair pass, for a text that did not parse: raw control bytes inside of texts become escapes, lone halves of
/// surrogate pairs U+FFFD.
pub fn repair(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let (mut in_text, mut chars) = (false, text.char_indices().peekable());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                in_text = !in_text;
                out.push(c);
            }
            '\\' if in_text => {
                let unit = |from: usize| {
                    let digits = text
                        .get(from..)
                        .and_then(|t| t.strip_prefix("\\u"))
                        .and_then(|t| t.get(..4));
                    digits.and_then(|d| u32::from_str_radix(d, 16).ok())
                };
                let mut skip = 1;
                match unit(at) {
                    Some(0xd800..0xdc00) if matches!(unit(at + 6), Some(0xdc00..0xe000)) => {
                        out.push_str(&text[at..at + 12]);
                        skip = 11;
                    }
                    Some(0xd800..0xe000) => {
                        out.push_str("\\ufffd");
                        skip = 5;
                    }
                    _ => {
                        out.push(c);
                        out.extend(chars.peek().map(|(_, next)| *next));
                    }
                }
                for _ in 0..skip {
                    chars.next();
                }
            }
            c if in_text && c < ' ' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(bytes: &[u8]) -> Progress {
        Scanner::default().feed(bytes)
    }

    #[test]
    fn an_object_ends_at_its_own_brace() {
        assert_eq!(whole(b"{} x"), Progress::Whole(2));
        assert_eq!(whole(b"\xef\xbb\xbf \r\n{\"a\":\"}\\\"}\"}{"), Progress::Whole(18));
        assert_eq!(whole(b"{\"a\":[{}"), Progress::More);
    }

    #[test]
    fn anything_else_before_the_brace_is_bad() {
        for bytes in [
            &b"[]"[..],
            b"null",
            b"// c\n{}",
            b"\0{",
            b"\xff\xfe{\0",
            b"\xef{}",
            b"}",
            b"\xef\xbb\xbf\xef{}",
        ] {
            assert_eq!(whole(bytes), Progress::Bad, "{bytes:?}");
        }
        assert_eq!(whole(b" \n"), Progress::More);
    }

    #[test]
    fn h59_a_bottomless_nest_is_bad_and_a_deep_one_is_not() {
        let nest = |n| format!("{{\"x\":{}{}}}", "[".repeat(n), "]".repeat(n));
        assert!(matches!(whole(nest(100).as_bytes()), Progress::Whole(_)));
        assert!(matches!(whole(nest(998).as_bytes()), Progress::Whole(_)));
        assert_eq!(whole(nest(999).as_bytes()), Progress::Bad);
        assert_eq!(whole(nest(100_000).as_bytes()), Progress::Bad);
    }

    #[test]
    fn the_repair_pass_mends_texts_and_nothing_else() {
        assert_eq!(repair("{\"a\":\"x\u{1}\n\"}\n"), "{\"a\":\"x\\u0001\\u000a\"}\n");
        assert_eq!(
            repair(r#"{"a\ud800":"\ud83c\udfa4\udc00"}"#),
            r#"{"a\ufffd":"\ud83c\udfa4\ufffd"}"#
        );
        assert_eq!(repair(r#"{"a":"\\ud800 \" b"}"#), r#"{"a":"\\ud800 \" b"}"#);
    }

    #[test]
    fn h58_an_open_pipe_behind_the_object_is_not_waited_for() {
        let (from, to) = rustix::pipe::pipe().unwrap();
        rustix::io::write(&to, b" {\"a\":1}\n").unwrap();
        assert_eq!(read(&from, PATIENCE, &mut 0).unwrap(), b" {\"a\":1}");
        rustix::io::write(&to, b"{\"a\":").unwrap();
        let late = read(&from, Duration::from_millis(30), &mut 0).unwrap_err();
        assert_eq!(late.code, Code::StdinTimeout);
        drop(to);
        assert_eq!(read(&from, PATIENCE, &mut 0).unwrap_err().code, Code::BadPayload);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "[ {}\\[\\]\"\\\\a:é]{0,40}", cut in 0usize..40) {
            let bytes = text.as_bytes();
            let cut = cut.min(bytes.len());
            let mut scanner = Scanner::default();
            let in_two = match scanner.feed(&bytes[..cut]) {
                Progress::More => match scanner.feed(&bytes[cut..]) {
                    Progress::Whole(n) => Progress::Whole(cut + n),
                    other => other,
                },
                other => other,
            };
            prop_assert_eq!(in_two, whole(bytes));
        }

        #[test]
        fn a_written_object_is_found_whole(names in proptest::collection::vec(".{0,8}", 0..6), behind in ".{0,9}") {
            let map: serde_json::Map<_, _> = names.iter().map(|n| (n.clone(), serde_json::json!([n, {"k": n}]))).collect();
            let written = serde_json::Value::Object(map).to_string();
            prop_assert_eq!(whole(format!("{written}{behind}").as_bytes()), Progress::Whole(written.len()));
        }

        #[test]
        fn repaired_texts_hold_no_raw_control_bytes(inside in "[^\"\\\\]{0,40}") {
            let repaired = repair(&format!("{{\"a\":\"{inside}\"}}"));
            prop_assert!(crate::json::Object::parse(&repaired).is_some());
        }
    }
}
