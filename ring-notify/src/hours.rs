//! Quiet hours: a window of local time on days of the week (ring-notify(1), QUIET HOURS).

use jiff::Timestamp;
use jiff::civil::{Date, Time, Weekday};
use jiff::tz::TimeZone;
use ring_session::time::Ms;

/// One window. It belongs to the day on which it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Hours {
    /// It begins then.
    pub start: Time,
    /// It ends then; before `start`: on the next day; `start` itself: a day later.
    pub end: Time,
    /// Days on which it begins.
    pub days: Vec<Weekday>,
    /// What is urgent passes.
    pub urgent_bypass: bool,
}

/// Names of days in the settings.
pub const DAYS: [(&str, Weekday); 7] = [
    ("mon", Weekday::Monday),
    ("tue", Weekday::Tuesday),
    ("wed", Weekday::Wednesday),
    ("thu", Weekday::Thursday),
    ("fri", Weekday::Friday),
    ("sat", Weekday::Saturday),
    ("sun", Weekday::Sunday),
];

/// `HH:MM`, two digits each.
pub fn parse_time(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    let number = |t: &str| {
        (t.len() == 2 && t.bytes().all(|b| b.is_ascii_digit()))
            .then(|| t.parse::<i8>().ok())
            .flatten()
    };
    Time::new(number(hour)?, number(minute)?, 0, 0).ok()
}

impl Hours {
    /// Whether `now` is inside, by the clocks of `zone`.
    pub fn hold(&self, now: Ms, zone: &TimeZone) -> bool {
        let Ok(instant) = Timestamp::from_millisecond(now) else {
            return false;
        };
        let today = zone.to_datetime(instant).date();
        // a window of at most a day that holds now begins today or yesterday
        [Some(today), today.yesterday().ok()]
            .into_iter()
            .flatten()
            .filter(|day| self.days.contains(&day.weekday()))
            .any(|day| {
                self.window(day, zone)
                    .is_some_and(|(from, to)| from <= instant && instant < to)
            })
    }

    /// The window that begins on `day`. As instants, because a local time comes twice or not at all when clocks change:
    /// of two the first counts, and what does not come is as long after the hour before it.
    fn window(&self, day: Date, zone: &TimeZone) -> Option<(Timestamp, Timestamp)> {
        let last = if self.end <= self.start {
            day.tomorrow().ok()?
        } else {
            day
        };
        let instant = |day: Date, time: Time| zone.to_timestamp(day.to_datetime(time)).ok();
        Some((instant(day, self.start)?, instant(last, self.end)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> TimeZone {
        // POSIX rules, so that no database of zones is needed: Europe/Berlin and America/New_York of today
        TimeZone::posix(match name {
            "berlin" => "CET-1CEST,M3.5.0,M10.5.0/3",
            "york" => "EST5EDT,M3.2.0,M11.1.0",
            _ => "UTC0",
        })
        .unwrap()
    }

    fn at(zone: &TimeZone, text: &str) -> Ms {
        let civil: jiff::civil::DateTime = text.parse().unwrap();
        zone.to_timestamp(civil).unwrap().as_millisecond()
    }

    fn hours(start: &str, end: &str, days: &[&str]) -> Hours {
        let all = DAYS.iter().filter(|(n, _)| days.is_empty() || days.contains(n));
        Hours {
            start: parse_time(start).unwrap(),
            end: parse_time(end).unwrap(),
            days: all.map(|(_, d)| *d).collect(),
            urgent_bypass: true,
        }
    }

    #[test]
    fn n48_a_window_over_midnight_belongs_to_the_day_on_which_it_begins() {
        // 2026-11-30 is a Monday
        for name in ["berlin", "york", "utc"] {
            let zone = zone(name);
            let mon = hours("22:00", "07:00", &["mon"]);
            for (moment, quiet) in [
                ("2026-11-30T06:59", false), // of Sunday's window, which is none
                ("2026-11-30T21:59:59", false),
                ("2026-11-30T22:00", true),
                ("2026-11-30T23:00", true),
                ("2026-12-01T00:00", true),
                ("2026-12-01T06:59:59.999", true),
                ("2026-12-01T07:00", false),
                ("2026-12-01T23:00", false),
                ("2026-12-07T23:00", true),
            ] {
                assert_eq!(mon.hold(at(&zone, moment), &zone), quiet, "{name} {moment}");
            }
        }
    }

    #[test]
    fn a_window_within_a_day_and_one_of_a_whole_day() {
        let zone = zone("berlin");
        let noon = hours("12:00", "13:00", &[]);
        for (moment, quiet) in [
            ("2026-11-30T11:59", false),
            ("2026-11-30T12:00", true),
            ("2026-11-30T12:59", true),
            ("2026-11-30T13:00", false),
        ] {
            assert_eq!(noon.hold(at(&zone, moment), &zone), quiet, "{moment}");
        }
        let weekend = hours("00:00", "00:00", &["sat", "sun"]);
        for (moment, quiet) in [
            ("2026-12-04T23:59", false),
            ("2026-12-05T00:00", true),
            ("2026-12-06T23:59", true),
            ("2026-12-07T00:00", false),
        ] {
            assert_eq!(weekend.hold(at(&zone, moment), &zone), quiet, "{moment}");
        }
        let shifted = hours("08:00", "08:00", &["sat"]);
        for (moment, quiet) in [
            ("2026-12-05T07:59", false),
            ("2026-12-05T08:00", true),
            ("2026-12-06T07:59", true),
            ("2026-12-06T08:00", false),
        ] {
            assert_eq!(shifted.hold(at(&zone, moment), &zone), quiet, "{moment}");
        }
    }

    #[test]
    fn n48_clocks_that_change_neither_lengthen_nor_skip_a_night() {
        let berlin = zone("berlin");
        let night = hours("22:00", "07:00", &[]);
        // 2027-03-28: 02:00 becomes 03:00; 2026-10-25: 03:00 becomes 02:00
        for (evening, morning, length_h) in [
            ("2027-03-27T22:00", "2027-03-28T07:00", 8),
            ("2026-10-24T22:00", "2026-10-25T07:00", 10),
            ("2026-11-24T22:00", "2026-11-25T07:00", 9),
        ] {
            let (from, to) = (at(&berlin, evening), at(&berlin, morning));
            assert_eq!(to - from, length_h * 3_600_000);
            assert!(!night.hold(from - 1, &berlin) && night.hold(from, &berlin), "{evening}");
            assert!(
                (from..to).step_by(600_000).all(|ms| night.hold(ms, &berlin)),
                "{evening}"
            );
            assert!(night.hold(to - 1, &berlin) && !night.hold(to, &berlin), "{morning}");
        }
        // an end that comes twice counts the first time, and the window does not come back with the second
        let short = hours("01:00", "02:30", &[]);
        let end = at(&berlin, "2026-10-25T02:30");
        assert!(short.hold(end - 1, &berlin) && !short.hold(end, &berlin));
        assert!(!short.hold(end + 3_600_000 - 1, &berlin));
        // an end that does not come is at the hour that comes instead
        let gone = at(&berlin, "2027-03-28T03:30");
        assert!(short.hold(at(&berlin, "2027-03-28T01:59"), &berlin));
        assert!(!short.hold(gone, &berlin));
    }

    #[test]
    fn times_are_two_digits_each() {
        for good in ["00:00", "23:59", "07:05"] {
            assert!(parse_time(good).is_some(), "{good}");
        }
        for bad in [
            "24:00", "7:00", "07:60", "0700", "07:00:00", "-1:00", "+7:00", "", "aa:bb",
        ] {
            assert!(parse_time(bad).is_none(), "{bad}");
        }
    }
}
