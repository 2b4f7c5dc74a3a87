//! Memory files as a format of import and export.
//!
//! Entries, headings, visits lines and tried actions that cannot be parsed are reported with their line;
//! text that people wrote between them is left out, and said to be.

use std::collections::BTreeMap;

use crate::transfer::place::PlaceReference;
use crate::transfer::source::{Item, Origin, TransferSource};
use memories_document::check::{entries, problems};
use memories_document::problem::Kind;
use memories_document::types::Scope;
use memories_document::types::hint::{NEWER_FORMAT, Refused};
use memories_document::types::json::text_without_mark;
use memories_document::types::text::truncate;
use memories_document::version::{NewerFormat, newer_format};
use memories_document::{Document, Section, SectionUpdate};

/// Characters that are shown of a passage.
const SHOWN_CHARS: usize = 60;

/// Reads a memory file.
///
/// # Errors
///
/// If it is not UTF-8, or of a newer format.
pub fn read(bytes: &[u8]) -> Result<TransferSource, Refused> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let problem = format!("not UTF-8: byte {}", error.valid_up_to() + 1);
        Refused::fix(problem, "convert it to UTF-8, for example with `iconv`")
    })?;
    if let Some(NewerFormat { version, .. }) = newer_format(text) {
        return Err(Refused::fix(Kind::NewerFormat(version).to_string(), NEWER_FORMAT));
    }
    let document = Document::parse(text.to_owned());
    let mut first_lines: BTreeMap<Scope, usize> = BTreeMap::new();
    for (scope, line) in document.heading_lines() {
        first_lines.entry(scope.clone()).or_insert(line);
    }
    let mut names: BTreeMap<Scope, String> = BTreeMap::new();
    let mut source = TransferSource::default();
    leave_out_lines(&document, &mut source);
    for (scope, section) in document.sections() {
        let notes = section.notes.len() as u64;
        source.leave_out(format!("notes by hand in {scope}"), notes, "they are no entries");
        let at = Origin::Line(first_lines.get(&scope).copied().unwrap_or(1));
        names.insert(scope.clone(), section.name.clone());
        let place = PlaceReference::Scope(scope, section.name.clone());
        source.push(at, Ok(Item::Section { place, section: Box::new(section) }));
    }
    for entry in entries(text) {
        let name = names.get(&entry.scope).cloned().unwrap_or_default();
        let place = PlaceReference::Scope(entry.scope, name);
        let item = Item::Memory { place, memory: Box::new(entry.memory) };
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

/// Notes the lines outside of sections, which are no memories.
fn leave_out_lines(document: &Document, source: &mut TransferSource) {
    let mut first = 1;
    for (scope, text) in document.pieces() {
        let lines: Vec<(usize, &str)> =
            (first..).zip(text.lines()).filter(|(_, line)| has_words(line)).collect();
        first += text.matches('\n').count();
        let Some((at, line)) = lines.first().filter(|_| scope.is_none()) else { continue };
        let what = format!("lines from line {at} on, \"{}\"", truncate(line.trim(), SHOWN_CHARS));
        source.leave_out(what, lines.len() as u64, "they stand in no section of a scope");
    }
}

/// False for what is only the frame of a file: blank lines, its title, rules and comments.
fn has_words(line: &str) -> bool {
    let line = text_without_mark(line).trim();
    let is_comment = line.starts_with("<!--") && line.ends_with("-->");
    !is_comment && !line.starts_with("# ") && line.contains(char::is_alphanumeric)
}

/// Writes a memory file with these sections.
///
/// # Errors
///
/// If the text would be parsed differently from what was written.
pub fn write(sections: &[(Scope, Section)]) -> Result<Vec<u8>, Refused> {
    let mut document = Document::parse(String::new());
    let additions =
        sections.iter().map(|(scope, section)| (scope.clone(), SectionUpdate::from(section.clone())));
    let text = document.update(&additions.collect()).and_then(|()| document.into_text());
    text.map(String::into_bytes).map_err(|error| {
        let hint = "`memories check` shows what is wrong with the file; JSONL can hold it all the same";
        Refused::fix(error.to_string(), hint)
    })
}
