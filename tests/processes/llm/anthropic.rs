//! The provider `anthropic` against a server that behaves as the Messages API is documented.

use std::time::{Duration, Instant};

use memories::llm::{Answer, Config, Environment, Model, ModelError, Provider, StructuredOutput, choose};
use secrecy::SecretString;
use serde_json::{Value, json};

use super::{AMPLE, GOOD, KEY, SHORT, ask, assert_garbled, assert_refused, assert_unreachable, quick};
use crate::server::{Behaviour, Request, Server};

fn config(server: &Server) -> Config {
    Config {
        provider: Provider::Anthropic,
        base_url: Some(server.url()),
        limits: quick(AMPLE),
        ..Config::default()
    }
}

fn model_with(config: &Config) -> Box<dyn Model> {
    let environment =
        Environment { anthropic_api_key: Some(SecretString::from(KEY)), ..Environment::default() };
    choose(config, &environment, 7).unwrap().model.unwrap()
}

fn ask_once(behaviours: Vec<Behaviour>) -> (Result<Answer, ModelError>, Vec<Request>) {
    let server = Server::start(behaviours);
    let result = ask(&*model_with(&config(&server)));
    (result, server.requests())
}

/// A message as the API sends it.
fn message(content: Value, stop_reason: &str) -> Value {
    json!({
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-served",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "stop_details": null,
        "usage": {"input_tokens": 100, "cache_creation_input_tokens": 15, "cache_read_input_tokens": 5, "output_tokens": 30},
    })
}

fn says(text: &str) -> Behaviour {
    Behaviour::json(200, message(json!([{"type": "text", "text": text}]), "end_turn"))
}

fn calls_tool(input: Value) -> Behaviour {
    let content = json!([
        {"type": "text", "text": "I will note that."},
        {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": input},
    ]);
    Behaviour::json(200, message(content, "tool_use"))
}

fn error(status: u16, kind: &str, said: &str) -> Behaviour {
    let error = json!({"type": kind, "message": said});
    Behaviour::json(status, json!({"type": "error", "error": error, "request_id": "req_1"}))
}

fn invalid(said: &str) -> Behaviour {
    error(400, "invalid_request_error", said)
}

/// How a request asks for JSON.
fn way_of(request: &Request) -> &'static str {
    match (request.body.get("output_config"), request.body.get("tools")) {
        (Some(_), None) => "schema",
        (None, Some(_)) => "tool",
        (None, None) => "plain",
        both => panic!("{both:?}"),
    }
}

fn prompt_of(request: &Request) -> &str {
    request.body["messages"][0]["content"].as_str().unwrap()
}

/// Accepts only one form of request, and refuses the others by their names.
fn choosy(taken: &'static str) -> Server {
    Server::deciding(move |request, _| match way_of(request) {
        way if way == taken && way == "tool" => calls_tool(json!({"should_remember": false})),
        way if way == taken => says(GOOD),
        "schema" => invalid("output_config: Extra inputs are not permitted"),
        _ => invalid("tool_choice: Extra inputs are not permitted"),
    })
}

#[test]
fn a_good_server_is_asked_once() {
    let (result, requests) = ask_once(vec![says(GOOD)]);
    let answer = result.unwrap();
    assert_eq!((answer.text.as_str(), answer.model.as_str()), (GOOD, "claude-served"));
    let usage = answer.usage;
    assert_eq!((usage.calls, usage.input_tokens, usage.output_tokens), (1, Some(120), Some(30)));

    let [request] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/messages"));
    assert_eq!(request.header("x-api-key"), Some(KEY));
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(request.header("anthropic-beta"), None);
    assert_eq!(
        request.body,
        json!({
            "model": "claude-haiku-5-5",
            "max_tokens": 500,
            "system": "You judge.",
            "messages": [{"role": "user", "content": "The turn."}],
            "thinking": {"type": "disabled"},
            "output_config": {"format": {"type": "json_schema", "schema": {
                "type": "object",
                "properties": {"should_remember": {"type": "boolean"}},
                "additionalProperties": false,
            }}},
        })
    );
}

#[test]
fn the_end_of_the_examples_is_marked_for_the_servers_cache() {
    let server = Server::deciding(|request, _| {
        if request.body["messages"][1]["content"].is_array() {
            invalid("messages.1.content.0.cache_control: Extra inputs are not permitted")
        } else {
            says(GOOD)
        }
    });
    let model = model_with(&config(&server));
    super::ask_with_example(&*model).unwrap();
    let requests = server.requests();
    let block = json!([{"type": "text", "text": "Its answer.", "cache_control": {"type": "ephemeral"}}]);
    assert_eq!(requests[0].body["messages"][1], json!({"role": "assistant", "content": block}));
    assert_eq!(requests[0].body["messages"][2], json!({"role": "user", "content": "The turn."}));
    // A server that does not know the mark gets none.
    assert_eq!(requests[1].body["messages"][1], json!({"role": "assistant", "content": "Its answer."}));
}

#[test]
fn a_server_without_output_formats_is_given_a_tool_ever_after() {
    let server = choosy("tool");
    let model = model_with(&config(&server));
    let answer = ask(&*model).unwrap();
    assert_eq!((answer.text.as_str(), answer.usage.calls), (r#"{"should_remember":false}"#, 2));
    assert_eq!(ask(&*model).unwrap().usage.calls, 1);
    let requests = server.requests();
    let body = &requests.last().unwrap().body;
    assert_eq!(body["tools"][0]["name"], "memory");
    assert_eq!(body["tools"][0]["input_schema"]["properties"]["should_remember"]["type"], "boolean");
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "memory"}));
}

#[test]
fn a_server_with_neither_is_told_in_the_prompt() {
    let server = choosy("plain");
    let model = model_with(&config(&server));
    assert_eq!(ask(&*model).unwrap().usage.calls, 3);
    assert_eq!(ask(&*model).unwrap().usage.calls, 1);
    let requests = server.requests();
    let ways: Vec<&str> = requests.iter().map(way_of).collect();
    assert_eq!(ways, ["schema", "tool", "plain", "plain"]);
    assert!(prompt_of(&requests[3]).contains("\"should_remember\""));
}

#[test]
fn a_fixed_way_is_kept() {
    let server = choosy("none");
    for (way, name) in [
        (StructuredOutput::JsonSchema, "schema"),
        (StructuredOutput::Tool, "tool"),
        (StructuredOutput::Plain, "plain"),
    ] {
        let fixed = Config { structured_output: way, ..config(&server) };
        ask(&*model_with(&fixed)).unwrap_err();
        assert_eq!(way_of(server.requests().last().unwrap()), name);
    }
    assert_eq!(server.requests().len(), 3);
    let lacking = Config { structured_output: StructuredOutput::JsonObject, ..config(&server) };
    let error = choose(&lacking, &Environment::default(), 7).unwrap_err();
    assert_eq!(error.to_string(), "provider `anthropic` has no structured output `json_object`");
}

#[test]
fn a_forced_tool_may_be_answered_in_plain_text() {
    let server = Server::start(vec![says(GOOD)]);
    let forced = Config { structured_output: StructuredOutput::Tool, ..config(&server) };
    let model = model_with(&forced);
    for _ in 0..2 {
        assert_eq!(ask(&*model).unwrap().text, GOOD);
    }
    assert!(server.requests().iter().all(|request| way_of(request) == "tool"));
}

#[test]
fn prose_leads_on_to_another_way() {
    let server = Server::start(vec![says("I'd rather talk."), says("Still talking."), says(GOOD)]);
    let model = model_with(&config(&server));
    assert_eq!(ask(&*model).unwrap().text, "I'd rather talk.");
    assert_eq!(ask(&*model).unwrap().text, "Still talking.");
    assert_eq!(ask(&*model).unwrap().text, GOOD);
    let ways: Vec<&str> = server.requests().iter().map(way_of).collect();
    assert_eq!(ways, ["schema", "tool", "plain"]);
}

#[test]
fn thoughts_are_no_part_of_the_answer() {
    let thinking = json!({"type": "thinking", "thinking": "Hm {\"a\": 1}", "signature": "x"});
    let content = json!([thinking, {"type": "text", "text": GOOD}]);
    let (result, _) = ask_once(vec![Behaviour::json(200, message(content, "end_turn"))]);
    assert_eq!(result.unwrap().text, GOOD);
    let (result, _) = ask_once(vec![Behaviour::json(200, message(json!([thinking]), "end_turn"))]);
    assert_garbled(result, "reasoned but gave no answer");
    let (result, _) = ask_once(vec![Behaviour::json(200, message(json!([]), "end_turn"))]);
    assert_garbled(result, "the answer is empty");
}

#[test]
fn a_tool_s_input_may_be_written_as_text() {
    assert_eq!(ask_once(vec![calls_tool(json!(GOOD))]).0.unwrap().text, GOOD);
}

#[test]
fn models_that_refuse_a_temperature_or_must_think_are_asked_without() {
    let server = Server::deciding(|request, _| {
        if request.body.get("temperature").is_some() {
            invalid("`temperature` is deprecated for this model.")
        } else if request.body.get("thinking").is_some() {
            invalid("\"thinking.type.disabled\" is not supported for this model.")
        } else {
            says(GOOD)
        }
    });
    let model = model_with(&Config { temperature: Some(0.0), ..config(&server) });
    assert_eq!(ask(&*model).unwrap().usage.calls, 3);
    assert_eq!(ask(&*model).unwrap().usage.calls, 1);
    assert!(server.requests().iter().all(|request| way_of(request) == "schema"));
}

#[test]
fn a_model_that_must_think_takes_no_forced_tool() {
    let server = Server::deciding(|request, _| match way_of(request) {
        "schema" => invalid("output_config: Extra inputs are not permitted"),
        "tool" if request.body.get("thinking").is_some() => {
            invalid("thinking: disabled is not supported for this model")
        }
        "tool" => invalid("Thinking may not be enabled when tool_choice forces tool use."),
        _ => says(GOOD),
    });
    let answer = ask(&*model_with(&config(&server))).unwrap();
    assert_eq!(answer.usage.calls, 4);
}

#[test]
fn what_may_pass_is_tried_again() {
    for (status, kind) in
        [(529, "overloaded_error"), (500, "api_error"), (504, "timeout_error"), (429, "rate_limit_error")]
    {
        let (result, requests) = ask_once(vec![error(status, kind, "Busy"), says(GOOD)]);
        assert_eq!(result.unwrap().usage.calls, 2, "{kind}");
        assert_eq!(way_of(&requests[1]), "schema", "{kind}");
    }
    let (result, requests) = ask_once(vec![error(529, "overloaded_error", "Overloaded")]);
    assert_unreachable(result, "HTTP 529: Overloaded (the service is overloaded)");
    assert_eq!(requests.len(), 3);
    // A gateway may hand an error on under status 200.
    let (result, _) = ask_once(vec![error(200, "overloaded_error", "Overloaded"), says(GOOD)]);
    assert_eq!(result.unwrap().usage.calls, 2);
}

#[test]
fn retry_after_is_honoured() {
    let busy = |wait| error(429, "rate_limit_error", "Too many tokens").with_header("retry-after", wait);
    let started = Instant::now();
    assert_eq!(ask_once(vec![busy("0.1"), says(GOOD)]).0.unwrap().usage.calls, 2);
    assert!(started.elapsed() >= Duration::from_millis(100));
    let (result, requests) = ask_once(vec![busy("3600")]);
    assert_unreachable(result, "HTTP 429: Too many tokens (no time is left to try again)");
    assert_eq!(requests.len(), 1);
}

#[test]
fn what_will_not_pass_is_told_at_once() {
    for (behaviour, said) in [
        (
            error(401, "authentication_error", &format!("invalid x-api-key {KEY}")),
            "HTTP 401: invalid x-api-key **** (check the key in `ANTHROPIC_API_KEY`)",
        ),
        (error(403, "permission_error", "not yours"), "(check the key in `ANTHROPIC_API_KEY`)"),
        (error(402, "billing_error", "no money"), "HTTP 402: no money (check the account's billing)"),
        (
            error(404, "not_found_error", "model: claude-haiku-5-5"),
            "HTTP 404: model: claude-haiku-5-5 (no such model for this key; name another with `--model`)",
        ),
        (
            invalid("prompt is too long: 213462 tokens > 200000 maximum"),
            "213462 tokens > 200000 maximum (more than the model's context holds",
        ),
        (error(413, "request_too_large", "Request exceeds the maximum size"), "HTTP 413: Request exceeds"),
        (invalid("Your credit balance is too low to access the Anthropic API."), "credit balance"),
    ] {
        let (result, requests) = ask_once(vec![behaviour]);
        assert_refused(result, said);
        assert_eq!(requests.len(), 1, "{said}");
    }
    let details = json!({"error_code": "enforced_spend_limit_reached"});
    let body = json!({"type": "rate_limit_error", "message": "Spend limit", "details": details});
    let capped = Behaviour::json(429, json!({"type": "error", "error": body}));
    let (result, requests) = ask_once(vec![capped]);
    assert_refused(result, "(the account's spend limit is reached)");
    assert_eq!(requests.len(), 1);
}

#[test]
fn a_missing_key_is_told() {
    let server = Server::start(vec![error(401, "authentication_error", "x-api-key header is required")]);
    let model = choose(&config(&server), &Environment::default(), 7).unwrap().model.unwrap();
    assert_refused(ask(&*model), "(set `ANTHROPIC_API_KEY`; for a host");
    assert_eq!(server.requests()[0].header("x-api-key"), None);
    let official = Config { provider: Provider::Anthropic, ..Config::default() };
    let error = choose(&official, &Environment::default(), 7).unwrap_err();
    assert_eq!(error.to_string(), "provider `anthropic` has no key");
}

#[test]
fn refusals_and_truncated_answers_are_told() {
    let mut refusal = message(json!([{"type": "text", "text": GOOD}]), "refusal");
    assert_refused(ask_once(vec![Behaviour::json(200, refusal.clone())]).0, "the model declined to answer");
    refusal["stop_details"] =
        json!({"type": "refusal", "category": "cyber", "explanation": format!("Declined. {KEY}")});
    assert_refused(ask_once(vec![Behaviour::json(200, refusal)]).0, "Declined. ****");
    let half = json!([{"type": "text", "text": "{\"should_rem"}]);
    for (stop_reason, said) in
        [("max_tokens", "cut off after 500 tokens"), ("model_context_window_exceeded", "context ends")]
    {
        let (result, requests) = ask_once(vec![Behaviour::json(200, message(half.clone(), stop_reason))]);
        assert_garbled(result, said);
        assert_eq!(requests.len(), 1);
    }
}

#[test]
fn bodies_that_are_no_message_are_garbled() {
    for body in ["", "certainly!", "[]", "{}", "{\"content\": 3}"] {
        assert_garbled(ask_once(vec![Behaviour::text(200, body)]).0, "the reply is no message");
    }
}

#[test]
fn a_hanging_server_is_left_in_time() {
    for behaviour in [Behaviour::Hang, Behaviour::Trickle] {
        let server = Server::start(vec![behaviour]);
        let started = Instant::now();
        let result = ask(&*model_with(&Config { limits: quick(SHORT), ..config(&server) }));
        assert_unreachable(result, "did not answer within 0.3 s");
        assert!(started.elapsed() < AMPLE / 3);
    }
}
