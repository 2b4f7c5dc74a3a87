//! Titles: the addresses of memories, unique among the live entries of a section.

use crate::document::text::TITLE_CHARS;
use crate::notebook::duplicates::says_the_same;
use crate::notebook::files::Files;
use crate::types::{Memory, Scope, same_title};

/// The title of the live entry that has a new memory's title and says something else. A title is an
/// address: it is unique, except among kinds that only grow.
pub(crate) fn title_in_use(files: &Files, scope: &Scope, memory: &Memory) -> Option<String> {
    if memory.category.only_grows() {
        return None;
    }
    let section = files.section(scope);
    let other = section.live().find(|other| same_title(&other.title, &memory.title));
    other.filter(|other| !says_the_same(&other.text, &memory.text)).map(|other| other.title.clone())
}

/// The memory with a free title: its own, else the first of its own with ` (2)`, ` (3)` … that no live
/// entry of the section has. A title also counts as free if the entry that has it is `meant`.
pub(crate) fn free_title(
    files: &Files,
    scope: &Scope,
    memory: Memory,
    meant: impl Fn(&Memory) -> bool,
) -> Memory {
    let section = files.section(scope);
    let taken = |title: &str| section.live().find(|other| same_title(&other.title, title));
    let title = numbered_titles(&memory.title).find(|title| taken(title).is_none_or(&meant));
    Memory { title: title.unwrap_or_default(), ..memory }
}

/// A title, then the same with ` (2)`, ` (3)` …, without end and within the longest title.
pub(super) fn numbered_titles(title: &str) -> impl Iterator<Item = String> {
    let stem: String = title.chars().take(TITLE_CHARS - 9).collect();
    std::iter::once(title.to_owned()).chain((2..).map(move |number| format!("{stem} ({number})")))
}

/// A title without the number that [`numbered_titles`] gave it.
pub(crate) fn without_number(title: &str) -> &str {
    let stem = title.strip_suffix(')').and_then(|title| title.rsplit_once(" ("));
    let is_number = |number: &str| number.parse::<u64>().is_ok();
    stem.filter(|(_, number)| is_number(number)).map_or(title, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_titles_come_and_go() {
        assert_eq!(numbered_titles("Troll").take(3).collect::<Vec<_>>(), ["Troll", "Troll (2)", "Troll (3)"]);
        assert!(numbered_titles(&"x".repeat(TITLE_CHARS)).nth(1000).unwrap().chars().count() <= TITLE_CHARS);
        for (title, expected) in
            [("Troll (2)", "Troll"), ("Troll (two)", "Troll (two)"), ("(2)", "(2)"), ("Troll", "Troll")]
        {
            assert_eq!(without_number(title), expected);
        }
    }
}
