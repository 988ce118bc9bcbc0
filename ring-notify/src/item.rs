//! An item: anything that may be announced, as its live record shows it (ring-notify(1), ITEMS).

use crate::message::Place;
use ring_session::queue::sha256_hex;
use ring_session::time::Ms;
use serde::{Deserialize, Serialize};

/// What an item is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A permission is asked for: a wait of a status row, or a request in a record.
    #[serde(rename = "wait.permission")]
    Permission,
    /// The agent asks something.
    #[serde(rename = "wait.question")]
    Question,
    /// A plan awaits an answer in the agent's own dialog.
    #[serde(rename = "wait.plan")]
    Plan,
    /// The agent needs some other input.
    #[serde(rename = "wait.input")]
    Input,
    /// A proposal awaits a decision.
    #[serde(rename = "proposal")]
    Proposal,
    /// A turn has completed and nobody has seen it.
    #[serde(rename = "task.completed")]
    Completed,
    /// A turn has failed and nobody has seen it.
    #[serde(rename = "task.failed")]
    Failed,
    /// A text of `send`.
    #[default]
    #[serde(rename = "message")]
    Message,
}

impl Kind {
    /// The word in the ledger, in settings and in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Permission => "wait.permission",
            Kind::Question => "wait.question",
            Kind::Plan => "wait.plan",
            Kind::Input => "wait.input",
            Kind::Proposal => "proposal",
            Kind::Completed => "task.completed",
            Kind::Failed => "task.failed",
            Kind::Message => "message",
        }
    }

    /// Of a wait in a status row; what it does not know is some input.
    pub fn of_wait(kind: &str) -> Kind {
        match kind {
            "permission" => Kind::Permission,
            "question" => Kind::Question,
            "plan" => Kind::Plan,
            _ => Kind::Input,
        }
    }

    /// Whether somebody is waited for in a dialog.
    pub fn is_wait(self) -> bool {
        matches!(self, Kind::Permission | Kind::Question | Kind::Plan | Kind::Input)
    }

    /// Whether somebody is needed until they act: these repeat, and come back as the same request.
    pub fn needs_somebody(self) -> bool {
        self.is_wait() || self == Kind::Proposal
    }

    /// Whether a list of kinds names it; `wait` is every wait.
    pub fn is_in(self, kinds: &[String]) -> bool {
        kinds
            .iter()
            .any(|k| k == self.as_str() || (k == "wait" && self.is_wait()))
    }
}

/// An open item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    /// `wait:KEY:WAIT`, `perm:ID:REQUEST`, `plan:PROPOSAL`, `turn:ROW`, `msg:ID`.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// KEY of its session; empty: none.
    pub session: String,
    /// Id of the record that holds it; empty: none.
    pub record: String,
    /// Of waits and permissions: what makes two requests the same one.
    pub sign: String,
    /// When its source says that it began.
    pub opened_ms: Ms,
    /// Its deadline.
    pub until_ms: Option<Ms>,
    /// Agent, or empty.
    pub agent: String,
    /// The agent's id of the session, or the record's.
    pub session_id: String,
    /// Name on the board, or empty.
    pub name: String,
    /// Title of the session.
    pub session_title: String,
    /// Folder.
    pub project: String,
    /// What is asked; title of a proposal.
    pub detail: String,
    /// Question of a proposal.
    pub question: String,
    /// A proposal is a goal.
    pub is_goal: bool,
    /// Id of a proposal.
    pub proposal: String,
    /// Tool of a permission.
    pub tool: String,
    /// The agent's word for what it waits for.
    pub waiting_for: String,
    /// Of a failure.
    pub error_code: Option<String>,
    /// Length of a turn.
    pub duration_ms: Ms,
    /// Background tasks of a completed turn's session.
    pub background: u32,
    /// Of a message: it was sent as urgent.
    pub urgent: bool,
    /// Of a message.
    pub title: String,
    /// Of a message.
    pub body: String,
    /// Where the session's terminal is.
    pub place: Place,
}

/// What makes two requests the same one: session, owner, kind, detail and the tool's call.
pub fn sign(session: &str, owner: &str, kind: &str, detail: &str, tool_use_id: &str) -> String {
    // lengths keep members apart, whatever stands in them
    let mut text = String::new();
    for part in [session, owner, kind, detail, tool_use_id] {
        text.push_str(&format!("{}:{part};", part.len()));
    }
    let mut digest = sha256_hex(text.as_bytes());
    digest.truncate(16);
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_differs_when_any_of_its_parts_does() {
        let base = sign("a", "b", "c", "d", "e");
        assert_eq!(base.len(), 16);
        for other in [
            sign("ab", "", "c", "d", "e"),
            sign("a", "b", "c", "d", ""),
            sign("a", "b", "c", "", "de"),
        ] {
            assert_ne!(base, other);
        }
        assert_eq!(base, sign("a", "b", "c", "d", "e"));
    }

    #[test]
    fn wait_names_every_wait_and_nothing_else() {
        let wait = ["wait".to_owned()];
        assert!(Kind::Plan.is_in(&wait) && Kind::Permission.is_in(&wait));
        assert!(!Kind::Proposal.is_in(&wait) && !Kind::Failed.is_in(&wait));
        assert!(Kind::Failed.is_in(&["task.failed".to_owned()]));
    }
}
