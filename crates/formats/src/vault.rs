//! An Obsidian vault: a note for each section, with links that lead to notes. Notes of others are never touched.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use crate::folder::Folder;
use crate::json::text;
use crate::markdown::Page;
use crate::notes::OWN_FIELD;
use crate::said::{is_lore, line, memories, name, ways};
use memories_document::Section;
use memories_document::link::Link;
use memories_document::types::unseen::visible;
use memories_document::types::{Memory, Scope};

/// Most characters of a file's name.
const NAME_CHARS: usize = 80;

/// Signs that the names of files or the links of Obsidian cannot have.
const FORBIDDEN: &[char] = &['\\', '/', ':', '*', '?', '"', '<', '>', '|', '#', '^', '[', ']', '.'];

/// Names that Windows keeps for devices.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// The field of the number that is made of the note, in quotes, since YAML reads `123e456` as infinite. A note that does not have this number was changed by hand.
const NUMBER: &str = "memories-written: ";

/// What is to be written into a vault.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Vault {
    /// Paths within the vault, with the texts of new and changed notes.
    pub write: Vec<(String, String)>,
    /// Notes of ours that are as they should be.
    pub same: usize,
    /// Notes of ours that were changed by hand; they stay.
    pub changed: Vec<String>,
}

/// The notes of sections for a vault in which there are these files.
pub fn vault(sections: &[(Scope, Section)], existing: &Folder) -> Vault {
    let mut files: HashMap<String, (&str, &str)> = HashMap::new();
    let mut taken: HashSet<String> = existing.others.iter().map(|path| path.to_lowercase()).collect();
    for file in &existing.files {
        let scope = text(&Page::of(&file.text).front, OWN_FIELD);
        if scope.is_empty() || files.contains_key(&scope) {
            taken.insert(file.path.to_lowercase());
        } else {
            files.insert(scope, (&file.path, &file.text));
        }
    }
    taken.extend(files.values().map(|(path, _)| path.to_lowercase()));
    let lore: Vec<&(Scope, Section)> = sections.iter().filter(|(scope, _)| is_lore(scope)).collect();
    let mut paths: Vec<(Scope, String)> = Vec::new();
    for (scope, section) in &lore {
        let path = match files.get(&scope.to_string()) {
            Some((path, _)) => (*path).to_owned(),
            None => free_path(scope, &name(scope, section), &mut taken),
        };
        paths.push((scope.clone(), path.trim_end_matches(".md").to_owned()));
    }
    let mut vault = Vault::default();
    for ((scope, section), (_, path)) in lore.iter().zip(&paths) {
        let path = format!("{path}.md");
        let new = numbered(&note(scope, section, &paths));
        match files.get(&scope.to_string()) {
            Some((_, old)) if *old == new => vault.same += 1,
            Some((_, old)) if !is_ours(old) => vault.changed.push(path),
            _ => vault.write.push((path, new)),
        }
    }
    vault
}

/// A path that nothing has, in any case of its letters.
fn free_path(scope: &Scope, name: &str, taken: &mut HashSet<String>) -> String {
    let clean = |text: &str| {
        let text = visible(text).replace(|c: char| FORBIDDEN.contains(&c) || c.is_control(), " ");
        let text: String = line(&text).chars().filter(|c| !FORBIDDEN.contains(c)).take(NAME_CHARS).collect();
        text.trim().to_owned()
    };
    let base = clean(name);
    let is_device = DEVICES.contains(&base.to_lowercase().trim_end_matches(|c: char| c.is_ascii_digit()));
    let base =
        if base.is_empty() || is_device { format!("{base} {}", clean(&scope.to_string())) } else { base };
    let other = || format!("{base} ({})", clean(&scope.to_string()));
    let numbered = (2..).map(|number| format!("{} {number}", other()));
    let mut names =
        [base.clone(), other()].into_iter().chain(numbered).map(|name| format!("{}.md", name.trim()));
    let path = names.find(|path| !taken.contains(&path.to_lowercase())).unwrap_or_default();
    taken.insert(path.to_lowercase());
    path
}

/// The note of a section, without its number.
fn note(scope: &Scope, section: &Section, paths: &[(Scope, String)]) -> String {
    let mut out = format!("---\n{OWN_FIELD}: \"{scope}\"\n---\n# {}\n", plain(&name(scope, section)));
    let ways = ways(section, paths);
    if !ways.is_empty() {
        out.push_str("\n## Ways\n\n");
        ways.iter()
            .for_each(|(action, _, path)| out.push_str(&format!("- {} → [[{path}]]\n", plain(action))));
    }
    for memory in memories(section) {
        out.push_str(&entry(scope, memory, paths));
    }
    out
}

fn entry(scope: &Scope, memory: &Memory, paths: &[(Scope, String)]) -> String {
    let mut out = format!("\n## {}\n\n{}\n", plain(&line(&memory.title)), plain(&visible(&memory.text)));
    if let Some(context) = &memory.context {
        out.push_str(&format!("\nContext: {}\n", plain(&line(context))));
    }
    let links: Vec<String> = memory
        .see_also
        .iter()
        .flat_map(|line| Link::parse_all(line))
        .filter_map(|link| {
            let target = link.scope.as_ref().unwrap_or(scope);
            let (_, path) = paths.iter().find(|(other, _)| other == target)?;
            let title =
                link.title.map(|title| format!("#{}", line(&title).replace(['#', '|', '^', '[', ']'], " ")));
            Some(format!("[[{path}{}]]", title.unwrap_or_default()))
        })
        .collect();
    if !links.is_empty() {
        out.push_str(&format!("\nSee also: {}\n", links.join(", ")));
    }
    let provenance = &memory.provenance;
    let date = provenance.date.iter().map(|date| line(date));
    let tags = provenance.tags.iter().map(|tag| format!("#{}", line(tag).replace([':', ' '], "/")));
    let facts: Vec<String> = [memory.category.to_string()].into_iter().chain(date).chain(tags).collect();
    format!("{out}\n*{}*\n", plain(&facts.join(", ")))
}

/// A text in which no link begins.
fn plain(text: &str) -> String {
    text.replace("[[", "\\[\\[")
}

/// The note with the number that is made of it.
fn numbered(note: &str) -> String {
    let number = format!("{NUMBER}\"{:016x}\"\n", xxh3_64(note.as_bytes()));
    let at = note.match_indices("---\n").nth(1).map_or(0, |(at, _)| at);
    format!("{}{number}{}", &note[..at], &note[at..])
}

/// True for a note as it was written.
fn is_ours(note: &str) -> bool {
    let without: String = note.split_inclusive('\n').filter(|line| !line.starts_with(NUMBER)).collect();
    numbered(&without) == note
}
