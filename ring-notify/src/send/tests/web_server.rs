//! A small web server with answers that are known beforehand.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What it does with a connection.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// Reads the request and writes this.
    Says(&'static str),
    /// Reads the request and writes nothing.
    Hangs,
    /// Reads the request and closes the connection.
    Closes,
    /// Closes the connection at once.
    Refuses,
    /// Reads nothing and writes nothing.
    Sleeps,
    /// As a proxy: takes `CONNECT`, then is the server itself, and answers `204`.
    Connects,
    /// As a SOCKS proxy that takes the name of the host, then as above.
    Socks,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    pub head: String,
    pub body: String,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1);
        let mut headers = lines.filter_map(|l| l.split_once(':'));
        headers
            .find(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, v)| v.trim())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

pub struct Web {
    pub port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

pub const OK: Answer = Answer::Says("HTTP/1.1 204 No Content\r\n\r\n");

impl Web {
    /// The answers in their order; the last one again and again.
    pub fn start(answers: &[Answer]) -> Web {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (kept, answers) = (Arc::clone(&seen), answers.to_vec());
        std::thread::spawn(move || {
            for (n, stream) in listener.incoming().enumerate() {
                let answer = answers[n.min(answers.len() - 1)];
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || serve(stream.unwrap(), answer, &kept));
            }
        });
        Web { port, seen }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn only(&self) -> Seen {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen[0].clone()
    }
}

fn serve(mut stream: TcpStream, answer: Answer, kept: &Mutex<Vec<Seen>>) {
    match answer {
        Answer::Refuses => return,
        Answer::Sleeps => return std::thread::sleep(Duration::from_secs(30)),
        Answer::Socks => {
            let mut greeting = [0; 2];
            stream.read_exact(&mut greeting).unwrap();
            stream.read_exact(&mut vec![0; greeting[1].into()]).unwrap();
            stream.write_all(&[5, 0]).unwrap();
            let mut wanted = [0; 5];
            stream.read_exact(&mut wanted).unwrap();
            let mut host = vec![0; usize::from(wanted[4]) + 2];
            stream.read_exact(&mut host).unwrap();
            host.truncate(host.len() - 2);
            let head = format!("SOCKS {}", String::from_utf8(host).unwrap());
            let body = String::new();
            kept.lock().unwrap().push(Seen { head, body });
            stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
            return serve(stream, OK, kept);
        }
        _ => {}
    }
    let seen = read(&mut stream);
    kept.lock().unwrap().push(seen);
    match answer {
        Answer::Says(text) => stream.write_all(text.as_bytes()).unwrap_or_default(),
        Answer::Hangs => std::thread::sleep(Duration::from_secs(30)),
        Answer::Connects => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            serve(stream, OK, kept);
        }
        _ => {}
    }
}

/// Reads one request.
pub fn read(stream: &mut impl Read) -> Seen {
    let mut stream = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        let n = stream.read_line(&mut line).unwrap_or_default();
        if n == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head += &line;
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    Seen {
        head,
        body: String::from_utf8(body).unwrap(),
    }
}
