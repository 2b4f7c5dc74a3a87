//! The age of a memory, in days and in words.

use jiff::civil::{Date, DateTime};
use jiff::{Timestamp, tz::TimeZone};

/// Days from a date to now; 0 for a date in the future, `None` if either text is not a date.
pub(crate) fn days(date: &str, now: &str) -> Option<f64> {
    let seconds = timestamp(now)?.as_second() - timestamp(date)?.as_second();
    Some((seconds as f64 / 86_400.0).max(0.0))
}

/// Parses a date such as `2026-01-31`, or a time; without an offset it is UTC.
fn timestamp(date: &str) -> Option<Timestamp> {
    if let Ok(time) = date.parse::<Timestamp>() {
        return Some(time);
    }
    let civil = date.parse::<DateTime>().ok().or_else(|| {
        let day: Date = date.get(..10)?.parse().ok()?;
        Some(day.at(0, 0, 0, 0))
    })?;
    civil.to_zoned(TimeZone::UTC).ok().map(|time| time.timestamp())
}

/// An age in words: `today`, `2 days ago`, `1 week ago`, `3 months ago`.
pub(crate) fn in_words(days: f64) -> String {
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
    use super::*;

    #[test]
    fn ages() {
        let words = |date: &str| days(date, "2026-01-31T10:40:00Z").map(in_words);
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
