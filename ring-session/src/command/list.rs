//! `list`: every session, newest update first.

use crate::TOOL;
use crate::cli::Context;
use ring_session::Refusal;
use ring_session::summary::Summary;
use ring_session::table::{self, Table};
use ring_session::time::human_span;
use std::io::Write;

/// Runs it.
///
/// # Errors
/// `IO` of the directory. A record that cannot be read hides no other and is named on stderr.
pub fn run(context: &mut Context<'_>) -> Result<(), Refusal> {
    let (mut summaries, broken) = context.store.summaries()?;
    for refusal in broken {
        // a closed stderr leaves nobody to tell
        writeln!(
            std::io::stderr(),
            "{TOOL}: {}",
            ring_session::text::for_terminal(&refusal.message)
        )
        .unwrap_or_default();
    }
    let mut ids: Vec<String> = match context.json() {
        true => Vec::new(),
        false => summaries.iter().map(|s| s.id.clone()).collect(),
    };
    ids.sort_unstable();
    summaries.sort_by(|a, b| b.updated_ms.cmp(&a.updated_ms).then_with(|| b.id.cmp(&a.id)));
    let now = context.store.here().now;
    let table = Table {
        cuttable: &[AGENT],
        dispensable: &[AGENT, LAST, AGE, UNREAD, QUEUED],
        limit: table::limit(),
    };
    let narrow = table.limit.is_some_and(|columns| columns < NARROW);
    context.print_list(&summaries, |out| {
        table.write(out, &summaries, |one| cells(one, status(one, narrow), &ids, now))
    })
}

const LAST: usize = 2;
const QUEUED: usize = 3;
const UNREAD: usize = 4;
const AGE: usize = 5;
const AGENT: usize = 6;

/// Below so many columns a word is enough.
const NARROW: usize = 60;

/// What it does, or whom it waits for.
fn status(one: &Summary, narrow: bool) -> &'static str {
    match one.shown.planning_state {
        _ if narrow => one.shown.board,
        waits @ "awaiting_approval" => waits,
        _ => one.shown.status,
    }
}

fn cells(one: &Summary, status: &str, ids: &[String], now: i64) -> [String; 8] {
    let some = |count: usize, what: &str| match count {
        0 => String::new(),
        count => format!("{count} {what}"),
    };
    [
        table::short(ids, &one.id).to_owned(),
        status.to_owned(),
        one.shown.last.to_owned(),
        some(one.queued, "queued"),
        some(one.unread, "unread"),
        human_span(now.saturating_sub(one.updated_ms)),
        one.agent.clone(),
        one.title.clone(),
    ]
}
