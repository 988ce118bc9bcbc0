//! Text from agents, made harmless: when it is stored ([`clean`]) and again when it is shown ([`for_terminal`]).
//!
//! Cleaning (ring(5), TEXTS): escape sequences and bidirectional controls go, white space and other controls in runs
//! become one blank or vanish, the ends are trimmed, and what is over the limit is cut with `…` as last character,
//! never in front of a combining mark or a joiner.

use std::iter::Peekable;
use unicode_segmentation::UnicodeSegmentation;

/// The mark that something was cut.
pub const CUT: char = '…';

/// Bidirectional controls: embeddings, overrides, isolates, marks and the deprecated shaping controls.
pub fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{206F}' | '\u{200E}' | '\u{200F}' | '\u{061C}')
}

/// Whether a character belongs to the one before it: combining marks, joiners, variation selectors, skin tones (the
/// grapheme rules of Unicode, UAX 29).
pub fn joins_previous(c: char) -> bool {
    // nothing below joins, and that is nearly every character
    c >= '\u{300}' && clusters(&String::from_iter(['a', c])).count() == 1
}

/// The text in characters as people see them: each with all that joins it.
pub fn clusters(text: &str) -> impl Iterator<Item = &str> {
    text.graphemes(true)
}

/// The text without control characters, escape sequences and bidirectional controls, on one line, at most `limit`
/// characters.
///
/// It stops reading soon after the limit, so a text of megabytes costs no more than a short one.
pub fn clean(text: &str, limit: usize) -> String {
    if is_clean(text, limit) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len().min(limit.saturating_mul(2)));
    let (mut count, mut blank) = (0usize, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut chars),
            _ => {}
        }
        if c.is_whitespace() {
            blank = !out.is_empty();
            continue;
        }
        if c.is_control() || is_bidi(c) || c == '\u{FEFF}' {
            continue;
        }
        let width = 1 + usize::from(blank);
        if count + width > limit {
            return cut(out, limit);
        }
        if blank {
            out.push(' ');
            blank = false;
        }
        out.push(c);
        count += width;
    }
    out
}

/// Whether the text is within the limit and so plain that nothing can be wrong with it, which most are: printable ASCII
/// with single blanks inside.
fn is_clean(text: &str, limit: usize) -> bool {
    let mut before = b' ';
    let plain = text.bytes().all(|b| {
        let fits = matches!(b, b'!'..=b'~') || (b == b' ' && before != b' ');
        before = b;
        fits
    });
    plain && text.len() <= limit && (before != b' ' || text.is_empty())
}

/// `out` holds at most `limit` characters and more would follow: room is made for the mark, and what is torn goes whole.
fn cut(mut out: String, limit: usize) -> String {
    if limit == 0 {
        return String::new();
    }
    let (mut count, mut kept) = (0, 0);
    for cluster in clusters(&out) {
        count += cluster.chars().count();
        if count >= limit {
            break;
        }
        kept += cluster.len();
    }
    out.truncate(kept);
    out.truncate(out.trim_end().len());
    out.push(CUT);
    out
}

type Chars<'a> = Peekable<std::str::Chars<'a>>;

/// What follows an ESC: a control sequence, a string, or one or more characters of a short sequence.
fn skip_escape(chars: &mut Chars<'_>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_sequence(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            skip_string(chars);
        }
        _ => {
            while chars.next_if(|c| matches!(c, '\u{20}'..='\u{2f}')).is_some() {}
            chars.next_if(|c| matches!(c, '\u{30}'..='\u{7e}'));
        }
    }
}

/// The inside of a control sequence (CSI) and its last character.
fn skip_sequence(chars: &mut Chars<'_>) {
    while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
    chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
}

/// The inside of an OSC, DCS, PM, APC or SOS string up to BEL, ST, CAN or SUB, or up to another ESC, which ends it. One
/// that never ends stops at a line end or after 4096 characters, so that it cannot swallow a whole text.
fn skip_string(chars: &mut Chars<'_>) {
    for _ in 0..4096 {
        match chars.next_if(|c| !matches!(c, '\n' | '\r' | '\u{1b}')) {
            Some('\u{7}' | '\u{9c}' | '\u{18}' | '\u{1a}') => return,
            Some(_) => {}
            None => {
                // ESC \ is ST; any other ESC begins a sequence of its own
                let mut ahead = chars.clone();
                if ahead.next() == Some('\u{1b}') && ahead.next() == Some('\\') {
                    *chars = ahead;
                }
                return;
            }
        }
    }
}

/// Bytes as text: invalid UTF-8 becomes U+FFFD, then as [`clean`].
pub fn clean_bytes(bytes: &[u8], limit: usize) -> String {
    clean(&String::from_utf8_lossy(bytes), limit)
}

/// For what is about to be shown on one line: as [`clean`] without a limit.
pub fn for_terminal(text: &str) -> String {
    clean(text, usize::MAX)
}

/// The text without control characters, escape sequences and bidirectional controls; its blanks stay as they are.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_sequence(&mut chars),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || is_bidi(c) || c == '\u{FEFF}' => {}
            c => out.push(c),
        }
    }
    out
}

/// The first line that is not blank, without blanks at its ends, not yet cleaned. Every line end of Unicode ends one.
pub fn first_line(text: &str) -> &str {
    let ends = |c| matches!(c, '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    text.split(ends).map(str::trim).find(|l| !l.is_empty()).unwrap_or("")
}

/// A JSON text whose strings hold no character that a terminal obeys: DEL, C1 and bidirectional controls as `\u`
/// escapes, which mean the same. (Controls below U+0020 are escaped in any JSON.)
pub fn inert_json(json: String) -> String {
    let obeyed = |c: char| matches!(c, '\u{7f}'..='\u{9f}') || is_bidi(c);
    if !json.contains(obeyed) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match obeyed(c) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
#[path = "text/tests.rs"]
mod tests;
