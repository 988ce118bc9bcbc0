//! The little JSON that a row needs, without a tree: a value reads itself from its raw text.
//!
//! A text is checked once, members and items are then slices of it. So numbers that no type holds and texts
//! that no `str` holds cost nothing and survive.

use crate::json::split;
use std::fmt::Write;

/// A value of a row.
pub trait Value: Sized + Default {
    /// From its JSON text. None: the text is of another type.
    fn read(raw: &str) -> Option<Self>;
    /// Appends its JSON text.
    fn write(&self, out: &mut String);
}

/// Calls `f` with the raw name (quotes included) and the raw value of each member. None if `raw` is no JSON object.
/// A name that is written with escapes is given without them if it can be.
pub fn each_member(raw: &str, mut f: impl FnMut(&str, &str)) -> Option<()> {
    split::members(raw, |name, value| {
        if !split::is_plain(name)
            && let Some(plain) = String::read(name)
        {
            let mut quoted = String::with_capacity(name.len());
            plain.write(&mut quoted);
            f(&quoted, value);
        } else {
            f(name, value);
        }
    })
}

fn items(raw: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    split::items(raw, |item| {
        found.push(item);
        true
    })?;
    Some(found)
}

/// Appends a text with quotes and what must be escaped.
pub fn quote(text: &str, out: &mut String) {
    out.push('"');
    let mut from = 0;
    let plain = split::plain_start(text.as_bytes());
    for (at, byte) in text.bytes().enumerate().skip(plain) {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        // A byte below 0x80 is a character of its own, so `at` is a boundary.
        out.push_str(&text[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.push_str("\\u00");
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
    out.push_str(&text[from..]);
    out.push('"');
}

impl Value for String {
    fn read(raw: &str) -> Option<Self> {
        let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
        if split::is_plain(inner) {
            Some(inner.to_owned())
        } else {
            serde_json::from_str(raw).ok()
        }
    }

    fn write(&self, out: &mut String) {
        quote(self, out);
    }
}

impl Value for bool {
    fn read(raw: &str) -> Option<Self> {
        raw.parse().ok()
    }

    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

macro_rules! integers {
    ($($kind:ty)*) => {$(
        impl Value for $kind {
            fn read(raw: &str) -> Option<Self> {
                raw.parse().ok()
            }

            fn write(&self, out: &mut String) {
                // writing to a String cannot fail
                write!(out, "{self}").unwrap_or_default();
            }
        }
    )*};
}
integers!(i64 u64 u32);

impl<T: Value> Value for Option<T> {
    fn read(raw: &str) -> Option<Self> {
        T::read(raw).map(Some)
    }

    fn write(&self, out: &mut String) {
        match self {
            Some(value) => value.write(out),
            None => out.push_str("null"),
        }
    }
}

/// Items of another type are left out.
impl<T: Value> Value for Vec<T> {
    fn read(raw: &str) -> Option<Self> {
        if raw == "[]" {
            return Some(Vec::new());
        }
        let mut found = Vec::new();
        split::items(raw, |item| {
            found.extend(T::read(item));
            true
        })?;
        Some(found)
    }

    fn write(&self, out: &mut String) {
        out.push('[');
        for (at, item) in self.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            item.write(out);
        }
        out.push(']');
    }
}

impl<A: Value, B: Value> Value for (A, B) {
    fn read(raw: &str) -> Option<Self> {
        let [a, b] = items(raw)?.try_into().ok()?;
        Some((A::read(a)?, B::read(b)?))
    }

    fn write(&self, out: &mut String) {
        out.push('[');
        self.0.write(out);
        out.push(',');
        self.1.write(out);
        out.push(']');
    }
}

impl<A: Value, B: Value, C: Value> Value for (A, B, C) {
    fn read(raw: &str) -> Option<Self> {
        let [a, b, c] = items(raw)?.try_into().ok()?;
        Some((A::read(a)?, B::read(b)?, C::read(c)?))
    }

    fn write(&self, out: &mut String) {
        out.push('[');
        self.0.write(out);
        out.push(',');
        self.1.write(out);
        out.push(',');
        self.2.write(out);
        out.push(']');
    }
}
