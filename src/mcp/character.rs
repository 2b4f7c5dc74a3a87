//! Agents and characters with a section, and the words by which a text names them.

use memories_document::types::{Scope, fold_title};

/// An agent or character with a section in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Character {
    pub id: String,
    /// May be empty.
    pub name: String,
    pub scope: Scope,
}

impl Character {
    /// Somebody of whom only a name is known.
    pub(super) fn by_name(name: &str) -> Character {
        Character { id: String::new(), name: name.trim().to_owned(), scope: Scope::World }
    }

    /// True if `named` is its id, scope, name or first name.
    pub(super) fn is(&self, named: &str) -> bool {
        let named = fold_title(named);
        let name = fold_title(&self.name);
        named == self.id
            || named == self.scope.to_string()
            || named == name
            || !is_article(&named) && name.split_whitespace().next() == Some(&named)
    }

    /// The name, else the id.
    pub(super) fn called(&self) -> &str {
        if self.name.is_empty() { &self.id } else { &self.name }
    }

    /// True if a text names it: by its id, also with spaces for hyphens, or by its whole name without an article.
    pub(super) fn is_named_in(&self, text: &str) -> bool {
        let mut name = words(&self.name);
        if name.first().is_some_and(|word| is_article(word)) {
            name.remove(0);
        }
        let text = words(text);
        let names = [words(&self.id), words(&self.id.replace(['-', '_'], " ")), name];
        let stands_in = |name: &Vec<String>| text.windows(name.len()).any(|words| words == name);
        names.iter().filter(|name| !name.is_empty()).any(stands_in)
    }
}

/// True for a word in lower case that says nothing of whom it is before.
fn is_article(word: &str) -> bool {
    matches!(word, "the" | "a" | "an")
}

/// The words of a text in lower case.
fn words(text: &str) -> Vec<String> {
    let lower = fold_title(text);
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_named_by_id_or_whole_name() {
        let named = |id: &str, name: &str, text: &str| {
            let scope = Scope::Npc(id.to_owned());
            Character { id: id.to_owned(), name: name.to_owned(), scope }.is_named_in(text)
        };
        assert!(named("jordan", "Jordan", "Jordan said: hello") && named("jordan", "", "with jordan."));
        assert!(!named("jordan", "Jordan", "Jordanian food"));
        assert!(
            named("troll", "The Troll", "A troll's axe") && !named("troll", "The Troll", "The dam opened")
        );
        assert!(
            named("old-man", "Old Man", "An old man sits.") && !named("old-man", "Old Man", "An old ship")
        );
        assert!(named("m", "The Old Man", "an old man") && !named("m", "The", "the end"));
    }
}
