//! What a person orders: which of our programs stand on which events.

use super::entry::{Programs, Role, words};
use super::hooks_edit::{Entry, Wanted};
use super::version::Version;
use super::writers::Writer;
use ring_session::Refusal;
use ring_session::time::parse_span;

/// What may come with the plain entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum With {
    /// The entry is piped into `ring-session hook`, which keeps the turns
    Session,
    /// Plans and goals are approved by `ring-plan hook` (implies session)
    Plan,
    /// A finished turn rings by `ring-notify deliver`
    Notify,
}

impl With {
    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            With::Session => "session",
            With::Plan => "plan",
            With::Notify => "notify",
        }
    }
}

/// The events whose normalised line `ring-session hook` does something with.
const SESSION_EVENTS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PermissionRequest",
    "PermissionAsked",
    "PermissionAnswered",
    "PermissionDenied",
    "Notification",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "StopFailure",
    "Interrupt",
    "SessionEnd",
];

/// The events that `ring-plan hook` reads.
const PLAN_EVENTS: &[&str] = &[
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "StopFailure",
    "SessionEnd",
];

const NOTIFY_EVENTS: &[&str] = &["Stop", "StopFailure"];

/// Seconds that a waiting `ring-plan hook` gets beyond its own wait, to end by itself.
const PLAN_GRACE_S: u64 = 10;

/// How long `ring-plan hook` waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanWait {
    text: String,
    seconds: u64,
}

impl PlanWait {
    /// A span as it is written on a command line.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if it is none.
    pub fn parse(text: &str) -> Result<PlanWait, Refusal> {
        let ms = u64::try_from(parse_span(text)?).unwrap_or(0);
        Ok(PlanWait {
            text: text.trim().to_owned(),
            seconds: ms.div_ceil(1000),
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The one in a command of ours.
    pub fn of_command(command: &str) -> Option<PlanWait> {
        let words = words(command);
        let at = words.iter().position(|w| w == "--wait")?;
        PlanWait::parse(words.get(at + 1)?).ok()
    }
}

/// One order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// What comes with the plain entries; sorted, each once, with what they imply.
    pub with: Vec<With>,
    /// How long `ring-plan hook` waits for a person; none: it does not.
    pub plan_wait: Option<PlanWait>,
}

impl Order {
    /// An order of these, and of what they imply.
    pub fn new(with: &[With], plan_wait: Option<PlanWait>) -> Order {
        let mut with = with.to_vec();
        if with.contains(&With::Plan) {
            with.push(With::Session);
        }
        with.sort_unstable();
        with.dedup();
        Order { with, plan_wait }
    }

    /// Whether one of them was ordered.
    pub fn has(&self, with: With) -> bool {
        self.with.contains(&with)
    }

    /// The entries on each event that a version of the agent gets.
    pub fn wanted(&self, writer: &Writer, version: Option<Version>, programs: &Programs) -> Vec<Wanted> {
        (writer.events)(version)
            .iter()
            .map(|event| Wanted {
                event: (*event).to_owned(),
                entries: self.entries(writer, event, programs),
            })
            .collect()
    }

    /// The entries on one event, in their order.
    pub fn entries(&self, writer: &Writer, event: &str, programs: &Programs) -> Vec<Entry> {
        let timeout = (writer.timeout)(event);
        let piped = self.has(With::Session) && SESSION_EVENTS.contains(&event);
        let hook = if piped {
            programs.session_command(writer.agent)
        } else {
            programs.hook_command(writer.agent)
        };
        let mut entries = vec![Entry {
            role: Role::Hook,
            command: hook,
            timeout,
        }];
        if self.has(With::Plan) && PLAN_EVENTS.contains(&event) {
            let waits = writer.plan_waits && event == "PermissionRequest";
            let wait = self.plan_wait.as_ref().filter(|_| waits);
            entries.push(Entry {
                role: Role::Plan,
                command: programs.plan_command(writer.agent, wait.map(|w| w.text.as_str())),
                timeout: wait.map_or(timeout, |w| w.seconds + PLAN_GRACE_S),
            });
        }
        if self.has(With::Notify) && NOTIFY_EVENTS.contains(&event) {
            entries.push(Entry {
                role: Role::Notify,
                command: programs.notify_command(),
                timeout,
            });
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::super::writers::WRITERS;
    use super::*;

    fn commands(agent: usize, event: &str, with: &[With], wait: Option<&str>) -> Vec<(String, u64)> {
        Order::new(with, wait.map(|w| PlanWait::parse(w).unwrap()))
            .entries(&WRITERS[agent], event, &Programs::bare())
            .into_iter()
            .map(|e| (e.command, e.timeout))
            .collect()
    }

    #[test]
    fn h75_session_pipes_the_entry_on_the_events_that_it_reads_and_on_no_other() {
        let pipe = ("ring-hook --agent claude-code --emit | ring-session hook".to_owned(), 5);
        let plain = ("ring-hook --agent claude-code".to_owned(), 5);
        assert_eq!(commands(0, "Stop", &[With::Session], None), [pipe]);
        assert_eq!(
            commands(0, "PreToolUse", &[With::Session], None),
            std::slice::from_ref(&plain)
        );
        assert_eq!(commands(0, "Stop", &[], None), [plain]);
    }

    #[test]
    fn h75_plan_implies_session_and_its_wait_stands_on_the_request_alone() {
        assert_eq!(Order::new(&[With::Plan], None).with, [With::Session, With::Plan]);
        let pipe = ("ring-hook --agent claude-code --emit | ring-session hook".to_owned(), 5);
        assert_eq!(
            commands(0, "PermissionRequest", &[With::Plan], Some("10m")),
            [
                pipe.clone(),
                ("ring-plan hook --agent claude-code --wait 10m".into(), 610)
            ]
        );
        assert_eq!(
            commands(0, "Stop", &[With::Plan], Some("10m")),
            [pipe, ("ring-plan hook --agent claude-code".into(), 5)]
        );
        assert_eq!(commands(0, "Notification", &[With::Plan], None).len(), 1);
    }

    #[test]
    fn h75_codex_never_waits_for_a_plan() {
        let plan = ("ring-plan hook --agent codex".to_owned(), 5);
        assert_eq!(commands(1, "PermissionRequest", &[With::Plan], Some("10m"))[1], plan);
        assert_eq!(commands(1, "SessionEnd", &[With::Plan], Some("10m"))[1].1, 3);
    }

    #[test]
    fn h75_a_wait_that_is_no_whole_number_of_seconds_is_rounded_up() {
        for (span, seconds) in [("1500ms", 12), ("30m", 1_810), ("1h", 3_610)] {
            assert_eq!(
                commands(0, "PermissionRequest", &[With::Plan], Some(span))[1].1,
                seconds
            );
        }
        for span in ["", "soon", "-5s"] {
            assert!(PlanWait::parse(span).is_err(), "{span:?}");
        }
    }

    #[test]
    fn h75_notify_stands_on_the_ends_of_turns() {
        let ring = ("ring-notify deliver --detach --after 2s".to_owned(), 5);
        assert_eq!(commands(0, "StopFailure", &[With::Notify], None)[1], ring);
        assert_eq!(commands(0, "SessionEnd", &[With::Notify], None).len(), 1);
        assert_eq!(commands(1, "Interrupt", &[With::Session], None)[0].1, 3);
    }
}
