//! Words that look like secrets become `***` in every message (ring-notify(1), MESSAGES).

/// Beginnings of keys, at the start of a word, with 6 or more characters of a key behind them.
const KEYS: [&str; 6] = ["sk-", "ghp_", "github_pat_", "xoxb-", "xoxp-", "AKIA"];
/// What stands in front of a secret, in any case.
const BEFORE: [&str; 5] = ["bearer ", "token=", "password=", "secret=", "api_key="];
/// What stands for a secret.
const MASK: &str = "***";
/// So many characters make a key.
const LEAST: usize = 6;

/// The text without what looks like a secret.
pub fn mask(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let is_start = !(before.is_alphanumeric() || matches!(before, '_' | '-'));
        let key = KEYS.iter().filter(|_| is_start).find_map(|k| {
            let tail = rest.strip_prefix(k)?;
            let length = tail.bytes().take_while(|b| is_of_key(*b)).count();
            (length >= LEAST).then_some(k.len() + length)
        });
        if let Some(length) = key {
            out.push_str(MASK);
            rest = rest.get(length..).unwrap_or_default();
            before = '*';
            continue;
        }
        let introduced = BEFORE.iter().find(|b| starts_with(rest, b));
        if let Some(introduction) = introduced {
            let (said, tail) = rest.split_at(introduction.len());
            let blank = tail.len() - tail.trim_start().len();
            let secret = tail
                .trim_start()
                .find(char::is_whitespace)
                .unwrap_or(tail.trim_start().len());
            out.push_str(said);
            if secret > 0 {
                out.push_str(MASK);
                rest = tail.get(blank + secret..).unwrap_or_default();
            } else {
                rest = tail;
            }
            before = '=';
            continue;
        }
        out.push(first);
        before = first;
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
    }
    out
}

fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn starts_with(text: &str, ascii: &str) -> bool {
    let start = text.as_bytes().get(..ascii.len());
    start.is_some_and(|s| s.eq_ignore_ascii_case(ascii.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn n67_keys_and_what_follows_their_names_are_masked_and_words_are_not() {
        for (text, masked) in [
            ("use sk-abc123 now", "use *** now"),
            ("sk-abc12", "sk-abc12"),
            ("task-manager stays", "task-manager stays"),
            ("(ghp_0123456789abcdef)", "(***)"),
            ("xoxb-1234-5678 AKIAIOSFODNN7EXAMPLE", "*** ***"),
            ("github_pat_11AAAAAA0 x", "*** x"),
            (
                "curl -H 'Authorization: Bearer abc.def' x",
                "curl -H 'Authorization: Bearer *** x",
            ),
            (
                "--token=abc&x=1 y PASSWORD=p API_KEY=k",
                "--token=*** y PASSWORD=*** API_KEY=***",
            ),
            ("token= ", "token= "),
            ("secret=\u{4e2d}\u{6587} ok", "secret=*** ok"),
            ("Bearer", "Bearer"),
            ("", ""),
        ] {
            assert_eq!(mask(text), masked, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_masked_and_once_is_enough(text in "(sk-|token=|Bearer |[a-zA-Z0-9 _é-]{0,9}){0,8}") {
            let once = mask(&text);
            prop_assert_eq!(mask(&once), once);
        }

        #[test]
        fn a_key_never_gets_through(key in "[A-Za-z0-9_-]{6,20}", before in "[ (:\"'/]", after in "[ ).,]") {
            let shown = mask(&format!("x{before}sk-{key}{after}y"));
            let hidden = !shown.contains(&key);
            prop_assert!(hidden, "{}", shown);
        }
    }
}
