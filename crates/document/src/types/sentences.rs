//! The sentences of a line.

use unicode_segmentation::UnicodeSegmentation;

/// Abbreviations with a full stop, which do not end a sentence.
const ABBREVIATIONS: [&str; 9] = ["Mr.", "Mrs.", "Ms.", "Dr.", "St.", "Prof.", "e.g.", "i.e.", "vs."];

/// The first `max` sentences of a line.
pub fn first_sentences(line: &str, max: usize) -> &str {
    let (mut count, mut end) = (0, 0);
    for (start, sentence) in line.split_sentence_bound_indices() {
        end = start + sentence.len();
        let last = sentence.split_whitespace().next_back().unwrap_or_default();
        if !ABBREVIATIONS.contains(&last.trim_start_matches(['(', '"'])) {
            count += 1;
        }
        if count == max {
            break;
        }
    }
    line[..end].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences() {
        assert_eq!(first_sentences("One. Two! Three? Four", 2), "One. Two!");
        assert_eq!(
            first_sentences("Dr. Watson has it. He is in St. Ives. Go.", 2),
            "Dr. Watson has it. He is in St. Ives."
        );
        assert_eq!(first_sentences("It costs 3.50 here. Pay", 1), "It costs 3.50 here.");
        assert_eq!(first_sentences("no end", 2), "no end");
    }
}
