//! Bodies: prompts, rows, arguments, from an argument, a file or stdin.

use ring_session::{Code, Refusal};
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

/// Longest prompt or steering text, in bytes.
pub const PROMPT_BYTES: usize = 1024 * 1024;

/// Reads at most `limit` bytes; more is refused.
fn read(from: impl Read, what: &str, limit: usize) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    from.take(limit as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Refusal::io("read", Path::new(what), &e))?;
    if bytes.len() > limit {
        return Err(too_long(bytes.len(), limit));
    }
    Ok(bytes)
}

fn too_long(bytes: usize, limit: usize) -> Refusal {
    Refusal::new(
        Code::LimitExceeded,
        format!("the text has {bytes} bytes or more; at most {limit}"),
    )
}

/// stdin as text; invalid UTF-8 becomes U+FFFD.
///
/// # Errors
/// `LIMIT_EXCEEDED`, `IO`.
pub fn stdin(limit: usize) -> Result<String, Refusal> {
    read(io::stdin().lock(), "stdin", limit).map(|b| String::from_utf8_lossy(&b).into_owned())
}

/// An argument that is a text, or `-` for stdin; none: stdin.
///
/// # Errors
/// `LIMIT_EXCEEDED`, `IO`.
pub fn text(argument: Option<&str>, limit: usize) -> Result<String, Refusal> {
    match argument {
        None | Some("-") => stdin(limit),
        Some(text) if text.len() > limit => Err(too_long(text.len(), limit)),
        Some(text) => Ok(text.to_owned()),
    }
}

/// An argument that names a file, or `-` for stdin; none: stdin, unless that is a terminal, which gives nothing.
///
/// # Errors
/// `LIMIT_EXCEEDED`, `IO`.
pub fn file(argument: Option<&str>, limit: usize) -> Result<Vec<u8>, Refusal> {
    match argument {
        None if io::stdin().is_terminal() => Ok(Vec::new()),
        None | Some("-") => read(io::stdin().lock(), "stdin", limit),
        Some(path) => {
            let file = File::open(path).map_err(|e| Refusal::io("read", Path::new(path), &e))?;
            read(file, path, limit)
        }
    }
}

/// Refuses a text over a limit of characters, or of bytes, of an option.
///
/// # Errors
/// `LIMIT_EXCEEDED`.
pub fn within(option: &str, length: usize, limit: usize) -> Result<(), Refusal> {
    if length > limit {
        return Err(
            Refusal::new(Code::LimitExceeded, format!("{option} has {length}; at most {limit}")).with("option", option),
        );
    }
    Ok(())
}

/// The refusal of a bad value.
pub fn bad(text: impl Into<String>) -> Refusal {
    Refusal::new(Code::InvalidArgument, text)
}
