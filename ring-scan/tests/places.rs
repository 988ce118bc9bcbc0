//! Where a session is: project, terminal, tmux.
#![allow(clippy::unwrap_used, reason = "a test that cannot set up its world has failed")]

mod scene;

use scene::{MIN, NOW, OLD, Scene, process};
use serde_json::{Value, json};

const PANES: &str = "%7 900 work:2.1\n%8 800 other:0.0\n";

/// A session in a terminal, whose row recorded a pane.
fn in_pane(pane: &str, panes: &str) -> Value {
    let s = Scene::new();
    // tmux, a shell in a pane, the agent
    s.other(700, "tmux: server").no_tty().up();
    s.other(900, "bash").parent(700).up();
    s.claude(42).parent(900).pts(3).up();
    s.tmux(panes);
    let term = json!({"tty":"/dev/pts/3","tmux_pane":pane,"tmux_socket":"/tmp/sock","other":""});
    s.row(
        "claude-code",
        "s1",
        "idle",
        MIN,
        json!({"process":process(42, OLD, false),"term":term}),
    );
    let rows = s.rows_with_tmux();
    assert_eq!(
        s.calls(),
        ["-S /tmp/sock list-panes -a -F #{pane_id} #{pane_pid} #{session_name}:#{window_index}.#{pane_index}"]
    );
    rows[0].clone()
}

#[test]
fn c49_a_recorded_pane_that_is_there_is_the_place() {
    let row = in_pane("%8", PANES);
    assert_eq!(
        (row["tmux_pane"].as_str(), row["location"].as_str()),
        (Some("%8"), Some("other:0.0"))
    );
}

#[test]
fn c49_a_recorded_pane_that_is_gone_leaves_the_process_tree() {
    let row = in_pane("%1", PANES);
    assert_eq!(
        (row["tmux_pane"].as_str(), row["tmux_target"].as_str()),
        (Some("%7"), Some("work:2.1"))
    );
}

#[test]
fn c49_without_a_pane_the_terminal_is_the_place() {
    let row = in_pane("%1", "%9 901 x:0.0\n");
    assert_eq!(row["tmux_target"], "");
    assert_eq!(
        (row["tty"].as_str(), row["location"].as_str()),
        (Some("/dev/pts/3"), Some("pts/3"))
    );
}

#[test]
fn c49_another_pane_in_the_same_folder_is_never_named() {
    let s = Scene::new();
    s.other(700, "tmux: server").no_tty().up();
    s.other(900, "bash").parent(700).up();
    s.claude(42).pts(3).up();
    s.tmux(PANES);
    s.live(42, "s1", "idle", 5000);
    let rows = s.rows_with_tmux();
    assert_eq!(rows[0]["location"], "pts/3");
    assert_eq!(s.calls(), Vec::<String>::new(), "nothing needs tmux");
}

#[test]
fn c49_tmux_is_asked_once_for_many_sessions() {
    let s = Scene::new();
    s.other(700, "tmux: server").no_tty().up();
    for pid in [42, 43, 44] {
        s.other(900 + pid, "bash").parent(700).up();
        s.claude(pid).parent(900 + pid).up();
        s.live(pid, &format!("s{pid}"), "idle", 5000);
    }
    s.tmux("%1 942 a:0.0\n%2 943 a:0.1\n%3 944 a:0.2\n");
    let mut places: Vec<String> = s
        .rows_with_tmux()
        .iter()
        .map(|r| r["location"].as_str().unwrap().to_owned())
        .collect();
    places.sort();
    assert_eq!(places, ["a:0.0", "a:0.1", "a:0.2"]);
    assert_eq!(s.calls().len(), 1);
}

#[test]
fn c49_the_registrys_place_is_one_of_a_living_pane() {
    let s = Scene::new();
    s.claude(42).up();
    s.registry(
        42,
        "s1",
        json!({"status":"idle","statusUpdatedAt":NOW - 5000,"tmux":"work:@4.%7"}),
    );
    s.tmux(PANES);
    assert_eq!(s.rows_with_tmux()[0]["location"], "work:2.1");
    s.tmux("");
    assert_eq!(s.rows_with_tmux()[0]["location"], "pts/42");
}

#[test]
fn c48_the_home_folder_is_shortened_by_whole_parts() {
    let s = Scene::new();
    s.world.write("home/x", "");
    let place = |cwd: String| {
        s.row("acme", "s1", "idle", MIN, json!({"cwd":cwd,"origin_cwd":cwd}));
        s.only()["location"].as_str().unwrap().to_owned()
    };
    let home = s.world.path("home").to_str().unwrap().to_owned();
    assert_eq!(place(format!("{home}/src/api")), "~/src/api");
    assert_eq!(place(format!("{home}2/src")), format!("{home}2/src"));
}

#[test]
fn c48_filters_take_folders_by_whole_parts_and_combine() {
    let s = Scene::new();
    for (id, cwd) in [("a", "/w/app/x"), ("b", "/w/apple"), ("c", "/w/app")] {
        s.row("acme", id, "idle", MIN, json!({"cwd":cwd,"origin_cwd":cwd}));
    }
    s.row(
        "other",
        "d",
        "working",
        MIN,
        json!({"cwd":"/w/app","origin_cwd":"/w/app"}),
    );
    let ids = |args: &[&str]| {
        let board = s.board(args);
        let mut ids: Vec<String> = board["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r["session_id"].as_str().unwrap().to_owned())
            .collect();
        ids.sort();
        ids.join("")
    };
    assert_eq!(ids(&["--cwd", "/w/app"]), "acd");
    assert_eq!(ids(&["--cwd", "/w/app", "--agent", "acme"]), "ac");
    assert_eq!(ids(&["--project", "app", "--status", "working"]), "d");
}
