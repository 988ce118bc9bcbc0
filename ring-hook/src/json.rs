//! One JSON object, member by member: each value stays the text that it is until somebody needs it.
//!
//! No tree is built. A number that no type holds, a text of megabytes, a nest a hundred deep in a member that nobody
//! asks for: none of it matters, and a member is decoded only when it is looked at.

pub mod split;

use crate::fold;
use std::borrow::Cow;

/// The members of one object, in their order. Of members with the same name the last counts, in the first one's place.
#[derive(Debug, Default)]
pub struct Object<'a> {
    members: Vec<Member<'a>>,
    /// A bit for each name: most look-ups, which are for names that are not there, end here.
    names: u64,
}

#[derive(Debug)]
struct Member<'a> {
    name: Cow<'a, str>,
    folded: u64,
    value: Value<'a>,
}

/// A name that is looked for, with its hash: most are known when the program is built.
#[derive(Clone, Copy, Debug)]
pub struct Name<'n> {
    text: &'n str,
    folded: u64,
}

/// A name to look for.
pub const fn name(text: &str) -> Name<'_> {
    Name {
        text,
        folded: fold::hash(text),
    }
}

impl<'n> From<&'n str> for Name<'n> {
    fn from(text: &'n str) -> Self {
        name(text)
    }
}

/// One value as it stands in the text.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a>(&'a str);

/// The longest name, with quotes, that anybody asks for. Longer ones are left out, so that hostile objects stay small.
const NAME_LIMIT: usize = 48;
/// The most members that are kept. No agent sends a tenth of it.
const MEMBERS_LIMIT: usize = 4096;

impl<'a> Object<'a> {
    /// The object that is all of `text`. None if it is anything else, or not JSON.
    pub fn parse(text: &'a str) -> Option<Object<'a>> {
        let mut object = Object {
            members: Vec::with_capacity(24),
            names: 0,
        };
        split::members(text, |name, value| object.add(name, Value(value)))?;
        Some(object)
    }

    fn add(&mut self, name: &'a str, value: Value<'a>) {
        if name.len() > NAME_LIMIT || self.members.len() >= MEMBERS_LIMIT {
            return;
        }
        let name = Value(name).text().unwrap_or_default();
        let folded = fold::hash(&name);
        if self.names & bit(folded) != 0
            && let Some(earlier) = self.members.iter_mut().find(|m| m.name == name)
        {
            earlier.value = value;
            return;
        }
        self.names |= bit(folded);
        self.members.push(Member { name, folded, value });
    }

    /// The members whose name may be this one: none of them, most of the time.
    fn like(&self, name: Name<'_>) -> &[Member<'a>] {
        if self.names & bit(name.folded) == 0 {
            &[]
        } else {
            &self.members
        }
    }

    /// The values under a name: exact spelling first, then others that fold to it, in the order of the object.
    pub fn named<'s, N: Into<Name<'s>>>(&'s self, name: N) -> impl Iterator<Item = Value<'a>> + use<'a, 's, N> {
        let name = name.into();
        let some = self.like(name);
        let exact = some.iter().filter(move |m| m.name == name.text);
        let others = some
            .iter()
            .filter(move |m| m.folded == name.folded && m.name != name.text && fold::same(&m.name, name.text));
        exact.chain(others).map(|m| m.value)
    }

    /// The value with exactly this name.
    pub fn exact<'n>(&self, name: impl Into<Name<'n>>) -> Option<Value<'a>> {
        let name = name.into();
        self.like(name).iter().find(|m| m.name == name.text).map(|m| m.value)
    }

    /// The value with exactly this name, if it is a text that is not blank.
    pub fn exact_text<'n>(&self, name: impl Into<Name<'n>>) -> Option<Cow<'a, str>> {
        self.exact(name).and_then(Value::text).filter(|t| !t.trim().is_empty())
    }
}

/// The bit of a hash in [`Object::names`].
fn bit(hash: u64) -> u64 {
    1 << (hash >> 58)
}

impl<'a> Value<'a> {
    /// The JSON text.
    pub fn raw(self) -> &'a str {
        self.0
    }

    /// A text, decoded; lone surrogates become U+FFFD.
    pub fn text(self) -> Option<Cow<'a, str>> {
        self.inside().map(decoded)
    }

    /// The first `limit` bytes of a text, or a few less; cut and decoded.
    pub fn start_of_text(self, limit: usize) -> Option<Cow<'a, str>> {
        let inside = self.inside()?;
        Some(decoded(&inside[..inside.floor_char_boundary(limit)]))
    }

    /// The last `limit` bytes of a text, or a few less; cut and decoded.
    pub fn end_of_text(self, limit: usize) -> Option<Cow<'a, str>> {
        let inside = self.inside()?;
        Some(decoded(
            &inside[inside.ceil_char_boundary(inside.len().saturating_sub(limit))..],
        ))
    }

    fn inside(self) -> Option<&'a str> {
        self.0.strip_prefix('"')?.strip_suffix('"')
    }

    /// true or false.
    pub fn boolean(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// A finite number.
    pub fn number(self) -> Option<f64> {
        let starts = self.0.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        let value = if starts { self.0.parse::<f64>().ok() } else { None };
        value.filter(|v| v.is_finite())
    }

    /// An object.
    pub fn object(self) -> Option<Object<'a>> {
        if self.0.starts_with('{') {
            Object::parse(self.0)
        } else {
            None
        }
    }

    /// A list; at most `limit` items are taken.
    pub fn list(self, limit: usize) -> Option<Vec<Value<'a>>> {
        if !self.0.starts_with('[') {
            return None;
        }
        let mut found = Vec::new();
        split::items(self.0, |item| {
            found.push(Value(item));
            found.len() < limit
        })?;
        Some(found)
    }

    /// Whether it is a list with something in it.
    pub fn is_filled_list(self) -> bool {
        let inside = self.0.strip_prefix('[').unwrap_or("").trim_start();
        !inside.is_empty() && !inside.starts_with(']')
    }
}

fn decoded(inside: &str) -> Cow<'_, str> {
    if split::is_plain(inside) {
        Cow::Borrowed(inside)
    } else {
        Cow::Owned(unescape(inside))
    }
}

/// What stands between the quotes of a JSON text. The grammar was checked before, so an odd escape is kept as it is.
fn unescape(inside: &str) -> String {
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(escape) = rest.chars().next() else { break };
        rest = &rest[escape.len_utf8()..];
        match escape {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => {
                let (c, after) = unicode_escape(rest);
                out.push(c);
                rest = after;
            }
            other => out.push(other),
        }
    }
    out.push_str(rest);
    out
}

fn code_unit(text: &str) -> Option<u32> {
    text.get(..4).and_then(|h| u32::from_str_radix(h, 16).ok())
}

/// The character of the digits behind `\u`, with the second half of a pair if one follows; and what is left.
fn unicode_escape(rest: &str) -> (char, &str) {
    const LOST: char = char::REPLACEMENT_CHARACTER;
    let Some(first) = code_unit(rest) else {
        return (LOST, rest);
    };
    let after = &rest[4..];
    if !(0xd800..0xdc00).contains(&first) {
        return (char::from_u32(first).unwrap_or(LOST), after);
    }
    let second = after.strip_prefix("\\u").and_then(code_unit);
    match second.filter(|low| (0xdc00..0xe000).contains(low)) {
        Some(low) => {
            let code = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
            (char::from_u32(code).unwrap_or(LOST), &after[6..])
        }
        None => (LOST, after),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_exact_spelling_comes_before_the_order() {
        let object = Object::parse(r#"{"threadId":"b","thread_id":"a","Thread-Id":"c"}"#).unwrap();
        let found: Vec<_> = object.named(name("thread_id")).filter_map(Value::text).collect();
        assert_eq!(found, ["a", "b", "c"]);
    }

    #[test]
    fn of_the_same_name_twice_the_last_counts() {
        let object = Object::parse(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(object.exact(name("a")).unwrap().raw(), "3");
    }

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_joined() {
        let of = |t| Value(t).text().unwrap().into_owned();
        assert_eq!(of(r#""a\udc00b""#), "a\u{fffd}b");
        assert_eq!(of(r#""\ud83c\udfa4 ok""#), "🎤 ok");
        assert_eq!(of(r#""\ud83cx\ud83c""#), "\u{fffd}x\u{fffd}");
        assert_eq!(of(r#""\ud83c\ud83c\udfa4""#), "\u{fffd}🎤");
    }

    #[test]
    fn long_texts_are_cut_between_characters_before_they_are_decoded() {
        let raw = format!("\"a\\n{}z\"", "é".repeat(100));
        assert_eq!(Value(&raw).start_of_text(6).unwrap(), "a\né");
        assert_eq!(Value(&raw).end_of_text(4).unwrap(), "éz");
        assert_eq!(Value("\"ab\"").start_of_text(9).unwrap(), "ab");
        assert_eq!(Value("\"ab\"").end_of_text(9).unwrap(), "ab");
        assert_eq!(Value("7").start_of_text(9), None);
    }

    #[test]
    fn numbers_that_no_type_holds_are_absent() {
        assert_eq!(Value(&"9".repeat(5000)).number(), None);
        assert_eq!(Value("1.0").number(), Some(1.0));
        assert_eq!(Value("\"1\"").number(), None);
    }

    #[test]
    fn a_list_is_filled_or_not() {
        for (raw, filled) in [
            ("[]", false),
            ("[ ]", false),
            ("[0]", true),
            ("{\"a\":1}", false),
            ("\"[1]\"", false),
        ] {
            assert_eq!(Value(raw).is_filled_list(), filled, "{raw}");
        }
    }

    #[test]
    fn what_is_no_object_is_none() {
        for text in [
            "",
            "[]",
            "{",
            "{} x",
            "{\"a\":NaN}",
            "{\"a\":+1}",
            "{\"a\":0x1}",
            "{'a':1}",
            "{\"a\":1,}",
        ] {
            assert!(Object::parse(text).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn texts_come_back_as_serde_json_reads_them(text in ".*") {
            let raw = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(Value(&raw).text().unwrap(), text);
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[{}\\[\\]\",:\\\\u0-9a-fdDtrueN -]{0,60}") {
            if let Some(object) = Object::parse(&text) {
                for m in &object.members {
                    let _seen = (m.value.text(), m.value.number(), m.value.list(9), m.value.is_filled_list());
                }
            }
        }
    }
}
