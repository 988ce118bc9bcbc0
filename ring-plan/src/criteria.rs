//! Acceptance criteria in a goal's text (ring-plan(1), GOALS).
//!
//! Items of the top-level lists under the heading `Acceptance criteria`, up to the next heading of that level or higher.
//! Bullets, numbers and task boxes alike; nested items belong to their parent; code blocks hold none.

use serde::Serialize;

/// Criteria of one goal.
const LIMIT: usize = 200;

/// One criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Criterion {
    /// c1, c2 ...
    pub id: String,
    /// Its text, white space collapsed.
    pub text: String,
}

/// The criteria of a text.
pub fn criteria(markdown: &str) -> Vec<Criterion> {
    let mut found: Vec<String> = Vec::new();
    let mut section: Option<usize> = None;
    let mut fence: Option<(char, usize)> = None;
    let mut item: Option<usize> = None;
    // a line of plain text, which a line below may make a heading; and whether a blank one was before
    let (mut plain, mut blank): (Option<&str>, bool) = (None, true);
    for line in markdown.lines() {
        let indent = indent(line);
        let text = line.trim();
        if let Some((mark, length)) = fence {
            let run = text.chars().take_while(|c| *c == mark).count();
            if run >= length && text.chars().skip(run).all(char::is_whitespace) {
                fence = None;
            }
            continue;
        }
        let marks = |c: char| text.chars().take_while(|d| *d == c).count();
        // behind a fence of backticks stands none: that is code within a line
        let opens = |c: char| marks(c) >= 3 && (c == '~' || !text.trim_start_matches(c).contains(c));
        if let Some(mark) = ['`', '~'].into_iter().find(|c| opens(*c)) {
            fence = Some((mark, marks(mark)));
            (plain, blank) = (None, false);
            continue;
        }
        let above = plain.take();
        let was_blank = std::mem::replace(&mut blank, text.is_empty());
        if indent < 4
            && let Some((level, title)) = heading(text).or_else(|| underlined(above?, text))
        {
            match section {
                Some(own) if level <= own => section = is_ours(title).then_some(level),
                None if is_ours(title) => section = Some(level),
                _ => {}
            }
            item = None;
            continue;
        }
        // behind an item without a blank line it goes on with the item
        plain = (bullet(text).is_none() && (item.is_none() || was_blank)).then_some(text);
        if section.is_none() {
            continue;
        }
        match bullet(text) {
            Some(body) if item.is_none_or(|i| indent <= i) && indent < 4 => {
                item = Some(indent + 1);
                found.push(collapsed(body));
            }
            // a nested item belongs to its parent
            Some(_) => {}
            None if text.is_empty() => {}
            None if item.is_some_and(|i| indent >= i) => {
                if let Some(last) = found.last_mut().filter(|l| !l.is_empty()) {
                    last.push(' ');
                    last.push_str(&collapsed(text));
                }
            }
            None => item = None,
        }
        if found.len() == LIMIT {
            break;
        }
    }
    found.retain(|t| !t.is_empty());
    found
        .into_iter()
        .enumerate()
        .map(|(n, text)| Criterion {
            id: format!("c{}", n + 1),
            text,
        })
        .collect()
}

fn indent(line: &str) -> usize {
    line.chars()
        .map_while(|c| match c {
            ' ' => Some(1),
            '\t' => Some(4),
            _ => None,
        })
        .sum()
}

fn heading(text: &str) -> Option<(usize, &str)> {
    let level = text.chars().take_while(|c| *c == '#').count();
    let rest = text.get(level..)?;
    let is_one = (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_one.then(|| (level, rest.trim().trim_end_matches('#').trim()))
}

/// A heading that is made by the line below it.
fn underlined<'a>(above: &'a str, text: &str) -> Option<(usize, &'a str)> {
    let made_of = |mark: char| !text.is_empty() && text.chars().all(|c| c == mark);
    let level = if made_of('=') { 1 } else { made_of('-').then_some(2)? };
    (!above.is_empty()).then_some((level, above))
}

/// Case, numbering, emphasis and a colon do not count.
fn is_ours(title: &str) -> bool {
    let plain: String = title.chars().filter(|c| !matches!(c, '*' | '_' | '`' | '~')).collect();
    let plain = plain
        .trim()
        .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | '(' | ' '));
    collapsed(plain.trim_end_matches([':', '：', ' '])).eq_ignore_ascii_case("acceptance criteria")
}

/// The text of a list item.
fn bullet(text: &str) -> Option<&str> {
    let rest = match text.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            let digits = text.chars().take_while(char::is_ascii_digit).count();
            let rest = text.get(digits..).filter(|_| (1..=9).contains(&digits))?;
            rest.strip_prefix(['.', ')'])?
        }
    };
    let body = rest
        .strip_prefix([' ', '\t'])
        .or_else(|| rest.is_empty().then_some(""))?
        .trim_start();
    let boxed = ["[ ]", "[x]", "[X]"].into_iter().find_map(|b| body.strip_prefix(b));
    Some(boxed.map_or(body, str::trim_start))
}

/// White space in runs to one blank.
pub fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(markdown: &str) -> Vec<String> {
        criteria(markdown).into_iter().map(|c| c.text).collect()
    }

    #[test]
    fn p40_bullets_numbers_and_boxes_count_in_any_level_and_case() {
        let text = "# Goal\n\n## 2. **ACCEPTANCE Criteria:**\n\n- a\n* [ ] b\n  more of b\n1. c\n2) [x] d\n\n## Boundaries\n- not this\n";
        assert_eq!(texts(text), ["a", "b more of b", "c", "d"]);
    }

    #[test]
    fn p40_other_sections_nested_lists_and_code_hold_none() {
        let text = "- before\n### Acceptance criteria\n- a\n  - nested\n    - deeper\n```\n- code\n```\n#### a sub heading\n- b\n### Next\n- c\n";
        assert_eq!(texts(text), ["a", "b"]);
        assert_eq!(texts("no heading\n- a\n"), Vec::<String>::new());
    }

    #[test]
    fn p40_a_heading_may_be_underlined_and_a_line_across_is_none() {
        let text = "Acceptance criteria\n===================\n- a\n---\n\n- b\n\nBoundaries\n==========\n- c\n";
        assert_eq!(texts(text), ["a", "b"]);
        let text = "Acceptance criteria:\n---\n- a\n## deeper\n- b\n\nBoundaries\n---\n- c\n";
        assert_eq!(texts(text), ["a"], "of the same level");
        let text = "# Acceptance criteria\n- a\ngoes on\n---\n- b\n\nWords\n---\n- c\n";
        assert_eq!(texts(text), ["a", "b", "c"]);
    }

    #[test]
    fn p40_code_within_a_line_opens_no_block() {
        let text = "# Acceptance criteria\n```make``` builds it\n- a\n- b\n~~~ `x`\n- code\n~~~\n- c\n";
        assert_eq!(texts(text), ["a", "b", "c"]);
    }

    #[test]
    fn p40_at_most_two_hundred_count() {
        let text = format!("# Acceptance criteria\n{}", "- x\n".repeat(500));
        assert_eq!(criteria(&text).len(), 200);
        assert_eq!(criteria(&text)[199].id, "c200");
    }
}
