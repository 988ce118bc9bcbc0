//! What `watch` is made of: what changed between two boards, when to look again, where it is drawn.

pub mod change;
pub mod places;
pub mod printer;
pub mod rest;
pub mod screen;
pub mod settle;
pub mod wake;
