//! The little of WebSocket (RFC 6455) that one short conversation over a Unix socket needs: an upgrade request, masked
//! text frames out, whole text messages in. Pure: bytes in, bytes out.
//!
//! A library for it would bring an HTTP parser, SHA-1 and a random generator for a peer that is a local file. Masks
//! protect proxies from scripts in browsers; there is neither here, so the mask is all zeros, which the standard allows.

/// Longest message that is taken, in bytes. A garbled length must not make anybody wait or allocate.
pub const MAX_MESSAGE: usize = 4 * 1024 * 1024;

/// Asks for the upgrade. The key is the standard's own example: the answer to it is not checked, because whoever may
/// write into the agent's home may do worse than answer here.
pub const UPGRADE: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// What the beginning of the answer to [`UPGRADE`] says.
#[derive(Debug, PartialEq, Eq)]
pub enum Upgrade {
    /// More bytes are needed.
    Partial,
    /// Frames follow from this offset.
    Done(usize),
    /// No WebSocket is spoken here.
    Refused,
}

/// Reads the answer to [`UPGRADE`].
pub fn upgrade(bytes: &[u8]) -> Upgrade {
    const STATUS: &[u8] = b"HTTP/1.1 101";
    const LONGEST: usize = 16 * 1024;
    let seen = bytes.len().min(STATUS.len());
    if bytes[..seen] != STATUS[..seen] {
        return Upgrade::Refused;
    }
    match bytes.windows(4).position(|w| w == b"\r\n\r\n") {
        Some(at) => Upgrade::Done(at + 4),
        None if bytes.len() > LONGEST => Upgrade::Refused,
        None => Upgrade::Partial,
    }
}

/// One masked text frame.
pub fn text_frame(text: &str) -> Vec<u8> {
    let size = text.len();
    let mut frame = vec![0x81];
    match (u8::try_from(size), u16::try_from(size)) {
        (Ok(small @ 0..=125), _) => frame.push(0x80 | small),
        (_, Ok(medium)) => {
            frame.push(0x80 | 126);
            frame.extend(medium.to_be_bytes());
        }
        _ => {
            frame.push(0x80 | 127);
            frame.extend((size as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(text.as_bytes());
    frame
}

/// One frame as it came.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    /// More bytes are needed.
    Partial,
    /// A piece of a message.
    Piece {
        /// Its content.
        payload: Vec<u8>,
        /// It is the last piece.
        last: bool,
        /// Offset behind the frame.
        end: usize,
    },
    /// Ping, pong and others that say nothing here; the offset behind.
    Other(usize),
    /// The peer closes.
    Close,
    /// Longer than [`MAX_MESSAGE`], or no frame at all.
    Bad,
}

/// Reads the first frame of `bytes`.
pub fn frame(bytes: &[u8]) -> Frame {
    let &[first, second, ref rest @ ..] = bytes else {
        return Frame::Partial;
    };
    let (opcode, masked) = (first & 0x0f, second & 0x80 != 0);
    if first & 0x70 != 0 || !matches!(opcode, 0..=2 | 8..=10) {
        return Frame::Bad;
    }
    let (size, used) = match second & 0x7f {
        126 => match rest.first_chunk::<2>() {
            Some(n) => (u64::from(u16::from_be_bytes(*n)), 4),
            None => return Frame::Partial,
        },
        127 => match rest.first_chunk::<8>() {
            Some(n) => (u64::from_be_bytes(*n), 10),
            None => return Frame::Partial,
        },
        small => (u64::from(small), 2),
    };
    let Some(size) = usize::try_from(size).ok().filter(|s| *s <= MAX_MESSAGE) else {
        return Frame::Bad;
    };
    let start = used + if masked { 4 } else { 0 };
    let end = start + size;
    let Some(content) = bytes.get(start..end) else {
        return Frame::Partial;
    };
    let mask = if masked { &bytes[used..start] } else { &[0][..] };
    match opcode {
        8 => Frame::Close,
        9 | 10 => Frame::Other(end),
        _ => Frame::Piece {
            payload: content.iter().zip(mask.iter().cycle()).map(|(b, m)| b ^ m).collect(),
            last: first & 0x80 != 0,
            end,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_answer_is_awaited_to_its_blank_line_and_refused_by_its_first_bytes() {
        let answer = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x02{}";
        assert_eq!(upgrade(answer), Upgrade::Done(answer.len() - 4));
        assert_eq!(upgrade(&answer[..20]), Upgrade::Partial);
        assert_eq!(upgrade(b""), Upgrade::Partial);
        assert_eq!(upgrade(b"HTTP/1.1 404 Not Found\r\n\r\n"), Upgrade::Refused);
        assert_eq!(upgrade(b"garbage"), Upgrade::Refused);
        assert_eq!(
            upgrade(&[b"HTTP/1.1 101 ".as_slice(), &[b'x'; 20_000]].concat()),
            Upgrade::Refused
        );
    }

    #[test]
    fn unknown_opcodes_reserved_bits_and_giant_lengths_are_bad() {
        assert_eq!(frame(&[0x83, 0]), Frame::Bad);
        assert_eq!(frame(&[0xc1, 0]), Frame::Bad);
        assert_eq!(
            frame(&[0x81, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
            Frame::Bad
        );
        assert_eq!(frame(&[0x88, 0]), Frame::Close);
        assert_eq!(frame(&[0x89, 1, b'x']), Frame::Other(3));
    }

    proptest! {
        #[test]
        fn what_is_framed_is_read_back_at_every_length(n in prop_oneof![0..200usize, 65_000..66_000usize], extra in 0..3usize) {
            let text = "x".repeat(n);
            let mut bytes = text_frame(&text);
            let end = bytes.len();
            prop_assert_eq!(frame(&bytes[..end - 1]), Frame::Partial);
            bytes.extend(vec![0x81; extra]);
            prop_assert_eq!(frame(&bytes), Frame::Piece { payload: text.into_bytes(), last: true, end });
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            frame(&bytes);
            upgrade(&bytes);
        }
    }
}
