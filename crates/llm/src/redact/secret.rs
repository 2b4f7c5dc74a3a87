//! A secret that was found.

use std::ops::Range;

/// A recognised secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Its byte range in the text.
    pub range: Range<usize>,
    /// Its kind, such as `GitHub token`.
    pub kind: &'static str,
}
