//! ring-hook.

fn main() {}
