//! Every command that changes something, each in a place where it has the most to do.

use crate::alike;
use crate::harness::{Home, NOW, list, nobody, reply, str_of, text};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs;

/// A command and the place in which it is given.
pub struct Scene {
    pub name: &'static str,
    /// The place before it; copied for each run.
    pub home: Home,
    pub args: Vec<String>,
    pub stdin: Vec<u8>,
    /// The session that it changes or makes.
    pub id: String,
    /// What of the session may be seen when the command was killed on its way, beside what was and what will be.
    pub between: fn(&Found, &Found) -> bool,
}

/// What is found of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    Absent,
    Unreadable,
    /// Its record, new ids and this process made alike.
    Record(Box<Value>),
}

impl Found {
    pub fn record(&self) -> Option<&Value> {
        match self {
            Found::Record(record) => Some(record),
            _ => None,
        }
    }
}

impl Scene {
    /// A copy of the place.
    pub fn copy(&self) -> Home {
        let home = Home::new();
        alike::copy(&self.home.state(), &home.state());
        home
    }

    /// Ids that are known before the command.
    fn known(&self) -> HashSet<String> {
        let mut all: Vec<Vec<u8>> = self.home.files().into_iter().map(|(_, bytes)| bytes).collect();
        all.push(self.args.join(" ").into_bytes());
        all.push(self.stdin.clone());
        all.iter()
            .flat_map(|bytes| alike::ids(&text(bytes)))
            .map(|(_, id)| id)
            .collect()
    }

    /// What a home holds of the session.
    pub fn find(&self, home: &Home) -> Found {
        self.find_of(home, &self.id)
    }

    fn find_of(&self, home: &Home, id: &str) -> Found {
        if !home.sessions().join(id).exists() {
            return Found::Absent;
        }
        let bytes = fs::read(home.file(id, "session.json")).unwrap_or_default();
        let Ok(mut record) = serde_json::from_slice::<Value>(&bytes) else {
            return Found::Unreadable;
        };
        if record["turn"].is_object() {
            record["turn"]["epoch"] = Value::Null;
        }
        let text = alike::known_ids_only(&record.to_string(), &self.known());
        Found::Record(Box::new(serde_json::from_str(&text).unwrap()))
    }
}

fn scene(name: &'static str, prepare: impl FnOnce(&Home) -> (String, Vec<String>, Vec<u8>)) -> Scene {
    let home = Home::new();
    let bystander = home.new_session();
    home.begin(&bystander, "somebody else's");
    let (id, args, stdin) = prepare(&home);
    Scene {
        name,
        home,
        args,
        stdin,
        id,
        between: |_, _| false,
    }
}

fn words(args: &[&str]) -> Vec<String> {
    args.iter().map(|a| (*a).to_owned()).collect()
}

fn plain(name: &'static str, prepare: impl FnOnce(&Home) -> (String, Vec<String>)) -> Scene {
    scene(name, |home| {
        let (id, args) = prepare(home);
        (id, args, Vec::new())
    })
}

/// A session with some past.
fn lived(home: &Home) -> String {
    let id = home.new_session();
    let turn = home.begin(&id, "first");
    home.append(&id, &turn, "a1", "answer");
    home.end(&id, &turn, &["completed"]);
    id
}

/// One with a live turn that has everything: a request, a partial reply, an entry behind it.
fn busy(home: &Home) -> (String, String) {
    let id = lived(home);
    home.push(&id, "later");
    home.says(&["queue", "hold", &id]);
    let turn = home.says(&["begin", &id, "second", "--draft", "{\"d\":1}"]);
    home.append(&id, &turn, "a2", "half of it");
    home.ask(&id, &turn, "c1", "Bash");
    home.json_of(&["append", &id, "--turn", &turn, "--checkpoint"], reply("a3", "so far"));
    (id, turn)
}

fn queued(home: &Home) -> (String, Vec<String>) {
    let id = lived(home);
    let entries = ["one", "two", "three"].iter().map(|p| home.push(&id, p)).collect();
    (id, entries)
}

/// Its owner died with the machine's last boot.
fn dead(home: &Home) -> String {
    let (id, _) = busy(home);
    home.says(&["queue", "attach", &id]);
    home.edit(&id, |r| r["turn"]["epoch"]["boot"] = json!("00000000"));
    id
}

/// The turn that was live is over, in one commit.
fn is_aborted(old: &Found, found: &Found) -> bool {
    let (Some(old), Some(found)) = (old.record(), found.record()) else {
        return false;
    };
    found["turn"].is_null() && found["revision"].as_u64() == old["revision"].as_u64().map(|r| r + 1)
}

/// Makes, changes, removes sessions.
pub fn sessions() -> Vec<Scene> {
    let mut all = vec![
        plain("new", |_| {
            ("made".into(), words(&["new", "--id", "made", "--title", "t"]))
        }),
        plain("configure", |home| {
            let id = lived(home);
            let args = words(&["configure", &id, "--mode", "plan", "--set", "a=b", "--title", "Other"]);
            (id, args)
        }),
        plain("delete", |home| {
            let id = lived(home);
            (id.clone(), words(&["delete", &id]))
        }),
        Scene {
            // aborted first, then removed
            between: is_aborted,
            ..plain("delete --force", |home| {
                let (id, _) = busy(home);
                (id.clone(), words(&["delete", &id, "--force"]))
            })
        },
        plain("fork", |home| {
            let id = lived(home);
            (id.clone(), words(&["fork", &id, "--through", "a1"]))
        }),
        Scene {
            // the other session may be the one that fails
            between: is_aborted,
            ..plain("recover", |home| (dead(home), words(&["recover"])))
        },
        plain("recover a lost record", |home| {
            let id = lived(home);
            fs::remove_file(home.file(&id, "session.json")).unwrap();
            (id.clone(), words(&["recover", &id]))
        }),
        plain("recover a broken record", |home| {
            let id = lived(home);
            fs::write(home.file(&id, "session.json"), "{\"schema\":1,").unwrap();
            (id.clone(), words(&["recover", &id]))
        }),
    ];
    for scene in all.iter_mut().filter(|s| s.name.ends_with(" record")) {
        // the bad file is put aside before the new one is there
        scene.between = |_, found| *found == Found::Unreadable;
    }
    all
}

/// Changes turns.
pub fn turns() -> Vec<Scene> {
    vec![
        plain("begin, the first", |home| {
            let id = home.new_session();
            (id.clone(), words(&["begin", &id, "go on", "--draft", "[1]"]))
        }),
        plain("begin", |home| {
            let id = lived(home);
            (id.clone(), words(&["begin", &id, "go on"]))
        }),
        Scene {
            // the mark of the cut goes first
            between: |old, found| {
                let Some(mut old) = old.record().cloned() else {
                    return false;
                };
                old["transcript"]["cut"] = json!(false);
                found.record() == Some(&old)
            },
            ..plain("begin behind a cut", |home| {
                let id = lived(home);
                home.begin(&id, "taken back");
                home.says(&["abort", &id]);
                (id.clone(), words(&["begin", &id, "go on"]))
            })
        },
        scene("append", |home| {
            let id = lived(home);
            let turn = home.begin(&id, "second");
            let rows = reply("r1", "one") + "\n" + &reply("r2", "two");
            (id.clone(), words(&["append", &id, "--turn", &turn]), rows.into_bytes())
        }),
        scene("append --checkpoint", |home| {
            let (id, turn) = busy(home);
            let args = words(&["append", &id, "--turn", &turn, "--checkpoint"]);
            (id, args, reply("a3", "so far, and more").into_bytes())
        }),
        plain("end completed", |home| {
            let (id, turn) = busy(home);
            let args = words(&["end", &id, "--turn", &turn, "completed", "--usage", "{\"tokens\":1}"]);
            (id, args)
        }),
        plain("end error, the 33rd", |home| {
            let (id, turn) = busy(home);
            home.edit(&id, |r| {
                let one = r["turns"][0].clone();
                let older = (0..31).map(|n| {
                    let mut turn = one.clone();
                    turn["id"] = json!(format!("older-{n}"));
                    turn["seen"] = json!(true);
                    turn
                });
                let all: Vec<Value> = older.chain([one.clone()]).collect();
                r["turns"] = json!(all);
            });
            let args = words(&["end", &id, "--turn", &turn, "error", "--error-code", "E1"]);
            (id, args)
        }),
        plain("abort, unanswered", |home| {
            let id = lived(home);
            home.says(&["begin", &id, "taken back", "--draft", "{\"d\":1}"]);
            (id.clone(), words(&["abort", &id]))
        }),
        plain("abort, answered", |home| {
            let (id, _) = busy(home);
            (id.clone(), words(&["abort", &id]))
        }),
        plain("stop", |home| {
            let (id, _) = busy(home);
            (id.clone(), words(&["stop", &id]))
        }),
        plain("steer", |home| {
            let (id, turn) = busy(home);
            let args = words(&["steer", &id, "--turn", &turn, "and that"]);
            (id, args)
        }),
    ]
}

/// Changes requests and queue.
pub fn requests() -> Vec<Scene> {
    vec![
        scene("permission open", |home| {
            let (id, turn) = busy(home);
            let args = words(&[
                "permission",
                "open",
                &id,
                "--turn",
                &turn,
                "--call",
                "c9",
                "--tool",
                "Edit",
            ]);
            (id, args, b"{\"path\":\"a\"}".to_vec())
        }),
        plain("permission answer", |home| {
            let (id, _) = busy(home);
            let request = str_of(&home.record(&id)["permissions"][0]["id"]);
            let args = words(&["permission", "answer", &id, &request, "allow-session"]);
            (id, args)
        }),
        plain("queue push", |home| {
            let (id, _) = queued(home);
            let args = words(&["queue", "push", &id, "four", "--key", "k"]);
            (id, args)
        }),
        plain("queue remove", |home| {
            let (id, entries) = queued(home);
            (id.clone(), words(&["queue", "remove", &id, &entries[1]]))
        }),
        plain("queue prioritize", |home| {
            let (id, entries) = queued(home);
            (id.clone(), words(&["queue", "prioritize", &id, &entries[2]]))
        }),
        plain("queue next", |home| {
            let (id, _) = queued(home);
            (id.clone(), words(&["queue", "next", &id]))
        }),
        plain("queue hold", |home| {
            let (id, _) = queued(home);
            (id.clone(), words(&["queue", "hold", &id]))
        }),
        plain("queue attach", |home| {
            let (id, _) = queued(home);
            home.says(&["queue", "hold", &id]);
            (id.clone(), words(&["queue", "attach", &id]))
        }),
    ]
}

/// Several commits each: `run` and the hook entry.
pub fn compound() -> Vec<Scene> {
    let event = |name: &str| {
        json!({"schema": 1, "agent": "codex", "session_id": "s", "key": "codex:s", "event": name, "native": name,
            "owner": "foreground", "cwd": "/", "origin_cwd": "/", "turn_id": "t1", "tool": {}, "waiting": null,
            "process": null, "text": "words", "received_ms": NOW})
        .to_string()
        .into_bytes()
    };
    let hook = words(&["hook"]);
    vec![
        Scene {
            between: |old, found| {
                let (Some(old), Some(found)) = (old.record(), found.record()) else {
                    return false;
                };
                found["turn"]["origin"] == "run"
                    && found["revision"].as_u64() == old["revision"].as_u64().map(|r| r + 1)
            },
            ..scene("run", |home| {
                let id = lived(home);
                (id.clone(), words(&["run", &id, "--", "cat"]), b"the prompt".to_vec())
            })
        },
        Scene {
            // made, and not begun yet
            between: |_, found| {
                found
                    .record()
                    .is_some_and(|r| r["revision"] == 1 && r["turn"].is_null())
            },
            ..scene("hook, a first prompt", |_| {
                ("codex-s".into(), hook.clone(), event("UserPromptSubmit"))
            })
        },
        scene("hook, a stop", |home| {
            home.json_of(&["hook"], event("UserPromptSubmit"));
            ("codex-s".into(), hook.clone(), event("Stop"))
        }),
        scene("hook, another prompt", |home| {
            home.json_of(&["hook"], event("UserPromptSubmit"));
            home.edit("codex-s", |r| r["turn"]["agent_turn"] = json!("t0"));
            ("codex-s".into(), hook.clone(), event("UserPromptSubmit"))
        }),
    ]
}

/// Nothing of a killed or failed writer is left, in any session.
pub fn no_litter(home: &Home, what: &str) {
    for (name, _) in home.files() {
        let allowed = match name.split('/').collect::<Vec<_>>().as_slice() {
            ["events.jsonl" | "events.lock" | "hook-errors.log"] => true,
            ["sessions", id, file] => {
                !id.starts_with('.')
                    && match *file {
                        "inflight.json" => home.record(id)["turn"].is_object(),
                        "session.json" | "transcript.jsonl" | "history.jsonl" | "lock" => true,
                        other => other.starts_with("session.json.bad-"),
                    }
            }
            _ => false,
        };
        assert!(allowed, "{what}: {name} is left");
    }
    for name in crate::harness::names(&home.sessions()) {
        assert!(!name.starts_with('.'), "{what}: {name} is left");
    }
}

/// Each closed turn has its one line.
pub fn all_told(home: &Home, what: &str) {
    let ended: Vec<String> = home
        .events_of("turn_ended")
        .iter()
        .map(|e| str_of(&e["turn_id"]))
        .collect();
    let once: HashSet<&String> = ended.iter().collect();
    assert_eq!(once.len(), ended.len(), "{what}: told twice: {ended:?}");
    for id in crate::harness::names(&home.sessions()) {
        for turn in list(&home.record(&id)["turns"]) {
            let turn = str_of(&turn["id"]);
            assert!(
                turn.starts_with("older-") || once.contains(&turn),
                "{what}: {turn} is not told"
            );
        }
    }
}

/// The names of all scenes are different, so that a failure can be found.
#[test]
fn every_command_that_writes_has_its_scene() {
    let all: Vec<Scene> = [sessions(), turns(), requests(), compound()]
        .into_iter()
        .flatten()
        .collect();
    let names: HashSet<&str> = all.iter().map(|s| s.name).collect();
    assert_eq!(names.len(), all.len());
    let of = |words: &[&str]| {
        all.iter().any(|s| {
            s.args
                .iter()
                .map(String::as_str)
                .take(words.len())
                .eq(words.iter().copied())
        })
    };
    for command in [
        "new",
        "configure",
        "delete",
        "fork",
        "begin",
        "append",
        "end",
        "abort",
        "stop",
        "steer",
        "recover",
        "run",
        "hook",
    ] {
        assert!(of(&[command]), "{command}");
    }
    for command in ["push", "remove", "prioritize", "next", "hold", "attach"] {
        assert!(of(&["queue", command]), "{command}");
    }
    assert!(of(&["permission", "open"]) && of(&["permission", "answer"]));
    assert_eq!(nobody(&Home::new())["pid"], 0);
}
