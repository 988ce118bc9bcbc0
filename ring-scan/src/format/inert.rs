//! Texts of a board made harmless: no control character, escape sequence or bidirectional control is left in any.

use crate::board::{Board, Session, Waiting};
use ring_session::text;

/// Longest title, in characters (ring(5), STATUS ROW).
const TITLE: usize = 200;
/// Longest detail of a request and longest last action.
const DETAIL: usize = 160;
/// Longest name that a person gives.
const NAME: usize = 60;

/// The same board with every text cleaned.
pub fn board(board: &Board) -> Board {
    let mut board = board.clone();
    clean(&mut board.host);
    for source in &mut board.sources {
        clean(&mut source.name);
        clean(&mut source.error);
    }
    board.sessions.iter_mut().for_each(session);
    board
}

/// Cleans every text of one session.
pub fn session(s: &mut Session) {
    for (text, limit) in [(&mut s.title, TITLE), (&mut s.last_action, DETAIL), (&mut s.name, NAME)] {
        *text = text::clean(text, limit);
    }
    for text in [
        &mut s.key,
        &mut s.agent,
        &mut s.session_id,
        &mut s.kind,
        &mut s.status,
        &mut s.project,
        &mut s.note,
        &mut s.origin_cwd,
        &mut s.cwd,
        &mut s.location,
        &mut s.tmux_target,
        &mut s.tmux_pane,
        &mut s.tty,
        &mut s.model,
        &mut s.process.state,
        &mut s.rule,
        &mut s.record,
        &mut s.host,
    ] {
        clean(text);
    }
    s.sources.iter_mut().for_each(clean);
    s.evidence.iter_mut().for_each(clean);
    s.waiting.iter_mut().for_each(waiting);
    s.chain.waits.iter_mut().for_each(waiting);
    s.chain.paths.iter_mut().for_each(clean);
    for (id, kind, state) in &mut s.chain.children {
        [id, kind, state].into_iter().for_each(clean);
    }
    for fact in &mut s.chain.facts {
        clean(&mut fact.source);
        clean(&mut fact.fact);
    }
    for tried in &mut s.chain.rules {
        clean(&mut tried.rule);
        clean(&mut tried.why);
    }
}

fn waiting(w: &mut Waiting) {
    w.detail = text::clean(&w.detail, DETAIL);
    for text in [&mut w.id, &mut w.kind, &mut w.owner, &mut w.owner_type] {
        clean(text);
    }
}

fn clean(text: &mut String) {
    // most texts are short and clean already: no copy for those
    if !text.bytes().all(|b| (0x21..0x7f).contains(&b)) {
        *text = text::for_terminal(text);
    }
}
