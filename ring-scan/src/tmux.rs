//! Panes of tmux: where a session can be looked at (ring-scan(1), PLACES).
//!
//! One `tmux list-panes -a` a socket, and only if a session needs it. A pane is a session's if a hook or the agent's live
//! record named it, or if the pane's process tree holds the session's process; never because of a folder.

use crate::processes::Processes;
use std::collections::HashMap;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A tmux that hangs is no tmux.
const PATIENCE: Duration = Duration::from_secs(2);
/// Blanks, because tmux prints a tab as `_` outside a UTF-8 locale, as under cron; only the last part may hold one.
const FORMAT: &str = "#{pane_id} #{pane_pid} #{session_name}:#{window_index}.#{pane_index}";

/// One pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pane {
    /// `%7`.
    pub id: String,
    /// The process that was started in it.
    pub pid: u32,
    /// `work:2.1`.
    pub target: String,
}

/// What one session offers to find its pane by.
#[derive(Clone, Debug, Default)]
pub struct Hint<'a> {
    /// Pane that a hook recorded.
    pub pane: &'a str,
    /// Socket that a hook recorded; empty: the one of this environment.
    pub socket: &'a str,
    /// `session:@window.%pane`, as the agent's live record has it.
    pub registry: &'a str,
    /// Its process, if it lives and is no server.
    pub pid: u32,
}

impl<'a> Hint<'a> {
    fn recorded(&self) -> &'a str {
        if !self.pane.is_empty() {
            return self.pane;
        }
        self.registry
            .rfind('%')
            .map_or("", |at| self.registry.get(at..).unwrap_or_default())
    }
}

/// Panes by socket; asked for once each.
#[derive(Default)]
pub struct Tmux {
    sockets: HashMap<String, Vec<Pane>>,
}

impl Tmux {
    /// The pane of a session: the recorded one if it still exists, else the one that its process runs in.
    pub fn pane(&mut self, hint: &Hint, processes: Option<&Processes>) -> Option<Pane> {
        let recorded = hint.recorded();
        let in_tmux = processes.is_some_and(|p| p.ancestors(hint.pid).any(|p| p.comm.starts_with("tmux")));
        if recorded.is_empty() && !in_tmux {
            return None;
        }
        let panes = self.panes(hint.socket);
        let by_record = panes.iter().find(|p| !recorded.is_empty() && p.id == recorded);
        by_record
            .or_else(|| {
                let tree: Vec<u32> = processes?.ancestors(hint.pid).map(|p| p.pid).collect();
                panes.iter().find(|p| tree.contains(&p.pid))
            })
            .cloned()
    }

    fn panes(&mut self, socket: &str) -> &[Pane] {
        self.sockets.entry(socket.to_owned()).or_insert_with(|| list(socket))
    }
}

fn list(socket: &str) -> Vec<Pane> {
    let mut command = Command::new("tmux");
    if !socket.is_empty() {
        command.args(["-S", socket]);
    }
    command
        .args(["list-panes", "-a", "-F", FORMAT])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else {
        return Vec::new();
    };
    let Some(mut out) = child.stdout.take() else {
        return Vec::new();
    };
    let (sender, text) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = out.read_to_end(&mut bytes);
        drop(sender.send(read.map(|_| bytes)));
    });
    let bytes = match text.recv_timeout(PATIENCE) {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => Vec::new(),
        Err(_) => {
            drop(child.kill());
            Vec::new()
        }
    };
    drop(child.wait());
    parse(&String::from_utf8_lossy(&bytes))
}

fn parse(text: &str) -> Vec<Pane> {
    text.lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ' ');
            Some(Pane {
                id: parts.next()?.to_owned(),
                pid: parts.next()?.parse().ok()?,
                target: parts.next()?.to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panes_are_read_line_by_line() {
        let panes = parse("%7 4242 my work:2.1\nodd\n%8 x y\n");
        assert_eq!(
            panes,
            [Pane {
                id: "%7".into(),
                pid: 4242,
                target: "my work:2.1".into()
            }]
        );
    }

    #[test]
    fn the_registrys_place_names_a_pane() {
        let hint = Hint {
            registry: "0:@1.%12",
            ..Hint::default()
        };
        assert_eq!(hint.recorded(), "%12");
        assert_eq!(Hint::default().recorded(), "");
    }
}
