//! The man pages say what the programs do: options, commands, exit statuses, codes, settings, examples.

#![allow(clippy::unwrap_used, reason = "a page that cannot be read has failed")]

mod harness;

use harness::{Home, bin, has, text};
use ring_session::{Code, exit};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAMS: [&str; 5] = ["ring-hook", "ring-notify", "ring-plan", "ring-scan", "ring-session"];

/// Pages that are not ours and may be referred to.
const FOREIGN: &[&str] = &["cat 1", "flock 2", "printf 1", "tmux 1"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<_> = fs::read_dir(root().join("man"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    pages.sort();
    assert_eq!(pages.len(), PROGRAMS.len() + 2, "{pages:?}");
    pages
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join("man").join(name)).unwrap()
}

/// The lines of a section, without its heading.
fn section<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    page.lines()
        .skip_while(|l| l.strip_prefix(".Sh ") != Some(name))
        .skip(1)
        .take_while(|l| !l.starts_with(".Sh "))
        .collect()
}

/// What a program's help names: long options, short options, and its commands with theirs.
#[derive(Debug, Default)]
struct Surface {
    options: BTreeSet<String>,
    commands: BTreeSet<String>,
}

fn help(program: &str, path: &[String]) -> String {
    let out = Command::new(bin(program))
        .args(path)
        .arg("--help")
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    assert!(out.status.success(), "{program} {path:?} --help: {}", text(&out.stderr));
    text(&out.stdout)
}

fn read_help(program: &str, path: &[String], surface: &mut Surface) {
    let help = help(program, path);
    let mut in_commands = false;
    for line in help.lines() {
        if !line.starts_with(' ') && line.ends_with(':') {
            in_commands = line == "Commands:";
            continue;
        }
        let trimmed = line.trim_start();
        if in_commands && line.starts_with("  ") && !line.starts_with("   ") {
            let command = trimmed.split_whitespace().next().unwrap().to_owned();
            if command == "help" {
                continue; // the parser's own
            }
            let mut below = path.to_owned();
            below.push(command);
            surface.commands.insert(below.join(" "));
            read_help(program, &below, surface);
        } else if trimmed.starts_with('-') {
            let words = trimmed.split([' ', ',', '=', '[']).take_while(|w| !w.starts_with('<'));
            surface
                .options
                .extend(words.filter(|w| w.starts_with('-')).map(str::to_owned));
        }
    }
}

/// The words behind each `Fl` of a line: `.Op Fl -agent Ar name` gives `--agent`.
fn flags(line: &str) -> Vec<String> {
    let words: Vec<_> = line.split_whitespace().collect();
    let is_macro = |w: &str| matches!(w, "Fl" | ".Fl");
    words
        .windows(2)
        .filter(|w| is_macro(w[0]) && w[1].starts_with(|c: char| c == '-' || c.is_ascii_alphanumeric()))
        .map(|w| format!("-{}", w[1]))
        .collect()
}

fn read_page(page: &str) -> Surface {
    let mut surface = Surface::default();
    for name in ["SYNOPSIS", "OPTIONS", "COMMANDS"] {
        for line in section(page, name).iter().filter(|l| l.starts_with('.')) {
            surface.options.extend(flags(line));
        }
    }
    for line in section(page, "COMMANDS") {
        if let Some(rest) = line.strip_prefix(".It Cm ") {
            let words = rest.split_whitespace();
            let command: Vec<_> = words.take_while(|w| *w != "Ar" && *w != "Op").collect();
            surface.commands.insert(command.join(" "));
        }
    }
    surface
}

#[test]
fn options_and_commands_of_help_and_page_are_the_same() {
    let mut wrong = Vec::new();
    for program in PROGRAMS {
        let mut said = Surface::default();
        read_help(program, &[], &mut said);
        let written = read_page(&page(&format!("{program}.1")));
        let mut compare = |kind: &str, help: &BTreeSet<String>, page: &BTreeSet<String>| {
            let only = |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect::<Vec<_>>();
            let (missing, extra) = (only(help, page), only(page, help));
            if !missing.is_empty() || !extra.is_empty() {
                wrong.push(format!(
                    "{program}, {kind}: not in the page {missing:?}, not in --help {extra:?}"
                ));
            }
        };
        compare("options", &said.options, &written.options);
        compare("commands", &said.commands, &written.commands);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn help_fits_a_screen_and_begins_with_examples() {
    for program in PROGRAMS {
        let help = help(program, &[]);
        assert!(help.lines().count() <= 50, "{program}: {} lines", help.lines().count());
        let examples = help.find(&format!("  {program}"));
        let options = help.find("Options:");
        assert!(
            examples.is_some() && examples < options,
            "{program}: no example first\n{help}"
        );
    }
}

#[test]
fn every_reference_has_a_target() {
    for path in pages() {
        let text = fs::read_to_string(&path).unwrap();
        let own: BTreeSet<_> = text
            .lines()
            .filter_map(|l| l.strip_prefix(".Sh ").or_else(|| l.strip_prefix(".Ss ")))
            .collect();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix(".Xr ") {
                let words: Vec<_> = rest.split_whitespace().take(2).collect();
                let target = words.join(" ");
                let there = root().join("man").join(words.join(".")).exists();
                assert!(
                    there || FOREIGN.contains(&target.as_str()),
                    "{}: {target}",
                    path.display()
                );
            }
            if let Some(rest) = line.strip_prefix(".Sx ") {
                let target = rest.trim_end_matches([' ', '.', ',', ';', ')']);
                assert!(own.contains(target), "{}: no section {target}", path.display());
            }
        }
    }
}

#[test]
fn exit_statuses_of_every_page_are_those_of_the_programs() {
    let all: Vec<u8> = exit::ALL.iter().map(|(status, _)| *status).collect();
    for path in pages().iter().filter(|p| !p.ends_with("ring.5")) {
        let text = fs::read_to_string(path).unwrap();
        let listed: Vec<u8> = section(&text, "EXIT STATUS")
            .iter()
            .filter_map(|l| l.strip_prefix(".It ")?.parse().ok())
            .collect();
        assert_eq!(listed, all, "{}", path.display());
    }
}

#[test]
fn every_code_is_listed_under_its_exit_status() {
    let text = page("ring.7");
    let mut listed = BTreeMap::new();
    let mut status = 0;
    for line in section(&text, "ERROR CODES") {
        if let Some(number) = line.strip_prefix(".Ss Status ") {
            status = number.parse().unwrap();
        } else if let Some(code) = line.strip_prefix(".It Dv ") {
            listed.insert(code.to_owned(), status);
        }
    }
    let known: BTreeMap<_, _> = Code::ALL.iter().map(|c| (c.as_str().to_owned(), c.exit())).collect();
    assert_eq!(listed, known);
}

/// The words of the `.It Sy` lines of a section: names of rules and of settings.
fn names(page: &str, section_name: &str) -> BTreeSet<String> {
    section(page, section_name)
        .iter()
        .filter_map(|l| l.strip_prefix(".It Sy "))
        .flat_map(|l| l.split(" Pq ").next().unwrap().split_whitespace())
        .filter(|w| *w != ",")
        .map(str::to_owned)
        .collect()
}

/// The texts that stand between `("` and `",` in a source file, as its table of rules has them.
fn first_of_pairs(source: &str) -> BTreeSet<String> {
    source
        .split("(\"")
        .skip(1)
        .filter_map(|rest| rest.split_once("\","))
        .map(|(name, _)| name.to_owned())
        .filter(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
        .collect()
}

#[test]
fn every_rule_is_in_its_page() {
    for (page_name, section_name, file, table) in [
        (
            "ring-hook.1",
            "DECISION",
            "ring-hook/src/decide.rs",
            "let (rule, intent) =",
        ),
        ("ring-scan.1", "STATUS", "ring-scan/src/merge.rs", "const RULES:"),
    ] {
        let source = fs::read_to_string(root().join(file)).unwrap();
        let table = source.split(table).nth(1).unwrap();
        let end = table
            .find("\n    };")
            .into_iter()
            .chain(table.find("\n];"))
            .min()
            .unwrap();
        assert_eq!(
            names(&page(page_name), section_name),
            first_of_pairs(&table[..end]),
            "{page_name}"
        );
    }
}

#[test]
fn every_setting_is_in_the_page_and_every_setting_of_the_page_is_one() {
    let out = Home::new()
        .ring("ring-scan", &["config", "--format", "json"])
        .output()
        .unwrap();
    let all: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let known: BTreeSet<_> = all["settings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["key"].as_str().unwrap().to_owned())
        .collect();
    let mut listed = names(&page("ring.5"), "SETTINGS");
    for group in ["notify.*", "notify_*"] {
        assert!(listed.remove(group), "{group}");
    }
    let of_rings = |k: &str| k.starts_with("notify") || k.starts_with("waiting_") || k == "plugins";
    let others = |keys: &BTreeSet<String>| -> Vec<String> { keys.iter().filter(|k| !of_rings(k)).cloned().collect() };
    assert_eq!(others(&listed), others(&known));
    let rings = |keys: &BTreeSet<String>| -> Vec<String> {
        let table = keys.iter().filter(|k| k.starts_with("notify."));
        table.cloned().collect()
    };
    assert_eq!(rings(&names(&page("ring-notify.1"), "SETTINGS")), rings(&known));
}

#[test]
fn every_key_of_the_board_is_in_the_page() {
    let home = Home::new();
    home.agent("claude", "/w");
    let asked = serde_json::json!({"hook_event_name": "Notification", "session_id": "s", "cwd": "/w",
        "notification_type": "permission_prompt", "agent_id": "a", "agent_type": "Explore"});
    home.event(
        harness::NOW,
        &serde_json::json!({"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/w"}),
    );
    home.event(harness::NOW, &asked);
    let board = home.board_at(harness::NOW);
    let text = page("ring-scan.1");
    let words: BTreeSet<_> = section(&text, "THE BOARD")
        .iter()
        .filter(|l| l.contains("Va "))
        .flat_map(|l| l.split_whitespace())
        .collect();
    let session = &board["sessions"][0];
    for object in [
        &board,
        &board["counts"],
        &board["sources"][0],
        session,
        &session["waiting"],
        &session["process"],
    ] {
        for key in object
            .as_object()
            .unwrap_or_else(|| panic!("no object in {board:#}"))
            .keys()
        {
            assert!(words.contains(key.as_str()), "{key} is not in the page");
        }
    }
}

#[test]
fn comments_refer_to_sections_that_exist() {
    let mut wrong = Vec::new();
    for program in PROGRAMS {
        let mut files = Vec::new();
        sources(&root().join(program).join("src"), &mut files);
        for file in files {
            for (page_name, heading) in citations(&fs::read_to_string(&file).unwrap()) {
                let text = page(&page_name);
                let there = text.lines().any(|l| {
                    let title = l.strip_prefix(".Sh ").or_else(|| l.strip_prefix(".Ss ")).unwrap_or("");
                    !title.is_empty() && heading.starts_with(&title.to_uppercase())
                });
                if !there {
                    wrong.push(format!("{}: {page_name} has no {heading}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// `ring-hook(1), DECISION RULES` in a comment gives the page and the capital words behind the comma.
fn citations(source: &str) -> Vec<(String, String)> {
    let comments: Vec<_> = source
        .lines()
        .filter_map(|l| {
            let l = l.trim_start();
            l.strip_prefix("//!")
                .or_else(|| l.strip_prefix("///"))
                .or_else(|| l.strip_prefix("//"))
        })
        .map(str::trim)
        .collect();
    let text = comments.join(" ");
    let mut found = Vec::new();
    for (at, _) in text.match_indices("), ") {
        let before = &text[..at];
        let start = before
            .rfind([' ', '('])
            .map_or(0, |i| if before.as_bytes()[i] == b'(' { i } else { i + 1 });
        let Some((name, number)) = before[before[..start].rfind(' ').map_or(0, |i| i + 1)..].rsplit_once('(') else {
            continue;
        };
        let name = name.trim_start_matches(['(', '`']);
        if !(name == "ring" || PROGRAMS.contains(&name)) || !matches!(number, "1" | "5" | "7") {
            continue;
        }
        let heading: Vec<_> = text[at + 3..]
            .split(' ')
            .take_while(|w| w.chars().any(char::is_uppercase) && !w.chars().any(char::is_lowercase))
            .collect();
        let heading = heading.join(" ");
        let heading = heading.trim_end_matches(|c: char| !c.is_alphanumeric());
        if !heading.is_empty() {
            found.push((format!("{name}.{number}"), heading.to_owned()));
        }
    }
    found
}

/// The commands of a page's EXAMPLES as a person copies them: what stands behind `$ `, with the lines below it.
fn examples(page: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut open = false;
    for line in section(page, "EXAMPLES") {
        let shown = line.replace("\\e", "\\").replace("\\(aq", "'").replace("\\-", "-");
        match shown.strip_prefix("$ ") {
            Some(start) => commands.push(start.to_owned()),
            None if open && !line.starts_with('.') => commands.last_mut().unwrap().push_str(&format!("\n{shown}")),
            None => {}
        }
        open = !line.starts_with('.') && (open || shown.starts_with("$ "));
    }
    commands
}

/// Two sessions that wait, two agents with a folder, and two prompts in a queue: what examples speak of.
fn lived_in() -> Home {
    let home = Home::new();
    for folder in [".claude", ".codex"] {
        fs::create_dir(home.path().join(folder)).unwrap();
    }
    let script = r#"
        for id in one two; do
            echo '{"hook_event_name":"Notification","notification_type":"permission_prompt","session_id":"'$id'"}' |
                ring-hook --strict || exit 1
        done
        id=$(ring-session new --title Work --project .) && ring-session queue push "$id" first >log &&
            ring-session queue push "$id" second >log"#;
    let out = example(&home, script, false);
    assert!(out.status.success(), "{}", text(&out.stderr));
    home
}

/// Runs a command where pages say that state and settings are. `rings`: it may start programs and send.
fn example(home: &Home, command: &str, rings: bool) -> std::process::Output {
    let mut shell = home.command("sh");
    shell
        .args(["-c", command])
        .env_remove("RING_STATE_DIR")
        .env_remove("RING_CONFIG");
    if rings {
        shell.env_remove("RING_NO_NOTIFY");
    }
    shell.output().unwrap()
}

/// What the answers of examples must hold, by a part of the command.
const ANSWERS: &[(&str, &str, &[&str])] = &[
    ("ring-hook.1", "--dry-run", &["added: ", "+++ "]),
    ("ring-hook.1", "ring-hook install", &["added: "]),
    ("ring-hook.1", "ring-hook status", &["claude-code", "complete"]),
    (
        "ring-hook.1",
        "Shall I go on?",
        &[r#""status":"waiting""#, r#""rule":"stop_question""#],
    ),
    ("ring-hook.1", "show demo", &["waiting", "Shall I go on?"]),
    (
        "ring-hook.1",
        "normalize",
        &[r#""event":"PreToolUse""#, r#""name":"Bash""#, r#""rule":"tool_start""#],
    ),
    ("ring-hook.1", "show acme:build-7", &["waiting", "May I delete build/?"]),
    ("ring-notify.1", "outlets", &["file", "usable"]),
    ("ring-notify.1", "--verbose", &["sent file wait:claude-code:one:"]),
    (
        "ring-notify.1",
        "jq -r .title",
        &["ring: test", "one: needs permission", "two: needs permission"],
    ),
    ("ring-notify.1", "quiet 1h", &["quiet until "]),
    ("ring-notify.1", "Backup is done", &["file: held, quiet"]),
    ("ring-notify.1", "quiet off", &["not quiet\n"]),
    ("ring-notify.1", "oneline", &["✗1\n"]),
    ("ring-notify.1", "read --all", &["1 read\n"]),
    ("ring.7", "show demo", &["claude-code:demo  working"]),
    ("ring.5", "grep -c", &["2\n"]),
    ("ring.5", "jq", &["2\n"]),
];

#[test]
fn every_example_runs_and_does_what_it_is_there_for() {
    let mut answered = BTreeSet::new();
    for path in pages() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let commands = examples(&fs::read_to_string(&path).unwrap());
        assert!(!commands.is_empty(), "{name} has no example");
        let home = lived_in();
        let state = home.path().join(".local/state/ring");
        for command in commands {
            if command.contains("jq ") && !has("jq") {
                eprintln!("skipped, no jq: {command}");
                answered.insert((name.clone(), "jq"));
                continue;
            }
            let before = home.snapshot();
            // its examples begin with an outlet that leads into a file
            let out = example(&home, &command, name == "ring-notify.1");
            let answer = text(&out.stdout);
            let told = format!("{name}: {command}\n{:?}\n{answer}{}", out.status, text(&out.stderr));
            // the programs under test stand in a build folder, which install warns of
            let quiet = text(&out.stderr).lines().all(|l| l.contains("build folder"));
            assert!(out.status.success() && quiet, "{told}");
            // a hook entry fails in silence
            let lost = fs::read_to_string(state.join("hook-errors.log")).unwrap_or_default();
            assert_eq!(lost, "", "{told}");
            // conditions and waits only end; all others print or write
            let asks = name == "ring-scan.1" || command.contains(" --until ");
            assert!(
                asks || !answer.is_empty() || home.snapshot() != before,
                "no effect: {told}"
            );
            for (_, part, words) in ANSWERS.iter().filter(|(n, p, _)| *n == name && command.contains(p)) {
                let whole = *words == ["2\n"];
                let fits = |w: &str| if whole { answer == *w } else { answer.contains(w) };
                assert!(words.iter().all(|w| fits(w)), "no {words:?}: {told}");
                answered.insert((name.clone(), *part));
            }
        }
    }
    for (name, part, _) in ANSWERS {
        assert!(answered.contains(&((*name).to_owned(), *part)), "{name} has no {part}");
    }
}

#[test]
fn mandoc_has_nothing_to_say() {
    if !has("mandoc") {
        eprintln!("skipped: mandoc is not installed");
        return;
    }
    let out = Command::new("mandoc")
        .args(["-Tlint", "-W", "warning"])
        .args(pages())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", text(&out.stdout));
}
