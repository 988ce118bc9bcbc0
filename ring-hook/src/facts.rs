//! What a hook finds out about where it runs: the agent's process above it, its terminal (ring-hook(1), PROCESS).
//!
//! The walk goes from the hook's parent up, pid by pid, past shells and wrappers; there is no look at any other process.
//! Of the environment three variables are read by name and nothing else: it holds the agent's secrets.

#[cfg(any(test, not(target_os = "linux")))]
mod portable;
#[cfg(target_os = "linux")]
mod proc;

#[cfg(not(target_os = "linux"))]
use portable as source;
#[cfg(target_os = "linux")]
use proc as source;

use crate::advance::Facts;
use crate::agent::{self, CLAUDE, Role};
use crate::event::{Event, Name, Owner};
use crate::row::{Host, Process, Row, Term};
use ring_session::process::{ProcessStat, Stamp};

/// Processes that the walk looks at, at most.
const STEPS: usize = 12;

/// An agent's process above the hook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// It.
    pub process: Process,
    /// Device of its terminal; empty if it has none, or holds many sessions.
    pub tty: String,
}

/// What the edge can tell of this event's place. The process is looked for only if the row has none, or a session
/// starts. `found`: what [`find_process`] gave, if it was asked already.
pub fn gather(row: Option<&Row>, event: &Event, found: Option<Found>) -> Facts {
    // A child's hook says nothing about the host's place.
    if !matches!(crate::advance::owner(row, event), Owner::Foreground) {
        return Facts::default();
    }
    let known = row.is_some_and(|r| r.process.is_some()) && event.name != Name::SessionStart;
    let looked = found.or_else(|| if known { None } else { find_process(&event.agent) });
    let host = (!known).then(|| {
        let here = Stamp::nobody();
        Host {
            name: here.host,
            pid_ns: here.pid_ns,
            boot: here.boot,
            ..Host::default()
        }
    });
    let server = match &looked {
        Some(found) => found.process.server,
        None => row.and_then(|r| r.process.as_ref()).is_some_and(|p| p.server),
    };
    let mut term = Term {
        tty: named_tty(&event.tty).unwrap_or_default(),
        ..Term::default()
    };
    if !server {
        if term.tty.is_empty() {
            term.tty = looked.as_ref().map(|f| f.tty.clone()).unwrap_or_default();
        }
        (term.tmux_pane, term.tmux_socket) = tmux(&event.tmux_pane);
    }
    Facts {
        process: looked.map(|f| f.process),
        host,
        term,
    }
}

/// The agent's process, from the hook's parent up; for Claude, if no agent at all is above, the one that `CLAUDE_PID`
/// names, which everything that Claude starts inherits.
pub fn find_process(agent: &str) -> Option<Found> {
    if agent::find(agent).is_none_or(|a| a.names.is_empty()) {
        return None;
    }
    let parent = std::os::unix::process::parent_id();
    match walk(agent, parent, source::stat, source::command_line) {
        Walk::Found(found) => Some(found),
        Walk::OtherAgent => None,
        Walk::Nothing if agent == CLAUDE => std::env::var("CLAUDE_PID")
            .ok()
            .and_then(|v| v.trim().parse().ok())
            .and_then(source::stat)
            .and_then(|stat| as_agent(agent, &stat, &source::command_line))
            .and_then(|(is_it, found)| is_it.then_some(found)),
        Walk::Nothing => None,
    }
}

#[derive(Debug, PartialEq)]
enum Walk {
    Found(Found),
    /// Some agent is above, but not this one.
    OtherAgent,
    Nothing,
}

fn walk(
    agent: &str,
    parent: u32,
    stat: impl Fn(u32) -> Option<ProcessStat>,
    command_line: impl Fn(u32) -> Vec<String>,
) -> Walk {
    let (mut pid, mut other) = (parent, false);
    for _ in 0..STEPS {
        if pid <= 1 {
            break;
        }
        let Some(stat) = stat(pid) else { break };
        match as_agent(agent, &stat, &command_line) {
            Some((true, found)) => return Walk::Found(found),
            Some((false, _)) => other = true,
            None => {}
        }
        pid = stat.ppid;
    }
    if other { Walk::OtherAgent } else { Walk::Nothing }
}

/// The process as an agent's, and whether of this agent. Helpers are walked over: what started them is the session.
fn as_agent(agent: &str, stat: &ProcessStat, command_line: &impl Fn(u32) -> Vec<String>) -> Option<(bool, Found)> {
    if !agent::may_be_agent(&stat.comm) {
        return None;
    }
    let (of, role) = agent::of_process(&stat.comm, &command_line(stat.pid))?;
    if role == Role::Helper {
        return None;
    }
    let server = role == Role::Server;
    let found = Found {
        process: Process {
            pid: stat.pid,
            start_ticks: stat.start_ticks,
            name: ring_session::text::clean(&stat.comm, 40),
            server,
            ..Process::default()
        },
        tty: if server { String::new() } else { tty_name(stat.tty_nr) },
    };
    Some((of.id == agent, found))
}

/// The device of a terminal by its number: `/dev/pts/N`, `/dev/ttyN`, `/dev/ttySN`; empty for none and for others.
pub fn tty_name(number: i32) -> String {
    let number = number.cast_unsigned();
    let (major, minor) = ((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xf_ff00));
    match major {
        // Unix 98 terminals fill eight majors.
        136..=143 => format!("/dev/pts/{}", minor + (major - 136) * 256),
        4 if minor < 64 => format!("/dev/tty{minor}"),
        4 => format!("/dev/ttyS{}", minor - 64),
        _ => String::new(),
    }
}

/// A terminal that the payload names, if it is a device below /dev.
fn named_tty(name: &str) -> Option<String> {
    let rest = name.strip_prefix("/dev/")?;
    let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    let fits = rest.len() <= 200 && rest.split('/').all(plain) && !rest.chars().any(char::is_control);
    fits.then(|| name.to_owned())
}

/// Pane and socket of tmux. `pane` is what the payload's reader took from the environment.
fn tmux(pane: &str) -> (String, String) {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let pane = if pane.is_empty() {
        variable("TMUX_PANE")
    } else {
        pane.to_owned()
    };
    let is_pane = pane
        .strip_prefix('%')
        .is_some_and(|n| !n.is_empty() && n.len() <= 10 && n.bytes().all(|b| b.is_ascii_digit()));
    if !is_pane {
        return (String::new(), String::new());
    }
    let socket = variable("TMUX").split(',').next().unwrap_or_default().to_owned();
    let fits = socket.starts_with('/') && socket.len() <= 4096 && !socket.chars().any(char::is_control);
    (pane, if fits { socket } else { String::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of processes, the hook's parent first: name, arguments.
    fn walk_over(agent: &str, line: &[(&str, &[&str])]) -> Walk {
        let stat = |pid: u32| {
            let at = usize::try_from(pid).unwrap() - 100;
            line.get(at).map(|(comm, _)| ProcessStat {
                pid,
                comm: (*comm).to_owned(),
                state: 'S',
                ppid: pid + 1,
                tty_nr: (136 << 8) | 3,
                start_ticks: u64::from(pid) * 10,
            })
        };
        let arguments = |pid: u32| {
            line[usize::try_from(pid).unwrap() - 100]
                .1
                .iter()
                .map(|a| (*a).to_owned())
                .collect()
        };
        walk(agent, 100, stat, arguments)
    }

    fn found(walk: Walk) -> Option<(u32, bool, String)> {
        match walk {
            Walk::Found(f) => Some((f.process.pid, f.process.server, f.tty)),
            _ => None,
        }
    }

    const SH: (&str, &[&str]) = ("sh", &["sh", "-c", "ring-hook --agent claude-code"]);
    const CLAUDE_PROCESS: (&str, &[&str]) = ("claude", &["claude"]);

    #[test]
    fn c106_the_walk_passes_shells_and_wrappers_up_to_the_agent() {
        let line = [
            SH,
            ("timeout", &["timeout", "5", "x"][..]),
            ("npm exec", &["npx"][..]),
            CLAUDE_PROCESS,
        ];
        assert_eq!(
            found(walk_over(CLAUDE, &line)),
            Some((103, false, "/dev/pts/3".to_owned()))
        );
    }

    #[test]
    fn c106_the_walk_looks_at_twelve_processes_at_most() {
        let mut line = vec![SH; 11];
        line.push(CLAUDE_PROCESS);
        assert_eq!(found(walk_over(CLAUDE, &line)).map(|f| f.0), Some(111));
        line.insert(0, SH);
        assert_eq!(walk_over(CLAUDE, &line), Walk::Nothing);
    }

    #[test]
    fn the_nearest_process_of_this_agent_is_the_one() {
        let codex = ("codex", &["codex"][..]);
        assert_eq!(
            found(walk_over("codex", &[SH, codex, SH, CLAUDE_PROCESS])).map(|f| f.0),
            Some(101)
        );
        assert_eq!(
            found(walk_over(CLAUDE, &[SH, codex, SH, CLAUDE_PROCESS])).map(|f| f.0),
            Some(103)
        );
        assert_eq!(walk_over(CLAUDE, &[SH, codex]), Walk::OtherAgent);
        assert_eq!(walk_over(CLAUDE, &[SH, ("bash", &["bash"][..])]), Walk::Nothing);
    }

    #[test]
    fn a_helper_is_walked_over_to_the_session_that_started_it() {
        let sandbox = ("codex", &["codex-linux-sandbox", "--x"][..]);
        let line = [SH, sandbox, ("codex", &["codex", "--no-daemon"][..])];
        assert_eq!(found(walk_over("codex", &line)).map(|f| f.0), Some(102));
    }

    #[test]
    fn h76_a_server_is_one_and_lends_no_terminal() {
        let server = ("codex", &["codex", "app-server", "--managed-daemon"][..]);
        assert_eq!(
            found(walk_over("codex", &[SH, server])),
            Some((101, true, String::new()))
        );
    }

    #[test]
    fn terminals_have_their_kernels_numbers() {
        assert_eq!(tty_name(34_825), "/dev/pts/9");
        assert_eq!(tty_name((137 << 8) | 4), "/dev/pts/260");
        assert_eq!(tty_name(1_025), "/dev/tty1");
        assert_eq!(tty_name(0), "");
    }

    #[test]
    fn only_devices_below_dev_are_terminals() {
        assert_eq!(named_tty("/dev/pts/3").as_deref(), Some("/dev/pts/3"));
        for name in ["", "not a tty", "/dev/", "/dev/../etc/passwd", "/tmp/tty", "/dev/p\ns"] {
            assert_eq!(named_tty(name), None, "{name:?}");
        }
    }
}
