//! The commands: each reads a board and prints.

pub mod board;
pub mod config;
pub mod doctor;
pub mod explain;
pub mod show;
pub mod watch;

use crate::board::{Board, Session};
use crate::context::Context;
use crate::select;
use ring_session::{Code, Refusal};
use std::io::{BufRead, stdin};

/// The session that `id` means on `board`; `-`: the first word of stdin.
fn find<'a>(board: &'a Board, id: &str) -> Result<&'a Session, Refusal> {
    match id {
        "-" => select::find(&board.sessions, &first_word()?),
        _ => select::find(&board.sessions, id),
    }
}

fn first_word() -> Result<String, Refusal> {
    let mut line = Vec::new();
    let mut input = stdin().lock();
    while input.read_until(b'\n', &mut line)? > 0 {
        if let Some(word) = String::from_utf8_lossy(&line).split_whitespace().next() {
            return Ok(word.to_owned());
        }
        line.clear();
    }
    Err(Refusal::new(Code::InvalidArgument, "no id on stdin"))
}

/// Every session that there is, also the ended ones.
fn everything(context: &Context) -> Board {
    let board = context.collect(true);
    crate::context::Failures::default().tell(&board, crate::format::Form::Json);
    board
}
