//! Reading what a decision is made of: status rows, session records, names on the board. Readers take no lock; what
//! cannot be read is named and left as it is.

use crate::item::{Kind, Live, sign};
use crate::later::view;
use crate::message::Place;
use crate::sources::Sources;
use ring_hook::row::Row;
use ring_hook::store as rows;
use ring_hook::summary::of_request;
use ring_session::notification::{Beyond, Head, InboxRow};
use ring_session::process::Stamp;
use ring_session::record::{NotificationKind, Origin, ProposalKind, ProposalStatus, RequestState};
use ring_session::regular;
use ring_session::store::Seen;
use ring_session::work::{Here, Work};
use ring_session::{Code, Settings, Store};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What was read.
#[derive(Debug, Default)]
pub struct Read {
    /// For the decision.
    pub sources: Sources,
    /// What lies beyond the inbox.
    pub beyond: Beyond,
    /// Status rows whose process is not known to be gone, by key.
    pub rows: Vec<Row>,
    /// All records.
    pub heads: Vec<Arc<Head>>,
    /// Those in which something may be going on.
    pub records: Vec<Seen>,
    /// The inbox, read rows too.
    pub inbox: Vec<InboxRow>,
    /// What could not be read, for people.
    pub problems: Vec<String>,
}

/// Reads everything.
pub fn read(store: &Store, settings: &Settings) -> Read {
    let mut read = Read::default();
    let sources = &mut read.sources;
    let mut by_key: BTreeMap<String, Row> = BTreeMap::new();
    match rows::list(store.state()) {
        Ok(listing) => {
            for row in listing.rows {
                by_key.insert(row.key.clone(), row);
            }
            for bad in listing.bad {
                let stem = bad.path.file_stem().map(|s| s.to_string_lossy().into_owned());
                sources.unknown.rows.extend(stem);
                read.problems
                    .push(format!("cannot read {}: {}", bad.path.display(), bad.why));
            }
        }
        Err(e) => {
            sources.unknown.status = true;
            read.problems
                .push(format!("cannot list {}: {e}", store.state().status().display()));
        }
    }
    let here = store.here();
    // what a dead process has left in its row counts for nothing
    by_key.retain(|_, row| !is_gone(row, here));
    for row in by_key.values() {
        sources.rows.insert(row.key.clone());
        sources.sessions.insert(row.key.clone(), of_row(row));
        sources.live.extend(waits(row, here, settings));
    }
    match store.survey_notifications() {
        Ok(surveyed) => {
            for head in &surveyed.heads {
                sources.records.insert(head.id.clone());
                let session = || of_head(head, by_key.get(&head.key));
                sources.sessions.entry(head.key.clone()).or_insert_with(session);
            }
            for refusal in &surveyed.broken {
                let id = refusal
                    .details
                    .get("session")
                    .and_then(|s| s.as_str())
                    .unwrap_or_default();
                sources.unknown.records.insert(id.to_owned());
                read.problems.push(refusal.message.clone());
            }
            for seen in &surveyed.live {
                let row = by_key.get(&Head::of(&seen.record.id, seen).key);
                sources.live.extend(of_record(seen, row, here, settings));
            }
            for row in &surveyed.rows {
                match row.is_unread() {
                    true => sources.live.push(turn(row, by_key.get(&row.session.key))),
                    false => {
                        sources.read.insert(row.notification.id.clone());
                    }
                }
            }
            read.beyond = surveyed.beyond;
            read.heads = surveyed.heads;
            read.records = surveyed.live;
            read.inbox = surveyed.rows;
        }
        Err(refusal) => {
            sources.unknown.sessions = true;
            read.problems.push(refusal.message);
        }
    }
    read.rows = by_key.into_values().collect();
    read
}

/// What a last look at one item finds.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly always the large one, and one at a time"
)]
pub enum Check {
    /// It is open, and this is how it looks now.
    Open(Live),
    /// It is not, for that reason.
    Closed(&'static str),
    /// Its source cannot be read.
    Unknown,
}

/// Looks at one item again, right before it is sent. `live` is how it was when it was claimed.
pub fn check(live: &Live, store: &Store, settings: &Settings) -> Check {
    let here = store.here();
    let find = |found: Vec<Live>, why| match found.into_iter().find(|l| l.id == live.id) {
        Some(now) => Check::Open(now),
        None => Check::Closed(why),
    };
    match live.kind {
        Kind::Message => Check::Open(live.clone()),
        _ if live.id.starts_with("wait:") => match rows::read(&rows::path(store.state(), &live.session)) {
            Ok(Some(row)) if is_gone(&row, here) => Check::Closed("gone"),
            Ok(Some(row)) => find(waits(&row, here, settings).collect(), "answered"),
            Ok(None) => Check::Closed("gone"),
            Err(_) => Check::Unknown,
        },
        _ => match store.see(&live.record) {
            Ok(seen) => {
                let row = rows::read(&rows::path(store.state(), &live.session)).ok().flatten();
                match live.kind {
                    Kind::Completed | Kind::Failed => {
                        let id = live.id.strip_prefix("turn:").unwrap_or_default();
                        let stored = seen.record.notifications.iter().find(|n| n.id == id);
                        match stored.map(|n| n.read_ms) {
                            Some(None) => Check::Open(live.clone()),
                            Some(Some(_)) => Check::Closed("read"),
                            None => Check::Closed("gone"),
                        }
                    }
                    _ => {
                        let is_over = live.until_ms.is_some_and(|u| here.now >= u);
                        let why = if is_over { "expired" } else { "answered" };
                        find(of_record(&seen, row.as_ref(), here, settings), why)
                    }
                }
            }
            Err(e) if e.code == Code::SessionNotFound && !store.files(&live.record).dir.exists() => {
                Check::Closed("gone")
            }
            Err(_) => Check::Unknown,
        },
    }
}

/// Whether a row's process is proven dead (ring(5), STAMP). Without proof it is not.
fn is_gone(row: &Row, here: &Here) -> bool {
    let Some(process) = &row.process else { return false };
    let stamp = Stamp {
        host: row.host.name.clone(),
        boot: row.host.boot.clone(),
        pid_ns: row.host.pid_ns,
        pid: process.pid,
        start_ticks: process.start_ticks,
    };
    stamp.is_dead(&here.stamp, here.look)
}

fn place(row: Option<&Row>) -> Place {
    let Some(row) = row else { return Place::default() };
    Place {
        tty: row.term.tty.clone(),
        tmux_pane: row.term.tmux_pane.clone(),
        tmux_socket: row.term.tmux_socket.clone(),
        process: row.process.as_ref().map_or((0, 0), |p| (p.pid, p.start_ticks)),
        own: false,
    }
}

fn folder(row: &Row) -> String {
    let folder = if row.origin_cwd.is_empty() {
        &row.cwd
    } else {
        &row.origin_cwd
    };
    folder.clone()
}

/// The waits of a row, as its view shows them.
fn waits<'a>(row: &'a Row, here: &Here, settings: &Settings) -> impl Iterator<Item = Live> + use<'a> {
    let view = view(row, here.now, settings);
    view.waits.into_iter().map(move |wait| Live {
        id: format!("wait:{}:{}", row.key, wait.id),
        kind: Kind::of_wait(&wait.kind),
        sign: sign(&row.key, &wait.owner, &wait.kind, &wait.detail, &wait.tool_use_id),
        opened_ms: wait.since_ms,
        detail: wait.detail,
        tool: wait.tool,
        waiting_for: wait.waiting_for,
        ..of_row(row)
    })
}

/// What every item of a row's session has.
fn of_row(row: &Row) -> Live {
    Live {
        session: row.key.clone(),
        agent: row.agent.clone(),
        session_id: row.session_id.clone(),
        session_title: row.title.clone(),
        project: folder(row),
        place: place(Some(row)),
        ..Live::default()
    }
}

/// What every item of a record has.
fn of_head(head: &Head, row: Option<&Row>) -> Live {
    Live {
        session: head.key.clone(),
        record: head.id.clone(),
        agent: head.agent.clone(),
        session_id: match head.agent_session_id.is_empty() {
            true => head.id.clone(),
            false => head.agent_session_id.clone(),
        },
        session_title: head.title.clone(),
        project: head.project.clone().unwrap_or_default(),
        place: place(row),
        ..Live::default()
    }
}

/// What awaits somebody in a record: its open requests but those of a hook, for which the row speaks, and its open
/// proposal (of a hook: once the agent's own prompt was seen, or while its waiter lives). Two hooks tell of that prompt side
/// by side: if the row already waits for the plan, the record will soon say so.
fn of_record(seen: &Seen, row: Option<&Row>, here: &Here, settings: &Settings) -> Vec<Live> {
    let work = Work::new(seen.record.clone(), here.clone());
    let record = &work.record;
    let base = of_head(&Head::of(&record.id, seen), row);
    let turn = record.turn.as_ref().map(|t| t.id.as_str());
    let is_open = |r: &&ring_session::record::Request| {
        r.state == RequestState::Open && r.origin != Origin::Hook && turn == Some(r.turn_id.as_str())
    };
    let requests = record.permissions.iter().filter(is_open).map(|r| Live {
        id: format!("perm:{}:{}", record.id, r.id),
        kind: Kind::Permission,
        sign: sign(
            &base.session,
            "foreground",
            "permission",
            &request_detail(r, settings),
            &r.call_id,
        ),
        opened_ms: r.created_ms,
        until_ms: r.expires_ms,
        detail: request_detail(r, settings),
        tool: r.tool.clone(),
        ..base.clone()
    });
    let counts = |p: &&ring_session::record::Proposal| {
        let asks = |r: &Row| {
            let mut waits = view(r, here.now, settings).waits.into_iter();
            waits.any(|w| w.kind == "plan" && w.since_ms >= p.created_ms)
        };
        let is_waited_for = || p.asked || p.waiter.as_ref().is_some_and(|w| !work.is_dead(w)) || row.is_some_and(asks);
        p.status == ProposalStatus::Pending && (p.via != "hook" || is_waited_for())
    };
    let proposal = record.proposal.as_ref().filter(counts).map(|p| Live {
        id: format!("plan:{}", p.id),
        kind: Kind::Proposal,
        opened_ms: p.created_ms,
        until_ms: p.expires_ms,
        detail: p.title.clone(),
        question: p.question.clone(),
        is_goal: p.kind == ProposalKind::Goal,
        proposal: p.id.clone(),
        ..base.clone()
    });
    requests.chain(proposal).collect()
}

fn request_detail(request: &ring_session::record::Request, settings: &Settings) -> String {
    let arguments = request.preview.as_ref().map(|raw| raw.0.get());
    of_request(&request.tool, &request.reason, arguments, settings.store_details)
}

fn turn(row: &InboxRow, status: Option<&Row>) -> Live {
    let (notification, head) = (&row.notification, &row.session);
    Live {
        id: format!("turn:{}", notification.id),
        kind: match notification.kind {
            NotificationKind::Completed => Kind::Completed,
            NotificationKind::Failed => Kind::Failed,
        },
        opened_ms: notification.created_ms,
        session_title: notification.title.clone(),
        error_code: notification.error_code.clone(),
        duration_ms: notification.duration_ms,
        background: status.map_or(0, |r| r.background),
        ..of_head(head, status)
    }
}

/// Names that people have given to sessions on the board, by KEY. A file that is missing or broken names nobody: the
/// board itself tells of it.
pub fn names(store: &Store) -> BTreeMap<String, String> {
    #[derive(serde::Deserialize)]
    struct Names {
        #[serde(default)]
        names: BTreeMap<String, String>,
    }
    let bytes = regular::read(&store.state().board().join("names.json")).unwrap_or_default();
    serde_json::from_slice::<Names>(&bytes)
        .map(|n| n.names)
        .unwrap_or_default()
}
