//! What hook entries could not do since they last could: `hook-errors.log` as `status` tells it (ring(5), HOOK ERRORS).

use ring_hook::agent;
use ring_session::StateDir;
use ring_session::regular;
use ring_session::time::{Ms, parse_iso};
use std::collections::BTreeMap;

/// The lines of the log, oldest first.
#[derive(Debug, Default)]
pub struct HookErrors {
    /// By agent, canonical; empty: lines about the settings.
    lines: BTreeMap<String, Vec<Line>>,
    file: String,
}

#[derive(Debug)]
struct Line {
    at: Ms,
    code: String,
}

impl HookErrors {
    /// Those of the log. One that cannot be read holds none.
    pub fn read(state: &StateDir) -> HookErrors {
        let path = state.hook_errors();
        let text = regular::read(&path).unwrap_or_default();
        let mut lines: BTreeMap<String, Vec<Line>> = BTreeMap::new();
        for (agent, line) in String::from_utf8_lossy(&text).lines().filter_map(line) {
            lines.entry(agent).or_default().push(line);
        }
        HookErrors {
            lines,
            file: path.display().to_string(),
        }
    }

    /// The hint about an agent whose last good event was then.
    pub fn of(&self, agent: &str, last_event: Ms) -> Option<String> {
        self.hint(self.lines.get(agent)?, last_event)
    }

    /// The hints about what belongs to none of `known`: an agent of another name each, after its last good event.
    pub fn of_others<'a>(
        &self,
        known: impl IntoIterator<Item = &'a str>,
        last_event: impl Fn(&str) -> Ms,
    ) -> Vec<String> {
        let known: Vec<&str> = known.into_iter().collect();
        let others = self.lines.keys().map(String::as_str);
        let others = others.filter(|a| !a.is_empty() && !known.contains(a));
        let hint = |agent: &str| Some(format!("{agent}: {}", self.of(agent, last_event(agent))?));
        others.filter_map(hint).collect()
    }

    fn hint(&self, lines: &[Line], since: Ms) -> Option<String> {
        let fitting: Vec<&Line> = lines.iter().filter(|l| l.at > since).collect();
        let newest = fitting.last()?;
        let (count, code, file) = (fitting.len(), &newest.code, &self.file);
        let events = if count == 1 { "event was" } else { "events were" };
        Some(format!(
            "{count} {events} lost since the last good one, the newest by {code}; see {file}"
        ))
    }
}

/// `TIME CODE AGENT EVENT SIZE`. An entry that names no agent is Claude Code's.
fn line(text: &str) -> Option<(String, Line)> {
    let mut words = text.split(' ');
    let (at, code, agent) = (parse_iso(words.next()?)?, words.next()?, words.next()?);
    let agent = match agent {
        "settings" => String::new(),
        "-" => agent::CLAUDE.to_owned(),
        name => agent::canonical(name),
    };
    let code = code.to_owned();
    Some((agent, Line { at, code }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring_session::{Code, error_log};

    #[test]
    fn errors_after_the_last_good_event_are_counted_by_agent() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path());
        let none = HookErrors::read(&state);
        assert_eq!(none.of("codex", 0), None);
        for (at, code, agent) in [
            (1_000, Code::Io, "codex"),
            (2_000, Code::LockTimeout, "codex"),
            (3_000, Code::BadPayload, "codex-cli"),
            (4_000, Code::BadPayload, ""),
            (5_000, Code::BadPayload, "acme"),
        ] {
            error_log::note(&state, at, code, agent, "Stop", 7).unwrap();
        }
        let errors = HookErrors::read(&state);
        let codex = errors.of("codex", 1_500).unwrap();
        assert!(
            codex.starts_with("2 events were lost") && codex.contains("by BAD_PAYLOAD; see "),
            "{codex}"
        );
        assert_eq!(errors.of("codex", 3_000), None);
        assert!(errors.of("claude-code", 0).unwrap().starts_with("1 event was lost"));
        let others = errors.of_others(["codex", "claude-code"], |_| 0);
        assert_eq!(others.len(), 1);
        assert!(others[0].starts_with("acme: 1 event was lost"), "{others:?}");
    }

    #[test]
    fn a_log_of_twenty_thousand_agents_is_counted_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path());
        let text: String = (0..20_000)
            .map(|n| format!("2026-11-30T19:00:00.000Z IO agent{n} Stop 7\n"))
            .collect();
        std::fs::write(state.hook_errors(), text).unwrap();
        let begun = std::time::Instant::now();
        assert_eq!(HookErrors::read(&state).of_others([], |_| 0).len(), 20_000);
        // looking through all lines for each agent took minutes
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }
}
