//! The `status` line of events.jsonl: what changed for a reader (ring(5), EVENTS). Ids and codes, never texts.

use crate::row::{Row, json::quote};
use ring_session::time::Ms;

/// What a reader would have been told last.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    status: String,
    waits: Vec<String>,
}

impl Summary {
    /// Of a row.
    pub fn of(row: &Row) -> Summary {
        let mut waits: Vec<String> = row.waits.iter().map(|w| w.id.clone()).collect();
        waits.sort_unstable();
        Summary {
            status: row.status.clone(),
            waits,
        }
    }
}

/// The line, if the status or the set of waits is another than before. No summary: there was no row.
pub fn changed(before: Option<&Summary>, row: &Row, rule: &str, now: Ms) -> Option<String> {
    let same = before.is_some_and(|b| *b == Summary::of(row));
    (!same).then(|| line(row, before.map_or("", |b| &b.status), &row.status, rule, now))
}

/// The line of a row's end.
pub fn ended(row: &Row, rule: &str, now: Ms) -> String {
    line(row, &row.status, "ended", rule, now)
}

fn line(row: &Row, from: &str, to: &str, rule: &str, now: Ms) -> String {
    let mut out = format!("{{\"schema\":1,\"at_ms\":{now},\"kind\":\"status\"");
    let mut member = |name: &str, value: &str| {
        out.push_str(",\"");
        out.push_str(name);
        out.push_str("\":");
        quote(value, &mut out);
    };
    member("key", &row.key);
    member("agent", &row.agent);
    member("from", from);
    member("to", to);
    out.push_str(",\"waits\":[");
    let left = if to == "ended" { &[] } else { &row.waits[..] };
    for (at, wait) in left.iter().enumerate() {
        out.push_str(if at > 0 { ",{\"id\":" } else { "{\"id\":" });
        quote(&wait.id, &mut out);
        out.push_str(",\"kind\":");
        quote(&wait.kind, &mut out);
        out.push_str(",\"owner\":");
        quote(&wait.owner, &mut out);
        out.push('}');
    }
    out.push_str("],\"project\":");
    quote(&row.origin_cwd, &mut out);
    out.push_str(",\"rule\":");
    quote(rule, &mut out);
    out.push('}');
    out
}
