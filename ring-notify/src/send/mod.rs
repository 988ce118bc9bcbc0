//! Sending: one message through one outlet, and what is known afterwards (ring-notify(1), OUTLETS, RESULTS).
//!
//! Nothing here reads or writes the ledger, and nothing holds a lock. No outlet passes a text through a shell.

mod command;
mod desktop;
mod http;
mod ntfy;
mod phase;
pub mod program;
mod proxy;
mod secret;
mod sequence;
mod terminal;
#[cfg(test)]
mod tests;
mod tmux;
mod webhook;

pub use secret::shown;

use crate::message::Message;
use crate::outlet::{Terminal, Way};
use ring_session::time::Ms;
use sequence::Sequence;

/// What is known of a message after it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The outlet took it.
    Sent,
    /// A failure that may pass.
    Retry {
        /// For the ledger: `http 503`, `connect`, `exit 3`; no text of the message, no secret.
        error: String,
        /// What `Retry-After` said, in milliseconds, at most an hour.
        after_ms: Option<Ms>,
    },
    /// A refusal.
    Failed {
        /// As above.
        error: String,
    },
    /// This item has nowhere to go on this outlet: no terminal, no pane.
    Skipped {
        /// `no_tty`, `no_pane`.
        error: String,
    },
    /// It may have arrived; nobody can know.
    Unconfirmed {
        /// As above.
        error: String,
    },
}

impl Fate {
    fn retry(error: impl Into<String>) -> Fate {
        Fate::Retry {
            error: error.into(),
            after_ms: None,
        }
    }

    /// What the outlet needs is not there: a program, a secret, an address.
    fn not_usable() -> Fate {
        Fate::retry("not_usable")
    }

    fn failed(error: impl Into<String>) -> Fate {
        Fate::Failed { error: error.into() }
    }

    fn skipped(error: impl Into<String>) -> Fate {
        Fate::Skipped { error: error.into() }
    }

    fn unconfirmed(error: impl Into<String>) -> Fate {
        Fate::Unconfirmed { error: error.into() }
    }
}

/// What `auto` tries, in this order.
fn choices() -> [Way; 6] {
    [
        Way::TerminalNotifier { sound: String::new() },
        Way::Osascript,
        Way::NotifySend,
        Way::Tmux,
        Way::Osc9(Terminal::default()),
        Way::Bell(Terminal::default()),
    ]
}

/// Sends, within 11 seconds.
pub fn send(way: &Way, message: &Message) -> Fate {
    match way {
        Way::Auto => auto(message),
        Way::Bell(to) => terminal::send(to, Sequence::Bell, message),
        Way::Osc9(to) => terminal::send(to, Sequence::Osc9, message),
        Way::Osc777(to) => terminal::send(to, Sequence::Osc777, message),
        Way::Osc99(to) => terminal::send(to, Sequence::Osc99, message),
        Way::Tmux => tmux::send(message),
        Way::NotifySend => desktop::notify_send(message),
        Way::Osascript => desktop::osascript(message),
        Way::TerminalNotifier { sound } => desktop::terminal_notifier(sound, message),
        Way::Command { argv } => command::send(argv, message),
        Way::Ntfy(ntfy) => http::send(ntfy::request(ntfy, message), message),
        Way::Webhook(webhook) => http::send(webhook::request(webhook, message), message),
    }
}

/// The first that takes the message. One that can be used and yet does not take it (a session bus without a
/// notification service, a terminal without the process) is passed over; what may have arrived is not sent twice.
fn auto(message: &Message) -> Fate {
    let mut left = Fate::skipped("no_tty");
    for way in choices() {
        if is_program(&way) && usable(&way).is_err() {
            continue;
        }
        match send(&way, message) {
            Fate::Skipped { .. } => {}
            // the first failure that may pass is what the next try is for
            retry @ Fate::Retry { .. } if matches!(left, Fate::Skipped { .. }) => left = retry,
            Fate::Retry { .. } => {}
            done => return done,
        }
    }
    left
}

/// By which way `auto` goes from this process, as far as it does not depend on the item, for people.
pub fn auto_goes_by() -> &'static str {
    let program = choices().into_iter().find(|way| is_program(way) && usable(way).is_ok());
    program.map_or("a session's own terminal only: tmux, OSC 9, bell", |way| way.as_str())
}

/// What an error of the ledger means, for people; nothing for what speaks for itself.
pub fn explained(error: &str) -> &'static str {
    match error {
        "connect" => "nothing answers at that address",
        "tls" => "the server's certificate is not trusted, or it does not speak TLS",
        "timeout" => "no answer within 10 seconds",
        "no_tty" => "there is no terminal to write to",
        "no_pane" => "no tmux pane that anybody sees",
        "not_usable" => "it cannot be used from here",
        "http 401" | "http 403" => "the server wants another token, user or password",
        "http 404" => "the server knows no such address",
        _ => "",
    }
}

fn is_program(way: &Way) -> bool {
    matches!(way, Way::TerminalNotifier { .. } | Way::Osascript | Way::NotifySend)
}

/// Whether the outlet can be used at all from this process, or why not, for people. What depends on the item (its
/// terminal, its pane) is known only when it is sent.
///
/// # Errors
/// Why not: `notify-send is not installed`, `no display and no session bus`.
pub fn usable(way: &Way) -> Result<(), String> {
    match way {
        Way::Auto => Ok(()),
        Way::Bell(to) | Way::Osc9(to) | Way::Osc777(to) | Way::Osc99(to) => terminal::usable(to),
        Way::Tmux => tmux::usable(),
        Way::NotifySend => desktop::notify_send_usable(),
        Way::Osascript => program::installed("osascript"),
        Way::TerminalNotifier { .. } => program::installed("terminal-notifier"),
        Way::Command { argv } => command::usable(argv),
        Way::Ntfy(ntfy) => ntfy::request(ntfy, &Message::default()).map(drop),
        Way::Webhook(webhook) => webhook::request(webhook, &Message::default()).map(drop),
    }
}
