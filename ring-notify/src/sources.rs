//! What a decision is made of: the items whose live record says that they are open, and what could not be read.

use crate::item::Live;
use std::collections::{BTreeMap, BTreeSet};

/// Everything that was read, as values.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Open items, but for messages, which the ledger holds itself.
    pub live: Vec<Live>,
    /// What every item of a session has, by KEY.
    pub sessions: BTreeMap<String, Live>,
    /// KEYs of status rows whose process is not known to be gone.
    pub rows: BTreeSet<String>,
    /// Ids of records that are there.
    pub records: BTreeSet<String>,
    /// Rows of the inbox that somebody has read.
    pub read: BTreeSet<String>,
    /// What nobody can say anything about.
    pub unknown: Unknown,
}

/// Sources that could not be read: their items stay as they are.
#[derive(Clone, Debug, Default)]
pub struct Unknown {
    /// No row could be listed.
    pub status: bool,
    /// KEYs of rows that could not be read.
    pub rows: BTreeSet<String>,
    /// No record could be listed.
    pub sessions: bool,
    /// Ids of records that could not be read.
    pub records: BTreeSet<String>,
}

impl Sources {
    /// Whether somebody is needed in a session: a wait, a request or a proposal of it is open.
    pub fn needs_somebody(&self, session: &str) -> bool {
        self.live
            .iter()
            .any(|l| l.session == session && l.kind.needs_somebody())
    }

    /// The proposal of a session that awaits a decision.
    pub fn proposal(&self, session: &str) -> Option<&Live> {
        let is = |l: &&Live| l.kind == crate::item::Kind::Proposal && l.session == session;
        self.live.iter().find(is)
    }
}
