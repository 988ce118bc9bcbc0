//! `hook`: a hook entry behind `ring-hook --emit`. It prints nothing and exits 0, whatever happens.

use ring_session::command_line::Place;
use ring_session::hooked::{self, Event, Texts};
use ring_session::work::Here;
use ring_session::{Refusal, Store, error_log, exit};
use std::io::{BufRead, Read};

/// A line is read up to this size, in bytes; an event line is far below it.
const LINE_BYTES: u64 = 4 * 1024 * 1024;

/// Runs it; gives the exit status.
pub fn run(place: &Place, here: Here) -> u8 {
    let mut line = Vec::new();
    let read = std::io::stdin().lock().take(LINE_BYTES).read_until(b'\n', &mut line);
    let now = here.now;
    // no line: an ignored payload; nothing to do
    if read.is_err() || line.iter().all(u8::is_ascii_whitespace) {
        return exit::DONE;
    }
    let Some(event) = Event::read(&line) else {
        return exit::DONE;
    };
    let settings = place.settings().0;
    let texts = Texts {
        rows: settings.session.hook_text && settings.store_details,
        title: settings.store_details,
    };
    let store = Store::for_hook(place.state(), here);
    let ring_session = std::env::var("RING_SESSION").ok();
    let result: Result<(), Refusal> = hooked::apply(&store, &event, ring_session.as_deref(), texts);
    if let Err(refusal) = result {
        // with the log out of reach too, there is nobody left to tell
        error_log::note(store.state(), now, refusal.code, &event.agent, &event.event, line.len()).unwrap_or_default();
    }
    exit::DONE
}
