//! Memory files as a format of import and export.
//!
//! Entries, headings, visits lines and tried actions that cannot be parsed are reported with their line;
//! text that people wrote between them is left out.

use std::collections::BTreeMap;

use crate::document::check::{entries, problems};
use crate::document::problem::Kind;
use crate::document::{Document, Section, SectionUpdate};
use crate::transfer::error::TransferError;
use crate::transfer::place::PlaceReference;
use crate::transfer::source::{Item, Origin, TransferSource};
use crate::types::Scope;

/// Reads a memory file.
///
/// # Errors
///
/// [`TransferError`] if it is not UTF-8.
pub fn read(bytes: &[u8]) -> Result<TransferSource, TransferError> {
    let text = std::str::from_utf8(bytes).map_err(|error| TransferError {
        problem: format!("not UTF-8: byte {}", error.valid_up_to() + 1),
        hint: "convert it to UTF-8, for example with `iconv`",
    })?;
    let document = Document::parse(text.to_owned());
    let mut first_lines: BTreeMap<Scope, usize> = BTreeMap::new();
    for (scope, line) in document.heading_lines() {
        first_lines.entry(scope.clone()).or_insert(line);
    }
    let mut names: BTreeMap<Scope, String> = BTreeMap::new();
    let mut source = TransferSource::default();
    for (scope, section) in document.sections() {
        let at = Origin::Line(first_lines.get(&scope).copied().unwrap_or(1));
        names.insert(scope.clone(), section.name.clone());
        let place = PlaceReference::Scope(scope, section.name.clone());
        source.push(at, Ok(Item::Section { place, section: Box::new(section) }));
    }
    for entry in entries(text) {
        let name = names.get(&entry.scope).cloned().unwrap_or_default();
        let place = PlaceReference::Scope(entry.scope, name);
        let item = Item::Memory { place, memory: Box::new(entry.memory), titled: true };
        source.push(Origin::Line(entry.line), Ok(item));
    }
    for problem in problems(text) {
        let is_broken =
            matches!(problem.kind, Kind::BrokenVisits(_) | Kind::BrokenAttempt(_) | Kind::BrokenWay(_));
        if is_broken || problem.kind.hides_memories() {
            source.push(Origin::Line(problem.line), Err(problem.kind.to_string()));
        }
    }
    Ok(source)
}

/// Writes a memory file with these sections.
///
/// # Errors
///
/// [`TransferError`] if the text would be parsed differently from what was written.
pub fn write(sections: &[(Scope, Section)]) -> Result<Vec<u8>, TransferError> {
    let mut document = Document::parse(String::new());
    let additions = sections.iter().map(|(scope, section)| {
        let Section { name, visits, episodes, first_visit, memories, tried, worked, ways, seen, notes: _ } =
            section.clone();
        let entries = BTreeMap::new();
        let attempts = tried;
        let update = SectionUpdate {
            name,
            visits,
            episodes,
            memories,
            entries,
            first_visit,
            attempts,
            worked,
            ways,
            seen,
        };
        (scope.clone(), update)
    });
    let text = document.update(&additions.collect()).and_then(|()| document.into_text());
    text.map(String::into_bytes).map_err(|error| TransferError {
        problem: error.to_string(),
        hint: "`memories check` shows what is wrong with the file; JSONL can hold it all the same",
    })
}
