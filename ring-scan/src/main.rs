//! ring-scan.

fn main() {}
