//! The choice of hits: which memories answer a question, given the similarity of each.
//!
//! A library with similarities enters, and what is wanted; hits leave, the most relevant first. Those below the floor
//! come last, and only where they are wanted.

use crate::filter::Filter;
use crate::library::Library;
use crate::parsed_query::ParsedQuery;
use crate::quotes::Phrase;
use crate::ranking::{Ranked, Ranking};
use crate::results::Hit;
use crate::settings::{SURE, SURE_WORDS, SearchSettings};
use memories_document::grammar::Heading;
use memories_document::types::Memory;

/// Episodes after which half of the recency is lost.
const RECENCY_HALF_LIFE: f32 = 5.0;

/// What a caller wants of the memories that answer a question.
pub(crate) struct Wanted<'a> {
    pub(crate) filter: &'a Filter,
    /// Minimum relevance.
    pub(crate) floor: f32,
    /// Limit of hits.
    pub(crate) count: usize,
    /// Limit of those below the floor.
    pub(crate) weak: usize,
}

/// Hits, the most relevant first, up to a limit.
struct Best {
    hits: Vec<Hit>,
    limit: usize,
}

impl Best {
    fn new(limit: usize) -> Best {
        Best { hits: Vec::new(), limit }
    }

    /// True if no hit of that similarity is better than the last one: no factor of a relevance is above 1.
    fn is_full(&self, similarity: f32) -> bool {
        self.limit == 0 || self.hits.get(self.limit - 1).is_some_and(|last| last.relevance >= similarity)
    }

    fn insert(&mut self, hit: Hit) {
        let place = self.hits.partition_point(|other| other.relevance >= hit.relevance);
        self.hits.insert(place, hit);
        self.hits.truncate(self.limit);
    }
}

impl Library {
    /// The most relevant entries that the filter wants and that reach the floor, and behind them those
    /// below the floor that have a word of the question, as far as they are wanted. With a phrase, those that have it.
    pub(crate) fn choose(
        &self,
        similarities: &Ranking,
        question: &ParsedQuery,
        phrase: Option<&Phrase>,
        wanted: &Wanted<'_>,
        settings: &SearchSettings,
    ) -> Vec<Hit> {
        let (entries, each) = (self.snapshot.entries(), &similarities.each);
        let filter = wanted.filter;
        let newest = entries.iter().filter_map(|entry| entry.episode).max();
        let wanted_sections: Vec<bool> =
            self.snapshot.section_headings().map(|heading| filter.wants_scope(&heading.scope)).collect();
        let may_reach =
            |at: usize| phrase.is_some() || each[at].similarity >= wanted.floor || each[at].has_characters;
        let may_be_weak = |at: usize| wanted.weak > 0 && each[at].has_word;
        let mut candidates: Vec<usize> = (0..entries.len())
            .filter(|&at| may_reach(at) || may_be_weak(at))
            .filter(|&at| {
                wanted_sections[entries[at].section as usize] && filter.wants_status(entries[at].status)
            })
            .collect();
        // The strongest first, and of equally strong ones the earlier.
        candidates.sort_by(|a, b| each[*b].strength.total_cmp(&each[*a].strength));
        let (mut best, mut weak) = (Best::new(wanted.count), Best::new(wanted.weak));
        for at in candidates {
            let similarity = each[at].similarity;
            if best.is_full(similarity) {
                break;
            }
            if !may_reach(at) && weak.is_full(similarity) {
                continue;
            }
            let memory = self.snapshot.memory(at);
            let has_phrase = |phrase: &Phrase| phrase.is_in(&format!("{}\n{}", memory.title, memory.text));
            if !filter.wants(&self.snapshot.heading_of(at).scope, &memory) || !phrase.is_none_or(has_phrase) {
                continue;
            }
            let recency = recency(memory.provenance.episode, newest, settings.recency);
            let hit = self.hit(at, memory, each[at], settings.importance, recency);
            if phrase.is_some() {
                best.insert(Hit { is_weak: false, ..hit });
            } else if hit.relevance >= wanted.floor || each[at].has_characters {
                // The embedded model knows only pieces of words in other languages, so likeness alone proves nothing.
                let is_weak = hit.is_weak || question.is_foreign && !each[at].has_word;
                best.insert(Hit { is_weak, ..hit });
            } else if may_be_weak(at) {
                weak.insert(Hit { is_weak: true, ..hit });
            }
        }
        let mut hits = best.hits;
        hits.extend(weak.hits);
        hits.truncate(wanted.count);
        for hit in &mut hits {
            hit.passage = self.passage(hit.entry, &hit.memory.text, question, &similarities.query);
        }
        hits
    }

    /// A hit, without its passage.
    fn hit(&self, at: usize, memory: Memory, ranked: Ranked, importance: f32, recency_factor: f32) -> Hit {
        let Ranked { similarity, parts, has_characters, .. } = ranked;
        let Heading { scope, name } = self.snapshot.heading_of(at);
        let importance_factor = 1.0 - importance * (1.0 - f32::from(memory.importance()) / 1000.0);
        let relevance = similarity * importance_factor * recency_factor;
        Hit {
            scope: scope.clone(),
            name: name.clone(),
            place: self.snapshot.place_names().label(scope, name),
            passage: None,
            is_cut: false,
            memory,
            relevance,
            is_weak: relevance < SURE && parts.keywords < SURE_WORDS && !has_characters,
            similarity,
            parts,
            importance_factor,
            recency_factor,
            entry: at,
        }
    }
}

/// The factor of a memory's age in episodes; without an episode it counts as new.
fn recency(episode: Option<u64>, newest: Option<u64>, weight: f32) -> f32 {
    let age = newest.unwrap_or(0).saturating_sub(episode.or(newest).unwrap_or(0));
    1.0 - weight * (1.0 - 0.5_f32.powf(age as f32 / RECENCY_HALF_LIFE))
}
