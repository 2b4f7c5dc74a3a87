//! Similarity without an index, for a few texts such as the memories of one place.
//!
//! Texts enter, numbers from 0 to 1 leave. Only the built-in model is used, so nothing can fail and nothing is
//! stored.

use crate::corpus::Corpus;
use crate::embedded::StaticModel;
use crate::embedder::{Embedder, QueryVector, Vectors};
use crate::entries::Entries;
use crate::parsed_query::{ParsedQuery, Synonyms};
use crate::ranking::rank;
use crate::score::QueryMeaning;
use crate::searchable_text::SearchableText;
use memories_document::types::{Memory, Scope};

/// The similarity of each memory to a text, as [`mod@crate::score`] defines it, computed as if there were no
/// other memories.
pub fn similarities(text: &str, memories: &[Memory]) -> Vec<f32> {
    let Some(query) = ParsedQuery::parse(text, &Synonyms::default()) else {
        return vec![0.0; memories.len()];
    };
    let model = StaticModel::new();
    let texts: Vec<SearchableText> =
        memories.iter().map(|memory| SearchableText::of_memory(&Scope::World, "", memory)).collect();
    let mut corpus = Corpus::new(model.dimensions());
    let vector = corpus.add(&texts, &model).and_then(|()| model.embed_query(&query.undated));
    let vector = vector.expect("the built-in model answers");
    let meaning = QueryMeaning { vector: &vector, unrelated: model.unrelated(), adds_words: true };
    let numbers: Vec<usize> = (0..texts.len()).collect();
    let live_texts = vec![true; texts.len()];
    let entries = Entries { texts: &numbers, live_texts: &live_texts, follows: &|_| false };
    let ranked = rank(&corpus, &query, &meaning, &entries, false, None);
    let ranking = ranked.expect("the corpus is our own");
    ranking.each.iter().map(|ranked| ranked.similarity).collect()
}

/// The cosines of all pairs of a list of texts.
pub(crate) struct PairwiseCosines {
    vectors: Vectors,
    query_vectors: Vec<QueryVector>,
}

impl PairwiseCosines {
    /// Embeds the texts.
    pub(crate) fn of(texts: &[&str]) -> PairwiseCosines {
        let model = StaticModel::new();
        let all = model.embed(texts).expect("the built-in model answers");
        let mut vectors = Vectors::new(model.dimensions());
        all.iter().for_each(|vector| vectors.push(vector));
        PairwiseCosines {
            vectors,
            query_vectors: all.iter().map(|vector| QueryVector::new(vector)).collect(),
        }
    }

    /// The cosine of two texts, by their positions in the list; at least 0.
    pub(crate) fn cosine(&self, a: usize, b: usize) -> f32 {
        self.vectors.all().cosine(a, &self.query_vectors[b]).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memories_document::types::Category;

    #[test]
    fn memories_by_similarity_to_a_turn() {
        let memory = |title: &str, text: &str| Memory::new(Category::note(), title, text);
        let memories = [
            memory("Mailbox holds a leaflet", "Open the mailbox to read it."),
            memory("Troll fears steel", "The monster runs when it is attacked with a blade."),
        ];
        let found = similarities("hit the troll with the sword", &memories);
        assert!(found[1] > found[0] + 0.1, "{found:?}");
        assert_eq!(similarities("...", &memories), [0.0, 0.0]);
    }

    #[test]
    fn cosines_of_pairs() {
        let texts = ["The troll attacks you.", "You are attacked by a troll.", "The lamp is brass.", ""];
        let cosines = PairwiseCosines::of(&texts);
        assert!(cosines.cosine(0, 1) > 0.8 && cosines.cosine(0, 2) < 0.5);
        assert_eq!(cosines.cosine(0, 3), 0.0);
    }
}
