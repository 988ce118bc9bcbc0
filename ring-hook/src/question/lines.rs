//! The lines of a text: which are code, which may follow a question, which are a list of options.

use super::marks::{KEYCAP, is_emoji, is_invisible};

/// One line.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Without its end.
    pub text: &'a str,
    /// Inside a fence, or a fence.
    pub code: bool,
}

/// The text without what is not seen.
pub fn visible(text: &str) -> String {
    text.chars().filter(|&c| !is_invisible(c)).collect()
}

/// Lines, and which of them are code. A fence is three or more backticks or tildes, at any indent; an unclosed one
/// reaches to the end.
pub fn split(text: &str) -> Vec<Line<'_>> {
    let end = |c: char| {
        matches!(
            c,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut open: Option<(char, usize)> = None;
    text.split(end)
        .map(|text| {
            let code = match open {
                Some(fence) => {
                    if closes(text, fence) {
                        open = None;
                    }
                    true
                }
                None => {
                    open = opens(text);
                    open.is_some()
                }
            };
            Line { text, code }
        })
        .collect()
}

fn fence(text: &str) -> Option<(char, usize)> {
    let c = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let n = text.chars().take_while(|&x| x == c).count();
    (n >= 3).then_some((c, n))
}

fn opens(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let (c, n) = fence(line)?;
    // with a backtick in the info text it is a code span at the start of a line
    (c == '~' || !line[n..].contains('`')).then_some((c, n))
}

fn closes(line: &str, (c, n): (char, usize)) -> bool {
    let line = line.trim();
    line.len() >= n && line.chars().all(|x| x == c)
}

/// The lines up to the last one that may ask: blank lines, code, rules, lines of emoji, breaks, comments and closing
/// tags at the end are left out.
pub fn without_trailer<'a, 'b>(lines: &'b [Line<'a>]) -> &'b [Line<'a>] {
    let mut end = lines.len();
    while end > 0 {
        let line = lines[end - 1];
        if line.code || is_rule(line.text) || is_ornament(line.text) {
            end -= 1;
        } else if let Some(start) = comment_start(&lines[..end]) {
            end = start;
        } else {
            break;
        }
    }
    &lines[..end]
}

/// `---`, `***`, `_ _ _`: three or more of one.
fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|c| !c.is_whitespace());
    let Some(first @ ('-' | '*' | '_')) = marks.next() else {
        return false;
    };
    let mut n = 1;
    marks.all(|c| {
        n += 1;
        c == first
    }) && n >= 3
}

/// Nothing but blanks, emoji, `<br>`, closing tags and whole comments.
fn is_ornament(line: &str) -> bool {
    let mut rest = line.trim_start();
    while let Some(c) = rest.chars().next() {
        let cut = if let Some(n) = tag_at(rest) {
            n
        } else if let Some(comment) = rest.strip_prefix("<!--") {
            match comment.find("-->") {
                Some(n) => n + 7,
                None => return false,
            }
        } else if matches!(c, '0'..='9' | '#' | '*') && rest[1..].starts_with(KEYCAP) {
            1 + KEYCAP.len_utf8()
        } else if is_emoji(c) {
            c.len_utf8()
        } else {
            return false;
        };
        rest = rest[cut..].trim_start();
    }
    true
}

/// Length of the `<br>` or closing tag that `text` begins with.
fn tag_at(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('<')?;
    let end = inner.bytes().take(64).position(|b| b == b'>')?;
    is_trailing_tag(&inner[..end]).then_some(end + 2)
}

/// Whether what stands between `<` and `>` is a break or a closing tag.
pub fn is_trailing_tag(inner: &str) -> bool {
    let name = |t: &str| {
        t.starts_with(|c: char| c.is_ascii_alphabetic()) && t.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    match inner.strip_prefix('/') {
        Some(closing) => name(closing.trim_end()),
        None => inner
            .trim_end()
            .trim_end_matches('/')
            .trim_end()
            .eq_ignore_ascii_case("br"),
    }
}

/// The line at which a comment of several lines begins that ends the text.
fn comment_start(lines: &[Line<'_>]) -> Option<usize> {
    lines.last().filter(|l| l.text.trim_end().ends_with("-->"))?;
    let start = lines.iter().rposition(|l| l.text.contains("<!--"))?;
    lines[start].text.trim_start().starts_with("<!--").then_some(start)
}

/// The first line of a list of 2 to 9 items, each at most 120 characters, that ends the text.
pub fn options(lines: &[Line<'_>]) -> Option<usize> {
    let belongs = |l: &Line<'_>| {
        let blank_or_deeper = l.text.trim().is_empty() || l.text.starts_with([' ', '\t', '\u{3000}']);
        blank_or_deeper || (!l.code && item(l.text).is_some())
    };
    let top = lines.iter().rposition(|l| !belongs(l)).map_or(0, |i| i + 1);
    let indents = |from: usize| lines[from..].iter().filter(|l| !l.code).filter_map(|l| item(l.text));
    let base = indents(top).min()?;
    let first = top
        + lines[top..]
            .iter()
            .position(|l| !l.code && item(l.text) == Some(base))?;
    let count = indents(first).filter(|&i| i == base).count();
    let short = lines[first..]
        .iter()
        .all(|l| item(l.text).is_none() || l.text.trim().chars().nth(120).is_none());
    ((2..=9).contains(&count) && short).then_some(first)
}

/// The indent of a list item; its marker may be bold.
fn item(line: &str) -> Option<usize> {
    let body = line.trim_start();
    let bold = || list_marker(&body.strip_prefix("**")?.replacen("**", "", 1));
    list_marker(body).or_else(bold)?;
    Some(line.chars().count() - body.chars().count())
}

/// Length of the list marker (and the blanks behind it) that `text` begins with: a bullet, a number or a letter.
pub fn list_marker(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    let spaced = |at: usize| {
        let rest = text.get(at..)?;
        let body = rest.trim_start();
        (body.len() < rest.len()).then(|| text.len() - body.len())
    };
    if matches!(first, '-' | '*' | '+' | '•' | '‣' | '▪' | '◦' | '●' | '○' | '·' | '–') {
        return spaced(first.len_utf8());
    }
    let (open, inner) = match first {
        '(' | '（' => (first.len_utf8(), &text[first.len_utf8()..]),
        _ => (0, text),
    };
    let word = inner.chars().take(4).take_while(|c| c.is_ascii_digit()).count();
    let word = match word {
        0 => usize::from(inner.starts_with(|c: char| c.is_ascii_alphabetic())),
        1..=3 => word,
        _ => return None,
    };
    let close = inner.get(word..)?.chars().next().filter(|_| word > 0)?;
    let behind = open + word + close.len_utf8();
    match close {
        '.' if open == 0 => spaced(behind),
        ')' => spaced(behind),
        '）' | '、' | '．' => Some(text.len() - text[behind..].trim_start().len()),
        KEYCAP if open == 0 => spaced(behind),
        _ => None,
    }
}
