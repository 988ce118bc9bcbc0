//! Rows as people see them.

use crate::look::{Look, Tone};
use ring_session::notification::InboxRow;
use ring_session::record::NotificationKind;
use ring_session::table::{self, Shape, Table};
use ring_session::time::{Ms, human_span};
use std::io::Write;

/// How many nobody has read, for a bar.
pub fn oneline(rows: &[&InboxRow], look: &Look) -> String {
    let count = |failed| {
        let kind = if failed {
            NotificationKind::Failed
        } else {
            NotificationKind::Completed
        };
        let count = rows
            .iter()
            .filter(|r| r.is_unread() && r.notification.kind == kind)
            .count();
        (count > 0).then(|| format!("{}{count}", look.mark(failed)))
    };
    [count(false), count(true)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

const MARK: usize = 0;
const AGE: usize = 1;
const RESULT: usize = 2;
const TITLE: usize = 3;
const PROJECT: usize = 4;
const ID: usize = 5;

/// For people, newest first. `ids` are those of the whole inbox, sorted: what is shown of one is unique among them.
///
/// # Errors
/// Those of the writer.
pub fn table(out: &mut dyn Write, rows: &[&InboxRow], ids: &[String], now: Ms, look: &Look) -> std::io::Result<()> {
    let cells = |row: &&InboxRow| {
        let it = &row.notification;
        let failed = it.kind == NotificationKind::Failed;
        let mark = match (row.is_unread(), look.ascii) {
            (true, _) => look.mark(failed),
            (false, false) => "·",
            (false, true) => "-",
        };
        let result = match failed {
            true => format!("failed {}", it.error_code.as_deref().unwrap_or_default()),
            false => "completed".to_owned(),
        };
        let title = match it.title.trim() {
            "" => "untitled",
            title => title,
        };
        [
            mark.to_owned(),
            human_span(now.saturating_sub(it.created_ms)),
            result.trim_end().to_owned(),
            title.to_owned(),
            look.project(row.session.project.as_deref()),
            table::short(ids, &it.id).to_owned(),
        ]
    };
    let paint = |row: &&InboxRow, column: usize, cell: String| {
        let tone = match (column, row.notification.kind) {
            (PROJECT | ID, _) => Tone::Muted,
            _ if !row.is_unread() => Tone::Muted,
            (MARK | RESULT, NotificationKind::Failed) => Tone::Waiting,
            (MARK | RESULT, NotificationKind::Completed) => Tone::Working,
            _ => Tone::Plain,
        };
        look.paint(tone, cell)
    };
    let table = Table {
        cuttable: &[RESULT],
        dispensable: &[PROJECT, RESULT],
        limit: look.width,
    };
    let shape = Shape {
        rest: TITLE,
        right: &[AGE],
    };
    table.write_painted(out, rows, shape, cells, paint)
}
