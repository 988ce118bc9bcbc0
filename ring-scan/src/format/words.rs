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

/// Why no row is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nothing {
    /// There may be sessions, the filters leave them out.
    Passes,
    /// There are only sessions that have ended.
    Open {
        /// How many.
        over: usize,
    },
    /// There is none.
    There {
        /// Hooks were installed once: no need to say so.
        hooked: bool,
    },
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

    /// The first line: how many sessions, how many of those that pass the filters wait. That none waits is only said if
    /// no row is left out of the `total`.
    pub fn summary(self, counts: &Counts, listed: usize, total: usize) -> String {
        let passing = counts.waiting + counts.working + counts.idle + counts.ended;
        let total = total.max(passing);
        let sessions = if total == 1 { "session" } else { "sessions" };
        let how_many = match (listed < total, self) {
            (false, Lang::En) => format!("{total} {sessions}"),
            (true, Lang::En) => format!("{listed} of {total} {sessions} shown"),
            (false, Lang::ZhTw) => format!("{total} 個工作階段"),
            (true, Lang::ZhTw) => format!("顯示 {listed} / {total} 個工作階段"),
        };
        let waits = match (self, counts.waiting) {
            (_, 0) if listed < total => return how_many,
            (Lang::En, 0) => "none waits for you".to_owned(),
            (Lang::En, 1) => "1 waits for you".to_owned(),
            (Lang::En, n) => format!("{n} wait for you"),
            (Lang::ZhTw, 0) => "沒有在等你的".to_owned(),
            (Lang::ZhTw, n) => format!("{n} 個在等你"),
        };
        format!("{how_many} · {waits}")
    }

    /// Said instead of a table if there is nothing to list.
    pub fn empty(self, nothing: &Nothing) -> String {
        match (self, nothing) {
            (Lang::En, Nothing::Passes) => "no session passes the filters".into(),
            (Lang::ZhTw, Nothing::Passes) => "沒有符合條件的工作階段".into(),
            (Lang::En, Nothing::Open { over }) => format!("no session is open ({over} ended, see --all)"),
            (Lang::ZhTw, Nothing::Open { over }) => format!("沒有進行中的工作階段 ({over} 個已離場，見 --all)"),
            (Lang::En, Nothing::There { hooked }) => {
                let hooks = match hooked {
                    true => "",
                    false => ", or run `ring-hook install` to see exactly who waits",
                };
                format!("no agent session on this machine; start an agent (claude, codex, ...) and look again{hooks}")
            }
            (Lang::ZhTw, Nothing::There { hooked }) => {
                let hooks = match hooked {
                    true => "",
                    false => "，或執行 `ring-hook install` 以準確得知誰在等你",
                };
                format!("這台機器上沒有 agent 工作階段；啟動一個 agent (claude, codex, ...) 再看一次{hooks}")
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
