//! A message: what an item, or a summary of several, says on its way out (ring-notify(1), MESSAGES). Every text in it is
//! cleaned, masked and within its limit before it gets here.

use ring_session::time::Ms;
use serde::Serialize;

/// What leaves through an outlet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// Title, one line.
    pub title: String,
    /// Body, one line each: outlets of one line join them with ` · `.
    pub body: Vec<String>,
    /// Every member, for programs.
    pub facts: Facts,
    /// Where the session's terminal is, for outlets that write there.
    pub place: Place,
    /// `Idempotency-Key`: item, ring, outlet. The same when the same thing is sent again.
    pub key: String,
    /// Name of the outlet that it leaves through.
    pub outlet: String,
}

/// The members of the generic JSON, in their order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "each is the member of the same name, ring-notify(1), JSON")]
pub struct Facts {
    pub schema: u64,
    pub id: String,
    pub kind: String,
    pub ring: u32,
    pub urgent: bool,
    pub title: String,
    pub body: String,
    pub session: String,
    pub session_title: String,
    pub agent: String,
    pub project: String,
    pub location: String,
    pub detail: String,
    pub tool: String,
    pub waiting_for: String,
    pub error_code: Option<String>,
    pub opened_ms: Ms,
    /// Those of a summary; empty for a single item.
    pub items: Vec<Facts>,
}

/// Where a session's terminal is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// `/dev/pts/3`.
    pub tty: String,
    /// `%7`.
    pub tmux_pane: String,
    /// Path of tmux's socket.
    pub tmux_socket: String,
    /// Pid and start ticks of the session's process; pid 0: not known.
    pub process: (u32, u64),
    /// There is no session: the terminal of this process itself will do (`send`, `test`).
    pub own: bool,
}

impl Message {
    /// The body as one text with line ends.
    pub fn text(&self) -> String {
        self.body.join("\n")
    }

    /// The body on one line.
    pub fn line(&self) -> String {
        self.body.join(" · ")
    }
}
