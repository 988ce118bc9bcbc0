//! Characters that matter to a question.

/// A mark that may stand in the run at the end of a question.
pub fn is_mark(c: char) -> bool {
    asks(c) || matches!(c, '!' | '！')
}

/// A mark that asks.
pub fn asks(c: char) -> bool {
    matches!(c, '?' | '？' | '؟' | '‽' | '⁇' | '⁈' | '⁉' | '﹖' | '❓' | '❔')
}

/// A mark as wide as an ideograph: no blank is written behind it.
pub fn is_wide_mark(c: char) -> bool {
    matches!(c, '？' | '！' | '﹖' | '❓' | '❔')
}

/// The Greek question mark, also as it is typed.
pub fn is_greek_mark(c: char) -> bool {
    matches!(c, ';' | '\u{37e}')
}

/// A letter of the Greek alphabet, with or without accents.
pub fn is_greek(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}') && c.is_alphabetic()
}

/// Characters that are not seen and do not count: joiners, directions, byte order mark, variation selectors of emoji.
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        | '\u{fe0e}' | '\u{fe0f}')
}

/// The frame of a keycap, behind a digit, `#` or `*`.
pub const KEYCAP: char = '\u{20e3}';

/// Pictographs, flags and skin tones (Extended_Pictographic of UTS #51, without its unassigned parts, and what builds
/// flags); keycaps are two characters.
pub fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2194}'..='\u{2199}'
        | '\u{21a9}'..='\u{21aa}' | '\u{231a}'..='\u{231b}' | '\u{2328}' | '\u{2388}' | '\u{23cf}'
        | '\u{23e9}'..='\u{23f3}' | '\u{23f8}'..='\u{23fa}' | '\u{24c2}' | '\u{25aa}'..='\u{25ab}' | '\u{25b6}'
        | '\u{25c0}' | '\u{25fb}'..='\u{25fe}' | '\u{2600}'..='\u{2767}' | '\u{2795}'..='\u{2797}' | '\u{27a1}'
        | '\u{27b0}' | '\u{27bf}' | '\u{2934}'..='\u{2935}' | '\u{2b05}'..='\u{2b07}' | '\u{2b1b}'..='\u{2b1c}'
        | '\u{2b50}' | '\u{2b55}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1f0ff}'
        | '\u{1f10d}'..='\u{1f10f}' | '\u{1f12f}' | '\u{1f16c}'..='\u{1f171}' | '\u{1f17e}'..='\u{1f17f}' | '\u{1f18e}'
        | '\u{1f191}'..='\u{1f19a}' | '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f201}'..='\u{1f20f}' | '\u{1f21a}' | '\u{1f22f}'
        | '\u{1f232}'..='\u{1f23a}' | '\u{1f249}'..='\u{1faff}' | '\u{e0020}'..='\u{e007f}')
}

/// The opener of a closing mark that may stand behind a question.
pub fn opener(closer: char) -> Option<char> {
    Some(match closer {
        ')' => '(',
        ']' => '[',
        '}' => '{',
        '>' => '<',
        '"' => '"',
        '\'' => '\'',
        '”' => '“',
        '’' => '‘',
        '»' => '«',
        '›' => '‹',
        '」' => '「',
        '』' => '『',
        '）' => '（',
        '］' => '［',
        '｝' => '｛',
        '】' => '【',
        '〉' => '〈',
        '》' => '《',
        '〕' => '〔',
        _ => return None,
    })
}

/// The opener of a bracket that may hold a hint, as in `[y/N]`.
pub fn bracket_opener(closer: char) -> Option<char> {
    match closer {
        ')' | ']' | '}' | '）' | '］' | '｝' | '】' | '〉' | '》' | '〕' => opener(closer),
        _ => None,
    }
}

/// Emphasis of Markdown.
pub fn is_emphasis(c: char) -> bool {
    matches!(c, '*' | '_' | '~')
}

/// Letters and punctuation of two columns: ideographs, kana, Hangul, full width forms.
pub fn is_wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe4f}' | '\u{ff01}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}' | '\u{20000}'..='\u{3fffd}')
}

/// A phrase for comparing: lower case, without marks, blanks and `_ - .`.
pub fn fold(text: &str) -> String {
    text.chars()
        .filter(|&c| !(c.is_whitespace() || is_mark(c) || is_greek_mark(c) || matches!(c, '_' | '-' | '.')))
        .flat_map(char::to_lowercase)
        .collect()
}
