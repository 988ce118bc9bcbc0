//! What is found dead, and what becomes of it (ring-session(1), RECOVERY).
//!
//! | found dead        | becomes                                                                              |
//! |-------------------|--------------------------------------------------------------------------------------|
//! | live turn         | aborted, TURN_ABORTED; checkpoint promoted, queue held, nobody is notified           |
//! | open proposal     | interrupted; the mode stays                                                          |
//! | active execution  | interrupted; never run again                                                         |
//! | queue, other boot | held, its order kept                                                                 |
//!
//! Nothing is replayed and nothing starts by itself. Every writer applies this before it decides; readers apply it to
//! their copy.

use crate::lifecycle::Closing;
use crate::process::Stamp;
use crate::record::Outcome;
use crate::refusal::{Code, Refusal};
use crate::work::Work;

/// Whose death is assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only of those proven dead.
    Dead,
    /// Also of those that cannot be seen: another host, another namespace, or nobody named.
    Unknown,
    /// Of everybody.
    Living,
}

impl Work {
    fn is_taken(&self, stamp: &Stamp, reach: Reach) -> bool {
        match reach {
            Reach::Dead => self.is_dead(stamp),
            Reach::Unknown => !self.is_alive(stamp),
            Reach::Living => true,
        }
    }

    /// Applies recovery; names what it did: turn, proposal, execution, queue.
    pub fn recover(&mut self, reach: Reach) -> Vec<&'static str> {
        let mut did = Vec::new();
        if self
            .record
            .turn
            .as_ref()
            .is_some_and(|t| self.is_taken(&t.epoch, reach))
        {
            let turn = self.record.turn.as_ref().map(|t| t.id.clone()).unwrap_or_default();
            let had = (self.open_proposal().is_some(), self.active_execution().is_some());
            self.interrupt_of_turn(&turn, Code::TurnAborted.as_str());
            self.close(Closing {
                outcome: Outcome::Aborted,
                quiet: true,
                ..Closing::default()
            });
            did.push("turn");
            if had.0 && self.open_proposal().is_none() {
                did.push("proposal");
            }
            if had.1 && self.active_execution().is_none() {
                did.push("execution");
            }
            if !self.record.queue.entries.is_empty() && !self.record.queue.held {
                self.record.queue.held = true;
                did.push("queue");
            }
        }
        if self.open_proposal().is_some_and(|p| self.is_taken(&p.epoch, reach)) {
            self.interrupt_proposal();
            did.push("proposal");
        }
        if self.active_execution().is_some_and(|e| self.is_taken(&e.epoch, reach)) {
            self.interrupt_execution("");
            did.push("execution");
        }
        let queue = &self.record.queue;
        if !queue.entries.is_empty() && !queue.held && queue.boot != self.here.stamp.boot {
            self.record.queue.held = true;
            did.push("queue");
        }
        if !did.is_empty() {
            self.announce("session_recovered", serde_json::json!({}));
        }
        did
    }

    /// Recovery of the dead, and what is overdue: what every writer stores first. Whether anything changed.
    pub fn refresh(&mut self) -> bool {
        // what was overdue had expired, whenever its owner died
        let overdue = self.expire_proposal();
        let recovered = !self.recover(Reach::Dead).is_empty();
        let expired = self.expire_requests();
        recovered || expired || overdue
    }

    /// The refusal of `recover ID` without force: the owner lives.
    ///
    /// # Errors
    /// `AGENT_BUSY` (`owner_alive`).
    pub fn check_owner_is_gone(&self) -> Result<(), Refusal> {
        let owners = [
            self.record.turn.as_ref().map(|t| &t.epoch),
            self.open_proposal().map(|p| &p.epoch),
            self.active_execution().map(|e| &e.epoch),
        ];
        match owners.into_iter().flatten().find(|e| self.is_alive(e)) {
            Some(owner) => Err(Refusal::new(
                Code::AgentBusy,
                format!("process {} still works on it; end it, or use --force", owner.pid),
            )
            .with("reason", "owner_alive")
            .with("pid", owner.pid)),
            None => Ok(()),
        }
    }
}
