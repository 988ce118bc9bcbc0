//! How our entries stand in a settings file: complete, stale, missing. Nothing is run and nothing changed.

use super::entry::{Programs, Role, bare};
use super::hooks_edit::Entry;
use super::hooks_view::{Event, Handler, Hooks};
use super::json_span::Node;
use super::order::{Order, PlanWait, With};
use super::search_path;
use super::version::Version;
use super::writers::Writer;
use std::path::Path;

/// The events of one file by the state of our entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// complete, partial or none.
    pub state: &'static str,
    /// What comes with the plain entries, as found.
    pub with: Vec<&'static str>,
    /// How long a plan may wait in its entry, as found; empty: it does not.
    pub plan_wait: String,
    /// Entries that install would write otherwise, or take out.
    pub stale: Vec<String>,
    /// Events without an entry that they should have.
    pub missing: Vec<String>,
}

/// What `text`, read as `hooks`, has of our entries. `runs` says whether a program can be started.
pub fn standing(
    text: &str,
    hooks: &Hooks,
    writer: &Writer,
    version: Option<Version>,
    runs: impl Fn(&str) -> bool,
) -> Standing {
    let ours: Vec<(&Event, &Handler)> = hooks
        .events
        .iter()
        .flat_map(|e| e.handlers().map(move |(.., h)| (e, h)))
        .filter(|(_, h)| h.role.is_some())
        .collect();
    let order = order_of(&ours);
    let mut events = (writer.events)(version);
    // An entry that a known version may have is not stale because nobody is asked for the version here.
    if version.is_none() && ours.iter().any(|(e, _)| !events.contains(&e.name)) {
        events = (writer.events)(Some(Version::NEWEST));
    }
    let mut found = Standing {
        state: "none",
        with: order.with.iter().map(|w| w.name()).collect(),
        plan_wait: order
            .plan_wait
            .as_ref()
            .map(|w| w.text().to_owned())
            .unwrap_or_default(),
        ..Standing::default()
    };
    if ours.is_empty() {
        found.missing = events.iter().map(|e| (*e).to_owned()).collect();
        return found;
    }
    let programs = Programs::bare();
    for event in &hooks.events {
        let wanted = if events.contains(&event.name) {
            order.entries(writer, event.name, &programs)
        } else {
            Vec::new()
        };
        if is_stale(text, event, &wanted, &runs) {
            found.stale.push(event.name.to_owned());
        }
    }
    for name in events {
        let event = hooks.events.iter().find(|e| e.name == *name);
        let has = |role: Role| event.is_some_and(|e| e.handlers().any(|(.., h)| h.role == Some(role)));
        if order.entries(writer, name, &programs).iter().any(|e| !has(e.role)) {
            found.missing.push((*name).to_owned());
        }
    }
    let complete = found.stale.is_empty() && found.missing.is_empty();
    found.state = if complete { "complete" } else { "partial" };
    found
}

/// The order that these entries come from.
fn order_of(ours: &[(&Event, &Handler)]) -> Order {
    let commands = || ours.iter().filter_map(|(_, h)| Some((h.role?, h.command?)));
    let piped = commands().any(|(role, c)| role == Role::Hook && bare(c).0.contains(" | ring-session "));
    let mut with = Vec::new();
    with.extend(piped.then_some(With::Session));
    with.extend(commands().any(|(r, _)| r == Role::Plan).then_some(With::Plan));
    with.extend(commands().any(|(r, _)| r == Role::Notify).then_some(With::Notify));
    let wait = commands()
        .filter(|(r, _)| *r == Role::Plan)
        .find_map(|(_, c)| PlanWait::of_command(c));
    Order::new(&with, wait)
}

fn is_stale(text: &str, event: &Event, wanted: &[Entry], runs: &impl Fn(&str) -> bool) -> bool {
    let mut seen = Vec::new();
    event.handlers().any(|(g, _, handler)| {
        let (Some(role), Some(command)) = (handler.role, handler.command) else {
            return false;
        };
        let twice = seen.contains(&role);
        seen.push(role);
        let (name, paths) = bare(command);
        let timeout = handler.node.get("timeout").map(|t: &Node| &text[t.start..t.end]);
        let right = wanted
            .iter()
            .any(|w| w.role == role && w.command == name && timeout == Some(w.timeout.to_string().as_str()));
        twice || !right || event.groups[g].narrow || !paths.iter().all(|p| runs(p))
    })
}

/// Whether a program that an entry names can be started: a path must be one, a bare name is left to `$PATH`.
pub fn runs(program: &str) -> bool {
    !program.contains('/') || search_path::is_program(Path::new(program))
}

#[cfg(test)]
mod tests {
    use super::super::hooks_edit::install;
    use super::super::report::with_hooks;
    use super::super::writers::WRITERS;
    use super::*;

    const V197: Option<Version> = Some(Version(2, 1, 197));

    fn programs() -> Programs {
        let at = |name: &str| format!("/x y/{name}");
        Programs {
            hook: at("ring-hook"),
            session: at("ring-session"),
            plan: at("ring-plan"),
            notify: at("ring-notify"),
        }
    }

    fn installed(order: &Order, version: Option<Version>) -> String {
        let wanted = order.wanted(&WRITERS[0], version, &programs());
        install("{}", &wanted).unwrap().text
    }

    fn stands(text: &str, version: Option<Version>) -> Standing {
        with_hooks(text, |h| {
            standing(text, h, &WRITERS[0], version, |p| p.starts_with("/x y/"))
        })
        .unwrap()
    }

    #[test]
    fn what_install_writes_is_complete_with_whatever_was_ordered() {
        let wait = PlanWait::parse("10m").unwrap();
        for order in [
            Order::default(),
            Order::new(&[With::Session], None),
            Order::new(&[With::Plan, With::Notify], None),
            Order::new(&[With::Plan], Some(wait)),
        ] {
            for version in [None, V197] {
                let found = stands(&installed(&order, version), version);
                assert_eq!(
                    (found.state, found.stale, found.missing),
                    ("complete", vec![], vec![]),
                    "{order:?}"
                );
                assert_eq!(found.with.len(), order.with.len());
            }
        }
    }

    #[test]
    fn an_unknown_version_does_not_make_known_entries_stale() {
        assert_eq!(stands(&installed(&Order::default(), V197), None).state, "complete");
        let older = stands(&installed(&Order::default(), V197), Some(Version(2, 0, 0)));
        assert_eq!((older.state, older.stale.len()), ("partial", 9));
        let newer = stands(&installed(&Order::default(), None), V197);
        assert_eq!((newer.state, newer.missing.len()), ("partial", 9));
    }

    #[test]
    fn nothing_of_ours_is_none_and_all_is_missing() {
        let found = stands(r#"{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}"#, V197);
        assert_eq!((found.state, found.missing.len(), found.stale.len()), ("none", 18, 0));
    }

    #[test]
    fn h71_old_paths_timeouts_pipes_events_and_doubles_are_stale() {
        let good = installed(&Order::default(), V197);
        for (from, to) in [
            ("'/x y/ring-hook' --agent", "/gone/ring-hook --agent"),
            ("\"timeout\": 5", "\"timeout\": 60"),
            ("--agent claude-code", "--agent codex"),
        ] {
            let found = stands(&good.replacen(from, to, 1), V197);
            assert_eq!(
                (found.state, found.stale),
                ("partial", vec!["SessionStart".to_owned()]),
                "{from}"
            );
        }
        let unwanted = good.replacen("\"SessionEnd\"", "\"WorktreeCreate\"", 1);
        let found = stands(&unwanted, V197);
        assert_eq!(found.stale, ["WorktreeCreate"]);
        assert_eq!(found.missing, ["SessionEnd"]);
    }
}
