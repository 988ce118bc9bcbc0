//! Claude Code: which hook events a version knows, and which of them we take.
//!
//! One name that the version does not know stops every interactive start with a dialog ("Settings Warning"), so a name
//! is written only if the installed version is known to know it. Measured with 2.1.197 and 2.1.332.

use super::findings;
use super::hooks_view::{self, Hooks};
use super::json_span;
use super::seen;
use super::version::Version;
use super::writers::Target;
use ring_session::time::Ms;
use std::fs;
use std::path::{Path, PathBuf};

/// What is safe in every version with hooks.
const OLDEST: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Notification",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "SessionEnd",
];

/// What we take, from 2.1.197 on. Not WorktreeCreate, whose hook must print a path, and not MessageDisplay, which comes
/// many times a second.
const TAKEN: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PermissionDenied",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "Elicitation",
    "ElicitationResult",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "PreCompact",
    "PostCompact",
    "CwdChanged",
    "SessionEnd",
];

/// What 2.1.197 knows beside them.
const KNOWN_197: &[&str] = &[
    "Setup",
    "UserPromptExpansion",
    "PostToolBatch",
    "MessageDisplay",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "ConfigChange",
    "FileChanged",
    "InstructionsLoaded",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// What 2.1.332 knows beside those.
const KNOWN_332: &[&str] = &[
    "DirectoryAdded",
    "PreModelSwitch",
    "PostModelSwitch",
    "PreSkillShellCommand",
];

const V197: Version = Version(2, 1, 197);
const V332: Version = Version(2, 1, 332);

/// The events that get an entry.
pub fn events(version: Option<Version>) -> &'static [&'static str] {
    if version >= Some(V197) { TAKEN } else { OLDEST }
}

/// Whether the version knows an event. A version in between is taken for the older one; where none was found, or one
/// that was never measured, only a name that no version knows is called unknown.
pub fn knows(version: Option<Version>, event: &str) -> bool {
    let between = version.is_some_and(|v| (V197..V332).contains(&v));
    TAKEN.contains(&event) || KNOWN_197.contains(&event) || (!between && KNOWN_332.contains(&event))
}

/// Where an administrator's settings are.
const MANAGED: &[&str] = &["/etc/claude-code", "/Library/Application Support/ClaudeCode"];

/// What may keep the entries silent, or make them speak twice.
pub fn hints(target: &Target, hooks: &Hooks) -> Vec<String> {
    let local = target.home.join("settings.local.json");
    let mut files = vec![
        target.file.clone(),
        local.clone(),
        target.home.join("remote-settings.json"),
    ];
    files.extend(MANAGED.iter().flat_map(|folder| managed(Path::new(folder))));
    let mut hints: Vec<String> = files
        .iter()
        .filter_map(|file| Some((file, fs::read_to_string(file).ok()?)))
        .flat_map(|(file, text)| {
            policy(&text)
                .into_iter()
                .map(|p| format!("{p} in {}", file.display()))
                .collect::<Vec<_>>()
        })
        .collect();
    if let Ok(text) = fs::read_to_string(&local) {
        hints.extend(both_hint(hooks, &text, &local));
    }
    hints
}

fn managed(folder: &Path) -> Vec<PathBuf> {
    let dropped = fs::read_dir(folder.join("managed-settings.d"));
    let dropped = dropped.into_iter().flatten().filter_map(Result::ok).map(|e| e.path());
    [folder.join("managed-settings.json")]
        .into_iter()
        .chain(dropped)
        .collect()
}

/// What a settings file says about hooks as a whole.
fn policy(text: &str) -> Vec<&'static str> {
    let Ok(root) = json_span::parse(text) else {
        return Vec::new();
    };
    [
        ("disableAllHooks", "disableAllHooks silences every hook"),
        (
            "allowManagedHooksOnly",
            "allowManagedHooksOnly silences hooks that are not the administrator's",
        ),
    ]
    .into_iter()
    .filter(|(key, _)| root.get(key).is_some_and(|n| &text[n.start..n.end] == "true"))
    .map(|(_, hint)| hint)
    .collect()
}

fn both_hint(hooks: &Hooks, other: &str, file: &Path) -> Option<String> {
    let root = json_span::parse(other).ok()?;
    let twice = findings::in_both(hooks, &hooks_view::read(other, &root).ok()?);
    let events = twice.join(", ");
    (!twice.is_empty()).then(|| format!("our entry on {events} stands in {} too", file.display()))
}

/// Newest sign of work in the transcripts: a prompt or an answer, not the bookkeeping that may follow minutes later.
pub fn newest_record(home: &Path) -> Option<Ms> {
    let file = seen::newest(seen::below(&home.join("projects"), 2), "jsonl")?;
    seen::last_stamp(&file, |kind| matches!(kind, "user" | "assistant"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h114_every_name_that_is_written_is_known_to_the_version() {
        let versions = [
            None,
            Some(Version(2, 0, 5)),
            Some(V197),
            Some(Version(2, 1, 250)),
            Some(V332),
            Some(Version(3, 0, 0)),
        ];
        for version in versions {
            for event in events(version) {
                assert!(knows(version, event), "{version:?} {event}");
            }
        }
        assert_eq!(events(None).len(), 9);
        assert_eq!(events(Some(Version(2, 1, 196))).len(), 9);
        assert_eq!(events(Some(V197)).len(), 18);
        assert_eq!(events(Some(Version(9, 0, 0))).len(), 18);
    }

    #[test]
    fn h84_the_tables_have_the_measured_sizes() {
        let all: Vec<&&str> = TAKEN.iter().chain(KNOWN_197).chain(KNOWN_332).collect();
        assert_eq!(all.iter().filter(|e| knows(Some(V197), e)).count(), 30);
        assert_eq!(all.iter().filter(|e| knows(Some(V332), e)).count(), 34);
        assert!(!knows(Some(V332), "EventOfTomorrow") && !knows(None, "EventOfTomorrow"));
    }

    #[test]
    fn h73_policies_that_silence_hooks_are_named() {
        assert_eq!(policy(r#"{"disableAllHooks": true}"#).len(), 1);
        assert_eq!(
            policy(r#"{"allowManagedHooksOnly":true, "disableAllHooks": false}"#).len(),
            1
        );
        assert!(policy("{}").is_empty() && policy("garbage").is_empty());
    }

    #[test]
    fn h71_worktree_create_is_never_taken() {
        for never in ["WorktreeCreate", "MessageDisplay", "PostToolBatch"] {
            assert!(!TAKEN.contains(&never));
        }
    }
}
