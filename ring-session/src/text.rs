//! Text from agents, made harmless: when it is stored ([`clean`]) and again when it is shown ([`for_terminal`]).
//!
//! Cleaning (ring(5), TEXTS): escape sequences and bidirectional controls go, white space and other controls in runs
//! become one blank or vanish, the ends are trimmed, and what is over the limit is cut with `…` as last character,
//! never in front of a combining mark or a joiner.

/// The mark that something was cut.
pub const CUT: char = '…';

/// Bidirectional controls: embeddings, overrides, isolates and marks.
pub fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' | '\u{061C}')
}

/// Characters that belong to the one before them: combining marks, joiners, variation selectors, skin tones.
pub fn joins_previous(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036F}' | '\u{0483}'..='\u{0489}' | '\u{0591}'..='\u{05BD}' | '\u{0610}'..='\u{061A}'
        | '\u{064B}'..='\u{065F}' | '\u{0900}'..='\u{0903}' | '\u{093A}'..='\u{094F}' | '\u{0E31}' | '\u{0E34}'..='\u{0E3A}'
        | '\u{0E47}'..='\u{0E4E}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{200C}' | '\u{200D}'
        | '\u{20D0}'..='\u{20FF}' | '\u{302A}'..='\u{302F}' | '\u{3099}' | '\u{309A}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FE20}'..='\u{FE2F}' | '\u{1F3FB}'..='\u{1F3FF}' | '\u{E0100}'..='\u{E01EF}' | '\u{E0020}'..='\u{E007F}')
}

/// The text without control characters, escape sequences and bidirectional controls, on one line, at most `limit`
/// characters.
///
/// It stops reading soon after the limit, so a text of megabytes costs no more than a short one.
pub fn clean(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit.saturating_mul(2)));
    let (mut count, mut blank) = (0usize, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' || c == '\u{9b}' {
            skip_escape(c, &mut chars);
            continue;
        }
        if matches!(c, '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}') {
            skip_string(&mut chars);
            continue;
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

/// `out` holds at most `limit` characters and more would follow: the last one makes room for the mark.
fn cut(mut out: String, limit: usize) -> String {
    if limit == 0 {
        return String::new();
    }
    let mut count = out.chars().count();
    while count >= limit {
        match out.pop() {
            Some(c) => {
                count -= 1;
                if joins_previous(c) {
                    // what it belonged to would stand there changed: take the whole cluster
                    while let Some(p) = out.pop() {
                        count -= 1;
                        if !joins_previous(p) {
                            break;
                        }
                    }
                }
            }
            None => break,
        }
    }
    let kept = out.trim_end().len();
    out.truncate(kept);
    out.push(CUT);
    out
}

fn skip_escape(first: char, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let csi = match first {
        '\u{9b}' => true,
        _ => match chars.peek().copied() {
            Some('[') => {
                chars.next();
                true
            }
            Some(']' | 'P' | 'X' | '^' | '_') => {
                chars.next();
                skip_string(chars);
                return;
            }
            Some(c @ '\u{20}'..='\u{2f}') => {
                chars.next();
                let _: char = c;
                while chars.next_if(|c| matches!(c, '\u{20}'..='\u{2f}')).is_some() {}
                chars.next_if(|c| matches!(c, '\u{30}'..='\u{7e}'));
                return;
            }
            Some('\u{30}'..='\u{7e}') => {
                chars.next();
                return;
            }
            _ => return,
        },
    };
    if csi {
        while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
        chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
    }
}

/// The inside of an OSC, DCS, PM, APC or SOS string up to BEL or ST. One that never ends stops at a line end or after
/// 4096 characters, so that it cannot swallow a whole text.
fn skip_string(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let mut last = '\0';
    for _ in 0..4096 {
        match chars.peek().copied() {
            None | Some('\n' | '\r') => return,
            Some(c) => {
                chars.next();
                if c == '\u{7}' || c == '\u{9c}' || (last == '\u{1b}' && c == '\\') {
                    return;
                }
                last = c;
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

/// The first line that is not blank, not yet cleaned.
pub fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or("")
}
