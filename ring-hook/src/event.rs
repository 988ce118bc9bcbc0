//! The normalised event: what one hook payload says, in one vocabulary for all agents (ring-hook(1), EVENTS).

use ring_session::time::Ms;

/// Who speaks in a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The session itself.
    Foreground,
    /// A child agent, by its id.
    Agent(String),
    /// A child that gives a type and no id.
    Unknown,
}

macro_rules! names {
    (deciding: $($deciding:ident)*; keeping: $($keeping:ident)*; neutral: $($neutral:ident)*;) => {
        /// Canonical event names (ring-hook(1), EVENTS).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each is the event of that name")]
        pub enum Name {
            $($deciding,)* $($keeping,)* $($neutral,)*
            /// Codex's PostModelRequest with status failed: keeping, sets the note; the client may try again.
            ModelRequestFailed,
            /// The same with status cancelled: neutral, an Interrupt comes beside it.
            ModelRequestCancelled,
            /// In no table: an event of tomorrow.
            Unknown,
        }

        impl Name {
            /// Every name that a payload may bear.
            pub const ALL: &[Name] = &[$(Name::$deciding,)* $(Name::$keeping,)* $(Name::$neutral,)*];

            /// The name as it is printed; empty for [`Name::Unknown`].
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Name::$deciding => stringify!($deciding),)*
                    $(Name::$keeping => stringify!($keeping),)*
                    $(Name::$neutral => stringify!($neutral),)*
                    Name::ModelRequestFailed | Name::ModelRequestCancelled => "PostModelRequest",
                    Name::Unknown => "",
                }
            }

            /// What the name stands for in the decision.
            pub fn group(self) -> Group {
                match self {
                    $(Name::$deciding)|* => Group::Deciding,
                    $(Name::$keeping)|* | Name::ModelRequestFailed => Group::Keeping,
                    $(Name::$neutral)|* | Name::ModelRequestCancelled => Group::Neutral,
                    Name::Unknown => Group::Unknown,
                }
            }
        }
    };
}

names! {
    deciding:
        SessionStart SessionEnd UserPromptSubmit UserPromptExpansion TurnStart PreToolUse PostToolUse
        PostToolUseFailure PostToolBatch Stop StopFailure Interrupt PermissionRequest PermissionDenied
        PermissionAsked PermissionAnswered Notification Elicitation ElicitationResult;
    keeping:
        SubagentStart SubagentStop PreCompact PostCompact CwdChanged PostModelSwitch;
    neutral:
        TeammateIdle TaskCreated TaskCompleted Setup ConfigChange DirectoryAdded FileChanged InstructionsLoaded
        WorktreeCreate WorktreeRemove PreModelSwitch MessageDisplay SessionHeartbeat PreSkillShellCommand;
}

/// Groups of event names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Says what its owner does.
    Deciding,
    /// Changes the row, not what its owner does.
    Keeping,
    /// A sign of life.
    Neutral,
    /// In no table.
    Unknown,
}

impl Name {
    /// The canonical name spelled like this, case, `_`, `-`, `.` and blanks aside.
    pub fn of(text: &str) -> Option<Name> {
        Name::ALL
            .iter()
            .copied()
            .find(|n| n.as_str() == text)
            .or_else(|| Name::ALL.iter().copied().find(|n| crate::fold::same(n.as_str(), text)))
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Owner::Foreground => f.write_str("foreground"),
            Owner::Agent(id) => write!(f, "agent:{id}"),
            Owner::Unknown => f.write_str("unknown"),
        }
    }
}

impl Intent {
    /// As it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Intent::Waiting => "WAITING",
            Intent::Working => "WORKING",
            Intent::Idle => "IDLE",
            Intent::Ended => "ENDED",
            Intent::None => "NONE",
        }
    }
}

/// The tool of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tool {
    /// Name as sent, at most 80 characters.
    pub name: String,
    /// The agent's id of this call; as sent.
    pub use_id: String,
    /// `Name: text` or `Name`, cleaned, at most 160 characters.
    pub summary: String,
    /// Whether the summary holds text of the input, not the name alone.
    pub has_text: bool,
}

/// One entry of the agent's list of background tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// Id; of a child agent: its `agent_id`.
    pub id: String,
    /// shell, subagent, monitor ...
    pub kind: String,
    /// running, completed ...
    pub status: String,
}

/// What one payload says. Empty texts are absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Canonical id of the agent.
    pub agent: String,
    /// The agent's session id, as sent.
    pub session_id: String,
    /// `agent:session` with odd bytes encoded; names the row's file.
    pub key: String,
    /// Canonical name.
    pub name: Name,
    /// The name as sent.
    pub native: String,
    /// Who speaks.
    pub owner: Owner,
    /// Type of the child, or of the session's own agent profile.
    pub agent_type: String,
    /// Current folder.
    pub cwd: String,
    /// The agent's transcript.
    pub transcript_path: String,
    /// Terminal that the payload names.
    pub tty: String,
    /// tmux pane from the environment.
    pub tmux_pane: String,
    /// Turn.
    pub turn_id: String,
    /// Tool.
    pub tool: Tool,
    /// Permission mode, as sent.
    pub permission_mode: String,
    /// Type of a notification, folded.
    pub notification_type: String,
    /// Source of SessionStart.
    pub source: String,
    /// Reason of SessionEnd and others.
    pub reason: String,
    /// Error of StopFailure and others; cleaned, 80.
    pub error: String,
    /// The list of background tasks, if one came.
    pub background: Option<Vec<Task>>,
    /// The agent's own stamp, if it set one.
    pub agent_ms: Option<Ms>,
    /// Title that the payload gives; cleaned, 200.
    pub title: String,
    /// Model; cleaned, 80.
    pub model: String,
    /// Done and total of a to-do list, if one came.
    pub todo: Option<(u32, u32)>,
    /// A failed tool was interrupted by the person.
    pub is_interrupt: bool,
    /// The parent session (OpenCode).
    pub parent_id: String,
    /// Codex: the request is reviewed by a model, nobody is asked.
    pub reviewed: bool,
    /// Prompt or last answer, at most 16 KiB; never stored in a row.
    pub text: String,
    /// Text of a notification or question; cleaned, 160.
    pub message: String,
    /// An action flag, if one was sent.
    pub action_flag: Option<bool>,
    /// Word of `waiting_for` that decides, in the spelling of ring-hook(1) (`user_input`); empty if none does.
    pub waiting_for: String,
    /// A non-empty list stands under questions, options or choices.
    pub has_choices: bool,
    /// It may be a continuation that only looks like a prompt (Qwen): inside an open turn it is a TurnStart.
    pub continuation: bool,
    /// When the payload was taken in.
    pub received_ms: Ms,
}

/// What an event means for its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// The owner waits for the person.
    Waiting,
    /// The owner works.
    Working,
    /// The owner has stopped.
    Idle,
    /// The session is over.
    Ended,
    /// The event decides nothing.
    None,
}

/// The result of the one decision function.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What the event means.
    pub intent: Intent,
    /// Never lowers a wait (idle_prompt, answered elicitation).
    pub soft: bool,
    /// The rule that decided, as ring-hook(1) names it.
    pub rule: &'static str,
    /// Of WAITING: permission, question, plan or input.
    pub kind: &'static str,
    /// Of WAITING, and of a remembered request: what is asked; cleaned, 160.
    pub detail: String,
    /// A bare permission request that is kept for the prompt that may follow.
    pub remember: bool,
}
