//! Points in time, as memories, turns and messages state them: the one type by which times are compared.
//!
//! A text is RFC 3339, a time without an offset, which is UTC, or a date. A date is a day, and stands for its midnight in
//! UTC. Times are shown in UTC.

use std::cmp::Ordering;
use std::fmt;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::types::lenient::number;

/// Length of a date without a time, in bytes.
const DATE: usize = 10;

/// From here on, a number of a time is of milliseconds; as seconds it would be after the year 5000.
const MILLISECONDS: f64 = 1e11;

/// Seconds of a day.
const DAY: i64 = 86_400;

/// A point in time, exact to the nanosecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Timestamp);

impl Instant {
    /// The instant that a text states; `None` where it states none.
    pub fn of(text: &str) -> Option<Instant> {
        let text = text.trim();
        Instant::whole(text).or_else(|| {
            let day: Date = text.get(..DATE)?.parse().ok()?;
            Instant::of_civil(day.at(0, 0, 0, 0))
        })
    }

    /// The instant that the whole text states: a time, or a day alone.
    pub fn whole(text: &str) -> Option<Instant> {
        // A day alone is no timestamp, and most entries state one.
        if text.len() > DATE
            && let Ok(time) = text.parse::<Timestamp>()
        {
            return Some(Instant(time));
        }
        Instant::of_civil(text.parse().ok()?)
    }

    fn of_civil(civil: DateTime) -> Option<Instant> {
        civil.to_zoned(TimeZone::UTC).ok().map(|time| Instant(time.timestamp()))
    }

    /// The instant that many seconds after the beginning of 1970.
    pub fn of_second(second: i64) -> Option<Instant> {
        Timestamp::from_second(second).ok().map(Instant)
    }

    /// The last second of its day in UTC.
    pub fn end_of_day(self) -> Option<Instant> {
        Instant::of_second((self.as_second().div_euclid(DAY) + 1) * DAY - 1)
    }

    /// Seconds since 1970.
    pub fn as_second(self) -> i64 {
        self.0.as_second()
    }

    /// Days from an earlier instant to this one; 0 where the other is later.
    pub fn days_since(self, earlier: Instant) -> f64 {
        ((self.as_second() - earlier.as_second()) as f64 / DAY as f64).max(0.0)
    }

    /// True if both are on the same day in UTC.
    pub fn is_same_day(self, other: Instant) -> bool {
        self.as_second().div_euclid(DAY) == other.as_second().div_euclid(DAY)
    }
}

/// RFC 3339 in UTC.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A date or time as an entry states it, of a value: a date or RFC 3339 as it is, SQLite's `2026-01-31 10:40:00`, or
/// seconds or milliseconds since 1970. `None` for anything else.
pub fn stated(value: &Value) -> Option<String> {
    let text = value.as_str().map(str::trim);
    if let Some(text) = text.filter(|text| Instant::of(text).is_some()) {
        let text = text.replacen(' ', "T", 1);
        return (!text.contains([' ', ',', ')'])).then_some(text);
    }
    let seconds = number(value).ok().filter(|seconds| seconds.is_finite())?;
    let seconds = if seconds.abs() < MILLISECONDS { seconds } else { seconds / 1000.0 };
    // Exact: a whole number that is far below the limits of `i64`, or refused.
    Timestamp::from_second(seconds as i64).ok().map(|time| time.to_string())
}

/// Compares two dates or times by their instants; where these are equal or not known, by their text.
pub fn compare(one: Option<&str>, other: Option<&str>) -> Ordering {
    let key = |text: Option<&str>| text.and_then(Instant::of);
    key(one).cmp(&key(other)).then_with(|| one.cmp(&other))
}

/// True for a text that states a day and no time.
pub fn is_day(text: &str) -> bool {
    text.trim().len() == DATE
}

/// The day of a time in UTC: `2026-01-31`. A text that states no instant stays as it is.
pub fn day(text: &str) -> String {
    Instant::of(text).map_or_else(|| text.to_owned(), |time| time.0.strftime("%Y-%m-%d").to_string())
}

/// A time in UTC to the minute, `2026-01-31 10:40Z`; a date as it is, and so a text that states no instant.
pub fn minute(text: &str) -> String {
    match Instant::of(text).filter(|_| !is_day(text)) {
        Some(time) => time.0.strftime("%Y-%m-%d %H:%MZ").to_string(),
        None => text.to_owned(),
    }
}

/// An age in words: `today`, `2 days ago`, `1 week ago`, `3 months ago`.
pub fn age_in_words(days: f64) -> String {
    let ago = |count: f64, unit: &str| {
        let count = count.floor() as u64;
        format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
    };
    match days {
        days if days < 1.0 => "today".to_owned(),
        days if days < 7.0 => ago(days, "day"),
        days if days < 61.0 => ago(days / 7.0, "week"),
        days if days < 365.0 => ago(days / 30.5, "month"),
        days => ago(days / 365.0, "year"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn offsets_count() {
        let times = [
            "2026-03-01T12:00:00+09:00",
            "2026-03-01T05:00Z",
            "2026-03-01T06:00:00",
            "2026-03-01T00:30:00-08:00",
        ];
        assert!(times.map(|time| Instant::of(time).unwrap()).is_sorted());
        assert_eq!(Instant::of("2026-03-01"), Instant::of("2026-02-28T19:00:00-05:00"));
        assert_eq!((Instant::of("some day"), Instant::of("2026-13-01")), (None, None));
        assert_eq!(compare(Some("2026-03-01T12:00:00+09:00"), Some("2026-03-01T05:00:00Z")), Ordering::Less);
        assert_eq!(
            (compare(None, Some("2026-03-01")), compare(Some("x"), None)),
            (Ordering::Less, Ordering::Greater)
        );
    }

    #[test]
    fn times_are_shown_in_one_zone() {
        assert_eq!(minute("2026-03-01T00:30:00-08:00"), "2026-03-01 08:30Z");
        assert_eq!(
            (minute("2026-03-01"), minute("some day")),
            ("2026-03-01".to_owned(), "some day".to_owned())
        );
        assert_eq!(day("2026-03-01T23:30:00-08:00"), "2026-03-02");
        let instant = |text: &str| Instant::of(text).unwrap();
        assert!(instant("2026-03-01").is_same_day(instant("2026-03-01T23:59:59Z")));
        assert!(instant("2026-03-01").is_same_day(instant("2026-03-02T08:00:00+09:00")));
    }

    #[test]
    fn times_of_other_programs_are_read() {
        for (value, expected) in [
            (json!("2025-10-09T14:00:00+02:00"), Some("2025-10-09T14:00:00+02:00")),
            (json!(" 2025-10-09 "), Some("2025-10-09")),
            (json!("2025-10-09 14:00:00"), Some("2025-10-09T14:00:00")),
            (json!(1_760_018_400), Some("2025-10-09T14:00:00Z")),
            (json!("1760018400000"), Some("2025-10-09T14:00:00Z")),
            (json!("yesterday"), None),
            (json!(null), None),
        ] {
            assert_eq!(stated(&value).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn ages() {
        let now = Instant::of("2026-01-31T10:40:00Z").unwrap();
        let words = |date: &str| Instant::of(date).map(|time| age_in_words(now.days_since(time)));
        let said = |text: &str| Some(text.to_owned());
        assert_eq!(words("2026-01-31T09:00:00Z"), said("today"));
        assert_eq!(words("2026-02-07"), said("today"));
        assert_eq!(words("2026-01-30"), said("1 day ago"));
        assert_eq!(words("2026-01-29T10:00:00+01:00"), said("2 days ago"));
        assert_eq!(words("2026-01-24T10:00:00"), said("1 week ago"));
        assert_eq!(words("2025-12-01"), said("2 months ago"));
        assert_eq!(words("2025-12-05"), said("8 weeks ago"));
        assert_eq!(words("2023-12-01"), said("2 years ago"));
        assert_eq!(words("some day"), None);
    }
}
