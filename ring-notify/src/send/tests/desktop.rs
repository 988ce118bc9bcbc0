//! notify-send with a real notification service on a bus of its own.

use super::pty::Held;
use super::{Fate, Job, is_installed, said};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A notification service that prints what it is told, one JSON a line.
const SERVICE: &str = r#"
import dbus, dbus.service, dbus.mainloop.glib, json, sys
from gi.repository import GLib

NAME = "org.freedesktop.Notifications"

class Service(dbus.service.Object):
    @dbus.service.method(NAME, in_signature="susssasa{sv}i", out_signature="u")
    def Notify(self, app, replaces, icon, summary, body, actions, hints, timeout):
        told = {"app": app, "summary": summary, "body": body, "urgency": int(hints.get("urgency", -1))}
        print(json.dumps(told), flush=True)
        return 1

    @dbus.service.method(NAME, out_signature="as")
    def GetCapabilities(self):
        return ["body", "body-markup"]

    @dbus.service.method(NAME, out_signature="ssss")
    def GetServerInformation(self):
        return "test", "ring", "1", "1.2"

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
name = dbus.service.BusName(NAME, bus)
service = Service(bus, "/org/freedesktop/Notifications")
print("ready", flush=True)
GLib.MainLoop().run()
"#;
const PYTHON: &str = "/usr/bin/python3";

fn started(command: &mut Command) -> (Held, BufReader<ChildStdout>, String) {
    let mut child: Child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let held = Held { child, start: 0 };
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    (held, lines, line.trim().to_owned())
}

fn has_service() -> bool {
    let imports = Command::new(PYTHON)
        .args(["-c", "import dbus, gi"])
        .stderr(Stdio::null())
        .status();
    let there = imports.is_ok_and(|s| s.success());
    if !there {
        eprintln!("skipped: python3-dbus or python3-gi is not installed");
    }
    there
}

#[test]
fn n62_a_desktop_shows_the_texts_as_they_are() {
    if !(is_installed("dbus-daemon") && is_installed("notify-send") && has_service()) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let listen = format!("--address=unix:path={}", folder.path().join("bus").display());
    let (_bus, _, address) =
        started(Command::new("dbus-daemon").args(["--session", "--nofork", "--print-address=1", &listen]));
    let bus = [("DBUS_SESSION_BUS_ADDRESS", address.as_str())];
    let mut job = Job::titled(
        json!({"type": "notify-send"}),
        "审批 $(touch x) -u critical <b> & %H",
        &["<b>bold</b> & \"more\"", "--hint=x"],
    );
    // nobody there who shows it
    assert_eq!(job.send(&bus).fate, said(&Fate::retry("exit 1")));
    let (_service, mut told, ready) = started(Command::new(PYTHON).args(["-c", SERVICE]).envs(bus));
    assert_eq!(ready, "ready");
    for (urgent, urgency) in [(false, 1), (true, 2)] {
        job.urgent = urgent;
        let sent = job.send(&bus);
        assert_eq!((sent.fate, sent.usable), (said(&Fate::Sent), "Ok(())".into()));
        let mut line = String::new();
        told.read_line(&mut line).unwrap();
        let shown: Value = serde_json::from_str(&line).unwrap();
        let wanted = json!({
            "app": "ring",
            "summary": job.title,
            "body": "&lt;b&gt;bold&lt;/b&gt; &amp; \"more\"\n--hint=x",
            "urgency": urgency,
        });
        assert_eq!(shown, wanted);
    }
}
