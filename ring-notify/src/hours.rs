//! Quiet hours: a window of local time on days of the week (ring-notify(1), QUIET HOURS).

use jiff::civil::{Time, Weekday};

/// One window.
#[derive(Clone, Debug, PartialEq)]
pub struct Hours {
    /// It begins then.
    pub start: Time,
    /// It ends then; before `start`: on the next day; `start` itself: a whole day.
    pub end: Time,
    /// Days on which it begins.
    pub days: Vec<Weekday>,
    /// What is urgent passes.
    pub urgent_bypass: bool,
}
