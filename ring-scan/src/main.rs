//! ring-scan.
#![allow(dead_code)]
mod board;
mod processes;

#[allow(dead_code, reason = "the board is not put together yet")]
mod source;

fn main() {}
