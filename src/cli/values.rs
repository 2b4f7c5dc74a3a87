//! Parsers of the values of flags and settings.

use std::net::IpAddr;
use std::time::Duration;

use memories_document::field::is_date;
use memories_document::types::fields::parse_span;
use memories_document::types::instant::Instant;
use memories_document::types::{
    EXPECTED_IMPORTANCE, EXPECTED_SCALE, ImportanceScale, Span, importance_of_person,
};

/// True if the name of a memory file is meant as the address of a remote one.
pub(crate) fn is_url(file: &str) -> bool {
    file.contains("://")
}

/// A duration: `10s`, `500ms`, `1m`; a bare number is seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let spelled =
        if text.bytes().all(|byte| byte.is_ascii_digit()) { format!("{text}s") } else { text.to_owned() };
    let duration: Result<jiff::SignedDuration, _> = spelled.parse();
    let duration = duration.ok().and_then(|duration| Duration::try_from(duration).ok());
    duration.ok_or_else(|| "write a time such as `10s`, `500ms` or `1m`".to_owned())
}

/// A time in RFC 3339, or a day.
pub(crate) fn parse_time(text: &str) -> Result<String, String> {
    let time = Instant::of(text).map(|_| text.to_owned());
    time.ok_or_else(|| format!("`{text}` is no time: write `2026-01-31` or `2026-01-31T10:40:00Z`"))
}

/// The name or the address of a host, without scheme and port.
pub(crate) fn parse_host(text: &str) -> Result<String, String> {
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_name = !text.is_empty() && text.chars().all(is_name_char);
    if is_name || text.parse::<IpAddr>().is_ok() {
        Ok(text.to_ascii_lowercase())
    } else {
        Err(format!("`{text}` is not the name of a host: leave out scheme and port"))
    }
}

/// A whole number from 0 up.
pub(crate) fn parse_count<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number from 0 up"))
}

/// A whole number from 1 up.
pub(crate) fn parse_number(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{text}` is not a whole number from 1 up"))
}

/// The number of a line.
pub(crate) fn parse_line(text: &str) -> Result<usize, String> {
    let line = text.parse().ok().filter(|line| *line > 0);
    line.ok_or_else(|| format!("`{text}` is not the number of a line, from 1 up"))
}

/// A whole number.
pub(crate) fn parse_integer(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number"))
}

/// An importance; it is clamped to its range later.
pub(crate) fn parse_importance(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("`{text}` is not a number"))
}

/// A scale of importance, by its highest value.
pub(crate) fn parse_importance_scale(text: &str) -> Result<ImportanceScale, String> {
    let scale = text.parse().ok().and_then(ImportanceScale::new);
    scale.ok_or_else(|| format!("a scale is {EXPECTED_SCALE}"))
}

/// An importance within its range, as a person gives it to a memory.
pub(crate) fn parse_own_importance(text: &str) -> Result<u16, String> {
    let importance = importance_of_person(parse_importance(text)?);
    importance.ok_or_else(|| format!("an importance is {EXPECTED_IMPORTANCE}"))
}

/// A date or a time.
pub(crate) fn parse_date(text: &str) -> Result<String, String> {
    let date = is_date(text).then(|| text.to_owned());
    date.ok_or_else(|| "write a date such as 2026-01-31 or a time such as 2026-01-31T10:40:00Z".to_owned())
}

/// Turns: a number, or first and last.
pub(crate) fn parse_turns(text: &str) -> Result<Span, String> {
    parse_span(text).map_err(|expected| format!("write {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("3"), Ok(Duration::from_secs(3)));
        assert!(parse_duration("-3s").is_err());
        assert!(parse_duration("soon").is_err());
    }
}
