//! The readable part of an artifact's name.

/// Longest slug, in characters.
const CHARACTERS: usize = 64;
/// Longest slug, in bytes.
const BYTES: usize = 180;

/// Letters and digits of a title, ASCII lowered, any other run one `-`, none at the ends; `fallback` if nothing is left.
pub fn slug(title: &str, fallback: &str) -> String {
    let mut slug = String::new();
    let mut count = 0;
    for c in title.chars() {
        let c = if c.is_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        };
        if c == '-' && (slug.is_empty() || slug.ends_with('-')) {
            continue;
        }
        if count == CHARACTERS || slug.len() + c.len_utf8() > BYTES {
            break;
        }
        slug.push(c);
        count += 1;
    }
    let kept = slug.trim_end_matches('-').len();
    slug.truncate(kept);
    if slug.is_empty() { fallback.to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p8_a_title_becomes_a_name_and_punctuation_alone_the_kind() {
        for (title, name) in [
            ("Build API / v2", "build-api-v2"),
            ("../../etc/passwd", "etc-passwd"),
            ("  --Ünï codé!--", "Ünï-codé"),
            ("計画 一", "計画-一"),
            ("?!…", "plan"),
            ("", "plan"),
            ("a\u{202e}b\u{1b}[31m", "a-b-31m"),
        ] {
            assert_eq!(slug(title, "plan"), name, "{title}");
        }
    }

    #[test]
    fn p8_a_long_title_is_cut_on_a_character_and_never_ends_in_a_dash() {
        assert_eq!(slug(&"𠀀".repeat(200), "plan"), "𠀀".repeat(45));
        assert_eq!(slug(&format!("{} b", "a".repeat(63)), "plan"), "a".repeat(63));
    }
}
