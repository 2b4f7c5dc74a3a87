//! Search for processes that answer many questions: what was read is kept until the file changes.
//!
//! Questions enter and answers leave, the same ones that [`super::query`] gives: each time it is looked
//! whether the file is still the one that was read, for a person may have edited it.

use crate::search::embedded::StaticModel;
use crate::search::embedder::Embedder;
use crate::search::filter::Filter;
use crate::search::library::{Library, Similarities};
use crate::search::parsed_query::{ParsedQuery, Synonyms};
use crate::search::{Answer, SearchError, Settings, query_with, similarities};
use crate::store::Store;

/// So many questions are known by heart until the file changes.
const MOST_KNOWN: usize = 32;

/// A store with all that its questions are answered from.
pub struct Searcher {
    store: Store,
    settings: Settings,
    synonyms: Synonyms,
    embedder: Box<dyn Embedder>,
    kept: Option<Kept>,
}

struct Kept {
    library: Library,
    /// The last questions, the latest at the end.
    known: Vec<(ParsedQuery, Similarities)>,
}

impl Searcher {
    /// Reads nothing yet.
    pub fn new(store: Store, settings: Settings, embedder: Box<dyn Embedder>) -> Searcher {
        let synonyms = settings.all_synonyms();
        Searcher { store, settings, synonyms, embedder, kept: None }
    }

    /// Finds the `most` relevant memories that the filter wants, as [`super::query`] does.
    ///
    /// # Errors
    ///
    /// See [`SearchError`].
    pub fn query(&mut self, question: &str, filter: &Filter, most: usize) -> Result<Answer, SearchError> {
        match self.query_kept(question, filter, most) {
            Err(SearchError::Embed(error)) if self.embedder.falls_back() => {
                let embedded = &StaticModel::new();
                let answer = query_with(&self.store, question, filter, most, &self.settings, embedded)?;
                Ok(Answer { fallback: Some(error), ..answer })
            }
            result => result,
        }
    }

    /// As [`Searcher::query`], with another floor: 0 shows all that the filter wants.
    ///
    /// # Errors
    ///
    /// See [`SearchError`].
    pub fn query_from(
        &mut self,
        floor: f32,
        question: &str,
        filter: &Filter,
        most: usize,
    ) -> Result<Answer, SearchError> {
        let own = std::mem::replace(&mut self.settings.floor, floor);
        let answer = self.query(question, filter, most);
        self.settings.floor = own;
        answer
    }

    fn query_kept(&mut self, question: &str, filter: &Filter, most: usize) -> Result<Answer, SearchError> {
        let question = ParsedQuery::parse(question, &self.synonyms).ok_or(SearchError::EmptyQuestion)?;
        let (embedder, store) = (self.embedder.as_ref(), &self.store);
        let kept = match self.kept.take() {
            Some(kept) if kept.library.is_current()? => Some(kept),
            _ => None,
        };
        let (mut kept, vector) = match kept {
            Some(kept) => (kept, None),
            None => {
                let (library, vector) = Library::open(store, store.reading()?, &question, embedder)?;
                (Kept { library, known: Vec::new() }, Some(vector))
            }
        };
        if let Some(at) = kept.known.iter().position(|(known, _)| *known == question) {
            let known = kept.known.remove(at);
            kept.known.push(known);
        } else {
            let vector = match vector {
                Some(vector) => vector,
                None if kept.library.is_empty() => Vec::new(),
                None => embedder.embed_query(&question.text)?,
            };
            let similarities = similarities(&mut kept.library, &question, &vector, store, embedder)?;
            if kept.known.len() == MOST_KNOWN {
                kept.known.remove(0);
            }
            kept.known.push((question, similarities));
        }
        let kept = self.kept.insert(kept);
        let (question, similarities) = kept.known.last().expect("the question was just put there");
        let hits = kept.library.choose(similarities, question, filter, most, &self.settings);
        Ok(Answer { hits, entries: kept.library.len(), question: question.clone(), fallback: None })
    }
}
