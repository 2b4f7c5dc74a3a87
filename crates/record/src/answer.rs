//! Reads a model's answer about a turn, and checks it.
//!
//! The text of an answer enters; a `Proposal` leaves, or the reason why there is none. What can mean only one thing is
//! taken: the schema's form, the flat form with `should_remember`, lists, an object in `memory`. Missing fields get
//! defaults, excess is dropped with a warning, and nonsense that fits the schema is refused: a title that is a name of
//! the schema, a text that repeats the prompt. A memory that nothing bears out is kept, and marked.

use serde_json::Value;

use crate::answer_fields::{
    Fields, SUPERSEDES, WRONG, first_text, first_value, keep_first, superseded_by, wrong_of,
};
use crate::prompt::{MAX_MEMORIES, MAX_TEXT_CHARS, MAX_TITLE_CHARS, SYSTEM};
use crate::proposal::{Named, Proposal, Proposed, Side, Wrong};
use crate::shown::Shown;
use memories_document::types::text::{cut_at_sentence, cut_at_word, fold_spaces, truncate};
use memories_document::types::{Category, ImportanceScale, Memory, Span, Status, importance_of_program};
use memories_llm::answer::{flag_of, parse_objects, text_of, text_problem, title_problem};
use memories_search::grounding::Grounding;

/// Longest error of a server that is shown, in characters.
const ERROR_CHARS: usize = 200;

/// Names of the field that holds a memory's title.
const TITLE: [&str; 2] = ["title", "memory_title"];

/// Names of the field that holds its text.
const TEXT: [&str; 4] = ["text", "memory_text", "content", "memory"];

/// Names of the list of memories.
const MEMORIES: [&str; 2] = ["memories", "memory"];

/// The other fields of an answer.
const FIELDS: [&str; 4] = ["reasoning", "effect", "should_remember", "invalidation_reason"];

/// Reads an answer.
///
/// # Errors
///
/// Why it cannot be read: it holds no JSON object, no field of the schema, or wants a memory without a text. Other
/// nonsense that fits the schema is not an error but a proposal without that memory.
pub fn read_answer(text: &str, shown: &Shown) -> Result<Proposal, String> {
    let objects = parse_objects(text)?;
    let (answers, foreign): (Vec<&Fields>, Vec<&Fields>) =
        objects.iter().partition(|answer| has_known_field(answer));
    if answers.is_empty() {
        return Err(no_known_field(foreign[0]));
    }
    let effect = answers.iter().find_map(|answer| text_of(answer, "effect").parse().ok());
    let reasons = answers.iter().map(|answer| text_of(answer, "reasoning"));
    let reasoning = reasons.filter(|reason| !reason.is_empty()).collect::<Vec<_>>().join(" ");
    let mut reader =
        Reader { shown, proposal: Proposal { effect, reasoning, ..Proposal::default() }, refused: 0 };
    for answer in &answers {
        reader.read(answer)?;
    }
    if !foreign.is_empty() {
        reader
            .proposal
            .warnings
            .push("an object of the answer without a field of the schema is left out".to_owned());
    }
    Ok(reader.finish())
}

/// True if an object has a field of the schema, under its present or an older name.
fn has_known_field(answer: &Fields) -> bool {
    let known = [&TITLE[..], &TEXT, &SUPERSEDES, &WRONG, &MEMORIES, &FIELDS];
    answer.keys().any(|key| known.iter().any(|names| names.contains(&key.as_str())))
}

/// The problem of an object that is no answer, such as the error of a gateway, with what that says.
fn no_known_field(answer: &Fields) -> String {
    let error = answer.get("error").map(|error| error.get("message").unwrap_or(error));
    match error.and_then(Value::as_str) {
        Some(error) => format!("it is an error: {}", truncate(&fold_spaces(error), ERROR_CHARS)),
        None => "it has no field of the schema".to_owned(),
    }
}

/// Reads the objects of one answer, one after the other.
struct Reader<'a> {
    shown: &'a Shown,
    proposal: Proposal,
    /// Number of memories that are nonsense.
    refused: usize,
}

impl Reader<'_> {
    /// Reads an object: an answer, or a memory of a list.
    fn read(&mut self, answer: &Fields) -> Result<(), String> {
        self.read_wrong(answer);
        let wanted = answer.get("should_remember").and_then(flag_of);
        if wanted == Some(false) {
            return Ok(());
        }
        let mut supersedes = first_value(answer, &SUPERSEDES);
        let items = match first_value(answer, &MEMORIES) {
            Some(Value::Array(items)) => items.as_slice(),
            Some(item @ Value::Object(_)) => std::slice::from_ref(item),
            _ => &[],
        };
        let is_flat = !first_text(answer, &TITLE).is_empty() || !first_text(answer, &TEXT).is_empty();
        if items.is_empty() && (is_flat || wanted == Some(true)) {
            return self.read_memory(answer, None);
        }
        for item in items {
            match item {
                Value::Object(fields) if fields.get("should_remember").and_then(flag_of) == Some(false) => {}
                Value::Object(fields) => {
                    // Some models wrap each memory once more.
                    let inner = fields.get("memory").and_then(Value::as_object);
                    self.read_memory(inner.unwrap_or(fields), supersedes.take())?;
                }
                Value::String(text) => {
                    let fields = Fields::from_iter([(TEXT[0].to_owned(), Value::from(text.clone()))]);
                    self.read_memory(&fields, supersedes.take())?;
                }
                _ => self.proposal.warnings.push("an item of the model's memories is no memory".to_owned()),
            }
        }
        Ok(())
    }

    /// Reads a memory, which supersedes what its own field names, else what the answer does.
    fn read_memory(&mut self, fields: &Fields, supersedes: Option<&Value>) -> Result<(), String> {
        let supersedes = first_value(fields, &SUPERSEDES).or(supersedes);
        let (title, text) = (first_text(fields, &TITLE), first_text(fields, &TEXT));
        if text.is_empty() {
            // Often the answer was cut off.
            let is_old = fields.keys().any(|key| key.starts_with("memory_") || key == "should_remember");
            return Err(format!("it has no `{}`", if is_old { "memory_text" } else { "text" }));
        }
        // Without a letter it is missing, and is made from the text.
        let title = if title.chars().any(char::is_alphanumeric) { title } else { String::new() };
        let problem = title_problem(&title).filter(|_| !title.is_empty());
        let warnings = &mut self.proposal.warnings;
        if let Some(reason) = problem.or_else(|| text_problem(&text, SYSTEM)) {
            warnings.push(format!("the model's memory is refused: {reason}"));
            self.refused += 1;
            return Ok(());
        }
        let grounding = self.shown.judge_memory(&title, &text, &self.proposal.reasoning);
        let (title, text) = within_bounds(title, text, warnings);
        let (mut memory, side) = memory_of(fields, title, text, warnings);
        memory.provenance.turns = read_turns(fields.get("first_turn"), self.shown.turns, warnings);
        let mut named: Vec<Named> = Vec::new();
        for said in superseded_by(supersedes, warnings) {
            // A title that is nearly one of the others means no second memory.
            let found = self.shown.find(&said, warnings);
            named.extend(found.filter(|found| !named.iter().any(|other| other.is_same(found))));
        }
        self.proposal.memories.push(Proposed { memory, side, supersedes: named, grounding });
        Ok(())
    }

    fn read_wrong(&mut self, answer: &Fields) {
        let Proposal { warnings, reasoning, wrong, .. } = &mut self.proposal;
        let mut said = wrong_of(answer);
        keep_first(&mut said, WRONG[0], warnings);
        for (said, reason) in said {
            let Some(named) = self.shown.find(&said, warnings) else { continue };
            if wrong.iter().any(|other| other.named.is_same(&named)) {
                continue;
            }
            let grounding = match [&reason, &*reasoning].into_iter().find(|reason| !reason.is_empty()) {
                Some(reason) => self.shown.judge(reason, reasoning),
                None => Grounding::NotComparable,
            };
            wrong.push(Wrong { named, reason, grounding });
        }
    }

    /// The proposal as a whole. An answer of which no memory is borne out strikes nothing.
    fn finish(mut self) -> Proposal {
        let Proposal { memories, wrong, warnings, .. } = &mut self.proposal;
        keep_first(wrong, WRONG[0], warnings);
        if memories.len() > MAX_MEMORIES {
            let (all, rest) = (memories.len(), memories.split_off(MAX_MEMORIES));
            let titles: Vec<String> = rest.iter().map(|one| format!("`{}`", one.memory.text)).collect();
            warnings.push(format!(
                "{all} memories of one turn, {MAX_MEMORIES} are used, without {}",
                titles.join(", ")
            ));
        }
        let is_unsupported = |one: &Proposed| one.grounding == Grounding::Unsupported;
        if memories.is_empty() && self.refused > 0 {
            wrong.clear();
        } else if !memories.is_empty() && memories.iter().all(is_unsupported) {
            wrong.iter_mut().for_each(|one| one.grounding = Grounding::Unsupported);
        } else if memories.iter().any(|one| one.grounding == Grounding::BorneOut) {
            wrong.iter_mut().for_each(|one| one.grounding = Grounding::BorneOut);
        }
        self.proposal
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
fn read_turns(first: Option<&Value>, shown: Span, warnings: &mut Vec<String>) -> Option<Span> {
    let said = match first? {
        Value::String(text) => text.trim().trim_start_matches(['T', 't']).parse().ok()?,
        value => value.as_f64().filter(|number| number.is_finite())?,
    };
    let Span { first, last } = shown;
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

fn memory_of(fields: &Fields, title: String, text: String, warnings: &mut Vec<String>) -> (Memory, Side) {
    let category = Category::new(&text_of(fields, "category")).unwrap_or_else(Category::note);
    let mut memory = Memory::new(category, title, text);
    let status = text_of(fields, "status").parse().unwrap_or_default();
    memory.status = if status == Status::Superseded { Status::Active } else { status };
    memory.persistence = text_of(fields, "persistence").parse().unwrap_or_default();
    let importance = fields.get("importance");
    memory.provenance.importance =
        importance.and_then(|value| importance_of_program(value, ImportanceScale::default(), warnings));
    let side = if text_of(fields, "place").to_lowercase() == "after" { Side::After } else { Side::Before };
    (memory, side)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Effect;

    /// Shown were turns 40 to 45, and words of all answers below but one.
    fn shown() -> Shown {
        let texts = ["open window", "All obey the lamp.", "The door is shut.", "A troll bites."];
        Shown::of_texts(
            &texts,
            &["Troll is kind", "Lamp can be taken", "Fountain is dry"],
            Span { first: 40, last: 45 },
        )
    }

    fn read(answer: &str) -> Result<Proposal, String> {
        read_answer(answer, &shown())
    }

    fn memory(answer: &str) -> Memory {
        read(answer).expect("read").memories.remove(0).memory
    }

    fn titles(wrong: &[Wrong]) -> Vec<&str> {
        wrong.iter().map(|one| one.named.title.as_str()).collect()
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
        let proposal = read(r#"```json
            {"should_remember": false, "invalidate_memory_titles": "[Troll is kind]", "invalidation_reason": "It bites."}
            ```"#
        )
        .expect("read");
        assert_eq!((proposal.memories, titles(&proposal.wrong)), (vec![], vec!["[Troll is kind]"]));
        assert_eq!(
            (proposal.wrong[0].reason.as_str(), proposal.wrong[0].grounding),
            ("It bites.", Grounding::BorneOut)
        );
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
        for foreign in ["{}", r#"{"name": "Lamp", "kind": "It lights."}"#, r#"[{"x": 1}]"#, "\u{1}{\u{2}: 9}"]
        {
            assert!(read(foreign).is_err(), "{foreign}");
        }
        assert_eq!(problem(r#"{"should_remember": true, "category": "NOTE"}"#), "it has no `memory_text`");
        let cut = r#"{"should_remember": true, "memory_title": "Open window", "memory_text": "It ope"#;
        assert_eq!(problem(cut), "it has no `memory_text`");
        assert_eq!(problem(r#"{"memory_title": "Open window"}"#), "it has no `memory_text`");
        assert_eq!(problem(r#"{"should_remember": "yes", "memory_text": " "}"#), "it has no `memory_text`");
        assert!(read(r#"{"should_remember": false}"#).is_ok());
        assert!(read(r#"{"reasoning": "nothing new"}"#).is_ok());
    }

    #[test]
    fn too_many_titles_are_cut() {
        let proposal =
            read(r#"{"text": "The lamp is lit.", "supersedes": ["a", "b", "c", "d"]}"#).expect("read");
        assert_eq!((proposal.memories[0].supersedes.len(), proposal.warnings.len()), (3, 1));
        let proposal = read(r#"{"memories": [], "wrong": ["a", "b", "c", "d"]}"#).expect("read");
        assert_eq!((proposal.wrong.len(), proposal.warnings.len()), (3, 1));
    }

    #[test]
    fn what_nothing_bears_out_is_kept_and_strikes_nothing() {
        let answer = r#"{"memory_title": "Wise words", "memory_text": "Patience pays off.", "invalidates": ["Troll is kind"]}"#;
        let proposal = read(answer).expect("read");
        assert_eq!(proposal.memories[0].grounding, Grounding::Unsupported);
        assert_eq!(proposal.wrong[0].grounding, Grounding::Unsupported);
        assert!(refused(r#"{"memory_title": "TURN", "memory_text": "TURN"}"#).contains("refused"));
        let in_use = r#"{"title": "Fountain is dry", "text": "Patience pays off."}"#;
        assert_eq!(read(in_use).expect("read").memories[0].grounding, Grounding::Unsupported);
        // The title counts too, and a reason that rests on the turn itself.
        let grounding = |answer: &str| read(answer).expect("read").memories[0].grounding;
        assert_eq!(grounding(r#"{"title": "Window", "text": "Immovable."}"#), Grounding::BorneOut);
        let reasoned = |reasoning: &str| {
            grounding(&format!(r#"{{"reasoning": "{reasoning}", "text": "Patience pays off."}}"#))
        };
        assert_eq!(reasoned("The door needs patience."), Grounding::BorneOut);
        assert_eq!(reasoned("Patience is golden."), Grounding::Unsupported);
        assert_eq!(grounding(r#"{"text": "Geduld ist nicht immer von Vorteil."}"#), Grounding::NotComparable);
    }

    #[test]
    fn every_form_that_can_mean_only_one_thing_is_taken() {
        let texts = |answer: &str| {
            let proposal = read(answer).expect("read");
            let texts = proposal.memories.iter().map(|one| one.memory.text.clone()).collect::<Vec<_>>();
            texts.join(" | ")
        };
        for (answer, expected) in [
            (r#"{"reasoning": "", "effect": "unstated", "memories": [], "wrong": []}"#, ""),
            (
                r#"{"memories": [{"title": "Lamp", "text": "It is lit."}, {"text": "The door is shut."}]}"#,
                "It is lit. | The door is shut.",
            ),
            (
                r#"[{"memory_text": "It is lit."}, {"memory_text": "The door is shut."}]"#,
                "It is lit. | The door is shut.",
            ),
            (
                "{\"text\": \"It is lit.\"}\n{\"text\": \"The door is shut.\"}",
                "It is lit. | The door is shut.",
            ),
            (
                r#"[{"should_remember": true, "memory_title": "Lamp", "memory_text": "It is lit."}, {"should_remember": false, "memory_text": "x"}]"#,
                "It is lit.",
            ),
            (r#"{"title": "Lamp", "text": "It is lit."}"#, "It is lit."),
            (r#"{"memory": {"title": "Lamp", "text": "It is lit."}}"#, "It is lit."),
            (r#"{"should_remember": true, "memory": "It is lit."}"#, "It is lit."),
            (r#"{"memories": ["It is lit.", "The door is shut."]}"#, "It is lit. | The door is shut."),
            (r#"{"memories": [{"memory": {"text": "It is lit."}}]}"#, "It is lit."),
            (r#"{"memories": {"text": "It is lit."}}"#, "It is lit."),
        ] {
            assert_eq!(texts(answer), expected, "{answer}");
        }
        assert_eq!(
            memory(r#"{"title": "!!", "text": "The door is open."}"#).title,
            "",
            "it is made of the text"
        );
        let cut = r#"{"reasoning": "x", "memories": [{"title": "Lamp", "text": "It is lit."}, {"title": "Door", "text": "It "#;
        assert_eq!(read(cut).expect_err("it is cut off"), "it has no `text`");
        let many = r#"{"memories": ["The lamp is one.", "The door is two.", "The troll is three.", "The window is four."]}"#;
        let proposal = read(many).expect("read");
        assert_eq!(proposal.memories.len(), 3);
        assert!(proposal.warnings[0].ends_with("without `The window is four.`"), "{:?}", proposal.warnings);
    }

    #[test]
    fn memories_are_named_by_number_by_title_or_nearly_so() {
        let named = |said: &str| {
            let answer = format!(r#"{{"text": "The lamp is lit.", "supersedes": [{said}]}}"#);
            let proposal = read(&answer).expect("read");
            let Proposed { supersedes, .. } = &proposal.memories[0];
            (supersedes.first().map(|one| one.title.clone()), proposal.warnings.join("; "))
        };
        let title = |title: &str| Some(title.to_owned());
        let silent = |said: &str, of: &str| assert_eq!(named(said), (title(of), String::new()), "{said}");
        silent("\"m2\"", "Lamp can be taken");
        silent("2", "Lamp can be taken");
        silent("\"m1: Troll is kind\"", "Troll is kind");
        silent("\"lamp can be TAKEN\"", "lamp can be TAKEN");
        let (near, warning) = named("\"Lamp can be took\"");
        assert_eq!(near, title("Lamp can be taken"));
        assert_eq!(warning, "no memory is called `Lamp can be took`: `Lamp can be taken` is taken for it");
        let none = named("\"m9\"");
        assert_eq!(none, (None, "no memory with the number `m9` was shown: left alone".to_owned()));
        silent("\"Dragon sleeps\"", "Dragon sleeps");
        let proposal =
            read(r#"{"wrong": [{"memory": "m1", "reason": "It bites."}, {"memory": 2}]}"#).expect("read");
        assert_eq!(titles(&proposal.wrong), ["Troll is kind", "Lamp can be taken"]);
        assert_eq!(
            proposal.wrong.iter().map(|one| one.reason.as_str()).collect::<Vec<_>>(),
            ["It bites.", ""]
        );
    }

    #[test]
    fn what_is_too_long_is_cut_and_said() {
        let (title, text) = ("window ".repeat(20), "Open the window. ".repeat(60));
        let answer = serde_json::json!({"memory_title": title, "memory_text": text}).to_string();
        let mut proposal = read(&answer).expect("read");
        let memory = proposal.memories.remove(0).memory;
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
            (proposal.memories[0].memory.provenance.turns, proposal.warnings.len())
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
