use super::question;
use proptest::prelude::*;
use std::time::{Duration, Instant};

const COURTESY: [&str; 10] = [
    "any questions",
    "questions",
    "any other questions",
    "anything else",
    "is there anything else i can help you with",
    "還有其他問題嗎",
    "還有什麼問題嗎",
    "还有其他问题吗",
    "还有什么问题吗",
    "他に質問はありますか",
];

fn ask(text: &str) -> Option<String> {
    question(text, &COURTESY.map(String::from))
}

fn asks(text: &str, detail: &str) {
    assert_eq!(ask(text).as_deref(), Some(detail), "{text:?}");
}

fn silent(texts: &[&str]) {
    for text in texts {
        assert_eq!(ask(text), None, "{text:?}");
    }
}

#[test]
fn h66_questions_in_many_forms_and_languages() {
    for (text, detail) in [
        ("Shall I go on?", "Shall I go on?"),
        ("**要嗎？**", "要嗎？"),
        ("「要嗎？」", "要嗎？"),
        ("Really?!", "Really?!"),
        ("هل أكمل؟", "هل أكمل؟"),
        ("Να συνεχίσω;", "Να συνεχίσω;"),
        ("Shall I? 🙂", "Shall I?"),
        ("Continue? [y/N]", "Continue?"),
        ("要嗎？（預設否）", "要嗎？"),
        ("[Go?](http://x)", "Go?"),
        ("Fixed it. Add a test?", "Add a test?"),
    ] {
        asks(text, detail);
    }
}

#[test]
fn h66_what_may_follow_a_question() {
    for tail in [
        "\n```\ncode?\n```",
        "\n~~~\ncode\n~~~\n",
        "\n````\n```\n````",
        "\n```\nunclosed",
        "\n\n---",
        "\n* * *",
        "\n<br>",
        "<br/>",
        "\n<!-- note -->",
        "\n<!-- a note\nof three\nlines -->",
        "\n</details>",
        "\n🙂🎉",
        "\n1\u{fe0f}\u{20e3}",
        "\r\n\r\n",
    ] {
        asks(&format!("Is it ok?{tail}"), "Is it ok?");
    }
}

#[test]
fn h66_statements_code_paths_and_operators_ask_nothing() {
    silent(&[
        "Done.",
        "See https://x.org/find?",
        "*.py?",
        "regex `a?`",
        "`Shall I?`",
        "echo $?",
        "x = ?",
        "A? B.",
        "Text.\n```\nShall I?",
        "really?.",
        "Please confirm.",
        "是否繼續",
        "Do this:\n- A\n- B",
        "C:\\temp\\?",
        "/* why? */",
        "?",
        "",
        "\n",
        "Is it `foo? (x`)",
    ]);
}

#[test]
fn h66_courtesy_asks_nothing_unless_the_filter_is_off() {
    silent(&[
        "Any questions?",
        "Any questions? 🙂",
        "**Anything else?**\n\n---",
        "全部完成。還有其他問題嗎？",
        "All is done. Any questions?",
        "All is done. Questions?",
        "Any questions?\n- A\n- B",
    ]);
    assert_eq!(question("Any questions?", &[]).as_deref(), Some("Any questions?"));
    asks("Anything else to fix?", "Anything else to fix?");
}

#[test]
fn a_question_before_a_list_of_options() {
    for list in [
        "- A\n- B",
        "\n1. A\n2. B",
        "a) A\n\nb) B",
        "- A\n  more\n  - deeper\n- B",
        "  * A\n  * B",
        "1、甲\n2、乙",
        "**1.** A\n**2.** B",
    ] {
        asks(&format!("Which one?\n{list}"), "Which one?");
    }
    let long = format!("Which one?\n- A\n- {}", "x".repeat(120));
    let ten: String = (0..10).map(|i| format!("\n{i}. x")).collect();
    silent(&[
        "Which one?\n- A",
        &long,
        &format!("Which one?{ten}"),
        "Which one?\n- A\n- B\n\nI take A.",
        "1. A\n2. B",
    ]);
    asks("Options:\n1. fix A?\n2. fix B?", "fix B?");
}

#[test]
fn line_ends_of_all_kinds_and_invisible_characters() {
    for end in [
        "\n", "\r", "\r\n", "\u{b}", "\u{c}", "\u{1c}", "\u{1d}", "\u{1e}", "\u{85}", "\u{2028}", "\u{2029}",
    ] {
        asks(&format!("Done.{end}Shall I go on?"), "Shall I go on?");
        silent(&[&format!("Shall I go on?{end}Done.")]);
    }
    asks("Shall I go on\u{200b}?\u{fe0f}", "Shall I go on?");
}

#[test]
fn a_hint_is_taken_once_and_only_behind_a_mark() {
    for hint in [" (y/n)", " [Y/n]:", " (yes/no) ", " [^1]", "[^note]", " (a (b))"] {
        asks(&format!("Shall I go on?{hint}"), "Shall I go on?");
    }
    silent(&[
        "Shall I go on? (y/n) (default y)",
        "It fails (why?) (y/n)",
        &format!("Ok so? ({})", "x".repeat(39)),
    ]);
}

#[test]
fn emphasis_is_resolved_and_globs_are_not_emphasis() {
    asks("Do you want **A** or **B**?", "Do you want A or B?");
    asks("Is it ~~this~~ *that*?", "Is it this that?");
    asks("Is snake_case_name ok?", "Is snake_case_name ok?");
    silent(&["Delete *.py or *.rs?", "Delete a*?"]);
}

#[test]
fn links_become_text_and_images_vanish() {
    asks(
        "See [the page](http://x.org/a_(b)), is it right?",
        "See the page, is it right?",
    );
    asks("[Shall I go on?][docs]", "Shall I go on?");
    silent(&["![what?](a.png)", "See [docs](https://x.org/find?)"]);
}

#[test]
fn the_detail_is_the_last_sentence_if_it_can_stand_alone() {
    for (text, detail) in [
        ("It failed! Shall I retry now?", "Shall I retry now?"),
        ("Hecho. ¿Quieres que siga?", "¿Quieres que siga?"),
        ("It is done. Ok?", "It is done. Ok?"),
        ("I ran v2.0 today, shall I go on?", "I ran v2.0 today, shall I go on?"),
        ("e.g. this one, shall I go on?", "e.g. this one, shall I go on?"),
        ("全部完成。要我繼續嗎？", "要我繼續嗎？"),
        ("完成。要嗎？", "完成。要嗎？"),
        ("> 1. ### **Shall I?**", "Shall I?"),
        ("<p>Shall I go on?</p>", "Shall I go on?"),
        ("(Shall I?)", "Shall I?"),
        ("(a) Shall I?", "Shall I?"),
    ] {
        asks(text, detail);
    }
    let long = format!("{}?", "很".repeat(200));
    let detail = ask(&long).unwrap();
    assert_eq!((detail.chars().count(), detail.chars().last()), (160, Some('…')));
}

#[test]
fn only_the_last_64_kib_count() {
    asks(&format!("```\n{}\nIs it ok?", "x".repeat(70_000)), "Is it ok?");
    asks(&format!("{}\nIs it ok?", "é".repeat(40_000)), "Is it ok?");
}

#[test]
fn hostile_texts_take_no_time() {
    let n = 64 * 1024;
    let many = |unit: &str, end: &str| format!("{}{end}", unit.repeat(n / unit.len()));
    let mut slowest = (Duration::ZERO, "");
    for unit in [
        "[",
        "]",
        "[](",
        "[x](",
        "[x][",
        "![](",
        "()",
        "(",
        "`",
        "`` ` ",
        "*",
        "*a",
        "**a ",
        "_a",
        "~~",
        "<",
        "</",
        "<br>",
        "<!--",
        "-->",
        "> ",
        "- ",
        "- x\n",
        "\n",
        "```\n",
        "? ",
        "?",
        "! ",
        "！ ",
        ". A",
        ". (",
        "。",
        "」",
        "\u{20e3}",
        "1\u{20e3}",
        "🙂",
        "😀\n",
        "-",
        "<!-- \n",
        "; ",
        "λ;",
        "#",
        "(? ",
        "?(",
        "？（",
        "\\*",
        "\t",
        " ",
        "\u{301}",
        "1. ",
        "a) ",
    ] {
        for text in [many(unit, " ok? (y/n)"), format!("Is it ok?{}", many(unit, ""))] {
            let started = Instant::now();
            ask(&text);
            slowest = slowest.max((started.elapsed(), unit));
        }
    }
    // linear work takes some 20 ms unoptimised; quadratic work would take minutes
    assert!(slowest.0.as_secs() < 5, "{slowest:?}");
}

fn fragments() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("?".to_string()),
        Just("？".into()),
        Just(";".into()),
        Just("λ".into()),
        Just("**".into()),
        Just("_".into()),
        Just("~~".into()),
        Just("`".into()),
        Just("```".into()),
        Just("\n".into()),
        Just("- ".into()),
        Just("1. ".into()),
        Just("[a](b)".into()),
        Just("![".into()),
        Just("](".into()),
        Just("<br>".into()),
        Just("</p>".into()),
        Just("<!--".into()),
        Just("-->".into()),
        Just("(y/n)".into()),
        Just("（".into()),
        Just("）".into()),
        Just("。".into()),
        Just(". ".into()),
        Just("🙂".into()),
        Just("\u{200d}".into()),
        Just("\u{1b}[31m".into()),
        Just("\u{202e}".into()),
        "[a-zA-Z]{1,8} ?",
        any::<String>(),
    ];
    proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_text_gives_a_clean_detail_or_none(text in fragments()) {
        if let Some(detail) = ask(&text) {
            prop_assert!(!detail.is_empty() && detail.chars().count() <= 160);
            prop_assert_eq!(&detail, &ring_session::text::clean(&detail, 160));
        }
    }

    #[test]
    fn a_plain_question_at_the_end_always_counts(text in "[a-z .\n]{0,80}") {
        let asked = ask(&format!("{text}\nShall I do that now?"));
        prop_assert_eq!(asked.as_deref(), Some("Shall I do that now?"));
    }
}
