//! Words and markers for people. Data formats are never translated.

use crate::board::Counts;
use std::ffi::OsString;

/// Language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Chinese as written in Taiwan.
    ZhTw,
}

/// What stands before a status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Markers {
    /// Coloured discs.
    #[default]
    Emoji,
    /// For terminals and fonts without them.
    Ascii,
}

impl Markers {
    /// The setting `markers`.
    pub fn of(setting: &str) -> Markers {
        match setting {
            "ascii" => Markers::Ascii,
            _ => Markers::Emoji,
        }
    }

    /// The marker of a status.
    pub fn of_status(self, status: &str) -> &'static str {
        match (self, status) {
            (Markers::Emoji, "waiting") => "🔴",
            (Markers::Emoji, "working") => "🟢",
            (Markers::Emoji, "idle") => "🟡",
            (Markers::Emoji, _) => "⚫",
            (Markers::Ascii, "waiting") => "!",
            (Markers::Ascii, "working") => "*",
            (Markers::Ascii, "idle") => "-",
            (Markers::Ascii, _) => "x",
        }
    }
}

impl Lang {
    /// The setting `lang`; empty: the first of LC_ALL, LC_MESSAGES and LANG that is set.
    pub fn of(setting: &str, variable: impl Fn(&str) -> Option<OsString>) -> Lang {
        let locale = || {
            ["LC_ALL", "LC_MESSAGES", "LANG"]
                .into_iter()
                .filter_map(variable)
                .find(|v| !v.is_empty())
                .map(|v| v.to_string_lossy().into_owned())
        };
        let name = match setting {
            "" => locale().unwrap_or_default(),
            _ => setting.to_owned(),
        };
        let name = name.to_ascii_lowercase().replace('_', "-");
        match ["zh-tw", "zh-hk", "zh-hant"].iter().any(|p| name.starts_with(p)) {
            true => Lang::ZhTw,
            false => Lang::En,
        }
    }

    /// A status in words.
    pub fn status(self, status: &str) -> &str {
        match (self, status) {
            (Lang::ZhTw, "waiting") => "在等你",
            (Lang::ZhTw, "working") => "工作中",
            (Lang::ZhTw, "idle") => "跑完停著",
            (Lang::ZhTw, "ended") => "已離場",
            _ => status,
        }
    }

    /// The first line: how many sessions, how many wait. `listed` are fewer if a limit was asked for.
    pub fn summary(self, counts: &Counts, listed: usize) -> String {
        let total = counts.waiting + counts.working + counts.idle + counts.ended;
        let of = match (listed < total, self) {
            (false, _) => String::new(),
            (true, Lang::En) => format!("{listed} of "),
            (true, Lang::ZhTw) => format!("{listed} / "),
        };
        match (self, counts.waiting) {
            (Lang::En, n) => {
                let sessions = if total == 1 { "session" } else { "sessions" };
                let waits = match n {
                    0 => "none waits for you".to_owned(),
                    1 => "1 waits for you".to_owned(),
                    _ => format!("{n} wait for you"),
                };
                format!("{of}{total} {sessions} · {waits}")
            }
            (Lang::ZhTw, 0) => format!("{of}{total} 個工作階段 · 沒有在等你的"),
            (Lang::ZhTw, n) => format!("{of}{total} 個工作階段 · {n} 個在等你"),
        }
    }

    /// Said instead of a table if there is nothing to list.
    pub fn empty(self, filtered: bool) -> &'static str {
        match (self, filtered) {
            (Lang::En, true) => "no session passes the filters",
            (Lang::ZhTw, true) => "沒有符合條件的工作階段",
            (Lang::En, false) => {
                "no agent session on this machine; start an agent (claude, codex, ...) and look again, or run `ring-hook install` to see exactly who waits"
            }
            (Lang::ZhTw, false) => {
                "這台機器上沒有 agent 工作階段；啟動一個 agent (claude, codex, ...) 再看一次，或執行 `ring-hook install` 以準確得知誰在等你"
            }
        }
    }

    /// What each marker means.
    pub fn legend(self, markers: Markers, all: bool) -> String {
        let meanings = match self {
            Lang::En => ["waits for you", "works", "has finished or idles", "is gone"],
            Lang::ZhTw => ["在等你", "工作中", "跑完停著", "已離場"],
        };
        let shown = if all { 4 } else { 3 };
        ["waiting", "working", "idle", "ended"]
            .iter()
            .zip(meanings)
            .take(shown)
            .map(|(status, meaning)| format!("{} {meaning}", markers.of_status(status)))
            .collect::<Vec<_>>()
            .join("  ")
    }

    /// Behind the name and the error of a source that could not be read.
    pub fn rows_missing(self) -> &'static str {
        match self {
            Lang::En => "its rows are missing",
            Lang::ZhTw => "它的列不在這裡",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_comes_from_the_setting_then_the_locale() {
        let with = |pairs: &'static [(&str, &str)]| {
            move |name: &str| pairs.iter().find(|(k, _)| *k == name).map(|(_, v)| OsString::from(v))
        };
        assert_eq!(Lang::of("zh-TW", with(&[])), Lang::ZhTw);
        assert_eq!(Lang::of("en", with(&[("LANG", "zh_TW.UTF-8")])), Lang::En);
        assert_eq!(Lang::of("", with(&[("LANG", "zh_TW.UTF-8")])), Lang::ZhTw);
        assert_eq!(
            Lang::of("", with(&[("LC_ALL", "C"), ("LANG", "zh_TW.UTF-8")])),
            Lang::En
        );
        assert_eq!(
            Lang::of("", with(&[("LC_ALL", ""), ("LC_MESSAGES", "zh_TW")])),
            Lang::ZhTw
        );
        assert_eq!(Lang::of("", with(&[])), Lang::En);
    }

    #[test]
    fn c1_four_states_have_their_markers_and_words() {
        let states = ["waiting", "working", "idle", "ended"];
        assert_eq!(states.map(|s| Markers::Emoji.of_status(s)), ["🔴", "🟢", "🟡", "⚫"]);
        assert_eq!(states.map(|s| Markers::Ascii.of_status(s)), ["!", "*", "-", "x"]);
        assert_eq!(
            states.map(|s| Lang::ZhTw.status(s)),
            ["在等你", "工作中", "跑完停著", "已離場"]
        );
        assert_eq!(states.map(|s| Lang::En.status(s)), states);
    }
}
