//! Sending: one message through one outlet, and what is known afterwards (ring-notify(1), OUTLETS, RESULTS).
//!
//! Nothing here reads or writes the ledger, and nothing holds a lock. No outlet passes a text through a shell.

use crate::message::Message;
use crate::outlet::Way;
use ring_session::time::Ms;

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

/// Sends, within 11 seconds.
pub fn send(way: &Way, message: &Message) -> Fate {
    drop((way, message));
    Fate::Failed { error: "not_usable".into() }
}

/// Whether the outlet can be used at all from this process, or why not, for people.
///
/// # Errors
/// Why not: `notify-send is not installed`, `no display and no session bus`.
pub fn usable(way: &Way) -> Result<(), String> {
    drop(way);
    Err("not yet".into())
}
