//! The status row: `status/KEY.json`, what an agent's session was last seen doing (ring(5), STATUS ROW).
//!
//! A row is an observation, not a record: whatever its file holds is read field by field. A field of the wrong type
//! is its default, a member that this program does not know is kept as the text that it was, at every level, and only
//! a file that is no JSON object at all counts as absent.

mod format;
pub mod json;

use ring_session::time::Ms;

/// The schema that this program writes. A row of a newer one is read if possible and never written.
pub const SCHEMA: u64 = 1;

/// Open requests at most.
pub const WAITS: usize = 32;
/// Remembered permission requests at most.
pub const PENDING: usize = 16;
/// Children at most.
pub const CHILDREN: usize = 64;
/// Turn ids, and fingerprints, at most.
pub const RECENT: usize = 8;

/// The foreground, as an owner is written.
pub const FOREGROUND: &str = "foreground";
/// A child without an id, as an owner is written.
pub const UNKNOWN: &str = "unknown";

/// Members that this program does not know, as raw JSON text (the name with its quotes), in their order.
pub type Unknown = Vec<(String, String)>;

format::records! {
    /// One status row. Its field list and limits are in ring(5).
    pub struct Row {
        schema: u64,
        key: String,
        agent: String,
        session_id: String,
        /// waiting, working, idle: computed from waits, turn and background.
        status: String,
        since_ms: Ms,
        turn: Turn,
        /// At most one an owner, oldest first.
        waits: Vec<Wait>,
        pending: Vec<Pending>,
        children: Vec<Child>,
        background: u32,
        note: String,
        origin_cwd: String,
        cwd: String,
        transcript_path: String,
        title: String,
        model: String,
        permission_mode: String,
        last_action: String,
        /// Done, total.
        todo: Option<(u32, u32)>,
        last: Last,
        seq: u64,
        created_ms: Ms,
        event_ms: Ms,
        foreground_ms: Ms,
        seen_ms: Ms,
        agent_ms: Ms,
        process: Option<Process>,
        host: Host,
        term: Term,
        /// Turn id, closing time (0 = open), closing event.
        turns: Vec<(String, Ms, String)>,
        seen_only: u64,
        /// Fingerprint, time, owner.
        recent: Vec<(String, Ms, String)>,
        before: Option<Before>,
        main_agent_type: String,
    }

    /// The foreground's turn.
    pub struct Turn {
        id: String,
        /// working or idle.
        state: String,
        started_ms: Ms,
        ended_ms: Ms,
        /// "", done, failed, interrupted.
        outcome: String,
        error: String,
    }

    /// One open request to the person.
    pub struct Wait {
        id: String,
        /// foreground, `agent:ID`, unknown.
        owner: String,
        kind: String,
        detail: String,
        tool: String,
        tool_use_id: String,
        waiting_for: String,
        agent_type: String,
        since_ms: Ms,
        event: String,
        rule: String,
    }

    /// A bare permission request, kept 120 s for the prompt that may follow.
    pub struct Pending {
        owner: String,
        tool: String,
        tool_use_id: String,
        kind: String,
        detail: String,
        at_ms: Ms,
    }

    /// A child agent that was seen.
    pub struct Child {
        id: String,
        kind as "type": String,
        since_ms: Ms,
        seen_ms: Ms,
    }

    /// The last applied event.
    pub struct Last {
        event: String,
        native: String,
        owner: String,
        rule: String,
        source: String,
    }

    /// The agent's process.
    pub struct Process {
        pid: u32,
        start_ticks: u64,
        name: String,
        /// It holds many sessions.
        server: bool,
    }

    /// Where the hook ran.
    pub struct Host {
        name: String,
        pid_ns: u64,
        boot: String,
    }

    /// The terminal.
    pub struct Term {
        tty: String,
        tmux_pane: String,
        tmux_socket: String,
        other: String,
    }

    /// What PreCompact saved.
    pub struct Before {
        turn: Turn,
        waits: Vec<Wait>,
        background: u32,
        at_ms: Ms,
    }
}

/// Status of a session by its waits, its turn and its background tasks.
pub fn status(waits: &[Wait], turn: &Turn, background: u32) -> &'static str {
    if !waits.is_empty() {
        "waiting"
    } else if turn.state == "working" || background > 0 {
        "working"
    } else {
        "idle"
    }
}

/// The wait that is shown: the foreground's, else the oldest.
pub fn shown(waits: &[Wait]) -> Option<&Wait> {
    waits.iter().find(|w| w.owner == FOREGROUND).or_else(|| waits.first())
}

impl Row {
    /// Reads a row's file. None if it is no JSON object; anything less is repaired, field by field.
    pub fn parse(bytes: &[u8]) -> Option<Row> {
        let mut row = <Row as json::Value>::read(crate::intake::text(bytes).trim())?;
        // A file that lost its number is one of the first version.
        if row.schema == 0 {
            row.schema = SCHEMA;
        }
        row.process = row.process.filter(|p| p.pid != 0);
        row.status = status(&row.waits, &row.turn, row.background).to_owned();
        Some(row)
    }

    /// The row as its file holds it: one line of JSON, in the order of ring(5), unknown members last.
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(2048);
        json::Value::write(self, &mut out);
        out
    }

    /// Whether a later program wrote it, so that this one must not.
    pub fn is_newer(&self) -> bool {
        self.schema > SCHEMA
    }

    /// The wait that is shown: the foreground's, else the oldest.
    pub fn shown_wait(&self) -> Option<&Wait> {
        shown(&self.waits)
    }
}

impl Process {
    /// Whether both name the same process: pid and start.
    pub fn is(&self, other: &Process) -> bool {
        self.pid == other.pid && self.start_ticks == other.start_ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn example() -> String {
        concat!(
            r#"{"schema":1,"key":"claude-code:3f2a","agent":"claude-code","session_id":"3f2a","status":"waiting","#,
            r#""since_ms":1796040006200,"turn":{"id":"550e","state":"working","started_ms":1796040000000,"ended_ms":0,"#,
            r#""outcome":"","error":""},"waits":[{"id":"0198","owner":"foreground","kind":"permission","#,
            r#""detail":"Bash: git push","tool":"Bash","tool_use_id":"","waiting_for":"","agent_type":"","#,
            r#""since_ms":1796040006200,"event":"Notification","rule":"notify_prompt"}],"pending":[],"#,
            r#""children":[{"id":"a31","type":"Explore","since_ms":1796040001000,"seen_ms":1796040005000}],"#,
            r#""background":0,"note":"","origin_cwd":"/w/app","cwd":"/w/app/src","transcript_path":"/h/x.jsonl","#,
            r#""title":"fix the \"flaky\" test","model":"","permission_mode":"default","last_action":"Bash: x","#,
            r#""todo":[2,5],"last":{"event":"Notification","native":"Notification","owner":"foreground","#,
            r#""rule":"notify_prompt","source":""},"seq":17,"created_ms":1796039990000,"event_ms":1796040006200,"#,
            r#""foreground_ms":1796040006200,"seen_ms":1796040006200,"agent_ms":0,"process":{"pid":4242,"#,
            r#""start_ticks":20095994,"name":"claude","server":false},"host":{"name":"box","pid_ns":4026531836,"#,
            r#""boot":"9a3c1d20"},"term":{"tty":"/dev/pts/3","tmux_pane":"%7","tmux_socket":"/tmp/t","other":""},"#,
            r#""turns":[["550e",0,""]],"seen_only":0,"recent":[["9f3c11aa02b7e4d1",1796040006200,"foreground"]],"#,
            r#""before":null,"main_agent_type":""}"#
        )
        .to_owned()
    }

    #[test]
    fn a_row_is_written_as_it_was_read_in_the_documented_order() {
        let text = example();
        let row = Row::parse(text.as_bytes()).unwrap();
        assert_eq!(row.to_json(), text);
        assert_eq!(row.todo, Some((2, 5)));
        assert_eq!(row.children[0].kind, "Explore");
        assert!(row.unknown.is_empty());
    }

    #[test]
    fn h61_unknown_members_survive_at_every_level_with_big_numbers_and_odd_strings() {
        let text = example()
            .replacen(
                r#""schema":1,"#,
                r#""schema":1,"big":123456789012345678901234567890.5e400,"#,
                1,
            )
            .replacen(r#""id":"0198","#, r#""id":"0198","odd":"\ud800 x","#, 1)
            .replacen(r#""pid":4242,"#, r#""pid":4242,"deep":[[{"a":1e999}]],"#, 1)
            .replacen(r#""before":null"#, r#""\ud800":[],"before":null"#, 1);
        let written = Row::parse(text.as_bytes()).unwrap().to_json();
        for kept in [
            r#""big":123456789012345678901234567890.5e400"#,
            r#""odd":"\ud800 x""#,
            r#""deep":[[{"a":1e999}]]"#,
            r#""\ud800":[]"#,
        ] {
            assert!(written.contains(kept), "{kept} in {written}");
        }
        assert_eq!(Row::parse(written.as_bytes()).unwrap().to_json(), written);
    }

    #[test]
    fn h61_a_field_of_the_wrong_type_is_its_default_and_the_others_count() {
        let row = Row::parse(
            br#"{"schema":"x","key":5,"agent":"codex","status":7,"since_ms":"soon","turn":[],"waits":{"id":1},
                 "pending":[{"owner":1,"tool":"Bash"},7,null],"children":null,"background":-1,"todo":[1],"seq":1e30,
                 "process":{"pid":"x","start_ticks":9},"turns":[["a",0,""],["b"],"c"],"term":7,"before":false}"#,
        )
        .unwrap();
        assert_eq!(row.schema, 1);
        assert_eq!(row.agent, "codex");
        assert_eq!(
            (row.key.as_str(), row.status.as_str(), row.since_ms, row.seq),
            ("", "idle", 0, 0)
        );
        assert_eq!(row.pending.len(), 1);
        assert_eq!(row.pending[0].tool, "Bash");
        assert_eq!(row.turns.len(), 1);
        assert_eq!(row.process, None, "a process without a pid is none");
        assert_eq!((row.todo, row.background), (None, 0));
    }

    #[test]
    fn h61_what_is_no_object_counts_as_absent() {
        for bytes in [
            &b""[..],
            b"[]",
            b"null",
            b"7",
            b"\"x\"",
            b"{",
            b"{}{}",
            b"{\"a\":tru}",
            b"\0\0",
        ] {
            assert!(Row::parse(bytes).is_none(), "{bytes:?}");
        }
        assert!(Row::parse(b" {} \n").is_some());
        assert!(Row::parse(b"{\"title\":\"\xff\"}").is_some());
    }

    #[test]
    fn h61_a_newer_schema_is_recognised_and_read() {
        let row = Row::parse(br#"{"schema":99,"key":"a:b"}"#).unwrap();
        assert!(row.is_newer());
        assert_eq!(row.key, "a:b");
    }

    #[test]
    fn a_member_given_twice_counts_as_its_last() {
        assert_eq!(Row::parse(br#"{"seq":1,"s\u0065q":2}"#).unwrap().seq, 2);
    }

    #[test]
    fn the_foregrounds_wait_is_shown_else_the_first() {
        let wait = |owner: &str| Wait {
            owner: owner.to_owned(),
            ..Wait::default()
        };
        let waits = [wait("agent:a"), wait("agent:b"), wait(FOREGROUND)];
        assert_eq!(shown(&waits).unwrap().owner, FOREGROUND);
        assert_eq!(shown(&waits[..2]).unwrap().owner, "agent:a");
        assert!(shown(&[]).is_none());
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _row = Row::parse(&bytes);
        }

        #[test]
        fn texts_and_numbers_survive_a_rewrite(text in any::<String>(), number in any::<i64>(), seq in any::<u64>()) {
            let row = Row {
                schema: 1,
                status: "idle".into(),
                title: text.clone(),
                since_ms: number,
                seq,
                turns: vec![(text, number, String::new())],
                ..Row::default()
            };
            prop_assert!(serde_json::from_str::<serde_json::Value>(&row.to_json()).is_ok());
            prop_assert_eq!(Row::parse(row.to_json().as_bytes()), Some(row));
        }
    }
}
