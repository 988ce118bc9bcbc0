//! Settings as people see and change them.
#![allow(clippy::unwrap_used)]

mod world;

use std::fs;
use world::World;

#[test]
fn c62_a_bad_value_is_named_with_file_line_and_key_and_the_default_is_used() {
    let world = World::new();
    let file = world.write("config.toml", "# mine\nmarkers = \"ascii\"\ninterval = \"x\"\n");
    let board = world.scan(&[]);
    assert_eq!(board.status, 0);
    let named = format!("{}:3: interval:", file.display());
    assert!(board.err.contains(&named), "{}", board.err);
    assert_eq!(world.scan(&["config", "get", "interval"]).out, "2\n");
    assert_eq!(world.scan(&["config", "get", "markers"]).out, "ascii\n");
    let all = world.scan(&["--format", "json", "config"]).json();
    let of = |key: &str| {
        all["settings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|e| e["key"] == key)
            .unwrap()
            .clone()
    };
    assert_eq!(of("markers")["origin"], format!("{}:2", file.display()));
    assert_eq!(of("markers")["default"], "emoji");
    assert_eq!(
        (of("interval")["value"].clone(), of("interval")["origin"].clone()),
        (2.into(), "default".into())
    );
}

#[test]
fn c62_a_broken_file_leaves_all_defaults_and_is_said() {
    let world = World::new();
    world.write("config.toml", "markers = \"ascii\"\n[[[");
    let board = world.scan(&["--format", "oneline"]);
    assert_eq!((board.status, board.out.as_str()), (0, "\n"));
    assert!(board.err.contains("config.toml"), "{}", board.err);
    assert_eq!(world.scan(&["config", "get", "markers"]).out, "emoji\n");
}

#[test]
fn c62_set_keeps_comments_and_refuses_what_it_does_not_know() {
    let world = World::new();
    let file = world.write(
        "config.toml",
        "# mine\ninterval = 5 # slow\n\n[colors]\nidle = \"blue\"\n",
    );
    assert_eq!(world.scan(&["config", "set", "interval", "3s"]).status, 0);
    assert_eq!(world.scan(&["config", "set", "plan.claude_auto", "auto"]).status, 0);
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("# mine\ninterval = 3 # slow\n") && text.contains("idle = \"blue\""),
        "{text}"
    );
    for args in [
        ["set", "nope", "1"],
        ["set", "interval", "soon"],
        ["set", "markers", "neon"],
        ["set", "show_all", "perhaps"],
    ] {
        let refused = world.scan(&[&["config"][..], &args].concat());
        assert_eq!((refused.status, refused.out.as_str()), (64, ""), "{args:?}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(
        world.scan(&["--format", "json", "config", "get", "nope"]).code(),
        "INVALID_ARGUMENT"
    );
}

#[test]
fn every_key_is_listed_with_value_and_origin() {
    let world = World::new();
    let table = world.scan(&["config"]).out;
    for key in [
        "lang",
        "interval",
        "colors.waiting",
        "plan.claude_auto",
        "session.permission_mode",
    ] {
        assert!(
            table.lines().any(|l| l.starts_with(key) && l.ends_with("default")),
            "{key}: {table}"
        );
    }
}

#[test]
fn keys_without_effect_are_said_to_have_none() {
    let world = World::new();
    world.write(
        "config.toml",
        "plugins = [\"x\"]\nwaiting_window_seconds = 5\ninterval = 3\n",
    );
    let listed = world.scan(&["config"]);
    assert_eq!(listed.err, "");
    for key in ["plugins", "waiting_window_seconds"] {
        assert!(
            listed
                .out
                .lines()
                .any(|l| l.starts_with(key) && l.ends_with("no effect")),
            "{key}: {}",
            listed.out
        );
    }
    assert!(
        listed
            .out
            .lines()
            .any(|l| l.starts_with("interval") && l.ends_with("config.toml:3  default 2")),
        "{}",
        listed.out
    );
}

#[test]
fn an_unset_text_is_called_so() {
    let world = World::new();
    assert_eq!(world.scan(&["config", "get", "lang"]).out, "(unset)\n");
    assert_eq!(
        world.scan(&["--format", "json", "config", "get", "lang"]).json()["value"],
        ""
    );
}

#[test]
fn a_narrow_terminal_gets_whole_words() {
    let world = World::new();
    world.write("config.toml", "interval = \"x\"\nlang = \"en\"\n");
    for columns in ["60", "80", "100"] {
        for command in ["config", "doctor"] {
            let ran = world::ran(world.command(&[command]).env("COLUMNS", columns));
            for line in ran.out.lines().filter(|l| !l.contains('/')) {
                assert!(line.chars().count() <= columns.parse().unwrap(), "{columns}: {line}");
            }
            let told = ran.out.matches("interval: must be").count() + ran.err.matches("interval: must be").count();
            assert!(told <= 1, "{command}: {}{}", ran.out, ran.err);
        }
    }
}
