//! The settings of `[search]`: ranking and the embedder.
//!
//! Environment variables: `MEMORIES_EMBEDDER`, `MEMORIES_EMBEDDING_MODEL` and `MEMORIES_EMBEDDING_URL`
//! override the keys. `MEMORIES_EMBEDDING_API_KEY` goes to any configured server. Without it,
//! `OPENAI_API_KEY` goes to OpenAI or to the server that the environment names, never to one that only a
//! file names.

use crate::cli::failure::Failure;
use crate::cli::settings::environment::{ProcessEnvironment, trusted};
use crate::cli::settings::file::{SettingsFiles, duration, fraction, size, word_lists};
use memories_document::types::fields::{flag, text};
use memories_llm::embedding::{EmbedderConfig, EmbedderEnvironment};
use memories_search::SearchSettings;

/// The embedder and its keys.
#[derive(Debug, Clone)]
pub(crate) struct EmbeddingSettings {
    /// Provider, model and request options.
    pub config: EmbedderConfig,
    /// Keys and hosts from the environment.
    pub environment: EmbedderEnvironment,
    /// True if the embedded model answers when the configured embedder fails.
    pub falls_back: bool,
}

/// Reads the settings of the ranking, and the number of results.
pub(super) fn read(file: &mut SettingsFiles) -> Result<(SearchSettings, usize), Failure> {
    let mut settings = SearchSettings::default();
    file.set("search.floor", fraction, &mut settings.floor)?;
    file.set("search.importance", fraction, &mut settings.importance)?;
    file.set("search.recency", fraction, &mut settings.recency)?;
    file.set("search.second_round", flag, &mut settings.second_round)?;
    file.set("search.common_synonyms", flag, &mut settings.common_synonyms)?;
    file.set("search.synonyms", word_lists, &mut settings.synonyms)?;
    Ok((settings, file.read("search.results", size)?.unwrap_or(5)))
}

/// Reads the settings of the embedder.
pub(super) fn read_embedding(
    file: &mut SettingsFiles,
    environment: &ProcessEnvironment,
) -> Result<EmbeddingSettings, Failure> {
    let mut config = EmbedderConfig::default();
    let variable = environment.embedder.as_deref().map(|name| ("MEMORIES_EMBEDDER", name));
    file.choose(variable, "search.embedder", &mut config.provider)?;
    config.model = environment.embedding_model.clone().or(file.read("search.embedding_model", text)?);
    config.url = environment.embedding_url.clone();
    config.fallback_url = file.read("search.embedding_url", text)?;
    config.dimensions = file.read("search.dimensions", size)?.filter(|dimensions| *dimensions > 0);
    file.set("search.embedding_timeout", duration, &mut config.limits.timeout)?;
    file.set("search.embedding_batch", size, &mut config.batch)?;
    config.text_prefix = file.read("search.text_prefix", text)?;
    config.question_prefix = file.read("search.question_prefix", text)?;
    config.unrelated = file.read("search.unrelated_cosine", fraction)?;
    let falls_back = file.read("search.embedding_fallback", flag)?.unwrap_or(true);
    let is_named = config.url.is_some() || environment.openai_base_url.is_some();
    let home = "https://api.openai.com";
    let openai_api_key = trusted(&environment.openai_api_key, is_named, config.fallback_url.as_deref(), home);
    let environment = EmbedderEnvironment {
        api_key: environment.embedding_api_key.clone(),
        openai_api_key,
        openai_base_url: environment.openai_base_url.clone(),
        ollama_host: environment.ollama_host.clone(),
    };
    Ok(EmbeddingSettings { config, environment, falls_back })
}

#[cfg(test)]
mod tests {
    use secrecy::{ExposeSecret, SecretString};

    use super::*;
    use memories_llm::embedding::EmbedderKind;

    fn embedding_of(text: &str, environment: ProcessEnvironment) -> EmbeddingSettings {
        let mut file = SettingsFiles::of(text);
        let embedding = read_embedding(&mut file, &environment).unwrap();
        assert!(file.unknown_keys().is_empty());
        embedding
    }

    fn environment(url: Option<&str>, base_url: Option<&str>, own: Option<&str>) -> ProcessEnvironment {
        let text = |text: Option<&str>| text.map(str::to_owned);
        ProcessEnvironment {
            openai_api_key: Some(SecretString::from("o")),
            openai_base_url: text(base_url),
            embedding_url: text(url),
            embedding_api_key: own.map(SecretString::from),
            ..ProcessEnvironment::default()
        }
    }

    /// The keys for any server, and for OpenAI.
    fn keys(text: &str, environment: ProcessEnvironment) -> [Option<String>; 2] {
        let keys = embedding_of(text, environment).environment;
        [keys.api_key, keys.openai_api_key].map(|key| key.map(|key| key.expose_secret().to_owned()))
    }

    #[test]
    fn nothing_is_asked_unless_it_is_wanted() {
        let embedding = embedding_of("", environment(Some("http://h"), Some("http://h"), None));
        assert_eq!(embedding.config.provider, EmbedderKind::Embedded);
    }

    #[test]
    fn a_key_goes_to_its_owner_or_where_the_environment_leads() {
        let o = || Some("o".to_owned());
        let elsewhere = "[search]\nembedding_url = \"http://h\"";
        assert_eq!(keys("", environment(None, None, None)), [None, o()]);
        assert_eq!(keys(elsewhere, environment(None, None, None)), [None, None]);
        assert_eq!(keys(elsewhere, environment(Some("http://h"), None, None)), [None, o()]);
        assert_eq!(keys(elsewhere, environment(None, Some("http://h"), None)), [None, o()]);
        let own = Some("m".to_owned());
        assert_eq!(keys(elsewhere, environment(None, None, Some("m"))), [own, None]);
    }

    #[test]
    fn the_environment_beats_the_file() {
        let text = "[search]\nembedder = \"ollama\"\nembedding_model = \"file\"\ndimensions = 0";
        let file = embedding_of(text, ProcessEnvironment::default()).config;
        assert_eq!((file.provider, file.model.as_deref()), (EmbedderKind::Ollama, Some("file")));
        assert_eq!(file.dimensions, None);
        let environment = ProcessEnvironment {
            embedder: Some("openai".to_owned()),
            embedding_model: Some("variable".to_owned()),
            ..ProcessEnvironment::default()
        };
        let both = embedding_of(text, environment).config;
        assert_eq!((both.provider, both.model.as_deref()), (EmbedderKind::Openai, Some("variable")));
    }
}
