//! Who looks at a session's pane needs no ring: with a real tmux, whose client runs in another one.

use crate::harness::{Home, MINUTE, count, eventually, feed, text};
use serde_json::{Value, json};
use std::process::Command;

/// Two servers of tmux: `inner` has the session, `outer` is the terminal of its client.
struct Tmux<'a> {
    home: &'a Home,
}

impl Tmux<'_> {
    fn command(&self, server: &str, words: &[&str]) -> Command {
        let socket = self.home.path(server);
        let mut command = self
            .home
            .command(&["tmux", "-f", "/dev/null", "-S", socket.to_str().unwrap()]);
        command.args(words).env("TERM", "xterm").env("SHELL", "/bin/sh");
        command
    }

    fn says(&self, server: &str, words: &[&str]) -> String {
        let out = self.command(server, words).output().unwrap();
        assert!(out.status.success(), "{words:?}: {}", text(&out.stderr));
        text(&out.stdout).trim_end().to_owned()
    }

    fn attach(&self) {
        let client = format!(
            "exec env -u TMUX tmux -S '{}' attach",
            self.home.path("inner").display()
        );
        self.says("outer", &["new-session", "-d", "-x", "80", "-y", "24", &client]);
        eventually("a client", || !self.says("inner", &["list-clients"]).is_empty());
    }

    fn detach(&self) {
        self.says("outer", &["kill-server"]);
        eventually("no client", || self.says("inner", &["list-clients"]).is_empty());
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        for server in ["outer", "inner"] {
            // one that is gone already is no failure
            self.command(server, &["kill-server"]).output().unwrap();
        }
    }
}

/// A request of a session whose hooks run in a pane.
fn asks(home: &Home, pane: &str, what: &str) {
    let socket = home.path("inner").display().to_string();
    for members in [
        json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": what}}),
        json!({"hook_event_name": "Notification", "notification_type": "permission_prompt", "message": "m"}),
    ] {
        let mut payload = json!({"session_id": "s1", "cwd": home.folder("s1"), "permission_mode": "default"});
        for (key, value) in members.as_object().unwrap() {
            payload[key] = value.clone();
        }
        let mut hook = home.command(&["ring-hook", "--agent", "claude-code"]);
        hook.env("TMUX", format!("{socket},1,0")).env("TMUX_PANE", pane);
        let out = feed(&mut hook, payload.to_string().as_bytes());
        assert!(out.status.success() && out.stderr.is_empty());
    }
    let row = home.row("claude-code:s1");
    assert_eq!(
        (&row["term"]["tmux_pane"], &row["term"]["tmux_socket"]),
        (&json!(pane), &json!(socket))
    );
}

/// Whether a new request rings now, and if not, why.
fn rings(home: &Home, pane: &str, what: &str) -> bool {
    asks(home, pane, what);
    let report = home.deliver();
    let sent: Vec<Value> = home.taken().iter().map(|m| m["detail"].clone()).collect();
    let rings = sent == [json!(format!("Bash: {what}"))];
    if !rings {
        assert!(sent.is_empty() && report["held"][0]["error"] == "looking", "{report}");
    }
    home.answered("s1");
    home.deliver();
    rings
}

#[test]
fn n43_the_active_pane_of_a_client_that_was_used_just_now_does_not_ring() {
    let home = Home::bare();
    home.notify("repeat_max = 0", "skip_when_looking = true");
    let version = home.command(&["tmux", "-V"]).output();
    if !version.is_ok_and(|o| o.status.success()) {
        eprintln!("skipped: tmux is not installed");
        return;
    }
    let tmux = Tmux { home: &home };
    tmux.says("inner", &["new-session", "-d", "-x", "80", "-y", "24", "sleep 600"]);
    let pane = tmux.says("inner", &["list-panes", "-F", "#{pane_id}"]);
    home.real_time();
    assert!(rings(&home, &pane, "detached"));
    tmux.attach();
    assert!(!rings(&home, &pane, "looking"));
    // another window, and another pane of the same one
    let window = tmux.says("inner", &["new-window", "-P", "-F", "#{window_id}", "sleep 600"]);
    assert!(rings(&home, &pane, "other window"));
    tmux.says("inner", &["kill-window", "-t", &window]);
    assert!(!rings(&home, &pane, "looking again"));
    let other = tmux.says("inner", &["split-window", "-P", "-F", "#{pane_id}", "sleep 600"]);
    assert!(rings(&home, &pane, "other pane"));
    tmux.says("inner", &["kill-pane", "-t", &other]);
    assert!(!rings(&home, &pane, "looking once more"));
    // a result that is seen as it comes is not told later either; a wait is asked about again by each run
    asks(&home, &pane, "waits");
    let report = home.deliver();
    assert_eq!((count(&report, "held"), home.taken().len()), (1, 0), "{report}");
    let s = home.session_of("claude-code", "s1");
    home.end(&s, &["error", "--error-code", "E"]);
    let report = home.deliver();
    assert_eq!((count(&report, "skipped"), home.taken().len()), (0, 0), "{report}");
    assert_eq!(home.stands("task.failed")["state"], "skipped");
    tmux.detach();
    home.deliver();
    assert_eq!(home.titles(), ["s1: needs permission"]);
    home.answered("s1");
    home.deliver();
    // a client that nobody has touched for more than a minute
    tmux.attach();
    assert!(!rings(&home, &pane, "active"));
    let now = ring_session::time::now_ms() - crate::harness::NOW;
    home.after(now + MINUTE + 2_000);
    assert!(rings(&home, &pane, "idle"));
}

#[test]
fn n43_without_tmux_or_where_its_server_is_gone_nobody_looks() {
    let home = Home::bare();
    home.notify("repeat_max = 0", "skip_when_looking = true");
    asks(&home, "%7", "git push");
    home.deliver();
    assert_eq!(home.taken().len(), 1);
    asks(&home, "%7", "rm -r build");
    // a path without tmux on it
    let programs = home.folder("programs");
    std::os::unix::fs::symlink("/bin/cat", format!("{programs}/cat")).unwrap();
    let out = home
        .command(&["ring-notify", "deliver"])
        .env("PATH", programs)
        .output()
        .unwrap();
    assert!(out.status.success() && out.stderr.is_empty());
    assert_eq!(home.taken().len(), 1);
}
