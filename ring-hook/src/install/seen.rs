//! When an agent was last heard and when it last worked: hooks that are set up and say nothing are found by the
//! difference.

use ring_session::StateDir;
use ring_session::regular;
use ring_session::time::{Ms, parse_iso};
use serde::Deserialize;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How much of the end of a record, or of the event lines, is read.
const TAIL: u64 = 256 * 1024;

/// The newest event of each agent that is asked for: of its rows, and of the lines about rows that are gone (a session
/// that ended leaves none).
pub fn last_event(state: &StateDir, agent: &str) -> Ms {
    #[derive(Deserialize)]
    struct Row {
        agent: String,
        event_ms: Ms,
    }
    let rows = fs::read_dir(state.status())
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let rows = rows
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .filter_map(|path| serde_json::from_slice::<Row>(&regular::read(&path).ok()?).ok())
        .filter(|row| row.agent == agent)
        .map(|row| row.event_ms);
    rows.chain(last_line(state, agent)).max().unwrap_or(0)
}

fn last_line(state: &StateDir, agent: &str) -> Option<Ms> {
    #[derive(Deserialize)]
    struct Line {
        at_ms: Ms,
        kind: String,
        agent: String,
    }
    end_of(&state.events())?
        .rsplit(|b| *b == b'\n')
        .filter_map(|line| serde_json::from_slice::<Line>(line).ok())
        .find(|line| line.kind == "status" && line.agent == agent)
        .map(|line| line.at_ms)
}

/// When a file was last written; none if it is not there.
pub fn written_ms(file: &Path) -> Option<Ms> {
    let at = fs::metadata(file).and_then(|m| m.modified()).ok()?;
    let since = at.duration_since(std::time::UNIX_EPOCH).ok()?;
    Ms::try_from(since.as_millis()).ok()
}

/// The folders exactly `depth - 1` levels below `root`: those that hold what is `depth` levels below it.
pub fn below(root: &Path, depth: usize) -> Vec<PathBuf> {
    (1..depth).fold(vec![root.to_owned()], |folders, _| {
        folders
            .iter()
            .filter_map(|folder| fs::read_dir(folder).ok())
            .flat_map(|entries| entries.filter_map(Result::ok))
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect()
    })
}

/// The file that was written last among those directly in the folders.
pub fn newest(folders: Vec<PathBuf>, extension: &str) -> Option<PathBuf> {
    folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flat_map(|entries| entries.filter_map(Result::ok))
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .max_by_key(|path| fs::metadata(path).and_then(|m| m.modified()).ok())
}

/// The last stamp of a line whose type is wanted, in the end of a record.
pub fn last_stamp(file: &Path, wanted: impl Fn(&str) -> bool) -> Option<Ms> {
    #[derive(Deserialize)]
    struct Line {
        r#type: String,
        timestamp: String,
    }
    end_of(file)?
        .rsplit(|b| *b == b'\n')
        .filter_map(|line| serde_json::from_slice::<Line>(line).ok())
        .filter(|line| wanted(&line.r#type))
        .find_map(|line| parse_iso(&line.timestamp))
}

/// The end of a file; its first line may be half.
fn end_of(path: &Path) -> Option<Vec<u8>> {
    let mut file = regular::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h73_the_last_event_is_that_of_a_row_or_of_a_row_that_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::at(dir.path());
        assert_eq!(last_event(&state, "codex"), 0);
        fs::create_dir(state.status()).unwrap();
        let put = |name: &str, text: &str| fs::write(state.status().join(name), text).unwrap();
        put("codex:a.json", r#"{"agent":"codex","event_ms":5,"schema":1}"#);
        put("codex:b.json", "garbage");
        put("codex:c.json", r#"{"agent":"claude-code","event_ms":9}"#);
        assert_eq!(last_event(&state, "codex"), 5);
        let lines = r#"{"at_ms":8,"kind":"status","agent":"codex","to":"ended"}
{"at_ms":9,"kind":"turn_ended","agent":"codex"}
{"half"#;
        fs::write(state.events(), lines).unwrap();
        assert_eq!(last_event(&state, "codex"), 8);
    }

    #[test]
    fn h73_the_newest_record_is_found_by_its_file_and_dated_by_its_marks() {
        let dir = tempfile::tempdir().unwrap();
        let day = dir.path().join("2026/11/30");
        fs::create_dir_all(&day).unwrap();
        assert_eq!(below(dir.path(), 4), std::slice::from_ref(&day));
        fs::write(
            day.join("a.jsonl"),
            "{\"type\":\"x\",\"timestamp\":\"2026-11-30T00:00:01Z\"}\n{\"type\":\"y\",\"timestamp\":\"2026-11-30T00:00:02Z\"}\n{}\n",
        )
        .unwrap();
        let file = newest(vec![day], "jsonl").unwrap();
        let at = |t: &str| parse_iso(t);
        assert_eq!(last_stamp(&file, |_| true), at("2026-11-30T00:00:02Z"));
        assert_eq!(last_stamp(&file, |kind| kind == "x"), at("2026-11-30T00:00:01Z"));
    }
}
