//! What a terminal gets: widths, colours, a watch in place.
#![allow(clippy::unwrap_used)]

mod world;

use ring_session::time::now_ms;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::json;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use unicode_width::UnicodeWidthStr;
use world::{NOW, World};

/// A program whose stdout is a terminal.
struct Terminal {
    screen: File,
    child: Child,
    seen: String,
}

fn size(fd: &OwnedFd, columns: u16, rows: u16) {
    tcsetwinsize(
        fd,
        Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        },
    )
    .unwrap();
}

impl Terminal {
    fn start(columns: u16, rows: u16, command: &mut Command) -> Terminal {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        size(&screen, columns, rows);
        let name = ptsname(&screen, Vec::new()).unwrap();
        let stdout = File::options()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        let child = command.stdout(stdout).stderr(Stdio::null()).spawn().unwrap();
        // the command would keep the other end open
        command.stdout(Stdio::null());
        Terminal {
            screen: screen.into(),
            child,
            seen: String::new(),
        }
    }

    /// Reads until `text` was printed; forgets what came before its end.
    fn until(&mut self, text: &str) -> String {
        let mut bytes = [0; 4096];
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            match self.screen.read(&mut bytes) {
                Ok(n) if n > 0 => self.seen.push_str(&String::from_utf8_lossy(&bytes[..n])),
                _ => panic!("{text:?} was not printed: {:?}", self.seen),
            }
        }
    }

    /// The rest of the output. A terminal whose other end is closed gives an error.
    fn end(mut self) -> (String, ExitStatus) {
        let mut bytes = [0; 4096];
        while let Ok(n @ 1..) = self.screen.read(&mut bytes) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..n]));
        }
        (std::mem::take(&mut self.seen), self.child.wait().unwrap())
    }

    fn signal(&self, name: &str) {
        let done = Command::new("kill")
            .args([&format!("-{name}"), &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(done.success());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn board(columns: u16, world: &World, variables: &[(&str, &str)]) -> String {
    let mut command = world.command(&[]);
    command.envs(variables.iter().copied());
    let (text, status) = Terminal::start(columns, 24, &mut command).end();
    assert_eq!(status.code(), Some(0));
    text.replace("\r\n", "\n")
}

fn mixed() -> World {
    let world = World::new();
    world.row(
        "a",
        "waiting",
        NOW - 4000,
        json!({"origin_cwd":"/w/プロジェクト名前長い","term":{"tty":"/dev/pts/3"}}),
    );
    world.row(
        "b",
        "working",
        NOW - 60_000,
        json!({"origin_cwd":"/w/🚀-rocket","last_action":"Bash: cafe\u{301} ".repeat(20)}),
    );
    world.row(
        "c",
        "idle",
        NOW - 7_200_000,
        json!({"title":"fix the flaky test ".repeat(10)}),
    );
    world
}

#[test]
fn c50_every_width_is_kept_and_the_status_stays() {
    let world = mixed();
    for columns in [40, 60, 80, 120, 200] {
        let text = board(columns, &world, &[("TERM", "xterm"), ("NO_COLOR", "1")]);
        assert!(!text.contains('\u{1b}'), "{text:?}");
        for line in text.lines() {
            assert!(line.width() <= usize::from(columns), "{columns}: {line}");
        }
        let rows: Vec<&str> = text.lines().skip(1).take(3).collect();
        for (row, status) in rows.iter().zip(["🔴 waiting  ", "🟢 working  ", "🟡 idle     "]) {
            assert!(row.starts_with(status), "{columns}: {text}");
        }
        let age = |row: &str, age: &str| row[..row.find(age).unwrap()].width() + age.len();
        assert_eq!(age(rows[0], " 4s"), age(rows[1], " 1m"), "{text}");
        assert_eq!(age(rows[0], " 4s"), age(rows[2], " 2h"), "{text}");
    }
    let wide = board(200, &world, &[("TERM", "xterm"), ("NO_COLOR", "1")]);
    assert!(
        wide.contains("generic") && wide.contains("pts/3") && wide.contains("🔴 waits for you"),
        "{wide}"
    );
}

#[test]
fn c50_a_terminal_gets_colours_unless_it_or_somebody_refuses() {
    let world = mixed();
    let colours = |variables: &[(&str, &str)]| board(80, &world, variables).contains("\u{1b}[1;31m🔴 waiting");
    assert!(colours(&[("TERM", "xterm")]));
    assert!(!colours(&[("TERM", "dumb")]));
    assert!(!colours(&[("TERM", "xterm"), ("NO_COLOR", "1")]));
}

#[test]
fn c56_a_watch_draws_in_place_and_gives_the_terminal_back() {
    let world = World::new();
    world.row("a", "working", now_ms() - 5000, json!({"title":"t"}));
    for (signal, code, by) in [("INT", Some(0), None), ("TERM", None, Some(15))] {
        let mut command = world.command(&["watch", "--interval", "1h"]);
        command
            .env_remove("RING_NOW_MS")
            .env("TERM", "xterm")
            .env("NO_COLOR", "1");
        let mut terminal = Terminal::start(80, 24, &mut command);
        assert!(
            terminal
                .until("🟢 working")
                .starts_with("\u{1b}[?1049h\u{1b}[2J\u{1b}[?25l\u{1b}[H1 session")
        );
        world.row("b", "waiting", now_ms(), json!({}));
        let frame = terminal.until("🔴 waiting");
        assert!(
            frame.contains("\u{1b}[J\u{1b}[H2 sessions · 1 waits for you\u{1b}[K\r"),
            "{frame:?}"
        );
        terminal.until("\u{1b}[J");
        size(&OwnedFd::from(terminal.screen.try_clone().unwrap()), 40, 24);
        terminal.signal("WINCH");
        let narrow = terminal.until("\u{1b}[J");
        assert!(
            narrow
                .lines()
                .all(|l| l.replace("\u{1b}[H", "").replace("\u{1b}[K", "").trim().width() <= 40),
            "{narrow:?}"
        );
        terminal.signal(signal);
        let (rest, status) = terminal.end();
        assert!(rest.ends_with("\u{1b}[?25h\u{1b}[?1049l"), "{rest:?}");
        assert_eq!((status.code(), status.signal()), (code, by));
        world.remove_row("b");
    }
}

#[test]
fn a_low_terminal_shows_the_most_urgent_rows() {
    let world = World::new();
    (0..20).for_each(|i| world.row(&format!("r{i:02}"), "idle", now_ms() - 5000 - i, json!({})));
    let mut command = world.command(&["watch", "--count", "1"]);
    command
        .env_remove("RING_NOW_MS")
        .env("TERM", "xterm")
        .env("NO_COLOR", "1");
    let (text, status) = Terminal::start(80, 10, &mut command).end();
    assert_eq!(status.code(), Some(0));
    assert_eq!(text.matches("🟡 idle").count(), 7, "{text:?}");
    assert!(text.contains("… 13 more"), "{text:?}");
}

#[test]
fn a_watch_ends_with_its_terminal() {
    let world = World::new();
    let mut command = world.command(&["watch", "--interval", "1h"]);
    let mut terminal = Terminal::start(80, 24, command.env("TERM", "xterm"));
    terminal.until("ring-hook install");
    let gone = std::mem::replace(&mut terminal.screen, File::open("/dev/null").unwrap());
    drop(gone);
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0));
}
