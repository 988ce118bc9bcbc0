//! The durable record of one session: `sessions/ID/session.json` (ring(5), SESSION RECORD).
//!
//! This file says what a record is. What may happen to it stands in `lifecycle.rs` (turns), `queue.rs`,
//! `permission.rs`, `proposal.rs`, `execution.rs` and `recovery.rs`, as functions of a record and a `now`; how it is
//! read and written without tearing stands in `store.rs`.

use crate::members;
use crate::members::Raw;
use crate::process::Stamp;
use crate::time::Ms;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema that this program writes.
pub const SCHEMA: u64 = 1;
/// Closed turns that stay in the record; older ones are in `history.jsonl`.
pub const TURNS: usize = 32;
/// Closed permission requests that stay in the record.
pub const CLOSED_REQUESTS: usize = 32;
/// Open permission requests.
pub const OPEN_REQUESTS: usize = 16;
/// Entries of a queue.
pub const QUEUE: usize = 8;
/// Unread and read notifications that stay.
pub const NOTIFICATIONS: usize = 200;
/// Tools that need no further question.
pub const GRANTS: usize = 64;
/// Title of a session that was given none.
pub const NEW_TITLE: &str = "New task";
/// Title of a session whose record was lost.
pub const RECOVERED_TITLE: &str = "Recovered session";

macro_rules! words {
    ($(#[$attribute:meta])* $name:ident { $($(#[$variant_attribute:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$variant_attribute])* #[serde(rename = $text)] $variant,)* }

        impl Default for $name {
            fn default() -> Self {
                $name::ALL[0]
            }
        }

        impl $name {
            /// Every value; the first is the default.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// The word in the record and on the command line.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The value of a word.
            pub fn from_word(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|v| v.as_str() == word)
            }
        }
    };
}

words! {
    /// Where a session comes from.
    Source {
        /// `ring-session new`.
        New = "new",
        /// `ring-session fork`.
        Fork = "fork",
        /// An agent's hooks.
        Hook = "hook",
        /// Its record was lost.
        Recovered = "recovered",
    }
}

words! {
    /// The one durable mode of a session.
    Mode {
        /// The agent acts.
        Agent = "agent",
        /// It proposes a plan and acts only after an approval.
        Plan = "plan",
        /// It proposes a goal with criteria.
        Goal = "goal",
    }
}

words! {
    /// Who changed the mode last.
    ModeBy {
        /// A person, or an approval.
        User = "user",
        /// `ring-plan enter`.
        Enter = "enter",
        /// The agent's own plan mode, mirrored.
        Hook = "hook",
    }
}

words! {
    /// What an agent may do without asking.
    PermissionMode {
        /// What the settings say.
        Inherit = "inherit",
        /// It asks.
        Ask = "ask",
        /// It edits without asking.
        AcceptEdits = "accept-edits",
        /// It decides by itself.
        Auto = "auto",
    }
}

words! {
    /// How a turn began.
    Origin {
        /// `begin`.
        Begin = "begin",
        /// `run`.
        Run = "run",
        /// `queue next`, or draining.
        Queue = "queue",
        /// An approved execution.
        Execution = "execution",
        /// An agent's hooks.
        Hook = "hook",
        /// Of requests: `permission open`.
        Cli = "cli",
    }
}

words! {
    /// How a turn ended; decided once.
    Outcome {
        /// As intended.
        Completed = "completed",
        /// By a person, or by the death of its owner.
        Aborted = "aborted",
        /// With an error code.
        Error = "error",
    }
}

words! {
    /// What is known of a permission request.
    RequestState {
        /// Nobody has answered.
        Open = "open",
        /// Decided.
        Closed = "closed",
    }
}

words! {
    /// The answer to a permission request.
    Answer {
        /// This call.
        AllowOnce = "allow-once",
        /// This tool, in this session.
        AllowSession = "allow-session",
        /// Not this call.
        Deny = "deny",
        /// Its turn is over.
        Cancelled = "cancelled",
    }
}

words! {
    /// What a proposal is.
    ProposalKind {
        /// Ordered steps.
        Plan = "plan",
        /// A goal with acceptance criteria.
        Goal = "goal",
    }
}

words! {
    /// Where a proposal stands.
    ProposalStatus {
        /// Awaits a decision.
        Pending = "pending",
        /// Granted.
        Approved = "approved",
        /// Refused by a person.
        Rejected = "rejected",
        /// Nobody decided in time.
        Expired = "expired",
        /// Its turn, its owner or the machine went away.
        Interrupted = "interrupted",
    }
}

words! {
    /// Where an execution stands.
    ExecutionState {
        /// Approved, not begun.
        Queued = "queued",
        /// Claimed.
        Running = "running",
        /// Finished as intended.
        Completed = "completed",
        /// Ended otherwise; never run again.
        Interrupted = "interrupted",
    }
}

words! {
    /// What a notification tells.
    NotificationKind {
        /// An unseen turn completed.
        Completed = "task.completed",
        /// An unseen turn failed.
        Failed = "task.failed",
    }
}

members! {
    /// The whole record.
    pub struct Record {
        /// [`SCHEMA`], or newer.
        schema: u64,
        /// One more with each commit.
        revision: u64,
        /// Directory name; for good.
        id: String,
        /// Where it comes from.
        source: Source,
        /// Id of the agent, empty if none is named; at most 40 bytes.
        agent: String,
        /// The agent's own id of this session; with `agent` it names the status row.
        agent_session_id: String,
        /// 1 to 80 characters, cleaned.
        title: String,
        /// The first user row still names it.
        title_auto: bool,
        /// Canonical directory; root for good.
        project: Option<String>,
        /// The one mode.
        mode: Mode,
        /// Who set it.
        mode_by: ModeBy,
        /// What the agent may do without asking.
        permission_mode: PermissionMode,
        /// Kept for the caller, never interpreted.
        settings: BTreeMap<String, String>,
        /// When it was made.
        created_ms: Ms,
        /// Its last commit.
        updated_ms: Ms,
        /// What of the transcript is committed.
        transcript: TranscriptMark,
        /// The live turn.
        turn: Option<Turn>,
        /// Closed turns, newest last, at most [`TURNS`].
        turns: Vec<ClosedTurn>,
        /// Prompts that wait for their turn.
        queue: Queue,
        /// The open proposal, or the one whose execution is active.
        proposal: Option<Proposal>,
        /// Permission requests, oldest first.
        permissions: Vec<Request>,
        /// Tools allowed for this session.
        grants: Vec<String>,
        /// Unseen ends, newest last, at most [`NOTIFICATIONS`].
        notifications: Vec<Notification>,
        /// Closed turns whose event line may be missing.
        unannounced: Vec<String>,
    }
}

impl Default for Record {
    fn default() -> Self {
        Record {
            schema: SCHEMA,
            revision: 0,
            id: String::new(),
            source: Source::New,
            agent: String::new(),
            agent_session_id: String::new(),
            title: NEW_TITLE.to_owned(),
            title_auto: true,
            project: None,
            mode: Mode::Agent,
            mode_by: ModeBy::User,
            permission_mode: PermissionMode::Inherit,
            settings: BTreeMap::new(),
            created_ms: 0,
            updated_ms: 0,
            transcript: TranscriptMark::default(),
            turn: None,
            turns: Vec::new(),
            queue: Queue::default(),
            proposal: None,
            permissions: Vec::new(),
            grants: Vec::new(),
            notifications: Vec::new(),
            unannounced: Vec::new(),
            unknown: members::Unknown::default(),
        }
    }
}

members! {
    /// What of `transcript.jsonl` is committed.
    #[derive(Default)]
    pub struct TranscriptMark {
        /// Size in bytes.
        bytes: u64,
        /// Rows, without copies that an append saw.
        rows: u64,
        /// The file must still be shortened to `bytes`.
        cut: bool,
    }
}

members! {
    /// The live turn.
    #[derive(Default)]
    pub struct Turn {
        /// UUID v7, or what `begin --turn` brought.
        id: String,
        /// How it began.
        origin: Origin,
        /// When.
        started_ms: Ms,
        /// The prompt's row; none if there is none.
        user_row: Option<String>,
        /// Who works on it; pid 0: nobody is named.
        epoch: Stamp,
        /// KEY of the agent whose hooks speak in it.
        key: String,
        /// That agent's turn id.
        agent_turn: String,
        /// Nobody is there to approve anything.
        unattended: bool,
        /// The caller's own form of the prompt, as raw JSON; given back by an abort that nobody had answered.
        draft: Option<Raw>,
        /// The queue entry that became this turn.
        queue_entry: Option<String>,
        /// The execution that this turn carries out.
        execution_id: Option<String>,
        /// A person asked it to end after the step at hand.
        stop_requested_ms: Option<Ms>,
    }
}

members! {
    /// A closed turn.
    #[derive(Default)]
    pub struct ClosedTurn {
        /// Its id.
        id: String,
        /// How it began.
        origin: Origin,
        /// How it ended.
        status: Outcome,
        /// Of an error or an abort; at most 80 characters.
        error_code: Option<String>,
        /// When it began.
        started_ms: Ms,
        /// When it ended.
        ended_ms: Ms,
        /// The caller's figures, as raw JSON, at most 4 KiB.
        usage: Option<Raw>,
        /// Somebody saw it end.
        seen: bool,
    }
}

members! {
    /// Prompts that wait for their turn.
    #[derive(Default)]
    pub struct Queue {
        /// Releases nothing.
        held: bool,
        /// Boot of the last attach, or of the push into an empty queue; another boot is held.
        boot: String,
        /// In the order of delivery.
        entries: Vec<Entry>,
    }
}

members! {
    /// One prompt that waits.
    #[derive(Default)]
    pub struct Entry {
        /// UUID v7, or given.
        id: String,
        /// Sorts the entries.
        position: i64,
        /// 1 to 262,144 bytes, as given.
        content: String,
        /// References only.
        attachments: Vec<String>,
        /// What was in force when it was pushed.
        permission_mode: PermissionMode,
        /// Who pushed it.
        principal: String,
        /// The pusher's key.
        idempotency_key: Option<String>,
        /// SHA-256 of the input's canonical JSON.
        input_hash: String,
        /// When it was pushed.
        created_ms: Ms,
    }
}

members! {
    /// A permission request.
    #[derive(Default)]
    pub struct Request {
        /// UUID v7.
        id: String,
        /// Its turn.
        turn_id: String,
        /// The call that asks.
        call_id: String,
        /// Its tool.
        tool: String,
        /// Free text of at most 40 characters.
        risk: String,
        /// At most 160 characters.
        reason: String,
        /// Arguments with secrets masked, as raw JSON.
        preview: Option<Raw>,
        /// cli or hook.
        origin: Origin,
        /// When it was opened.
        created_ms: Ms,
        /// When it becomes a denial; none: never.
        expires_ms: Option<Ms>,
        /// Open or closed.
        state: RequestState,
        /// The answer.
        decision: Option<Answer>,
        /// user, grant, PERMISSION_TIMEOUT, TOOL_ABORTED.
        cause: Option<String>,
        /// When it was closed.
        answered_ms: Option<Ms>,
    }
}

members! {
    /// A proposal and the work that was approved with it.
    #[derive(Default)]
    pub struct Proposal {
        /// UUID v7.
        id: String,
        /// Plan or goal.
        kind: ProposalKind,
        /// `cli`, or `hook`: the agent waits for the answer in its own protocol.
        via: String,
        /// The turn that submitted it.
        turn_id: String,
        /// The call that submitted it.
        call_id: String,
        /// 1 to 200 characters.
        title: String,
        /// 1 to 2,000 characters.
        question: String,
        /// The exact text.
        markdown: String,
        /// The immutable file.
        artifact: Artifact,
        /// Where it stands.
        status: ProposalStatus,
        /// One more with each change.
        version: u64,
        /// When it was submitted.
        created_ms: Ms,
        /// Its last change.
        updated_ms: Ms,
        /// When it expires; none: never.
        expires_ms: Option<Ms>,
        /// When it was closed.
        closed_ms: Option<Ms>,
        /// `approve` or `reject`.
        action: Option<String>,
        /// What an approval granted.
        permission_mode: Option<PermissionMode>,
        /// What the person said.
        note: Option<String>,
        /// `cli`, `agent`, `agent-auto`.
        decided_by: Option<String>,
        /// Why it expired or was interrupted.
        error_code: Option<String>,
        /// The submitting turn's owner.
        epoch: Stamp,
        /// The live `hook --wait`.
        waiter: Option<Stamp>,
        /// The agent's own prompt was seen for this call.
        asked: bool,
        /// The approved work.
        execution: Option<Execution>,
    }
}

members! {
    /// The file of a proposal.
    #[derive(Default)]
    pub struct Artifact {
        /// Relative to the project.
        path: String,
        /// 64 lower-case hexadecimal digits.
        sha256: String,
        /// Bytes.
        size: u64,
    }
}

members! {
    /// The work that an approval granted.
    #[derive(Default)]
    pub struct Execution {
        /// UUID v7.
        id: String,
        /// Where it stands.
        state: ExecutionState,
        /// Set by the claim.
        turn_id: Option<String>,
        /// When it was approved.
        queued_ms: Ms,
        /// When it was claimed.
        started_ms: Option<Ms>,
        /// When it ended.
        ended_ms: Option<Ms>,
        /// Why it was interrupted.
        error_code: Option<String>,
        /// More of it.
        error_detail: Option<String>,
        /// What the agent reported, as raw JSON.
        report: Option<Raw>,
        /// Who works on it.
        epoch: Stamp,
    }
}

members! {
    /// One unseen end of a turn.
    #[derive(Default)]
    pub struct Notification {
        /// UUID v7.
        id: String,
        /// Completed or failed.
        kind: NotificationKind,
        /// Its turn; one notification a turn, for ever.
        turn_id: String,
        /// The session's title at that moment.
        title: String,
        /// Code of a failure.
        error_code: Option<String>,
        /// Length of the turn.
        duration_ms: Ms,
        /// When the turn ended.
        created_ms: Ms,
        /// When somebody read it.
        read_ms: Option<Ms>,
    }
}
