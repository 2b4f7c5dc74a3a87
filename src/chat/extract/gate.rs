//! Whether a reply may hold anything worth remembering: a cheap look before a model is asked.
//!
//! A reply enters and what was told to the model; the words that count leave. Injected blocks are taken
//! out, and so are sentences that only say again what such a block said.

use crate::chat::inject::block::without_blocks;
use crate::notebook::duplicates::says_the_same;
use crate::search::words::words;

use unicode_segmentation::UnicodeSegmentation;

/// What is no longer than this, in characters, is not looked at.
pub const LEAST_CHARS: usize = 50;

/// Words of greetings and courtesies; a reply that has hardly any other says nothing.
const COURTESIES: &str = " a about again all am and anything are as assist at back be been bye can care come could day \
     days do doing else enjoy evening feel fine for forward free friend from further glad good goodbye great \
     greetings happy have hello help here hey hi hope how i if in is it just know later let look luck me meet \
     more morning much my need nice night no ok okay on or other out pleased pleasure please questions see so \
     soon sure take talk thank thanks that the there things this to today too tonight very want was we welcome \
     well what whenever wish with wonderful would you your ";

/// The words of a reply that may be worth remembering; `None` where it has none.
pub fn worthy(text: &str, told: &[String]) -> Option<String> {
    let text = without_blocks(text);
    let own: String = text.split_sentence_bounds().filter(|sentence| !is_told(sentence, told)).collect();
    let own = own.trim();
    (own.chars().count() > LEAST_CHARS && !is_courtesy(own)).then(|| own.to_owned())
}

fn is_told(sentence: &str, told: &[String]) -> bool {
    let sentence = sentence.trim();
    let is_within = |line: &String| {
        says_the_same(line, sentence)
            || (sentence.chars().count() > 12 && line.to_lowercase().contains(&sentence.to_lowercase()))
    };
    !sentence.is_empty() && told.iter().any(is_within)
}

/// Whether nearly all words are those of greetings, thanks and offers of help.
fn is_courtesy(text: &str) -> bool {
    let words = words(text);
    let plain = words.iter().filter(|word| COURTESIES.contains(&format!(" {word} "))).count();
    plain as f64 >= 0.9 * words.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_or_a_greeting_is_not_worthy() {
        assert_eq!(worthy("The gate is open.", &[]), None);
        assert_eq!(worthy(&"x".repeat(50), &[]), None);
        assert!(worthy(&"x".repeat(51), &[]).is_some());
        for greeting in [
            "Hello and welcome back! It is so good to see you again. How can I help you today?",
            "Thank you very much, have a wonderful day! If you need anything else, just let me know.",
        ] {
            assert_eq!(worthy(greeting, &[]), None, "{greeting}");
        }
        assert!(
            worthy("Hello! I have decided to give the brass key to Marcus, the gatekeeper.", &[]).is_some()
        );
    }

    #[test]
    fn an_echo_of_what_was_injected_is_not_worthy() {
        let told = ["The northern gate is unguarded at dawn, as Kira saw herself.".to_owned()];
        assert_eq!(worthy("The northern gate is unguarded at dawn, as Kira saw herself.", &told), None);
        let more = "The northern gate is unguarded at dawn, as Kira saw herself. But the captain has learned of it and doubles the watch.";
        assert_eq!(
            worthy(more, &told).as_deref(),
            Some("But the captain has learned of it and doubles the watch.")
        );
        let block = "<memories>\n1. [NOTE]\n   Summary: The northern gate is unguarded at dawn, always.\n</memories>\n\nHm.";
        assert_eq!(worthy(block, &[]), None);
    }
}
