//! The embedder that the settings name, with its progress bar and its warning.

use std::sync::OnceLock;

use indicatif::ProgressBar;

use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::cli::settings::EmbeddingSettings;
use crate::cli::ui::progress_bar;
use memories_search::embedder::{EmbedError, Embedder};
use memories_search::served;

/// Texts above which a progress bar is shown; fewer are done at once.
const MIN_TEXTS_FOR_BAR: usize = 256;

impl Cli<'_> {
    /// The embedder of texts and queries. Nothing is opened before the first vector is needed.
    pub(super) fn embedder(&mut self) -> Result<Box<dyn Embedder>, Failure> {
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
        self.embedder_with(progress)
    }

    /// The same; `progress` gets the numbers of texts that are done, and of all.
    pub(super) fn embedder_with(
        &mut self,
        progress: impl Fn(usize, usize) + Send + Sync + 'static,
    ) -> Result<Box<dyn Embedder>, Failure> {
        let EmbeddingSettings { config, environment, falls_back } = &self.settings.embedding;
        let seed = self.settings.seed();
        let embedder = served::choose(config, environment, seed, *falls_back, Box::new(progress))?;
        self.announce(&embedder.destinations(), "memories and questions");
        Ok(embedder)
    }

    /// Warns that the embedded model answered because the configured embedder failed.
    pub(super) fn warn_of_fallback(&mut self, fallback: Option<&EmbedError>) {
        if let Some(error) = fallback {
            self.ui.warning(&format!("{}; the embedded model answers instead", error.problem));
        }
    }
}
