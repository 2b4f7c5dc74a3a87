//! Injects relevant memories into a chat request.
//!
//! A request enters as bytes; the same bytes leave with a block of memories in them. The flow is
//! [`Injector::inject`]: the last messages → search → filter and rank (`choose`) → a block ([`block`]) →
//! into the request ([`request`]). It always holds that
//!
//! * if nothing is relevant, the request leaves unchanged, byte for byte;
//! * no message is lost, moved or changed except by the block, and a second block replaces the first;
//! * memories never become instructions that close their block.

pub mod block;
mod choose;
mod place;
pub mod request;
pub(crate) mod splice;

use std::sync::Arc;
use std::time::Duration;

use crate::api_format::ApiFormat;
use crate::error::ChatError;
use crate::inject::block::{InjectedMemory, render, without_blocks};
use crate::inject::request::{ChatRequest, insert_block};
use crate::message::contains_word;
use crate::settings::{ChatSettings, embedded_threshold};
use memories_document::types::instant::compare;
use memories_document::types::text::truncate;
use memories_document::types::{Memory, Scope, fold_title};
use memories_document::{Document, PlaceNames};
use memories_notebook::SharedSnapshot;
use memories_recall::brief::newest;
use memories_search::embedder::Embedder;
use memories_search::{Question, SearchError, SearchResults, SearchSettings, Searcher};

use choose::{Candidate, choose, days_since};

/// Number of the last messages that memories are searched with; the last one is also searched with alone.
const RECENT: usize = 5;

/// Characters of a message that are searched with.
const SEARCHED_CHARS: usize = 600;

/// Number of latest memories between two characters that are added to those found.
const SHARED: usize = 3;

/// Hits to fetch when they are filtered after ranking, by age or by a served model's cosine. Each costs
/// the parsing of an entry.
const MAX_HITS: usize = 50;

/// A request with memories in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Injected {
    /// The request.
    pub request: Vec<u8>,
    /// The memories injected; without any the request is unchanged.
    pub memories: Vec<InjectedMemory>,
    /// The error of the configured embedder, if the embedded model answered instead.
    pub fallback: Option<String>,
}

/// Injects the memories of one file into requests, from any number of threads.
pub struct Injector {
    searcher: Searcher,
    /// Baseline cosine of a served embedder; `None` for the embedded one.
    unrelated: Option<f32>,
}

impl Injector {
    /// Reads nothing yet. `search` says how memories are searched; its floor is not used.
    pub fn new(
        files: impl Into<Arc<SharedSnapshot>>,
        search: &SearchSettings,
        embedder: Box<dyn Embedder>,
    ) -> Injector {
        let unrelated = embedder.is_served().then(|| embedder.unrelated());
        // Importance and age are weighed by `choose`, and the threshold decides what is similar enough.
        let search = SearchSettings { floor: 0.0, importance: 0.0, recency: 0.0, ..search.clone() };
        Injector { searcher: Searcher::new(files, search, embedder), unrelated }
    }

    /// The same, but a served embedder has only this time for a request; see [`Searcher::with_time_limit`].
    pub fn with_time_limit(self, limit: Duration) -> Injector {
        Injector { searcher: self.searcher.with_time_limit(limit), ..self }
    }

    /// The file whose memories are injected.
    pub fn files(&self) -> &SharedSnapshot {
        self.searcher.files()
    }

    /// Injects memories into a request; its format is detected if it is not given. Ages count back from
    /// `now`, RFC 3339.
    ///
    /// # Errors
    ///
    /// See [`ChatError`].
    pub fn inject(
        &self,
        request: &[u8],
        settings: &ChatSettings,
        shape: Option<ApiFormat>,
        now: &str,
    ) -> Result<Injected, ChatError> {
        let read = ChatRequest::read(request).map_err(ChatError::NotRequest)?;
        let count = if settings.max_age_days.is_none() && self.unrelated.is_none() {
            settings.candidates
        } else {
            MAX_HITS.max(settings.candidates)
        };
        let mut fallback = None;
        let mut found: Vec<Candidate> = Vec::new();
        for question in questions(&read) {
            let results = match self.searcher.query(Question::new(&question).at(now), &settings.filter, count)
            {
                Err(SearchError::EmptyQuestion) => continue,
                results => results?,
            };
            if let Some(error) = &results.fallback {
                fallback = Some(error.to_string());
            }
            self.take(results, settings, &mut found);
        }
        if let Some(max_days) = settings.max_age_days {
            found.retain(|candidate| days_since(&candidate.memory, now).is_some_and(|days| days <= max_days));
        }
        found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        found.truncate(settings.candidates);
        if let Some(between) = &settings.between {
            self.add_shared(between, settings, &mut found)?;
        }
        let memories = choose(found, settings, now);
        if memories.is_empty() {
            return Ok(Injected { request: request.to_vec(), memories, fallback });
        }
        let block = render(&memories, &settings.style);
        let request =
            insert_block(request, &block, settings.style.mode, shape).map_err(ChatError::NotRequest)?;
        Ok(Injected { request, memories, fallback })
    }

    /// Adds the hits above the threshold; an entry that was found before keeps the higher similarity.
    fn take(&self, results: SearchResults, settings: &ChatSettings, found: &mut Vec<Candidate>) {
        let unrelated = self.unrelated.filter(|_| results.fallback.is_none());
        let floor = embedded_threshold(settings.threshold);
        for hit in results.hits {
            let is_similar = match unrelated {
                Some(unrelated) => hit.parts.meaning * (1.0 - unrelated) + unrelated >= settings.threshold,
                None => hit.similarity >= floor,
            };
            if !is_similar {
                continue;
            }
            let new = Candidate {
                scope: hit.scope,
                name: hit.name,
                place: hit.place,
                memory: hit.memory,
                similarity: hit.similarity,
            };
            match found.iter_mut().find(|old| old.is_same_entry(&new)) {
                Some(old) => old.similarity = old.similarity.max(new.similarity),
                None => found.push(new),
            }
        }
    }

    /// Adds the latest memories that have to do with both characters.
    fn add_shared(
        &self,
        (a, b): &(String, String),
        settings: &ChatSettings,
        found: &mut Vec<Candidate>,
    ) -> Result<(), ChatError> {
        let document = Document::parse(self.files().current()?.text().to_owned());
        let names = PlaceNames::of(document.headings());
        let mut shared: Vec<Candidate> = Vec::new();
        for (scope, mut section) in document.sections() {
            let name = section.name.clone();
            section.memories.retain(|memory| {
                settings.filter.wants(&scope, memory)
                    && [a, b].iter().all(|id| concerns(&scope, &name, memory, id))
            });
            shared.extend(newest(&section, SHARED).into_iter().map(|memory| Candidate {
                scope: scope.clone(),
                name: name.clone(),
                place: names.label(&scope, &name),
                memory,
                similarity: embedded_threshold(settings.threshold),
            }));
        }
        shared.sort_by(|a, b| {
            let [a, b] = [a, b].map(|candidate| candidate.memory.provenance.date.as_deref());
            compare(b, a)
        });
        shared.truncate(SHARED);
        shared.retain(|new| !found.iter().any(|old| old.is_same_entry(new)));
        found.extend(shared);
        Ok(())
    }
}

/// True if a memory has to do with a character: by its section, a tag, or the character's id in its words.
fn concerns(scope: &Scope, name: &str, memory: &Memory, id: &str) -> bool {
    let own = matches!(scope, Scope::Npc(own) | Scope::Agent(own) if own == id);
    let tags = memory.provenance.tags.iter().map(|tag| fold_title(tag));
    let mut bare = tags.map(|tag| tag.rsplit(':').next().unwrap_or_default().to_owned());
    let text = fold_title(&format!("{name}\n{}\n{}", memory.title, memory.text));
    own || bare.any(|tag| tag == id) || contains_word(&text, &id.replace(['_', '-'], " "))
}

/// The questions to search with: the last message alone, and the last messages together.
fn questions(request: &ChatRequest<'_>) -> Vec<String> {
    let said: Vec<String> = request
        .last_messages(RECENT)
        .iter()
        // Search takes quoted words as a phrase that a memory must contain; here they are only words.
        .map(|message| without_blocks(&message.text()).replace(['"', '“', '”', '„'], " "))
        .map(|text| truncate(text.trim(), SEARCHED_CHARS))
        .collect();
    let mut questions: Vec<String> = said.last().cloned().into_iter().collect();
    if said.len() > 1 {
        questions.push(said.join("\n"));
    }
    questions
}
