//! The programs together: what an agent tells arrives on the board, through files and pipes alone.

#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod harness;

use harness::{Home, NOW, assert_silent, feed, text};
use serde_json::{Value, json};
use std::fs;

const SECOND: i64 = 1000;

fn payload(event: &str, more: Value) -> Value {
    let mut payload = json!({"hook_event_name": event, "session_id": "3f2a", "cwd": "/w/app", "prompt_id": "t1"});
    let members = payload.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    payload
}

/// The one session of a board.
fn only(board: &Value) -> &Value {
    let sessions = board["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1, "{board:#}");
    &sessions[0]
}

#[test]
fn a_session_is_followed_from_its_prompt_to_its_end() {
    let home = Home::new();
    home.agent("claude", "/w/app");
    home.event(
        NOW,
        &payload("UserPromptSubmit", json!({"prompt": "fix the flaky test"})),
    );
    let board = home.board_at(NOW + SECOND);
    let row = only(&board);
    assert_eq!(row["status"], "working");
    assert_eq!(row["project"], "app");
    assert_eq!(row["title"], "fix the flaky test");
    assert_eq!(row["age_ms"], SECOND);

    let bash = json!({"tool_name": "Bash", "tool_input": {"command": "git push origin main"}});
    home.event(NOW + 2 * SECOND, &payload("PreToolUse", bash.clone()));
    home.event(NOW + 3 * SECOND, &payload("PermissionRequest", bash.clone()));
    assert_eq!(
        only(&home.board_at(NOW + 4 * SECOND))["status"],
        "working",
        "a rule may still grant it"
    );

    let prompt = json!({"notification_type": "permission_prompt", "message": "Claude needs your permission"});
    home.event(NOW + 9 * SECOND, &payload("Notification", prompt));
    let board = home.board_at(NOW + 10 * SECOND);
    let row = only(&board);
    assert_eq!(row["status"], "waiting");
    assert_eq!(row["waiting"]["kind"], "permission");
    assert_eq!(row["waiting"]["detail"], "Bash: git push origin main");
    assert_eq!(row["rule"], "hook_wait");
    assert_eq!(board["counts"]["waiting"], 1);

    home.event(NOW + 20 * SECOND, &payload("PostToolUse", bash));
    assert_eq!(only(&home.board_at(NOW + 21 * SECOND))["status"], "working");

    home.event(
        NOW + 30 * SECOND,
        &payload(
            "Stop",
            json!({"last_assistant_message": "Shall I open a pull request?"}),
        ),
    );
    let board = home.board_at(NOW + 31 * SECOND);
    assert_eq!(only(&board)["waiting"]["kind"], "question");
    assert_eq!(only(&board)["waiting"]["detail"], "Shall I open a pull request?");

    home.event(
        NOW + 40 * SECOND,
        &payload("UserPromptSubmit", json!({"prompt": "no", "prompt_id": "t2"})),
    );
    let done = json!({"last_assistant_message": "Done.", "prompt_id": "t2"});
    home.event(NOW + 45 * SECOND, &payload("Stop", done));
    assert_eq!(only(&home.board_at(NOW + 46 * SECOND))["status"], "idle");

    home.event(NOW + 50 * SECOND, &payload("SessionEnd", json!({"reason": "other"})));
    home.agent_exits();
    let board = home.board_at(NOW + 51 * SECOND);
    assert!(board["sessions"].as_array().unwrap().is_empty(), "{board:#}");
    assert!(home.rows().is_empty());

    let steps: Vec<_> = home
        .events()
        .iter()
        .filter(|e| e["kind"] == "status")
        .map(|e| format!("{}>{}", e["from"].as_str().unwrap(), e["to"].as_str().unwrap()))
        .collect();
    let told = [
        ">working",
        "working>waiting",
        "waiting>working",
        "working>waiting",
        "waiting>working",
    ];
    assert_eq!(steps[..5], told);
    assert_eq!(steps[5..], ["working>idle", "idle>ended"]);
}

#[test]
fn the_longest_wait_stands_first_whatever_the_agent() {
    let home = Home::new();
    for (at, session) in [(3, "late"), (1, "early"), (2, "middle")] {
        let payload = json!({"hook_event_name": "Notification", "session_id": session, "cwd": format!("/w/{session}"),
            "requires_action": true, "message": "May I?"});
        let out = home.hook_at(NOW + at * SECOND, &["--agent", session], payload.to_string().as_bytes());
        assert_silent(&out);
    }
    let board = home.board_at(NOW + 10 * SECOND);
    let order: Vec<_> = board["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["agent"].clone())
        .collect();
    assert_eq!(order, ["early", "middle", "late"]);
}

#[test]
fn events_can_be_read_from_a_pipe_without_a_file() {
    let home = Home::new();
    let lines = [
        payload("Stop", json!({})),
        payload("Nonsense", json!({})),
        payload("SessionEnd", json!({})),
    ];
    let input: String = lines.iter().map(|l| format!("{l}\n")).collect();
    let out = feed(&mut home.ring("ring-hook", &["normalize"]), input.as_bytes());
    assert!(out.status.success(), "{}", text(&out.stderr));
    let intents: Vec<_> = text(&out.stdout)
        .lines()
        .map(|l| serde_json::from_str::<Value>(l).unwrap()["intent"].clone())
        .collect();
    assert_eq!(intents, ["IDLE", "NONE", "ENDED"]);
    assert!(!home.state().exists(), "normalize touches no file");
}

#[test]
fn a_replay_leaves_what_single_calls_leave() {
    let script = [
        (0, payload("UserPromptSubmit", json!({"prompt": "go"}))),
        (
            5,
            payload(
                "PreToolUse",
                json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}),
            ),
        ),
        (
            6,
            payload(
                "PostToolUse",
                json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}),
            ),
        ),
        (9, payload("Stop", json!({"last_assistant_message": "Which one?"}))),
    ];
    let (single, replayed) = (Home::new(), Home::new());
    let mut file = String::new();
    for (at, payload) in &script {
        single.event(NOW + at * SECOND, payload);
        let line = json!({"at_ms": NOW + at * SECOND, "payload": payload, "agent": "claude-code"});
        file += &format!("{line}\n");
    }
    let path = replayed.path().join("recorded.jsonl");
    fs::write(&path, file).unwrap();
    let out = replayed
        .ring("ring-hook", &["replay", "--at", path.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", text(&out.stderr));
    let same = |mut rows: Vec<(String, Value)>| {
        for (_, row) in &mut rows {
            row["waits"][0]["id"] = Value::Null;
        }
        rows
    };
    assert_eq!(same(single.rows()), same(replayed.rows()));
}

/// Every command of a settings file, with its event.
fn commands(settings: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        for hook in groups
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|g| g["hooks"].as_array().unwrap())
        {
            found.push((event.clone(), hook["command"].as_str().unwrap().to_owned()));
        }
    }
    found
}

#[test]
fn what_install_writes_is_a_command_that_brings_a_session_on_the_board() {
    for (agent, folder, file) in [
        ("claude-code", ".claude", "settings.json"),
        ("codex", ".codex", "hooks.json"),
    ] {
        let home = Home::new();
        home.agent(if agent == "codex" { "codex" } else { "claude" }, "/w/app");
        let dir = home.path().join(folder);
        fs::create_dir(&dir).unwrap();
        let out = home.ring("ring-hook", &["install"]).output().unwrap();
        assert!(out.status.success(), "{}", text(&out.stderr));
        let settings: Value = serde_json::from_slice(&fs::read(dir.join(file)).unwrap()).unwrap();
        let commands = commands(&settings);
        for event in ["UserPromptSubmit", "Stop", "SessionEnd"] {
            assert_eq!(
                commands.iter().filter(|(e, _)| e == event).count(),
                1,
                "{agent} {event}"
            );
        }
        let (_, line) = commands.iter().find(|(e, _)| e == "UserPromptSubmit").unwrap();
        let prompt = payload("UserPromptSubmit", json!({"prompt": "go"})).to_string();
        assert_silent(&feed(home.command("sh").args(["-c", line]), prompt.as_bytes()));
        let board = home.board_at(NOW + SECOND);
        assert_eq!(only(&board)["key"], format!("{agent}:3f2a"));
        assert_eq!(only(&board)["status"], "working");

        let out = home.ring("ring-hook", &["remove"]).output().unwrap();
        assert!(out.status.success(), "{}", text(&out.stderr));
        // install made the file, so nothing of it is left
        assert!(!dir.join(file).exists(), "{agent}");
    }
}

#[test]
fn codex_that_stays_silent_after_a_request_waits_on_the_board_and_not_in_the_file() {
    let home = Home::new();
    home.agent("codex", "/w/app");
    let codex = |at: i64, event: &str, more: Value| {
        let out = home.hook_at(
            NOW + at * SECOND,
            &["--agent", "codex"],
            payload(event, more).to_string().as_bytes(),
        );
        assert_silent(&out);
    };
    codex(0, "UserPromptSubmit", json!({"prompt": "go", "turn_id": "1"}));
    codex(
        1,
        "PermissionRequest",
        json!({"turn_id": "1", "tool_name": "Bash", "tool_input": {"command": "make"}}),
    );
    let before = home.rows();
    assert_eq!(only(&home.board_at(NOW + 11 * SECOND))["status"], "working");
    let board = home.board_at(NOW + 12 * SECOND);
    assert_eq!(only(&board)["waiting"]["detail"], "Bash: make");
    assert_eq!(home.rows(), before);
    codex(
        30,
        "PostToolUse",
        json!({"turn_id": "1", "tool_name": "Bash", "tool_input": {"command": "make"}}),
    );
    assert_eq!(only(&home.board_at(NOW + 31 * SECOND))["status"], "working");
}

#[test]
fn the_commands_that_explain_agree_with_the_board() {
    let home = Home::new();
    home.agent("claude", "/w/app");
    home.event(NOW, &payload("UserPromptSubmit", json!({"prompt": "go"})));
    let json_of = |program: &str, args: &[&str]| -> Value {
        let out = home.ring(program, args).output().unwrap();
        assert!(out.status.success(), "{program} {args:?}: {}", text(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap()
    };
    let board = home.board_at(NOW);
    let explained = json_of("ring-scan", &["explain", "3f2a", "--format", "json"]);
    assert_eq!(explained["rule"], only(&board)["rule"]);
    assert_eq!(explained["status"], only(&board)["status"]);
    let deciding = explained["rules"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["applies"] == true)
        .unwrap();
    assert_eq!(deciding["rule"], explained["rule"]);
    let row = json_of("ring-hook", &["show", "claude-code:3f2a", "--format", "json"]);
    assert_eq!(row["view"]["status"], only(&board)["status"]);
    assert!(json_of("ring-scan", &["doctor", "--format", "json"])["checks"].is_array());
    assert!(json_of("ring-hook", &["status", "--format", "json"])["agents"].is_array());

    let out = home
        .ring("ring-scan", &["show", "nobody", "--format", "json"])
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(3));
    assert!(out.stdout.is_empty());
    let error: Value = serde_json::from_slice(&out.stderr).unwrap();
    assert_eq!(error["error"]["code"], "SESSION_NOT_FOUND");
}

#[test]
fn an_empty_machine_gets_one_line_that_says_what_to_do() {
    let home = Home::new();
    let out = home.ring("ring-scan", &[]).output().unwrap();
    assert!(out.status.success());
    let said = text(&out.stdout);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("ring-hook install"), "{said}");
    assert!(!home.state().exists(), "looking makes no folder");
}
