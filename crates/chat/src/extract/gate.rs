//! A cheap test whether a reply is worth asking a model about.
//!
//! A reply and the memories injected into its request enter; the part of the reply that is new leaves. Injected
//! blocks are removed, and so are sentences that only repeat an injected memory.

use crate::inject::block::without_blocks;
use memories_document::types::fold_title;
use memories_notebook::duplicates::says_the_same;
use memories_search::words::words;

use unicode_segmentation::UnicodeSegmentation;

/// A reply must be longer than this, in characters.
const MIN_CHARS: usize = 50;

/// Words of greetings and courtesies. A reply that consists of them to nine tenths says nothing.
const COURTESIES: &str = " a about again all am and anything are as assist at back be been bye can care come could day \
     days do doing else enjoy evening feel fine for forward free friend from further glad good goodbye great \
     greetings happy have hello help here hey hi hope how i if in is it just know later let look luck me meet \
     more morning much my need nice night no ok okay on or other out pleased pleasure please questions see so \
     soon sure take talk thank thanks that the there things this to today too tonight very want was we welcome \
     well what whenever wish with wonderful would you your ";

/// The part of a reply that may be worth remembering; `None` if there is none. `injected` are the memories in the
/// request.
pub(crate) fn new_content(text: &str, injected: &[String]) -> Option<String> {
    let text = without_blocks(text);
    let own: String = text.split_sentence_bounds().filter(|sentence| !repeats(sentence, injected)).collect();
    let own = own.trim();
    (own.chars().count() > MIN_CHARS && !is_courtesy(own)).then(|| own.to_owned())
}

fn repeats(sentence: &str, injected: &[String]) -> bool {
    let sentence = sentence.trim();
    let is_within = |line: &String| {
        says_the_same(line, sentence)
            || (sentence.chars().count() > 12 && fold_title(line).contains(&fold_title(sentence)))
    };
    !sentence.is_empty() && injected.iter().any(is_within)
}

/// True if nearly all words are greetings, thanks and offers of help.
fn is_courtesy(text: &str) -> bool {
    let words = words(text);
    let plain = words.iter().filter(|word| COURTESIES.contains(&format!(" {word} "))).count();
    plain as f64 >= 0.9 * words.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_reply_or_a_greeting_is_not_new() {
        assert_eq!(new_content("The gate is open.", &[]), None);
        assert_eq!(new_content(&"x".repeat(50), &[]), None);
        assert!(new_content(&"x".repeat(51), &[]).is_some());
        for greeting in [
            "Hello and welcome back! It is so good to see you again. How can I help you today?",
            "Thank you very much, have a wonderful day! If you need anything else, just let me know.",
        ] {
            assert_eq!(new_content(greeting, &[]), None, "{greeting}");
        }
        assert!(
            new_content("Hello! I have decided to give the brass key to Marcus, the gatekeeper.", &[])
                .is_some()
        );
    }

    #[test]
    fn an_echo_of_an_injected_memory_is_not_new() {
        let injected = ["The northern gate is unguarded at dawn, as Kira saw herself.".to_owned()];
        assert_eq!(
            new_content("The northern gate is unguarded at dawn, as Kira saw herself.", &injected),
            None
        );
        let more = "The northern gate is unguarded at dawn, as Kira saw herself. But the captain has learned of it and doubles the watch.";
        assert_eq!(
            new_content(more, &injected).as_deref(),
            Some("But the captain has learned of it and doubles the watch.")
        );
        let block = "<memories>\n1. [NOTE]\n   Summary: The northern gate is unguarded at dawn, always.\n</memories>\n\nHm.";
        assert_eq!(new_content(block, &[]), None);
    }
}
