//! Asks a server for vectors: finds the server, sends texts in batches, adapts to what it accepts, retries.
//!
//! The limits of the server (batch size, length of a text, number of dimensions) are remembered for the
//! life of the client. A batch ends within the time limit of the settings.

use std::fmt;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use reqwest::Url;

use crate::address;
use crate::config::{key_of, text_of};
use crate::connect::Destination;
use crate::embedding::config::{EmbedderConfig, EmbedderEnvironment, EmbedderKind};
use crate::embedding::known::Known;
use crate::embedding::protocol::{Dialect, Form, counted};
use crate::http::Access;
use crate::model::{ModelError, deadline_after, one_line};
use crate::server::{Diagnosis, ErrorReply, Server, Success};
use memories_document::types::lock::lock;

const OLLAMA_MODEL: &str = "nomic-embed-text";
const OPENAI_MODEL: &str = "text-embedding-3-small";

/// An Ollama that does not answer within this time counts as absent.
const PROBE: Duration = Duration::from_secs(2);

/// Bytes of all texts of a request, if there are several.
const BATCH_BYTES: usize = 64 * 1024;

/// Longest text that is sent at first, in bytes: no model reads further.
const MAX_BYTES: usize = 32 * 1024;

/// A server that gives texts vectors, or several candidates of which one is used.
pub struct EmbeddingClient {
    endpoints: Vec<Endpoint>,
    /// Index of the endpoint in use, once it is known.
    chosen: OnceLock<usize>,
}

/// One model of one server.
struct Endpoint {
    dialect: Dialect,
    server: Server,
    /// The address of the settings, from which other calls of an Ollama have theirs.
    base: String,
    model: Option<String>,
    wanted_dimensions: Option<usize>,
    text_prefix: String,
    question_prefix: String,
    unrelated: f32,
    state: Mutex<State>,
}

/// Properties of the server that earlier requests showed.
struct State {
    form: Form,
    dimensions: Option<usize>,
    /// The server's own name for the model.
    said_model: Option<String>,
}

impl EmbeddingClient {
    /// The model that the settings name; nothing is opened yet. `None` for
    /// [`EmbedderKind::Embedded`]. `seed` decides the jitter of retries.
    ///
    /// # Errors
    ///
    /// [`ModelError::Settings`] for an invalid address, and for OpenAI's own server without a key.
    pub fn new(
        config: &EmbedderConfig,
        environment: &EmbedderEnvironment,
        seed: u64,
    ) -> Result<Option<EmbeddingClient>, ModelError> {
        let url = |variable| {
            text_of(&config.url).or(text_of(variable)).or(text_of(&config.fallback_url)).map(str::to_owned)
        };
        let (ollama_url, openai_url) = (url(&environment.ollama_host), url(&environment.openai_base_url));
        let named = text_of(&config.url).is_some() || text_of(&config.fallback_url).is_some();
        let endpoint = |dialect, base| Endpoint::new(dialect, base, config, environment, seed);
        let has_key = key_of(&environment.api_key).or(key_of(&environment.openai_api_key)).is_some();
        let endpoints = match config.provider {
            EmbedderKind::Embedded => return Ok(None),
            EmbedderKind::Openai => vec![endpoint(Dialect::Openai, openai_url)?],
            EmbedderKind::Auto if named || openai_url.is_some() || has_key => {
                vec![endpoint(Dialect::Ollama, ollama_url)?, endpoint(Dialect::Openai, openai_url)?]
            }
            EmbedderKind::Ollama | EmbedderKind::Auto => vec![endpoint(Dialect::Ollama, ollama_url)?],
        };
        let chosen = match config.provider {
            EmbedderKind::Auto => OnceLock::new(),
            _ => OnceLock::from(0),
        };
        Ok(Some(EmbeddingClient { endpoints, chosen }))
    }

    /// Provider and model: `ollama/nomic-embed-text`.
    pub fn name(&self) -> String {
        let endpoint = self.current();
        let state = lock(&endpoint.state);
        let model = endpoint.model.as_deref().or(state.said_model.as_deref()).unwrap_or("default");
        format!("{}/{model}", endpoint.dialect.of_chats().traits.provider)
    }

    /// A name that differs wherever vectors do: provider, model, dimensions and text prefix; for a
    /// model without a name also the address. Final after the first vector.
    pub fn stamp(&self) -> String {
        let endpoint = self.current();
        let at = if endpoint.model.is_none() { endpoint.server.at.as_str() } else { "" };
        format!("{}/{}/{}/{at}", self.name(), self.dimensions(), endpoint.text_prefix)
    }

    /// The machines that texts may be sent to.
    pub fn destinations(&self) -> Vec<Destination> {
        let candidates = match self.chosen.get() {
            Some(chosen) => &self.endpoints[*chosen..=*chosen],
            None => &self.endpoints,
        };
        candidates.iter().filter_map(|endpoint| endpoint.server.destination()).collect()
    }

    /// Length of the vectors; 0 before the first one.
    pub fn dimensions(&self) -> usize {
        lock(&self.current().state).dimensions.unwrap_or(0)
    }

    /// Baseline cosine of an unrelated question and text.
    pub fn unrelated(&self) -> f32 {
        self.current().unrelated
    }

    /// A vector for each text, in the same order; all zeros for a blank one.
    ///
    /// # Errors
    ///
    /// See [`ModelError`]; all vectors or none.
    pub fn embed_texts(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let endpoint = self.find()?;
        endpoint.embed(texts, &endpoint.text_prefix)
    }

    /// The vector of a question, which some models expect with another prefix than a text.
    ///
    /// # Errors
    ///
    /// See [`ModelError`].
    pub fn embed_query(&self, question: &str) -> Result<Vec<f32>, ModelError> {
        let endpoint = self.find()?;
        let vectors = endpoint.embed(&[question], &endpoint.question_prefix)?;
        Ok(vectors.into_iter().next().unwrap_or_default())
    }

    fn current(&self) -> &Endpoint {
        &self.endpoints[self.chosen.get().copied().unwrap_or(0)]
    }

    /// The first endpoint that answers. The last one is taken without a probe: its own errors say
    /// what is wrong.
    fn find(&self) -> Result<&Endpoint, ModelError> {
        if let Some(chosen) = self.chosen.get() {
            return Ok(&self.endpoints[*chosen]);
        }
        let chosen = match self.endpoints[0].probe() {
            Ok(()) => 0,
            Err(error) if self.endpoints.len() == 1 => return Err(error),
            Err(_) => 1,
        };
        Ok(&self.endpoints[*self.chosen.get_or_init(|| chosen)])
    }
}

impl fmt::Debug for EmbeddingClient {
    /// Without addresses and keys, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoint = self.current();
        f.debug_struct("EmbeddingClient")
            .field("name", &self.name())
            .field("at", &endpoint.server.at)
            .finish_non_exhaustive()
    }
}

/// The model that is used where the settings name none. `None` for a server that has its own choice.
fn usual_model(dialect: Dialect, url: &Url, has_key: bool) -> Result<Option<&'static str>, ModelError> {
    match dialect {
        Dialect::Ollama => Ok(Some(OLLAMA_MODEL)),
        Dialect::Openai if url.host_str() != dialect.of_chats().own_host => Ok(None),
        Dialect::Openai if has_key => Ok(Some(OPENAI_MODEL)),
        Dialect::Openai => Err(ModelError::Settings {
            problem: "embedder `openai` has no key".to_owned(),
            hint: "set `OPENAI_API_KEY`, or `embedding_url` to a server that needs none".to_owned(),
        }),
    }
}

impl Endpoint {
    fn new(
        dialect: Dialect,
        base: Option<String>,
        config: &EmbedderConfig,
        environment: &EmbedderEnvironment,
        seed: u64,
    ) -> Result<Endpoint, ModelError> {
        let chats = dialect.of_chats();
        let call = match dialect {
            Dialect::Ollama => "/api/embed",
            Dialect::Openai => "/embeddings",
        };
        let base = base.unwrap_or_else(|| chats.url.to_owned());
        let url = (chats.endpoint)(&base, call).map_err(about_embedding)?;
        let own_key = key_of(&environment.api_key);
        let (key, variable) = match dialect {
            Dialect::Openai if own_key.is_none() => (key_of(&environment.openai_api_key), "OPENAI_API_KEY"),
            _ => (own_key, "MEMORIES_EMBEDDING_API_KEY"),
        };
        let usual = usual_model(dialect, &url, key.is_some())?;
        let model = text_of(&config.model).or(usual);
        let known = Known::of(model.unwrap_or_default());
        let prefix =
            |setting: &Option<String>, known: &str| setting.clone().unwrap_or_else(|| known.to_owned());
        let form = Form {
            single: false,
            dimensions: config.dimensions,
            batch: config.batch.max(1),
            most_bytes: MAX_BYTES,
        };
        let server = Server {
            at: address::display_address(&url, call),
            access: Access::new(key, variable, chats.key_header, chats.headers, &url),
            url_setting: "embedding_url",
            limits: config.limits,
            seed,
            connection_hint: chats.traits.connection_hint,
            client: OnceLock::new(),
            endpoint: url,
        };
        Ok(Endpoint {
            dialect,
            server,
            base,
            model: model.map(str::to_owned),
            wanted_dimensions: config.dimensions,
            text_prefix: prefix(&config.text_prefix, known.text_prefix),
            question_prefix: prefix(&config.question_prefix, known.question_prefix),
            unrelated: config.unrelated.unwrap_or(known.unrelated).clamp(0.0, 0.99),
            state: Mutex::new(State { form, dimensions: None, said_model: None }),
        })
    }

    /// Succeeds if this is a running Ollama that has the model.
    fn probe(&self) -> Result<(), ModelError> {
        let deadline = deadline_after(PROBE.min(self.server.limits.timeout));
        let url = address::ollama_endpoint(&self.base, "/api/tags")?;
        let tags = self.server.fetch(&url, deadline, |failure| self.judge(failure))?;
        let Some(models) = tags["models"].as_array() else {
            return Err(self.server.foreign("list of Ollama's models", &tags.to_string()));
        };
        let wanted = self.model.as_deref().unwrap_or_default();
        let is_wanted = |name: &str| name == wanted || name.strip_suffix(":latest") == Some(wanted);
        if models.iter().any(|model| model["name"].as_str().is_some_and(is_wanted)) {
            return Ok(());
        }
        let problem = format!(
            "it has no model `{wanted}` (install it with `ollama pull {wanted}`, or set `embedding_model`)"
        );
        Err(self.server.refused(problem))
    }

    fn embed(&self, texts: &[&str], prefix: &str) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); texts.len()];
        let asked: Vec<usize> = (0..texts.len()).filter(|at| !texts[*at].trim().is_empty()).collect();
        let mut rest = asked.as_slice();
        while !rest.is_empty() {
            let form = lock(&self.state).form;
            let batch = self.first_batch(texts, rest, prefix, form);
            if let Some(found) = self.ask(&batch, form)? {
                for (at, vector) in rest.iter().zip(found) {
                    vectors[*at] = vector;
                }
                rest = &rest[batch.len()..];
            }
        }
        let known = lock(&self.state).dimensions;
        if asked.len() < texts.len() {
            // The dimension of a blank text's vector is known only from a real one.
            let dimensions = match known {
                Some(dimensions) => dimensions,
                None => self.embed(&["memory"], prefix)?[0].len(),
            };
            vectors
                .iter_mut()
                .filter(|vector| vector.is_empty())
                .for_each(|vector| vector.resize(dimensions, 0.0));
        }
        Ok(vectors)
    }

    /// The next texts that fit in one request, as they are sent.
    fn first_batch(&self, texts: &[&str], rest: &[usize], prefix: &str, form: Form) -> Vec<String> {
        let mut batch: Vec<String> = Vec::new();
        let mut bytes = 0;
        for at in rest.iter().take(form.batch) {
            let mut text = format!("{prefix}{}", texts[*at]);
            text.truncate(text.floor_char_boundary(form.most_bytes));
            bytes += text.len();
            if !batch.is_empty() && bytes > BATCH_BYTES {
                break;
            }
            batch.push(text);
        }
        batch
    }

    /// Asks until there are vectors, a permanent failure, or no time left; `None` where another form is to be tried,
    /// which the state has then.
    fn ask(&self, batch: &[String], form: Form) -> Result<Option<Vec<Vec<f32>>>, ModelError> {
        let deadline = deadline_after(self.server.limits.timeout);
        let url = if form.single {
            address::ollama_endpoint(&self.base, "/api/embeddings")?
        } else {
            self.server.endpoint.clone()
        };
        let request = self.dialect.request(self.model.as_deref(), batch, form);
        let longest = batch.iter().map(String::len).max().unwrap_or(0);
        let mut retries = 0;
        loop {
            let judge = |failure: &ErrorReply| self.judge(failure);
            let failure = match self.server.post(&url, &request, deadline, judge) {
                Ok(reply) => return self.read(&reply, batch.len()).map(Some),
                Err(failure) => failure,
            };
            if let Some(reply) = &failure.reply
                && let Some(form) = form.after(reply, self.dialect, batch.len(), longest)
            {
                lock(&self.state).form = form;
                return Ok(None);
            }
            // No retry without a connection, because the embedded model can answer at once.
            if failure.is_unconnected {
                return Err(failure.error);
            }
            self.server.wait_before_retry(*failure, retries, retries, deadline)?;
            retries += 1;
        }
    }

    fn judge(&self, failure: &ErrorReply) -> Diagnosis {
        self.dialect.judge(failure, self.model.as_deref())
    }

    /// The vectors of a reply, if their dimension is that of all before.
    fn read(&self, reply: &Success, count: usize) -> Result<Vec<Vec<f32>>, ModelError> {
        let vectors = match self.dialect.read_vectors(&reply.value, count) {
            Some(vectors) => vectors.map_err(|problem| self.server.garbled(problem))?,
            None => return Err(self.server.foreign("list of vectors", &reply.body)),
        };
        let dimensions = vectors.first().map_or(0, Vec::len);
        let mut state = lock(&self.state);
        match (self.wanted_dimensions, state.dimensions) {
            (Some(wanted), _) if wanted != dimensions => {
                return Err(self.server.garbled(format!(
                    "its vectors have {}, not {wanted} (set `dimensions` to {dimensions}, or remove it)",
                    counted(dimensions, "dimension")
                )));
            }
            (_, Some(before)) if before != dimensions => {
                return Err(self.server.garbled(format!(
                    "its vectors have {}, those before had {before}",
                    counted(dimensions, "dimension")
                )));
            }
            _ => state.dimensions = Some(dimensions),
        }
        if self.model.is_none() && state.said_model.is_none() {
            state.said_model = reply.value["model"].as_str().map(one_line);
        }
        Ok(vectors)
    }
}

/// An error of an address, under the name of the setting that holds it here.
fn about_embedding(error: ModelError) -> ModelError {
    match error {
        ModelError::Settings { problem, hint } => {
            ModelError::Settings { problem: problem.replace("`base_url`", "`embedding_url`"), hint }
        }
        other => other,
    }
}
