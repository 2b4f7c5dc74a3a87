//! The version of the file's format, which a file states only if an older program would misread something in it.
//!
//! `<!-- memories: format 2 -->` stands at the start of a line above the first section. A program that knows less reads
//! such a file and writes nothing into it.

use memchr::memmem;

use crate::scan::line_number;

/// The version that this program knows. A file of this version states nothing.
pub const FORMAT: u64 = 1;

const STATED: &str = "<!-- memories: format ";

/// A version that this program does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewerFormat {
    /// The version that the file states.
    pub version: u64,
    /// The line that states it, from 1.
    pub line: usize,
}

/// The version that a file states, if it is newer than [`FORMAT`].
pub fn newer_format(source: &str) -> Option<NewerFormat> {
    let bytes = source.as_bytes();
    let head = memmem::find(bytes, b"\n## ").unwrap_or(bytes.len());
    let mut starts = memmem::find_iter(&bytes[..head], STATED);
    starts.find_map(|at| {
        let is_line = at == 0 || bytes[at - 1] == b'\n' || source[..at] == *"\u{FEFF}";
        let version = stated_version(&bytes[at..]).filter(|version| is_line && *version > FORMAT)?;
        Some(NewerFormat { version, line: line_number(source, at) })
    })
}

/// The version that a line states.
fn stated_version(line: &[u8]) -> Option<u64> {
    let version = line.strip_prefix(STATED.as_bytes())?;
    let digits = version.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&version[..digits]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_version_is_stated_above_the_first_section() {
        let version = |source| newer_format(source).map(|found| (found.version, found.line));
        assert_eq!(version("# T\n<!-- memories: format 2 -->\n\n## World\n"), Some((2, 2)));
        assert_eq!(version("\u{FEFF}<!-- memories: format 12, of today -->\n"), Some((12, 1)));
        for known in [
            "# T\n<!-- memories: format 1 -->\n",
            "# T\n<!-- memories: format -->\n",
            "# T\n x <!-- memories: format 2 -->\n",
            "# T\n\n## World\n<!-- memories: format 2 -->\n",
            "",
        ] {
            assert_eq!(version(known), None, "{known}");
        }
    }
}
