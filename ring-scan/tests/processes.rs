//! Which processes are sessions, and which session a process keeps.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its world has failed")]

mod scene;

use scene::claude::{end, user};
use scene::{HOUR, MIN, NOW, OLD, PID_NS, Scene, process, ticks, wait};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

fn host(name: &str, boot: &str, pid_ns: u64) -> Value {
    json!({"name":name,"boot":boot,"pid_ns":pid_ns})
}

fn here() -> &'static str {
    ring_session::process::host_name()
}

fn lines(s: &Scene, below: &str, ago: i64) -> Vec<Value> {
    let mut first = user(ago + 1000, "hello");
    first["cwd"] = s.cwd(below).into();
    vec![first, end(ago)]
}

#[test]
fn c19_a_recorded_process_decides_while_it_can_be_told() {
    let s = Scene::new();
    s.claude(42).up();
    let row = |set: Value| {
        let mut all = json!({"process":process(42, OLD, false)});
        for (name, value) in set.as_object().unwrap() {
            all[name] = value.clone();
        }
        s.row("claude-code", "s1", "idle", 7 * HOUR, all);
        s.get("claude-code:s1")["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(row(json!({})), "idle", "equal ticks: never aged");
    assert_eq!(row(json!({"process":process(42, HOUR, false)})), "ended", "other ticks");
    assert_eq!(row(json!({"process":process(43, OLD, false)})), "ended", "absent");
    assert_eq!(
        row(json!({"host":host(here(), "00000000", PID_NS)})),
        "ended",
        "another boot"
    );
    s.world.write(
        "proc/43/stat",
        "43 (claude) Z 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 20 0 1 0 5040000 0 0\n",
    );
    assert_eq!(row(json!({"process":process(43, OLD, false)})), "ended", "a zombie");
    s.world.write("proc/42/stat", "?");
    s.row(
        "claude-code",
        "s1",
        "working",
        HOUR,
        json!({"process":process(42, OLD, false)}),
    );
    let unreadable = s.get("claude-code:s1");
    assert_eq!(
        (unreadable["status"].as_str(), unreadable["process"]["state"].as_str()),
        (Some("working"), Some("unknown"))
    );
}

#[test]
fn c20_rows_of_containers_and_other_hosts_end_by_age_only_and_are_left_alone() {
    for place in [host(here(), "9a3c1d20", PID_NS + 1), host("laptop", "00000000", PID_NS)] {
        let s = Scene::new();
        let set = json!({"process":process(42, OLD, false),"host":place,"waits":[wait("foreground", "permission", "Notification", MIN)]});
        let path = s.row("claude-code", "s1", "working", MIN, set.clone());
        let row = s.is("waiting", "hook_wait");
        assert_eq!(row["process"]["state"], "foreign");
        s.row("claude-code", "s1", "working", 7 * HOUR, set);
        s.is("ended", "aged");
        assert!(path.exists());
    }
}

#[test]
fn c21_an_unreadable_table_ends_nothing() {
    let s = Scene::new();
    s.row(
        "claude-code",
        "s1",
        "working",
        MIN,
        json!({"process":process(42, OLD, false)}),
    );
    s.transcript("s2", &lines(&s, "w/app", MIN));
    fs::remove_dir_all(s.world.path("proc")).unwrap();
    let ran = s.world.scan(&["--format", "json"]);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.contains("process"), "{}", ran.err);
    let board = ran.json();
    assert_eq!(board["partial"], true);
    let statuses: Vec<&str> = board["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, ["working", "idle"]);
    let source = board["sources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|x| x["name"] == "process")
        .unwrap();
    assert_eq!(source["state"], "failed");
}

#[test]
fn c22_a_project_behind_a_link_is_the_same_folder() {
    let s = Scene::new();
    s.claude(42).up();
    symlink(s.folder("w"), s.world.path("link")).unwrap();
    let mut record = lines(&s, "w/app", MIN);
    record[0]["cwd"] = s.world.path("link/app").to_str().unwrap().into();
    s.transcript("s1", &record);
    assert_eq!(s.get("claude-code:s1")["status"], "idle");
}

#[test]
fn c22_a_row_stays_after_cd_and_a_namesake_folder_is_another_one() {
    let s = Scene::new();
    s.claude(42).up();
    let below = s.cwd("w/app/src");
    s.row(
        "claude-code",
        "s1",
        "idle",
        MIN,
        json!({"cwd":below,"origin_cwd":below}),
    );
    assert_eq!(s.is("idle", "hook")["process"], json!({"pid":42,"state":"near"}));
    let namesake = s.cwd("w/apple");
    s.row(
        "claude-code",
        "s1",
        "idle",
        MIN,
        json!({"cwd":namesake,"origin_cwd":namesake}),
    );
    assert_eq!(s.get("claude-code:s1")["status"], "ended");
}

#[test]
fn c22_a_lone_row_with_a_wrong_terminal_stays() {
    let s = Scene::new();
    s.claude(42).pts(7).up();
    s.row(
        "claude-code",
        "s1",
        "idle",
        MIN,
        json!({"term":{"tty":"/dev/pts/99","tmux_pane":"","tmux_socket":"","other":""}}),
    );
    s.is("idle", "hook");
}

#[test]
fn c23_one_process_keeps_one_record_of_its_folder() {
    let s = Scene::new();
    s.claude(42).up();
    s.transcript("older", &lines(&s, "w/app", 2 * MIN));
    s.transcript("newer", &lines(&s, "w/app", MIN));
    assert_eq!(s.get("claude-code:newer")["status"], "idle");
    assert_eq!(s.get("claude-code:older")["status"], "ended");
    // an argument that names one of them decides; a part of an id does not
    s.claude(42).argv(&["claude", "--session-id", "older"]).up();
    assert_eq!(s.get("claude-code:older")["status"], "idle");
    assert_eq!(s.get("claude-code:newer")["status"], "ended");
    s.claude(42).argv(&["claude", "--resume", "newe"]).up();
    assert_eq!(s.get("claude-code:newer")["process"]["state"], "near");
    s.claude(42).argv(&["claude", "--resume", "newer"]).up();
    assert_eq!(s.get("claude-code:newer")["process"]["state"], "alive");
    // a second process keeps the second record
    s.claude(43).up();
    assert_eq!(s.get("claude-code:older")["status"], "idle");
    assert_eq!(s.get("claude-code:newer")["status"], "idle");
}

#[test]
fn c24_c105_who_only_mentions_an_agent_is_no_session() {
    let s = Scene::new();
    s.other(10, "vim").argv(&["vim", "/h/.claude/settings.json"]).up();
    s.other(11, "tail")
        .argv(&["tail", "-f", "/h/.claude/projects/x.jsonl"])
        .up();
    s.other(12, "python3")
        .argv(&["python3", "/h/.claude/hooks/claude.py"])
        .up();
    s.other(13, "bash")
        .argv(&["/bin/bash", "-c", "source /h/.claude/snapshot.sh"])
        .up();
    s.claude(14).argv(&["claude", "--bg-spare", "x"]).up();
    s.claude(15).argv(&["claude", "daemon", "run"]).up();
    s.claude(16).argv(&["claude", "--bg-pty-host"]).up();
    s.codex(17).argv(&["codex", "app-server", "--managed-daemon"]).up();
    s.codex(18).argv(&["codex", "sandbox", "linux"]).up();
    s.other(19, "claude-helper").up();
    assert_eq!(s.rows(), Vec::<Value>::new());
    s.other(20, "node")
        .argv(&["node", "/n/@google/gemini-cli/dist/index.js"])
        .up();
    assert_eq!(s.only()["agent"], "gemini");
}

#[test]
fn c24_what_an_agent_started_is_no_session_and_its_wrapper_no_second_one() {
    let s = Scene::new();
    // a script of the package starts the program; the program starts another agent
    s.other(40, "node")
        .argv(&["node", "/n/@anthropic-ai/claude-code/cli.js"])
        .pts(1)
        .up();
    s.claude(41).parent(40).pts(1).up();
    s.other(42, "bash").parent(41).up();
    s.codex(43).parent(42).argv(&["codex", "exec", "do it"]).pts(1).up();
    assert_eq!(s.only()["process"]["pid"], 40);
    s.live(41, "s1", "idle", 5000);
    let row = s.only();
    assert_eq!(
        (row["session_id"].as_str(), row["process"]["pid"].as_i64()),
        (Some("s1"), Some(41))
    );
}

#[test]
fn c26_process_rows_are_the_same_in_two_calls() {
    let s = Scene::new();
    s.claude(42).started(HOUR).up();
    s.claude(43).started(2 * HOUR).cwd("w/other").up();
    let board = s.world.scan(&["--format", "json"]).out;
    assert_eq!(board, s.world.scan(&["--format", "json"]).out);
    let rows = s.board(&[])["sessions"].as_array().unwrap().clone();
    let pids: Vec<i64> = rows.iter().map(|r| r["process"]["pid"].as_i64().unwrap()).collect();
    assert_eq!(pids, [42, 43], "newest start first");
}

#[test]
fn c27_a_process_without_a_record_is_a_row_after_five_seconds() {
    let s = Scene::new();
    s.claude(42).started(4000).up();
    assert_eq!(s.rows().len(), 0);
    s.claude(42).started(5000).up();
    let row = s.is("idle", "process_only");
    assert_eq!(
        (row["kind"].as_str(), row["note"].as_str()),
        (Some("process"), Some("no record yet"))
    );
    assert_eq!(row["since_ms"], NOW - 5000);
    assert_eq!(row["key"], format!("claude-code:pid-42-{}", ticks(5000)));
    assert_eq!(row["project"], "app");
    assert_eq!(row["tty"], "/dev/pts/42");
    s.claude(42).no_tty().up();
    assert_eq!(s.rows().len(), 0);
    s.claude(42).up();
    s.exit(42);
    assert_eq!(s.rows().len(), 0);
}

#[test]
fn c28_of_two_sessions_of_one_process_the_later_turn_has_it() {
    let s = Scene::new();
    s.codex(42).up();
    s.row(
        "codex",
        "before",
        "idle",
        5 * MIN,
        json!({"process":process(42, OLD, false)}),
    );
    s.row(
        "codex",
        "after",
        "working",
        MIN,
        json!({"process":process(42, OLD, false)}),
    );
    let before = s.get("codex:before");
    assert_eq!(
        (before["status"].as_str(), before["rule"].as_str()),
        (Some("ended"), Some("next_session"))
    );
    assert_eq!(s.get("codex:after")["status"], "working");
}

#[test]
fn c31_local_models_are_idle_since_their_start() {
    let s = Scene::new();
    s.other(10, "ollama")
        .argv(&["ollama", "run", "--format", "json", "qwen3"])
        .started(MIN)
        .up();
    let row = s.is("idle", "process_only");
    assert_eq!(
        (row["title"].as_str(), row["since_ms"].as_i64()),
        (Some("qwen3"), Some(NOW - MIN))
    );
    assert_eq!(row["note"], "");
    s.exit(10);
    s.other(11, "llama-cli").argv(&["llama-cli", "--model=x.gguf"]).up();
    assert_eq!(s.only()["title"], "x.gguf");
    s.exit(11);
    s.other(12, "ollama").argv(&["ollama", "serve"]).up();
    s.other(13, "llama-server").argv(&["llama-server", "-m", "x"]).up();
    assert_eq!(s.rows().len(), 0);
}

#[test]
fn c31_aider_works_while_its_history_moves() {
    let s = Scene::new();
    s.other(42, "aider").argv(&["python3", "/usr/bin/aider"]).up();
    s.is("idle", "process_only");
    let path = s.world.write(
        "w/app/.aider.chat.history.md",
        "# aider\n#### first\n\nok\n\n#### add a test\n",
    );
    scene::touch(&path, NOW - 90_000);
    assert_eq!(s.is("working", "record_plain")["last_action"], "add a test");
    scene::touch(&path, NOW - 91_000);
    let row = s.is("idle", "record_plain");
    assert_eq!(
        (row["kind"].as_str(), row["since_ms"].as_i64()),
        (Some("process"), Some(NOW - 91_000))
    );
}

#[test]
fn c105_claude_is_known_native_hosted_and_named_after_its_version() {
    for (comm, argv) in [
        ("claude", vec!["claude"]),
        ("2.1.332", vec!["/h/.local/share/claude/versions/2.1.332"]),
        ("node", vec!["node", "/n/@anthropic-ai/claude-code/cli.js"]),
    ] {
        let s = Scene::new();
        s.other(42, comm).argv(&argv).up();
        assert_eq!(s.only()["agent"], "claude-code", "{comm}");
    }
}

#[test]
fn c107_agents_without_an_event_that_asks_never_wait() {
    let s = Scene::new();
    s.other(42, "cursor-agent").up();
    s.row("cursor", "s1", "working", 3 * HOUR, json!({}));
    let row = s.get("cursor:s1");
    assert_eq!(row["status"], "working");
    assert_eq!(row["waiting"], Value::Null);
}
