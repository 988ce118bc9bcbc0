//! Programs that send: in a process group of their own, with a time limit, their output unheard.

use super::Fate;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::env;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long a program may take.
pub const LIMIT: Duration = Duration::from_secs(10);
/// How long its group may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(1);
/// How often the group is looked at meanwhile.
const TICK: Duration = Duration::from_millis(20);
/// How long a question may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// An answer is read so far.
const ANSWER: u64 = 1024 * 1024;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It could not be started.
    NotStarted,
    /// With this status.
    Exit(i32),
    /// By a signal that nobody here sent.
    Signal(i32),
    /// Its time was over, and it was ended with its children.
    TimedOut,
}

impl End {
    fn of(status: ExitStatus) -> End {
        match (status.code(), status.signal()) {
            (Some(code), _) => End::Exit(code),
            (None, Some(signal)) => End::Signal(signal),
            (None, None) => End::NotStarted,
        }
    }

    /// What is known of the message (ring-notify(1), RESULTS).
    pub fn fate(self) -> Fate {
        match self {
            End::NotStarted => Fate::not_usable(),
            End::Exit(0) => Fate::Sent,
            End::Exit(status) => Fate::retry(format!("exit {status}")),
            End::Signal(signal) => Fate::unconfirmed(format!("signal {signal}")),
            End::TimedOut => Fate::unconfirmed("timeout"),
        }
    }
}

/// Runs a program. `stdin` is written beside, so one that does not read it is not waited for because of it.
pub fn run(command: &mut Command, stdin: Option<Vec<u8>>, limit: Duration) -> End {
    command.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let Ok(mut child) = command.spawn() else {
        return End::NotStarted;
    };
    if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), stdin) {
        // one that has ended or closed its stdin is no failure: its exit status says what became of the message
        thread::spawn(move || pipe.write_all(&bytes).unwrap_or_default());
    }
    wait(child, limit)
}

/// What a program prints, if it succeeds within two seconds.
pub fn answer(command: &mut Command) -> Result<String, End> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let Ok(mut child) = command.process_group(0).spawn() else {
        return Err(End::NotStarted);
    };
    let (tell, text) = channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.take(ANSWER).read_to_end(&mut bytes);
            // nobody listens any more after the limit
            tell.send(read.map(|_| bytes)).unwrap_or_default();
        });
    }
    match wait(child, PATIENCE) {
        End::Exit(0) => match text.recv_timeout(GRACE) {
            Ok(Ok(bytes)) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Ok(Err(_)) | Err(_) => Err(End::TimedOut),
        },
        end => Err(end),
    }
}

fn wait(mut child: Child, limit: Duration) -> End {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (tell, ended) = channel();
    // A thread, because a process cannot be waited for with a time limit.
    thread::spawn(move || tell.send(child.wait()).unwrap_or_default());
    match ended.recv_timeout(limit) {
        Ok(status) => status.map_or(End::NotStarted, End::of),
        Err(_) => {
            if let Some(group) = group {
                stop(group, &ended);
            }
            End::TimedOut
        }
    }
}

/// Ends a group: TERM, and KILL for what is left of it a second later.
fn stop<T>(group: Pid, ended: &Receiver<T>) {
    // nobody left in the group: nobody to end
    kill_process_group(group, Signal::TERM).unwrap_or_default();
    let asked = Instant::now();
    if ended.recv_timeout(GRACE).is_ok() {
        while asked.elapsed() < GRACE && test_kill_process_group(group).is_ok() {
            thread::sleep(TICK);
        }
    }
    kill_process_group(group, Signal::KILL).unwrap_or_default();
}

/// The file that a program's name stands for, as the system looks for it.
pub fn find(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|p| is_program(p));
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|d| d.join(name)).find(|p| is_program(p))
}

/// Whether a program is there.
///
/// # Errors
/// That it is not, for people.
pub fn installed(name: &str) -> Result<(), String> {
    find(name).map(drop).ok_or_else(|| format!("{name} is not installed"))
}

fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}
