//! Counts the turns of a conversation: all of them, and those since the last extraction.
//!
//! The counts are kept in `state.json` next to the memory file. If that is lost, counting starts again; stored
//! memories are not affected. For conversations that arrive reply by reply, the replies waiting for extraction are
//! kept there as well, with secrets redacted.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::Message;
use memories_document::types::text::truncate;
use memories_llm::redact::redacted;
use memories_store::State;

/// The key in the state.
const KEY: &str = "conversations";

/// Maximum number of conversations in the state; the least recently updated are dropped first.
const MAX_CONVERSATIONS: usize = 200;

/// Maximum number of waiting messages.
const MAX_WAITING: usize = 40;

/// Maximum length of a waiting message, in characters.
const WAITING_CHARS: usize = 2000;

/// The counts of one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Counts {
    /// Turns seen; a turn ends with a reply.
    pub turns: u64,
    /// Turns seen at the last extraction.
    pub extracted: u64,
    /// The last reply, and the counts before it. A later request may have another one in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<LastReply>,
    /// Messages since then that no later call will contain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingMessage>,
}

/// The last reply of a conversation whose requests have all that was said before.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LastReply {
    /// How many messages stand before the question and the reply, and their hash.
    at: usize,
    before: u64,
    /// Hashes of the question, and of the question and the reply.
    question: u64,
    turn: u64,
    /// The counts before it.
    turns: u64,
    extracted: u64,
    waiting: usize,
    /// The line of the journal whose memories were extracted when it came.
    pub line: Option<String>,
}

impl LastReply {
    /// The reply at the end of the messages; `None` where no question stands before it.
    fn of(messages: &[Message], counts: &Counts) -> Option<LastReply> {
        let said = said(messages);
        let at = said.len().checked_sub(2)?;
        Some(LastReply {
            at,
            before: hash(&said[..at]),
            question: hash(&said[at..=at]),
            turn: hash(&said[at..]),
            turns: counts.turns,
            extracted: counts.extracted,
            waiting: counts.waiting.len(),
            line: None,
        })
    }

    /// True if the conversation went on otherwise than with this reply.
    fn is_dropped(&self, messages: &[Message]) -> bool {
        let said = said(messages);
        let Some(turn) = said.get(self.at..self.at + 2) else { return false };
        // Where nothing stands before, only the same question shows that it is the same conversation.
        let is_same =
            hash(&said[..self.at]) == self.before && (self.at > 0 || hash(&turn[..1]) == self.question);
        is_same && hash(turn) != self.turn
    }
}

/// What was said, with its speakers.
fn said(messages: &[Message]) -> Vec<String> {
    let said = messages.iter().filter(|message| message.is_speech());
    said.map(|message| format!("{}: {}", message.role(), message.text().trim())).collect()
}

fn hash(said: &[String]) -> u64 {
    xxh3_64(said.join("\0").as_bytes())
}

/// A message that waits for the next extraction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WaitingMessage {
    /// The role of the speaker.
    pub role: String,
    /// The text, redacted and truncated.
    pub text: String,
}

impl Counts {
    /// The counts of a conversation in the state.
    pub(crate) fn of(state: &State, conversation: &str) -> Counts {
        let known = state.other.get(KEY).and_then(|all| all.get(conversation));
        known.and_then(|counts| serde_json::from_value(counts.clone()).ok()).unwrap_or_default()
    }

    /// Writes the counts of a conversation into the state.
    pub fn write(&self, state: &mut State, conversation: &str) {
        if !state.other.get(KEY).is_some_and(Value::is_object) {
            state.other.insert(KEY.to_owned(), Value::Object(serde_json::Map::new()));
        }
        let Some(Value::Object(all)) = state.other.get_mut(KEY) else { return };
        all.shift_remove(conversation);
        while all.len() >= MAX_CONVERSATIONS {
            let Some(oldest) = all.keys().next().cloned() else { break };
            all.shift_remove(&oldest);
        }
        all.insert(conversation.to_owned(), serde_json::json!(self));
    }

    /// Takes the last reply back if a later request has another one in its place. Returns the line of the journal that was
    /// extracted from it.
    pub(crate) fn take_back(&mut self, messages: &[Message]) -> Option<String> {
        let last = self.last.take_if(|last| last.is_dropped(messages))?;
        (self.turns, self.extracted) = (last.turns, last.extracted);
        self.waiting.truncate(last.waiting);
        last.line
    }

    /// Notes the last reply, before it is counted.
    pub(crate) fn note_last(&mut self, messages: &[Message]) {
        self.last = LastReply::of(messages, self);
    }

    /// Counts the turns of incoming messages. `whole` says that they are the whole conversation; otherwise, messages
    /// with no more turns than are known add one turn.
    pub(crate) fn count(&mut self, messages: &[Message], whole: bool) {
        let seen = messages.iter().filter(|message| is_reply(message)).count() as u64;
        self.turns = match seen > self.turns {
            true => seen,
            false if whole || seen == 0 => self.turns,
            false => self.turns + 1,
        };
    }

    /// Keeps incoming messages for a later call if they contain only the last turn.
    pub(crate) fn keep_waiting(&mut self, messages: &[Message]) {
        if messages.iter().filter(|message| is_reply(message)).count() > 1 {
            return;
        }
        let new = messages.iter().filter(|message| message.is_speech());
        self.waiting.extend(new.map(|message| WaitingMessage {
            role: message.role(),
            text: truncate(redacted(&message.text()).trim(), WAITING_CHARS),
        }));
        let surplus = self.waiting.len().saturating_sub(MAX_WAITING);
        self.waiting.drain(..surplus);
    }

    /// The messages of the turns since the last extraction: first the waiting ones, then the last incoming ones.
    pub(crate) fn since_extraction(&self, messages: &[Message]) -> Vec<Message> {
        let wanted = self.turns.saturating_sub(self.extracted);
        let mut replies = 0;
        let mut last: Vec<Message> = Vec::new();
        for message in messages.iter().rev().filter(|message| message.is_speech() || is_reply(message)) {
            replies += u64::from(is_reply(message));
            if replies > wanted {
                break;
            }
            last.push(message.clone());
        }
        last.reverse();
        if replies < wanted {
            let waited = self.waiting.iter().map(|waiting| Message::plain(0, &waiting.role, &waiting.text));
            last = waited.chain(last).collect();
        }
        let surplus = last.len().saturating_sub(MAX_WAITING);
        last.drain(..surplus);
        last
    }
}

/// True if a message ends a turn: the model says something or calls a tool.
pub(crate) fn is_reply(message: &Message) -> bool {
    matches!(message.role().as_str(), "assistant" | "model")
        && (message.is_speech() || !message.tool_calls().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(turns: u64) -> Vec<Message> {
        let turn = |turn: u64| {
            [
                Message::plain(2 * turn - 1, "user", &format!("q{turn}")),
                Message::plain(2 * turn, "assistant", &format!("a{turn}")),
            ]
        };
        (1..=turns).flat_map(turn).collect()
    }

    fn texts(messages: &[Message]) -> String {
        messages.iter().map(Message::text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn turns_are_counted_for_all_kinds_of_input() {
        let mut counts = Counts::default();
        counts.count(&talk(3), false);
        assert_eq!(counts.turns, 3);
        // A client that sends no more than its last three turns.
        counts.count(&talk(3), false);
        assert_eq!(counts.turns, 4);
        // The file as a whole says how many there are.
        counts.count(&talk(3), true);
        assert_eq!(counts.turns, 4);
        counts.count(&talk(9), true);
        assert_eq!(counts.turns, 9);
        counts.count(&[Message::plain(1, "user", "Hello")], false);
        assert_eq!(counts.turns, 9);
    }

    #[test]
    fn new_turns_come_from_the_end_and_from_waiting_messages() {
        let counts = Counts { turns: 5, extracted: 3, ..Counts::default() };
        assert_eq!(texts(&counts.since_extraction(&talk(5))), "q4 a4 q5 a5");
        let mut bare = Counts::default();
        for turn in 1..=3 {
            let came = talk(turn).split_off(2 * turn as usize - 2);
            bare.count(&came, false);
            if turn < 3 {
                bare.keep_waiting(&came);
            } else {
                assert_eq!(texts(&bare.since_extraction(&came)), "q1 a1 q2 a2 q3 a3");
            }
        }
    }

    #[test]
    fn the_state_keeps_the_latest_conversations() {
        let mut state = State::default();
        state.other.insert("mood".to_owned(), Value::from("grim"));
        for number in 0..MAX_CONVERSATIONS + 5 {
            Counts { turns: 1, ..Counts::default() }.write(&mut state, &number.to_string());
        }
        assert_eq!(Counts::of(&state, "0"), Counts::default());
        assert_eq!(Counts::of(&state, "204").turns, 1);
        assert_eq!(state.other["mood"], "grim");
        assert_eq!(state.other[KEY].as_object().map(serde_json::Map::len), Some(MAX_CONVERSATIONS));
    }
}
