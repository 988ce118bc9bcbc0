//! A defect of ours must not end as a page of backtrace in a person's terminal or in an agent's transcript.

use crate::refusal::{Code, Refusal};
use signal_hook::consts::SIGXFSZ;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once};

/// How many [`caught`] run at the moment, in all threads; while one does, panics are silent.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
static HOOK: Once = Once::new();

thread_local! {
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `f`; a panic in it becomes `INTERNAL`, whatever `RUST_BACKTRACE` says.
///
/// The text names the place in the source. Of the panic's own message only a literal is kept: one that was put together
/// at run time may quote what the program was reading. Panics of other threads are silent meanwhile too.
///
/// # Errors
/// Those of `f`, and `INTERNAL`.
pub fn caught<T>(f: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
    HOOK.call_once(|| {
        // a file over a limit of the shell (ulimit -f) is an error like a full disk, and no reason to die: the handler is
        // there only so that the signal does nothing
        let heeded = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
        heeded.map(|_| ()).unwrap_or_default();
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if RUNNING.load(Ordering::Relaxed) == 0 {
                return before(info);
            }
            let at = info.location().map(|l| format!("{}:{}", l.file(), l.line()));
            PLACE.set(at.unwrap_or_default());
        }));
    });
    RUNNING.fetch_add(1, Ordering::Relaxed);
    let result = catch_unwind(AssertUnwindSafe(f));
    RUNNING.fetch_sub(1, Ordering::Relaxed);
    result.unwrap_or_else(|payload| {
        let what = payload.downcast_ref::<&'static str>().map(|s| format!(": {s}"));
        let (at, what) = (PLACE.take(), what.unwrap_or_default());
        Err(Refusal::new(
            Code::Internal,
            format!("unexpected failure at {at}{what}; please report it"),
        ))
    })
}
