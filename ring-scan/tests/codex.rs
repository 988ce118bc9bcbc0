//! Codex: rollouts, writer locks, children, and the background server.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its world has failed")]

mod scene;

use scene::codex::{aborted, call, complete, event, item, open_turn, output, prompt, started, turn};
use scene::{HOUR, MIN, NOW, OLD, Scene, process, wait};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const ID: &str = "01a22c89-b7aa-7c51-aee3-61c164103a8d";
const SECOND: &str = "01a22c89-b7aa-7c51-aee3-61c164103a8e";
const THIRD: &str = "01a22c89-b7aa-7c51-aee3-61c164103a8f";
const SERVER: [&str; 4] = ["codex", "app-server", "--listen", "unix://"];

/// A client that holds its session's lock.
fn single(lines: &[Value]) -> Scene {
    let s = Scene::new();
    let lock = s.lock(ID, Some(42));
    s.codex(42).argv(&["codex", "--no-daemon"]).open(lock).up();
    s.rollout(ID, json!({}), lines);
    s
}

/// A server that holds the session's lock, without a terminal.
fn served(lines: &[Value]) -> Scene {
    let s = Scene::new();
    s.codex(50).argv(&SERVER).no_tty().cwd("w/elsewhere").up();
    s.lock(ID, Some(50));
    s.rollout(ID, json!({"source":"vscode"}), lines);
    s
}

#[test]
fn c34_marks_of_old_and_new_histories_decide() {
    single(&turn(5000)).is("idle", "record_over");
    single(&open_turn(5000)).is("working", "record_open");
    single(&[started(MIN), prompt(MIN, "go"), aborted(5000)]).is("idle", "record_over");
    let failed = event(
        5000,
        json!({"type":"task_complete","turn_id":"t1","error":{"message":"stream closed"}}),
    );
    let row = single(&[started(MIN), prompt(MIN, "go"), failed]).is("idle", "record_over");
    assert!(row["note"].as_str().unwrap().starts_with("error"), "{row:#}");
    let done = |ago, item: Value| event(ago, json!({"type":"item_completed","turn_id":"t1","item":item}));
    let paginated = [
        started(MIN),
        done(
            MIN,
            json!({"type":"UserMessage","id":"u","content":[{"type":"text","text":"list the files"}]}),
        ),
        done(5000, json!({"type":"Reasoning","id":"r"})),
    ];
    single(&paginated).is("working", "record_open");
    let custom = item(
        5000,
        json!({"type":"custom_tool_call","name":"apply_patch","call_id":"c9","input":"*** Begin Patch"}),
    );
    single(&[started(MIN), prompt(MIN, "go"), custom]).is("working", "record_open");
}

#[test]
fn c34_c102_a_fork_has_its_own_id_and_children_make_no_rows() {
    let s = single(&turn(5000));
    let parents = json!({"timestamp":scene::iso(HOUR),"type":"session_meta","payload":{"id":THIRD,"cwd":"/other"}});
    let mut lines = vec![parents];
    lines.extend(turn(4000));
    s.rollout(ID, json!({}), &lines);
    let row = s.is("idle", "record_over");
    assert_eq!(
        (row["session_id"].as_str(), row["project"].as_str()),
        (Some(ID), Some("app"))
    );
    for (n, source) in [json!({"subagent":{"other":"guardian"}}), json!({"subagent":"review"})]
        .iter()
        .enumerate()
    {
        let id = format!("01a22c89-b7aa-7c51-aee3-61c16410300{n}");
        s.rollout(&id, json!({"source":source,"parent_thread_id":ID}), &turn(4000));
    }
    assert_eq!(s.rows().len(), 1);
}

#[test]
fn c34_exec_is_a_session_by_its_lock() {
    let s = Scene::new();
    let lock = s.lock(ID, Some(42));
    s.codex(42)
        .argv(&["codex", "exec", "--json", "do it"])
        .no_tty()
        .open(lock)
        .up();
    s.rollout(ID, json!({"source":"exec"}), &open_turn(5000));
    let row = s.is("working", "record_open");
    assert_eq!(row["process"], json!({"pid":42,"state":"alive"}));
}

#[test]
fn c35_children_that_work_keep_an_idle_parent_working() {
    let s = single(&turn(MIN));
    s.row(
        "codex",
        ID,
        "idle",
        MIN - 1000,
        json!({"process":process(42, OLD, false)}),
    );
    let child = |n: u8, lines: &[Value]| {
        let id = format!("01a22c89-b7aa-7c51-aee3-61c16410300{n}");
        s.rollout(&id, json!({"thread_source":"subagent","parent_thread_id":ID}), lines);
    };
    child(1, &open_turn(5000));
    child(2, &open_turn(6000));
    let row = s.is("working", "children_run");
    assert_eq!(row["note"], "background 2");
    child(1, &turn(1000));
    child(2, &turn(1000));
    s.is("idle", "hook");
}

#[test]
fn c36_databases_are_never_needed_and_archived_and_internal_threads_do_not_appear() {
    let s = single(&turn(5000));
    s.world.write("home/.codex/state_5.sqlite", "not a database");
    let archived = s.world.path("home/.codex/archived_sessions");
    fs::create_dir_all(&archived).unwrap();
    fs::write(
        archived.join(format!("rollout-2026-11-30T10-00-00-{SECOND}.jsonl")),
        "{\"type\":\"session_meta\"}\n",
    )
    .unwrap();
    s.rollout(THIRD, json!({"source":"internal"}), &turn(4000));
    assert_eq!(s.only()["session_id"], ID);
}

#[test]
fn c36_a_thread_without_a_persons_word_and_without_a_terminal_is_no_session() {
    let s = Scene::new();
    s.codex(50).argv(&SERVER).no_tty().up();
    s.lock(ID, Some(50));
    s.rollout(
        ID,
        json!({}),
        &[json!({"timestamp":scene::iso(5000),"type":"turn_context","payload":{"cwd":"/w"}})],
    );
    assert_eq!(s.rows().len(), 0);
}

#[test]
fn c73_a_session_of_a_server_outlives_its_client_and_ends_with_the_server() {
    let s = served(&open_turn(5000));
    s.codex(42).up();
    s.row("codex", ID, "working", 4000, json!({"process":process(50, OLD, true)}));
    s.is("working", "hook");
    s.exit(42);
    let row = s.is("working", "hook");
    assert_eq!(row["process"], json!({"pid":50,"state":"alive"}));
    s.exit(50);
    s.is("ended", "gone");
}

#[test]
fn c73_a_server_holds_several_sessions() {
    let s = served(&open_turn(5000));
    s.lock(SECOND, Some(50));
    s.rollout(SECOND, json!({"source":"vscode"}), &turn(4000));
    assert_eq!(s.get(&format!("codex:{ID}"))["status"], "working");
    assert_eq!(s.get(&format!("codex:{SECOND}"))["status"], "idle");
}

#[test]
fn c74_an_api_error_is_idle_and_an_async_question_a_note() {
    let failed = event(
        3000,
        json!({"type":"task_complete","turn_id":"t1","error":{"message":"stream closed"}}),
    );
    let s = single(&[started(MIN), prompt(MIN, "go"), failed]);
    s.row("codex", ID, "working", 4000, json!({"process":process(42, OLD, false)}));
    s.is("idle", "tail_over");
    let asks = item(
        5000,
        json!({"type":"function_call","name":"request_user_input_async","call_id":"q","arguments":"{}"}),
    );
    let returned = item(
        4000,
        json!({"type":"function_call_output","call_id":"q","output":"asked"}),
    );
    let row = single(&[started(MIN), prompt(MIN, "go"), asks, returned]).is("working", "record_open");
    assert_eq!(row["note"], "asks");
}

#[test]
fn c81_the_lock_says_whether_the_server_still_has_the_session() {
    let s = served(&turn(5000));
    // no row: SessionEnd came, and a client came back
    let row = s.is("idle", "record_over");
    assert_eq!(row["process"], json!({"pid":50,"state":"alive"}));
    s.row("codex", ID, "idle", 4000, json!({"process":process(50, OLD, true)}));
    s.is("idle", "hook");
    s.world.write("proc/locks", "");
    s.is("ended", "gone");
    s.lock(ID, Some(50));
    s.is("idle", "hook");
    fs::remove_file(s.world.path(&format!("home/.codex/thread-writer-locks/{ID}.lock"))).unwrap();
    s.is("ended", "gone");
}

#[test]
fn c82_a_client_and_its_session_in_the_server_are_one_row() {
    let s = served(&turn(5000));
    s.codex(42).up();
    let row = s.is("idle", "record_over");
    assert_eq!(row["session_id"], ID);
    // a second client without a prompt
    s.codex(43).up();
    let rows = s.rows();
    assert_eq!(rows.len(), 2, "{rows:#?}");
    assert!(
        rows.iter()
            .any(|r| r["kind"] == "process" && r["note"] == "no record yet")
    );
    s.exit(43);
    s.exit(42);
    s.is("idle", "record_over");
}

#[test]
fn c83_a_session_of_a_server_has_no_terminal() {
    let s = served(&open_turn(5000));
    s.tmux("%7 50 work:2.1\n");
    let set = json!({"process":process(50, OLD, true),"term":{"tty":"/dev/pts/3","tmux_pane":"%7","tmux_socket":"","other":""}});
    s.row("codex", ID, "working", 4000, set);
    let row = &s.rows_with_tmux()[0];
    assert_eq!(
        (
            row["tty"].as_str(),
            row["tmux_pane"].as_str(),
            row["tmux_target"].as_str()
        ),
        (Some(""), Some(""), Some(""))
    );
    assert_eq!(row["location"], s.cwd("w/app"));
    assert_eq!(s.calls(), Vec::<String>::new());
}

#[test]
fn c84_an_approval_that_nothing_tells_of_is_work_and_with_hooks_waiting() {
    let s = single(&open_turn(30_000));
    s.is("working", "record_open");
    let pending = json!([{"owner":"foreground","tool":"shell","tool_use_id":"","kind":"permission","detail":"shell: rm x","at_ms":NOW - 20_000}]);
    let last = json!({"event":"PermissionRequest","native":"PermissionRequest","owner":"foreground","rule":"permission_bare","source":""});
    let s = served(&open_turn(30_000));
    s.codex(42).up();
    s.row(
        "codex",
        ID,
        "working",
        20_000,
        json!({"process":process(50, OLD, true),"last":last,"pending":pending}),
    );
    s.is("waiting", "hook_wait");
    s.exit(42);
    s.is("waiting", "hook_wait");
}

#[test]
fn c9_an_answer_in_the_rollout_ends_the_silence() {
    let s = single(&[started(MIN), prompt(MIN, "go"), call(30_000), output(5000)]);
    let asks = json!({"process":process(42, OLD, false),"waits":[wait("foreground", "permission", "PermissionRequest", 20_000)]});
    s.row("codex", ID, "working", 20_000, asks);
    s.is("working", "record_open");
    s.rollout(
        ID,
        json!({}),
        &[started(MIN), prompt(MIN, "go"), call(30_000), complete(3000)],
    );
    s.is("idle", "tail_over");
}

#[test]
fn c87_a_socket_that_does_not_answer_changes_nothing() {
    let s = served(&open_turn(5000));
    let quiet = s.is("working", "record_open");
    let socket = s.world.path("home/.codex/app-server-control/app-server-control.sock");
    fs::create_dir_all(socket.parent().unwrap()).unwrap();
    // refused: nobody listens any more
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    assert_eq!(s.is("working", "record_open"), quiet);
    fs::remove_file(&socket).unwrap();
    // silent: the kernel takes the connection, nobody answers it
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert_eq!(s.is("working", "record_open"), quiet);
    drop(listener);
}

#[test]
fn a_client_that_has_opened_a_session_is_a_row_at_once() {
    let s = Scene::new();
    let lock = s.lock(ID, Some(42));
    s.codex(42)
        .started(1500)
        .argv(&["codex", "--no-daemon"])
        .open(lock)
        .up();
    assert_eq!(s.is("idle", "process_only")["note"], "no record yet");
}

#[test]
fn c46_an_unreadable_folder_leaves_the_other_rows_and_says_so_once() {
    let s = Scene::new();
    s.claude(42).up();
    s.live(42, "s1", "busy", 5000);
    let folder = s.world.path("home/.codex/sessions");
    fs::create_dir_all(&folder).unwrap();
    if rustix_is_root() {
        // whoever may read everything needs another obstacle: a loop of links
        fs::remove_dir(&folder).unwrap();
        std::os::unix::fs::symlink(&folder, &folder).unwrap();
    } else {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let ran = s.world.scan(&["--format", "json"]);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.contains(".codex/sessions"), "{}", ran.err);
    let board = ran.json();
    assert_eq!(board["partial"], true);
    assert_eq!(board["sessions"][0]["status"], "working");
    let codex = board["sources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|x| x["name"] == "codex")
        .unwrap();
    assert_eq!(codex["state"], "failed");
}

fn rustix_is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0)
}

/// A background server that knows one thread, and says `flag` of it to whoever asks.
fn serve(s: &Scene, flag: &str) -> std::thread::JoinHandle<()> {
    use std::io::{Read, Write};
    let socket = s.world.path("home/.codex/app-server-control/app-server-control.sock");
    fs::create_dir_all(socket.parent().unwrap()).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let thread = json!({"id":ID,"status":{"type":"active","activeFlags":[flag]}});
    let answers = [
        json!({"id":0,"result":{}}),
        json!({"id":1,"result":{"data":[ID]}}),
        json!({"id":2,"result":{"thread":thread}}),
    ];
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = Vec::new();
        let mut byte = [0];
        while !asked.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).unwrap();
            asked.push(byte[0]);
        }
        let mut said =
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n".to_vec();
        for answer in answers {
            let text = answer.to_string();
            said.extend([0x81, 126]);
            said.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
            said.extend(text.bytes());
        }
        stream.write_all(&said).unwrap();
        // until the reader has gone
        stream.read_to_end(&mut Vec::new()).unwrap_or_default();
    })
}

#[test]
fn c87_what_the_server_says_of_a_thread_is_waiting_with_and_without_hooks() {
    for (flag, kind) in [("waitingOnApproval", "permission"), ("waitingOnUserInput", "question")] {
        let s = served(&open_turn(5000));
        let server = serve(&s, flag);
        let row = s.is("waiting", "live_waiting");
        server.join().unwrap();
        assert_eq!(row["waiting"]["kind"], kind);
        assert_eq!(row["since_ms"], NOW - 5000);
        assert_eq!(row["evidence"], json!(["server"]));

        let s = served(&open_turn(5000));
        let pending = json!([{"owner":"foreground","tool":"shell","tool_use_id":"","kind":"permission","detail":"shell: rm x","at_ms":NOW - 4000}]);
        let last = json!({"event":"PermissionRequest","native":"PermissionRequest","owner":"foreground","rule":"permission_bare","source":""});
        s.row(
            "codex",
            ID,
            "working",
            4000,
            json!({"process":process(50, OLD, true),"last":last,"pending":pending}),
        );
        let server = serve(&s, flag);
        let row = s.is("waiting", "live_waiting");
        server.join().unwrap();
        assert_eq!(row["waiting"]["detail"], "shell: rm x");
    }
}
