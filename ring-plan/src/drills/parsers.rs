//! The parsers of ring-plan on texts that nobody would write: slug, criteria, report.

use crate::criteria::{Criterion, collapsed, criteria};
use crate::instruction::report_in;
use crate::report;
use crate::slug::slug;
use proptest::prelude::*;
use ring_session::Code;
use serde_json::{Value, json};

/// Texts with all that parsers stumble over.
fn odd() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,8}",
        "[a-zA-Z0-9 ._/\\\\-]{0,12}",
        Just("\u{202e}".to_owned()),
        Just("\u{1b}[2J".to_owned()),
        Just("e\u{301}\u{10400}計画".to_owned()),
        Just("../".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n\n# Acceptance criteria\n".to_owned()),
        Just("\n- ".to_owned()),
        Just("\n```".to_owned()),
        Just("\n~~~~ ring-report\n".to_owned()),
        Just("\n\t12) [x]".to_owned()),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|all| all.concat())
}

/// A slug without its limits.
fn unlimited(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    words
        .collect::<Vec<_>>()
        .join("-")
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// One line of a list with a text.
fn item(marker: &str, text: &str) -> String {
    format!("{marker} {text}\n")
}

/// A part of a document, and the criteria in it if it stands in the section.
fn part() -> impl Strategy<Value = (String, Vec<String>)> {
    let marker = prop_oneof![
        Just("-"),
        Just("*"),
        Just("+"),
        Just("1."),
        Just("23)"),
        Just("- [ ]"),
        Just("* [x]"),
        Just("1. [X]"),
    ];
    let words = "[a-z]{1,8}( {1,3}[a-z]{1,8}){0,3}";
    prop_oneof![
        4 => (marker, words).prop_map(|(m, t)| (item(m, &t), vec![collapsed(&t)])),
        // what is nested belongs to its parent, what goes on is of its text
        1 => (words, words).prop_map(|(t, n)| (format!("- {t}\n    - {n}\n      1. {n}\n"), vec![collapsed(&t)])),
        1 => (words, words).prop_map(|(t, n)| (format!("- {t}\n  {n}\n"), vec![collapsed(&format!("{t} {n}"))])),
        1 => words.prop_map(|t| (format!("\n{t}\n\n"), Vec::new())),
        1 => words.prop_map(|t| (format!("```x\n- {t}\n# Acceptance criteria\n```\n"), Vec::new())),
        1 => words.prop_map(|t| (format!("~~~~\n- {t}\n~~~\n- {t}\n~~~~\n"), Vec::new())),
        1 => words.prop_map(|t| (format!("\n```{t}``` in a line\n\n"), Vec::new())),
        1 => words.prop_map(|t| (format!("\n###### {t}\n\n"), Vec::new())),
        1 => Just(("\n---\n".to_owned(), Vec::new())),
    ]
}

/// Headings that are meant.
fn heading() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("# Acceptance criteria"),
        Just("## ACCEPTANCE CRITERIA:"),
        Just("### 3. **Acceptance Criteria**"),
        Just("#### _acceptance  criteria_ ####"),
        Just("##### 1.2) Acceptance criteria"),
    ]
}

fn parts() -> impl Strategy<Value = Vec<(String, Vec<String>)>> {
    prop::collection::vec(part(), 0..12)
}

fn named(n: usize) -> Vec<Criterion> {
    let one = |n: usize| Criterion {
        id: format!("c{n}"),
        text: format!("text of {n}"),
    };
    (1..=n).map(one).collect()
}

/// What a report does with a criterion.
#[derive(Clone, Debug)]
enum Entry {
    ById,
    ByText,
    Twice,
    Blank,
    Bad,
    Left,
}

fn entry() -> impl Strategy<Value = Entry> {
    prop_oneof![
        6 => Just(Entry::ById),
        3 => Just(Entry::ByText),
        1 => Just(Entry::Twice),
        1 => Just(Entry::Blank),
        1 => Just(Entry::Bad),
        1 => Just(Entry::Left),
    ]
}

fn cases() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn p8_a_slug_is_a_name_of_limited_length_whatever_the_title_is(title in odd()) {
        let name = slug(&title, "plan");
        prop_assert!((1..=64).contains(&name.chars().count()) && name.len() <= 180, "{name}");
        prop_assert!(name.chars().all(|c| (c.is_alphanumeric() || c == '-') && !c.is_ascii_uppercase()), "{name}");
        prop_assert!(!name.starts_with('-') && !name.ends_with('-') && !name.contains("--"), "{name}");
        prop_assert_eq!(slug(&name, "plan"), name.clone());
        let whole = unlimited(&title);
        if whole.is_empty() {
            prop_assert_eq!(name, "plan");
        } else {
            // cut no earlier than it must be, a dash at the cut aside
            let rest = whole.strip_prefix(&name);
            prop_assert!(rest.is_some(), "{name} of {whole}");
            let next: String = rest.unwrap().chars().take_while(|c| *c == '-').collect();
            let more = rest.unwrap().chars().find(|c| *c != '-');
            let fits = more.is_some_and(|c| {
                name.chars().count() + next.len() < 64 && name.len() + next.len() + c.len_utf8() <= 180
            });
            prop_assert!(!fits, "{name} of {whole}");
        }
    }

    #[test]
    fn p40_criteria_are_numbered_bounded_and_of_the_text_whatever_it_is(markdown in odd()) {
        let all = criteria(&markdown);
        prop_assert!(all.len() <= 200);
        for (n, one) in all.iter().enumerate() {
            prop_assert_eq!(&one.id, &format!("c{}", n + 1));
            prop_assert!(!one.text.is_empty());
            prop_assert_eq!(collapsed(&one.text), one.text.clone());
            prop_assert!(one.text.split(' ').all(|word| markdown.contains(word)), "{}", one.text);
        }
        prop_assert!(all.is_empty() || markdown.to_lowercase().contains("acceptance"));
    }

    #[test]
    fn p40_the_section_holds_its_top_level_items_and_no_others(
        before in parts(), title in heading(), inside in parts(), after in parts(), line_end in prop_oneof![Just("\n"), Just("\r\n")]
    ) {
        let level = title.chars().take_while(|c| *c == '#').count();
        let text = |all: &[(String, Vec<String>)]| all.iter().map(|(t, _)| t.as_str()).collect::<String>();
        let next = format!("\n{} Boundaries\n\n", "#".repeat(level));
        let markdown = format!("# Goal\n\n{}\n{title}\n\n{}{next}{}", text(&before), text(&inside), text(&after));
        let expected: Vec<&String> = inside.iter().flat_map(|(_, c)| c).collect();
        let found = criteria(&markdown.replace('\n', line_end));
        let found: Vec<&String> = found.iter().map(|c| &c.text).collect();
        prop_assert_eq!(found, expected, "{}", markdown);
    }

    #[test]
    fn p38_a_report_is_taken_if_nothing_is_passed_over_and_else_says_what_is(
        all in prop::collection::vec(entry(), 1..8), unknown in prop::bool::weighted(0.1), reversed in any::<bool>()
    ) {
        let known = named(all.len());
        let (mut entries, mut missing, mut duplicate, mut blank, mut bad) = (vec![], vec![], vec![], vec![], vec![]);
        for (one, how) in known.iter().zip(&all) {
            let id = &one.id;
            let good = json!({"id": id, "outcome": "met", "evidence": "seen"});
            match how {
                Entry::ById => entries.push(good),
                Entry::ByText => {
                    let spaced = one.text.replace(' ', " \t ");
                    entries.push(json!({"criterion": spaced, "outcome": "blocked", "evidence": "e".repeat(4000)}));
                }
                Entry::Twice => {
                    entries.extend([good.clone(), good]);
                    duplicate.push(id.clone());
                }
                Entry::Blank => {
                    entries.push(json!({"id": id, "outcome": "unmet", "evidence": " \n"}));
                    blank.push(id.clone());
                }
                Entry::Bad => {
                    entries.push(json!({"id": id, "outcome": "MET", "evidence": "seen"}));
                    bad.push(id.clone());
                }
                Entry::Left => missing.push(id.clone()),
            }
        }
        if unknown {
            entries.push(json!({"id": "c99", "outcome": "met", "evidence": "seen"}));
        }
        if reversed {
            entries.reverse();
        }
        let given = json!({"criteria": entries, "summary": "s"});
        let text = serde_json::to_string_pretty(&given).unwrap();
        let judged = report::of_goal(Some(text.as_bytes()), &known);
        let lists = [("missing", missing), ("duplicate", duplicate), ("blank_evidence", blank), ("bad_outcome", bad),
            ("unknown", if unknown { vec!["c99".to_owned()] } else { vec![] })];
        if lists.iter().all(|(_, list)| list.is_empty()) {
            let raw = judged.unwrap();
            prop_assert!(!raw.0.get().contains('\n'));
            prop_assert_eq!(serde_json::from_str::<Value>(raw.0.get()).unwrap(), given);
        } else {
            let refusal = judged.unwrap_err();
            prop_assert_eq!(refusal.code, Code::InvalidArgument);
            prop_assert_eq!(&refusal.details["reason"], "report_invalid");
            for (name, mut list) in lists {
                let mut said: Vec<String> = refusal.details.get(name).map_or_else(Vec::new, |l| serde_json::from_value(l.clone()).unwrap());
                said.sort();
                list.sort();
                prop_assert_eq!(said, list, "{}: {}", name, text);
            }
        }
    }

    #[test]
    fn p38_what_is_no_report_is_refused_and_never_more_than_that(bytes in prop::collection::vec(any::<u8>(), 0..64), text in odd()) {
        for bytes in [&bytes[..], text.as_bytes()] {
            let refusal = report::of_goal(Some(bytes), &named(2)).unwrap_err();
            prop_assert_eq!(refusal.code, Code::InvalidArgument);
        }
        let half = json!({"criteria": [{"id": "c1", "outcome": "met", "evidence": text}], "summary": text}).to_string();
        for end in (0..half.len()).filter(|n| half.is_char_boundary(*n)).step_by(7) {
            prop_assert!(report::of_goal(Some(&half.as_bytes()[..end]), &named(1)).is_err());
        }
    }

    #[test]
    fn p36_the_last_block_of_reports_is_found_in_any_answer(
        text in "[a-z \n]{0,40}", bodies in prop::collection::vec("[a-z{}\":,]{1,20}", 0..4), marks in 3usize..6
    ) {
        let fence = "`".repeat(marks);
        let block = |body: &String| format!("\n{fence} ring-report\n{body}\n{fence}\n{text}");
        let answer = format!("{text}\n```json\n{{}}\n```\nuse ```x``` and {}", bodies.iter().map(block).collect::<String>());
        prop_assert_eq!(report_in(&answer), bodies.last().cloned());
    }

    #[test]
    fn p36_no_answer_is_too_odd_to_look_for_a_report(text in odd()) {
        if let Some(found) = report_in(&text) {
            prop_assert!(found.lines().all(|l| text.contains(l)));
        }
    }
}
