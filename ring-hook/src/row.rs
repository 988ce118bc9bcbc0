//! The status row: `status/KEY.json`, what an agent's session was last seen doing (ring(5), STATUS ROW).

use ring_session::time::Ms;
use serde::{Deserialize, Serialize};

/// The schema that this program writes.
pub const SCHEMA: u64 = 1;

/// One status row. Its field list and limits are in ring(5).
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "ring(5) lists the fields")]
pub struct Row {
    pub schema: u64,
    pub key: String,
    pub agent: String,
    pub session_id: String,
    /// waiting, working, idle: computed from waits, turn and background.
    pub status: String,
    pub since_ms: Ms,
    pub turn: Turn,
    pub waits: Vec<Wait>,
    pub pending: Vec<Pending>,
    pub children: Vec<Child>,
    pub background: u32,
    pub note: String,
    pub origin_cwd: String,
    pub cwd: String,
    pub transcript_path: String,
    pub title: String,
    pub model: String,
    pub permission_mode: String,
    pub last_action: String,
    /// Done, total.
    pub todo: Option<(u32, u32)>,
    pub last: Last,
    pub seq: u64,
    pub created_ms: Ms,
    pub event_ms: Ms,
    pub foreground_ms: Ms,
    pub seen_ms: Ms,
    pub agent_ms: Ms,
    pub process: Option<Process>,
    pub host: Host,
    pub term: Term,
    /// Turn id, closing time (0 = open), closing event.
    pub turns: Vec<(String, Ms, String)>,
    pub seen_only: u64,
    /// Fingerprint, time, owner.
    pub recent: Vec<(String, Ms, String)>,
    pub before: Option<Before>,
    pub main_agent_type: String,
    /// Members that this program does not know, as raw JSON text, in their order.
    pub unknown: Vec<(String, String)>,
}

/// The foreground's turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "ring(5) lists the fields")]
pub struct Turn {
    pub id: String,
    /// working or idle.
    pub state: String,
    pub started_ms: Ms,
    pub ended_ms: Ms,
    /// "", done, failed, interrupted.
    pub outcome: String,
    pub error: String,
}

/// One open request to the person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "ring(5) lists the fields")]
pub struct Wait {
    pub id: String,
    /// foreground, `agent:ID`, unknown.
    pub owner: String,
    pub kind: String,
    pub detail: String,
    pub tool: String,
    pub tool_use_id: String,
    pub waiting_for: String,
    pub agent_type: String,
    pub since_ms: Ms,
    pub event: String,
    pub rule: String,
}

/// A bare permission request, kept 120 s for the prompt that may follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "ring(5) lists the fields")]
pub struct Pending {
    pub owner: String,
    pub tool: String,
    pub tool_use_id: String,
    pub kind: String,
    pub detail: String,
    pub at_ms: Ms,
}

/// A child agent that was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "ring(5) lists the fields")]
pub struct Child {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub since_ms: Ms,
    pub seen_ms: Ms,
}

/// The last applied event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "ring(5) lists the fields")]
pub struct Last {
    pub event: String,
    pub native: String,
    pub owner: String,
    pub rule: String,
    pub source: String,
}

/// The agent's process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "ring(5) lists the fields")]
pub struct Process {
    pub pid: u32,
    pub start_ticks: u64,
    pub name: String,
    /// It holds many sessions.
    pub server: bool,
}

/// Where the hook ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "ring(5) lists the fields")]
pub struct Host {
    pub name: String,
    pub pid_ns: u64,
    pub boot: String,
}

/// The terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "ring(5) lists the fields")]
pub struct Term {
    pub tty: String,
    pub tmux_pane: String,
    pub tmux_socket: String,
    pub other: String,
}

/// What PreCompact saved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "ring(5) lists the fields")]
pub struct Before {
    pub turn: Turn,
    pub waits: Vec<Wait>,
    pub background: u32,
    pub at_ms: Ms,
}

impl Row {
    /// The wait that is shown: the foreground's, else the oldest.
    pub fn shown_wait(&self) -> Option<&Wait> {
        self.waits
            .iter()
            .find(|w| w.owner == "foreground")
            .or_else(|| self.waits.iter().min_by_key(|w| w.since_ms))
    }
}
