//! A refusal: the stable code of what could not be done, a text that says what to do next, and details.
//!
//! One vocabulary for all five programs (ring(7), ERROR CODES): scripts compare codes, people read texts.

use crate::exit;
use serde_json::{Map, Value};
use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $exit:expr, $retriable:literal;)*) => {
        /// The stable code of a refusal.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// Every code, in the order of their exit statuses.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// The code as scripts see it.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text,)* }
            }

            /// The exit status that goes with the code.
            pub fn exit(self) -> u8 {
                match self { $(Code::$name => $exit,)* }
            }

            /// Whether the same command may succeed if it is simply tried again.
            pub fn retriable(self) -> bool {
                match self { $(Code::$name => $retriable,)* }
            }
        }
    };
}

codes! {
    /// The command of a run failed.
    CommandFailed = "COMMAND_FAILED", exit::NO, false;
    /// The session is nowhere that could be focused.
    NoLocation = "NO_LOCATION", exit::NO, false;
    /// The answer was typed and the dialog is still there.
    StillOpen = "STILL_OPEN", exit::NO, false;
    /// No session, row or record of that name.
    SessionNotFound = "SESSION_NOT_FOUND", exit::NOT_FOUND, false;
    /// No turn of that id.
    TurnNotFound = "TURN_NOT_FOUND", exit::NOT_FOUND, false;
    /// No proposal of that id.
    PlanNotFound = "PLAN_NOT_FOUND", exit::NOT_FOUND, false;
    /// No execution of that id.
    PlanExecutionNotFound = "PLAN_EXECUTION_NOT_FOUND", exit::NOT_FOUND, false;
    /// Something else that was named does not exist.
    NotFound = "NOT_FOUND", exit::NOT_FOUND, false;
    /// The session is not idle, or its queue is full.
    AgentBusy = "AGENT_BUSY", exit::CONFLICT, false;
    /// The id is taken, or the request was answered otherwise.
    Conflict = "CONFLICT", exit::CONFLICT, false;
    /// The same key came with another input.
    IdempotencyConflict = "IDEMPOTENCY_CONFLICT", exit::CONFLICT, false;
    /// Another session has that name.
    NameTaken = "NAME_TAKEN", exit::CONFLICT, false;
    /// A settings file changed while it was being edited.
    SettingsChanged = "SETTINGS_CHANGED", exit::CONFLICT, false;
    /// The session is in a contract mode already.
    PlanAlreadyActive = "PLAN_ALREADY_ACTIVE", exit::CONFLICT, false;
    /// A proposal is open already.
    PlanAlreadyPending = "PLAN_ALREADY_PENDING", exit::CONFLICT, false;
    /// The proposal was decided otherwise.
    PlanApprovalConflict = "PLAN_APPROVAL_CONFLICT", exit::CONFLICT, false;
    /// An execution is queued or running.
    PlanExecutionActive = "PLAN_EXECUTION_ACTIVE", exit::CONFLICT, false;
    /// The execution was claimed or finished by somebody else.
    PlanExecutionConflict = "PLAN_EXECUTION_CONFLICT", exit::CONFLICT, false;
    /// The session's settings cannot change now.
    PlanConfigurationBlocked = "PLAN_CONFIGURATION_BLOCKED", exit::CONFLICT, false;
    /// The turn was aborted.
    TurnAborted = "TURN_ABORTED", exit::STALE, false;
    /// The tool call's turn ended before the answer.
    ToolAborted = "TOOL_ABORTED", exit::STALE, false;
    /// Nobody answered in time.
    PermissionTimeout = "PERMISSION_TIMEOUT", exit::STALE, false;
    /// The session has ended.
    SessionEnded = "SESSION_ENDED", exit::STALE, false;
    /// The proposal is no longer the open one.
    PlanApprovalStale = "PLAN_APPROVAL_STALE", exit::STALE, false;
    /// The proposal expired.
    PlanApprovalTimeout = "PLAN_APPROVAL_TIMEOUT", exit::STALE, false;
    /// The proposal was interrupted.
    PlanApprovalInterrupted = "PLAN_APPROVAL_INTERRUPTED", exit::STALE, false;
    /// The execution is no longer the active one.
    PlanExecutionStale = "PLAN_EXECUTION_STALE", exit::STALE, false;
    /// The execution was interrupted.
    PlanExecutionInterrupted = "PLAN_EXECUTION_INTERRUPTED", exit::STALE, false;
    /// No dialog is on that screen.
    NoDialog = "NO_DIALOG", exit::STALE, false;
    /// The dialog changed while it was read.
    DialogChanged = "DIALOG_CHANGED", exit::STALE, false;
    /// The session does not wait any more.
    NotWaiting = "NOT_WAITING", exit::STALE, false;
    /// A person or a rule denied the tool.
    ToolDenied = "TOOL_DENIED", exit::DENIED, false;
    /// A person rejected the proposal.
    PlanRejected = "PLAN_REJECTED", exit::DENIED, false;
    /// Nobody is there to approve.
    PlanRequiresInteractiveSession = "PLAN_REQUIRES_INTERACTIVE_SESSION", exit::DENIED, false;
    /// A newer program wrote the file; this one reads it and leaves it alone.
    SchemaNewer = "SCHEMA_NEWER", exit::DENIED, false;
    /// The session is in no contract mode.
    PlanNotActive = "PLAN_NOT_ACTIVE", exit::DENIED, false;
    /// The session is in the other contract mode.
    PlanKindMismatch = "PLAN_KIND_MISMATCH", exit::DENIED, false;
    /// The session has no project.
    PlanWorkspaceRequired = "PLAN_WORKSPACE_REQUIRED", exit::DENIED, false;
    /// The artifact's path leaves its place.
    PlanArtifactPathUnsafe = "PLAN_ARTIFACT_PATH_UNSAFE", exit::DENIED, false;
    /// The artifact is not what was approved.
    PlanArtifactHashMismatch = "PLAN_ARTIFACT_HASH_MISMATCH", exit::DENIED, false;
    /// No writing while a plan is made.
    WriteDisabledInPlan = "WRITE_DISABLED_IN_PLAN", exit::DENIED, false;
    /// No editing while a plan is made.
    EditDisabledInPlan = "EDIT_DISABLED_IN_PLAN", exit::DENIED, false;
    /// No plug-ins while a plan is made.
    PluginDisabledInPlan = "PLUGIN_DISABLED_IN_PLAN", exit::DENIED, false;
    /// Not this tool while a plan is made.
    ToolDisabledInPlan = "TOOL_DISABLED_IN_PLAN", exit::DENIED, false;
    /// Waiting rows and process rows cannot be hidden.
    NotHideable = "NOT_HIDEABLE", exit::DENIED, false;
    /// An answer cannot be typed there.
    ReplyRefused = "REPLY_REFUSED", exit::DENIED, false;
    /// Unknown option, bad value, unknown key.
    InvalidArgument = "INVALID_ARGUMENT", exit::USAGE, false;
    /// Over a limit.
    LimitExceeded = "LIMIT_EXCEEDED", exit::USAGE, false;
    /// The beginning of several ids.
    Ambiguous = "AMBIGUOUS", exit::USAGE, false;
    /// Not a payload.
    BadPayload = "BAD_PAYLOAD", exit::USAGE, false;
    /// A payload over 32 MiB.
    PayloadTooLarge = "PAYLOAD_TOO_LARGE", exit::USAGE, false;
    /// A payload without a session id, from no known process.
    NoSessionId = "NO_SESSION_ID", exit::USAGE, false;
    /// An agent's settings file is not what the agent would read.
    SettingsInvalid = "SETTINGS_INVALID", exit::USAGE, false;
    /// This has to be installed by hand.
    InstallManual = "INSTALL_MANUAL", exit::USAGE, false;
    /// The dialog has no such option.
    OptionRange = "OPTION_RANGE", exit::USAGE, false;
    /// The Markdown is over its limit.
    PlanMarkdownTooLarge = "PLAN_MARKDOWN_TOO_LARGE", exit::USAGE, false;
    /// An approval must choose a permission mode.
    PlanPermissionModeRequired = "PLAN_PERMISSION_MODE_REQUIRED", exit::USAGE, false;
    /// No such permission mode.
    PlanPermissionModeInvalid = "PLAN_PERMISSION_MODE_INVALID", exit::USAGE, false;
    /// No such status of an execution.
    PlanExecutionStatusInvalid = "PLAN_EXECUTION_STATUS_INVALID", exit::USAGE, false;
    /// An unexpected failure inside the program.
    Internal = "INTERNAL", exit::INTERNAL, false;
    /// A file could not be read or written.
    Io = "IO", exit::IO, true;
    /// A ring was not delivered.
    DeliveryFailed = "DELIVERY_FAILED", exit::IO, false;
    /// The answer landed in the input line and was taken back.
    Misfire = "MISFIRE", exit::IO, false;
    /// The artifact could not be written.
    PlanArtifactWriteFailed = "PLAN_ARTIFACT_WRITE_FAILED", exit::IO, false;
    /// The artifact cannot be read.
    PlanArtifactNotReady = "PLAN_ARTIFACT_NOT_READY", exit::IO, false;
    /// No free name for the artifact.
    PlanArtifactCollisionLimit = "PLAN_ARTIFACT_COLLISION_LIMIT", exit::IO, false;
    /// The proposal could not be stored.
    PlanSubmitFailed = "PLAN_SUBMIT_FAILED", exit::IO, false;
    /// A lock was not to be had in time.
    LockTimeout = "LOCK_TIMEOUT", exit::LOCKED, true;
    /// A wait timed out.
    Timeout = "TIMEOUT", exit::TIMED_OUT, true;
    /// stdin did not end in time.
    StdinTimeout = "STDIN_TIMEOUT", exit::TIMED_OUT, false;
}

/// What a command says when it cannot do what it was asked.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// What scripts compare.
    pub code: Code,
    /// What people read; it says what to do next.
    pub message: String,
    /// Machine-readable particulars; `reason` tells cases within one code apart.
    pub details: Map<String, Value>,
    /// The same command may succeed later, or what it began goes on by itself.
    pub retriable: bool,
}

impl Refusal {
    /// A refusal without details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Refusal {
            code,
            message: message.into(),
            details: Map::new(),
            retriable: code.retriable(),
        }
    }

    /// Says otherwise than its code whether a later try may succeed (`DELIVERY_FAILED`: one is due).
    #[must_use]
    pub fn retriable(mut self, is: bool) -> Self {
        self.retriable = is;
        self
    }

    /// Adds one particular.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// A file that could not be read or written: names the file and what the system said.
    pub fn io(what: &str, path: &std::path::Path, error: &std::io::Error) -> Self {
        Refusal::new(Code::Io, format!("cannot {what} {}: {error}", path.display()))
            .with("path", path.to_string_lossy().into_owned())
    }

    /// The line that `--format json` prints on stderr.
    pub fn to_json(&self) -> String {
        let error = serde_json::json!({"error": {
            "code": self.code.as_str(),
            "message": self.message,
            "retriable": self.retriable,
            "details": self.details,
        }});
        crate::text::inert_json(error.to_string())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.code.as_str())
    }
}

impl std::error::Error for Refusal {}

/// For the streams of a command (`writeln!(out, ...)?`). A file's error is told with its path: [`Refusal::io`].
impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        Refusal::new(Code::Io, format!("cannot read or write a stream: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_status_that_is_listed_and_2_is_none_of_them() {
        for code in Code::ALL {
            assert!(
                exit::ALL.iter().any(|(status, _)| *status == code.exit()),
                "{}",
                code.as_str()
            );
            assert!(!matches!(code.exit(), 0 | 2), "{}", code.as_str());
            let letters = |b: u8| b.is_ascii_uppercase() || b == b'_';
            assert!(code.as_str().bytes().all(letters), "{}", code.as_str());
        }
    }

    #[test]
    fn codes_are_unique_and_stand_in_the_order_of_their_statuses() {
        assert!(Code::ALL.is_sorted_by_key(|c| c.exit()));
        let mut names: Vec<_> = Code::ALL.iter().map(|c| c.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
    }

    #[test]
    fn only_locks_files_and_waits_are_worth_the_same_try_again() {
        let again: Vec<_> = Code::ALL.iter().filter(|c| c.retriable()).map(|c| c.as_str()).collect();
        assert_eq!(again, ["IO", "LOCK_TIMEOUT", "TIMEOUT"]);
    }

    #[test]
    fn c53_a_refusal_is_one_inert_line_in_both_forms() {
        let refusal = Refusal::new(Code::NotFound, "no \u{1b}[31m\n\u{9b}2J\u{202e}x").with("id", "a\u{9b}\n");
        let (mut human, mut json) = (Vec::new(), Vec::new());
        exit::report(&mut human, "ring-x", &refusal, false).unwrap();
        exit::report(&mut json, "ring-x", &refusal, true).unwrap();
        assert_eq!(String::from_utf8(human).unwrap(), "ring-x: no x [NOT_FOUND]\n");
        let json = String::from_utf8(json).unwrap();
        assert!(
            !json
                .trim_end()
                .contains(|c: char| c.is_control() || crate::text::is_bidi(c)),
            "{json:?}"
        );
        let read: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["error"]["details"]["id"], "a\u{9b}\n");
        assert_eq!(read["error"]["message"], refusal.message);
    }
}
