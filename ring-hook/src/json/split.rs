//! Splits one JSON object or list into the texts of its members or items, and checks the grammar on the way.
//!
//! Strict (RFC 8259) and without a tree: an object of many members costs no more than reading over it. An agent waits
//! for each event, and this is most of what one costs; so it is written out here instead of going through a visitor.

/// How deep a value may nest: one level less than this.
pub const DEEPEST: u32 = crate::intake::DEEPEST;

/// Calls `f` with the raw name (quotes included) and the raw value of each member. None if `text` is not one JSON object
/// with nothing but white space around it; `f` may have been called by then.
pub fn members<'a>(text: &'a str, mut f: impl FnMut(&'a str, &'a str)) -> Option<()> {
    let mut reader = Reader { text, at: 0 };
    reader.blanks();
    reader.object(1, &mut f)?;
    reader.end()
}

/// Calls `f` with the raw text of each item until it gives back false. None if `text` is not one JSON list.
pub fn items<'a>(text: &'a str, mut f: impl FnMut(&'a str) -> bool) -> Option<()> {
    let mut reader = Reader { text, at: 0 };
    let mut wanted = true;
    reader.blanks();
    reader.list(1, &mut |item| wanted = wanted && f(item))?;
    reader.end()
}

/// Whether a text needs no decoding: no backslash is in it.
pub fn is_plain(text: &str) -> bool {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let backslash = |word: &[u8; 8]| zero_bytes(u64::from_le_bytes(*word) ^ (ONES * u64::from(b'\\'))) != 0;
    !words.iter().any(backslash) && !rest.contains(&b'\\')
}

/// How many bytes at the beginning are neither quote, backslash nor control byte: all of them, or a few less than that
/// where they end; looked at eight at a time.
pub fn plain_start(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    let mut count = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let quote = zero_bytes(word ^ (ONES * u64::from(b'"')));
        let odd = quote | zero_bytes(word ^ (ONES * u64::from(b'\\'))) | control;
        if odd != 0 {
            // borrows only disturb the bytes above the lowest one that is found
            return count + (odd.trailing_zeros() / 8) as usize;
        }
        count += 8;
    }
    count
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The highest bit of each byte that is 0; bytes above the lowest of them may be wrong.
const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGH
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

/// What stands behind the end of a text: no JSON holds it outside of texts, and none in them.
const END: u8 = 0;

impl<'a> Reader<'a> {
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(END)
    }

    fn blanks(&mut self) {
        while matches!(self.byte(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    fn end(&mut self) -> Option<()> {
        self.blanks();
        (self.at == self.text.len()).then_some(())
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        let there = self.byte() == byte;
        self.at += usize::from(there);
        there.then_some(())
    }

    /// What was read since `from`, which like `at` stands beside an ASCII byte.
    fn since(&self, from: usize) -> &'a str {
        self.text.get(from..self.at).unwrap_or_default()
    }

    fn object(&mut self, depth: u32, f: &mut impl FnMut(&'a str, &'a str)) -> Option<()> {
        self.take(b'{')?;
        self.blanks();
        if self.take(b'}').is_some() {
            return Some(());
        }
        loop {
            let from = self.at;
            self.string()?;
            let name = self.since(from);
            self.blanks();
            self.take(b':')?;
            self.blanks();
            let from = self.at;
            self.value(depth)?;
            f(name, self.since(from));
            self.blanks();
            if self.take(b',').is_none() {
                return self.take(b'}');
            }
            self.blanks();
        }
    }

    fn list(&mut self, depth: u32, f: &mut impl FnMut(&'a str)) -> Option<()> {
        self.take(b'[')?;
        self.blanks();
        if self.take(b']').is_some() {
            return Some(());
        }
        loop {
            let from = self.at;
            self.value(depth)?;
            f(self.since(from));
            self.blanks();
            if self.take(b',').is_none() {
                return self.take(b']');
            }
            self.blanks();
        }
    }

    /// One value inside of `depth` levels.
    fn value(&mut self, depth: u32) -> Option<()> {
        match self.byte() {
            b'"' => self.string(),
            b'{' | b'[' if depth + 1 >= DEEPEST => None,
            b'{' => self.object(depth + 1, &mut |_, _| {}),
            b'[' => self.list(depth + 1, &mut |_| {}),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let there = self.text.get(self.at..)?.starts_with(word);
        self.at += word.len();
        there.then_some(())
    }

    fn digits(&mut self) -> Option<()> {
        let from = self.at;
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
        (self.at > from).then_some(())
    }

    fn number(&mut self) -> Option<()> {
        self.take(b'-').unwrap_or_default();
        if self.take(b'0').is_none() {
            self.digits()?;
        }
        if self.take(b'.').is_some() {
            self.digits()?;
        }
        if matches!(self.byte(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.byte(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        self.take(b'"')?;
        loop {
            self.at += plain_start(self.text.as_bytes().get(self.at..).unwrap_or_default());
            match self.byte() {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.escape()?,
                END..0x20 => return None,
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        self.at += 1;
        let escape = self.byte();
        self.at += 1;
        match escape {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => {
                let digits = self.text.as_bytes().get(self.at..self.at + 4)?;
                self.at += 4;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::value::RawValue;
    use std::collections::BTreeMap;

    fn split(text: &str) -> Option<Vec<(&str, &str)>> {
        let mut found = Vec::new();
        members(text, |name, value| found.push((name, value))).map(|()| found)
    }

    #[test]
    fn members_are_the_texts_that_they_are() {
        let text = " {\"a\" : 1e400 ,\"b\\u0041\":[1, {\"x\":\"}\"}],\"\":\"\\\"\"}\n";
        let wanted = vec![
            ("\"a\"", "1e400"),
            ("\"b\\u0041\"", "[1, {\"x\":\"}\"}]"),
            ("\"\"", "\"\\\"\""),
        ];
        assert_eq!(split(text), Some(wanted));
        assert_eq!(split("{ }"), Some(vec![]));
    }

    #[test]
    fn items_are_taken_until_there_are_enough() {
        let mut found = Vec::new();
        let all = items("[1, [2,3] ,\"x\"]", |item| {
            found.push(item);
            found.len() < 2
        });
        assert_eq!((all, found), (Some(()), vec!["1", "[2,3]"]));
        assert_eq!(items("[1,]", |_| true), None);
    }

    #[test]
    fn what_is_not_json_is_none() {
        for inside in [
            "NaN",
            "+1",
            "01",
            "1.",
            ".5",
            "1e",
            "0x1",
            "-",
            "tru",
            "nul",
            "'a'",
            "\"a\tb\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"",
            "[",
            "[1 2]",
            "{\"a\"}",
            "{a:1}",
            "[1,]",
            "{\"b\":1,}",
            "",
            "1 2",
            "\u{a0}1",
        ] {
            assert_eq!(split(&format!("{{\"a\":{inside}}}")), None, "{inside}");
        }
        for text in ["", "{", "[]", "{}{}", "{} x", "null", "{,}"] {
            assert_eq!(split(text), None, "{text}");
        }
    }

    #[test]
    fn plain_texts_are_told_from_others_at_every_place() {
        for at in 0..20 {
            let mut text = "x".repeat(20);
            assert!(is_plain(&text) && plain_start(text.as_bytes()) == 16);
            text.insert(at, '\\');
            assert!(!is_plain(&text));
            for odd in ["\\", "\"", "\u{1f}", "\0"] {
                text.replace_range(at..=at, odd);
                assert_eq!(plain_start(text.as_bytes()), at.min(16), "{text:?}");
            }
            text.replace_range(at..=at, "\u{7f}é");
            assert_eq!(plain_start(text.as_bytes()), 16);
        }
    }

    #[test]
    fn a_bottomless_nest_is_none_and_overflows_nothing() {
        let nest = |n| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        assert!(split(&nest(998)).is_some());
        assert!(split(&nest(999)).is_none());
        assert!(split(&nest(1_000_000)).is_none());
    }

    proptest! {
        #[test]
        fn a_text_is_json_exactly_if_serde_json_says_so(text in "[{}\\[\\]\",:\\\\u0-9a-ftrulsn.eE+\\- \u{7f}é\u{1}]{0,24}") {
            for text in [text.clone(), format!("{{\"a\":{text}}}"), format!("{{\"a\":\"{text}\"}}")] {
                let is_json = serde_json::from_str::<&RawValue>(&text).is_ok();
                prop_assert_eq!(split(&text).is_some(), is_json && text.trim_start().starts_with('{'), "{}", text);
            }
        }

        #[test]
        fn written_values_come_back(values in proptest::collection::vec((".{0,12}", any::<i64>(), ".{0,40}"), 0..5)) {
            let map: BTreeMap<String, serde_json::Value> = values
                .into_iter()
                .map(|(name, number, text)| (name, serde_json::json!([number, text, {"x": null}])))
                .collect();
            let text = serde_json::to_string_pretty(&map).unwrap();
            let found: BTreeMap<String, serde_json::Value> = split(&text)
                .unwrap()
                .into_iter()
                .map(|(n, v)| (serde_json::from_str(n).unwrap(), serde_json::from_str(v).unwrap()))
                .collect();
            prop_assert_eq!(found, map);
        }
    }
}
