//! ring-session.

fn main() {}
