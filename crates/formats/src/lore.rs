//! An entry of lore: words that call it, and a text.

use crate::found::{Found, Note, Subject};
use crate::kind::{subject, tag};

/// An entry of lore, whatever the program.
#[derive(Debug, Default)]
pub(crate) struct Lore {
    pub name: String,
    pub keys: Vec<String>,
    pub text: String,
    /// Its kind or category.
    pub kind: String,
    /// The other program always shows it.
    pub is_core: bool,
    pub is_off: bool,
    pub date: Option<String>,
    pub tags: Vec<String>,
}

/// Takes an entry: characters and places are subjects, everything else belongs to the world.
pub(crate) fn take(found: &mut Found, lore: Lore) {
    let Lore { name, keys, text, kind, is_core, is_off, date, mut tags } = lore;
    if is_off {
        return found.leave_out("entries", 1, "they are switched off");
    }
    let title = if name.is_empty() { keys.first().cloned().unwrap_or_default() } else { name };
    let subject = match subject(&kind, &title) {
        Subject::Topic(_) => Subject::World,
        _ if title.is_empty() => Subject::World,
        known => known,
    };
    tags.extend(tag("type", &kind));
    let others: Vec<String> = keys.into_iter().filter(|key| *key != title).collect();
    let context = (!others.is_empty()).then(|| format!("keys: {}", others.join(", ")));
    found.take(Note { is_core, date, tags, context, ..Note::of(subject, &text) }.titled(&title));
}
