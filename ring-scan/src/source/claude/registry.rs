//! Claude Code's live records: `HOME/sessions/PID.json`, written by the client itself at every change of its screen
//! (measured with 2.1.197 and 2.1.332).
//!
//! A record is written in place, so an empty or half-written one is read once more after 20 ms, and a whole first object
//! counts, whatever older text follows it. After `kill -9` a record stays with its last status: only a process with the
//! recorded start speaks through it.

use crate::merge::{Live, Word};
use crate::processes::{Process, Processes};
use crate::source::files;
use ring_session::time::Ms;
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for the rest of a record.
const HALF_WRITTEN: Duration = Duration::from_millis(20);

/// One live record.
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

/// What was read of one home.
#[derive(Debug, Default)]
pub struct Registry {
    /// Whole records.
    pub records: Vec<LiveRecord>,
    /// Files that held none.
    pub unreadable: Vec<PathBuf>,
}

/// Reads the live records of one home. Records of dead processes are among them.
///
/// # Errors
/// A text for people, if the folder cannot be listed.
pub fn read(home: &Path, processes: Option<&Processes>) -> Result<Registry, String> {
    read_waiting(home, processes, || std::thread::sleep(HALF_WRITTEN))
}

/// `wait` lets the writers of half-written records finish.
fn read_waiting(home: &Path, processes: Option<&Processes>, wait: impl FnOnce()) -> Result<Registry, String> {
    let mut registry = Registry::default();
    let Some(entries) = files::entries(&home.join("sessions"))? else {
        return Ok(registry);
    };
    let mut half = Vec::new();
    for entry in entries {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|n| n.strip_suffix(".json")?.parse().ok()) else {
            continue;
        };
        // A pipe in the place of a record would keep the reader waiting for ever.
        if !entry.file_type().is_ok_and(|t| t.is_file()) {
            continue;
        }
        match read_one(&entry.path(), pid) {
            Some(record) => registry.records.push(record),
            // Leftovers are nobody's to complete.
            None if processes.is_some_and(|p| !p.by_pid.contains_key(&pid)) => registry.unreadable.push(entry.path()),
            None => half.push((entry.path(), pid)),
        }
    }
    if !half.is_empty() {
        wait();
    }
    for (path, pid) in half {
        match read_one(&path, pid) {
            Some(record) => registry.records.push(record),
            None if path.exists() => registry.unreadable.push(path),
            None => {}
        }
    }
    registry.records.sort_by_key(|r| (r.started_ms, r.pid));
    Ok(registry)
}

fn read_one(path: &Path, pid: u32) -> Option<LiveRecord> {
    parse(&fs::read(path).ok()?, pid)
}

/// The first whole object of a record's bytes.
fn parse(bytes: &[u8], pid: u32) -> Option<LiveRecord> {
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

/// Whether this process wrote the record: its start is the recorded one.
pub fn is_written_by(record: &LiveRecord, process: &Process) -> bool {
    let start = record.proc_start.trim();
    if start.is_empty() {
        return true;
    }
    if start.bytes().all(|b| b.is_ascii_digit()) {
        return start.parse() == Ok(process.start_ticks);
    }
    // A second of the one clock may be the next one of the other.
    parse_start(start).is_some_and(|ms| (ms - process.start_ms).abs() <= 2_000)
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

/// Whether a record without a living process was written somewhere else: then its process may live there. `machine` is
/// this machine's id, if it can be told; if not, a domain is foreign that is unlike those of records proven alive here.
pub fn is_foreign(domain: &str, machine: Option<&str>, pid_ns: u64, proven: &[&str]) -> bool {
    let Some((id, namespace)) = domain.strip_prefix("linux:").and_then(|d| d.split_once(":pid:")) else {
        return false;
    };
    let inode = namespace.trim_start_matches('[').trim_end_matches(']').parse::<u64>();
    if pid_ns != 0 && inode.is_ok_and(|i| i != pid_ns) {
        return true;
    }
    match machine {
        Some(machine) => id != machine,
        None => !proven.is_empty() && !proven.contains(&domain),
    }
}

/// This machine's id. A replaced process table is another machine's, whose id is not known.
pub fn machine_id() -> Option<String> {
    if std::env::var_os(ring_session::process::PROC_VARIABLE).is_some_and(|v| !v.is_empty()) {
        return None;
    }
    let text = fs::read_to_string("/etc/machine-id")
        .or_else(|_| fs::read_to_string("/var/lib/dbus/machine-id"))
        .ok()?;
    Some(text.trim().to_owned()).filter(|t| !t.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(text: &str) -> Option<Word> {
        parse(text.as_bytes(), 7)?.live.map(|l| l.word)
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
        let record = parse(text.as_bytes(), 7).unwrap();
        assert_eq!(record.live.unwrap().ms, 5);
        assert_eq!(record.pid, 7);
        assert!(parse(b"", 7).is_none());
        assert!(parse(br#"{"sessionId":"a","sta"#, 7).is_none());
        assert!(parse(b"[1]", 7).is_none());
    }

    #[test]
    fn c78_a_half_written_record_is_read_once_more() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("sessions/42.json");
        fs::create_dir(home.path().join("sessions")).unwrap();
        fs::write(&file, "").unwrap();
        fs::write(home.path().join("sessions/43.json"), "{\"sess").unwrap();
        let whole = || fs::write(&file, r#"{"sessionId":"a","status":"idle"}"#).unwrap();
        let registry = read_waiting(home.path(), None, whole).unwrap();
        assert_eq!(registry.records.len(), 1);
        assert_eq!(registry.records[0].session_id, "a");
        assert_eq!(registry.unreadable.len(), 1);
        // what a dead process left half-written is nobody's to complete
        let nobody = Processes::default();
        let registry = read_waiting(home.path(), Some(&nobody), || panic!("waited")).unwrap();
        assert_eq!(registry.unreadable.len(), 1);
    }

    #[test]
    fn c68_a_start_is_ticks_or_a_time() {
        let process = Process {
            start_ticks: 486_523,
            start_ms: 1_796_043_441_000,
            ..Process::default()
        };
        let by = |start: &str| {
            is_written_by(
                &LiveRecord {
                    proc_start: start.into(),
                    ..LiveRecord::default()
                },
                &process,
            )
        };
        assert!(by("486523"));
        assert!(!by("486524"));
        assert!(by("Mon Nov 30 12:57:21 2026"));
        assert!(!by("Mon Nov 30 12:57:41 2026"));
        assert!(!by("yesterday"));
        assert!(by(""));
    }

    #[test]
    fn c79_another_machine_or_namespace_is_foreign() {
        let ours = "linux:abc:pid:[4026531836]";
        assert!(!is_foreign(ours, Some("abc"), 4_026_531_836, &[]));
        assert!(is_foreign(ours, Some("xyz"), 4_026_531_836, &[]));
        assert!(is_foreign(ours, Some("abc"), 1, &[]));
        assert!(is_foreign(ours, None, 4_026_531_836, &["linux:xyz:pid:[4026531836]"]));
        assert!(!is_foreign(ours, None, 4_026_531_836, &[ours]));
        assert!(!is_foreign(ours, None, 4_026_531_836, &[]));
        assert!(!is_foreign("", Some("abc"), 1, &[]));
    }
}
