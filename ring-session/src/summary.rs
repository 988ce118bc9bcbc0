//! What a list shows of a session, read without building the record.
//!
//! A list of thousands of sessions must not cost thousands of records. Nearly all sessions are idle, with nothing that
//! could be dead or overdue, and of such a one a few members are enough; everything else in the file is passed over. The
//! others (a live turn, a proposal, an open request, a queue) are read whole, with recovery and expiry, as by
//! [`Store::see`].

use crate::record::{Mode, NEW_TITLE, Outcome, PermissionMode, Record, RequestState, SCHEMA, Source};
use crate::refusal::{Code, Refusal};
use crate::regular;
use crate::shown::{Shown, shown};
use crate::store::{Seen, Store};
use crate::time::Ms;
use crate::work::{Here, Work};
use rustix::fs::{CWD, Mode as FileMode, OFlags};
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

/// One session as a list reads it, with a light reader that makes an `L` of an idle one.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly all are idle, and a box for each would cost more"
)]
pub enum Glimpse<L = Summary> {
    /// Nothing in it runs or waits.
    Idle(L),
    /// Something may; the record was read whole, with recovery and expiry applied.
    Whole(Box<Seen>),
}

impl Glimpse {
    /// What a list shows of it.
    pub fn summary(self, here: &Here) -> Summary {
        match self {
            Glimpse::Idle(summary) => summary,
            Glimpse::Whole(seen) => Summary::of(*seen, here),
        }
    }
}

/// What a list shows of one session.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Where it comes from.
    pub source: Source,
    /// Its agent, or nothing.
    pub agent: String,
    /// The agent's own id of it, or nothing.
    pub agent_session_id: String,
    /// Its project.
    pub project: Option<String>,
    /// Its mode.
    pub mode: Mode,
    /// As it is stored.
    pub permission_mode: PermissionMode,
    /// What is computed.
    pub shown: Shown,
    /// Notifications that nobody has read.
    pub unread: usize,
    /// Entries of its queue.
    pub queued: usize,
    /// Its last commit.
    pub updated_ms: Ms,
    /// Recovery or expiry changed what is shown, and is not stored yet.
    pub recovered: bool,
}

impl Summary {
    /// Of a record that was read whole.
    pub fn of(seen: Seen, here: &Here) -> Summary {
        let work = Work::new(seen.record, here.clone());
        let shown = shown(&work);
        let record = work.record;
        Summary {
            id: record.id,
            title: record.title,
            source: record.source,
            agent: record.agent,
            agent_session_id: record.agent_session_id,
            project: record.project,
            mode: record.mode,
            permission_mode: record.permission_mode,
            shown,
            unread: record.notifications.iter().filter(|n| n.read_ms.is_none()).count(),
            queued: record.queue.entries.len(),
            updated_ms: record.updated_ms,
            recovered: seen.recovered,
        }
    }

    /// From the bytes of a record; none if it must be read whole, be it because something in it may be dead or overdue,
    /// be it because it cannot be read.
    pub fn read(bytes: &[u8], here: &Here) -> Option<Summary> {
        let light: Light = serde_json::from_str(std::str::from_utf8(bytes).ok()?).ok()?;
        let simple = light.turn.is_none()
            && light.proposal.is_none()
            && light.queue.entries.count == 0
            && light.permissions.matching == 0;
        if light.schema == 0 || light.schema > SCHEMA || light.id.is_empty() || !simple {
            return None;
        }
        let mut record = Record {
            id: light.id,
            title: light.title,
            source: light.source,
            agent: light.agent,
            agent_session_id: light.agent_session_id,
            project: light.project,
            mode: light.mode,
            permission_mode: light.permission_mode,
            updated_ms: light.updated_ms,
            ..Record::default()
        };
        record.turns.extend(light.turns.last.map(|t| crate::record::ClosedTurn {
            status: t.status,
            ..Default::default()
        }));
        let seen = Seen {
            record,
            recovered: false,
        };
        let mut summary = Summary::of(seen, here);
        summary.unread = light.notifications.matching;
        Some(summary)
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let or_null = |word: &'static str| Some(word).filter(|w| !w.is_empty());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("agent", &self.agent)?;
        map.serialize_entry("project", &self.project)?;
        map.serialize_entry("mode", &self.mode)?;
        map.serialize_entry("permission_mode", &self.permission_mode)?;
        map.serialize_entry("status", self.shown.status)?;
        map.serialize_entry("planning_state", self.shown.planning_state)?;
        map.serialize_entry("planning_kind", &or_null(self.shown.planning_kind))?;
        map.serialize_entry("board", self.shown.board)?;
        map.serialize_entry("busy", &self.shown.busy)?;
        map.serialize_entry("last", &or_null(self.shown.last))?;
        map.serialize_entry("unread", &self.unread)?;
        map.serialize_entry("queued", &self.queued)?;
        map.serialize_entry("updated_ms", &self.updated_ms)?;
        if self.recovered {
            map.serialize_entry("recovered_view", &true)?;
        }
        map.end()
    }
}

/// The members of a record that a list needs; the others are not looked at.
#[derive(Deserialize)]
#[serde(default)]
struct Light {
    schema: u64,
    id: String,
    title: String,
    source: Source,
    agent: String,
    agent_session_id: String,
    project: Option<String>,
    mode: Mode,
    permission_mode: PermissionMode,
    updated_ms: Ms,
    turn: Option<IgnoredAny>,
    proposal: Option<IgnoredAny>,
    queue: LightQueue,
    turns: Tally<LightTurn>,
    permissions: Tally<LightRequest>,
    notifications: Tally<LightNotification>,
}

impl Default for Light {
    fn default() -> Self {
        Light {
            schema: SCHEMA,
            id: String::new(),
            title: NEW_TITLE.to_owned(),
            source: Source::default(),
            agent: String::new(),
            agent_session_id: String::new(),
            project: None,
            mode: Mode::default(),
            permission_mode: PermissionMode::default(),
            updated_ms: 0,
            turn: None,
            proposal: None,
            queue: LightQueue::default(),
            turns: Tally::default(),
            permissions: Tally::default(),
            notifications: Tally::default(),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LightQueue {
    entries: Tally<Whatever>,
}

#[derive(Deserialize)]
struct Whatever(#[allow(dead_code, reason = "only counted")] IgnoredAny);

#[derive(Default, Deserialize)]
#[serde(default)]
struct LightTurn {
    status: Outcome,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct LightRequest {
    state: RequestState,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LightNotification {
    read_ms: Option<Ms>,
}

/// Whether a member of a list is one of those that are counted.
pub(crate) trait Counted {
    fn counts(&self) -> bool {
        true
    }
}

impl Counted for Whatever {}
impl Counted for LightTurn {}
impl Counted for LightRequest {
    fn counts(&self) -> bool {
        self.state == RequestState::Open
    }
}
impl Counted for LightNotification {
    fn counts(&self) -> bool {
        self.read_ms.is_none()
    }
}

/// A list of which only the last member is kept, and how many there were.
pub(crate) struct Tally<T> {
    count: usize,
    /// Those that count.
    pub(crate) matching: usize,
    last: Option<T>,
}

impl<T> Default for Tally<T> {
    fn default() -> Self {
        Tally {
            count: 0,
            matching: 0,
            last: None,
        }
    }
}

impl<'de, T: Deserialize<'de> + Counted> Deserialize<'de> for Tally<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Counted> Visitor<'de> for Members<T> {
            type Value = Tally<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tally<T>, A::Error> {
                let mut tally = Tally::default();
                while let Some(member) = list.next_element::<T>()? {
                    tally.count += 1;
                    tally.matching += usize::from(member.counts());
                    tally.last = Some(member);
                }
                Ok(tally)
            }
        }
        deserializer.deserialize_seq(Members(PhantomData))
    }
}

/// So many sessions are read by one thread; starting a second takes as long as reading a few.
const BY_ONE: usize = 200;
/// More threads than this wait for the same disk.
const THREADS: usize = 4;

impl Store {
    /// Every readable session in the order of their ids, and what is wrong with the others.
    ///
    /// # Errors
    /// `IO` of the directory.
    pub fn summaries(&self) -> Result<(Vec<Summary>, Vec<Refusal>), Refusal> {
        self.survey(|glimpse| glimpse.summary(self.here()))
    }

    /// What `make` makes of every readable session, in the order of their ids, and what is wrong with the others. No
    /// record is held longer than it takes.
    ///
    /// # Errors
    /// `IO` of the directory.
    pub fn survey<T: Send>(&self, make: impl Fn(Glimpse) -> T + Sync) -> Result<(Vec<T>, Vec<Refusal>), Refusal> {
        self.survey_with(|_, bytes| Summary::read(bytes, self.here()), |_, glimpse| make(glimpse))
    }

    /// As [`Store::survey`], with a light reader of the caller's own: `light` makes what it needs of the bytes of the
    /// session with that id, or nothing if the record must be read whole, be it because something in it may be dead or
    /// overdue, be it because it cannot be read. Then `make` gets the whole record.
    ///
    /// # Errors
    /// `IO` of the directory.
    pub fn survey_with<L, T: Send>(
        &self,
        light: impl Fn(&str, &[u8]) -> Option<L> + Sync,
        make: impl Fn(&str, Glimpse<L>) -> T + Sync,
    ) -> Result<(Vec<T>, Vec<Refusal>), Refusal> {
        let ids = self.ids()?;
        let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS);
        let share = ids.len().div_ceil(threads).max(BY_ONE);
        let dir = rustix::fs::openat(
            CWD,
            self.state().sessions(),
            OFlags::DIRECTORY | OFlags::CLOEXEC,
            FileMode::empty(),
        )
        .ok();
        let dir = dir.as_ref().map(AsFd::as_fd);
        let (light, make) = (&light, &make);
        let parts: Vec<_> = thread::scope(|scope| {
            let others: Vec<_> = ids
                .chunks(share)
                .skip(1)
                .map(|part| scope.spawn(move || self.part(part, dir, light, make)))
                .collect();
            let mut parts = vec![self.part(ids.get(..share).unwrap_or(&ids), dir, light, make)];
            parts.extend(others.into_iter().map(|other| match other.join() {
                Ok(part) => part,
                Err(panic) => std::panic::resume_unwind(panic),
            }));
            parts
        });
        let (mut all, mut broken) = (Vec::with_capacity(ids.len()), Vec::new());
        for (made, refusals) in parts {
            all.extend(made);
            broken.extend(refusals);
        }
        Ok((all, broken))
    }

    fn part<L, T>(
        &self,
        ids: &[String],
        dir: Option<BorrowedFd<'_>>,
        light: &impl Fn(&str, &[u8]) -> Option<L>,
        make: &impl Fn(&str, Glimpse<L>) -> T,
    ) -> (Vec<T>, Vec<Refusal>) {
        let (mut made, mut broken) = (Vec::with_capacity(ids.len()), Vec::new());
        let mut buffer = vec![0; 16 * 1024];
        for id in ids {
            let bytes = dir.and_then(|dir| read(dir, &format!("{id}/session.json"), &mut buffer));
            if let Some(idle) = bytes.and_then(|b| light(id, b)) {
                made.push(make(id, Glimpse::Idle(idle)));
                continue;
            }
            match self.see(id) {
                Ok(seen) => made.push(make(id, Glimpse::Whole(Box::new(seen)))),
                // deleted between the listing and the look
                Err(e) if e.code == Code::SessionNotFound && !self.files(id).dir.exists() => {}
                Err(e) => broken.push(e),
            }
        }
        (made, broken)
    }
}

/// The bytes of a small file, in as few calls as it takes; none if anything is wrong with it.
fn read<'a>(dir: BorrowedFd<'_>, path: &str, buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    // a pipe in its place is no reason to wait for a writer
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(dir, path, flags, FileMode::empty()).ok()?;
    let mut size = 0;
    loop {
        let room = buffer.len() - size;
        let n = rustix::io::read(&file, buffer.get_mut(size..)?).ok()?;
        size += n;
        // a record is replaced, never changed: what is read short is read to its end
        if n < room {
            return buffer.get(..size);
        }
        // and a device has no end
        if size as u64 > regular::WHOLE_BYTES {
            return None;
        }
        buffer.resize(buffer.len() * 2, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Look, Stamp};
    use crate::record::{ClosedTurn, Entry, Notification, Proposal, Request, Turn};

    fn here() -> Here {
        Here {
            now: 1000,
            stamp: Stamp {
                host: "box".into(),
                boot: "b".into(),
                ..Stamp::default()
            },
            look: |_| Look::Gone,
        }
    }

    fn base() -> Record {
        let mut record = Record {
            id: "abc".into(),
            title: "Fix \"it\" \u{1F600}".into(),
            agent: "codex".into(),
            project: Some("/w".into()),
            mode: Mode::Plan,
            permission_mode: PermissionMode::Auto,
            updated_ms: 77,
            ..Record::default()
        };
        for (id, status) in [("1", Outcome::Aborted), ("2", Outcome::Error)] {
            record.turns.push(ClosedTurn {
                id: id.into(),
                status,
                ..ClosedTurn::default()
            });
        }
        for read_ms in [None, Some(5), None] {
            record.notifications.push(Notification {
                read_ms,
                ..Notification::default()
            });
        }
        record.permissions.push(Request {
            state: RequestState::Closed,
            ..Request::default()
        });
        record
    }

    fn whole(record: &Record) -> Summary {
        let mut work = Work::new(record.clone(), here());
        let recovered = work.refresh();
        let seen = Seen {
            record: work.record,
            recovered,
        };
        Summary::of(seen, &here())
    }

    #[test]
    fn an_idle_session_is_the_same_whether_it_is_read_in_part_or_whole() {
        for record in [
            base(),
            Record {
                id: "bare".into(),
                ..Record::default()
            },
        ] {
            let bytes = serde_json::to_vec(&record).unwrap();
            assert_eq!(Summary::read(&bytes, &here()), Some(whole(&record)));
        }
        let least = Summary::read(br#"{"id":"x","schema":1}"#, &here()).unwrap();
        assert_eq!((least.title.as_str(), least.shown.status), (NEW_TITLE, "idle"));
    }

    #[test]
    fn what_may_be_dead_or_overdue_and_what_is_broken_is_left_to_the_whole_reader() {
        let changes: [fn(&mut Record); 5] = [
            |r| r.turn = Some(Turn::default()),
            |r| r.proposal = Some(Proposal::default()),
            |r| r.permissions.push(Request::default()),
            |r| r.queue.entries.push(Entry::default()),
            |r| r.schema = SCHEMA + 1,
        ];
        for change in changes {
            let mut record = base();
            change(&mut record);
            assert!(Summary::read(&serde_json::to_vec(&record).unwrap(), &here()).is_none());
        }
        for bytes in [
            &b""[..],
            b"{",
            b"[]",
            br#"{"schema":1}"#,
            br#"{"schema":1,"id":"a","title":5}"#,
            br#"{"schema":1,"id":"a","turns":{}}"#,
            br#"{"schema":1,"id":"a"} x"#,
        ] {
            assert!(Summary::read(bytes, &here()).is_none());
        }
    }

    #[test]
    fn s80_many_sessions_are_listed_once_each_and_broken_ones_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(crate::StateDir::at(dir.path()), here());
        let sessions = store.state().sessions();
        for n in 0..BY_ONE * 3 {
            let folder = sessions.join(format!("s{n:04}"));
            std::fs::create_dir_all(&folder).unwrap();
            let mut record = Record {
                id: format!("s{n:04}"),
                ..base()
            };
            match n {
                7 => record.turn = Some(Turn::default()),
                8 => record.title = "x".repeat(200_000),
                _ => {}
            }
            let bytes = if n == 5 {
                b"{".to_vec()
            } else {
                serde_json::to_vec(&record).unwrap()
            };
            std::fs::write(folder.join("session.json"), bytes).unwrap();
        }
        std::fs::create_dir_all(sessions.join("empty")).unwrap();
        std::fs::create_dir_all(sessions.join(".tmp-x")).unwrap();
        let (all, broken) = store.summaries().unwrap();
        let ids: Vec<&str> = all.iter().map(|s| s.id.as_str()).collect();
        assert_eq!(ids.len(), BY_ONE * 3 - 1);
        assert!(ids.is_sorted());
        assert_eq!(all[6].shown.status, "running");
        assert_eq!(all[7].title.len(), 200_000);
        let named: Vec<&str> = broken.iter().filter_map(|b| b.details["session"].as_str()).collect();
        assert_eq!(named, ["empty", "s0005"]);
    }
}
