//! What a tool may do, asked of the whole program.

use crate::harness::{Home, text};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

/// Names of a class; the verdicts in agent mode under ask, accept-edits, auto; the same in a contract mode.
type Row = (&'static [&'static str], [&'static str; 3], [&'static str; 3]);

const WRITE: &str = "deny WRITE_DISABLED_IN_PLAN";
const EDIT: &str = "deny EDIT_DISABLED_IN_PLAN";
const PLUGIN: &str = "deny PLUGIN_DISABLED_IN_PLAN";
const OTHER: &str = "deny TOOL_DISABLED_IN_PLAN";
const ACTIVE: &str = "deny PLAN_ALREADY_ACTIVE";
const SHELL: [&str; 3] = ["confirm", "confirm", "allow"];
const EDITS: [&str; 3] = ["confirm", "allow", "allow"];

/// The table of ring-plan(1), POLICY, but for the calls that submit.
const TABLE: &[Row] = &[
    (
        &[
            "Read",
            "Glob",
            "Grep",
            "LS",
            "BrowserPreview",
            "AskTool",
            "AskUserQuestion",
            "ContextCompaction",
        ],
        ["allow"; 3],
        ["allow"; 3],
    ),
    (&["Bash", "Shell", "RunShellCommand", "ExecCommand"], SHELL, SHELL),
    (&["Write", "WriteFile", "Create"], EDITS, [WRITE; 3]),
    (
        &["Edit", "MultiEdit", "NotebookEdit", "Replace", "ApplyPatch"],
        EDITS,
        [EDIT; 3],
    ),
    (&["plugin_deploy"], SHELL, [PLUGIN; 3]),
    (&["EnterPlanMode", "EnterGoalMode"], ["allow"; 3], [ACTIVE; 3]),
    (&["mcp__github__push", "Task", "Unknown"], SHELL, [OTHER; 3]),
];

/// The ways in which agents write one name.
fn variants(name: &str) -> Vec<String> {
    if name.contains('_') {
        return vec![name.into(), name.to_uppercase(), name.replace('_', "-")];
    }
    let mut snake = String::new();
    for (n, c) in name.chars().enumerate() {
        let joint = n > 0 && c.is_uppercase() && !name.chars().all(char::is_uppercase);
        snake.extend(joint.then_some('_'));
        snake.push(c.to_ascii_lowercase());
    }
    vec![name.into(), name.to_uppercase(), snake.replace('_', "-"), snake]
}

fn said(home: &Home, session: &str, tool: &str) -> String {
    home.says(&["ring-plan", "policy", session, "--", tool])
}

#[test]
fn p44_the_table_holds_for_every_tool_mode_permission_mode_and_spelling() {
    let home = Home::new();
    for mode in ["agent", "plan", "goal"] {
        let s = home.session(mode);
        home.end(&s);
        for (place, permission) in ["ask", "accept-edits", "auto"].into_iter().enumerate() {
            home.says(&["ring-session", "configure", &s.id, "--permission", permission]);
            for (tools, agent, contract) in TABLE {
                let expected = if mode == "agent" { agent[place] } else { contract[place] };
                for tool in *tools {
                    // one spelling a permission mode, and all of them under ask
                    let all = variants(tool);
                    let some = if place == 0 { &all[..] } else { &all[place..=place] };
                    for name in some {
                        assert_eq!(said(&home, &s.id, name), expected, "{name} {mode} {permission}");
                    }
                }
            }
            for (tool, of) in [
                ("SubmitPlan", "plan"),
                ("exit_plan_mode", "plan"),
                ("submit-goal", "goal"),
            ] {
                let expected = match mode {
                    "agent" => "deny PLAN_NOT_ACTIVE",
                    own if own == of => "allow",
                    _ => "deny PLAN_KIND_MISMATCH",
                };
                assert_eq!(said(&home, &s.id, tool), expected, "{tool} {mode}");
            }
        }
    }
}

#[test]
fn p44_inherit_is_the_setting_and_a_denial_has_its_own_status_if_asked_for() {
    let home = Home::new();
    let s = home.session("agent");
    assert_eq!(said(&home, &s.id, "Write"), "confirm");
    fs::write(
        home.path("config.toml"),
        "[session]\npermission_mode = \"accept-edits\"\n",
    )
    .unwrap();
    let words = ["ring-plan", "policy", &s.id, "Write"];
    assert_eq!(
        home.json(&words, ""),
        json!({"verdict": "allow", "code": null, "mode": "agent", "permission_mode": "accept-edits"})
    );
    let s = home.session("plan");
    for (tool, status) in [("Write", 6), ("Read", 0), ("Bash", 0)] {
        let words = ["ring-plan", "policy", &s.id, tool];
        assert_eq!(home.run(&words, "").status.code(), Some(0), "{tool}");
        let out = home.run(&[&words[..], &["--exit-status"]].concat(), "");
        assert_eq!(out.status.code(), Some(status), "{tool}");
        assert!(!out.stdout.is_empty() && out.stderr.is_empty());
    }
    home.refused(
        "SESSION_NOT_FOUND",
        &["ring-plan", "policy", "no-such-session", "Write"],
        "",
    );
}

#[test]
fn p44_a_standing_grant_turns_confirm_into_allow_and_no_denial() {
    let home = Home::new();
    let s = home.session("agent");
    let grants = ["Bash", "Write", "mcp_x", "plugin_y"];
    for (n, tool) in grants.iter().enumerate() {
        let call = format!("c{n}");
        let words = [
            "ring-session",
            "permission",
            "open",
            &s.id,
            "--turn",
            &s.turn,
            "--call",
            &call,
            "--tool",
            tool,
        ];
        let request = home.says(&words);
        home.says(&["ring-session", "permission", "answer", &s.id, &request, "allow-session"]);
    }
    for tool in ["bash", "Shell", "run_shell_command", "Write", "mcp-x", "plugin_y"] {
        assert_eq!(said(&home, &s.id, tool), "allow", "{tool}");
    }
    // of this very tool only
    for tool in ["WriteFile", "Edit", "plugin_z", "Task"] {
        assert_eq!(said(&home, &s.id, tool), "confirm", "{tool}");
    }
    home.end(&s);
    for kind in ["plan", "goal"] {
        home.says(&["ring-session", "configure", &s.id, "--mode", kind]);
        for (tool, expected) in [
            ("Shell", "allow"),
            ("Write", WRITE),
            ("mcp_x", OTHER),
            ("plugin_y", PLUGIN),
        ] {
            assert_eq!(said(&home, &s.id, tool), expected, "{tool}");
        }
        // no grant reaches out of the project
        let words = ["ring-plan", "policy", &s.id, "Bash", "--path", "/etc"];
        assert_eq!(home.says(&words), "confirm");
    }
}

#[test]
fn p44_a_mode_that_a_payload_claims_changes_nothing() {
    let home = Home::new();
    home.silent("UserPromptSubmit", "plan", json!({"prompt": "plan it"}));
    for claimed in [
        "default",
        "acceptEdits",
        "auto",
        "bypassPermissions",
        "agent",
        "",
        "\u{0}",
    ] {
        let call = json!({"tool_name": "Write", "tool_use_id": "w", "tool_input": {"file_path": "a"},
            "mode": "agent", "permissionMode": "auto"});
        let out = home.event("PreToolUse", claimed, call);
        let answer: Value =
            serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{claimed}: {}", text(&out.stderr)));
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
        assert_eq!(home.record("claude-code-s1")["mode"], "plan");
    }
}

#[test]
fn p45_a_path_is_resolved_against_the_project_and_through_links() {
    let home = Home::new();
    let s = home.session("agent");
    let project = home.project();
    fs::create_dir_all(project.join("in/deep")).unwrap();
    fs::create_dir(home.path("away")).unwrap();
    symlink(home.path("away"), project.join("out")).unwrap();
    symlink(project.join("in"), home.path("back")).unwrap();
    symlink("../away/new", project.join("dangling")).unwrap();
    symlink("loop", project.join("loop")).unwrap();
    let back = home.path("back/new").to_str().unwrap().to_owned();
    let sibling = format!("{}-other/x", project.to_str().unwrap());
    let inside = project.join("x").to_str().unwrap().to_owned();
    let paths = [
        ("new", false),
        ("in/deep/../../new", false),
        ("./in/none/../x", false),
        (&inside, false),
        (&back, false),
        ("", false),
        ("..", true),
        ("../away/x", true),
        ("in/../../away", true),
        ("out", true),
        ("out/x", true),
        ("out/../x", true),
        ("dangling", true),
        (&sibling, true),
        ("/", true),
    ];
    // neither the folder in which it is asked
    for folder in [home.path(""), home.path("away"), project.join("in/deep"), "/".into()] {
        for (path, outside) in paths {
            let words = ["ring-plan", "policy", &s.id, "Read", "--path", path];
            let out = home.command(&words).current_dir(&folder).output().unwrap();
            let expected = if outside { "confirm\n" } else { "allow\n" };
            assert_eq!(text(&out.stdout), expected, "{path:?} in {}", folder.display());
        }
    }
    let ask = |mode: &str, tool: &str| {
        home.says(&["ring-session", "configure", &s.id, "--permission", mode]);
        home.says(&["ring-plan", "policy", &s.id, tool, "--path", "/etc/passwd"])
    };
    home.end(&s);
    assert_eq!(ask("accept-edits", "Write"), "confirm");
    assert_eq!(ask("auto", "Write"), "allow");
    home.says(&["ring-session", "configure", &s.id, "--mode", "plan"]);
    assert_eq!(ask("auto", "Write"), WRITE, "a path lifts no denial");
    fs::remove_dir_all(&project).unwrap();
    assert_eq!(ask("ask", "Read"), "confirm", "a project that is gone holds nothing");
}
