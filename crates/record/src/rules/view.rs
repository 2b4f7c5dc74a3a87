//! A turn as the rules read it: cleaned texts, and the differences between before and after.

use crate::changes::{inventory_change, score_change};
use crate::context::TurnContext;
use crate::proposal::Side;
use crate::rules::draft::Draft;
use crate::rules::headline::says;
use memories_document::types::text::{fold_spaces, truncate};
use memories_document::types::{Category, Memory, OFFLINE_TAG, same_title};

/// Longest reply that is read, in characters.
const MAX_REPLY_CHARS: usize = 6000;

/// Longest action, name or memory text that is read, in characters.
const MAX_LINE_CHARS: usize = 400;

/// Longest action in a title, in characters; the rest is for the words of the rule.
const MAX_ACTION_CHARS: usize = 40;

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

    /// The action as titles and texts name it.
    pub(super) fn short_action(&self) -> String {
        truncate(&self.action.replace('`', "'"), MAX_ACTION_CHARS)
    }

    /// The player is at another place than before.
    pub(super) fn moved(&self) -> bool {
        self.context.changes.location
    }

    /// The place where the player is now has a description by the rules, perhaps changed since.
    pub(super) fn is_described(&self) -> bool {
        let is_note = |memory: &Memory| memory.category == Category::note() && memory.has_tag(OFFLINE_TAG);
        self.memories(Side::After).iter().any(is_note)
    }

    /// True if an entry of the draft's place says the same, whoever wrote it.
    pub(super) fn knows(&self, draft: &Draft) -> bool {
        let (title, text) = (&draft.memory.title, &draft.memory.text);
        let is_titled = |other: &str| same_title(other, title) || other.starts_with(&format!("{title} ("));
        let mut memories = self.memories(draft.side).iter();
        self.has_said(&draft.quote, draft.side)
            || memories.any(|other| is_titled(&other.title) && !(draft.latest && other.text != *text))
    }

    /// True if the title of an entry of the place where the action was taken is a deed, or says what came of it.
    pub(super) fn has_titled(&self, deed: &str) -> bool {
        let mut rest =
            self.memories(Side::Before).iter().filter_map(|memory| memory.title.strip_prefix(deed));
        rest.any(|rest| rest.is_empty() || rest.starts_with(": "))
    }

    /// True if an entry of the place on that side has the words of a sentence.
    pub(super) fn has_said(&self, sentence: &str, side: Side) -> bool {
        let mut memories = self.memories(side).iter();
        memories.any(|memory| [&memory.title, &memory.text].iter().any(|said| says(said, sentence)))
    }

    /// True if one of the last replies had the words of a sentence: then it does not tell what this action did.
    pub(super) fn was_told(&self, sentence: &str) -> bool {
        self.context.history.iter().any(|earlier| says(&earlier.response, sentence))
    }

    /// Live memories of the place on that side.
    fn memories(&self, side: Side) -> &[Memory] {
        match side {
            Side::After if self.moved() => &self.context.memories.after,
            _ => &self.context.memories.before,
        }
    }

    /// Names of both places, for recognising title lines; the name of the present place is the last.
    pub(super) fn place_names(&self) -> Vec<&str> {
        [self.from.as_str(), &self.to].into_iter().filter(|name| !name.is_empty()).collect()
    }
}

/// The names of things; a sentence such as `You carry nothing.` is none.
fn item_names(items: &[&str]) -> Vec<String> {
    let names = items.iter().take(MAX_ITEMS).map(|item| one_line(item));
    names.filter(|name| !name.is_empty() && !name.ends_with(['.', ':'])).collect()
}

/// A text on one line, single-spaced, without control characters.
fn one_line(text: &str) -> String {
    let visible = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    fold_spaces(&visible.take(MAX_LINE_CHARS).collect::<String>())
}

/// A reply with plain line ends and tabs, without other control characters, bounded.
fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let keep = |c: char| if c.is_control() && !matches!(c, '\n' | '\t') { ' ' } else { c };
    text.trim_matches('\n').chars().map(keep).take(MAX_REPLY_CHARS).collect()
}
