//! The sections of the memory file as resources, read anew for each request.

use crate::mcp::access::Memories;
use crate::mcp::answer::Refusal;
use memories_document::Document;
use memories_document::types::frame::{INDENT, indented, one_line};
use memories_document::types::model_text::ModelText;
use memories_document::types::{FolderPath, Scope, ScopeName};

const SCHEME: &str = "memories://";

/// The part of the address before the path of a folder.
const FOLDER: &str = "folder/";

/// URI templates: template, name and description.
pub(crate) const TEMPLATES: [(&str, &str, &str); 5] = [
    ("memories://location/{id}", "location", "Memories of a place, by the game's id"),
    ("memories://agent/{id}", "agent", "An agent's identity and its knowledge of others"),
    ("memories://npc/{id}", "npc", "Memories of a character that others play"),
    (
        "memories://folder/{+path}",
        "folder",
        "Memories of work on a folder, by its path from the repository's root",
    ),
    ("memories://topic/{id}", "topic", "Memories of work on a topic"),
];

/// A section of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionResource {
    /// Its URI: `memories://location/23`.
    pub uri: ModelText,
    /// Its heading.
    pub name: ModelText,
}

/// The URI of a scope's section.
pub(crate) fn uri_of(scope: &Scope) -> String {
    match scope {
        Scope::Folder(path) if *path == FolderPath::root() => format!("{SCHEME}{FOLDER}"),
        Scope::Folder(path) => format!("{SCHEME}{FOLDER}{}", escaped(path.as_str())),
        other => format!("{SCHEME}{}", other.to_string().replace(':', "/")),
    }
}

/// A path of a folder in an address, where only letters, digits and what parts them stand for themselves. Its `%` is one
/// already.
fn escaped(path: &str) -> String {
    let is_itself = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte);
    path.bytes()
        .map(|byte| if is_itself(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// All sections in the order of the file; sections of the same scope are one resource.
pub(crate) fn list(memories: &Memories) -> Result<Vec<SectionResource>, Refusal> {
    let mut sections: Vec<SectionResource> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for heading in memories.headings()? {
        if memories.refuse_foreign(&heading.scope).is_ok() && seen.insert(heading.scope.clone()) {
            sections.push(SectionResource {
                uri: ModelText::of(&uri_of(&heading.scope)),
                name: ModelText::of(&heading.scope.label(&heading.name)),
            });
        }
    }
    Ok(sections)
}

/// The text of a section in the file, framed as data; the inner error if there is none.
pub fn read(memories: &Memories, uri: &str) -> Result<Result<ModelText, Refusal>, Refusal> {
    let Some(name) = name_of(uri) else {
        let refusal = Refusal::new(format!("`{uri}` is not the address of a section"));
        return Ok(Err(refusal.hint("addresses look like `memories://location/23` or `memories://world`")));
    };
    let scope = match memories.scope_of(name) {
        Ok(scope) => scope,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let snapshot = memories.snapshot()?;
    let text: String = snapshot.section_texts(&scope).collect();
    if text.is_empty() {
        let refusal = Refusal::new(format!("the file has no section of {scope}"));
        return Ok(Err(refusal.hint("`resources/list` shows what there is")));
    }
    Ok(Ok(ModelText::of(&framed(text))))
}

/// Beginnings of the lines outside of entries that the program writes; other lines are a person's.
const OWN: [&str; 5] = ["#", "**Visits:**", "- `", "- Ep", "---"];

/// A section in its frame: what the program writes stands at the margin, and each line of a text is indented.
fn framed(section: String) -> String {
    let document = Document::parse(section);
    let mut entries = document.entry_spans().map(|span| span.range).peekable();
    let (mut out, mut at) = (String::with_capacity(document.source().len()), 0);
    for line in document.source().split_inclusive('\n') {
        let start = at;
        at += line.len();
        while entries.next_if(|entry| entry.end <= start).is_some() {}
        let is_own = match entries.peek().filter(|entry| entry.start <= start) {
            Some(entry) => entry.start == start,
            None => OWN.iter().any(|own| line.starts_with(own)),
        };
        let line = line.strip_suffix('\n').unwrap_or(line);
        match line.trim().is_empty() {
            true => out.push('\n'),
            false if is_own => out.extend([&*one_line(line), "\n"]),
            false => out.push_str(&indented(line, INDENT)),
        }
    }
    out
}

/// The scope that an address names; the name of a place is none.
fn name_of(uri: &str) -> Option<ScopeName> {
    let name = uri.strip_prefix(SCHEME)?;
    if let Some(path) = name.strip_prefix(FOLDER) {
        let path = if path.is_empty() { "/" } else { path };
        return FolderPath::parse(path).ok().map(|path| ScopeName::Scope(Scope::Folder(path)));
    }
    let name = name.trim_end_matches('/').replacen('/', ":", 1);
    name.parse().ok().filter(|name| !matches!(name, ScopeName::Name(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_has_an_address_that_leads_back() {
        let agent = Scope::Agent("alex".to_owned());
        let folders =
            ["src/search", "/", "my notes/c#/日本", "a/[INST]/</system>/Human:/\u{200b}x/@+,;=!$&'()*"]
                .map(|path| Scope::Folder(FolderPath::parse(path).unwrap()));
        let others = [Scope::Location(0), Scope::Npc("troll".to_owned()), Scope::World, agent, Scope::Scene];
        for scope in others.into_iter().chain(folders).chain([Scope::Topic("release".to_owned())]) {
            assert_eq!(name_of(&uri_of(&scope)), Some(ScopeName::Scope(scope)));
        }
        assert_eq!(uri_of(&Scope::Location(23)), "memories://location/23");
        let notes = Scope::Folder(FolderPath::parse("my notes/c#/é").unwrap());
        assert_eq!(uri_of(&notes), "memories://folder/my%20notes/c%23/%C3%A9");
        for wrong in [
            "memories://",
            "memories://kitchen",
            "file:///etc/passwd",
            "memories://location/X",
            "memories://folder/../x",
        ] {
            assert_eq!(name_of(wrong), None, "{wrong}");
        }
    }
}
