//! The providers behind HTTP against a server on loopback that behaves well and badly: `openai` here, the
//! others in files of their own.

mod anthropic;
mod ollama;
use std::time::{Duration, Instant};

use crate::server::{Behaviour, Request, Server, completion, quick};
use memories::llm::{
    Answer, Config, Environment, Model, ModelError, Question, RequestLimits, StructuredOutput, choose,
};
use secrecy::SecretString;
use serde_json::{Value, json};

const KEY: &str = "sk-test-0123456789abcdef";
const GOOD: &str = r#"{"should_remember": false}"#;

/// Long enough for any machine; no test waits for it.
const AMPLE: Duration = Duration::from_secs(30);

/// The time limit for a server that never ends.
const SHORT: Duration = Duration::from_millis(300);

fn config(server: &Server) -> Config {
    Config {
        base_url: Some(server.base_url()),
        model: Some("test-model".to_owned()),
        limits: quick(AMPLE),
        ..Config::default()
    }
}

fn model_with(config: &Config) -> Box<dyn Model> {
    let environment = Environment { openai_api_key: Some(SecretString::from(KEY)), ..Environment::default() };
    choose(config, &environment, 7).unwrap().model.unwrap()
}

fn model(server: &Server) -> Box<dyn Model> {
    model_with(&config(server))
}

fn ask(model: &dyn Model) -> Result<Answer, ModelError> {
    let result = model.ask(&Question {
        system: "You judge.",
        examples: &[],
        prompt: "The turn.",
        schema_name: "memory",
        schema: &json!({"type": "object", "properties": {"should_remember": {"type": "boolean"}}}),
    });
    if let Err(error) = &result {
        assert!(!format!("{error} {error:?}").contains(KEY), "{error}");
    }
    result
}

/// Asks with one example.
fn ask_with_example(model: &dyn Model) -> Result<Answer, ModelError> {
    model.ask(&Question {
        system: "You judge.",
        examples: &[("An earlier turn.", "Its answer.")],
        prompt: "The turn.",
        schema_name: "memory",
        schema: &json!({"type": "object"}),
    })
}

#[test]
fn examples_are_turns_of_the_conversation_before_the_prompt() {
    let server = Server::start(vec![Behaviour::says(GOOD)]);
    ask_with_example(&*model(&server)).unwrap();
    let messages = server.requests()[0].body["messages"].clone();
    let message = |role: &str, content: &str| json!({"role": role, "content": content});
    let expected = [
        message("system", "You judge."),
        message("user", "An earlier turn."),
        message("assistant", "Its answer."),
        message("user", "The turn."),
    ];
    assert_eq!(messages, json!(expected));
}

fn ask_once(behaviours: Vec<Behaviour>) -> (Result<Answer, ModelError>, Vec<Request>) {
    let server = Server::start(behaviours);
    let result = ask(&*model(&server));
    (result, server.requests())
}

fn format_of(request: &Request) -> Option<&str> {
    request.body["response_format"]["type"].as_str()
}

fn prompt_of(request: &Request) -> &str {
    request.body["messages"][1]["content"].as_str().unwrap()
}

#[track_caller]
fn assert_refused(result: Result<Answer, ModelError>, said: &str) {
    let error = result.unwrap_err();
    assert!(matches!(error, ModelError::Refused { .. }), "{error:?}");
    assert!(error.to_string().contains(said), "{error}");
}

#[track_caller]
fn assert_unreachable(result: Result<Answer, ModelError>, said: &str) {
    let error = result.unwrap_err();
    assert!(matches!(error, ModelError::Unavailable { .. }), "{error:?}");
    assert!(error.to_string().contains(said), "{error}");
}

#[track_caller]
fn assert_garbled(result: Result<Answer, ModelError>, said: &str) {
    let error = result.unwrap_err();
    assert!(matches!(error, ModelError::Garbled { .. }), "{error:?}");
    assert!(error.to_string().contains(said), "{error}");
}

#[test]
fn a_good_server_is_asked_once() {
    let (result, requests) = ask_once(vec![Behaviour::says(GOOD)]);
    let answer = result.unwrap();
    assert_eq!((answer.text.as_str(), answer.model.as_str()), (GOOD, "served-model"));
    let usage = answer.usage;
    assert_eq!((usage.calls, usage.input_tokens, usage.output_tokens), (1, Some(120), Some(30)));
    assert_eq!(usage.cost, None);

    let [request] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert!(request.header("user-agent").unwrap().starts_with("memories/"));
    let body = &request.body;
    assert_eq!(body["model"], "test-model");
    assert_eq!(body["max_tokens"], 500);
    assert_eq!(body["temperature"], 0.0);
    assert_eq!(body["messages"][0], json!({"role": "system", "content": "You judge."}));
    assert_eq!(body["messages"][1], json!({"role": "user", "content": "The turn."}));
    let schema = &body["response_format"]["json_schema"];
    assert_eq!((&schema["name"], &schema["strict"]), (&json!("memory"), &json!(true)));
    assert_eq!(schema["schema"]["type"], "object");
}

#[test]
fn a_local_server_needs_neither_key_nor_model() {
    let server = Server::start(vec![Behaviour::says(GOOD)]);
    let config =
        Config { model: None, base_url: Some(server.base_url().replace("/v1", "/")), ..config(&server) };
    let model = choose(&config, &Environment::default(), 7).unwrap().model.unwrap();
    assert_eq!(model.name(), "openai/default");
    assert_eq!(ask(&*model).unwrap().model, "served-model");
    let request = &server.requests()[0];
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.body.get("model"), None);
}

#[test]
fn content_in_parts_and_cost_are_read() {
    let mut reply = completion(json!([{"type": "text", "text": GOOD}]), "stop");
    reply["usage"]["cost"] = json!(0.00095);
    let answer = ask_once(vec![Behaviour::json(200, reply)]).0.unwrap();
    assert_eq!(answer.text, GOOD);
    assert_eq!(answer.usage.cost, Some(0.00095));
}

#[test]
fn a_slow_server_is_waited_for() {
    let slow = Behaviour::Slow(Duration::from_millis(200), Box::new(Behaviour::says(GOOD)));
    assert_eq!(ask_once(vec![slow]).0.unwrap().text, GOOD);
}

#[test]
fn babble_is_an_answer_and_later_prompts_hold_the_schema() {
    let server = Server::start(vec![Behaviour::says("I would rather talk."), Behaviour::says(GOOD)]);
    let model = model(&server);
    assert_eq!(ask(&*model).unwrap().text, "I would rather talk.");
    assert_eq!(ask(&*model).unwrap().text, GOOD);
    let requests = server.requests();
    assert_eq!(format_of(&requests[0]), Some("json_schema"));
    assert_eq!(format_of(&requests[1]), Some("json_object"));
    assert!(prompt_of(&requests[1]).contains("\"should_remember\""));
}

#[test]
fn a_truncated_answer_is_said() {
    let reply = completion(json!("{\"should_rem"), "length");
    let (result, requests) = ask_once(vec![Behaviour::json(200, reply)]);
    assert_garbled(result, "cut off after 500 tokens");
    assert_eq!(requests.len(), 1);
}

#[test]
fn an_answer_that_breaks_off_is_asked_for_again() {
    let whole = completion(json!(GOOD), "stop").to_string();
    let (result, requests) = ask_once(vec![Behaviour::Cut(whole.clone()), Behaviour::says(GOOD)]);
    assert_eq!(result.unwrap().usage.calls, 2);
    assert_eq!(requests.len(), 2);
    let (result, requests) = ask_once(vec![Behaviour::Cut(whole)]);
    assert_unreachable(result, "broke off: the answer is not whole");
    assert_eq!(requests.len(), 3);
}

#[test]
fn a_closed_connection_is_tried_again() {
    let (result, _) = ask_once(vec![Behaviour::Close, Behaviour::says(GOOD)]);
    assert_eq!(result.unwrap().text, GOOD);
}

#[test]
fn no_server_is_unreachable() {
    let nobody = Config {
        // Port 1 is reserved and privileged: no other test can have it.
        base_url: Some("http://127.0.0.1:1/v1".to_owned()),
        limits: quick(AMPLE),
        ..Config::default()
    };
    let result = ask(&*model_with(&nobody));
    assert_unreachable(result, "the model at http://127.0.0.1:1/v1 cannot be reached: ");
}

#[test]
fn a_server_that_speaks_no_tls_is_unreachable() {
    let server = Server::start(vec![Behaviour::says(GOOD)]);
    let encrypted =
        Config { base_url: Some(server.base_url().replace("http:", "https:")), ..config(&server) };
    assert_unreachable(ask(&*model_with(&encrypted)), "cannot be reached");
    assert!(server.requests().is_empty());
}

#[test]
fn retry_after_is_honoured() {
    let busy = |wait| Behaviour::error(429, "slow down").with_header("Retry-After", wait);
    let started = Instant::now();
    let (result, requests) = ask_once(vec![busy("0"), busy("0.1"), Behaviour::says(GOOD)]);
    assert_eq!(result.unwrap().usage.calls, 3);
    assert_eq!(requests.len(), 3);
    assert!(started.elapsed() >= Duration::from_millis(100));
    assert!(requests.iter().all(|request| format_of(request) == Some("json_schema")));

    let (result, requests) = ask_once(vec![busy("3600")]);
    assert_unreachable(result, "HTTP 429: slow down (no time is left to try again)");
    assert_eq!(requests.len(), 1);
}

#[test]
fn what_may_pass_is_tried_again_within_bounds() {
    for status in [408, 429, 500, 502, 503, 504, 529] {
        let (result, requests) = ask_once(vec![Behaviour::error(status, "busy"), Behaviour::says(GOOD)]);
        assert_eq!(result.unwrap().usage.calls, 2, "{status}");
        assert_eq!(format_of(&requests[1]), Some("json_schema"), "{status}");
    }
    let (result, requests) = ask_once(vec![Behaviour::error(503, "busy")]);
    assert_unreachable(result, "HTTP 503: busy");
    assert_eq!(requests.len(), 3);
    let (result, requests) = ask_once(vec![Behaviour::error(500, "crash")]);
    assert_unreachable(result, "HTTP 500: crash");
    assert_eq!(requests.len(), 5);
}

#[test]
fn an_exhausted_account_is_not_asked_again() {
    let body = json!({"error": {"message": "no money", "code": "insufficient_quota"}});
    let (result, requests) = ask_once(vec![Behaviour::json(429, body)]);
    assert_refused(result, "no money");
    assert_eq!(requests.len(), 1);
}

/// Answers only requests whose format is `taken`, and fails with `failure` otherwise.
fn choosy(taken: Option<&'static str>, failure: Behaviour) -> Server {
    Server::deciding(
        move |request, _| if format_of(request) == taken { Behaviour::says(GOOD) } else { failure.clone() },
    )
}

#[test]
fn a_server_that_fails_on_schemas_is_asked_for_objects_ever_after() {
    let unnamed = json!({"error": {"message": "Internal Server Error", "type": "internal_server_error", "param": null, "code": null}});
    let named = json!({"error": {"code": 500, "message": "response_format type must be one of \"text\" or \"json_object\", but got: json_schema", "type": "server_error"}});
    for (body, first_calls) in [(unnamed, 3), (named, 2)] {
        let server = choosy(Some("json_object"), Behaviour::json(500, body));
        let model = model(&server);
        assert_eq!(ask(&*model).unwrap().usage.calls, first_calls);
        assert_eq!(ask(&*model).unwrap().usage.calls, 1);
        let requests = server.requests();
        let last = requests.last().unwrap();
        assert_eq!(format_of(last), Some("json_object"));
        assert!(prompt_of(last).starts_with("The turn.\n\nAnswer with one JSON object"));
    }
}

#[test]
fn refused_formats_lead_down_to_plain() {
    let refusals = [
        // LM Studio and vLLM, FastAPI, OpenRouter, a gateway.
        Behaviour::json(400, json!({"error": "'response_format.type' must be 'text'"})),
        Behaviour::json(
            400,
            json!({"object": "error", "message": "", "type": "BadRequestError", "code": 400}),
        ),
        Behaviour::json(
            422,
            json!({"detail": [{"loc": ["body", "response_format"], "msg": "extra fields"}]}),
        ),
        Behaviour::error(404, "No endpoints found that can handle the requested parameters."),
        Behaviour::text(415, ""),
        Behaviour::error(501, "not implemented"),
    ];
    for refusal in refusals {
        let server = choosy(None, refusal.clone());
        let model = model(&server);
        assert_eq!(ask(&*model).unwrap().usage.calls, 3, "{refusal:?}");
        assert_eq!(ask(&*model).unwrap().usage.calls, 1, "{refusal:?}");
        let requests = server.requests();
        assert_eq!(format_of(&requests[1]), Some("json_object"));
        assert!(prompt_of(&requests[3]).contains("\"should_remember\""));
    }
}

#[test]
fn a_fixed_format_is_kept() {
    let server = choosy(None, Behaviour::error(400, "response_format is unknown"));
    for (way, format) in [
        (StructuredOutput::JsonSchema, Some("json_schema")),
        (StructuredOutput::JsonObject, Some("json_object")),
        (StructuredOutput::Plain, None),
    ] {
        let fixed = Config { structured_output: way, ..config(&server) };
        let result = ask(&*model_with(&fixed));
        assert_eq!(result.is_ok(), way == StructuredOutput::Plain);
        assert_eq!(format_of(server.requests().last().unwrap()), format);
    }
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn causes_that_no_format_avoids_are_told_at_once() {
    for (status, said) in [
        (400, "This model's maximum context length is 8192 tokens"),
        (404, "The model `x` does not exist"),
        (402, "Insufficient credits"),
        (413, "too large"),
    ] {
        let (result, requests) = ask_once(vec![Behaviour::error(status, said)]);
        assert_refused(result, said);
        assert_eq!(requests.len(), 1, "{said}");
    }
}

#[test]
fn other_parameters_of_reasoning_models_are_found_and_kept() {
    let server = Server::deciding(|request, _| {
        if request.body.get("max_tokens").is_some() {
            Behaviour::json(
                400,
                json!({"error": {
                    "message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                    "type": "invalid_request_error", "param": "max_tokens", "code": "unsupported_parameter",
                }}),
            )
        } else if request.body.get("temperature").is_some() {
            Behaviour::json(
                400,
                json!({"error": {
                    "message": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
                    "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value",
                }}),
            )
        } else {
            Behaviour::says(GOOD)
        }
    });
    let model = model(&server);
    assert_eq!(ask(&*model).unwrap().usage.calls, 3);
    assert_eq!(ask(&*model).unwrap().usage.calls, 1);
    let requests = server.requests();
    let last = &requests[3];
    assert_eq!(last.body["max_completion_tokens"], 500);
    assert_eq!(format_of(last), Some("json_schema"));
}

#[test]
fn servers_without_end_are_left_in_time() {
    for behaviour in [Behaviour::Hang, Behaviour::Trickle, Behaviour::TrickleHead] {
        let server = Server::start(vec![behaviour.clone()]);
        let short = Config { limits: quick(SHORT), ..config(&server) };
        let started = Instant::now();
        let result = ask(&*model_with(&short));
        assert_unreachable(result, "did not answer within 0.3 s");
        assert!(started.elapsed() < AMPLE / 3, "{behaviour:?}");
        assert!(server.requests().len() <= 1, "{behaviour:?}");
    }
}

#[test]
fn retries_end_with_the_time_limit() {
    let server = Server::start(vec![Behaviour::error(503, "busy")]);
    let patient = Config {
        limits: RequestLimits {
            timeout: SHORT,
            max_retries: u32::MAX,
            retry_delay: Duration::from_millis(20),
            ..RequestLimits::new(SHORT)
        },
        ..config(&server)
    };
    let started = Instant::now();
    assert_unreachable(ask(&*model_with(&patient)), "answer");
    assert!(started.elapsed() < AMPLE / 3);
}

#[test]
fn a_wrong_key_is_named_and_never_shown() {
    for status in [401, 403] {
        let said = format!("Incorrect API key provided: {KEY}.");
        let (result, requests) = ask_once(vec![Behaviour::error(status, &said)]);
        assert_refused(result, "Incorrect API key provided: ****. (check the key in `OPENAI_API_KEY`)");
        assert_eq!(requests.len(), 1);
    }
    let server = Server::start(vec![Behaviour::error(401, "who are you")]);
    let model = choose(&config(&server), &Environment::default(), 7).unwrap().model.unwrap();
    assert_refused(ask(&*model), "(set `OPENAI_API_KEY`; for a host");
}

#[test]
fn the_key_is_in_no_error_whatever_the_server_sends() {
    for status in [200, 302, 400, 404, 429, 500] {
        for body in
            [KEY.to_owned(), format!("<title>{KEY}</title>"), json!({"error": {"message": KEY}}).to_string()]
        {
            let reply = Behaviour::text(status, &body).with_header("Location", &format!("http://h/{KEY}"));
            ask_once(vec![reply]).0.unwrap_err();
        }
    }
    let mut refusal = completion(Value::Null, "stop");
    refusal["choices"][0]["message"]["refusal"] = json!(format!("not with {KEY}"));
    assert_refused(ask_once(vec![Behaviour::json(200, refusal)]).0, "not with ****");
}

#[test]
fn redirects_are_not_followed() {
    let other = Server::start(vec![Behaviour::says(GOOD)]);
    let moved = Behaviour::text(307, "").with_header("Location", &other.base_url());
    assert_refused(ask_once(vec![moved]).0, "HTTP 307: it redirects to `http://127.0.0.1:");
    assert!(other.requests().is_empty());
}

#[test]
fn refusals_and_filters_are_told() {
    let mut refusal = completion(Value::Null, "stop");
    refusal["choices"][0]["message"]["refusal"] = json!("I can't help with that.");
    assert_refused(ask_once(vec![Behaviour::json(200, refusal)]).0, "I can't help with that.");
    let filtered = completion(json!(""), "content_filter");
    assert_refused(ask_once(vec![Behaviour::json(200, filtered)]).0, "content filter");
}

#[test]
fn silence_is_garbled() {
    for content in [Value::Null, json!(""), json!(" \n"), json!([])] {
        let reply = Behaviour::json(200, completion(content, "stop"));
        assert_garbled(ask_once(vec![reply]).0, "the answer is empty");
    }
    let mut reply = completion(Value::Null, "stop");
    reply["choices"][0]["message"]["reasoning_content"] = json!("Let me think.");
    assert_garbled(ask_once(vec![Behaviour::json(200, reply)]).0, "reasoned but gave no answer");
}

#[test]
fn errors_under_status_200_count_as_errors() {
    let error = |code: u16| json!({"error": {"code": code, "message": "upstream says no"}});
    let (result, requests) = ask_once(vec![Behaviour::json(200, error(502)), Behaviour::says(GOOD)]);
    assert_eq!(result.unwrap().usage.calls, 2);
    assert_eq!(requests.len(), 2);
    assert_refused(ask_once(vec![Behaviour::json(200, error(402))]).0, "HTTP 402: upstream says no");
    let mut reply = completion(json!(""), "error");
    reply["choices"][0]["error"] = error(503)["error"].clone();
    assert_unreachable(ask_once(vec![Behaviour::json(200, reply)]).0, "HTTP 503: upstream says no");
}

#[test]
fn bodies_that_are_no_completion_are_garbled() {
    for body in ["", "certainly!", "[]", "{}", "{\"choices\": []}", "{\"choices\": 3}", "<html></html>"] {
        let (result, requests) = ask_once(vec![Behaviour::text(200, body)]);
        assert_garbled(result, "no chat completion");
        assert_eq!(requests.len(), 1);
    }
    let page = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>";
    assert_unreachable(ask_once(vec![Behaviour::text(502, page)]).0, "HTTP 502: 502 Bad Gateway");
}

#[test]
fn a_huge_body_is_not_read_to_its_end() {
    let (result, requests) = ask_once(vec![Behaviour::text(200, &"x".repeat(5 * 1024 * 1024))]);
    assert_garbled(result, "longer than 4 MiB");
    assert_eq!(requests.len(), 1);
}

#[test]
fn nothing_is_opened_before_the_first_question() {
    let server = Server::start(vec![Behaviour::says(GOOD)]);
    let model = model(&server);
    assert_eq!(model.name(), "openai/test-model");
    assert!(server.requests().is_empty());
}
