use super::*;
use proptest::prelude::*;

fn wanted(command: &str) -> Vec<Wanted> {
    ["SessionStart", "Stop"]
        .map(|event| Wanted {
            event: event.into(),
            entries: vec![Entry {
                role: Role::Hook,
                command: command.into(),
                timeout: 5,
            }],
        })
        .into()
}

const COMMAND: &str = "/bin/ring-hook --agent claude-code";

fn installed(text: &str) -> String {
    install(text, &wanted(COMMAND)).unwrap().text
}

/// Commands of an event in order, group by group.
fn commands(text: &str, event: &str) -> Vec<Vec<String>> {
    let root: serde_json::Value = serde_json::from_str(text).unwrap();
    let groups = root["hooks"][event].as_array().cloned().unwrap_or_default();
    groups
        .iter()
        .map(|g| g["hooks"].as_array().unwrap().iter())
        .map(|hooks| hooks.map(|h| h["command"].as_str().unwrap().to_owned()).collect())
        .collect()
}

#[test]
fn h69_the_entries_stand_behind_the_others_in_the_files_own_style() {
    let text = r#"{
    "model": "opus",
    "hooks": {
        "Stop": [
            { "hooks": [ { "type": "command", "command": "say done" } ] }
        ]
    },
    "z": [1,2,   3]
}
"#;
    let expected = r#"{
    "model": "opus",
    "hooks": {
        "Stop": [
            { "hooks": [ { "type": "command", "command": "say done" } ] },
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": "/bin/ring-hook --agent claude-code",
                        "timeout": 5
                    }
                ]
            }
        ],
        "SessionStart": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": "/bin/ring-hook --agent claude-code",
                        "timeout": 5
                    }
                ]
            }
        ]
    },
    "z": [1,2,   3]
}
"#;
    let edited = install(text, &wanted(COMMAND)).unwrap();
    assert_eq!(edited.text, expected);
    assert_eq!(edited.added, ["SessionStart", "Stop"]);
    assert_eq!(remove(expected, &Hollows::default()).unwrap().text, text);
}

#[test]
fn h69_a_missing_or_empty_file_is_an_empty_object() {
    for text in ["", "\n", "{}", "{}\n"] {
        let with = installed(text);
        assert_eq!(commands(&with, "Stop"), [[COMMAND]]);
        assert_eq!(installed(&with), with);
    }
    assert!(installed("").starts_with("{\n  \"hooks\": {\n    \"SessionStart\": [\n"));
    assert!(installed("").ends_with("}\n"));
}

#[test]
fn h71_an_old_path_and_an_old_timeout_are_healed_in_place() {
    let old = r#"{"hooks":{"Stop":[{"hooks":[{"timeout" :9,"type":"command", "command":"/old/ring-hook --agent claude-code"}]},{"hooks":[]}],"SessionStart":[]}}"#;
    let edited = install(old, &wanted(COMMAND)).unwrap();
    assert!(
        edited
            .text
            .contains(r#"{"timeout" :5,"type":"command", "command":"/bin/ring-hook --agent claude-code"}"#),
        "{}",
        edited.text
    );
    assert_eq!(
        (edited.added, edited.healed),
        (vec!["SessionStart".into()], vec!["Stop".into()])
    );
}

#[test]
fn h71_an_entry_in_a_mixed_group_is_healed_and_its_neighbours_stay() {
    let text = r#"{"hooks": {"Stop": [{"hooks": [{"type":"command","command":"a"}, {"type":"command","command":"/old/ring-hook","timeout":60}, {"type":"prompt","prompt":"b"}]}]}}"#;
    let healed = installed(text);
    assert!(healed.contains(
        r#"[{"type":"command","command":"a"}, {"type":"command","command":"/bin/ring-hook --agent claude-code","timeout":5}, {"type":"prompt","prompt":"b"}]"#
    ));
    let gone = remove(&healed, &Hollows::default()).unwrap().text;
    assert_eq!(
        gone,
        r#"{"hooks": {"Stop": [{"hooks": [{"type":"command","command":"a"}, {"type":"prompt","prompt":"b"}]}]}}"#
    );
}

#[test]
fn h71_an_entry_behind_a_matcher_comes_to_stand_without_one() {
    let mixed = r#"{"hooks":{"Stop":[{"matcher":"x","hooks":[{"type":"command","command":"a"},{"type":"command","command":"/bin/ring-hook --agent claude-code","timeout":5}]}]}}"#;
    let healed = installed(mixed);
    assert!(healed.contains(r#"{"matcher":"x","hooks":[{"type":"command","command":"a"}]}"#));
    assert_eq!(commands(&healed, "Stop"), [vec!["a"], vec![COMMAND]]);
    let alone = r#"{"hooks":{"Stop":[{"matcher":"x","hooks":[{"type":"command","command":"/bin/ring-hook --agent claude-code","timeout":5}]}]}}"#;
    assert!(installed(alone).contains(r#""Stop":[{"hooks":["#));
    assert_eq!(commands(&installed(alone), "Stop"), [[COMMAND]]);
}

#[test]
fn h71_doubles_and_events_that_are_not_wanted_go() {
    let text = r#"{"hooks":{"WorktreeCreate":[{"hooks":[{"type":"command","command":"ring-hook"}]}],"Stop":[{"hooks":[{"type":"command","command":"ring-hook"}]},{"hooks":[{"type":"command","command":"other"}]},{"hooks":[{"type":"command","command":"ring-hook --agent codex"}]}]}}"#;
    let edited = install(text, &wanted(COMMAND)).unwrap();
    assert_eq!(commands(&edited.text, "Stop"), [[COMMAND], ["other"]]);
    assert!(!edited.text.contains("WorktreeCreate"));
    assert_eq!(edited.removed, ["WorktreeCreate"]);
}

#[test]
fn h75_the_entry_becomes_a_pipe_in_place_and_back() {
    let pipe = format!("{COMMAND} --emit | /bin/ring-session hook");
    let plain = installed("{}");
    let edited = install(&plain, &wanted(&pipe)).unwrap();
    assert_eq!(commands(&edited.text, "Stop"), [[pipe]]);
    assert_eq!(edited.healed.len(), 2);
    assert_eq!(installed(&edited.text), plain);
}

#[test]
fn a_handler_with_members_that_we_do_not_write_is_written_anew() {
    let text = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ring-hook","async":true}]}]}}"#;
    assert!(installed(text).contains(
        r#""Stop":[{"hooks":[{"type":"command","command":"/bin/ring-hook --agent claude-code","timeout":5}]}]"#
    ));
}

#[test]
fn h70_files_of_another_shape_are_refused_with_the_line() {
    for (text, line) in [
        ("[]", 1),
        ("\"x\"", 1),
        ("{\n\"hooks\": []}", 2),
        ("{\"hooks\": null}", 1),
        ("{\"hooks\": {\"Stop\": {}}}", 1),
        ("{\"hooks\": {\n\n\"Stop\": \"x\"}}", 3),
        ("{\"hooks\": {\"Stop\": [1]}}", 1),
        ("{\"hooks\": {\"Stop\": [{\"hooks\": {}}]}}", 1),
        ("{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": 5}]}]}}", 1),
        ("{\"a\": 1,}", 1),
        ("// c\n{}", 1),
        ("garbage", 1),
    ] {
        assert_eq!(install(text, &wanted(COMMAND)).unwrap_err().line, line, "{text}");
        assert!(remove(text, &Hollows::default()).is_err(), "{text}");
    }
}

#[test]
fn a_name_that_comes_twice_is_edited_where_it_counts() {
    let text = r#"{"hooks": 1, "hooks": {"Stop": 1, "Stop": []}}"#;
    let with = installed(text);
    assert!(
        with.starts_with(r#"{"hooks": 1, "hooks": {"Stop": 1, "Stop": [{"hooks": "#),
        "{with}"
    );
    assert_eq!(remove(&with, &Hollows::of(text)).unwrap().text, text);
}

/// White space as files have it between tokens.
#[derive(Clone, Debug)]
struct Look {
    newline: &'static str,
    step: String,
    colon: &'static str,
    one_line: bool,
    hollow: String,
    end: &'static str,
    start: &'static str,
}

fn look() -> impl Strategy<Value = Look> {
    (
        prop_oneof![Just("\n"), Just("\r\n")],
        prop_oneof![Just("  "), Just("    "), Just("\t"), Just(" "), Just("")].prop_map(str::to_owned),
        prop_oneof![Just(": "), Just(":"), Just(" : ")],
        any::<bool>(),
        prop_oneof![Just(""), Just(" "), Just("\n"), Just("\n  ")].prop_map(str::to_owned),
        prop_oneof![Just(""), Just("\n"), Just("\r\n"), Just("\n\n"), Just("  ")],
        prop_oneof![9 => Just(""), 1 => Just("\u{FEFF}"), 1 => Just("\n ")],
    )
        .prop_map(|(newline, step, colon, one_line, hollow, end, start)| Look {
            newline,
            step,
            colon,
            one_line,
            hollow,
            end,
            start,
        })
}

impl Look {
    fn write(&self, value: &serde_json::Value, depth: usize) -> String {
        let (open, close, items): (_, _, Vec<String>) = match value {
            serde_json::Value::Array(items) => ('[', ']', items.iter().map(|v| self.write(v, depth + 1)).collect()),
            serde_json::Value::Object(members) => {
                let written = |(k, v): (&String, &serde_json::Value)| {
                    format!(
                        "{}{}{}",
                        serde_json::Value::from(k.as_str()),
                        self.colon,
                        self.write(v, depth + 1)
                    )
                };
                ('{', '}', members.iter().map(written).collect())
            }
            scalar => return scalar.to_string(),
        };
        if items.is_empty() {
            return format!("{open}{}{close}", self.hollow);
        }
        if self.one_line {
            return format!("{open}{}{close}", items.join(", "));
        }
        let line = |n: usize| format!("{}{}", self.newline, self.step.repeat(n));
        format!(
            "{open}{}{}{}{close}",
            line(depth + 1),
            items.join(&format!(",{}", line(depth + 1))),
            line(depth)
        )
    }

    fn file(&self, value: &serde_json::Value) -> String {
        format!("{}{}{}", self.start, self.write(value, 0), self.end)
    }
}

fn scalar() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        "\\PC{0,8}".prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
    ]
}

fn handler() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        "[a-z /'\"é漢]{1,12}".prop_map(|c| serde_json::json!({"type": "command", "command": format!("x{c}")})),
        scalar().prop_map(|v| serde_json::json!({"type": "http", "url": v, "timeout": 7})),
    ]
}

fn group() -> impl Strategy<Value = serde_json::Value> {
    let handlers = proptest::collection::vec(handler(), 0..3);
    prop_oneof![
        (handlers, proptest::option::of("[A-Z*|a]{0,5}")).prop_map(|(hooks, matcher)| match matcher {
            Some(m) => serde_json::json!({"matcher": m, "hooks": hooks}),
            None => serde_json::json!({"hooks": hooks, "note": "n"}),
        }),
        Just(serde_json::json!({})),
    ]
}

fn settings() -> impl Strategy<Value = serde_json::Value> {
    let event = prop_oneof![
        Just("Stop".to_owned()),
        Just("SessionStart".to_owned()),
        Just("PreToolUse".to_owned()),
        "[A-Za-z]{1,6}"
    ];
    let hooks = proptest::collection::btree_map(event, proptest::collection::vec(group(), 0..3), 0..4);
    let others = proptest::collection::btree_map("[a-g]{1,3}|permissions|z", scalar(), 0..4);
    (others, proptest::option::of(hooks)).prop_map(|(others, hooks)| {
        let mut all = serde_json::to_value(others).unwrap();
        if let Some(hooks) = hooks {
            all["hooks"] = serde_json::to_value(hooks).unwrap();
        }
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn h69_install_twice_is_once_and_remove_gives_the_exact_bytes_back(value in settings(), look in look()) {
        let text = look.file(&value);
        let once = installed(&text);
        prop_assert_eq!(&installed(&once), &once, "a second install writes nothing");
        prop_assert_eq!(remove(&once, &Hollows::of(&text)).unwrap().text, text);
    }

    #[test]
    fn h69_everything_else_stays_as_it_was(value in settings(), look in look()) {
        let text = look.file(&value);
        let once = installed(&text);
        let mut with: serde_json::Value = serde_json::from_str(once.trim_start_matches('\u{FEFF}')).unwrap();
        for event in ["SessionStart", "Stop"] {
            let groups = with["hooks"][event].as_array_mut().unwrap();
            let last = groups.pop().unwrap();
            prop_assert_eq!(&last["hooks"][0]["command"], COMMAND);
            if groups.is_empty() && value["hooks"][event].is_null() {
                with["hooks"].as_object_mut().unwrap().remove(event);
            }
        }
        if with["hooks"].as_object().unwrap().is_empty() && value["hooks"].is_null() {
            with.as_object_mut().unwrap().remove("hooks");
        }
        let before: serde_json::Value = serde_json::from_str(text.trim_start_matches('\u{FEFF}')).unwrap();
        prop_assert_eq!(with, before);
    }

    #[test]
    fn no_text_makes_it_panic(text in r#"[\[\]{},:"hoksStp0 \n]{0,24}"#) {
        install(&text, &wanted(COMMAND)).map(|e| e.text).unwrap_or_default();
        remove(&text, &Hollows::default()).map(|e| e.text).unwrap_or_default();
    }
}
