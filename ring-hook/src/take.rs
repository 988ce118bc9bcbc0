//! One payload through the whole intake: payload -> event -> what it means -> what the edge knows -> the row's step ->
//! what is to be done about it.
//!
//! What needs no row is done before the lock is taken (parsing, the transcript's tail), what starts a process after it
//! is free. In between stands only what depends on the row: who speaks, the decision, the agent's process if the row
//! has none, the row's own step.

use crate::cli::Context;
use ring_hook::advance::{self, Around, Effect, Fate, Outcome};
use ring_hook::decide::{self, decide};
use ring_hook::emit::{self, Known};
use ring_hook::event::{Decision, Event, Name, Owner};
use ring_hook::facts::{self, Found};
use ring_hook::intake;
use ring_hook::normalise::{self, Given};
use ring_hook::row::Row;
use ring_hook::{agent, key, store, tail};
use ring_session::append::append;
use ring_session::lock::Lock;
use ring_session::time::Ms;
use ring_session::{Code, Refusal, Settings, StateDir, error_log, lock, ring};
use std::io::{BufRead, Read};
use std::path::Path;
use std::time::Duration;

/// Where an intake writes, and how far it goes.
pub struct Place<'a> {
    state: &'a StateDir,
    config: Option<&'a Path>,
    /// How long the row's lock is waited for.
    wait: Duration,
    /// Whether an agent's hook brings the payload: then a new wait starts a ring, and raw payloads may be kept.
    of_hook: bool,
}

impl<'a> Place<'a> {
    /// Of a hook: it waits for nothing long, and rings.
    pub fn of_hook(context: &'a Context) -> Place<'a> {
        Place {
            state: &context.state,
            config: context.config.as_deref(),
            wait: lock::wait(lock::HOOK_WAIT),
            of_hook: true,
        }
    }

    /// Of a replay: nobody is to be told.
    pub fn of_replay(context: &'a Context) -> Place<'a> {
        Place {
            state: &context.state,
            config: context.config.as_deref(),
            wait: lock::wait(lock::COMMAND_WAIT),
            of_hook: false,
        }
    }
}

/// What became of a payload.
pub struct Taken {
    event: Event,
    decision: Decision,
    outcome: Outcome,
}

impl Taken {
    /// The line of `--emit`. None for an event that came twice.
    pub fn emitted(&self) -> Option<String> {
        if matches!(self.outcome.effect, Effect::Duplicate | Effect::Newer) {
            return None;
        }
        let row = self.outcome.row.as_ref();
        let known = Known {
            origin_cwd: row.map_or(&self.event.cwd, |r| &r.origin_cwd),
            process: row.and_then(|r| r.process.as_ref()),
            wait: self.outcome.put.as_ref().map(|put| &put.wait),
        };
        Some(emit::line(&self.event, &self.decision, Some(known)))
    }

    /// The row afterwards as JSON; `null` if there is none.
    pub fn printed(&self) -> String {
        let gone = self.outcome.fate == Fate::Deleted;
        let row = self.outcome.row.as_ref().filter(|_| !gone);
        row.map_or_else(|| "null".to_owned(), Row::to_json)
    }
}

/// Takes one payload in.
///
/// # Errors
/// Those of the payload (`BAD_PAYLOAD`, `NO_SESSION_ID`) and of the row's step (`LOCK_TIMEOUT`, `SCHEMA_NEWER`, `IO`).
pub fn take(payload: &[u8], given: &Given<'_>, place: &Place<'_>) -> Result<Taken, Refusal> {
    let (mut event, mut found) = identified(normalise::event(payload, given)?)?;
    look_into_the_transcript(&mut event);
    let settings = settings(&event, payload, given, place);
    let mut decision = None;
    let stored = store::update(place.state, &event.key.clone(), place.wait, |row| {
        event.owner = advance::owner(row.as_ref(), &event);
        if event.continuation && row.as_ref().is_some_and(|r| r.turn.state == "working") {
            event.name = Name::TurnStart;
        }
        let decided = decide(&event, &settings);
        let facts = facts::gather(row.as_ref(), &event, found.take());
        let around = Around {
            settings: &settings,
            now: given.now,
            new_id: &mut || new_id(given.now),
        };
        let outcome = advance::advance(row, &event, &decided, &facts, around);
        decision = Some(decided);
        outcome
    })?;
    let Some(decision) = decision else {
        return Err(Refusal::new(Code::Internal, "the row's step did not decide"));
    };
    let outcome = stored.outcome;
    if let Some(lost) = &stored.line_lost {
        let (agent, event) = (&event.agent, &event.native);
        error_log::note(place.state, given.now, lost.code, agent, event, payload.len()).unwrap_or_default();
    }
    if let Some(after) = outcome.ring_in_ms.filter(|_| place.of_hook) {
        ring::start(place.state, place.config, &event.key, after);
    }
    Ok(Taken {
        event,
        decision,
        outcome,
    })
}

/// The event with a session id: without one in the payload it is the agent's process, if that is found.
///
/// # Errors
/// `NO_SESSION_ID` if there is neither.
pub fn identified(mut event: Event) -> Result<(Event, Option<Found>), Refusal> {
    if !event.session_id.is_empty() {
        return Ok((event, None));
    }
    let none = || {
        Refusal::new(
            Code::NoSessionId,
            "the payload has no session id and comes from no agent's process",
        )
    };
    let found = facts::find_process(&event.agent)
        .filter(|f| !f.process.server)
        .ok_or_else(none)?;
    event.session_id = format!("pid-{}-{}", found.process.pid, found.process.start_ticks);
    event.key = key::key(&event.agent, &event.session_id);
    Ok((event, Some(found)))
}

/// What the payload leaves out and the transcript's last 256 KiB know: the last answer of a session that stops, and
/// whether Codex lets a model review its requests.
fn look_into_the_transcript(event: &mut Event) {
    if event.transcript_path.is_empty() || matches!(event.owner, Owner::Agent(_)) {
        return;
    }
    let path = Path::new(&event.transcript_path);
    match event.name {
        Name::Stop if event.text.trim().is_empty() => {
            event.text = tail::file::last_text(path, &event.agent).unwrap_or_default();
        }
        Name::PermissionRequest if event.agent == agent::CODEX => event.reviewed = tail::file::codex_reviewed(path),
        _ => {}
    }
}

/// The settings, read only if they can make a difference; else the defaults, which then do not matter.
fn settings(event: &Event, payload: &[u8], given: &Given<'_>, place: &Place<'_>) -> Settings {
    let records = || {
        if !place.of_hook {
            return false;
        }
        let file = place.config.and_then(ring_session::settings::file_text);
        file.is_some_and(|text| text.is_ok_and(|t| memchr::memmem::find(t.as_bytes(), b"debug_payload_log").is_some()))
    };
    if !decide::needs_settings(event) && !records() {
        return Settings::default();
    }
    let (settings, problems) = Settings::load(place.config);
    for problem in &problems {
        // a state directory that takes no line takes no log either
        error_log::note_settings(place.state, given.now, problem).unwrap_or_default();
    }
    if settings.debug_payload_log && place.of_hook {
        record(payload, given, place);
    }
    settings
}

/// Largest size of the log of raw payloads, in bytes; one old file is kept.
const RECORDED_BYTES: u64 = 8 * 1024 * 1024;

/// Keeps the raw payload, for people who look for a fault, in the form that `replay --at` reads.
fn record(payload: &[u8], given: &Given<'_>, place: &Place<'_>) {
    let text = intake::text(payload);
    let quoted = |value: Option<&str>| serde_json::to_string(&value.unwrap_or_default()).unwrap_or_default();
    let line = format!(
        "{{\"at_ms\":{},\"agent\":{},\"event\":{},\"payload\":{text}}}",
        given.now,
        quoted(given.agent),
        quoted(given.event)
    );
    let path = place.state.root().join("hook-payloads.jsonl");
    // without the lock the file could be set aside twice at once; a payload that is not kept is no failure of the event
    if let Ok(_held) = Lock::acquire(&place.state.events_lock(), place.wait) {
        append(&path, &line, RECORDED_BYTES).unwrap_or_default();
    }
}

/// The id of a new wait: a UUID of version 7, of the event's time.
fn new_id(now: Ms) -> String {
    let (seconds, rest) = (now.max(0) / 1000, now.max(0) % 1000);
    let nanos = u32::try_from(rest * 1_000_000).unwrap_or(0);
    let stamp = uuid::Timestamp::from_unix(uuid::NoContext, seconds.unsigned_abs(), nanos);
    uuid::Uuid::new_v7(stamp).to_string()
}

/// Reads the next line, without its end, into `line`: at most a little more than the largest payload. False at the end.
///
/// # Errors
/// `IO`.
pub fn next_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> Result<bool, Refusal> {
    line.clear();
    let limit = intake::LARGEST as u64 + 2;
    let count = input.take(limit).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if count as u64 == limit {
        skip_line(input)?;
    }
    Ok(count > 0)
}

fn skip_line(input: &mut dyn BufRead) -> Result<(), Refusal> {
    loop {
        let piece = input.fill_buf()?;
        let (used, done) = match memchr::memchr(b'\n', piece) {
            Some(at) => (at + 1, true),
            None => (piece.len(), piece.is_empty()),
        };
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}

/// # Errors
/// `PAYLOAD_TOO_LARGE`.
pub fn small_enough(line: &[u8]) -> Result<(), Refusal> {
    if line.len() > intake::LARGEST {
        return Err(intake::too_large());
    }
    Ok(())
}
