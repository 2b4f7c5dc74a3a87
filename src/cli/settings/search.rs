//! The settings of `[search]`: how questions are answered, and where vectors come from.
//!
//! Environment variables: `MEMORIES_EMBEDDER`, `MEMORIES_EMBEDDING_MODEL`, `MEMORIES_EMBEDDING_URL` (as
//! the keys), and `MEMORIES_EMBEDDING_API_KEY`, which goes to whatever server is asked. Without it
//! `OPENAI_API_KEY` goes to OpenAI or to the server that the environment names, never to one that a
//! file names.

use secrecy::SecretString;

use crate::cli::failure::Failure;
use crate::cli::settings::reader::Reader;
use crate::cli::settings::{Environment, named, trusted};
use crate::llm::embedding::{EmbedderConfig, EmbedderEnvironment};
use crate::search::Settings;

/// What the environment says of vectors.
#[derive(Debug, Default)]
pub(super) struct Variables {
    provider: Option<String>,
    model: Option<String>,
    url: Option<String>,
    api_key: Option<SecretString>,
}

impl Variables {
    pub(super) fn read(variable: impl Fn(&str) -> Option<String>) -> Variables {
        Variables {
            provider: variable("MEMORIES_EMBEDDER"),
            model: variable("MEMORIES_EMBEDDING_MODEL"),
            url: variable("MEMORIES_EMBEDDING_URL"),
            api_key: variable("MEMORIES_EMBEDDING_API_KEY").map(SecretString::from),
        }
    }
}

/// Where vectors come from.
#[derive(Debug, Clone)]
pub struct Embedding {
    /// Which model, and how.
    pub config: EmbedderConfig,
    /// Keys and hosts for it.
    pub environment: EmbedderEnvironment,
    /// Whether the embedded model answers where that one fails.
    pub falls_back: bool,
}

/// How questions are answered, and by how many memories.
pub(super) fn read(reader: &mut Reader) -> Result<(Settings, usize), Failure> {
    let mut settings = Settings::default();
    let mut read = |key: &str, value: &mut f32| -> Result<(), Failure> {
        if let Some(number) = reader.part(key)? {
            *value = number;
        }
        Ok(())
    };
    read("search.floor", &mut settings.floor)?;
    read("search.importance", &mut settings.importance)?;
    read("search.recency", &mut settings.recency)?;
    settings.common_synonyms = reader.flag("search.common_synonyms")?.unwrap_or(settings.common_synonyms);
    settings.synonyms = reader.groups("search.synonyms")?.unwrap_or_default();
    Ok((settings, reader.count("search.results")?.unwrap_or(5)))
}

/// Where vectors come from.
pub(super) fn read_embedding(reader: &mut Reader, environment: &Environment) -> Result<Embedding, Failure> {
    let variables = &environment.embedder;
    let mut config = EmbedderConfig::default();
    let from_file = reader.text("search.embedder")?;
    if let Some(provider) = &variables.provider {
        config.provider = provider.trim().parse().map_err(|error| named("MEMORIES_EMBEDDER", error))?;
    } else if let Some(provider) = from_file {
        config.provider = provider.trim().parse().map_err(|error| reader.named("search.embedder", error))?;
    }
    let model = reader.text("search.embedding_model")?;
    config.model = variables.model.clone().or(model);
    config.url = variables.url.clone();
    config.fallback_url = reader.text("search.embedding_url")?;
    config.dimensions = reader.count("search.dimensions")?.filter(|dimensions| *dimensions > 0);
    config.limits.timeout = reader.time("search.embedding_timeout")?.unwrap_or(config.limits.timeout);
    config.batch = reader.count("search.embedding_batch")?.unwrap_or(config.batch);
    config.text_prefix = reader.text("search.text_prefix")?;
    config.question_prefix = reader.text("search.question_prefix")?;
    config.unrelated = reader.part("search.unrelated_cosine")?;
    let falls_back = reader.flag("search.embedding_fallback")?.unwrap_or(true);
    let led = config.url.is_some() || environment.openai_base_url.is_some();
    let home = "https://api.openai.com";
    let openai_api_key = trusted(&environment.openai_api_key, led, config.fallback_url.as_deref(), home);
    let environment = EmbedderEnvironment {
        api_key: variables.api_key.clone(),
        openai_api_key,
        openai_base_url: environment.openai_base_url.clone(),
        ollama_host: environment.ollama_host.clone(),
    };
    Ok(Embedding { config, environment, falls_back })
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;
    use crate::llm::embedding::EmbedderKind;

    fn embedding_of(text: &str, environment: Environment) -> Embedding {
        let mut reader = Reader::of(text.parse().unwrap());
        let embedding = read_embedding(&mut reader, &environment).unwrap();
        assert!(reader.unknown_keys().is_empty());
        embedding
    }

    fn environment(url: Option<&str>, base_url: Option<&str>, own: Option<&str>) -> Environment {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let embedder =
            Variables { url: text(url), api_key: own.map(SecretString::from), ..Variables::default() };
        Environment {
            openai_api_key: Some(SecretString::from("o")),
            openai_base_url: text(base_url),
            embedder,
            ..Environment::default()
        }
    }

    /// The keys for any server, and for OpenAI.
    fn keys(text: &str, environment: Environment) -> [Option<String>; 2] {
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
        let file = embedding_of(text, Environment::default()).config;
        assert_eq!((file.provider, file.model.as_deref()), (EmbedderKind::Ollama, Some("file")));
        assert_eq!(file.dimensions, None);
        let embedder = Variables {
            provider: Some("openai".to_owned()),
            model: Some("variable".to_owned()),
            ..Variables::default()
        };
        let both = embedding_of(text, Environment { embedder, ..Environment::default() }).config;
        assert_eq!((both.provider, both.model.as_deref()), (EmbedderKind::Openai, Some("variable")));
    }
}
