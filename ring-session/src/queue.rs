//! Prompts that wait for their turn (ring-session(1), QUEUE).
//!
//! Entries sort by `position`: a push takes the highest and one, a promotion the lowest less one, a removal renumbers
//! nothing. Nothing starts by itself: `next` takes the head out and its turn in, in one commit.

use crate::lifecycle::Begin;
use crate::process::Stamp;
use crate::record::{Entry, Origin, PermissionMode, QUEUE};
use crate::refusal::{Code, Refusal};
use crate::work::Work;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Longest content, in bytes.
pub const CONTENT_BYTES: usize = 262_144;
/// Most references of an entry, and the longest, in bytes.
pub const ATTACHMENTS: (usize, usize) = (16, 4096);
/// Longest key, in bytes.
pub const KEY_BYTES: usize = 200;
/// Longest name of a pusher, in bytes.
pub const PRINCIPAL_BYTES: usize = 40;

/// What is pushed.
#[derive(Clone, Debug, Default)]
pub struct Push {
    /// Given id.
    pub id: Option<String>,
    /// The prompt, as given.
    pub content: String,
    /// References.
    pub attachments: Vec<String>,
    /// The pusher's key.
    pub key: Option<String>,
    /// Who pushes.
    pub principal: String,
    /// What `inherit` means.
    pub inherited: PermissionMode,
}

/// Lower-case hexadecimal digits of a SHA-256.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // writing to a String cannot fail
        write!(text, "{byte:02x}").unwrap_or_default();
    }
    text
}

impl Work {
    /// Appends an entry. The same principal, key and input give the entry that is there, whether or not the queue is full.
    ///
    /// # Errors
    /// `IDEMPOTENCY_CONFLICT`, `CONFLICT` (id), `AGENT_BUSY` (`queue_full`).
    pub fn push(&mut self, push: Push) -> Result<Entry, Refusal> {
        let input = json!({"attachments": push.attachments, "content": push.content});
        let input_hash = sha256_hex(input.to_string().as_bytes());
        if let Some(key) = &push.key {
            let same = |e: &&Entry| e.principal == push.principal && e.idempotency_key.as_ref() == Some(key);
            if let Some(entry) = self.record.queue.entries.iter().find(same) {
                if entry.input_hash == input_hash {
                    return Ok(entry.clone());
                }
                return Err(Refusal::new(
                    Code::IdempotencyConflict,
                    "this key was pushed with another input; use a new key",
                )
                .with("entry", entry.id.as_str()));
            }
        }
        if let Some(id) = push.id.as_deref().filter(|id| self.knows_entry(id)) {
            return Err(Refusal::new(
                Code::Conflict,
                format!("the entry id {id} is taken; give another one"),
            ));
        }
        if self.record.queue.entries.len() >= QUEUE {
            return Err(Refusal::new(
                Code::AgentBusy,
                format!("the queue is full ({QUEUE} entries); take or remove one"),
            )
            .with("reason", "queue_full"));
        }
        if self.record.queue.entries.is_empty() {
            self.record.queue.boot.clone_from(&self.here.stamp.boot);
        }
        self.make_room();
        let position = self.record.queue.entries.iter().map(|e| e.position).max().unwrap_or(0) + 1;
        let effective = match self.record.permission_mode {
            PermissionMode::Inherit => push.inherited,
            mode => mode,
        };
        let entry = Entry {
            id: push.id.unwrap_or_else(|| self.mint()),
            position,
            content: push.content,
            attachments: push.attachments,
            permission_mode: effective,
            principal: push.principal,
            idempotency_key: push.key,
            input_hash,
            created_ms: self.now(),
            ..Entry::default()
        };
        self.record.queue.entries.push(entry.clone());
        self.queue_changed();
        Ok(entry)
    }

    fn knows_entry(&self, id: &str) -> bool {
        self.record.queue.entries.iter().any(|e| e.id == id) || self.entry_is_started(id)
    }

    /// Whether the live turn is this entry's.
    pub fn entry_is_started(&self, id: &str) -> bool {
        self.record
            .turn
            .as_ref()
            .is_some_and(|t| t.queue_entry.as_deref() == Some(id))
    }

    /// Removes an entry; false if there is none of that id.
    ///
    /// # Errors
    /// `CONFLICT` if it has started.
    pub fn remove_entry(&mut self, id: &str) -> Result<bool, Refusal> {
        if self.entry_is_started(id) {
            return Err(started(id));
        }
        let before = self.record.queue.entries.len();
        self.record.queue.entries.retain(|e| e.id != id);
        let removed = self.record.queue.entries.len() < before;
        if removed {
            self.queue_changed();
        }
        Ok(removed)
    }

    /// Puts an entry at the head.
    ///
    /// # Errors
    /// `CONFLICT` if it has started, `NOT_FOUND`.
    pub fn prioritize(&mut self, id: &str) -> Result<Entry, Refusal> {
        if self.entry_is_started(id) {
            return Err(started(id));
        }
        self.make_room();
        let lowest = self.record.queue.entries.iter().map(|e| e.position).min().unwrap_or(0);
        let place = self
            .record
            .queue
            .entries
            .iter()
            .position(|e| e.id == id)
            .ok_or_else(|| Refusal::new(Code::NotFound, format!("no entry {id} in the queue; see `queue list`")))?;
        let mut entry = self.record.queue.entries.remove(place);
        entry.position = lowest - 1;
        self.record.queue.entries.insert(0, entry.clone());
        self.queue_changed();
        Ok(entry)
    }

    /// Positions that leave no number before or behind them, which no program of the suite gives, are counted anew.
    fn make_room(&mut self) {
        let entries = &mut self.record.queue.entries;
        if entries.iter().any(|e| matches!(e.position, i64::MIN | i64::MAX)) {
            entries.sort_by_key(|e| e.position);
            (1..).zip(entries).for_each(|(n, entry)| entry.position = n);
        }
    }

    /// Holds the queue, or releases it on this boot.
    pub fn hold(&mut self, held: bool) {
        let boot = self.here.stamp.boot.clone();
        let queue = &mut self.record.queue;
        if queue.held == held && (held || queue.boot == boot) {
            return;
        }
        queue.held = held;
        if !held {
            queue.boot = boot;
        }
        self.queue_changed();
    }

    /// Takes the head out and its turn in.
    ///
    /// # Errors
    /// `AGENT_BUSY`, `NOT_FOUND`, `PLAN_REQUIRES_INTERACTIVE_SESSION`.
    pub fn next(&mut self, owner: Stamp, unattended: bool) -> Result<(String, Entry), Refusal> {
        self.check_attended(unattended)?;
        if let Some(busy) = self.busy(false) {
            return Err(busy);
        }
        if self.record.queue.entries.is_empty() {
            return Err(Refusal::new(
                Code::NotFound,
                "the queue is empty; fill it with `queue push`",
            ));
        }
        if self.queue_is_held() {
            return Err(
                Refusal::new(Code::AgentBusy, "the queue is held; release it with `queue attach`")
                    .with("reason", "held"),
            );
        }
        let entry = self.record.queue.entries.remove(0);
        self.queue_changed();
        let (turn, _) = self.begin(Begin {
            origin: Origin::Queue,
            prompt: entry.content.clone(),
            attachments: entry.attachments.clone(),
            owner,
            unattended,
            queue_entry: Some(entry.id.clone()),
            ..Begin::default()
        });
        Ok((turn, entry))
    }

    fn queue_changed(&mut self) {
        self.announce("queue_changed", json!({}));
    }
}

fn started(id: &str) -> Refusal {
    Refusal::new(
        Code::Conflict,
        format!("the entry {id} has started; abort its turn instead"),
    )
    .with("reason", "started")
}
