//! The clock, spans on the command line, and the stamps that agents write.

use crate::refusal::{Code, Refusal};

/// Milliseconds since the epoch.
pub type Ms = i64;

/// The environment variable that replaces the clock, for tests and replays (ring(7), ENVIRONMENT).
pub const NOW_VARIABLE: &str = "RING_NOW_MS";

/// Now, or what `RING_NOW_MS` says. Only the edge of a program asks; everything that decides takes `now` as a value.
#[allow(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn now_ms() -> Ms {
    if let Some(ms) = std::env::var(NOW_VARIABLE).ok().and_then(|v| v.trim().parse().ok()) {
        return ms;
    }
    match std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
        Ok(since) => Ms::try_from(since.as_millis()).unwrap_or(Ms::MAX),
        Err(_) => 0,
    }
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

/// A moment as ISO 8601 in UTC, for logs. A moment that no calendar has is its number of milliseconds.
pub fn iso(ms: Ms) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| ms.to_string(), |t| t.to_string())
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
