//! What a terminal is told: bytes of each sequence. No text can end one: controls are taken out of it here once more.

use crate::message::Message;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ring_session::text;

const ESC: u8 = 0x1b;
const BEL: &str = "\x07";
/// The end of a string: ST.
const END: &str = "\x1b\\";
/// Bytes of a text in one chunk of OSC 99, at most.
const CHUNK: usize = 2048;

/// A sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// BEL.
    Bell,
    /// OSC 9: one text.
    Osc9,
    /// OSC 777: title and body.
    Osc777,
    /// OSC 99: title and body, Base64, and an id.
    Osc99,
}

impl Sequence {
    /// The bytes.
    pub fn bytes(self, message: &Message) -> Vec<u8> {
        match self {
            Sequence::Bell => BEL.to_owned(),
            Sequence::Osc9 => format!("\x1b]9;{}{BEL}", no_command(&one_line(message))),
            Sequence::Osc777 => {
                let title = text::for_terminal(&message.title).replace(';', ",");
                let body = text::for_terminal(&message.line());
                format!("\x1b]777;notify;{title};{body}{BEL}")
            }
            Sequence::Osc99 => osc99(message),
        }
        .into_bytes()
    }
}

/// Title and body on one line.
pub fn one_line(message: &Message) -> String {
    let (title, body) = (text::for_terminal(&message.title), text::for_terminal(&message.line()));
    match body.is_empty() {
        true => title,
        false => format!("{title} · {body}"),
    }
}

/// In OSC 9, digits and `;` at the beginning are a command of ConEmu and others.
fn no_command(text: &str) -> String {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.len() < text.len() && rest.starts_with(';') {
        true => format!(" {text}"),
        false => text.to_owned(),
    }
}

fn osc99(message: &Message) -> String {
    let id: String = message.facts.id.chars().map(id_character).collect();
    let urgent = if message.facts.urgent { ":u=2" } else { "" };
    let lines: Vec<String> = message.body.iter().map(|line| text::for_terminal(line)).collect();
    let body = lines.join("\n");
    let title = text::for_terminal(&message.title);
    let mut chunks: Vec<(&str, &str)> = chunks(&title).into_iter().map(|c| ("title", c)).collect();
    chunks.extend(self::chunks(&body).into_iter().map(|c| ("body", c)));
    let last = chunks.len().saturating_sub(1);
    let chunk = |(n, (part, text)): (usize, &(&str, &str))| {
        let done = u8::from(n == last);
        let text = BASE64_STANDARD.encode(text);
        format!("\x1b]99;i={id}:d={done}:e=1:p={part}{urgent};{text}{END}")
    };
    chunks.iter().enumerate().map(chunk).collect()
}

/// Characters that an id of OSC 99 may have.
fn id_character(c: char) -> char {
    match c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '.') {
        true => c,
        false => '-',
    }
}

/// The text in pieces that a terminal takes, cut between characters.
fn chunks(mut text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    while !text.is_empty() {
        let (chunk, rest) = text.split_at(text.floor_char_boundary(CHUNK));
        out.push(chunk);
        text = rest;
    }
    out
}

/// For a pane of tmux: what tmux hands on to the terminal around it.
pub fn through_tmux(bytes: &[u8]) -> Vec<u8> {
    let mut out = b"\x1bPtmux;".to_vec();
    for byte in bytes {
        if *byte == ESC {
            out.push(ESC);
        }
        out.push(*byte);
    }
    out.extend(END.bytes());
    out
}
