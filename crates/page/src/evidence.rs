//! Lines of evidence apart from the rest of their section: most of them are those of the version before.
//!
//! The text of a section enters; its lines of evidence leave, each readable by itself, and the text without them.

use memchr::memmem;

use memories_document::Section;
use memories_document::types::Attempt;

/// The lists of evidence, in the order of the parts of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Ways,
    Worked,
    Tried,
    Seen,
}

/// What a line of evidence holds: a way or an action.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    /// The number of its part.
    pub(super) number: u32,
    /// The number of what it is about: the latest of those about the same counts.
    pub(super) key: Option<usize>,
    /// Episode and turn.
    pub(super) moment: (Option<u64>, Option<u64>),
}

/// A section whose lines of evidence were taken out.
#[derive(Debug)]
pub(super) struct Cut<'a> {
    /// The text without these lines.
    pub(super) rest: String,
    /// The lines with line endings, in their order.
    pub(super) lines: Vec<(Group, &'a str)>,
}

impl Group {
    pub(super) const ALL: [Group; 4] = [Group::Ways, Group::Worked, Group::Tried, Group::Seen];

    /// The heading of the list.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Group::Ways => "### Ways",
            Group::Worked => "### Worked",
            Group::Tried => "### Tried",
            Group::Seen => "### Seen",
        }
    }

    /// The letter that the page knows a part of the list by.
    pub(super) fn letter(self) -> &'static str {
        match self {
            Group::Ways => "w",
            Group::Worked => "o",
            Group::Tried => "t",
            Group::Seen => "s",
        }
    }

    /// The actions of the list; none of ways.
    pub(super) fn attempts(self, section: &Section) -> &[Attempt] {
        match self {
            Group::Ways => &[],
            Group::Worked => &section.worked,
            Group::Tried => &section.tried,
            Group::Seen => &section.seen,
        }
    }

    /// The number of ways or actions in the list.
    pub(super) fn count(self, section: &Section) -> usize {
        if self == Group::Ways { section.ways.len() } else { self.attempts(section).len() }
    }
}

/// Takes the lines of evidence out of a section. `None` where a line may change how others are read.
pub(super) fn cut(text: &str) -> Option<Cut<'_>> {
    let has_lone_return = text.contains('\r') && text.replace("\r\n", "").contains('\r');
    if may_hide_lines(text) || has_lone_return {
        return None;
    }
    let mut cut = Cut { rest: String::new(), lines: Vec::new() };
    let mut group = None;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let goes_on = lines.peek().is_some_and(|next| next.starts_with([' ', '\t']));
        match group {
            Some(group) if line.starts_with("- `") && !goes_on => {
                cut.lines.push((group, line));
                continue;
            }
            // The line begins another section, or what belongs to none.
            _ if line.starts_with('#') && !line.starts_with("###") && !cut.rest.is_empty() => return None,
            _ if line.starts_with('#') => {
                group = Group::ALL.into_iter().find(|group| group.heading() == line.trim_end());
            }
            _ if line.trim().is_empty() => {}
            _ => group = None,
        }
        cut.rest.push_str(line);
    }
    Some(cut)
}

/// True if a text may begin or end what hides headings: a code fence or a comment.
pub(super) fn may_hide_lines(text: &str) -> bool {
    ["```", "~~~", "<!--", "-->"].iter().any(|mark| memmem::find(text.as_bytes(), mark.as_bytes()).is_some())
}
