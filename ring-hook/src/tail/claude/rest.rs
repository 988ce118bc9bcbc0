//! What stands anywhere in a transcript: titles, to-do list, and the last of what other turns had.

use super::line::{Line, Message, SYNTHETIC};
use crate::summary::todo;
use crate::tail::{Tail, action, find, last_part};
use ring_session::text::{clean, first_line};

/// What the walk did not come by: titles, to-do list, and the last of what other turns had.
pub fn fill(tail: &mut Tail, bytes: &[u8], child: bool) {
    let line = |word: &str, take: &mut dyn FnMut(&Line<'_>) -> bool| {
        find::last(bytes, word, |text| {
            Line::parse(text).is_some_and(|line| (child || !line.flag("isSidechain")) && take(&line))
        });
    };
    let title = |kind: &str, member: &str| {
        let mut found = String::new();
        line(&format!("\"{kind}\""), &mut |l| {
            found = clean(&l.text(member), 200);
            l.kind == kind
        });
        found
    };
    tail.custom_title = title("custom-title", "customTitle");
    tail.title = [("ai-title", "aiTitle"), ("summary", "summary")].iter().fold(
        tail.custom_title.clone(),
        |best, (kind, member)| {
            if best.is_empty() { title(kind, member) } else { best }
        },
    );
    line("\"TodoWrite\"", &mut |l| {
        tail.todo = Message::of(l).blocks.iter().rev().find_map(|b| {
            let input = b
                .object
                .exact("input")
                .filter(|_| b.text_of("name") == "TodoWrite")?
                .object()?;
            todo(&input)
        });
        tail.todo.is_some()
    });
    if tail.cwd.is_empty() {
        line("\"cwd\"", &mut |l| {
            tail.cwd = l.text("cwd");
            !tail.cwd.is_empty()
        });
    }
    if tail.model.is_empty() {
        line("\"model\"", &mut |l| {
            let model = Message::of(l).text_of("model").into_owned();
            tail.model = if model == SYNTHETIC {
                String::new()
            } else {
                clean(&model, 80)
            };
            !tail.model.is_empty()
        });
    }
    if tail.action.is_empty() {
        line("\"tool_use\"", &mut |l| {
            let message = Message::of(l);
            let call = message.blocks.iter().rev().find(|b| b.kind == "tool_use");
            tail.action = call
                .map(|c| action(&c.text_of("name"), c.object.exact("input")))
                .unwrap_or_default();
            !tail.action.is_empty()
        });
    }
    if tail.action.is_empty() {
        tail.action = clean(first_line(&tail.text), 160);
    }
    tail.text = last_part(std::mem::take(&mut tail.text));
}
