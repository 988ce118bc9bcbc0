//! Where the foreground runs: process, host, terminal.

use super::Facts;
use crate::event::{Event, Name};
use crate::row::{Row, Term};

/// Whether the process that was found is not the one that the row knows.
pub(super) fn is_another(row: &Row, facts: &Facts) -> bool {
    match (&row.process, &facts.process) {
        (Some(stored), Some(found)) => !stored.is(found),
        _ => false,
    }
}

/// Takes what was found. A lookup that found nothing changes nothing.
pub(super) fn take(row: &mut Row, event: &Event, facts: &Facts) {
    if event.name == Name::SessionStart {
        row.term = Term::default();
    }
    if let Some(found) = &facts.process {
        match &mut row.process {
            Some(stored) if stored.is(found) => {
                stored.name.clone_from(&found.name);
                stored.server = found.server;
            }
            stored => *stored = Some(found.clone()),
        }
    }
    if let Some(host) = &facts.host {
        row.host.name.clone_from(&host.name);
        row.host.boot.clone_from(&host.boot);
        row.host.pid_ns = host.pid_ns;
    }
    if !facts.term.tty.is_empty() {
        row.term.tty.clone_from(&facts.term.tty);
    }
    // The environment of a server's hooks is that of the client that started it first.
    let server = row.process.as_ref().is_some_and(|p| p.server);
    if !server && !facts.term.tmux_pane.is_empty() {
        row.term.tmux_pane.clone_from(&facts.term.tmux_pane);
        row.term.tmux_socket.clone_from(&facts.term.tmux_socket);
    }
}
