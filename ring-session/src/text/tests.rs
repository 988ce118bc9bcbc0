use super::*;
use proptest::prelude::*;

#[test]
fn h27_161_characters_become_159_and_the_mark() {
    let text = "x".repeat(161);
    assert_eq!(clean(&text, 160), format!("{}…", "x".repeat(159)));
    assert_eq!(clean(&text[..160], 160), text[..160]);
}

#[test]
fn h27_a_combining_mark_is_not_torn_off() {
    // the mark would be the last that fits: its letter goes with it
    let text = format!("{}e\u{301}yz", "x".repeat(158));
    assert_eq!(clean(&text, 160), format!("{}…", "x".repeat(158)));
    // the mark is the first that does not fit
    let text = format!("{}e\u{301}", "x".repeat(159));
    assert_eq!(clean(&text, 160), format!("{}…", "x".repeat(159)));
    // it fits
    let text = format!("{}e\u{301}", "x".repeat(158));
    assert_eq!(clean(&text, 160), text);
}

#[test]
fn h27_nothing_that_people_see_as_one_character_is_torn() {
    for one in [
        "e\u{301}\u{323}",
        "ก\u{e33}",
        "நி",
        "한",
        "\u{1112}\u{1161}\u{11ab}",
        "👍🏽",
        "👩\u{200d}👩\u{200d}👧",
        "❤\u{fe0f}",
        "🇹🇼",
        "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        "क\u{94d}ष",
    ] {
        let long = one.chars().count();
        for before in 0..=long {
            let text = format!("{}{one}zz", "x".repeat(10 - before));
            let cut = clean(&text, 11);
            let fits = 10 - before + long <= 10;
            if text.chars().count() > 11 {
                assert_eq!(cut.contains(one), fits, "{one} {before} {cut:?}");
                assert!(
                    fits || cut == format!("{}…", "x".repeat(10 - before)),
                    "{one} {before} {cut:?}"
                );
            }
        }
    }
}

#[test]
fn h27_escape_sequences_nul_and_overrides_are_gone() {
    for (text, cleaned) in [
        ("a\u{1b}[31mred\u{1b}[0m b", "ared b"),
        ("a\u{9b}1;2mb", "ab"),
        ("a\0b", "ab"),
        ("a\u{202e}b\u{202c}\u{2066}c\u{2069}\u{200e}\u{200f}\u{61c}", "abc"),
        ("\u{1b}]0;title\u{7}x", "x"),
        ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
        ("\u{9d}52;c;AAAA\u{9c}x", "x"),
        ("\u{1b}Pq#0;2\u{1b}\\x", "x"),
        ("\u{1b}_app\u{1b}\\x\u{1b}^pm\u{1b}\\y\u{1b}Xsos\u{1b}\\z", "xyz"),
        ("\u{90}dcs\u{9c}x", "x"),
        ("\u{1b}(Bx\u{1b}#8y\u{1b}7z", "xyz"),
        ("\u{1b}]0;never ended\nnext", "next"),
        ("\u{1b}]0;aborted\u{1b}[31mred", "red"),
        ("\u{1b}]0;cancelled\u{18}x", "x"),
        ("\u{1b}\u{1b}[31mx", "x"),
        ("x\u{1b}", "x"),
        ("x\u{1b}[", "x"),
        ("x\u{1b}[31", "x"),
        ("x\u{1b}]", "x"),
        ("a\u{1b}[3\n1mb", "a 1mb"),
        ("\u{feff}x", "x"),
        ("a\u{7f}\u{80}\u{84}b", "ab"),
    ] {
        assert_eq!(clean(text, 100), cleaned, "{text:?}");
    }
}

#[test]
fn white_space_of_any_kind_becomes_one_blank_and_none_at_the_ends() {
    let text = " \t\r\n a \u{a0}\u{3000}\u{2028}\u{85}\u{b}b\u{1b}[0m  \u{202e} c \n";
    assert_eq!(clean(text, 100), "a b c");
    assert_eq!(clean(" \u{1b}[0m\0 ", 100), "");
}

#[test]
fn a_blank_in_front_of_the_mark_goes() {
    assert_eq!(clean("abcd efgh", 6), "abcd…");
    assert_eq!(clean("abcd efgh", 5), "abcd…");
}

#[test]
fn limits_of_none_and_one() {
    assert_eq!(clean("ab", 0), "");
    assert_eq!(clean("", 0), "");
    assert_eq!(clean("ab", 1), "…");
    assert_eq!(clean("a", 1), "a");
}

#[test]
fn joiners_and_zero_width_joiners_stay_where_scripts_need_them() {
    for text in ["می\u{200c}خواهم", "👩\u{200d}💻", "क\u{94d}\u{200d}ष"] {
        assert_eq!(clean(text, 100), text);
    }
}

#[test]
fn a_mebibyte_of_marks_or_of_an_open_string_is_bounded() {
    let marks = format!("a{}", "\u{301}".repeat(1024 * 1024));
    assert_eq!(clean(&marks, 160), "…");
    let open = format!("\u{1b}]0;{}", "x".repeat(1024 * 1024));
    assert_eq!(clean(&open, 160).chars().count(), 160);
    assert_eq!(clean(&"\u{1b}[".repeat(100_000), 160), "");
}

#[test]
fn bytes_that_are_no_text_become_replacement_characters() {
    assert_eq!(clean_bytes(b"a\xffb\xc3", 10), "a\u{fffd}b\u{fffd}");
    assert_eq!(clean_bytes(b"a\x1b[31mb", 10), "ab");
}

#[test]
fn what_joins_the_character_before_it() {
    for c in [
        '\u{301}',
        '\u{200d}',
        '\u{fe0f}',
        '\u{1f3fd}',
        '\u{e0020}',
        '\u{903}',
        '\u{e31}',
        '\u{9bc}',
        '\u{20dd}',
    ] {
        assert!(joins_previous(c), "{:x}", u32::from(c));
    }
    for c in ['a', ' ', '\0', 'é', '한', '👍', '\u{2028}', '\u{200b}', '中'] {
        assert!(!joins_previous(c), "{:x}", u32::from(c));
    }
}

#[test]
fn the_first_line_is_the_first_that_is_not_blank() {
    assert_eq!(first_line(" \r\n\u{2028} one \u{85}two"), "one");
    assert_eq!(first_line("one\rtwo"), "one");
    assert_eq!(first_line(" \n "), "");
}

#[test]
fn json_that_is_made_inert_means_the_same() {
    let value = serde_json::json!({"a\u{9b}": "\u{7f}\u{85}\u{202e}é中\n"});
    let inert = inert_json(value.to_string());
    assert!(!inert.contains(|c: char| c.is_control() || is_bidi(c)), "{inert:?}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&inert).unwrap(), value);
}

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,8}",
        "[ -~]{0,8}",
        proptest::sample::select(vec![
            "\u{1b}", "\u{1b}[", "\u{1b}]", "\u{1b}\\", "\u{9b}", "\u{9d}", "\u{9c}", "\u{7}", "\u{202e}", "\u{2066}",
            "\u{301}", "\u{200d}", "\u{fe0f}", "👩", "🇹", "\n", "\r\n", "\u{85}", "\u{2029}", " ", "\0", "e",
            "\u{1112}", "\u{1161}", "m", ";",
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

#[test]
fn a_plain_text_is_left_as_it_is_and_only_a_plain_one_is_not_looked_at() {
    for (text, plain) in [
        ("", true),
        ("a", true),
        ("Bash: git push", true),
        ("a  b", false),
        (" a", false),
        ("a ", false),
        (" ", false),
        ("a\tb", false),
        ("a\u{7f}", false),
        ("é", false),
    ] {
        assert_eq!(is_clean(text, 20), plain, "{text:?}");
    }
    assert!(!is_clean("abc", 2));
}

proptest! {
    #[test]
    fn what_is_not_looked_at_would_not_change(text in "[ !-~\u{7f}é]{0,6}") {
        if is_clean(&text, 4) {
            // a character that has to go, so that all are looked at
            prop_assert_eq!(clean(&format!("{text}\0"), 4), text);
        }
    }

    #[test]
    fn what_is_clean_holds_nothing_that_a_terminal_obeys_and_keeps_its_limit(text in hostile(), limit in 0usize..40) {
        let cleaned = clean(&text, limit);
        prop_assert!(cleaned.chars().count() <= limit);
        let obeyed = |c: char| c.is_control() || is_bidi(c) || (c.is_whitespace() && c != ' ');
        prop_assert!(!cleaned.contains(obeyed));
        prop_assert!(!cleaned.contains("  "));
        prop_assert_eq!(cleaned.trim(), &cleaned);
    }

    #[test]
    fn cleaning_twice_changes_nothing(text in hostile(), limit in 0usize..40) {
        let once = clean(&text, limit);
        prop_assert_eq!(clean(&once, limit), once);
    }

    #[test]
    fn a_cut_text_is_whole_characters_of_the_uncut_one(text in hostile(), limit in 1usize..40) {
        let (whole, cut) = (for_terminal(&text), clean(&text, limit));
        if whole != cut {
            let kept = cut.strip_suffix(CUT).unwrap();
            prop_assert!(whole.starts_with(kept));
            let ends: Vec<usize> = clusters(&whole).scan(0, |at, c| { *at += c.len(); Some(*at) }).collect();
            prop_assert!(kept.is_empty() || ends.contains(&kept.len()), "{:?} {:?}", whole, cut);
        }
    }

    #[test]
    fn any_bytes_are_cleaned(bytes in proptest::collection::vec(any::<u8>(), 0..200), limit in 0usize..200) {
        prop_assert!(clean_bytes(&bytes, limit).chars().count() <= limit);
    }
}
