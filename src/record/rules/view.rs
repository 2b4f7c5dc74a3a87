//! A turn as the rules read it: cleaned texts, and the differences between before and after.

use crate::record::context::TurnContext;
use crate::record::triggers::{Trigger, inventory_change, score_change};
use crate::types::text::fold_spaces;
use crate::types::{Memory, same_title};

/// Longest reply that is read, in characters.
const MAX_REPLY_CHARS: usize = 6000;

/// Longest action, name or memory text that is read, in characters.
const MAX_LINE_CHARS: usize = 400;

/// Items of an inventory change that are read.
const MAX_ITEMS: usize = 200;

/// One turn, prepared for the rules.
pub(super) struct TurnView<'a> {
    pub(super) context: &'a TurnContext,
    /// The action on one line.
    pub(super) action: String,
    /// The game's reply without control characters, bounded.
    pub(super) reply: String,
    /// Name of the place where the action was taken; may be empty.
    pub(super) from: String,
    /// Name of the place where the player is now; may be empty.
    pub(super) to: String,
    /// Change of the score; 0 if unknown.
    pub(super) score_change: i64,
    /// Items that the player has now and did not have.
    pub(super) gained: Vec<String>,
    /// Items that the player had and no longer has.
    pub(super) lost: Vec<String>,
}

impl TurnView<'_> {
    pub(super) fn of(context: &TurnContext) -> TurnView<'_> {
        let turn = &context.turn;
        let (gained, lost) = inventory_change(turn);
        TurnView {
            context,
            action: one_line(&turn.action),
            reply: clean(&turn.response),
            from: one_line(&context.before.name),
            to: one_line(&context.after.name),
            score_change: score_change(turn).unwrap_or(0),
            gained: item_names(&gained),
            lost: item_names(&lost),
        }
    }

    /// The player is at another place than before.
    pub(super) fn moved(&self) -> bool {
        self.context.changes.location
    }

    /// The place reached had no section so far.
    pub(super) fn first_visit(&self) -> bool {
        self.context.triggers.contains(&Trigger::FirstVisit)
    }

    /// The rules' own notes of the place where the action was taken.
    pub(super) fn notes(&self) -> &[Memory] {
        &self.context.memories.rule_notes_before
    }

    /// The rules' own notes of the place where the player is now.
    pub(super) fn notes_here(&self) -> &[Memory] {
        if self.moved() { &self.context.memories.rule_notes_after } else { self.notes() }
    }

    /// The text of an own note at the place of the action, by its title.
    pub(super) fn known(&self, title: &str) -> Option<String> {
        find_title(self.notes(), title).map(text_of)
    }

    /// True if an entry of the place of the action that is not the rules' own holds a fact word for word.
    pub(super) fn is_said(&self, fact: &str) -> bool {
        holds(&self.context.memories.before, self.notes(), fact)
    }

    /// The same of the place where the player is now.
    pub(super) fn is_said_here(&self, fact: &str) -> bool {
        match self.moved() {
            true => holds(&self.context.memories.after, self.notes_here(), fact),
            false => self.is_said(fact),
        }
    }

    /// True if the place of the action has a memory with that title, whoever wrote it.
    pub(super) fn is_titled(&self, title: &str) -> bool {
        find_title(&self.context.memories.before, title).is_some()
    }

    /// Names of both places, for recognising title lines; that of the present place is the last.
    pub(super) fn place_names(&self) -> Vec<&str> {
        [self.from.as_str(), &self.to].into_iter().filter(|name| !name.is_empty()).collect()
    }
}

pub(super) fn find_title<'a>(memories: &'a [Memory], title: &str) -> Option<&'a Memory> {
    memories.iter().find(|memory| same_title(&memory.title, title))
}

fn holds(memories: &[Memory], notes: &[Memory], fact: &str) -> bool {
    let others = memories.iter().filter(|memory| !notes.iter().any(|note| note.text == memory.text));
    let fact = fact.trim_end_matches('.').to_lowercase();
    others.into_iter().any(|memory| has_item(&memory.text.to_lowercase(), &fact))
}

/// True if a text has an item of a list, or a sentence; a remark in parentheses may follow.
fn has_item(text: &str, item: &str) -> bool {
    text.match_indices(item).any(|(at, _)| {
        let before = text[..at].trim_end_matches(' ');
        let after = text[at + item.len()..].trim_start_matches(' ');
        (before.is_empty() || before.ends_with(['\n', ';', '.', ':', '-', '*']))
            && (after.is_empty() || after.starts_with(['\n', ';', '.', ',', '(']))
    })
}

/// The text of a memory on one line.
pub(super) fn text_of(memory: &Memory) -> String {
    one_line(&memory.text)
}

fn item_names(items: &[&str]) -> Vec<String> {
    let names = items.iter().take(MAX_ITEMS).map(|item| one_line(item));
    names.filter(|name| !name.is_empty()).collect()
}

/// A text on one line, single-spaced, without control characters.
fn one_line(text: &str) -> String {
    let visible = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    fold_spaces(&visible.take(MAX_LINE_CHARS).collect::<String>())
}

/// A reply with plain line ends, without other control characters, bounded.
fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let keep = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
    text.trim_matches('\n').chars().map(keep).take(MAX_REPLY_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_known_where_it_stands_as_one() {
        let text = "n: hall (the guard wakes at night)\nworked: take lamp: brass lantern; take sword. the key is silver.";
        for item in ["n: hall", "take lamp: brass lantern", "take sword", "the key is silver"] {
            assert!(has_item(text, item), "{item}");
        }
        for other in ["n: hal", ": hall", "take lamp", "silver", "key is silver", "s: hall"] {
            assert!(!has_item(text, other), "{other}");
        }
    }
}
