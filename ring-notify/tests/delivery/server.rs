//! A small HTTP server in a thread: it answers as it was told, in order, and keeps what it was asked.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What the server does with a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A status with further header lines.
    Status(u16, &'static str),
    /// It reads the request and says nothing as long as the other side waits.
    Silence,
    /// It reads the request and closes the connection.
    Close,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// The request line.
    pub line: String,
    /// Header lines.
    pub headers: Vec<String>,
    pub body: String,
}

impl Request {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|h| {
            let (n, value) = h.split_once(':')?;
            n.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

pub struct Server {
    pub port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Answers with these, and with 200 when there are no more.
    pub fn start(replies: &[Reply]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Server::on(listener, replies)
    }

    pub fn on(listener: TcpListener, replies: &[Reply]) -> Server {
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        let replies = Arc::new(Mutex::new(replies.iter().cloned().collect::<VecDeque<_>>()));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, replies) = (Arc::clone(&kept), Arc::clone(&replies));
                std::thread::spawn(move || serve(stream, &kept, &replies));
            }
        });
        Server { port, requests }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// A webhook that posts here.
    pub fn webhook(&self, name: &str, members: &str) -> String {
        let url = self.url("/hook");
        format!("[[notify.outlet]]\nname = \"{name}\"\ntype = \"webhook\"\nurl = \"{url}\"\n{members}\n")
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, kept: &Mutex<Vec<Request>>, replies: &Mutex<VecDeque<Reply>>) {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Ok(n) if n > 0 && !line.trim_end().is_empty() => lines.push(line.trim_end().to_owned()),
            _ => break,
        }
    }
    if lines.is_empty() {
        return;
    }
    let line = lines.remove(0);
    let mut request = Request {
        line,
        headers: lines,
        body: String::new(),
    };
    let length = request
        .header("content-length")
        .and_then(|l| l.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    request.body = String::from_utf8(body).unwrap();
    let reply = replies.lock().unwrap().pop_front().unwrap_or(Reply::Status(200, ""));
    kept.lock().unwrap().push(request);
    match reply {
        Reply::Status(status, headers) => {
            let text = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n{headers}\r\n");
            // whoever has gone away meanwhile does not want it
            reader.get_mut().write_all(text.as_bytes()).unwrap_or_default();
        }
        Reply::Silence => {
            let mut rest = Vec::new();
            reader.read_to_end(&mut rest).unwrap_or_default();
        }
        Reply::Close => {}
    }
}

/// A port of this machine on which nobody listens.
pub fn dead_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
