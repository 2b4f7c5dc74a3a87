//! The embedder of the settings, and what people are told of it.

use std::sync::OnceLock;

use indicatif::ProgressBar;

use crate::cli::context::Cli;
use crate::cli::failure::Failure;
use crate::cli::ui::progress_bar;
use crate::search::embedder::{EmbedError, Embedder};
use crate::search::served;

/// Fewer texts are done before anybody wonders.
const WORTH_A_BAR: usize = 256;

impl Cli<'_> {
    /// What gives texts and questions their vectors. Nothing is opened before the first one.
    pub(super) fn embedder(&self) -> Result<Box<dyn Embedder>, Failure> {
        let embedding = &self.settings.embedding;
        let shown = self.ui.shows_progress();
        let bar: OnceLock<ProgressBar> = OnceLock::new();
        let progress = move |done: usize, all: usize| {
            if !shown || all <= WORTH_A_BAR {
                return;
            }
            let bar = bar.get_or_init(|| progress_bar(shown, all as u64, "memories embedded"));
            bar.set_position(done as u64);
            if done >= all {
                bar.finish_and_clear();
            }
        };
        let seed = self.settings.seed();
        let falls_back = embedding.falls_back;
        Ok(served::choose(&embedding.config, &embedding.environment, seed, falls_back, Box::new(progress))?)
    }

    /// Tells that the embedded model answered, where it was another that was asked.
    pub(super) fn tell_fallback(&mut self, fallback: Option<&EmbedError>) {
        if let Some(error) = fallback {
            self.ui.warning(&format!("{}; the embedded model answers instead", error.problem));
        }
    }
}
