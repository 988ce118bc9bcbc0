//! The session store: where files are, how they are locked and replaced, what a refusal is, and what all five tools
//! share beside it (stamps, settings, event lines, clean text, time).
//!
//! The protocol of the files is described in ring(5), the rules of the command line in ring(7). Nothing here prints,
//! exits or reads `argv`: output goes to a writer that the caller gives.

#![warn(clippy::exit, clippy::print_stderr, clippy::print_stdout)]

pub mod append;
pub mod backward;
pub mod columns;
pub mod command_line;
pub mod context;
pub mod error_log;
pub mod events;
pub mod execution;
pub mod exit;
pub mod fork;
pub mod history;
pub mod hooked;
pub mod id;
pub mod key;
pub mod lifecycle;
pub mod lock;
pub mod members;
pub mod notification;
pub mod output;
pub mod panic;
pub mod permission;
pub mod process;
pub mod proposal;
pub mod queue;
pub mod record;
pub mod recovery;
pub mod refusal;
pub mod regular;
pub mod replace;
pub mod ring;
pub mod row;
pub mod rows;
pub mod run;
pub mod settings;
pub mod shown;
pub mod sister;
pub mod state_dir;
pub mod store;
pub mod style;
pub mod summary;
pub mod table;
pub mod text;
pub mod time;
pub mod transcript;
pub mod work;

pub use record::Record;
pub use refusal::{Code, Refusal};
pub use settings::Settings;
pub use state_dir::StateDir;
pub use store::Store;
