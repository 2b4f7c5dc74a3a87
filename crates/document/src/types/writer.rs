//! The writer of a memory: one of several processes or agents that share a memory file.
//!
//! An entry names its writers by tags, `#by:worker-7`. Without such a tag it is a person's or a single player's.

use std::fmt;
use std::str::FromStr;

use crate::types::scope::is_id;

/// Beginning of the tags that name writers.
const MARK: &str = "by:";

/// Longest name, in characters.
const MAX_CHARS: usize = 64;

/// The name of a writer: lower-case letters, digits, `_` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Writer(String);

impl Writer {
    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// The tag of the entries that it wrote or confirmed, without `#`.
    pub fn tag(&self) -> String {
        format!("{MARK}{}", self.0)
    }
}

impl FromStr for Writer {
    type Err = String;

    fn from_str(text: &str) -> Result<Writer, String> {
        let name = text.trim().to_lowercase();
        if is_id(&name) && name.len() <= MAX_CHARS {
            Ok(Writer(name))
        } else {
            Err(format!(
                "`{text}` is not the name of a writer: use up to {MAX_CHARS} letters, digits, `_` and `-`"
            ))
        }
    }
}

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The writer whom a tag without `#` names.
pub fn writer_of(tag: &str) -> Option<&str> {
    tag.strip_prefix(MARK).filter(|name| is_id(name))
}

/// True for a tag that names a writer, or looks as if it did.
pub fn is_writer_tag(tag: &str) -> bool {
    let tag = tag.trim_start().trim_start_matches('#');
    tag.get(..MARK.len()).is_some_and(|mark| mark.eq_ignore_ascii_case(MARK))
}

/// Writers as answers name them: `by worker-7`, or `3 writers`.
pub fn written_by(writers: &[&str]) -> Option<String> {
    match writers {
        [] => None,
        [one] => Some(format!("by {one}")),
        several => Some(format!("{} writers", several.len())),
    }
}

/// True for a text that reads as [`written_by`] writes it.
pub fn looks_written_by(text: &str) -> bool {
    let is_number = |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.to_lowercase();
    text.strip_prefix("by ").is_some_and(|name| is_id(name.trim()))
        || text.strip_suffix(" writers").is_some_and(|number| is_number(number.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_an_id() {
        assert_eq!("Worker-7 ".parse::<Writer>().unwrap().tag(), "by:worker-7");
        for wrong in ["", " ", "a b", "a,b", "by:a", "ü", &"x".repeat(65)] {
            assert!(wrong.parse::<Writer>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn tags_name_writers() {
        assert_eq!([writer_of("by:a"), writer_of("by:A"), writer_of("about:a")], [Some("a"), None, None]);
        for tag in ["by:a", "#by:a", "By:A", "by:", "BY:a b"] {
            assert!(is_writer_tag(tag), "{tag}");
        }
        assert!(!is_writer_tag("bystander") && !is_writer_tag("ü"));
    }

    #[test]
    fn writers_are_recognized_as_they_are_shown() {
        for writers in [&["a"][..], &["worker-7"], &["a", "b"], &["a"; 40]] {
            assert!(looks_written_by(&written_by(writers).unwrap()), "{writers:?}");
        }
        assert_eq!(written_by(&[]), None);
        assert!(
            !looks_written_by("by all means") && !looks_written_by("writers") && !looks_written_by("bya")
        );
    }
}
