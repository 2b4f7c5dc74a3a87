//! Settings of a search.

use crate::parsed_query::Synonyms;

/// Minimum relevance of a hit. Of fourteen questions about unrelated things, asked of the memories of
/// five episodes of Zork, thirteen found nothing as relevant as this; of eighteen that had an answer
/// there, one.
const FLOOR: f32 = 0.15;

/// Relevance from which a hit is sure.
pub(crate) const SURE: f32 = 0.3;

/// Share of the question's words from which a hit is sure whatever its relevance.
pub(crate) const SURE_WORDS: f32 = 0.15;

/// Share of a question's weight in characters of Chinese, Japanese or Korean from which their rule holds.
pub(crate) const IN_CHARACTERS: f64 = 0.5;

/// Share of the question's words that a hit needs by that rule, whatever its relevance: a character weighs so little
/// that the same words have a tenth of the relevance in one file that they have in another.
pub(crate) const CHARACTERS: f32 = 0.03;

/// Limit of hits below the floor.
pub(crate) const MAX_WEAK: usize = 3;

/// Settings of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchSettings {
    /// Minimum relevance of a hit.
    pub floor: f32,
    /// Groups of single words that mean the same.
    pub synonyms: Vec<Vec<String>>,
    /// True if the synonyms that players of text games use count, too.
    pub common_synonyms: bool,
    /// Share of its relevance that a memory of importance 0 loses.
    pub importance: f32,
    /// Share of its relevance that a memory loses that is many episodes old.
    pub recency: f32,
    /// True if words of the best memories are searched for, too.
    pub second_round: bool,
}

impl Default for SearchSettings {
    fn default() -> SearchSettings {
        SearchSettings {
            floor: FLOOR,
            synonyms: Vec::new(),
            common_synonyms: true,
            importance: 0.06,
            recency: 0.02,
            second_round: true,
        }
    }
}

impl SearchSettings {
    /// The table of synonyms, made when it is needed: commands that search nothing have settings, too.
    pub fn all_synonyms(&self) -> Synonyms {
        Synonyms::new(self.common_synonyms, &self.synonyms)
    }
}
