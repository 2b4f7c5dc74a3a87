//! Problems of a file, described for the person who fixes them.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;

use serde::Serialize;

use crate::grammar;
use crate::scan::LineNumbers;
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
    /// The range of the file that `check --fix` replaces by it, where nothing else can be meant. It ends before
    /// the line ending.
    pub(crate) mend: Option<Range<usize>>,
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

/// Declares the kinds of problem: the slip, how bad it is, what is said of it, and how to fix it.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident$(($value:ident: $of:ty))?$({ $($(#[$field_doc:meta])* $field:ident: $type:ty,)* })?
        => $severity:ident, $message:literal $(, $argument:expr)*; $hint:expr;)*) => {
        /// The kinds of problem.
        #[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
        #[strum(serialize_all = "snake_case")]
        pub enum Kind {
            $($(#[$doc])* $name$(($of))?$({ $($(#[$field_doc])* $field: $type,)* })?,)*
        }

        impl Display for Kind {
            fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
                match self {
                    $(Kind::$name$(($value))?$({ $($field,)* })? => {
                        $($(let _ = $field;)*)?
                        write!(out, $message $(, $argument)*)
                    })*
                }
            }
        }

        impl Kind {
            /// How much the problem matters.
            pub fn severity(&self) -> Severity {
                match self {
                    $(Kind::$name { .. } => Severity::$severity,)*
                }
            }

            /// How to fix it.
            pub fn hint(&self) -> &'static str {
                match self {
                    Kind::SecondLine { is_joined: true, .. } => "`memories check --fix` keeps the later",
                    Kind::SecondSection { is_joined: true, .. } => "`memories check --fix` joins the two",
                    $(Kind::$name { .. } => $hint,)*
                }
            }
        }
    };
}

kinds! {
    /// A line starts like an entry but is none.
    BrokenEntry(line: String) => Error, "`{}` starts like an entry and is none", cut(line);
        "write `**[CATEGORY] Title** *(Ep1, T2)*`, or put `\\` before the line";
    /// A line under `### Tried` that names no action.
    BrokenAttempt(line: String) => Error, "`{}` names no action", cut(line);
        "write ``- `action` ×2 *(Ep1, T2)*: reply``";
    /// A line under `### Ways` that leads from an action to no place.
    BrokenWay(line: String) => Error, "`{}` is no way", cut(line);
        "write ``- `north` → [Name](#location-15-name) *(Ep1, T2)*``";
    /// A visits line without a number.
    BrokenVisits(line: String) => Error, "`{}` states no number of visits", cut(line);
        "write `**Visits:** 3 | **Episodes:** 1, 2`";
    /// A heading starts like one of our sections but is none.
    BrokenHeading(line: String) => Error, "`{}` starts like a section and is none", cut(line);
        "write `## Location 15: Name`, `## NPC id: Name`, `## Agent id: Name`, with an id of `a-z0-9_-`";
    /// A heading that names no section, above entries: they belong to nothing.
    LostEntries {
        /// The heading, or the first of the entries where they stand above all headings.
        heading: String,
        /// Number of entries.
        count: usize,
    } => Error, "`{}` is no section, and {count} {} below it {} to nothing", cut(heading),
        if *count == 1 { "memory" } else { "memories" }, if *count == 1 { "belongs" } else { "belong" };
        "write `## Location 15: Name` with the place's id, or move them into a section";
    /// A field behind a title is nearly one that is known, and is not read.
    BrokenField(field: String) => Error, "the field `{}` cannot be read", cut(field);
        "write `Ep1`, `T2`, `importance 900` (1 to 1000) and other fields with commas between them";
    /// The fields of an entry stand in the line below it, where they are text.
    WrappedFields(fields: String) => Error, "`{}` stands below its entry and is read as text", cut(fields);
        "move it to the end of the line above";
    /// An entry under `### Tried`; the tries behind it are read as its text.
    EntryAmongTries(line: String) => Error, "the tried actions behind `{}` are read as its text", cut(line);
        "move the entry above `### Tried`";
    /// The whole text of a live entry is struck.
    StruckLive(title: String) => Error, "the text of `{}` is struck, and its brackets say that it holds", cut(title);
        "write ` - SUPERSEDED` into the brackets, or remove the strikes";
    /// A category that is nearly a known one, or holds a word that is set off by ` - `.
    NearCategory {
        /// The category in the file.
        category: String,
        /// The brackets that were most likely meant.
        nearest: String,
    } => Warning, "the category `{category}` is nearly `{nearest}`";
        "write the known one, or keep it: categories may be your own";
    /// A key stands twice in a visits line.
    RepeatedKey(key: String) => Error, "`{key}` stands twice in the visits line";
        "keep one of them; `memories check --fix` joins episodes and visits";
    /// More than one visits line.
    SecondVisits => Warning, "a second visits line in one section";
        "`memories check --fix` joins the two";
    /// A part of a section begins for the second time; its heading.
    SecondList(heading: &'static str) => Warning, "a second `{heading}` in one section";
        "`memories check --fix` joins the two";
    /// Another line of a list is about the same action or way.
    SecondLine {
        /// The action.
        action: String,
        /// True if `check --fix` writes one line: no person wrote one of them.
        is_joined: bool,
    } => Warning, "`{}` stands in another line of this list, too", cut(action);
        "keep one of the lines; the later counts";
    /// A level-1 or level-2 heading is indented: text for us, a heading for others.
    IndentedHeading => Warning, "an indented heading begins no section";
        "move it to the start of the line, or put `\\` before the `#`";
    /// An ephemeral memory in the permanent file.
    EphemeralEntry => Warning, "an ephemeral memory in the permanent file";
        "remove `EPHEMERAL`: what stands in this file stays";
    /// A code fence that is never closed.
    UnclosedFence => Error, "a code fence is opened and never closed";
        "close it with a line of the same marks; until then it hides nothing";
    /// A comment that is never closed.
    UnclosedComment => Error, "a comment is opened and never closed";
        "close it with `-->`; until then it hides nothing";
    /// Two live entries of a section have the same title.
    SameTitle(title: String) => Error, "two live memories are called `{title}`";
        "give one of the two another title";
    /// A scope has a second section; both are read as one.
    SecondSection {
        /// The scope.
        scope: String,
        /// True if neither of them bears another name.
        is_joined: bool,
    } => Warning, "a second section of {scope}; both are read as one";
        "give both headings one name; then `memories check --fix` joins the two";
    /// A Markdown viewer sees a heading that we read as text.
    ViewerSeesHeading(line: String) => Warning, "a Markdown viewer shows `{}` as a heading; here it is text", cut(line);
        "put a blank line before `---`, or `\\` before the `#`";
    /// A Markdown viewer does not see a heading that this program sees.
    ViewerMissesHeading(line: String) => Warning, "a Markdown viewer does not show `{}` as a heading; here it is one", cut(line);
        "close the HTML block above it, or leave a blank line before the heading";
    /// A line starts like a reference but is none.
    BrokenReference(line: String) => Error, "`{}` does not say by what or why", cut(line);
        "write `[Superseded at Ep2 T45 by \"title\"]` or `[Invalidated at Ep2 T45: \"reason\"]`";
    /// A live entry has a reference line.
    ReferenceOfLiveEntry(line: String) => Warning, "`{}` stands in an entry that is not superseded", cut(line);
        "the brackets decide: write ` - SUPERSEDED` into them, or remove the line";
    /// No entry of the section has the title that supersedes an entry.
    LostReference(title: String) => Warning, "superseded by `{title}`, and no entry of the section is called so";
        "put the successor's present title there, exactly as it stands";
    /// Entries supersede each other, and none of them is live.
    CircularReference(titles: Vec<String>) => Warning, "superseded in a circle, so that none is live: `{}`", titles.join("` by `");
        "take `SUPERSEDED` and the line below it from the one that is true";
    /// A `See also:` link leads to nothing.
    LostLink(link: String) => Warning, "`{}` leads to nothing", cut(link);
        "write `See also: [[Location 23 › Title]]` with a title that stands there";
    /// Double-encoded characters.
    EncodedTwice {
        /// The characters in the file.
        seen: String,
        /// The characters that were meant.
        meant: String,
    } => Warning, "`{}` was encoded twice; `{}` was meant", cut(seen), cut(meant);
        "put the right characters there; a program read UTF-8 as Windows-1252 and saved it";
    /// Characters of a line that nobody sees, or that change how it is seen.
    Unseen(characters: Vec<char>) => Warning, "{} not seen: {}",
        if characters.len() == 1 { "a character is" } else { "characters are" }, code_points(characters);
        "remove them unless you know why they are there; a terminal or a model may obey them";
    /// Two live entries of a section have titles that look the same.
    SameLook {
        /// Title of this entry.
        title: String,
        /// Title of the other entry.
        other: String,
        /// Line of the other entry.
        line: usize,
    } => Warning, "`{title}` looks like `{other}` in line {line}";
        "find out who wrote which, and supersede or rename one";
    /// A merge gave an entry a title with a number: this one.
    MergedTitle(title: String) => Warning, "the other side of a merge gave the title of `{}` to other words", cut(title);
        "read both, supersede or rename one, and remove the tag `#same-title`";
    /// A tag of an entry of a folder that was meant to name a file.
    BrokenAnchor(tag: String) => Warning, "`#{}` names no file and its state", cut(tag);
        "write `#file:src/x.rs@1f3a2b4c`: the path from the root and the id that `git hash-object` prints";
    /// The file states a newer version of the format.
    NewerFormat(version: u64) => Error, "the file has format {version}, and this program knows format {FORMAT}";
        NEWER_FORMAT;
    /// An item of a list of evidence in the text of an entry, most likely because a heading is missing.
    EvidenceInText(line: String) => Error, "`{}` is read as text of the memory above it", cut(line);
        "write `### Ways`, `### Worked`, `### Seen` or `### Tried` above the list";
    /// A way leads to a place that has no section, and a place of that name has another id.
    LostWay {
        /// The id in the link.
        to: u64,
        /// The name in the link.
        name: String,
        /// The place that has this name.
        found: u64,
    } => Error, "the way leads to location {to}, which has no section; `{name}` is location {found}";
        "give the place its former id, or write the new one into each way that leads there";
    /// An importance that may be meant on a scale of ten.
    LowImportance(importance: u16) => Warning, "importance {importance} is almost the lowest on the scale of 1 to 1000";
        "write `importance 900` for 9 of 10; otherwise leave it";
    /// A tag that looks as if it named a witness, or who told an entry.
    BrokenWitness(tag: String) => Warning, "`{}` names no character", cut(tag);
        "write `#witness:marta` or `#told-by:marta`, with an id of `a-z0-9_-`; else nobody may know the entry";
    /// A line that ends with a carriage return alone, as old Macs wrote it: what follows is read as the same line.
    LoneReturn => Error, "a carriage return alone ends no line: what follows it is read as the same line";
        "convert the line ends, for example with `tr '\\r' '\\n'`";
    /// A conflict that a merge left.
    Conflict => Error, "an unresolved git merge conflict";
        MERGE_OR_RESOLVE;
    /// Something looks like a secret; the kind of secret.
    Secret(kind: String) => Warning, "this looks like a secret: {kind}";
        "remove it here and from the history of the repository, and have it revoked";
    /// A location is not on the map.
    NotOnMap(id: u64) => Warning, "location {id} is not on the map";
        "mind the id; places that the game does not have are never recalled";
    /// An entry may say the same as another one of its section.
    LookAlike {
        /// Title of this entry.
        title: String,
        /// Title of the other entry.
        other: String,
        /// Line of the other entry.
        line: usize,
    } => Warning, "`{title}` may say what `{other}` in line {line} says";
        "read both; where one is enough, supersede the other";
}

impl Kind {
    /// True if a whole section or entry is not read as it was meant.
    pub fn hides_memories(&self) -> bool {
        matches!(
            self,
            Kind::BrokenHeading(_) | Kind::LostEntries { .. } | Kind::BrokenEntry(_) | Kind::LoneReturn
        )
    }
}

impl Problem {
    /// A problem at a line and a column, both counted from 1.
    pub fn new(line: usize, column: usize, kind: Kind) -> Problem {
        Problem { line, column, kind, nearest: None }
    }

    /// A problem at an offset into a file.
    pub(crate) fn at(source: &str, numbers: &LineNumbers, offset: usize, kind: Kind) -> Problem {
        let start = source[..offset].rfind('\n').map_or(0, |at| at + 1);
        Problem::new(numbers.line(offset), column(&source[start..], offset - start), kind)
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
        is_joined || self.nearest.as_ref().is_some_and(|nearest| nearest.mend.is_some())
    }

    /// How to fix it.
    pub fn hint(&self) -> String {
        match &self.nearest {
            None => self.kind.hint().to_owned(),
            Some(Nearest { line, mend: None }) => format!("write `{line}`"),
            Some(Nearest { line, .. }) => format!("write `{line}`; `memories check --fix` does"),
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
            Kind::SameTitle(_) | Kind::SameLook { .. } | Kind::MergedTitle(_) | Kind::BrokenAnchor(_) => {
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
