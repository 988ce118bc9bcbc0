//! install, remove and status on real files in temporary homes, with programs that only look like agents.

#![allow(clippy::unwrap_used)]

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const NINE: [&str; 9] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Notification",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "SessionEnd",
];
const EIGHTEEN: [&str; 18] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PermissionDenied",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "Elicitation",
    "ElicitationResult",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "PreCompact",
    "PostCompact",
    "CwdChanged",
    "SessionEnd",
];
const CODEX: [&str; 12] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Stop",
    "SessionEnd",
    "Interrupt",
];

/// A home, a folder of programs, a state.
struct World {
    dir: tempfile::TempDir,
    lock_ms: &'static str,
}

impl World {
    /// With the homes of both agents, and ring-hook on `$PATH` as a link.
    fn new() -> World {
        let world = World::empty();
        fs::create_dir_all(world.home(".claude")).unwrap();
        fs::create_dir_all(world.home(".codex")).unwrap();
        world
    }

    fn empty() -> World {
        let world = World {
            dir: tempfile::tempdir().unwrap(),
            lock_ms: "5000",
        };
        fs::create_dir_all(world.path("home")).unwrap();
        fs::create_dir_all(world.path("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_ring-hook"), world.path("bin/ring-hook")).unwrap();
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn home(&self, name: &str) -> PathBuf {
        self.path("home").join(name)
    }

    fn claude(&self) -> PathBuf {
        self.home(".claude/settings.json")
    }

    fn codex(&self) -> PathBuf {
        self.home(".codex/hooks.json")
    }

    /// What entries call ring-hook.
    fn hook(&self) -> String {
        self.path("bin/ring-hook").to_str().unwrap().to_owned()
    }

    fn program(&self, name: &str, text: &str) {
        let file = self.path(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        fresh(&file);
    }

    /// A Claude that says its version if it is asked, and leaves a trace then.
    fn claude_that_answers(&self, version: &str) {
        let trace = self.path("asked");
        let text = format!("#!/bin/sh\necho x >>'{}'\necho '{version}'\n", trace.display());
        self.program("bin/claude", &text);
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_ring-hook"))
            .args(args)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", self.path("bin"))
            .env("RING_STATE_DIR", self.path("state"))
            .env("RING_LOCK_MS", self.lock_ms)
            .env("RING_NOW_MS", "1796040000000")
            .current_dir(self.dir.path())
            .output()
            .unwrap()
    }

    /// Runs it and gives stdout; it must succeed.
    fn ok(&self, args: &[&str]) -> String {
        let out = self.run(args);
        assert!(
            out.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        assert!(out.stderr.is_empty());
        String::from_utf8(out.stdout).unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let args: Vec<&str> = ["--format", "json"].iter().chain(args).copied().collect();
        serde_json::from_str(&self.ok(&args)).unwrap()
    }

    /// The part of an answer that is about one agent.
    fn agent(&self, args: &[&str], agent: &str) -> Value {
        let answer = self.json(args);
        let agents = answer["agents"].as_array().unwrap();
        agents.iter().find(|a| a["agent"] == agent).unwrap().clone()
    }

    fn refused(&self, args: &[&str], code: &str, status: i32) -> String {
        let out = self.run(args);
        let told = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(status), "{told}");
        assert!(told.trim_end().ends_with(&format!("[{code}]")), "{told}");
        assert!(out.stdout.is_empty());
        told
    }

    /// Every file of the home with its bytes, modes and links.
    fn snapshot(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.path("home")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let kind = fs::symlink_metadata(&path).unwrap();
                let bytes = if kind.is_dir() {
                    folders.push(path.clone());
                    Vec::new()
                } else if kind.is_symlink() {
                    fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                } else {
                    fs::read(&path).unwrap()
                };
                found.insert(path, (kind.permissions().mode(), bytes));
            }
        }
        found
    }
}

fn hooks(file: &Path) -> Value {
    let text = fs::read_to_string(file).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["hooks"].clone()
}

/// Names of the events in a file, sorted.
fn events(file: &Path) -> Vec<String> {
    let hooks = hooks(file);
    let mut names: Vec<String> = hooks
        .as_object()
        .into_iter()
        .flatten()
        .map(|(k, _)| k.clone())
        .collect();
    names.sort();
    names
}

fn sorted(names: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
    names.sort();
    names
}

/// Every command on an event with its time-out.
fn commands(file: &Path, event: &str) -> Vec<(String, u64)> {
    let hooks = hooks(file);
    let groups = hooks[event].as_array().cloned().unwrap_or_default();
    let handlers = groups.iter().flat_map(|g| g["hooks"].as_array().unwrap().clone());
    handlers
        .map(|h| {
            let command = h["command"].as_str().unwrap_or("").to_owned();
            (command, h["timeout"].as_u64().unwrap_or(0))
        })
        .collect()
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().unwrap().iter();
    list.map(|v| v.as_str().unwrap().to_owned()).collect()
}

/// Settings of a person: foreign groups, odd spacing, no newline at the end.
const SETTINGS: &str = "{\n\t\"permissions\" : { \"allow\":[ \"Bash(git *)\" ] },\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"matcher\": \"\", \"hooks\": [ { \"type\": \"command\", \"command\": \"say 'fertig: ✓'\" } ] }\n\t\t],\n\t\t\"Unused\": []\n\t},\n\t\"model\": \"opus\"\n}";

#[test]
fn h69_a_second_install_writes_nothing_and_remove_restores_every_byte() {
    let world = World::new();
    world.claude_that_answers("2.1.332 (Claude Code)");
    for text in [
        SETTINGS,
        "{}",
        "{ }\r\n",
        "",
        "{\"a\":1}\n",
        "{\r\n  \"a\": 1\r\n}\r\n",
        "{\"hooks\": {}}",
        "{\"hooks\": { }, \"z\": {\"Stop\": [ ]}}\n",
    ] {
        fs::write(world.claude(), text).unwrap();
        world.ok(&["install", "--agent", "claude"]);
        let once = world.snapshot();
        assert_ne!(fs::read_to_string(world.claude()).unwrap(), text);
        assert_eq!(
            fs::read_to_string(world.home(".claude/settings.json.bak")).unwrap(),
            text
        );
        assert!(world.ok(&["install"]).contains("nothing to change"));
        let claude = |s: BTreeMap<PathBuf, (u32, Vec<u8>)>| -> Vec<_> {
            s.into_iter()
                .filter(|(p, _)| p.starts_with(world.home(".claude")))
                .collect()
        };
        assert_eq!(
            claude(world.snapshot()),
            claude(once),
            "a second install writes nothing"
        );
        world.ok(&["remove", "--agent", "claude-code"]);
        assert_eq!(fs::read_to_string(world.claude()).unwrap(), text);
    }
}

#[test]
fn h69_a_link_stays_a_link_and_the_backup_stands_beside_the_real_file() {
    let world = World::new();
    let real = world.home("dotfiles/claude.json");
    fs::create_dir_all(real.parent().unwrap()).unwrap();
    fs::write(&real, SETTINGS).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../dotfiles/claude.json", world.claude()).unwrap();
    world.ok(&["install", "--agent", "claude-code"]);
    assert!(fs::symlink_metadata(world.claude()).unwrap().is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(
        fs::read_to_string(world.home("dotfiles/claude.json.bak")).unwrap(),
        SETTINGS
    );
    assert_eq!(commands(&real, "Stop").len(), 2);
    assert!(!world.home(".claude/settings.json.bak").exists());
}

#[test]
fn h69_a_link_to_a_file_that_is_not_there_yet_is_followed() {
    let world = World::new();
    symlink(world.home("later.json"), world.claude()).unwrap();
    world.ok(&["install", "--agent", "claude-code"]);
    assert_eq!(events(&world.home("later.json")), sorted(&NINE));
    assert!(fs::symlink_metadata(world.claude()).unwrap().is_symlink());
}

#[test]
fn h70_a_bad_file_is_refused_and_no_file_is_touched() {
    let world = World::new();
    for text in [
        "\u{feff}\u{feff}x",
        "[]",
        "{\"hooks\": []}",
        "{\"hooks\": {\"Stop\": {}}}",
        "{\"hooks\": {\"Stop\": \"x\"}}",
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": 1}]}]}}",
        "{} x",
    ] {
        fs::write(world.codex(), text).unwrap();
        let before = world.snapshot();
        for command in ["install", "remove"] {
            let told = world.refused(&[command], "SETTINGS_INVALID", 64);
            assert!(told.contains(world.codex().to_str().unwrap()), "{told}");
            assert!(told.contains("nothing was written, for no agent"), "{told}");
        }
        assert_eq!(world.snapshot(), before, "nor is the other agent's file, which is good");
        let told = world.agent(&["status"], "codex");
        assert_eq!(told["state"], "none");
        assert!(texts(&told["hints"])[0].contains("hooks.json"), "{told}");
    }
}

#[test]
fn h70_dry_run_shows_the_difference_and_writes_nothing_at_all() {
    let world = World::new();
    fs::write(world.claude(), SETTINGS).unwrap();
    let before = world.snapshot();
    let shown = world.ok(&["install", "--dry-run", "--agent", "claude-code"]);
    assert!(shown.contains("+++ ") && shown.contains("@@"), "{shown}");
    let command = format!("+\t\t\t\t\t\t\"command\": \"{} --agent claude-code\",\n", world.hook());
    assert!(shown.contains(&command), "{shown}");
    assert!(!shown.contains("\n-\t\"permissions\""));
    assert_eq!(world.snapshot(), before);
    assert!(!world.path("state").exists());
    let told = world.agent(&["install", "--dry-run"], "codex");
    assert_eq!((told["changed"].as_bool(), world.codex().exists()), (Some(true), false));
    assert!(told["diff"].as_str().unwrap().contains("+    \"Interrupt\": ["));
}

#[test]
fn h71_old_paths_and_timeouts_are_healed_also_beside_others() {
    let world = World::new();
    world.claude_that_answers("2.1.197 (Claude Code)");
    let old = r#"{"hooks": {
  "Stop": [{"hooks": [{"type": "command", "command": "first"}, {"type": "command", "command": "/gone/ring-hook --agent claude-code", "timeout": 60}, {"type": "command", "command": "last"}]}],
  "WorktreeCreate": [{"hooks": [{"type": "command", "command": "/gone/ring-hook --agent claude-code"}]}]}}"#;
    fs::write(world.claude(), old).unwrap();
    let told = world.agent(&["status"], "claude-code");
    assert_eq!(texts(&told["stale"]), ["Stop", "WorktreeCreate"]);
    let told = world.agent(&["install"], "claude-code");
    assert_eq!(
        (texts(&told["healed"]), texts(&told["removed"])),
        (vec!["Stop".into()], vec!["WorktreeCreate".into()])
    );
    let ours = format!("{} --agent claude-code", world.hook());
    assert_eq!(
        commands(&world.claude(), "Stop"),
        [("first".into(), 0), (ours, 5), ("last".into(), 0)]
    );
    assert_eq!(events(&world.claude()), sorted(&EIGHTEEN));
    assert_eq!(world.agent(&["status"], "claude-code")["state"], "complete");
}

#[test]
fn h71_codex_has_three_seconds_at_the_end_and_one_command_for_all_versions() {
    let world = World::new();
    world.ok(&["install", "--agent", "codex"]);
    assert_eq!(events(&world.codex()), sorted(&CODEX));
    for event in CODEX {
        let timeout = if matches!(event, "SessionEnd" | "Interrupt") {
            3
        } else {
            5
        };
        let ours = format!("{} --agent codex", world.hook());
        assert_eq!(commands(&world.codex(), event), [(ours, timeout)], "{event}");
    }
}

#[test]
fn h72_remove_leaves_no_empty_group_or_event_and_no_folder_is_made() {
    let world = World::new();
    let mixed = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ring-hook"}]}, {"hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "/x/ring-hook --agent codex"}]}], "SessionEnd": [{"hooks": [{"type": "command", "command": "ring-notify deliver"}]}]}}"#;
    fs::write(world.codex(), mixed).unwrap();
    world.ok(&["remove"]);
    let left = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}"#;
    assert_eq!(fs::read_to_string(world.codex()).unwrap(), left);
    let nobody = World::empty();
    for command in ["install", "remove", "status"] {
        assert!(nobody.ok(&[command]).contains("no agent has a folder here"));
    }
    let told = nobody.agent(&["install", "--agent", "codex"], "codex");
    assert_eq!(
        (told["present"].as_bool(), told["changed"].as_bool()),
        (Some(false), Some(false))
    );
    assert!(nobody.snapshot().is_empty() && !nobody.path("state").exists());
}

#[test]
fn h73_untrusted_codex_entries_and_sessions_without_an_event_hint_at_hooks() {
    let world = World::new();
    world.ok(&["install", "--agent", "codex"]);
    let hints = |world: &World| texts(&world.agent(&["status"], "codex")["hints"]).join("\n");
    assert!(hints(&world).contains("not approved") && hints(&world).contains("/hooks"));
    let mut config = String::new();
    for event in CODEX {
        let snake: String = event
            .chars()
            .enumerate()
            .flat_map(|(n, c)| {
                (n > 0 && c.is_uppercase())
                    .then_some('_')
                    .into_iter()
                    .chain(c.to_lowercase())
            })
            .collect();
        let file = world.codex();
        config += &format!(
            "[hooks.state.\"{}:{snake}:0:0\"]\ntrusted_hash = \"sha256:0\"\n",
            file.display()
        );
    }
    fs::write(world.home(".codex/config.toml"), config).unwrap();
    assert_eq!(hints(&world), "");
    let day = world.home(".codex/sessions/2026/11/30");
    fs::create_dir_all(&day).unwrap();
    let rollout = |at: &str| {
        let line = format!("{{\"timestamp\":\"{at}\",\"type\":\"event_msg\",\"payload\":{{}}}}\n");
        fs::write(day.join("rollout-2026-11-30T12-00-00-0199.jsonl"), line).unwrap();
    };
    fs::create_dir_all(world.path("state/status")).unwrap();
    // 12:00:00 in the rollout's clock
    let row = r#"{"schema":1,"key":"codex:0199","agent":"codex","event_ms":1796040000000}"#;
    fs::write(world.path("state/status/codex:0199.json"), row).unwrap();
    rollout("2026-11-30T12:00:20Z");
    assert_eq!(
        world.agent(&["status"], "codex")["last_event_ms"],
        1_796_040_000_000_i64
    );
    assert_eq!(hints(&world), "", "the end of a turn");
    rollout("2026-11-30T12:05:00Z");
    assert!(hints(&world).contains("no event came of it") && hints(&world).contains("/hooks"));
}

#[test]
fn h73_other_programs_on_requests_and_notifications_and_policies_are_named() {
    let world = World::new();
    let text = r#"{"disableAllHooks": true, "hooks": {"PermissionRequest": [{"hooks": [{"type": "command", "command": "guard --all"}]}], "Stop": [{"hooks": [{"type": "command", "command": "chime"}]}]}}"#;
    fs::write(world.claude(), text).unwrap();
    let told = world.agent(&["install", "--agent", "claude-code"], "claude-code");
    assert_eq!(texts(&told["foreign"]), ["PermissionRequest: guard --all"]);
    let told = world.agent(&["status"], "claude-code");
    assert_eq!(texts(&told["foreign"]), ["PermissionRequest: guard --all"]);
    assert!(texts(&told["hints"])[0].contains("disableAllHooks"), "{told}");
    assert!(
        world
            .ok(&["status"])
            .contains("another program on PermissionRequest: guard --all")
    );
}

#[test]
fn h75_with_session_plan_and_notify_and_back() {
    let world = World::new();
    world.claude_that_answers("2.1.332 (Claude Code)");
    let before = world.snapshot();
    for sister in ["ring-session", "ring-plan", "ring-notify"] {
        world.program(&format!("bin/{sister}"), "#!/bin/sh\nexit 64\n");
    }
    for (with, command) in [
        ("plan", "`hook`"),
        ("notify", "`deliver`"),
        ("session,notify", "`hook`"),
    ] {
        let told = world.refused(&["install", "--with", with], "INSTALL_MANUAL", 64);
        assert!(told.contains(command) && told.contains("nothing was written"), "{told}");
        assert_eq!(world.snapshot(), before);
    }
    for sister in ["ring-session", "ring-plan", "ring-notify"] {
        world.program(&format!("bin/{sister}"), "#!/bin/sh\n");
    }
    let at = |name: &str| world.path("bin").join(name).to_str().unwrap().to_owned();
    world.ok(&["install", "--agent", "claude-code", "--with", "session"]);
    let pipe = format!(
        "{} --agent claude-code --emit | {} hook",
        at("ring-hook"),
        at("ring-session")
    );
    let plain = format!("{} --agent claude-code", at("ring-hook"));
    assert_eq!(commands(&world.claude(), "Stop"), [(pipe.clone(), 5)]);
    assert_eq!(commands(&world.claude(), "PreToolUse"), [(plain.clone(), 5)]);
    world.ok(&[
        "install",
        "--agent",
        "claude-code",
        "--with",
        "plan,notify",
        "--plan-wait",
        "10m",
    ]);
    let plan = format!("{} hook --agent claude-code", at("ring-plan"));
    let ring = format!("{} deliver --detach --after 2s", at("ring-notify"));
    assert_eq!(
        commands(&world.claude(), "PermissionRequest"),
        [(pipe.clone(), 5), (format!("{plan} --wait 10m"), 610)]
    );
    assert_eq!(
        commands(&world.claude(), "Stop"),
        [(pipe, 5), (plan.clone(), 5), (ring, 5)]
    );
    assert_eq!(commands(&world.claude(), "PreToolUse"), [(plain.clone(), 5), (plan, 5)]);
    let told = world.agent(&["status"], "claude-code");
    assert_eq!(texts(&told["with"]), ["session", "plan", "notify"]);
    assert_eq!(told["state"], "complete");
    world.ok(&["install", "--agent", "claude-code"]);
    assert_eq!(commands(&world.claude(), "Stop"), [(plain, 5)]);
    let told = world.ok(&["install", "--agent", "claude-code", "--with", "session,plan,notify"]);
    assert!(told.contains("extended: ") && !told.contains("healed: "), "{told}");
    world.program("bin/ring-notify", "#!/bin/sh\nexit 64\n");
    let told = world.ok(&["status", "--agent", "claude"]);
    assert!(
        told.contains("ring-notify has no command `deliver` yet") && !told.contains("has no command `hook`"),
        "{told}"
    );
    world.ok(&["remove"]);
    assert!(!world.claude().exists());
    world.refused(&["install", "--plan-wait", "10m"], "INVALID_ARGUMENT", 64);
}

/// The events of `ring-plan hook` (ring-plan(1), HOOK ENTRY).
const PLAN: [&str; 8] = [
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "StopFailure",
    "SessionEnd",
];

/// With programs that stand for the sisters: they know every command.
fn with_sisters() -> World {
    let world = World::new();
    world.claude_that_answers("2.1.332 (Claude Code)");
    for sister in ["ring-session", "ring-plan", "ring-notify"] {
        world.program(&format!("bin/{sister}"), "#!/bin/sh\n");
    }
    world
}

/// Every entry whose command has a word, by event; no group has a matcher.
fn entries(file: &Path, word: &str) -> Vec<(String, String, u64)> {
    let mut found = Vec::new();
    for event in events(file) {
        for group in hooks(file)[&event].as_array().unwrap() {
            assert!(group.get("matcher").is_none(), "{event}: {group}");
        }
        let of_event = commands(file, &event).into_iter().filter(|(c, _)| c.contains(word));
        found.extend(of_event.map(|(c, t)| (event.clone(), c, t)));
    }
    found
}

#[test]
fn h75_plan_stands_on_its_events_and_waits_on_the_request_of_claude_code_alone() {
    let world = with_sisters();
    let order = ["install", "--with", "plan", "--plan-wait", "60s"];
    let told = world.json(&order);
    let at = |name: &str| world.path("bin").join(name).to_str().unwrap().to_owned();
    for (file, agent, known) in [
        (world.claude(), "claude-code", &EIGHTEEN[..]),
        (world.codex(), "codex", &CODEX[..]),
    ] {
        let plain = format!("{} hook --agent {agent}", at("ring-plan"));
        let waits = |event: &str| agent == "claude-code" && event == "PermissionRequest";
        let mut wanted: Vec<_> = PLAN
            .into_iter()
            .filter(|event| known.contains(event))
            .map(|event| match event {
                _ if waits(event) => (event.to_owned(), format!("{plain} --wait 60s"), 70),
                "SessionEnd" if agent == "codex" => (event.to_owned(), plain.clone(), 3),
                _ => (event.to_owned(), plain.clone(), 5),
            })
            .collect();
        wanted.sort();
        let mut found = entries(&file, "ring-plan");
        found.sort();
        assert_eq!(found, wanted);
        // the turns are kept by the session's entry, first on each event
        let pipe = format!(
            "{} --agent {agent} --emit | {} hook",
            at("ring-hook"),
            at("ring-session")
        );
        assert_eq!(commands(&file, "Stop")[0].0, pipe);
        assert_eq!(entries(&file, "ring-hook").len(), known.len());
    }
    let hints = |told: &Value, agent: usize| texts(&told["agents"][agent]["hints"]).join("\n");
    assert!(!hints(&told, 0).contains("do not wait") && hints(&told, 1).contains("do not wait"));
    let before = world.snapshot();
    let told = world.ok(&order);
    assert_eq!(told.matches("nothing to change").count(), 2, "{told}");
    assert_eq!(world.snapshot(), before);
    let told = world.agent(&["status"], "claude-code");
    assert_eq!(texts(&told["with"]), ["session", "plan"]);
    assert_eq!(
        (told["state"].as_str(), told["plan_wait"].as_str()),
        (Some("complete"), Some("60s"))
    );
    let told = world.agent(&["status"], "codex");
    assert_eq!(
        (told["state"].as_str(), told["plan_wait"].as_str()),
        (Some("complete"), Some(""))
    );
    assert!(
        world
            .ok(&["status"])
            .contains("complete with session, plan (a plan waits 60s) in ")
    );
    world.ok(&["remove"]);
    assert!(!world.claude().exists() && !world.codex().exists());
}

#[test]
fn h75_another_wait_is_healed_and_none_takes_it_out() {
    let world = with_sisters();
    let wait = |span: &str| {
        let words = [
            "install",
            "--agent",
            "claude-code",
            "--with",
            "plan",
            "--plan-wait",
            span,
        ];
        let told = world.agent(&words[..if span.is_empty() { 5 } else { 7 }], "claude-code");
        (
            texts(&told["healed"]),
            commands(&world.claude(), "PermissionRequest")[1].clone(),
        )
    };
    let plain = format!("{} hook --agent claude-code", world.path("bin/ring-plan").display());
    assert_eq!(wait("10m"), (vec![], (format!("{plain} --wait 10m"), 610)));
    let healed = vec!["PermissionRequest".to_owned()];
    assert_eq!(wait("90s"), (healed.clone(), (format!("{plain} --wait 90s"), 100)));
    assert_eq!(wait(""), (healed, (plain, 5)));
    for span in ["", "soon", "-5s"] {
        let words = ["install", "--with", "plan", &format!("--plan-wait={span}")];
        world.refused(&words, "INVALID_ARGUMENT", 64);
    }
}

#[test]
fn h75_status_says_how_to_put_right_what_was_ordered() {
    let world = with_sisters();
    let order = "install --agent claude-code --with session,plan,notify --plan-wait 10m";
    world.ok(&order.split(' ').collect::<Vec<_>>());
    let file = world.claude();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("\"timeout\": 5", "\"timeout\": 60", 1)).unwrap();
    let told = world.ok(&["status", "--agent", "claude"]);
    assert!(told.ends_with(&format!("  run: ring-hook {order}\n")), "{told}");
    world.ok(&order.split(' ').collect::<Vec<_>>());
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn h75_notify_stands_on_the_ends_of_turns_of_every_agent_and_goes_without_a_trace() {
    let world = with_sisters();
    let before = world.snapshot();
    world.ok(&["install", "--with", "notify"]);
    let ring = format!(
        "{} deliver --detach --after 2s",
        world.path("bin/ring-notify").display()
    );
    let on = |events: &[&str]| -> Vec<_> { events.iter().map(|e| ((*e).to_owned(), ring.clone(), 5)).collect() };
    assert_eq!(entries(&world.claude(), "ring-notify"), on(&["Stop", "StopFailure"]));
    assert_eq!(entries(&world.codex(), "ring-notify"), on(&["Stop"]));
    // notify alone keeps no turns
    assert!(entries(&world.claude(), "ring-session").is_empty());
    let order = ["install", "--with", "notify"];
    assert_eq!(world.ok(&order).matches("nothing to change").count(), 2);
    let told = world.agent(&["status"], "claude-code");
    assert_eq!(
        (texts(&told["with"]), &told["state"]),
        (vec!["notify".to_owned()], &Value::from("complete"))
    );
    world.ok(&["remove"]);
    let mut after = world.snapshot();
    after.retain(|path, _| !path.starts_with(world.home(".local")));
    assert_eq!(after, before);
}

/// The version that is found, the events that are written, and what is there.
type Found<'a> = (&'a str, &'a [&'a str], &'a dyn Fn(&World));

#[test]
fn h84_the_version_is_found_by_name_by_package_by_answer_and_by_record() {
    let newest = &EIGHTEEN[..];
    let cases: [Found; 7] = [
        ("2.1.332", newest, &|w| {
            w.program("share/claude/versions/2.1.332", "");
            symlink(w.path("share/claude/versions/2.1.332"), w.path("bin/claude")).unwrap();
        }),
        ("2.1.197", newest, &|w| {
            w.program("lib/@anthropic-ai/claude-code/bin/claude.exe", "");
            let package = w.path("lib/@anthropic-ai/claude-code/package.json");
            fs::write(
                package,
                r#"{"name": "@anthropic-ai/claude-code", "version": "2.1.197"}"#,
            )
            .unwrap();
            symlink(
                w.path("lib/@anthropic-ai/claude-code/bin/claude.exe"),
                w.path("bin/claude"),
            )
            .unwrap();
        }),
        ("2.1.332", newest, &|w| w.claude_that_answers("2.1.332 (Claude Code)")),
        ("2.0.14", &NINE, &|w| w.claude_that_answers("2.0.14 (Claude Code)")),
        ("2.1.332", newest, &|w| {
            fs::create_dir_all(w.home(".claude/sessions")).unwrap();
            fs::write(w.home(".claude/sessions/1.json"), r#"{"version":"2.1.197","pid":1}"#).unwrap();
            fs::write(w.home(".claude/sessions/2.json"), r#"{"version":"2.1.332"}}"tail"#).unwrap();
            fs::write(w.home(".claude/sessions/3.json"), "{").unwrap();
        }),
        ("", &NINE, &|w| w.claude_that_answers("what?")),
        ("", &NINE, &|_| {}),
    ];
    for (version, expected, prepare) in cases {
        let world = World::new();
        prepare(&world);
        let told = world.agent(&["install", "--agent", "claude-code"], "claude-code");
        assert_eq!(told["version"], version);
        assert_eq!(events(&world.claude()), sorted(expected), "{version}");
        assert_eq!(world.agent(&["status"], "claude-code")["state"], "complete");
    }
}

#[test]
fn h84_of_several_versions_the_lowest_counts() {
    let world = World::new();
    for version in ["2.1.332", "2.1.100"] {
        world.program(&format!("versions/{version}"), "");
        world.program(&format!("{version}/x"), "");
        symlink(world.path("versions").join(version), world.path(version).join("claude")).unwrap();
    }
    let path = format!(
        "{}:{}",
        world.path("2.1.332").display(),
        world.path("2.1.100").display()
    );
    let done = Command::new(env!("CARGO_BIN_EXE_ring-hook"))
        .arg("install")
        .env_clear()
        .env("HOME", world.path("home"))
        .env("RING_STATE_DIR", world.path("state"))
        .env("PATH", path)
        .output()
        .unwrap();
    assert!(done.status.success());
    assert_eq!(events(&world.claude()), sorted(&NINE));
}

#[test]
fn h84_after_a_downgrade_our_unknown_entries_leave_and_others_are_named() {
    let world = World::new();
    world.claude_that_answers("2.1.332 (Claude Code)");
    let foreign = r#"{"hooks": {"DirectoryAdded": [{"hooks": [{"type": "command", "command": "mine"}]}]}}"#;
    fs::write(world.claude(), foreign).unwrap();
    assert!(texts(&world.agent(&["install"], "claude-code")["unknown"]).is_empty());
    world.claude_that_answers("2.1.197 (Claude Code)");
    let told = world.agent(&["install"], "claude-code");
    assert_eq!(texts(&told["unknown"]), ["DirectoryAdded"]);
    assert_eq!(told["changed"], false);
    assert!(world.ok(&["install"]).contains("not known to 2.1.197: DirectoryAdded"));
    world.claude_that_answers("2.0.1 (Claude Code)");
    let told = world.agent(&["install"], "claude-code");
    assert_eq!(texts(&told["removed"]).len(), 9);
    let mut left = sorted(&NINE);
    left.insert(0, "DirectoryAdded".into());
    left.sort();
    assert_eq!(events(&world.claude()), left);
    assert_eq!(commands(&world.claude(), "DirectoryAdded"), [("mine".into(), 0)]);
}

#[test]
fn h84_a_claude_that_does_not_answer_is_given_up_after_two_seconds() {
    let world = World::new();
    world.program("bin/claude", "#!/bin/sh\nexec /bin/sleep 60\n");
    let started = std::time::Instant::now();
    world.ok(&["install", "--agent", "claude-code"]);
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
    assert_eq!(events(&world.claude()), sorted(&NINE));
}

#[test]
fn status_starts_no_agent() {
    let world = World::new();
    world.claude_that_answers("2.1.332 (Claude Code)");
    let before = world.snapshot();
    assert!(world.ok(&["status"]).contains("claude-code version unknown: none"));
    assert!(!world.path("asked").exists());
    assert_eq!(world.snapshot(), before);
    assert!(!world.path("state").exists());
    world.ok(&["install"]);
    assert!(world.path("asked").exists());
}

#[test]
fn h111_each_writer_shows_a_file_of_the_documented_shape() {
    let world = World::new();
    for (agent, file) in [("claude-code", world.claude()), ("codex", world.codex())] {
        let told = world.agent(&["install", "--dry-run", "--agent", agent], agent);
        let added = told["diff"].as_str().unwrap().lines().filter(|l| !l.starts_with("+++"));
        let text: String = added.filter_map(|l| l.strip_prefix('+')).collect();
        let written: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(written.as_object().unwrap().len(), 1);
        for groups in written["hooks"].as_object().unwrap().values() {
            let group = groups.as_array().unwrap()[0].as_object().unwrap();
            assert_eq!(group.keys().collect::<Vec<_>>(), ["hooks"]);
            let handler = group["hooks"][0].as_object().unwrap();
            assert_eq!(handler.keys().collect::<Vec<_>>(), ["command", "timeout", "type"]);
            assert_eq!(handler["type"], "command");
            assert!(handler["timeout"].is_u64());
        }
        assert!(!file.exists());
    }
}

#[test]
fn h113_exactly_the_documented_files_are_written_and_removed() {
    let world = World::new();
    world.ok(&["install"]);
    let files: Vec<PathBuf> = world.snapshot().into_keys().collect();
    let expected = [".claude", ".claude/settings.json", ".codex", ".codex/hooks.json"];
    assert_eq!(files, expected.map(|f| world.home(f)));
    world.ok(&["remove"]);
    assert!(
        !world.claude().exists() && !world.codex().exists(),
        "they were not there before"
    );
    let again = world.snapshot();
    assert!(world.ok(&["remove"]).contains("nothing to change"));
    assert_eq!(world.snapshot(), again);
}

#[test]
fn the_homes_are_where_the_environment_says() {
    let world = World::empty();
    for folder in ["c", "x"] {
        fs::create_dir_all(world.path(folder)).unwrap();
    }
    let done = Command::new(env!("CARGO_BIN_EXE_ring-hook"))
        .arg("install")
        .env_clear()
        .env("HOME", world.path("home"))
        .env("RING_STATE_DIR", world.path("state"))
        .env("CLAUDE_CONFIG_DIR", world.path("c"))
        .env("CODEX_HOME", world.path("x"))
        .output()
        .unwrap();
    assert!(done.status.success());
    assert_eq!(events(&world.path("c/settings.json")), sorted(&NINE));
    assert_eq!(events(&world.path("x/hooks.json")), sorted(&CODEX));
    assert!(world.snapshot().is_empty());
    let command = &commands(&world.path("x/hooks.json"), "Stop")[0].0;
    assert_eq!(*command, format!("{} --agent codex", env!("CARGO_BIN_EXE_ring-hook")));
}

#[test]
fn an_agent_without_a_writer_gets_the_entry_to_copy() {
    let world = World::new();
    let told = world.refused(&["install", "--agent", "gemini-cli"], "INSTALL_MANUAL", 64);
    assert!(told.contains(&format!("{} --agent gemini", world.hook())), "{told}");
    let out = world.run(&["--format", "json", "install", "--agent", "acme"]);
    let told: Value = serde_json::from_slice(&out.stderr).unwrap();
    assert_eq!(
        told["error"]["details"]["snippet"],
        format!("{} --agent acme", world.hook())
    );
    world.refused(&["install", "--agent", "ollama"], "INVALID_ARGUMENT", 64);
    world.refused(
        &["install", "--agent", "codex", "--agent", "../x"],
        "INVALID_ARGUMENT",
        64,
    );
    assert!(!world.codex().exists());
}

#[test]
fn a_program_in_an_odd_place_is_quoted_so_that_sh_finds_it() {
    let world = World::new();
    let folder = world.path("it's a \"place\" $HOME");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_ring-hook"), folder.join("ring-hook")).unwrap();
    fresh(&folder.join("ring-hook"));
    let program = folder.join("ring-hook");
    world.ok(&["install", "--agent", "codex", "--command", program.to_str().unwrap()]);
    let (command, _) = &commands(&world.codex(), "Stop")[0];
    let shown = Command::new("/bin/sh")
        .arg("-c")
        .arg(format!("{command} --version </dev/null"))
        .env_clear()
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&shown.stdout).starts_with("ring-hook "),
        "{command}"
    );
    let told = world.agent(
        &["install", "--agent", "codex", "--command", program.to_str().unwrap()],
        "codex",
    );
    assert_eq!(told["changed"], false);
    assert_eq!(world.agent(&["status"], "codex")["state"], "complete");
    world.ok(&["install", "--agent", "codex", "--command", "ring-hook"]);
    assert_eq!(commands(&world.codex(), "Stop")[0].0, "ring-hook --agent codex");
    world.ok(&["install", "--agent", "codex", "--command", "bin/../bin/ring-hook"]);
    assert!(commands(&world.codex(), "Stop")[0].0.starts_with('/'));
    world.refused(&["install", "--command", "/bin/true"], "INVALID_ARGUMENT", 64);
}

#[test]
fn a_held_settings_lock_and_a_folder_that_cannot_be_written_are_told() {
    let mut world = World::new();
    fs::create_dir_all(world.path("state")).unwrap();
    let lock = fs::File::create(world.path("state/settings.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    world.lock_ms = "30";
    world.refused(&["install"], "LOCK_TIMEOUT", 75);
    drop(lock);
    fs::create_dir_all(world.home(".claude/settings.json.bak")).unwrap();
    fs::write(world.claude(), SETTINGS).unwrap();
    world.refused(&["install", "--agent", "claude-code"], "IO", 74);
    assert_eq!(fs::read_to_string(world.claude()).unwrap(), SETTINGS);
}

#[test]
fn the_backup_keeps_what_was_there_before_our_entries() {
    let world = World::new();
    world.claude_that_answers("2.0.14 (Claude Code)");
    fs::write(world.claude(), SETTINGS).unwrap();
    world.ok(&["install"]);
    world.claude_that_answers("2.1.332 (Claude Code)");
    world.ok(&["install"]);
    let backup = || fs::read_to_string(world.home(".claude/settings.json.bak")).unwrap();
    assert_eq!(backup(), SETTINGS, "not our own first version");
    world.ok(&["remove"]);
    assert_eq!(backup(), SETTINGS);
    assert_eq!(fs::read_to_string(world.claude()).unwrap(), SETTINGS);
    fs::write(world.claude(), "{\"model\": \"opus\"}").unwrap();
    world.ok(&["install"]);
    assert_eq!(
        backup(),
        "{\"model\": \"opus\"}",
        "a later install keeps the later file"
    );
}

#[test]
fn a_file_that_install_made_and_healed_is_removed_and_one_of_the_person_is_not() {
    let world = World::new();
    world.claude_that_answers("2.0.14 (Claude Code)");
    fs::write(world.codex(), "{}\n").unwrap();
    world.ok(&["install"]);
    world.claude_that_answers("2.1.332 (Claude Code)");
    world.ok(&["install"]);
    world.ok(&["remove", "--dry-run"]);
    assert!(world.claude().exists());
    world.ok(&["remove"]);
    assert!(!world.claude().exists());
    assert_eq!(fs::read_to_string(world.codex()).unwrap(), "{}\n");
}

#[test]
fn a_ring_hook_that_is_not_there_or_in_a_build_folder_is_warned_about() {
    let world = World::new();
    let told = |path: &str| {
        let out = world.run(&["install", "--agent", "codex", "--command", path]);
        assert!(out.status.success());
        String::from_utf8(out.stderr).unwrap()
    };
    assert!(told("/nonexistent/ring-hook").contains("warning: /nonexistent/ring-hook is no program here"));
    world.program("target/release/ring-hook", "");
    let built = world.path("target/release/ring-hook");
    assert!(told(built.to_str().unwrap()).contains("put ring-hook on PATH first"));
    assert_eq!(told(&world.hook()), "");
    assert_eq!(told("ring-hook"), "");
}

#[test]
fn an_agent_that_is_named_and_not_here_gets_advice() {
    let world = World::empty();
    for command in ["install", "remove", "status"] {
        let told = world.ok(&[command, "--agent", "claude"]);
        assert!(told.contains("start claude once, or set CLAUDE_CONFIG_DIR"), "{told}");
    }
    let told = world.refused(&["remove", "--agent", "acme"], "INSTALL_MANUAL", 64);
    assert!(
        told.contains("take `ring-hook --agent acme` out of its hooks by hand"),
        "{told}"
    );
    let both = World::new();
    let told = both.json(&["status", "--agent", "codex"]);
    assert_eq!(told["agents"].as_array().unwrap().len(), 1);
    assert_eq!(told["agents"][0]["agent"], "codex");
}

#[test]
fn events_that_were_lost_since_the_last_good_one_are_told() {
    let world = World::new();
    world.ok(&["install"]);
    fs::create_dir_all(world.path("state")).unwrap();
    let log = "2026-11-30T12:00:00.000Z LOCK_TIMEOUT codex Stop 10\n2026-11-30T12:00:01.500Z BAD_PAYLOAD codex - 6\n\
               2026-11-30T12:00:02.000Z BAD_PAYLOAD acme - 6\n";
    fs::write(world.path("state/hook-errors.log"), log).unwrap();
    let hints = || texts(&world.agent(&["status"], "codex")["hints"]).join("\n");
    assert!(
        hints().contains("2 events were lost since the last good one, the newest by BAD_PAYLOAD"),
        "{}",
        hints()
    );
    let told = world.ok(&["status"]);
    assert!(
        told.contains("\nhint: acme: 1 event was lost") && told.contains("hook-errors.log"),
        "{told}"
    );
    fs::create_dir_all(world.path("state/status")).unwrap();
    // 12:00:02
    let row = r#"{"schema":1,"key":"codex:s","agent":"codex","event_ms":1796040002000}"#;
    fs::write(world.path("state/status/codex:s.json"), row).unwrap();
    assert!(!hints().contains("lost"), "{}", hints());
}

#[test]
fn the_help_of_install_fits_eighty_columns() {
    let help = World::empty().ok(&["install", "--help"]);
    let long: Vec<&str> = help.lines().filter(|l| l.chars().count() > 80).collect();
    assert!(long.is_empty(), "{long:#?}");
}

/// The same program in a file that only another process has written: while this one had it open, a child that another
/// test has just started may hold it open, too, and the system then refuses to run it.
fn fresh(path: &std::path::Path) {
    let copy = "cp -p \"$0\" \"$0.new\" && mv \"$0.new\" \"$0\"";
    let done = std::process::Command::new("sh").args(["-c", copy]).arg(path).status();
    assert!(done.unwrap().success());
}
