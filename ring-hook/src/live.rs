//! What an agent's own live record says about now. Claude Code keeps one, `HOME/sessions/PID.json`, and writes it at every
//! change of its screen (measured with 2.1.197 and 2.1.332).
//!
//! A record is written in place, so a whole first object counts, whatever older text follows it. After `kill -9` a record
//! stays with its last status: only a process with the recorded start speaks through it.

use ring_session::time::Ms;
use serde_json::{Map, Value};

/// An idle of the live record is believed when it is this old: a queued or notified turn may follow within 140 ms.
pub const IDLE_BELIEVED_MS: Ms = 300;

/// What an agent's live record says, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// A turn runs.
    Busy,
    /// No turn runs.
    Idle,
    /// The person is asked; what for, in the record's words.
    Waiting(String),
    /// The turn is over, a background command runs.
    Shell,
}

/// The agent's own statement about now. Only of a process that is proven alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// What it says.
    pub word: Word,
    /// When it said so.
    pub ms: Ms,
    /// Since when that holds; a registry says so at the change, a server when it is asked.
    pub since_ms: Ms,
    /// registry, or server.
    pub source: &'static str,
}

/// One live record of Claude Code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveRecord {
    /// Process that wrote it.
    pub pid: u32,
    /// Its start: digits are ticks, another text a time.
    pub proc_start: String,
    /// `linux:MACHINE-ID:pid:[INODE]`; empty: not told.
    pub domain: String,
    /// The session.
    pub session_id: String,
    /// Folder.
    pub cwd: String,
    /// When the client started.
    pub started_ms: Ms,
    /// A background agent.
    pub background: bool,
    /// What it says; none: it gives no status.
    pub live: Option<Live>,
    /// Name of the session.
    pub name: String,
    /// The name was made from the folder, by nobody.
    pub name_derived: bool,
    /// Place in tmux.
    pub tmux: String,
}

impl LiveRecord {
    /// Whether a process with this start wrote the record.
    pub fn is_of_start(&self, start_ticks: u64, start_ms: Ms) -> bool {
        let start = self.proc_start.trim();
        if start.is_empty() {
            return true;
        }
        if start.bytes().all(|b| b.is_ascii_digit()) {
            return start.parse() == Ok(start_ticks);
        }
        // A second of the one clock may be the next one of the other.
        parse_start(start).is_some_and(|ms| (ms - start_ms).abs() <= 2_000)
    }
}

/// The first whole object of the bytes of Claude Code's live record; `pid` is the one of its file's name.
pub fn claude(bytes: &[u8], pid: u32) -> Option<LiveRecord> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{FEFF}');
    let object: Map<String, Value> = serde_json::Deserializer::from_str(text)
        .into_iter::<Map<String, Value>>()
        .next()?
        .ok()?;
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |key: &str| object.get(key).and_then(Value::as_f64).map(|n| n as Ms);
    let proc_start = match object.get("procStart") {
        Some(Value::Number(n)) => n.to_string(),
        _ => text("procStart"),
    };
    let ms = number("statusUpdatedAt").or_else(|| number("updatedAt")).unwrap_or(0);
    let word = match text("status").as_str() {
        "busy" => Some(Word::Busy),
        "idle" => Some(Word::Idle),
        "waiting" => Some(Word::Waiting(text("waitingFor"))),
        "shell" => Some(Word::Shell),
        // Absent in old versions and for the SDK; a word of tomorrow says nothing that is known.
        _ => None,
    };
    let session_id = text("sessionId");
    (!session_id.is_empty()).then(|| LiveRecord {
        pid: number("pid").and_then(|n| u32::try_from(n).ok()).unwrap_or(pid),
        proc_start,
        domain: text("pidDomain"),
        session_id,
        cwd: text("cwd"),
        started_ms: number("startedAt").unwrap_or(0),
        background: text("kind") == "bg",
        live: word.map(|word| Live {
            word,
            ms,
            since_ms: ms,
            source: "registry",
        }),
        name: text("name"),
        name_derived: text("nameSource") == "derived",
        tmux: text("tmux"),
    })
}

/// `Mon Nov 30 12:57:21 2026`, as `ps` prints a start in the C locale, UTC.
fn parse_start(text: &str) -> Option<Ms> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [_, month, day, clock, year] = words[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|m| *m == month)? + 1;
    let day: u8 = day.parse().ok()?;
    ring_session::time::parse_iso(&format!("{year}-{month:02}-{day:02}T{clock}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(text: &str) -> Option<Word> {
        claude(text.as_bytes(), 7)?.live.map(|l| l.word)
    }

    #[test]
    fn c104_each_status_has_its_word() {
        let record = |status: &str| live(&format!(r#"{{"sessionId":"a","updatedAt":1,{status}}}"#));
        assert_eq!(record(r#""status":"busy""#), Some(Word::Busy));
        assert_eq!(record(r#""status":"idle""#), Some(Word::Idle));
        assert_eq!(record(r#""status":"shell""#), Some(Word::Shell));
        assert_eq!(
            record(r#""status":"waiting","waitingFor":"permission prompt""#),
            Some(Word::Waiting("permission prompt".into()))
        );
        assert_eq!(record(r#""status":"dreaming""#), None);
        assert_eq!(record(r#""kind":"interactive""#), None);
    }

    #[test]
    fn c78_a_whole_first_object_counts_whatever_follows_it() {
        let text = r#"{"sessionId":"a","status":"idle","statusUpdatedAt":5,"updatedAt":9}t":"busy","updatedAt":1796}"#;
        let record = claude(text.as_bytes(), 7).unwrap();
        assert_eq!(record.live.unwrap().ms, 5);
        assert_eq!(record.pid, 7);
        assert!(claude(b"", 7).is_none());
        assert!(claude(br#"{"sessionId":"a","sta"#, 7).is_none());
        assert!(claude(b"[1]", 7).is_none());
    }

    #[test]
    fn c68_a_start_is_ticks_or_a_time() {
        let by = |start: &str| {
            let record = LiveRecord {
                proc_start: start.into(),
                ..LiveRecord::default()
            };
            record.is_of_start(486_523, 1_796_043_441_000)
        };
        assert!(by("486523"));
        assert!(!by("486524"));
        assert!(by("Mon Nov 30 12:57:21 2026"));
        assert!(!by("Mon Nov 30 12:57:41 2026"));
        assert!(!by("yesterday"));
        assert!(by(""));
    }
}
