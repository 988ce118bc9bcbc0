//! `ring-scan`: the board, once.

use crate::board::Board;
use crate::cli::BoardArgs;
use crate::context::{Context, Failures};
use crate::format::{self, Form, Look};
use crate::select::{Filter, select};
use ring_session::{Code, Refusal, exit};
use std::io::Write;

/// Prints the board; with `--exit-status` 1 if no row passes.
///
/// # Errors
/// `INVALID_ARGUMENT`; `IO` if the output cannot be written.
pub fn run(context: &Context, args: &BoardArgs, out: &mut dyn Write) -> Result<u8, Refusal> {
    if args.repeat.interval.is_some() || args.repeat.count.is_some() {
        return Err(Refusal::new(
            Code::InvalidArgument,
            "--interval and --count go with --watch",
        ));
    }
    let filter = args
        .filter
        .filter(context.settings.show_all, std::env::current_dir().ok())?;
    let board = context.collect(filter.wants_ended());
    Failures::default().tell(&board, context.form);
    args.filter.hint(&board);
    let mut board = select(board, &filter);
    if board.sessions.is_empty() && context.form == Form::Human && !filter.wants_ended() {
        // only whoever looks for all learns of those that ended long ago
        board.over = context.collect(true).counts.ended;
    }
    format::write(context.form, &board, &look(context, args, &filter, &board), out)?;
    Ok(match args.exit_status && board.sessions.is_empty() {
        true => exit::NO,
        false => exit::DONE,
    })
}

/// The look of `board`, which `filter` made.
pub fn look(context: &Context, args: &BoardArgs, filter: &Filter, board: &Board) -> Look {
    Look {
        over: board.over,
        all: filter.wants_ended(),
        filtered: filter.leaves_out(),
        header: args.filter.header,
        ..context.look()
    }
}
