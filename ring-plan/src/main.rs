//! ring-plan.

fn main() {}
