use super::edit::{edited, set_within, write};
use super::file::parse;
use super::keys::{KEYS, Kind, Standing};
use super::*;
use crate::refusal::Code;
use crate::state_dir::StateDir;
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn with(text: &str) -> Place {
        let place = Place {
            dir: tempfile::tempdir().unwrap(),
        };
        fs::write(place.file(), text).unwrap();
        place
    }
    fn file(&self) -> PathBuf {
        self.dir.path().join("config.toml")
    }
    fn state(&self) -> StateDir {
        StateDir::at(self.dir.path().join("state"))
    }
    fn load(&self) -> (Settings, Vec<Problem>) {
        Settings::load(Some(&self.file()))
    }
    fn set(&self, key: &str, words: &str) -> Result<Value, crate::Refusal> {
        set(&self.state(), &self.file(), key, words)
    }
    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }
}

fn loaded(text: &str) -> (Settings, Vec<Problem>) {
    Place::with(text).load()
}

#[test]
fn every_default_of_the_table_is_the_default_in_force() {
    let mut settings = Settings::default();
    for key in KEYS {
        key.put(&mut settings, key.default());
        assert_eq!(settings, Settings::default(), "{}", key.name);
    }
}

#[test]
fn every_key_has_a_place_of_its_own_and_a_value_that_reaches_it() {
    let mut seen: Vec<&str> = Vec::new();
    for key in KEYS.iter().filter(|k| !matches!(k.kind, Kind::Ignored)) {
        assert!(!seen.contains(&key.name), "{} stands twice", key.name);
        seen.push(key.name);
        let other = match key.default() {
            Value::Bool(v) => Value::Bool(!v),
            Value::Text(_) => Value::Text("other".into()),
            Value::Span(v) => Value::Span(v + 1),
            Value::Count(v) => Value::Count(v + 1),
            Value::Texts(_) => Value::Texts(vec!["other".into()]),
            Value::Spans(_) => Value::Spans(vec![7]),
        };
        let mut settings = Settings::default();
        key.put(&mut settings, other);
        assert_ne!(settings, Settings::default(), "{}", key.name);
        if let Standing::Flat(target) = key.standing {
            assert!(keys::find(target).is_some(), "{target}");
        }
    }
}

#[test]
fn no_file_no_home_and_an_empty_file_are_all_defaults_without_a_word() {
    assert_eq!(Settings::load(None), (Settings::default(), Vec::new()));
    assert_eq!(
        Settings::load(Some("/nonexistent/config.toml".as_ref())),
        (Settings::default(), Vec::new())
    );
    for text in ["", "\n# nothing\r\n", "\u{feff}"] {
        assert_eq!(loaded(text), (Settings::default(), Vec::new()));
    }
}

#[test]
fn values_of_every_type_are_taken_from_the_file_and_seconds_become_milliseconds() {
    let (settings, problems) = loaded(
        "\u{feff}markers = 'ascii'\r\ninterval = 0.5\nactive_window_seconds = 21_601\nlegend = false\nhosts = [\"a\", 'b']\n\
         [colors]\nwaiting = \"magenta\"\n[notify]\nrepeat_seconds = [1, 2.5]\nrepeat_max = 0x10\n",
    );
    assert_eq!(problems, []);
    assert_eq!(settings.markers, "ascii");
    assert_eq!(
        (settings.interval_ms, settings.active_window_ms, settings.legend),
        (500, 21_601_000, false)
    );
    assert_eq!(settings.hosts, ["a", "b"]);
    assert_eq!(settings.colors.waiting, "magenta");
    assert_eq!(settings.colors.working, "green");
    assert_eq!(
        (settings.notify.repeat_ms, settings.notify.repeat_max),
        (vec![1000, 2500], 16)
    );
}

#[test]
fn c62_a_bad_value_names_file_line_and_key_and_the_default_is_used() {
    let (settings, problems) = loaded("# mine\n\ninterval = \"x\"\nmarkers = \"ascii\"\n");
    assert_eq!(settings.interval_ms, 2_000);
    assert_eq!(settings.markers, "ascii");
    let [problem] = problems.as_slice() else {
        panic!("{problems:?}")
    };
    assert!(problem.file.ends_with("config.toml"));
    assert_eq!((problem.line, problem.key.as_str()), (3, "interval"));
    assert_eq!(
        problem.text,
        "must be a number of seconds, from 0.1 to 3600, not \"x\"; 2 is used"
    );
    assert!(
        problem
            .to_string()
            .ends_with("config.toml:3: interval: must be a number of seconds, from 0.1 to 3600, not \"x\"; 2 is used")
    );
}

#[test]
fn c62_values_of_the_wrong_type_or_out_of_range_are_each_told() {
    for text in [
        "interval = 0",
        "interval = -1",
        "interval = inf",
        "interval = nan",
        "interval = 1e300",
        "active_window_seconds = 9223372036854775807",
        "active_window_seconds = -1",
        "show_all = 1",
        "show_all = \"yes\"",
        "markers = \"letters\"",
        "lang = \"xx\"",
        "hosts = \"a\"",
        "hosts = [1]",
        "sources = [\"hooks\"]",
        "colors.waiting = 3",
        "colors.waiting = \"bold-magenta\"",
        "sources = \"all\"",
        "notify.repeat_max = 1.5",
        "notify.repeat_max = -1",
        "notify.repeat_seconds = 5",
        "notify.debounce_seconds = 31",
        "waiting_cooldown_seconds = -5",
        "session.permission_mode = \"inherit\"",
        "interval = 2026-01-01",
    ] {
        let (settings, problems) = loaded(text);
        assert_eq!(settings, Settings::default(), "{text}");
        assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        assert_eq!(problems[0].line, 1, "{text}");
        assert_eq!(problems[0].key, text.split(" =").next().unwrap());
    }
}

#[test]
fn c62_a_broken_file_gives_all_defaults_and_one_problem_with_its_line() {
    for (text, line) in [
        ("markers = \"ascii\"\ninterval =\n", 2),
        ("markers = \"ascii\"\nmarkers = \"emoji\"\n", 2),
        ("markers = 'ascii'\n\n[colors\n", 3),
        ("a = 1 b = 2", 1),
    ] {
        let (settings, problems) = loaded(text);
        assert_eq!(settings, Settings::default(), "{text:?}");
        let [problem] = problems.as_slice() else {
            panic!("{problems:?}")
        };
        assert_eq!((problem.line, problem.key.as_str()), (line, ""), "{problem:?}");
        assert!(problem.text.ends_with("; all defaults are used"), "{problem:?}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_told_and_never_waited_for() {
    let place = Place::with("x");
    let told = |path: &std::path::Path| {
        let (settings, problems) = Settings::load(Some(path));
        assert_eq!(settings, Settings::default());
        assert_eq!(problems.len(), 1, "{}", path.display());
        assert_eq!((problems[0].line, problems[0].key.as_str()), (0, ""));
    };
    told(place.dir.path());
    fs::write(place.file(), b"lang = \"\xff\"").unwrap();
    told(&place.file());
    fs::write(place.file(), vec![b'\n'; 1024 * 1024 + 1]).unwrap();
    told(&place.file());
    told(std::path::Path::new("/dev/zero"));
    let pipe = place.dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    told(&pipe);
}

#[test]
fn unknown_keys_and_tables_are_told_and_the_rest_counts() {
    let (settings, problems) =
        loaded("intervall = 3\nlegend = false\nsession = 3\n[plan]\nauto = true\n[mine]\nx = 1\ny = 2\n");
    assert!(!settings.legend);
    let told: Vec<_> = problems.iter().map(|p| (p.line, p.key.as_str())).collect();
    assert_eq!(told, [(1, "intervall"), (3, "session"), (5, "plan.auto"), (6, "mine")]);
}

#[test]
fn outlets_and_keys_without_effect_are_accepted() {
    let text = "waiting_window_seconds = 3\nplugins = { a = 1 }\nnotify_backend = \"ntfy\"\nnotify_also = [\"bell\"]\n\
                [[notify.outlet]]\nname = \"a\"\ntype = \"bell\"\n";
    let (settings, problems) = loaded(text);
    assert_eq!(problems, []);
    assert_eq!(settings.notify.backend, "ntfy");
    assert_eq!(loaded("notify.outlet = []").1, []);
    let place = Place::with(text);
    let (entries, _) = effective(Some(&place.file()));
    let window = entries.iter().find(|e| e.key == "waiting_window_seconds").unwrap();
    assert_eq!(window.effect, "accepted, no effect");
    assert!(
        effective(None)
            .0
            .iter()
            .all(|e| e.key != "waiting_window_seconds" && e.key != "plugins")
    );
}

#[test]
fn flat_names_count_where_the_table_has_no_value() {
    let (settings, problems) =
        loaded("waiting_cooldown_seconds = 5\nnotify_repeat_max = 1\n[notify]\nrepeat_max = 9\n");
    assert_eq!(problems, []);
    assert_eq!((settings.notify.cooldown_ms, settings.notify.repeat_max), (5_000, 9));
    let place = Place::with("[notify]\nrepeat_max = 9\n");
    place.set("notify_repeat_max", "4").unwrap();
    assert_eq!(place.load().0.notify.repeat_max, 9);
}

#[test]
fn an_unset_courtesy_list_is_the_default_one_and_an_empty_one_switches_the_filter_off() {
    assert!(
        Settings::default()
            .question_courtesy
            .contains(&"any questions".to_owned())
    );
    assert!(loaded("question_courtesy = []").0.question_courtesy.is_empty());
}

#[test]
fn hostile_values_reach_the_terminal_inert() {
    let (_, problems) = loaded("markers = \"\\u001b]0;owned\\u0007\\u202e\"\n\"\\u001b[31m\" = 1\n");
    assert_eq!(problems.len(), 2);
    for problem in problems {
        assert!(!problem.to_string().contains(['\u{1b}', '\u{7}', '\u{202e}']));
    }
}

#[test]
fn effective_lists_every_key_of_today_with_value_default_and_origin() {
    let place = Place::with("legend = false\n[notify]\n\nrepeat_seconds = [1.5]\n");
    let (entries, problems) = effective(Some(&place.file()));
    assert_eq!(problems, []);
    assert_eq!(
        entries.len(),
        KEYS.iter().filter(|k| k.standing == Standing::Current).count()
    );
    let legend = entries.iter().find(|e| e.key == "legend").unwrap();
    assert_eq!(
        (&legend.value, &legend.default),
        (&Value::Bool(false), &Value::Bool(true))
    );
    assert_eq!(legend.origin, format!("{}:1", place.file().display()));
    let repeat = entries.iter().find(|e| e.key == "notify.repeat_seconds").unwrap();
    assert_eq!(repeat.value.to_string(), "[1.5]");
    assert_eq!(serde_json::to_value(&repeat.value).unwrap(), serde_json::json!([1.5]));
    assert!(repeat.origin.ends_with(":4"));
    let interval = entries.iter().find(|e| e.key == "interval").unwrap();
    assert_eq!(
        (interval.value.to_string().as_str(), interval.origin.as_str()),
        ("2", "default")
    );
    assert_eq!(serde_json::to_value(&interval.value).unwrap(), serde_json::json!(2));
    assert!(entries.iter().all(|e| !e.effect.is_empty()));
}

#[test]
fn get_gives_one_key_and_c62_an_unknown_one_is_64() {
    let place = Place::with("plan.claude_auto = 'plan'\nwaiting_cooldown_seconds = 7\n");
    let file = Some(place.file());
    let (entry, _) = get(file.as_deref(), "plan.claude_auto").unwrap();
    assert_eq!(entry.value, Value::Text("plan".into()));
    assert_eq!(
        get(file.as_deref(), "waiting_cooldown_seconds").unwrap().0.value,
        Value::Span(7_000)
    );
    assert_eq!(get(None, "plugins").unwrap().0.effect, "accepted, no effect");
    for name in ["nope", "", "plan", "plan.", "notify.outlet"] {
        let refusal = get(file.as_deref(), name).unwrap_err();
        assert_eq!(refusal.code, Code::InvalidArgument, "{name}");
    }
    let table = get(None, "plan").unwrap_err();
    assert!(table.message.contains("plan.claude_auto"), "{}", table.message);
}

#[test]
fn c62_set_keeps_comments_order_and_layout() {
    let text =
        "# mine\nlegend   =  false   # no legend\n\ninterval = 1\n\n# the plan\n[plan]\nclaude_auto = 'plan' # why\n";
    let place = Place::with(text);
    place.set("legend", "true").unwrap();
    place.set("plan.claude_auto", "auto").unwrap();
    let expected = text.replace("=  false", "=  true").replace("'plan'", "\"auto\"");
    assert_eq!(place.text(), expected);
    place.set("markers", "ascii").unwrap();
    place.set("plan.approval_timeout_seconds", "5m").unwrap();
    place.set("colors.waiting", "bold magenta").unwrap();
    let (settings, problems) = place.load();
    assert_eq!(problems, []);
    assert_eq!(settings.markers, "ascii");
    assert_eq!(settings.plan.approval_timeout_ms, 300_000);
    assert_eq!(settings.colors.waiting, "bold magenta");
    assert!(
        place
            .text()
            .starts_with("# mine\nlegend   =  true   # no legend\n\ninterval = 1\n"),
        "{}",
        place.text()
    );
    assert!(place.text().contains("# the plan\n[plan]\n"), "{}", place.text());
}

#[test]
fn c62_set_works_in_inline_and_dotted_tables_and_in_a_file_with_crlf_and_a_mark() {
    for text in [
        "plan = { claude_auto = 'x' }\n",
        "plan.claude_auto = 'x'\n",
        "\u{feff}[plan]\r\nclaude_auto = 'x'\r\n",
    ] {
        let place = Place::with(text);
        place.set("plan.claude_auto", "auto").unwrap();
        assert_eq!(place.text(), text.replace("'x'", "\"auto\""));
        place.set("plan.approval_timeout_seconds", "0").unwrap();
        assert_eq!(place.load().0.plan.approval_timeout_ms, 0, "{}", place.text());
        assert_eq!(place.load().1, []);
    }
}

#[test]
fn set_makes_the_file_and_its_folder_private() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("new/ring/config.toml");
    let state = StateDir::at(dir.path().join("state"));
    set(&state, &file, "sources", "hook, claude").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "sources = [\"hook\", \"claude\"]\n");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        fs::metadata(file.parent().unwrap()).unwrap().permissions().mode() & 0o777,
        0o700
    );
}

#[test]
fn set_follows_links_and_keeps_the_mode() {
    let place = Place::with("");
    let real = place.dir.path().join("dotfiles.toml");
    fs::write(&real, "legend = false\n").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::remove_file(place.file()).unwrap();
    std::os::unix::fs::symlink("dotfiles.toml", place.file()).unwrap();
    place.set("legend", "true").unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), "legend = true\n");
    assert!(fs::symlink_metadata(place.file()).unwrap().is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn set_writes_nothing_if_the_value_stands_there_already() {
    let place = Place::with("interval   = 2 # yes\n");
    let before = fs::metadata(place.file()).unwrap();
    place.set("interval", "2s").unwrap();
    let after = fs::metadata(place.file()).unwrap();
    use std::os::unix::fs::MetadataExt;
    assert_eq!(
        (before.ino(), place.text().as_str()),
        (after.ino(), "interval   = 2 # yes\n")
    );
}

#[test]
fn c62_set_refuses_what_the_file_could_not_hold_and_leaves_it_alone() {
    let place = Place::with("legend = false\n");
    for (key, words) in [
        ("nope", "1"),
        ("plan", "1"),
        ("notify.outlet", "[]"),
        ("interval", "x"),
        ("interval", "0"),
        ("interval", "-1"),
        ("legend", "yes"),
        ("markers", "letters"),
        ("sources", "hook,nope"),
        ("sources", "[hook"),
        ("notify.repeat_max", "1.5"),
        ("plugins", "1"),
    ] {
        let refusal = place.set(key, words).unwrap_err();
        assert_eq!(
            (refusal.code, refusal.code.exit()),
            (Code::InvalidArgument, 64),
            "{key} {words}"
        );
        assert_eq!(place.text(), "legend = false\n");
    }
    fs::write(place.file(), "legend = \n").unwrap();
    let refusal = place.set("legend", "true").unwrap_err();
    assert!(refusal.message.contains("config.toml:1:"), "{}", refusal.message);
    assert_eq!(place.text(), "legend = \n");
    fs::write(place.file(), "plan = 3\n").unwrap();
    assert_eq!(
        place.set("plan.claude_auto", "x").unwrap_err().code,
        Code::InvalidArgument
    );
}

#[test]
fn c62_a_folder_that_cannot_be_written_is_io() {
    let place = Place::with("");
    let file = place.dir.path().join("config.toml/inside.toml");
    let refusal = set(&place.state(), &file, "legend", "true").unwrap_err();
    assert_eq!(
        (refusal.code, refusal.code.exit()),
        (Code::Io, 74),
        "{}",
        refusal.message
    );
}

#[test]
fn a_file_that_somebody_else_changed_meanwhile_is_left_to_them() {
    let place = Place::with("legend = false\n");
    for before in [Some("legend = true\n"), None] {
        let refusal = write(&place.file(), before, "mine").unwrap_err();
        assert_eq!((refusal.code, refusal.code.exit()), (Code::SettingsChanged, 4));
        assert_eq!(place.text(), "legend = false\n");
    }
    fs::remove_file(place.file()).unwrap();
    assert_eq!(
        write(&place.file(), Some("legend = false\n"), "mine").unwrap_err().code,
        Code::SettingsChanged
    );
    assert!(!place.file().exists());
}

#[test]
fn set_waits_for_the_lock_of_settings_files_and_says_which() {
    let place = Place::with("");
    let _held = crate::lock::Lock::acquire(&place.state().settings_lock(), std::time::Duration::ZERO).unwrap();
    let refusal = set_within(
        &place.state(),
        &place.file(),
        "legend",
        "true",
        std::time::Duration::ZERO,
    )
    .unwrap_err();
    assert_eq!(refusal.code, Code::LockTimeout);
    assert!(refusal.message.contains("settings.lock"), "{}", refusal.message);
}

#[test]
fn set_leaves_no_temporary_file() {
    let place = Place::with("");
    place.set("legend", "false").unwrap();
    let names: Vec<_> = fs::read_dir(place.dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

proptest! {
    #[test]
    fn reading_never_panics(text in "(?s).{0,200}") {
        parse("f", &text);
    }

    #[test]
    fn lines_with_keys_and_odd_values_never_panic(
        lines in proptest::collection::vec(("[a-z_]{1,20}|interval|lang|hosts|notify|colors.idle|plan.claude_auto", "\\PC{0,20}|[0-9._e+-]{1,20}|\\[.{0,9}\\]"), 0..6)
    ) {
        let text: String = lines.iter().map(|(k, v)| format!("{k} = {v}\n")).collect();
        parse("f", &text);
    }

    #[test]
    fn what_is_set_is_what_is_read(words in "\\PC{0,40}") {
        let key = keys::find("plan.claude_auto").unwrap();
        let value = key.of_words(&words).unwrap();
        let after = edited("f".as_ref(), "# c\n[plan]\n", key, &value).unwrap();
        let content = parse("f", &after);
        prop_assert_eq!(content.problems, vec![]);
        prop_assert_eq!(&content.found[0].value, &value);
    }

    #[test]
    fn set_keeps_every_comment(comment in "[ -~]{0,30}", seconds in 0u32..100_000) {
        let text = format!("#{comment}\ninterval = 1 #{comment}\n#{comment}\n[colors]\n#{comment}\n");
        let key = keys::find("quiet_after_seconds").unwrap();
        let value = key.of_words(&seconds.to_string()).unwrap();
        let after = edited("f".as_ref(), &text, key, &value).unwrap();
        let line = format!("quiet_after_seconds = {seconds}\n");
        prop_assert_eq!(after.replacen(&line, "", 1), text);
    }
}

#[test]
fn a_colour_is_checked_when_it_is_set_as_when_it_is_read() {
    let place = Place::with("");
    let refused = place.set("colors.waiting", "bold-magenta").unwrap_err();
    assert_eq!(refused.code, Code::InvalidArgument);
    assert!(
        refused
            .message
            .starts_with("colors.waiting: must be a style such as bold red"),
        "{}",
        refused.message
    );
    for style in ["#ff0000", "bold magenta", "none", "black on white"] {
        place.set("colors.waiting", style).unwrap();
        let (settings, problems) = place.load();
        assert_eq!((settings.colors.waiting.as_str(), problems.len()), (style, 0));
    }
}

#[test]
fn all_sources_have_a_name_and_a_refusal_says_what_is_accepted() {
    let place = Place::with("");
    place.set("sources", "all").unwrap();
    assert_eq!(place.load().0.sources, ["all"]);
    let message = |key: &str, words: &str| place.set(key, words).unwrap_err().message;
    assert!(message("sources", "hooks").contains("all, hook, session"));
    assert_eq!(
        message("markers", "unicode"),
        "markers: must be emoji or ascii, not \"unicode\""
    );
    assert_eq!(message("lang", "fr"), "lang: must be en or zh-TW, not \"fr\"");
}

#[test]
fn a_broken_file_is_not_written_and_the_line_to_mend_is_named() {
    let place = Place::with("markers = \"ascii\"\n[[[\n");
    let message = place.set("interval", "3").unwrap_err().message;
    assert!(
        message.contains("config.toml:2: ") && message.ends_with("; nothing is written, mend line 2 first"),
        "{message}"
    );
    assert_eq!(place.text(), "markers = \"ascii\"\n[[[\n");
}

#[test]
fn a_file_of_sixty_thousand_keys_is_read_at_once_and_told_in_fifty_lines() {
    let text: String = (0..60_000).map(|n| format!("k{n}=1\n")).collect();
    let begun = std::time::Instant::now();
    let (settings, problems) = loaded(&text);
    // counting lines anew for each of them took a minute
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    assert_eq!(settings, Settings::default());
    assert_eq!((problems.len(), problems[49].line), (51, 50));
    assert!(problems[50].text.contains("59950 more"), "{}", problems[50]);
}

#[test]
fn lines_are_counted_from_one_to_the_last_byte() {
    let text = "a\n\nb\r\nc";
    let counted = |at: usize| 1 + text.bytes().take(at).filter(|b| *b == b'\n').count();
    let lines = super::Lines::of(text);
    for at in 0..=text.len() + 1 {
        assert_eq!(lines.at(at), counted(at), "{at}");
    }
}

#[test]
fn what_a_problem_repeats_of_a_file_is_short_and_no_secret() {
    let long = "y".repeat(100_000);
    let (_, problems) = loaded(&format!("{long} = 1\nmarkers = \"{long}\"\n"));
    assert_eq!(problems.len(), 2);
    assert!(problems.iter().all(|p| p.to_string().len() < 600));
    let (_, problems) = loaded("notify_ntfy_url = [\"https://ntfy.sh/hidden\"]\nnotify_webhook_url = 5\n");
    assert_eq!(problems.len(), 2);
    assert!(
        problems.iter().all(|p| !p.to_string().contains("hidden")),
        "{problems:?}"
    );
}

#[test]
fn a_list_shows_scheme_and_host_of_a_secret_address() {
    let key = keys::find("notify_ntfy_url").unwrap();
    let listed = |url: &str| match key.listed(&Value::Text(url.into())) {
        Value::Text(shown) => shown,
        other => panic!("{other:?}"),
    };
    assert_eq!(listed(""), "");
    assert_eq!(
        listed("https://user:pw@ntfy.sh:8080/topic?x=1"),
        "https://ntfy.sh:8080/***"
    );
    assert_eq!(listed("https://h\u{1b}/topic"), "***");
    assert_eq!(listed("topic"), "***");
}
