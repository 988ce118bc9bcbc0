//! `watch`: the board again at each change.

use super::board::look;
use crate::board::Board;
use crate::cli::BoardArgs;
use crate::context::{Context, Failures, size};
use crate::format::{Form, Look};
use crate::select::{Filter, select};
use crate::watch::change::keep_unknown;
use crate::watch::places::places;
use crate::watch::printer::{Printer, Way};
use crate::watch::screen;
use crate::watch::settle::Settle;
use crate::watch::wake::{Wake, Woken, end_by, suspend};
use ring_session::time::Ms;
use ring_session::{Code, Refusal, exit};
use std::io::{self, IsTerminal, Write, stdout};
use std::time::{Duration, Instant};

/// Boards are read at most this often, however many files change.
const PAUSE: Duration = Duration::from_millis(50);

/// Prints until it is interrupted, nobody reads any more, or `--count` is reached.
///
/// # Errors
/// `INVALID_ARGUMENT` for `--format json`, which is one document; `IO` if the output cannot be written.
pub fn run(context: &Context, args: &BoardArgs, out: &mut dyn Write) -> Result<u8, Refusal> {
    let refused = |text| Err(Refusal::new(Code::InvalidArgument, text));
    if context.form == Form::Json {
        return refused("a watch has no end, so it is no JSON document; use --format jsonl");
    }
    if args.exit_status {
        return refused("--exit-status does not go with a watch");
    }
    let filter = args
        .filter
        .filter(context.settings.show_all, std::env::current_dir().ok())?;
    let printer = Printer::new(
        context.form,
        screen::can(stdout().is_terminal(), std::env::var_os("TERM")),
    );
    let in_place = printer.way() == Way::Frames;
    let mut watch = Watch {
        context,
        args,
        filter,
        interval: span(args.repeat.interval.unwrap_or(context.settings.interval_ms)).max(PAUSE),
        wake: Wake::new(in_place)?,
        printer,
        in_place,
        left: args.repeat.count,
    };
    watch.screen(screen::ENTER, out)?;
    let end = watch.until_end(out);
    // whatever went wrong, the terminal is given back
    watch.screen(screen::LEAVE, out)?;
    if let Woken::Killed(signal) = end? {
        end_by(signal)?;
    }
    Ok(exit::DONE)
}

fn span(ms: Ms) -> Duration {
    Duration::from_millis(ms.max(0).unsigned_abs())
}

struct Watch<'a> {
    context: &'a Context,
    args: &'a BoardArgs,
    filter: Filter,
    interval: Duration,
    wake: Wake,
    printer: Printer,
    in_place: bool,
    /// Times that are still to be printed; none: without end.
    left: Option<u64>,
}

impl Watch<'_> {
    fn until_end(&mut self, out: &mut dyn Write) -> Result<Woken, Refusal> {
        let mut failures = Failures::default();
        let mut settle = Settle::default();
        let mut before: Option<Board> = None;
        loop {
            // first listen, then look: what changes in between is not missed
            let homes = before.as_ref().map_or(&[][..], |b| &b.homes);
            self.wake
                .watch(places(&self.context.settings, &self.context.state, homes));
            let looked = Instant::now();
            let mut board = self.context.collect(self.filter.wants_ended());
            failures.tell(&board, self.context.form);
            let mut held = None;
            if let Some(before) = &before {
                board = keep_unknown(before, board);
                held = settle.hold(before, &mut board, looked);
            }
            if self.print(&board, out)? && self.left == Some(0) {
                return Ok(Woken::Time);
            }
            let change = board.wake_ms.map(|at| span(at - board.now_ms));
            let limits = [Some(self.interval), change, held].into_iter().flatten();
            let limit = limits.fold(self.interval, Duration::min).max(PAUSE);
            before = Some(board);
            match self.wake.wait(limit)? {
                // a burst of events is looked at once
                Woken::Files => std::thread::sleep(PAUSE.saturating_sub(looked.elapsed())),
                Woken::Time | Woken::Resized => {}
                Woken::Suspended => self.step_aside(out)?,
                end => return Ok(end),
            }
        }
    }

    /// Prints if there is news; tells whether it did.
    fn print(&mut self, board: &Board, out: &mut dyn Write) -> Result<bool, Refusal> {
        let look = Look {
            height: size(self.in_place).1,
            ..look(self.context, self.args, &self.filter)
        };
        let Some(bytes) = self.printer.next(select(board.clone(), &self.filter), board, &look)? else {
            return Ok(false);
        };
        out.write_all(&bytes)?;
        out.flush()?;
        self.left = self.left.map(|n| n.saturating_sub(1));
        Ok(true)
    }

    fn screen(&self, sequence: &str, out: &mut dyn Write) -> io::Result<()> {
        match self.in_place {
            true => write!(out, "{sequence}").and_then(|()| out.flush()),
            false => Ok(()),
        }
    }

    /// Gives the terminal back, stops, and draws again when it goes on.
    fn step_aside(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.screen(screen::LEAVE, out)?;
        suspend()?;
        self.printer.forget();
        self.screen(screen::ENTER, out)
    }
}
