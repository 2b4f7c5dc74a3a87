//! The embedder that the settings name, with its progress bar and its warning.

use std::sync::OnceLock;

use indicatif::ProgressBar;

use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::cli::ui::progress_bar;
use memories_search::embedder::{EmbedError, Embedder};
use memories_search::served;

/// The texts that an embedder is sent.
pub(super) const FOR_AN_EMBEDDER: &str = "memories and questions";

/// Texts above which a progress bar is shown; fewer are done at once.
const MIN_TEXTS_FOR_BAR: usize = 256;

impl Cli<'_> {
    /// The embedder of texts and queries. Nothing is opened before the first vector is needed.
    pub(super) fn embedder(&mut self) -> Result<Box<dyn Embedder>, Failure> {
        let embedding = &self.settings.embedding;
        let shown = self.ui.shows_progress();
        let bar: OnceLock<ProgressBar> = OnceLock::new();
        let progress = move |done: usize, all: usize| {
            if !shown || all <= MIN_TEXTS_FOR_BAR {
                return;
            }
            let bar = bar.get_or_init(|| progress_bar(shown, all, "memories embedded"));
            bar.set_position(done as u64);
            if done >= all {
                bar.finish_and_clear();
            }
        };
        let seed = self.settings.seed();
        let falls_back = embedding.falls_back;
        let embedder =
            served::choose(&embedding.config, &embedding.environment, seed, falls_back, Box::new(progress))?;
        self.announce(&embedder.destinations(), FOR_AN_EMBEDDER);
        Ok(embedder)
    }

    /// Warns that the embedded model answered because the configured embedder failed.
    pub(super) fn warn_of_fallback(&mut self, fallback: Option<&EmbedError>) {
        if let Some(error) = fallback {
            self.ui.warning(&format!("{}; the embedded model answers instead", error.problem));
        }
    }
}
