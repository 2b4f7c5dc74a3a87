//! Ranks texts for a query: they are stored as the program stores memories and scored by its own search.

use std::collections::HashMap;

use memories::search::SearchSettings;
use memories::search::corpus::Corpus;
use memories::search::embedded::StaticModel;
use memories::search::embedder::Embedder;
use memories::search::entries::Entries;
use memories::search::parsed_query::{ParsedQuery, Synonyms};
use memories::search::ranking::rank;
use memories::search::score::QueryMeaning;
use memories::search::searchable_text::SearchableText;
use memories::types::{Category, Memory, Scope, Span};

use super::data::{Doc, Docs, Query};

/// The score to rank by.
#[derive(Debug, Clone, Copy)]
pub enum Method {
    /// BM25.
    Lexical,
    /// Cosine of the built-in model's vectors.
    Embedded,
    /// The whole similarity, with that of neighbouring lines of dialogue, without the second round.
    FirstRound,
    /// The whole similarity.
    Fused,
}

impl Method {
    pub const ALL: [Method; 4] = [Method::Lexical, Method::Embedded, Method::FirstRound, Method::Fused];

    pub fn name(self) -> &'static str {
        match self {
            Method::Lexical => "lexical",
            Method::Embedded => "embedded",
            Method::FirstRound => "first round",
            Method::Fused => "fused",
        }
    }
}

/// The corpus of one group, or of all texts.
struct Searched {
    corpus: Corpus,
    /// The number of each text among all.
    numbers: Vec<usize>,
    /// True if each text follows the previous one in the same dialogue.
    follows: Vec<bool>,
}

/// Ranks texts; a group is embedded on its first query.
pub struct Ranker<'a> {
    docs: &'a Docs,
    model: StaticModel,
    synonyms: Synonyms,
    groups: HashMap<Option<String>, Searched>,
}

impl<'a> Ranker<'a> {
    pub fn new(docs: &'a Docs) -> Ranker<'a> {
        let synonyms = SearchSettings::default().all_synonyms();
        Ranker { docs, model: StaticModel::new(), synonyms, groups: HashMap::new() }
    }

    /// The ranking of the query's texts by each method, best first.
    pub fn rank(&mut self, query: &Query) -> Vec<Vec<usize>> {
        let Ranker { docs, model, synonyms, groups } = self;
        let searched =
            groups.entry(query.group.clone()).or_insert_with(|| searched(docs, query.group.as_ref(), *model));
        let Some(question) = ParsedQuery::parse(&query.question, synonyms) else {
            return vec![Vec::new(); Method::ALL.len()];
        };
        let vector = model.embed_query(&question.undated).expect("the embedded model never fails");
        let meaning = QueryMeaning { vector: &vector, unrelated: model.unrelated(), adds_words: true };
        let texts: Vec<usize> = (0..searched.numbers.len()).collect();
        let live_texts = vec![true; texts.len()];
        let follows = |at: usize| searched.follows[at];
        let entries = Entries { texts: &texts, live_texts: &live_texts, follows: &follows };
        let [first, both] = [false, true].map(|second_round| {
            let ranked = rank(&searched.corpus, &question, &meaning, &entries, second_round, None);
            ranked.expect("a corpus of our own makes sense").each
        });
        let order = |values: Vec<f32>| {
            let mut order: Vec<usize> = (0..values.len()).filter(|at| values[*at] > 0.0).collect();
            order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
            order.into_iter().map(|at| searched.numbers[at]).collect()
        };
        let all = Method::ALL.map(|method| match method {
            Method::Lexical => first.iter().map(|ranked| ranked.parts.keywords).collect(),
            Method::Embedded => first.iter().map(|ranked| ranked.parts.meaning).collect(),
            Method::FirstRound => first.iter().map(|ranked| ranked.strength).collect(),
            Method::Fused => both.iter().map(|ranked| ranked.strength).collect::<Vec<f32>>(),
        });
        all.into_iter().map(order).collect()
    }
}

fn searched(docs: &Docs, group: Option<&String>, model: StaticModel) -> Searched {
    let numbers: Vec<usize> = (0..docs.texts.len())
        .filter(|number| group.is_none() || docs.texts[*number].group.as_ref() == group)
        .collect();
    let texts: Vec<SearchableText> = numbers.iter().map(|number| text(&docs.texts[*number])).collect();
    let mut corpus = Corpus::new(model.dimensions());
    corpus.add(&texts, &model).expect("the embedded model never fails");
    let line = |at: usize| {
        let doc = &docs.texts[numbers[at]];
        doc.speaker.is_some().then_some((&doc.group, doc.episode))
    };
    let follows =
        (0..numbers.len()).map(|at| at > 0 && line(at).is_some() && line(at) == line(at - 1)).collect();
    Searched { corpus, numbers, follows }
}

/// A text as a memory: a line of dialogue if it has a speaker, otherwise a memory of a place.
fn text(doc: &Doc) -> SearchableText {
    let category = doc.category.as_deref().and_then(Category::new);
    let dialogue = || Category::new("DIALOGUE").expect("it is a category");
    let mut memory = match &doc.speaker {
        Some(speaker) => {
            let title = format!("Ep{} T{} {speaker}", doc.episode.unwrap_or(1), doc.turn.unwrap_or(1));
            let said = format!("{speaker} said: {}", doc.text);
            Memory::new(category.unwrap_or_else(dialogue), title, said)
        }
        None => Memory::new(category.unwrap_or_else(Category::note), doc.title.clone(), doc.text.clone()),
    };
    memory.provenance.date.clone_from(&doc.date);
    memory.provenance.episode = doc.episode;
    memory.provenance.turns = doc.turn.map(Span::one);
    let scope = match (&doc.speaker, doc.location) {
        (Some(_), _) => Scope::Dialogue,
        (None, Some(id)) => Scope::Location(id),
        (None, None) => Scope::World,
    };
    SearchableText::of_memory(&scope, &doc.place, &memory)
}
