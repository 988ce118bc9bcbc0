//! `list`, `read`, `clear`.

mod shown;

use crate::cli::warn;
use crate::look::Look;
use crate::whom::{self, Whom};
use ring_session::command_line::Format;
use ring_session::context::Context;
use ring_session::id::{self, Meant};
use ring_session::notification::{INBOX, InboxRow, Surveyed};
use ring_session::store::ambiguous;
use ring_session::work::Work;
use ring_session::{Code, Refusal};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Prints the inbox.
#[derive(Debug, Default, PartialEq, Eq, clap::Args)]
pub struct List {
    /// Read ones too
    #[arg(long)]
    all: bool,
    /// How many, newest first, at most 200
    #[arg(long, value_name = "N", value_parser = limit, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Only of this session: an id, a KEY, or a beginning
    #[arg(long, value_name = "S")]
    session: Option<String>,
    /// Only how many nobody has read, of all sessions
    #[arg(long)]
    count: bool,
}

/// Marks rows.
#[derive(Debug, clap::Args)]
pub struct Read {
    /// Which: ids as listed, or beginnings of them
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    ids: Vec<String>,
    /// All of them
    #[arg(long)]
    all: bool,
    /// Only of this session: an id, a KEY, or a beginning
    #[arg(long, value_name = "S")]
    session: Option<String>,
}

/// Removes rows.
#[derive(Debug, clap::Args)]
pub struct Clear {
    /// Only read ones
    #[arg(long)]
    read: bool,
    /// Only of this session: an id, a KEY, or a beginning
    #[arg(long, value_name = "S")]
    session: Option<String>,
}

/// A whole number, clamped to what the inbox can hold.
fn limit(text: &str) -> Result<usize, String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err("not a whole number".into());
    }
    let number = match text.starts_with('-') {
        true => 0,
        // more digits than a number has
        false => text.parse().unwrap_or(INBOX),
    };
    Ok(number.clamp(1, INBOX))
}

/// The inbox, and the session that is meant. A record that cannot be read hides no other and is named.
fn survey(session: Option<&str>, context: &Context<'_>) -> Result<(Surveyed, Option<Whom>), Refusal> {
    let surveyed = context.store.survey_notifications()?;
    let whom = match session {
        Some(given) => {
            let rows = whom::row_keys(context.store.state());
            Some(whom::meant(given, &surveyed.heads, &rows, &surveyed.broken)?)
        }
        None => None,
    };
    surveyed.broken.iter().for_each(warn);
    Ok((surveyed, whom))
}

fn is_of(row: &InboxRow, whom: Option<&Whom>) -> bool {
    whom.is_none_or(|w| w.has(&row.session.id))
}

/// Runs `list`.
///
/// # Errors
/// `INVALID_ARGUMENT`, `SESSION_NOT_FOUND`, `AMBIGUOUS`, `IO`.
pub fn list(args: &List, oneline: bool, look: &Look, context: &mut Context<'_>) -> Result<(), Refusal> {
    let (surveyed, whom) = survey(args.session.as_deref(), context)?;
    let unread = surveyed.rows.iter().filter(|r| r.is_unread()).count();
    let mut document = Document {
        schema: 1,
        unread_count: unread,
        total: surveyed.rows.len(),
        unreadable: surveyed.broken.len(),
        notifications: None,
    };
    if args.count && !oneline {
        return context.print(&document, |out| writeln!(out, "{unread}"));
    }
    let mine: Vec<&InboxRow> = surveyed.rows.iter().filter(|r| is_of(r, whom.as_ref())).collect();
    if oneline {
        writeln!(context.out, "{}", shown::oneline(&mine, look))?;
        return Ok(());
    }
    let shown: Vec<&InboxRow> = mine
        .into_iter()
        .filter(|r| args.all || r.is_unread())
        .take(args.limit.unwrap_or(INBOX))
        .collect();
    if context.format == Format::Jsonl {
        for row in shown {
            serde_json::to_writer(&mut *context.out, row).map_err(std::io::Error::from)?;
            writeln!(context.out)?;
        }
        return Ok(());
    }
    document.notifications = Some(&shown);
    let mut ids: Vec<String> = surveyed.rows.iter().map(|r| r.notification.id.clone()).collect();
    ids.sort_unstable();
    let now = context.now();
    context.print(&document, |out| shown::table(out, &shown, &ids, now, look))
}

/// What `list` prints as JSON.
#[derive(Serialize)]
struct Document<'a> {
    schema: u64,
    unread_count: usize,
    total: usize,
    unreadable: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    notifications: Option<&'a [&'a InboxRow]>,
}

/// What becomes of sessions, one after the other: the first refusal stops no other.
#[derive(Default)]
struct Refused(Option<Refusal>);

impl Refused {
    fn note(&mut self, refusal: Refusal) {
        match &self.0 {
            None => self.0 = Some(refusal),
            Some(_) => warn(refusal),
        }
    }

    fn or_done(self) -> Result<(), Refusal> {
        self.0.map_or(Ok(()), Err)
    }
}

/// Changes the records of `sessions`, in the order of their ids; one that went meanwhile is none.
fn each<T>(
    sessions: BTreeSet<String>,
    context: &Context<'_>,
    refused: &mut Refused,
    change: impl Fn(&str, &mut Work) -> T,
) -> Vec<T> {
    let mut all = Vec::new();
    for session in sessions {
        match context.store.update(&session, |work, _| Ok(change(&session, work))) {
            Ok((made, _)) => all.push(made),
            Err(e) if e.code == Code::SessionNotFound && !context.store.files(&session).dir.exists() => {}
            Err(e) => refused.note(e),
        }
    }
    all
}

/// Runs `read`.
///
/// # Errors
/// `INVALID_ARGUMENT`, `AMBIGUOUS`, `SESSION_NOT_FOUND`, `LOCK_TIMEOUT`, `IO`.
pub fn read(args: &Read, context: &mut Context<'_>) -> Result<(), Refusal> {
    let (surveyed, whom) = survey(args.session.as_deref(), context)?;
    let rows: Vec<&InboxRow> = surveyed.rows.iter().filter(|r| is_of(r, whom.as_ref())).collect();
    let mut refused = Refused::default();
    let done = match args.all {
        true => {
            let pruned = context.store.prune_notifications(&surveyed.beyond);
            pruned.into_iter().for_each(|e| refused.note(e));
            read_all(&rows, context, &mut refused)
        }
        false => read_some(&args.ids, &rows, context, &mut refused)?,
    };
    refused.or_done()?;
    if !context.json() {
        for given in &done.unknown {
            warn(format!("not in the inbox: {given}"));
        }
    }
    let done = Done {
        schema: 1,
        ok: done.unknown.is_empty(),
        ..done
    };
    context.print(&done, |out| writeln!(out, "{} read", done.read.len()))
}

/// What `read` prints as JSON.
#[derive(Default, Serialize)]
struct Done {
    schema: u64,
    ok: bool,
    read: Vec<String>,
    already: Vec<String>,
    unknown: Vec<String>,
}

/// Every row that is there when its session's lock is held.
fn read_all(rows: &[&InboxRow], context: &Context<'_>, refused: &mut Refused) -> Done {
    let sessions = rows
        .iter()
        .filter(|r| r.is_unread())
        .map(|r| r.session.id.clone())
        .collect();
    let marked = each(sessions, context, refused, |_, work| work.read_notifications(None).read);
    let before = rows.iter().filter(|r| !r.is_unread());
    Done {
        read: marked.concat(),
        already: before.map(|r| r.notification.id.clone()).collect(),
        ..Done::default()
    }
}

/// All that is given is resolved before anything is written.
fn read_some(
    given: &[String],
    rows: &[&InboxRow],
    context: &Context<'_>,
    refused: &mut Refused,
) -> Result<Done, Refusal> {
    let mut done = Done::default();
    let mut ids: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut as_given: BTreeMap<&str, &str> = BTreeMap::new();
    for given in given {
        if given.trim().is_empty() {
            return Err(Refusal::new(
                Code::InvalidArgument,
                "an id is empty; give ids as `ring-notify list` shows them, or --all",
            ));
        }
        match id::meant(given, rows.iter().map(|r| r.notification.id.as_str())) {
            Meant::One(id) if as_given.contains_key(id) => {}
            Meant::One(id) => {
                as_given.insert(id, given);
                for row in rows.iter().filter(|r| r.notification.id == id) {
                    ids.entry(&row.session.id).or_default().push(id.to_owned());
                }
            }
            Meant::Nobody if done.unknown.contains(given) => {}
            Meant::Nobody => done.unknown.push(given.clone()),
            Meant::Several(candidates) => return Err(ambiguous(given, &candidates)),
        }
    }
    let sessions = ids.keys().map(|s| (*s).to_owned()).collect();
    let marked = each(sessions, context, refused, |session, work| {
        work.read_notifications(ids.get(session).map(Vec::as_slice))
    });
    for marked in marked {
        done.read.extend(marked.read);
        done.already.extend(marked.already);
    }
    // a row that somebody removed meanwhile is as unknown as one that never was
    let gone = |id: &&str| !done.read.iter().chain(&done.already).any(|d| d == id);
    let gone: Vec<String> = as_given
        .iter()
        .filter(|(id, _)| gone(id))
        .map(|(_, g)| (*g).to_owned())
        .collect();
    done.unknown.extend(gone);
    Ok(done)
}

/// What `clear` prints as JSON.
#[derive(Serialize)]
struct Removed {
    schema: u64,
    removed: usize,
}

/// Runs `clear`.
///
/// # Errors
/// `SESSION_NOT_FOUND`, `AMBIGUOUS`, `LOCK_TIMEOUT`, `IO`.
pub fn clear(args: &Clear, context: &mut Context<'_>) -> Result<(), Refusal> {
    let (surveyed, whom) = survey(args.session.as_deref(), context)?;
    let mut refused = Refused::default();
    // what lies beyond goes first: it must not come back into an inbox that has room again
    let pruned = context.store.prune_notifications(&surveyed.beyond);
    pruned.into_iter().for_each(|e| refused.note(e));
    let goes = |r: &&InboxRow| is_of(r, whom.as_ref()) && !(args.read && r.is_unread());
    let sessions = surveyed
        .rows
        .iter()
        .filter(goes)
        .map(|r| r.session.id.clone())
        .collect();
    let removed = each(sessions, context, &mut refused, |_, work| {
        work.clear_notifications(args.read).len()
    });
    refused.or_done()?;
    let removed: usize = removed.into_iter().sum();
    context.print(&Removed { schema: 1, removed }, |out| {
        writeln!(out, "{removed} removed")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n10_a_limit_is_a_whole_number_within_what_the_inbox_holds() {
        let cases = [
            ("500", 200),
            ("200", 200),
            ("7", 7),
            ("0", 1),
            ("-5", 1),
            ("99999999999999999999999", 200),
        ];
        for (text, number) in cases {
            assert_eq!(limit(text), Ok(number), "{text}");
        }
        for text in ["", "-", "x", "1.5", "1e3", "٣", " 3", "+3"] {
            assert!(limit(text).is_err(), "{text:?}");
        }
    }
}
