//! Hidden memories are not there for an agent: no call, resource or prompt says anything of another agent's section.

use serde_json::{Value, json};

use super::client::{Client, World};

/// Stand in the section of another agent only: its id, its name, a title, texts, a tag.
const SECRETS: [&str; 7] = [
    "casey-x9q",
    "Cassiopeia",
    "Bakery vault",
    "code is 8899",
    "Ovens of quartz",
    "#vanilla7",
    "sourdoughstarter",
];

/// Calls in all.
const CALLS: usize = 2000;

/// A story with another agent whose memories and shared ones lead to each other.
fn story() -> String {
    let base = include_str!("story.md");
    let linked = base.replace(
        "Brass lantern is takeable and provides light source.",
        "Brass lantern is takeable and provides light source.\n\
         See also: [[Agent casey-x9q › Bakery vault]], [[Location 23 › Trap door shuts]], [[Agent casey-x9q: Cassiopeia]]",
    );
    let linked = linked.replace(
        "Jordan is a dreamer who loves food.",
        "Jordan is a dreamer who loves food.\nSee also: [[Agent casey-x9q › Ovens of quartz]]",
    );
    let linked = linked.replace(
        "Alex's apartment, the living room.",
        "Alex's apartment, the living room.\nSee also: [[Agent casey-x9q › Bakery vault]]\nContext: see [[Agent casey-x9q › Bakery vault]]",
    );
    assert_eq!(linked.matches("casey-x9q").count(), 5);
    format!(
        "{linked}\n## Agent casey-x9q: Cassiopeia\n\n### Memories\n\n\
         **[KNOWLEDGE - CORE] Bakery vault** *(Ep1, T3, importance 1000, #vanilla7, #about:alex)*\n\
         The code is 8899 for the safe of the living room.\nSee also: [[Location 23 › Acquire brass lantern]]\n\n\
         **[DANGER - CORE] Ovens of quartz** *(Ep2, T4, importance 1000, #about:jordan)*\n\
         Never feed the sourdoughstarter to the dreamer Jordan.\n\n### Tried\n\n- `open vault`: sourdoughstarter\n\n---\n"
    )
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides as u64) as usize
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.roll(all.len())]
    }
}

/// Texts of arguments: words of shared memories, and every spelling of what must stay hidden.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "23",
        "Living Room",
        "self",
        "alex",
        "agent:alex",
        "world",
        "scene",
        "dialogue",
        "game",
        "jordan",
        "agent:jordan",
        "npc:jordan",
        "Acquire brass lantern",
        "Location 23 › Acquire brass lantern",
        "lantern",
        "Trap door shuts",
        "who holds the code?",
        "open vault",
        "safe",
        "food",
        "*",
        "",
        "Where",
        "Scene › Where",
        "Agent alex › Jordan",
        "oven",
        "vault",
        "bakery",
        "cas",
        "5-9",
    ]
    .map(str::to_owned)
    .into();
    for secret in ["casey-x9q", "Cassiopeia", "Bakery vault", "Ovens of quartz", "vanilla7"] {
        for form in [
            "{}",
            "agent:{}",
            "Agent {}",
            "AGENT:{}",
            " agent : {} ",
            "npc:{}",
            "[[Agent {}]]",
            "{} ",
            "the {}",
            "Agent casey-x9q › {}",
            "[[Agent casey-x9q › {}]]",
            "agent:casey-x9q › {}",
            "about {}",
            "#{}",
            "Agent {}: x",
        ] {
            texts.push(form.replace("{}", secret));
            texts.push(form.replace("{}", &secret.to_uppercase()));
            texts.push(form.replace("{}", &secret[..secret.len() - 1]));
        }
    }
    texts
}

/// Arguments for a schema: required ones always, others half of the time, and each of any kind.
fn arguments(schema: &Value, texts: &[String], dice: &mut Dice) -> Value {
    let mut arguments = json!({});
    let none = serde_json::Map::new();
    for (name, property) in schema["properties"].as_object().unwrap_or(&none) {
        let required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
        if !required && dice.roll(2) == 0 {
            continue;
        }
        let kind = property["type"].as_str().unwrap_or("string");
        arguments[name] = match kind {
            "integer" | "number" => json!(dice.roll(30)),
            "boolean" => json!(dice.roll(2) == 0),
            "array" => json!([dice.one_of(texts)]),
            _ => json!(dice.one_of(texts)),
        };
    }
    // No model is asked.
    if arguments.get("answer").is_some() {
        arguments["answer"] = json!(false);
    }
    // The place of the last turn is where later calls begin.
    if arguments.get("response").is_some() {
        arguments["location"] = json!("23");
        arguments["location_after"] = json!("23");
    }
    arguments
}

/// The secrets in an answer that the call itself did not name.
fn leaks(answer: &str, call: &str) -> Vec<&'static str> {
    let (answer, call) = (answer.to_lowercase(), call.to_lowercase());
    let said = |secret: &&str| answer.contains(&secret.to_lowercase());
    // A refusal repeats what was named, in whole or but for its last letter.
    let named = |secret: &&str| {
        let secret = secret.trim_start_matches('#').to_lowercase();
        call.contains(&secret[..secret.len() - 1])
    };
    SECRETS.iter().copied().filter(|secret| said(secret) && !named(secret)).collect()
}

/// A request and its parameters.
type Request = (&'static str, Value);

/// All kinds of requests, each as often as the others.
fn requests(client: &mut Client, dice: &mut Dice) -> Vec<Request> {
    let texts = texts();
    let tools = client.tools();
    let prompts = client.ask("prompts/list", json!({})).unwrap();
    let prompts = prompts["prompts"].as_array().unwrap().clone();
    let mut requests: Vec<Request> = Vec::new();
    while requests.len() < CALLS {
        for tool in &tools {
            let arguments = arguments(&tool["inputSchema"], &texts, dice);
            requests.push(("tools/call", json!({"name": tool["name"], "arguments": arguments})));
        }
        for prompt in &prompts {
            let mut arguments = json!({});
            for argument in prompt["arguments"].as_array().into_iter().flatten() {
                arguments[argument["name"].as_str().unwrap()] = json!(dice.one_of(&texts));
            }
            requests.push(("prompts/get", json!({"name": prompt["name"], "arguments": arguments})));
        }
        for kind in ["location", "agent", "npc", "x"] {
            let uri = format!("memories://{kind}/{}", dice.one_of(&texts));
            requests.push(("resources/read", json!({"uri": uri})));
        }
        for uri in ["location/23", "scene", "agent/alex", "dialogue", "world", "agent/casey-x9q"] {
            requests.push(("resources/read", json!({"uri": format!("memories://{uri}")})));
        }
        requests.push(("resources/list", json!({})));
    }
    requests
}

/// The part of a file that is another agent's section.
fn hidden_part(text: &str) -> &str {
    let start = text.find("## Agent casey-x9q").unwrap();
    let end = text[start..].find("\n---").unwrap();
    &text[start..start + end]
}

#[test]
fn no_answer_says_anything_of_another_agents_section() {
    let world = World::new(&story());
    let mut client = world.serve(&["--agent", "alex"]);
    let mut dice = Dice(14);
    let (mut answered, mut links, mut written) = (0, 0, 0);
    for (method, params) in requests(&mut client, &mut dice) {
        let call = params.to_string();
        let answer = match client.ask(method, params) {
            Ok(answer) | Err(answer) => answer.to_string(),
        };
        assert_eq!(leaks(&answer, &call), Vec::<&str>::new(), "{method} {call}\n{answer}");
        answered += 1;
        // A memory that the agent itself stored with these words is no leak in the next answer.
        let text = world.text();
        if text != story() {
            assert_eq!(
                hidden_part(&text),
                hidden_part(&story()),
                "{method} {call} wrote what it may not see"
            );
            world.write("Memories.md", &story());
            // Nor in the one after it, whose facts are completed from the last turn of the journal.
            let _ = std::fs::remove_file(world.path().join(".memories/Memories.md/journal.jsonl"));
            written += 1;
        }
        links += usize::from(answer.contains("Trap door shuts"));
    }
    assert!(answered >= CALLS && links > 50, "{answered} calls, {links} with what may be seen");
    assert!(written > 30, "{written} calls wrote something");
}

#[test]
fn links_from_shared_memories_lead_to_no_other_agent() {
    let world = World::new(&story());
    let mut client = world.serve(&["--agent", "alex"]);
    let place = client.values("get_location_memories", json!({"location": "23"}));
    assert_eq!(place["linked"], json!([]));
    let section = client.ask("resources/read", json!({"uri": "memories://location/23"})).unwrap();
    let section = section["contents"][0]["text"].as_str().unwrap();
    assert!(section.contains("See also: [[Location 23 › Trap door shuts]]\n"), "{section}");
    let scene = client.ask("resources/read", json!({"uri": "memories://scene"})).unwrap();
    let scene = scene["contents"][0]["text"].as_str().unwrap();
    assert!(!scene.contains("See also") && scene.contains("Context: see"), "{scene}");
    let status = client.values("memory_status", json!({}));
    assert_eq!((&status["agents"], &status["memories"]), (&json!(["alex"]), &json!(8)));

    // The other agent's own server follows them.
    let mut client = world.serve(&["--agent", "casey-x9q"]);
    let place = client.values("get_location_memories", json!({"location": "23"}));
    assert_eq!(place["linked"][0]["title"], "Bakery vault");
}

#[test]
fn an_association_tells_no_other_agent_of_a_memory_of_ones_own() {
    let world = World::new(&story());
    let mut casey = world.serve(&["--agent", "casey-x9q"]);
    let own = json!({"title": "Bakery vault keys", "content": "The keys hang by the sourdoughstarter."});
    let shared = json!({"title": "Warm rug", "content": "The rug is warm.", "scope": "location:23"});
    for memory in [own, shared] {
        assert_eq!(casey.values("form_memory", memory)["outcome"], "stored");
    }
    let linked = json!({"a": "Bakery vault keys", "b": "Location 23 › Warm rug"});
    assert_eq!(casey.values("associate_memories", linked)["outcome"], "linked");
    let place = casey.values("get_location_memories", json!({"location": "23"}));
    assert!(place["linked"].to_string().contains("sourdoughstarter"), "{place}");

    let mut alex = world.serve(&["--agent", "alex"]);
    for call in [json!("23"), json!("Living Room")] {
        let answer = alex.call("get_location_memories", json!({"location": call})).to_string();
        assert_eq!(leaks(&answer, ""), Vec::<&str>::new(), "{answer}");
    }
    let section = alex.ask("resources/read", json!({"uri": "memories://location/23"})).unwrap().to_string();
    assert_eq!(leaks(&section, ""), Vec::<&str>::new(), "{section}");
    // It makes no difference if the other agent has such a memory, and nothing is written there.
    let before = hidden_part(&world.text()).to_owned();
    for title in ["Bakery vault", "Bakery safe"] {
        let b = format!("Agent casey-x9q › {title}");
        let refused = alex.refuses("associate_memories", json!({"a": "How I speak", "b": b}));
        assert!(
            refused.starts_with("no live memory is called") && !refused.contains("did you mean `B"),
            "{refused}"
        );
    }
    assert_eq!(hidden_part(&world.text()), before);
}
