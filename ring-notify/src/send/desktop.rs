//! Notifications of a desktop, by way of the program that the desktop has for them. Texts are arguments.

use super::Fate;
use super::program::{self, LIMIT};
use crate::message::Message;
use std::borrow::Cow;
use std::env;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Titles begin with this where a title is needed and there is only one text.
const NAME: &str = "ring";
/// Never changed by a text: the texts are its arguments.
const SCRIPT: [&str; 3] = [
    "on run argv",
    "display notification (item 3 of argv) with title (item 2 of argv)",
    "end run",
];

/// notify-send.
pub fn notify_send(message: &Message) -> Fate {
    if notify_send_usable().is_err() {
        return Fate::not_usable();
    }
    let mut command = Command::new("notify-send");
    let urgency = if message.facts.urgent { "critical" } else { "normal" };
    command
        .arg(format!("--app-name={NAME}"))
        .arg(format!("--urgency={urgency}"))
        .args(["--", &message.title, &markup(&message.text())]);
    if let Some(Bus::Found(socket)) = bus() {
        command.env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", socket.display()));
    }
    program::run(&mut command, None, LIMIT).fate()
}

/// Whether notify-send and a desktop are there.
///
/// # Errors
/// Why not, for people.
pub fn notify_send_usable() -> Result<(), String> {
    program::installed("notify-send")?;
    let display = ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(is_set);
    match display || bus().is_some() {
        true => Ok(()),
        false => Err("no display and no session bus".to_owned()),
    }
}

/// A session bus.
#[derive(Debug, PartialEq, Eq)]
enum Bus {
    /// The environment leads there.
    Given,
    /// Only its usual place does: nothing in the environment of a cron job says where the desktop is.
    Found(PathBuf),
}

fn bus() -> Option<Bus> {
    if is_set("DBUS_SESSION_BUS_ADDRESS") {
        return Some(Bus::Given);
    }
    if is_set("XDG_RUNTIME_DIR") {
        let folder = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from)?;
        return is_own_socket(&folder.join("bus")).then_some(Bus::Given);
    }
    let uid = rustix::process::getuid().as_raw();
    let usual = PathBuf::from(format!("/run/user/{uid}/bus"));
    is_own_socket(&usual).then_some(Bus::Found(usual))
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|v| !v.is_empty())
}

fn is_own_socket(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|m| m.file_type().is_socket() && m.uid() == rustix::process::getuid().as_raw())
}

/// Of a text that may be read as markup: `& < >` escaped.
pub fn markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// osascript. Its argument `ring` is there because options end in front of the first word that is none: no text can be
/// one.
pub fn osascript(message: &Message) -> Fate {
    let mut command = Command::new("osascript");
    command
        .args(SCRIPT.iter().flat_map(|line| ["-e", line]))
        .args([NAME, &message.title, &message.text()]);
    program::run(&mut command, None, LIMIT).fate()
}

/// terminal-notifier.
pub fn terminal_notifier(sound: &str, message: &Message) -> Fate {
    let text = message.text();
    // without a message it would read one from its stdin
    let (title, text) = match text.is_empty() {
        true => (NAME, message.title.as_str()),
        false => (message.title.as_str(), text.as_str()),
    };
    let facts = &message.facts;
    let group = if facts.session.is_empty() {
        &facts.id
    } else {
        &facts.session
    };
    let mut command = Command::new("terminal-notifier");
    command.args(["-title", &value(title), "-message", &value(text)]);
    if !group.is_empty() {
        command.args(["-group", &value(group)]);
    }
    if !sound.is_empty() {
        command.args(["-sound", &value(sound)]);
    }
    program::run(&mut command, None, LIMIT).fate()
}

/// A value of terminal-notifier: one that begins like an option or like a property list gets a blank in front.
fn value(text: &str) -> Cow<'_, str> {
    match text.starts_with(['-', '[', '(', '{', '<', '"', '\\']) {
        true => format!(" {text}").into(),
        false => text.into(),
    }
}
