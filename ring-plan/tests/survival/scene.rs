//! Every command that changes a proposal, each in a place where it has the most to do.

use crate::alike;
use crate::harness::{Home, TEXT, exit_plan, report, str_of, text, tree};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

const HALF_HOUR: i64 = 1_800_000;

/// A command of ring-plan and the place in which it is given.
pub struct Scene {
    pub name: String,
    pub home: Home,
    pub args: Vec<String>,
    pub stdin: Vec<u8>,
    /// The session that it changes.
    pub id: String,
    /// What a repeat says when the command was done before; none: it succeeds again.
    pub again: Option<&'static str>,
    /// The command is refused, and has ended an execution all the same.
    pub refuses: Option<&'static str>,
    /// It answers an agent: whatever happens, its status is 0.
    pub is_hook: bool,
    /// More than one commit: what may be seen in between.
    pub between: fn(&Found, &Found) -> bool,
    /// The place before it.
    saved: tempfile::TempDir,
    before: Vec<(PathBuf, Vec<u8>)>,
}

/// What is found of a session: its record, new ids and processes made alike, and its rows as readers see them.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub record: Value,
    pub rows: Value,
}

impl Scene {
    /// The place as it was before, in the same folder: records name their project by its path.
    pub fn reset(&self) {
        for name in ["state", "proj"] {
            fs::remove_dir_all(self.home.path(name)).unwrap();
            alike::copy(&self.saved.path().join(name), &self.home.path(name));
        }
        if self.home.has_processes() {
            self.home.boot("9a3c1d20");
        }
    }

    /// Whether this is one of the two that matter most.
    pub fn is_thorough(&self) -> bool {
        ["submit, the first (plan)", "approve (plan)"].contains(&self.name.as_str())
    }

    fn known(&self) -> HashSet<String> {
        let mut texts: Vec<String> = self.before.iter().map(|(_, bytes)| text(bytes)).collect();
        texts.push(self.args.join(" "));
        texts.push(text(&self.stdin));
        texts.iter().flat_map(|t| alike::ids(t)).map(|(_, id)| id).collect()
    }

    /// What is there now; all rows of the home must be sound.
    pub fn find(&self, what: &str) -> Found {
        let mut record = self.home.record(&self.id);
        let mut rows = rows(&self.home);
        sound(&self.home, &rows, what);
        let stamps = |row: &mut Value| {
            for place in ["/epoch", "/waiter", "/execution/epoch"] {
                anybody(row.pointer_mut(place));
            }
        };
        anybody(record.pointer_mut("/turn/epoch"));
        record.pointer_mut("/proposal").map(stamps);
        rows.retain(|r| r["session_id"] == self.id.as_str());
        rows.iter_mut().for_each(stamps);
        let known = self.known();
        let alike = |value: Value| {
            let text = alike::known_ids_only(&value.to_string(), &known);
            // after a kill the first name may be taken by a file without a row
            let text = ["2", "3", "4"]
                .iter()
                .fold(text, |t, n| t.replace(&format!("-0800-{n}.md"), "-0800.md"));
            serde_json::from_str(&text).unwrap()
        };
        Found {
            record: alike(record),
            rows: alike(json!(rows)),
        }
    }

    /// Of the project: what was there is there, byte for byte; what is new is whole under an artifact's name, or has a
    /// dot's. Gives the new files under an artifact's name.
    pub fn files(&self, what: &str) -> Vec<PathBuf> {
        let now = tree(&self.home.project());
        let was: Vec<_> = self
            .before
            .iter()
            .filter(|(p, _)| p.starts_with(self.home.project()))
            .collect();
        for old in &was {
            assert!(now.contains(old), "{what}: {} has changed", old.0.display());
        }
        let mut named = Vec::new();
        for (path, bytes) in now.iter().filter(|f| !was.contains(f)) {
            let name = path.file_name().unwrap().to_str().unwrap();
            let folder = path.parent().unwrap();
            if path.is_dir() {
                assert!(matches!(name, ".pi" | "plan" | "goal"), "{what}: {}", path.display());
            } else if name == "times" {
                // of the command that ran
            } else if name.ends_with(".md") && folder.parent().unwrap().file_name().unwrap() == ".pi" {
                let whole = bytes == TEXT.as_bytes();
                assert!(whole, "{what}: {} holds {:?}", path.display(), text(bytes));
                named.push(path.clone());
            } else {
                assert!(name.starts_with(".ring-plan-"), "{what}: {}", path.display());
            }
        }
        named
    }

    /// What a refused command must not have changed: everything but hints.
    pub fn truth(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let hint = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // expire goes on with the next session
            let others = self.args[0] == "expire" && !path.to_string_lossy().contains(&self.id);
            name.starts_with("events.") || name == "hook-errors.log" || others
        };
        let all = [tree(&self.home.path("state")), tree(&self.home.project())].concat();
        all.into_iter().filter(|(path, _)| !hint(path)).collect()
    }
}

/// A stamp that names whichever process it was.
fn anybody(stamp: Option<&mut Value>) {
    if let Some(stamp) = stamp.filter(|s| s.is_object()) {
        stamp["pid"] = json!(0);
        stamp["start_ticks"] = json!(0);
    }
}

/// Every row, as readers see it.
pub fn rows(home: &Home) -> Vec<Value> {
    let lists = ["pending", "history"].map(|l| home.json(&["ring-plan", l], ""));
    lists.iter().flat_map(|l| l.as_array().unwrap().clone()).collect()
}

/// Each open row has its file, each is there once, and an execution comes from an approval and from nothing else.
pub fn sound(home: &Home, rows: &[Value], what: &str) {
    let once: HashSet<String> = rows.iter().map(|r| str_of(&r["id"])).collect();
    assert_eq!(once.len(), rows.len(), "{what}: a row is there twice");
    for row in rows {
        if row["status"] == "pending" {
            let path = row["path"].as_str().unwrap();
            let size = fs::metadata(path)
                .unwrap_or_else(|e| panic!("{what}: {path}: {e}"))
                .len();
            assert_eq!(Some(size), row["artifact"]["size"].as_u64(), "{what}");
        }
        let approved = row["status"] == "approved";
        assert_eq!(row["execution"].is_object(), approved, "{what}: {row}");
        assert_eq!(row["action"] == "approve", approved, "{what}: {row}");
    }
    assert!(home.project().is_dir(), "{what}");
}

/// Nothing of a killed writer is left in the sessions' folders.
pub fn no_litter(home: &Home, what: &str) {
    for (path, _) in tree(&home.path("state/sessions")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(!name.starts_with('.'), "{what}: {} is left", path.display());
    }
}

fn scene(name: &str, kind: &str, home: Home, prepare: impl FnOnce(&Home) -> (String, Vec<String>, Vec<u8>)) -> Scene {
    bystander(&home, kind);
    let (id, args, stdin) = prepare(&home);
    let saved = tempfile::tempdir().unwrap();
    for name in ["state", "proj"] {
        alike::copy(&home.path(name), &saved.path().join(name));
    }
    let before = [tree(&home.path("state")), tree(&home.project())].concat();
    Scene {
        name: format!("{name} ({kind})"),
        home,
        args,
        stdin,
        id,
        again: None,
        refuses: None,
        is_hook: false,
        between: |_, _| false,
        saved,
        before,
    }
}

/// Somebody else's open proposal, in a project of its own.
fn bystander(home: &Home, kind: &str) {
    let project = home.path("other");
    fs::create_dir(&project).unwrap();
    let id = home.says(&[
        "ring-session",
        "new",
        "--project",
        project.to_str().unwrap(),
        "--mode",
        kind,
    ]);
    let turn = home.says(&["ring-session", "begin", &id, "go on"]);
    let s = crate::harness::Session { id, turn };
    home.submit(&s, kind, "c1");
    home.end(&s);
}

fn words(args: &[&str]) -> Vec<String> {
    args.iter().map(|a| (*a).to_owned()).collect()
}

fn plain(name: &str, kind: &str, prepare: impl FnOnce(&Home) -> (String, Vec<String>)) -> Scene {
    scene(name, kind, Home::with_processes(), |home| {
        let (id, args) = prepare(home);
        (id, args, Vec::new())
    })
}

fn submission(home: &Home, s: &crate::harness::Session, kind: &str, call: &str) -> (String, Vec<String>, Vec<u8>) {
    let args = words(&home.submission(s, kind, call)[1..]);
    (s.id.clone(), args, TEXT.into())
}

fn first(kind: &str) -> Scene {
    scene("submit, the first", kind, Home::with_processes(), |home| {
        let s = home.session(kind);
        submission(home, &s, kind, "c1")
    })
}

/// Up to the decision. Of plan and goal, which are alike in it, each scene has one, and the most important both.
pub fn proposing() -> Vec<Scene> {
    vec![
        first("plan"),
        first("goal"),
        Scene {
            again: Some("PLAN_ALREADY_ACTIVE"),
            ..plain("enter", "plan", |home| {
                let s = home.session("agent");
                let args = words(&["enter", &s.id, "--kind", "plan", "--turn", &s.turn, "--call", "e"]);
                (s.id, args)
            })
        },
        scene("submit, again", "goal", Home::with_processes(), |home| {
            let (mut s, p) = home.proposed("goal");
            home.says(&["ring-plan", "reject", &p, "--note", "no"]);
            s.turn = home.says(&["ring-session", "begin", &s.id, "again"]);
            submission(home, &s, "goal", "c2")
        }),
        Scene {
            // another session that cannot be changed keeps this one not open
            between: |_, found| found.rows[0]["status"] == "expired",
            ..plain("expire", "plan", |home| {
                let (s, _) = home.proposed("plan");
                home.after(HALF_HOUR);
                (s.id, words(&["expire"]))
            })
        },
    ]
}

/// Decisions.
pub fn deciding() -> Vec<Scene> {
    let approve = |kind: &str| {
        plain("approve", kind, |home| {
            let (s, p) = home.proposed(kind);
            (s.id, words(&["approve", &p, "--permission", "auto", "--note", "yes"]))
        })
    };
    vec![
        approve("plan"),
        approve("goal"),
        plain("approve, its turn live", "goal", |home| {
            let s = home.session("goal");
            let p = str_of(&home.submit(&s, "goal", "c1")["id"]);
            (s.id, words(&["approve", &p, "--permission", "ask"]))
        }),
        plain("reject", "plan", |home| {
            let (s, p) = home.proposed("plan");
            (s.id, words(&["reject", &p, "--note", "no"]))
        }),
    ]
}

/// What was approved.
pub fn executing() -> Vec<Scene> {
    vec![
        Scene {
            again: Some("PLAN_EXECUTION_STALE"),
            ..plain("claim", "plan", |home| {
                let (s, _, x) = home.approved("plan");
                (s.id, words(&["claim", &x, "--turn", "mine"]))
            })
        },
        Scene {
            again: Some("PLAN_EXECUTION_STALE"),
            refuses: Some("PLAN_ARTIFACT_NOT_READY"),
            ..plain("claim, its file gone", "goal", |home| {
                let (s, p, x) = home.approved("goal");
                fs::remove_file(home.artifact(&home.show(&p))).unwrap();
                (s.id, words(&["claim", &x]))
            })
        },
        scene("finish completed", "goal", Home::with_processes(), |home| {
            let (s, x, _) = home.working("goal");
            let args = words(&["finish", &x, "completed", "--report", "-"]);
            (s.id, args, report("met").into_bytes())
        }),
        plain("finish interrupted", "plan", |home| {
            let (s, x, _) = home.claimed("plan");
            (s.id, words(&["finish", &x, "interrupted", "--error-code", "E1"]))
        }),
        Scene {
            again: Some("PLAN_EXECUTION_STALE"),
            // claimed and begun
            between: |old, found| {
                let revision = |f: &Found| f.record["revision"].as_u64().unwrap();
                let one = revision(found) == revision(old) + 1;
                one && found.record["turn"]["origin"] == "execution" && running(found) || healed(old, found)
            },
            ..scene("run", "goal", Home::new(), |home| {
                let (s, _, x) = home.approved("goal");
                let script = format!(
                    "cat >/dev/null; printf '%s' '{}' > $RING_REPORT_FILE; echo ran >> times",
                    report("met")
                );
                (s.id, words(&["run", &x, "--", "sh", "-c", &script]), Vec::new())
            })
        },
    ]
}

fn running(found: &Found) -> bool {
    found.record["proposal"]["execution"]["state"] == "running"
}

/// Its owner is dead already, and the reader has seen it.
fn healed(old: &Found, found: &Found) -> bool {
    found.record["revision"].as_u64() > old.record["revision"].as_u64()
        && found.rows[0]["execution"]["state"] == "interrupted"
}

/// The entries of an agent: ExitPlanMode, and the person's answer in its prompt.
pub fn hooked() -> Vec<Scene> {
    let hook = words(&["hook", "--agent", "claude-code"]);
    let id = "claude-code-s1";
    let planning = |home: &Home| home.silent("UserPromptSubmit", "plan", json!({"prompt": "plan it"}));
    let one = |name: &str, prepare: &dyn Fn(&Home) -> String| Scene {
        is_hook: true,
        ..scene(name, "plan", Home::new(), |home| {
            planning(home);
            let payload = prepare(home);
            (id.to_owned(), hook.clone(), payload.into_bytes())
        })
    };
    let answered = json!({"tool_name": "ExitPlanMode", "tool_use_id": "toolu_1", "tool_input": {}, "tool_response": {"plan": TEXT}});
    vec![
        one("hook, ExitPlanMode", &|home| {
            home.payload("PreToolUse", "plan", exit_plan("toolu_1"))
        }),
        one("hook, answered", &|home| {
            home.silent("PreToolUse", "plan", exit_plan("toolu_1"));
            home.silent("PermissionRequest", "plan", exit_plan("toolu_1"));
            home.payload("PostToolUse", "acceptEdits", answered.clone())
        }),
        one("hook, gone on", &|home| {
            home.silent("PreToolUse", "plan", exit_plan("toolu_1"));
            home.payload("UserPromptSubmit", "plan", json!({"prompt": "another"}))
        }),
    ]
}

/// All of them.
fn all() -> Vec<Scene> {
    [proposing(), deciding(), executing(), hooked()]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn every_command_that_writes_has_its_scene() {
    let all = all();
    let names: HashSet<&String> = all.iter().map(|s| &s.name).collect();
    assert_eq!(names.len(), all.len());
    for command in [
        "enter", "submit", "approve", "reject", "claim", "finish", "expire", "run", "hook",
    ] {
        assert!(all.iter().any(|s| s.args[0] == command), "{command}");
    }
}
