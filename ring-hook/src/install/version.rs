//! Versions of installed agents, found without running them where that is possible.

use std::fmt;

/// A version of three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Version {
    /// Later than every other: for what the newest tables say.
    pub const NEWEST: Version = Version(u32::MAX, u32::MAX, u32::MAX);

    /// The first `N.N.N` of a text that begins a word (`v` may stand before it).
    pub fn find(text: &str) -> Option<Version> {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.')
            .find_map(|word| {
                let word = word.strip_prefix('v').unwrap_or(word);
                let mut numbers = word.splitn(4, '.');
                let mut next = || numbers.next()?.parse().ok();
                Some(Version(next()?, next()?, next()?))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_as_a_word_of_its_own() {
        for (text, version) in [
            ("2.1.332", Some(Version(2, 1, 332))),
            ("2.1.332 (Claude Code)\n", Some(Version(2, 1, 332))),
            ("claude-2.1.197", Some(Version(2, 1, 197))),
            ("0.171.0-linux-x64", Some(Version(0, 171, 0))),
            ("v1.2.3", Some(Version(1, 2, 3))),
            ("codex-cli 0.171.0", Some(Version(0, 171, 0))),
            ("claude", None),
            ("claude.exe", None),
            ("2.1", None),
            ("9999999999999.1.2", None),
        ] {
            assert_eq!(Version::find(text), version, "{text}");
        }
        assert!(Version(2, 1, 332) > Version(2, 1, 197));
        assert!(Version(10, 0, 0) > Version(9, 9, 9));
    }
}
