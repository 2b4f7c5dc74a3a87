//! Selects the messages of a conversation that a scope's entries do not cover yet.
//!
//! A conversation and a document enter; runs of messages leave, none of them summarised before. The cursor is not
//! stored separately: it is the highest message number in the scope's entries from the conversation, superseded
//! ones included.

use crate::conversation::{Conversation, conversation_tag};
use crate::digest::types::PresentCharacter;
use crate::message::Message;
use memories_document::Document;
use memories_document::grammar::is_same_name;
use memories_document::types::Scope;
use memories_record::Place;

/// Maximum number of messages in one prompt.
const MAX_MESSAGES: usize = 60;

/// Maximum number of characters in one prompt; a single message may be longer.
const MAX_CHARS: usize = 24_000;

/// The cursor of a scope: the last message of a conversation that its entries cover; 0 if there is none.
pub(crate) fn cursor_in(document: &Document, scope: &Scope, conversation: &str) -> u64 {
    let tag = conversation_tag(conversation);
    let memories = document.section(scope).map_or_else(Vec::new, |section| section.memories);
    let own = memories.iter().filter(|memory| memory.provenance.tags.contains(&tag));
    own.filter_map(|memory| memory.provenance.messages).map(|span| span.last).max().unwrap_or(0)
}

/// Speech at a place after a message. The place has no name if that is unknown or shared with another place.
pub(crate) fn at_place<'a>(conversation: &'a Conversation, place: &Place, after: u64) -> Vec<&'a Message> {
    let is_here = |message: &&Message| {
        let location = message.location();
        match (location.id, location.name) {
            (Some(id), _) => id == place.id,
            (None, Some(name)) => !place.name.is_empty() && is_same_name(&name, &place.name),
            (None, None) => false,
        }
    };
    said_after(conversation, after).into_iter().filter(is_here).collect()
}

/// All speech after a message.
pub(crate) fn said_after(conversation: &Conversation, after: u64) -> Vec<&Message> {
    let messages = conversation.messages.iter();
    messages.filter(|message| message.number > after && message.is_speech()).collect()
}

/// The messages that mention a character, each with the message before and after it.
pub(crate) fn around_mentions<'a>(
    messages: &[&'a Message],
    character: &PresentCharacter,
) -> Vec<&'a Message> {
    let names = character.names();
    let mentions: Vec<bool> = messages.iter().map(|message| message.mentions(&names)).collect();
    let is_near = |at: usize| mentions[at.saturating_sub(1)..(at + 2).min(mentions.len())].contains(&true);
    messages.iter().enumerate().filter(|(at, _)| is_near(*at)).map(|(_, message)| *message).collect()
}

/// Splits messages into runs that fit into one prompt.
pub(crate) fn in_runs<'a>(messages: &[&'a Message]) -> Vec<Vec<&'a Message>> {
    let mut runs: Vec<Vec<&Message>> = Vec::new();
    let mut chars = 0;
    for message in messages {
        let length = message.text().chars().count();
        match runs.last_mut() {
            Some(run) if run.len() < MAX_MESSAGES && chars + length <= MAX_CHARS => {
                run.push(message);
                chars += length;
            }
            _ => {
                runs.push(vec![message]);
                chars = length;
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(texts: &[&str]) -> Conversation {
        let messages = texts.iter().zip(1..).map(|(text, number)| Message::plain(number, "user", text));
        Conversation { id: "c".to_owned(), messages: messages.collect() }
    }

    fn numbers(messages: &[&Message]) -> Vec<u64> {
        messages.iter().map(|message| message.number).collect()
    }

    #[test]
    fn mentions_have_a_neighbour_on_each_side() {
        let conversation = conversation(&["a", "b", "the troll", "c", "d", "e", "Troll!", "troll", "f", "g"]);
        let troll = PresentCharacter { id: "troll".to_owned(), name: String::new() };
        let all = said_after(&conversation, 0);
        assert_eq!(numbers(&around_mentions(&all, &troll)), [2, 3, 4, 6, 7, 8, 9]);
        assert_eq!(numbers(&around_mentions(&all[2..3], &troll)), [3]);
        assert!(around_mentions(&all[3..6], &troll).is_empty());
    }

    #[test]
    fn runs_hold_everything_once() {
        let long = "x".repeat(MAX_CHARS + 1);
        let mut texts = vec!["a"; MAX_MESSAGES + 3];
        texts.push(&long);
        texts.push("b");
        let conversation = conversation(&texts);
        let all = said_after(&conversation, 0);
        let runs = in_runs(&all);
        assert_eq!(runs.iter().map(Vec::len).collect::<Vec<_>>(), [MAX_MESSAGES, 3, 1, 1]);
        assert_eq!(numbers(&runs.concat()), numbers(&all));
    }
}
