//! Words of a query that no text has: their parts, and the word of a text that was probably meant.
//!
//! A query enters with the statistics of its words; the query with more words leaves, or `None` where it needs none. An
//! unknown word is cut as the words of texts are. One of letters is taken for a slip of the nearest word of a text. That
//! begins with the same letter, at a distance of 1, from eight letters on of 2 (a letter that is missing, too much or
//! another, or two that are swapped). Of equally near words the one that most texts have counts, then the first by
//! alphabet.

use std::cmp::Reverse;
use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::corpus::Corpus;
use crate::parsed_query::ParsedQuery;
use crate::text_statistics::TextStatistics;
use crate::vocabulary::Words;

/// Letters of a word from which a slip is looked for.
const MIN_LETTERS: usize = 5;

/// Letters from which two slips are.
const LONG: usize = 8;

/// A word of texts that is near to an unknown one.
struct Near {
    /// The number of the unknown term.
    term: usize,
    distance: usize,
    word: String,
    /// The number of live texts that have it.
    texts: u64,
}

/// The query with words in place of those that no live text has; `None` where there are none. The outer `None` stands
/// for an inconsistent corpus.
pub(crate) fn with_known_words(
    corpus: &Corpus,
    query: &ParsedQuery,
    statistics: &TextStatistics,
    counts: &dyn Fn(usize) -> bool,
) -> Option<Option<ParsedQuery>> {
    let mut is_unknown = vec![true; query.terms.len()];
    for found in statistics.frequencies.iter().filter(|found| counts(found.text as usize)) {
        is_unknown[found.term as usize] = false;
    }
    let unknown: Vec<usize> =
        (0..query.terms.len()).filter(|term| is_unknown[*term] && query.terms[*term].weight > 0.0).collect();
    let mut wider = query.clone();
    for &term in &unknown {
        query.terms[term].parts.iter().for_each(|part| wider.add_word(part));
    }
    for near in nearest(corpus, query, &unknown, counts)? {
        wider.add_word(&near);
    }
    Some((wider.terms.len() > query.terms.len()).then_some(wider))
}

/// The word that is nearest to each unknown term of letters, where there is one.
fn nearest(
    corpus: &Corpus,
    query: &ParsedQuery,
    unknown: &[usize],
    counts: &dyn Fn(usize) -> bool,
) -> Option<Vec<String>> {
    let is_of_letters = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    let unknown: Vec<(usize, &str)> = unknown
        .iter()
        .map(|term| (*term, query.terms[*term].word.as_str()))
        .filter(|(_, word)| word.len() >= MIN_LETTERS && is_of_letters(word))
        .collect();
    let mut near: Vec<Near> = Vec::new();
    if unknown.is_empty() {
        return Some(Vec::new());
    }
    let mut first = 0;
    for part in corpus.parts() {
        let numbers = near_words(&part.words, &unknown, &mut near);
        if !numbers.is_empty() {
            let mut found: Vec<usize> = Vec::new();
            part.each(
                &mut found,
                |found, word, _| found.extend(numbers.get(&word).into_iter().flatten()),
                |found, text, _| {
                    let live = u64::from(counts(first + text));
                    found.drain(..).for_each(|at| near[at].texts += live);
                },
            )?;
        }
        first += part.len();
    }
    let best = |term: usize| {
        let candidates = near.iter().filter(|near| near.term == term && near.texts > 0);
        candidates.min_by_key(|near| (near.distance, Reverse(near.texts), &near.word))
    };
    Some(unknown.iter().filter_map(|(term, _)| best(*term)).map(|near| near.word.clone()).collect())
}

/// Adds the words of a part that are near to unknown ones; returns for each word's number its places among them.
fn near_words(
    words: &Words<'_>,
    unknown: &[(usize, &str)],
    near: &mut Vec<Near>,
) -> HashMap<u32, Vec<usize>, FixedState> {
    let mut numbers: HashMap<u32, Vec<usize>, FixedState> = HashMap::default();
    for number in 0..words.len() as u32 {
        let word = words.word(number);
        for &(term, asked) in unknown {
            let most = if asked.len() < LONG { 1 } else { 2 };
            if word.first() != asked.as_bytes().first()
                || word.len().abs_diff(asked.len()) > most
                || !word.iter().all(u8::is_ascii_lowercase)
            {
                continue;
            }
            let word = str::from_utf8(word).unwrap_or_default();
            let distance = strsim::osa_distance(asked, word);
            if distance > most {
                continue;
            }
            // The parts of a corpus may share a word.
            let known = near.iter().position(|near| near.term == term && near.word == word);
            let at = known.unwrap_or(near.len());
            if known.is_none() {
                near.push(Near { term, distance, word: word.to_owned(), texts: 0 });
            }
            numbers.entry(number).or_default().push(at);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::StaticModel;
    use crate::parsed_query::Synonyms;
    use crate::searchable_text::SearchableText;

    /// The words that a question gets among some texts, of which the last one does not count.
    fn added(texts: &[&str], question: &str) -> Vec<String> {
        let model = StaticModel::new();
        let mut corpus = Corpus::new(model.dimensions());
        let searchable: Vec<SearchableText> = texts.iter().map(|text| SearchableText::plain(text)).collect();
        corpus.add(&searchable, &model).unwrap();
        let query = ParsedQuery::parse(question, &Synonyms::default()).unwrap();
        let statistics = TextStatistics::collect(&corpus, &query, None).unwrap();
        let wider = with_known_words(&corpus, &query, &statistics, &|text| text + 1 < texts.len()).unwrap();
        let words = wider.map(|wider| wider.terms.into_iter().skip(query.terms.len()).map(|term| term.word));
        words.into_iter().flatten().collect()
    }

    #[test]
    fn an_unknown_word_is_taken_for_the_nearest_of_a_text() {
        let texts =
            ["The database of staging", "data base, allergic to peanuts", "a troll, the trolls", "grues"];
        for (question, expected) in [
            ("databse", vec!["database"]),
            ("allergc peanutts", vec!["allergic", "peanuts"]),
            ("trlol", vec!["troll"]),
            ("the troll", vec![]),
            ("rolls", vec![]),
            ("gruse", vec![]),
            ("trol", vec![]),
            ("quantum", vec![]),
        ] {
            assert_eq!(added(&texts, question), expected, "{question}");
        }
    }

    #[test]
    fn an_unknown_identifier_is_cut() {
        let texts = ["get_user_by_id takes 12 GB", "parseHeader", ""];
        assert_eq!(added(&texts, "getUserById"), ["get", "user", "id"]);
        assert_eq!(added(&texts, "12GB"), ["12", "gb"]);
        assert_eq!(added(&texts, "parseHeader"), [""; 0]);
        assert_eq!(added(&texts, "parse the header"), [""; 0]);
    }
}
