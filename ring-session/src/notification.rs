//! The inbox of finished turns: what of the notifications of all records a person sees, and how they are marked, removed
//! and cut (ring-notify(1), INBOX).
//!
//! A row is made by the commit that ends its turn ([`Work::close`]). Here it is only read, marked and removed; such a
//! commit changes nothing else in a record, not even the time of its last change.

use crate::key;
use crate::record::{NOTIFICATIONS, Notification, SCHEMA};
use crate::refusal::Refusal;
use crate::shown;
use crate::store::{Seen, Store};
use crate::summary::{Glimpse, LightRequest, Tally};
use crate::time::Ms;
use crate::work::Work;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Rows of the inbox; what is older is absent for every command.
pub const INBOX: usize = NOTIFICATIONS;

/// What is known of every session, idle or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Name of its folder.
    pub id: String,
    /// Its name on the board and in the ledger: its agent's KEY, else `ring:ID`. Several sessions may have the same.
    pub key: String,
    /// Its agent, or nothing.
    pub agent: String,
    /// The agent's own id of it, or nothing.
    pub agent_session_id: String,
    /// Its title now.
    pub title: String,
    /// Its project.
    pub project: Option<String>,
    /// Its last commit.
    pub updated_ms: Ms,
}

/// A row of the inbox: a notification, and the session it stands in.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxRow {
    /// As it is stored.
    pub notification: Notification,
    /// Of its record, now.
    pub session: Arc<Head>,
}

impl InboxRow {
    /// Newest first; of one millisecond the greatest id first.
    fn order(&self) -> impl Ord + '_ {
        Reverse((self.notification.created_ms, self.notification.id.as_str()))
    }

    /// Whether nobody has read it.
    pub fn is_unread(&self) -> bool {
        self.notification.read_ms.is_none()
    }
}

impl Serialize for InboxRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let row = &self.notification;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &row.id)?;
        map.serialize_entry("kind", &row.kind)?;
        map.serialize_entry("turn_id", &row.turn_id)?;
        map.serialize_entry("title", &row.title)?;
        map.serialize_entry("error_code", &row.error_code)?;
        map.serialize_entry("duration_ms", &row.duration_ms)?;
        map.serialize_entry("created_ms", &row.created_ms)?;
        map.serialize_entry("read_ms", &row.read_ms)?;
        map.serialize_entry("session_id", &self.session.id)?;
        map.serialize_entry("agent", &self.session.agent)?;
        map.serialize_entry("project", &self.session.project)?;
        map.end()
    }
}

/// Ids of rows beyond the newest [`INBOX`] that are not removed yet, by the session they stand in.
pub type Beyond = BTreeMap<String, Vec<String>>;

/// The inbox while it is put together, from sessions in any order. It never holds many more rows than it will have.
#[derive(Debug, Default)]
pub struct Inbox {
    rows: Vec<InboxRow>,
    beyond: Beyond,
}

impl Inbox {
    /// Adds the notifications of a session.
    pub fn add(&mut self, session: &Arc<Head>, notifications: Vec<Notification>) {
        self.rows.extend(notifications.into_iter().map(|notification| InboxRow {
            notification,
            session: Arc::clone(session),
        }));
        if self.rows.len() > 4 * INBOX {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.rows.sort_by(|a, b| a.order().cmp(&b.order()));
        for row in self.rows.drain(INBOX.min(self.rows.len())..) {
            let session = self.beyond.entry(row.session.id.clone()).or_default();
            session.push(row.notification.id);
        }
    }

    /// The rows, newest first, and what lies beyond them.
    pub fn rows(mut self) -> (Vec<InboxRow>, Beyond) {
        self.cut();
        (self.rows, self.beyond)
    }
}

/// What one look at every record finds.
#[derive(Clone, Debug, Default)]
pub struct Surveyed {
    /// The inbox: all rows, read ones too, newest first, at most [`INBOX`].
    pub rows: Vec<InboxRow>,
    /// What lies beyond it, for [`Store::prune_notifications`].
    pub beyond: Beyond,
    /// Each record in which a turn, a proposal or an open request was stored, read whole, with recovery and expiry applied
    /// (so it may hold none of them any more), in the order of their ids.
    pub live: Vec<Seen>,
    /// Every readable record, in the order of their ids.
    pub heads: Vec<Arc<Head>>,
    /// Why others could not be read; `details.session` is the id.
    pub broken: Vec<Refusal>,
}

/// The members of a record that are looked at; the others are passed over.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Light {
    schema: Option<u64>,
    id: String,
    agent: String,
    agent_session_id: String,
    title: Option<String>,
    project: Option<String>,
    updated_ms: Ms,
    turn: Option<IgnoredAny>,
    proposal: Option<IgnoredAny>,
    permissions: Tally<LightRequest>,
    notifications: Vec<Notification>,
}

impl Light {
    /// None if the record must be read whole.
    fn read(id: &str, bytes: &[u8]) -> Option<(Head, Vec<Notification>)> {
        let light: Light = serde_json::from_str(std::str::from_utf8(bytes).ok()?).ok()?;
        let simple = light.turn.is_none() && light.proposal.is_none() && light.permissions.matching == 0;
        let known = light.schema.is_none_or(|s| (1..=SCHEMA).contains(&s)) && !light.id.is_empty();
        if !known || !simple {
            return None;
        }
        let key = match light.agent_session_id.is_empty() {
            true => format!("ring:{id}"),
            false => key::key(&light.agent, &light.agent_session_id),
        };
        let head = Head {
            id: id.to_owned(),
            key,
            agent: light.agent,
            agent_session_id: light.agent_session_id,
            title: light.title.unwrap_or_else(|| crate::record::NEW_TITLE.to_owned()),
            project: light.project,
            updated_ms: light.updated_ms,
        };
        Some((head, light.notifications))
    }
}

impl Head {
    /// Of a record that was read whole, from the folder `id`.
    pub fn of(id: &str, seen: &Seen) -> Head {
        let record = &seen.record;
        Head {
            id: id.to_owned(),
            key: shown::key(record),
            agent: record.agent.clone(),
            agent_session_id: record.agent_session_id.clone(),
            title: record.title.clone(),
            project: record.project.clone(),
            updated_ms: record.updated_ms,
        }
    }
}

impl Store {
    /// The inbox and all that may be going on, in one look at every record. Nothing is locked and nothing is written.
    ///
    /// # Errors
    /// `IO` of the directory.
    pub fn survey_notifications(&self) -> Result<Surveyed, Refusal> {
        let inbox = Mutex::new(Inbox::default());
        let add = |head: &Arc<Head>, rows: Vec<Notification>| {
            if !rows.is_empty() {
                // rows are only pushed and cut: whoever panicked there left whole rows
                inbox.lock().unwrap_or_else(PoisonError::into_inner).add(head, rows);
            }
        };
        let (found, broken) = self.survey_with(Light::read, |id, glimpse| match glimpse {
            Glimpse::Idle((head, rows)) => {
                let head = Arc::new(head);
                add(&head, rows);
                (head, None)
            }
            Glimpse::Whole(seen) => {
                let head = Arc::new(Head::of(id, &seen));
                add(&head, seen.record.notifications.clone());
                (head, Some(*seen))
            }
        })?;
        let (rows, beyond) = inbox.into_inner().unwrap_or_else(PoisonError::into_inner).rows();
        let mut surveyed = Surveyed {
            rows,
            beyond,
            broken,
            ..Surveyed::default()
        };
        for (head, live) in found {
            surveyed.heads.push(head);
            surveyed.live.extend(live);
        }
        Ok(surveyed)
    }

    /// Removes what lies beyond the inbox, session by session. One that cannot be written hides no other; a session that
    /// is gone is none.
    pub fn prune_notifications(&self, beyond: &Beyond) -> Vec<Refusal> {
        let prune = |(session, ids): (&String, &Vec<String>)| {
            self.update(session, |work, _| {
                work.prune_notifications(ids);
                Ok(())
            })
            .err()
            .filter(|e| e.code != crate::Code::SessionNotFound || self.files(session).dir.exists())
        };
        beyond.iter().filter_map(prune).collect()
    }
}

/// What marking has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    /// Ids that are read now and were not.
    pub read: Vec<String>,
    /// Ids that were read before.
    pub already: Vec<String>,
}

impl Work {
    /// Marks the rows with these ids, or all (none given), as read now. Ids that are not here change nothing.
    pub fn read_notifications(&mut self, ids: Option<&[String]>) -> Marked {
        let now = self.now();
        let mut marked = Marked::default();
        for row in &mut self.record.notifications {
            if ids.is_some_and(|ids| !ids.contains(&row.id)) {
                continue;
            }
            match row.read_ms {
                Some(_) => marked.already.push(row.id.clone()),
                None => {
                    row.read_ms = Some(now);
                    marked.read.push(row.id.clone());
                }
            }
        }
        self.aside = true;
        if !marked.read.is_empty() {
            self.announce("notifications_read", json!({"ids": marked.read}));
        }
        marked
    }

    /// Removes all rows, or only read ones; their ids.
    pub fn clear_notifications(&mut self, only_read: bool) -> Vec<String> {
        self.remove_notifications(|row| !only_read || row.read_ms.is_some())
    }

    /// Removes the rows with these ids, which lie beyond the inbox; the ids of those that were here.
    pub fn prune_notifications(&mut self, ids: &[String]) -> Vec<String> {
        self.remove_notifications(|row| ids.contains(&row.id))
    }

    fn remove_notifications(&mut self, goes: impl Fn(&Notification) -> bool) -> Vec<String> {
        let rows = &mut self.record.notifications;
        let ids: Vec<String> = rows.extract_if(.., |row| goes(row)).map(|row| row.id).collect();
        self.aside = true;
        if !ids.is_empty() {
            self.announce("notifications_cleared", json!({"ids": ids}));
        }
        ids
    }
}

#[cfg(test)]
#[path = "notification/tests.rs"]
mod tests;
