//! `watch`: the board again at each change.

use super::board::look;
use crate::board::Board;
use crate::cli::BoardArgs;
use crate::context::{Context, Failures, size};
use crate::format::{self, Form};
use crate::select::{Filter, select};
use crate::watch::change::{aged, keep_unknown};
use crate::watch::places;
use crate::watch::printer::{Printer, Way};
use crate::watch::rest::Rest;
use crate::watch::screen;
use crate::watch::settle::Settle;
use crate::watch::wake::{Wake, Woken, end_by, suspend};
use ring_session::time::{Ms, now_ms};
use ring_session::{Code, Refusal, exit};
use std::io::{self, IsTerminal, Write, stdout};
use std::path::PathBuf;
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
        homes: Vec::new(),
    };
    watch.screen(screen::ENTER, out)?;
    let end = watch.until_end(out);
    if !matches!(end, Ok(Woken::ReaderGone)) {
        // whatever went wrong, the terminal is given back; if that fails it is gone, and nobody is there to be told
        watch.screen(screen::LEAVE, out).unwrap_or_default();
    }
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
    /// Homes whose folders of records are listened to.
    homes: Vec<PathBuf>,
}

/// One look at everything.
struct Look {
    looked: Instant,
    /// When something changes by the mere passing of time.
    due: Option<Instant>,
    /// What the next look is compared with; none: it cannot be known whether something has changed.
    rest: Option<Rest>,
}

impl Watch<'_> {
    fn until_end(&mut self, out: &mut dyn Write) -> Result<Woken, Refusal> {
        let mut failures = Failures::default();
        let mut settle = Settle::default();
        let mut before: Option<Board> = None;
        loop {
            // first listen, then look: what changes in between is not missed
            self.listen(before.as_ref());
            self.wake.take_changed();
            let rest = Rest::begin();
            let looked = Instant::now();
            let mut board = self.context.collect(self.filter.wants_ended());
            failures.tell(&board, self.context.form);
            if before.is_none() {
                self.args.filter.hint(&board);
            }
            let mut held = None;
            if let Some(before) = &before {
                board = keep_unknown(before, board);
                held = settle.hold(before, &mut board, looked);
            }
            let heard = self.listen(Some(&board));
            let change = board.wake_ms.map(|at| span(at.saturating_sub(board.now_ms)));
            let due = [change, held].into_iter().flatten().min();
            let look = Look {
                looked,
                due: due.map(|d| looked + d.max(PAUSE)),
                rest: Some(rest).filter(|_| heard),
            };
            if let Some(end) = self.until_news(&mut board, &look, out)? {
                return Ok(end);
            }
            before = Some(board);
        }
    }

    /// Prints, and waits until there may be something new to read. The reason to end, if there is one.
    fn until_news(&mut self, board: &mut Board, look: &Look, out: &mut dyn Write) -> Result<Option<Woken>, Refusal> {
        self.print(board, out)?;
        while self.left != Some(0) {
            let polled = Instant::now() + self.interval;
            let until = look.due.map_or(polled, |due| due.min(polled));
            match self.wake.wait(until.saturating_duration_since(Instant::now()))? {
                Woken::Files => {
                    // a burst of events is looked at once
                    std::thread::sleep(PAUSE.saturating_sub(look.looked.elapsed()));
                    return Ok(None);
                }
                Woken::Time => {
                    let due = look.due.is_some_and(|due| due <= Instant::now());
                    let changed = self.wake.take_changed();
                    if due || !look.rest.as_ref().is_some_and(|rest| rest.holds(changed)) {
                        return Ok(None);
                    }
                    *board = aged(board, now_ms());
                }
                Woken::Resized => {}
                Woken::Suspended => self.step_aside(out)?,
                end => return Ok(Some(end)),
            }
            if self.in_place {
                self.print(board, out)?;
            }
        }
        Ok(Some(Woken::Time))
    }

    /// Listens to what `board` rests on; tells whether it was listened to already, all of it.
    fn listen(&mut self, board: Option<&Board>) -> bool {
        let homes = board.map_or(&[][..], |b| &b.homes);
        let mut places = places::waking(&self.context.settings, &self.context.state, homes);
        let sessions = board.iter().flat_map(|b| &b.sessions);
        places.extend(places::of_transcripts(sessions.flat_map(|s| &s.chain.paths)));
        if self.wake.take_moved() || self.homes != homes {
            places.extend(places::of_records(homes));
            self.homes = homes.to_vec();
        }
        self.wake.listen(places)
    }

    /// Prints if there is news.
    fn print(&mut self, board: &Board, out: &mut dyn Write) -> Result<(), Refusal> {
        let look = format::Look {
            height: size(self.in_place).1,
            ..look(self.context, self.args, &self.filter, board)
        };
        let Some(bytes) = self.printer.next(select(board.clone(), &self.filter), board, &look)? else {
            return Ok(());
        };
        out.write_all(&bytes)?;
        out.flush()?;
        self.left = self.left.map(|n| n.saturating_sub(1));
        Ok(())
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
