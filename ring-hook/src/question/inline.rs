//! Markdown inside a line: code spans are marked, links and images, paired emphasis are resolved.

use super::marks::is_emphasis;
use std::collections::HashMap;

/// A character of a line, and whether it stands in a code span (its backticks included).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ch {
    /// The character.
    pub c: char,
    /// In a code span.
    pub code: bool,
}

/// The line with images gone, links and paired emphasis as their text.
pub fn resolve(line: &str) -> Vec<Ch> {
    without_emphasis(&without_links(&with_code(line)))
}

/// Code spans: a run of backticks to the next run of the same length.
fn with_code(line: &str) -> Vec<Ch> {
    let mut chars: Vec<Ch> = line.chars().map(|c| Ch { c, code: false }).collect();
    let mut runs = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let len = chars[at..].iter().take_while(|x| x.c == '`').count();
        if len > 0 {
            runs.push((at, len));
        }
        at += len.max(1);
    }
    let mut later: HashMap<usize, usize> = HashMap::new();
    let partner: Vec<Option<usize>> = runs
        .iter()
        .enumerate()
        .rev()
        .map(|(i, &(_, len))| later.insert(len, i))
        .collect();
    let mut run = 0;
    while run < runs.len() {
        match partner[runs.len() - 1 - run] {
            Some(end) => {
                for x in &mut chars[runs[run].0..runs[end].0 + runs[end].1] {
                    x.code = true;
                }
                run = end + 1;
            }
            None => run += 1,
        }
    }
    chars
}

/// `[text](target)` and `[text][name]` become their text, `![text](target)` nothing.
fn without_links(line: &[Ch]) -> Vec<Ch> {
    let mut out: Vec<Option<Ch>> = Vec::with_capacity(line.len());
    let mut open: Vec<usize> = Vec::new();
    // once no end is found for a target, none is looked for again: the time stays linear
    let mut targets = true;
    let mut at = 0;
    while at < line.len() {
        let x = line[at];
        at += 1;
        match x.c {
            '[' if !x.code => open.push(out.len()),
            ']' if !x.code && targets => {
                if let Some(start) = open.pop() {
                    match target_end(line, at) {
                        Target::End(end) => {
                            at = end;
                            let image = start
                                .checked_sub(1)
                                .filter(|&i| out[i].is_some_and(|p| p.c == '!' && !p.code));
                            match image {
                                Some(bang) => out.truncate(bang),
                                None => out[start] = None,
                            }
                            continue;
                        }
                        Target::Open => targets = false,
                        Target::None => {}
                    }
                }
            }
            _ => {}
        }
        out.push(Some(x));
    }
    out.into_iter().flatten().collect()
}

enum Target {
    End(usize),
    Open,
    None,
}

fn target_end(line: &[Ch], at: usize) -> Target {
    let (up, down) = match line.get(at).map(|x| x.c) {
        Some('(') => ('(', ')'),
        Some('[') => ('[', ']'),
        _ => return Target::None,
    };
    let mut depth = 0usize;
    for (i, x) in line.iter().enumerate().skip(at) {
        if x.c == up {
            depth += 1;
        } else if x.c == down {
            depth -= 1;
            if depth == 0 {
                return Target::End(i + 1);
            }
        }
    }
    Target::Open
}

/// Pairs of `*`, `_` and `~~` vanish, by the flanking rules of CommonMark: `*.py` opens nothing that `*.rs` closes, and
/// `snake_case_name` stays.
fn without_emphasis(line: &[Ch]) -> Vec<Ch> {
    let mut kept = vec![true; line.len()];
    let mut open: HashMap<char, Vec<(usize, usize)>> = HashMap::new();
    let mut at = 0;
    while at < line.len() {
        let c = line[at].c;
        let escaped = at > 0 && line[at - 1].c == '\\';
        if line[at].code || !is_emphasis(c) || escaped {
            at += 1;
            continue;
        }
        let len = line[at..].iter().take_while(|x| x.c == c && !x.code).count();
        let (opens, closes) = flanks(line, at, len);
        let mut left = len;
        let mut from = at;
        if closes && !(c == '~' && len < 2) {
            let stack = open.entry(c).or_default();
            while left > 0 {
                let Some((start, n)) = stack.pop() else { break };
                let pair = n.min(left);
                // the inner marks of the opener, the first ones of the closer
                kept[start + n - pair..start + n].fill(false);
                kept[from..from + pair].fill(false);
                from += pair;
                left -= pair;
                if n > pair {
                    stack.push((start, n - pair));
                }
            }
        }
        if opens && left > 0 && !(c == '~' && left < 2) {
            open.entry(c).or_default().push((from, left));
        }
        at += len;
    }
    line.iter()
        .zip(kept)
        .filter_map(|(x, keep)| keep.then_some(*x))
        .collect()
}

/// Whether a run of marks may open and may close emphasis.
fn flanks(line: &[Ch], at: usize, len: usize) -> (bool, bool) {
    let before = at.checked_sub(1).map_or(' ', |i| line[i].c);
    let after = line.get(at + len).map_or(' ', |x| x.c);
    let punct = |c: char| !c.is_alphanumeric() && !c.is_whitespace();
    let left = !after.is_whitespace() && (!punct(after) || before.is_whitespace() || punct(before));
    let right = !before.is_whitespace() && (!punct(before) || after.is_whitespace() || punct(after));
    match line[at].c {
        '_' => (left && (!right || punct(before)), right && (!left || punct(after))),
        _ => (left, right),
    }
}
