//! What Codex's background server says about its threads: the one place where a Codex approval is told in words.
//!
//! Measured with Codex 0.171.0: the server listens on `CODEX_HOME/app-server-control/app-server-control.sock` (a link
//! to a socket below the temporary folder) and speaks JSON-RPC in WebSocket messages. `thread/loaded/list` takes 0.4 ms,
//! `thread/read` 2-3 ms for a loaded thread with a rollout, but 25-50 ms for any other; so only threads that are loaded
//! are asked for. Reading subscribes to nothing and keeps no thread loaded.
//!
//! Nothing here is ever required: an absent, silent, slow, refusing or garbled server costs at most the budget.

use super::websocket::{self, Frame, Upgrade};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use serde::Deserialize;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long asking may take in all.
pub const BUDGET: Duration = Duration::from_millis(200);

/// The server's word about one loaded thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerStatus {
    /// An approval is on the screen: waiting, kind permission.
    WaitingOnApproval,
    /// A question is: waiting, kind question.
    WaitingOnUserInput,
    /// A turn runs.
    Active,
    /// No turn runs.
    Idle,
    /// Anything else: an error, a word of tomorrow.
    Other,
}

/// Asks the server of `codex_home` about those of `thread_ids` that it has loaded. A thread that it does not know, or
/// did not tell of in time, is not in the answer; no server at all is an empty answer.
///
/// # Errors
/// A text for people, if there is a server that cannot be asked. The caller goes on as without one.
pub fn statuses(
    codex_home: &Path,
    thread_ids: &[String],
    budget: Duration,
) -> Result<HashMap<String, ServerStatus>, String> {
    let deadline = Instant::now() + budget;
    let link = codex_home.join("app-server-control/app-server-control.sock");
    if thread_ids.is_empty() {
        return Ok(HashMap::new());
    }
    // The link is resolved first: its own path may be longer than a socket address, its target's never is.
    let socket = match std::fs::canonicalize(&link) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(HashMap::new()),
        Err(e) => return Err(format!("{}: {e}", link.display())),
        Ok(socket) => socket,
    };
    let mut said = HashMap::new();
    match ask(&socket, thread_ids, deadline, &mut said) {
        // What came before the failure is true all the same.
        Err(_) if !said.is_empty() => Ok(said),
        Err(e) => Err(format!("{}: {e}", link.display())),
        Ok(()) => Ok(said),
    }
}

fn ask(
    socket: &Path,
    wanted: &[String],
    deadline: Instant,
    said: &mut HashMap<String, ServerStatus>,
) -> io::Result<()> {
    let mut talk = Conversation::open(socket, deadline)?;
    talk.send(&[
        r#"{"id":0,"method":"initialize","params":{"clientInfo":{"name":"ring-scan","version":"1"}}}"#.to_owned(),
        r#"{"method":"initialized"}"#.to_owned(),
        r#"{"id":1,"method":"thread/loaded/list","params":{}}"#.to_owned(),
    ])?;
    let loaded = loop {
        match answer(&talk.receive()?) {
            Some(Answer::Loaded(ids)) => break ids,
            Some(Answer::Failed) => return Err(io::Error::other("the request was refused")),
            _ => {}
        }
    };
    let asked: Vec<&String> = wanted.iter().filter(|id| loaded.contains(id)).collect();
    let requests: Vec<String> = asked.iter().zip(2..).map(|(id, n)| read_request(n, id)).collect();
    talk.send(&requests)?;
    let mut open = asked.len();
    while open > 0 {
        match answer(&talk.receive()?) {
            Some(Answer::Thread(id, status)) => {
                said.insert(id, status);
                open -= 1;
            }
            Some(Answer::Failed) => open -= 1,
            _ => {}
        }
    }
    Ok(())
}

fn read_request(number: u64, thread: &str) -> String {
    serde_json::json!({"id": number, "method": "thread/read", "params": {"threadId": thread}}).to_string()
}

/// What one message of the server means here.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Loaded(Vec<String>),
    Thread(String, ServerStatus),
    Failed,
}

#[derive(Deserialize)]
struct Message {
    id: Option<u64>,
    method: Option<String>,
    result: Option<Content>,
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Content {
    data: Option<Vec<String>>,
    thread: Option<Thread>,
}

#[derive(Deserialize)]
struct Thread {
    id: String,
    status: Status,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    r#type: String,
    active_flags: Vec<String>,
}

/// Reads one message. Notifications, requests of the server and what is not understood are none.
fn answer(message: &[u8]) -> Option<Answer> {
    let message: Message = serde_json::from_slice(message).ok()?;
    let number = message.id.filter(|_| message.method.is_none())?;
    if message.error.is_some() {
        return Some(Answer::Failed);
    }
    let result = message.result?;
    match (number, result.data, result.thread) {
        (0, ..) => None,
        (_, Some(ids), _) => Some(Answer::Loaded(ids)),
        (_, _, Some(thread)) => Some(Answer::Thread(thread.id, thread.status.meaning())),
        _ => Some(Answer::Failed),
    }
}

impl Status {
    fn meaning(&self) -> ServerStatus {
        let flag = |name: &str| self.active_flags.iter().any(|f| f == name);
        match self.r#type.as_str() {
            "active" if flag("waitingOnApproval") => ServerStatus::WaitingOnApproval,
            "active" if flag("waitingOnUserInput") => ServerStatus::WaitingOnUserInput,
            "active" => ServerStatus::Active,
            "idle" => ServerStatus::Idle,
            _ => ServerStatus::Other,
        }
    }
}

/// One open connection; every step ends at the deadline.
struct Conversation {
    stream: UnixStream,
    deadline: Instant,
    unread: Vec<u8>,
}

impl Conversation {
    fn open(socket: &Path, deadline: Instant) -> io::Result<Conversation> {
        let mut talk = Conversation {
            stream: connect(socket)?,
            deadline,
            unread: Vec::new(),
        };
        talk.write(websocket::UPGRADE)?;
        loop {
            match websocket::upgrade(&talk.unread) {
                Upgrade::Done(end) => {
                    talk.unread.drain(..end);
                    return Ok(talk);
                }
                Upgrade::Refused => return Err(io::Error::other("no WebSocket is spoken there")),
                Upgrade::Partial => talk.fill()?,
            }
        }
    }

    fn send(&mut self, messages: &[String]) -> io::Result<()> {
        let frames: Vec<u8> = messages.iter().flat_map(|m| websocket::text_frame(m)).collect();
        self.write(&frames)
    }

    fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut message = Vec::new();
        loop {
            match websocket::frame(&self.unread) {
                Frame::Partial => self.fill()?,
                Frame::Other(end) => drop(self.unread.drain(..end)),
                Frame::Close => return Err(io::ErrorKind::UnexpectedEof.into()),
                Frame::Piece { payload, last, end } => {
                    self.unread.drain(..end);
                    message.extend(payload);
                    if message.len() > websocket::MAX_MESSAGE {
                        return Err(io::Error::other("the answer is too long"));
                    }
                    if last {
                        return Ok(message);
                    }
                }
                Frame::Bad => return Err(io::Error::other("the answer is garbled")),
            }
        }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no answer in time"));
        }
        Ok(left)
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.stream.set_write_timeout(Some(self.left()?))?;
            let written = self.stream.write(bytes).map_err(timed)?;
            bytes = &bytes[written..];
        }
        Ok(())
    }

    fn fill(&mut self) -> io::Result<()> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        let mut bytes = [0; 16 * 1024];
        match self.stream.read(&mut bytes) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                self.unread.extend(&bytes[..n]);
                Ok(())
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(e) => Err(timed(e)),
        }
    }
}

/// A time-out of a socket is told as `WouldBlock`.
fn timed(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::Error::new(io::ErrorKind::TimedOut, "no answer in time"),
        _ => error,
    }
}

/// Connects without waiting: a Unix socket whose owner does not accept would hold a blocking `connect` for ever.
fn connect(socket: &Path) -> io::Result<UnixStream> {
    let stream = UnixStream::from(rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?);
    rustix::io::fcntl_setfd(&stream, rustix::io::FdFlags::CLOEXEC)?;
    stream.set_nonblocking(true)?;
    rustix::net::connect(&stream, &SocketAddrUnix::new(socket)?)?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::BufRead;
    use std::os::unix::net::UnixListener;

    const UPGRADED: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n";
    const ONE: &str = "0199-one";
    const TWO: &str = "0199-two";

    /// A home with a socket behind a link, as the real server has it.
    fn home() -> (tempfile::TempDir, UnixListener) {
        let home = tempfile::tempdir().unwrap();
        let control = home.path().join("app-server-control");
        std::fs::create_dir(&control).unwrap();
        let listener = UnixListener::bind(home.path().join("s")).unwrap();
        std::os::unix::fs::symlink(home.path().join("s"), control.join("app-server-control.sock")).unwrap();
        (home, listener)
    }

    /// Runs `server` with the first connection while `statuses` asks about both threads.
    fn asked(
        budget_ms: u64,
        server: impl FnOnce(UnixStream) + Send + 'static,
    ) -> (Result<HashMap<String, ServerStatus>, String>, Duration) {
        let (home, listener) = home();
        let thread = std::thread::spawn(move || server(listener.accept().unwrap().0));
        let started = Instant::now();
        let ids = [ONE.to_owned(), TWO.to_owned()];
        let said = statuses(home.path(), &ids, Duration::from_millis(budget_ms));
        let took = started.elapsed();
        thread.join().unwrap();
        (said, took)
    }

    fn read_upgrade(stream: &UnixStream) {
        let mut lines = std::io::BufReader::with_capacity(1, stream).lines();
        while !lines.next().unwrap().unwrap().is_empty() {}
    }

    fn read_messages(stream: &mut UnixStream, mut bytes: Vec<u8>, count: usize) -> Vec<serde_json::Value> {
        let mut messages = Vec::new();
        while messages.len() < count {
            match websocket::frame(&bytes) {
                Frame::Piece { payload, end, .. } => {
                    bytes.drain(..end);
                    messages.push(serde_json::from_slice(&payload).unwrap());
                }
                _ => {
                    let mut more = [0; 512];
                    let n = stream.read(&mut more).unwrap();
                    assert!(n > 0, "the client hung up");
                    bytes.extend(&more[..n]);
                }
            }
        }
        messages
    }

    fn say(stream: &mut UnixStream, message: &str) {
        stream.write_all(&websocket::text_frame(message)).unwrap();
    }

    /// Answers as the real one does, with `status` for every thread that is read.
    fn polite(loaded: &'static str, status: &'static str) -> impl FnOnce(UnixStream) + Send {
        move |mut stream| {
            read_upgrade(&stream);
            stream.write_all(UPGRADED).unwrap();
            let hello = read_messages(&mut stream, Vec::new(), 3);
            assert_eq!(hello[0]["method"], "initialize");
            assert_eq!(hello[1]["method"], "initialized");
            assert_eq!(hello[2]["method"], "thread/loaded/list");
            say(&mut stream, r#"{"id":0,"result":{"userAgent":"x"}}"#);
            say(&mut stream, r#"{"method":"configWarning","params":{"summary":"x"}}"#);
            stream.write_all(&[0x89, 0x80, 0, 0, 0, 0]).unwrap();
            say(
                &mut stream,
                &format!(r#"{{"id":1,"result":{{"data":{loaded},"nextCursor":null}}}}"#),
            );
            let count = loaded.matches("0199-").count();
            for request in read_messages(&mut stream, Vec::new(), count) {
                assert_eq!(request["method"], "thread/read");
                let (id, thread) = (&request["id"], &request["params"]["threadId"]);
                say(
                    &mut stream,
                    &format!(
                        r#"{{"id":{id},"result":{{"thread":{{"preview":"x","id":{thread},"status":{status}}}}}}}"#
                    ),
                );
            }
        }
    }

    #[test]
    fn c87_waiting_on_approval_and_on_user_input_are_told_for_loaded_threads() {
        let both = r#"["0199-one","0199-two"]"#;
        for (status, meaning) in [
            (
                r#"{"type":"active","activeFlags":["waitingOnApproval"]}"#,
                ServerStatus::WaitingOnApproval,
            ),
            (
                r#"{"type":"active","activeFlags":["waitingOnUserInput"]}"#,
                ServerStatus::WaitingOnUserInput,
            ),
            (r#"{"type":"active","activeFlags":[]}"#, ServerStatus::Active),
            (
                r#"{"type":"active","activeFlags":["ofTomorrow"]}"#,
                ServerStatus::Active,
            ),
            (r#"{"type":"idle"}"#, ServerStatus::Idle),
            (r#"{"type":"systemError"}"#, ServerStatus::Other),
        ] {
            let said = asked(10_000, polite(both, status)).0.unwrap();
            assert_eq!(
                said,
                HashMap::from([(ONE.into(), meaning), (TWO.into(), meaning)]),
                "{status}"
            );
        }
    }

    #[test]
    fn c87_only_loaded_threads_are_read() {
        let said = asked(10_000, polite(r#"["0199-two"]"#, r#"{"type":"idle"}"#))
            .0
            .unwrap();
        assert_eq!(said, HashMap::from([(TWO.into(), ServerStatus::Idle)]));
        assert!(asked(10_000, polite("[]", "{}")).0.unwrap().is_empty());
    }

    #[test]
    fn c87_a_silent_server_costs_the_budget_and_no_more() {
        let (said, took) = asked(60, |mut stream| {
            // to the end: the client hangs up
            std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
        });
        assert!(said.unwrap_err().contains("no answer in time"));
        assert!(
            took >= Duration::from_millis(60) && took < Duration::from_millis(1000),
            "{took:?}"
        );
    }

    #[test]
    fn c87_a_slow_server_keeps_what_it_said_in_time() {
        let (said, _) = asked(300, |mut stream| {
            read_upgrade(&stream);
            stream.write_all(UPGRADED).unwrap();
            read_messages(&mut stream, Vec::new(), 3);
            say(&mut stream, r#"{"id":1,"result":{"data":["0199-one","0199-two"]}}"#);
            read_messages(&mut stream, Vec::new(), 2);
            say(
                &mut stream,
                r#"{"id":3,"result":{"thread":{"id":"0199-two","status":{"type":"idle"}}}}"#,
            );
            std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
        });
        assert_eq!(said.unwrap(), HashMap::from([(TWO.into(), ServerStatus::Idle)]));
    }

    #[test]
    fn c87_a_refusing_or_garbled_server_is_told_and_nothing_else() {
        let hang_up: fn(UnixStream) = drop;
        let other_protocol: fn(UnixStream) = |mut s| s.write_all(b"SSH-2.0-x\r\n").unwrap();
        let garbled: fn(UnixStream) = |mut s| {
            read_upgrade(&s);
            s.write_all(UPGRADED).unwrap();
            s.write_all(&[0xff; 64]).unwrap();
        };
        let refusing: fn(UnixStream) = |mut s| {
            read_upgrade(&s);
            s.write_all(UPGRADED).unwrap();
            read_messages(&mut s, Vec::new(), 3);
            say(&mut s, r#"{"id":1,"error":{"code":-32600,"message":"no"}}"#);
        };
        for server in [hang_up, other_protocol, garbled, refusing] {
            assert!(asked(10_000, server).0.is_err());
        }
    }

    #[test]
    fn c87_without_a_server_or_with_a_dead_one_nothing_waits() {
        let nowhere = tempfile::tempdir().unwrap();
        let ids = [ONE.to_owned()];
        assert!(statuses(nowhere.path(), &ids, BUDGET).unwrap().is_empty());
        let (home, listener) = home();
        assert!(statuses(home.path(), &[], BUDGET).unwrap().is_empty());
        drop(listener);
        assert!(statuses(home.path(), &ids, BUDGET).is_err());
    }

    #[test]
    fn c87_a_server_that_accepts_nobody_does_not_hold_the_board() {
        let (home, _listener) = home();
        let mut queued = Vec::new();
        // the queue of connections fills up; then connecting would wait
        while let Ok(one) = connect(&home.path().join("s")) {
            queued.push(one);
            assert!(queued.len() < 100_000, "connecting never fails here");
        }
        assert!(statuses(home.path(), &[ONE.to_owned()], Duration::from_millis(50)).is_err());
    }

    proptest! {
        #[test]
        fn no_message_makes_the_reader_panic(text in ".{0,80}") {
            answer(text.as_bytes());
        }
    }
}
