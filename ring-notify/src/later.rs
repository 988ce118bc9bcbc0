//! What an agent has written itself since a wait of its row began. A row learns of a request and often not of its end: "No"
//! and Esc fire no hook, and leave for a tool none until the tool has ended. Nobody is rung for what was answered.

use ring_hook::agent::{CLAUDE, CODEX};
use ring_hook::ended;
use ring_hook::live::{self, Live, Word};
use ring_hook::row::Row;
use ring_hook::tail::{self, Kind, Tail};
use ring_hook::view::{self, View};
use ring_session::Settings;
use ring_session::regular;
use ring_session::time::Ms;
use std::path::Path;

/// The row as readers show it, without the waits that the agent's own records have ended.
pub fn view(row: &Row, now: Ms, settings: &Settings) -> View {
    let view = view::view(row, now, settings);
    if view.waits.is_empty() {
        return view;
    }
    without_ended(view, &Later::of(row), now)
}

fn without_ended(mut view: View, later: &Later, now: Ms) -> View {
    view.waits.retain(|wait| {
        // an older live record is one that lags
        let live = later.live.as_ref().filter(|l| l.ms > wait.since_ms);
        ended::by(wait, later.tail.as_ref(), live, now).is_none()
    });
    if view.waits.is_empty() {
        (view.status, view.since_ms) = later.says();
    }
    view
}

/// The agent's own records of a session.
#[derive(Debug, Default)]
struct Later {
    tail: Option<Tail>,
    live: Option<Live>,
}

impl Later {
    fn of(row: &Row) -> Later {
        let path = Path::new(&row.transcript_path);
        let reader = match row.agent.as_str() {
            CLAUDE => tail::claude::tail,
            CODEX => tail::codex::tail,
            _ => return Later::default(),
        };
        if !path.is_absolute() {
            return Later::default();
        }
        Later {
            tail: tail::file::tail(path, reader).ok(),
            live: claude(row, path),
        }
    }

    /// What a session does whose last wait has ended, and since when.
    fn says(&self) -> (&'static str, Ms) {
        let works = |kind| matches!(kind, Kind::Start | Kind::Tool | Kind::Busy | Kind::Plain);
        match (&self.live, &self.tail) {
            (Some(live), _) if live.word == Word::Busy => ("working", live.since_ms),
            (Some(live), _) => ("idle", live.since_ms),
            (None, Some(tail)) if works(tail.kind) => ("working", tail.ms),
            (None, tail) => ("idle", tail.as_ref().map_or(0, |t| t.ms)),
        }
    }
}

/// Claude Code's live record, `HOME/sessions/PID.json` beside `HOME/projects/FOLDER/SESSION.jsonl`, if the row's process
/// wrote it about this session.
fn claude(row: &Row, transcript: &Path) -> Option<Live> {
    let process = row.process.as_ref().filter(|_| row.agent == CLAUDE)?;
    let projects = transcript.ancestors().nth(2)?;
    let home = projects.parent().filter(|_| projects.ends_with("projects"))?;
    let path = home.join("sessions").join(format!("{}.json", process.pid));
    let bytes = regular::read(&path).ok()?;
    let record = live::claude(&bytes, process.pid)?;
    // where starts are no ticks they are seconds
    let start_ms = Ms::try_from(process.start_ticks).ok()?.saturating_mul(1_000);
    let is_its = record.session_id == row.session_id && record.is_of_start(process.start_ticks, start_ms);
    record.live.filter(|_| is_its)
}

#[cfg(test)]
mod tests;
