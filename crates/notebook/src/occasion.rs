//! A change described in a few words, for the list of former states.

use std::fmt::Write;

use memories_document::types::text::{fold_spaces, truncate};
use memories_store::Occasion;
use memories_store::journal::entry::{Entry, MemoryEntry, PlayedTurn, RECORD};
use memories_store::journal::text::Text;

/// Longest text in characters.
const MAX_CHARS: usize = 100;

/// The occasion of a change by that command, in the running episode, from the lines that it adds to the journal.
pub(super) fn occasion(command: &str, episode: u64, lines: &[String]) -> Occasion {
    let mut text = lines.first().map_or_else(String::new, |line| text_of(line));
    match lines {
        [] | [_] => {}
        [.., last] if command == RECORD => {
            let _ = write!(text, " … {}", text_of(last));
        }
        [_, others @ ..] => {
            let _ = write!(text, ", and {} more", others.len());
        }
    }
    let command = if command.is_empty() { "program" } else { command };
    Occasion { command: command.to_owned(), episode, text: truncate(&fold_spaces(&text), MAX_CHARS) }
}

fn text_of(line: &str) -> String {
    let Some(entry) = Entry::<PlayedTurn<'_>>::parse(line) else { return String::new() };
    if let Some(turn) = &entry.turn {
        return of_turn(turn);
    }
    let parts: Vec<&MemoryEntry<'_>> = entry.parts().collect();
    match (&parts[..], entry.state, entry.lines) {
        ([], Some(state), _) => format!("state {state}"),
        ([], _, Some(lines)) => format!("{lines} lines"),
        ([], ..) => entry.reasoning.as_deref().unwrap_or_default().to_owned(),
        ([first, others @ ..], ..) => {
            let field = |text: &Option<Text<'_>>| text.as_deref().unwrap_or_default().to_owned();
            let more = if others.is_empty() { String::new() } else { format!(", and {} more", others.len()) };
            format!("{}: {}{more}", field(&first.scope), field(&first.title))
        }
    }
}

/// `Ep3, T12: open window`.
fn of_turn(turn: &PlayedTurn<'_>) -> String {
    let part = |name: &str, number: Option<u64>| number.map(|number| format!("{name}{number}"));
    let moment: Vec<String> =
        [part("Ep", turn.episode), part("T", turn.turn)].into_iter().flatten().collect();
    format!("{}: {}", moment.join(", "), turn.action.as_deref().unwrap_or_default())
}
