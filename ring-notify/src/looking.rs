//! Whether the user looks at a session: its pane is the active one of a window that an active client shows
//! (ring-notify(1), LOOKING). No pane, no tmux, an error: not looking.

use crate::item::Live;
use crate::send::program;
use ring_session::time::Ms;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// A client that was used within this time is active, in milliseconds.
const ACTIVE_MS: Ms = 60_000;

/// KEYs of the sessions whose pane is being looked at. One call of tmux a socket.
pub fn looking(open: &[Live], now: Ms) -> BTreeSet<String> {
    let mut sockets: BTreeMap<&str, Vec<&Live>> = BTreeMap::new();
    for live in open.iter().filter(|l| !l.place.tmux_pane.is_empty()) {
        sockets.entry(&live.place.tmux_socket).or_default().push(live);
    }
    let mut keys = BTreeSet::new();
    for (socket, lives) in sockets {
        let panes = seen(&clients(socket), now);
        let found = lives.into_iter().filter(|l| panes.contains(&l.place.tmux_pane));
        keys.extend(found.map(|l| l.session.clone()));
    }
    keys
}

/// Panes that active clients show, from lines of seconds and a pane.
fn seen(text: &str, now: Ms) -> BTreeSet<String> {
    let of = |line: &str| {
        let (seconds, pane) = line.split_once(' ')?;
        let at = seconds.parse::<Ms>().ok()?.saturating_mul(1000);
        (now.saturating_sub(at) <= ACTIVE_MS).then(|| pane.to_owned())
    };
    text.lines().filter_map(of).collect()
}

fn clients(socket: &str) -> String {
    let mut command = Command::new("tmux");
    if !socket.is_empty() {
        command.args(["-S", socket]);
    }
    // no server, no tmux, one that hangs: nobody looks
    program::answer(command.args(["list-clients", "-F", "#{client_activity} #{pane_id}"])).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n43_a_pane_counts_while_its_client_was_used_within_a_minute() {
        let now = 1_796_040_000_000;
        let text = "1796040000 %1\n1796039940 %2\n1796039939 %3\nodd\nx %4\n";
        assert_eq!(seen(text, now), BTreeSet::from(["%1".to_owned(), "%2".to_owned()]));
    }
}
