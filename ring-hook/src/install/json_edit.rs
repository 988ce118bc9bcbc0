//! Edits of a JSON text in its own style: an item goes behind the last one, one item goes out, a value is replaced.
//! Nothing else in the text changes, and taking out what was put in last gives the old text back.

use super::json_span::{Node, Value};

/// A value to be written.
#[derive(Clone, Debug)]
pub enum New {
    /// A text.
    Text(String),
    /// A number.
    Number(u64),
    /// A list.
    List(Vec<New>),
    /// An object.
    Object(Vec<(String, New)>),
}

/// How a file is laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// `\n` or `\r\n`.
    newline: &'static str,
    /// One step of indentation.
    step: String,
    /// Blank behind a colon.
    colon: &'static str,
    /// Blank behind a comma within a line.
    comma: &'static str,
    /// The whole file stands in one line.
    one_line: bool,
}

impl Style {
    /// The style of a text; two blanks a step where it shows none.
    pub fn of(text: &str, root: &Node) -> Style {
        let body = &text[root.start..root.end];
        let one_line = !root.members().is_empty() && !body.contains('\n');
        let step = root
            .members()
            .iter()
            .find_map(|m| line_indent(text, m.start))
            .filter(|i| !i.is_empty())
            .unwrap_or("  ");
        let first_colon = root
            .members()
            .first()
            .map(|m| text[m.start..m.node.start].ends_with(':'));
        Style {
            newline: if body.contains("\r\n") { "\r\n" } else { "\n" },
            step: step.to_owned(),
            colon: if first_colon == Some(true) { "" } else { " " },
            comma: if one_line && !body.contains(", ") && first_colon == Some(true) {
                ""
            } else {
                " "
            },
            one_line,
        }
    }

    /// Writes a value; `indent` is that of the line it begins in, none: all in one line.
    fn render(&self, new: &New, indent: Option<&str>) -> String {
        match new {
            New::Text(text) => quoted(text),
            New::Number(number) => number.to_string(),
            New::List(items) => {
                let items = items.iter().map(|i| (String::new(), i));
                self.wrap('[', ']', items, indent)
            }
            New::Object(members) => {
                let members = members
                    .iter()
                    .map(|(k, v)| (format!("{}:{}", quoted(k), self.colon), v));
                self.wrap('{', '}', members, indent)
            }
        }
    }

    fn wrap<'a>(
        &self,
        open: char,
        close: char,
        items: impl Iterator<Item = (String, &'a New)>,
        indent: Option<&str>,
    ) -> String {
        let inner = indent.map(|i| format!("{i}{}", self.step));
        let break_line = |to: Option<&str>| to.map(|i| format!("{}{i}", self.newline)).unwrap_or_default();
        let between = match &inner {
            Some(_) => format!(",{}", break_line(inner.as_deref())),
            None => format!(",{}", self.comma),
        };
        let items: Vec<String> = items
            .map(|(name, v)| name + &self.render(v, inner.as_deref()))
            .collect();
        format!(
            "{open}{}{}{}{close}",
            break_line(inner.as_deref()),
            items.join(&between),
            break_line(indent)
        )
    }
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The white space before `at`, if nothing else stands before it in its line.
fn line_indent(text: &str, at: usize) -> Option<&str> {
    let line = text[..at].rfind('\n')? + 1;
    let lead = &text[line..at];
    lead.trim_matches([' ', '\t']).is_empty().then_some(lead)
}

/// The white space at the beginning of the line in which `at` is.
fn indent_of_line(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |n| n + 1);
    let rest = text[line..at].trim_start_matches([' ', '\t']);
    &text[line..at - rest.len()]
}

/// Puts a value behind the last item of `container`; with a name, a member behind its last member.
pub fn append(text: &str, container: &Node, name: Option<&str>, new: &New, style: &Style) -> String {
    let written = |indent: Option<&str>| {
        let name = name
            .map(|n| format!("{}:{}", quoted(n), style.colon))
            .unwrap_or_default();
        name + &style.render(new, indent)
    };
    let children = container.children();
    if let Some((start, end)) = children.last() {
        let lead = match children.len() {
            1 => &text[container.start + 1..*start],
            n => text[children[n - 2].1..*start]
                .split_once(',')
                .map_or("", |(_, lead)| lead),
        };
        let (separator, indent) = match lead.rfind('\n') {
            Some(line) => {
                let from = if lead[..line].ends_with('\r') { line - 1 } else { line };
                (&lead[from..], Some(&lead[line + 1..]))
            }
            None if children.len() > 1 => (lead, None),
            None => (style.comma, None),
        };
        let piece = format!(",{separator}{}", written(indent));
        return format!("{}{piece}{}", &text[..*end], &text[*end..]);
    }
    let inside = if style.one_line {
        written(None)
    } else {
        let outer = indent_of_line(text, container.start);
        let inner = format!("{outer}{}", style.step);
        format!("{nl}{inner}{}{nl}{outer}", written(Some(&inner)), nl = style.newline)
    };
    format!("{}{inside}{}", &text[..container.start + 1], &text[container.end - 1..])
}

/// Takes out item or member `index`. If it was the only one, `hollow` is what stays between the brackets.
pub fn take_out(text: &str, container: &Node, index: usize, hollow: &str) -> String {
    let children = container.children();
    let (from, to, between) = match (index, children.len()) {
        (_, 1) => (container.start + 1, container.end - 1, hollow),
        (0, _) => (children[0].0, children[1].0, ""),
        (n, _) => (children[n - 1].1, children[n].1, ""),
    };
    format!("{}{between}{}", &text[..from], &text[to..])
}

/// Writes another value in the place of `node`, on one line if the old one was on one.
pub fn put(text: &str, node: &Node, new: &New, style: &Style) -> String {
    let lines = text[node.start..node.end].contains('\n');
    let indent = lines.then(|| indent_of_line(text, node.start));
    format!(
        "{}{}{}",
        &text[..node.start],
        style.render(new, indent),
        &text[node.end..]
    )
}

/// What stands between the brackets of an empty object or list; none if it is not empty.
pub fn hollow<'a>(text: &'a str, node: &Node) -> Option<&'a str> {
    let empty = match &node.value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    empty.then(|| &text[node.start + 1..node.end - 1])
}

/// A whole new file.
pub fn fresh(new: &New) -> String {
    let style = Style {
        newline: "\n",
        step: "  ".into(),
        colon: " ",
        comma: " ",
        one_line: false,
    };
    style.render(new, Some("")) + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::json_span::parse;
    use super::*;

    fn appended(text: &str) -> String {
        let root = parse(text).unwrap();
        let new = New::List(vec![New::Object(vec![("t".into(), New::Number(5))])]);
        append(text, &root, Some("x"), &new, &Style::of(text, &root))
    }

    fn back(text: &str, hollow: &str) -> String {
        let root = parse(text).unwrap();
        take_out(text, &root, root.members().len() - 1, hollow)
    }

    #[test]
    fn the_style_of_the_file_is_followed_and_the_way_back_is_exact() {
        for (text, with) in [
            ("{}", "{\n  \"x\": [\n    {\n      \"t\": 5\n    }\n  ]\n}"),
            ("{ }\n", "{\n  \"x\": [\n    {\n      \"t\": 5\n    }\n  ]\n}\n"),
            ("{\"a\":1}", "{\"a\":1,\"x\":[{\"t\":5}]}"),
            ("{\"a\": 1, \"b\": 2}\n", "{\"a\": 1, \"b\": 2, \"x\": [{\"t\": 5}]}\n"),
            (
                "{\n\t\"a\": 1\n}\n",
                "{\n\t\"a\": 1,\n\t\"x\": [\n\t\t{\n\t\t\t\"t\": 5\n\t\t}\n\t]\n}\n",
            ),
            (
                "{\r\n   \"a\":1\r\n}",
                "{\r\n   \"a\":1,\r\n   \"x\":[\r\n      {\r\n         \"t\":5\r\n      }\r\n   ]\r\n}",
            ),
        ] {
            assert_eq!(appended(text), with);
            let inside = hollow(text, &parse(text).unwrap()).unwrap_or("");
            assert_eq!(back(&appended(text), inside), text);
        }
    }

    #[test]
    fn the_first_and_a_middle_item_go_out_with_their_comma() {
        let text = "[1, 2 ,\n3]";
        let out = |n| take_out(text, &parse(text).unwrap(), n, "");
        assert_eq!(out(0), "[2 ,\n3]");
        assert_eq!(out(1), "[1 ,\n3]");
        assert_eq!(out(2), "[1, 2]");
    }
}
