//! Every form of a real board.
#![allow(clippy::unwrap_used)]

mod world;

use serde_json::json;
use world::{NOW, World, ran, wait};

fn three() -> World {
    let world = World::new();
    world.row(
        "3f2a",
        "waiting",
        NOW - 4000,
        json!({"origin_cwd":"/w/app","cwd":"/w/app","term":{"tty":"/dev/pts/3"}}),
    );
    world.row(
        "77aa",
        "idle",
        NOW - 7_200_000,
        json!({"origin_cwd":"/w/docs","cwd":"/w/docs","title":"fix the flaky test"}),
    );
    world.row(
        "0199",
        "working",
        NOW - 720_000,
        json!({"origin_cwd":"/w/api","cwd":world.path("home/src/api"),"last_action":"cargo test","seen_ms":NOW - 1000}),
    );
    world
}

#[test]
fn c1_the_states_have_their_words_in_two_languages() {
    let world = three();
    let table = world.scan(&[]);
    assert_eq!(
        table.out,
        "\
3 sessions · 1 waits for you
🔴 waiting  generic  app    4s  pts/3      permission  Bash: git push origin main
🟢 working  generic  api   12m  ~/src/api  cargo test
🟡 idle     generic  docs   2h  /w/docs    fix the flaky test
"
    );
    let zh = ran(world.command(&[]).env("LANG", "zh_TW.UTF-8"));
    for word in ["🔴 在等你", "🟢 工作中", "🟡 跑完停著", "3 個工作階段 · 1 個在等你"] {
        assert!(zh.out.contains(word), "{}", zh.out);
    }
    assert_eq!(
        ran(world.command(&["--format", "json"]).env("LANG", "zh_TW.UTF-8")).json()["sessions"][0]["status"],
        "waiting"
    );
    world.write("config.toml", "lang = \"zh-TW\"\nmarkers = \"ascii\"\n");
    assert!(world.scan(&[]).out.contains("! 在等你"));
    assert_eq!(world.scan(&["--format", "oneline"]).out, "!1 *1 -1\n");
}

#[test]
fn c50_colours_are_for_terminals_and_for_who_asks() {
    let world = three();
    assert!(!world.scan(&[]).out.contains('\u{1b}'));
    let coloured = world.scan(&["--color", "always"]).out;
    assert!(coloured.contains("\u{1b}[1;31m🔴 waiting\u{1b}[0m"), "{coloured:?}");
    assert!(
        ran(world.command(&[]).env("CLICOLOR_FORCE", "1"))
            .out
            .contains('\u{1b}')
    );
    assert!(
        !ran(world.command(&[]).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"))
            .out
            .contains('\u{1b}')
    );
    assert!(
        !ran(world.command(&["--color", "never"]).env("CLICOLOR_FORCE", "1"))
            .out
            .contains('\u{1b}')
    );
    for form in ["json", "jsonl", "tsv", "oneline", "waybar", "tmux"] {
        assert!(
            !world
                .scan(&["--color", "always", "--format", form])
                .out
                .contains('\u{1b}'),
            "{form}"
        );
    }
    world.write(
        "config.toml",
        "[colors]\nwaiting = \"blurple\"\nidle = \"underline #0a0b0c\"\n",
    );
    let bad = world.scan(&["--color", "always"]);
    assert!(
        bad.err.contains("colors.waiting") && bad.err.contains("blurple"),
        "{}",
        bad.err
    );
    assert!(bad.out.contains("\u{1b}[4;38;2;10;11;12m🟡 idle"), "{:?}", bad.out);
}

#[test]
fn c50_a_parent_with_its_own_screen_sets_the_width() {
    let world = three();
    let narrow = ran(world.command(&[]).env("COLUMNS", "40"));
    assert!(
        narrow.out.contains("🔴 waiting  app    4s  permission  B"),
        "{}",
        narrow.out
    );
    assert!(narrow.out.lines().all(|l| l.chars().count() <= 40), "{}", narrow.out);
}

#[test]
fn c51_an_empty_board_is_one_empty_line_in_oneline() {
    let world = World::new();
    let empty = world.scan(&["--format", "oneline"]);
    assert_eq!((empty.status, empty.out.as_str()), (0, "\n"));
    assert_eq!(three().scan(&["--format", "oneline"]).out, "🔴1 🟢1 🟡1\n");
}

#[test]
fn c44_c70_two_runs_with_one_clock_are_equal_and_the_clock_moves_every_age() {
    let world = three();
    let board = || {
        let mut board = world.scan(&["--format", "json"]).json();
        for source in board["sources"].as_array_mut().unwrap() {
            source["took_ms"] = json!(0);
        }
        board
    };
    assert_eq!(board(), board());
    for form in ["human", "jsonl", "tsv", "oneline", "waybar", "tmux"] {
        assert_eq!(
            world.scan(&["--format", form]).out,
            world.scan(&["--format", form]).out,
            "{form}"
        );
    }
    let later = world.scan_at(NOW + 60_000, &["--format", "json"]).json();
    let ages = |board: &serde_json::Value| {
        board["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["age_ms"].as_i64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        ages(&later),
        ages(&board()).iter().map(|a| a + 60_000).collect::<Vec<_>>()
    );
    assert_eq!(later["now_ms"], NOW + 60_000);
}

#[test]
fn c53_hostile_texts_are_inert_in_every_form() {
    let world = World::new();
    let title = "a\u{1b}[31mb\u{1b}]0;owned\u{7}c\u{202e}d\ne\tf\u{9b}1m<script>#[fg=red]#(id)";
    world.row(
        "bad",
        "idle",
        NOW - 1000,
        json!({"title":title,"origin_cwd":format!("/w/{title}"),"last_action":title,"note":title}),
    );
    world.row(
        "ask",
        "waiting",
        NOW - 1000,
        json!({"waits":[wait(NOW - 1000, "permission", title)]}),
    );
    for form in ["human", "json", "jsonl", "tsv", "oneline", "waybar", "tmux"] {
        let text = world.scan(&["--format", form]).out;
        let bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!text.contains(bad), "{form}: {text:?}");
        assert!(!text.contains("owned"), "{form}: {text:?}");
        assert!(
            !text.contains("\\u001b") && !text.contains("\\u202e"),
            "{form}: {text:?}"
        );
    }
    assert_eq!(world.scan(&[]).out.lines().count(), 3);
    assert!(
        world
            .scan(&["--format", "tsv"])
            .out
            .lines()
            .all(|l| l.split('\t').count() == 9)
    );
    for command in ["show", "explain"] {
        for form in ["human", "json"] {
            let text = world.scan(&["--format", form, command, "generic:ask"]).out;
            assert!(
                !text.contains(|c: char| c.is_control() && c != '\n'),
                "{command}: {text:?}"
            );
        }
    }
}

#[test]
fn c45_bad_rows_beside_good_ones_do_no_harm() {
    let world = three();
    world.write("state/status/generic:a.json", "[]");
    world.write("state/status/generic:b.json", "{\"schema\":1,\"key\":\"gener");
    world.write("state/status/generic:c.json", b"\xff\xfe\x00");
    world.write("state/status/generic:d.json", "");
    let board = world.scan(&["--format", "json"]).json();
    assert_eq!(board["sessions"].as_array().unwrap().len(), 3);
    let doctor = world.scan(&["--format", "json", "doctor"]).json();
    let named = doctor["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|c| c["id"] == "files.unreadable" && c["level"] == "warn")
        .count();
    assert_eq!(named, 4, "{doctor}");
}
