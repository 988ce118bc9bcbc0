//! The commands.

pub mod deliver;
pub mod digest;
pub mod inbox;
pub mod outlets;
pub mod quiet;
pub mod send;
pub mod stats;
pub mod test;
pub mod watch;
