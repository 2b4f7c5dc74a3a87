//! Search by meaning: which memories answer a question, and how relevant they are.
//!
//! A question enters with a memory file; memories leave, the most relevant first, each with a number from 0 to 1. It
//! always holds that
//!
//! * a relevance depends on the file, the question and the settings: not on filters, the presence of an index, or other
//!   hits;
//! * nothing is written but the index, which may be lost, stale or damaged without any harm;
//! * only the entries that are returned are parsed in full;
//! * questions are answered side by side: none waits for another one's embedder.
//!
//! # Where to begin
//!
//! * [`Searcher::query`] is the flow: a snapshot of the file → look each entry's text up in the index, compute the
//!   vectors that it lacks → score all → filter, the most similar first.
//! * [`embedder::Embedder`] is the trait of models that turn texts into vectors: [`embedded::StaticModel`] is compiled
//!   in, [`served`] asks a server.
//! * [`mod@score`] makes a relevance of words and vectors; [`filter::Filter`] selects by scope, category and time.
//! * [`top`] lists memories by importance, without a question.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use memories_notebook::SharedSnapshot;
//! use memories_search::embedded::StaticModel;
//! use memories_search::filter::Filter;
//! use memories_search::{SearchSettings, Searcher};
//! use memories_store::Store;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("Memories.md");
//! std::fs::write(&path, "## Location 23: Living Room\n\n**[DISCOVERY] Trap door**\nIt is under the rug.\n")?;
//! let files = Arc::new(SharedSnapshot::new(Store::open(&path, Duration::from_secs(10))?));
//! let searcher = Searcher::new(files, SearchSettings::default(), Box::new(StaticModel::new()));
//! let found = searcher.query("what is under the carpet?", &Filter::default(), 3)?;
//! assert_eq!(found.hits[0].memory.title, "Trap door");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod breaker;
mod canonical_questions;
mod choice;
mod cjk;
pub mod corpus;
mod dates;
pub mod embedded;
pub mod embedder;
pub mod entries;
mod error_places;
pub mod filter;
pub mod grounding;
pub(crate) mod index;
mod index_keeper;
mod language;
mod library;
mod months;
pub mod named;
pub mod parsed_query;
mod part;
mod prepared_index;
mod question;
mod quotes;
pub mod ranking;
mod relative_dates;
mod results;
pub mod score;
mod scoring_threads;
pub mod searchable_text;
mod searcher;
mod second_round;
pub mod served;
mod settings;
pub mod similar_pairs;
pub mod similarity;
mod stored_index;
mod term_similarities;
mod term_weight;
mod text_statistics;
pub mod top;
mod unknown_words;
mod vocabulary;
mod word_parts;
pub mod words;

pub use question::Question;
pub use quotes::Phrase;
pub use results::{ANSWER_TOKENS, Hit, SearchError, SearchResults, cut_to_passages};
pub use searcher::Searcher;
pub use settings::SearchSettings;
