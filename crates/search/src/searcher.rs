//! Search for any number of questions, from any number of threads.
//!
//! Questions enter and results leave. What was read and computed is shared by all questions until the
//! file changes; then the first one to come builds it anew, and those that come meanwhile wait for it. No
//! lock is held while an embedder is asked for a question's vector. A searcher with a time limit waits for a served
//! embedder no longer than that, and leaves one that failed alone for a while.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use jiff::ToSpan;
use jiff::civil::Date;

use crate::breaker::Breaker;
use crate::choice::Wanted;
use crate::embedded::StaticModel;
use crate::embedder::{EmbedError, Embedder};
use crate::filter::Filter;
use crate::library::Library;
use crate::parsed_query::{ParsedQuery, Synonyms};
use crate::prepared_index::{PreparedIndex, prepare, read_with_index};
use crate::question::Question;
use crate::ranking::Ranking;
use crate::relative_dates::has_relative;
use crate::results::{SearchError, SearchResults};
use crate::score::QueryMeaning;
use crate::scoring_threads::ScoringThreads;
use crate::settings::{MAX_WEAK, SearchSettings};
use crate::text_statistics::TextStatistics;
use memories_document::types::instant::day;
use memories_document::types::lock::lock;
use memories_notebook::{SharedSnapshot, Snapshot};
use memories_store::Store;

/// Number of questions whose similarities are kept until the file changes.
const KEPT_QUESTIONS: usize = 32;

/// Answers questions about one memory file.
pub struct Searcher {
    files: Arc<SharedSnapshot>,
    settings: SearchSettings,
    synonyms: Synonyms,
    engine: Arc<Engine>,
    /// Used when the embedder of `engine` fails and allows a fallback. Vectors of two embedders are never
    /// compared.
    fallback: Engine,
    /// Limits the time that a served embedder has.
    breaker: Option<Breaker>,
}

impl Searcher {
    /// Nothing is read before the first question.
    pub fn new(
        files: impl Into<Arc<SharedSnapshot>>,
        settings: SearchSettings,
        embedder: Box<dyn Embedder>,
    ) -> Searcher {
        let synonyms = settings.all_synonyms();
        let fallback = Engine::new(Box::new(StaticModel::new()));
        let engine = Arc::new(Engine::new(embedder));
        Searcher { files: files.into(), settings, synonyms, engine, fallback, breaker: None }
    }

    /// The same, but a served embedder has only this time for a question. After a failure it is not asked for a
    /// minute.
    pub fn with_time_limit(mut self, limit: Duration) -> Searcher {
        self.breaker = self.engine.embedder.is_served().then(|| Breaker::new(limit));
        self
    }

    /// The file that is searched.
    pub fn files(&self) -> &SharedSnapshot {
        &self.files
    }

    /// Finds the `count` most relevant memories that the filter wants.
    ///
    /// # Errors
    ///
    /// See [`SearchError`].
    pub fn query<'a>(
        &self,
        question: impl Into<Question<'a>>,
        filter: &Filter,
        count: usize,
    ) -> Result<SearchResults, SearchError> {
        self.answer(question.into(), filter, count, self.settings.floor)
    }

    /// As [`Searcher::query`], without a minimum relevance: everything that the filter wants.
    ///
    /// # Errors
    ///
    /// See [`SearchError`].
    pub fn query_all<'a>(
        &self,
        question: impl Into<Question<'a>>,
        filter: &Filter,
        count: usize,
    ) -> Result<SearchResults, SearchError> {
        self.answer(question.into(), filter, count, 0.0)
    }

    /// The day to which a question relates that is asked at a time: the newest of the file if the file is a year older.
    fn today(&self, now: Option<&str>) -> Result<Option<Date>, SearchError> {
        let day_of = |time: &str| day(time).parse::<Date>().ok();
        let snapshot = self.files.current()?;
        let dates = (0..snapshot.entries().len()).filter_map(|at| snapshot.memory(at).provenance.date);
        let newest = dates.filter_map(|date| day_of(&date)).max();
        let now = now.and_then(day_of);
        let is_old =
            |newest: &Date| now.is_none_or(|now| newest.checked_add(1.year()).is_ok_and(|year| year < now));
        Ok(newest.filter(is_old).or(now))
    }

    fn answer(
        &self,
        asked: Question<'_>,
        filter: &Filter,
        count: usize,
        floor: f32,
    ) -> Result<SearchResults, SearchError> {
        let today = if has_relative(asked.text) { self.today(asked.now)? } else { None };
        let question = ParsedQuery::parse_on(asked.text, &self.synonyms, today);
        let question = question.ok_or(SearchError::EmptyQuestion)?;
        let (snapshot, prepared) = if self.engine.begins_with_index() {
            read_with_index(&self.files, &*self.engine.embedder, &question)?
        } else {
            (self.files.current()?, None)
        };
        let second_round = self.settings.second_round;
        let scored = match &self.breaker {
            None => self.engine.score(self.files.store(), &snapshot, &question, second_round, prepared),
            Some(breaker) => {
                let (engine, store) = (Arc::clone(&self.engine), self.files.store().clone());
                let (snapshot, question) = (Arc::clone(&snapshot), question.clone());
                breaker.run(move || engine.score(&store, &snapshot, &question, second_round, None))
            }
        };
        let (scored, fallback) = match scored {
            Err(error) if self.engine.embedder.falls_back() => {
                let scored =
                    self.fallback.score(self.files.store(), &snapshot, &question, second_round, None);
                (scored?, Some(error))
            }
            scored => (scored?, None),
        };
        let Scored { library, similarities } = scored;
        let wanted = Wanted { filter, floor, count, weak: if asked.wants_weak { MAX_WEAK } else { 0 } };
        let question = similarities.wider.clone().unwrap_or(question);
        let choose = |phrase| library.choose(&similarities, &question, phrase, &wanted, &self.settings);
        let mut hits = choose(question.phrase.as_ref());
        let missing = question.phrase.as_ref().filter(|_| hits.is_empty());
        if missing.is_some() {
            hits = choose(None);
            // No memory has the quoted phrase: a caller that wants no weak hits gets the sure ones alone.
            hits.retain(|hit| asked.wants_weak || floor == 0.0 || !hit.is_weak);
        }
        let missing_phrase = missing.map(|phrase| phrase.text.clone());
        Ok(SearchResults { hits, entries: snapshot.entries().len(), question, missing_phrase, fallback })
    }
}

/// A library with the similarities of its entries to one question.
struct Scored {
    library: Arc<Library>,
    similarities: Arc<Ranking>,
}

/// An embedder and its current library.
struct Engine {
    embedder: Box<dyn Embedder>,
    threads: ScoringThreads,
    current_build: Mutex<Option<Arc<Build>>>,
}

/// The library of one snapshot, built once.
struct Build {
    snapshot: Arc<Snapshot>,
    /// False if indexes may not be used, because one was inconsistent.
    uses_index: bool,
    /// The library of the snapshot before, until its index is taken over.
    before: Mutex<Option<Arc<Library>>>,
    library: OnceLock<Result<Arc<Library>, EmbedError>>,
    /// The last questions, the latest at the end.
    known: Mutex<VecDeque<(ParsedQuery, Arc<Ranking>)>>,
}

impl Engine {
    fn new(embedder: Box<dyn Embedder>) -> Engine {
        Engine { embedder, threads: ScoringThreads::new(), current_build: Mutex::new(None) }
    }

    /// True if the next question may begin with the stored index, before anything is known of the file. The stamp of a
    /// served embedder is known later.
    fn begins_with_index(&self) -> bool {
        !self.embedder.is_served() && lock(&self.current_build).is_none()
    }

    /// The similarities of the entries of a snapshot to a question. An inconsistent index is made anew.
    fn score(
        &self,
        store: &Store,
        snapshot: &Arc<Snapshot>,
        question: &ParsedQuery,
        second_round: bool,
        prepared: Option<PreparedIndex>,
    ) -> Result<Scored, EmbedError> {
        let build = self.build_of(snapshot, true);
        if let Some(scored) = build.known(question) {
            return Ok(scored);
        }
        let embedder = &*self.embedder;
        // Before the library: dimensions and stamp of a served embedder are final only after its first vector.
        let vector = if snapshot.entries().is_empty() {
            Vec::new()
        } else {
            embedder.embed_query(&question.undated)?
        };
        let (library, statistics) = self.library(store, &build, question, prepared)?;
        let meaning = QueryMeaning {
            vector: &vector,
            unrelated: embedder.unrelated(),
            adds_words: embedder.adds_words(),
        };
        let score = |library: &Library, statistics| {
            self.threads.run(|| library.similarities(question, &meaning, second_round, statistics))
        };
        if let Some(similarities) = score(&library, statistics) {
            return Ok(build.keep(question, library, similarities));
        }
        let build = self.build_of(snapshot, false);
        let (library, _) = self.library(store, &build, question, None)?;
        let similarities = score(&library, None);
        Ok(build.keep(question, library, similarities.expect("an index that was just made is consistent")))
    }

    /// The library of a build, made by the first caller. If that fails, all callers that waited
    /// get the error; later callers try again. The first caller may get statistics about its question, too.
    fn library(
        &self,
        store: &Store,
        build: &Arc<Build>,
        question: &ParsedQuery,
        prepared: Option<PreparedIndex>,
    ) -> Result<(Arc<Library>, Option<TextStatistics>), EmbedError> {
        let mut first = None;
        let library = build.library.get_or_init(|| {
            let prepared = prepared.or_else(|| build.prepare(store, &*self.embedder, question));
            let snapshot = Arc::clone(&build.snapshot);
            let (library, statistics) = Library::open(store, snapshot, &*self.embedder, prepared)?;
            first = statistics;
            Ok(Arc::new(library))
        });
        if library.is_err() {
            lock(&self.current_build).take_if(|current| Arc::ptr_eq(current, build));
        }
        Ok((library.clone()?, first))
    }

    /// The current build if it is of this snapshot, else a new one. Without `uses_index`, it is one that
    /// ignores the stored index.
    fn build_of(&self, snapshot: &Arc<Snapshot>, uses_index: bool) -> Arc<Build> {
        let mut current_build = lock(&self.current_build);
        let fits =
            |build: &Build| Arc::ptr_eq(&build.snapshot, snapshot) && (uses_index || !build.uses_index);
        match &*current_build {
            Some(build) if fits(build) => Arc::clone(build),
            before => {
                let before = before.as_ref().filter(|_| uses_index).and_then(|before| before.finished());
                let build = Build::new(Arc::clone(snapshot), uses_index, before);
                Arc::clone(current_build.insert(Arc::new(build)))
            }
        }
    }
}

impl Build {
    fn new(snapshot: Arc<Snapshot>, uses_index: bool, before: Option<Arc<Library>>) -> Build {
        let before = Mutex::new(before);
        Build { snapshot, uses_index, before, library: OnceLock::new(), known: Mutex::default() }
    }

    /// The library, where it is made already.
    fn finished(&self) -> Option<Arc<Library>> {
        self.library.get()?.as_ref().ok().map(Arc::clone)
    }

    /// The index that the library begins with, prepared for a question.
    fn prepare(
        &self,
        store: &Store,
        embedder: &dyn Embedder,
        question: &ParsedQuery,
    ) -> Option<PreparedIndex> {
        let before = lock(&self.before).take();
        if !self.uses_index {
            return None;
        }
        let before = before.as_ref().map(|library| &library.index);
        prepare(store, &self.snapshot, embedder, question, before)
    }

    /// The similarities to a question that was asked before.
    fn known(&self, question: &ParsedQuery) -> Option<Scored> {
        let library = self.finished()?;
        let mut known = lock(&self.known);
        let at = known.iter().position(|(known, _)| known == question)?;
        let latest = known.remove(at)?;
        let similarities = Arc::clone(&latest.1);
        known.push_back(latest);
        Some(Scored { library, similarities })
    }

    fn keep(&self, question: &ParsedQuery, library: Arc<Library>, similarities: Ranking) -> Scored {
        let similarities = Arc::new(similarities);
        let mut known = lock(&self.known);
        if known.len() == KEPT_QUESTIONS {
            known.pop_front();
        }
        known.push_back((question.clone(), Arc::clone(&similarities)));
        Scored { library, similarities }
    }
}
