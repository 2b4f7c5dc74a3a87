//! Chooses between the embedded model and embedders behind HTTP, as far as a build has them.
//!
//! Settings enter, an [`Embedder`] leaves. Nothing is opened before the first text.

use crate::embedded::StaticModel;
use crate::embedder::{EmbedError, Embedder};
use memories_llm::embedding::{EmbedderConfig, EmbedderEnvironment, EmbeddingClient};
use memories_llm::{Destination, ModelError};

/// Called with the number of texts that have vectors and the number of all, while a file is embedded.
pub(crate) type Progress = Box<dyn Fn(usize, usize) + Send + Sync>;

/// The embedder of the settings. Where it fails, the embedded model answers instead if `falls_back`.
/// `seed` decides the jitter of retries.
///
/// # Errors
///
/// [`ModelError::Settings`] where the settings cannot work, whatever any server does.
pub fn choose(
    config: &EmbedderConfig,
    environment: &EmbedderEnvironment,
    seed: u64,
    falls_back: bool,
    progress: Progress,
) -> Result<Box<dyn Embedder>, ModelError> {
    Ok(match EmbeddingClient::new(config, environment, seed)? {
        Some(client) => Box::new(Served { client, falls_back, progress }),
        None => Box::new(Embedded { model: StaticModel::new(), progress }),
    })
}

/// Number of texts from which progress of the embedded model is reported; fewer take less than a second.
const WORTH_REPORTING: usize = 20_000;

/// The embedded model, with progress.
struct Embedded {
    model: StaticModel,
    progress: Progress,
}

impl Embedder for Embedded {
    fn stamp(&self) -> String {
        self.model.stamp()
    }

    fn dimensions(&self) -> usize {
        self.model.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.model.embed(texts)
    }

    fn adds_words(&self) -> bool {
        self.model.adds_words()
    }

    fn report(&self, done: usize, all: usize) {
        if all >= WORTH_REPORTING {
            (self.progress)(done, all);
        }
    }
}

/// A model behind HTTP.
struct Served {
    client: EmbeddingClient,
    falls_back: bool,
    progress: Progress,
}

impl Embedder for Served {
    fn stamp(&self) -> String {
        self.client.stamp()
    }

    fn dimensions(&self) -> usize {
        self.client.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.client.embed_texts(texts).map_err(failed)
    }

    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        self.client.embed_query(query).map_err(failed)
    }

    fn unrelated(&self) -> f32 {
        self.client.unrelated()
    }

    fn is_served(&self) -> bool {
        true
    }

    fn destinations(&self) -> Vec<Destination> {
        self.client.destinations()
    }

    fn falls_back(&self) -> bool {
        self.falls_back
    }

    fn report(&self, done: usize, all: usize) {
        (self.progress)(done, all);
    }
}

fn failed(error: ModelError) -> EmbedError {
    let passing = matches!(error, ModelError::Unavailable { .. });
    let problem = error.to_string();
    let hint = match error {
        ModelError::Settings { hint, .. } => hint,
        _ => "`embedder = \"embedded\"` under `[search]` needs no server".to_owned(),
    };
    EmbedError { problem, hint, passing }
}

#[cfg(test)]
mod tests {
    use memories_llm::embedding::EmbedderKind;

    use super::*;

    fn chosen(provider: EmbedderKind) -> Result<Box<dyn Embedder>, ModelError> {
        let config = EmbedderConfig { provider, ..EmbedderConfig::default() };
        choose(&config, &EmbedderEnvironment::default(), 1, true, Box::new(|_, _| {}))
    }

    #[test]
    fn the_default_asks_no_server() {
        let embedder = chosen(EmbedderConfig::default().provider).unwrap();
        assert!(!embedder.is_served() && embedder.dimensions() == 128);
    }
}
