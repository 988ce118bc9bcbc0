//! `doctor` on healthy and broken states.
#![allow(clippy::unwrap_used)]

mod world;

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use world::{NOW, World, files, ran};

/// A `ring-hook` that prints `status`, first on the path.
fn sister(world: &World, script: &str) -> String {
    let path = world.write("bin/ring-hook", format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    fresh(&path);
    format!("{}:/usr/bin:/bin", world.path("bin").display())
}

/// A copy of the program where no sister stands beside it.
fn alone(world: &World, path: &str) -> Value {
    let program = world.path("alone/ring-scan");
    if !program.exists() {
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        // a copy that is open for writing while another test forks could not be run
        let built = env!("CARGO_BIN_EXE_ring-scan");
        fs::hard_link(built, &program)
            .or_else(|_| fs::copy(built, &program).map(drop))
            .unwrap();
    }
    let from = world.command(&[]);
    let mut command = std::process::Command::new(program);
    command
        .env_clear()
        .envs(from.get_envs().filter_map(|(k, v)| Some((k, v?))))
        .env("PATH", path);
    ran(command.args(["--format", "json", "doctor"])).json()
}

fn of<'a>(report: &'a Value, id: &str) -> Vec<&'a Value> {
    report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|c| c["id"] == id)
        .collect()
}

#[test]
fn c61_a_broken_state_is_told_with_exit_0_and_nothing_is_changed() {
    let world = World::new();
    world.row("good", "idle", NOW - 1000, json!({}));
    world.write("state/status/generic:half.json", "{\"schema\":1,");
    fs::set_permissions(world.path("state"), fs::Permissions::from_mode(0o755)).unwrap();
    world.write("config.toml", "interval = \"x\"\ndebug_payload_log = true\n");
    let before = files(world.path("").as_path());
    let human = world.scan(&["doctor"]);
    assert_eq!(human.status, 0);
    assert!(human.out.contains("generic:half.json"), "{}", human.out);
    let report = world.scan(&["--format", "json", "doctor"]).json();
    assert_eq!(report["ok"], false);
    let told = |id: &str| {
        of(&report, id)
            .iter()
            .map(|c| c["text"].as_str().unwrap())
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(told("files.unreadable").contains("generic:half.json"));
    assert!(told("dirs.mode").contains("state"), "{report}");
    assert!(
        told("config").contains("interval") && told("config").contains("debug_payload_log"),
        "{report}"
    );
    for id in [
        "sources.hook",
        "sources.claude",
        "sources.codex",
        "sources.process",
        "process.namespace",
        "clock",
        "tmux",
        "notifier",
        "cleanable",
    ] {
        assert_eq!(of(&report, id).len(), 1, "{id}: {report}");
    }
    assert_eq!(files(world.path("").as_path()), before);
}

#[test]
fn c61_c86_hooks_are_as_ring_hook_tells_them() {
    let world = World::new();
    let status = r#"cat <<'END'
{"schema":1,"agents":[{"agent":"claude-code","file":"/h/.claude/settings.json","version":"2.1.197","state":"complete","with":[],"stale":[],"missing":[],"unknown":["PreSkillShellCommand"],"foreign":["Notification: bell"],"last_event_ms":0,"hints":["disableAllHooks is set"]},
{"agent":"codex","file":"/h/.codex/hooks.json","version":"0.171.0","state":"partial","with":[],"stale":["Stop"],"missing":[],"unknown":[],"foreign":[],"last_event_ms":0,"hints":["Stop has no trusted_hash; approve it in /hooks"]}]}
END"#;
    let report = alone(&world, &sister(&world, status));
    assert_eq!(of(&report, "hooks.claude-code")[0]["level"], "ok");
    assert_eq!(of(&report, "hooks.codex")[0]["level"], "warn");
    let names = of(&report, "hooks.names")[0]["text"].as_str().unwrap();
    assert!(
        names.contains("2.1.197") && names.contains("PreSkillShellCommand"),
        "{names}"
    );
    assert!(
        of(&report, "hooks.foreign")[0]["text"]
            .as_str()
            .unwrap()
            .contains("bell")
    );
    let policy = of(&report, "hooks.policy");
    assert!(policy[0]["text"].as_str().unwrap().contains("disableAllHooks"));
    assert!(policy[1]["text"].as_str().unwrap().contains("trusted_hash"));
}

#[test]
fn c61_a_sister_that_is_missing_or_broken_is_a_warning() {
    let world = World::new();
    let without = alone(&world, "/usr/bin:/bin");
    assert_eq!(of(&without, "hooks")[0]["text"], "ring-hook not found");
    assert_eq!(of(&without, "hooks")[0]["level"], "warn");
    for script in ["exit 70", "echo nonsense", "kill -9 $$"] {
        let report = alone(&world, &sister(&world, script));
        assert_eq!(of(&report, "hooks")[0]["level"], "warn", "{script}: {report}");
    }
}

/// The same program in a file that only another process has written: while this one had it open, a child that another
/// test has just started may hold it open, too, and the system then refuses to run it.
fn fresh(path: &std::path::Path) {
    let copy = "cp -p \"$0\" \"$0.new\" && mv \"$0.new\" \"$0\"";
    let done = std::process::Command::new("sh").args(["-c", copy]).arg(path).status();
    assert!(done.unwrap().success());
}
