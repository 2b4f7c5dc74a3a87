//! The parts of a section that readers in other programs see.

use memories_document::Section;
use memories_document::types::model_text::ModelText;
use memories_document::types::text::fold_spaces;
use memories_document::types::{Memory, Persistence, Scope};

/// The name of a section for people: its own, else its scope.
pub(crate) fn name(scope: &Scope, section: &Section) -> String {
    if !section.name.is_empty() {
        return fold_spaces(&section.name);
    }
    let text = scope.to_string();
    let (_, id) = text.split_once(':').unwrap_or(("", &text));
    match scope {
        Scope::Location(id) => format!("Location {id}"),
        _ => id.to_owned(),
    }
}

/// True for sections of a world. What agents, folders and dialogue are is for no lorebook and no vault.
pub(crate) fn is_lore(scope: &Scope) -> bool {
    !matches!(scope, Scope::Agent(_) | Scope::Folder(_) | Scope::Dialogue)
}

/// The memories that hold and last.
pub(crate) fn memories(section: &Section) -> impl Iterator<Item = &Memory> {
    section.memories.iter().filter(|memory| memory.is_live() && memory.persistence != Persistence::Ephemeral)
}

/// Text that a model may read, on one line.
pub(crate) fn line(text: &str) -> String {
    ModelText::of(&fold_spaces(text)).to_string()
}

/// The ways from a place: what is done, and the place that is reached; each once.
pub(crate) fn ways<'a>(
    section: &'a Section,
    names: &'a [(Scope, String)],
) -> Vec<(String, &'a Scope, &'a str)> {
    let mut ways = Vec::new();
    for way in &section.ways {
        let target = names.iter().find(|(scope, _)| *scope == Scope::Location(way.to));
        if let Some((scope, name)) = target {
            let way = (line(&way.action), scope, name.as_str());
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
    }
    ways
}
