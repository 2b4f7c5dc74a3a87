//! How like texts are to one another, for those who choose among a few: the memories of one place.
//!
//! Texts enter, numbers from 0 to 1 leave. The built-in model is asked, so nothing can fail and nothing
//! is kept.

use crate::search::corpus::{Corpus, SearchableText};
use crate::search::embedded::StaticModel;
use crate::search::embedder::{Embedder, QueryVector, Vectors};
use crate::search::parsed_query::{ParsedQuery, Synonyms};
use crate::search::score::{SimilarityParts, score};
use crate::types::{Memory, Scope};

/// How like each memory of one place is to a text: what [`crate::search::query`] would call similarity,
/// were there no other memories.
pub fn similarities(text: &str, memories: &[Memory]) -> Vec<f32> {
    let Some(question) = ParsedQuery::parse(text, &Synonyms::default()) else {
        return vec![0.0; memories.len()];
    };
    let model = StaticModel::new();
    let texts: Vec<SearchableText> =
        memories.iter().map(|memory| SearchableText::of_memory(&Scope::World, "", memory)).collect();
    let mut corpus = Corpus::new(model.dimensions());
    let vector = corpus.add(&texts, &model).and_then(|()| model.embed_query(&question.text));
    let vector = vector.expect("the built-in model answers");
    let parts = score(&corpus, &question, &vector, model.unrelated(), |_| true);
    let parts = parts.expect("the corpus is our own");
    parts.iter().map(SimilarityParts::similarity).collect()
}

/// How like the meaning of each text is to that of each other, by their places in the list.
pub struct Meanings {
    vectors: Vectors,
    query_vectors: Vec<QueryVector>,
}

impl Meanings {
    /// The meanings of texts.
    pub fn of(texts: &[&str]) -> Meanings {
        let model = StaticModel::new();
        let all = model.embed(texts).expect("the built-in model answers");
        let mut vectors = Vectors::new(model.dimensions());
        all.iter().for_each(|vector| vectors.push(vector));
        Meanings { vectors, query_vectors: all.iter().map(|vector| QueryVector::new(vector)).collect() }
    }

    /// The cosine of two of them, at least 0.
    pub fn similarity(&self, a: usize, b: usize) -> f32 {
        self.vectors.cosine(a, &self.query_vectors[b]).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Category;

    #[test]
    fn memories_by_likeness_to_a_turn() {
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
    fn meanings_of_pairs() {
        let texts = ["The troll attacks you.", "You are attacked by a troll.", "The lamp is brass.", ""];
        let meanings = Meanings::of(&texts);
        assert!(meanings.similarity(0, 1) > 0.8 && meanings.similarity(0, 2) < 0.5);
        assert_eq!(meanings.similarity(0, 3), 0.0);
    }
}
