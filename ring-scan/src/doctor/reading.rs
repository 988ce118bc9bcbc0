//! What reading the board met: sources, files that were skipped, formats that nobody knows, marks in the future, hooks
//! that are silent; and the settings.

use super::{Check, Level, or_ok};
use crate::board::Board;
use crate::context::told;
use ring_session::Settings;
use ring_session::settings::Problem;
use std::collections::BTreeMap;

/// One check a source.
pub fn sources(board: &Board) -> Vec<Check> {
    board
        .sources
        .iter()
        .map(|s| {
            let id = format!("sources.{}", s.name);
            let rows = if s.rows == 1 { "row" } else { "rows" };
            let time = format!("{} {rows} in {} ms", s.rows, s.took_ms);
            match s.state.as_str() {
                "ok" => Check::ok(id, time),
                "absent" => Check::ok(id, "nothing there"),
                "off" => Check::ok(id, "off by the setting `sources`"),
                "slow" => Check::warn(
                    id,
                    format!("too slow: {time}; {}", s.error),
                    "its rows may be missing or old",
                ),
                _ => Check {
                    level: Level::Error,
                    ..Check::warn(id, s.error.clone(), "its rows are missing; the others are right")
                },
            }
        })
        .collect()
}

/// What the readers skipped or did not understand.
pub fn findings(board: &Board) -> Vec<Check> {
    let of = |check: &str| board.findings.iter().filter(|f| f.check == check).collect::<Vec<_>>();
    let mut checks = Vec::new();
    let unreadable = of("files.unreadable").into_iter().map(|f| {
        Check::warn(
            "files.unreadable",
            format!("{}: {}", f.path, f.text),
            "skipped; the next event replaces a row, other files can be removed",
        )
    });
    checks.extend(or_ok(
        unreadable.collect(),
        "files.unreadable",
        "every file could be read",
    ));
    checks.extend(of("format").iter().map(|f| {
        let id = format!("format.{}", if f.agent.is_empty() { "unknown" } else { &f.agent });
        Check::warn(
            id,
            format!("{}: {}", f.path, f.text),
            "the agent writes lines that this version does not know; its rows may be wrong",
        )
    }));
    let clock = of("clock").into_iter().map(|f| {
        Check::warn(
            "clock",
            format!("{}: {}", f.path, f.text),
            "marks in the future count as now",
        )
    });
    checks.extend(or_ok(clock.collect(), "clock", "no mark lies in the future"));
    checks
}

/// Agents whose transcripts move while their hooks say nothing.
pub fn silent(board: &Board) -> Vec<Check> {
    let mut silent: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for s in board.sessions.iter().filter(|s| s.hook_stale) {
        silent.entry(&s.agent).or_default().push(&s.key);
    }
    silent
        .into_iter()
        .map(|(agent, keys)| {
            let text = format!("hooks silent while the transcript moves: {}", keys.join(", "));
            Check::warn(
                format!("hooks.{agent}"),
                text,
                "restart the session; see `ring-hook status`",
            )
        })
        .collect()
}

/// What is wrong with the settings.
pub fn settings(settings: &Settings, problems: &[Problem]) -> Vec<Check> {
    let mut checks: Vec<Check> = problems
        .iter()
        .map(|p| Check::warn("config", told(p), "`ring-scan config` lists keys and values"))
        .collect();
    if settings.debug_payload_log {
        checks.push(Check::warn(
            "config",
            "debug_payload_log is on: prompts and commands are written to hook-payloads.jsonl",
            "ring-scan config set debug_payload_log false",
        ));
    }
    or_ok(checks, "config", "no mistake in the settings")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Finding, Session, Source};

    #[test]
    fn c61_each_source_and_each_skipped_file_is_named() {
        let source = |name: &str, state: &str| Source {
            name: name.into(),
            state: state.into(),
            error: "/x: denied".into(),
            ..Source::default()
        };
        let board = Board {
            sources: vec![
                source("hook", "ok"),
                source("codex", "failed"),
                source("claude", "slow"),
            ],
            findings: vec![Finding {
                check: "files.unreadable",
                path: "status/a.json".into(),
                text: "half a row".into(),
                ..Finding::default()
            }],
            ..Board::default()
        };
        let levels: Vec<_> = sources(&board).into_iter().map(|c| (c.id, c.level)).collect();
        assert_eq!(
            levels,
            [
                ("sources.hook".into(), Level::Ok),
                ("sources.codex".into(), Level::Error),
                ("sources.claude".into(), Level::Warn)
            ]
        );
        assert_eq!(findings(&board)[0].text, "status/a.json: half a row");
        assert_eq!(findings(&Board::default())[0].level, Level::Ok);
    }

    #[test]
    fn c18_an_agent_with_silent_hooks_is_named() {
        let session = Session {
            key: "codex:a".into(),
            agent: "codex".into(),
            hook_stale: true,
            ..Session::default()
        };
        let checks = silent(&Board {
            sessions: vec![session],
            ..Board::default()
        });
        assert_eq!(checks[0].id, "hooks.codex");
        assert!(checks[0].text.contains("codex:a"));
    }
}
