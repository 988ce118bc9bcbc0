//! stub

use super::{Head, Tail};

/// Tail of a record.
pub fn tail(bytes: &[u8], starts_at_file_start: bool) -> Tail {
    let _ = (bytes, starts_at_file_start);
    Tail::default()
}

/// What the start of a record says.
pub fn head(bytes: &[u8]) -> Head {
    let _ = bytes;
    Head::default()
}

/// As [`tail`], of a child's rollout: lines with an ordinal below `first_ordinal` are its parent's and are skipped
/// ([`Head::first_ordinal`]).
pub fn tail_of_child(bytes: &[u8], starts_at_file_start: bool, first_ordinal: u64) -> Tail {
    let _ = first_ordinal;
    tail(bytes, starts_at_file_start)
}
