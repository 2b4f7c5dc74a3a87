//! Parsers of the values of flags and settings.

use std::time::Duration;

/// A duration: `10s`, `500ms`, `1m`; a bare number is seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let spelled =
        if text.bytes().all(|byte| byte.is_ascii_digit()) { format!("{text}s") } else { text.to_owned() };
    let duration: Result<jiff::SignedDuration, _> = spelled.parse();
    let duration = duration.ok().and_then(|duration| Duration::try_from(duration).ok());
    duration.ok_or_else(|| "write a time such as `10s`, `500ms` or `1m`".to_owned())
}

/// A whole number from 0 up.
pub(crate) fn parse_count<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number from 0 up"))
}

/// A whole number.
pub(crate) fn parse_integer(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number"))
}

/// An importance; it is clamped to its range later.
pub(crate) fn parse_importance(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| !number.is_nan());
    number.ok_or_else(|| format!("`{text}` is not a number"))
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
