//! Folding: how names of fields, events and enumerated values are compared. Ids and paths never are.

/// The characters that do not count in a name.
fn silent(c: char) -> bool {
    matches!(c, '_' | '-' | '.') || c.is_whitespace()
}

/// The text in ASCII lower case, without `_`, `-`, `.` and blanks.
pub fn fold(text: &str) -> String {
    text.chars()
        .filter(|c| !silent(*c))
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// A hash of the folded text, by which names that differ are told apart quickly.
pub const fn hash(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let (mut hash, mut at) = (0xcbf2_9ce4_8422_2325_u64, 0);
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_graphic() && !matches!(byte, b'_' | b'-' | b'.') {
            hash = (hash ^ byte.to_ascii_lowercase() as u64).wrapping_mul(0x0100_0000_01b3);
        }
        at += 1;
    }
    hash
}

/// Whether two texts are the same when folded; allocates nothing.
pub fn same(a: &str, b: &str) -> bool {
    let mut x = a.chars().filter(|c| !silent(*c)).map(|c| c.to_ascii_lowercase());
    let mut y = b.chars().filter(|c| !silent(*c)).map(|c| c.to_ascii_lowercase());
    loop {
        match (x.next(), y.next()) {
            (None, None) => return true,
            (p, q) if p == q => {}
            _ => return false,
        }
    }
}

/// Whether the folded text is one of these words, which are written folded.
pub fn among(text: &str, words: &[&str]) -> bool {
    words.iter().any(|w| same(text, w))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_however_they_are_cased_and_joined() {
        for name in [
            "hook_event_name",
            "hookEventName",
            " Hook-Event.Name ",
            "HOOK EVENT NAME",
        ] {
            assert_eq!(fold(name), "hookeventname");
            assert!(same(name, "hook_event_name"));
            assert_eq!(hash(name), hash("hook_event_name"));
        }
        assert!(!same("event", "events") && !same("", "a") && same("", "_"));
    }
}
