//! ring-notify.

fn main() {}
