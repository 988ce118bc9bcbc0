//! The test of one line: does it end in a question?

use super::inline::{Ch, resolve};
use super::lines::is_trailing_tag;
use super::marks::{
    KEYCAP, asks, bracket_opener, is_emoji, is_emphasis, is_greek, is_greek_mark, is_mark, is_wide, is_wide_mark,
    opener,
};

/// Longest hint behind a question, brackets included, in characters.
const HINT: usize = 40;

/// A line that asks.
#[derive(Debug)]
pub struct Asked {
    /// Up to the end of the run of marks; Markdown resolved.
    pub text: Vec<char>,
    /// Where the run begins.
    pub run: usize,
    /// Closing marks that stood behind the run, last one first.
    pub closers: Vec<char>,
}

/// The line as a question; none if it does not end in one.
pub fn ask(line: &str) -> Option<Asked> {
    let trimmed = line.trim();
    if ["|", "//", "/*", "<!--", "$ "].iter().any(|p| trimmed.starts_with(p)) {
        return None;
    }
    let mut chars = resolve(trimmed);
    let closers = strip_end(&mut chars);
    let run = run_start(&chars)?;
    if chars[run..].iter().any(|x| x.code) {
        return None;
    }
    let text: Vec<char> = chars.iter().map(|x| x.c).collect();
    allowed(&text[..run]).then_some(Asked { text, run, closers })
}

/// Takes off what may stand behind the marks; returns the closing marks among it.
fn strip_end(line: &mut Vec<Ch>) -> Vec<char> {
    let mut closers = Vec::new();
    let mut hint_left = true;
    while let Some(&last) = line.last() {
        let c = last.c;
        if hint_left && let Some(start) = hint_start(line) {
            hint_left = false;
            line.truncate(start);
        } else if let Some(start) = tag_start(line) {
            line.truncate(start);
        } else if c == KEYCAP && line.len() > 1 && matches!(line[line.len() - 2].c, '0'..='9' | '#' | '*') {
            line.truncate(line.len() - 2);
        } else if c.is_whitespace() || is_emphasis(c) || (is_emoji(c) && !is_mark(c)) {
            line.pop();
        } else if opener(c).is_some() {
            closers.push(c);
            line.pop();
        } else {
            break;
        }
    }
    closers
}

/// Where a hint such as ` [y/N]:` at the end begins: it follows a mark and a blank, or a wide mark, or is a footnote.
fn hint_start(line: &[Ch]) -> Option<usize> {
    let mut end = line.len();
    if line.last().is_some_and(|x| matches!(x.c, ':' | '：')) {
        end -= 1;
    }
    let closer = line.get(end.checked_sub(1)?)?.c;
    let up = bracket_opener(closer)?;
    let mut depth = 0usize;
    let start = (end.saturating_sub(HINT)..end).rev().find(|&i| {
        if line[i].c == closer {
            depth += 1;
        } else if line[i].c == up {
            depth -= 1;
        }
        depth == 0
    })?;
    let footnote = up == '[' && line[start + 1].c == '^' && end - start > 3;
    let before = line[..start].iter().rposition(|x| !x.c.is_whitespace())?;
    let mark = line[before].c;
    let follows = if before + 1 < start {
        is_mark(mark) || ends_in_greek(&line[..=before])
    } else {
        is_wide_mark(mark)
    };
    (footnote || follows).then_some(start)
}

/// Where a break or closing tag at the end begins.
fn tag_start(line: &[Ch]) -> Option<usize> {
    line.last().filter(|x| x.c == '>')?;
    let body = &line[..line.len() - 1];
    let start = body
        .iter()
        .rev()
        .take(64)
        .position(|x| x.c == '<')
        .map(|n| body.len() - 1 - n)?;
    let inner: String = body[start + 1..].iter().map(|x| x.c).collect();
    is_trailing_tag(&inner).then_some(start)
}

fn ends_in_greek(line: &[Ch]) -> bool {
    matches!(line, [.., letter, mark] if is_greek_mark(mark.c) && is_greek(letter.c))
}

/// Where the run of marks at the end begins, if it asks.
fn run_start(line: &[Ch]) -> Option<usize> {
    if ends_in_greek(line) {
        return Some(line.len() - 1);
    }
    let start = line.iter().rposition(|x| !is_mark(x.c)).map_or(0, |i| i + 1);
    line[start..].iter().any(|x| asks(x.c)).then_some(start)
}

/// Whether what stands before the run can be a sentence: not code, an operator, an address, a path or a glob.
fn allowed(before: &[char]) -> bool {
    if !before.iter().any(|c| c.is_alphanumeric()) {
        return false;
    }
    let end = before.iter().rposition(|c| !c.is_whitespace()).map_or(0, |i| i + 1);
    let start = before[..end].iter().rposition(|&c| ends_word(c)).map_or(0, |i| i + 1);
    let word: String = before[start..end].iter().collect();
    let operator = !word.is_empty() && word.chars().all(|c| "=<>+-*/&|^".contains(c));
    let inside = ["://", "*", "\\"].iter().any(|p| word.contains(p));
    let begins = ["/", "./", "../", "~/", "$"].iter().any(|p| word.starts_with(p));
    !(operator || inside || begins)
}

/// Blanks, and the punctuation of scripts that write none.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || (is_wide(c) && !c.is_alphanumeric())
}
