//! The commands, one file a family.

pub mod fork;
pub mod hook;
pub mod list;
pub mod permission;
pub mod queue;
pub mod recover;
pub mod run;
pub mod session;
pub mod transcript;
pub mod turn;
pub mod watch;
