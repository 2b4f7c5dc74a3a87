//! Regions: the parts of a section, which headings and thematic breaks begin.

use std::ops::Range;

/// A line of evidence, or other lines of a section, and their position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    /// From the first line to the end of the last one, with line ending.
    pub(crate) range: Range<usize>,
}

/// Kinds of regions, in the order in which they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegionKind {
    /// Starts at the section heading.
    Head,
    /// Starts at `### Memories`.
    Memories,
    /// Starts at `### Ways`.
    Ways,
    /// Starts at `### Worked`.
    Worked,
    /// Starts at `### Seen`.
    Seen,
    /// Starts at `### Tried`.
    Tried,
    /// Starts at any other heading or a thematic break.
    Other,
}

impl RegionKind {
    /// The parts of a section, each with the heading that begins it.
    pub(crate) const PARTS: [(RegionKind, &str); 5] = [
        (RegionKind::Memories, "### Memories"),
        (RegionKind::Ways, "### Ways"),
        (RegionKind::Worked, "### Worked"),
        (RegionKind::Seen, "### Seen"),
        (RegionKind::Tried, "### Tried"),
    ];

    /// The kind of the part that a heading begins: `### Memories`, also `#### **memories:**`.
    pub(crate) fn begun_by(heading: &str) -> RegionKind {
        let heading = heading.trim();
        let parts = RegionKind::PARTS.iter();
        if let Some((kind, _)) = parts.clone().find(|(_, known)| *known == heading) {
            return *kind;
        }
        let level = heading.bytes().take_while(|&byte| byte == b'#').count();
        let body = &heading[level..];
        if !(3..=6).contains(&level) || !body.starts_with([' ', '\t']) {
            return RegionKind::Other;
        }
        let word = body.trim_matches([' ', '\t', '*', '_', '#', ':', '：']);
        let part = parts.clone().find(|(_, known)| known[4..].eq_ignore_ascii_case(word));
        part.map_or(RegionKind::Other, |(kind, _)| *kind)
    }

    /// The heading of a part; empty for regions that are none.
    pub fn heading(self) -> &'static str {
        RegionKind::PARTS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, heading)| heading)
    }

    /// The word of that heading: `Tried`.
    pub(crate) fn name(self) -> &'static str {
        self.heading().trim_start_matches("### ")
    }

    /// The lists of actions, in the order in which they are written.
    pub(crate) const ACTIONS: [RegionKind; 3] = [RegionKind::Worked, RegionKind::Seen, RegionKind::Tried];

    /// True for lists of evidence.
    pub(crate) fn is_evidence(self) -> bool {
        (RegionKind::Ways..=RegionKind::Tried).contains(&self)
    }
}

/// A run of lines between two headings or thematic breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) kind: RegionKind,
    /// From its heading or break to the next one.
    pub(crate) range: Range<usize>,
    /// End of its last line that is not blank.
    pub(crate) content_end: usize,
    /// True if it starts at a thematic break.
    pub(crate) after_break: bool,
    /// True if it has only its first line.
    pub(crate) bare: bool,
}
