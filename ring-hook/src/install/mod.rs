//! Putting our hook entries into the settings of agents and taking them out again (ring-hook(1), INSTALLING).
//!
//! Text goes in, text comes out: what agents read, what is ours in it and what has to change are pure functions; files
//! are touched in `settings_file` alone.

mod claude;
mod codex;
pub mod entry;
pub mod errors;
pub mod findings;
pub mod hooks_edit;
pub mod hooks_view;
pub mod installed;
mod json_edit;
pub mod json_span;
pub mod order;
pub mod programs;
pub mod report;
mod search_path;
pub mod seen;
pub mod settings_file;
pub mod standing;
pub mod version;
pub mod writers;
