//! The provider `ollama` against a server that behaves as Ollama's API is documented.

use std::time::{Duration, Instant};

use memories::llm::{Answer, Config, Environment, Model, ModelError, Provider, StructuredOutput, choose};
use serde_json::{Value, json};

use super::{AMPLE, GOOD, SHORT, ask, assert_garbled, assert_refused, assert_unreachable, quick};
use crate::server::{Behaviour, Request, Server};

fn config(server: &Server) -> Config {
    Config {
        provider: Provider::Ollama,
        base_url: Some(server.url()),
        model: Some("llama3.2".to_owned()),
        limits: quick(AMPLE),
        ..Config::default()
    }
}

fn model_with(config: &Config) -> Box<dyn Model> {
    choose(config, &Environment::default(), 7).unwrap().model.unwrap()
}

fn ask_once(behaviours: Vec<Behaviour>) -> (Result<Answer, ModelError>, Vec<Request>) {
    let server = Server::start(behaviours);
    let result = ask(&*model_with(&config(&server)));
    (result, server.requests())
}

/// A chat as the server sends it.
fn chat(content: &str) -> Value {
    json!({
        "model": "llama3.2",
        "created_at": "2024-12-06T00:46:58.265747Z",
        "message": {"role": "assistant", "content": content},
        "done_reason": "stop",
        "done": true,
        "total_duration": 2254970291_u64,
        "load_duration": 574751416,
        "prompt_eval_count": 34,
        "prompt_eval_duration": 1502000000,
        "eval_count": 12,
        "eval_duration": 175000000,
    })
}

fn says(content: &str) -> Behaviour {
    Behaviour::json(200, chat(content))
}

fn error(status: u16, said: &str) -> Behaviour {
    Behaviour::json(status, json!({"error": said}))
}

fn tags(names: &[(&str, &str)]) -> Behaviour {
    let models: Vec<Value> = names
        .iter()
        .map(|(name, family)| json!({"name": name, "model": name, "size": 1, "details": {"family": family}}))
        .collect();
    Behaviour::json(200, json!({"models": models}))
}

#[test]
fn a_good_server_is_asked_once() {
    let (result, requests) = ask_once(vec![says(GOOD)]);
    let answer = result.unwrap();
    assert_eq!((answer.text.as_str(), answer.model.as_str()), (GOOD, "llama3.2"));
    let usage = answer.usage;
    assert_eq!((usage.calls, usage.input_tokens, usage.output_tokens), (1, Some(34), Some(12)));
    let [request] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/api/chat"));
    assert_eq!(request.header("authorization"), None);
    assert_eq!(
        request.body,
        json!({
            "model": "llama3.2",
            "messages": [
                {"role": "system", "content": "You judge."},
                {"role": "user", "content": "The turn."},
            ],
            "stream": false,
            "truncate": false,
            "think": false,
            "options": {"temperature": 0.0, "num_predict": 500},
            "format": {"type": "object", "properties": {"should_remember": {"type": "boolean"}}},
        })
    );
}

#[test]
fn without_a_name_the_first_installed_model_is_asked() {
    let server = Server::deciding(|request, _| match request.path.as_str() {
        "/api/tags" => tags(&[
            ("nomic-embed-text:latest", "nomic-bert"),
            ("qwen3:8b", "qwen3"),
            ("llama3.2:latest", "llama"),
        ]),
        _ => says(GOOD),
    });
    let model = model_with(&Config { model: None, ..config(&server) });
    assert_eq!(model.name(), "ollama/first installed");
    assert_eq!(ask(&*model).unwrap().usage.calls, 1);
    assert_eq!(model.name(), "ollama/qwen3:8b (first installed)");
    ask(&*model).unwrap();
    let requests = server.requests();
    let paths: Vec<&str> = requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/api/tags", "/api/chat", "/api/chat"]);
    assert_eq!(requests[0].method, "GET");
    assert_eq!(requests[2].body["model"], "qwen3:8b");
}

#[test]
fn no_installed_model_is_told() {
    for list in [tags(&[]), tags(&[("nomic-embed-text", "nomic-bert")]), Behaviour::text(200, "{}")] {
        let server = Server::start(vec![list]);
        let result = ask(&*model_with(&Config { model: None, ..config(&server) }));
        assert_refused(
            result,
            "no model is installed (install one with `ollama pull NAME`, or name one with `--model`)",
        );
        assert_eq!(server.requests().len(), 1);
    }
    let server = Server::start(vec![Behaviour::text(404, "404 page not found")]);
    let result = ask(&*model_with(&Config { model: None, ..config(&server) }));
    assert_refused(
        result,
        "HTTP 404: 404 page not found (is this an Ollama server? `--model` names another model)",
    );
}

#[test]
fn old_servers_are_asked_as_they_know_it_ever_after() {
    // Before 0.5 the format was a text; some servers in front take none at all.
    let server = Server::deciding(|request, _| match &request.body["format"] {
        Value::Object(_) => {
            error(400, "json: cannot unmarshal object into Go struct field ChatRequest.format of type string")
        }
        _ => says(GOOD),
    });
    let model = model_with(&config(&server));
    assert_eq!(ask(&*model).unwrap().usage.calls, 2);
    assert_eq!(ask(&*model).unwrap().usage.calls, 1);
    let last = server.requests().pop().unwrap();
    assert_eq!(last.body["format"], "json");
    assert!(last.body["messages"][1]["content"].as_str().unwrap().contains("\"should_remember\""));

    let server = Server::deciding(|request, _| match request.body.get("format") {
        Some(_) => error(400, "invalid format: expected \"json\" or a JSON schema"),
        None => says(GOOD),
    });
    assert_eq!(ask(&*model_with(&config(&server))).unwrap().usage.calls, 3);
}

#[test]
fn a_format_that_cannot_be_made_a_grammar_is_left() {
    let (result, requests) = ask_once(vec![error(500, "failed to parse grammar"), says(GOOD)]);
    assert_eq!(result.unwrap().usage.calls, 2);
    assert_eq!(requests[1].body["format"], "json");
}

#[test]
fn a_model_that_takes_no_word_on_thinking_is_asked_without() {
    let server = Server::deciding(|request, _| match request.body.get("think") {
        Some(_) => error(400, "\"llama3.2\" does not support thinking"),
        None => says(GOOD),
    });
    let model = model_with(&config(&server));
    assert_eq!(ask(&*model).unwrap().usage.calls, 2);
    assert_eq!(ask(&*model).unwrap().usage.calls, 1);
    assert!(server.requests().iter().all(|request| request.body["format"].is_object()));
}

#[test]
fn a_way_that_the_server_lacks_is_told() {
    let tool =
        Config { provider: Provider::Ollama, structured_output: StructuredOutput::Tool, ..Config::default() };
    let error = choose(&tool, &Environment::default(), 7).unwrap_err();
    assert_eq!(error.to_string(), "provider `ollama` has no structured output `tool`");
}

#[test]
fn what_will_not_pass_is_told_at_once() {
    for (behaviour, said) in [
        (
            error(404, "model 'llama3.2' not found"),
            "HTTP 404: model 'llama3.2' not found (install it with `ollama pull llama3.2`, or name another with `--model`)",
        ),
        (
            error(404, "model \"llama3.2\" not found, try pulling it first"),
            "(install it with `ollama pull llama3.2`",
        ),
        (error(400, "the input length exceeds the context length"), "larger `OLLAMA_CONTEXT_LENGTH`"),
        (error(500, "the input length exceeds the context length"), "larger `OLLAMA_CONTEXT_LENGTH`"),
        (
            error(500, "model requires more system memory (5.0 GiB) than is available (3.9 GiB)"),
            "(set `model` to a smaller one)",
        ),
        (error(401, "unauthorized"), "(set `MEMORIES_API_KEY`)"),
    ] {
        let (result, requests) = ask_once(vec![behaviour]);
        assert_refused(result, said);
        assert_eq!(requests.len(), 1, "{said}");
    }
}

#[test]
fn what_may_pass_is_tried_again() {
    let busy = || error(503, "server busy, please try again.  maximum pending requests exceeded");
    assert_eq!(ask_once(vec![busy(), says(GOOD)]).0.unwrap().usage.calls, 2);
    let (result, requests) = ask_once(vec![busy()]);
    assert_unreachable(result, "HTTP 503: server busy");
    assert_eq!(requests.len(), 3);
    let started = Instant::now();
    let limited = error(429, "too many requests").with_header("Retry-After", "0.1");
    assert_eq!(ask_once(vec![limited, says(GOOD)]).0.unwrap().usage.calls, 2);
    assert!(started.elapsed() >= Duration::from_millis(100));
}

#[test]
fn a_server_that_is_gone_is_unreachable() {
    for model in [Some("llama3.2".to_owned()), None] {
        let nobody = Config {
            provider: Provider::Ollama,
            // Port 1 is reserved and privileged: no other test can have it.
            base_url: Some("127.0.0.1:1".to_owned()),
            model,
            limits: quick(AMPLE),
            ..Config::default()
        };
        let error = ask(&*model_with(&nobody)).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("the model at http://127.0.0.1:1 cannot be reached: "), "{text}");
        assert!(text.ends_with(" (is `ollama serve` running?)"), "{text}");
        assert!(matches!(error, ModelError::Unavailable { .. }));
    }
}

#[test]
fn truncated_and_empty_answers_are_garbled() {
    let mut reply = chat("{\"should_rem");
    reply["done_reason"] = json!("length");
    assert_garbled(ask_once(vec![Behaviour::json(200, reply)]).0, "cut off after 500 tokens");
    assert_garbled(ask_once(vec![says(" ")]).0, "the answer is empty");
    let mut reply = chat("");
    reply["message"]["thinking"] = json!("Hm.");
    assert_garbled(ask_once(vec![Behaviour::json(200, reply)]).0, "reasoned but gave no answer");
}

#[test]
fn bodies_that_are_no_chat_are_garbled() {
    for body in ["", "Ollama is running", "[]", "{}", "{\"message\": 3}"] {
        assert_garbled(ask_once(vec![Behaviour::text(200, body)]).0, "the reply is no chat of Ollama");
    }
}

#[test]
fn a_hanging_server_is_left_in_time() {
    for model in [Some("llama3.2".to_owned()), None] {
        let server = Server::start(vec![Behaviour::Hang]);
        let started = Instant::now();
        let result = ask(&*model_with(&Config { limits: quick(SHORT), model, ..config(&server) }));
        assert_unreachable(result, "did not answer within 0.3 s");
        assert!(started.elapsed() < AMPLE / 3);
    }
}
