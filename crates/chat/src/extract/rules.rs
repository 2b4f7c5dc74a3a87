//! Extraction without a model: keyword rules pick one sentence of a reply.

use unicode_segmentation::UnicodeSegmentation;

use crate::extract::aspects::Aspect;
use crate::message::contains_word;
use memories_document::text::stored_line;
use memories_document::types::Category;
use memories_document::types::text::truncate;
use memories_llm::redact::redacted;

/// Category and importance of a sentence that contains one of the words.
const RULES: [(&str, u16, &[&str]); 3] = [
    ("DISCOVERY", 600, &["learned", "learnt", "discovered"]),
    ("DECISION", 600, &["decided", "chose", "chosen"]),
    ("ERROR_LESSON", 700, &["failed", "mistake", "mistakes"]),
];

/// Importance of a sentence that no rule matches.
const DEFAULT: u16 = 300;

/// Maximum length of a summary, in characters.
const SUMMARY_CHARS: usize = 300;

/// The first sentence that a rule matches, or else the first sentence.
pub(crate) fn classify(reply: &str) -> Option<Aspect> {
    let line = stored_line(reply);
    let sentences: Vec<&str> =
        line.split_sentence_bounds().map(str::trim).filter(|s| !s.is_empty()).collect();
    let known = RULES.iter().find_map(|(category, importance, words)| {
        let holds = |sentence: &&&str| words.iter().any(|word| contains_word(&sentence.to_lowercase(), word));
        sentences.iter().find(holds).map(|sentence| (*category, *importance, *sentence))
    });
    let (category, importance, sentence) = known.or_else(|| Some(("NOTE", DEFAULT, *sentences.first()?)))?;
    Some(Aspect {
        category: Category::new(category).expect("a category of the contract"),
        importance,
        summary: truncate(&redacted(sentence), SUMMARY_CHARS),
        context: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyword_rules() {
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
