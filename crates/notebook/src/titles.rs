//! Titles: the addresses of memories, unique among the live entries of a section.

use std::collections::HashMap;

use crate::duplicates::says_the_same;
use crate::files::Files;
use memories_document::text::{TITLE_CHARS, write_title};
use memories_document::types::text::cut_at_word;
use memories_document::types::{Memory, Scope, fold_title};
use memories_document::{EntryText, stored};

/// Longest name of a place that tells titles apart, in characters.
const MAX_NAME_CHARS: usize = 30;

/// The title of the live entry that has a new memory's title and says something else. A title is an
/// address: it is unique, except among kinds that only grow.
pub(crate) fn title_in_use(files: &Files, scope: &Scope, memory: &Memory) -> Option<String> {
    if memory.category.only_grows() {
        return None;
    }
    let other = files.live_with_title(scope, &memory.title);
    other.filter(|other| !says_the_same(&other.text, &memory.text)).map(|other| other.title)
}

/// The memory with a free title: its own, else the first of its own with ` (2)`, ` (3)` … that no live
/// entry of the section has. A title also counts as free if the entry that has it is `meant`.
pub fn free_title(files: &Files, scope: &Scope, memory: Memory, meant: impl Fn(&Memory) -> bool) -> Memory {
    let is_free = |entry: Option<&EntryText<'_>>| entry.is_none_or(|entry| meant(&entry.read()));
    let own = fold_title(&memory.title);
    if is_free(files.all_live(scope).find(|entry| entry.has_title(&own)).as_ref()) {
        return memory;
    }
    let mut taken: HashMap<String, EntryText<'_>> = HashMap::new();
    for entry in files.all_live(scope) {
        taken.entry(fold_title(&entry.title())).or_insert(entry);
    }
    let title = numbered_titles(&memory.title).find(|title| is_free(taken.get(&fold_title(title))));
    Memory { title: title.unwrap_or_default(), ..memory }
}

/// A memory in its stored form, under a title that no entry has which says something else.
pub fn stored_under_free_title(files: &Files, scope: &Scope, memory: &Memory) -> Memory {
    let memory = stored(memory);
    free_title(files, scope, memory.clone(), |other| says_the_same(&other.text, &memory.text))
}

/// A title, then the same with ` (2)`, ` (3)` …, without end and within the longest title.
pub(super) fn numbered_titles(title: &str) -> impl Iterator<Item = String> {
    let stem: String = title.chars().take(TITLE_CHARS - 9).collect();
    std::iter::once(title.to_owned()).chain((2..).map(move |number| format!("{stem} ({number})")))
}

/// A title that no other section of the lasting file has: the memory's own, else the same with the name of its
/// place, else with the id. An entry of the section itself keeps the title that it was given so.
pub fn distinct_title(files: &Files, scope: &Scope, name: &str, title: &str) -> String {
    let with = |remark: &str| {
        let room = TITLE_CHARS.saturating_sub(remark.chars().count() + 3);
        format!("{} ({remark})", cut_at_word(title, room))
    };
    let mut candidates = vec![title.to_owned()];
    if !name.is_empty() && name.chars().count() <= MAX_NAME_CHARS && !holds_folded(title, name) {
        candidates.push(with(name));
    }
    if let Scope::Location(id) = scope {
        candidates.push(with(&format!("id {id}")));
    }
    let is_own = |title: &&String| {
        let folded = fold_title(title);
        files.live(scope).any(|entry| entry.has_title(&folded))
    };
    let is_free = |title: &&String| !files.lasting.holds(&format!("] {}**", write_title(title)));
    let found = candidates.iter().find(is_own).or_else(|| candidates.iter().find(is_free));
    found.or(candidates.last()).map_or_else(|| title.to_owned(), Clone::clone)
}

fn holds_folded(title: &str, name: &str) -> bool {
    fold_title(title).contains(&fold_title(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_titles_come_and_go() {
        assert_eq!(numbered_titles("Troll").take(3).collect::<Vec<_>>(), ["Troll", "Troll (2)", "Troll (3)"]);
        assert!(numbered_titles(&"x".repeat(TITLE_CHARS)).nth(1000).unwrap().chars().count() <= TITLE_CHARS);
    }
}
