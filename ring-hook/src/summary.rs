//! What a tool call is about, in one line: `Bash: cargo test` (ring-hook(1), SUMMARY).

use crate::event::Tool;
use crate::fold;
use crate::json::{Name, Object, Value, name};
use crate::payload::{CHOICES, filled_text};
use ring_session::text;
use std::borrow::Cow;

/// The longest summary and detail, in characters.
pub const LIMIT: usize = 160;
/// The longest tool name, in characters.
pub const NAME_LIMIT: usize = 80;
/// How many words of a command given as a list are looked at.
const WORDS: usize = 64;
/// The members of an input that say what it is about, after questions, patch and command.
const ABOUT: &[Name<'static>] = &[
    name("file_path"),
    name("path"),
    name("notebook_path"),
    name("url"),
    name("pattern"),
    name("query"),
    name("description"),
];
const PATCH: &str = "*** Begin Patch";

/// The tool with its summary. `input` is the call's, `top` the payload itself, whose questions count too.
pub fn tool(name: &str, use_id: &str, input: Option<&Object<'_>>, top: &Object<'_>) -> Tool {
    let about = about(input, top).unwrap_or_default();
    let name = text::clean(name, NAME_LIMIT);
    // what the name adds is cut with the rest, and nothing is cleaned that could never fit
    let about = text::clean(&about, LIMIT + 1);
    let whole = match (name.is_empty(), about.is_empty()) {
        (_, true) => name.clone(),
        (true, false) => about.clone(),
        (false, false) => format!("{name}: {about}"),
    };
    Tool {
        summary: text::clean(&whole, LIMIT),
        has_text: !about.is_empty(),
        use_id: use_id.to_owned(),
        name,
    }
}

/// What a request of a session record is about: its reason, else what its arguments say, `Bash: git push`. `arguments` is
/// JSON, or nothing.
pub fn of_request(tool: &str, reason: &str, arguments: Option<&str>, with_details: bool) -> String {
    match (reason, arguments.filter(|_| with_details).and_then(Object::parse)) {
        ("", Some(input)) => self::tool(tool, "", Some(&input), &Object::default()).summary,
        ("", None) => text::clean(tool, NAME_LIMIT),
        (reason, _) => text::clean(&format!("{tool}: {reason}"), LIMIT),
    }
}

/// What a wait for this tool is about: the summary if it holds text of the input, else what the event says.
pub fn detail(tool: &Tool, message: &str) -> String {
    if tool.has_text {
        tool.summary.clone()
    } else if message.is_empty() {
        tool.name.clone()
    } else if tool.name.is_empty() {
        text::clean(message, LIMIT)
    } else {
        text::clean(&format!("{}: {message}", tool.name), LIMIT)
    }
}

fn about<'a>(input: Option<&Object<'a>>, top: &Object<'a>) -> Option<Cow<'a, str>> {
    let asked = input.and_then(first_question).or_else(|| first_question(top));
    asked.or_else(|| {
        let input = input?;
        patched_file(input)
            .or_else(|| command(input))
            .or_else(|| ABOUT.iter().find_map(|name| input.named(*name).find_map(filled_text)))
            .or_else(|| {
                input
                    .named(name("plan"))
                    .find_map(filled_text)
                    .map(|plan| text::first_line(&plan).to_owned().into())
            })
            .or_else(|| input.named(name("question")).find_map(filled_text))
    })
}

/// The first entry under `questions`: its `question`, or the entry itself if it is a text.
fn first_question<'a>(object: &Object<'a>) -> Option<Cow<'a, str>> {
    let first = |list: Value<'a>| list.list(1)?.into_iter().next();
    let entry = object.named(CHOICES[0]).find_map(first)?;
    match entry.object() {
        Some(object) => object.named(name("question")).find_map(filled_text),
        None => filled_text(entry),
    }
}

/// The first file that a patch names.
fn patched_file<'a>(input: &Object<'a>) -> Option<Cow<'a, str>> {
    let patch = [name("patch"), name("input"), name("command")]
        .iter()
        .find_map(|name| {
            input.named(*name).find_map(|value| {
                let words = value.list(WORDS).unwrap_or_else(|| vec![value]);
                words
                    .into_iter()
                    .filter_map(Value::text)
                    .find(|t| t.trim_start().starts_with(PATCH))
            })
        })?;
    let file = patch.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("*** ")?;
        let (what, file) = rest.split_once(" File: ")?;
        matches!(what, "Add" | "Update" | "Delete").then(|| file.trim().to_owned())
    });
    file.filter(|f| !f.is_empty()).map(Cow::Owned)
}

/// A command: a text, or its words.
fn command<'a>(input: &Object<'a>) -> Option<Cow<'a, str>> {
    [name("command"), name("cmd")].iter().find_map(|name| {
        input.named(*name).find_map(|value| {
            filled_text(value).or_else(|| {
                let words: Vec<_> = value.list(WORDS)?.into_iter().filter_map(Value::text).collect();
                let line = words.join(" ");
                (!line.trim().is_empty()).then_some(Cow::Owned(line))
            })
        })
    })
}

/// Done and total of a to-do list in a tool's input (`todos`, or the steps of `update_plan`).
pub fn todo(input: &Object<'_>) -> Option<(u32, u32)> {
    let items = [name("todos"), name("plan")]
        .iter()
        .find_map(|name| input.named(*name).find_map(|value| value.list(1000)))?;
    let status = |item: &Value<'_>| {
        item.object()?
            .named(name("status"))
            .find_map(Value::text)
            .map(|t| fold::fold(&t))
    };
    let states: Vec<String> = items.iter().filter_map(status).collect();
    let done = states
        .iter()
        .filter(|s| matches!(s.as_str(), "completed" | "done"))
        .count();
    let count = |n: usize| u32::try_from(n).ok();
    (!states.is_empty()).then_some((count(done)?, count(states.len())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, input: &str) -> String {
        let (input, top) = (Object::parse(input).unwrap(), Object::default());
        tool(name, "", Some(&input), &top).summary
    }

    #[test]
    fn a_request_of_a_record_says_why_else_what_it_touches() {
        let of = |reason, details| of_request("Bash", reason, Some(r#"{"command":"git push"}"#), details);
        assert_eq!(of("", true), "Bash: git push");
        assert_eq!(of("", false), "Bash");
        assert_eq!(of("to publish", true), "Bash: to publish");
        assert_eq!(of_request("Bash", "", None, true), "Bash");
        assert_eq!(of_request("Bash", "", Some("[1"), true), "Bash");
    }

    #[test]
    fn h27_the_detail_of_a_call_is_what_it_touches() {
        assert_eq!(of("T", r#"{"command":["bash","-lc","ls"]}"#), "T: bash -lc ls");
        assert_eq!(of("T", r#"{"notebook_path":"/n.ipynb"}"#), "T: /n.ipynb");
        assert_eq!(of("T", r#"{"description":"d","query":"q"}"#), "T: q");
        assert_eq!(of("T", r#"{"plan":"\n First\nsecond"}"#), "T: First");
        assert_eq!(
            of("T", r#"{"questions":[{"question":"A or B?"}],"command":"ls"}"#),
            "T: A or B?"
        );
        assert_eq!(of("T", r#"{"questions":[{"question":" "}],"command":"ls"}"#), "T: ls");
        assert_eq!(of("T", r#"{"foo":"bar"}"#), "T");
        let patch = r#"{"command":"*** Begin Patch\n*** Update File: src/a.rs\n@@\n*** End Patch"}"#;
        assert_eq!(of("apply_patch", patch), "apply_patch: src/a.rs");
    }

    #[test]
    fn h27_a_long_command_is_cut_and_its_escapes_are_gone() {
        let long = format!(r#"{{"command":"\u001b[31m\u202e{}"}}"#, "x".repeat(200));
        let summary = of("T", &long);
        assert_eq!(summary.chars().count(), LIMIT);
        assert!(summary.starts_with("T: xxx") && summary.ends_with("x…"));
    }

    #[test]
    fn a_detail_falls_back_to_the_message_and_the_name() {
        let bare = |name: &str| tool(name, "", None, &Object::default());
        assert_eq!(detail(&bare("T"), "m"), "T: m");
        assert_eq!(detail(&bare(""), "m"), "m");
        assert_eq!(detail(&bare("T"), ""), "T");
        assert_eq!(detail(&bare(""), ""), "");
    }

    #[test]
    fn a_to_do_list_is_counted() {
        let list = Object::parse(r#"{"todos":[{"status":"completed"},{"status":"in_progress"},"x"]}"#).unwrap();
        assert_eq!(todo(&list), Some((1, 2)));
        let plan = Object::parse(r#"{"plan":[{"step":"a","status":"completed"}]}"#).unwrap();
        assert_eq!(todo(&plan), Some((1, 1)));
        assert_eq!(todo(&Object::parse(r#"{"plan":"text"}"#).unwrap()), None);
    }
}
