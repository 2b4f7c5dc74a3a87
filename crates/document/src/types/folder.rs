//! Paths of folders of a repository, as scopes name them.
//!
//! A text enters, as a person or a program writes a path, or names as the file system has them; one canonical form
//! leaves. Nothing here knows a working directory or reads a disk.

use std::fmt;
use std::path::PathBuf;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::types::text::{percent_decoded, percent_encode};
use crate::types::unseen::is_unseen;

/// Length of the longest path, in bytes of the canonical form.
const MAX_PATH: usize = 512;

/// The root of a repository.
const ROOT: &str = "/";

/// The path of a folder from the root of its repository, in its canonical form: `src/search`, or `/` for the root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FolderPath(String);

/// A text that is no path from the root of a repository.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FolderError {
    /// The text is blank.
    #[error("the path of the folder is empty")]
    Empty,
    /// The path starts at the root of the file system.
    #[error("`{0}` is an absolute path")]
    Absolute(String),
    /// The first segment is `.` or `..`.
    #[error("`{0}` does not start at the root of the repository")]
    Relative(String),
    /// The path climbs above the root.
    #[error("`{0}` leads out of the repository")]
    Outside(String),
    /// The canonical form has more than 512 bytes.
    #[error("the path of the folder is longer than {MAX_PATH} bytes")]
    TooLong,
}

impl FolderPath {
    /// The root of the repository.
    pub fn root() -> FolderPath {
        FolderPath(ROOT.to_owned())
    }

    /// Reads a path from the root, in any spelling.
    ///
    /// # Errors
    ///
    /// See [`FolderError`].
    pub fn parse(text: &str) -> Result<FolderPath, FolderError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(FolderError::Empty);
        }
        if text.chars().all(is_separator) {
            return Ok(FolderPath::root());
        }
        if text.starts_with(is_separator) || has_drive(text) {
            return Err(FolderError::Absolute(text.to_owned()));
        }
        if is_relative(text) {
            return Err(FolderError::Relative(text.to_owned()));
        }
        FolderPath::root().join(text)
    }

    /// The folder to which a path leads from this one, in any spelling.
    ///
    /// # Errors
    ///
    /// [`FolderError::Outside`] or [`FolderError::TooLong`].
    pub fn join(&self, text: &str) -> Result<FolderPath, FolderError> {
        let mut segments: Vec<String> = self.segments().map(str::to_owned).collect();
        for segment in text.trim().split(is_separator) {
            match percent_decoded(segment).as_slice() {
                b"" | b"." => {}
                b".." if segments.pop().is_none() => return Err(FolderError::Outside(text.to_owned())),
                b".." => {}
                name => segments.push(encoded(name)),
            }
        }
        of_segments(&segments)
    }

    /// The folder of these names, from the root down, as the file system has them.
    ///
    /// # Errors
    ///
    /// [`FolderError::TooLong`].
    pub fn of_names<'a>(names: impl Iterator<Item = &'a [u8]>) -> Result<FolderPath, FolderError> {
        of_segments(&names.map(encoded).collect::<Vec<_>>())
    }

    /// Reads a path that is in its canonical form.
    pub fn canonical(text: &str) -> Option<FolderPath> {
        FolderPath::parse(text).ok().filter(|path| path.0 == text)
    }

    /// The canonical form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folders above, the nearest first and the root last; none of the root.
    pub fn parents(&self) -> impl Iterator<Item = FolderPath> {
        let above = self.0.rmatch_indices('/').filter(|(at, _)| *at > 0);
        let above = above.map(|(at, _)| FolderPath(self.0[..at].to_owned()));
        above.chain((self.0 != ROOT).then(FolderPath::root))
    }

    /// The path in the file system, from the root of the repository. Bytes that are no UTF-8 are replaced.
    pub fn to_path(&self) -> PathBuf {
        self.segments()
            .map(|segment| String::from_utf8_lossy(&percent_decoded(segment)).into_owned())
            .collect()
    }

    /// The number of folders above.
    pub fn depth(&self) -> usize {
        self.segments().count()
    }

    fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }
}

impl fmt::Display for FolderPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// True for `/`, and for `\` as Windows writes it.
fn is_separator(c: char) -> bool {
    matches!(c, '/' | '\\')
}

/// True if a path begins with the letter of a drive of Windows.
fn has_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// True if the first segment of a path is `.` or `..`.
pub fn is_relative(text: &str) -> bool {
    matches!(percent_decoded(text.split(is_separator).next().unwrap_or_default()).as_slice(), b"." | b"..")
}

fn of_segments(segments: &[String]) -> Result<FolderPath, FolderError> {
    let path = segments.join("/");
    match path.len() {
        0 => Ok(FolderPath::root()),
        1..=MAX_PATH => Ok(FolderPath(path)),
        _ => Err(FolderError::TooLong),
    }
}

/// The canonical form of a segment.
fn encoded(name: &[u8]) -> String {
    let mut out = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        let composed: Vec<char> = chunk.valid().nfc().collect();
        for (at, &c) in composed.iter().enumerate() {
            let behind = composed.get(at + 1);
            let is_inner = at > 0 && composed[at - 1] != ' ' && behind.is_some_and(|next| *next != ' ');
            let is_plain = match c {
                ' ' => is_inner,
                c if is_combining_mark(c) => at > 0 && !is_unseen(c),
                c => c.is_alphanumeric() && !is_unseen(c) || "._@+-".contains(c),
            };
            if is_plain {
                out.push(c)
            } else {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| percent_encode(&mut out, byte))
            }
        }
        chunk.invalid().iter().for_each(|&byte| percent_encode(&mut out, byte));
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<String, FolderError> {
        FolderPath::parse(text).map(|path| path.to_string())
    }

    #[test]
    fn a_path_has_one_form() {
        for (text, path) in [
            ("src/search", "src/search"),
            (" src//search/ ", "src/search"),
            ("src\\search\\", "src/search"),
            ("src/./x/../search", "src/search"),
            ("%73rc/%2e%2e/src/%2E/search", "src/search"),
            ("src/..", "/"),
            ("/", "/"),
            ("\\", "/"),
            ("c#/a:b", "c%23/a%3Ab"),
            ("c%23", "c%23"),
            ("100%/%zz", "100%25/%25zz"),
            ("my notes/a  b/ c ", "my notes/a%20%20b/%20c"),
            ("Straße/日本/cafe\u{301}/हिन्दी", "Straße/日本/café/हिन्दी"),
            ("a\u{200b}b/\u{301}x/x\u{3164}", "a%E2%80%8Bb/%CC%81x/x%E3%85%A4"),
            ("a%FFb/%2F/%5c", "a%FFb/%2F/%5C"),
            (".github/..x/...", ".github/..x/..."),
            ("a-->b/a]b", "a--%3Eb/a%5Db"),
        ] {
            assert_eq!(parse(text).as_deref(), Ok(path), "{text}");
        }
    }

    #[test]
    fn what_is_no_path_from_the_root() {
        assert_eq!(parse(" "), Err(FolderError::Empty));
        for text in ["/etc", "\\\\server\\share", "C:\\src", "c:"] {
            assert_eq!(parse(text), Err(FolderError::Absolute(text.to_owned())));
        }
        for text in [".", "..", "./src", "..\\src", "%2e/src"] {
            assert_eq!(parse(text), Err(FolderError::Relative(text.to_owned())));
        }
        assert_eq!(parse("a/../../b"), Err(FolderError::Outside("a/../../b".to_owned())));
        assert!(parse(&"a".repeat(512)).is_ok());
        assert_eq!(parse(&"#".repeat(171)), Err(FolderError::TooLong));
    }

    #[test]
    fn names_of_the_file_system_are_taken_as_they_are() {
        let names: [&[u8]; 4] = [b"a%20b", b"c#", b"\xff", b"x\\y"];
        assert_eq!(FolderPath::of_names(names.into_iter()).unwrap().as_str(), "a%2520b/c%23/%FF/x%5Cy");
        assert_eq!(FolderPath::of_names(std::iter::empty()).unwrap(), FolderPath::root());
    }

    #[test]
    fn a_path_leads_on_from_a_folder() {
        let from = FolderPath::parse("src/search").unwrap();
        let join = |text: &str| from.join(text).map(|path| path.to_string());
        assert_eq!(join(".").as_deref(), Ok("src/search"));
        assert_eq!(join("..\\recall/x").as_deref(), Ok("src/recall/x"));
        assert_eq!(join("../..").as_deref(), Ok("/"));
        assert_eq!(join("../../.."), Err(FolderError::Outside("../../..".to_owned())));
    }

    #[test]
    fn the_folders_above_come_nearest_first() {
        let parents = |text: &str| -> Vec<String> {
            FolderPath::parse(text).unwrap().parents().map(|path| path.to_string()).collect()
        };
        assert_eq!(parents("a/b/c"), ["a/b", "a", "/"]);
        assert_eq!(parents("a"), ["/"]);
        assert_eq!(parents("/"), [""; 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// Whatever is read as a path is written in a form that is read as the same path, on one line of a heading.
        #[test]
        fn a_canonical_path_is_its_own_form(text in "([a-z.%/\\\\# ]|%[0-9a-fA-F]{2}|\\PC|[\u{300}-\u{310}]){0,24}") {
            if let Ok(path) = FolderPath::parse(&text) {
                prop_assert_eq!(FolderPath::parse(path.as_str()), Ok(path.clone()));
                prop_assert_eq!(FolderPath::canonical(path.as_str()), Some(path.clone()));
                let is_safe = |c: char| !c.is_control() && !":#`*[]<>\\\"'".contains(c);
                prop_assert!(path.as_str().chars().all(is_safe), "{}", path);
                prop_assert_eq!(path.as_str().trim(), path.as_str());
                let parents: Vec<FolderPath> = path.parents().collect();
                prop_assert_eq!(parents.len(), path.depth());
                for parent in parents {
                    prop_assert_eq!(FolderPath::canonical(parent.as_str()), Some(parent));
                }
            }
        }

        #[test]
        fn names_are_read_back(names in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..6), 0..4)) {
            prop_assume!(names.iter().all(|name| name != b"." && name != b".."));
            let path = FolderPath::of_names(names.iter().map(Vec::as_slice)).unwrap();
            prop_assert_eq!(FolderPath::parse(path.as_str()), Ok(path));
        }
    }
}
