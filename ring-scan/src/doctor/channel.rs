//! Agents' own notifications, which ring beside ours.

use super::Check;
use serde::Deserialize;
use std::path::Path;

/// Claude Code's global settings; `auto` if the key is missing (2.1.332).
#[derive(Deserialize)]
struct Claude {
    #[serde(default, rename = "preferredNotifChannel")]
    channel: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Codex {
    tui: Tui,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tui {
    notifications: Option<toml::Value>,
}

/// One check for each agent whose settings are there. A file that cannot be read says nothing.
pub fn checks(home: &Path) -> Vec<Check> {
    let read = |below: &str| std::fs::read_to_string(home.join(below)).ok();
    let claude = read(".claude.json").and_then(|text| claude(&text));
    let codex = read(".codex/config.toml").and_then(|text| codex(&text));
    claude
        .into_iter()
        .chain(codex)
        .map(|text| Check::ok("agent.notify", text))
        .collect()
}

fn claude(text: &str) -> Option<String> {
    let settings: Claude = serde_json::from_str(text).ok()?;
    Some(match settings.channel.as_str() {
        "notifications_disabled" => "claude-code does not ring by itself".to_owned(),
        "" => "claude-code rings by itself where the terminal can (preferredNotifChannel: auto)".to_owned(),
        channel => format!("claude-code rings by itself too (preferredNotifChannel: {channel})"),
    })
}

fn codex(text: &str) -> Option<String> {
    let settings: Codex = toml::from_str(text).ok()?;
    Some(match settings.tui.notifications? {
        toml::Value::Boolean(false) => "codex does not ring by itself".to_owned(),
        _ => "codex rings by itself too (tui.notifications)".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_that_rings_by_itself_is_named() {
        assert!(
            claude(r#"{"preferredNotifChannel":"terminal_bell","x":[1]}"#)
                .unwrap()
                .contains("too (preferredNotifChannel: terminal_bell)")
        );
        assert!(claude("{}").unwrap().contains("auto"));
        assert!(
            claude(r#"{"preferredNotifChannel":"notifications_disabled"}"#)
                .unwrap()
                .contains("does not")
        );
        assert_eq!(claude("{"), None);
        assert!(
            codex("[tui]\nnotifications = [\"approval-requested\"]\n")
                .unwrap()
                .contains("too")
        );
        assert!(codex("[tui]\nnotifications = false\n").unwrap().contains("does not"));
        assert_eq!(codex("model = \"x\"\n"), None);
    }
}
