//! What a person should know about a settings file beside our own entries: names that the agent does not know, other
//! programs on the events that tell of waits, and entries of ours that stand twice.

use super::entry::bare;
use super::hooks_view::Hooks;
use super::version::Version;
use super::writers::Writer;
use ring_session::text;

/// The events on which another program may answer in the person's place.
const ANSWERING: &[&str] = &["PermissionRequest", "Notification"];
/// Longest command that is shown, in characters.
const SHOWN: usize = 160;

/// Event names in the file, ours and others', that the version does not know.
pub fn unknown(hooks: &Hooks, writer: &Writer, version: Option<Version>) -> Vec<String> {
    let names = hooks.events.iter().map(|e| e.name);
    names
        .filter(|name| !(writer.knows)(version, name))
        .map(|name| text::clean(name, SHOWN))
        .collect()
}

/// `EVENT: command` for others' commands on the answering events.
pub fn foreign(hooks: &Hooks) -> Vec<String> {
    let events = hooks.events.iter().filter(|e| ANSWERING.contains(&e.name));
    let mut found = Vec::new();
    for event in events {
        for (.., handler) in event.handlers().filter(|(.., h)| h.role.is_none()) {
            let what = handler.command.unwrap_or("no command, but a handler of another type");
            found.push(format!("{}: {}", event.name, text::clean(what, SHOWN)));
        }
    }
    found
}

/// Events on which one program of ours stands more than once.
pub fn doubled(hooks: &Hooks) -> Vec<String> {
    let twice = |handlers: Vec<_>| (1..handlers.len()).any(|n| handlers[..n].contains(&handlers[n]));
    hooks
        .events
        .iter()
        .filter(|event| twice(event.handlers().filter_map(|(.., h)| h.role).collect()))
        .map(|event| event.name.to_owned())
        .collect()
}

/// Events on which both files have an entry of ours that starts the same.
pub fn in_both(one: &Hooks, other: &Hooks) -> Vec<String> {
    let ours = |hooks: &Hooks, event: &str| -> Vec<String> {
        let event = hooks.events.iter().find(|e| e.name == event);
        let handlers = event.into_iter().flat_map(|e| e.handlers()).map(|(.., h)| h);
        handlers
            .filter(|h| h.role.is_some())
            .filter_map(|h| Some(bare(h.command?).0))
            .collect()
    };
    one.events
        .iter()
        .map(|e| e.name)
        .filter(|name| ours(one, name).iter().any(|c| ours(other, name).contains(c)))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::writers::WRITERS;
    use super::super::{hooks_view, json_span};
    use super::*;

    #[test]
    fn h73_and_h84_others_doubles_and_unknown_names_are_found() {
        let text = r#"{"hooks": {
            "PermissionRequest": [{"hooks": [{"command": "nag\u001b[31m"}, {"type": "http"}, {"command": "ring-hook"}]}],
            "Stop": [{"hooks": [{"command": "nag"}, {"command": "ring-hook"}]}, {"hooks": [{"command": "/a/ring-hook"}]}],
            "EventOfTomorrow": []}}"#;
        let root = json_span::parse(text).unwrap();
        let hooks = hooks_view::read(text, &root).unwrap();
        assert_eq!(
            foreign(&hooks),
            [
                "PermissionRequest: nag",
                "PermissionRequest: no command, but a handler of another type"
            ]
        );
        assert_eq!(doubled(&hooks), ["Stop"]);
        assert_eq!(unknown(&hooks, &WRITERS[0], None), ["EventOfTomorrow"]);
        assert!(unknown(&hooks, &WRITERS[1], None).is_empty());
        assert_eq!(in_both(&hooks, &hooks), ["PermissionRequest", "Stop"]);
    }
}
