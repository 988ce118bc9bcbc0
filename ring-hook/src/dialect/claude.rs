//! Claude Code. Its names are the canonical ones, and a payload without any mark is taken for its.

use super::{Dialect, PLAIN};
use crate::payload::{Field, top};

/// Claude Code, measured with 2.1.197 and 2.1.332.
pub static CLAUDE: Dialect = Dialect {
    agent: "claude-code",
    fields: &[(Field::Cwd, &[top("new_cwd")])],
    ..PLAIN
};
