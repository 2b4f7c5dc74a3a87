//! A folder with `MEMORY.md`, as Claude Code and its subagents keep it: an index, and a file for each topic.

use std::collections::HashMap;

use crate::folder::{File, Folder};
use crate::found::{Found, Note, Subject};
use crate::json::{date, leave_out_keys, text};
use crate::kind::tag;
use crate::markdown::Page;

/// The name of an index.
const INDEX: &str = "MEMORY.md";

/// Fields of the front matter that are read.
const KNOWN: &str = "name title description type date created updated metadata";

/// True for a folder with an index, or one of subagents with an index each.
pub(crate) fn is_one(folder: &Folder) -> bool {
    let is_index = |path: &str| path == INDEX || of_agents(folder) && path.ends_with(&format!("/{INDEX}"));
    folder.files.iter().any(|file| is_index(&file.path))
}

/// True for a folder whose folders are those of subagents.
fn of_agents(folder: &Folder) -> bool {
    folder.names.first().is_some_and(|name| name.starts_with("agent-memory"))
}

/// Whose memory a file is, and its path within the folder of that memory.
fn owner<'a>(folder: &Folder, path: &'a str) -> (Subject, &'a str) {
    if of_agents(folder)
        && let Some((name, inner)) = path.split_once('/')
    {
        return (Subject::Agent(name.to_owned()), inner);
    }
    match folder.names.as_slice() {
        [name, above] if above.starts_with("agent-memory") => (Subject::Agent(name.clone()), path),
        _ => (Subject::Project, path),
    }
}

/// Reads the files; what an index says of a file goes with the file.
pub(crate) fn read(found: &mut Found, folder: &Folder) {
    found.left_out.clone_from(&folder.left_out.left_out);
    let paths: Vec<&str> = folder.files.iter().map(|file| file.path.as_str()).collect();
    let mut hooks: HashMap<String, String> = HashMap::new();
    for File { path, text } in folder.files.iter().filter(|file| file.path.ends_with(INDEX)) {
        let (subject, _) = owner(folder, path);
        let base = path.strip_suffix(INDEX).unwrap_or_default();
        let mut page = Page::of(text);
        for part in &mut page.parts {
            part.lines.retain(|line| match indexed(&line.text) {
                Some((target, hook)) if paths.contains(&format!("{base}{target}").as_str()) => {
                    hooks.insert(format!("{base}{target}"), hook.to_owned());
                    false
                }
                _ => true,
            });
        }
        add(found, page, &subject, path, None);
    }
    for File { path, text } in folder.files.iter().filter(|file| !file.path.ends_with(INDEX)) {
        let (subject, inner) = owner(folder, path);
        add(found, Page::of(text), &subject, inner, hooks.remove(path));
    }
}

/// Reads a line of an index: `- [Title](file.md) — what it is about`.
fn indexed(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.trim().strip_prefix("- ")?.trim_start().strip_prefix('[')?.split_once("](")?;
    let (target, hook) = rest.split_once(')')?;
    Some((target.trim_start_matches("./"), hook.trim().trim_start_matches(['—', '–', '-', ':']).trim()))
}

fn add(found: &mut Found, mut page: Page, subject: &Subject, path: &str, hook: Option<String>) {
    if page.has_broken_front {
        found.leave_out("front matter", 1, "it is no table in YAML");
    }
    let title = page.take_title(&["title", "name"], path);
    let is_index = path.ends_with(INDEX);
    leave_out_keys(found, &page.front, KNOWN, "");
    let description = text(&page.front, "description");
    let mut about = vec![description.clone()];
    about.extend(hook.filter(|hook| *hook != description));
    about.retain(|text| !text.is_empty());
    let metadata = page.front.get("metadata").and_then(serde_json::Value::as_object);
    let kind = Some(text(&page.front, "type")).filter(|kind| !kind.is_empty());
    let kind = kind.or_else(|| metadata.map(|fields| text(fields, "type"))).unwrap_or_default();
    let base = Note {
        subject: subject.clone(),
        tags: tag("type", &kind).into_iter().collect(),
        date: date(&page.front, &["updated", "date", "created"]),
        ..Note::default()
    };
    let mut context = Some(about.join("; ")).filter(|text| !text.is_empty());
    for part in page.parts.iter().filter(|part| !part.text().is_empty()) {
        let named = match (part.heading.is_empty(), is_index) {
            (true, true) => String::new(),
            (true, false) => title.clone(),
            (false, true) => part.heading.clone(),
            (false, false) => format!("{title}: {}", part.heading),
        };
        found.take(Note { text: part.text(), context: context.take(), ..base.clone() }.titled(&named));
    }
    // A file that is nothing but its description.
    if let Some(about) = context {
        found.take(Note { text: about, ..base }.titled(&title));
    }
}
