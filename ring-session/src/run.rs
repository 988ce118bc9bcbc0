//! The engine of `run`: a command carries out a turn (ring-session(1), RUN).
//!
//! The command gets the prompt on its stdin and works in a process group of its own. What it prints passes through
//! while it is kept; its exit decides how the turn ends, not its pipes. It is watched meanwhile: a signal, an abort or a
//! stop from elsewhere, and the time limit end it. Nothing here prints but the command's own output.

use crate::members::Object;
use crate::row::Row;
use crate::store::Store;
use crate::time::{self, Ms};
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What is kept of the output: so much of its beginning and so much of its end, in bytes.
pub const KEPT: usize = 512 * 1024;
/// A checkpoint is stored at most this often.
const CHECKPOINT: Duration = Duration::from_millis(1500);
/// How often the record is looked at for an abort from elsewhere.
const LOOK: Duration = Duration::from_millis(250);
/// How long a command that was asked to end may take.
const GRACE: Duration = Duration::from_secs(5);
/// How long pipes are read after the command's own exit.
const DRAIN: Duration = Duration::from_secs(2);
/// How often flags are looked at while nothing happens.
const TICK: Duration = Duration::from_millis(50);

/// A command that carries out a turn.
#[derive(Debug)]
pub struct Job {
    /// Words in front of the command's: a program that binds it to the life of this process and becomes it.
    pub starter: Vec<OsString>,
    /// The command and its arguments; no shell.
    pub command: Vec<OsString>,
    /// Where it works; none: where the caller is.
    pub folder: Option<PathBuf>,
    /// Further environment.
    pub environment: Vec<(String, OsString)>,
    /// Its stdin.
    pub prompt: Vec<u8>,
    /// Where its stdout goes while it is kept.
    pub echo: Option<File>,
    /// It is ended after this time, in milliseconds.
    pub timeout_ms: Option<Ms>,
    /// The session.
    pub session: String,
    /// The turn.
    pub turn: String,
    /// Id of the assistant's row.
    pub row: String,
    /// The first line of its stderr is kept, too; else stderr is this process's own.
    pub keeps_error: bool,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this status; 127 and 126 also if it could not be started.
    Exit(i32),
    /// By a signal that nobody here sent.
    Signal(i32),
    /// Its time was over.
    TimedOut,
    /// Its turn was ended from elsewhere.
    Elsewhere,
    /// This process got a signal.
    Told(i32),
}

impl End {
    /// The error code of the turn; none: completed.
    pub fn code(self) -> Option<String> {
        match self {
            End::Exit(0) => None,
            End::Exit(status) => Some(format!("EXIT_{status}")),
            End::Signal(signal) => Some(format!("SIGNAL_{signal}")),
            End::TimedOut => Some("TIMEOUT".into()),
            End::Elsewhere | End::Told(_) => Some("TURN_ABORTED".into()),
        }
    }

    /// The exit status as a shell gives it.
    pub fn status(self) -> i32 {
        match self {
            End::Exit(status) => status,
            End::Signal(signal) | End::Told(signal) => 128 + signal,
            End::TimedOut => 124,
            End::Elsewhere => 128 + Signal::TERM.as_raw(),
        }
    }
}

/// What a command printed: the beginning and the end.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    head: Vec<u8>,
    tail: std::collections::VecDeque<u8>,
    /// Something between is missing.
    pub truncated: bool,
}

impl Kept {
    fn push(&mut self, bytes: &[u8]) {
        let room = KEPT - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(KEPT)..];
        self.truncated |= head.len() + rest.len() < bytes.len();
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(KEPT);
        self.truncated |= over > 0;
        self.tail.drain(..over);
    }

    /// As text; invalid UTF-8 becomes U+FFFD, what is missing a line with the mark of a cut.
    pub fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.truncated {
            text.push_str("\n…\n");
        }
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        text.push_str(&String::from_utf8_lossy(&tail));
        text
    }
}

/// How a command went.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// What it printed.
    pub output: Kept,
    /// First line of its stderr, if it was to be kept.
    pub error_line: String,
}

/// Signals that this process has got: SIGINT, SIGTERM, SIGHUP.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    flags: Vec<(i32, Arc<AtomicBool>)>,
}

impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    /// Those of the system.
    pub fn listen() -> io::Result<Signals> {
        let mut flags = Vec::new();
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            let flag = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(signal.as_raw(), Arc::clone(&flag))?;
            flags.push((signal.as_raw(), flag));
        }
        Ok(Signals { flags })
    }

    /// The next one that has come.
    pub fn take(&self) -> Option<i32> {
        self.flags
            .iter()
            .find(|(_, flag)| flag.swap(false, Ordering::SeqCst))
            .map(|(signal, _)| *signal)
    }
}

enum News {
    Exited(io::Result<ExitStatus>),
    Printed,
    Closed,
}

/// Runs a command. `abort` is called once when this process is told to end, before the command is.
///
/// # Errors
/// Those of the system before the command has started; a command that cannot be started is an end, not an error.
pub fn execute(store: &Store, mut job: Job, signals: &Signals, mut abort: impl FnMut(&Kept)) -> io::Result<Ran> {
    let mut words = job.starter.iter().chain(&job.command);
    let Some(program) = words.next() else {
        return Ok(Ran {
            end: End::Exit(127),
            output: Kept::default(),
            error_line: String::new(),
        });
    };
    let mut command = Command::new(program);
    command
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0);
    if job.keeps_error {
        command.stderr(Stdio::piped());
    }
    command.envs(job.environment.iter().map(|(n, v)| (n, v)));
    if let Some(folder) = &job.folder {
        command.current_dir(folder);
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) => {
            let status = if e.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
            return Ok(Ran {
                end: End::Exit(status),
                output: Kept::default(),
                error_line: String::new(),
            });
        }
    };
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let kept = Arc::new(Mutex::new(Kept::default()));
    let (tell, news) = channel();
    if let Some(stdin) = child.stdin.take() {
        let prompt = std::mem::take(&mut job.prompt);
        // a command that does not read its prompt is no failure
        thread::spawn(move || feed(stdin, &prompt).unwrap_or_default());
    }
    if let Some(stdout) = child.stdout.take() {
        let (kept, tell, echo) = (Arc::clone(&kept), tell.clone(), job.echo.take());
        thread::spawn(move || collect(stdout, echo, &kept, &tell));
    }
    let errors = Arc::new(Mutex::new(Kept::default()));
    let mut news_of_errors = None;
    if let Some(stderr) = child.stderr.take() {
        let (errors, echo) = (
            Arc::clone(&errors),
            rustix::io::fcntl_dupfd_cloexec(io::stderr(), 3).ok().map(File::from),
        );
        let (tell, news) = channel();
        news_of_errors = Some(news);
        thread::spawn(move || collect(stderr, echo, &errors, &tell));
    }
    thread::spawn(move || tell.send(News::Exited(child.wait())).unwrap_or_default());
    let mut watch = Watch {
        store,
        job: &job,
        signals,
        group,
        kept: &kept,
        asked: None,
        stored: 0,
        looked: Instant::now(),
        saved: Instant::now(),
    };
    let end = watch.until_exit(&news, &mut abort);
    if !matches!(end, End::Exit(0)) {
        signal(group, Signal::TERM);
        // what it said of its failure may still be on its way
        if let Some(news) = news_of_errors {
            drain(&news);
        }
    }
    let output = kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let errors = errors.lock().unwrap_or_else(PoisonError::into_inner).text();
    let error_line = crate::text::clean(crate::text::first_line(&errors), 160);
    Ok(Ran {
        end,
        output,
        error_line,
    })
}

fn feed(mut stdin: impl Write, prompt: &[u8]) -> io::Result<()> {
    stdin.write_all(prompt)?;
    stdin.flush()
}

fn collect(mut stdout: impl Read, mut echo: Option<File>, kept: &Mutex<Kept>, tell: &Sender<News>) {
    let mut buffer = vec![0u8; 64 * 1024];
    loop {
        let n = match stdout.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let Some(bytes) = buffer.get(..n) else { break };
        if echo.as_mut().is_some_and(|e| e.write_all(bytes).is_err()) {
            // whoever read it has gone; the row is kept all the same
            echo = None;
        }
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
        // nobody listens any more if the command has ended
        tell.send(News::Printed).unwrap_or_default();
    }
    tell.send(News::Closed).unwrap_or_default();
}

/// Waits until a pipe of a command that has ended is closed. A child in the background may keep it open for ever.
fn drain(news: &Receiver<News>) {
    let exited = Instant::now();
    loop {
        let left = DRAIN.saturating_sub(exited.elapsed());
        match news.recv_timeout(left) {
            Ok(News::Closed) | Err(_) => return,
            Ok(_) if left.is_zero() => return,
            Ok(_) => {}
        }
    }
}

fn signal(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // nobody left in the group: nobody to end
        kill_process_group(group, signal).unwrap_or_default();
    }
}

struct Watch<'a> {
    store: &'a Store,
    job: &'a Job,
    signals: &'a Signals,
    group: Option<Pid>,
    kept: &'a Mutex<Kept>,
    /// Why and when the command was asked to end.
    asked: Option<(End, Instant)>,
    /// Bytes in the last checkpoint.
    stored: usize,
    looked: Instant,
    saved: Instant,
}

impl Watch<'_> {
    fn until_exit(&mut self, news: &Receiver<News>, abort: &mut impl FnMut(&Kept)) -> End {
        let started = Instant::now();
        let mut closed = false;
        let status = loop {
            match news.recv_timeout(TICK) {
                Ok(News::Exited(status)) => break status,
                Ok(News::Closed) => closed = true,
                Ok(News::Printed) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break Err(io::ErrorKind::BrokenPipe.into()),
            }
            if let Some(told) = self.signals.take() {
                if self.asked.is_some() {
                    signal(self.group, Signal::KILL);
                } else {
                    abort(&self.kept());
                    self.ask(End::Told(told), Signal::from_named_raw(told).unwrap_or(Signal::TERM));
                }
            }
            if self.asked.is_none() && self.is_ended_elsewhere() {
                self.ask(End::Elsewhere, Signal::TERM);
            }
            let over = self
                .job
                .timeout_ms
                .is_some_and(|ms| started.elapsed() >= Duration::from_millis(ms.unsigned_abs()));
            if self.asked.is_none() && over {
                self.ask(End::TimedOut, Signal::TERM);
            }
            if self.asked.is_some_and(|(_, at)| at.elapsed() >= GRACE) {
                signal(self.group, Signal::KILL);
            }
            self.checkpoint();
        };
        if !closed {
            drain(news);
        }
        match (self.asked, status) {
            (Some((why, _)), _) => why,
            (None, Ok(status)) => match (status.code(), status.signal()) {
                (Some(code), _) => End::Exit(code),
                (None, Some(signal)) => End::Signal(signal),
                (None, None) => End::Exit(126),
            },
            (None, Err(_)) => End::Exit(126),
        }
    }

    fn kept(&self) -> Kept {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn ask(&mut self, why: End, by: Signal) {
        self.asked = Some((why, Instant::now()));
        signal(self.group, by);
    }

    fn is_ended_elsewhere(&mut self) -> bool {
        if self.looked.elapsed() < LOOK {
            return false;
        }
        self.looked = Instant::now();
        match self.store.stored(&self.job.session) {
            Ok(record) => record.turn.is_none_or(|t| t.id != self.job.turn),
            // a session that was deleted has no turn; one that cannot be read for a moment may be read again
            Err(e) => e.code == crate::Code::SessionNotFound && !self.store.files(&self.job.session).dir.exists(),
        }
    }

    fn checkpoint(&mut self) {
        if self.asked.is_some() || self.saved.elapsed() < CHECKPOINT {
            return;
        }
        self.saved = Instant::now();
        let kept = self.kept();
        let size = kept.head.len() + kept.tail.len();
        if size == self.stored && !kept.truncated {
            return;
        }
        let store = self.store.at(time::now_ms());
        let row = reply(self.job, &kept, "streaming");
        if store.keep_checkpoint(&self.job.session, &self.job.turn, &row).is_ok() {
            self.stored = size;
        }
    }
}

/// Becomes `command`, bound to the life of `parent`: on Linux the system sends it SIGTERM when the parent dies. Gives
/// the exit status of a command that cannot be started, as a shell does: 127 not found, 126 otherwise.
pub fn become_command(tool: &str, parent: u32, command: &[OsString]) -> u8 {
    #[cfg(target_os = "linux")]
    if rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).is_err()
        || std::os::unix::process::parent_id() != parent
    {
        // the parent died before the signal was set up
        return 126;
    }
    let Some((program, arguments)) = command.split_first() else {
        return 127;
    };
    let error = Command::new(program).args(arguments).exec();
    // a closed stderr leaves nobody to tell
    writeln!(
        io::stderr(),
        "{tool}: cannot start {}: {error}",
        program.to_string_lossy()
    )
    .unwrap_or_default();
    if error.kind() == io::ErrorKind::NotFound {
        127
    } else {
        126
    }
}

/// The assistant's row of a command's output.
pub fn reply(job: &Job, kept: &Kept, status: &str) -> Row {
    reply_row(&job.row, &job.turn, kept, status)
}

/// As [`reply`], of a row and turn.
pub fn reply_row(id: &str, turn: &str, kept: &Kept, status: &str) -> Row {
    let mut row = Row::assistant(id.to_owned(), turn, time::now_ms(), &kept.text());
    let mut meta = Object::default();
    meta.set("status", status);
    if kept.truncated {
        meta.set("truncated", &true);
    }
    row.members.set("meta", &meta);
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s65_of_a_long_output_the_beginning_and_the_end_are_kept() {
        let mut kept = Kept::default();
        kept.push(b"start");
        kept.push(&vec![b'x'; 3 * KEPT]);
        kept.push(b"end");
        assert!(kept.truncated);
        let text = kept.text();
        assert!(text.starts_with("startx") && text.ends_with("xend") && text.contains("\n…\n"));
        assert!(text.len() <= 2 * KEPT + 8);
    }

    #[test]
    fn an_output_within_the_limits_is_kept_whole() {
        let mut kept = Kept::default();
        for _ in 0..16 {
            kept.push(&vec![b'a'; KEPT / 8]);
        }
        assert!(!kept.truncated && kept.text().len() == 2 * KEPT);
    }

    #[test]
    fn an_end_has_the_code_that_is_stored_and_the_status_that_a_shell_gives() {
        let rows = [
            (End::Exit(0), None, 0),
            (End::Exit(3), Some("EXIT_3"), 3),
            (End::Signal(9), Some("SIGNAL_9"), 137),
            (End::TimedOut, Some("TIMEOUT"), 124),
            (End::Told(2), Some("TURN_ABORTED"), 130),
        ];
        for (end, code, status) in rows {
            assert_eq!((end.code().as_deref(), end.status()), (code, status), "{end:?}");
        }
    }
}
