//! A real server of tmux with a client at a terminal.

use super::pty::{Held, Output, Pty};
use super::{Fate, Job, is_installed, said, until};
use crate::message::Place;
use crate::send::sequence::{Sequence, through_tmux};
use ring_session::process::read_stat;
use serde_json::json;
use std::fs;
use std::process::{Command, Stdio};
use tempfile::TempDir;

struct Server {
    folder: TempDir,
    socket: String,
}

/// Somebody who looks at it.
struct Client {
    output: Output,
    _process: Held,
    _pty: Pty,
}

impl Server {
    fn start() -> Option<Server> {
        if !is_installed("tmux") {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("s").display().to_string();
        let server = Server { folder, socket };
        server.run(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "120",
            "-y",
            "24",
            "exec sleep 600",
        ]);
        Some(server)
    }

    fn run(&self, words: &[&str]) -> String {
        let out = Command::new("tmux")
            .args(["-S", &self.socket])
            .args(words)
            .env_remove("TMUX")
            .env_remove("TMUX_PANE")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{words:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    }

    fn attach(&self) -> Client {
        let pty = Pty::new();
        let output = pty.output();
        let process = pty.process(&["tmux", "-u", "-S", &self.socket, "attach"]);
        until("a client", || (!self.run(&["list-clients"]).is_empty()).then_some(()));
        Client {
            output,
            _process: process,
            _pty: pty,
        }
    }

    /// The place of a session in a pane.
    fn place(&self, pane: &str) -> Place {
        let pid: u32 = self
            .run(&["display-message", "-p", "-t", pane, "#{pane_pid}"])
            .parse()
            .unwrap();
        let start = read_stat(pid).unwrap().start_ticks;
        Place {
            tty: self.run(&["display-message", "-p", "-t", pane, "#{pane_tty}"]),
            tmux_pane: pane.into(),
            tmux_socket: self.socket.clone(),
            process: (pid, start),
            own: false,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let command = ["-S", &self.socket, "kill-server"];
        drop(Command::new("tmux").args(command).stderr(Stdio::null()).status());
    }
}

#[test]
fn n64_a_sequence_passes_through_tmux_wrapped() {
    let Some(server) = Server::start() else { return };
    server.run(&["set-option", "-g", "allow-passthrough", "on"]);
    let client = server.attach();
    let copy = server.folder.path().join("copy");
    server.run(&["pipe-pane", "-t", "%0", &format!("cat >'{}'", copy.display())]);
    until("the copy", || copy.exists().then_some(()));
    let told = Job::new(json!({"type": "osc777"})).at(server.place("%0")).send(&[]);
    assert_eq!(told.fate, said(&Fate::Sent));
    let plain = b"\x1b]777;notify;api: needs permission;cargo test \xc2\xb7 pane %7\x07";
    client.output.until(plain);
    let wrapped = through_tmux(plain);
    let seen = until("the copy", || fs::read(&copy).ok().filter(|c| c.len() >= wrapped.len()));
    assert_eq!(String::from_utf8_lossy(&seen), String::from_utf8_lossy(&wrapped));
}

#[test]
fn n64_a_bell_rings_in_the_pane_as_it_is() {
    let Some(server) = Server::start() else { return };
    let client = server.attach();
    let told = Job::new(json!({"type": "bell"})).at(server.place("%0")).send(&[]);
    assert_eq!(told.fate, said(&Fate::Sent));
    client.output.until(b"\x07");
}

#[test]
fn a_pane_that_lets_nothing_through_or_is_not_there_gets_no_sequence() {
    let Some(server) = Server::start() else { return };
    let _client = server.attach();
    let place = server.place("%0");
    let job = Job::new(json!({"type": "osc9"}));
    server.run(&["set-option", "-g", "allow-passthrough", "off"]);
    assert_eq!(job.clone().at(place.clone()).send(&[]).fate, said(&Fate::not_usable()));
    server.run(&["set-option", "-g", "allow-passthrough", "on"]);
    assert_eq!(job.clone().at(place.clone()).send(&[]).fate, said(&Fate::Sent));
    let gone = Place {
        tmux_pane: "%99".into(),
        ..place.clone()
    };
    assert_eq!(job.clone().at(gone).send(&[]).fate, said(&Fate::skipped("no_pane")));
    // what tmux would drop, because the pane is not to be seen
    server.run(&["new-window", "exec sleep 600"]);
    assert_eq!(
        job.clone().at(place.clone()).send(&[]).fate,
        said(&Fate::skipped("no_pane"))
    );
    // another process has the pane by now
    let other = Place {
        process: server.place("%1").process,
        ..place
    };
    server.run(&["select-window", "-t", ":0"]);
    assert_eq!(
        job.clone().at(other.clone()).send(&[]).fate,
        said(&Fate::skipped("no_tty"))
    );
    server.run(&["kill-server"]);
    assert_eq!(job.at(other).send(&[]).fate, said(&Fate::skipped("no_pane")));
}

#[test]
fn n62_a_message_of_tmux_is_the_text_and_runs_nothing() {
    let Some(server) = Server::start() else { return };
    let client = server.attach();
    let place = server.place("%0");
    let folder = server.folder.path().join("work");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("x").display().to_string();
    for title in [
        format!("#(touch {file})"),
        "%H:%M #H #{pane_id} ## #[fg=red]! ###[x] ### %%d".to_owned(),
        "-u critical \" & `id` $(id) <b>".to_owned(),
    ] {
        let told = Job::titled(json!({"type": "tmux"}), &title, &[])
            .at(place.clone())
            .send(&[]);
        assert_eq!(told.fate, said(&Fate::Sent));
        client.output.until(title.as_bytes());
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_message_of_tmux_reaches_the_client_that_is_there() {
    let Some(server) = Server::start() else { return };
    let job = Job::new(json!({"type": "tmux"}));
    let place = server.place("%0");
    // nobody is there to see it
    assert_eq!(
        job.clone().at(place.clone()).send(&[]).fate,
        said(&Fate::skipped("no_pane"))
    );
    let client = server.attach();
    // the session of the pane is not the one that is looked at
    server.run(&["new-session", "-d", "-s", "other", "exec sleep 600"]);
    let pane = server.run(&["display-message", "-p", "-t", "other:", "#{pane_id}"]);
    let hook = [("TMUX", server.socket.as_str()), ("TMUX_PANE", pane.as_str())];
    let told = job.clone().at(server.place(&pane)).send(&hook);
    assert_eq!(told.fate, said(&Fate::Sent));
    client
        .output
        .until("api: needs permission · cargo test · pane %7".as_bytes());
    for pane in ["", "%99", "%x", "-a"] {
        let place = Place {
            tmux_pane: pane.into(),
            ..place.clone()
        };
        assert_eq!(
            job.clone().at(place).send(&[]).fate,
            said(&Fate::skipped("no_pane")),
            "{pane}"
        );
    }
    // what belongs to no session goes where this process is
    let own = Place {
        own: true,
        ..Place::default()
    };
    assert_eq!(job.clone().at(own.clone()).send(&hook).fate, said(&Fate::Sent));
    assert_eq!(job.at(own).send(&[]).fate, said(&Fate::skipped("no_pane")));
}

#[test]
fn auto_takes_tmux_where_there_is_no_desktop_and_the_terminal_where_there_is_no_tmux() {
    let Some(server) = Server::start() else { return };
    let client = server.attach();
    let job = Job::new(json!({"type": "auto"}));
    let told = job.clone().at(server.place("%0")).send(&[]);
    assert_eq!(told.fate, said(&Fate::Sent));
    client.output.until("api: needs permission · cargo".as_bytes());
    let pty = Pty::new();
    let output = pty.output();
    let process = pty.process(&["sleep", "60"]);
    assert_eq!(job.clone().at(pty.place(&process)).send(&[]).fate, said(&Fate::Sent));
    let message = crate::message::Message {
        title: job.title.clone(),
        body: job.body.clone(),
        ..Default::default()
    };
    output.is(&Sequence::Osc9.bytes(&message));
    assert_eq!(job.send(&[]).fate, said(&Fate::skipped("no_tty")));
}
