//! Whether a board is printed again, and what is written then: a line a change, a block, or a frame on a terminal.

use super::change::{at_rest, between, snapshot};
use super::screen;
use crate::board::Board;
use crate::format::{self, Form, Look, inert};
use std::io;

/// How a watch writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `jsonl`: one line a change.
    Changes,
    /// In place on a terminal.
    Frames,
    /// The whole board again.
    Blocks,
}

/// Remembers what was printed last.
#[derive(Debug)]
pub struct Printer {
    form: Form,
    way: Way,
    last: Option<Last>,
}

#[derive(Debug)]
struct Last {
    board: Board,
    text: Vec<u8>,
}

impl Printer {
    /// Nothing is printed yet. `screen`: the output can be drawn on.
    pub fn new(form: Form, screen: bool) -> Printer {
        let way = match form {
            Form::Jsonl => Way::Changes,
            Form::Human if screen => Way::Frames,
            _ => Way::Blocks,
        };
        Printer { form, way, last: None }
    }

    /// How it writes.
    pub fn way(&self) -> Way {
        self.way
    }

    /// The screen was somebody else's meanwhile: the next board is drawn whatever it is.
    pub fn forget(&mut self) {
        self.last = None;
    }

    /// What to write for `shown`, the board that passed the filter; nothing if nobody would see a difference. `all` is
    /// the board before the filter.
    ///
    /// # Errors
    /// None in practice: it writes to memory.
    pub fn next(&mut self, shown: Board, all: &Board, look: &Look) -> io::Result<Option<Vec<u8>>> {
        match self.way {
            Way::Changes => self.changes(shown, all),
            Way::Frames => self.frame(shown, look),
            Way::Blocks => self.block(shown, look),
        }
    }

    fn changes(&mut self, shown: Board, all: &Board) -> io::Result<Option<Vec<u8>>> {
        let changes = match &self.last {
            None => snapshot(&shown),
            Some(last) => between(&last.board, &shown, all),
        };
        let mut lines = Vec::new();
        for mut change in changes {
            inert::session(&mut change.session);
            change.key.clone_from(&change.session.key);
            serde_json::to_writer(&mut lines, &change)?;
            lines.push(b'\n');
        }
        let first = self.last.is_none();
        self.last = Some(Last {
            board: shown,
            text: Vec::new(),
        });
        Ok((first || !lines.is_empty()).then_some(lines))
    }

    fn frame(&mut self, shown: Board, look: &Look) -> io::Result<Option<Vec<u8>>> {
        let mut text = Vec::new();
        format::write(self.form, &shown, look, &mut text)?;
        let text = screen::frame(&String::from_utf8_lossy(&text)).into_bytes();
        let news = self.last.as_ref().is_none_or(|last| last.text != text);
        self.last = Some(Last {
            board: shown,
            text: text.clone(),
        });
        Ok(news.then_some(text))
    }

    fn block(&mut self, shown: Board, look: &Look) -> io::Result<Option<Vec<u8>>> {
        let (mut text, mut rest) = (Vec::new(), Vec::new());
        let first = self.last.is_none();
        if !first && matches!(self.form, Form::Human | Form::Tsv) {
            // blocks of several lines need something between them
            text.push(b'\n');
        }
        let look = Look {
            header: look.header && first,
            ..look.clone()
        };
        format::write(self.form, &shown, &look, &mut text)?;
        let plain = Look { header: false, ..look };
        format::write(self.form, &at_rest(&shown), &plain, &mut rest)?;
        let news = self.last.as_ref().is_none_or(|last| last.text != rest);
        self.last = Some(Last {
            board: shown,
            text: rest,
        });
        Ok(news.then_some(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{Session, count};

    fn board(status: &str, age_ms: i64) -> Board {
        let sessions = vec![Session {
            key: "a:b".into(),
            status: status.into(),
            age_ms,
            title: "t\u{1b}[31m".into(),
            ..Session::default()
        }];
        Board {
            counts: count(&sessions),
            sessions,
            ..Board::default()
        }
    }

    fn printed(printer: &mut Printer, board: &Board) -> Option<String> {
        let look = Look {
            header: true,
            ..Look::default()
        };
        let bytes = printer.next(board.clone(), board, &look).unwrap();
        bytes.map(|b| String::from_utf8(b).unwrap())
    }

    #[test]
    fn a_block_is_printed_again_for_more_than_an_age() {
        let mut printer = Printer::new(Form::Tsv, true);
        assert!(
            printed(&mut printer, &board("idle", 1000))
                .unwrap()
                .starts_with("key\t")
        );
        assert_eq!(printed(&mut printer, &board("idle", 9000)), None);
        let next = printed(&mut printer, &board("working", 0)).unwrap();
        assert!(next.starts_with("\na:b\tworking"), "{next:?}");
    }

    #[test]
    fn a_frame_is_drawn_again_for_an_age_too() {
        let mut printer = Printer::new(Form::Human, true);
        assert_eq!(printer.way(), Way::Frames);
        assert!(
            printed(&mut printer, &board("idle", 1000))
                .unwrap()
                .starts_with("\u{1b}[H1 session")
        );
        assert_eq!(printed(&mut printer, &board("idle", 1000)), None);
        assert!(printed(&mut printer, &board("idle", 2000)).is_some());
        printer.forget();
        assert!(printed(&mut printer, &board("idle", 2000)).is_some());
    }

    #[test]
    fn c53_lines_of_changes_are_inert() {
        let mut printer = Printer::new(Form::Jsonl, true);
        let line = printed(&mut printer, &board("idle", 1000)).unwrap();
        assert!(line.contains("\"title\":\"t\"") && line.ends_with("}\n"), "{line}");
        assert_eq!(printed(&mut printer, &board("idle", 2000)), None);
    }

    #[test]
    fn an_empty_first_board_counts_as_printed() {
        let empty = Board::default();
        assert_eq!(
            printed(&mut Printer::new(Form::Jsonl, false), &empty).as_deref(),
            Some("")
        );
        assert_eq!(
            printed(&mut Printer::new(Form::Oneline, false), &empty).as_deref(),
            Some("\n")
        );
    }
}
