//! `watch`: the board again at each change.

use super::board::look;
use crate::board::Board;
use crate::cli::BoardArgs;
use crate::context::{Context, Failures, size};
use crate::format::{self, Form, Look, inert};
use crate::select::{Filter, select};
use crate::watch::change::{at_rest, between, keep_unknown, snapshot};
use crate::watch::places::places;
use crate::watch::screen;
use crate::watch::settle::Settle;
use crate::watch::wake::{Wake, Woken, end_by};
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
    if context.form == Form::Json {
        let text = "a watch has no end, so it is no JSON document; use --format jsonl";
        return Err(Refusal::new(Code::InvalidArgument, text));
    }
    if args.exit_status {
        return Err(Refusal::new(
            Code::InvalidArgument,
            "--exit-status does not go with a watch",
        ));
    }
    let filter = args
        .filter
        .filter(context.settings.show_all, std::env::current_dir().ok())?;
    let interval = span(args.repeat.interval.unwrap_or(context.settings.interval_ms)).max(PAUSE);
    let wake = Wake::new(places(&context.settings, &context.state))?;
    let in_place = context.form == Form::Human && screen::can(stdout().is_terminal(), std::env::var_os("TERM"));
    if in_place {
        write!(out, "{}", screen::ENTER)?;
    }
    let printer = Printer {
        context,
        args,
        filter: &filter,
        in_place,
        last: None,
    };
    let end = watch(context, &filter, interval, args.repeat.count, wake, printer, out);
    if in_place {
        // whatever went wrong, the terminal is given back
        write!(out, "{}", screen::LEAVE)?;
        out.flush()?;
    }
    if let Woken::Killed(signal) = end? {
        end_by(signal)?;
    }
    Ok(exit::DONE)
}

fn span(ms: Ms) -> Duration {
    Duration::from_millis(ms.max(0).unsigned_abs())
}

fn watch(
    context: &Context,
    filter: &Filter,
    interval: Duration,
    count: Option<u64>,
    mut wake: Wake,
    mut printer: Printer<'_>,
    out: &mut dyn Write,
) -> Result<Woken, Refusal> {
    let mut failures = Failures::default();
    let mut settle = Settle::default();
    let mut before: Option<Board> = None;
    let mut printed = 0;
    loop {
        let looked = Instant::now();
        let mut board = context.collect(filter.wants_ended());
        failures.tell(&board, context.form);
        let mut held = None;
        if let Some(before) = &before {
            board = keep_unknown(before, board);
            held = settle.hold(before, &mut board, looked);
        }
        if let Some(bytes) = printer.next(select(board.clone(), filter), &board)? {
            out.write_all(&bytes)?;
            out.flush()?;
            printed += 1;
            if count == Some(printed) {
                return Ok(Woken::Time);
            }
        }
        let limit = board.wake_ms.map(|at| span(at - board.now_ms));
        let limit = [Some(interval), limit, held]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(interval)
            .max(PAUSE);
        before = Some(board);
        match wake.wait(limit)? {
            // a burst of events is looked at once
            Woken::Files => std::thread::sleep(PAUSE.saturating_sub(looked.elapsed())),
            Woken::Time => wake.refresh(),
            Woken::Resized => {}
            end => return Ok(end),
        }
    }
}

/// Decides whether a board is printed, and how.
struct Printer<'a> {
    context: &'a Context,
    args: &'a BoardArgs,
    filter: &'a Filter,
    in_place: bool,
    last: Option<Last>,
}

/// What was printed last.
struct Last {
    board: Board,
    text: Vec<u8>,
}

impl Printer<'_> {
    /// What to write for the board that passed the filter; nothing if nobody would see a difference.
    fn next(&mut self, shown: Board, all: &Board) -> io::Result<Option<Vec<u8>>> {
        match self.context.form {
            Form::Jsonl => self.changes(shown, all),
            _ if self.in_place => self.frame(shown),
            _ => self.block(shown),
        }
    }

    fn changes(&mut self, shown: Board, all: &Board) -> io::Result<Option<Vec<u8>>> {
        let changes = self
            .last
            .as_ref()
            .map_or_else(|| snapshot(&shown), |last| between(&last.board, &shown, all));
        let first = self.last.is_none();
        self.last = Some(Last {
            board: shown,
            text: Vec::new(),
        });
        let mut lines = Vec::new();
        for mut change in changes {
            inert::session(&mut change.session);
            change.key.clone_from(&change.session.key);
            serde_json::to_writer(&mut lines, &change)?;
            lines.push(b'\n');
        }
        Ok((first || !lines.is_empty()).then_some(lines))
    }

    fn frame(&mut self, shown: Board) -> io::Result<Option<Vec<u8>>> {
        let (_, height) = size(true);
        let mut text = Vec::new();
        let look = Look {
            height,
            ..look(self.context, self.args, self.filter)
        };
        format::write(self.context.form, &shown, &look, &mut text)?;
        let text = screen::frame(&String::from_utf8_lossy(&text)).into_bytes();
        let news = self.last.as_ref().is_none_or(|last| last.text != text);
        self.last = Some(Last {
            board: shown,
            text: text.clone(),
        });
        Ok(news.then_some(text))
    }

    fn block(&mut self, shown: Board) -> io::Result<Option<Vec<u8>>> {
        let first = self.last.is_none();
        let mut look = look(self.context, self.args, self.filter);
        look.header &= first;
        let (mut text, mut rest) = (Vec::new(), Vec::new());
        if !first && matches!(self.context.form, Form::Human | Form::Tsv) {
            // blocks of several lines need something between them
            text.push(b'\n');
        }
        format::write(self.context.form, &shown, &look, &mut text)?;
        look.header = false;
        format::write(self.context.form, &at_rest(&shown), &look, &mut rest)?;
        let news = self.last.as_ref().is_none_or(|last| last.text != rest);
        self.last = Some(Last {
            board: shown,
            text: rest,
        });
        Ok(news.then_some(text))
    }
}
