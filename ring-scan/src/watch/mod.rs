//! What `watch` is made of: what changed between two boards, when to look again, where it is drawn.

pub mod change;
#[cfg(target_os = "linux")]
pub mod files;
#[cfg(not(target_os = "linux"))]
#[path = "no_files.rs"]
pub mod files;
pub mod places;
pub mod printer;
pub mod rest;
pub mod screen;
pub mod settle;
pub mod wake;
