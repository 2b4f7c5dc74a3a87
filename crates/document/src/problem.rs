//! Problems of a file, described for the person who fixes them.

use serde::Serialize;

use crate::grammar;
use crate::text::find_unescaped_stars;
use crate::types::hint::{MERGE_OR_RESOLVE, NEWER_FORMAT};
use crate::types::text::truncate;
use crate::version::FORMAT;

/// A problem of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line number: within a section from the heading as 0, in a file from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The kind of problem.
    pub kind: Kind,
    /// The nearest right form of the line, where one is known.
    pub nearest: Option<Nearest>,
}

/// The nearest right form of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// The line as it is written right.
    pub line: String,
    /// True if nothing else can be meant, so that `check --fix` writes it.
    pub(crate) mended: bool,
}

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is not read as it was meant.
    Error,
    /// Everything is read, but other programs or people may read it differently.
    Warning,
}

/// The kinds of problem.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr, thiserror::Error)]
#[strum(serialize_all = "snake_case")]
pub enum Kind {
    /// A line starts like an entry but is none.
    #[error("`{}` starts like an entry and is none", cut(.0))]
    BrokenEntry(String),
    /// A line under `### Tried` that names no action.
    #[error("`{}` names no action", cut(.0))]
    BrokenAttempt(String),
    /// A line under `### Ways` that leads from an action to no place.
    #[error("`{}` is no way", cut(.0))]
    BrokenWay(String),
    /// A visits line without a number.
    #[error("`{}` states no number of visits", cut(.0))]
    BrokenVisits(String),
    /// A heading starts like one of our sections but is none.
    #[error("`{}` starts like a section and is none", cut(.0))]
    BrokenHeading(String),
    /// A heading that names no section, above entries: they belong to nothing.
    #[error("`{}` is no section, and {count} {} below it {} to nothing", cut(heading),
        if *count == 1 { "memory" } else { "memories" }, if *count == 1 { "belongs" } else { "belong" })]
    LostEntries {
        /// The heading, or the first of the entries where they stand above all headings.
        heading: String,
        /// Number of entries.
        count: usize,
    },
    /// A field behind a title is nearly one that is known, and is not read.
    #[error("the field `{}` cannot be read", cut(.0))]
    BrokenField(String),
    /// The fields of an entry stand in the line below it, where they are text.
    #[error("`{}` stands below its entry and is read as text", cut(.0))]
    WrappedFields(String),
    /// An entry under `### Tried`; the tries behind it are read as its text.
    #[error("the tried actions behind `{}` are read as its text", cut(.0))]
    EntryAmongTries(String),
    /// The whole text of a live entry is struck.
    #[error("the text of `{}` is struck, and its brackets say that it holds", cut(.0))]
    StruckLive(String),
    /// A category that is nearly a known one, or holds a word that is set off by ` - `.
    #[error("the category `{category}` is nearly `{nearest}`")]
    NearCategory {
        /// The category in the file.
        category: String,
        /// The brackets that were most likely meant.
        nearest: String,
    },
    /// A key stands twice in a visits line.
    #[error("`{0}` stands twice in the visits line")]
    RepeatedKey(String),
    /// More than one visits line.
    #[error("a second visits line in one section")]
    SecondVisits,
    /// A part of a section begins for the second time; its heading.
    #[error("a second `{0}` in one section")]
    SecondList(&'static str),
    /// Another line of a list is about the same action or way.
    #[error("`{}` stands in another line of this list, too", cut(action))]
    SecondLine {
        /// The action.
        action: String,
        /// True if `check --fix` writes one line: no person wrote one of them.
        is_joined: bool,
    },
    /// A level-1 or level-2 heading is indented: text for us, a heading for others.
    #[error("an indented heading begins no section")]
    IndentedHeading,
    /// An ephemeral memory in the permanent file.
    #[error("an ephemeral memory in the permanent file")]
    EphemeralEntry,
    /// A code fence that is never closed.
    #[error("a code fence is opened and never closed")]
    UnclosedFence,
    /// A comment that is never closed.
    #[error("a comment is opened and never closed")]
    UnclosedComment,
    /// Two live entries of a section have the same title.
    #[error("two live memories are called `{0}`")]
    SameTitle(String),
    /// A scope has a second section; both are read as one.
    #[error("a second section of {scope}; both are read as one")]
    SecondSection {
        /// The scope.
        scope: String,
        /// True if neither of them bears another name.
        is_joined: bool,
    },
    /// A Markdown viewer sees a heading that we read as text.
    #[error("a Markdown viewer shows `{}` as a heading; here it is text", cut(.0))]
    ViewerSeesHeading(String),
    /// A Markdown viewer does not see a heading that this program sees.
    #[error("a Markdown viewer does not show `{}` as a heading; here it is one", cut(.0))]
    ViewerMissesHeading(String),
    /// A line starts like a reference but is none.
    #[error("`{}` does not say by what or why", cut(.0))]
    BrokenReference(String),
    /// A live entry has a reference line.
    #[error("`{}` stands in an entry that is not superseded", cut(.0))]
    ReferenceOfLiveEntry(String),
    /// No entry of the section has the title that supersedes an entry.
    #[error("superseded by `{0}`, and no entry of the section is called so")]
    LostReference(String),
    /// Entries supersede each other, and none of them is live.
    #[error("superseded in a circle, so that none is live: `{}`", .0.join("` by `"))]
    CircularReference(Vec<String>),
    /// A `See also:` link leads to nothing.
    #[error("`{}` leads to nothing", cut(.0))]
    LostLink(String),
    /// Double-encoded characters.
    #[error("`{}` was encoded twice; `{}` was meant", cut(.seen), cut(.meant))]
    EncodedTwice {
        /// The characters in the file.
        seen: String,
        /// The characters that were meant.
        meant: String,
    },
    /// Characters of a line that nobody sees, or that change how it is seen.
    #[error("{} not seen: {}", if .0.len() == 1 { "a character is" } else { "characters are" }, code_points(.0))]
    Unseen(Vec<char>),
    /// Two live entries of a section have titles that look the same.
    #[error("`{title}` looks like `{other}` in line {line}")]
    SameLook {
        /// Title of this entry.
        title: String,
        /// Title of the other entry.
        other: String,
        /// Line of the other entry.
        line: usize,
    },
    /// A merge gave an entry a title with a number: this one.
    #[error("the other side of a merge gave the title of `{}` to other words", cut(.0))]
    MergedTitle(String),
    /// The file states a newer version of the format.
    #[error("the file has format {0}, and this program knows format {FORMAT}")]
    NewerFormat(u64),
    /// An item of a list of evidence in the text of an entry, most likely because a heading is missing.
    #[error("`{}` is read as text of the memory above it", cut(.0))]
    EvidenceInText(String),
    /// A way leads to a place that has no section, and a place of that name has another id.
    #[error("the way leads to location {to}, which has no section; `{name}` is location {found}")]
    LostWay {
        /// The id in the link.
        to: u64,
        /// The name in the link.
        name: String,
        /// The place that has this name.
        found: u64,
    },
    /// An importance that may be meant on a scale of ten.
    #[error("importance {0} is almost the lowest on the scale of 1 to 1000")]
    LowImportance(u16),
    /// A line that ends with a carriage return alone, as old Macs wrote it: what follows is read as the same line.
    #[error("a carriage return alone ends no line: what follows it is read as the same line")]
    LoneReturn,
    /// A conflict that a merge left.
    #[error("an unresolved git merge conflict")]
    Conflict,
    /// Something looks like a secret; the kind of secret.
    #[error("this looks like a secret: {0}")]
    Secret(String),
    /// A location is not on the map.
    #[error("location {0} is not on the map")]
    NotOnMap(u64),
    /// An entry may say the same as another one of its section.
    #[error("`{title}` may say what `{other}` in line {line} says")]
    LookAlike {
        /// Title of this entry.
        title: String,
        /// Title of the other entry.
        other: String,
        /// Line of the other entry.
        line: usize,
    },
}

impl Kind {
    /// How much the problem matters.
    pub fn severity(&self) -> Severity {
        match self {
            Kind::BrokenEntry(_)
            | Kind::BrokenAttempt(_)
            | Kind::BrokenWay(_)
            | Kind::BrokenVisits(_)
            | Kind::RepeatedKey(_)
            | Kind::BrokenHeading(_)
            | Kind::LostEntries { .. }
            | Kind::BrokenField(_)
            | Kind::WrappedFields(_)
            | Kind::EntryAmongTries(_)
            | Kind::StruckLive(_)
            | Kind::UnclosedFence
            | Kind::UnclosedComment
            | Kind::BrokenReference(_)
            | Kind::Conflict
            | Kind::NewerFormat(_)
            | Kind::EvidenceInText(_)
            | Kind::LostWay { .. }
            | Kind::LoneReturn
            | Kind::SameTitle(_) => Severity::Error,
            _ => Severity::Warning,
        }
    }

    /// True if a whole section or entry is not read as it was meant.
    pub fn hides_memories(&self) -> bool {
        matches!(
            self,
            Kind::BrokenHeading(_) | Kind::LostEntries { .. } | Kind::BrokenEntry(_) | Kind::LoneReturn
        )
    }

    /// How to fix it.
    pub fn hint(&self) -> &'static str {
        match self {
            Kind::BrokenEntry(_) => "write `**[CATEGORY] Title** *(Ep1, T2)*`, or put `\\` before the line",
            Kind::BrokenAttempt(_) => "write ``- `action` ×2 *(Ep1, T2)*: reply``",
            Kind::BrokenWay(_) => "write ``- `north` → [Name](#location-15-name) *(Ep1, T2)*``",
            Kind::BrokenVisits(_) => "write `**Visits:** 3 | **Episodes:** 1, 2`",
            Kind::BrokenHeading(_) => {
                "write `## Location 15: Name`, `## NPC id: Name`, `## Agent id: Name`, with an id of `a-z0-9_-`"
            }
            Kind::LostEntries { .. } => {
                "write `## Location 15: Name` with the place's id, or move them into a section"
            }
            Kind::BrokenField(_) => {
                "write `Ep1`, `T2`, `importance 900` (1 to 1000) and other fields with commas between them"
            }
            Kind::WrappedFields(_) => "move it to the end of the line above",
            Kind::EntryAmongTries(_) => "move the entry above `### Tried`",
            Kind::StruckLive(_) => "write ` - SUPERSEDED` into the brackets, or remove the strikes",
            Kind::NearCategory { .. } => "write the known one, or keep it: categories may be your own",
            Kind::RepeatedKey(_) => "keep one of them; `memories check --fix` joins episodes and visits",
            Kind::SecondVisits | Kind::SecondList(_) => "`memories check --fix` joins the two",
            Kind::SecondLine { is_joined: true, .. } => "`memories check --fix` keeps the later",
            Kind::SecondLine { is_joined: false, .. } => "keep one of the lines; the later counts",
            Kind::IndentedHeading => "move it to the start of the line, or put `\\` before the `#`",
            Kind::EphemeralEntry => "remove `EPHEMERAL`: what stands in this file stays",
            Kind::UnclosedFence => "close it with a line of the same marks; until then it hides nothing",
            Kind::UnclosedComment => "close it with `-->`; until then it hides nothing",
            Kind::SameTitle(_) => "give one of the two another title",
            Kind::SecondSection { is_joined: true, .. } => "`memories check --fix` joins the two",
            Kind::SecondSection { is_joined: false, .. } => {
                "give both headings one name; then `memories check --fix` joins the two"
            }
            Kind::ViewerSeesHeading(_) => "put a blank line before `---`, or `\\` before the `#`",
            Kind::ViewerMissesHeading(_) => {
                "close the HTML block above it, or leave a blank line before the heading"
            }
            Kind::BrokenReference(_) => {
                "write `[Superseded at Ep2 T45 by \"title\"]` or `[Invalidated at Ep2 T45: \"reason\"]`"
            }
            Kind::ReferenceOfLiveEntry(_) => {
                "the brackets decide: write ` - SUPERSEDED` into them, or remove the line"
            }
            Kind::LostReference(_) => "put the successor's present title there, exactly as it stands",
            Kind::CircularReference(_) => "take `SUPERSEDED` and the line below it from the one that is true",
            Kind::LostLink(_) => "write `See also: [[Location 23 › Title]]` with a title that stands there",
            Kind::EncodedTwice { .. } => {
                "put the right characters there; a program read UTF-8 as Windows-1252 and saved it"
            }
            Kind::Unseen(_) => {
                "remove them unless you know why they are there; a terminal or a model may obey them"
            }
            Kind::SameLook { .. } => "find out who wrote which, and supersede or rename one",
            Kind::MergedTitle(_) => "read both, supersede or rename one, and remove the tag `#same-title`",
            Kind::NewerFormat(_) => NEWER_FORMAT,
            Kind::EvidenceInText(_) => {
                "write `### Ways`, `### Worked`, `### Seen` or `### Tried` above the list"
            }
            Kind::LostWay { .. } => {
                "give the place its former id, or write the new one into each way that leads there"
            }
            Kind::LowImportance(_) => "write `importance 900` for 9 of 10; otherwise leave it",
            Kind::LoneReturn => "convert the line ends, for example with `tr '\\r' '\\n'`",
            Kind::Conflict => MERGE_OR_RESOLVE,
            Kind::Secret(_) => "remove it here and from the history of the repository, and have it revoked",
            Kind::NotOnMap(_) => "mind the id; places that the game does not have are never recalled",
            Kind::LookAlike { .. } => "read both; where one is enough, supersede the other",
        }
    }
}

impl Problem {
    /// A problem at a line and a column, both counted from 1.
    pub fn new(line: usize, column: usize, kind: Kind) -> Problem {
        Problem { line, column, kind, nearest: None }
    }

    /// A problem of a line with its nearest right form, at the column where the two begin to differ.
    pub(crate) fn near(number: usize, line: &str, nearest: Nearest, kind: Kind) -> Problem {
        let same = line.chars().zip(nearest.line.chars()).take_while(|(one, other)| one == other).count();
        Problem { line: number, column: same + 1, kind, nearest: Some(nearest) }
    }

    /// True if `check --fix` mends it.
    pub fn is_mended_by_fix(&self) -> bool {
        let is_joined = match self.kind {
            Kind::SecondVisits | Kind::SecondList(_) => true,
            Kind::SecondLine { is_joined, .. } | Kind::SecondSection { is_joined, .. } => is_joined,
            _ => false,
        };
        is_joined || self.nearest.as_ref().is_some_and(|nearest| nearest.mended)
    }

    /// How to fix it.
    pub fn hint(&self) -> String {
        match &self.nearest {
            None => self.kind.hint().to_owned(),
            Some(Nearest { line, mended: false }) => format!("write `{line}`"),
            Some(Nearest { line, mended: true }) => format!("write `{line}`; `memories check --fix` does"),
        }
    }

    /// A problem of a line, with the column at which the line stops being understood.
    pub(crate) fn of_line(number: usize, line: &str, kind: Kind) -> Problem {
        let offset = match kind {
            Kind::BrokenEntry(_) => entry_fault(line),
            Kind::BrokenAttempt(_) | Kind::BrokenWay(_) => 2,
            Kind::BrokenVisits(_) => line.find(":**").map_or(0, |at| at + 3),
            Kind::BrokenHeading(_) => {
                line.char_indices().skip(3).find(|(_, c)| matches!(c, ' ' | ':')).map_or(0, |(at, _)| at + 1)
            }
            Kind::IndentedHeading | Kind::BrokenReference(_) | Kind::ReferenceOfLiveEntry(_) => 0,
            Kind::EphemeralEntry => line.to_ascii_uppercase().find("EPHEMERAL").unwrap_or(0),
            Kind::SameTitle(_) | Kind::SameLook { .. } | Kind::MergedTitle(_) => {
                line.find(']').map_or(0, |at| at + 1)
            }
            _ => return Problem::new(number, 1, kind),
        };
        // A line that is only nearly an entry may have any character there.
        let offset = (0..=offset.min(line.len())).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0);
        let space = line[offset..].len() - line[offset..].trim_start().len();
        Problem::new(number, column(line, offset + space), kind)
    }
}

/// The column, in characters from 1, of an offset into a line.
pub fn column(line: &str, offset: usize) -> usize {
    line[..offset].chars().count() + 1
}

/// Where a line that starts like an entry stops being one.
fn entry_fault(line: &str) -> usize {
    let Some(end) = line.find(']') else { return 2 };
    let Some(stars) = find_unescaped_stars(&line[end + 1..]) else { return end + 1 };
    let title = &line[end + 1..end + 1 + stars];
    let closed = format!("{}**", &line[..end + 1 + stars]);
    match grammar::parse_entry(&closed) {
        Some(_) => end + 1 + stars + 2,
        None if title.trim().is_empty() => end + 1,
        None => 3,
    }
}

/// Characters by their numbers: `U+202E, U+200B`.
fn code_points(characters: &[char]) -> String {
    let points: Vec<String> = characters.iter().map(|&c| format!("U+{:04X}", u32::from(c))).collect();
    points.join(", ")
}

/// The start of a line, for a message.
fn cut(line: &str) -> String {
    truncate(line, 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_of_an_entry_is_where_it_stops_being_one() {
        for (line, column) in [
            ("**[] x** *(Ep1)*", 4),
            ("**[] Sword** *(Ep1)*", 4),
            ("**[NOTE] ** *(Ep1)*", 10),
            ("**[NOTE] x** and more", 14),
            ("**[NOTE] x", 10),
            ("**[NOTE x", 3),
        ] {
            let problem = Problem::of_line(1, line, Kind::BrokenEntry(line.to_owned()));
            assert_eq!(problem.column, column, "{line}");
        }
    }

    #[test]
    fn a_column_lies_between_two_characters() {
        for line in ["[é", "*–[NOTE] x", "[🗡", "", "*"] {
            let problem = Problem::of_line(3, line, Kind::BrokenEntry(line.to_owned()));
            assert!((1..=line.chars().count() + 1).contains(&problem.column), "{line}: {}", problem.column);
        }
    }
}
