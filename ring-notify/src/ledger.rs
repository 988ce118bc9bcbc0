//! The ledger, `notify/ledger.json`: what was announced where (ring(5), LEDGER).
//!
//! It holds no prose but that of `send`: every other text is made from the live record at the moment of sending.

use crate::cli::warn;
use crate::item::Kind;
use ring_session::lock::{self, Lock};
use ring_session::members;
use ring_session::process::Stamp;
use ring_session::regular;
use ring_session::replace::{self, Durability};
use ring_session::time::Ms;
use ring_session::{Code, Refusal, StateDir};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The schema that this program writes.
pub const SCHEMA: u64 = 1;
/// Items at most.
pub const ITEMS: usize = 1000;
/// Closed items stay for so long, in milliseconds.
pub const KEEP_MS: Ms = 7 * 86_400_000;

members! {
    /// The whole ledger.
    pub struct Ledger {
        /// [`SCHEMA`], or newer.
        schema: u64,
        /// One more with each commit.
        revision: u64,
        /// When it was begun.
        started_ms: Ms,
        /// By item id.
        items: BTreeMap<String, Entry>,
        /// By name.
        outlets: BTreeMap<String, OutletState>,
        /// Open items that had to leave, since it was begun.
        overflow as sparse: u64,
    }
}

impl Default for Ledger {
    fn default() -> Self {
        Ledger {
            schema: SCHEMA,
            revision: 0,
            started_ms: 0,
            items: BTreeMap::new(),
            outlets: BTreeMap::new(),
            overflow: 0,
            unknown: members::Unknown::default(),
        }
    }
}

members! {
    /// What is known of one item.
    #[derive(Default)]
    pub struct Entry {
        /// What it is.
        kind: Kind,
        /// KEY; empty: none.
        session: String,
        /// Of waits and permissions.
        sign as sparse: String,
        /// When the source says it began.
        opened_ms: Ms,
        /// When this program first saw it.
        seen_ms: Ms,
        /// When it was no longer open.
        closed_ms: Option<Ms>,
        /// answered, read, gone, expired, absorbed, stale, first_run, overflow, done.
        why: String,
        /// Id of the record that holds it.
        record as sparse: String,
        /// Its deadline.
        until_ms as sparse: Option<Ms>,
        /// Of a message, until it is closed.
        title as sparse: String,
        /// Of a message, until it is closed.
        body as sparse: String,
        /// Of a message, until it is closed.
        urgent as sparse: bool,
        /// Of a message: the only outlets that are meant; empty: all.
        only as sparse: Vec<String>,
        /// By outlet.
        to: BTreeMap<String, To>,
    }
}

members! {
    /// What is known of one item on one outlet.
    #[derive(Default)]
    pub struct To {
        /// Where the delivery stands.
        state: State,
        /// 0: the first; 1, 2, 3: repeats.
        ring: u32,
        /// When ring 0 was first claimed.
        first_ms as sparse: Ms,
        /// When it was claimed, and then settled.
        at_ms as sparse: Ms,
        /// Tries of this ring.
        attempts as sparse: u32,
        /// When a retry is due.
        next_ms as sparse: Ms,
        /// Why it is held back.
        hold as sparse: Option<Hold>,
        /// What went wrong, at most 160 characters.
        error as sparse: String,
        /// Of a claim: who sends.
        owner as sparse: Option<Stamp>,
        /// It went out, or is to go out, in one message with others of the same name.
        batch as sparse: String,
        /// Inherited: may start afresh, one time, once its last ring is old enough.
        again as sparse: bool,
        /// The item that it was inherited from.
        from as sparse: String,
    }
}

members! {
    /// What is known of one outlet.
    #[derive(Default)]
    pub struct OutletState {
        /// When it was first seen; 0: before this was noted.
        since_ms as sparse: Ms,
        /// Start of the debounce window; 0: none.
        window_ms: Ms,
        /// Last result.
        last: String,
        /// When.
        last_ms: Ms,
    }
}

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Waits for the end of a hold.
    #[default]
    Held,
    /// A process is sending it.
    Claimed,
    /// Failed in a way that may pass.
    Retry,
    /// The outlet took it.
    Sent,
    /// Nobody can know.
    Unconfirmed,
    /// Refused, or tried often enough.
    Failed,
    /// Not for this outlet, or no longer open.
    Skipped,
}

impl State {
    /// The word in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Held => "held",
            State::Claimed => "claimed",
            State::Retry => "retry",
            State::Sent => "sent",
            State::Unconfirmed => "unconfirmed",
            State::Failed => "failed",
            State::Skipped => "skipped",
        }
    }

    /// Nothing more happens to this ring on this outlet.
    pub fn is_final(self) -> bool {
        !matches!(self, State::Held | State::Claimed | State::Retry)
    }

    /// The ring has left, as far as anybody knows.
    pub fn has_rung(self) -> bool {
        matches!(self, State::Sent | State::Unconfirmed | State::Failed)
    }
}

/// Why a ring is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hold {
    /// `ring-notify quiet` is on.
    Quiet,
    /// The outlet's quiet hours.
    Hours,
    /// The user looks at the session.
    Looking,
    /// A debounce window is open.
    Debounce,
    /// The session has rung often within a minute.
    Burst,
    /// Background tasks of the session go on.
    Background,
}

impl Hold {
    /// What was held back for this goes out as one message.
    pub fn is_summed_up(self) -> bool {
        matches!(self, Hold::Quiet | Hold::Hours | Hold::Debounce | Hold::Burst)
    }
}

impl Entry {
    /// Whether it is for an outlet of that name.
    pub fn is_meant_for(&self, outlet: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == outlet)
    }

    /// Whether the item's live record still says so.
    pub fn is_open(&self) -> bool {
        self.closed_ms.is_none()
    }

    /// Closes it: what is held back or to be tried again is given up.
    pub fn close(&mut self, now: Ms, why: &str) {
        self.closed_ms = Some(now);
        why.clone_into(&mut self.why);
        self.title.clear();
        self.body.clear();
        self.urgent = false;
        for to in self.to.values_mut() {
            if matches!(to.state, State::Held | State::Retry) {
                to.state = State::Skipped;
                to.hold = None;
                to.next_ms = 0;
                to.at_ms = now;
            }
        }
    }
}

/// The file.
pub fn path(state: &StateDir) -> PathBuf {
    state.notify().join("ledger.json")
}

/// The ledger as it is stored, and what was wrong with the file.
#[derive(Debug, Default)]
pub struct Stored {
    /// As it is stored; new, if there is none or it cannot be read.
    pub ledger: Ledger,
    /// Why it cannot be read.
    pub broken: Option<String>,
}

/// Reads the ledger. Readers take no lock.
///
/// # Errors
/// `SCHEMA_NEWER`, `IO`.
pub fn read(state: &StateDir) -> Result<Stored, Refusal> {
    let path = path(state);
    let bytes = match regular::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound) => return Ok(Stored::default()),
        Err(e) if regular::is_unfit(&e) => {
            return Ok(Stored {
                broken: Some(e.to_string()),
                ..Stored::default()
            });
        }
        Err(e) => return Err(Refusal::io("read", &path, &e)),
    };
    let (schema, read) = match serde_json::from_slice::<Ledger>(&bytes) {
        Ok(ledger) => (ledger.schema, Ok(ledger)),
        Err(e) => (schema_of(&bytes), Err(e)),
    };
    if schema > SCHEMA {
        return Err(Refusal::new(
            Code::SchemaNewer,
            format!(
                "{} was written by a later program than this one; update ring-notify",
                path.display()
            ),
        )
        .with("path", path.to_string_lossy().into_owned()));
    }
    Ok(match read {
        Ok(ledger) => Stored { ledger, broken: None },
        Err(e) => Stored {
            ledger: Ledger::default(),
            broken: Some(e.to_string()),
        },
    })
}

/// The schema of a ledger that this program cannot read; 0, if it is none at all.
fn schema_of(bytes: &[u8]) -> u64 {
    #[derive(Deserialize)]
    struct Schema {
        schema: u64,
    }
    serde_json::from_slice::<Schema>(bytes).map_or(0, |s| s.schema)
}

/// The ledger for a writer, under the lock: one that cannot be read is set aside, which is told, and begun anew.
///
/// # Errors
/// `SCHEMA_NEWER`, `IO`.
pub fn usable(state: &StateDir) -> Result<Ledger, Refusal> {
    let stored = read(state)?;
    if let Some(why) = stored.broken {
        let path = path(state);
        set_aside(&path)?;
        warn(format!(
            "{} could not be read and is ledger.json.bad now: {why}",
            path.display()
        ));
    }
    Ok(stored.ledger)
}

/// Takes the lock of `notify/`.
///
/// # Errors
/// `LOCK_TIMEOUT`, `IO`.
pub fn lock(state: &StateDir) -> Result<Lock, Refusal> {
    Lock::acquire(&state.notify().join("lock"), lock::wait(lock::COMMAND_WAIT))
}

/// Sets a file of `notify/` aside that cannot be read, under the lock: its name gets `.bad` behind it.
///
/// # Errors
/// `IO`.
pub fn set_aside(path: &Path) -> Result<(), Refusal> {
    let mut to = path.as_os_str().to_owned();
    to.push(".bad");
    replace::set_aside_as(path, Path::new(&to)).map_err(|e| Refusal::io("rename", path, &e))
}

/// Replaces the ledger, under the lock, synced to the disk.
///
/// # Errors
/// `IO`; the old one stays.
pub fn write(state: &StateDir, ledger: &mut Ledger) -> Result<(), Refusal> {
    let path = path(state);
    ledger.revision = ledger.revision.saturating_add(1);
    let mut bytes = serde_json::to_vec(ledger).map_err(std::io::Error::from)?;
    bytes.push(b'\n');
    replace::replace(&path, &bytes, Durability::Synced).map_err(|e| Refusal::io("write", &path, &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n69_the_ledger_is_written_as_it_was_read_with_members_that_nobody_knows() {
        let text = r#"{"schema":1,"revision":412,"started_ms":1796030000000,"items":{"wait:claude-code:3f2a:0198":{"kind":"wait.permission","session":"claude-code:3f2a","sign":"9f3c11aa02b7e4d1","opened_ms":1796040006200,"seen_ms":1796040006900,"closed_ms":null,"why":"","to":{"desk":{"state":"sent","ring":1,"first_ms":1796040006950,"at_ms":1796040037000,"attempts":1,"odd":[1.50]},"phone":{"state":"retry","ring":0,"first_ms":1796040006950,"attempts":2,"next_ms":1796040060000,"error":"http 503"}},"far":123456789012345678901234567890}},"outlets":{"phone":{"window_ms":0,"last":"http 503","last_ms":1796040030000}},"x":{"deep":null}}"#;
        let ledger: Ledger = serde_json::from_str(text).unwrap();
        assert_eq!(ledger.items["wait:claude-code:3f2a:0198"].to["desk"].state, State::Sent);
        assert_eq!(serde_json::to_string(&ledger).unwrap(), text);
    }

    #[test]
    fn closing_gives_up_what_is_held_and_to_be_tried_again_and_forgets_texts() {
        let mut entry = Entry {
            title: "t".into(),
            urgent: true,
            ..Entry::default()
        };
        for (name, state) in [
            ("a", State::Held),
            ("b", State::Retry),
            ("c", State::Claimed),
            ("d", State::Sent),
        ] {
            entry.to.insert(name.into(), To { state, ..To::default() });
        }
        entry.close(7, "answered");
        let states: Vec<State> = entry.to.values().map(|t| t.state).collect();
        assert_eq!(states, [State::Skipped, State::Skipped, State::Claimed, State::Sent]);
        assert_eq!(
            (entry.closed_ms, entry.title.as_str(), entry.urgent),
            (Some(7), "", false)
        );
    }
}
