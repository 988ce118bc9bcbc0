//! The start of a rollout: whose it is.

use super::line::Line;
use crate::json::{Object, Value};
use crate::tail::Head;
use crate::tail::lines::{forwards, objects};
use memchr::memmem;
use ring_session::text::{clean, first_line};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// What the start of a rollout says. Only the first `session_meta` is the session's own: forks and children repeat
/// their parent's lines behind it.
pub fn head(bytes: &[u8]) -> Head {
    let mut head = None;
    for line in forwards(bytes) {
        // behind the first line only prompts matter, and instructions fill most of a rollout's start
        let may_prompt = |word: &[u8]| memmem::find(line, word).is_some();
        if head.is_some() && !may_prompt(b"\"user") && !may_prompt(b"\"UserMessage\"") {
            continue;
        }
        let prompted = objects(line, &mut |text| match Line::parse(text) {
            Some(line) => begin(&line, &mut head),
            None => ControlFlow::Continue(()),
        });
        if prompted.is_break() {
            break;
        }
    }
    let cut = || Line::parse(&cut_meta(bytes)?).map(|line| meta(&line.payload));
    head.or_else(cut).unwrap_or_default()
}

fn begin(line: &Line<'_>, head: &mut Option<Head>) -> ControlFlow<()> {
    let Some(head) = head else {
        let own = line.kind == "session_meta";
        *head = Some(if own { meta(&line.payload) } else { Head::default() });
        return ControlFlow::Continue(());
    };
    match line
        .prompt()
        .filter(|p| line.ordinal >= head.first_ordinal && !p.starts_with('<'))
    {
        Some(prompt) => {
            head.first_prompt = clean(first_line(&prompt), 200);
            ControlFlow::Break(())
        }
        None => ControlFlow::Continue(()),
    }
}

/// The first line as far as it was read: what stands before the instructions, which may be longer than a head.
fn cut_meta(bytes: &[u8]) -> Option<String> {
    let at =
        memmem::find(bytes, b",\"base_instructions\"").or_else(|| memmem::find(bytes, b", \"base_instructions\""))?;
    Some(format!("{}}}}}", String::from_utf8_lossy(&bytes[..at])))
}

fn meta(payload: &Object<'_>) -> Head {
    let text = |name: &str| payload.exact_text(name).map(Cow::into_owned).unwrap_or_default();
    let source = payload.exact("source");
    let child = source.and_then(Value::object).and_then(|o| o.exact("subagent"));
    let spawned = child
        .and_then(Value::object)
        .and_then(|o| o.exact("thread_spawn")?.object());
    let parent = match text("parent_thread_id") {
        none if none.is_empty() => spawned.and_then(|o| o.exact_text("parent_thread_id").map(Cow::into_owned)),
        parent => Some(parent),
    };
    let id = text("id");
    let source_text = source.and_then(Value::text).map(Cow::into_owned).unwrap_or_default();
    let internal_source = source
        .and_then(Value::object)
        .is_some_and(|o| o.exact("internal").is_some());
    Head {
        session_id: if id.is_empty() { text("session_id") } else { id },
        cwd: text("cwd"),
        child: child.is_some() || source_text == "subagent" || text("thread_source") == "subagent" || parent.is_some(),
        internal: internal_source
            || [&source_text, &text("originator")]
                .iter()
                .any(|t| t.contains("internal")),
        parent: parent.unwrap_or_default(),
        source: source_text,
        originator: text("originator"),
        cli_version: text("cli_version"),
        first_ordinal: payload
            .exact("subagent_history_start_ordinal")
            .and_then(Value::number)
            .map_or(0, |n| n as u64),
        first_prompt: String::new(),
    }
}
