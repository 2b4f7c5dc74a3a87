//! Embedders behind HTTP, and search with them, against servers that behave as real ones are documented
//! and reported to behave.

mod query;

use std::time::{Duration, Instant};

use crate::server::{Behaviour, NOBODY, Request, Server, quick};
use memories::llm::embedding::{EmbedderConfig, EmbedderEnvironment, EmbedderKind, EmbeddingClient};
use memories::llm::{ModelError, RequestLimits};
use secrecy::SecretString;
use serde_json::{Value, json};

/// A time limit that no test reaches.
const AMPLE: Duration = Duration::from_secs(20);

fn config(provider: EmbedderKind, server: &Server) -> EmbedderConfig {
    EmbedderConfig { provider, url: Some(server.url()), limits: quick(AMPLE), ..EmbedderConfig::default() }
}

fn client(config: &EmbedderConfig) -> EmbeddingClient {
    EmbeddingClient::new(config, &EmbedderEnvironment::default(), 7).unwrap().unwrap()
}

/// The vectors of two texts from a server.
fn embed(
    provider: EmbedderKind,
    behaviours: Vec<Behaviour>,
) -> (Result<Vec<Vec<f32>>, ModelError>, Vec<Request>) {
    let server = Server::start(behaviours);
    let result = client(&config(provider, &server)).embed_texts(&["a", "b"]);
    (result, server.requests())
}

/// The texts of a request.
fn input(request: &Request) -> Vec<String> {
    let texts = request.body["input"].as_array().unwrap();
    texts.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// A vector from which the length of its text can be read.
fn vector_of(text: &str) -> Value {
    json!([text.len(), 1.0, 0.5])
}

/// `/api/embed` as Ollama answers it.
fn ollama(request: &Request) -> Behaviour {
    let vectors: Vec<Value> = input(request).iter().map(|text| vector_of(text)).collect();
    Behaviour::json(
        200,
        json!({
            "model": request.body["model"], "embeddings": vectors,
            "total_duration": 14143917, "load_duration": 1019500, "prompt_eval_count": 8,
        }),
    )
}

/// `/v1/embeddings` as OpenAI answers it.
fn openai(request: &Request) -> Behaviour {
    let vectors: Vec<Value> = input(request).iter().map(|text| vector_of(text)).collect();
    openai_vectors(&vectors)
}

fn openai_vectors(vectors: &[Value]) -> Behaviour {
    let item = |(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector});
    let data: Vec<Value> = vectors.iter().enumerate().map(item).collect();
    Behaviour::json(
        200,
        json!({"object": "list", "data": data, "model": "served", "usage": {"prompt_tokens": 8}}),
    )
}

fn ollama_vectors(vectors: Value) -> Behaviour {
    Behaviour::json(200, json!({"model": "m", "embeddings": vectors}))
}

fn ollama_error(status: u16, said: &str) -> Behaviour {
    Behaviour::json(status, json!({"error": said}))
}

#[track_caller]
fn assert_said(result: Result<Vec<Vec<f32>>, ModelError>, said: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(said), "{error}\nlacks: {said}");
}

#[test]
fn ollama_is_asked_in_batches_as_the_model_wants_it() {
    let server = Server::deciding(|request, _| ollama(request));
    let client = client(&EmbedderConfig { batch: 2, ..config(EmbedderKind::Ollama, &server) });
    assert_eq!((client.name().as_str(), client.dimensions()), ("ollama/nomic-embed-text", 0));
    let vectors = client.embed_texts(&["one", "", "three", " \n", "fifth"]).unwrap();
    let prefix = "search_document: ".len() as f32;
    let expected = [prefix + 3.0, 0.0, prefix + 5.0, 0.0, prefix + 5.0];
    assert_eq!(vectors.iter().map(|vector| vector[0]).collect::<Vec<_>>(), expected);
    assert!(vectors.iter().all(|vector| vector.len() == 3) && vectors[1] == [0.0; 3]);
    assert_eq!(client.embed_query("who?").unwrap()[0], "search_query: who?".len() as f32);
    assert_eq!(client.dimensions(), 3);
    let requests = server.requests();
    assert!(
        requests
            .iter()
            .all(|request| (request.method.as_str(), request.path.as_str()) == ("POST", "/api/embed"))
    );
    assert_eq!(
        requests[0].body,
        json!({"input": ["search_document: one", "search_document: three"], "model": "nomic-embed-text"})
    );
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].header("authorization"), None);
}

#[test]
fn texts_of_nothing_have_as_many_dimensions_as_others() {
    let server = Server::deciding(|request, _| ollama(request));
    assert_eq!(client(&config(EmbedderKind::Ollama, &server)).embed_texts(&[" "]).unwrap(), [[0.0; 3]]);
    let unasked = Server::start(vec![Behaviour::Hang]);
    let none: [Vec<f32>; 0] = [];
    assert_eq!(client(&config(EmbedderKind::Ollama, &unasked)).embed_texts(&[]).unwrap(), none);
    assert!(unasked.requests().is_empty());
}

#[test]
fn an_old_ollama_is_asked_text_by_text_ever_after() {
    let server = Server::deciding(|request, _| match request.path.as_str() {
        "/api/embeddings" => {
            Behaviour::json(200, json!({"embedding": vector_of(request.body["prompt"].as_str().unwrap())}))
        }
        _ => Behaviour::text(404, "404 page not found"),
    });
    let client = client(&EmbedderConfig {
        model: Some("all-minilm".to_owned()),
        ..config(EmbedderKind::Ollama, &server)
    });
    let vectors = client.embed_texts(&["a", "bb"]).unwrap();
    assert_eq!((vectors[0][0], vectors[1][0]), (1.0, 2.0));
    client.embed_texts(&["c"]).unwrap();
    let requests = server.requests();
    let paths: Vec<&str> = requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/api/embed", "/api/embeddings", "/api/embeddings", "/api/embeddings"]);
    assert_eq!(requests[1].body, json!({"prompt": "a", "model": "all-minilm"}));
}

#[test]
fn openai_is_asked_with_key_model_and_dimensions() {
    let server = Server::deciding(|request, _| openai(request));
    let environment = EmbedderEnvironment {
        openai_api_key: Some(SecretString::from("sk-1234")),
        ..EmbedderEnvironment::default()
    };
    let model = Some("text-embedding-3-small".to_owned());
    let config = EmbedderConfig { model, dimensions: Some(3), ..config(EmbedderKind::Openai, &server) };
    let client = EmbeddingClient::new(&config, &environment, 7).unwrap().unwrap();
    client.embed_texts(&["a", "b"]).unwrap();
    assert_eq!(client.name(), "openai/text-embedding-3-small");
    let [request] = &server.requests()[..] else { panic!("asked more than once") };
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/embeddings"));
    assert_eq!(request.header("authorization"), Some("Bearer sk-1234"));
    // Without `encoding_format` numbers come, never base64.
    assert_eq!(
        request.body,
        json!({"input": ["a", "b"], "model": "text-embedding-3-small", "dimensions": 3})
    );
    assert!(!format!("{client:?}").contains("1234"));
}

#[test]
fn vectors_stand_where_their_index_says() {
    let swapped = json!({"data": [
        {"index": 1, "embedding": [2.0, 0.0]}, {"index": 0, "embedding": [1.0, 0.0]},
    ]});
    let (result, _) = embed(EmbedderKind::Openai, vec![Behaviour::json(200, swapped)]);
    assert_eq!(result.unwrap(), [[1.0, 0.0], [2.0, 0.0]]);
    // Some leave the index out, some put the one pooled vector into a list.
    let bare = json!({"data": [{"embedding": [[1, 0]]}, {"embedding": [[2, 0]]}]});
    let (result, _) = embed(EmbedderKind::Openai, vec![Behaviour::json(200, bare)]);
    assert_eq!(result.unwrap(), [[1.0, 0.0], [2.0, 0.0]]);
}

#[test]
fn what_is_no_vector_is_never_taken_for_one() {
    let data = |data: Value| Behaviour::json(200, json!({"data": data}));
    for (behaviour, said) in [
        (data(json!([{"index": 0, "embedding": [1.0]}])), "it sent 1 vector for 2 texts"),
        (
            data(json!([{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}])),
            "two vectors for text 0",
        ),
        (
            data(json!([{"index": 0, "embedding": [1.0]}, {"index": 2, "embedding": [1.0]}])),
            "a vector with `index` 2",
        ),
        (openai_vectors(&[json!([1.0]), json!([1.0, 2.0])]), "its vectors differ in length"),
        (openai_vectors(&[json!([]), json!([])]), "a vector has 0 dimensions"),
        (openai_vectors(&[json!([1.0]), json!([null])]), "holds what is no finite number"),
        (openai_vectors(&[json!([1e300]), json!([1.0])]), "holds what is no finite number"),
        (openai_vectors(&[json!("AACAPw=="), json!("AACAPw==")]), "came as text, not as numbers"),
        (openai_vectors(&[json!([[1.0], [1.0]]), json!([1.0])]), "start the server with pooling"),
        (data(json!([{"index": 0}, {"index": 1}])), "a vector is missing"),
        (
            Behaviour::text(200, r#"{"data": [{"index": 0, "embedding": [NaN]}]}"#),
            "the reply is no list of vectors",
        ),
        (Behaviour::text(200, "hello"), "the reply is no list of vectors: hello"),
    ] {
        let (result, requests) = embed(EmbedderKind::Openai, vec![behaviour]);
        assert!(matches!(result, Err(ModelError::Garbled { .. })), "{said}: {result:?}");
        assert_said(result, said);
        assert_eq!(requests.len(), 1, "{said}");
    }
    let (result, _) = embed(EmbedderKind::Ollama, vec![ollama_vectors(json!([[1.0]]))]);
    assert_said(result, "it sent 1 vector for 2 texts");
    let (result, _) = embed(EmbedderKind::Ollama, vec![Behaviour::json(200, json!({"models": []}))]);
    assert_said(result, "the reply is no list of vectors");
}

#[test]
fn dimensions_are_those_of_the_settings_and_stay() {
    let server = Server::deciding(|request, _| match request.body.get("dimensions") {
        // As vLLM says it of models that cannot be shortened.
        Some(_) => Behaviour::error(
            400,
            "Model \"served\" does not support matryoshka representation, changing output dimensions will lead to poor results.",
        ),
        None => openai(request),
    });
    let wants = |dimensions| {
        client(&EmbedderConfig { dimensions: Some(dimensions), ..config(EmbedderKind::Openai, &server) })
    };
    assert_eq!(wants(3).embed_texts(&["a"]).unwrap()[0].len(), 3);
    assert_said(
        wants(512).embed_texts(&["a"]),
        "its vectors have 3 dimensions, not 512 (set `dimensions` to 3, or remove it)",
    );
    let server = Server::start(vec![ollama_vectors(json!([[1.0, 2.0]])), ollama_vectors(json!([[1.0]]))]);
    let client = client(&config(EmbedderKind::Ollama, &server));
    client.embed_texts(&["a"]).unwrap();
    assert_said(client.embed_texts(&["b"]), "its vectors have 1 dimension, those before had 2");
}

#[test]
fn what_will_not_pass_is_told_at_once_with_what_to_do() {
    for (provider, behaviour, said) in [
        (
            EmbedderKind::Ollama,
            ollama_error(404, "model \"nomic-embed-text\" not found, try pulling it first"),
            "(install it with `ollama pull nomic-embed-text`, or set `embedding_model`)",
        ),
        (
            EmbedderKind::Ollama,
            ollama_error(501, "this model does not support embeddings"),
            "(set `embedding_model` to one that is made for vectors, such as `nomic-embed-text`)",
        ),
        (
            EmbedderKind::Ollama,
            ollama_error(500, "model requires more system memory (5.0 GiB) than is available (3.9 GiB)"),
            "(set `embedding_model` to a smaller one)",
        ),
        (EmbedderKind::Openai, Behaviour::error(401, "Incorrect API key"), "(set `OPENAI_API_KEY`;"),
        (
            EmbedderKind::Openai,
            Behaviour::error(404, "The model `x` does not exist."),
            "(set `embedding_model` to one that the server has)",
        ),
        (EmbedderKind::Openai, Behaviour::json(404, json!({"detail": "Not Found"})), "`/v1/embeddings`?"),
        (
            EmbedderKind::Openai,
            Behaviour::json(429, json!({"error": {"message": "quota", "code": "insufficient_quota"}})),
            "HTTP 429: quota",
        ),
        (
            EmbedderKind::Openai,
            Behaviour::json(
                501,
                json!({"error": {"code": 501, "message": "This server does not support embeddings. Start it with `--embeddings`"}}),
            ),
            "Start it with `--embeddings`",
        ),
        (
            EmbedderKind::Openai,
            Behaviour::text(301, "").with_header("Location", "https://elsewhere/v1"),
            "it redirects to `https://elsewhere/v1`: set `embedding_url` to where it is",
        ),
    ] {
        let server = Server::start(vec![behaviour]);
        let result = client(&config(provider, &server)).embed_texts(&["a"]);
        assert!(matches!(result, Err(ModelError::Refused { .. })), "{said}: {result:?}");
        assert_said(result, said);
        assert_eq!(server.requests().len(), 1, "{said}");
    }
    let (result, requests) = embed(EmbedderKind::Ollama, vec![Behaviour::text(404, "404 page not found")]);
    assert_said(result, "(is this an Ollama server?)");
    assert_eq!(requests.len(), 2, "the new way and the old");
}

#[test]
fn what_may_pass_is_tried_again() {
    let limited = Behaviour::error(429, "Rate limit reached").with_header("Retry-After", "0.1");
    let good = || openai_vectors(&[json!([1.0]), json!([2.0])]);
    let started = Instant::now();
    let (result, requests) = embed(EmbedderKind::Openai, vec![limited.clone(), good()]);
    assert_eq!((result.unwrap().len(), requests.len()), (2, 2));
    assert!(started.elapsed() >= Duration::from_millis(100));
    let (result, requests) = embed(EmbedderKind::Openai, vec![Behaviour::Close, good()]);
    assert_eq!((result.unwrap().len(), requests.len()), (2, 2));
    let (result, requests) = embed(EmbedderKind::Openai, vec![limited]);
    assert!(matches!(result, Err(ModelError::Unavailable { .. })));
    assert_eq!(requests.len(), 3, "two retries");
    let long = Behaviour::error(429, "Rate limit reached").with_header("Retry-After", "3600");
    let (result, requests) = embed(EmbedderKind::Openai, vec![long]);
    assert_said(result, "(no time is left to try again)");
    assert_eq!(requests.len(), 1);
}

#[test]
fn servers_that_take_less_at_once_get_less() {
    // As Hugging Face's server says it; OpenAI with 400 and other words.
    for (status, said) in [
        (422, "batch size 8 > maximum allowed batch size 3"),
        (400, "Invalid 'input': array too long. Expected an array with maximum length 3"),
        (413, ""),
    ] {
        let server = Server::deciding(move |request, _| match input(request).len() {
            0..=3 => openai(request),
            _ => Behaviour::error(status, said),
        });
        let client = client(&config(EmbedderKind::Openai, &server));
        let texts = ["a", "bb", "ccc", "dddd", "eeeee", "ffffff", "ggggggg", "hhhhhhhh"];
        let lengths: Vec<f32> = client.embed_texts(&texts).unwrap().iter().map(|vector| vector[0]).collect();
        assert_eq!(lengths, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        let sizes: Vec<usize> = server.requests().iter().map(|request| input(request).len()).collect();
        assert_eq!(sizes, [8, 4, 2, 2, 2, 2], "what it takes is remembered");
    }
}

#[test]
fn texts_that_are_too_long_are_cut() {
    for (status, said) in [
        (400, "the input length exceeds the context length"),
        (
            500,
            "input (992 tokens) is too large to process. increase the physical batch size (current batch size: 512)",
        ),
        (413, "`inputs` must have less than 512 tokens. Given: 900"),
    ] {
        let server = Server::deciding(move |request, _| {
            if input(request).iter().all(|text| text.len() <= 1000) {
                openai(request)
            } else {
                Behaviour::error(status, said)
            }
        });
        let client = client(&config(EmbedderKind::Openai, &server));
        let (long, short) = ("é".repeat(1500), "short");
        let vectors = client.embed_texts(&[&long, short]).unwrap();
        assert_eq!((vectors[0][0], vectors[1][0]), (750.0, 5.0), "{said}");
        let before = server.requests().len();
        client.embed_texts(&[&long]).unwrap();
        assert_eq!(server.requests().len(), before + 1, "what it takes is remembered");
    }
    let (result, requests) =
        embed(EmbedderKind::Openai, vec![Behaviour::error(400, "maximum context length is 0")]);
    assert_said(result, "HTTP 400: maximum context length is 0");
    assert_eq!(requests.len(), 2, "two texts, then one that is as short as texts are");
}

#[test]
fn servers_without_end_are_left_in_time() {
    for behaviour in [Behaviour::Hang, Behaviour::Trickle, Behaviour::TrickleHead] {
        let server = Server::start(vec![behaviour]);
        let config = EmbedderConfig {
            limits: quick(Duration::from_millis(300)),
            ..config(EmbedderKind::Ollama, &server)
        };
        let started = Instant::now();
        assert_said(client(&config).embed_texts(&["a"]), "did not answer within 0.3 s");
        assert!(started.elapsed() < AMPLE / 3);
    }
}

#[test]
fn where_nobody_listens_nothing_is_tried_again() {
    let url = Some(NOBODY.to_owned());
    let config = EmbedderConfig {
        provider: EmbedderKind::Ollama,
        url,
        limits: RequestLimits {
            retry_delay: Duration::from_secs(15),
            ..RequestLimits::new(Duration::from_secs(30))
        },
        ..EmbedderConfig::default()
    };
    let started = Instant::now();
    let result = client(&config).embed_texts(&["a"]);
    assert!(matches!(result, Err(ModelError::Unavailable { .. })));
    assert_said(result, "(is `ollama serve` running?)");
    assert!(started.elapsed() < Duration::from_secs(7), "no pause for a retry");
}

fn tags(name: &str) -> Behaviour {
    Behaviour::json(200, json!({"models": [{"name": "qwen3:8b"}, {"name": name}]}))
}

#[test]
fn auto_takes_the_server_that_is_there() {
    let ollama = Server::deciding(|request, _| match request.path.as_str() {
        "/api/tags" => tags("nomic-embed-text:latest"),
        _ => ollama(request),
    });
    let found = client(&config(EmbedderKind::Auto, &ollama));
    found.embed_texts(&["a"]).unwrap();
    found.embed_texts(&["b"]).unwrap();
    assert_eq!(found.name(), "ollama/nomic-embed-text");
    let requests = ollama.requests();
    let paths: Vec<&str> = requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/api/tags", "/api/embed", "/api/embed"], "looked for once");

    let other = Server::deciding(|request, _| match request.path.as_str() {
        "/v1/embeddings" => openai(request),
        _ => Behaviour::json(404, json!({"detail": "Not Found"})),
    });
    let found = client(&EmbedderConfig { url: Some(other.base_url()), ..config(EmbedderKind::Auto, &other) });
    found.embed_texts(&["a"]).unwrap();
    assert_eq!(found.name(), "openai/served");
    assert!(found.stamp().contains(&other.url()), "a model without a name is known by its address too");
}

#[test]
fn auto_without_anything_says_what_is_missing() {
    let auto = |host: String| {
        let environment = EmbedderEnvironment { ollama_host: Some(host), ..EmbedderEnvironment::default() };
        let config = EmbedderConfig { provider: EmbedderKind::Auto, ..EmbedderConfig::default() };
        EmbeddingClient::new(&config, &environment, 7).unwrap().unwrap()
    };
    assert_said(auto(NOBODY.to_owned()).embed_texts(&["a"]), "(is `ollama serve` running?)");
    let server = Server::start(vec![tags("llama3.2:latest")]);
    let result = auto(server.url()).embed_texts(&["a"]);
    assert_said(result, "it has no model `nomic-embed-text` (install it with `ollama pull nomic-embed-text`");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn stamps_differ_wherever_vectors_do() {
    let server = Server::deciding(|request, _| openai(request));
    let stamp = |config: EmbedderConfig| {
        let client = client(&config);
        client.embed_texts(&["a"]).unwrap();
        client.stamp()
    };
    let named = |model: &str| EmbedderConfig {
        model: Some(model.to_owned()),
        ..config(EmbedderKind::Openai, &server)
    };
    let stamps = [
        stamp(named("a")),
        stamp(named("b")),
        stamp(EmbedderConfig { text_prefix: Some("passage: ".to_owned()), ..named("a") }),
        stamp(config(EmbedderKind::Openai, &server)),
    ];
    let different: std::collections::BTreeSet<&String> = stamps.iter().collect();
    assert_eq!(different.len(), stamps.len(), "{stamps:?}");
    assert_eq!(stamp(named("a")), stamps[0]);
}

#[test]
fn settings_that_cannot_work_are_told_before_anything_is_asked() {
    for (config, said) in [
        (
            EmbedderConfig { provider: EmbedderKind::Openai, ..EmbedderConfig::default() },
            "embedder `openai` has no key",
        ),
        (
            EmbedderConfig {
                provider: EmbedderKind::Ollama,
                url: Some("ftp://h".to_owned()),
                ..EmbedderConfig::default()
            },
            "`embedding_url` is not an address of a web server",
        ),
    ] {
        let error = EmbeddingClient::new(&config, &EmbedderEnvironment::default(), 7).unwrap_err();
        assert!(matches!(error, ModelError::Settings { .. }));
        assert_eq!(error.to_string(), said);
    }
    assert!(
        EmbeddingClient::new(&EmbedderConfig::default(), &EmbedderEnvironment::default(), 7)
            .unwrap()
            .is_none()
    );
}
