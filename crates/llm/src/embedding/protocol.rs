//! The two APIs for vectors: requests and replies.
//!
//! Texts enter; the body of a request leaves. A reply enters; vectors in the order of the texts leave,
//! each finite and not empty, or the reason why not.

use serde_json::{Value, json};

use crate::server::{Diagnosis, ErrorReply};
use crate::{ollama, openai, served};

/// The API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `/api/embed`; before version 0.3 `/api/embeddings`.
    Ollama,
    /// `/v1/embeddings`.
    Openai,
}

/// The form of request that the server is believed to accept; it only ever gets more restricted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    /// One text a request, as old servers require.
    pub(crate) single: bool,
    /// The number of dimensions to ask for.
    pub(crate) dimensions: Option<usize>,
    /// Texts of one request.
    pub(crate) batch: usize,
    /// Longest text, in bytes.
    pub(crate) most_bytes: usize,
}

/// Largest plausible dimension of a vector.
const MAX_DIMENSIONS: usize = 16_384;

/// Phrases of servers for a text that is too long.
const TOO_LONG: [&str; 8] = [
    "context length",
    "context size",
    "context window",
    "maximum context",
    "too long",
    "too large to process",
    "must have less than",
    "token limit",
];

impl Dialect {
    /// The chats of the same servers: these are addressed and authorised alike.
    pub(crate) fn of_chats(self) -> &'static served::Dialect {
        match self {
            Dialect::Ollama => &ollama::DIALECT,
            Dialect::Openai => &openai::DIALECT,
        }
    }

    /// The body of a request.
    pub(crate) fn request(self, model: Option<&str>, texts: &[String], form: Form) -> Value {
        let mut request =
            if form.single { json!({"prompt": texts.first()}) } else { json!({"input": texts}) };
        if let Some(model) = model {
            request["model"] = json!(model);
        }
        if let (Some(dimensions), false) = (form.dimensions, form.single) {
            request["dimensions"] = json!(dimensions);
        }
        request
    }

    /// The vectors of a reply; `None` if it is of another kind, an error if they are unusable.
    pub(crate) fn read_vectors(self, reply: &Value, count: usize) -> Option<Result<Vec<Vec<f32>>, String>> {
        let items = match self {
            Dialect::Ollama => match reply["embeddings"].as_array() {
                Some(items) => items,
                None => std::slice::from_ref(reply.get("embedding").filter(|item| item.is_array())?),
            },
            Dialect::Openai => reply["data"].as_array()?,
        };
        Some(self.read_items(items, count))
    }

    fn read_items(self, items: &[Value], count: usize) -> Result<Vec<Vec<f32>>, String> {
        if items.len() != count {
            return Err(format!("it sent {} for {}", counted(items.len(), "vector"), counted(count, "text")));
        }
        let items = match self {
            Dialect::Ollama => items.iter().collect(),
            Dialect::Openai => in_order(items)?,
        };
        let vectors = items.into_iter().map(read_vector).collect::<Result<Vec<_>, _>>()?;
        if vectors.iter().any(|vector| vector.len() != vectors[0].len()) {
            return Err("its vectors differ in length".to_owned());
        }
        Ok(vectors)
    }

    /// The meaning of a failure; `model` is the one that was asked for.
    pub(crate) fn judge(self, failure: &ErrorReply, model: Option<&str>) -> Diagnosis {
        let said = |words: &[&str]| words.iter().any(|word| failure.body.contains(word));
        let other_model = "set `embedding_model` to one that is made for vectors, such as `nomic-embed-text`";
        match (self, failure.status) {
            (Dialect::Ollama, 404) if said(&["model"]) => {
                let model = model.unwrap_or("nomic-embed-text");
                Diagnosis::permanent(format!(
                    "install it with `ollama pull {model}`, or set `embedding_model`"
                ))
            }
            (Dialect::Ollama, 404 | 405) => Diagnosis::permanent("is this an Ollama server?"),
            (Dialect::Ollama, 500) if said(&["system memory"]) => {
                Diagnosis::permanent("set `embedding_model` to a smaller one")
            }
            (_, 400..=599) if said(&["not support embed"]) && !said(&["--embedding"]) => {
                Diagnosis::permanent(other_model)
            }
            (Dialect::Openai, 404) if said(&["model"]) => {
                Diagnosis::permanent("set `embedding_model` to one that the server has")
            }
            (Dialect::Openai, 404 | 405) => Diagnosis::permanent("does this server have `/v1/embeddings`?"),
            (Dialect::Openai, 400 | 422) if said(&["model"]) && model.is_none() => {
                Diagnosis::permanent("set `embedding_model`")
            }
            (_, 429) if said(&["insufficient_quota"]) => Diagnosis { temporary: false, hint: None },
            (_, status) if says_too_long(&failure.body) => {
                Diagnosis { temporary: false, ..Diagnosis::of_status(status) }
            }
            (_, status) => Diagnosis::of_status(status),
        }
    }
}

impl Form {
    /// Another form to try after a failed request of `count` texts, the longest of `longest` bytes;
    /// `None` if there is none.
    pub(crate) fn after(
        mut self,
        failure: &ErrorReply,
        dialect: Dialect,
        count: usize,
        longest: usize,
    ) -> Option<Form> {
        /// Shortest text worth retrying with, in bytes; below this, give up.
        const SHORT: usize = 100;
        let ErrorReply { status, body, .. } = failure;
        let unknown_call = matches!(status, 404 | 405) && !body.contains("model");
        if dialect == Dialect::Ollama && unknown_call && !self.single {
            (self.single, self.batch) = (true, 1);
            return Some(self);
        }
        let about_dimensions = ["dimension", "matryoshka"].iter().any(|word| body.contains(word));
        if matches!(status, 400 | 422) && about_dimensions && self.dimensions.is_some() {
            self.dimensions = None;
            return Some(self);
        }
        let too_much = *status == 413 || (400..=599).contains(status) && says_too_long(body);
        if count > 1 && (too_much || matches!(status, 400 | 422)) {
            self.batch = count / 2;
            return Some(self);
        }
        if too_much && longest > SHORT {
            self.most_bytes = longest / 2;
            return Some(self);
        }
        None
    }
}

fn says_too_long(body: &str) -> bool {
    TOO_LONG.iter().any(|words| body.contains(words))
}

/// Vectors with an `index` are placed by it, the others in the order of the reply.
fn in_order(items: &[Value]) -> Result<Vec<&Value>, String> {
    let mut places: Vec<Option<&Value>> = vec![None; items.len()];
    for (at, item) in items.iter().enumerate() {
        let index = match &item["index"] {
            Value::Null => at,
            index => index.as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX),
        };
        match places.get_mut(index) {
            Some(place @ None) => *place = Some(&item["embedding"]),
            Some(Some(_)) => return Err(format!("it sent two vectors for text {index}")),
            None => return Err(format!("it sent a vector with `index` {}", item["index"])),
        }
    }
    Ok(places.into_iter().flatten().collect())
}

fn read_vector(item: &Value) -> Result<Vec<f32>, String> {
    let numbers = match item {
        Value::Array(numbers) => numbers,
        Value::String(_) => return Err("a vector came as text, not as numbers".to_owned()),
        _ => return Err("a vector is missing".to_owned()),
    };
    // Some servers put a list of vectors here; with pooling it has one element.
    let numbers = match numbers.first() {
        Some(Value::Array(only)) if numbers.len() == 1 => only,
        Some(Value::Array(_)) => {
            return Err(
                "it sent a vector for each token: start the server with pooling, such as `--pooling mean`"
                    .to_owned(),
            );
        }
        _ => numbers,
    };
    if numbers.is_empty() || numbers.len() > MAX_DIMENSIONS {
        return Err(format!("a vector has {}", counted(numbers.len(), "dimension")));
    }
    let finite =
        |number: &Value| number.as_f64().map(|number| number as f32).filter(|number| number.is_finite());
    let vector: Option<Vec<f32>> = numbers.iter().map(finite).collect();
    vector.ok_or_else(|| "a vector holds what is no finite number".to_owned())
}

pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
