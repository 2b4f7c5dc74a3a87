//! What is wrong with a file, in words for the person who mends it.

use std::fmt;

use serde::Serialize;

/// Something that could not be understood or that readers may see differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line number. Within a section it counts from the heading as 0, in a file from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What it is.
    pub kind: Kind,
}

/// How much a problem matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is not read as it was meant.
    Error,
    /// All is read, but other programs or people may see it differently.
    Warning,
}

/// The kinds of problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A line that starts like an entry and is none.
    BrokenEntry(String),
    /// A line under `### Tried` that names no action.
    BrokenAttempt(String),
    /// A visits line without a number.
    BrokenVisits(String),
    /// A heading that starts like a section of ours and is none.
    BrokenHeading(String),
    /// More than one visits line.
    SecondVisits,
    /// A level-1 or level-2 heading that is indented: text for us, a heading for others.
    IndentedHeading,
    /// An ephemeral memory in the permanent file.
    EphemeralEntry,
    /// A code fence that is never closed.
    UnclosedFence,
    /// A comment that is never closed.
    UnclosedComment,
    /// Two live entries of one title in one section.
    SameTitle(String),
    /// A second section of one scope; both are read as one.
    SecondSection(String),
    /// A Markdown viewer sees a heading where there is none for us.
    ViewerSeesHeading(String),
    /// A Markdown viewer does not see a heading that is one for us.
    ViewerMissesHeading(String),
}

impl Kind {
    /// The name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::BrokenEntry(_) => "broken_entry",
            Kind::BrokenAttempt(_) => "broken_attempt",
            Kind::BrokenVisits(_) => "broken_visits",
            Kind::BrokenHeading(_) => "broken_heading",
            Kind::SecondVisits => "second_visits",
            Kind::IndentedHeading => "indented_heading",
            Kind::EphemeralEntry => "ephemeral_entry",
            Kind::UnclosedFence => "unclosed_fence",
            Kind::UnclosedComment => "unclosed_comment",
            Kind::SameTitle(_) => "same_title",
            Kind::SecondSection(_) => "second_section",
            Kind::ViewerSeesHeading(_) => "viewer_sees_heading",
            Kind::ViewerMissesHeading(_) => "viewer_misses_heading",
        }
    }

    /// Whether something is read otherwise than it was meant.
    pub fn severity(&self) -> Severity {
        match self {
            Kind::BrokenEntry(_)
            | Kind::BrokenAttempt(_)
            | Kind::BrokenVisits(_)
            | Kind::BrokenHeading(_)
            | Kind::UnclosedFence
            | Kind::UnclosedComment
            | Kind::SameTitle(_) => Severity::Error,
            Kind::SecondVisits
            | Kind::IndentedHeading
            | Kind::EphemeralEntry
            | Kind::SecondSection(_)
            | Kind::ViewerSeesHeading(_)
            | Kind::ViewerMissesHeading(_) => Severity::Warning,
        }
    }

    /// How to mend it.
    pub fn hint(&self) -> &'static str {
        match self {
            Kind::BrokenEntry(_) => "write `**[CATEGORY] Title** *(Ep1, T2)*`, or put `\\` before the line",
            Kind::BrokenAttempt(_) => "write ``- `action` ×2 *(Ep1, T2)*: reply``",
            Kind::BrokenVisits(_) => "write `**Visits:** 3 | **Episodes:** 1, 2`",
            Kind::BrokenHeading(_) => {
                "write `## Location 15: Name`, `## NPC id: Name`, `## Agent id: Name`, with an id of `a-z0-9_-`"
            }
            Kind::SecondVisits => "keep one of the lines; the first counts",
            Kind::IndentedHeading => "move it to the start of the line, or put `\\` before the `#`",
            Kind::EphemeralEntry => "remove `EPHEMERAL`: what stands in this file stays",
            Kind::UnclosedFence => "close it with a line of the same marks; until then it hides nothing",
            Kind::UnclosedComment => "close it with `-->`; until then it hides nothing",
            Kind::SameTitle(_) => "give one of the two another title",
            Kind::SecondSection(_) => "move its entries to the first section of that scope",
            Kind::ViewerSeesHeading(_) => "put a blank line before `---`, or `\\` before the `#`",
            Kind::ViewerMissesHeading(_) => {
                "close the HTML block above it, or leave a blank line before the heading"
            }
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::BrokenEntry(line) => write!(f, "`{}` starts like an entry and is none", cut(line)),
            Kind::BrokenAttempt(line) => write!(f, "`{}` names no action", cut(line)),
            Kind::BrokenVisits(line) => write!(f, "`{}` states no number of visits", cut(line)),
            Kind::BrokenHeading(line) => write!(f, "`{}` starts like a section and is none", cut(line)),
            Kind::SecondVisits => f.write_str("a second visits line in one section"),
            Kind::IndentedHeading => f.write_str("an indented heading begins no section"),
            Kind::EphemeralEntry => f.write_str("an ephemeral memory in the permanent file"),
            Kind::UnclosedFence => f.write_str("a code fence is opened and never closed"),
            Kind::UnclosedComment => f.write_str("a comment is opened and never closed"),
            Kind::SameTitle(title) => write!(f, "two live memories are called `{title}`"),
            Kind::SecondSection(scope) => write!(f, "a second section of {scope}; both are read as one"),
            Kind::ViewerSeesHeading(line) => {
                write!(f, "a Markdown viewer shows `{}` as a heading; here it is text", cut(line))
            }
            Kind::ViewerMissesHeading(line) => {
                write!(f, "a Markdown viewer does not show `{}` as a heading; here it is one", cut(line))
            }
        }
    }
}

/// The beginning of a line, for a message.
fn cut(line: &str) -> String {
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
