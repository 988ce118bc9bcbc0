//! Moments as people read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ring_session::time::Ms;

/// A moment of the local day, for people: `14:30`, or with its date if it is another day's.
pub fn local(ms: Ms, now: Ms) -> String {
    let zone = TimeZone::system();
    let of = |ms| Timestamp::from_millisecond(ms).map(|t| zone.to_datetime(t));
    match (of(ms), of(now)) {
        (Ok(then), Ok(today)) if then.date() == today.date() => then.strftime("%H:%M").to_string(),
        (Ok(then), _) => then.strftime("%Y-%m-%d %H:%M").to_string(),
        _ => ms.to_string(),
    }
}
