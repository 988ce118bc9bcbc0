//! What of a question is shown: its last sentence, without the marks around it.

use super::ask::Asked;
use super::lines::list_marker;
use super::marks::{asks, is_emphasis, is_greek_mark, is_mark, is_wide, opener};
use ring_session::text::clean;

/// Characters of a detail.
const LIMIT: usize = 160;

/// A question, whole and its last sentence alone.
#[derive(Debug)]
pub struct Detail {
    /// The line.
    pub line: String,
    /// Its last sentence, however short.
    pub sentence: String,
    long_enough: bool,
}

impl Detail {
    /// The line of a question without leading marks, and where its last sentence begins.
    pub fn new(asked: &Asked) -> Detail {
        let line = &asked.text[without_lead(&asked.text, &asked.closers)..];
        let run = line.len() - (asked.text.len() - asked.run).min(line.len());
        let start = sentence_start(&line[..run]);
        let (words, wide) = size(&line[start..run]);
        let sentence = &line[start..];
        let sentence = &sentence[without_lead(sentence, &asked.closers)..];
        Detail {
            line: text(line),
            sentence: text(sentence),
            long_enough: words >= 2 || wide >= 4,
        }
    }

    /// The last sentence if it is one, else the line; cleaned, at most 160 characters.
    pub fn shown(&self) -> String {
        clean(if self.long_enough { &self.sentence } else { &self.line }, LIMIT)
    }
}

fn text(chars: &[char]) -> String {
    chars.iter().collect()
}

/// Words, and wide letters.
fn size(chars: &[char]) -> (usize, usize) {
    let words = chars
        .split(|c| c.is_whitespace())
        .filter(|w| w.iter().any(|c| c.is_alphanumeric()))
        .count();
    (
        words,
        chars.iter().filter(|&&c| is_wide(c) && c.is_alphanumeric()).count(),
    )
}

/// Where the last sentence begins. `before` ends at the run of marks.
fn sentence_start(before: &[char]) -> usize {
    // nothing begins behind the last letter, so a long tail of marks is not looked through again and again
    let last = before.iter().rposition(|c| c.is_alphanumeric()).unwrap_or(0);
    (0..last).rev().find_map(|i| sentence_after(before, i)).unwrap_or(0)
}

fn sentence_after(before: &[char], i: usize) -> Option<usize> {
    let skip = |from: usize, what: fn(char) -> bool| from + before[from..].iter().take_while(|&&c| what(c)).count();
    match before[i] {
        '。' | '！' | '？' => {
            let next = skip(i + 1, |c| {
                c.is_whitespace() || is_mark(c) || (opener(c).is_some() && is_wide(c))
            });
            (next < before.len()).then_some(next)
        }
        '.' | '!' | '?' => {
            let next = skip(i + 1, char::is_whitespace);
            let letter = skip(next, |c| {
                matches!(c, '(' | '[' | '{' | '"' | '\'' | '“' | '‘' | '«' | '‹' | '¿' | '¡')
            });
            let begins = before
                .get(letter)
                .is_some_and(|&c| c.is_uppercase() || c.is_ascii_digit() || (!c.is_ascii() && c.is_alphanumeric()));
            (next > i + 1 && begins).then_some(next)
        }
        _ => None,
    }
}

/// Length of the marks in front: list, block quote, heading, emphasis, tags, and openers whose partner stood behind the
/// question.
fn without_lead(line: &[char], closers: &[char]) -> usize {
    let mut closers: Vec<char> = closers.iter().filter_map(|&c| opener(c)).collect();
    let mut at = 0;
    loop {
        let rest = &line[at..];
        let Some(&c) = rest.first() else { return at };
        let n = if c.is_whitespace() || is_emphasis(c) && marker(rest).is_none() || c == '>' {
            1
        } else if let Some(n) = marker(rest) {
            n
        } else if let Some(i) = closers.iter().position(|&o| o == c) {
            closers.swap_remove(i);
            1
        } else if let Some(n) = heading(rest).or_else(|| tag(rest)) {
            n
        } else {
            return at;
        };
        // a question is never all lead
        if rest[n..]
            .iter()
            .all(|&c| !c.is_alphanumeric() && (asks(c) || is_mark(c) || is_greek_mark(c)))
        {
            return at;
        }
        at += n;
    }
}

fn marker(line: &[char]) -> Option<usize> {
    let head: String = line.iter().take(12).collect();
    let bytes = list_marker(&head)?;
    Some(head[..bytes].chars().count())
}

fn heading(line: &[char]) -> Option<usize> {
    let n = line.iter().take_while(|&&c| c == '#').count();
    ((1..=6).contains(&n) && line.get(n).is_some_and(|c| c.is_whitespace())).then_some(n)
}

fn tag(line: &[char]) -> Option<usize> {
    let inner = line.strip_prefix(&['<'])?;
    let end = inner.iter().take(200).position(|&c| c == '>')?;
    let name = inner.strip_prefix(&['/']).unwrap_or(inner).first()?;
    name.is_ascii_alphabetic().then_some(end + 2)
}
