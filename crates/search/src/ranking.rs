//! The similarity of each entry of a file to a query: its own score, its neighbours', and the second round.
//!
//! A corpus with the entries whose texts it holds enters; for each entry a [`Ranked`] leaves. Nothing here depends on
//! filters or on how much is wanted.

use crate::corpus::Corpus;
use crate::embedder::QueryVector;
use crate::entries::Entries;
use crate::parsed_query::ParsedQuery;
use crate::score::{QueryMeaning, SimilarityParts, TextScore, score};
use crate::second_round::add_second_round;
use crate::settings::{CHARACTERS, IN_CHARACTERS};
use crate::text_statistics::TextStatistics;
use crate::unknown_words::with_known_words;

/// Weight of the line before and of the line after in the score of a line of dialogue.
const NEIGHBOUR_WEIGHT: f32 = 0.2;

/// Longest line of dialogue, in words, that has all of this weight; a longer one says enough itself.
const SHORT_LINE: f32 = 30.0;

/// How similar an entry is to a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// The number to rank by.
    pub strength: f32,
    /// From 0 to 1; the higher the strength, the higher, up to 1.
    pub similarity: f32,
    /// The components of the entry's own strength.
    pub parts: SimilarityParts,
    /// True if it has a word of the query that says something of its subject, or enough of its characters.
    pub has_word: bool,
    /// True if it answers a query in Chinese, Japanese or Korean by its words, whatever the similarity.
    pub has_characters: bool,
}

/// The similarities of entries to a query.
pub struct Ranking {
    /// That of each entry.
    pub each: Vec<Ranked>,
    /// The vector that passages are compared with.
    pub query: QueryVector,
    /// The query with words in place of those that no text has, where there are some.
    pub wider: Option<ParsedQuery>,
}

/// The similarity of each entry to a query. `None` if the corpus is inconsistent, which only a damaged index can cause.
/// `stored` are the statistics of the stored part about this query, where they were collected already.
pub fn rank(
    corpus: &Corpus,
    query: &ParsedQuery,
    meaning: &QueryMeaning<'_>,
    entries: &Entries<'_>,
    second_round: bool,
    stored: Option<TextStatistics>,
) -> Option<Ranking> {
    let is_live = |text: usize| entries.is_live(text);
    let mut statistics = TextStatistics::collect(corpus, query, stored)?;
    let wider = with_known_words(corpus, query, &statistics, &is_live)?;
    if let Some(wider) = &wider {
        statistics = TextStatistics::collect(corpus, wider, None)?;
    }
    let query = wider.as_ref().unwrap_or(query);
    let scores = score(corpus, query, meaning, statistics, is_live)?;
    let own: Vec<TextScore> = entries.texts.iter().map(|&text| scores.texts[text]).collect();
    let mut strengths = with_neighbours(&own, entries.follows);
    if second_round {
        add_second_round(corpus, query, &scores, entries, &mut strengths)?;
    }
    let each = own.iter().zip(strengths).map(|(own, strength)| {
        let has_characters = scores.in_characters >= IN_CHARACTERS && own.parts.keywords >= CHARACTERS;
        Ranked {
            strength,
            similarity: scores.scale.similarity(strength),
            parts: own.parts,
            has_word: own.has_word || has_characters,
            has_characters: own.has_word && has_characters,
        }
    });
    Some(Ranking { each: each.collect(), query: scores.query, wider })
}

/// The strengths of entries, with a share of both neighbours' for lines of dialogue.
fn with_neighbours(own: &[TextScore], follows: &dyn Fn(usize) -> bool) -> Vec<f32> {
    let mut all: Vec<f32> = own.iter().map(|score| score.strength).collect();
    let weight = |at: usize| NEIGHBOUR_WEIGHT * (SHORT_LINE / own[at].length.max(1) as f32).min(1.0);
    for second in 1..own.len() {
        if follows(second) {
            all[second - 1] += weight(second - 1) * own[second].strength;
            all[second] += weight(second) * own[second - 1].strength;
        }
    }
    all
}
