//! An outlet: a configured way out of this program, and what may take it (ring-notify(1), OUTLETS).

use crate::hours::Hours;
use globset::GlobMatcher;
use ring_session::time::Ms;
use std::path::PathBuf;

/// Outlets at most; further ones are reported and left out.
pub const OUTLETS: usize = 32;
/// Characters of a name at most.
pub const NAME: usize = 32;

/// One `[[notify.outlet]]`.
#[derive(Clone, Debug)]
pub struct Outlet {
    /// 1 to 32 of letters, digits, `-`, `_`; unique.
    pub name: String,
    /// How it sends.
    pub way: Way,
    /// Kinds that take it; empty: all; `wait` is every wait.
    pub kinds: Vec<String>,
    /// Agents that take it; empty: all.
    pub agents: Vec<String>,
    /// Projects that take it.
    pub projects: Projects,
    /// Rings are repeated.
    pub repeat: bool,
    /// Nothing leaves while the session's terminal is being looked at.
    pub skip_when_looking: bool,
    /// What nobody can know is sent again.
    pub retry_unconfirmed: bool,
    /// No detail, path, title or question in the message.
    pub brief: bool,
    /// When it keeps quiet.
    pub hours: Option<Hours>,
}

/// Globs on whole paths: one of those without `!` fits (or there is none), and none of those with it.
#[derive(Clone, Debug, Default)]
pub struct Projects {
    /// One of these, if there are any.
    pub any: Vec<GlobMatcher>,
    /// None of these.
    pub none: Vec<GlobMatcher>,
}

/// How an outlet sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Way {
    /// For each item the first usable of terminal-notifier, osascript, notify-send, tmux, OSC 9, bell.
    Auto,
    /// BEL.
    Bell(Terminal),
    /// OSC 9.
    Osc9(Terminal),
    /// OSC 777.
    Osc777(Terminal),
    /// OSC 99.
    Osc99(Terminal),
    /// A message of tmux in the session's pane.
    Tmux,
    /// A desktop notification by way of notify-send.
    NotifySend,
    /// A notification of macOS by way of osascript.
    Osascript,
    /// A notification of macOS by way of terminal-notifier.
    TerminalNotifier {
        /// Name of a sound; empty: none.
        sound: String,
    },
    /// A program of the user's own, without a shell.
    Command {
        /// The program and its arguments; not empty.
        argv: Vec<String>,
    },
    /// A topic of an ntfy server.
    Ntfy(Ntfy),
    /// A webhook.
    Webhook(Webhook),
}

impl Way {
    /// The type as it stands in the settings.
    pub fn as_str(&self) -> &'static str {
        match self {
            Way::Auto => "auto",
            Way::Bell(_) => "bell",
            Way::Osc9(_) => "osc9",
            Way::Osc777(_) => "osc777",
            Way::Osc99(_) => "osc99",
            Way::Tmux => "tmux",
            Way::NotifySend => "notify-send",
            Way::Osascript => "osascript",
            Way::TerminalNotifier { .. } => "terminal-notifier",
            Way::Command { .. } => "command",
            Way::Ntfy(_) => "ntfy",
            Way::Webhook(_) => "webhook",
        }
    }
}

/// Of outlets that write to a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Always this device, instead of the session's own.
    pub tty: Option<PathBuf>,
}

/// Where a secret comes from. Its value is read when it is needed and never kept, shown or logged; `{:?}` hides it.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Secret {
    /// There is none.
    #[default]
    None,
    /// It stands in the settings file.
    Value(String),
    /// The first line of a file; `~/` is the home folder.
    File(PathBuf),
    /// A variable of the environment.
    Env(String),
}

/// An ntfy server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ntfy {
    /// Address of the server, with its path; of a topic, if `topic` is empty.
    pub url: Secret,
    /// The topic; empty: the last part of the address.
    pub topic: String,
    /// Bearer token.
    pub token: Secret,
    /// Name of the user, where there is no token.
    pub user: Secret,
    /// Password of that user.
    pub password: Secret,
    /// 1 to 5; none: the server's default, and 5 for what is urgent.
    pub priority: Option<u8>,
    /// Tags.
    pub tags: Vec<String>,
    /// Address that a tap opens.
    pub click: String,
}

/// A webhook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Webhook {
    /// Address.
    pub url: Secret,
    /// Shape of the body.
    pub preset: Preset,
    /// Further headers.
    pub headers: Vec<(String, Secret)>,
}

/// Shape of a webhook's body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// Every member (ring-notify(1), JSON).
    #[default]
    Generic,
    /// `text`.
    Slack,
    /// `content`, `allowed_mentions`.
    Discord,
}

/// What `[notify]` says of all outlets, for the decision. Spans in milliseconds.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The table `[notify]`.
    pub notify: ring_session::settings::Notify,
    /// In the order of the file.
    pub outlets: Vec<Outlet>,
}

impl Rules {
    /// When ring `k` + 1 is due, in milliseconds after ring 0; past the end of the list its last value is added again.
    pub fn repeat_after_ms(&self, k: u32) -> Option<Ms> {
        let spans = &self.notify.repeat_ms;
        let last = *spans.last()?;
        let k = usize::try_from(k).ok()?;
        match spans.get(k) {
            Some(ms) => Some(*ms),
            None => {
                let over = Ms::try_from(k + 1 - spans.len()).ok()?;
                Some(last.saturating_add(last.saturating_mul(over)))
            }
        }
    }
}
