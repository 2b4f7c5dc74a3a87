//! An Obsidian vault, or the notes of basic-memory: front matter, `[[links]]`, observations and relations.
//!
//! An observation is `- [category] text #tag (context)`, a relation `- words [[Note]] (context)`.

use std::collections::HashMap;

use crate::folder::{File, Folder};
use crate::found::{Found, Note, Subject};
use crate::json::{date, leave_out_keys, text, texts};
use crate::kind::{subject, tag};
use crate::markdown::{Line, Page, Part, wiki_links};

/// Fields of the front matter that are read.
const KNOWN: &str = "title type tags tag date created modified updated aliases";

/// Fields that say how the other program shows or finds a note.
const SETTINGS: &str = "permalink cssclass cssclasses publish";

/// The field of the notes that `memories export` writes.
pub(crate) const OWN_FIELD: &str = "memories";

/// A note with its subject.
struct Known {
    page: Page,
    title: String,
    subject: Subject,
}

/// Reads a folder of notes.
pub(crate) fn read(found: &mut Found, folder: &Folder) {
    found.left_out.clone_from(&folder.left_out.left_out);
    let mut notes = Vec::new();
    let mut subjects: HashMap<String, Subject> = HashMap::new();
    for File { path, text: content } in &folder.files {
        let mut page = Page::of(content);
        if page.front.contains_key(OWN_FIELD) {
            found.leave_out("notes of `memories export`", 1, "the memory file has what they say");
            continue;
        }
        let title = page.take_title(&["title"], path);
        // The folder says what a note is about where its front matter does not.
        let kind =
            Some(text(&page.front, "type")).filter(|kind| !matches!(subject(kind, ""), Subject::Topic(_)));
        let kind =
            kind.unwrap_or_else(|| path.split_once('/').map_or(String::new(), |(first, _)| first.to_owned()));
        let subject = subject(&kind, &title);
        let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md");
        let names = [title.as_str(), stem, path.trim_end_matches(".md")];
        let aliases = texts(&page.front, "aliases");
        let permalink = text(&page.front, "permalink");
        for name in names.into_iter().chain(aliases.iter().map(String::as_str)).chain([permalink.as_str()]) {
            subjects.entry(name.to_lowercase()).or_insert_with(|| subject.clone());
        }
        notes.push(Known { page, title, subject });
    }
    for note in &notes {
        add(found, note, &subjects);
    }
}

fn add(found: &mut Found, note: &Known, subjects: &HashMap<String, Subject>) {
    let front = &note.page.front;
    if note.page.has_broken_front {
        found.leave_out("front matter", 1, "it is no table in YAML");
    }
    leave_out_keys(found, front, KNOWN, SETTINGS);
    found.subjects.push(note.subject.clone());
    let mut tags: Vec<String> = texts(front, "tags").into_iter().chain(texts(front, "tag")).collect();
    tags.iter_mut().for_each(|tag| *tag = tag.trim_start_matches('#').to_owned());
    tags.extend(tag("type", &text(front, "type")).filter(|kind| kind != "type:note"));
    let aliases = texts(front, "aliases");
    let base = Note {
        subject: note.subject.clone(),
        date: date(front, &["modified", "updated", "date", "created"]),
        tags,
        ..Note::default()
    };
    let linked = |words: &str| -> Vec<Subject> {
        let mut links = Vec::new();
        for target in wiki_links(words).filter_map(|target| subjects.get(&target.to_lowercase())) {
            if *target != note.subject && !links.contains(target) {
                links.push(target.clone());
            }
        }
        links
    };
    let mut is_first = true;
    for part in &note.page.parts {
        let mut rest = Part::default();
        for line in &part.lines {
            match observation(line).or_else(|| relation(line, &note.title)) {
                Some(said) => found.take(Note {
                    subject: base.subject.clone(),
                    date: base.date.clone(),
                    tags: [base.tags.clone(), said.tags.clone()].concat(),
                    links: linked(&line.text),
                    ..said
                }),
                None => rest.lines.push(line.clone()),
            }
        }
        let words = rest.text();
        if words.is_empty() {
            continue;
        }
        let title = if part.heading.is_empty() { &note.title } else { &part.heading };
        let also = (is_first && !aliases.is_empty()).then(|| format!("also called {}", aliases.join(", ")));
        is_first = false;
        found.take(
            Note { text: words.clone(), links: linked(&words), context: also, ..base.clone() }.titled(title),
        );
    }
}

/// The text of an item of a list that is no code.
fn item(line: &Line) -> Option<&str> {
    let text = line.text.trim_start();
    let text = text.strip_prefix("- ").or_else(|| text.strip_prefix("* "))?;
    (!line.is_code).then_some(text.trim())
}

/// Reads `- [category] text #tag (context)`. Boxes of tasks and links are none.
fn observation(line: &Line) -> Option<Note> {
    let (category, words) = item(line)?.strip_prefix('[')?.split_once(']')?;
    let is_one = category.chars().count() > 1 && !category.starts_with('[') && words.starts_with(' ');
    if !is_one || words.trim().is_empty() {
        return None;
    }
    let (words, context) = split_context(words.trim());
    let tags = words.split_whitespace().filter_map(|word| word.strip_prefix('#'));
    let tags: Vec<String> =
        tags.filter(|tag| !tag.is_empty() && !tag.starts_with('#')).map(str::to_owned).collect();
    let text = words.trim_end().to_owned();
    // Tags at the end are no words of the text.
    let bare =
        text.split_whitespace().rev().take_while(|word| word.starts_with('#') && word.len() > 1).count();
    let kept = text.split_whitespace().count() - bare;
    let text = if kept > 0 { first_words(&text, kept) } else { &text };
    Some(Note {
        text: text.to_owned(),
        category: Some(category.trim().to_owned()),
        tags,
        context,
        ..Note::default()
    })
}

/// The beginning of a text up to a number of words.
fn first_words(text: &str, count: usize) -> &str {
    let mut end = 0;
    for word in text.split_whitespace().take(count) {
        end += text[end..].find(word).unwrap_or(0) + word.len();
    }
    &text[..end]
}

/// Reads `- words [[Note]] (context)`, also without words.
fn relation(line: &Line, title: &str) -> Option<Note> {
    let (words, rest) = item(line)?.split_once("[[")?;
    let (target, rest) = rest.split_once("]]")?;
    let (rest, context) = split_context(rest.trim());
    if !rest.is_empty() || words.contains('[') {
        return None;
    }
    let words =
        Some(words.trim().trim_matches('"')).filter(|words| !words.is_empty()).unwrap_or("relates to");
    let tags = tag("relation", words).into_iter().collect();
    Some(Note { text: format!("{title} {words} {target}"), tags, context, ..Note::default() })
}

/// A text without the parentheses at its end, and what stands in them.
fn split_context(text: &str) -> (&str, Option<String>) {
    let split = text.strip_suffix(')').and_then(|inner| inner.rsplit_once('('));
    match split
        .filter(|(before, inner)| (before.is_empty() || before.ends_with(' ')) && !inner.trim().is_empty())
    {
        Some((before, inner)) => (before.trim_end(), Some(inner.trim().to_owned())),
        None => (text, None),
    }
}
