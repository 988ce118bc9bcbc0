//! Whether the last thing that an agent said is a question to the person (ring-hook(1), QUESTIONS).
//!
//! Only the form of the last line decides: a question mark at its end, after everything that may stand behind a question
//! (code, rules, emoji, a hint such as `[y/N]`, a list of options) is taken away. Words are never weighed, so it works
//! alike in every language; what only looks like a question (a path, a glob, an operator) is refused.

mod ask;
mod detail;
mod inline;
mod lines;
mod marks;

use lines::Line;
use marks::fold;

/// What is looked at: the end of the text, in bytes.
const LIMIT: usize = 64 * 1024;

/// The question in the last line of `text`, cleaned, at most 160 characters; none if nothing is asked.
///
/// `courtesy` holds phrases that look like questions and ask nothing (setting `question_courtesy`); empty: nothing is
/// filtered. Takes time linear in at most 64 KiB.
pub fn question(text: &str, courtesy: &[String]) -> Option<String> {
    let text = lines::visible(tail_of(text));
    let lines = lines::split(&text);
    let kept = lines::without_trailer(&lines);
    let last = kept.last()?;
    let asked = ask::ask(last.text).or_else(|| ask::ask(before_options(kept)?))?;
    let asked = detail::Detail::new(&asked);
    let polite = |t: &str| courtesy.iter().any(|c| !c.is_empty() && fold(c) == fold(t));
    if polite(&asked.line) || polite(&asked.sentence) {
        return None;
    }
    Some(asked.shown())
}

fn tail_of(text: &str) -> &str {
    let mut at = text.len().saturating_sub(LIMIT);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    &text[at..]
}

/// The line in front of a list of 2 to 9 options that ends the text.
fn before_options<'a>(kept: &[Line<'a>]) -> Option<&'a str> {
    let first = lines::options(kept)?;
    let before = kept[..first].iter().rev().find(|l| !l.text.trim().is_empty())?;
    (!before.code).then_some(before.text)
}

#[cfg(test)]
mod tests;
