//! What a tool may do in a session: the one table of tools, modes and permission modes (ring-plan(1), POLICY).
//!
//! Decided from the record alone: a mode that the caller claims is ignored. Deny is decided first: neither auto, a grant
//! nor a path lifts it.

use ring_session::Code;
use ring_session::record::{Mode, PermissionMode};
use std::path::{Component, Path, PathBuf};

/// What is said of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nobody is asked.
    Allow,
    /// A person is asked.
    Confirm,
    /// Never.
    Deny(Code),
}

/// Classes of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Read,
    Shell,
    Write,
    Edit,
    Plugin,
    Enter,
    SubmitPlan,
    SubmitGoal,
    Other,
}

/// Case, `_` and `-` do not count.
fn fold(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

fn class(tool: &str) -> Class {
    match fold(tool).as_str() {
        "read" | "glob" | "grep" | "ls" | "browserpreview" | "asktool" | "askuserquestion" | "contextcompaction" => {
            Class::Read
        }
        "bash" | "shell" | "runshellcommand" | "execcommand" => Class::Shell,
        "write" | "writefile" | "create" => Class::Write,
        "edit" | "multiedit" | "notebookedit" | "replace" | "applypatch" => Class::Edit,
        "enterplanmode" | "entergoalmode" => Class::Enter,
        "submitplan" | "exitplanmode" => Class::SubmitPlan,
        "submitgoal" => Class::SubmitGoal,
        _ if tool.to_lowercase().replace('-', "_").starts_with("plugin_") => Class::Plugin,
        _ => Class::Other,
    }
}

/// What is known of a call.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// Its tool.
    pub tool: &'a str,
    /// The session's mode.
    pub mode: Mode,
    /// The permission mode in force.
    pub permission: PermissionMode,
    /// Tools with a standing grant.
    pub grants: &'a [String],
    /// It names a path outside the project.
    pub outside: bool,
}

/// The verdict on a call.
pub fn verdict(call: &Call) -> Verdict {
    use Verdict::{Allow, Confirm, Deny};
    let class = class(call.tool);
    let auto = call.permission == PermissionMode::Auto;
    let edits = auto || call.permission == PermissionMode::AcceptEdits;
    let when = |allowed: bool| if allowed { Allow } else { Confirm };
    let verdict = match (class, call.mode) {
        (Class::Read, _) => Allow,
        (Class::Shell, _) => when(auto),
        (Class::Write | Class::Edit, Mode::Agent) => when(edits),
        (Class::Plugin | Class::Other, Mode::Agent) => when(auto),
        (Class::Enter, Mode::Agent) => Allow,
        (Class::SubmitPlan | Class::SubmitGoal, Mode::Agent) => Deny(Code::PlanNotActive),
        (Class::Write, _) => Deny(Code::WriteDisabledInPlan),
        (Class::Edit, _) => Deny(Code::EditDisabledInPlan),
        (Class::Plugin, _) => Deny(Code::PluginDisabledInPlan),
        (Class::Enter, _) => Deny(Code::PlanAlreadyActive),
        (Class::SubmitPlan, Mode::Plan) | (Class::SubmitGoal, Mode::Goal) => Allow,
        (Class::SubmitPlan | Class::SubmitGoal, _) => Deny(Code::PlanKindMismatch),
        (Class::Other, _) => Deny(Code::ToolDisabledInPlan),
    };
    match verdict {
        Allow if call.outside && !auto => Confirm,
        Confirm if !call.outside && is_granted(call, class) => Allow,
        other => other,
    }
}

/// A grant for Bash covers its class; in a contract mode only that counts.
fn is_granted(call: &Call, class: Class) -> bool {
    let own = fold(call.tool);
    call.grants.iter().any(|g| match (class, call.mode) {
        (Class::Shell, _) => fold(g) == own || fold(g) == "bash",
        (_, Mode::Agent) => fold(g) == own,
        _ => false,
    })
}

/// Whether a path leaves the project. Links are resolved at the nearest parent that exists; a relative path is of the
/// project. No project, or one that is gone: outside.
pub fn is_outside(project: Option<&str>, path: &str) -> bool {
    let Some(root) = project
        .and_then(|p| Path::new(p).canonicalize().ok())
        .filter(|p| p.is_dir())
    else {
        return true;
    };
    !real(&root.join(path)).starts_with(&root)
}

/// The path without links and dots, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let mut done = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                done.pop();
            }
            Component::CurDir => {}
            other => {
                done.push(other);
                if let Ok(real) = done.canonicalize() {
                    done = real;
                } else if let Ok(to) = std::fs::read_link(&done) {
                    // a link to nothing yet: what is written goes there
                    done.pop();
                    done = real(&done.join(to));
                }
            }
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(tool: &str, mode: Mode, permission: PermissionMode) -> Verdict {
        verdict(&Call {
            tool,
            mode,
            permission,
            grants: &[],
            outside: false,
        })
    }

    #[test]
    fn p44_the_table_of_tools_modes_and_permission_modes() {
        use PermissionMode::{AcceptEdits, Ask, Auto};
        use Verdict::{Allow, Confirm, Deny};
        let rows: &[(&[&str], [Verdict; 3], Verdict)] = &[
            (
                &[
                    "Read",
                    "glob",
                    "GREP",
                    "ls",
                    "AskUserQuestion",
                    "ask_user_question",
                    "context-compaction",
                ],
                [Allow, Allow, Allow],
                Allow,
            ),
            (
                &["Write", "write_file", "Create"],
                [Confirm, Allow, Allow],
                Deny(Code::WriteDisabledInPlan),
            ),
            (
                &["Edit", "multi-edit", "NotebookEdit", "replace", "apply_patch"],
                [Confirm, Allow, Allow],
                Deny(Code::EditDisabledInPlan),
            ),
            (
                &["plugin_x", "PLUGIN-y"],
                [Confirm, Confirm, Allow],
                Deny(Code::PluginDisabledInPlan),
            ),
            (
                &["EnterPlanMode", "enter_goal_mode"],
                [Allow, Allow, Allow],
                Deny(Code::PlanAlreadyActive),
            ),
            (
                &["mcp_x", "Task", "whatever", ""],
                [Confirm, Confirm, Allow],
                Deny(Code::ToolDisabledInPlan),
            ),
        ];
        for (tools, agent, contract) in rows {
            for tool in *tools {
                for (permission, expected) in [Ask, AcceptEdits, Auto].into_iter().zip(agent) {
                    assert_eq!(say(tool, Mode::Agent, permission), *expected, "{tool} {permission:?}");
                    assert_eq!(say(tool, Mode::Plan, permission), *contract, "{tool} {permission:?}");
                    assert_eq!(say(tool, Mode::Goal, permission), *contract, "{tool} {permission:?}");
                }
            }
        }
        for (permission, expected) in [(Ask, Confirm), (AcceptEdits, Confirm), (Auto, Allow)] {
            for mode in [Mode::Agent, Mode::Plan, Mode::Goal] {
                assert_eq!(say("run_shell_command", mode, permission), expected);
            }
        }
    }

    #[test]
    fn p44_a_submission_is_for_its_own_kind() {
        let ask = PermissionMode::Ask;
        assert_eq!(say("ExitPlanMode", Mode::Plan, ask), Verdict::Allow);
        assert_eq!(
            say("submit_plan", Mode::Goal, ask),
            Verdict::Deny(Code::PlanKindMismatch)
        );
        assert_eq!(
            say("SubmitGoal", Mode::Plan, ask),
            Verdict::Deny(Code::PlanKindMismatch)
        );
        assert_eq!(say("SubmitGoal", Mode::Agent, ask), Verdict::Deny(Code::PlanNotActive));
    }

    #[test]
    fn p44_grants_and_paths_lift_no_denial() {
        let grants = ["Write".to_owned(), "Bash".into(), "Task".into()];
        let call = |tool, mode, outside| {
            verdict(&Call {
                tool,
                mode,
                permission: PermissionMode::Ask,
                grants: &grants,
                outside,
            })
        };
        assert_eq!(
            call("Write", Mode::Plan, false),
            Verdict::Deny(Code::WriteDisabledInPlan)
        );
        assert_eq!(call("Write", Mode::Agent, false), Verdict::Allow);
        assert_eq!(call("Write", Mode::Agent, true), Verdict::Confirm);
        assert_eq!(call("shell", Mode::Goal, false), Verdict::Allow);
        assert_eq!(call("Task", Mode::Plan, false), Verdict::Deny(Code::ToolDisabledInPlan));
        assert_eq!(call("Read", Mode::Agent, true), Verdict::Confirm);
    }

    #[test]
    fn p45_links_and_dots_are_resolved_against_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let project = root.join("proj");
        std::fs::create_dir(&project).unwrap();
        std::os::unix::fs::symlink(&root, project.join("out")).unwrap();
        std::os::unix::fs::symlink(root.join("nothing"), project.join("dangling")).unwrap();
        let at = project.to_str();
        for (path, outside) in [
            ("a/b", false),
            ("./x", false),
            ("../proj/y", false),
            ("../z", true),
            ("out/z", true),
            ("dangling", true),
            ("/etc/passwd", true),
        ] {
            assert_eq!(is_outside(at, path), outside, "{path}");
        }
        assert!(is_outside(None, "x") && is_outside(Some("/no/such/folder"), "x"));
    }
}
