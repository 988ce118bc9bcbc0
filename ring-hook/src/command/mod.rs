//! The commands beside taking a payload: one file each, with its `Args` and a `run` that gives the exit status.

pub mod install;
pub mod normalize;
pub mod remove;
pub mod replay;
pub mod show;
pub mod status;
