//! Evidence that an action has been tried at a place.

use crate::document::Section;
use crate::document::fields::write_moment;
use crate::document::text::stored_line;
use crate::types::{Attempt, Moment, fold_action, fold_title};

/// Evidence about an action at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The action on one line; empty where none was named.
    pub action: String,
    /// The tried action of the section.
    pub attempt: Option<Attempt>,
    /// Titles of the live memories that mention the action in title or text.
    pub memories: Vec<String>,
}

impl Evidence {
    /// Looks an action up in a section, ignoring case and repeated spaces.
    pub(crate) fn of(section: &Section, action: &str) -> Evidence {
        let action = stored_line(action);
        let folded = fold_action(&action);
        let attempt = section.tried.iter().find(|attempt| fold_action(&attempt.action) == folded);
        let names_it = |text: &str| fold_title(&stored_line(text)).contains(&folded);
        let named = section.live().filter(|memory| names_it(&memory.title) || names_it(&memory.text));
        Evidence {
            attempt: attempt.cloned(),
            memories: named.map(|memory| memory.title.clone()).collect(),
            action,
        }
    }

    /// True if the action was tried in vain: nothing changed.
    pub(crate) fn in_vain(&self) -> bool {
        self.attempt.as_ref().is_some_and(|attempt| !attempt.effect_unknown)
    }

    /// The answer in text, each line ended: yes or no, with count and reply where it was tried; then the
    /// memories. `place` names the place.
    pub fn render(&self, place: &str) -> String {
        let mut out = match &self.attempt {
            None => format!("no: \"{}\" is not among what was tried in vain at {place}\n", self.action),
            Some(attempt) => {
                let (episode, turn) = (attempt.episode, attempt.turn);
                let last = write_moment(&Moment { episode, turn, ..Moment::default() });
                let last = if last.is_empty() { last } else { format!(", last at {last}") };
                let reply =
                    if attempt.reply.is_empty() { String::new() } else { format!(": {}", attempt.reply) };
                let times = if attempt.count == 1 { "time" } else { "times" };
                let (yes, effect) =
                    if attempt.effect_unknown { ("no", ", effect unknown") } else { ("yes", "") };
                let Attempt { action, count, .. } = attempt;
                format!("{yes}: \"{action}\" {count} {times} at {place}{effect}{last}{reply}\n")
            }
        };
        for title in &self.memories {
            out.push_str(&format!("see: \"{title}\"\n"));
        }
        out
    }
}
