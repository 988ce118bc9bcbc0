//! tmux: the pane of a session, what it lets through, and messages in the status line.

use super::Fate;
use super::program::{self, End};
use super::sequence::one_line;
use crate::message::{Message, Place};
use std::env;
use std::process::Command;
use std::time::Duration;

/// How long a message stays, in milliseconds.
const SHOWN: &str = "8000";
/// How long tmux may take to show it: with the question before it, no more than any other program.
const LIMIT: Duration = Duration::from_secs(7);
// Blanks between, because tmux prints a tab as `_` where the locale is not UTF-8, as it is in a cron job.
const PANES: &str = "p #{pane_id} #{pane_tty} #{session_attached} #{window_active} #{allow-passthrough}";
const CLIENTS: &str = "c #{client_activity} #{client_name}";

/// Where a session sits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Path of the server's socket; empty: the one that tmux takes by itself.
    socket: String,
    /// `%7`.
    pane: String,
}

impl Seat {
    /// The seat of a place; of this process, if there is no session.
    pub fn of(place: &Place) -> Option<Seat> {
        let mut seat = Seat {
            socket: place.tmux_socket.clone(),
            pane: place.tmux_pane.clone(),
        };
        if place.own && seat.pane.is_empty() {
            seat.pane = env::var("TMUX_PANE").ok()?;
            let server = env::var("TMUX").ok()?;
            seat.socket = server.split(',').next().unwrap_or_default().to_owned();
        }
        let number = seat.pane.strip_prefix('%')?;
        let fits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        fits.then_some(seat)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        if !self.socket.is_empty() {
            command.args(["-S", &self.socket]);
        }
        command
    }
}

/// What a pane lets through to the terminal around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passthrough {
    /// Nothing.
    Off,
    /// All, while the pane is to be seen.
    Visible,
    /// All.
    All,
}

/// A pane that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pane {
    /// Its terminal.
    pub tty: String,
    /// It is in the current window of a session that somebody is attached to.
    pub visible: bool,
    /// What it lets through.
    pub passthrough: Passthrough,
}

/// A server as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The pane of the seat.
    pub pane: Option<Pane>,
    /// The client that was used last.
    pub client: Option<String>,
}

/// Asks the server of a seat.
///
/// # Errors
/// What becomes of the message when it does not answer.
pub fn view(seat: &Seat) -> Result<View, Fate> {
    let mut command = seat.command();
    command.args(["list-panes", "-a", "-F", PANES, ";", "list-clients", "-F", CLIENTS]);
    match program::answer(&mut command) {
        Ok(text) => Ok(parse(&text, &seat.pane)),
        // the server has gone, and the pane with it
        Err(End::Exit(_)) => Err(Fate::skipped("no_pane")),
        Err(_) => Err(Fate::not_usable()),
    }
}

fn parse(text: &str, wanted: &str) -> View {
    let mut view = View::default();
    let mut newest = 0;
    for line in text.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["p", id, tty, attached, active, passthrough] if id == wanted => {
                let pane = Pane {
                    tty: tty.to_owned(),
                    visible: attached != "0" && active == "1",
                    passthrough: match passthrough {
                        "off" | "0" => Passthrough::Off,
                        "on" | "1" => Passthrough::Visible,
                        // an old tmux has no such option and lets all through
                        _ => Passthrough::All,
                    },
                };
                // a window may be linked into several sessions
                if view.pane.as_ref().is_none_or(|p| !p.visible) {
                    view.pane = Some(pane);
                }
            }
            ["c", activity, name] => {
                let activity: u64 = activity.parse().unwrap_or_default();
                if view.client.is_none() || activity > newest {
                    newest = activity;
                    view.client = Some(name.to_owned());
                }
            }
            _ => {}
        }
    }
    view
}

/// A message in the status line of the client that was used last: left to itself, tmux may take one that nobody sees.
pub fn send(message: &Message) -> Fate {
    let Some(seat) = Seat::of(&message.place) else {
        return Fate::skipped("no_pane");
    };
    let view = match view(&seat) {
        Ok(view) => view,
        Err(fate) => return fate,
    };
    let (Some(_), Some(client)) = (view.pane, view.client) else {
        return Fate::skipped("no_pane");
    };
    let mut command = seat.command();
    command.args(["display-message", "-c", &client, "-d", SHOWN, "-t", &seat.pane]);
    command.args(["--", &literal(&one_line(message))]);
    program::run(&mut command, None, LIMIT).fate()
}

/// The text as a format that expands to it: no format, no command, no time, no style in it. Each `#` is doubled. Several
/// in a row are doubled once more, because what was expanded is drawn, and drawing makes one of two; not so in front of
/// `[`, where expanding leaves them as they are.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(['#', '%']) {
        let (plain, marks) = rest.split_at(at);
        out.push_str(plain);
        let after = marks.trim_start_matches('#');
        let hashes = marks.len() - after.len();
        rest = after;
        let times = match hashes {
            0 => {
                out.push_str("%%");
                rest = marks.strip_prefix('%').unwrap_or_default();
                continue;
            }
            1 => 2,
            _ if after.starts_with('[') => 2,
            _ => 4,
        };
        out.push_str(&"#".repeat(hashes * times));
    }
    out + rest
}

/// Whether tmux and a server of it are there.
///
/// # Errors
/// Why not, for people.
pub fn usable() -> Result<(), String> {
    program::installed("tmux")?;
    match program::answer(Command::new("tmux").arg("list-sessions")) {
        Ok(_) => Ok(()),
        Err(_) => Err("no tmux server is running".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n62_a_text_is_a_format_that_expands_to_it() {
        let rows = [
            ("", ""),
            ("plain", "plain"),
            ("#(touch x) 5% #{pane_id}", "##(touch x) 5%% ##{pane_id}"),
            ("## a #%H #", "######## a ##%%H ##"),
            ("#[fg=red] ##[x", "##[fg=red] ####[x"),
        ];
        for (text, format) in rows {
            assert_eq!(literal(text), format);
        }
    }

    #[test]
    fn a_pane_is_found_among_others_and_the_newest_client() {
        let text = "p %1 /dev/pts/1 0 1 off\np %7 /dev/pts/7 0 1 0\np %7 /dev/pts/7 1 1 on\np %8 /dev/pts/8 1 0 \n\
                    c 100 /dev/pts/2\nc 300 /dev/pts/3\nc 200 /dev/pts/4\nodd\n";
        let view = parse(text, "%7");
        assert_eq!(view.client.as_deref(), Some("/dev/pts/3"));
        let pane = view.pane.unwrap();
        assert_eq!(
            (pane.tty.as_str(), pane.visible, pane.passthrough),
            ("/dev/pts/7", true, Passthrough::Visible)
        );
        let old = parse(text, "%8").pane.unwrap();
        assert_eq!((old.visible, old.passthrough), (false, Passthrough::All));
        assert_eq!(
            parse(text, "%70"),
            View {
                client: Some("/dev/pts/3".into()),
                pane: None
            }
        );
    }
}
