//! Markdown for a terminal: headings, lists, code, quotes, rules, links, tables as they stand. Every text is made inert.

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};
use ring_session::text;

const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const PLAIN: &str = "\u{1b}[0m";

/// A text as people read it; `styled` with bold and dim, else without any escape sequence.
pub fn render(markdown: &str, styled: bool) -> String {
    let mut page = Page {
        out: String::new(),
        styled,
        lists: Vec::new(),
        code: false,
        quote: 0,
    };
    for event in Parser::new(markdown) {
        page.event(event);
    }
    let kept = page.out.trim_end().len();
    page.out.truncate(kept);
    page.out.push('\n');
    page.out
}

struct Page {
    out: String,
    styled: bool,
    /// Next number of an ordered list; none: bullets.
    lists: Vec<Option<u64>>,
    code: bool,
    quote: usize,
}

impl Page {
    fn style(&mut self, code: &str) {
        if self.styled {
            self.out.push_str(code);
        }
    }

    fn line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn gap(&mut self) {
        self.line();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn start_line(&mut self) {
        if self.out.is_empty() || self.out.ends_with('\n') {
            self.out.push_str(&"> ".repeat(self.quote));
        }
    }

    fn text(&mut self, text: &str) {
        for (n, part) in text.split('\n').enumerate() {
            if n > 0 {
                self.line();
            }
            if self.code && !part.is_empty() {
                self.start_line();
                self.out.push_str("    ");
            } else if !part.is_empty() {
                self.start_line();
            }
            self.out.push_str(&text::printable(part));
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(t) => self.text(&t),
            Event::Code(t) => {
                self.start_line();
                self.out.push('`');
                self.out.push_str(&text::printable(&t));
                self.out.push('`');
            }
            Event::Html(t) | Event::InlineHtml(t) => self.text(&t),
            Event::SoftBreak | Event::HardBreak => {
                self.line();
                let depth = self.lists.len();
                self.start_line();
                self.out.push_str(&"  ".repeat(depth));
            }
            Event::Rule => {
                self.gap();
                self.out.push_str("----\n");
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag) {
        match tag {
            Tag::Heading { level, .. } => {
                self.gap();
                self.style(BOLD);
                let marks = match level {
                    HeadingLevel::H1 => "# ",
                    HeadingLevel::H2 => "## ",
                    _ => "### ",
                };
                self.start_line();
                self.out.push_str(marks);
            }
            Tag::Paragraph if self.lists.is_empty() => self.gap(),
            Tag::BlockQuote(_) => {
                self.gap();
                self.quote += 1;
            }
            Tag::CodeBlock(_) => {
                self.gap();
                self.style(DIM);
                self.code = true;
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.gap();
                }
                self.lists.push(*first);
            }
            Tag::Item => {
                self.line();
                self.start_line();
                let depth = self.lists.len().saturating_sub(1);
                self.out.push_str(&"  ".repeat(depth));
                match self.lists.last_mut() {
                    Some(Some(n)) => {
                        self.out.push_str(&format!("{n}. "));
                        *n += 1;
                    }
                    _ => self.out.push_str("- "),
                }
            }
            Tag::Strong => self.style(BOLD),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.style(PLAIN);
                self.line();
            }
            TagEnd::CodeBlock => {
                self.code = false;
                self.style(PLAIN);
                self.line();
            }
            TagEnd::BlockQuote(_) => {
                self.quote = self.quote.saturating_sub(1);
                self.line();
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.line();
            }
            TagEnd::Strong => self.style(PLAIN),
            TagEnd::Paragraph | TagEnd::Item => self.line(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn headings_lists_and_code_are_readable() {
        let text = "# Title\n\nPara *one*\ntwo.\n\n1. a\n2. b\n   - c\n\n```sh\nrm -rf x\n```\n> quote\n";
        assert_eq!(
            render(text, false),
            "# Title\n\nPara one\ntwo.\n\n1. a\n2. b\n  - c\n\n    rm -rf x\n\n> quote\n"
        );
    }

    #[test]
    fn p53_escapes_and_bidirectional_controls_are_not_obeyed() {
        let out = render("a\u{1b}[31mred\u{202e} b\u{7}\n\n`c\u{9b}1m`", false);
        assert!(
            !out.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'),
            "{out:?}"
        );
    }
}
