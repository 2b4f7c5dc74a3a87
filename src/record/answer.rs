//! Reads a model's answer about a turn, and checks it.
//!
//! The text of an answer enters; a `Proposal` leaves, or the reason why there is none. Missing fields
//! get defaults, excess is dropped with a warning, and nonsense that fits the schema is refused: a title
//! that is a name of the schema, a text that repeats the prompt or has nothing to do with the turn.

use serde_json::{Map, Value};

use crate::llm::answer::{flag_of, parse_object, text_of, text_problem, title_problem};
use crate::record::context::TurnContext;
use crate::record::prompt::{MAX_TEXT_CHARS, MAX_TITLE_CHARS, MAX_TITLES, SYSTEM, schema};
use crate::record::proposal::{Proposal, Side};
use crate::search::shared_words::SharedWords;
use crate::types::text::{cut_at_sentence, cut_at_word, fold_spaces, truncate};
use crate::types::{Category, Memory, Span, Status, importance_of_program};

/// Longest error of a server that is shown, in characters.
const ERROR_CHARS: usize = 200;

/// Evidence that must support an answer.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// Texts of the turn and of the memories that the model was shown.
    pub texts: Vec<String>,
    /// From the earliest turn that the model was shown to the turn itself.
    pub turns: Option<Span>,
}

impl Evidence {
    pub(super) fn of(context: &TurnContext) -> Evidence {
        let TurnContext { turn, before, after, memories, history, number, .. } = context;
        let mut texts = vec![&turn.action, &turn.response, &before.name, &after.name];
        texts.extend(&turn.reasoning);
        texts.extend(turn.inventory_before.iter().chain(&turn.inventory_after).flatten());
        for earlier in history {
            texts.extend([&earlier.action, &earlier.response]);
            texts.extend(&earlier.reasoning);
        }
        for memory in memories.before.iter().chain(&memories.after) {
            texts.extend([&memory.title, &memory.text]);
        }
        let earliest = history.iter().filter_map(|earlier| earlier.turn).filter(|shown| shown < number).min();
        Evidence {
            texts: texts.into_iter().cloned().collect(),
            turns: Some(Span { first: earliest.unwrap_or(*number), last: *number }),
        }
    }

    /// True if a text says something of what the model was shown.
    fn bears_out(&self, text: &str) -> bool {
        SharedWords::of(text, self.texts.iter().map(String::as_str)).shared > 0
    }
}

/// Reads an answer.
///
/// # Errors
///
/// Why it cannot be read: it holds no JSON object, no field of the schema, or wants a memory without a title or a
/// text. Other nonsense that fits the schema is not an error but a proposal without a memory.
pub fn read_answer(text: &str, evidence: &Evidence) -> Result<Proposal, String> {
    let answer = parse_object(text)?;
    if !has_known_field(&answer) {
        return Err(no_known_field(&answer));
    }
    let mut warnings = Vec::new();
    let mut titles = |names: [&str; 2]| read_titles(&answer, names, &mut warnings);
    let supersedes = titles(["supersedes", "supersedes_memory_titles"]);
    let invalidates = titles(["invalidates", "invalidate_memory_titles"]);
    let mut proposal = Proposal {
        memories: Vec::new(),
        supersedes,
        invalidates,
        invalidation_reason: text_of(&answer, "invalidation_reason"),
        effect: text_of(&answer, "effect").parse().ok(),
        reasoning: text_of(&answer, "reasoning"),
        warnings,
    };
    let title = text_of(&answer, "memory_title");
    let memory_text = text_of(&answer, "memory_text");
    let wanted = answer.get("should_remember").and_then(flag_of);
    if !wanted.unwrap_or(!title.is_empty() || !memory_text.is_empty()) {
        return Ok(proposal);
    }
    // Often the answer was cut off.
    if title.is_empty() || memory_text.is_empty() {
        let missing = if title.is_empty() { "memory_title" } else { "memory_text" };
        return Err(format!("it has no `{missing}`"));
    }
    if let Some(reason) = title_problem(&title).or_else(|| text_problem(&memory_text, SYSTEM)) {
        proposal.warnings.push(format!("the model's memory is refused: {reason}"));
        proposal.invalidates.clear();
        return Ok(proposal);
    }
    if !evidence.bears_out(&memory_text) {
        let reason = "its text has no word of the turn or of a memory shown";
        proposal.warnings.push(format!("the model's answer is not believed: {reason}"));
        proposal.invalidates.clear();
        return Ok(proposal);
    }
    let (title, text) = within_bounds(title, memory_text, &mut proposal.warnings);
    let (mut memory, side) = read_memory(&answer, title, text, &mut proposal.warnings);
    memory.provenance.turns = read_turns(answer.get("first_turn"), evidence.turns, &mut proposal.warnings);
    proposal.memories.push((memory, side));
    Ok(proposal)
}

/// True if an object has a field of the schema, under its present or its older name.
fn has_known_field(answer: &Map<String, Value>) -> bool {
    let schema = schema();
    let old = ["supersedes_memory_titles", "invalidate_memory_titles"];
    answer.keys().any(|key| old.contains(&key.as_str()) || schema["properties"].get(key).is_some())
}

/// The problem of an object that is no answer, such as the error of a gateway, with what that says.
fn no_known_field(answer: &Map<String, Value>) -> String {
    let error = answer.get("error").map(|error| error.get("message").unwrap_or(error));
    match error.and_then(Value::as_str) {
        Some(error) => format!("it is an error: {}", truncate(&fold_spaces(error), ERROR_CHARS)),
        None => "it has no field of the schema".to_owned(),
    }
}

/// Title and text, cut where they are longer than the schema allows.
fn within_bounds(title: String, text: String, warnings: &mut Vec<String>) -> (String, String) {
    let (title_chars, text_chars) = (title.chars().count(), text.chars().count());
    if title_chars > MAX_TITLE_CHARS {
        warnings.push(format!("the model's title of {title_chars} characters is cut at a word"));
    }
    if text_chars > MAX_TEXT_CHARS {
        warnings.push(format!("the model's text of {text_chars} characters is cut at a sentence"));
    }
    (cut_at_word(&title, MAX_TITLE_CHARS).to_owned(), cut_at_sentence(&text, MAX_TEXT_CHARS))
}

/// The turns of a memory that begins before the turn itself.
fn read_turns(first: Option<&Value>, shown: Option<Span>, warnings: &mut Vec<String>) -> Option<Span> {
    let said = match first? {
        Value::String(text) => text.trim().trim_start_matches(['T', 't']).parse().ok()?,
        value => value.as_f64().filter(|number| number.is_finite())?,
    };
    let Span { first, last } = shown?;
    // Exact for the numbers of turns: they are far below 2^53.
    let span = Span { first: (said as u64).clamp(first, last), last };
    if said != span.first as f64 {
        warnings.push(format!(
            "the model's first turn {said} was not shown: the memory is of {}",
            span.marked('T')
        ));
    }
    Some(span)
}

fn read_memory(
    answer: &Map<String, Value>,
    title: String,
    text: String,
    warnings: &mut Vec<String>,
) -> (Memory, Side) {
    let category = Category::new(&text_of(answer, "category")).unwrap_or_else(Category::note);
    let mut memory = Memory::new(category, title, text);
    let status = text_of(answer, "status").parse().unwrap_or_default();
    memory.status = if status == Status::Superseded { Status::Active } else { status };
    memory.persistence = text_of(answer, "persistence").parse().unwrap_or_default();
    let importance = answer.get("importance");
    memory.provenance.importance = importance.and_then(|value| importance_of_program(value, warnings));
    let side = if text_of(answer, "place").to_lowercase() == "after" { Side::After } else { Side::Before };
    (memory, side)
}

fn read_titles(answer: &Map<String, Value>, names: [&str; 2], warnings: &mut Vec<String>) -> Vec<String> {
    let value = names.iter().find_map(|name| answer.get(*name));
    let mut titles: Vec<String> = match value {
        Some(Value::Array(items)) => {
            items.iter().filter_map(Value::as_str).map(|title| title.trim().to_owned()).collect()
        }
        Some(Value::String(title)) => vec![title.trim().to_owned()],
        _ => Vec::new(),
    };
    titles.retain(|title| !title.is_empty());
    titles.dedup();
    if titles.len() > MAX_TITLES {
        warnings.push(format!("{} titles in `{}`, {MAX_TITLES} are used", titles.len(), names[0]));
        titles.truncate(MAX_TITLES);
    }
    titles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::effect::Effect;

    /// Shown were turns 40 to 45, and words of all answers below but one.
    fn evidence() -> Evidence {
        let texts = ["open window", "All obey the lamp.", "The door is shut.", "A troll bites."];
        let texts = texts.map(str::to_owned).to_vec();
        Evidence { texts, turns: Some(Span { first: 40, last: 45 }) }
    }

    fn read(answer: &str) -> Result<Proposal, String> {
        read_answer(answer, &evidence())
    }

    fn memory(answer: &str) -> Memory {
        read(answer).expect("read").memories.remove(0).0
    }

    fn refused(answer: &str) -> String {
        let proposal = read(answer).expect("read");
        assert_eq!(proposal.memories, []);
        proposal.warnings.join("; ")
    }

    #[test]
    fn missing_parts_get_defaults() {
        let memory = memory(r#"{"memory_title": "Open the window", "memory_text": "It opens with force."}"#);
        assert_eq!(
            (memory.category.as_str(), memory.status, memory.importance()),
            ("NOTE", Status::Active, 500)
        );
    }

    #[test]
    fn a_decline_may_still_invalidate() {
        let proposal = read(
            r#"```json
            {"should_remember": false, "invalidate_memory_titles": "[Troll is kind]", "invalidation_reason": "It bites."}
            ```"#
        )
        .expect("read");
        assert_eq!((proposal.memories, proposal.invalidates), (vec![], vec!["[Troll is kind]".to_owned()]));
    }

    #[test]
    fn an_answer_may_state_the_effect() {
        let effect = |stated: &str| {
            let answer = format!(r#"{{"should_remember": false, "effect": "{stated}"}}"#);
            read(&answer).expect("read").effect
        };
        assert_eq!(effect("blocked"), Some(Effect::Blocked));
        assert_eq!((effect("unstated"), effect("glorious")), (None, None));
    }

    #[test]
    fn schema_valid_rubbish_is_refused() {
        let answer = |title: &str, text: &str| {
            serde_json::json!({"should_remember": true, "memory_title": title, "memory_text": text})
                .to_string()
        };
        assert!(refused(&answer("SHOULD_REMEMBER", "The door is open.")).contains("name of the schema"));
        assert!(refused(&answer("!!", "The door is open.")).contains("no title"));
        assert!(refused(&answer("Door", "…")).contains("no text"));
        let echo = &SYSTEM[140..320];
        assert!(refused(&answer("What to do", echo)).contains("repeats"));
        assert!(
            read(&answer("Take lamp", "The lamp lights dark places.")).is_ok_and(|p| !p.memories.is_empty())
        );
    }

    #[test]
    fn an_object_that_is_no_answer_fails() {
        let problem = |answer: &str| read(answer).expect_err("it is no answer");
        assert_eq!(problem(r#"{"error": {"message": "rate\n limited"}}"#), "it is an error: rate limited");
        assert_eq!(problem(r#"{"error": "busy"}"#), "it is an error: busy");
        for foreign in
            ["{}", r#"{"title": "Lamp", "text": "It lights."}"#, r#"[{"x": 1}]"#, "\u{1}{\u{2}: 9}"]
        {
            assert!(read(foreign).is_err(), "{foreign}");
        }
        assert_eq!(problem(r#"{"should_remember": true, "category": "NOTE"}"#), "it has no `memory_title`");
        let cut = r#"{"should_remember": true, "memory_title": "Open window", "memory_text": "It ope"#;
        assert_eq!(problem(cut), "it has no `memory_text`");
        assert_eq!(problem(r#"{"memory_title": "Open window"}"#), "it has no `memory_text`");
        assert_eq!(problem(r#"{"should_remember": "yes", "memory_text": " "}"#), "it has no `memory_title`");
        assert!(read(r#"{"should_remember": false}"#).is_ok());
        assert!(read(r#"{"reasoning": "nothing new"}"#).is_ok());
    }

    #[test]
    fn too_many_titles_are_cut() {
        let proposal = read(r#"{"should_remember": false, "supersedes": ["a", "b", "c", "d"]}"#);
        assert_eq!(proposal.expect("read").supersedes.len(), 3);
    }

    #[test]
    fn a_text_without_a_word_of_the_turn_is_not_believed() {
        let answer = r#"{"memory_title": "Wise words", "memory_text": "Patience pays off.", "invalidates": ["Troll is kind"]}"#;
        assert!(refused(answer).contains("not believed"), "{}", refused(answer));
        assert_eq!(read(answer).expect("read").invalidates, [""; 0]);
        assert!(refused(r#"{"memory_title": "TURN", "memory_text": "TURN"}"#).contains("refused"));
    }

    #[test]
    fn what_is_too_long_is_cut_and_said() {
        let (title, text) = ("window ".repeat(20), "Open the window. ".repeat(60));
        let answer = serde_json::json!({"memory_title": title, "memory_text": text}).to_string();
        let mut proposal = read(&answer).expect("read");
        let (memory, _) = proposal.memories.remove(0);
        assert_eq!(memory.title, "window ".repeat(11).trim());
        assert_eq!(memory.text, "Open the window. ".repeat(23).trim());
        assert_eq!(
            proposal.warnings,
            [
                "the model's title of 139 characters is cut at a word",
                "the model's text of 1019 characters is cut at a sentence"
            ]
        );
    }

    #[test]
    fn a_range_of_turns_stays_within_those_shown() {
        let turns = |first: Value| {
            let answer = serde_json::json!({"memory_title": "Open window", "memory_text": "It opens with force.", "first_turn": first});
            let proposal = read(&answer.to_string()).expect("read");
            (proposal.memories[0].0.provenance.turns, proposal.warnings.len())
        };
        let span = |first| Some(Span { first, last: 45 });
        assert_eq!(turns(43.into()), (span(43), 0));
        assert_eq!(turns("T43".into()), (span(43), 0));
        assert_eq!(turns(45.into()), (span(45), 0));
        for (said, clamped) in [(3, 40), (-7, 40), (46, 45)] {
            assert_eq!(turns(said.into()), (span(clamped), 1), "{said}");
        }
        assert_eq!(turns(Value::Null), (None, 0));
    }
}
