//! Agents in a world: processes, live records, transcripts, rollouts, hook rows, a tmux of the test's own. Times are
//! spans before [`NOW`].
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(unused_imports, reason = "each test file uses its part")]

#[path = "../world/mod.rs"]
pub mod world;

use serde_json::{Map, Value, json};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};
pub use world::{NOW, Ran, World};

pub const MIN: i64 = 60_000;
pub const HOUR: i64 = 60 * MIN;
/// The machine of the process table was started this long ago.
const UP: i64 = 24 * HOUR;
pub const PID_NS: u64 = 4_026_531_836;
/// Start of every process that says nothing else.
pub const OLD: i64 = 10 * HOUR;

pub struct Scene {
    pub world: World,
}

/// A process to be.
pub struct Process<'a> {
    scene: &'a Scene,
    pid: u32,
    ppid: u32,
    comm: String,
    argv: Vec<String>,
    tty: u32,
    cwd: PathBuf,
    ago: i64,
    environ: String,
    open: Vec<PathBuf>,
}

pub fn ticks(ago: i64) -> i64 {
    (UP - ago) / 10
}

pub fn iso(ago: i64) -> String {
    let ms = NOW - ago;
    let (days, of_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    // days since 1970 to a date, by the shifted-year method
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (day, month) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    let year = yoe + era * 400 + i64::from(month <= 2);
    let (h, m, s, f) = (
        of_day / 3_600_000,
        of_day / 60_000 % 60,
        of_day / 1000 % 60,
        of_day % 1000,
    );
    format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}.{f:03}Z")
}

impl Process<'_> {
    pub fn argv(mut self, argv: &[&str]) -> Self {
        self.argv = argv.iter().map(|a| (*a).to_owned()).collect();
        self
    }
    pub fn comm(mut self, comm: &str) -> Self {
        comm.clone_into(&mut self.comm);
        self
    }
    pub fn parent(mut self, ppid: u32) -> Self {
        self.ppid = ppid;
        self
    }
    /// No controlling terminal.
    pub fn no_tty(mut self) -> Self {
        self.tty = 0;
        self
    }
    pub fn pts(mut self, n: u32) -> Self {
        self.tty = (136 << 8) | n;
        self
    }
    pub fn cwd(mut self, below: &str) -> Self {
        self.cwd = self.scene.folder(below);
        self
    }
    pub fn started(mut self, ago: i64) -> Self {
        self.ago = ago;
        self
    }
    pub fn environ(mut self, text: &str) -> Self {
        text.clone_into(&mut self.environ);
        self
    }
    pub fn open(mut self, path: PathBuf) -> Self {
        self.open.push(path);
        self
    }
    /// Puts it into the table.
    pub fn up(self) -> u32 {
        let dir = format!("proc/{}", self.pid);
        let w = &self.scene.world;
        if w.path(&dir).exists() {
            fs::remove_dir_all(w.path(&dir)).unwrap();
        }
        w.write(
            &format!("{dir}/stat"),
            format!(
                "{} ({}) S {} {} {} {} -1 0 0 0 0 0 5 5 0 0 20 0 10 0 {} 1000 1000 0 0\n",
                self.pid,
                self.comm,
                self.ppid,
                self.pid,
                self.pid,
                self.tty,
                ticks(self.ago)
            ),
        );
        w.write(
            &format!("{dir}/cmdline"),
            self.argv.iter().map(|a| format!("{a}\0")).collect::<String>(),
        );
        w.write(&format!("{dir}/environ"), &self.environ);
        symlink(&self.cwd, w.path(&format!("{dir}/cwd"))).unwrap();
        fs::create_dir_all(w.path(&format!("{dir}/fd"))).unwrap();
        for (n, path) in self.open.iter().enumerate() {
            symlink(path, w.path(&format!("{dir}/fd/{}", n + 10))).unwrap();
        }
        self.pid
    }
}

impl Scene {
    pub fn new() -> Scene {
        Scene { world: World::new() }
    }

    /// A real folder below the test's own, with its real path.
    pub fn folder(&self, below: &str) -> PathBuf {
        let path = self.world.path(below);
        fs::create_dir_all(&path).unwrap();
        path.canonicalize().unwrap()
    }

    pub fn cwd(&self, below: &str) -> String {
        self.folder(below).to_str().unwrap().to_owned()
    }

    fn process(&self, pid: u32, comm: &str) -> Process<'_> {
        Process {
            scene: self,
            pid,
            ppid: 1,
            comm: comm.into(),
            argv: vec![comm.into()],
            tty: (136 << 8) | (pid & 0xff),
            cwd: self.folder("w/app"),
            ago: OLD,
            environ: String::new(),
            open: Vec::new(),
        }
    }

    /// A Claude Code client in `w/app`, with a terminal.
    pub fn claude(&self, pid: u32) -> Process<'_> {
        self.process(pid, "claude")
    }

    /// A Codex client in `w/app`, with a terminal.
    pub fn codex(&self, pid: u32) -> Process<'_> {
        self.process(pid, "codex")
    }

    pub fn other(&self, pid: u32, comm: &str) -> Process<'_> {
        self.process(pid, comm)
    }

    pub fn exit(&self, pid: u32) {
        fs::remove_dir_all(self.world.path(&format!("proc/{pid}"))).unwrap();
    }

    /// A live record of Claude Code; `set` adds and replaces members.
    pub fn registry(&self, pid: u32, id: &str, set: Value) -> PathBuf {
        let mut record = json!({"pid":pid,"procStart":ticks(OLD).to_string(),"sessionId":id,"cwd":self.cwd("w/app"),
            "startedAt":NOW - OLD,"version":"2.1.332","kind":"interactive"});
        extend(&mut record, set);
        self.world
            .write(&format!("home/.claude/sessions/{pid}.json"), record.to_string())
    }

    /// The same with a status of `ago`.
    pub fn live(&self, pid: u32, id: &str, status: &str, ago: i64) -> PathBuf {
        self.registry(
            pid,
            id,
            json!({"status":status,"statusUpdatedAt":NOW - ago,"updatedAt":NOW - ago}),
        )
    }

    pub fn waiting(&self, pid: u32, id: &str, words: &str, ago: i64) -> PathBuf {
        let set = json!({"status":"waiting","waitingFor":words,"statusUpdatedAt":NOW - ago});
        self.registry(pid, id, set)
    }

    /// A transcript of Claude Code, last changed at its last line.
    pub fn transcript(&self, id: &str, lines: &[Value]) -> PathBuf {
        self.transcript_in("home/.claude/projects/-w-app", id, lines)
    }

    pub fn transcript_in(&self, folder: &str, id: &str, lines: &[Value]) -> PathBuf {
        let path = self.world.write(&format!("{folder}/{id}.jsonl"), text(lines));
        touch(&path, newest(lines));
        path
    }

    /// A rollout of Codex, last changed at its last line. `meta` adds to its first line.
    pub fn rollout(&self, id: &str, meta: Value, lines: &[Value]) -> PathBuf {
        let mut payload =
            json!({"id":id,"cwd":self.cwd("w/app"),"originator":"codex-tui","cli_version":"0.171.0","source":"cli"});
        extend(&mut payload, meta);
        let mut all = vec![json!({"timestamp":iso(9 * HOUR),"type":"session_meta","payload":payload})];
        all.extend_from_slice(lines);
        let below = format!("home/.codex/sessions/2026/11/30/rollout-2026-11-30T10-00-00-{id}.jsonl");
        let path = self.world.write(&below, text(&all));
        touch(&path, newest(lines));
        path
    }

    /// The writer lock of a Codex session; held by `pid`, or by nobody.
    pub fn lock(&self, id: &str, pid: Option<u32>) -> PathBuf {
        let below = format!("home/.codex/thread-writer-locks/{id}.lock");
        let path = self.world.write(&below, "");
        if let Some(pid) = pid {
            let locks = self.world.path("proc/locks");
            let inode = fs::metadata(&path).unwrap().ino();
            let mut text = fs::read_to_string(&locks).unwrap();
            text.push_str(&format!("1: FLOCK  ADVISORY  WRITE {pid} fe:01:{inode} 0 EOF\n"));
            fs::write(locks, text).unwrap();
        }
        path
    }

    /// A hook row; its last event is `ago` old. `set` replaces top-level members.
    pub fn row(&self, agent: &str, id: &str, state: &str, ago: i64, set: Value) -> PathBuf {
        let at = NOW - ago;
        let cwd = self.cwd("w/app");
        let event = if state == "idle" { "Stop" } else { "PreToolUse" };
        let mut row = json!({"schema":1,"key":format!("{agent}:{id}"),"agent":agent,"session_id":id,"since_ms":at,
            "turn":{"id":"t","state":state,"started_ms":at,"ended_ms":0,"outcome":"","error":""},
            "waits":[],"pending":[],"children":[],"background":0,"note":"","origin_cwd":cwd,"cwd":cwd,"transcript_path":"",
            "title":"","model":"","permission_mode":"","last_action":"","todo":null,
            "last":{"event":event,"native":event,"owner":"foreground","rule":"","source":""},"seq":3,"created_ms":at,
            "event_ms":at,"foreground_ms":at,"seen_ms":at,"agent_ms":0,"process":null,
            "host":{"name":ring_session::process::host_name(),"pid_ns":PID_NS,"boot":"9a3c1d20"},
            "term":{"tty":"","tmux_pane":"","tmux_socket":"","other":""},"turns":[],"seen_only":0,"recent":[],"before":null,
            "main_agent_type":""});
        extend(&mut row, set);
        self.world
            .write(&format!("state/status/{agent}:{id}.json"), row.to_string())
    }

    /// The board's JSON.
    pub fn board(&self, args: &[&str]) -> Value {
        self.world.scan(&[&["--format", "json"], args].concat()).json()
    }

    pub fn board_at(&self, later: i64, args: &[&str]) -> Value {
        self.world
            .scan_at(NOW + later, &[&["--format", "json"], args].concat())
            .json()
    }

    /// All rows, ended ones too.
    pub fn rows(&self) -> Vec<Value> {
        self.board(&["--all"])["sessions"].as_array().unwrap().clone()
    }

    /// The one row of the board.
    #[track_caller]
    pub fn only(&self) -> Value {
        let rows = self.rows();
        assert_eq!(rows.len(), 1, "{rows:#?}");
        rows[0].clone()
    }

    /// The row with this key.
    #[track_caller]
    pub fn get(&self, key: &str) -> Value {
        let rows = self.rows();
        let found = rows.iter().find(|r| r["key"] == key);
        found.unwrap_or_else(|| panic!("no {key} in {rows:#?}")).clone()
    }

    /// Status and rule of the one row.
    #[track_caller]
    pub fn is(&self, status: &str, rule: &str) -> Value {
        let row = self.only();
        assert_eq!(
            (row["status"].as_str(), row["rule"].as_str()),
            (Some(status), Some(rule)),
            "{row:#?}"
        );
        row
    }

    /// A `tmux` first in the path that prints `panes` and notes each call.
    pub fn tmux(&self, panes: &str) {
        self.world.write("panes", panes);
        let script = format!(
            "#!/bin/sh\necho \"$*\" >> {0}/calls\ncat {0}/panes\n",
            self.world.path("").display()
        );
        let path = self.world.write("bin/tmux", script);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        fresh(&path);
    }

    /// How often, and with what, tmux was called.
    pub fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.world.path("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// All rows with this `tmux` in the path.
    pub fn rows_with_tmux(&self) -> Vec<Value> {
        let path = format!("{}:/usr/bin:/bin", self.world.path("bin").display());
        let mut command = self.world.command(&["--all", "--format", "json"]);
        let board = world::ran(command.env("PATH", path)).json();
        board["sessions"].as_array().unwrap().clone()
    }
}

/// A row member that names a process.
pub fn process(pid: u32, ago: i64, server: bool) -> Value {
    json!({"pid":pid,"start_ticks":ticks(ago),"name":"agent","server":server})
}

/// An open request of a row.
pub fn wait(owner: &str, kind: &str, event: &str, ago: i64) -> Value {
    let rule = if event == "Stop" {
        "stop_question"
    } else {
        "notify_prompt"
    };
    json!({"id":format!("w-{owner}"),"owner":owner,"kind":kind,"detail":"Bash: git push","tool":"Bash","tool_use_id":"",
        "waiting_for":"","agent_type":"","since_ms":NOW - ago,"event":event,"rule":rule})
}

fn extend(object: &mut Value, set: Value) {
    for (name, value) in set.as_object().into_iter().flatten() {
        match value {
            Value::Null => drop(
                object
                    .as_object_mut()
                    .and_then(|o: &mut Map<String, Value>| o.remove(name)),
            ),
            _ => object[name] = value.clone(),
        }
    }
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|l| format!("{l}\n")).collect()
}

fn newest(lines: &[Value]) -> i64 {
    let stamps = lines.iter().filter_map(|l| l["timestamp"].as_str());
    stamps.filter_map(ring_session::time::parse_iso).max().unwrap_or(NOW)
}

pub fn touch(path: &std::path::Path, ms: i64) {
    let time = UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).unwrap());
    fs::File::options()
        .append(true)
        .open(path)
        .unwrap()
        .set_modified(time)
        .unwrap();
}

/// Lines of Claude Code's transcripts.
pub mod claude {
    use super::{Value, iso, json};

    pub fn user(ago: i64, content: impl Into<Value>) -> Value {
        json!({"type":"user","message":{"role":"user","content":content.into()},"timestamp":iso(ago),"isSidechain":false})
    }

    pub fn assistant(ago: i64, stop: Option<&str>, content: Value) -> Value {
        json!({"type":"assistant","message":{"id":format!("msg_{ago}"),"role":"assistant","model":"claude-opus-5-5","stop_reason":stop,
            "content":content},"timestamp":iso(ago),"isSidechain":false})
    }

    pub fn text(text: &str) -> Value {
        json!([{"type":"text","text":text}])
    }

    pub fn end(ago: i64) -> Value {
        assistant(ago, Some("end_turn"), text("Done."))
    }

    pub fn call(ago: i64, id: &str, name: &str) -> Value {
        let tool = json!([{"type":"tool_use","id":id,"name":name,"input":{"command":"cargo test"}}]);
        assistant(ago, Some("tool_use"), tool)
    }

    pub fn result(ago: i64, id: &str) -> Value {
        user(ago, json!([{"type":"tool_result","tool_use_id":id,"content":"ok"}]))
    }

    pub fn denied(ago: i64, id: &str) -> Value {
        let text = "The user doesn't want to proceed with this tool use.";
        user(
            ago,
            json!([{"type":"tool_result","tool_use_id":id,"is_error":true,"content":text}]),
        )
    }

    pub fn interrupted(ago: i64) -> Value {
        user(ago, json!([{"type":"text","text":"[Request interrupted by user]"}]))
    }

    /// A line of the kind that nobody answers.
    pub fn bookkeeping(ago: i64) -> Value {
        json!({"type":"file-history-snapshot","timestamp":iso(ago),"snapshot":{}})
    }
}

/// Lines of Codex's rollouts.
pub mod codex {
    use super::{Value, iso, json};

    pub fn event(ago: i64, payload: Value) -> Value {
        json!({"timestamp":iso(ago),"type":"event_msg","payload":payload})
    }

    pub fn item(ago: i64, payload: Value) -> Value {
        json!({"timestamp":iso(ago),"type":"response_item","payload":payload})
    }

    pub fn started(ago: i64) -> Value {
        event(ago, json!({"type":"task_started","turn_id":"t1"}))
    }

    pub fn prompt(ago: i64, text: &str) -> Value {
        event(ago, json!({"type":"user_message","message":text}))
    }

    pub fn call(ago: i64) -> Value {
        item(
            ago,
            json!({"type":"function_call","name":"shell","call_id":"c1","arguments":"{\"command\":[\"ls\"]}"}),
        )
    }

    pub fn output(ago: i64) -> Value {
        item(ago, json!({"type":"function_call_output","call_id":"c1","output":"ok"}))
    }

    pub fn complete(ago: i64) -> Value {
        event(
            ago,
            json!({"type":"task_complete","turn_id":"t1","last_agent_message":"Done."}),
        )
    }

    pub fn aborted(ago: i64) -> Value {
        event(
            ago,
            json!({"type":"turn_aborted","turn_id":"t1","reason":"interrupted"}),
        )
    }

    /// A turn that has a call open.
    pub fn open_turn(ago: i64) -> Vec<Value> {
        vec![started(ago + 2000), prompt(ago + 1000, "list the files"), call(ago)]
    }

    /// A turn that is over.
    pub fn turn(ago: i64) -> Vec<Value> {
        vec![
            started(ago + 3000),
            prompt(ago + 2000, "list the files"),
            call(ago + 1500),
            output(ago + 1000),
            complete(ago),
        ]
    }
}

/// The same program in a file that only another process has written: while this one had it open, a child that another
/// test has just started may hold it open, too, and the system then refuses to run it.
fn fresh(path: &std::path::Path) {
    let copy = "cp -p \"$0\" \"$0.new\" && mv \"$0.new\" \"$0\"";
    let done = std::process::Command::new("sh").args(["-c", copy]).arg(path).status();
    assert!(done.unwrap().success());
}
