//! Replacing a file: temporary file in the same directory, write, rename. A reader sees the old bytes or the new ones.

use crate::state_dir::make_private;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What a replacement promises beyond being whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Whole, but a power cut may bring the old bytes back. For observations that the next event repairs.
    Whole,
    /// File and directory are synced before the call returns. For records that are the only truth.
    Synced,
}

/// Temporary files begin with this; readers of a directory skip names that begin with a dot.
pub const TEMP_PREFIX: &str = ".tmp-";

/// Replaces `path` with `bytes`, mode 0600. The directory is made (0700) if it is missing.
///
/// # Errors
/// Those of the system. The old file is then untouched and the temporary one removed.
#[allow(clippy::disallowed_methods, reason = "this is the one place that renames")]
pub fn replace(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let dir = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let named = |dir: &Path| {
        tempfile::Builder::new()
            .prefix(TEMP_PREFIX)
            .permissions(std::fs::Permissions::from_mode(0o600))
            .tempfile_in(dir)
    };
    let mut temp = match named(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            make_private(dir)?;
            named(dir)?
        }
        other => other?,
    };
    temp.write_all(bytes)?;
    if durability == Durability::Synced {
        temp.as_file().sync_all()?;
    }
    temp.persist(path).map_err(|e| e.error)?;
    if durability == Durability::Synced {
        File::open(dir)?.sync_all()?;
    }
    Ok(())
}
