//! Memories are woven into a chat request, without anybody asking for them.
//!
//! A request enters as bytes; the same bytes leave with a block of memories in them. The flow is
//! [`Injector::inject`]: what was said last → search → filter and rank (`choose`) → a block ([`block`]) →
//! into the request ([`request`]). It always holds that
//!
//! * where nothing is relevant the request comes out byte by byte as it went in;
//! * no message is lost, moved or changed but for the block, and a second block replaces the first;
//! * memories never become instructions that close their block.

mod age;
pub mod block;
mod choose;
pub mod request;

use crate::chat::inject::block::{Style, Told, render, without_blocks};
use crate::chat::inject::request::{Request, Shape, splice};
use crate::chat::message::holds_word;
use crate::document::Document;
use crate::recall::brief::newest;
use crate::search::filter::Filter;
use crate::search::{self, Answer, SearchError, Searcher};
use crate::store::{Store, StoreError};
use crate::types::hint::{Advice, Hint};
use crate::types::text::truncate;
use crate::types::{Memory, Scope};

use choose::{Candidate, choose};

/// The threshold that is usual for the cosine of a neural encoder …
pub const USUAL_THRESHOLD: f32 = 0.7;

/// … and the similarity that parts related from unrelated as it does, where the embedded model is asked:
/// `tests/it/chat/threshold.rs` measures it.
pub const CALIBRATED: f32 = 0.2;

/// Messages of the conversation that memories are searched with; the last one is searched with alone, too.
const RECENT: usize = 5;

/// Longest message that is searched with, in characters.
const SEARCHED_CHARS: usize = 600;

/// So many memories that two characters share are looked at besides what was found.
const SHARED: usize = 3;

/// So many hits are looked at where what is wanted of them is not what they are ranked by: their age, or
/// the cosine of a served model. Each costs the reading of an entry.
const MOST_HITS: usize = 50;

/// How memories are woven in.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How they are told.
    pub style: Style,
    /// Most memories …
    pub most: usize,
    /// … of so many that are likest …
    pub candidates: usize,
    /// … and most tokens of the whole block.
    pub max_tokens: usize,
    /// How like the conversation a memory must be: a cosine of a neural encoder.
    pub threshold: f32,
    /// Which memories may be told.
    pub filter: Filter,
    /// None older than so many days, none without a date.
    pub max_age_days: Option<f64>,
    /// The latest that two characters share may be told, too, by their ids.
    pub between: Option<(String, String)>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            style: Style::default(),
            most: 5,
            candidates: 10,
            max_tokens: 500,
            threshold: USUAL_THRESHOLD,
            filter: Filter::default(),
            max_age_days: None,
            between: None,
        }
    }
}

/// The similarity of the embedded model that stands for a cosine of a neural encoder: on the lines from 0
/// over [`USUAL_THRESHOLD`], which is [`CALIBRATED`], to 1.
pub fn similarity_of(threshold: f32) -> f32 {
    let threshold = threshold.clamp(0.0, 1.0);
    match threshold <= USUAL_THRESHOLD {
        true => threshold / USUAL_THRESHOLD * CALIBRATED,
        false => CALIBRATED + (threshold - USUAL_THRESHOLD) / (1.0 - USUAL_THRESHOLD) * (1.0 - CALIBRATED),
    }
}

/// Why nothing could be woven in.
#[derive(Debug, thiserror::Error)]
pub enum InjectError {
    /// It is no chat request.
    #[error("this is not a chat request: {0}")]
    NotRequest(String),
    /// The memories cannot be searched.
    #[error(transparent)]
    Search(#[from] SearchError),
}

impl Hint for InjectError {
    fn advice(&self) -> Advice {
        match self {
            InjectError::NotRequest(_) => Advice::fix(
                "send a request such as {\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}",
            ),
            InjectError::Search(error) => error.advice(),
        }
    }
}

impl From<StoreError> for InjectError {
    fn from(error: StoreError) -> InjectError {
        SearchError::from(error).into()
    }
}

/// A request with memories in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Injected {
    /// The request.
    pub request: Vec<u8>,
    /// What it tells of; empty where it is what it was.
    pub told: Vec<Told>,
    /// Why the embedded model searched in place of the one that was asked.
    pub fallback: Option<String>,
}

/// Weaves the memories of one file into requests.
pub struct Injector {
    store: Store,
    searcher: Searcher,
    /// What texts without anything in common have in the model behind a server.
    unrelated: Option<f32>,
}

impl Injector {
    /// Reads nothing yet. `search` says how memories are searched; its floor is not used.
    pub fn new(
        store: Store,
        search: &search::Settings,
        embedder: Box<dyn search::embedder::Embedder>,
    ) -> Injector {
        let unrelated = embedder.is_served().then(|| embedder.unrelated());
        // Importance and age are weighed here; what is like enough is decided here.
        let search = search::Settings { floor: 0.0, importance: 0.0, recency: 0.0, ..search.clone() };
        Injector { searcher: Searcher::new(store.clone(), search, embedder), store, unrelated }
    }

    /// Weaves memories into a request, whose shape is found out where it is not known. `now` is the time
    /// from which ages count, RFC 3339.
    ///
    /// # Errors
    ///
    /// See [`InjectError`].
    pub fn inject(
        &mut self,
        request: &[u8],
        settings: &Settings,
        shape: Option<Shape>,
        now: &str,
    ) -> Result<Injected, InjectError> {
        let read = Request::read(request).map_err(InjectError::NotRequest)?;
        let most = match settings.max_age_days.is_none() && self.unrelated.is_none() {
            true => settings.candidates,
            false => MOST_HITS.max(settings.candidates),
        };
        let mut fallback = None;
        let mut found: Vec<Candidate> = Vec::new();
        for question in questions(&read) {
            let answer = match self.searcher.query(&question, &settings.filter, most) {
                Err(SearchError::EmptyQuestion) => continue,
                answer => answer?,
            };
            if let Some(error) = &answer.fallback {
                fallback = Some(error.to_string());
            }
            self.take(answer, settings, &mut found);
        }
        if let Some(most) = settings.max_age_days {
            let age = |memory: &Memory| age::days(memory.provenance.date.as_deref()?, now);
            found.retain(|candidate| age(&candidate.memory).is_some_and(|days| days <= most));
        }
        found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        found.truncate(settings.candidates);
        if let Some(between) = &settings.between {
            self.add_shared(between, settings, &mut found)?;
        }
        let told = choose(found, settings, now);
        if told.is_empty() {
            return Ok(Injected { request: request.to_vec(), told, fallback });
        }
        let block = render(&told, &settings.style);
        let request = splice(request, &block, settings.style.mode, shape).map_err(InjectError::NotRequest)?;
        Ok(Injected { request, told, fallback })
    }

    /// Takes what is like enough; of an entry that was found before the higher similarity.
    fn take(&self, answer: Answer, settings: &Settings, found: &mut Vec<Candidate>) {
        let unrelated = self.unrelated.filter(|_| answer.fallback.is_none());
        let floor = similarity_of(settings.threshold);
        for hit in answer.hits {
            let is_like = match unrelated {
                Some(unrelated) => hit.parts.meaning * (1.0 - unrelated) + unrelated >= settings.threshold,
                None => hit.similarity >= floor,
            };
            if !is_like {
                continue;
            }
            let new = Candidate {
                scope: hit.scope,
                name: hit.name,
                memory: hit.memory,
                similarity: hit.similarity,
            };
            match found.iter_mut().find(|old| old.is(&new)) {
                Some(old) => old.similarity = old.similarity.max(new.similarity),
                None => found.push(new),
            }
        }
    }

    /// Adds the latest memories that have to do with both characters.
    fn add_shared(
        &self,
        (a, b): &(String, String),
        settings: &Settings,
        found: &mut Vec<Candidate>,
    ) -> Result<(), InjectError> {
        let document = Document::parse(self.store.read()?.unwrap_or_default());
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
                memory,
                similarity: similarity_of(settings.threshold),
            }));
        }
        shared.sort_by(|a, b| b.memory.provenance.date.cmp(&a.memory.provenance.date));
        shared.truncate(SHARED);
        shared.retain(|new| !found.iter().any(|old| old.is(new)));
        found.extend(shared);
        Ok(())
    }
}

/// Whether a memory has to do with a character: by its section, a tag, or the character's id in its words.
fn concerns(scope: &Scope, name: &str, memory: &Memory, id: &str) -> bool {
    let own = matches!(scope, Scope::Npc(own) | Scope::Agent(own) if own == id);
    let tags = memory.provenance.tags.iter().map(|tag| tag.to_lowercase());
    let mut bare = tags.map(|tag| tag.rsplit(':').next().unwrap_or_default().to_owned());
    let text = format!("{name}\n{}\n{}", memory.title, memory.text).to_lowercase();
    own || bare.any(|tag| tag == id) || holds_word(&text, &id.replace(['_', '-'], " "))
}

/// What memories are searched with: the last words, and these with what was said before them.
fn questions(request: &Request<'_>) -> Vec<String> {
    let said: Vec<String> = request
        .last_said(RECENT)
        .iter()
        // What stands in quotation marks would have to be in a memory, word after word.
        .map(|message| without_blocks(&message.text()).replace(['"', '“', '”', '„'], " "))
        .map(|text| truncate(text.trim(), SEARCHED_CHARS))
        .collect();
    let mut questions: Vec<String> = said.last().cloned().into_iter().collect();
    if said.len() > 1 {
        questions.push(said.join("\n"));
    }
    questions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds() {
        assert_eq!((similarity_of(0.0), similarity_of(1.0)), (0.0, 1.0));
        assert!((similarity_of(USUAL_THRESHOLD) - CALIBRATED).abs() < 1e-6);
        assert!(similarity_of(0.5) < similarity_of(0.6) && similarity_of(0.8) > similarity_of(0.7));
    }
}
