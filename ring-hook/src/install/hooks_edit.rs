//! What install and remove do to a settings file, as a function from text to text.
//!
//! Each step finds the first thing that is not as it should be, mends that one place in the text, and reads again,
//! until nothing is left to do. So a step never has to know what another one moved. Rewrites come first, additions
//! next, and what is too much goes last: then nothing that is kept ever loses its place, which Codex's trust hangs on.

use super::entry::{Role, started};
use super::hooks_view::{Event, Handler, Hooks, read};
use super::json_edit::{self, New, Style};
use super::json_span::{Fault, Node, parse};
use std::collections::{BTreeMap, BTreeSet};

/// One entry of ours as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which program.
    pub role: Role,
    /// The command.
    pub command: String,
    /// Its time-out, in the agent's unit.
    pub timeout: u64,
}

/// An event with our entries on it, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Name of the event.
    pub event: String,
    /// One a role.
    pub entries: Vec<Entry>,
}

/// The new text and the events whose entries of ours changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edited {
    /// The whole file.
    pub text: String,
    /// Events that had none of ours.
    pub added: Vec<String>,
    /// Events whose entries were put right.
    pub healed: Vec<String>,
    /// Those of them that start more programs than before: nothing was wrong.
    pub extended: Vec<String>,
    /// Those of them that start fewer.
    pub reduced: Vec<String>,
    /// Events that have none any more.
    pub removed: Vec<String>,
    /// Entries of ours were there before.
    pub had_ours: bool,
}

/// The programs of ours that each event starts, each once.
fn programs(text: &str) -> Result<BTreeMap<String, BTreeSet<Role>>, Fault> {
    if is_blank(text) {
        return Ok(BTreeMap::new());
    }
    let root = parse(text)?;
    let of = |event: &Event| -> BTreeSet<Role> {
        let commands = event.handlers().filter(|(.., h)| h.role.is_some());
        let commands = commands.filter_map(|(.., h)| h.command);
        commands.flat_map(started).map(|(role, _)| role).collect()
    };
    let hooks = read(text, &root)?;
    Ok(hooks.events.iter().map(|e| (e.name.to_owned(), of(e))).collect())
}

/// Whether the file is as [`install`] makes one where there was none, without our entries.
pub fn is_fresh(text: &str) -> bool {
    text == "{}\n"
}

/// Objects and lists that were empty before we came, from the backup: they stay when we go, with the white space that
/// was in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hollows {
    /// The whole file held white space only.
    file: Option<String>,
    root: Option<String>,
    hooks: Option<String>,
    events: BTreeMap<String, String>,
}

impl Hollows {
    /// What is empty in `text`; nothing if it is no settings file.
    pub fn of(text: &str) -> Hollows {
        if is_blank(text) {
            return Hollows {
                file: Some(text.to_owned()),
                ..Hollows::default()
            };
        }
        let Ok(root) = parse(text) else {
            return Hollows::default();
        };
        let inside = |node: &Node| json_edit::hollow(text, node).map(str::to_owned);
        let Ok(hooks) = read(text, &root) else {
            return Hollows::default();
        };
        Hollows {
            file: None,
            root: inside(&root),
            hooks: hooks.node.and_then(inside),
            events: hooks
                .events
                .iter()
                .filter_map(|e| Some((e.name.to_owned(), inside(e.node)?)))
                .collect(),
        }
    }
}

/// The text with exactly the wanted entries of ours in it. A text of white space only is an empty object.
///
/// # Errors
/// The file is no JSON, or not of the shape that agents read.
pub fn install(text: &str, wanted: &[Wanted]) -> Result<Edited, Fault> {
    edit(text, wanted, &Hollows::default())
}

/// The text without any entry of ours, and without the groups and events that held nothing else.
///
/// # Errors
/// Those of [`install`].
pub fn remove(text: &str, hollows: &Hollows) -> Result<Edited, Fault> {
    edit(text, &[], hollows)
}

fn edit(text: &str, wanted: &[Wanted], hollows: &Hollows) -> Result<Edited, Fault> {
    let blank = is_blank(text);
    if blank && wanted.is_empty() {
        return Ok(Edited {
            text: text.to_owned(),
            ..Edited::default()
        });
    }
    let mut now = if blank {
        json_edit::fresh(&New::Object(vec![]))
    } else {
        text.to_owned()
    };
    let (before, started_before) = (ours(&now)?, programs(&now)?);
    while let Some(next) = step(&now, wanted, hollows)? {
        now = next;
    }
    if let Some(file) = hollows.file.as_ref().filter(|_| is_empty_object(&now)) {
        now = file.clone();
    }
    let after = ours(&now)?;
    let mut edited = Edited {
        text: now,
        had_ours: !before.is_empty(),
        ..Edited::default()
    };
    let started_after = programs(&edited.text)?;
    let of = |list: &[(String, Vec<String>)], event: &str| list.iter().position(|(e, _)| e == event);
    for (event, entries) in &after {
        match of(&before, event) {
            None => edited.added.push(event.clone()),
            Some(n) if before[n].1 != *entries => edited.healed.push(event.clone()),
            Some(_) => {}
        }
    }
    for event in &edited.healed {
        let (Some(before), Some(after)) = (started_before.get(event), started_after.get(event)) else {
            continue;
        };
        if before != after && before.is_subset(after) {
            edited.extended.push(event.clone());
        } else if before != after && after.is_subset(before) {
            edited.reduced.push(event.clone());
        }
    }
    let before = before.into_iter().map(|(event, _)| event);
    edited.removed = before.filter(|event| of(&after, event).is_none()).collect();
    // A list for people reads best in the order in which the events are wanted.
    edited.added.sort_by_key(|e| wanted.iter().position(|w| w.event == *e));
    Ok(edited)
}

fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{FEFF}').trim().is_empty()
}

fn is_empty_object(text: &str) -> bool {
    parse(text).is_ok_and(|root| json_edit::hollow(text, &root).is_some())
}

/// Our handlers as they are written, event by event in the order of the file.
fn ours(text: &str) -> Result<Vec<(String, Vec<String>)>, Fault> {
    if is_blank(text) {
        return Ok(Vec::new());
    }
    let root = parse(text)?;
    let mut found = Vec::new();
    for event in &read(text, &root)?.events {
        let written: Vec<String> = event
            .handlers()
            .filter(|(.., h)| h.role.is_some())
            .map(|(g, _, h)| format!("{} {}", event.groups[g].narrow, &text[h.node.start..h.node.end]))
            .collect();
        if !written.is_empty() {
            found.push((event.name.to_owned(), written));
        }
    }
    Ok(found)
}

/// A text, read once, and the hooks in it.
struct Page<'a> {
    text: &'a str,
    root: &'a Node,
    hooks: Hooks<'a>,
    style: Style,
}

/// The text after the next step; none if all is as it should be.
fn step(text: &str, wanted: &[Wanted], hollows: &Hollows) -> Result<Option<String>, Fault> {
    let root = parse(text)?;
    let page = Page {
        text,
        root: &root,
        hooks: read(text, &root)?,
        style: Style::of(text, &root),
    };
    Ok(page
        .rewrite(wanted)
        .or_else(|| page.add(wanted))
        .or_else(|| page.drop_surplus(wanted, hollows)))
}

impl Page<'_> {
    /// Puts the first kept handler right that is not exact: its group's matcher, then itself.
    fn rewrite(&self, wanted: &[Wanted]) -> Option<String> {
        self.hooks.events.iter().find_map(|event| {
            entries(wanted, event.name).iter().find_map(|entry| {
                let (g, h) = self.keeper(event, entry)?;
                let (group, handler) = (&event.groups[g], &event.groups[g].handlers[h]);
                if group.narrow {
                    let matcher = group.node.members().iter().rposition(|m| m.name == "matcher")?;
                    return Some(json_edit::take_out(self.text, group.node, matcher, ""));
                }
                (!self.is_exact(handler, entry)).then(|| self.rewrite_handler(handler, entry))
            })
        })
    }

    /// Changes no more than the values, if the members are those that we write.
    fn rewrite_handler(&self, handler: &Handler, entry: &Entry) -> String {
        let node = handler.node;
        let new = written(entry);
        let (New::Object(wanted), true) = (&new, is_ours_alone(node)) else {
            return json_edit::put(self.text, node, &new, &self.style);
        };
        // From the last to the first, so that the places before stay true.
        let mut text = self.text.to_owned();
        for member in node.members().iter().rev() {
            if let Some((_, value)) = wanted.iter().find(|(name, _)| *name == member.name) {
                text = json_edit::put(&text, &member.node, value, &self.style);
            }
        }
        text
    }

    /// Puts the first missing entry into a group of its own, behind all others of its event.
    fn add(&self, wanted: &[Wanted]) -> Option<String> {
        let (event, name, entry) = wanted.iter().find_map(|w| {
            let event = self.hooks.events.iter().find(|e| e.name == w.event);
            let missing = |e: &&Entry| event.and_then(|event| self.keeper(event, e)).is_none();
            Some((event, w.event.as_str(), w.entries.iter().find(missing)?))
        })?;
        let group = New::Object(vec![("hooks".into(), New::List(vec![written(entry)]))]);
        let groups = New::List(vec![group.clone()]);
        let append =
            |to: &Node, name: Option<&str>, new: &New| json_edit::append(self.text, to, name, new, &self.style);
        Some(match (event, self.hooks.node) {
            (Some(event), _) => append(event.node, None, &group),
            (None, Some(hooks)) => append(hooks, Some(name), &groups),
            (None, None) => append(self.root, Some("hooks"), &New::Object(vec![(name.into(), groups)])),
        })
    }

    /// Takes out the first handler of ours that nothing wants.
    fn drop_surplus(&self, wanted: &[Wanted], hollows: &Hollows) -> Option<String> {
        self.hooks.events.iter().find_map(|event| {
            let kept: Vec<_> = entries(wanted, event.name)
                .iter()
                .filter_map(|entry| self.keeper(event, entry))
                .collect();
            let (g, h, _) = event
                .handlers()
                .find(|(g, h, handler)| handler.role.is_some() && !kept.contains(&(*g, *h)))?;
            Some(self.drop_handler(event, g, h, hollows))
        })
    }

    /// Takes out one handler, its group if that held nothing else, and so on up, but not what was empty before.
    fn drop_handler(&self, event: &Event, g: usize, h: usize, hollows: &Hollows) -> String {
        let out = |from: &Node, index: usize, hollow: &str| json_edit::take_out(self.text, from, index, hollow);
        let group = &event.groups[g];
        if let Some(list) = group.list.filter(|_| group.handlers.len() > 1) {
            return out(list, h, "");
        }
        let hollow = hollows.events.get(event.name);
        if event.groups.len() > 1 || hollow.is_some() {
            return out(event.node, g, hollow.map_or("", String::as_str));
        }
        let Some(hooks) = self
            .hooks
            .node
            .filter(|n| n.members().len() > 1 || hollows.hooks.is_some())
        else {
            let member = self.root.members().iter().rposition(|m| m.name == "hooks").unwrap_or(0);
            return out(self.root, member, hollows.root.as_deref().unwrap_or(""));
        };
        out(hooks, event.member, hollows.hooks.as_deref().unwrap_or(""))
    }

    /// Which of our handlers of an event stands for `entry`: an exact one, else the first of its role; only those that
    /// run for every call, or will when their group, which is ours alone, loses its matcher.
    fn keeper(&self, event: &Event, entry: &Entry) -> Option<(usize, usize)> {
        let mut first = None;
        for (g, h, handler) in event.handlers() {
            let group = &event.groups[g];
            let mixed = group.handlers.iter().any(|h| h.role.is_none());
            if handler.role != Some(entry.role) || (group.narrow && mixed) {
                continue;
            }
            if !group.narrow && self.is_exact(handler, entry) {
                return Some((g, h));
            }
            first = first.or(Some((g, h)));
        }
        first
    }

    fn is_exact(&self, handler: &Handler, entry: &Entry) -> bool {
        let text = |name: &str| handler.node.get(name).and_then(Node::text);
        let timeout = handler.node.get("timeout").map(|t| &self.text[t.start..t.end]);
        is_ours_alone(handler.node)
            && text("type") == Some("command")
            && text("command") == Some(&entry.command)
            && timeout == Some(&entry.timeout.to_string())
    }
}

fn entries<'a>(wanted: &'a [Wanted], event: &str) -> &'a [Entry] {
    wanted
        .iter()
        .find(|w| w.event == event)
        .map_or(&[], |w| w.entries.as_slice())
}

/// Whether a handler has the members that we write, each once, and no other: an agent may not know another one.
fn is_ours_alone(node: &Node) -> bool {
    let mut names: Vec<&str> = node.members().iter().map(|m| m.name.as_str()).collect();
    names.sort_unstable();
    names == ["command", "timeout", "type"]
}

fn written(entry: &Entry) -> New {
    New::Object(vec![
        ("type".into(), New::Text("command".into())),
        ("command".into(), New::Text(entry.command.clone())),
        ("timeout".into(), New::Number(entry.timeout)),
    ])
}

#[cfg(test)]
mod tests;
