//! KEY: the name of a session's row, `<agent>:<session id>` with odd bytes encoded (ring(5), KEY).
//!
//! Whatever an id holds, its key is one file name: no separator, no dot name, at most 200 bytes.

use sha2::{Digest, Sha256};

/// The longest key, in bytes.
pub const LIMIT: usize = 200;
/// The longest session id that is taken, in bytes.
pub const ID_LIMIT: usize = 4096;
/// What is kept of a longer key in front of the digest.
const KEPT: usize = 120;

/// The key of an agent's session.
pub fn key(agent: &str, session_id: &str) -> String {
    let mut key = String::with_capacity(agent.len() + 1 + session_id.len() + 8);
    key.push_str(agent);
    key.push(':');
    for byte in session_id.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'~' | b'-' => key.push(char::from(byte)),
            odd => key.push_str(&format!("%{odd:02X}")),
        }
    }
    if key.len() <= LIMIT {
        return key;
    }
    let digest = Sha256::digest(format!("{agent}:{session_id}"));
    // never the middle of an encoded byte, and the kept part is ASCII
    key.truncate(KEPT);
    key.push('~');
    for byte in digest.iter().take(16) {
        key.push_str(&format!("{byte:02x}"));
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn h54_odd_ids_and_agents_stay_in_their_directory() {
        assert_eq!(key("codex", "abc"), "codex:abc");
        assert_eq!(key("claude-code", "codex:abc"), "claude-code:codex%3Aabc");
        assert_eq!(key("generic", ".."), "generic:..");
        assert_eq!(key("generic", "a/b\n\0 %"), "generic:a%2Fb%0A%00%20%25");
        assert_eq!(key("generic", "會"), "generic:%E6%9C%83");
    }

    #[test]
    fn h54_long_ids_are_shortened_with_a_digest() {
        let long = key("claude-code", &"x".repeat(4000));
        assert_eq!(long.len(), 153);
        assert!(long.starts_with("claude-code:xxx") && long.as_bytes()[120] == b'~');
        assert_ne!(long, key("claude-code", &"x".repeat(4001)));
        assert_eq!(key("a", &"x".repeat(198)).len(), 200);
        assert_eq!(key("a", &"x".repeat(199)).len(), 153);
    }

    proptest! {
        #[test]
        fn a_key_is_one_short_file_name(agent in "[a-z-]{1,20}", id in ".{1,300}") {
            let key = key(&agent, &id);
            prop_assert!(key.len() <= LIMIT);
            prop_assert!(key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.~-%:".contains(&b)));
        }

        #[test]
        fn different_sessions_have_different_keys(a in ".{1,40}", b in ".{1,40}") {
            prop_assume!(a != b);
            prop_assert_ne!(key("x", &a), key("x", &b));
        }
    }
}
