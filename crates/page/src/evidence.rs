//! Lines that turns change apart from the rest of their section: evidence, of which most lines are those of the version
//! before, and visits.
//!
//! The text of a section enters; these lines leave, each readable by itself, and the text without them.

use memchr::memmem;

use memories_document::{RegionKind, Section};

/// The lists of evidence, in the order of the parts of a section.
pub(super) const LISTS: [RegionKind; 4] =
    [RegionKind::Ways, RegionKind::Worked, RegionKind::Tried, RegionKind::Seen];

/// A way or an action of a line of evidence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    /// The number of its part.
    pub(super) number: u32,
    /// The number of its action or way as these are compared. The latest of several items with one number counts.
    pub(super) key: Option<usize>,
    /// Episode and turn.
    pub(super) moment: (Option<u64>, Option<u64>),
}

/// A section whose lines of evidence and visits were taken out.
#[derive(Debug)]
pub(super) struct Cut<'a> {
    /// The text without these lines.
    pub(super) rest: String,
    /// The line of visits, where it stands below the heading.
    pub(super) visits: Option<&'a str>,
    /// The lines of evidence with line endings, each with the number of its list in [`LISTS`], in their order.
    pub(super) lines: Vec<(usize, &'a str)>,
}

/// The letter that the page knows an action of a list by.
pub(super) fn letter(list: RegionKind) -> &'static str {
    match list {
        RegionKind::Worked => "o",
        RegionKind::Seen => "s",
        _ => "t",
    }
}

/// The number of ways or actions in a list.
pub(super) fn count(list: RegionKind, section: &Section) -> usize {
    if list == RegionKind::Ways { section.ways.len() } else { section.attempts(list).len() }
}

/// Takes the lines of evidence and visits out of a section. `None` where a line may change how others are read.
pub(super) fn cut(text: &str) -> Option<Cut<'_>> {
    let has_lone_return = text.contains('\r') && text.replace("\r\n", "").contains('\r');
    if may_hide_lines(text) || has_lone_return {
        return None;
    }
    let mut lines = text.split_inclusive('\n').peekable();
    let mut cut = Cut {
        rest: lines.next().unwrap_or_default().to_owned(),
        visits: lines.next_if(|line| line.starts_with("**Visits:**")),
        lines: Vec::new(),
    };
    let mut list = None;
    while let Some(line) = lines.next() {
        let goes_on = lines.peek().is_some_and(|next| next.starts_with([' ', '\t']));
        match list {
            Some(list) if line.starts_with("- `") && !goes_on => {
                cut.lines.push((list, line));
                continue;
            }
            // The line begins another section, or what belongs to none.
            _ if line.starts_with('#') && !line.starts_with("###") => return None,
            _ if line.starts_with('#') => {
                list = LISTS.iter().position(|list| list.heading() == line.trim_end());
            }
            _ if line.trim().is_empty() => {}
            _ => list = None,
        }
        cut.rest.push_str(line);
    }
    Some(cut)
}

/// True if a text may begin or end what hides headings: a code fence or a comment.
pub(super) fn may_hide_lines(text: &str) -> bool {
    ["```", "~~~", "<!--", "-->"].iter().any(|mark| memmem::find(text.as_bytes(), mark.as_bytes()).is_some())
}
