//! The clock, spans on the command line, and the stamps that agents write.

use crate::refusal::{Code, Refusal};

/// Milliseconds since the epoch.
pub type Ms = i64;

/// The environment variable that replaces the clock, for tests and replays (ring(7), ENVIRONMENT).
pub const NOW_VARIABLE: &str = "RING_NOW_MS";

/// Now, or what `RING_NOW_MS` says. Only the edge of a program asks; everything that decides takes `now` as a value.
#[allow(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn now_ms() -> Ms {
    if let Some(ms) = std::env::var(NOW_VARIABLE).ok().and_then(|v| replaced(&v)) {
        return ms;
    }
    match std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
        Ok(since) => Ms::try_from(since.as_millis()).unwrap_or(Ms::MAX),
        Err(_) => 0,
    }
}

/// The last millisecond of the year 9999: the end of every calendar here.
const LAST: Ms = 253_402_300_799_999;

/// What the variable says; nonsense in it, and a time that no clock shows, do not count.
fn replaced(variable: &str) -> Option<Ms> {
    variable.trim().parse().ok().filter(|ms| (0..=LAST).contains(ms))
}

/// The longest span that the command line takes: 3650 days.
pub const MAX_SPAN_MS: Ms = 3650 * 86_400_000;

/// A span on the command line: a number with `ms`, `s`, `m`, `h` or `d`; a plain number is seconds. In milliseconds.
///
/// # Errors
/// `INVALID_ARGUMENT` if it is no number, not finite, negative or over [`MAX_SPAN_MS`].
pub fn parse_span(text: &str) -> Result<Ms, Refusal> {
    let bad = || {
        Refusal::new(
            Code::InvalidArgument,
            format!("bad duration {text:?}; write 500ms, 10s, 5m, 2h or 7d"),
        )
    };
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let factor = match unit {
        "ms" => 1.0,
        "" | "s" => 1000.0,
        "m" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return Err(bad()),
    };
    let value: f64 = number.trim().parse().map_err(|_| bad())?;
    let ms = value * factor;
    if !ms.is_finite() || ms < 0.0 || ms > MAX_SPAN_MS as f64 {
        return Err(bad());
    }
    Ok(ms.round() as Ms)
}

/// An ISO 8601 stamp with an offset or `Z`, as agents write them. None if it is anything else.
pub fn parse_iso(text: &str) -> Option<Ms> {
    text.trim().parse::<jiff::Timestamp>().ok().map(|t| t.as_millisecond())
}

/// A moment as ISO 8601 in UTC, to the millisecond, for logs. A moment that no calendar has is its number of milliseconds.
pub fn iso(ms: Ms) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |t| format!("{t:.3}"))
}

/// A span for people: `4s`, `12m`, `3h`, `2d`.
pub fn human_span(ms: Ms) -> String {
    let s = ms.max(0) / 1000;
    match s {
        0..60 => format!("{s}s"),
        60..3600 => format!("{}m", s / 60),
        3600..86_400 => format!("{}h", s / 3600),
        _ => format!("{}d", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spans_are_numbers_with_a_unit_and_plain_ones_are_seconds() {
        for (text, ms) in [
            ("0", 0),
            ("10", 10_000),
            ("1.5", 1_500),
            (".5", 500),
            ("500ms", 500),
            ("0.4ms", 0),
            ("10s", 10_000),
            ("5m", 300_000),
            ("2h", 7_200_000),
            ("7d", 604_800_000),
            (" 1 h ", 3_600_000),
            ("3650d", MAX_SPAN_MS),
        ] {
            assert_eq!(parse_span(text).unwrap(), ms, "{text:?}");
        }
    }

    #[test]
    fn c76_what_is_no_span_is_an_invalid_argument() {
        for text in [
            "",
            " ",
            "s",
            "x",
            "1x",
            "1w",
            "-1",
            "-1s",
            "inf",
            "infinity",
            "nan",
            "NaN",
            "1e3s",
            "1_000",
            "0x10",
            "1s2",
            "1 2",
            "3651d",
            "1e400",
            "99999999999999999999d",
            "١s",
            "1h30m",
            "--",
            "1\u{1b}[2J",
        ] {
            let refusal = parse_span(text).unwrap_err();
            assert_eq!(
                (refusal.code, refusal.code.exit()),
                (Code::InvalidArgument, 64),
                "{text:?}"
            );
            assert!(!refusal.message.contains('\u{1b}'));
        }
    }

    #[test]
    fn iso_stamps_need_an_offset() {
        let noon = 1_796_040_000_000;
        for text in [
            "2026-11-30T12:00:00Z",
            "2026-11-30T12:00:00.000Z",
            "2026-11-30T13:00:00+01:00",
            " 2026-11-30 12:00:00Z ",
        ] {
            assert_eq!(parse_iso(text), Some(noon), "{text:?}");
        }
        for text in [
            "",
            "2026-11-30",
            "2026-11-30T12:00:00",
            "noon",
            "2026-13-30T12:00:00Z",
            "1796040000000",
        ] {
            assert_eq!(parse_iso(text), None, "{text:?}");
        }
        assert_eq!(parse_iso("2026-11-30T12:00:00.123456789Z"), Some(noon + 123));
        assert_eq!(iso(noon), "2026-11-30T12:00:00.000Z");
        assert_eq!(iso(Ms::MAX), Ms::MAX.to_string());
    }

    #[test]
    fn spans_for_people_have_one_unit() {
        for (ms, text) in [
            (-5, "0s"),
            (999, "0s"),
            (59_999, "59s"),
            (60_000, "1m"),
            (3_599_999, "59m"),
            (3_600_000, "1h"),
            (86_399_999, "23h"),
            (86_400_000, "1d"),
        ] {
            assert_eq!(human_span(ms), text);
        }
    }

    #[test]
    fn c70_the_variable_replaces_the_clock_and_nonsense_in_it_does_not() {
        assert_eq!(replaced("1796040000000"), Some(1_796_040_000_000));
        assert_eq!(replaced(" 5\n"), Some(5));
        for odd in ["soon", "-1", "-9223372036854775808", "9223372036854775807", "1e9", ""] {
            assert_eq!(replaced(odd), None, "{odd}");
        }
        assert!(now_ms() > 1_600_000_000_000);
    }

    proptest! {
        #[test]
        fn any_text_is_a_span_within_the_limit_or_refused(text in "\\PC{0,12}|[0-9.]{1,9}(ms|s|m|h|d)?") {
            if let Ok(ms) = parse_span(&text) {
                prop_assert!((0..=MAX_SPAN_MS).contains(&ms));
            }
        }

        #[test]
        fn what_is_printed_as_iso_is_read_back(ms in -62_000_000_000_000i64..253_000_000_000_000) {
            prop_assert_eq!(parse_iso(&iso(ms)), Some(ms));
        }

        #[test]
        fn any_text_is_a_stamp_or_not(text in "\\PC{0,40}") {
            parse_iso(&text);
        }
    }
}
