//! A folder of the tool as a section of a topic: `## Topic memories-projects: /memories/projects/`.
//!
//! The name of the section tells the folder, so that one without files is a section without entries. The id is made of
//! the path and unique.

use std::collections::BTreeMap;

use crate::memory_tool::path::{ROOT, ToolPath, shown};
use memories_document::Document;
use memories_document::fields::percent_decode;
use memories_document::types::Scope;

/// The beginning of the id of each section.
const ID: &str = "memories";

/// Lines that a section without entries may have besides its heading.
const FRAME: [&str; 3] = ["", "---", "### Memories"];

/// The folders that have sections, by their paths from the root.
pub(super) fn sections_of(document: &Document) -> BTreeMap<String, Scope> {
    let mut folders = BTreeMap::new();
    for heading in document.headings().filter(|heading| matches!(heading.scope, Scope::Topic(_))) {
        if let Some(folder) = folder_of(&heading.name) {
            folders.entry(folder).or_insert_with(|| heading.scope.clone());
        }
    }
    folders
}

/// The name of a folder's section.
pub(super) fn name_of(folder: &str) -> String {
    let path = shown(folder);
    let mut name = String::with_capacity(path.len() + 1);
    let mut before = '/';
    let mut chars = path.chars().peekable();
    while let Some(c) = chars.next() {
        let is_single = c == ' '
            && before != '/'
            && !chars.peek().is_none_or(|next| *next == '/' || next.is_whitespace());
        if c == '%' || c.is_whitespace() && !is_single {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| name.push_str(&format!("%{byte:02X}")));
        } else {
            name.push(c);
        }
        before = c;
    }
    name.push('/');
    name
}

/// The folder whose section has this name.
fn folder_of(name: &str) -> Option<String> {
    let path = name.strip_prefix(ROOT)?.strip_suffix('/')?;
    let path = percent_decode(path.strip_prefix('/').unwrap_or(path));
    ToolPath::of_file(&path).filter(|path| name_of(path) == name)
}

/// The scope of a folder that has no section yet.
pub(super) fn new_scope(document: &Document, folder: &str) -> Scope {
    let mut id = ID.to_owned();
    for c in format!("/{folder}").chars() {
        if c.is_ascii_alphanumeric() || c == '_' {
            id.push(c.to_ascii_lowercase());
        } else if !id.ends_with('-') {
            id.push('-');
        }
    }
    let id = id.trim_end_matches('-');
    let is_free = |scope: &Scope| !document.headings().any(|heading| heading.scope == *scope);
    let numbered = (2_u64..).map(|number| format!("{id}-{number}"));
    let mut scopes = std::iter::once(id.to_owned()).chain(numbered).map(Scope::Topic);
    scopes.find(is_free).unwrap_or_else(|| Scope::Topic(id.to_owned()))
}

/// True if the sections of a scope have nothing but their headings and the frame that the program gives them.
pub(super) fn is_bare(document: &Document, scope: &Scope) -> bool {
    let is_frame = |line: &str| FRAME.contains(&line.trim());
    document.section_texts(scope).all(|text| text.lines().skip(1).all(is_frame))
}

/// The text of the file without the sections of these scopes.
pub(super) fn without_sections(document: &Document, scopes: &[Scope]) -> String {
    let is_kept = |scope: Option<&Scope>| !scope.is_some_and(|scope| scopes.contains(scope));
    document.pieces().filter(|(scope, _)| is_kept(*scope)).map(|(_, text)| text).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use memories_document::grammar::{parse_heading, write_heading};

    #[test]
    fn a_folder_has_a_name_and_an_id() {
        let empty = Document::parse(String::new());
        for (folder, name, id) in [
            ("", "/memories/", "memories"),
            ("Projects/My App", "/memories/Projects/My App/", "memories-projects-my-app"),
            ("a  b/ c", "/memories/a%20 b/%20c/", "memories-a-b-c"),
            ("100%", "/memories/100%25/", "memories-100"),
            ("日記", "/memories/日記/", "memories"),
        ] {
            assert_eq!(name_of(folder), name);
            assert_eq!(folder_of(name).as_deref(), Some(folder));
            assert_eq!(new_scope(&empty, folder), Scope::Topic(id.to_owned()));
        }
        for name in
            ["/memories", "Notes", "/memories/../", "/memories//", "/memories/a//b/", "/memories/%61/"]
        {
            assert_eq!(folder_of(name), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_folder_is_read_from_the_heading_that_was_written(folder in "[a-zA é%#:.\u{3000}<!>*-]{1,12}(/[a-z %<!>#-]{1,9})?") {
            let folder = ToolPath::parse(&shown(&folder)).map(|path| path.path).unwrap_or_default();
            let scope = Scope::Topic("x".to_owned());
            let heading = parse_heading(&write_heading(&scope, &name_of(&folder))).unwrap();
            prop_assert_eq!(folder_of(&heading.name), Some(folder));
        }
    }
}
