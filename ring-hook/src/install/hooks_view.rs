//! The `hooks` of a settings file as agents read them: events, groups, commands, each with its place in the text.
//! Claude Code and Codex share the shape.

use super::entry::Role;
use super::json_span::{Fault, Node, Value};

/// One command (or other handler) of a group.
#[derive(Clone, Debug)]
pub struct Handler<'a> {
    /// Its place.
    pub node: &'a Node,
    /// The command, if it is one.
    pub command: Option<&'a str>,
    /// Its role, if it is ours.
    pub role: Option<Role>,
}

/// One group of an event.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Its place.
    pub node: &'a Node,
    /// The list of its handlers; none if it has none.
    pub list: Option<&'a Node>,
    /// It does not run for every call.
    pub narrow: bool,
    /// What it runs.
    pub handlers: Vec<Handler<'a>>,
}

/// One event.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its list of groups.
    pub node: &'a Node,
    /// Where it stands among the members of `hooks`.
    pub member: usize,
    /// The groups.
    pub groups: Vec<Group<'a>>,
}

impl<'a> Event<'a> {
    /// Every handler with the numbers of its group and of its place there.
    pub fn handlers(&self) -> impl Iterator<Item = (usize, usize, &Handler<'a>)> {
        let in_group = |(g, group): (usize, &'_ Group<'a>)| (g, group.handlers.len());
        self.groups
            .iter()
            .enumerate()
            .map(in_group)
            .flat_map(|(g, count)| (0..count).map(move |h| (g, h)))
            .map(|(g, h)| (g, h, &self.groups[g].handlers[h]))
    }
}

/// All of it.
#[derive(Clone, Debug)]
pub struct Hooks<'a> {
    /// The `hooks` object, if there is one.
    pub node: Option<&'a Node>,
    /// The events that count: of a name that comes twice, the last.
    pub events: Vec<Event<'a>>,
}

/// Reads the hooks of a parsed file.
///
/// # Errors
/// The top level or `hooks` is no object, an event's value no list, a group no object, its `hooks` no list, a command
/// no text. An agent would refuse such a file, or half of it.
pub fn read<'a>(text: &str, root: &'a Node) -> Result<Hooks<'a>, Fault> {
    let fault = |node: &Node, what: String| Err(Fault::at(text, node.start, what));
    if !matches!(root.value, Value::Object(_)) {
        return fault(root, "the top level is no object".into());
    }
    let Some(hooks) = root.get("hooks") else {
        return Ok(Hooks {
            node: None,
            events: Vec::new(),
        });
    };
    let Value::Object(members) = &hooks.value else {
        return fault(hooks, "`hooks` is no object".into());
    };
    let mut events = Vec::new();
    for (number, member) in members.iter().enumerate() {
        if members[number + 1..].iter().any(|m| m.name == member.name) {
            continue;
        }
        let Value::Array(items) = &member.node.value else {
            return fault(&member.node, format!("the value of {} is no list", member.name));
        };
        let groups = items.iter().map(|item| group(text, &member.name, item));
        events.push(Event {
            name: &member.name,
            node: &member.node,
            member: number,
            groups: groups.collect::<Result<_, _>>()?,
        });
    }
    Ok(Hooks {
        node: Some(hooks),
        events,
    })
}

fn group<'a>(text: &str, event: &str, node: &'a Node) -> Result<Group<'a>, Fault> {
    let fault = |node: &Node, what: String| Err(Fault::at(text, node.start, what));
    if !matches!(node.value, Value::Object(_)) {
        return fault(node, format!("a group of {event} is no object"));
    }
    let list = node.get("hooks");
    let mut handlers = Vec::new();
    if let Some(list) = list {
        let Value::Array(items) = &list.value else {
            return fault(list, format!("the hooks of a group of {event} are no list"));
        };
        for item in items {
            let command = item.get("command");
            if let Some(bad) = command.filter(|c| c.text().is_none()) {
                return fault(bad, format!("a command of {event} is no text"));
            }
            let command = command.and_then(Node::text);
            handlers.push(Handler {
                node: item,
                command,
                role: command.and_then(Role::of),
            });
        }
    }
    let matcher = node.get("matcher");
    Ok(Group {
        node,
        list,
        narrow: matcher.is_some_and(|m| !matches!(m.text(), Some("" | "*"))),
        handlers,
    })
}
