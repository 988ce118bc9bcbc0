//! Codex: which hook events we take, and which of our entries the person has approved. Measured with 0.171.0.

use super::hooks_view::Hooks;
use super::seen;
use super::version::Version;
use super::writers::Target;
use ring_session::time::Ms;
use std::path::Path;

const TAKEN: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Stop",
    "SessionEnd",
    "Interrupt",
];

/// Unknown names are passed over in silence, so one list serves every version.
pub fn events(_: Option<Version>) -> &'static [&'static str] {
    TAKEN
}

/// More than 3 s on these two is warned about at each start.
pub fn timeout(event: &str) -> u64 {
    if matches!(event, "SessionEnd" | "Interrupt") {
        3
    } else {
        5
    }
}

/// What keeps the entries silent: nobody approved them.
pub fn hints(target: &Target, hooks: &Hooks) -> Vec<String> {
    let config = std::fs::read_to_string(target.home.join("config.toml")).unwrap_or_default();
    let real = std::fs::canonicalize(&target.file).unwrap_or_else(|_| target.file.clone());
    let events = untrusted(hooks, &config, &[&target.file, &real]);
    let ours = hooks
        .events
        .iter()
        .filter(|e| e.handlers().any(|(.., h)| h.role.is_some()));
    let which = match events.len() {
        0 => return Vec::new(),
        n if n == ours.count() => "our entries".to_owned(),
        _ => format!("our entries on {}", events.join(", ")),
    };
    vec![format!(
        "{which} are not approved, so Codex skips them: start codex and approve them with /hooks"
    )]
}

/// Newest sign of work in the rollouts, of the last three days that have any.
pub fn newest_record(home: &Path) -> Option<Ms> {
    let mut days = seen::below(&home.join("sessions"), 4);
    days.sort_unstable();
    let days = days.split_off(days.len().saturating_sub(3));
    seen::last_stamp(&seen::newest(days, "jsonl")?, |_| true)
}

/// The events with an entry of ours that has no approval in `config` (the text of Codex's config.toml). Codex skips such
/// an entry without a word. Approval is kept by file, event, group and place in the group; `files` are the names under
/// which Codex may know the file. A broken config approves nothing.
pub fn untrusted(hooks: &Hooks, config: &str, files: &[&Path]) -> Vec<String> {
    let config: toml::Table = config.parse().unwrap_or_default();
    let state = config
        .get("hooks")
        .and_then(|h| h.get("state"))
        .and_then(toml::Value::as_table);
    let trusted = |event: &str, group: usize, place: usize| {
        files.iter().any(|file| {
            let key = format!("{}:{}:{group}:{place}", file.display(), snake(event));
            let entry = state.and_then(|s| s.get(&key)).and_then(toml::Value::as_table);
            entry.is_some_and(|e| {
                e.get("trusted_hash").is_some_and(toml::Value::is_str)
                    && e.get("enabled").and_then(toml::Value::as_bool) != Some(false)
            })
        })
    };
    hooks
        .events
        .iter()
        .filter(|event| {
            event
                .handlers()
                .any(|(g, h, handler)| handler.role.is_some() && !trusted(event.name, g, h))
        })
        .map(|event| event.name.to_owned())
        .collect()
}

/// `PreToolUse` as `pre_tool_use`.
fn snake(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::super::{hooks_view, json_span};
    use super::*;

    #[test]
    fn h71_session_end_and_interrupt_have_three_seconds() {
        let long: Vec<_> = TAKEN.iter().filter(|e| timeout(e) != 5).collect();
        assert_eq!(long, [&"SessionEnd", &"Interrupt"]);
        assert_eq!(TAKEN.len(), 12);
    }

    #[test]
    fn h73_an_entry_without_its_hash_is_untrusted() {
        let text = r#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "x"}]}, {"hooks": [{"command": "x"}, {"command": "ring-hook"}]}],
            "Stop": [{"hooks": [{"command": "ring-hook"}]}], "Interrupt": [{"hooks": [{"command": "x"}]}]}}"#;
        let root = json_span::parse(text).unwrap();
        let hooks = hooks_view::read(text, &root).unwrap();
        let file = Path::new("/h/.codex/hooks.json");
        let key = |rest: &str, line: &str| format!("[hooks.state.\"/h/.codex/hooks.json:{rest}\"]\n{line}\n");
        let hash = "trusted_hash = \"sha256:00\"";
        let check = |config: String| untrusted(&hooks, &config, &[file]);
        assert_eq!(check(String::new()), ["PreToolUse", "Stop"]);
        assert_eq!(check("not toml [".into()), ["PreToolUse", "Stop"]);
        assert_eq!(check(key("pre_tool_use:1:1", hash)), ["Stop"]);
        assert_eq!(check(key("pre_tool_use:1:0", hash)), ["PreToolUse", "Stop"]);
        let both = key("pre_tool_use:1:1", hash) + &key("stop:0:0", hash);
        assert!(check(both.clone()).is_empty());
        assert_eq!(check(both + "enabled = false\n"), ["Stop"]);
    }
}
