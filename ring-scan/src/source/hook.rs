//! Hook rows: `status/*.json` through `view`.

use super::files;
use crate::board::Finding;
use ring_hook::row::Row;
use ring_hook::view::{View, view};
use ring_session::regular;
use ring_session::time::Ms;
use ring_session::{Settings, StateDir};

/// A row and what readers show of it.
#[derive(Clone, Debug)]
pub struct HookRow {
    /// The row.
    pub row: Row,
    /// Its view at the board's time.
    pub view: View,
}

/// All rows that can be read.
#[derive(Debug, Default)]
pub struct HookRows {
    /// By agent and session id.
    pub rows: Vec<HookRow>,
    /// Files that are no rows.
    pub skipped: Vec<Finding>,
    /// No hook has ever run.
    pub absent: bool,
}

/// Reads the rows. Readers take no lock: a row is replaced as a whole.
///
/// # Errors
/// A text for people, if the folder cannot be listed.
pub fn read(state: &StateDir, settings: &Settings, now: Ms) -> Result<HookRows, String> {
    let mut found = HookRows::default();
    let Some(entries) = files::entries(&state.status())? else {
        found.absent = true;
        return Ok(found);
    };
    for entry in entries {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|n| n.ends_with(".json") && !n.starts_with('.')) else {
            continue;
        };
        let path = entry.path();
        let why = match regular::read(&path) {
            Ok(bytes) => match parse(&bytes) {
                Some(row) => {
                    let view = view(&row, now, settings);
                    found.rows.push(HookRow { row, view });
                    continue;
                }
                None => "no status row".to_owned(),
            },
            // Deleted in this moment: no row.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => files::describe(&e),
        };
        found.skipped.push(super::skipped("", format!("status/{name}"), why));
    }
    found
        .rows
        .sort_by(|a, b| (&a.row.agent, &a.row.session_id).cmp(&(&b.row.agent, &b.row.session_id)));
    Ok(found)
}

/// A row with all that names it; half a row is none.
fn parse(bytes: &[u8]) -> Option<Row> {
    Row::parse(bytes).filter(|r| !r.key.is_empty() && !r.agent.is_empty() && !r.session_id.is_empty())
}

/// Whether the row tells everything that a record of this file time may tell: no tail needs to be read. A wait that is
/// older than the record may have been ended by it.
pub fn is_newer(hook: &HookRow, file_ms: Ms) -> bool {
    let oldest_wait = hook.view.waits.iter().map(|w| w.since_ms).min().unwrap_or(Ms::MAX);
    hook.row.event_ms > file_ms && hook.row.foreground_ms > file_ms && oldest_wait > file_ms
}
