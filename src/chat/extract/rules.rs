//! What may be worth remembering of a reply, without a model: by rules of thumb.

use unicode_segmentation::UnicodeSegmentation;

use crate::ask::masked;
use crate::chat::extract::aspects::Aspect;
use crate::chat::message::holds_word;
use crate::document::text::stored_line;
use crate::types::Category;
use crate::types::text::truncate;

/// Words that tell a category, with the importance of such a sentence.
const RULES: [(&str, u16, &[&str]); 3] = [
    ("DISCOVERY", 600, &["learned", "learnt", "discovered"]),
    ("DECISION", 600, &["decided", "chose", "chosen"]),
    ("ERROR_LESSON", 700, &["failed", "mistake", "mistakes"]),
];

/// Importance of what no rule knows.
const PLAIN: u16 = 300;

/// Longest summary, in characters.
const CHARS: usize = 300;

/// The one thing of a reply: the first sentence that a rule knows, else its first sentence.
pub fn classify(reply: &str) -> Option<Aspect> {
    let line = stored_line(reply);
    let sentences: Vec<&str> =
        line.split_sentence_bounds().map(str::trim).filter(|s| !s.is_empty()).collect();
    let known = RULES.iter().find_map(|(category, importance, words)| {
        let holds = |sentence: &&&str| words.iter().any(|word| holds_word(&sentence.to_lowercase(), word));
        sentences.iter().find(holds).map(|sentence| (*category, *importance, *sentence))
    });
    let (category, importance, sentence) = known.or_else(|| Some(("NOTE", PLAIN, *sentences.first()?)))?;
    Some(Aspect {
        category: Category::new(category).expect("a category of the contract"),
        importance,
        summary: truncate(&masked(sentence), CHARS),
        context: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_thumb() {
        let of = |reply: &str| classify(reply).map(|aspect| (aspect.category.to_string(), aspect.summary));
        let said = |category: &str, summary: &str| Some((category.to_owned(), summary.to_owned()));
        assert_eq!(of("Well. Kira has LEARNED the word."), said("DISCOVERY", "Kira has LEARNED the word."));
        assert_eq!(of("We chose the bridge. It failed."), said("DECISION", "We chose the bridge."));
        assert_eq!(of("It was a mistake."), said("ERROR_LESSON", "It was a mistake."));
        assert_eq!(of("The sky is\ngrey. It rains."), said("NOTE", "The sky is grey."));
        assert_eq!(of("The unlearned choser."), said("NOTE", "The unlearned choser."));
        assert_eq!(of(" "), None);
    }
}
