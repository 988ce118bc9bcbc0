//! JSON with the place of every value in its text, so that a person's file can be edited without writing it anew.
//!
//! Strict (RFC 8259): what this accepts every other reader accepts too. A byte order mark is passed over.

use std::fmt;

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 128;

/// A value and the bytes `start..end` that it takes in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// First byte.
    pub start: usize,
    /// Byte behind the last one.
    pub end: usize,
    /// What it is.
    pub value: Value,
}

/// What a node is. Scalars but texts are looked up in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Members in their order; a name may come twice.
    Object(Vec<Member>),
    /// Items.
    Array(Vec<Node>),
    /// Decoded.
    Text(String),
    /// A number, `true`, `false` or `null`.
    Other,
}

/// A member of an object; it takes the bytes from `start` to the end of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// First byte of the name's quote.
    pub start: usize,
    /// Decoded name.
    pub name: String,
    /// Its value.
    pub node: Node,
}

/// Where and why a text is not JSON, or not the JSON that was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Line, from 1.
    pub line: usize,
    /// For people.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl Fault {
    /// A fault at a byte of `text`.
    pub fn at(text: &str, offset: usize, what: impl Into<String>) -> Fault {
        let before = &text.as_bytes()[..offset.min(text.len())];
        Fault {
            line: 1 + before.iter().filter(|b| **b == b'\n').count(),
            what: what.into(),
        }
    }
}

impl Node {
    /// The value of the last member of that name, as JSON readers take it; none in anything but an object.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.members().iter().rev().find(|m| m.name == name).map(|m| &m.node)
    }

    /// The members, if it is an object.
    pub fn members(&self) -> &[Member] {
        match &self.value {
            Value::Object(members) => members,
            _ => &[],
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes that each member or item takes.
    pub fn children(&self) -> Vec<(usize, usize)> {
        match &self.value {
            Value::Object(members) => members.iter().map(|m| (m.start, m.node.end)).collect(),
            Value::Array(items) => items.iter().map(|n| (n.start, n.end)).collect(),
            _ => Vec::new(),
        }
    }
}

/// Reads a whole text.
///
/// # Errors
/// The first place that is not JSON.
pub fn parse(text: &str) -> Result<Node, Fault> {
    let start = if text.starts_with('\u{FEFF}') { 3 } else { 0 };
    let mut reader = Reader { text, at: start };
    let node = reader.value(0)?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(reader.fault("something follows the end of the JSON value"));
    }
    Ok(node)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn fault(&self, what: &str) -> Fault {
        Fault::at(self.text, self.at, what)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, depth: usize) -> Result<Node, Fault> {
        if depth > MAX_DEPTH {
            return Err(self.fault("nested too deeply"));
        }
        self.blanks();
        let start = self.at;
        let value = match self.peek() {
            Some(b'{') => Value::Object(self.object(depth)?),
            Some(b'[') => Value::Array(self.array(depth)?),
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node {
            start,
            end: self.at,
            value,
        })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Member>, Fault> {
        self.at += 1;
        let mut members = Vec::new();
        self.blanks();
        if self.take(b'}') {
            return Ok(members);
        }
        loop {
            self.blanks();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.fault("a member's name in double quotes is missing"));
            }
            let name = self.string()?;
            self.blanks();
            if !self.take(b':') {
                return Err(self.fault("a colon is missing"));
            }
            let node = self.value(depth + 1)?;
            members.push(Member { start, name, node });
            self.blanks();
            if self.take(b'}') {
                return Ok(members);
            }
            if !self.take(b',') {
                return Err(self.fault("a comma or the end of the object is missing"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Node>, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.take(b']') {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blanks();
            if self.take(b']') {
                return Ok(items);
            }
            if !self.take(b',') {
                return Err(self.fault("a comma or the end of the list is missing"));
            }
        }
    }

    fn string(&mut self) -> Result<String, Fault> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(self.fault("a text does not end")),
                Some(b'"') => break,
                Some(0..=0x1f) => return Err(self.fault("a control character in a text")),
                Some(b'\\') => self.escape()?,
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        let raw = &self.text[start..self.at];
        // Only half a surrogate pair fails here: legal JSON that is no text. It is never one of our names.
        Ok(serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned()))
    }

    fn escape(&mut self) -> Result<(), Fault> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                let digits = self.text.as_bytes().get(self.at + 1..self.at + 5);
                if !digits.is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit)) {
                    return Err(self.fault("a broken escape"));
                }
                self.at += 5;
            }
            _ => return Err(self.fault("a broken escape")),
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.fault("a broken number"));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, Fault> {
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Value::Other)
    }

    fn word(&mut self) -> Result<Value, Fault> {
        for word in ["true", "false", "null"] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(Value::Other);
            }
        }
        Err(self.fault("a JSON value is missing"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_value_knows_its_bytes() {
        let text = "\u{FEFF} {\"a\" : [1, \"b\\u00e9\"], \"a\":{} }\n";
        let root = parse(text).unwrap();
        assert_eq!(&text[root.start..root.end], "{\"a\" : [1, \"b\\u00e9\"], \"a\":{} }");
        let list = &root.members()[0].node;
        assert_eq!(&text[list.start..list.end], "[1, \"b\\u00e9\"]");
        assert!(matches!(&list.value, Value::Array(items) if items[1].text() == Some("bé")));
        assert_eq!(
            root.get("a").unwrap().value,
            Value::Object(vec![]),
            "the last one counts"
        );
    }

    #[test]
    fn a_fault_names_its_line() {
        assert_eq!(parse("{\n\"a\": 1,\n}").unwrap_err().line, 3);
        assert_eq!(parse("").unwrap_err().line, 1);
        assert!(parse(&"[".repeat(1000)).unwrap_err().what.contains("deep"));
    }

    proptest! {
        #[test]
        fn it_accepts_exactly_what_a_json_reader_accepts(
            text in r#"[\[\]{},:"a\\u0-9.eE+\- \ntrufalsn]{0,12}"#
        ) {
            let other = serde_json::from_str::<serde::de::IgnoredAny>(&text);
            prop_assert_eq!(parse(&text).is_ok(), other.is_ok(), "{:?}", text);
        }
    }
}
